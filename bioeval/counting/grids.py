"""Thresholds evenly spaced over a range of scores, and guides by which a score finds its own."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from bioeval.counting.cells import cell_exponent, cell_of
from bioeval.counting.sorted_scores import FINITE

# The smallest and the largest number of cells of a guide, which has about four for each threshold.
LEAST_GUIDE = 1 << 12
LARGEST_GUIDE = 1 << 20


def indices_among(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return ``thresholds.searchsorted(values)``, faster for many values in no order.

    No value may be NaN.
    """
    values = values.astype(np.float64, copy=False)
    base, scale, first = guide_to(thresholds)
    with np.errstate(all="ignore"):  # all values are in cell 0 if the scale is 0
        cell = np.fmin(np.fmax((values - base) * scale, 0), len(first) - 2)
    index = first[cell.astype(np.int64)]
    ends = np.append(thresholds, np.inf)
    too_early = np.flatnonzero(ends[index] < values)
    for _ in range(3):
        index[too_early] += 1
        too_early = too_early[ends[index[too_early]] < values[too_early]]
    index[too_early] = thresholds.searchsorted(values[too_early])
    return index


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return the arguments by which the kernel `threshold_of` finds a score among thresholds.

    They are base and scale of the cells, and the index of the first threshold in each cell, int64.
    """
    cells = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(cells - 1) / (finite[-1] - base))
        cell = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale = 0.0
        cell = np.zeros(len(thresholds))
    cell = np.where(cell > 0, np.minimum(cell, cells - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(cell, np.arange(cells + 1))


# About how many thresholds the default grid has.
DEFAULT_COUNT = 1000


class ScoreExtent(NamedTuple):
    """The range of some scores."""

    low: float = math.inf  # the smallest finite score; infinity without any
    high: float = -math.inf  # the largest finite score; -infinity without any
    negative: bool = False  # whether -inf is a score
    positive: bool = False  # whether +inf is a score

    @classmethod
    def from_scores(cls, scores: np.ndarray) -> ScoreExtent:
        """Return the range of scores in any order; NaN is none."""
        finite = scores[np.isfinite(scores)]
        low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        infinite = bool((scores == -np.inf).any()), bool((scores == np.inf).any())
        return cls(float(low), float(high), *infinite)

    @classmethod
    def from_ordered(cls, scores: np.ndarray) -> ScoreExtent:
        """Return the range of increasing scores without NaN."""
        first, end = scores.searchsorted(FINITE).tolist()
        extent = cls(negative=first > 0, positive=end < len(scores))
        if first == end:
            return extent
        return extent._replace(low=float(scores[first]), high=float(scores[end - 1]))

    def joined(self, other: ScoreExtent) -> ScoreExtent:
        return ScoreExtent(
            min(self.low, other.low),
            max(self.high, other.high),
            self.negative or other.negative,
            self.positive or other.positive,
        )


def grid_over(
    extent: ScoreExtent, *, number: int | None = None, count: int | None = None
) -> np.ndarray:
    """Return `number` evenly spaced thresholds from the smallest to the largest finite score.

    If it is None, they are about `count` edges of cells.
    """
    low, high, negative, positive = extent
    if number is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count or DEFAULT_COUNT)
    else:
        grid = np.empty(0)
        if low <= high:
            # If the range is infinite, halves are used, whose difference is finite.
            half = 1.0 if math.isfinite(high - low) else 0.5
            grid = np.linspace(half * low, half * high, number) / half
            grid[-1] = high
            grid = np.unique(grid)
    return with_infinities(grid, negative, positive)


def default_grid(low: float, high: float, exponent: int, count: int) -> np.ndarray:
    """Return about `count` evenly spaced thresholds, which are edges of cells of the exponent.

    The first is just below the smallest finite score, and accepts nothing; the last is not below
    the largest finite score, and accepts all finite scores. There are none if ``low > high``.
    """
    if not low <= high:
        return np.empty(0)
    first, last = cell_of(low, exponent) - 1, cell_of(high, exponent)
    step = max(1, round((last - first) / (count - 1)))
    count_of_thresholds = -(-(last - first) // step) + 1
    with np.errstate(over="ignore"):
        grid = np.ldexp(first + step * np.arange(count_of_thresholds, dtype=np.float64), exponent)
    # Beyond the largest float, there is no finite edge and no finite score.
    return np.minimum(grid, sys.float_info.max)


def with_infinities(grid: np.ndarray, negative: bool, positive: bool) -> np.ndarray:
    """Add infinite thresholds if scores are infinite, or if there are no thresholds."""
    grids = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        grids.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        grids.append(np.array([np.inf]))
    return np.concatenate(grids)
