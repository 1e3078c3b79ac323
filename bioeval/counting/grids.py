"""Evenly spaced thresholds over a range of scores."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np

from bioeval.counting.cells import cell_exponent, cell_of
from bioeval.counting.sorted_scores import FINITE

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
