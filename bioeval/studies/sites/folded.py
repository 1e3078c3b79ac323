"""Tallies folded on a fixed grid: numbers of attempts between thresholds alone.

They are small, and hold no score and no fact of a single probe. What falls between two thresholds,
or between two ranks, is known as bounds only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from bioeval import DataError, MergeError, ProtocolError
from bioeval.document import Message
from bioeval.scores import Provenance
from bioeval.tallies import IdentificationTally, VerificationTally, require_alike

# The rows of `within`: probes by the nearest template of others, the enrolled and the unenrolled;
# of anyone, of the enrolled; of their own subject; and of anyone, of the unenrolled.
ENROLLED, UNENROLLED, TARGET, NEAREST_MATE, STRANGER = range(5)


@dataclass
class FoldedVerification:
    """Numbers of verification attempts between thresholds."""

    form: ClassVar[str] = "folded verification"

    about: Provenance
    templates: str
    fusion: str
    claims: str
    thresholds: np.ndarray  # float64 (t,): increasing distances
    #: int64 (t + 1,): attempts above the threshold before, and at most at the next.
    genuine: np.ndarray
    impostor: np.ndarray
    skipped_claims: int = 0
    merged: bool = False  # whether thresholds were left out so that no count is small

    def merge(self, other: FoldedVerification) -> FoldedVerification:
        """Count the attempts of both, at common thresholds where some were left out."""
        require_alike(self, other, ("templates", "fusion", "claims"))
        mine, theirs = _alike(self, other)
        return replace(
            mine,
            about=mine.about.merge(theirs.about),
            genuine=mine.genuine + theirs.genuine,
            impostor=mine.impostor + theirs.impostor,
            skipped_claims=mine.skipped_claims + theirs.skipped_claims,
        )

    def at(self, thresholds: np.ndarray) -> Self:
        """Return the counts at some of the thresholds."""
        joined = _joining(self.thresholds, thresholds)
        return replace(
            self,
            thresholds=thresholds,
            genuine=joined(self.genuine),
            impostor=joined(self.impostor),
        )

    def without_small(self, least: int) -> Self:
        """Return the counts at thresholds that leave no count from 1 to below `least`."""
        both = np.stack([self.genuine, self.impostor], axis=1)
        _require_enough({"genuine attempts": both[:, 0], "impostor attempts": both[:, 1]}, least)
        kept = self.at(self.thresholds[_kept_ends(both, least)])
        return replace(kept, merged=True)

    def tables(self) -> dict[str, np.ndarray]:
        """Return the tables of counts by name."""
        return {"genuine": self.genuine, "impostor": self.impostor}


@dataclass
class FoldedIdentification:
    """Numbers of probes between thresholds, and by the rank of the best mate."""

    form: ClassVar[str] = "folded identification"

    about: Provenance
    rank_unit: str
    fusion: str
    ties: str
    thresholds: np.ndarray  # float64 (t,): increasing distances
    #: int64 (r,): increasing; a column is of the ranks above the one before, up to this one.
    ranks: np.ndarray
    #: int64 (t + 1, r + 1): genuine attempts by the first threshold not below their mate, and by
    #: rank; last what is beyond all of them.
    di: np.ndarray
    #: int64 (5, t + 1): probes by the first threshold not below the nearest template: `ENROLLED`
    #: ... `STRANGER`.
    within: np.ndarray
    #: Probes with a usable mate, and without, the enrolled of these; enrolled probes, and others.
    genuine: int
    unmated: int
    unmated_targets: int
    targets: int
    non_targets: int
    tied: int  # genuine attempts with a non-mate exactly as close; -1 where it is unknown
    merged: bool = False

    def merge(self, other: FoldedIdentification) -> FoldedIdentification:
        """Count the probes of both, at common thresholds and ranks where some were left out."""
        require_alike(self, other, ("rank_unit", "fusion", "ties"))
        mine, theirs = _alike(self, other)
        if not np.array_equal(mine.ranks, theirs.ranks):
            if not (self.merged or other.merged):
                raise MergeError("tallies folded at different ranks; fold both with one max_rank")
            both = np.intersect1d(mine.ranks, theirs.ranks)
            mine, theirs = mine.at_ranks(both), theirs.at_ranks(both)
        names = ("genuine", "unmated", "unmated_targets", "targets", "non_targets", "di", "within")
        added = {x: getattr(mine, x) + getattr(theirs, x) for x in names}
        both_known = min(mine.tied, theirs.tied) >= 0
        return replace(
            mine,
            about=mine.about.merge(theirs.about),
            tied=mine.tied + theirs.tied if both_known else -1,
            **added,
        )

    def at(self, thresholds: np.ndarray) -> Self:
        """Return the counts at some of the thresholds."""
        joined = _joining(self.thresholds, thresholds)
        within = joined(self.within.T).T
        return replace(self, thresholds=thresholds, di=joined(self.di), within=within)

    def at_ranks(self, ranks: np.ndarray) -> Self:
        """Return the counts at some of the ranks."""
        return replace(self, ranks=ranks, di=_joining(self.ranks, ranks)(self.di.T).T)

    def without_small(self, least: int) -> Self:
        """Return the counts at thresholds and ranks that leave no small count."""
        named = {
            "mated searches": self.di,
            "probes at rank 1": self.di[:, 0],
            "probes behind rank 1": self.di[:, 1:],
            "probes that are not enrolled": self.within[STRANGER],
            "impostor attempts of enrolled probes": self.within[ENROLLED],
        }
        _require_enough(named, least)
        ranked = self.di.sum(axis=0)
        ends = _kept_ends(ranked[1:, None], least) + 1
        kept = self.at_ranks(self.ranks[np.append(0, ends)])
        rows = np.concatenate([kept.di, kept.within.T], axis=1)
        kept = kept.at(kept.thresholds[_kept_ends(rows, least)])
        tied = -1 if 0 < self.tied < least else self.tied
        return replace(kept, merged=True, tied=tied)

    def tables(self) -> dict[str, np.ndarray]:
        """Return the tables of counts by name."""
        return {"di": self.di, "within": self.within}


#: Bins of the values of queries: 0, and then (0, 0.01] ... (0.99, 1].
VALUE_BINS = 100


@dataclass
class FoldedQueries:
    """Numbers of queries of re-identification or GOM by the value of each measure, in bins."""

    form: ClassVar[str] = "folded queries"

    about: Provenance
    rules: str  # the task and its rules of counting; tallies with other rules do not merge
    measures: tuple[str, ...]  # names of the means over queries
    #: float64 (t,): of GOM, on the normalised scale: a measure has a row for each. Otherwise none,
    #: and one row.
    thresholds: np.ndarray
    #: int64 (rows, 101): queries by value: 0, and then up to each hundredth. Of bins that were
    #: joined, in the last.
    values: np.ndarray
    ends: np.ndarray  # bool (rows, 101): whether a bin is the last of those that were joined
    ranks: np.ndarray  # int64 (r,): increasing
    #: int64 (r + 1,): queries by the rank of the first match, up to each rank; last what is beyond
    #: all of them.
    first: np.ndarray
    queries: int
    open_queries: int
    skipped: int
    merged: bool = False

    def merge(self, other: FoldedQueries) -> FoldedQueries:
        """Count the queries of both, in common bins and ranks where some were left out."""
        require_alike(self, other, ("rules", "measures"))
        if not np.array_equal(self.thresholds, other.thresholds):
            raise MergeError("tallies folded at different thresholds; fold both at the same")
        mine = self
        if not np.array_equal(self.ranks, other.ranks):
            if not (self.merged or other.merged):
                raise MergeError("tallies folded at different ranks; fold both with one max_rank")
            both = np.intersect1d(self.ranks, other.ranks)
            mine, other = self.at_ranks(both), other.at_ranks(both)
        ends = mine.ends & other.ends
        names = ("queries", "open_queries", "skipped", "first")
        return replace(
            mine,
            about=mine.about.merge(other.about),
            values=_in_bins(mine.values, ends) + _in_bins(other.values, ends),
            ends=ends,
            merged=mine.merged or other.merged,
            **{x: getattr(mine, x) + getattr(other, x) for x in names},
        )

    def at_ranks(self, ranks: np.ndarray) -> FoldedQueries:
        """Return the counts at some of the ranks."""
        return replace(self, ranks=ranks, first=_joining(self.ranks, ranks)(self.first))

    def without_small(self, least: int) -> FoldedQueries:
        """Return the counts in bins, and at ranks, that leave no count from 1 to below `least`."""
        _require_enough(
            {"queries with a match": self.queries, "open queries": self.open_queries}, least
        )
        ends = np.zeros_like(self.ends)
        ends[:, -1] = True
        for row, counts in zip(ends, self.values, strict=True):
            row[_kept_ends(counts[:, None], least)] = True
        kept = self.ranks[_kept_ends(self.first[:, None], least)]
        kept = self.at_ranks(kept) if len(self.ranks) else self
        return replace(kept, values=_in_bins(self.values, ends), ends=ends, merged=True)

    def tables(self) -> dict[str, np.ndarray]:
        """Return the tables of counts by name."""
        return {"values": self.values, "first": self.first}

    def mean_bounds(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the lower and the upper bound of the mean of each measure, in each row of it."""
        bins = np.arange(VALUE_BINS + 1)
        before = np.maximum.accumulate(np.where(self.ends, bins + 1, 0), axis=1)
        first = np.column_stack([np.zeros(len(before), dtype=np.int64), before[:, :-1]])
        low = (self.values * np.maximum(first - 1, 0)).sum(axis=1) / VALUE_BINS
        high = (self.values * bins).sum(axis=1) / VALUE_BINS
        total = self.values.sum(axis=1)
        with np.errstate(invalid="ignore"):
            lower = np.split(low / total, len(self.measures))
            upper = np.split(high / total, len(self.measures))
        return (
            dict(zip(self.measures, lower, strict=True)),
            dict(zip(self.measures, upper, strict=True)),
        )


def value_counts(values: np.ndarray) -> np.ndarray:
    """Return the number of values (proportions) in each bin."""
    edges = np.arange(VALUE_BINS + 1) / VALUE_BINS
    # A mean of roots may be above 1 by rounding.
    place = np.searchsorted(edges, np.minimum(values, 1.0))
    return np.bincount(place, minlength=VALUE_BINS + 1)


def _in_bins(values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return counts at the ends of wider bins, each the sum of its bins."""
    running = values.cumsum(axis=1)
    counts_in_bins = np.zeros_like(values)
    for row, (end, total) in enumerate(zip(ends, running, strict=True)):
        counts_in_bins[row, end] = np.diff(total[end], prepend=0)
    return counts_in_bins


class TooFewError(DataError):
    """All counts of one kind are too small, even when added up."""

    def __init__(self, total: int, counts: str, least: int):
        super().__init__(f"{total} {counts}, fewer than {least}")
        self.total, self.counts, self.least = total, counts, least

    def about(self, tasks: str) -> Message:
        """Return the message of the tasks that are left out for this."""
        few = {"total": self.total, "counts": self.counts, "least": self.least}
        return Message("counts-too-small-to-share", tasks=tasks, **few)


Folded = FoldedVerification | FoldedIdentification | FoldedQueries


def fold_verification(tally: VerificationTally, thresholds: np.ndarray) -> FoldedVerification:
    """Return the attempts of a tally between thresholds at which its counts are known."""
    if tally.claims != "all" or tally.attempts:
        raise ProtocolError("verification of drawn claims or of transactions cannot be folded")
    counted = tally.given or tally.impostor
    accepted = np.append(counted.at_most(thresholds), tally.impostor.total)
    return FoldedVerification(
        about=tally.about,
        templates=tally.templates,
        fusion=tally.fusion,
        claims=tally.claims,
        thresholds=thresholds,
        genuine=_bins(tally.genuine, thresholds),
        impostor=np.diff(accepted, prepend=0),
        skipped_claims=tally.skipped_claims,
    )


def fold_identification(
    tally: IdentificationTally, thresholds: np.ndarray, ranks: np.ndarray, ties: str
) -> FoldedIdentification:
    """Return the probes of a tally between thresholds, and at ranks by a tie policy."""
    if ties == "expected":
        raise ProtocolError(
            "identification with expected ties has chances; they do not fold into whole "
            "numbers; choose pessimistic, optimistic or stable ties"
        )
    mated, enrolled = tally.mates > 0, tally.enrolled
    probes, rank, _ = tally.rank_weights(np.flatnonzero(mated), ties)
    place = np.searchsorted(thresholds, tally.mate[probes])
    shape = len(thresholds) + 1, len(ranks) + 1
    flat = place * shape[1] + np.searchsorted(ranks, rank)
    usable, nearest = tally.others > 0, np.fmin(tally.nearest_mate, tally.nearest_other)
    rows = (
        tally.other[usable & enrolled],
        tally.other[usable & ~enrolled],
        nearest[enrolled],
        tally.nearest_mate[enrolled],
        nearest[~enrolled],
    )
    return FoldedIdentification(
        about=tally.about,
        rank_unit=tally.rank_unit,
        fusion=tally.fusion,
        ties=ties,
        thresholds=thresholds,
        ranks=ranks,
        di=np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape),
        within=np.array([_bins(row, thresholds) for row in rows]),
        genuine=int(mated.sum()),
        unmated=int((~mated).sum()),
        unmated_targets=int((enrolled & ~mated).sum()),
        targets=int(enrolled.sum()),
        non_targets=int((~enrolled).sum()),
        tied=int((tally.tied[mated] > 0).sum()),
    )


def _bins(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the number of values between thresholds; NaN are left out."""
    there = values[~np.isnan(values)].astype(np.float64)
    return np.bincount(np.searchsorted(thresholds, there), minlength=len(thresholds) + 1)


def _joining(ends: np.ndarray, kept: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that adds up the rows between the ends that are kept."""
    first = np.append(0, np.searchsorted(ends, kept) + 1)
    return lambda counts: np.add.reduceat(counts, first, axis=0)


def _kept_ends(counts: np.ndarray, least: int) -> np.ndarray:
    """Return the rows to cut after, so that each sum is 0 or at least `least`; not the last row.

    From the first row on, each piece is as short as it may be; what is left at the end is added to
    the pieces before it, as many as it takes.
    """
    ends, sums, total = list[int](), list[np.ndarray](), np.zeros(counts.shape[1], dtype=np.int64)
    for i, row in enumerate(counts):
        total = total + row
        if _enough(total, least):
            ends.append(i)
            sums.append(total)
            total = np.zeros_like(total)
    while sums and not _enough(total, least):
        ends.pop()
        total = total + sums.pop()
    # The last piece reaches to the end.
    if ends and ends[-1] == len(counts) - 1:
        ends.pop()
    return np.array(ends, dtype=np.int64)


def _enough(counts: np.ndarray, least: int) -> bool:
    return bool(((counts == 0) | (counts >= least)).all())


def _require_enough(counts: Mapping[str, Any], least: int) -> None:
    for name, table in counts.items():
        total = int(np.sum(table))
        if 0 < total < least:
            raise TooFewError(total, name, least)


def _alike(mine: Any, theirs: Any) -> tuple[Any, Any]:
    """Return both at the same thresholds; these may differ only where some were left out."""
    if np.array_equal(mine.thresholds, theirs.thresholds):
        return mine, theirs
    if not (mine.merged or theirs.merged):
        raise MergeError(
            "tallies folded at different thresholds; fold both at the same: "
            "be.tally(..., thresholds=...)"
        )
    both = np.intersect1d(mine.thresholds, theirs.thresholds)
    return mine.at(both), theirs.at(both)
