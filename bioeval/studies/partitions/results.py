"""Results over many partitions: their numbers in columns, their curves with bands, why NaN."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message, message_attrs
from bioeval.document.blocks import Column, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import result_messages
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.text import Text, say
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Variables, assembled, in_order, tree_of
from bioeval.results.support import unsupported_targets
from bioeval.results.variables import TASKS, Variable, described
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import notes_on_scores
from bioeval.studies.folds.results import (
    parts_without_attempts,
    support_of_parts,
    undefined_in_parts,
)
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import convention_of
from bioeval.views.sections.rows import is_identification
from bioeval.views.tasks import averaged, figure_scalars


class CurveGrid(NamedTuple):
    """Thresholds (increasing, in the units of the scores) and ranks that all curves share."""

    thresholds: np.ndarray
    ranks: int

    @property
    def labels(self) -> dict[str, np.ndarray]:
        """The labels of both dimensions."""
        return {"threshold": self.thresholds, "rank": np.arange(1, self.ranks + 1)}

    def options(self, options: EvaluationOptions) -> EvaluationOptions:
        """Return the options of an evaluation at these thresholds and ranks."""
        return replace(options, thresholds=self.thresholds, n_thresholds=None, max_rank=self.ranks)

    def of_dataset(self, dataset: xr.Dataset) -> Variables:
        """Take the curves of one partition."""
        variables: Variables = {}
        over_thresholds = ("far", "dir" if "dir" in dataset else "frr")
        for name, x in dataset.data_vars.items():
            if x.dims == ("rank",):
                variables[str(name)] = x.dims, x.values
        for name in over_thresholds if "threshold" in dataset.dims else ():
            values = dataset[name].values
            variables[name] = ("threshold",), values[:, 0] if values.ndim > 1 else values
        return variables


def partitions_tree(
    scores: Scores,
    cards: Sequence[Protocol],
    parts: Sequence[Mapping[str, Mapping[str, Any]]],
    curves: Sequence[Mapping[str, Variables]],
    grid: CurveGrid | None,
) -> xr.DataTree:
    """Join the numbers of all partitions by node, and their curves over a grid, if there is one.

    What a partition lacks is NaN, of float64.
    """
    number = len(parts)
    about: dict[str, str | int | float] = {
        "protocol": " or ".join(dict.fromkeys(card.name for card in cards)),
        "kind": scores.kind,
        "nan_policy": scores.nan,
        "partitions": number,
        "threshold_units": "similarity" if scores.kind in LARGER_IS_CLOSER else "distance",
    }
    datasets = {}
    for node in dict.fromkeys(itertools.chain(*parts)):
        task = node.replace("_", "-")
        attrs = {"result_type": task.partition("/")[0], **about}
        attrs["task"] = f"{task.replace('/', ', ')}, over partitions"
        task = node.partition("/")[0]
        names = TASKS[task]
        columns = _columns([part.get(node, {}) for part in parts], names)
        notes = [*remarks_on_partitions(columns, node, number)]
        coordinates = {"partition": np.arange(number)}
        if grid is not None and any(node in part for part in curves):
            ranks = sorted({x.attrs["rank"] for x in columns.values() if "rank" in x.attrs})
            attrs["report_ranks"] = " ".join(map(str, ranks))
            attrs["band"] = "the middle 95 % of the partitions, among these people"
            columns |= _with_bands([part.get(node) for part in curves], names)
            dims = {dim for x in columns.values() for dim in x.dims}
            coordinates |= {name: x for name, x in grid.labels.items() if name in dims}
        if node in ("open_set", "closed_set"):
            notes += scores.completeness.messages()
        elif node in ("reid", "gom"):
            queries = Candidates(scores, convention_of(cards[-1], (node,)))  # the same in all
            lists = queries.under(queries.rules.removed).completeness
            notes += lists.among(~queries.left_out).messages()
        attrs |= message_attrs([*notes_on_scores(scores), *notes])
        datasets[node] = assembled(columns, names, coordinates, attrs)
    return tree_of(datasets)


def _columns(
    pieces: Sequence[Mapping[str, Any]], names: Mapping[str, Variable]
) -> dict[str, xr.Variable]:
    """Return a variable over partitions for each number, those at a target or rank one by one.

    A table of them has a row a partition.
    """
    columns = {}
    for name in in_order(dict.fromkeys(itertools.chain(*pieces))):
        each = [x.get(name) for x in pieces]
        about = described(names, name)
        by_label = [x for x in each if isinstance(x, dict)]
        if not by_label:
            columns[name] = _column(each, about.attrs)
            continue
        dim, labels = about.dims[0], dict.fromkeys(itertools.chain(*by_label))
        for label in sorted(labels) if dim == "rank" else labels:
            attrs = {**about.attrs, "of": name, "over": dim, dim: label}
            attrs["long_name"] += f"; {dim.replace('_', ' ')} {label!r}"
            column = f"{name}_rank_{label!r}" if dim == "rank" else f"{name}_{label!r}"
            columns[column] = _column([x and x.get(label) for x in each], attrs)
    return columns


def _column(values: Sequence[Any], attrs: Mapping[str, Any]) -> xr.Variable:
    """Return values over partitions; float64 with NaN for None, where there is one."""
    return xr.Variable(("partition",), _joined(values), attrs, fastpath=True)


def _joined(values: Sequence[Any]) -> np.ndarray:
    """Return numbers, or arrays of one shape, as one array; float64 with NaN where one is None."""
    there = [place for place, value in enumerate(values) if value is not None]
    known = np.array([values[place] for place in there])
    if len(there) == len(values):
        return known
    joined = np.full((len(values), *known.shape[1:]), np.nan)
    joined[there] = known
    return joined


def _with_bands(
    pieces: Sequence[Variables | None], names: Mapping[str, Variable]
) -> dict[str, xr.Variable]:
    """Return the curves of all partitions, which share a grid; NaN where there is none.

    Of the rates also the mean and the band over those that have one.
    """
    variables, bands = {}, {}
    for name, (dims, _) in next(x for x in pieces if x is not None).items():
        of, values = names[name], _joined([x and x[name][1] for x in pieces])
        variables[name] = xr.Variable(("partition", *dims), values, of.attrs, fastpath=True)
        if name.endswith("_count"):
            continue
        known = values[~np.isnan(values).all(axis=1)]
        lines = np.full((3, values.shape[1]), np.nan)
        if len(known):
            lines[0], lines[1:] = known.mean(axis=0), np.quantile(known, (0.025, 0.975), axis=0)
        words = ("mean over partitions", "2.5 % of the partitions are below", "97.5 % are below")
        for key, description, line in zip(("mean", "low", "high"), words, lines, strict=True):
            about = Variable(f"{of.long_name}; {description}", of.units, of.iso)
            bands[f"{name}_{key}"] = xr.Variable(dims, line, about.attrs, fastpath=True)
    return in_order(variables | bands)


def remarks_on_partitions(
    variables: Mapping[str, xr.Variable], node: str, number: int
) -> Iterator[Message]:
    """Yield why numbers are NaN (no attempt, no query with a match ...), or decided by ties."""
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {
        f"{role}_attempts": variables[count].values
        for role, count in (("genuine", genuine), ("impostor", "impostor_attempts"))
        if count in variables
    }
    yield from parts_without_attempts(attempts, number, "partition")
    yield from _support(variables, node)
    lacking = np.zeros(number, dtype=bool)
    for values in attempts.values():
        lacking |= values == 0
    if "queries" in variables:
        lacking |= variables["queries"].values == 0
        if lacking.any():
            missing = int(lacking.sum())
            why = "no query has a match"
            yield undefined_in_parts(["all rates"], missing, number, "partition", why)
    if "tied" in variables and (tied := int(variables["tied"].sum())):
        probes = int(variables[genuine if genuine in variables else "queries"].sum())
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=number)
    others: dict[str, int] = {}
    known = figure_scalars()
    for name, x in variables.items():
        if str(x.attrs.get("of", name)) in known:
            others[name] = int((np.isnan(x.values) & ~lacking).sum())
    if any(others.values()):
        names = [name for name, missing in others.items() if missing]
        why = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        yield undefined_in_parts(names, max(others.values()), number, "partition", why)


def _support(variables: Mapping[str, xr.Variable], node: str) -> Iterator[Message]:
    """Yield the messages of targets that the smallest partition is too small for."""
    pairs, people = "impostor_pairs", "subjects"
    if node == "open_set":
        pairs, people = "impostor_attempts", "impostor_subjects"
    if pairs not in variables:
        return
    there = np.flatnonzero(variables["impostor_attempts"].values)
    if not len(there):
        return
    number = int(variables[people].values[there].min()) if people in variables else None
    genuine, impostor = (
        float(variables[name].values[there].min()) for name in ("genuine_attempts", pairs)
    )
    places = [x.attrs for x in variables.values()]
    far, frr = (
        dict.fromkeys(x[target] for x in places if target in x)
        for target in ("far_target", "frr_target")
    )
    searched = node == "open_set"
    for message in support_of_parts(far, frr, genuine, impostor, number, searched=searched):
        yield message.concerning("the smallest partition")


def partitions_section(results: ResultsBySystem) -> Section:
    """Return the mean and the range over partitions of each scalar of each task."""
    tasks = [_task(path, ds) for path, ds in results.items()]
    return Section("partitions", "", (*tasks, result_messages(results)))


def _task(path: str, ds: xr.Dataset) -> Section:
    """Return the scalars of a task."""
    rows: list[tuple[Text | None, ...]] = []
    unsupported = unsupported_targets(ds)
    for row in averaged(ds):
        each = row.each()
        ends = (each.min(), each.max()) if len(each) else (math.nan, math.nan)
        numbers = (row.summary("mean"), row.summary("sd"), *map(float, ends))
        is_supported = unsupported.isdisjoint(row.at.items())
        about: dict[str, Any] = {"at": row.at, "supported": is_supported}
        cells = [cell_of_scalar(row.scalar, x, **about) for x in numbers]
        rows.append((row.name_in_text, *cells, Count(len(each), supported=is_supported)))
    title: Text = str(ds.attrs["task"])
    if path:
        title = say("{path}: {title}", path=Label(path), title=title)
    partitions = say(
        "protocol {protocol}, {number:count partitions}",
        protocol=Label(ds.attrs["protocol"]),
        number=ds.sizes["partition"],
    )
    columns = (
        Column("measure"),
        Column("mean", "mean"),
        Column("sd", "sd"),
        Column("smallest", "smallest", 1),
        Column("largest", "largest", 1),
        Column("partitions", "partitions", 2),
    )
    name = path.replace("/", "_") or "figures"
    table = Table(name, columns, rows, title=title, details=(partitions,))
    task = "identification" if is_identification(ds) else "verification"
    return Section(name, "", (table,), task=task)
