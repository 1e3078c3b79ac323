"""What refinement looks for in a sweep: scores in windows, gaps between genuine scores, moments."""

from __future__ import annotations

import numba
import numpy as np

from bioeval.counting import guide_to
from bioeval.errors import MergeError
from bioeval.kernels import count as kernel_count
from bioeval.kernels import refine as kernel_refine
from bioeval.points import Gaps
from bioeval.tallies import CellCounts
from bioeval.thresholds import cell_of, edge_of, exact_window, rounded_down, window_scalars

# Scores looked at together for windows, and scores of a row that are expected in windows.
PIECE = 64
ROOM = 64


def collect(
    values: np.ndarray, start: np.ndarray, stop: np.ndarray, windows: list[tuple[float, float]]
) -> np.ndarray:
    """Return the impostor scores of a block that lie in any of the windows, in float64."""
    return Collector(windows)(values, start, stop)


class Collector:
    """Collects the impostor scores of blocks that lie in any of some windows, in float64.

    Where the windows are cells of a count, the cell of each score says whether it is wanted;
    otherwise each score is compared with the windows.
    """

    def __init__(self, windows: list[tuple[float, float]], cells: CellCounts | None = None):
        self.windows = windows
        self.exponent = self.first = 0
        self.wanted = np.empty(0, dtype=np.uint8)
        if windows and cells is not None and len(cells.counts):
            numbers = [cell_of(high, cells.exponent) for _, high in windows]
            edges = [(edge_of(k - 1, cells.exponent), edge_of(k, cells.exponent)) for k in numbers]
            if edges == windows:
                self.exponent, self.first = cells.exponent, cells.first - 1
                self.wanted = np.zeros(len(cells.counts) + 3, dtype=np.uint8)
                self.wanted[np.array(numbers) - self.first] = 1

    def __call__(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> np.ndarray:
        """Return the scores of a block."""
        found = np.empty(len(values), dtype=np.int64)
        room = min(values.shape[1], ROOM)
        while True:
            out = np.empty((len(values), room), dtype=values.dtype)
            self._fill(values, start, stop, found, out)
            most = int(found.max(initial=0))
            if most <= room:
                return out[np.arange(room) < found[:, None]].astype(np.float64)
            room = most

    def _fill(
        self,
        values: np.ndarray,
        start: np.ndarray,
        stop: np.ndarray,
        found: np.ndarray,
        out: np.ndarray,
    ) -> None:
        dtype, size = values.dtype, len(self.wanted)
        if size and exact_window(self.exponent, self.first, size, dtype):
            scalars = window_scalars(self.exponent, self.first, size, dtype)
            room = np.empty((numba.get_num_threads(), values.shape[1]), dtype=np.uint16)
            kernel_refine.collect_cells(  # type: ignore[call-arg]
                values, start, stop, *scalars[:4], np.int32(self.first), self.wanted, room,
                found, out,
            )  # fmt: skip
            return
        ends = zip(*self.windows, strict=True)
        lows, highs = (rounded_down(np.array(x), dtype) for x in ends)
        kernel_refine.collect_windows(values, start, stop, lows, highs, PIECE, found, out)


class GapCounter:
    """Counts impostor scores between the distinct genuine scores."""

    def __init__(self, genuine: np.ndarray):
        self.marks, self.repeats = np.unique(genuine, return_counts=True)
        self.base, self.scale, self.guide = guide_to(self.marks)
        chunks = numba.get_num_threads()
        self.below = np.zeros((chunks, len(self.marks) + 1), dtype=np.int64)
        self.equal = np.zeros((chunks, len(self.marks)), dtype=np.int64)

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Count the impostor scores of a block."""
        kernel_refine.count_gaps(
            values, start, stop, self.marks, self.base, self.scale, self.guide,
            self.below, self.equal,
        )  # fmt: skip

    def result(self, impostor: int) -> Gaps:
        """Return the counts."""
        under, at = self.below.sum(axis=0), self.equal.sum(axis=0)
        seen = int(under.sum() + at.sum())
        if seen != impostor:
            raise MergeError(
                f"the scores hold {seen} impostor attempts, but the tally counted {impostor}; "
                "refine a tally with the very scores that it counted"
            )
        below = np.cumsum(under[:-1]) + np.concatenate([[0], np.cumsum(at)[:-1]])
        return Gaps(self.marks, below, at, self.repeats.astype(np.int64), impostor)


class MomentCounter:
    """Mean and variance of the finite scores, row by row, so that threads change nothing."""

    def __init__(self) -> None:
        self.rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Take in the impostor scores of a block."""
        count = np.empty(len(values), dtype=np.int64)
        mean, squares = np.empty(len(values)), np.empty(len(values))
        kernel_count.row_moments(values, start, stop, count, mean, squares)
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
