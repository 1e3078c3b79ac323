"""What refinement looks for in a sweep: scores in windows, moments, distinct scores."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bioeval.kernels import count as kernel_count
from bioeval.kernels import refine as kernel_refine
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.second_pass.between_genuine import GapCounter
from bioeval.tallies.thresholds import cell_of, edge_of, exact_window, rounded_down, window_scalars

# Scores looked at together for windows, and scores of a row that are expected in windows.
PIECE = 64
ROOM = 64

# Sums of a row that are added to side by side.
LANES = 128


def collect(
    values: np.ndarray, start: np.ndarray, stop: np.ndarray, windows: list[tuple[float, float]]
) -> np.ndarray:
    """Return the impostor scores of a block that lie in any of the windows."""
    return Collector(windows)(values, start, stop)


class Collector:
    """Collects the impostor scores of blocks that lie in any of some windows.

    Where the windows are cells of a count, the cell of each score says whether it is wanted;
    otherwise each score is compared with the windows.

    Parameters
    ----------
    windows : list of (float, float)
        Each without its lower end and with its upper one.
    cells : CellCounts, optional
        That the windows may be cells of.
    gaps : GapCounter, optional
        Counts the scores on the way.
    """

    def __init__(
        self,
        windows: list[tuple[float, float]],
        cells: CellCounts | None = None,
        gaps: GapCounter | None = None,
    ):
        self.windows, self.gaps, self.cells = windows, gaps, cells
        self.room = ROOM
        wanted = np.empty(0, dtype=np.int64)
        self.by_cell = False
        if cells is not None and len(cells.counts):
            numbers = [cell_of(high, cells.exponent) for _, high in windows]
            edges = [(edge_of(k - 1, cells.exponent), edge_of(k, cells.exponent)) for k in numbers]
            if edges == windows:
                self.by_cell = True
                wanted = np.array(numbers, dtype=np.int64) - cells.first
            self.flags = _flags(cells, wanted)
        if gaps is not None:
            gaps.prepare(wanted)

    def __call__(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the scores of a block."""
        gaps = self.gaps
        if gaps is not None and not gaps.by_cell:
            gaps.add(values, start, stop)
            gaps = None
        elif gaps is not None and not (self._exact(values.dtype) and gaps.fits(values.dtype)):
            values = values.astype(np.float64)
        found = np.zeros(len(values), dtype=np.int64)
        by_cell = self.by_cell and self._exact(values.dtype)
        while True:
            room = min(values.shape[1], self.room)
            out = np.empty((len(values), room), dtype=values.dtype)
            if by_cell or gaps is not None:
                self._look(values, start, stop, found, out, gaps)
                gaps = None  # these are counted now, though there be too little room for the rest
            if self.windows and not by_cell:
                ends = zip(*self.windows, strict=True)
                lows, highs = (rounded_down(np.array(x), values.dtype) for x in ends)
                kernel_refine.collect_windows(values, start, stop, lows, highs, PIECE, found, out)
            most = int(found.max(initial=0))
            if most <= room:
                return out[np.arange(room) < found[:, None]]
            self.room = most + most // 4  # other blocks are likely to need as much

    def _exact(self, dtype: np.dtype) -> bool:
        cells = self.cells
        if cells is None or not len(cells.counts):
            return False
        return exact_window(cells.exponent, cells.first - 1, len(self.flags), dtype)

    def _look(
        self,
        values: np.ndarray,
        start: np.ndarray,
        stop: np.ndarray,
        found: np.ndarray,
        out: np.ndarray,
        gaps: GapCounter | None,
    ) -> None:
        cells, dtype = self.cells, values.dtype
        assert cells is not None
        flags = self.flags if gaps is None else _flags(cells, np.nonzero(gaps.looked_at)[0])
        scalars = window_scalars(cells.exponent, cells.first - 1, len(flags), dtype)
        room = np.empty((numba.get_num_threads(), values.shape[1]), dtype=np.uint16)
        if gaps is None:
            places, none = np.empty(0, dtype=np.uint32), np.empty(0, dtype=dtype)
            given: tuple[Any, ...] = (
                scalars, places, flags[:0], none, none[None], places[None],
                np.empty((1, 0), dtype=np.int32),
            )  # fmt: skip
        else:
            given = gaps.arguments(values)
        kernel_refine.look_rows(values, start, stop, scalars, flags, room, found, out, *given)


def _flags(cells: CellCounts, chosen: np.ndarray) -> np.ndarray:
    """Return a flag for each cell, for the one before them and for two behind them."""
    flags = np.zeros(len(cells.counts) + 3, dtype=np.uint8)
    flags[chosen + 1] = 1
    return flags


class MomentCounter:
    """Mean and variance of the finite scores, row by row, so that threads change nothing."""

    def __init__(self) -> None:
        self.rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Take in the impostor scores of a block."""
        count = np.empty(len(values), dtype=np.int64)
        mean, squares = np.empty(len(values)), np.empty(len(values))
        kernel_count.row_moments(values, start, stop, LANES, count, mean, squares)
        self.rows.append((count, mean, squares))

    def result(self) -> tuple[float, float]:
        """Return mean and variance; NaN of nothing."""
        count, mean, squares = (np.concatenate(x) for x in zip(*self.rows, strict=True))
        total = int(count.sum())
        if not total:
            return np.nan, np.nan
        with np.errstate(over="ignore", invalid="ignore"):
            # From the mean of one row, so that equal scores have no variance at all.
            base = mean[np.argmax(count > 0)]
            middle = float(base + np.dot(count, np.where(count > 0, mean - base, 0.0)) / total)
            spread = float((squares + count * (mean - middle) ** 2).sum())
        return middle, spread / total


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
