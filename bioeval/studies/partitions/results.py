"""Results over many partitions: their numbers in columns, their curves with bands, why NaN."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message, message_attrs
from bioeval.base.registry import names_of
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.results.dataset import Scalars, Variables, build, tree_of
from bioeval.scores.matrix import Scores
from bioeval.studies.folds.results import undefined_in_parts, without_attempts
from bioeval.tasks.plan import EvaluationOptions
from bioeval.views.tasks import figure_scalars

#: The place of a partition, and its scalars.
_Piece = tuple[int, Scalars]


class PartitionScalars(NamedTuple):
    """Scalars of a partition by node, those over ranks at the ranks to show, and its curves."""

    nodes: dict[str, Scalars]
    curves: dict[str, Scalars]


class CurveGrid(NamedTuple):
    """Thresholds (increasing, in the units of the scores) and ranks that all curves share."""

    thresholds: np.ndarray
    ranks: int
    kind: str

    @property
    def labels(self) -> dict[str, np.ndarray]:
        """The labels of both dimensions."""
        return {"threshold": self.thresholds, "rank": np.arange(1, self.ranks + 1)}

    def options(self, options: EvaluationOptions) -> EvaluationOptions:
        """Return the options of an evaluation at these thresholds and ranks."""
        return replace(options, thresholds=self.thresholds, max_rank=self.ranks)

    def of_dataset(self, dataset: xr.Dataset) -> Scalars:
        """Take the curves of one partition."""
        variables: Variables = {}
        over_thresholds = ("far", "dir" if "dir" in dataset else "frr")
        for name, x in dataset.data_vars.items():
            if x.dims == ("rank",):
                variables[str(name)] = x.dims, x.values
        for name in over_thresholds if "threshold" in dataset.dims else ():
            values = dataset[name].values
            variables[name] = ("threshold",), values[:, 0] if values.ndim > 1 else values
        return Scalars(variables, self.labels)


def partitions_tree(
    parts: Sequence[PartitionScalars],
    protocols: Sequence[str],
    scores: Scores,
    grid: CurveGrid | None,
) -> xr.DataTree:
    """Join the numbers of all partitions; what a partition lacks is NaN, of float64."""
    by_node: dict[str, list[_Piece]] = defaultdict(list)
    curves: dict[str, list[_Piece]] = defaultdict(list)
    number = len(parts)
    for place, part in enumerate(parts):
        for into, nodes in ((by_node, part.nodes), (curves, part.curves)):
            for node, scalars in nodes.items():
                into[node].append((place, scalars))
    about: dict[str, str | int | float] = {
        "protocol": " or ".join(dict.fromkeys(protocols)),
        "kind": scores.kind,
        "nan_policy": scores.nan,
        "partitions": number,
        "threshold_units": "similarity" if larger_is_closer(scores.kind) else "distance",
        "bioeval_version": __version__,
    }
    datasets = {}
    for node, pieces in by_node.items():
        labels = _labels_of(pieces)
        variables = _joined(pieces, labels, number)
        used = {*itertools.chain.from_iterable(dims for dims, _ in variables.values())}
        coordinates = {"partition": np.arange(number)}
        coordinates |= {dim: x for dim, x in labels.items() if dim in used and dim != "cost"}
        if "cost" in used:
            variables["cost_prior"] = ("cost",), labels["cost"]
        task = node.replace("_", "-")
        attrs = {"result_type": task.partition("/")[0], **about}
        attrs["task"] = f"{task.replace('/', ', ')}, over partitions"
        names = _names_in(node)
        dataset = _in_columns(build(variables, names, coordinates, attrs))
        dataset.attrs |= message_attrs(remarks_on_partitions(dataset, node))
        if grid is not None and node in curves:
            of_curves = _joined(curves[node], grid.labels, number)
            dataset = dataset.merge(_with_bands(of_curves, names, grid))
            dataset.attrs["report_ranks"] = " ".join(map(str, labels.get("rank", ())))
            dataset.attrs["band"] = "the middle 95 % of the partitions, among these people"
        datasets[node] = dataset
    return tree_of(datasets)


def _names_in(node: str) -> Mapping[str, Name]:
    """Return the names of the variables of a node."""
    if node in ("reid", "gom"):
        from bioeval.tasks.reid.results import GOM, REID

        return REID if node == "reid" else GOM
    return names_of(node.partition("/")[0])


def _labels_of(pieces: Sequence[_Piece]) -> dict[str, np.ndarray]:
    """Return the labels of all pieces along each dimension; ranks increase."""
    labels: dict[str, np.ndarray] = {}
    for _, scalars in pieces:
        for dim, values in scalars.labels.items():
            known = labels.setdefault(dim, values)
            if not np.array_equal(known, values):
                both = list(dict.fromkeys([*known.tolist(), *values.tolist()]))
                labels[dim] = np.array(sorted(both) if dim == "rank" else both)
    return labels


def _joined(
    pieces: Sequence[_Piece], labels: Mapping[str, np.ndarray], number: int
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return the variables of all partitions, each a number or over one dimension."""
    found: dict[str, list[tuple[int, np.ndarray, Scalars]]] = defaultdict(list)
    dims_of: dict[str, tuple[str, ...]] = {}
    for place, scalars in pieces:
        for name, (dims, values) in scalars.variables.items():
            dims_of[name] = dims
            found[name].append((place, values, scalars))
    variables = {}
    places = {dim: {x: i for i, x in enumerate(values.tolist())} for dim, values in labels.items()}
    for name, parts in found.items():
        dims = dims_of[name]
        shape = (number, *(len(labels[dim]) for dim in dims))
        if sum(values.size for _, values, _ in parts) == math.prod(shape):
            variables[name] = ("partition", *dims), np.array([values for _, values, _ in parts])
            continue
        joined = np.full(shape, np.nan)
        for place, values, scalars in parts:
            at: Any = [[places[dim][x] for x in scalars.labels[dim].tolist()] for dim in dims]
            joined[place, *at] = values
        variables[name] = ("partition", *dims), joined
    return variables


def _with_bands(
    curves: Mapping[str, tuple[tuple[str, ...], np.ndarray]],
    names: Mapping[str, Name],
    grid: CurveGrid,
) -> xr.Dataset:
    """Return the curves of all partitions; of the rates, mean and band over those that have one."""
    variables, described = {**curves}, dict(names)
    for name, ((_, *over), values) in curves.items():
        if name.endswith("_count"):
            continue
        known = values[~np.isnan(values).all(axis=1)]
        found = np.full((3, values.shape[1]), np.nan)
        if len(known):
            found[0], found[1:] = known.mean(axis=0), np.quantile(known, (0.025, 0.975), axis=0)
        words = ("mean over partitions", "2.5 % of the partitions are below", "97.5 % are below")
        of = names[name]
        for key, said, line in zip(("mean", "low", "high"), words, found, strict=True):
            variables[f"{name}_{key}"] = tuple(over), line
            described[f"{name}_{key}"] = Name(f"{of.long_name}; {said}", of.units, of.iso)
    used = {*itertools.chain.from_iterable(dims for dims, _ in curves.values())}
    coordinates = {name: x for name, x in grid.labels.items() if name in used}
    return build(variables, described, coordinates, {})


def remarks_on_partitions(dataset: xr.Dataset, node: str) -> Iterator[Message]:
    """Yield why numbers are NaN (no attempt, no query with a match ...), or decided by ties."""
    number = dataset.sizes["partition"]
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {
        f"{role}_attempts": dataset[count].values
        for role, count in (("genuine", genuine), ("impostor", "impostor_attempts"))
        if count in dataset
    }
    yield from without_attempts(attempts, number, "partition")
    lacking = np.zeros(number, dtype=bool)
    for values in attempts.values():
        lacking |= values == 0
    if "queries" in dataset:
        lacking |= dataset["queries"].values == 0
        if lacking.any():
            missing = int(lacking.sum())
            why = "no query has a match"
            yield undefined_in_parts(["all rates"], missing, number, "partition", why)
    if "tied" in dataset and (tied := int(dataset["tied"].sum())):
        probes = int(dataset[genuine if genuine in dataset else "queries"].sum())
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=number)
    others: dict[str, int] = {}
    known = figure_scalars()
    for name, x in dataset.data_vars.items():
        if str(x.attrs.get("of", name)) in known:
            others[str(name)] = int((np.isnan(x.values) & ~lacking).sum())
    if any(others.values()):
        names = [name for name, missing in others.items() if missing]
        why = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        yield undefined_in_parts(names, max(others.values()), number, "partition", why)


def _in_columns(dataset: xr.Dataset) -> xr.Dataset:
    """Return results over partitions with a variable for each FAR target, rank and cost.

    All are over ``partition`` alone then, so that a table of them has a row a partition.
    """
    labels = {str(k): x.values.tolist() for k, x in dataset.coords.items()}
    if "cost" in dataset.dims:
        labels["cost"] = dataset["cost_prior"].values.tolist()
    columns = {}
    for name, x in dataset.data_vars.items():
        over = list(map(str, x.dims))
        if over[0] != "partition":
            continue
        for place in np.ndindex(x.shape[1:]):
            column = str(name)
            attrs = {**x.attrs}
            at = {}
            for dim, i in zip(over[1:], place, strict=True):
                at[dim] = labels[dim][i]
                attrs["long_name"] += f"; {dim.replace('_', ' ')} {at[dim]!r}"
                if dim == "rank":
                    column += "_rank"
                column += f"_{at[dim]!r}"
            if at:
                attrs |= {"of": str(name), "over": " ".join(at), **at}
            columns[column] = xr.Variable(("partition",), x.values[:, *place], attrs, fastpath=True)
    coords = {"partition": dataset["partition"].variable}
    return xr.Dataset(columns, coords, dataset.attrs)
