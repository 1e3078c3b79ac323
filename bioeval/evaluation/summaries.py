"""The scalars of many partitions of one matrix, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.engine import engine
from bioeval.base.errors import BioevalError, DataError, ProtocolError
from bioeval.base.scalars import OPTIMA
from bioeval.evaluation.cross.splits import SplitSides, plan_of, require_square, split_samples
from bioeval.evaluation.evaluate import scalars_of
from bioeval.evaluation.plan import EvaluationOptions, Plan, resolve_card
from bioeval.partition import EnrolledSplit, Experiment, ProbeGallerySplit
from bioeval.protocol import load
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import RANKS
from bioeval.results.open_set import IMPOSTORS
from bioeval.results.summaries import (
    PartitionScalars,
    closed_set_of,
    open_set_of,
    partition_attrs,
    summaries_tree,
    verification_of,
)
from bioeval.scores.arrays import as_index
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores, are_pairs, require_scores
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


def summaries(
    scores: Scores,
    partitions: Any,
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> xr.DataTree:
    """Return the scalars of every task of a protocol, of many partitions of the same scores.

    Those of each partition are those of :func:`summary`, to the last bit, in a fraction of its
    time: the scores are put in order once for all partitions.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    partitions : splitter, or iterable
        A splitter, as for :func:`repeat`: its galleries and probes, or its test parts. Or, for
        each partition, a pair of index arrays, gallery first, or one array of int or bool that
        selects both sides.
    protocol, far_targets, auc
        As for :func:`evaluate`; ``"auto"`` takes the course card for the layout of each partition.

    Returns
    -------
    xarray.DataTree
        The nodes of :func:`evaluate`. Every variable is over ``partition``, in the order of the
        partitions, and has the dtype that it has there; what :func:`summary` gives by FAR target,
        rank or cost is also over ``far_target``, ``rank`` or ``cost``. A number that a partition
        lacks, such as CMS at a rank beyond its gallery, is NaN; counts are float64 there.

    Raises
    ------
    CardError
        If there is no such card, or it is not valid.
    DataError
        If there is no partition; bad options. Of a partition, which the message names by its place
        from 0: an index out of range, a gallery template twice, NaN under ``nan="raise"``.
    ProtocolError
        For a list of pairs; or if a partition, which is named, cannot support the protocol.

    Notes
    -----
    Definitions: ``docs/definitions.md``; thresholds are attainable, as for :func:`verification`.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> tree = be.summaries(scores, galleries)
    >>> tree["closed_set"]["recognition_rate"].sizes
    Frozen({'partition': 20})
    >>> halves = [range(60), range(60, 120)]
    >>> be.summaries(scores, halves)["verification/single"]["genuine_attempts"].values
    array([180, 180])
    """
    options = EvaluationOptions.parse(far_targets=far_targets, auc=auc)
    require_scores(scores)
    if are_pairs(scores):
        raise ProtocolError("a list of pairs has no templates to divide; be.cross_evaluate does")
    if not isinstance(protocol, str) or protocol not in ("auto", "course-kfold"):
        protocol = load(protocol)
    sets = list(_index_sets(scores, partitions))
    if not sets:
        raise DataError("there are no partitions; expected at least one")
    parts, cards = _counted_together(scores, sets, protocol, options)
    done = {int(k) for part in parts for k in part.partitions}
    for k in range(len(sets)):
        if k not in done:
            try:
                view = scores.select(*sets[k])
                parts.append(PartitionScalars.of_one(k, *scalars_of(view, protocol, options)))
                cards.append(resolve_card(view, protocol).name)
            except BioevalError as error:
                raise error.preceded_by(f"partition {k}: ") from error
    attrs = partition_attrs(cards, scores.kind, scores.nan, len(sets))
    return summaries_tree(parts, len(sets), attrs)


# ------------------------------------------------------------------------------- partitions


def _index_sets(scores: Scores, partitions: Any) -> Iterator[IndexSet]:
    """Yield the rows and the columns of each partition, checked."""
    for place, (probes, gallery) in enumerate(_given(scores, partitions)):
        try:
            columns = as_index(gallery, scores.shape[1], "gallery")
            same = probes is gallery and scores.shape[0] == scores.shape[1]
            rows = columns if same else as_index(probes, scores.shape[0], "probes")
            if (np.diff(columns) <= 0).any() and len(np.unique(columns)) != len(columns):
                scores.select(gallery=columns)  # raises
        except BioevalError as error:
            raise error.preceded_by(f"partition {place}: ") from error
        yield rows, columns


def _given(scores: Scores, partitions: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the probes and the gallery of each partition, as they are given."""
    if hasattr(partitions, "split") and not isinstance(partitions, str | bytes):
        yield from _split(scores, partitions)
        return
    if not isinstance(partitions, Iterable) or isinstance(partitions, str | bytes | Mapping):
        raise DataError(
            f"partitions is {type(partitions).__name__}; expected a splitter, or for each "
            "partition a pair (gallery, probes) of index arrays or one index array"
        )
    for one in partitions:
        pair = isinstance(one, tuple | list) and len(one) == 2 and min(map(np.ndim, one)) > 0
        yield (one[1], one[0]) if pair else (one, one)


def _split(scores: Scores, splitter: Any) -> Iterator[IndexSet]:
    """Yield the rows and the columns of each partition of a splitter."""
    if not scores.labelled:
        raise ProtocolError("partitions need the subjects of the templates. Give labels")
    sides = SplitSides(scores)
    if isinstance(splitter, ProbeGallerySplit | EnrolledSplit):
        for own, probe in split_samples(splitter, sides.n, sides.labels, None, sides.meta):
            yield sides.places(probe, own)
        return
    if isinstance(splitter, Experiment):
        require_square(scores)
    plan = plan_of(splitter, sides.n, sides.labels, None, sides.meta)
    for place in plan.places:
        yield sides.places(*plan.split(*place).sides[1])


# ------------------------------------------------------------------------------- in one call


def _counted_together(
    scores: Scores, sets: Sequence[IndexSet], protocol: str | Protocol, options: EvaluationOptions
) -> tuple[list[PartitionScalars], list[str]]:
    """Return the scalars of the partitions that are counted together, and the cards of all."""
    parts: list[PartitionScalars] = []
    cards: list[str] = []
    if not _is_plain(scores):
        return parts, cards
    small = [k for k, (i, j) in enumerate(sets) if len(i) * len(j) <= CELLS]
    for square, places in _by_layout(scores, sets, small).items():
        view = scores.select(*sets[places[0]])
        try:
            card = resolve_card(view, protocol)
            plan = Plan(view, card, options, automatic=protocol == "auto")
        except BioevalError:  # raised again for the partition that it is of
            continue
        searches = _searches(plan, view, card)
        if searches is None:
            continue
        cards.append(card.name)
        wanted = PointsWanted(plan.far_targets, plan.costs, options.auc)
        with threads_for(view):
            for ordered, chosen in _ordered(scores, sets, places):
                found = count_index_sets(
                    ordered, [local for _, local in chosen], searches, wanted,
                    square=square, tasks=[x.rpartition("/")[2] for x in plan.tasks],
                )  # fmt: skip
                first = 0
                for counts in found:
                    number = len(counts.probes)
                    numbers = np.array([k for k, _ in chosen[first : first + number]])
                    parts += _scalars(numbers, counts, plan, card, scores)
                    first += number
    return parts, cards


def _is_plain(scores: Scores) -> bool:
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


def _searches(plan: Plan, view: Scores, card: Protocol) -> IdentificationRules | None:
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
