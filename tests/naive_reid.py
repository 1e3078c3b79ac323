"""Naive implementations of re-identification and GOM, written from the definitions alone.

A query's list is sorted as a list, and every measure is read off it entry by entry. Nothing here
imports ``bioeval``. Arguments are those of ``naive``, with ``cameras`` of both sides and the
parameters of a convention; ``Fraction`` wherever a value is a ratio of counts.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import naive


@dataclass(frozen=True)
class Entry:
    """One entry of a query's list."""

    distance: Any
    match: bool
    column: int
    identity: Any


@dataclass
class Query:
    """What a query sees, in no order, and whether its identity is in the gallery at all."""

    entries: list[Entry]
    enrolled: bool
    removed: int
    left_out: bool = False  # of junk or a distractor: it matches nothing, and is in no mean

    @property
    def matches(self) -> int:
        return sum(e.match for e in self.entries)


def queries(
    case: dict[str, Any],
    cameras: tuple[Sequence[Any], Sequence[Any]] | None,
    removed: str,
    junk_ids: Sequence[Any] = (),
    kept_ids: Sequence[Any] = (),
) -> list[Query]:
    """Return the list of each query under a rule; junk leaves every list.

    Entries of `kept_ids`, distractors and junk that is kept, stay. A query of either is left out.
    """
    data = naive.read(**case, names=True)
    probes = data.probe_labels
    gallery = naive.as_list(case["gallery_labels"]) or probes
    listed = []
    for i, row in enumerate(data.rows):
        entries, number_removed = [], 0
        usable = {cell.column for cell in row}
        nobody = probes[i] in [*junk_ids, *kept_ids]
        for j, identity in enumerate(gallery):
            own = identity == probes[i] and not nobody
            same_camera = cameras is not None and cameras[0][i] == cameras[1][j]
            out = identity in junk_ids
            out = out or (removed == "same-id-same-camera" and own and same_camera)
            out = out or (removed == "same-camera" and same_camera)
            itself = data.all_against_all and j == i
            number_removed += out and not itself
            if not out and j in usable:
                cell = next(cell for cell in row if cell.column == j)
                entries.append(Entry(cell.distance, own, j, identity))
        enrolled = data.enrolled[i] and any(
            identity == probes[i] and not nobody
            for j, identity in enumerate(gallery)
            if not (data.all_against_all and j == i)
        )
        listed.append(Query(entries, enrolled, number_removed, nobody))
    return listed


def ordered(entries: Sequence[Entry], ties: str) -> list[Entry]:
    """Sort a list, the tied as they are said to stand."""
    keys = {
        "pessimistic": lambda e: (e.distance, e.match, e.column),
        "optimistic": lambda e: (e.distance, not e.match, e.column),
        "stable": lambda e: (e.distance, e.column),
    }
    return sorted(entries, key=keys[ties])


def orders(entries: Sequence[Entry], ties: str) -> Iterator[tuple[Fraction, list[Entry]]]:
    """Yield lists with their probabilities: one list, or all orders of tied matches."""
    if ties != "expected":
        yield Fraction(1), ordered(entries, ties)
        return
    groups = [
        list(g) for _, g in itertools.groupby(ordered(entries, "stable"), key=lambda e: e.distance)
    ]
    choices = []
    for group in groups:
        matches = [e for e in group if e.match]
        non_matches = [e for e in group if not e.match]
        ways = []
        for places in itertools.combinations(range(len(group)), len(matches)):
            m, non_matches_left = iter(matches), iter(non_matches)
            ways.append(
                [next(m) if p in places else next(non_matches_left) for p in range(len(group))]
            )
        choices.append(ways)
    total = math.prod(len(ways) for ways in choices)
    for chosen in itertools.product(*choices):
        yield Fraction(1, total), [e for group in chosen for e in group]


# --- of one list -----------------------------------------------------------------------------


def tie_averaged(found: Sequence[Query], measure: Any) -> list[Any]:
    """The mean of a measure over all orders of tied entries, query by query; None without match."""
    values: list[Any] = []
    for query in found:
        values.append(None)
        if query.matches:
            weighted = (
                weight * measure(order) for weight, order in orders(query.entries, "expected")
            )
            values[-1] = sum(weighted, Fraction(0))
    return values


def match_ranks(entries: Sequence[Entry]) -> list[int]:
    return [rank for rank, e in enumerate(entries, 1) if e.match]


def average_precision(entries: Sequence[Entry], form: str) -> Fraction:
    positives = sum(e.match for e in entries)
    if form == "tied-once":
        total, number_listed, hits = Fraction(0), 0, 0
        for _, group in itertools.groupby(ordered(entries, "stable"), key=lambda e: e.distance):
            tied = list(group)
            gained = sum(e.match for e in tied)
            number_listed += len(tied)
            hits += gained
            total += Fraction(gained, positives) * Fraction(hits, number_listed)
        return total
    total, hits, before = Fraction(0), 0, Fraction(1)
    for rank, e in enumerate(entries, 1):
        hits += e.match
        precision = Fraction(hits, rank)
        if e.match:
            total += precision if form == "sum" else (before + precision) / 2
        before = precision
    return total / positives


def cut_average_precision(entries: Sequence[Entry], k: int, over: str) -> Fraction:
    positives = sum(entry.match for entry in entries)
    total, hits = Fraction(0), 0
    for rank, entry in enumerate(entries[:k], 1):
        if entry.match:
            hits += 1
            total += Fraction(hits, rank)
    number_found = sum(entry.match for entry in entries[:k])
    divisors = {"positives": positives, "smaller": min(positives, k), "found": max(number_found, 1)}
    return total / divisors[over]


def inverse_negative_penalty(entries: Sequence[Entry]) -> Fraction:
    ranks = match_ranks(entries)
    return Fraction(len(ranks), ranks[-1])


def reciprocal_rank(entries: Sequence[Entry]) -> Fraction:
    return Fraction(1, match_ranks(entries)[0])


def r_precision(entries: Sequence[Entry]) -> Fraction:
    return precision_at(entries, sum(e.match for e in entries))


def ap_at_r(entries: Sequence[Entry]) -> Fraction:
    """Musgrave, Belongie and Lim (2020): (1/R) sum_{i<=R} P(i), of the wrong entries 0."""
    number_of_matches = sum(e.match for e in entries)
    total = Fraction(0)
    for i, entry in enumerate(entries[:number_of_matches], 1):
        if entry.match:
            total += precision_at(entries, i)
    return total / number_of_matches


def ndcg(entries: Sequence[Entry]) -> Fraction:
    ranks = match_ranks(entries)
    gained = sum(1 / math.log2(1 + rank) for rank in ranks)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, len(ranks) + 1))
    return Fraction(gained / ideal)


#: Measures of one list: the variables of the mean and of each query.
OF_LISTS = {
    ("mean_inp", "inp"): inverse_negative_penalty,
    ("mrr", "reciprocal_rank"): reciprocal_rank,
    ("r_precision", "query_r_precision"): r_precision,
    ("mean_ap_at_r", "query_ap_at_r"): ap_at_r,
    ("ndcg", "query_ndcg"): ndcg,
}


def precision_at(entries: Sequence[Entry], k: int, over: str = "rank") -> Fraction:
    divisor = k if over == "rank" else min(k, sum(e.match for e in entries))
    return Fraction(sum(e.match for e in entries[:k]), divisor)


def recall_at(entries: Sequence[Entry], k: int) -> Fraction:
    return Fraction(sum(e.match for e in entries[:k]), sum(e.match for e in entries))


def interpolated_precision(entries: Sequence[Entry], level: Fraction) -> Fraction:
    ranks = range(1, len(entries) + 1)
    return max(precision_at(entries, k) for k in ranks if recall_at(entries, k) >= level)


# --- the CMC ---------------------------------------------------------------------------------


def counted(query: Query, counts: str, ties: str) -> dict[int, Fraction]:
    """Return the weight that one query with a match adds at each rank."""
    counts_by_rank: dict[int, Fraction] = {}

    def add(rank: int, weight: Fraction) -> None:
        counts_by_rank[rank] = counts_by_rank.get(rank, Fraction(0)) + weight

    if counts == "single-gallery-shot":
        for gallery, chance in single_shots(query.entries):
            for weight, order in orders(gallery, ties):
                add(match_ranks(order)[0], weight * chance)
        return counts_by_rank
    for weight, order in orders(query.entries, ties):
        if counts == "first-match":
            add(match_ranks(order)[0], weight)
        elif counts == "allshots":
            non_matches = 0
            for entry in order:
                if entry.match:
                    add(1 + non_matches, weight / query.matches)
                else:
                    non_matches += 1
        elif counts == "identity-dedup":
            distinct = list(dict.fromkeys((entry.match, entry.identity) for entry in order))
            add(1 + [match for match, _ in distinct].index(True), weight)
        else:
            raise ValueError(counts)
    return counts_by_rank


def single_shots(entries: Sequence[Entry]) -> Iterator[tuple[list[Entry], Fraction]]:
    """Yield every gallery of one entry of each identity, with its probability."""
    by_identity: dict[Any, list[Entry]] = {}
    for entry in entries:
        by_identity.setdefault((entry.match, entry.identity), []).append(entry)
    total = math.prod(len(group) for group in by_identity.values())
    for gallery in itertools.product(*by_identity.values()):
        yield list(gallery), Fraction(1, total)


def reid(
    case: dict[str, Any],
    cameras: tuple[Sequence[Any], Sequence[Any]] | None,
    *,
    removed: str,
    removed_for_ap: str = "as-above",
    counts: str = "first-match",
    ties: str = "stable",
    ap: str = "sum",
    unmatched: str = "skip",
    junk_ids: Sequence[Any] = (),
    kept_ids: Sequence[Any] = (),
    max_rank: int = 5,
    rank_k: int = 3,
    over: str = "positives",
    precision_over: str = "rank",
) -> SimpleNamespace:
    """Evaluate re-identification, query by query, under the names of the variables.

    A query without a match on a list is left out of the means over this list, or counts as 0 there.
    Of a query without a match each measure is None.
    """

    def counted_queries(found: Sequence[Query]) -> tuple[list[Query], int]:
        people = [query for query in found if not query.left_out]
        matched = [query for query in people if query.matches]
        return matched, len(people) if unmatched == "zero" else len(matched)

    of_cmc, cmc_queries = counted_queries(queries(case, cameras, removed, junk_ids, kept_ids))
    rule = removed if removed_for_ap == "as-above" else removed_for_ap
    found = queries(case, cameras, rule, junk_ids, kept_ids)
    people = [query for query in found if not query.left_out]
    matched, number = counted_queries(found)
    weight_by_rank: dict[int, Fraction] = {}
    for query in of_cmc:
        for rank, weight in counted(query, counts, ties).items():
            weight_by_rank[rank] = weight_by_rank.get(rank, Fraction(0)) + weight
    cmc = [
        naive.rate(sum((w for r, w in weight_by_rank.items() if r <= k), Fraction(0)), cmc_queries)
        for k in range(1, max_rank + 1)
    ]
    result = SimpleNamespace(
        cmc=cmc,
        cmc_queries=cmc_queries,
        queries=number,
        unmatched=len(people) - len(matched),
        not_in_gallery=sum(not query.enrolled for query in people),
        precision_at_k=[],
        recall_at_k=[],
    )
    for k in range(1, max_rank + 1):
        precision = functools.partial(precision_at, k=k, over=precision_over)
        recall = functools.partial(recall_at, k=k)
        for values, measure in ((result.precision_at_k, precision), (result.recall_at_k, recall)):
            total = Fraction(0)
            for query in matched:
                total += sum(
                    (w * measure(entries) for w, entries in orders(query.entries, ties)), 0
                )
            values.append(naive.rate(total, number))
    fixed = "stable" if ties == "expected" else ties
    measures: dict[str, Any] = {
        "average_precision": functools.partial(average_precision, form=ap),
        "rank_k_average_precision": functools.partial(cut_average_precision, k=rank_k, over=over),
        **{name: measure for (_, name), measure in OF_LISTS.items()},
    }
    means = {"mean_ap": "average_precision", "rank_k_mean_ap": "rank_k_average_precision"}
    for name, measure in measures.items():
        lists = (ordered(query.entries, fixed) if query.matches else None for query in found)
        setattr(result, name, [None if entries is None else measure(entries) for entries in lists])
    for name, values in (means | dict(OF_LISTS.keys())).items():
        total = sum((x for x in getattr(result, values) if x is not None), Fraction(0))
        setattr(result, name, naive.rate(total, number))
    rankings = [ordered(query.entries, fixed) for query in matched]
    result.interpolated_precision = [
        naive.rate(sum((interpolated_precision(x, Fraction(n, 10)) for x in rankings), 0), number)
        for n in range(11)
    ]
    return result


# --- GOM -------------------------------------------------------------------------------------


def gom(
    case: dict[str, Any],
    cameras: tuple[Sequence[Any], Sequence[Any]] | None,
    thresholds: Sequence[float],
    *,
    removed: str,
    budget: int,
    scale: tuple[float, float] = (0.0, 1.0),
    ties: str = "stable",
    max_rank: int = 3,
    kept_ids: Sequence[Any] = (),
) -> SimpleNamespace:
    """Evaluate GOM by the definitions of the paper, at thresholds on the scaled distances.

    Names are those of the variables; ``nan`` for a mean over no query.
    """
    low, high = scale
    listed = queries(case, cameras, removed, kept_ids=kept_ids)
    listed = [q for q in listed if not q.left_out]
    closed = [q for q in listed if q.matches]
    opened = [q for q in listed if not q.enrolled]
    of_closed = ("mrp", "mvp", "mrep", "precision", "recall", "f1")
    threshold_names = ("mfr", "micro_f1", "far", "ttr", "ttr_identity", "dir")
    result = SimpleNamespace(
        queries=len(closed),
        open_queries=len(opened),
        skipped=len(listed) - len(closed) - len(opened),
        **{name: [] for name in of_closed + threshold_names},
    )

    def mean(values: Sequence[float], of: Sequence[Query]) -> float:
        return sum(values) / len(of) if of else math.nan

    def back(q: Query, tau: float) -> list[Entry]:
        return [e for e in ordered(q.entries, ties) if (e.distance - low) / (high - low) <= tau]

    for tau in thresholds:
        rows = []
        for q in closed:
            returned = back(q, tau)
            tp = sum(e.match for e in returned)
            fp = len(returned) - tp
            fn = q.matches - tp
            rp = float(average_precision(returned, "sum")) if tp else 0.0
            vp = tp / (tp + fn + fp)
            rows.append(
                (rp, vp, math.sqrt(rp * vp), tp / len(returned) if returned else 0.0,
                 tp / q.matches, 2 * tp / (2 * tp + fp + fn))
            )  # fmt: skip
        for k, name in enumerate(of_closed):
            getattr(result, name).append(mean([row[k] for row in rows], closed))
        cells = [(e.match, e in back(q, tau)) for q in listed for e in q.entries]
        right, wrong = cells.count((True, True)), cells.count((False, True))
        errors = wrong + cells.count((True, False))
        result.micro_f1.append(2 * right / (2 * right + errors) if right + errors else math.nan)
        sizes = [len(back(q, tau)) for q in opened]
        result.mfr.append(mean([min(s / budget, 1.0) for s in sizes], opened))
        result.far.append(mean([s > 0 for s in sizes], opened))
        result.ttr.append(mean([bool(back(q, tau)) for q in closed], closed))
        result.ttr_identity.append(
            mean([any(e.match for e in back(q, tau)) for q in closed], closed)
        )
        firsts = []
        for q in closed:
            ranks = match_ranks(back(q, tau))
            firsts.append(ranks[0] if ranks else math.inf)
        result.dir.append(
            [mean([first <= k for first in firsts], closed) for k in range(1, max_rank + 1)]
        )
    return result
