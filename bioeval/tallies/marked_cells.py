"""Cells with marked thresholds, so that one count gives both cells and thresholds.

Most cells hold no mark, and a score of such a cell is counted and forgotten. The others are few if
cells are narrow; their scores are compared with the marks of the cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.kernels.argument_groups import CellTables
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.threshold_search import distinct

# Cells are made narrower by at most this many bits, until so few scores are in cells with marks.
FINER, MARKED_SHARE = 5, 0.09


@dataclass(frozen=True)
class HistogramWithThresholds:
    """Cells with marks (thresholds) in some of them.

    Attributes
    ----------
    grid : CellGrid
        The cells that are counted for.
    narrow : CellGrid
        The cells in which scores are found: the same, or narrower ones.
    marks : array
        Increasing, of the dtype of the scores.
    places : int64 array
        The narrow cell of each mark.
    cells : int64 array
        The narrow cells that hold marks, increasing.
    """

    grid: CellGrid
    narrow: CellGrid
    marks: np.ndarray
    places: np.ndarray
    cells: np.ndarray

    @classmethod
    def at(
        cls, counted: CellCounts, grid: CellGrid, marks: np.ndarray, bits: int = 0
    ) -> HistogramWithThresholds:
        """Mark cells that are exact in the dtype of the marks, as narrow as needed.

        `counted` says about where the scores are; the cells are narrower by `bits` anyway.
        """
        narrow, places = grid, _places(grid, marks)
        while (done := grid.exponent - narrow.exponent) < max(FINER, bits):
            if done >= bits and _marked_share(counted, narrow, places) <= MARKED_SHARE:
                break
            finer = narrow.narrower(1)
            if not finer.exact_in(marks.dtype):
                break
            narrow, places = finer, _places(finer, marks)
        return cls(grid, narrow, marks, places, distinct(places))

    @cached_property
    def _ends(self) -> np.ndarray:
        """Cumulative number of marks up to the end of each cell."""
        return np.cumsum(np.bincount(self.places, minlength=self.narrow.count))[self.cells]

    def tables(self, chunks: int) -> CellTables:
        """Return empty tables for the kernel."""
        dtype = self.marks.dtype
        ends = self._ends
        cells = np.zeros((chunks, self.narrow.count), dtype=np.int32)
        slots = np.concatenate([[0], ends[:-1]])[: len(ends)] + np.arange(len(self.cells))
        cells[:, self.cells] = ~slots
        marks = np.zeros((chunks, len(self.marks) + len(ends), 2), dtype=dtype)
        marks[..., 0] = np.insert(self.marks, ends, np.inf)
        return CellTables(
            self.narrow.window(dtype), cells, marks=marks, at_most=marks.view(f"i{dtype.itemsize}")
        )

    def counted(self, tables: CellTables) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of the narrow cells and of scores up to each mark, over all chunks."""
        cells = tables.cells.sum(axis=0, dtype=np.int64)
        within = np.cumsum(tables.at_most[..., 1].sum(axis=0, dtype=np.int64))
        if len(self.cells):
            guards = self._ends + np.arange(len(self.cells))
            cells[self.cells] = 0
            below = np.cumsum(cells)
            cells[self.cells] = np.diff(within[guards], prepend=0)
            within = np.delete(within, guards) + below[self.places]
        return cells, within


def _places(grid: CellGrid, marks: np.ndarray) -> np.ndarray:
    """Return the cell of each mark; marks beyond the cells go to the outermost ones."""
    places = grid.places_of(marks.astype(np.float64))
    return np.clip(places, 0, grid.count - 1).astype(np.int64)


def _marked_share(counted: CellCounts, grid: CellGrid, places: np.ndarray) -> float:
    """Return about which proportion of the scores is in marked cells, if evenly spread."""
    if not len(places) or not len(counted.counts):
        return 0.0
    marked = distinct(places)
    bits = counted.exponent - grid.exponent
    cell = (-((-(marked + grid.first)) >> bits)) - counted.first
    inside = cell[(cell >= 0) & (cell < len(counted.counts))]
    return float(counted.counts[inside].sum() / (counted.counts.sum() << bits))
