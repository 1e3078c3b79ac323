"""Cells divided at given thresholds, so that one count gives both the cells and the thresholds.

Where no cell holds more than one threshold, it takes a single comparison to tell in which part of
its cell a score lies; cells are made narrower until that is so. Where thresholds stand too close
together for that, the part is searched for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.tallies.counts import CellCounts
from bioeval.tallies.thresholds import (
    cells_of,
    edges_of,
    exact_window,
    rounded_down,
    window_scalars,
)

# Cells are made narrower by at most so many bits; their numbers are kept in 16.
FINER = 2


@dataclass(frozen=True)
class Division:
    """The cells of a window, divided at thresholds.

    Attributes
    ----------
    exponent, first, count : int
        Of the window that is counted for.
    finer : int
        How many bits narrower the cells are in which scores are found.
    limits : array, shape (cells,)
        The threshold of each cell, infinite if it has none; empty if some cell has several.
    firsts, bounds : uint32 array, shape (cells + 1,), and array
        Otherwise: all edges and thresholds, and the first of each cell.
    thresholds : array
        The given ones, rounded down to the dtype of the scores, which changes no comparison.
    """

    exponent: int
    first: int
    count: int
    finer: int
    limits: np.ndarray
    firsts: np.ndarray
    bounds: np.ndarray
    thresholds: np.ndarray

    @classmethod
    def of(
        cls, exponent: int, first: int, count: int, thresholds: np.ndarray | None, dtype: np.dtype
    ) -> Division:
        """Divide a window, which is exact, at thresholds (internal, increasing), if any."""
        none, nowhere = np.empty(0, dtype=dtype), np.empty(0, dtype=np.uint32)
        if thresholds is None:
            return cls(exponent, first, count, 0, none, nowhere, none, none)
        given = rounded_down(thresholds, dtype)
        for finer in range(FINER + 1):
            fine = (exponent - finer, _finer(first, finer), count << finer)
            if not exact_window(*fine, dtype):
                break
            limits = _limits(given, *fine)
            if limits is not None:
                return cls(exponent, first, count, finer, limits, nowhere, none, given)
        edges = edges_of(first - 1, count + 1, exponent).astype(dtype)
        inside = given[(given > edges[0]) & (given <= edges[-1])]
        bounds = np.union1d(edges[1:], inside)
        firsts = np.searchsorted(bounds, edges, side="right").astype(np.uint32)
        return cls(exponent, first, count, 0, none, firsts, bounds, given)

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the kernel needs to find the part of a cell."""
        return self.limits, self.firsts, self.bounds

    @property
    def scalars(self) -> tuple[Any, ...]:
        """What the kernel needs to find a cell, in the dtype of the scores."""
        first, count = _finer(self.first, self.finer), self.count << self.finer
        return window_scalars(self.exponent - self.finer, first, count, self.thresholds.dtype)

    @property
    def entries(self) -> int:
        """Entries of the table that the kernel counts in."""
        return max(self.count, 2 * len(self.limits), len(self.bounds))

    def cells(self, counted: np.ndarray) -> np.ndarray:
        """Return the counts of the window's cells."""
        if len(self.bounds):
            return np.add.reduceat(counted, self.firsts[:-1].astype(np.int64))
        return counted.reshape(self.count, -1).sum(axis=1)

    def between(self, counted: np.ndarray) -> np.ndarray:
        """Return the counts between the thresholds: ``t[i - 1] < x <= t[i]`` at ``i``."""
        taken = np.concatenate([[0], np.cumsum(counted)])
        if len(self.bounds):
            entries = np.searchsorted(self.bounds, self.thresholds, side="right")
        else:
            cells = _cells(self.thresholds, self.exponent - self.finer)
            cells -= _finer(self.first, self.finer)
            entries = np.clip(2 * cells + 1, 0, len(counted)).astype(np.int64)
        return np.diff(taken[entries], prepend=0, append=taken[-1])

    def counts(self, cells: np.ndarray) -> CellCounts:
        """Return the counts of cells, but for the outermost ones, which hold what lies outside."""
        return CellCounts(self.exponent, self.first + 1, cells[1:-2]).fitted()


def _finer(first: int, finer: int) -> int:
    """Return the first of the narrower cells that make up a cell and those after it."""
    return ((first - 1) << finer) + 1


def _cells(thresholds: np.ndarray, exponent: int) -> np.ndarray:
    """Return cell numbers as floats; infinite ones stay infinite."""
    return cells_of(thresholds.astype(np.float64), exponent)


def _limits(thresholds: np.ndarray, exponent: int, first: int, count: int) -> np.ndarray | None:
    """Return the threshold of each cell; None if some cell has several."""
    limits = np.full(count, np.inf, dtype=thresholds.dtype)
    cells = _cells(thresholds, exponent) - first
    inside = (cells >= 0) & (cells < count)
    distinct = np.unique(thresholds[inside])
    cells = (_cells(distinct, exponent) - first).astype(np.int64)
    if (np.diff(cells) == 0).any():
        return None
    limits[cells] = distinct
    return limits
