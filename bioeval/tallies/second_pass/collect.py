"""Collectors for the second pass: scores in windows, moments, distinct scores."""

from __future__ import annotations

import numba
import numpy as np

from bioeval.kernels import count as kernel_count
from bioeval.kernels import refine as kernel
from bioeval.tallies.cells import CellGrid, cell_of, edge_of, rounded_down
from bioeval.tallies.counters import ImpostorBlock
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.points import Moments, moment_scale
from bioeval.tallies.second_pass.between_genuine import GenuineRankCounter

# Scores looked at together for windows, and scores of a row that are expected in windows.
PIECE = 64
ROOM = 64

# Sums of a row that are added to side by side.
LANES = 128


class WindowCollector:
    """Collects the impostor scores of blocks in windows, which are open below and closed above.

    Where the windows are cells of a count, the cell of each score says whether it is wanted;
    otherwise each score is compared with the windows. `ranks` counts the scores on the way.
    """

    def __init__(
        self,
        windows: list[tuple[float, float]],
        cells: CellCounts | None = None,
        ranks: GenuineRankCounter | None = None,
    ):
        self.windows, self.ranks = windows, ranks
        self.room = ROOM
        wanted = np.empty(0, dtype=np.int64)
        self.by_cell = False
        self.grid: CellGrid | None = None
        if cells is not None and len(cells.counts):
            self.grid = cells.grid.with_margin()
            numbers = [cell_of(high, cells.exponent) for _, high in windows]
            edges = [(edge_of(k - 1, cells.exponent), edge_of(k, cells.exponent)) for k in numbers]
            if edges == windows:
                self.by_cell = True
                wanted = np.array(numbers, dtype=np.int64) - cells.first
            self.flags = self._flags(wanted)
        if ranks is not None:
            ranks.prepare(wanted)

    def __call__(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the scores of a block."""
        ranks = self.ranks
        if ranks is not None and not ranks.by_cell:
            ranks.add(values, start, stop)
            ranks = None
        elif ranks is not None and not (self._exact(values.dtype) and ranks.fits(values.dtype)):
            values = values.astype(np.float64)
        found = np.zeros(len(values), dtype=np.int64)
        by_cell = self.by_cell and self._exact(values.dtype)
        while True:
            room = min(values.shape[1], self.room)
            out = np.empty((len(values), room), dtype=values.dtype)
            if by_cell or ranks is not None:
                self._look_into_cells((values, start, stop), ranks, found, out)
                ranks = None  # complete after the first pass; only `out` may need more room
            if self.windows and not by_cell:
                ends = zip(*self.windows, strict=True)
                lows, highs = (rounded_down(np.array(x), values.dtype) for x in ends)
                kernel.collect_windows(values, start, stop, lows, highs, PIECE, found, out)
            most = int(found.max(initial=0))
            if most <= room:
                return out[np.arange(room) < found[:, None]]
            self.room = most + most // 4  # other blocks are likely to need as much

    def _exact(self, dtype: np.dtype) -> bool:
        return self.grid is not None and self.grid.exact_in(dtype)

    def _flags(self, places: np.ndarray) -> np.ndarray:
        """Return a flag for each cell of the grid, set at places among the counted cells."""
        assert self.grid is not None
        flags = np.zeros(self.grid.count, dtype=np.uint8)
        flags[places + 1] = 1
        return flags

    def _look_into_cells(
        self,
        block: ImpostorBlock,
        ranks: GenuineRankCounter | None,
        found: np.ndarray,
        out: np.ndarray,
    ) -> None:
        assert self.grid is not None
        values = block[0]
        dtype, chunks, n = values.dtype, numba.get_num_threads(), values.shape[1]
        window = self.grid.window(dtype)
        if ranks is None:
            flags, n_kept = self.flags, 0
            none, nowhere = np.empty(0, dtype=dtype), np.empty(0, dtype=np.uint32)
            genuine = kernel.GenuineCells(
                *window, nowhere, flags[:0], none, np.empty((1, 0), dtype=np.int32)
            )
        else:
            flags, n_kept = self._flags(np.flatnonzero(ranks.looked_at)), n + 1
            genuine = ranks.tables(values)
        scratch = kernel.Scratch(
            cells=np.empty((chunks, n), dtype=np.uint16),
            kept=np.empty((chunks, n_kept), dtype=dtype),
            narrow=np.empty((chunks, n_kept), dtype=np.uint32),
        )
        kernel.look_rows(*block, kernel.FlaggedCells(*window, flags), genuine, scratch, found, out)


class MomentCounter:
    """Moments of the finite scores, row by row, so that threads change nothing.

    Parameters
    ----------
    low, high : float
        Ends of the finite scores, roughly, by which they are scaled.
    """

    def __init__(self, low: float, high: float) -> None:
        self.scale = moment_scale(low, high)
        self.rows: list[tuple[np.ndarray, ...]] = []

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Take in the impostor scores of a block."""
        count = np.empty(len(values), dtype=np.int64)
        origin, mean, squares = (np.empty(len(values)) for _ in range(3))
        kernel_count.row_moments(
            values, start, stop, self.scale, LANES, count, origin, mean, squares
        )
        self.rows.append((count, origin, mean, squares))

    def result(self) -> Moments:
        """Return the moments; NaN of nothing."""
        count, origin, mean, squares = (np.concatenate(x) for x in zip(*self.rows, strict=True))
        there = count > 0
        count, origin, mean, squares = (x[there] for x in (count, origin, mean, squares))
        if not len(count):
            return Moments()
        total = int(count.sum())
        mean = (origin - origin[0]) + mean  # from the origin of one row
        middle = float((count * mean).sum() / total)
        spread = float((squares + count * (mean - middle) ** 2).sum()) / total
        return Moments(self.scale, float(origin[0]), middle, spread**0.5)


class DistinctCounter:
    """Counts the distinct scores, as long as they are few."""

    MOST = 1 << 12

    def __init__(self) -> None:
        self.values: np.ndarray | None = np.empty(0)
        self.counts = np.empty(0, dtype=np.int64)
        self.low, self.high = np.inf, -np.inf

    def add(self, scores: np.ndarray) -> None:
        """Count some more scores; forget them all where they are too many."""
        self.low = min(self.low, float(scores.min()))
        self.high = max(self.high, float(scores.max()))
        if self.values is None:
            return
        values, counts = np.unique(scores, return_counts=True)
        both, place = np.unique(np.concatenate([self.values, values]), return_inverse=True)
        if len(both) > self.MOST:
            self.values = None
            return
        weights = np.concatenate([self.counts, counts])
        self.values = both
        self.counts = np.zeros(len(both), dtype=np.int64)
        np.add.at(self.counts, place.reshape(-1), weights)
