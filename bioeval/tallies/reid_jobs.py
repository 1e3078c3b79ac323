"""Counting jobs of re-identification: ranks of the matches, and entries retrieved by threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from bioeval.base.engine import engine
from bioeval.base.errors import Argument, DataError
from bioeval.kernels import reid as kernel
from bioeval.kernels.reid import Mates
from bioeval.protocol.reid import Convention
from bioeval.scores.blocks import Progress, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.block_work import InBlocks
from bioeval.tallies.cells import rounded_down
from bioeval.tallies.counters import finite_range
from bioeval.tallies.parts import ConcatenatedRows, Extent
from bioeval.tallies.reid_counts import GomTally, MatchLists, ReidTally
from bioeval.tallies.reid_lists import Lists, RowReader, match_lists, places_used
from bioeval.tallies.shared_mates import MateLists, SharedMates
from bioeval.tallies.sweep import watch_found, watched
from bioeval.tallies.thresholds import require_values, to_internal
from bioeval.tallies.tie_policies import check_max_rank

# Places of the guide into the thresholds of GOM.
PLACES = 1 << 12

# Nodes of Gauss and Legendre for the mean over the orders of tied identities.
NODES = 32


class RetrievalJob(InBlocks):
    """Counts the ranks of each query's matches, under a convention.

    For single gallery shots, `sampling` is ``"exact"`` for the mean over all galleries, or the
    number of galleries drawn for each query. With `thresholds`, increasing ones in the units of the
    scores, the entries within each are counted too.
    """

    def __init__(
        self,
        scores: Scores,
        convention: Convention,
        *,
        sampling: str | int = "exact",
        seed: int = 0,
        thresholds: np.ndarray | None = None,
    ):
        self.thresholds = None
        if thresholds is not None:
            require_values(scores, "retrieval within a threshold")
            self.thresholds = to_internal(thresholds, scores.kind)
        self.scores, self.convention = scores, convention
        self.repeats, self.seed = 0 if sampling == "exact" else int(sampling), seed
        self.lists, self.reader = Lists(scores, convention), RowReader(scores)
        #: Of a part of a gallery: the matches at all sites, by rule of removal.
        self.shared: dict[str, SharedMates] = {}
        check_max_rank(convention.max_rank, scores.shape[1])

    what = "queries"

    def part(self, low: int, high: int, progress: Progress | None = None) -> dict[str, Any]:
        """Count queries ``low:high``; see :mod:`bioeval.tallies.parts`."""
        over, own = self.convention.removed, self.convention.ap_removed
        parts: dict[str, list[MatchLists]] = {rule: [] for rule in self.lists.rules}
        removed, extra, within = [], list[np.ndarray](), []
        taus, limits = self.thresholds, None
        reader = self.reader.for_rows(low, high)
        for first, rows, checked in self.lists.rows(reader, low, high):
            for rule in self.lists.rules:
                rows, found = self.lists.rank_checked(rule, first, rows, checked)
                parts[rule].append(matches_of_rows(self, rule, first, rows, found))
                if rule == over:
                    removed.append(found.removed)
                    extra += self._extra(first, rows, found)
                if rule == own and taus is not None:
                    limits = limits or _with_guide(taus, rows.dtype)
                    counts = np.empty((len(rows), len(taus) + 1), dtype=np.int64)
                    groups = self.lists.groups(rule, first, rows)
                    kernel.count_retrieved(*groups, limits, counts)
                    within.append(counts)
            if progress is not None:
                progress(first + len(rows), self.scores.shape[0])
        return {
            "matches": {rule: _counts_of(found) for rule, found in parts.items()},
            "removed": ConcatenatedRows(tuple(removed)),
            "extra": ConcatenatedRows(tuple(extra)),
            "retrieved": ConcatenatedRows(tuple(within)),
            "watch": watched(reader, low, high),
        }

    def run(self, progress: Progress | None = None) -> ReidTally:
        """Count all queries in one sweep."""
        convention, reader, taus = self.convention, self.reader, self.thresholds
        over, own = convention.removed, convention.ap_removed
        found = _count_all(self, progress)
        parts = {rule: _matches_of(counts) for rule, counts in found["matches"].items()}
        removed = found["removed"].array()
        removed += self.lists.rules[over].off_list(self.lists.self_column)
        extra = found["extra"].arrays
        single = convention.cmc == "single-gallery-shot"
        # How many entries are within each threshold.
        within = None if taus is None else np.cumsum(found["retrieved"].array(), axis=1)[:, :-1]
        sampled = f"{self.repeats} draws, seed {self.seed}" if self.repeats else "exact"
        return ReidTally(
            about=self.lists.about(reader),
            convention=convention.name,
            removed=over,
            removed_for_ap=own,
            junk=convention.junk_in_words,
            cmc=convention.cmc,
            shots_of=f"{convention.ties} ties, {sampled}" if single else "",
            enrolled=self.lists.enrolled,
            removed_entries=removed,
            matches=parts[own],
            cmc_matches=parts[over] if over != own else None,
            shots=np.concatenate(extra) if single else None,
            identities=np.concatenate(extra) if convention.cmc == "identity-dedup" else None,
            thresholds=taus,
            retrieved=within,
        )

    def _extra(self, low: int, rows: np.ndarray, mates: Mates) -> list[np.ndarray]:
        """Return the facts of a block of rows that a CMC over identities needs."""
        if self.convention.cmc not in ("identity-dedup", "single-gallery-shot"):
            return []
        given = (*self.lists.groups(self.convention.removed, low, rows), mates)
        if self.convention.cmc == "identity-dedup":
            counts = np.empty((len(rows), 3), dtype=np.int64)
            kernel.rank_identities(*given, counts)
            return [counts]
        ties = self.convention.ties
        nodes, weights = np.array([1.0 if ties == "pessimistic" else 0.0]), np.ones(1)
        if ties == "expected":
            nodes, weights = np.polynomial.legendre.leggauss(NODES)
            nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0
        draws = kernel.Draws(
            stable=ties == "stable",
            nodes=nodes,
            weights=weights,
            repeats=self.repeats,
            seed=self.seed,
            keys=self.scores.probe_ids[low : low + len(rows)],
        )
        at_rank = np.empty((len(rows), self.convention.max_rank))
        kernel.single_shots(*given, draws, at_rank)
        return [at_rank]


class GomJob(InBlocks):
    """Counts the entries retrieved within each threshold, under a convention, for GOM.

    With `normalize`, distances are scaled to 0 ... 1 over all finite ones, as the thresholds are,
    or from the two distances that it is; of the variant ``"reference"``, a removed entry stays, at
    distance 1. The rows of `appended` are counted after those of the scores, on the same scale.
    """

    def __init__(
        self,
        scores: Scores,
        convention: Convention,
        thresholds: np.ndarray,
        *,
        normalize: bool | tuple[float, float] = True,
        variant: str = "paper",
        appended: Scores | None = None,
    ):
        self.appended: GomJob | None = None
        if appended is not None:
            self.appended = GomJob(appended, convention, thresholds, variant=variant)
        self.scores, self.convention, self.thresholds = scores, convention, thresholds
        self.normalize, self.variant = normalize, variant
        self.lists, self.reader = Lists(scores, convention), RowReader(scores)
        self.shared: dict[str, SharedMates] = {}
        self.rule = convention.removed
        self.raw = thresholds  # in distances that are not normalised

    what = "queries"

    def part(self, low: int, high: int, progress: Progress | None = None) -> dict[str, Any]:
        """Count queries ``low:high``; see :mod:`bioeval.tallies.parts`."""
        lists, reader = self.lists, self.reader.for_rows(low, high)
        parts, removed, within, thresholds = [], [], [], None
        for first, rows, checked in lists.rows(reader, low, high):
            rows, found = lists.rank_checked(self.rule, first, rows, checked)
            if thresholds is None:
                thresholds = _with_guide(self.raw, rows.dtype)
            counts = np.empty((len(rows), len(self.thresholds) + 1), dtype=np.int64)
            groups = lists.groups(self.rule, first, rows)
            kernel.count_retrieved(*groups, thresholds, counts)
            within.append(counts)
            removed.append(found.removed)
            parts.append(matches_of_rows(self, self.rule, first, rows, found))
            if progress is not None:
                progress(first + len(rows), self.scores.shape[0])
        return {
            "matches": _counts_of(parts),
            "removed": ConcatenatedRows(tuple(removed)),
            "retrieved": ConcatenatedRows(tuple(within)),
            "watch": watched(reader, low, high),
        }

    def run(self, progress: Progress | None = None) -> GomTally:
        """Count all queries."""
        ends = self._scale() if self.normalize else (0.0, 1.0)
        found = self._count(*ends, progress)
        return found if self.appended is None else found.append(self.appended._count(*ends))

    def _count(self, low_end: float, high_end: float, progress: Progress | None = None) -> GomTally:
        """Count all queries of the scores on a scale."""
        lists, reader = self.lists, self.reader
        span = high_end - low_end
        self.raw = unscaled(self.thresholds, low_end, span)
        counted = _count_all(self, progress)
        removed = counted["removed"].array()
        removed += lists.rules[self.rule].off_list(lists.self_column)
        matches = _matches_of(counted["matches"])
        matches.distance = (matches.distance - low_end) / span
        retrieved = counted["retrieved"].array()
        if self.variant == "reference":
            retrieved[:, np.searchsorted(self.thresholds, 1.0)] += removed
        return GomTally(
            about=lists.about(reader),
            convention=self.convention.name,
            removed=self.rule,
            junk=self.convention.junk_in_words,
            variant=self.variant,
            low=low_end,
            high=high_end,
            thresholds=self.thresholds,
            retrieved=np.cumsum(retrieved, axis=1)[:, :-1],
            enrolled=lists.enrolled,
            removed_entries=removed,
            matches=matches,
        )

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite distance."""
        found = _count_all(_Extent(self.lists, self.reader), None)["extent"]
        if self.appended is not None:
            found = found.merge(Extent(*self.appended.ends()))
        return found.low, found.high

    def _scale(self) -> tuple[float, float]:
        """Return the smallest and the largest finite distance, or the given ones."""
        least, most = self.ends()
        if isinstance(self.normalize, tuple):
            first, last = self.normalize
            if least < first or most > last:
                raise DataError(
                    f"{Argument('normalize')} is ({first:g}, {last:g}), but the distances reach "
                    f"from {least!r} to {most!r}; give the smallest and the largest of all parts"
                )
            return first, last
        if not least < most:
            raise DataError(
                "distances cannot be normalised: there are not two different finite ones; give "
                "normalize=False"
            )
        if not np.isfinite(most - least):
            raise DataError(
                f"distances cannot be normalised: they reach from {least:g} to {most:g}; scale them"
            )
        return least, most


def matches_of_rows(
    job: RetrievalJob | GomJob, rule: str, low: int, rows: np.ndarray, found: Mates
) -> MatchLists:
    """Return the ranks of the matches of a block of rows, at all sites where they share."""
    if rule not in job.shared:
        return match_lists(found)
    lists, part = job.lists, slice(low, low + len(rows))
    rules = lists.rules[rule]
    candidates = {
        "identity": lists.identity,
        "own": lists.own[part],
        "kept": rules.kept,
        "which": rules.which[part],
        "place": job.scores.gallery_ids[None],
    }
    return job.shared[rule].around(low, rows, candidates)


def all_matches(job: RetrievalJob | GomJob, progress: Progress | None) -> dict[str, MateLists]:
    """Return all matches of each query at site 0, by rule of removal."""
    work = _AllMatches(job.lists, RowReader(job.scores))
    found_by_rule = {}
    for rule, found in _count_all(work, progress)["rules"].items():
        probe, distance, place = (found[x].array() for x in ("probe", "distance", "place"))
        site = np.zeros(len(place), dtype=np.int64)
        probes = job.scores.shape[0]
        found_by_rule[rule] = MateLists.of(probes, probe, distance, site, place, False)
    return found_by_rule


class _AllMatches(InBlocks):
    """All matches of some queries, by rule of removal."""

    what = "matches"

    def __init__(self, lists: Lists, reader: RowReader):
        self.lists, self.reader, self.scores = lists, reader, lists.scores

    def part(self, low: int, high: int, progress: Progress | None = None) -> dict[str, Any]:
        """Find the matches of queries ``low:high``; see :mod:`bioeval.tallies.parts`."""
        lists, reader = self.lists, self.reader.for_rows(low, high)
        none = {
            "probe": ConcatenatedRows(),
            "distance": ConcatenatedRows(),
            "place": ConcatenatedRows(),
        }
        rules = dict.fromkeys(lists.rules, none)
        for first, rows, checked in lists.rows(reader, low, high):
            for rule, before in rules.items():
                rows, found = lists.rank_checked(rule, first, rows, checked)
                matches = match_lists(found)
                column = self.scores.gallery_ids[found.column[places_used(found)]]
                some = {"probe": first + matches.query, "distance": matches.distance}
                some["place"] = column
                rules[rule] = {x: before[x].merge(ConcatenatedRows.of(some[x])) for x in before}
            if progress is not None:
                progress(first + len(rows), self.scores.shape[0])
        return {"rules": rules, "watch": watched(reader, low, high)}


class _Extent(InBlocks):
    """The smallest and the largest finite distance of some queries."""

    what = "extent"

    def __init__(self, lists: Lists, reader: RowReader):
        self.lists, self.reader, self.scores = lists, reader, lists.scores

    def part(self, low: int, high: int, progress: Progress | None = None) -> dict[str, Any]:
        """Find the extent of the distances of queries ``low:high``."""
        found, reader = Extent(), self.reader.for_rows(low, high)
        for first, rows, _ in self.lists.rows(reader, low, high):
            itself = self.lists.self_column[first : first + len(rows)]
            found = found.merge(Extent(*finite_range(rows, np.maximum(itself, 0), itself + 1)))
        return {"extent": found, "watch": watched(reader, low, high)}


def _count_all(
    work: RetrievalJob | GomJob | _AllMatches | _Extent, progress: Progress | None
) -> dict[str, Any]:
    """Return the counts of all queries."""
    chosen = engine()
    with threads_for(work.scores):
        if chosen is None:
            found = work.part(0, work.scores.shape[0], progress)
        else:
            found = chosen.count(work, progress)
    watch_found(work.reader, found["watch"])
    return found


def _counts_of(parts: Sequence[MatchLists]) -> dict[str, ConcatenatedRows]:
    """Return matches as arrays to be joined with those of other queries."""
    found = MatchLists.joined(parts)
    values = {x.name: getattr(found, x.name) for x in fields(found) if x.name != "starts"}
    return {name: ConcatenatedRows.of(x) for name, x in {"counts": found.counts, **values}.items()}


def _matches_of(counts: dict[str, ConcatenatedRows]) -> MatchLists:
    """Return the matches of all queries."""
    arrays = {name: joined.array() for name, joined in counts.items()}
    starts = np.concatenate([[0], np.cumsum(arrays.pop("counts"))])
    return MatchLists(starts, **arrays)


def unscaled(thresholds: np.ndarray, low: float, span: float) -> np.ndarray:
    """Return for each threshold the largest float64 ``x`` with ``(x - low) / span`` at most it.

    Found by halving the range of all numbers: around 0 there are too many to go one by one.
    """
    if (low, span) == (0.0, 1.0):
        return thresholds
    within = np.full(thresholds.shape, _order(np.array(-np.inf)))
    beyond = np.full(thresholds.shape, _order(np.array(np.inf)))
    with np.errstate(over="ignore"):
        while (beyond - 1 > within).any():
            middle = (within >> 1) + (beyond >> 1) + (within & beyond & 1)
            inside = (_number(middle) - low) / span <= thresholds
            within, beyond = np.where(inside, middle, within), np.where(inside, beyond, middle)
    return np.where(np.isfinite(thresholds), _number(within), thresholds)


def _order(x: np.ndarray) -> np.ndarray:
    """Return integers in the order of float64 numbers, consecutive for neighbours."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _number(order: np.ndarray) -> np.ndarray:
    """Return the float64 number of an integer made by :func:`_order`."""
    return np.where(order < 0, order ^ np.int64(2**63 - 1), order).view(np.float64)


def _with_guide(thresholds: np.ndarray, dtype: np.dtype) -> kernel.GuidedThresholds:
    """Return thresholds in the dtype of the distances, with a guide to find them."""
    own = rounded_down(thresholds, dtype)
    finite = own[np.isfinite(own)]
    base = finite[0] if len(finite) else dtype.type(0)
    last = dtype.type(PLACES - 1)
    with np.errstate(all="ignore"):
        scale = last / (finite[-1] - base) if len(finite) > 1 else dtype.type(1)
        scale = scale if np.isfinite(scale) else dtype.type(0)
        place = (own - base) * scale
    place = np.where(place > 0, np.minimum(place, last), 0).astype(np.int64)
    guide = np.searchsorted(place, np.arange(PLACES))
    steps = int(np.bincount(place).max())
    nan = len(own) + 1
    return kernel.GuidedThresholds(
        values=np.append(own, [dtype.type(np.inf)] * 2),
        base=base,
        scale=scale,
        last=last,
        guide=np.append(guide, nan),
        steps=steps,
    )
