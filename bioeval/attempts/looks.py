"""Attempts that do not fit: counted in tiles, in one look or two.

A look counts the impostor scores of each tile in cells of float bits, while it is in the cache of a
core. The genuine scores are known before where they are at hand: scores in the cells of these are
also counted up to each of them, so that areas, costs and the points at genuine scores are exact. A
few tiles say in which cells the other points will lie, and the scores of these cells are kept.
Where a point lies in another cell, or the genuine scores were not at hand, a second look takes what
is missing. All counts are whole numbers: the same on any number of threads, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bioeval.attempts.cells import rounded_down
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.lists import Attempts, increasing, runs
from bioeval.attempts.points import Moments, allowed_errors, moment_scale
from bioeval.kernels import cells as kernel
from bioeval.kernels.cells import CELLS, NAN

# Standard errors of a sample of tiles within which a point is expected, and the most that is kept
# of the scores, as a proportion, before the points are known.
ERRORS, MOST_KEPT = 4.0, 1 / 8

# Cells of a sample; and groups of it, whose differences say how far to trust it.
SAMPLE_CELLS, GROUPS = 1 << 14, 16

# Kept scores from which on equal ones are joined.
JOIN = 1 << 24

#: Flags of cells: with marks, and whose scores are kept.
MARKED, KEPT = 1, 2


class Marks:
    """Thresholds up to which impostor scores are counted, where they are looked for by loops."""

    def __init__(self, thresholds: np.ndarray, dtype: np.dtype):
        """Take increasing thresholds; scores of the dtype are compared without rounding."""
        self.thresholds = thresholds
        self.scores = rounded_down(thresholds, dtype)
        finite = self.scores[np.isfinite(self.scores)].astype(np.float64)
        self.low, high = (finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
        parts = min(4 * len(thresholds) + 4, 1 << 22)
        with np.errstate(all="ignore"):
            self.scale = parts / (high - self.low) if high > self.low else 1.0
            place = (self.scores.astype(np.float64) - self.low) * self.scale
        if not np.isfinite(self.scale):
            self.scale, place = 0.0, np.zeros(len(thresholds))
        place = np.clip(np.nan_to_num(place), 0, parts - 2).astype(np.int64)
        self.first = np.searchsorted(place, np.arange(parts)).astype(np.int32)

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, float, float]:
        """What the loops take."""
        last = np.append(self.scores, self.scores.dtype.type(np.inf))
        return last, self.first, float(self.low), float(self.scale)


@dataclass(eq=False)
class Found:
    """What one thread has found about the attempts of one kind."""

    table: np.ndarray  # int64 (CELLS,)
    reached: np.ndarray  # int64 (2, marks + 1)
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # scores and numbers
    waiting: int = 0
    moments: dict[int, np.ndarray] = field(default_factory=dict)  # by tile
    room: np.ndarray = field(default_factory=lambda: np.empty(0))

    def keep(self, scores: np.ndarray, weight: int) -> None:
        """Keep scores, each of which stands for `weight` attempts."""
        if len(scores):
            self.kept.append((scores.copy(), np.broadcast_to(weight, len(scores))))
            self.waiting += len(scores)
        if self.waiting > JOIN:
            self.kept = [joined(self.kept)]
            self.waiting = len(self.kept[0][0])


def joined(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct scores of all parts, increasing, and the number of each."""
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64)
    scores = np.concatenate([x for x, _ in parts])
    numbers = [int(x[0]) if len(x) else 1 for _, x in parts]
    plain = all(x.strides == (0,) for _, x in parts) and len(set(numbers)) == 1
    if plain:  # each stands for the same number
        scores.sort()
        values, starts = runs(scores)
        return values, np.diff(starts, append=len(scores)) * numbers[0]
    weights = np.concatenate([x for _, x in parts])
    order = np.argsort(scores, kind="stable")
    values, starts = runs(scores[order])
    return values, np.add.reduceat(weights[order], starts, dtype=np.int64)


class Kind:
    """The attempts of one counter of verification, as they are counted in tiles.

    - `given` (float64): thresholds at which false accepts are wanted
    - `genuine` (float64): the genuine scores in order, if they are at hand; else they are collected
    """

    def __init__(
        self,
        dtype: np.dtype,
        wanted: PointsWanted | None,
        given: np.ndarray,
        genuine: np.ndarray | None = None,
    ):
        self.dtype, self.wanted, self.given = dtype, wanted, given
        self.collected: list[np.ndarray] = []
        self.genuine = genuine
        self.centre = dtype.type(0)
        self.flags = np.zeros(CELLS, dtype=np.uint8)
        self.marks = Marks(given, dtype)
        self.found: list[Found] = []
        self.table: np.ndarray | None = None
        self.values = self.weights = np.empty(0)
        self.reached = np.zeros((2, 0), dtype=np.int64)
        self.held = np.zeros(CELLS, dtype=bool)  # cells whose scores are kept
        self.moments = Moments()
        self.infinite = 0
        self.scale, self.origin = 1.0, 0.0

    # -- before a look

    def place(self, sample: Sequence[np.ndarray]) -> None:
        """Choose the centre of the cells, and which scores are kept, by tiles of a sample."""
        finite = [x[np.isfinite(x)] for x in sample]
        finite = [x for x in finite if len(x)]
        if not finite:
            return
        every = np.concatenate(finite)
        ends = float(every.min()), float(every.max())
        low, high = self.cells_of(np.array(ends, dtype=self.dtype)).tolist()
        if high - low < SAMPLE_CELLS >> 5:  # scores far from 0 that differ little
            self.centre = np.median(every).astype(self.dtype)
        self.origin = float(np.median(every[:: max(1, len(every) >> 12)]))
        self.scale = moment_scale(*ends)
        if self.genuine is not None and self.wanted is not None and len(finite) > 1:
            self._expect(finite)

    def _expect(self, sample: Sequence[np.ndarray]) -> None:
        """Flag the cells in which a sample expects points, within standard errors."""
        assert self.genuine is not None and self.wanted is not None
        groups = [np.concatenate(sample[k::GROUPS]) for k in range(min(GROUPS, len(sample)))]
        cells = [self.cells_of(x) for x in groups]
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
        own = self.cells_of(self.genuine).astype(np.int64)
        within = np.searchsorted((own - low) >> shift, filled, side="right")
        frr = 1 - within / max(len(own), 1)
        flags = np.zeros(CELLS, dtype=bool)
        room = MOST_KEPT
        targets = sorted({0.0, 1e-6, 1e-5, 1e-3, *self.wanted.targets.tolist()})
        for target in (*targets, frr):  # the fewest scores first
            first = int(np.searchsorted(far + off - target, 0))
            last = int(np.searchsorted(far - off - target, 0))
            first, last = max(first - 2, 0), min(last + 2, len(filled) - 1)
            share = float(far[last] - (far[first - 1] if first else 0))
            if share <= room:
                room -= share
                begin = low + (int(filled[first]) << shift) if first else 0
                flags[begin : low + ((int(filled[last]) + 1) << shift)] = True
        flags[NAN:] = False
        self.held = flags

    def prepare(self, genuine: np.ndarray | None) -> None:
        """Flag the cells of a look: those of marks, and those whose scores are kept."""
        self.flags = np.zeros(CELLS, dtype=np.uint8)
        self.flags[self.held] |= KEPT
        thresholds = self.given
        if genuine is not None:
            thresholds = np.union1d(thresholds, genuine)
        self.marks = Marks(thresholds[~np.isnan(thresholds)], self.dtype)
        self.flags[self.cells_of(self.marks.scores)] |= MARKED
        self.found = []

    def cells_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the cell of each score."""
        cell = np.empty(len(scores), dtype=np.uint32)
        kernel.cells_of(np.ascontiguousarray(scores, dtype=self.dtype), self.centre, cell)
        return cell.astype(np.int64)

    # -- a look

    def start(self) -> Found:
        """Return empty tables for a thread."""
        table = np.zeros(CELLS if self.table is None else 1, dtype=np.int64)
        found = Found(table, np.zeros((2, len(self.marks.scores) + 1), dtype=np.int64))
        self.found.append(found)
        return found

    def count(self, found: Found, tile: np.ndarray, number: int, weight: int = 1) -> None:
        """Count a tile: NaN is no attempt; each score stands for `weight` attempts."""
        if len(found.room) < tile.size + 1:
            found.room = np.empty(tile.size + 1, dtype=self.dtype)
        if self.table is None:
            kept = kernel.count_and_keep(
                tile, self.centre, found.table, self.flags, self.marks.arguments, weight,
                found.reached, found.room,
            )  # fmt: skip
            sums = found.moments.setdefault(number, np.zeros(4))
            sums_of_tile = np.zeros(4)
            kernel.add_moments(tile, self.origin, self.scale, sums_of_tile)
            sums += weight * sums_of_tile
        elif (self.flags & MARKED).any():
            table = np.zeros(CELLS, dtype=np.int64) if len(found.table) == 1 else found.table
            found.table = table
            kept = kernel.count_and_keep(
                tile, self.centre, table, self.flags, self.marks.arguments, weight,
                found.reached, found.room,
            )  # fmt: skip
        else:
            kept = kernel.keep(tile, self.centre, self.flags, found.room)
        found.keep(found.room[:kept], weight)

    def finish(self) -> bool:
        """Take in what the threads have found; return whether another look is needed."""
        kept = [part for found in self.found for part in found.kept]
        reached = sum(
            (found.reached for found in self.found),
            start=np.zeros((2, len(self.marks.scores) + 1), dtype=np.int64),
        )
        first = self.table is None
        if first:
            self.table = sum(
                (found.table for found in self.found), start=np.zeros(CELLS, dtype=np.int64)
            )
            self.table[NAN] = 0
            self._sum_moments()
        values, weights = joined(kept)
        self.found = []
        if first and self.genuine is None:  # nothing was known before
            self.genuine = increasing(np.concatenate([np.empty(0), *self.collected]))
            self.collected = []
            self.held = self.with_points()
            self.prepare(self.genuine)
            return True
        self._reach(reached)
        if first:
            missing = self.with_points() & ~self.held
            self._take(values, weights)
            if missing.any():
                before, self.held = self.held, missing
                self.flags = np.where(missing, KEPT, 0).astype(np.uint8)
                self.held = before | missing
                return True
            return False
        self._take(values, weights)
        return False

    def _sum_moments(self) -> None:
        sums: dict[int, np.ndarray] = {}
        for found in self.found:
            sums |= found.moments
        number, total, squares, infinite = np.zeros(4)
        if sums:
            number, total, squares, infinite = np.array([sums[k] for k in sorted(sums)]).sum(axis=0)
        self.infinite = int(infinite)
        if number:
            mean = total / number
            spread = max(squares / number - mean**2, 0.0)
            self.moments = Moments(self.scale, self.origin * self.scale, mean, spread**0.5)

    def _reach(self, reached: np.ndarray) -> None:
        """Find the impostor scores below, and up to, each mark."""
        if self.reached.shape[1] == len(self.marks.scores) and self.reached.size:
            return  # found by the look before
        assert self.table is not None
        flagged = np.zeros(CELLS, dtype=bool)
        own = self.cells_of(self.marks.scores)
        flagged[own] = True
        plain = np.flatnonzero((self.table > 0) & ~flagged)
        # Cells without marks are below the first mark of a later cell.
        upto = reached[0].copy()
        np.add.at(upto, np.searchsorted(own, plain), self.table[plain])
        upto = np.cumsum(upto)[:-1]
        self.reached = np.array([upto - reached[1][:-1], upto])

    def _take(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take in scores that were kept."""
        values = np.concatenate([self.values, values.astype(np.float64)])
        weights = np.concatenate([self.weights, weights]).astype(np.int64)
        order = np.argsort(values, kind="stable")
        self.values, self.weights = values[order], weights[order]

    # -- points

    def with_points(self) -> np.ndarray:
        """Return, as flags, the cells in which points lie, and those of the scores before them."""
        assert self.table is not None and self.genuine is not None
        wanted = np.zeros(CELLS, dtype=bool)
        if self.wanted is None:
            return wanted
        filled = np.flatnonzero(self.table)
        own, genuine, impostors = self.cells_of(self.genuine), len(self.genuine), self.total
        if not len(filled) or not genuine:
            return wanted
        some = np.union1d(own, filled)
        fa = np.cumsum(self.table[some])
        fr = genuine - np.searchsorted(own, some, side="right")
        # In whole numbers, which may be large: objects where they do not fit.
        if genuine * impostors < 1 << 62:
            crossed = fa * genuine >= fr * impostors
        else:
            crossed = fa.astype(object) * genuine >= fr.astype(object) * impostors
        last = [int(np.argmax(crossed))]
        for target in (*self.wanted.targets.tolist(), 0.0):
            allowed = allowed_errors(target, impostors)
            last.append(int(np.searchsorted(fa, allowed, side="right")))
        for k in last:
            cell = int(some[k]) if k < len(some) else CELLS
            before = int(np.searchsorted(filled, cell)) - 1
            if before >= 0:
                wanted[filled[before]] = True
            if cell < CELLS and self.table[cell]:
                wanted[cell] = True
        return wanted

    @property
    def total(self) -> int:
        """Number of impostor scores."""
        assert self.table is not None
        return int(self.table.sum())

    def attempts(self) -> Attempts:
        """Return the attempts, once no look is missing."""
        assert self.table is not None and self.genuine is not None
        held = self.table[self.held].sum()
        if self.weights.sum() != held:
            raise AssertionError("scores that were kept are not those that were counted")
        missing = np.cumsum(np.where(self.held, 0, self.table))
        cells = self.cells_of(self.values)
        accepted = np.cumsum(self.weights) + missing[cells]
        attempts = Attempts(
            self.genuine, self.values, accepted - self.weights, accepted, self.total
        )
        attempts.marks, attempts.at_marks = self.marks.thresholds, self.reached
        attempts.counted_moments = self.moments
        return attempts

    def edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the largest score, in float64, of each cell: the threshold that accepts it whole.

        Cells are found by rounding, which is monotone, so that bisection finds their ends.
        """
        largest = np.array([-np.inf, np.inf]).view(np.int64)
        low = np.full(len(cells), _ordered(largest[:1])[0])
        high = np.full(len(cells), _ordered(largest[1:])[0])
        while (low < high).any():
            middle = (low >> 1) + (high >> 1) + ((low | high) & 1)
            inside = self.cells_of(rounded_down(_float_of(middle), self.dtype)) <= cells
            low, high = np.where(inside, middle, low), np.where(inside, high, middle - 1)
        return _float_of(low)


def _ordered(bits: np.ndarray) -> np.ndarray:
    """Return the bits of float64 in the order of the floats, or the bits of such numbers."""
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def _float_of(ordered: np.ndarray) -> np.ndarray:
    return _ordered(ordered).view(np.float64)
