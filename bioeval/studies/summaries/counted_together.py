"""Partitions of one matrix, counted together in one call of the kernels, and their scalars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval.base import (
    CLOSED_SET,
    OPEN_SET,
    VERIFICATION,
    BioevalError,
    DataError,
    Name,
    __version__,
    larger_is_closer,
)
from bioeval.evaluation import EvaluationOptions, Plan, resolve_card
from bioeval.protocol import Protocol
from bioeval.results import (
    COSTS,
    SCHEMA,
    Scalars,
    Variables,
    build,
    point_scalars,
    shown_ranks,
    tree_of,
)
from bioeval.scores import Scores, threads_for
from bioeval.tallies import (
    IdentificationRules,
    ImpostorProbes,
    IndexSet,
    OrderedScores,
    SelectionCounts,
    to_user,
)


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
    """Return the scalars of a summary, with an axis for the partition."""
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
    at_points, labels = point_scalars(points, kind, independent)
    shown = {k: v for k, v in at_points.items() if k not in COSTS}
    return Scalars(variables | shown, labels)


def open_set_of(counts: SelectionCounts, kind: str) -> Scalars:
    """Return the scalars of open set."""
    points, over = counts.open_set, ("far_target",)
    enrolled = counts.of("enrolled")
    searches, targets = counts.of("searches"), points.far_target
    variables: Variables = {
        "genuine_attempts": ((), counts.of("mated")),
        "impostor_attempts": ((), searches),
        "tied": ((), counts.of("open_tied")),
        "target_probes": ((), enrolled),
        "non_target_probes": ((), counts.probes - enrolled),
        **points.equal_error.variables(kind),
        "dir_at_far": (over, points.frr_at_far),
        "threshold_at_far": (over, to_user(points.threshold_at_far, kind)),
        "expected_false_accepts": (over, np.multiply.outer(searches, targets)),
        "genuine_subjects": ((), counts.of("enrolled_subjects")),
        "impostor_subjects": ((), counts.impostor_subjects),
    }
    return Scalars(variables, {"far_target": targets})


def closed_set_of(counts: SelectionCounts, ranks: Sequence[int], longest: int) -> Scalars:
    """Return the scalars of closed set, of candidate lists of one length; CMS is at `ranks`."""
    shown = shown_ranks(ranks, range(1, longest + 1))
    mated, ranked = counts.of("mated"), counts.ranked
    attempts = np.where(mated > 0, mated, np.nan)
    places = [[1, *ranks].index(rank) for rank in shown]
    variables: Variables = {
        "cms": (("rank",), ranked[:, places] / attempts[:, None]),
        "cms_count": (("rank",), ranked[:, places]),
        "recognition_rate": ((), ranked[:, 0] / attempts),
        "attempts": ((), mated),
        "skipped": ((), counts.probes - mated),
        "tied": ((), counts.of("closed_tied")),
        "subjects": ((), counts.of("enrolled_subjects")),
    }
    return Scalars(variables, {"rank": np.array(shown, dtype=np.int64)})


def names_of(node: str) -> Mapping[str, Name]:
    """Return the descriptions of the variables of a task."""
    if node == "reid":
        from bioeval.studies.reid.results import REID

        return REID
    if node == "gom":
        from bioeval.studies.reid.results import GOM

        return GOM
    return {"open_set": OPEN_SET, "closed_set": CLOSED_SET}.get(node, VERIFICATION)


def summaries_tree(
    parts: Sequence[PartitionScalars], number: int, attrs: Mapping[str, str | int | float]
) -> xr.DataTree:
    """Join the scalars of all partitions.

    A number that a partition lacks is NaN, and its variable then float64.
    """
    nodes = dict.fromkeys(node for part in parts for node in part.nodes)
    datasets: dict[str, xr.Dataset] = {}
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
        datasets[node] = _in_columns(
            build(variables, names_of(node), coordinates, {**task, **attrs})
        )
    return tree_of(datasets)


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
    if whole:
        joined = np.zeros(shape, dtype)
    else:
        joined = np.full(shape, np.nan)
    for at, values in pieces:
        joined[at] = values
    return joined


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


# Cells of a partition that is counted together with others, at most.
CELLS = 1 << 18


def counted_together(
    scores: Scores, sets: Sequence[IndexSet], protocol: str | Protocol, options: EvaluationOptions
) -> tuple[list[PartitionScalars], list[str]]:
    """Return the scalars of the partitions that are counted together, and the cards of all."""
    parts: list[PartitionScalars] = []
    cards: list[str] = []
    if not OrderedScores.can_hold(scores):
        return parts, cards
    small = [k for k, (i, j) in enumerate(sets) if len(i) * len(j) <= CELLS]
    for square, places in _by_layout(scores, sets, small).items():
        view = scores.select(*sets[places[0]])
        try:
            card = resolve_card(view, protocol)
            plan = Plan(view, card, options, automatic=protocol == "auto")
        except BioevalError:  # raised again for the partition that it is of
            continue
        rules = _rules(plan, view, card)
        if rules is None:
            continue
        cards.append(card.name)
        wanted = plan.wanted()
        with threads_for(view):
            for ordered, chosen in _ordered(scores, sets, places):
                sets_of = [local for _, local in chosen]
                found = ordered.counts(
                    sets_of, rules, wanted, square=square, tasks=_points_of(plan)
                )
                first = 0
                for counts in found:
                    number = len(counts.probes)
                    numbers = np.array([k for k, _ in chosen[first : first + number]])
                    parts += _scalars(numbers, counts, plan, card, scores)
                    first += number
    return parts, cards


def scalars_together(
    scores: Scores, card: Protocol, options: EvaluationOptions, *, automatic: bool
) -> dict[str, Scalars] | None:
    """Return the scalars of all scores as if they were one of many partitions.

    None where they cannot be counted so, or must be refused.
    """
    if not OrderedScores.can_hold(scores):
        return None
    plan = Plan(scores, card, options, automatic=automatic)
    rules = _rules(plan, scores, card)
    if rules is None:
        return None
    try:
        ordered = OrderedScores.of(scores)
    except DataError:  # raised again where blocks are read
        return None
    m, n = scores.shape
    with threads_for(scores):
        wanted = plan.wanted()
        whole, square = (np.arange(m), np.arange(n)), scores.layout == "all-against-all"
        (counts,) = ordered.counts([whole], rules, wanted, square=square, tasks=_points_of(plan))
    for part in _scalars(np.zeros(1, dtype=np.int64), counts, plan, card, scores):
        return {
            node: Scalars({k: (d, x[0]) for k, (d, x) in found.variables.items()}, found.labels)
            for node, found in part.nodes.items()
        }
    return None


def _points_of(plan: Plan) -> list[str]:
    """Return the tasks of a plan whose operating points are wanted."""
    return [node.rpartition("/")[2] for node in plan.tasks]


def _by_layout(
    scores: Scores, sets: Sequence[IndexSet], places: Sequence[int]
) -> dict[bool, list[int]]:
    """Return the partitions that are all-against-all, and those that are not."""
    by_layout: dict[bool, list[int]] = {}
    whole = np.array_equal(scores.probe_ids, scores.gallery_ids)
    inside = np.zeros(max(scores.probe_ids.max(), scores.gallery_ids.max()) + 1, dtype=bool)
    for k in places:
        rows, columns = sets[k]
        enrolled = scores.gallery_ids[columns]
        inside[enrolled] = True
        square = (whole and rows is columns) or bool(inside[scores.probe_ids[rows]].all())
        inside[enrolled] = False
        by_layout.setdefault(square, []).append(k)
    return by_layout


def _rules(plan: Plan, view: Scores, card: Protocol) -> IdentificationRules | None:
    """Return the rules of identification of a plan; None if a task needs another way of counting.

    A fused score must be that of the nearest template, and every rank a whole number.
    """
    if plan.searches or card.galleries or plan.scores is not view:
        return None
    jobs: list[Any] = [task.job for task in plan.tasks.values()]
    for job in jobs:
        alone = job.form == "verification" and (job.claims is not None or job.transactions)
        if job.form not in ("verification", "identification") or job.reader is not plan.reader:
            return None
        if alone or (job.fuses and job.fusion != "min"):
            return None
    both = [plan.tasks.get(name) for name in ("open_set", "closed_set")]
    ties = [task.options["ties"] if task else "pessimistic" for task in both]
    if not set(ties) <= {"pessimistic", "optimistic"}:
        return None
    units: list[Any] = [task.job if task else None for task in both]
    impostors = "auto"
    if both[0]:
        impostors = both[0].options["impostors"]
    return IdentificationRules(
        by_subject=tuple(job is not None and job.rank_unit == "subject" for job in units),
        ties_first=tuple(x == "pessimistic" for x in ties),
        impostors=get_args(ImpostorProbes).index(impostors),
        ranks=(1, *shown_ranks(card.report.ranks)),
    )


def _ordered(
    scores: Scores, sets: Sequence[IndexSet], places: Sequence[int]
) -> Iterator[tuple[OrderedScores, list[tuple[int, IndexSet]]]]:
    """Yield scores in order, with the partitions whose scores they are, as places among them."""
    m, n = scores.shape
    rows, columns = np.zeros(m, dtype=bool), np.zeros(n, dtype=bool)
    total = 0
    for k in places:
        rows[sets[k][0]], columns[sets[k][1]] = True, True
        total += len(sets[k][0]) * len(sets[k][1])
    used = [np.flatnonzero(side) for side in (rows, columns)]
    if len(used[0]) * len(used[1]) <= min(OrderedScores.MOST, max(2 * total, CELLS)):
        groups = [(list(places), used)]
    else:
        groups = [([k], [np.unique(side) for side in sets[k]]) for k in places]
    for group, (some, others) in groups:
        chosen = []
        for k in group:
            i, j = np.searchsorted(some, sets[k][0]), np.searchsorted(others, sets[k][1])
            chosen.append((k, (i, j)))
        try:
            yield OrderedScores.of(scores.select(some, others)), chosen
        except DataError:  # raised again for the partition that it is of
            continue


def _scalars(
    numbers: np.ndarray, counts: SelectionCounts, plan: Plan, card: Protocol, scores: Scores
) -> Iterator[PartitionScalars]:
    """Yield the scalars of partitions, without those that must be refused."""
    refused = (counts.of("failed") > 0) & (scores.nan == "raise")
    unmated = counts.probes - counts.of("mated")
    closed = plan.tasks.get("closed_set")
    if closed is not None:
        rule, square = closed.options["unmated"], plan.scores.layout == "all-against-all"
        if rule == "raise" or (rule == "auto" and not square):
            refused |= unmated > 0
    longest = counts.of("longest")
    if closed is not None and closed.options["max_rank"] is not None:
        longest = np.full_like(longest, closed.options["max_rank"])
    ranks = shown_ranks(card.report.ranks)
    nodes = {}
    for node in plan.tasks:
        if node == "open_set":
            nodes[node] = open_set_of(counts, scores.kind)
        elif node.startswith("verification"):
            nodes[node] = verification_of(counts, node.rpartition("/")[2], scores.kind)
    reached = np.minimum(np.maximum(longest, 1), max(ranks))
    for length in np.unique(reached[~refused]):
        if closed is not None:
            nodes["closed_set"] = closed_set_of(counts, ranks, int(length))
        some = ~refused & (reached == length)
        ordered = {node: nodes[node].at(some) for node in plan.tasks}
        yield PartitionScalars(numbers[some], ordered)


def _in_columns(dataset: xr.Dataset) -> xr.Dataset:
    """Return results over partitions with a variable for each FAR target, rank and cost.

    All are over ``partition`` alone then, so that a table of them has a row a partition.
    """
    labels = {str(k): x.values.tolist() for k, x in dataset.coords.items()}
    if "cost" in dataset.dims:
        labels["cost"] = dataset["cost_prior"].values.tolist()
    columns = {}
    for name, x in dataset.data_vars.items():
        for place in np.ndindex(x.shape[1:]) if x.dims[0] == "partition" else ():
            at = {str(dim): labels[str(dim)][i] for dim, i in zip(x.dims[1:], place, strict=True)}
            words = [f"{'rank_' * (dim == 'rank')}{value!r}" for dim, value in at.items()]
            said = "".join(f"; {dim.replace('_', ' ')} {value!r}" for dim, value in at.items())
            attrs = {**x.attrs, "long_name": f"{x.attrs['long_name']}{said}"}
            if at:
                attrs |= {"of": str(name), "over": " ".join(at), **at}
            else:
                attrs |= {}
            columns["_".join([str(name), *words])] = xr.Variable(
                ("partition",), x.values[:, *place], attrs, fastpath=True
            )
    coords = {"partition": dataset["partition"].variable}
    return xr.Dataset(columns, coords, {**dataset.attrs, "schema": SCHEMA})
