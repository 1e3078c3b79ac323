"""Cells divided at given thresholds, so that one count gives both the cells and the thresholds.

Where no cell holds more than one threshold, a single comparison finds the part of its cell that a
score lies in; cells are made narrower until that is so. Where thresholds are too close together
for that, the part is searched for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.kernels.sweep import CellTables
from bioeval.tallies.cells import CellGrid, rounded_down

# Cells are made narrower by at most this many bits; their numbers are kept in 16.
FINER = 2


@dataclass(frozen=True)
class DividedCells:
    """Cells that are divided at thresholds.

    Attributes
    ----------
    grid : CellGrid
        The cells that are counted for.
    narrow : CellGrid
        The cells in which scores are found: the same, or narrower ones.
    limits, firsts, bounds : arrays
        How thresholds divide the narrow cells; see :class:`bioeval.kernels.sweep.CellTables`.
    thresholds : array
        The given ones, rounded down to the dtype of the scores, which changes no comparison.
    """

    grid: CellGrid
    narrow: CellGrid
    limits: np.ndarray
    firsts: np.ndarray
    bounds: np.ndarray
    thresholds: np.ndarray

    @classmethod
    def at(cls, grid: CellGrid, thresholds: np.ndarray | None, dtype: np.dtype) -> DividedCells:
        """Divide cells, exact in the dtype, at thresholds (internal, increasing), if any."""
        none, nowhere = np.empty(0, dtype=dtype), np.empty(0, dtype=np.uint32)
        if thresholds is None:
            return cls(grid, grid, none, nowhere, none, none)
        given = rounded_down(thresholds, dtype)
        for bits in range(FINER + 1):
            narrow = grid.narrower(bits)
            if not narrow.exact_in(dtype):
                break
            limits = _limits(given, narrow)
            if limits is not None:
                return cls(grid, narrow, limits, nowhere, none, given)
        edges = grid.boundaries.astype(dtype)
        inside = given[(given > edges[0]) & (given <= edges[-1])]
        bounds = np.union1d(edges[1:], inside)
        firsts = np.searchsorted(bounds, edges, side="right").astype(np.uint32)
        return cls(grid, grid, none, firsts, bounds, given)

    def tables(self, chunks: int) -> CellTables:
        """Return empty tables for the kernel."""
        entries = max(self.grid.count, 2 * len(self.limits), len(self.bounds))
        counts = np.zeros((chunks, 2, entries), dtype=np.int32)
        window = self.narrow.window(self.thresholds.dtype)
        return CellTables(*window, self.limits, self.firsts, self.bounds, counts)

    def by_cell(self, counted: np.ndarray) -> np.ndarray:
        """Return the counts of the cells, from those of a table."""
        if len(self.bounds):
            return np.add.reduceat(counted, self.firsts[:-1].astype(np.int64))
        return counted.reshape(self.grid.count, -1).sum(axis=1)

    def by_threshold(self, counted: np.ndarray) -> np.ndarray:
        """Return the counts between the thresholds: ``t[i - 1] < x <= t[i]`` at ``i``."""
        accepted = np.concatenate([[0], np.cumsum(counted)])
        if len(self.bounds):
            entries = np.searchsorted(self.bounds, self.thresholds, side="right")
        else:
            places = self.narrow.places_of(self.thresholds.astype(np.float64))
            entries = np.clip(2 * places + 1, 0, len(counted)).astype(np.int64)
        return np.diff(accepted[entries], prepend=0, append=accepted[-1])


def _limits(thresholds: np.ndarray, grid: CellGrid) -> np.ndarray | None:
    """Return the threshold of each cell; None if some cell has several."""
    limits = np.full(grid.count, np.inf, dtype=thresholds.dtype)
    places = grid.places_of(thresholds.astype(np.float64))
    distinct = np.unique(thresholds[(places >= 0) & (places < grid.count)])
    places = grid.places_of(distinct.astype(np.float64)).astype(np.int64)
    if (np.diff(places) == 0).any():
        return None
    limits[places] = distinct
    return limits
