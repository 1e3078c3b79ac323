"""Thresholds: given by a user, of the default grid, and how scores lie among them.

Inside bioeval everything is a distance: similarities are negated when they are read, and their
thresholds with them. Only :func:`to_internal` and :func:`to_user` convert them.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from bioeval.base.arguments import as_float64, require_integer, require_numbers
from bioeval.base.array_libraries import as_numpy
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.counting.cells import cell_exponent, cell_of
from bioeval.counting.floats import rounded_down
from bioeval.scores.matrix import Scores

DEFAULT_COUNT = 1000

# The largest number of evenly spaced thresholds.
MOST = 10_000_000


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
    """Return thresholds, a number or several, as an increasing float64 array."""
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
    falls = np.nonzero(~(array[1:] > array[:-1]))[0]
    if len(falls):
        i = int(falls[0])
        raise DataError(
            f"{argument} do not increase: {argument}[{i + 1}] = {array[i + 1]:g} after "
            f"{array[i]:g} ({len(falls)} such places); sort them and drop repeats. They increase "
            "for similarities too"
        )
    return array


def check_extra(thresholds: Any) -> np.ndarray | None:
    """Return thresholds in addition to a grid as an increasing float64 array, or None."""
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
    """Raise :class:`ProtocolError` where one threshold for all rows is meaningless."""
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
    """Convert a distance to the user's units (a scalar or an array, order kept)."""
    # Adding 0.0 turns the other zero into plain 0.
    return 0.0 - values if kind in LARGER_IS_CLOSER else 0.0 + values


def default_grid(low: float, high: float, exponent: int, count: int) -> np.ndarray:
    """Return about `count` evenly spaced thresholds that lie on cell edges of an exponent.

    The first lies just below the smallest finite score, so that nothing is accepted there; the last
    is not below the largest, so that everything finite is. There are none if ``low > high``.
    """
    if not low <= high:
        return np.empty(0)
    first, last = cell_of(low, exponent) - 1, cell_of(high, exponent)
    step = max(1, round((last - first) / (count - 1)))
    number = -(-(last - first) // step) + 1
    with np.errstate(over="ignore"):
        grid = np.ldexp(first + step * np.arange(number, dtype=np.float64), exponent)
    # Past the largest float there is no finite edge, nor a finite score.
    return np.minimum(grid, sys.float_info.max)


def linear_grid(low: float, high: float, count: int | None) -> np.ndarray:
    """Return `count` thresholds evenly spaced from the smallest to the largest finite score."""
    if count is None:
        count = DEFAULT_COUNT
    if not low <= high:
        return np.empty(0)
    # Halves, whose difference is finite, only where the range is not.
    half = 1.0 if math.isfinite(high - low) else 0.5
    grid = np.linspace(half * low, half * high, count) / half
    grid[-1] = high
    return np.unique(grid)


def grid_over(
    low: float, high: float, *infinite: bool, number: int | None = None, count: int | None = None
) -> np.ndarray:
    """Return a given number of evenly spaced thresholds over a range, or about `count` of a grid.

    `infinite` says whether -inf and +inf are scores.
    """
    if number is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count or DEFAULT_COUNT)
    else:
        grid = linear_grid(low, high, number)
    return with_infinities(grid, *infinite)


def with_infinities(grid: np.ndarray, negative: bool, positive: bool) -> np.ndarray:
    """Add infinite thresholds where scores are infinite, or where there are no thresholds."""
    parts = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        parts.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        parts.append(np.array([np.inf]))
    return np.concatenate(parts)


def is_accepted(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return which distances a threshold accepts, compared without rounding; NaN accepts none.

    A plain ``distances <= threshold`` rounds a threshold that is no array to the dtype of the
    distances: 5e-324 becomes 0 beside float32.
    """
    return distances <= rounded_down(np.array([threshold]), distances.dtype)


def extent_of(scores: np.ndarray) -> tuple[float, float, bool, bool]:
    """Return the least and the largest finite score, and whether -inf and +inf are scores."""
    finite = scores[np.isfinite(scores)]
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    infinite = bool((scores == -np.inf).any()), bool((scores == np.inf).any())
    return float(low), float(high), *infinite


# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE = 1 << 12
LARGEST_GUIDE = 1 << 20


def places_among(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return ``thresholds.searchsorted(values)``, sooner where many values are in no order.

    No value is NaN.
    """
    values = values.astype(np.float64, copy=False)
    base, scale, guide = guide_to(thresholds)
    with np.errstate(all="ignore"):  # without a scale an infinite value is in cell 0, as all are
        cell = np.fmin(np.fmax((values - base) * scale, 0), len(guide) - 2)
    place = guide[cell.astype(np.int64)]
    ends = np.append(thresholds, np.inf)
    later = np.flatnonzero(ends[place] < values)
    for _ in range(3):
        place[later] += 1
        later = later[ends[place[later]] < values[later]]
    place[later] = thresholds.searchsorted(values[later])
    return place


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see `threshold_of`."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(places - 1) / (finite[-1] - base))
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale = 0.0
        place = np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))
