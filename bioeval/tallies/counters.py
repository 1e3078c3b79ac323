"""Counters of impostor scores: in cells, and between given thresholds."""

from __future__ import annotations

import numba
import numpy as np

from bioeval.kernels import count as kernel
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counts import CellCounts, ThresholdCounts

# Impostor scores: a block of values, and where each row's own subject starts and stops.
ImpostorBlock = tuple[np.ndarray, np.ndarray, np.ndarray]

# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20


class CellCounter:
    """Counts scores into cells that widen as the range of the scores is seen."""

    def __init__(self) -> None:
        self.cells = CellCounts()

    def add(self, values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray) -> None:
        """Count the finite and infinite scores of a block, the rows' own subjects left out."""
        low, high = finite_range(values, own_start, own_stop)
        grid = CellGrid.covering(low, high) if low <= high else CellGrid(0, 0, 0)
        infinite, tables = _tables(2), _tables(grid.count)
        kernel.count_cells(
            values, own_start, own_stop, 2.0**grid.exponent, 2.0**-grid.exponent, grid.first,
            tables, infinite,
        )  # fmt: skip
        counts, (negative, positive) = tables.sum(axis=0), infinite.sum(axis=0)
        self.include(CellCounts(grid.exponent, grid.first, counts, int(negative), int(positive)))

    def include(self, counted: CellCounts) -> None:
        """Add what was counted elsewhere."""
        self.cells = self.cells.merge(counted)


class ThresholdCounter:
    """Counts scores between given thresholds (internal, increasing)."""

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds
        self.counts = np.zeros(len(thresholds) + 1, dtype=np.int64)
        self.guide = guide_to(thresholds)

    def add(self, values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray) -> None:
        """Count the scores of a block, the rows' own subjects left out."""
        tables = _tables(len(self.counts))
        kernel.count_thresholds(values, own_start, own_stop, self.thresholds, *self.guide, tables)
        self.counts += tables.sum(axis=0)

    def result(self) -> ThresholdCounts:
        """Return the counts."""
        return ThresholdCounts(self.thresholds, self.counts)


def finite_range(
    values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray
) -> tuple[float, float]:
    """Return the smallest and the largest finite score; (inf, -inf) if there is none."""
    if not values.size:
        return np.inf, -np.inf
    lows, highs = np.empty(len(values)), np.empty(len(values))
    kernel.finite_range(values, own_start, own_stop, lows, highs)
    return float(lows.min()), float(highs.max())


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see ``count_thresholds``."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = float(np.float64(places - 1) / (finite[-1] - base)) if len(finite) > 1 else 1.0
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))


def _tables(width: int) -> np.ndarray:
    """Return empty tables, one a thread."""
    return np.zeros((numba.get_num_threads(), width), dtype=np.int64)
