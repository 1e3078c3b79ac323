"""Thresholds evenly spaced over a range of scores, and guides by which a score finds its own.

The default thresholds are edges of cells of one width, in which scores are counted as well. All
scores are distances. A cell includes its upper edge and not its lower one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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


# ------------------------------------------------------------------------------ cells of one width

# The most cells of one width between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


@dataclass
class EvenCounts:
    """Scores counted in the narrowest cells of one width that cover them, and infinite scores.

    Cell ``k`` is ``((k - 1) w, k w]``, ``w = 2 ** exponent``, and the first cell is ``k = first``.
    Edges are exact floats, the cell of a score is found without rounding, and two neighbours make
    one cell of the next exponent: counts of parts of the data can be added. The cells follow from
    the scores alone, however the data are divided. The first and the last cell are not empty.
    """

    exponent: int
    first: int
    counts: np.ndarray  # int64 (cells,)
    negative_infinite: int
    positive_infinite: int

    @classmethod
    def from_upper(
        cls, upper: np.ndarray, counts: np.ndarray | None, smallest: np.ndarray, *infinite: int
    ) -> EvenCounts:
        """Return the cells of scores that were counted in other cells, to about a cell.

        - `upper` (k,): the largest scores of the other cells, increasing
        - `counts` (k,): their numbers of scores; None: one each
        - `smallest` (1,) or (0,): the smallest score, if it is known
        - `infinite`: the numbers of scores that are -inf, and that are +inf
        """
        if not len(upper):
            return cls(0, 0, np.zeros(0, np.int64), *infinite)
        low, high = float(min([*smallest, upper[0]])), float(upper[-1])
        exponent = cell_exponent(low, high)
        first, last = cell_of(low, exponent), cell_of(high, exponent)
        even = cls(exponent, first, np.zeros(last - first + 1, np.int64), *infinite)
        upto = upper.searchsorted(even.edges, side="right")
        upto[-1] = len(upper)
        number = upto if counts is None else np.append(0, np.cumsum(counts))[upto]
        even.counts = np.diff(number, prepend=0)
        return even

    @property
    def edges(self) -> np.ndarray:
        """The upper edge of each cell; infinite past the largest float."""
        numbers = self.first + np.arange(len(self.counts), dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.ldexp(numbers, self.exponent)

    @property
    def range(self) -> tuple[float, float]:
        """The upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.edges[[0, -1]].tolist()
        # Beyond the largest float, there is no finite edge and no finite score.
        return low, min(high, sys.float_info.max)

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers below and above all finite scores, whose cells are known up to one beside."""
        low, high = self.range
        return low - math.ldexp(3.0, self.exponent), high + math.ldexp(2.0, self.exponent)


def cell_exponent(low: float, high: float) -> int:
    """Return the exponent of the narrowest cells of which `CELLS` cover ``low..high``.

    It depends on the range alone, and never falls as the range grows.
    """
    largest_magnitude = max(abs(low), abs(high))
    least = LEAST_EXPONENT
    if largest_magnitude > 0:
        # Edges must be exact: no finer than the spacing of floats at the largest score.
        least = max(least, math.frexp(largest_magnitude)[1] - 53)
    exponent = least
    span = math.ldexp(high / 2.0 - low / 2.0, 1 - least) if high > low else 0.0
    if span >= CELLS:
        exponent = least + math.frexp(span / CELLS)[1] - 1
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < CELLS:
        exponent -= 1
    return exponent


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]]) -> int:
    """Return the least exponent, not below `exponent`, whose cells cover all the ranges.

    The exponent is the same however the data are divided into parts with these ranges.
    """
    ranges = [(low, high) for low, high in ranges if low <= high]
    if not ranges:
        return exponent
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    return exponent


def cell_of(value: float, exponent: int) -> int:
    """Return the number ``k`` of the cell ``((k - 1) 2**e, k 2**e]`` of a finite value."""
    k = math.ceil(math.ldexp(value, -exponent))  # exact, unless a tiny value became 0
    return 1 if k == 0 and value > 0 else k


# ------------------------------------------------------------------------------------------ grids

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
