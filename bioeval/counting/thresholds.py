"""Thresholds given by a user, and the default grid.

Inside bioeval everything is a distance: similarities are negated when they are read, and their
thresholds with them. :func:`to_internal` and :func:`to_user` are the only places that know.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from bioeval.base.arguments import as_float64, require_numbers
from bioeval.base.array_libraries import as_numpy
from bioeval.base.errors import Argument, DataError, ProtocolError, received
from bioeval.base.kinds import larger_is_closer
from bioeval.counting.cells import cell_exponent, cell_of
from bioeval.scores.matrix import Scores

DEFAULT_COUNT = 1000

# The largest number of evenly spaced thresholds.
MOST = 10_000_000


def check_thresholds(thresholds: Any) -> np.ndarray | int | None:
    """Return thresholds as None, their number, or an increasing float64 array."""
    if thresholds is None:
        return None
    name = Argument("thresholds")
    if isinstance(thresholds, (bool, np.bool_)):
        raise DataError(f"{name} is a bool; expected None, a number of thresholds or an array")
    if isinstance(thresholds, (int, np.integer)):
        if thresholds < 2:
            raise DataError(f"{name} = {thresholds}; expected at least 2, or an array")
        if thresholds > MOST:
            raise DataError(f"{name} = {thresholds:,}; expected at most {MOST:,}, or an array")
        return int(thresholds)
    thresholds = as_numpy(thresholds, "thresholds")
    try:
        array = np.atleast_1d(np.asarray(thresholds))
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            f"{name} has shape {array.shape} and dtype {array.dtype}; expected None, a number of "
            "thresholds, or a one-dimensional increasing array of at least one number"
        )
    array = np.atleast_1d(as_float64("thresholds", thresholds))
    if np.isnan(array).any():
        raise DataError(f"{name}[{int(np.argmax(np.isnan(array)))}] is NaN")
    falls = np.nonzero(~(array[1:] > array[:-1]))[0]
    if len(falls):
        i = int(falls[0])
        raise DataError(
            f"{name} do not increase: {name}[{i + 1}] = {array[i + 1]:g} after {array[i]:g} "
            f"({len(falls)} such places); sort them and drop repeats. They increase for "
            "similarities too"
        )
    return array


def check_extra(thresholds: Any) -> np.ndarray | None:
    """Return thresholds in addition to a grid as an increasing float64 array, or None."""
    if thresholds is None:
        return None
    name = Argument("extra_thresholds")
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
            f"only the order within each row ({Argument('kind', 'order')}); closed_set and ranks "
            "can use them"
        )


def to_internal(thresholds: np.ndarray, kind: str) -> np.ndarray:
    """Convert a user's increasing thresholds to increasing distances."""
    return -thresholds[::-1] if larger_is_closer(kind) else thresholds


def to_user(values: Any, kind: str) -> Any:
    """Convert a distance to the user's units (a scalar or an array, order kept)."""
    # Adding 0.0 turns the other zero into plain 0.
    return 0.0 - values if larger_is_closer(kind) else 0.0 + values


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
    low: float, high: float, *infinite: bool, number: int | None, count: int | None = None
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
    """Add infinite thresholds where scores are infinite, or where there are no others."""
    parts = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        parts.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        parts.append(np.array([np.inf]))
    return np.concatenate(parts)
