"""Attempts that are too many to be kept, and are counted in tiles, in one pass or two.

A pass counts the impostor scores of each tile in cells of float bits, while the tile is in the
cache of a core. If the genuine scores are known before, scores in their cells are also counted up
to each genuine score, so that areas, costs and the points at genuine scores are exact. A sample of
tiles tells in which cells the other points are expected, and the scores of these cells are kept. If
a point is in another cell, or the genuine scores were not known before, a second pass keeps the
missing scores. The sample decides how many passes are needed, and never a result. All counts are
whole numbers: the same on any number of threads, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import at_most
from bioeval.counting.cells import BitCells, EvenCounts
from bioeval.counting.floats import rounded_down
from bioeval.counting.order import distinct, runs
from bioeval.counting.points import Moments, allowed_errors, crossed, moment_scale
from bioeval.counting.sorted_attempts import CountedAttempts, CountedScores
from bioeval.counting.wanted_points import PointsWanted
from bioeval.kernels import verification as kernel
from bioeval.kernels.cells import LEAST, SPAN
from bioeval.kernels.verification import TOO_LARGE

# The number of standard errors of a sample of tiles within which a point is expected.
ERRORS = 4.0

# The largest proportion, and the largest number, of scores kept before the points are known.
MOST_KEPT = 1 / 8
MOST_SCORES = 1 << 25

# About how many cells there are for each genuine score, and the limits of their number: most cells
# have no threshold, so that the others cost little, and all fit into the cache.
CELLS_A_SCORE = 4
LEAST_CELLS = 1 << 16
MOST_CELLS = 1 << 20

# The proportion of scores below all cells, and the proportion above.
TAIL = 2.0**-10

# The number of cells of a sample, and of its groups, whose differences say how far to trust it.
SAMPLE_CELLS = 1 << 14
GROUPS = 16

# FAR targets whose scores are always kept: they are few, and often asked for later.
RARE_TARGETS = (0.0, 1e-6, 1e-5, 1e-3)

# The proportion of the squared mean below which a variance, a difference, has lost many digits.
LOST = 2.0**-12

# The number of kept scores from which on equal scores are joined.
JOIN = 1 << 24

# The largest count of an int32 cell, before the cell is added to 64 bits.
MOST_IN_CELL = (1 << 31) - 1

#: Flags of cells: cells with thresholds, and cells whose scores are kept.
COUNTED = 1
KEPT = 2


@dataclass(eq=False)
class ThreadCounts:
    """Counts of the impostor attempts that one thread has read."""

    by_threshold: np.ndarray  # int64 (2, thresholds + 1): see `count_and_keep`
    #: Kept scores, and for how many attempts each stands.
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    kept_number: int = 0
    join_from: int = JOIN  # the number of kept scores from which on equal scores are joined
    moments: dict[int, np.ndarray] = field(default_factory=dict)  # sums by tile
    left_out: float = 0.0  # half the largest difference from the origin that moments leave out
    # Buffer for the kept scores of a tile.
    room: np.ndarray = field(default_factory=lambda: np.empty(0))
    # Counts by cell.
    recent: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    recent_number: int = 0  # attempts counted in `recent`
    earlier: np.ndarray | int = 0  # int64, by cell: counts before `recent` was emptied

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

    def room_for(self, size: int) -> np.ndarray:
        """Return room for `size` scores and one more."""
        if len(self.room) <= size:
            self.room = np.empty(size + 1, dtype=self.room.dtype)
        return self.room

    def add_moments(self, number: int, sums: np.ndarray, left_out: float) -> None:
        """Add the sums of tile `number`; see the kernel `add_moments` for `left_out`."""
        self.moments[number] = self.moments.get(number, 0.0) + sums
        self.left_out = max(self.left_out, left_out)

    def by_cell(self) -> np.ndarray:
        """Return the number of scores in each cell (int64)."""
        return self.recent.astype(np.int64) + self.earlier

    def add(self, other: ThreadCounts) -> None:
        self.by_threshold += other.by_threshold
        self.earlier = self.by_cell() + other.by_cell()
        self.recent = np.zeros_like(self.recent)
        self.recent_number = 0
        self.moments |= other.moments
        self.kept += other.kept
        self.kept_number += other.kept_number
        self._join_equal_scores()

    def keep(self, scores: np.ndarray, weight: int) -> None:
        """Keep scores; every score stands for `weight` attempts."""
        if len(scores):
            self.kept.append((scores.copy(), np.broadcast_to(weight, len(scores))))
            self.kept_number += len(scores)
        self._join_equal_scores()

    def _join_equal_scores(self) -> None:
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


class AttemptCounter:
    """Counts attempts that do not fit into memory, block by block.

    - `given` (float64): thresholds at which false accepts are wanted
    - `genuine` (float64): the genuine scores in order; `missed` genuine attempts failed besides
    """

    def __init__(
        self,
        dtype: np.dtype,
        wanted: PointsWanted | None,
        given: np.ndarray,
        genuine: np.ndarray,
        missed: int = 0,
    ):
        self.dtype, self.wanted, self.given = dtype, wanted, given
        self.genuine = genuine
        self.missed = missed
        self.missed_impostors = 0
        #: Scores are summed for the moments as ``(score - origin) * scale``.
        self.origin = 0.0
        self.scale = 1.0
        #: Thresholds up to which scores are counted, increasing; and rounded to the scores' dtype.
        self.thresholds = np.empty(0)
        self.thresholds_of_dtype = np.empty(0, dtype=dtype)
        self.by_threshold: np.ndarray | None = None  # int64 (2, thresholds): scores below, up to
        self._set_cells(BitCells.spanning(dtype, dtype.type(0)))
        #: int64: the cells with scores, increasing, and their numbers of scores, once counted.
        self.filled = self.counts = np.empty(0, dtype=np.int64)
        self.is_counted = False
        #: The kept scores, distinct and increasing, and the number of attempts with each score.
        self.values = np.empty(0)
        self.weights = np.empty(0, dtype=np.int64)
        self.moments: Moments | None = None
        self.infinite = 0
        self.passes_of_moments = 0

    # -- before a pass

    def _set_cells(self, cells: BitCells) -> None:
        self.cells = cells
        #: Whether scores of each cell are kept; the last two cells are above all cells, and NaN.
        self.kept_cells = np.zeros(int(cells.count) + 2, dtype=bool)

    def choose_cells(
        self, sample: Sequence[np.ndarray], scores: int, number_of_cells: int | None = None
    ) -> None:
        """Choose the cells by tiles of a sample, and the cells whose scores are kept.

        `scores` is the number of all scores.
        """
        finite = [x if np.isfinite(x).all() else x[np.isfinite(x)] for x in sample]
        finite = [x for x in finite if len(x)]
        if not finite:
            return
        least = min(float(x.min()) for x in finite)
        largest = max(float(x.max()) for x in finite)
        every_nth = np.concatenate([x[:: max(1, len(x) >> 12)] for x in finite])
        low, middle, high = np.quantile(every_nth, [TAIL, 0.5, 1 - TAIL], method="lower").tolist()
        centre = self.cells.centre
        if largest - least < abs(middle) / 64:  # scores far from 0 differ in few bits
            centre = self.dtype.type(middle)
        self.origin = middle
        self.scale = moment_scale(least, largest)
        if number_of_cells is None:
            number_of_cells = 1 << (CELLS_A_SCORE * len(self.genuine)).bit_length()
            number_of_cells = min(max(number_of_cells, LEAST_CELLS), MOST_CELLS)
        # Cells span most scores; the few beyond are kept. Near 0 there would be too many cells.
        shift = 1
        every_key = BitCells(
            self.dtype, centre, np.int32(LEAST), np.uint32(shift), np.uint32(SPAN >> shift)
        )
        low, high = every_key.cells_of(np.array([low, high])).tolist()
        margin = (high - low) // 8 + 64
        low, high = max(low - margin, 0), min(high + margin, SPAN >> shift)
        begin = LEAST + (low << shift)
        span = (high - low) << shift
        self._set_cells(BitCells.spanning(self.dtype, centre, begin, span, number_of_cells))
        self.kept_cells[[0, -2]] = True
        if self.wanted is not None and len(finite) > 1:
            self._keep_expected_cells(finite, scores)

    def _keep_expected_cells(self, sample: Sequence[np.ndarray], scores: int) -> None:
        """Keep the cells in which points are expected from a sample, within standard errors."""
        assert self.wanted is not None
        cells = []
        for k in range(min(GROUPS, len(sample))):  # one by one: a sample has millions of scores
            group = np.concatenate(sample[k::GROUPS])
            cells.append(self.cells.cells_of(group).astype(np.uint32))
        low, high = min(int(x.min()) for x in cells), max(int(x.max()) for x in cells)
        shift = max(0, int(high - low + 1).bit_length() - SAMPLE_CELLS.bit_length() + 1)
        width = ((high - low) >> shift) + 1
        tables = np.array([np.bincount((x - low) >> shift, minlength=width) for x in cells])
        filled = np.flatnonzero(tables.any(axis=0))
        counts = np.cumsum(tables[:, filled], axis=1)
        sizes = counts[:, -1:]
        total = int(sizes.sum())
        far_of_cells = counts.sum(axis=0) / total
        margin = ERRORS * np.sqrt(
            (counts / sizes).var(axis=0) / (len(tables) - 1) + (far_of_cells + 1 / total) / total
        )
        genuine = (self.cells.cells_of(self.genuine) - low) >> shift
        frr_of_cells = 1 - genuine.searchsorted(filled, side="right") / max(
            len(genuine) + self.missed, 1
        )
        share_left = min(MOST_KEPT, at_most(MOST_SCORES, 16) / max(scores, 1))
        targets = sorted({*RARE_TARGETS, *self.wanted.targets.tolist()})
        for target in (
            *targets,
            frr_of_cells,
        ):  # the fewest scores first; where FAR is FRR is the EER
            first = int(np.searchsorted(far_of_cells + margin - target, 0))
            last = int(np.searchsorted(far_of_cells - margin - target, 0))
            first, last = max(first - 2, 0), min(last + 2, len(filled) - 1)
            share_of_scores = float(far_of_cells[last] - (far_of_cells[first - 1] if first else 0))
            if share_of_scores <= share_left:
                share_left -= share_of_scores
                begin = low + (int(filled[first]) << shift) if first else 0
                self.kept_cells[begin : low + ((int(filled[last]) + 1) << shift)] = True
        self.kept_cells[-1] = False

    def prepare(self) -> None:
        """Flag the cells with thresholds, and the cells whose scores are kept."""
        self.thresholds = distinct(np.sort(np.concatenate([self.given, distinct(self.genuine)])))
        self.thresholds_of_dtype = rounded_down(self.thresholds, self.dtype)
        self.stops = np.append(self.thresholds_of_dtype, self.dtype.type(np.inf))
        cells = self.cells.cells_of(self.thresholds_of_dtype)
        self.flags = np.zeros(len(self.kept_cells), dtype=np.uint8)
        self.flags[cells] = COUNTED
        self.flags[self.kept_cells] |= KEPT
        #: The number of thresholds in the cells before each cell, and in all cells.
        self.first_threshold = np.zeros(len(self.kept_cells) + 1, dtype=np.int32)
        by_cell = np.bincount(cells, minlength=len(self.kept_cells))
        np.cumsum(by_cell, out=self.first_threshold[1:])

    # -- a pass

    def start(self) -> ThreadCounts:
        """Return empty tables for a thread."""
        return ThreadCounts(
            np.zeros((2, len(self.thresholds) + 1), dtype=np.int64),
            recent=np.zeros(len(self.flags), dtype=np.int32),
            room=np.empty(0, dtype=self.dtype),
        )

    def count(self, counts: ThreadCounts, tile: np.ndarray, order: int, weight: int = 1) -> None:
        """Count scores (h, w), NaN where there is none; each stands for `weight` attempts.

        Moments are summed in the `order` of tiles.
        """
        tile = np.ascontiguousarray(tile, self.dtype)
        room = counts.room_for(tile.size)
        centre = self.cells.centre
        window = self.cells.window
        if self.by_threshold is None:
            number_kept = kernel.count_and_keep(
                tile, centre, window, counts.table_for(weight * tile.size), self.flags,
                self.stops, self.first_threshold, np.int32(weight), counts.by_threshold, room,
            )  # fmt: skip
        else:
            number_kept = kernel.keep(tile, centre, window, self.flags, room)
        if self.moments is None:
            sums = np.zeros(4)
            left_out = kernel.add_moments(tile, self.origin, self.scale, sums)
            counts.add_moments(order, weight * sums, left_out)
        counts.keep(room[:number_kept], weight)

    def finish(self, threads: Sequence[ThreadCounts], failed: int) -> bool:
        """Add the counts of all threads; return whether another pass is needed.

        `failed` impostor attempts have no score.
        """
        if self.moments is None:
            self._sum_moments(threads)
        is_first_pass = not self.is_counted
        self.is_counted = True
        if is_first_pass:
            by_cell = np.zeros(len(self.flags), dtype=np.int64)
            for counts in threads:
                by_cell += counts.by_cell()
            by_cell[-1] = 0
            self.filled = np.flatnonzero(by_cell)
            self.counts = by_cell[self.filled]
            self.missed_impostors = failed
        if self.by_threshold is None:
            self._sum_by_threshold(np.sum([x.by_threshold for x in threads], axis=0))
        kept_parts = [part for x in threads for part in x.kept]
        if not is_first_pass:
            self._take(*distinct_scores(kept_parts))
            self.flags[:] = 0
            return self.moments is None
        needed = self.cells_with_points()
        needed[0] |= bool(by_cell[0])  # -inf may be among the scores below all cells
        missing = needed & ~self.kept_cells
        needed[[0, -2]] = True  # any score may be beyond the cells
        self.kept_cells &= needed
        kept_parts = [
            (scores[is_needed], weight[is_needed])
            for scores, weight in kept_parts
            if (is_needed := self.kept_cells[self.cells.cells_of(scores)]).any()
        ]
        self._take(*distinct_scores(kept_parts))
        self.flags[:] = np.where(missing, KEPT, 0)
        self.kept_cells |= missing
        return bool(missing.any()) or self.moments is None

    def _sum_moments(self, threads: Sequence[ThreadCounts]) -> None:
        """Find the moments, or else an origin and scale with which another pass finds them."""
        sums: dict[int, np.ndarray] = {}
        for counts in threads:
            sums |= counts.moments
        number, total, squares, infinite = sum((sums[k] for k in sorted(sums)), start=np.zeros(4))
        self.infinite = int(infinite)
        self.passes_of_moments += 1
        left_out = max((x.left_out for x in threads), default=0.0)
        if left_out:
            self.scale = 2.0 ** -(math.frexp(left_out)[1] + 1)
        elif squares < number / TOO_LARGE**2 and self.passes_of_moments == 1:
            self.scale *= TOO_LARGE**2
        elif number:
            mean = total / number
            variance = max(squares / number - mean**2, 0.0)
            if variance < LOST * mean**2 and self.passes_of_moments < 3:
                self.origin += mean / self.scale
            else:
                self.moments = Moments(self.scale, self.origin * self.scale, mean, variance**0.5)
        else:
            self.moments = Moments()

    def _sum_by_threshold(self, counts: np.ndarray) -> None:
        """Find how many impostor scores are below, and up to, each threshold.

        `counts` are of cells with thresholds. Scores of any other cell are below the first
        threshold of a later cell.
        """
        cells = self.cells.cells_of(self.thresholds_of_dtype)
        has_no_threshold = ~np.isin(self.filled, cells)
        upto = counts[0].copy()
        np.add.at(
            upto, cells.searchsorted(self.filled[has_no_threshold]), self.counts[has_no_threshold]
        )
        upto = np.cumsum(upto)[:-1]
        self.by_threshold = np.array([upto - counts[1][:-1], upto])

    def _take(self, values: np.ndarray, weights: np.ndarray) -> None:
        index = self.values.searchsorted(values)
        self.values = np.insert(self.values, index, values)
        self.weights = np.insert(self.weights, index, weights)

    # -- points

    def cells_with_points(self) -> np.ndarray:
        """Return whether each cell has a point, or the score before a point."""
        has_point = np.zeros(len(self.kept_cells), dtype=bool)
        genuine = len(self.genuine) + self.missed
        impostors = self.total + self.missed_impostors
        filled = self.filled
        if self.wanted is None or not len(filled) or not genuine:
            return has_point
        genuine_cells = self.cells.cells_of(self.genuine)
        cells = distinct(np.sort(np.concatenate([genuine_cells, filled]), kind="stable"))
        fa = np.append(0, np.cumsum(self.counts))[filled.searchsorted(cells, side="right")]
        fr = genuine - genuine_cells.searchsorted(cells, side="right")
        crossing = np.count_nonzero(~crossed(fa, fr, genuine, impostors))
        allowed = allowed_errors(np.append(self.wanted.targets, 0.0), impostors)
        for k in (crossing, *fa.searchsorted(allowed, side="right").tolist()):
            cell = int(cells[k]) if k < len(cells) else len(has_point)
            index = int(filled.searchsorted(cell))
            # The cell before, too: its largest score may be the threshold.
            has_point[filled[index - 1 : index]] = True
            if index < len(filled) and filled[index] == cell:
                has_point[cell] = True
        return has_point

    @property
    def total(self) -> int:
        """The number of impostor scores."""
        return int(self.counts.sum())

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
        cells_of_ends = self.cells.cells_of(rounded_down(thresholds_near, self.dtype))
        is_kept = self.kept_cells[self.filled]
        in_other_cells = np.append(0, np.cumsum(np.where(is_kept, 0, self.counts)))
        accepted = in_other_cells[self.filled.searchsorted(cells_of_ends, side="right")]
        in_kept_cells = np.append(0, np.cumsum(self.weights))
        accepted = accepted + in_kept_cells[self.values.searchsorted(thresholds_near, side="right")]
        thresholds_near, first = np.unique(thresholds_near, return_index=True)
        return thresholds_near, accepted[first]

    def attempts(self) -> CountedAttempts:
        """Return the attempts, once no pass is missing."""
        is_kept = self.kept_cells[self.filled]
        if self.weights.sum() != self.counts[is_kept].sum():
            raise DataError("the scores changed while they were read: not as many were found again")
        in_other_cells = np.append(0, np.cumsum(np.where(is_kept, 0, self.counts)))
        below = in_other_cells[self.filled.searchsorted(self.cells.cells_of(self.values))]
        accepted = np.cumsum(self.weights) + below
        assert self.by_threshold is not None
        impostor = CountedScores(
            self.values,
            accepted - self.weights,
            accepted,
            self.total,
            at=self.thresholds,
            counts=self.by_threshold,
            dtype=self.dtype,
            moments=self.moments,
        )
        failed = self.missed, self.missed_impostors
        return CountedAttempts(
            self.genuine, impostor, *failed, count_cells=self.even_counts, near=self.near
        )

    def even_counts(self) -> EvenCounts:
        """Return about how many scores are in cells of one width, without another pass."""
        filled = self.filled
        counts = self.counts.copy()
        scores = self.values
        is_minus_infinity = scores[:1] == -np.inf
        negative = int(self.weights[:1][is_minus_infinity].sum())
        counts[:1] -= negative
        counts[-1:] -= self.infinite
        largest = float(np.finfo(self.dtype).max)
        edges = rounded_down(self.cells.approximate_edges(filled), self.dtype).astype(np.float64)
        largest_scores = np.clip(edges, -largest, largest)
        finite = scores[np.isfinite(scores)]
        if len(filled) and filled[-1] == self.cells.count and len(finite):
            largest_scores[-1] = finite[-1]  # the largest of the scores above all cells
        smallest = scores[int(is_minus_infinity.sum()) :][:1]
        is_filled = counts > 0
        return EvenCounts.from_upper(
            largest_scores[is_filled], counts[is_filled], smallest, negative, self.infinite
        )
