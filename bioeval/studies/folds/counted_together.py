"""Partitions of one matrix, counted together in one call of the kernels, and their scalars."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self, get_args

import numpy as np
import xarray as xr

from bioeval.attempts.counts import ImpostorProbes
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.selections import IdentificationRules, OrderedScores, SelectionCounts
from bioeval.attempts.thresholds import to_internal, to_user
from bioeval.base.errors import BioevalError, DataError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message, message_attrs
from bioeval.base.registry import names_of
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars, Variables, build, tree_of
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.stats.bootstrap import ratio
from bioeval.studies.folds.results import without_attempts
from bioeval.studies.folds.splits import IndexSet
from bioeval.tasks.plan import EvaluationOptions, Plan, resolve_card
from bioeval.views.sections.summary import figure_scalars


class PartitionScalars(NamedTuple):
    """Scalars of some partitions (by place in the list), each with an entry a partition, first."""

    partitions: np.ndarray
    nodes: dict[str, Scalars]
    curves: dict[str, Scalars]

    @classmethod
    def of_one(
        cls,
        place: int,
        scalars_of_nodes: Mapping[str, Scalars],
        ranks: Sequence[int],
        curves: Mapping[str, Scalars],
    ) -> Self:
        """Take the scalars of one partition, those over ranks at the ranks to show."""
        shown = {node: scalars.shown(ranks) for node, scalars in scalars_of_nodes.items()}
        nodes, of_curves = ({k: _as_one(x) for k, x in each.items()} for each in (shown, curves))
        return cls(np.array([place]), nodes, of_curves)


def _as_one(scalars: Scalars) -> Scalars:
    """Return scalars with an axis of one partition."""
    variables = {name: (dims, values[None]) for name, (dims, values) in scalars.variables.items()}
    return Scalars(variables, scalars.labels)


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
        for name, x in dataset.data_vars.items():
            if x.dims == ("rank",):
                variables[str(name)] = x.dims, x.values
            elif "threshold" in x.dims and name in ("far", "frr", "dir"):
                values = x.values[:, 0] if x.ndim > 1 else x.values
                variables[str(name)] = ("threshold",), values
        return Scalars(variables, self.labels)

    def of_counts(self, counts: SelectionCounts, node: str) -> Scalars:
        """Take the curves of partitions that were counted together."""
        if node == "closed_set":
            mated, ranked = counts.of("mated")[:, None], counts.ranked[:, -self.ranks :]
            over = ("rank",)
            return Scalars(
                {"cms": (over, ratio(ranked, mated)), "cms_count": (over, ranked)}, self.labels
            )
        over, task = ("threshold",), node.rpartition("/")[2]
        accepted, (genuine, impostor) = counts.accepted[task], counts.attempts_of(task)
        if larger_is_closer(self.kind):
            accepted = accepted[..., ::-1]
        far = ratio(accepted[1], impostor[:, None])
        if task == "open_set":
            return Scalars(
                {"dir": (over, ratio(accepted[0], genuine[:, None])), "far": (over, far)},
                self.labels,
            )
        frr = ratio(genuine[:, None] - accepted[0], genuine[:, None])
        return Scalars({"far": (over, far), "frr": (over, frr)}, self.labels)


def verification_of(counts: SelectionCounts, templates: str, kind: str) -> Scalars:
    """Return the scalars of verification by single templates or by multi templates."""
    points = counts.single if templates == "single" else counts.multi
    genuine, impostor = counts.attempts_of(templates)
    probes, enrolled = counts.of("probe_subjects"), counts.of("groups")
    everyone = probes + enrolled - counts.of("enrolled_subjects")
    variables = {
        "genuine_attempts": ((), genuine),
        "impostor_attempts": ((), impostor),
        "skipped_claims": ((), np.zeros_like(genuine)),
        "subjects": ((), everyone),
        "disjoint_pairs": ((), np.minimum(np.minimum(probes, enrolled), everyone // 2)),
    }
    independent = np.where(points.symmetric, impostor / 2, impostor)
    at_points, labels = Scalars.of_points(points, kind, independent).shown([])
    return Scalars(variables | at_points, labels)


def open_set_of(counts: SelectionCounts, kind: str) -> Scalars:
    """Return the scalars of open set."""
    points, over = counts.open_set, ("far_target",)
    enrolled = counts.of("enrolled")
    (mated, searches), targets = counts.attempts_of("open_set"), points.far_target
    variables = {
        "genuine_attempts": ((), mated),
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
    counted_ranks = np.array([1, *ranks])
    there = counted_ranks <= longest
    mated, ranked = counts.of("mated"), counts.ranked[:, : len(counted_ranks)]
    attempts = np.where(mated > 0, mated, np.nan)
    variables = {
        "cms": (("rank",), ranked[:, there] / attempts[:, None]),
        "cms_count": (("rank",), ranked[:, there]),
        "recognition_rate": ((), ranked[:, 0] / attempts),
        "attempts": ((), mated),
        "skipped": ((), counts.probes - mated),
        "tied": ((), counts.of("closed_tied")),
        "subjects": ((), counts.of("enrolled_subjects")),
    }
    return Scalars(variables, {"rank": counted_ranks[there]}).shown(ranks)


def _names_in(node: str) -> Mapping[str, Name]:
    """Return the names of the variables of a node."""
    if node == "reid":
        from bioeval.tasks.reid.results import REID

        return REID
    if node == "gom":
        from bioeval.tasks.reid.results import GOM

        return GOM
    return names_of(node.partition("/")[0])


def partitions_tree(
    parts: Sequence[PartitionScalars],
    number: int,
    protocols: Sequence[str],
    scores: Scores,
    grid: CurveGrid | None,
) -> xr.DataTree:
    """Join the numbers of all partitions; what a partition lacks is NaN, of float64."""
    by_node: dict[str, list[_Piece]] = defaultdict(list)
    curves: dict[str, list[_Piece]] = defaultdict(list)
    for part in parts:
        for into, nodes in ((by_node, part.nodes), (curves, part.curves)):
            for node, scalars in nodes.items():
                into[node].append(_Piece(part.partitions, scalars))
    datasets = {}
    for node, pieces in by_node.items():
        labels = _labels_of(pieces)
        variables = _variables(pieces, labels, number)
        used = {*itertools.chain.from_iterable(dims for dims, _ in variables.values())}
        coordinates = {"partition": np.arange(number)}
        for dim in labels:
            if dim == "cost" and dim in used:
                variables["cost_prior"] = ("cost",), labels[dim]
            elif dim in used:
                coordinates[dim] = labels[dim]
        attrs: dict[str, str | int | float] = {
            "result_type": node.partition("/")[0].replace("_", "-"),
            "task": f"{node.replace('_', '-').replace('/', ', ')}, over partitions",
            "protocol": " or ".join(dict.fromkeys(protocols)),
            "kind": scores.kind,
            "nan_policy": scores.nan,
            "partitions": number,
            "threshold_units": "similarity" if larger_is_closer(scores.kind) else "distance",
            "bioeval_version": __version__,
        }
        names = _names_in(node)
        dataset = _in_columns(build(variables, names, coordinates, attrs))
        dataset.attrs |= message_attrs(remarks_on_partitions(dataset, node))
        if grid is not None and node in curves:
            of_curves = _variables(curves[node], grid.labels, number)
            dataset = dataset.merge(_with_bands(of_curves, names, grid))
            dataset.attrs["report_ranks"] = " ".join(map(str, labels.get("rank", ())))
            dataset.attrs["band"] = "the middle 95 % of the partitions, among these people"
        datasets[node] = dataset
    return tree_of(datasets)


def _variables(
    pieces: Sequence[_Piece], labels: Mapping[str, np.ndarray], number: int
) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Return the variables of all partitions."""
    dims_of: dict[str, tuple[str, ...]] = {}
    for _, scalars in pieces:
        for name, (dims, _) in scalars.variables.items():
            dims_of.setdefault(name, dims)
    return {
        name: (("partition", *dims), _joined(name, dims, pieces, labels, number))
        for name, dims in dims_of.items()
    }


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
        of = names[name]
        for key, words, line in zip(
            ("mean", "low", "high"),
            ("mean over partitions", "2.5 % of the partitions are below", "97.5 % are below"),
            found,
            strict=True,
        ):
            variables[f"{name}_{key}"] = tuple(over), line
            described[f"{name}_{key}"] = Name(f"{of.long_name}; {words}", of.units, of.iso)
    used = {*itertools.chain.from_iterable(dims for dims, _ in curves.values())}
    coordinates = {name: x for name, x in grid.labels.items() if name in used}
    return build(variables, described, coordinates, {})


def remarks_on_partitions(dataset: xr.Dataset, node: str) -> Iterator[Message]:
    """Yield why numbers are NaN (no attempt, no query with a match ...), or decided by ties."""
    number, lacking = dataset.sizes["partition"], np.zeros(dataset.sizes["partition"], dtype=bool)
    attempts = {}
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    for role, count in (("genuine", genuine), ("impostor", "impostor_attempts")):
        if count in dataset:
            attempts[f"{role}_attempts"] = dataset[count].values
            lacking |= dataset[count].values == 0
    yield from without_attempts(attempts, number, "partition")
    if "queries" in dataset:
        unmatched = dataset["queries"].values == 0
        lacking |= unmatched
        if unmatched.any():
            yield Message("no-query-in-partitions", missing=int(unmatched.sum()), number=number)
    if "tied" in dataset and (tied := int(dataset["tied"].sum())):
        probes = int(dataset[genuine].sum())
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=number)
    others: dict[str, int] = {}
    for name, x in dataset.data_vars.items():
        scalar = figure_scalars().get(str(x.attrs.get("of", name)))
        if scalar is not None and (missing := int((np.isnan(x.values) & ~lacking).sum())):
            others[str(name)] = missing
    if others:
        yield Message(
            "undefined-in-partitions",
            names=", ".join(others),
            missing=max(others.values()),
            number=number,
        )


class _Piece(NamedTuple):
    """The scalars of a task, and the partitions that they are of."""

    partitions: np.ndarray
    scalars: Scalars


def _labels_of(pieces: Sequence[_Piece]) -> dict[str, np.ndarray]:
    """Return the labels of all pieces along each dimension; ranks increase."""
    labels: dict[str, np.ndarray] = {}
    for _, scalars in pieces:
        for dim, values in scalars.labels.items():
            known = labels.setdefault(dim, values)
            if not np.array_equal(known, values):
                both = list(dict.fromkeys([*known.tolist(), *values.tolist()]))
                if dim == "rank":
                    both.sort()
                labels[dim] = np.array(both)
    return labels


def _joined(
    name: str,
    dims: Sequence[str],
    pieces: Sequence[_Piece],
    labels: Mapping[str, np.ndarray],
    number: int,
) -> np.ndarray:
    """Return a variable of all partitions."""
    known, dtypes = 0, []
    shape = [number]
    for dim in dims:
        shape.append(len(labels[dim]))
    for _, scalars in pieces:
        if name in scalars.variables:
            _, values = scalars.variables[name]
            known += np.size(values)
            dtypes.append(values.dtype)
    if known == np.prod(shape):
        joined = np.zeros(shape, np.result_type(*dtypes))
    else:
        joined = np.full(shape, np.nan)
    for partitions, scalars in pieces:
        if name in scalars.variables:
            places: list[Any] = [partitions]
            for dim in dims:
                labelled, whole = scalars.labels[dim], labels[dim].tolist()
                if len(labelled) == len(whole):
                    places.append(range(len(whole)))
                else:
                    places.append(list(map(whole.index, labelled)))
            _, joined[np.ix_(*places)] = scalars.variables[name]
    return joined


# Cells of a partition that is counted together with others, at most.
CELLS = 1 << 18


def counted_together(
    scores: Scores,
    sets: Sequence[IndexSet],
    protocol: str | Protocol,
    options: EvaluationOptions,
    grid: CurveGrid | None = None,
) -> tuple[list[PartitionScalars], list[str]]:
    """Return the scalars of the partitions that are counted together, and the cards of all."""
    parts: list[PartitionScalars] = []
    cards: list[str] = []
    if not OrderedScores.can_hold(scores):
        return parts, cards
    for square, places in _by_layout(scores, sets).items():
        rows, columns = sets[places[0]]
        view = scores.select(rows, columns)
        try:
            card = resolve_card(view, protocol)
            plan = Plan(view, card, options, automatic=protocol == "auto")
        except BioevalError:  # raised again for the partition that it is of
            continue
        rules = _rules(plan, view, card, grid)
        if rules is None:
            continue
        cards.append(card.name)
        wanted, thresholds = plan.wanted(), None
        if grid is not None:
            thresholds = to_internal(grid.thresholds, scores.kind)
        with threads_for(view):
            for group in _ordered(scores, sets, places):
                first = 0
                for counts in group.scores.counts(
                    group.sets,
                    rules,
                    wanted,
                    square=square,
                    tasks=_points_of(plan),
                    thresholds=thresholds,
                ):
                    last = first + len(counts.probes)
                    some = group.partitions[first:last]
                    parts += _scalars(some, counts, plan, card, scores, grid)
                    first = last
    return parts, cards


def scalars_together(
    scores: Scores, card: Protocol, options: EvaluationOptions, *, automatic: bool
) -> dict[str, Scalars] | None:
    """Return the scalars of all scores as of one of many partitions; None where refused."""
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
        of_one = {}
        for node, scalars in part.nodes.items():
            variables = {
                name: (dims, values[0]) for name, (dims, values) in scalars.variables.items()
            }
            of_one[node] = Scalars(variables, scalars.labels)
        return of_one
    return None


def _points_of(plan: Plan) -> list[str]:
    """Return the tasks of a plan whose operating points are wanted."""
    return [node.rpartition("/")[2] for node in plan.tasks]


def _by_layout(scores: Scores, sets: Sequence[IndexSet]) -> dict[bool, list[int]]:
    """Return the small partitions that are all-against-all, and those that are not."""
    by_layout = defaultdict(list)
    whole = np.array_equal(scores.probe_ids, scores.gallery_ids)
    inside = np.zeros(max(scores.probe_ids.max(), scores.gallery_ids.max()) + 1, dtype=bool)
    for k, (rows, columns) in enumerate(sets):
        if len(rows) * len(columns) > CELLS:
            continue
        enrolled = scores.gallery_ids[columns]
        inside[enrolled] = True
        square = (whole and rows is columns) or bool(inside[scores.probe_ids[rows]].all())
        inside[enrolled] = False
        by_layout[square].append(k)
    return by_layout


def _rules(
    plan: Plan, view: Scores, card: Protocol, grid: CurveGrid | None = None
) -> IdentificationRules | None:
    """Return the rules of identification of a plan; None if a task needs another way of counting.

    A fused score must be that of the nearest template, and every rank a whole number.
    """
    if plan.searches or card.galleries or plan.scores is not view:
        return None
    for counted_task in plan.tasks.values():
        counter = counted_task.counter
        if counter.reader is not plan.reader or not counter.of_tiles:
            return None
    by_subject = []
    ties_first = []
    impostors = "auto"
    for name in ("open_set", "closed_set"):
        task = plan.tasks.get(name)
        if task is None:
            by_subject.append(False)
            ties_first.append(True)
            continue
        ties = task.options["ties"]
        if ties not in ("pessimistic", "optimistic"):
            return None
        assert isinstance(task.counter, IdentificationCounter)
        by_subject.append(task.counter.fuses)
        ties_first.append(ties == "pessimistic")
        if name == "open_set":
            impostors = task.options["impostors"]
    return IdentificationRules(
        by_subject=tuple(by_subject),
        ties_first=tuple(ties_first),
        impostors=get_args(ImpostorProbes).index(impostors),
        ranks=(
            1,
            *Scalars.shown_ranks(card.report.ranks),
            *range(1, (grid.ranks if grid else 0) + 1),
        ),
    )


class _Ordered(NamedTuple):
    """Scores in order, and the partitions whose scores they are, as places among them."""

    scores: OrderedScores
    partitions: np.ndarray
    sets: list[IndexSet]


def _ordered(scores: Scores, sets: Sequence[IndexSet], places: Sequence[int]) -> Iterator[_Ordered]:
    """Yield scores in order: those of all partitions together, or of each alone."""
    m, n = scores.shape
    in_rows = np.zeros(m, dtype=bool)
    in_columns = np.zeros(n, dtype=bool)
    total = 0
    for k in places:
        rows, columns = sets[k]
        in_rows[rows] = True
        in_columns[columns] = True
        total += len(rows) * len(columns)
    used_rows, used_columns = np.flatnonzero(in_rows), np.flatnonzero(in_columns)
    together = [list(places)]
    if len(used_rows) * len(used_columns) > min(OrderedScores.MOST, max(2 * total, CELLS)):
        together = [[k] for k in places]
    for group in together:
        if len(together) > 1:
            used_rows, used_columns = map(np.unique, sets[group[0]])
        local = []
        for k in group:
            rows, columns = sets[k]
            local.append((np.searchsorted(used_rows, rows), np.searchsorted(used_columns, columns)))
        try:
            ordered = OrderedScores.of(scores.select(used_rows, used_columns))
        except DataError:  # raised again for the partition that it is of
            continue
        yield _Ordered(ordered, np.array(group), local)


def _scalars(
    numbers: np.ndarray,
    counts: SelectionCounts,
    plan: Plan,
    card: Protocol,
    scores: Scores,
    grid: CurveGrid | None = None,
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
    ranks = Scalars.shown_ranks(card.report.ranks)
    nodes = {}
    for node in plan.tasks:
        if node == "open_set":
            nodes[node] = open_set_of(counts, scores.kind)
        elif node.startswith("verification"):
            nodes[node] = verification_of(counts, node.rpartition("/")[2], scores.kind)
    curves = {} if grid is None else {node: grid.of_counts(counts, node) for node in plan.tasks}
    reached = np.minimum(np.maximum(longest, 1), max(ranks))
    for length in np.unique(reached[~refused]):
        if closed is not None:
            nodes["closed_set"] = closed_set_of(counts, ranks, int(length))
        some = ~refused & (reached == length)
        ordered = {node: nodes[node].at(some) for node in plan.tasks}
        of_curves = {node: x.at(some) for node, x in curves.items()}
        yield PartitionScalars(numbers[some], ordered, of_curves)


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
