"""Partitions of one matrix, counted together in one call of the kernels, and their scalars."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np

from bioeval.attempts.counts import ImpostorProbes
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.selections import (
    IdentificationRules,
    IndexSet,
    OrderedScores,
    SelectionCounts,
    packed,
)
from bioeval.attempts.thresholds import to_internal, to_user
from bioeval.base.errors import BioevalError, DataError
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import Scalars
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.studies.partitions.results import CurveGrid, PartitionScalars
from bioeval.tasks.plan import EvaluationOptions, Plan, resolve_card


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
        rules = None if card.has_folds else _rules(plan, view, card, grid)
        if rules is None:
            continue
        cards.append(card.name)
        wanted, thresholds = plan.wanted(), None
        if grid is not None:
            thresholds = to_internal(grid.thresholds, scores.kind)
        with threads_for(view):
            for ordered, numbers, local in _ordered(scores, sets, places):
                first = 0
                for counts in ordered.counts(
                    local,
                    rules,
                    wanted,
                    square=square,
                    tasks=_points_of(plan),
                    thresholds=thresholds,
                ):
                    last = first + len(counts.probes)
                    some = numbers[first:last]
                    parts += _scalars(some, counts, plan, card, scores, grid)
                    first = last
    return parts, cards


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


def _ordered(
    scores: Scores, sets: Sequence[IndexSet], places: Sequence[int]
) -> Iterator[tuple[OrderedScores, np.ndarray, list[IndexSet]]]:
    """Yield scores in order, of all partitions together or of each alone.

    With the partitions whose scores they are, and their rows and columns among these.
    """
    groups = [list(places)]
    rows, columns, local = packed([sets[k] for k in places])
    total = sum(len(x) * len(y) for x, y in local)
    if len(rows) * len(columns) > min(OrderedScores.MOST, max(2 * total, CELLS)):
        groups = [[k] for k in places]
    for group in groups:
        if len(groups) > 1:
            rows, columns, local = packed([sets[group[0]]])
        with contextlib.suppress(DataError):  # raised again for the partition that it is of
            yield OrderedScores.of(scores.select(rows, columns)), np.array(group), local


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
