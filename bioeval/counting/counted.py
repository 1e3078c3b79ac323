"""Attempts that are too many to be kept, and are counted in tiles, in one pass or two.

A pass counts the impostor scores of each tile in cells of float bits, while the tile is in the
cache of a core. If the genuine scores are known before, scores in their cells are also counted up
to each genuine score, so that areas, costs and the points at genuine scores are exact. A sample of
tiles tells in which cells the other points are expected, and the scores of these cells are kept. If
a point is in another cell, or the genuine scores were not known before, a second pass keeps the
missing scores. All counts are whole numbers: the same on any number of threads, in any order.

:class:`AttemptCounter` counts, with a table of :class:`ThreadCounts` for each thread. It returns
:class:`CountedAttempts`, whose impostor scores are :class:`CountedScores`: of a million scores they
may list 0.1998, 0.2001 and 0.2003 around a threshold, and know that 412 scores are below them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.counting.cells import BitCells, choose_cells
from bioeval.counting.grids import (
    DEFAULT_COUNT,
    EvenCounts,
    ScoreExtent,
    cell_exponent,
    default_grid,
    joint_exponent,
    with_infinities,
)
from bioeval.counting.operating_points import Attempts, AttemptsOfParts
from bioeval.counting.order import distinct, next_number, rounded_down, runs
from bioeval.counting.sorted_scores import Moments, SortedScores
from bioeval.counting.threshold_rules import PointsWanted
from bioeval.kernels import verification as kernel
from bioeval.kernels.verification import TOO_LARGE

#: Increasing scores, float64 (k,), and the numbers of scores below each of them, and up to it.
CountTable = tuple[np.ndarray, np.ndarray, np.ndarray]
# The place of the numbers in such a table.
BELOW, UPTO = 1, 2

# In place of a number of scores: the scores up to a threshold were not counted.
UNCOUNTED = -1


class CountedScores(SortedScores):
    """Impostor scores, `number` in all, of which only some are listed, and the others counted.

    - `listed`: the distinct scores that are listed
    - `at_thresholds`: thresholds, among them all distinct genuine scores
    - `dtype`: the type of the scores
    """

    def __init__(
        self,
        listed: CountTable,
        number: int,
        at_thresholds: CountTable,
        *,
        dtype: np.dtype,
        moments: Moments | None,
    ):
        super().__init__(listed[0], np.array([0, number]))
        self._listed, self._at_thresholds = listed, at_thresholds
        self._dtype, self._moments = dtype, moments

    def _counted(self, thresholds: np.ndarray, column: int) -> np.ndarray:
        """Return the numbers `BELOW` thresholds, or `UPTO` them, or `UNCOUNTED`."""
        # Infinity and NaN, which stands for no threshold, accept all scores. -inf accepts none: if
        # there are scores of -inf, they are listed, and counted below.
        counts = np.where(thresholds < np.inf, UNCOUNTED, self.attempts[0])
        counts[thresholds == -np.inf] = 0
        for table in (self._listed, self._at_thresholds):
            scores = table[0]
            if len(scores):
                index = np.minimum(scores.searchsorted(thresholds), len(scores) - 1)
                counts = np.where(scores[index] == thresholds, table[column][index], counts)
        return counts

    def below(self, thresholds: Any) -> np.ndarray:
        """Return the number below each threshold: a listed score, or a counted threshold."""
        return self._counted(np.asarray(thresholds, dtype=np.float64), BELOW)

    def upto(self, thresholds: Any) -> np.ndarray:
        """Return the number up to each threshold: a listed score, or a counted threshold."""
        counts = self._counted(np.asarray(thresholds, dtype=np.float64), UPTO)
        if (counts == UNCOUNTED).any():
            raise DataError("false accepts are known only at the thresholds that were counted")
        return counts

    def nth(self, numbers: np.ndarray) -> np.ndarray:
        """Return the first listed score with at least n scores up to it; NaN if there is none."""
        index = self._listed[UPTO].searchsorted(numbers)
        return self._scores_at(index, (numbers > 0) & (index < len(self.keys)))

    def largest_below(self, thresholds: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of scores below thresholds, and the largest; raise if it is unknown."""
        counts = self.below(thresholds)
        index = self.keys.searchsorted(thresholds)
        if (np.append(0, self._listed[UPTO])[index] != counts).any():
            raise DataError("the scores around a threshold were not kept")
        return counts, self._scores_at(index - 1, index > 0)

    def following(self, thresholds: Any, nearest: Any = np.inf) -> np.ndarray:
        """Return the smallest score above each threshold, unless `nearest` is smaller.

        If an unlisted score may be smaller, return the next number of the dtype: no score is below.
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        index = self.keys.searchsorted(limits, side="right")
        following = np.fmin(self._scores_at(index, index < len(self.keys)), nearest)
        accepted = self._counted(limits, UPTO)
        before = self._counted(following, BELOW)
        # No score is between the threshold and the known score where both numbers are equal.
        is_known = (accepted != UNCOUNTED) & (accepted == before)
        return np.where(is_known, following, next_number(limits, self._dtype))

    def counts_at(self, other: SortedScores) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers below, and up to, the genuine scores, which were all counted."""
        thresholds, below, upto = self._at_thresholds
        index = thresholds.searchsorted(other.distinct())
        return below[index], upto[index]

    def moments(self) -> Iterator[Moments]:
        assert self._moments is not None
        yield self._moments


class CountedAttempts(Attempts):
    """Attempts whose impostor scores are counted: :class:`CountedScores`.

    - `count_cells`: returns the counts of all impostor scores in cells of one width
    - `near`: returns thresholds next to its argument, and the false accepts there
    """

    listed = False
    impostor: CountedScores

    def __init__(
        self,
        genuine: np.ndarray,
        impostor: CountedScores,
        missed: int,
        missed_impostors: int,
        *,
        count_cells: Callable[[], EvenCounts],
        near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    ):
        super().__init__(genuine, impostor, missed, missed_impostors)
        self._count_cells, self._near = count_cells, near

    @cached_property
    def even_counts(self) -> EvenCounts:
        return self._count_cells()

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds, on the edges of cells, and the false accepts there."""
        impostors = self.even_counts
        genuine = ScoreExtent.from_ordered(self.genuine)
        ranges = [impostors.range, (genuine.low, genuine.high)]
        exponents = [impostors.exponent] if len(impostors.counts) else []
        if genuine.low <= genuine.high:
            exponents.append(cell_exponent(genuine.low, genuine.high))
        exponent = joint_exponent(max(exponents, default=0), ranges)
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        thresholds = with_infinities(
            default_grid(low, high, exponent, DEFAULT_COUNT),
            impostors.negative_infinite > 0 or genuine.negative,
            impostors.positive_infinite > 0 or genuine.positive,
        )
        ends, accepted = self._near(thresholds[np.isfinite(thresholds)])
        if (thresholds == -np.inf).any():
            ends = np.append(-np.inf, ends)
            accepted = np.append(impostors.negative_infinite, accepted)
        if (thresholds == np.inf).any():
            ends = np.append(ends, np.inf)
            accepted = np.append(accepted, self.impostors)
        return ends, accepted


# Impostor scores as threads count them: by cell, in lists of kept scores, and in sums.


# The number of kept scores from which on equal scores are joined.
JOIN = 1 << 24

# The largest count of an int32 cell, before the cell is added to 64 bits.
MOST_IN_CELL = (1 << 31) - 1

# The proportion of the squared mean below which a variance, a difference, has lost many digits.
LOST = 2.0**-12


@dataclass(eq=False)
class ThreadCounts:
    """Counts of the impostor attempts that one thread has read."""

    by_threshold: np.ndarray  # int64 (2, thresholds + 1): see `count_and_keep`
    recent: np.ndarray  # int32 (cells + 2,): counts by cell since they were last emptied
    room: np.ndarray  # for the kept scores of a tile and one more, in the dtype of the scores
    #: Kept scores, and for how many attempts each stands.
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    kept_number: int = 0
    join_from: int = JOIN  # the number of kept scores from which on equal scores are joined
    moments: dict[int, np.ndarray] = field(default_factory=dict)  # sums by tile
    left_out: float = 0.0  # half the largest difference from the origin that moments leave out
    recent_number: int = 0  # attempts counted in `recent`
    earlier: np.ndarray | int = 0  # int64 (cells + 2,): counts before `recent` was emptied

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "room": self.room[:0].copy()}  # needed only while counting

    def table_for(self, size: int) -> np.ndarray:
        """Return the counts by cell (int32) with room for `size` more scores."""
        self.recent_number += size
        if self.recent_number > MOST_IN_CELL:
            self.earlier = self.by_cell()
            self.recent_number = size
            self.recent[:] = 0
        return self.recent

    def by_cell(self) -> np.ndarray:
        """Return the number of scores in each cell (int64)."""
        return self.recent.astype(np.int64) + self.earlier

    def keep(self, scores: np.ndarray, weight: int) -> None:
        """Keep scores; every score stands for `weight` attempts."""
        if len(scores):
            self.kept.append((scores.copy(), np.broadcast_to(weight, len(scores))))
            self.kept_number += len(scores)
        if self.kept_number > self.join_from:
            self.kept = [distinct_scores(self.kept)]
            self.kept_number = len(self.kept[0][0])
            self.join_from = max(JOIN, 2 * self.kept_number)


def distinct_scores(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct scores of all parts, increasing, and their numbers of attempts."""
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64)
    scores = np.concatenate([x for x, _ in parts])
    numbers = [int(x[0]) if len(x) else 1 for _, x in parts]
    if all(x.strides == (0,) for _, x in parts) and len(set(numbers)) == 1:
        scores.sort()  # each score stands for the same number of attempts
        values, bounds = runs(scores)
        return values, np.diff(bounds) * numbers[0]
    weights = np.concatenate([x for _, x in parts])
    order = np.argsort(scores, kind="stable")
    values, bounds = runs(scores[order])
    return values, np.add.reduceat(weights[order], bounds[:-1], dtype=np.int64)


class SummedMoments:
    """The moments of finite scores, which a pass sums as ``(score - origin) * scale``.

    A poor origin or scale loses digits, or leaves out large scores: another pass then sums the
    scores with a better one.
    """

    def __init__(self, origin: float = 0.0, scale: float = 1.0):
        self.origin, self.scale = origin, scale
        self.moments: Moments | None = None  # None as long as a pass is missing
        self.infinite = 0  # scores that are +inf
        self._passes = 0

    def finish_pass(self, threads: Sequence[ThreadCounts]) -> None:
        """Find the moments, or else a better origin or scale for another pass."""
        sums: dict[int, np.ndarray] = {}
        for counts in threads:
            sums |= counts.moments
        number, total, squares, infinite = sum((sums[k] for k in sorted(sums)), start=np.zeros(4))
        self.infinite = int(infinite)
        self._passes += 1
        left_out = max((x.left_out for x in threads), default=0.0)
        if left_out:
            self.scale = 2.0 ** -(math.frexp(left_out)[1] + 1)
        elif squares < number / TOO_LARGE**2 and self._passes == 1:
            self.scale *= TOO_LARGE**2
        elif number:
            mean = total / number
            variance = max(squares / number - mean**2, 0.0)
            if variance < LOST * mean**2 and self._passes < 3:
                self.origin += mean / self.scale
            else:
                self.moments = Moments(self.scale, self.origin * self.scale, mean, variance**0.5)
        else:
            self.moments = Moments()


#: Flags of cells: cells with thresholds, and cells whose scores are kept.
COUNTED = 1
KEPT = 2


class AttemptCounter:
    """Counts attempts that do not fit into memory, block by block.

    The reducer of verification (`counting/verification.py`) calls :meth:`prepare` once, with a
    sample of tiles: it sets the cells, thresholds and flags. A pass is then :meth:`start` in each
    thread, :meth:`count` for each tile, and :meth:`finish`, until this returns False. After the
    last pass, :meth:`attempts` returns the result.

    - `dtype`: the type of the scores
    - `wanted`: the points whose scores are kept; None: no point is sought
    - `requested` (float64): thresholds at which false accepts are wanted
    - `genuine` (float64): increasing scores, besides which `missed` genuine attempts failed
    """

    def __init__(
        self,
        dtype: np.dtype,
        wanted: PointsWanted | None,
        requested: np.ndarray,
        genuine: np.ndarray,
        missed: int,
    ):
        self.dtype, self.wanted, self.requested = dtype, wanted, requested
        self.genuine, self.missed = genuine, missed
        self.missed_impostors = 0
        #: int64 (2, thresholds): impostor scores below, and up to, each threshold; None before the
        #: end of the first pass.
        self.by_threshold: np.ndarray | None = None
        #: int64: the cells with scores, increasing, and their numbers of scores, once counted.
        self.filled = self.counts = np.empty(0, dtype=np.int64)
        #: The kept scores, distinct and increasing, and the number of attempts with each score.
        self.values = np.empty(0)
        self.weights = np.empty(0, dtype=np.int64)

    # -- a pass

    def prepare(self, sample: Sequence[np.ndarray], number_of_scores: int) -> None:
        """Choose the cells by tiles of a sample, and flag the cells whose scores are needed."""
        targets = None if self.wanted is None else self.wanted.targets
        attempts = len(self.genuine) + self.missed
        self.cells, self.kept_cells, origin_and_scale = choose_cells(
            sample, self.dtype, self.genuine, attempts, number_of_scores, targets=targets
        )
        self.moment_sums = SummedMoments(*origin_and_scale)
        thresholds = np.concatenate([self.requested, distinct(self.genuine)])
        #: float64 (t,): thresholds up to which scores are counted, increasing; and their cells.
        self.thresholds = distinct(np.sort(thresholds))
        of_dtype = rounded_down(self.thresholds, self.dtype)
        self.cell_of_threshold = self.cells.cells_of(of_dtype)
        #: (t + 1,): the thresholds in the dtype of the scores, and infinity.
        self.stops = np.append(of_dtype, self.dtype.type(np.inf))
        by_cell = np.bincount(self.cell_of_threshold, minlength=len(self.kept_cells))
        #: int32 (cells + 3,): the number of thresholds in the cells before each cell.
        self.first_of_cell = np.append(0, np.cumsum(by_cell)).astype(np.int32)
        self.flags = np.zeros(len(self.kept_cells), dtype=np.uint8)
        self.flags[self.cell_of_threshold] = COUNTED
        self.flags[self.kept_cells] |= KEPT

    def start(self) -> ThreadCounts:
        """Return empty tables for a thread."""
        return ThreadCounts(
            np.zeros((2, len(self.stops)), dtype=np.int64),
            recent=np.zeros(len(self.flags), dtype=np.int32),
            room=np.empty(0, dtype=self.dtype),
        )

    def count(self, counts: ThreadCounts, tile: np.ndarray, order: int, weight: int = 1) -> None:
        """Count scores (h, w), NaN where there is none; each stands for `weight` attempts.

        Moments are summed in the `order` of tiles.
        """
        tile = np.ascontiguousarray(tile, self.dtype)
        if len(counts.room) <= tile.size:
            counts.room = np.empty(tile.size + 1, self.dtype)
        room = counts.room
        centre = self.cells.centre
        window = self.cells.window
        if self.by_threshold is None:
            number_kept = kernel.count_and_keep(
                tile, centre, window, counts.table_for(weight * tile.size), self.flags,
                self.stops, self.first_of_cell, np.int32(weight), counts.by_threshold, room,
            )  # fmt: skip
        else:
            places = np.empty((2, tile.size + 1), np.int32)
            number_kept = kernel.keep_wanted(
                tile, centre, window, self.wanted_cells, tile.shape, room, *places
            )
        if self.moment_sums.moments is None:
            sums = np.zeros(4)
            into = self.moment_sums
            left_out = kernel.add_moments(tile, into.origin, into.scale, sums)
            counts.moments[order] = counts.moments.get(order, 0.0) + weight * sums
            counts.left_out = max(counts.left_out, left_out)
        counts.keep(room[:number_kept], weight)

    def finish(self, threads: Sequence[ThreadCounts], failed: int) -> bool:
        """Add the counts of all threads; return whether another pass is needed.

        `failed` impostor attempts have no score.
        """
        if self.moment_sums.moments is None:
            self.moment_sums.finish_pass(threads)
        kept = [part for counts in threads for part in counts.kept]
        if self.by_threshold is None:
            self.missed_impostors = failed
            self._sum_counts(threads)
            kept = self._needed(kept)
        else:
            self.wanted_cells[:] = False  # this pass kept their scores
        values, weights = distinct_scores(kept)
        index = self.values.searchsorted(values)
        self.values = np.insert(self.values, index, values)
        self.weights = np.insert(self.weights, index, weights)
        return bool(self.wanted_cells.any()) or self.moment_sums.moments is None

    def _sum_counts(self, threads: Sequence[ThreadCounts]) -> None:
        """Find the numbers of scores by cell, and by threshold, after the first pass."""
        by_cell = np.zeros(len(self.flags), dtype=np.int64)
        for counts in threads:
            by_cell += counts.by_cell()
        by_cell[-1] = 0  # NaN
        self.filled = np.flatnonzero(by_cell)
        self.counts = by_cell[self.filled]
        # (thresholds + 1,) each: scores between the threshold before and this one, itself included;
        # and scores equal to it. The last number has the scores beyond all thresholds.
        after_previous, equal = np.sum([x.by_threshold for x in threads], axis=0)
        # Scores were compared with thresholds in the thresholds' cells only. The scores of any
        # other cell are below the first threshold of a later cell.
        has_threshold = np.zeros(len(self.flags), dtype=bool)
        has_threshold[self.cell_of_threshold] = True
        is_other = ~has_threshold[self.filled]
        next_threshold = self.cell_of_threshold.searchsorted(self.filled[is_other])
        np.add.at(after_previous, next_threshold, self.counts[is_other])
        upto = np.cumsum(after_previous)[:-1]
        self.by_threshold = np.array([upto - equal[:-1], upto])

    def _needed(
        self, kept: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the kept scores of cells that are needed, and flag needed cells without them.

        The sample told in which cells scores were kept; only now the points are known.
        """
        is_needed = self.cells_with_points()
        is_needed[0] |= 0 in self.filled[:1]  # -inf may be among the scores below all cells
        is_missing = is_needed & ~self.kept_cells
        is_needed[[0, -2]] = True  # any score may be beyond the cells
        is_kept = self.kept_cells & is_needed
        self.wanted_cells = is_missing  # in another pass
        self.kept_cells = is_kept | is_missing
        needed = []
        for scores, weight in kept:
            is_selected = is_kept[self.cells.cells_of(scores)]
            if is_selected.any():
                needed.append((scores[is_selected], weight[is_selected]))
        return needed

    # -- points

    def cells_with_points(self) -> np.ndarray:
        """Return whether each cell has a point, or the score before a point."""
        has_point = np.zeros(len(self.kept_cells), dtype=bool)
        genuine_cells = self.cells.cells_of(self.genuine)
        failed = self.missed, self.missed_impostors
        attempts = AttemptsOfParts.of_cells(genuine_cells, self.filled, self.counts, *failed)
        if self.wanted is None or not attempts.defined[0]:
            return has_point
        limits = attempts.far_limits(np.append(self.wanted.targets, 0.0))[0]
        points = np.append(limits, attempts.crossing()[0])
        # The cell before, too: its largest score may be the threshold.
        cells = np.append(points, attempts.impostor.largest_below(points)[1])
        cells = cells[np.isfinite(cells)].astype(np.int64)
        is_filled = np.zeros(len(has_point), dtype=bool)
        is_filled[self.filled] = True
        has_point[cells] = is_filled[cells]
        return has_point

    # -- the result

    def attempts(self) -> CountedAttempts:
        """Return the attempts, once no pass is missing."""
        if self.weights.sum() != self.counts[self.kept_cells[self.filled]].sum():
            raise DataError("the scores changed while they were read: not as many were found again")
        cells = self.cells.cells_of(self.values)
        accepted = np.cumsum(self.weights) + self._not_kept_before(self.filled.searchsorted(cells))
        assert self.by_threshold is not None
        impostor = CountedScores(
            (self.values, accepted - self.weights, accepted),
            int(self.counts.sum()),
            (self.thresholds, *self.by_threshold),
            dtype=self.dtype,
            moments=self.moment_sums.moments,
        )
        failed = self.missed, self.missed_impostors
        return CountedAttempts(
            self.genuine, impostor, *failed, count_cells=self.even_counts, near=self.near
        )

    def _not_kept_before(self, filled_index: np.ndarray) -> np.ndarray:
        """Return how many scores that were not kept are in the filled cells before some indices."""
        not_kept = np.where(self.kept_cells[self.filled], 0, self.counts)
        return np.append(0, np.cumsum(not_kept))[filled_index]

    def near(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return thresholds next to finite `thresholds`, and the exact false accepts there.

        They are ends of cells of all keys, or ends of the counted cells if scores are far from 0 or
        very far apart.
        """
        cells = BitCells.spanning(self.dtype, self.cells.centre)
        if self.cells.centre != 0 or self.cells.shift > cells.shift:
            cells = self.cells
        cell_ends = cells.edges(cells.cells_of(rounded_down(thresholds, self.dtype)))
        cell_ends = rounded_down(cell_ends, self.dtype).astype(np.float64)
        thresholds_near = np.where(np.isfinite(cell_ends), cell_ends, thresholds)
        counted_cells = self.cells.cells_of(rounded_down(thresholds_near, self.dtype))
        accepted = self._not_kept_before(self.filled.searchsorted(counted_cells, side="right"))
        kept_index = self.values.searchsorted(thresholds_near, side="right")
        accepted = accepted + np.append(0, np.cumsum(self.weights))[kept_index]
        thresholds_near, first = np.unique(thresholds_near, return_index=True)
        return thresholds_near, accepted[first]

    def even_counts(self) -> EvenCounts:
        """Return about how many scores are in cells of one width, without another pass."""
        # Infinite scores are in the first and the last filled cell, and counted apart.
        scores, filled = self.values, self.filled
        is_minus_infinity = scores[:1] == -np.inf
        negative_infinite = int(self.weights[:1][is_minus_infinity].sum())
        counts = self.counts.copy()
        counts[:1] -= negative_infinite
        counts[-1:] -= self.moment_sums.infinite
        # The largest score of each cell, about: the cell's end.
        largest = float(np.finfo(self.dtype).max)
        edges = rounded_down(self.cells.approximate_edges(filled), self.dtype).astype(np.float64)
        largest_scores = np.clip(edges, -largest, largest)
        # The cell of scores above all cells has no end; its scores are kept, so that the largest
        # is known.
        finite = scores[np.isfinite(scores)]
        if len(filled) and filled[-1] == self.cells.count and len(finite):
            largest_scores[-1] = finite[-1]
        smallest = scores[1:2] if is_minus_infinity.any() else scores[:1]
        is_filled = counts > 0
        infinite = negative_infinite, self.moment_sums.infinite
        return EvenCounts.from_upper(
            largest_scores[is_filled], counts[is_filled], smallest, *infinite
        )
