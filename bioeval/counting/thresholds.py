"""Thresholds of the user and of the default grid, and the positions of scores among them.

Inside bioeval all scores are distances: similarities are negated when they are read, and so are
their thresholds. Only :func:`to_internal` and :func:`to_user` convert them.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import as_float64, require_integer, require_numbers
from bioeval.base.array_libraries import as_numpy
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.counting.cells import cell_exponent, cell_of
from bioeval.counting.floats import rounded_down
from bioeval.counting.sorted_scores import FINITE
from bioeval.scores.matrix import Scores

# About how many thresholds the default grid has.
DEFAULT_COUNT = 1000

# The largest number of evenly spaced thresholds.
MOST = 10_000_000

# The smallest and the largest number of cells of a guide, which has about four for each threshold.
LEAST_GUIDE = 1 << 12
LARGEST_GUIDE = 1 << 20

#: The thresholds of a curve: increasing values in the units of the scores, their number, or None
#: for the default.
CurveThresholds = np.ndarray | int | None


def curve_thresholds(thresholds: Any, n_thresholds: Any) -> CurveThresholds:
    """Return the thresholds of a curve, by their values or by their number, checked."""
    if n_thresholds is None:
        return None if thresholds is None else check_thresholds(thresholds)
    if thresholds is not None:
        raise DataError(
            "`thresholds` and `n_thresholds` are both given; expected either the values of the "
            "thresholds, or how many a curve has"
        )
    return require_integer("n_thresholds", n_thresholds, low=2, high=MOST)


def check_thresholds(thresholds: Any, name: str = "thresholds") -> np.ndarray:
    """Return one threshold or several as an increasing float64 array, or raise DataError."""
    thresholds = as_numpy(thresholds, name)
    argument = f"`{name}`"
    try:
        array = np.atleast_1d(np.asarray(thresholds))
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{argument} is not an array of numbers: {error}") from None
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            f"{argument} has shape {array.shape} and dtype {array.dtype}; expected a number, or "
            "several in increasing order"
        )
    array = np.atleast_1d(as_float64(name, thresholds))
    if np.isnan(array).any():
        raise DataError(f"{argument}[{int(np.argmax(np.isnan(array)))}] is NaN")
    not_increasing = np.nonzero(~(array[1:] > array[:-1]))[0]
    if len(not_increasing):
        i = int(not_increasing[0])
        raise DataError(
            f"{argument} do not increase: {argument}[{i + 1}] = {array[i + 1]:g} after "
            f"{array[i]:g} ({len(not_increasing)} such places); sort them and drop repeats. They "
            "increase for similarities too"
        )
    return array


def check_extra(thresholds: Any) -> np.ndarray | None:
    """Return thresholds to be added to a grid, as an increasing float64 array, or None."""
    if thresholds is None:
        return None
    name = "`extra_thresholds`"
    try:
        array = np.atleast_1d(require_numbers("extra_thresholds", thresholds))
    except DataError:
        array = np.array([np.nan])
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError(f"{name} is {received(thresholds)}; expected finite numbers")
    return np.unique(array)


def require_values(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` if one threshold for all rows has no meaning."""
    if scores.kind == "order":
        raise ProtocolError(
            f"{task} compares scores of different rows with one threshold, but these scores hold "
            'only the order within each row (`kind="order"`); closed_set and ranks '
            "can use them"
        )


def require_two_sets(train: Scores, test: Scores, task: str) -> None:
    """Raise unless a threshold of a training set has the same meaning on another set."""
    for scores in (train, test):
        require_values(scores, task)
    if train.kind != test.kind:
        raise DataError(
            f"`train` holds {train.kind} scores and `test` {test.kind} scores; "
            "a threshold of one means nothing to the other"
        )


def to_internal(thresholds: np.ndarray, kind: Kind) -> np.ndarray:
    """Convert a user's increasing thresholds to increasing distances."""
    return -thresholds[::-1] if kind in LARGER_IS_CLOSER else thresholds


def to_user(values: Any, kind: Kind) -> Any:
    """Convert distances, a number or an array, to the user's units; the order is kept."""
    # Adding 0.0 makes -0.0 a plain 0.
    return 0.0 - values if kind in LARGER_IS_CLOSER else 0.0 + values


def in_order_of_scores(kind: Kind) -> slice:
    """Return the slice that puts values at increasing distances in order of increasing scores."""
    return slice(None, None, -1) if kind in LARGER_IS_CLOSER else slice(None)


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


def linear_grid(low: float, high: float, count: int | None) -> np.ndarray:
    """Return `count` thresholds evenly spaced from the smallest to the largest finite score."""
    if count is None:
        count = DEFAULT_COUNT
    if not low <= high:
        return np.empty(0)
    # If the range is infinite, halves are used, whose difference is finite.
    half = 1.0 if math.isfinite(high - low) else 0.5
    grid = np.linspace(half * low, half * high, count) / half
    grid[-1] = high
    return np.unique(grid)


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
    """Return `number` thresholds over a range or, if it is None, about `count` edges of cells."""
    low, high, negative, positive = extent
    if number is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count or DEFAULT_COUNT)
    else:
        grid = linear_grid(low, high, number)
    return with_infinities(grid, negative, positive)


def with_infinities(grid: np.ndarray, negative: bool, positive: bool) -> np.ndarray:
    """Add infinite thresholds if scores are infinite, or if there are no thresholds."""
    grids = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        grids.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        grids.append(np.array([np.inf]))
    return np.concatenate(grids)


def is_accepted(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return which distances a threshold accepts, compared without rounding; NaN accepts none.

    A plain ``distances <= threshold`` rounds a Python number to the dtype of the distances: 5e-324
    becomes 0 in float32.
    """
    return distances <= rounded_down(np.array([threshold]), distances.dtype)


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


class Guide(NamedTuple):
    """The arguments by which the kernel `threshold_of` finds a score among thresholds."""

    base: float
    scale: float
    first: np.ndarray  # int64: the index of the first threshold in each cell, and the end


def guide_to(thresholds: np.ndarray) -> Guide:
    """Return a guide to increasing thresholds."""
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
    return Guide(base, scale, np.searchsorted(cell, np.arange(cells + 1)))
