"""Partitions of one matrix that are counted together, in one call of the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.engine import engine
from bioeval.base.errors import BioevalError, DataError
from bioeval.base.scalars import OPTIMA
from bioeval.evaluation.plan import EvaluationOptions, Plan, resolve_card
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import RANKS, Scalars
from bioeval.results.open_set import IMPOSTORS
from bioeval.results.summaries import (
    PartitionScalars,
    closed_set_of,
    open_set_of,
    verification_of,
)
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.index_sets import (
    CELLS,
    MOST,
    IdentificationRules,
    IndexSet,
    OrderedScores,
    SelectionCounts,
    count_index_sets,
)
from bioeval.tallies.second_pass import PointsWanted


def counted_together(
    scores: Scores, sets: Sequence[IndexSet], protocol: str | Protocol, options: EvaluationOptions
) -> tuple[list[PartitionScalars], list[str]]:
    """Return the scalars of the partitions that are counted together, and the cards of all."""
    parts: list[PartitionScalars] = []
    cards: list[str] = []
    if not is_plain(scores):
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
        wanted = PointsWanted(plan.far_targets, plan.costs, options.auc)
        with threads_for(view):
            for ordered, chosen in _ordered(scores, sets, places):
                found = count_index_sets(
                    ordered, [local for _, local in chosen], rules, wanted,
                    square=square, tasks=_points_of(plan),
                )  # fmt: skip
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
    if not is_plain(scores):
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
        wanted = PointsWanted(plan.far_targets, plan.costs, options.auc)
        (counts,) = count_index_sets(
            ordered, [(np.arange(m), np.arange(n))], rules, wanted,
            square=scores.layout == "all-against-all", tasks=_points_of(plan),
        )  # fmt: skip
    for part in _scalars(np.zeros(1, dtype=np.int64), counts, plan, card, scores):
        return {
            node: Scalars({k: (d, x[0]) for k, (d, x) in found.variables.items()}, found.labels)
            for node, found in part.nodes.items()
        }
    return None


def _points_of(plan: Plan) -> list[str]:
    """Return the tasks of a plan whose operating points are wanted."""
    return [node.rpartition("/")[2] for node in plan.tasks]


def is_plain(scores: Scores) -> bool:
    """Whether partitions of scores can be counted together: all of a matrix in memory."""
    whole = isinstance(scores.base, np.ndarray) and not scores.limited and not scores.part_of
    left_out = scores.has_mask or bool(scores.exclude) or not scores.labelled
    if not whole or left_out or scores.kind == "order" or engine() is not None or OPTIMA:
        return False
    values = scores.codes.values.tolist()
    return len(set(map(repr, values))) == len(values)  # subjects are counted by their names


def _by_layout(
    scores: Scores, sets: Sequence[IndexSet], places: Sequence[int]
) -> dict[bool, list[int]]:
    """Return the partitions that are all-against-all, and those that are not."""
    found: dict[bool, list[int]] = {}
    whole = np.array_equal(scores.probe_ids, scores.gallery_ids)
    inside = np.zeros(max(scores.probe_ids.max(), scores.gallery_ids.max()) + 1, dtype=bool)
    for k in places:
        rows, columns = sets[k]
        enrolled = scores.gallery_ids[columns]
        inside[enrolled] = True
        square = (whole and rows is columns) or bool(inside[scores.probe_ids[rows]].all())
        inside[enrolled] = False
        found.setdefault(square, []).append(k)
    return found


def _rules(plan: Plan, view: Scores, card: Protocol) -> IdentificationRules | None:
    """Return the rules of identification of a plan; None if a task needs another way of counting.

    A fused score must be that of the nearest template, and every rank a whole number.
    """
    if plan.retrieval or plan.gom or card.galleries or plan.scores is not view:
        return None
    jobs: list[Any] = [task.job for task in plan.tasks.values()]
    for job in jobs:
        alone = job.form == "verification" and (job.claims is not None or job.transactions)
        fused = job.form == "verification" and job.templates == "multi"
        fused |= job.form == "identification" and job.rank_unit == "subject"
        if job.form not in ("verification", "identification") or job.reader is not plan.reader:
            return None
        if alone or (fused and job.fusion != "min"):
            return None
    both = [plan.tasks.get(name) for name in ("open_set", "closed_set")]
    ties = [task.options["ties"] if task else "pessimistic" for task in both]
    if not set(ties) <= {"pessimistic", "optimistic"}:
        return None
    units: list[Any] = [task.job if task else None for task in both]
    impostors = both[0].options["impostors"] if both[0] else "auto"
    return IdentificationRules(
        by_subject=tuple(job is not None and job.rank_unit == "subject" for job in units),
        ties_first=tuple(x == "pessimistic" for x in ties),
        impostors=IMPOSTORS.index(impostors),
        ranks=(1, *(card.report.ranks or RANKS)),
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
    if len(used[0]) * len(used[1]) <= min(MOST, max(2 * total, CELLS)):
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
    ranks = card.report.ranks or RANKS
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
