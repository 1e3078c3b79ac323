"""Slow, readable twins of re-identification and GOM, written from the definitions alone.

A query's list is sorted as a list, and every measure is read off it entry by entry. Nothing here
imports ``bioeval``. Arguments are those of ``naive``, with ``cameras`` of both sides and the
parameters of a convention; ``Fraction`` wherever a value is a ratio of counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
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

    @property
    def matches(self) -> int:
        return sum(e.match for e in self.entries)


def queries(
    case: dict[str, Any],
    cameras: tuple[Sequence[Any], Sequence[Any]] | None,
    removed: str,
    junk_ids: Sequence[Any] = (),
) -> list[Query]:
    """Return what each query sees under a rule; junk leaves every list."""
    data = naive.read(**case)
    probes = data.probe_labels
    gallery = naive.as_list(case["gallery_labels"]) or probes
    found = []
    for i, row in enumerate(data.rows):
        entries, gone = [], 0
        usable = {cell.column for cell in row}
        for j, identity in enumerate(gallery):
            own = identity == probes[i]
            here = cameras is not None and cameras[0][i] == cameras[1][j]
            out = identity in junk_ids
            out = out or (removed == "same-id-same-camera" and own and here)
            out = out or (removed == "same-camera" and here)
            itself = data.all_against_all and j == i
            gone += out and not itself
            if not out and j in usable:
                cell = next(cell for cell in row if cell.column == j)
                entries.append(Entry(cell.distance, own, j, identity))
        enrolled = data.enrolled[i] and any(
            identity == probes[i]
            for j, identity in enumerate(gallery)
            if not (data.all_against_all and j == i)
        )
        found.append(Query(entries, enrolled, gone))
    return found


def ordered(entries: Sequence[Entry], ties: str) -> list[Entry]:
    """Sort a list, the tied as they are said to stand."""
    keys = {
        "pessimistic": lambda e: (e.distance, e.match, e.column),
        "optimistic": lambda e: (e.distance, not e.match, e.column),
        "stable": lambda e: (e.distance, e.column),
    }
    return sorted(entries, key=keys[ties])


def orders(entries: Sequence[Entry], ties: str) -> Iterator[tuple[Fraction, list[Entry]]]:
    """Yield lists with their probabilities: one, or every placing of matches among the tied."""
    if ties != "expected":
        yield Fraction(1), ordered(entries, ties)
        return
    groups = [
        list(g) for _, g in itertools.groupby(ordered(entries, "stable"), key=lambda e: e.distance)
    ]
    choices = []
    for group in groups:
        matches = [e for e in group if e.match]
        others = [e for e in group if not e.match]
        ways = []
        for places in itertools.combinations(range(len(group)), len(matches)):
            m, o = iter(matches), iter(others)
            ways.append([next(m) if p in places else next(o) for p in range(len(group))])
        choices.append(ways)
    total = math.prod(len(ways) for ways in choices)
    for chosen in itertools.product(*choices):
        yield Fraction(1, total), [e for group in chosen for e in group]


# --- of one list -----------------------------------------------------------------------------


def match_ranks(entries: Sequence[Entry]) -> list[int]:
    return [rank for rank, e in enumerate(entries, 1) if e.match]


def average_precision(entries: Sequence[Entry], form: str) -> Fraction:
    positives = sum(e.match for e in entries)
    if form == "tied-once":
        total, seen, hits = Fraction(0), 0, 0
        for _, group in itertools.groupby(ordered(entries, "stable"), key=lambda e: e.distance):
            tied = list(group)
            gained = sum(e.match for e in tied)
            seen += len(tied)
            hits += gained
            total += Fraction(gained, positives) * Fraction(hits, seen)
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
    positives = sum(e.match for e in entries)
    total, hits = Fraction(0), 0
    for rank, e in enumerate(entries[:k], 1):
        if e.match:
            hits += 1
            total += Fraction(hits, rank)
    return total / (positives if over == "positives" else min(positives, k))


def inverse_negative_penalty(entries: Sequence[Entry]) -> Fraction:
    ranks = match_ranks(entries)
    return Fraction(len(ranks), ranks[-1])


# --- the CMC ---------------------------------------------------------------------------------


def counted(query: Query, counts: str, ties: str) -> dict[int, Fraction]:
    """Return the weight that one query with a match adds at each rank."""
    at: dict[int, Fraction] = {}

    def add(rank: int, weight: Fraction) -> None:
        at[rank] = at.get(rank, Fraction(0)) + weight

    if counts == "single-gallery-shot":
        for gallery, chance in single_shots(query.entries):
            for weight, order in orders(gallery, ties):
                add(match_ranks(order)[0], weight * chance)
        return at
    for weight, order in orders(query.entries, ties):
        if counts == "first-match":
            add(match_ranks(order)[0], weight)
        elif counts == "allshots":
            others = 0
            for e in order:
                if e.match:
                    add(1 + others, weight / query.matches)
                else:
                    others += 1
        elif counts == "identity-dedup":
            distinct = list(dict.fromkeys((e.match, e.identity) for e in order))
            add(1 + [match for match, _ in distinct].index(True), weight)
        else:
            raise ValueError(counts)
    return at


def single_shots(entries: Sequence[Entry]) -> Iterator[tuple[list[Entry], Fraction]]:
    """Yield every gallery of one entry of each identity, with its probability."""
    by_identity: dict[Any, list[Entry]] = {}
    for e in entries:
        by_identity.setdefault((e.match, e.identity), []).append(e)
    total = math.prod(len(group) for group in by_identity.values())
    for gallery in itertools.product(*by_identity.values()):
        yield list(gallery), Fraction(1, total)


@dataclass
class Reid:
    """The measures of all queries; None for a mean over no query."""

    cmc: list[Any]
    mean_ap: Any
    mean_inp: Any
    rank_k_mean_ap: Any
    queries: int
    unmatched: int
    not_in_gallery: int
    average_precision: list[Any]
    inp: list[Any]


def reid(
    case: dict[str, Any],
    cameras: tuple[Sequence[Any], Sequence[Any]] | None,
    *,
    removed: str,
    counts: str = "first-match",
    ties: str = "stable",
    ap: str = "sum",
    unmatched: str = "skip",
    junk_ids: Sequence[Any] = (),
    max_rank: int = 5,
    rank_k: int = 3,
    over: str = "positives",
) -> Reid:
    """Evaluate re-identification, query by query."""
    found = queries(case, cameras, removed, junk_ids)
    matched = [q for q in found if q.matches]
    number = len(found) if unmatched == "zero" else len(matched)
    at: dict[int, Fraction] = {}
    for q in matched:
        for rank, weight in counted(q, counts, ties).items():
            at[rank] = at.get(rank, Fraction(0)) + weight
    cmc = [
        naive.rate(sum((w for r, w in at.items() if r <= k), Fraction(0)), number)
        for k in range(1, max_rank + 1)
    ]
    aps: list[Any] = []
    inps: list[Any] = []
    cuts: list[Any] = []
    for q in found:
        if not q.matches:
            aps.append(None)
            inps.append(None)
            continue
        order = ordered(q.entries, "stable" if ties == "expected" else ties)
        aps.append(average_precision(order, ap))
        inps.append(inverse_negative_penalty(order))
        cuts.append(cut_average_precision(order, rank_k, over))

    def mean(values: Sequence[Any]) -> Any:
        return naive.rate(sum((v for v in values if v is not None), Fraction(0)), number)

    return Reid(
        cmc=cmc,
        mean_ap=mean(aps),
        mean_inp=mean(inps),
        rank_k_mean_ap=mean(cuts),
        queries=number,
        unmatched=len(found) - len(matched),
        not_in_gallery=sum(not q.enrolled for q in found),
        average_precision=aps,
        inp=inps,
    )


# --- GOM -------------------------------------------------------------------------------------


@dataclass
class Gom:
    """GOM at each threshold; ``nan`` for a mean over no query."""

    mrp: list[float]
    mvp: list[float]
    mrep: list[float]
    mfr: list[float]
    precision: list[float]
    recall: list[float]
    far: list[float]
    ttr: list[float]
    ttr_identity: list[float]
    dir: list[list[float]]
    queries: int
    open_queries: int
    skipped: int


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
) -> Gom:
    """Evaluate GOM by the definitions of the paper, at thresholds on the scaled distances."""
    low, high = scale
    found = queries(case, cameras, removed)
    closed = [q for q in found if q.matches]
    opened = [q for q in found if not q.enrolled]
    result = Gom(
        *([] for _ in range(10)),
        queries=len(closed),
        open_queries=len(opened),
        skipped=len(found) - len(closed) - len(opened),
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
                 tp / q.matches)
            )  # fmt: skip
        for values, name in zip(
            zip(*rows, strict=True) if rows else [[]] * 5,
            ("mrp", "mvp", "mrep", "precision", "recall"),
            strict=True,
        ):
            getattr(result, name).append(mean(values, closed))
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
