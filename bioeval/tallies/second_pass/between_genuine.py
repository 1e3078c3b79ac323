"""How many impostor scores lie between one genuine score and the next."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from bioeval.base.errors import MergeError
from bioeval.kernels import refine as kernel_refine
from bioeval.tallies.attempts import guide_to
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.points import Gaps
from bioeval.tallies.thresholds import cells_of, edges_of, exact_window, window_scalars

# Narrow cells in which genuine scores are looked up: so many at most, and so many bits narrower.
PLACES, FINER = 1 << 16, 8


class GapCounter:
    """Counts impostor scores between the distinct genuine scores (the marks).

    Only scores of cells that hold a mark need be looked at, where these cells can be found
    exactly (`by_cell`): those of any other cell lie in one gap, and have been counted. Otherwise
    every score is searched for among the marks.

    Parameters
    ----------
    genuine : float64 array
    cells : CellCounts
        Of the impostor scores.
    """

    def __init__(self, genuine: np.ndarray, cells: CellCounts):
        self.marks, self.repeats = np.unique(genuine, return_counts=True)
        self.cells = cells
        finite = not (cells.negative_infinite or cells.positive_infinite)
        size, exact = len(cells.counts), False
        if finite and size and np.isfinite(self.marks).all():
            exact = exact_window(cells.exponent, cells.first - 1, size + 3, np.dtype(np.float64))
        self.by_cell = exact
        chunks = numba.get_num_threads()
        if self.by_cell:
            self.counted = np.zeros(2 * len(self.marks) + 2, dtype=np.int64)
            self._tables = np.zeros((chunks, len(self.counted)), dtype=np.int32)
            self._taken = 0
            self._in_dtype: dict[np.dtype, np.ndarray | None] = {}
        else:
            self.base, self.scale, self.guide = guide_to(self.marks)
            self.below = np.zeros((chunks, len(self.marks) + 1), dtype=np.int64)
            self.equal = np.zeros((chunks, len(self.marks)), dtype=np.int64)

    def prepare(self, wanted: np.ndarray) -> None:
        """Divide the cells that hold marks, and those whose scores are wanted besides.

        Parameters
        ----------
        wanted : int64 array
            Places of cells among those counted.
        """
        if not self.by_cell:
            return
        cells, size = self.cells, len(self.cells.counts)
        places = cells_of(self.marks, cells.exponent) - cells.first
        places = places[(places >= 0) & (places < size)].astype(np.int64)
        self.looked_at = np.zeros(size, dtype=bool)
        self.looked_at[places] = self.looked_at[wanted] = True
        low = int(np.argmax(self.looked_at))
        high = size - int(np.argmax(self.looked_at[::-1]))
        for finer in range(FINER, -1, -1):
            first, count = ((cells.first + low - 1) << finer) + 1, (high - low) << finer
            self._fine = (cells.exponent - finer, first, count)
            if count <= PLACES and exact_window(*self._fine, np.dtype(np.float32)):
                break
        edges = edges_of(first - 1, count + 1, cells.exponent - finer)
        self._places = np.searchsorted(self.marks, edges, side="right").astype(np.uint32)
        self._wanted = np.zeros(count, dtype=np.uint8)
        self._wanted.reshape(-1, 1 << finer)[wanted - low] = 1

    def fits(self, dtype: np.dtype) -> bool:
        """Say whether scores of a dtype can be compared with the marks as they are."""
        return self._marks_in(dtype) is not None

    def _marks_in(self, dtype: np.dtype) -> np.ndarray | None:
        """Return the marks in a dtype, with a guard behind them; None if that is not exact."""
        if dtype not in self._in_dtype:
            with np.errstate(over="ignore"):
                marks = np.append(self.marks, np.inf).astype(dtype)
            exact = bool((marks[:-1] == self.marks).all()) and exact_window(*self._fine, dtype)
            self._in_dtype[dtype] = marks if exact else None
        return self._in_dtype[dtype]

    def arguments(self, values: np.ndarray) -> tuple[Any, ...]:
        """Return what ``look_rows`` needs to count the scores of a block."""
        if self._taken + values.size > np.iinfo(np.int32).max:
            self._flush()
        self._taken += values.size
        dtype, shape = values.dtype, (len(self._tables), values.shape[1] + 1)
        return (
            window_scalars(*self._fine, dtype), self._places, self._wanted, self._marks_in(dtype),
            np.empty(shape, dtype=dtype), np.empty(shape, dtype=np.uint32), self._tables,
        )  # fmt: skip

    def _flush(self) -> None:
        self.counted += self._tables.sum(axis=0, dtype=np.int64)
        self._tables[:] = 0
        self._taken = 0

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Search for the impostor scores of a block among the marks."""
        kernel_refine.count_gaps(
            values, start, stop, self.marks, self.base, self.scale, self.guide,
            self.below, self.equal,
        )  # fmt: skip

    def result(self) -> Gaps:
        """Return the counts.

        Raises
        ------
        MergeError
            If the scores were not those that the cells counted.
        """
        cells = self.cells
        if self.by_cell:
            self._flush()
            require_same(int(self.counted.sum()), int(cells.counts[self.looked_at].sum()))
            under, at = self.counted[::2].copy(), self.counted[1:-1:2]
            others = np.nonzero(~self.looked_at)[0]
            edges = edges_of(cells.first, len(cells.counts), cells.exponent)[others]
            np.add.at(under, np.searchsorted(self.marks, edges), cells.counts[others])
        else:
            under, at = self.below.sum(axis=0), self.equal.sum(axis=0)
            require_same(int(under.sum() + at.sum()), cells.total)
        below = np.cumsum(under[:-1]) + np.concatenate([[0], np.cumsum(at)[:-1]])
        return Gaps(self.marks, below, at, self.repeats.astype(np.int64), cells.total)


def require_same(seen: int, counted: int) -> None:
    """Raise :class:`MergeError` unless a second look finds as many scores as were counted."""
    if seen != counted:
        raise MergeError(
            f"the scores hold {seen} impostor attempts where the tally counted {counted}; "
            "refine a tally with the very scores that it counted"
        )
