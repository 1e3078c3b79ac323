"""Attempts that are counted in tiles, since they are too many to be kept: in one look or two.

A look counts the impostor scores of each tile in cells of float bits, while it is in the cache of a
core. The genuine scores are known before where they are at hand: scores in the cells of these are
also counted up to each of them, so that areas, costs and the points at genuine scores are exact. A
few tiles say in which cells the other points will lie, and the scores of these cells are kept.
Where a point lies in another cell, or the genuine scores were not at hand, a second look takes what
is missing. The sample decides how many looks are needed, never a result. All counts are whole
numbers: the same on any number of threads, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import at_most
from bioeval.counting.points import Moments, allowed_errors, crossed, moment_scale
from bioeval.counting.sorted_attempts import (
    CountedAttempts,
    CountedScores,
    PointsWanted,
    distinct,
    runs,
)
from bioeval.counting.thresholds import CellCounts, rounded_down
from bioeval.kernels import verification as kernel
from bioeval.kernels.cells import LEAST, SPAN
from bioeval.kernels.verification import TOO_LARGE

# Standard errors of a sample of tiles within which a point is expected, and the most that is kept
# of the scores, as a proportion, before the points are known.
ERRORS, MOST_KEPT = 4.0, 1 / 8

# Scores that are kept before the points are known, at most.
MOST_SCORES = 1 << 25

# Cells for each genuine score, about, and at least and at most: so many of them have no threshold
# that the others cost little, and they fit into the cache.
CELLS_A_SCORE, LEAST_CELLS, MOST_CELLS = 4, 1 << 16, 1 << 20

# Cells of all keys: their ends are those of the curve, whatever the cells of the scores are.
EVERY_KEY = 1 << 21

# The proportion of scores that may lie below all cells, and above.
TAIL = 2.0**-10

# Cells of a sample; and groups of it, whose differences say how far to trust it.
SAMPLE_CELLS, GROUPS = 1 << 14, 16

# The variance, of the square of the mean, below which too many digits are lost by a difference.
LOST = 2.0**-12

# Kept scores from which on equal ones are joined.
JOIN = 1 << 24

# What a cell of int32 counts to, before its number is added to one of 64 bits.
MOST_IN_CELL = (1 << 31) - 1

#: Flags of cells: with thresholds, and whose scores are kept.
COUNTED, KEPT = 1, 2


@dataclass(eq=False)
class ThreadCounts:
    """What one thread has counted of the attempts of one kind."""

    upto: np.ndarray  # int64 (2, thresholds + 1)
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # scores and numbers
    waiting: int = 0
    most: int = JOIN  # of them, before equal ones are joined
    moments: dict[int, np.ndarray] = field(default_factory=dict)  # by tile
    left_out: float = 0.0  # half the largest difference from the origin that they leave out
    room: np.ndarray = field(default_factory=lambda: np.empty(0))
    cells: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    more: np.ndarray | int = 0  # what was in the cells before they were emptied
    added: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "room": np.empty(0)}  # which is needed only while counting

    def table(self, size: int) -> np.ndarray:
        """Return the counts of cells, with room for so many scores more."""
        self.added += size
        if self.added > MOST_IN_CELL:
            self.more, self.added = self.counts(), size
            self.cells[:] = 0
        return self.cells

    def counts(self) -> np.ndarray:
        """Return the number of scores in each cell, in 64 bits."""
        return self.cells.astype(np.int64) + self.more

    def add(self, other: ThreadCounts) -> None:
        """Add what was counted in other tiles."""
        self.upto += other.upto
        self.more = self.counts() + other.counts()
        self.cells, self.added = np.zeros_like(self.cells), 0
        self.moments |= other.moments
        self.kept += other.kept
        self.waiting += other.waiting
        self._join()

    def keep(self, scores: np.ndarray, weight: int) -> None:
        """Keep scores, each of which stands for `weight` attempts."""
        if len(scores):
            self.kept.append((scores.copy(), np.broadcast_to(weight, len(scores))))
            self.waiting += len(scores)
        self._join()

    def _join(self) -> None:
        """Join equal scores where many are kept: as many again as there were distinct ones."""
        if self.waiting > self.most:
            self.kept = [distinct_scores(self.kept)]
            self.waiting = len(self.kept[0][0])
            self.most = max(JOIN, 2 * self.waiting)


def distinct_scores(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct scores of all parts, increasing, and the number of each."""
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64)
    scores = np.concatenate([x for x, _ in parts])
    numbers = [int(x[0]) if len(x) else 1 for _, x in parts]
    plain = all(x.strides == (0,) for _, x in parts) and len(set(numbers)) == 1
    if plain:  # each stands for the same number
        scores.sort()
        values, bounds = runs(scores)
        return values, np.diff(bounds) * numbers[0]
    weights = np.concatenate([x for _, x in parts])
    order = np.argsort(scores, kind="stable")
    values, bounds = runs(scores[order])
    return values, np.add.reduceat(weights[order], bounds[:-1], dtype=np.int64)


#: The key from which cells begin, the bits of keys that they leave out, and their number.
Window = tuple[np.int32, np.uint32, np.uint32]


def window_over(low: int, span: int, number: int) -> Window:
    """Return about so many cells over a span of keys."""
    shift = max(0, (span // number).bit_length())
    span += low - (low >> shift << shift)
    low = low >> shift << shift  # so that the ends of cells are short numbers
    return np.int32(low), np.uint32(shift), np.uint32((span >> shift) + 1)


class AttemptCounter:
    """Attempts that do not fit, as they are counted block by block.

    - `given` (float64): thresholds at which false accepts are wanted
    - `genuine` (float64): the genuine scores in order; `missed` more of them failed
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
        self.genuine, self.missed, self.missed_impostors = genuine, missed, 0
        #: What cells are taken from, and moments: near the middle of the scores.
        self.centre, self.origin, self.scale = dtype.type(0), 0.0, 1.0
        #: Thresholds up to which scores are counted; increasing, and in the dtype of the scores.
        self.thresholds, self.scores = np.empty(0), np.empty(0, dtype=dtype)
        self.upto: np.ndarray | None = None  # int64 (2, thresholds): scores below, and up to each
        self.place_cells(LEAST, SPAN, EVERY_KEY)
        #: int64: the cells with scores, increasing, and the number in each, once they are counted.
        self.filled = self.counts = np.empty(0, dtype=np.int64)
        self.counted = False
        self.values, self.weights = np.empty(0), np.empty(0, dtype=np.int64)
        self.moments: Moments | None = None
        self.infinite = 0
        self.tries = 0  # looks that the moments took

    # -- before a look

    def place_cells(self, low: int, span: int, number: int) -> None:
        """Place so many cells over a span of keys."""
        self.window = window_over(low, span, number)
        width = int(self.window[2])
        #: Cells whose scores are kept; the last two are those above all cells, and of NaN.
        self.kept_cells = np.zeros(width + 2, dtype=bool)

    def place(self, sample: Sequence[np.ndarray], scores: int, number: int | None = None) -> None:
        """Choose the cells, and which are kept of so many scores, by tiles of a sample."""
        finite = [x if np.isfinite(x).all() else x[np.isfinite(x)] for x in sample]
        finite = [x for x in finite if len(x)]
        if not finite:
            return
        ends = min(float(x.min()) for x in finite), max(float(x.max()) for x in finite)
        some = np.concatenate([x[:: max(1, len(x) >> 12)] for x in finite])
        low, middle, high = np.quantile(some, [TAIL, 0.5, 1 - TAIL], method="lower").tolist()
        if ends[1] - ends[0] < abs(middle) / 64:  # far from 0, they differ in few bits
            self.centre = self.dtype.type(middle)
        self.origin, self.scale = middle, moment_scale(*ends)
        if number is None:
            number = 1 << (CELLS_A_SCORE * len(self.genuine)).bit_length()
            number = min(max(number, LEAST_CELLS), MOST_CELLS)
        self.window = np.int32(LEAST), np.uint32(1), np.uint32(SPAN >> 1)
        # Few scores are beyond them, and are kept: near 0 there would be cells for all the bits.
        low, high = self.cells_of(np.array([low, high])).tolist()  # keys, but for the last bits
        bits, margin = int(self.window[1]), (high - low) // 8 + 64
        low, high = max(low - margin, 0), min(high + margin, SPAN >> bits)
        self.place_cells(LEAST + (low << bits), (high - low) << bits, number)
        self.kept_cells[[0, -2]] = True
        if self.wanted is not None and len(finite) > 1:
            self._expect(finite, scores)

    def _expect(self, sample: Sequence[np.ndarray], scores: int) -> None:
        """Flag the cells in which a sample expects points, within standard errors."""
        assert self.wanted is not None
        cells = []
        for k in range(min(GROUPS, len(sample))):  # one by one: a sample has millions of scores
            cells.append(self.cells_of(np.concatenate(sample[k::GROUPS])).astype(np.uint32))
        low, high = min(int(x.min()) for x in cells), max(int(x.max()) for x in cells)
        shift = max(0, int(high - low + 1).bit_length() - SAMPLE_CELLS.bit_length() + 1)
        wide = ((high - low) >> shift) + 1
        tables = np.array([np.bincount((x - low) >> shift, minlength=wide) for x in cells])
        filled = np.flatnonzero(tables.any(axis=0))
        counts = np.cumsum(tables[:, filled], axis=1)
        sizes = counts[:, -1:]
        total = int(sizes.sum())
        far = counts.sum(axis=0) / total
        off = ERRORS * np.sqrt(
            (counts / sizes).var(axis=0) / (len(tables) - 1) + (far + 1 / total) / total
        )
        genuine = (self.cells_of(self.genuine) - low) >> shift
        frr = 1 - genuine.searchsorted(filled, side="right") / max(len(genuine) + self.missed, 1)
        room = min(MOST_KEPT, at_most(MOST_SCORES, 16) / max(scores, 1))
        # Rare targets cost little, and are often asked for later; where FAR is FRR is the EER.
        targets = sorted({0.0, 1e-6, 1e-5, 1e-3, *self.wanted.targets.tolist()})
        for target in (*targets, frr):  # the fewest scores first
            first = int(np.searchsorted(far + off - target, 0))
            last = int(np.searchsorted(far - off - target, 0))
            first, last = max(first - 2, 0), min(last + 2, len(filled) - 1)
            share = float(far[last] - (far[first - 1] if first else 0))
            if share <= room:
                room -= share
                begin = low + (int(filled[first]) << shift) if first else 0
                self.kept_cells[begin : low + ((int(filled[last]) + 1) << shift)] = True
        self.kept_cells[-1] = False

    def prepare(self) -> None:
        """Flag the cells of a look: those of thresholds, and those whose scores are kept."""
        thresholds = distinct(np.sort(np.concatenate([self.given, distinct(self.genuine)])))
        self.thresholds, self.scores = thresholds, rounded_down(thresholds, self.dtype)
        self.stops = np.append(self.scores, self.scores.dtype.type(np.inf))
        cells = self.cells_of(self.scores)
        self.flags = np.zeros(len(self.kept_cells), dtype=np.uint8)
        self.flags[cells] = COUNTED
        self.flags[self.kept_cells] |= KEPT
        #: How many thresholds are in the cells before each, and in all.
        self.first = np.zeros(len(self.kept_cells) + 1, dtype=np.int32)
        np.cumsum(np.bincount(cells, minlength=len(self.kept_cells)), out=self.first[1:])

    def cells_of(self, scores: np.ndarray, window: Window | None = None) -> np.ndarray:
        """Return the cell of each score, or that of another window."""
        cell = np.empty(len(scores), dtype=np.uint32)
        every = np.ascontiguousarray(scores, dtype=self.dtype)
        kernel.cells_of(every, self.centre, self.window if window is None else window, cell)
        return cell.astype(np.int64)

    # -- a look

    def start(self) -> ThreadCounts:
        """Return empty tables for a thread."""
        counts = ThreadCounts(np.zeros((2, len(self.thresholds) + 1), dtype=np.int64))
        counts.cells = np.zeros(len(self.flags), dtype=np.int32)
        return counts

    def count(self, counts: ThreadCounts, tile: np.ndarray, number: int, weight: int = 1) -> None:
        """Count scores (h, w), NaN where there is none; each stands for `weight` attempts."""
        tile = np.ascontiguousarray(tile, self.dtype)
        if len(counts.room) <= tile.size:
            counts.room = np.empty(tile.size + 1, dtype=self.dtype)
        if self.upto is None:
            kept = kernel.count_and_keep(
                tile, self.centre, self.window, counts.table(weight * tile.size), self.flags,
                self.stops, self.first, np.int32(weight), counts.upto, counts.room,
            )  # fmt: skip
        else:
            kept = kernel.keep(tile, self.centre, self.window, self.flags, counts.room)
        if self.moments is None:
            sums = np.zeros(4)
            far = kernel.add_moments(tile, self.origin, self.scale, sums)
            counts.left_out = max(counts.left_out, far)
            counts.moments[number] = counts.moments.get(number, 0.0) + weight * sums
        counts.keep(counts.room[:kept], weight)

    def finish(self, threads: Sequence[ThreadCounts], failed: int) -> bool:
        """Take in what all threads have counted; return whether another pass is needed.

        `failed` impostor attempts have no score.
        """
        if self.moments is None:
            self._sum_moments(threads)
        if not self.counted:
            table = np.zeros(len(self.flags), dtype=np.int64)
            for one in threads:
                table += one.counts()
            table[-1] = 0
            self.filled = np.flatnonzero(table)
            self.counts = table[self.filled]
            self.missed_impostors = failed
        first, self.counted = not self.counted, True
        if self.upto is None:
            self._sum_upto(np.sum([one.upto for one in threads], axis=0))
        kept = [part for one in threads for part in one.kept]
        if first:  # of what was kept, few scores are needed
            wanted = self.cells_with_points()
            missing = wanted & ~self.kept_cells
            wanted[[0, -2]] = True  # beyond the cells anything may lie
            self.kept_cells &= wanted
            kept = [
                (scores[there], weight[there])
                for scores, weight in kept
                if (there := self.kept_cells[self.cells_of(scores)]).any()
            ]
            self._take(*distinct_scores(kept))
            self.flags[:] = np.where(missing, KEPT, 0)
            self.kept_cells |= missing
            return bool(missing.any()) or self.moments is None
        self._take(*distinct_scores(kept))
        self.flags[:] = 0
        return self.moments is None

    def _sum_moments(self, threads: Sequence[ThreadCounts]) -> None:
        """Find the moments, or the origin or the scale with which another look finds them."""
        sums: dict[int, np.ndarray] = {}
        for one in threads:
            sums |= one.moments
        number, total, squares, infinite = sum((sums[k] for k in sorted(sums)), start=np.zeros(4))
        self.infinite = int(infinite)
        self.tries += 1
        far = max((x.left_out for x in threads), default=0.0)
        if far:
            self.scale = 2.0 ** -(math.frexp(far)[1] + 1)
        elif squares < number / TOO_LARGE**2 and self.tries == 1:
            self.scale *= TOO_LARGE**2
        elif number:
            mean = total / number
            spread = max(squares / number - mean**2, 0.0)
            if spread < LOST * mean**2 and self.tries < 3:
                self.origin += mean / self.scale
            else:
                self.moments = Moments(self.scale, self.origin * self.scale, mean, spread**0.5)
        else:
            self.moments = Moments()

    def _sum_upto(self, at: np.ndarray) -> None:
        """Find the impostor scores below, and up to, each threshold."""
        cells = self.cells_of(self.scores)
        plain = ~np.isin(self.filled, cells)
        # Cells without thresholds are below the first threshold of a later cell.
        upto = at[0].copy()
        np.add.at(upto, cells.searchsorted(self.filled[plain]), self.counts[plain])
        upto = np.cumsum(upto)[:-1]
        self.upto = np.array([upto - at[1][:-1], upto])

    def _take(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take in scores that were kept, in cells that none was from before."""
        at = self.values.searchsorted(values)
        self.values = np.insert(self.values, at, values)
        self.weights = np.insert(self.weights, at, weights)

    # -- points

    def cells_with_points(self) -> np.ndarray:
        """Return, as flags, the cells in which points lie, and those of the scores before them."""
        wanted = np.zeros(len(self.kept_cells), dtype=bool)
        genuine = len(self.genuine) + self.missed
        impostors = self.total + self.missed_impostors
        filled = self.filled
        if self.wanted is None or not len(filled) or not genuine:
            return wanted
        genuine_cells = self.cells_of(self.genuine)
        some = distinct(np.sort(np.concatenate([genuine_cells, filled]), kind="stable"))
        fa = np.append(0, np.cumsum(self.counts))[filled.searchsorted(some, side="right")]
        fr = genuine - genuine_cells.searchsorted(some, side="right")
        crossing = np.count_nonzero(~crossed(fa, fr, genuine, impostors))
        allowed = allowed_errors(np.append(self.wanted.targets, 0.0), impostors)
        for k in (crossing, *fa.searchsorted(allowed, side="right").tolist()):
            cell = int(some[k]) if k < len(some) else len(wanted)
            at = int(filled.searchsorted(cell))
            # The cell before, too: its largest score may be the threshold.
            wanted[filled[at - 1 : at]] = True
            if at < len(filled) and filled[at] == cell:
                wanted[cell] = True
        return wanted

    @property
    def total(self) -> int:
        """Number of impostor scores."""
        return int(self.counts.sum())

    def near(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return thresholds next to given ones, finite, and the exact false accepts there.

        They are the ends of cells of all keys: of scores far from 0, or that are very far apart, of
        the cells that were counted.
        """
        window = window_over(LEAST, SPAN, EVERY_KEY)
        if self.centre != 0 or self.window[1] > window[1]:
            window = self.window
        ends = self.edges(self.cells_of(rounded_down(thresholds, self.dtype), window), window)
        ends = rounded_down(ends, self.dtype).astype(np.float64)
        at = np.where(np.isfinite(ends), ends, thresholds)
        cells = self.cells_of(rounded_down(at, self.dtype))
        known = self.kept_cells[self.filled]
        missing = np.append(0, np.cumsum(np.where(known, 0, self.counts)))
        some = missing[self.filled.searchsorted(cells, side="right")]
        more = np.append(0, np.cumsum(self.weights))[self.values.searchsorted(at, side="right")]
        at, first = np.unique(at, return_index=True)
        return at, (some + more)[first]

    def attempts(self) -> CountedAttempts:
        """Return the attempts, once no look is missing."""
        held = self.kept_cells[self.filled]
        if self.weights.sum() != self.counts[held].sum():
            raise DataError("the scores changed while they were read: not as many were found again")
        missing = np.append(0, np.cumsum(np.where(held, 0, self.counts)))
        below = missing[self.filled.searchsorted(self.cells_of(self.values))]
        accepted = np.cumsum(self.weights) + below
        assert self.upto is not None
        impostor = CountedScores(
            self.values,
            accepted - self.weights,
            accepted,
            self.total,
            at=self.thresholds,
            counts=self.upto,
            dtype=self.dtype,
            moments=self.moments,
        )
        failed = self.missed, self.missed_impostors
        return CountedAttempts(
            self.genuine, impostor, *failed, count_cells=self.in_cells, near=self.near
        )

    def in_cells(self) -> CellCounts:
        """Return about how many scores are in cells of one width, which need no second look."""
        filled, counts, known = self.filled, self.counts.copy(), self.values
        lowest = known[:1] == -np.inf
        negative = int(self.weights[:1][lowest].sum())
        counts[:1] -= negative
        counts[-1:] -= self.infinite
        largest = float(np.finfo(self.dtype).max)
        about = rounded_down(self.about(filled), self.dtype).astype(np.float64)
        upper = np.clip(about, -largest, largest)
        finite = known[np.isfinite(known)]
        if len(filled) and self.beyond(filled[-1]) and len(finite):
            upper[-1] = finite[-1]
        least = known[int(lowest.sum()) :][:1]
        return CellCounts.of(upper[counts > 0], counts[counts > 0], least, negative, self.infinite)

    def beyond(self, cell: int) -> bool:
        """Whether a cell is the one of all that is above the others."""
        return cell == int(self.window[2])

    def about(self, cells: np.ndarray, window: Window | None = None) -> np.ndarray:
        """Return about the largest score of each cell, but for rounding."""
        low, shift, _ = map(int, self.window if window is None else window)
        key = np.minimum(low + ((cells + 1) << shift), 0x7F7FFFFF)
        bits = np.where(key >= 0, key, -key | (1 << 31)).astype(np.uint32)
        return bits.view(np.float32).astype(np.float64) + float(self.centre)

    def edges(self, cells: np.ndarray, window: Window) -> np.ndarray:
        """Return the largest score, in float64, of each cell: the threshold that accepts it whole.

        Cells are found by rounding, which is monotone, so that bisection finds their ends.
        """
        about = _ordered(self.about(cells, window).view(np.int64))
        ends = _ordered(np.array([-np.inf, np.inf]).view(np.int64))
        low, high = np.clip(about - (1 << 32), *ends), np.clip(about + (1 << 32), *ends)
        while (low < high).any():
            middle = (low >> 1) + (high >> 1) + ((low | high) & 1)
            middles = rounded_down(_float_of(middle), self.dtype)
            inside = self.cells_of(middles, window) <= cells
            low, high = np.where(inside, middle, low), np.where(inside, high, middle - 1)
        return _float_of(low)


def _ordered(bits: np.ndarray) -> np.ndarray:
    """Return the bits of float64 in the order of the floats, or the bits of such numbers."""
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def _float_of(ordered: np.ndarray) -> np.ndarray:
    return _ordered(ordered).view(np.float64)
