"""Passes of re-identification: over the queries' lists, for their ranks, and for GOM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bioeval.attempts.cells import rounded_down
from bioeval.attempts.identification_counter import check_max_rank
from bioeval.attempts.parts import ConcatenatedRows, Extent
from bioeval.attempts.thresholds import require_values, to_internal
from bioeval.base.errors import Argument, DataError
from bioeval.base.progress import reporter, rows_reported_to
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid import kernel
from bioeval.tasks.reid.candidate_lists import (
    Lists,
    RankedRows,
    RowReader,
    match_lists,
)
from bioeval.tasks.reid.convention import (
    Convention,
)
from bioeval.tasks.reid.counts import GomTally, ReidTally, query_labels
from bioeval.tasks.reid.matches import MatchLists
from bioeval.tasks.reid.tiles import RetrievalTiles, TiledRanks


def kept_scores(scores: Scores, convention: Convention) -> Scores:
    """Return a view of scores without the cells that a convention removes."""
    return scores.with_mask(LazyMask(Lists(scores, convention), scores.mask))


class LazyMask:
    """Mask of a matrix under a convention, computed row by row as it is read."""

    ndim = 2

    def __init__(self, lists: Lists, mask: np.ndarray | None):
        self.lists, self.mask = lists, mask
        self.shape = lists.scores.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the mask of some rows: 0 ignore, 1 impostor, 2 genuine."""
        lists = self.lists
        candidates = lists.rules[lists.convention.removed]
        index = np.arange(self.shape[0])[rows]
        genuine = lists.query_identity[index, None] == lists.identity[None]
        mask = np.where(genuine, np.uint8(Mask.GENUINE), np.uint8(Mask.IMPOSTOR))
        mask[~candidates.kept[candidates.list_index[index]]] = Mask.IGNORE
        mask[lists.left_out[index]] = Mask.IGNORE
        if candidates.same_camera:
            here = lists.query_camera[index, None] == lists.camera[None]
            mask[genuine & here] = Mask.IGNORE
        if self.mask is not None:
            mask[self.mask[index] == Mask.IGNORE] = Mask.IGNORE
        return mask


# Places of the guide into the thresholds of GOM.
PLACES = 1 << 12

# Nodes of Gauss and Legendre for the mean over the orders of tied identities.
NODES = 32


class RetrievalPass:
    """Counts the ranks of each query's matches, under a convention.

    With `thresholds`, increasing ones in the units of the scores, the entries within each are
    counted too.
    """

    def __init__(
        self,
        scores: Scores,
        convention: Convention,
        *,
        thresholds: np.ndarray | None = None,
        name_queries: bool = False,
    ):
        """Prepare the lists; raise where the convention does not go with the scores.

        With `name_queries` the counts know the label of each query.
        """
        self.thresholds = None
        if thresholds is not None:
            require_values(scores, "retrieval within a threshold")
            self.thresholds = to_internal(thresholds, scores.kind)
        self.scores, self.convention = scores, convention
        self.lists, self.reader = Lists(scores, convention), RowReader(scores)
        #: The labels of the queries, where they are wanted.
        self.labels = query_labels(scores) if name_queries and scores._labelled else None
        check_max_rank(convention.max_rank, scores.shape[1], convention.last_rank)

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Count queries ``low:high``; see :mod:`bioeval.attempts.parts`."""
        cmc_rule, ap_rule = self.convention.removed, self.convention.ap_removed
        lists, reader = self.lists, self.reader
        parts: dict[str, list[MatchLists]] = {rule: [] for rule in lists.rules}
        removed, extra, within = [], list[np.ndarray](), []
        last_rule = [*lists.rules][-1]
        counter = None
        if self.thresholds is not None:
            counter = _Retrieved(lists, self.thresholds)
        for ranked in lists.ranked(lists.rules, reader, low, high):
            parts[ranked.rule].append(match_lists(ranked.mates))
            if ranked.rule == cmc_rule:
                removed.append(ranked.mates.removed)
                extra += self._extra(ranked)
            if ranked.rule == ap_rule and counter is not None:
                within.append(counter.count(ranked))
            if ranked.rule == last_rule:
                reporter()(ranked.stop, self.scores.shape[0])
        return {
            "matches": {rule: _counts_of(matches) for rule, matches in parts.items()},
            "removed": ConcatenatedRows(tuple(removed)),
            "extra": ConcatenatedRows(tuple(extra)),
            "retrieved": ConcatenatedRows(tuple(within)),
        }

    def run(self) -> ReidTally:
        """Count all queries in one pass."""
        convention, reader, taus = self.convention, self.reader, self.thresholds
        cmc_rule, ap_rule = convention.removed, convention.ap_removed
        by_tiles = self._by_tiles()
        if by_tiles is not None:
            counted = count_all(by_tiles)
            parts = by_tiles.matches(counted["counts"])
            removed = by_tiles.removed(cmc_rule)
        else:
            counted = count_all(self)
            parts = {rule: _matches_of(counts) for rule, counts in counted["matches"].items()}
            removed = counted["removed"].array()
        removed += self.lists.rules[cmc_rule].off_list(self.lists.self_column)
        extra: dict[str, Any] = {}
        if convention.cmc == "identity-dedup":
            extra["identities"] = counted["extra"].array()
        if convention.cmc == "single-gallery-shot":
            extra["shots"] = counted["extra"].array()
        cmc_matches = parts[cmc_rule] if cmc_rule != ap_rule else None
        # How many entries are within each threshold.
        within = None
        if taus is not None:
            within = np.cumsum(counted["retrieved"].array(), axis=1)[:, :-1]
            within[self.lists.left_out] = 0
        return ReidTally(
            about=self.lists.about(reader),
            convention=convention.name,
            removed=cmc_rule,
            removed_for_ap=ap_rule,
            junk=convention.junk_in_words,
            cmc=convention.cmc,
            enrolled=self.lists.enrolled,
            left_out=self.lists.left_out,
            removed_entries=removed,
            matches=parts[ap_rule],
            cmc_matches=cmc_matches,
            thresholds=taus,
            retrieved=within,
            labels=self.labels,
            subject_of_query=self.lists.query_identity,
            **extra,
        )

    def _by_tiles(self) -> TiledRanks | None:
        """Return a pass by tiles; None where whole rows are needed."""
        needs_rows = self.convention.cmc in ("identity-dedup", "single-gallery-shot")
        if needs_rows or self.thresholds is not None:
            return None
        tiles = RetrievalTiles.of(self.lists, self.reader)
        return None if tiles is None else TiledRanks(tiles)

    def _extra(self, ranked: RankedRows) -> list[np.ndarray]:
        """Return the facts of a block of rows that a CMC over identities needs."""
        if self.convention.cmc == "identity-dedup":
            one_group = np.zeros(self.lists.identities, dtype=np.int64)
            return [self.identities_before(ranked, one_group, 1)[:, 0]]
        if self.convention.cmc == "single-gallery-shot":
            return [self.single_shots(ranked, self.lists)]
        return []

    def identities_before(self, ranked: RankedRows, group: np.ndarray, groups: int) -> np.ndarray:
        """Return the identities before the best match of each row, by their group.

        `group` (int64 (identities,)) is the group of each, below `groups`. The shape is (rows,
        groups, 3), as the columns of :attr:`ReidTally.identities`.
        """
        queries, gallery = self.lists.groups(ranked.rule, ranked.low, ranked.values)
        counts = np.empty((len(ranked.values), groups, 3), dtype=np.int64)
        kernel.rank_identities(queries, gallery, ranked.mates, group, counts)
        return counts

    def single_shots(self, ranked: RankedRows, lists: Lists) -> np.ndarray:
        """Return the distribution of the rank of each row in galleries of one entry of each.

        The entries are those of `lists`, which has all matches.
        """
        queries, gallery = lists.groups(ranked.rule, ranked.low, ranked.values)
        ties = self.convention.ties
        nodes, weights = np.array([float(ties == "pessimistic")]), np.ones(1)
        if ties == "expected":
            nodes, weights = np.polynomial.legendre.leggauss(NODES)
            nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0
        orders = kernel.TiedOrders(ties == "stable", nodes, weights)
        at_rank = np.empty((len(ranked.values), self.convention.max_rank))
        kernel.single_shots(queries, gallery, ranked.mates, orders, at_rank)
        return at_rank


class GomPass:
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
        """Prepare the lists of both."""
        self.appended: GomPass | None = None
        if appended is not None:
            self.appended = GomPass(appended, convention, thresholds, variant=variant)
        self.scores, self.convention, self.thresholds = scores, convention, thresholds
        self.normalize, self.variant = normalize, variant
        self.lists, self.reader = Lists(scores, convention), RowReader(scores)
        self.rule = convention.removed
        self.raw = thresholds  # in distances that are not normalised

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Count queries ``low:high``; see :mod:`bioeval.attempts.parts`."""
        lists, reader = self.lists, self.reader
        parts, removed, within = [], [], []
        counter = _Retrieved(lists, self.raw)
        for ranked in lists.ranked([self.rule], reader, low, high):
            within.append(counter.count(ranked))
            removed.append(ranked.mates.removed)
            parts.append(match_lists(ranked.mates))
            reporter()(ranked.stop, self.scores.shape[0])
        return {
            "matches": _counts_of(parts),
            "removed": ConcatenatedRows(tuple(removed)),
            "retrieved": ConcatenatedRows(tuple(within)),
        }

    def run(self) -> GomTally:
        """Count all queries."""
        low, high = self._scale() if self.normalize else (0.0, 1.0)
        tally = self._count(low, high)
        if self.appended is None:
            return tally
        with rows_reported_to(None):
            return tally.append(self.appended._count(low, high))

    def _count(self, low_end: float, high_end: float) -> GomTally:
        """Count all queries of the scores on a scale."""
        lists, reader = self.lists, self.reader
        span = high_end - low_end
        self.raw = unscaled(self.thresholds, low_end, span)
        counted = count_all(self)
        removed = counted["removed"].array()
        removed += lists.rules[self.rule].off_list(lists.self_column)
        matches = _matches_of(counted["matches"])
        matches.distance = (matches.distance - low_end) / span
        retrieved = counted["retrieved"].array()
        if self.variant == "reference":
            retrieved[:, np.searchsorted(self.thresholds, 1.0)] += removed
        retrieved[lists.left_out] = 0
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
            left_out=lists.left_out,
            removed_entries=removed,
            matches=matches,
        )

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite distance."""
        with rows_reported_to(None):
            extent = count_all(_Extent(self.lists, self.reader))["extent"]
        if self.appended is not None:
            low, high = self.appended.ends()
            extent = extent.merge(Extent(low, high))
        return extent.low, extent.high

    def _scale(self) -> tuple[float, float]:
        """Return the smallest and the largest finite distance, or the given ones."""
        least, most = self.ends()
        if isinstance(self.normalize, tuple):
            first, last = self.normalize
            if least < first or most > last:
                raise DataError(
                    Argument("normalize"),
                    f" is ({first:g}, {last:g}), but the distances reach from {least!r} to "
                    f"{most!r}; give the smallest and the largest of all parts",
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


class _Retrieved:
    """Counts the entries of each query's list between thresholds, as distances."""

    def __init__(self, lists: Lists, thresholds: np.ndarray):
        self.lists, self.thresholds = lists, thresholds
        self._guided: kernel.GuidedThresholds | None = None

    def count(self, ranked: RankedRows) -> np.ndarray:
        """Return the counts of a block of rows, one more than there are thresholds."""
        rows = ranked.values
        if self._guided is None:
            self._guided = _with_guide(self.thresholds, rows.dtype)
        queries, gallery = self.lists.groups(ranked.rule, ranked.low, rows)
        counts = np.empty((len(rows), len(self.thresholds) + 1), dtype=np.int64)
        kernel.count_retrieved(queries, gallery, self._guided, counts)
        return counts


class _Extent:
    """The smallest and the largest finite distance of some queries."""

    def __init__(self, lists: Lists, reader: RowReader):
        self.lists, self.reader, self.scores = lists, reader, lists.scores

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Find the extent of the distances of queries ``low:high``."""
        extent, reader = Extent(), self.reader
        for block in self.lists.blocks(reader, low, high):
            self_column = self.lists.self_column[block.low : block.low + len(block.values)]
            extent = extent.merge(
                Extent.of(block.values, np.maximum(self_column, 0), self_column + 1)
            )
        return {"extent": extent}


def count_all(row_pass: Any) -> dict[str, Any]:
    """Return the counts of all queries."""
    with threads_for(row_pass.scores):
        return row_pass.part(0, row_pass.scores.shape[0])


def _counts_of(parts: Sequence[MatchLists]) -> dict[str, ConcatenatedRows]:
    """Return matches as arrays to be joined with those of other queries."""
    lists = MatchLists.joined(parts)
    names = ("counts", "distance", "closer", "tied", "before")
    return {name: ConcatenatedRows.of(getattr(lists, name)) for name in names}


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
    values = rounded_down(thresholds, dtype)
    finite = values[np.isfinite(values)]
    base = finite[0] if len(finite) else dtype.type(0)
    last = dtype.type(PLACES - 1)
    with np.errstate(all="ignore"):
        scale = last / (finite[-1] - base) if len(finite) > 1 else dtype.type(1)
        if not np.isfinite(scale):
            scale = dtype.type(0)
        place = (values - base) * scale
    place = np.where(place > 0, np.minimum(place, last), 0).astype(np.int64)
    guide = np.searchsorted(place, np.arange(PLACES))
    steps = int(np.bincount(place).max())
    nan = len(values) + 1
    return kernel.GuidedThresholds(
        values=np.append(values, [dtype.type(np.inf)] * 2),
        base=base,
        scale=scale,
        last=last,
        guide=np.append(guide, nan),
        steps=steps,
    )
