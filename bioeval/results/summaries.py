"""The scalars of many partitions, over the dimension `partition`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.base.scalars import Name
from bioeval.base.variables import CLOSED_SET, OPEN_SET, VERIFICATION
from bioeval.base.version import __version__
from bioeval.kernels import index_sets as kernel
from bioeval.results.assembly import tree_of
from bioeval.results.dataset import COSTS, Scalars, Variables, build, shown_ranks
from bioeval.results.support import equal_error_variables
from bioeval.results.verification import point_scalars
from bioeval.tallies.index_sets import SelectionCounts
from bioeval.tallies.thresholds import to_user


class PartitionScalars(NamedTuple):
    """Scalars of some partitions: every variable has an entry a partition, first.

    `partitions` are their places in the list.
    """

    partitions: np.ndarray
    nodes: dict[str, Scalars]

    @classmethod
    def of_one(cls, place: int, found: Mapping[str, Scalars], ranks: Sequence[int]) -> Any:
        """Take the scalars of one partition, those over ranks at the ranks to show."""
        nodes = {node: _shown(scalars, ranks) for node, scalars in found.items()}
        return cls(np.array([place]), nodes)


def _shown(scalars: Scalars, ranks: Sequence[int]) -> Scalars:
    """Return what a summary shows of scalars, with an axis for the partition."""
    labels = dict(scalars.labels)
    there = labels.get("rank", np.empty(0)).tolist()
    shown = shown_ranks(ranks, there)
    places = [there.index(rank) for rank in shown]
    if "rank" in labels:
        labels["rank"] = np.array(shown, dtype=np.int64)
    variables: Variables = {}
    for name, (dims, value) in scalars.variables.items():
        values = np.asarray(value)
        if dims == ("far_target", "rank"):
            dims, values = dims[:1], values[:, 0]
        if dims == ("rank",):
            values = values[places]
        if not dims or (len(dims) == 1 and dims[0] in labels and name not in COSTS):
            variables[name] = dims, values[None]
    return Scalars(variables, labels)


def verification_of(counts: SelectionCounts, templates: str, kind: str) -> Scalars:
    """Return the scalars of verification by single templates or by multi templates."""
    prefix, points = ("", counts.single) if templates == "single" else ("subjects_", counts.multi)
    genuine, impostor = counts.of(f"{prefix}genuine"), counts.of(f"{prefix}impostor")
    probes, enrolled = counts.of("probe_subjects"), counts.of("groups")
    everyone = probes + enrolled - counts.of("enrolled_subjects")
    variables: Variables = {
        "genuine_attempts": ((), genuine),
        "impostor_attempts": ((), impostor),
        "skipped_claims": ((), np.zeros_like(genuine)),
        "subjects": ((), everyone),
        "disjoint_pairs": ((), np.minimum(np.minimum(probes, enrolled), everyone // 2)),
    }
    independent = np.where(points.symmetric, impostor / 2, impostor)
    found = point_scalars(points, kind, independent)
    labels = {"far_target": points.far_target, "cost": points.costs[:, 0]}
    shown = {k: v for k, v in found.items() if k not in COSTS}
    return Scalars(variables | shown, labels)


def open_set_of(counts: SelectionCounts, kind: str) -> Scalars:
    """Return the scalars of open set."""
    points, over = counts.open_set, ("far_target",)
    enrolled, people = counts.of("enrolled"), counts.of("probe_subjects")
    among, role = counts.of("enrolled_subjects"), counts.of("role")
    impostors = np.where(role == kernel.UNENROLLED, people - among, people)
    searches, targets = counts.of("searches"), points.far_target
    variables: Variables = {
        "genuine_attempts": ((), counts.of("mated")),
        "impostor_attempts": ((), searches),
        "tied": ((), counts.of("open_tied")),
        "target_probes": ((), enrolled),
        "non_target_probes": ((), counts.probes - enrolled),
        **equal_error_variables(points.equal_error, kind),
        "dir_at_far": (over, points.frr_at_far),
        "threshold_at_far": (over, to_user(points.threshold_at_far, kind)),
        "expected_false_accepts": (over, np.multiply.outer(searches, targets)),
        "genuine_subjects": ((), among),
        "impostor_subjects": ((), np.where(role == kernel.LEAVE_OUT, among, impostors)),
    }
    return Scalars(variables, {"far_target": targets})


def closed_set_of(counts: SelectionCounts, ranks: Sequence[int], longest: int) -> Scalars:
    """Return the scalars of closed set, of candidate lists of one length; CMS is at `ranks`."""
    shown = shown_ranks(ranks, range(1, longest + 1))
    mated, found = counts.of("mated"), counts.ranked
    attempts = np.where(mated > 0, mated, np.nan)
    places = [[1, *ranks].index(rank) for rank in shown]
    variables: Variables = {
        "cms": (("rank",), found[:, places] / attempts[:, None]),
        "cms_count": (("rank",), found[:, places]),
        "recognition_rate": ((), found[:, 0] / attempts),
        "attempts": ((), mated),
        "skipped": ((), counts.probes - mated),
        "tied": ((), counts.of("closed_tied")),
        "subjects": ((), counts.of("enrolled_subjects")),
    }
    return Scalars(variables, {"rank": np.array(shown, dtype=np.int64)})


def names_of(node: str) -> Mapping[str, Name]:
    """Return the descriptions of the variables of a task."""
    if node == "reid":
        from bioeval.results.reid import REID

        return REID
    if node == "gom":
        from bioeval.results.gom import GOM

        return GOM
    return {"open_set": OPEN_SET, "closed_set": CLOSED_SET}.get(node, VERIFICATION)


def summaries_tree(
    parts: Sequence[PartitionScalars], number: int, attrs: Mapping[str, str | int | float]
) -> xr.DataTree:
    """Join the scalars of all partitions.

    A number that a partition lacks is NaN, and its variable then float64.
    """
    nodes = dict.fromkeys(node for part in parts for node in part.nodes)
    found: dict[str, xr.Dataset] = {}
    for node in nodes:
        there = [(part.partitions, part.nodes[node]) for part in parts if node in part.nodes]
        labels: dict[str, np.ndarray] = {}
        for _, scalars in there:
            for dim, values in scalars.labels.items():
                known = labels.setdefault(dim, values)
                if not np.array_equal(known, values):
                    both = dict.fromkeys([*known.tolist(), *values.tolist()])
                    labels[dim] = np.array(sorted(both) if dim == "rank" else [*both])
        variables: Variables = {}
        for name in dict.fromkeys(x for _, scalars in there for x in scalars.variables):
            dims = next(s.variables[name][0] for _, s in there if name in s.variables)
            variables[name] = (("partition", *dims), _joined(name, there, labels, number))
        used = {dim for dims, _ in variables.values() for dim in dims}
        coordinates = {"partition": np.arange(number)}
        if "cost" in used:
            variables["cost_prior"] = ("cost",), labels["cost"]
        coordinates |= {k: v for k, v in labels.items() if k in used and k != "cost"}
        task = {"task": f"{node.replace('_', '-').replace('/', ', ')}, over partitions"}
        found[node] = build(variables, names_of(node), coordinates, {**task, **attrs})
    return tree_of(found)


def _joined(
    name: str,
    parts: Sequence[tuple[np.ndarray, Scalars]],
    labels: Mapping[str, np.ndarray],
    number: int,
) -> np.ndarray:
    """Return a variable of all partitions."""
    pieces = []
    complete = 0
    for partitions, scalars in parts:
        if name in scalars.variables:
            dims, values = scalars.variables[name]
            places: list[Any] = [partitions]
            for dim in dims:
                own, whole = scalars.labels[dim], labels[dim].tolist()
                same = len(own) == len(whole)
                places.append(np.arange(len(own)) if same else [whole.index(x) for x in own])
            complete += np.size(values)
            pieces.append((np.ix_(*places), values))
    shape = (number, *(len(labels[dim]) for dim in dims))
    whole = complete == np.prod(shape)
    dtype = np.result_type(*(values for _, values in pieces)) if whole else np.float64
    found = np.zeros(shape, dtype) if whole else np.full(shape, np.nan)
    for at, values in pieces:
        found[at] = values
    return found


def partition_attrs(
    protocols: Sequence[str], kind: str, nan: str, number: int
) -> dict[str, str | int | float]:
    """Return the attributes of results over partitions."""
    return {
        "protocol": " or ".join(dict.fromkeys(protocols)),
        "kind": kind,
        "nan_policy": nan,
        "partitions": number,
        "threshold_units": "similarity" if larger_is_closer(kind) else "distance",
        "bioeval_version": __version__,
    }
