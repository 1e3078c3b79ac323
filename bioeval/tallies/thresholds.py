"""Thresholds: what a user may give, the default grid, and cells with exact edges.

Inside bioeval everything is a distance: similarities are negated when they are read, and their
thresholds with them. :func:`to_internal` and :func:`to_user` are the only places that know.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError

DEFAULT_COUNT = 1000

# The largest number of thresholds that may be asked for by their number.
MOST = 10_000_000

# Finest cells of a count: at most this many between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


def check_thresholds(thresholds: Any) -> np.ndarray | int | None:
    """Return thresholds as None, a number of them, or an increasing float64 array.

    Raises
    ------
    DataError
        If the array is empty, not one-dimensional, not numeric, holds NaN or does not increase.
    """
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
    try:
        array = np.atleast_1d(np.asarray(thresholds))
    except (ValueError, TypeError) as error:
        raise DataError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            f"{name} has shape {array.shape} and dtype {array.dtype}; expected None, a number "
            "of thresholds, or a one-dimensional increasing array of at least one number"
        )
    array = array.astype(np.float64)
    if np.isnan(array).any():
        raise DataError(f"{name}[{int(np.argmax(np.isnan(array)))}] is NaN")
    falls = np.nonzero(~(array[1:] > array[:-1]))[0]
    if len(falls):
        i = int(falls[0])
        raise DataError(
            f"{name} do not increase: {name}[{i + 1}] = {array[i + 1]:g} after "
            f"{array[i]:g} ({len(falls)} such places); sort them and drop repeats. They increase "
            "for similarities too"
        )
    return array


def to_internal(thresholds: np.ndarray, kind: str) -> np.ndarray:
    """Turn a user's increasing thresholds into increasing distances."""
    return -thresholds[::-1] if kind == "similarity" else thresholds


def to_user(values: Any, kind: str) -> Any:
    """Turn a distance back into the user's units (a scalar or an array, order kept)."""
    # Adding 0.0 turns the other zero into plain 0.
    return 0.0 - values if kind == "similarity" else 0.0 + values


def cell_exponent(low: float, high: float, cells: int = CELLS) -> int:
    """Return the exponent of the narrowest cells that cover ``low..high`` in `cells` cells.

    Cells are ``((k - 1) w, k w]`` with ``w = 2 ** exponent``: their edges are exact floats, a
    score's cell is found without rounding, and two neighbours make one cell of the next exponent.
    The exponent depends on the range alone and grows with it, which is why counts over parts of
    the data can be joined into those of the whole.
    """
    largest = max(abs(low), abs(high))
    least = LEAST_EXPONENT
    if largest > 0:
        # Edges must be exact: no finer than the spacing of floats at the largest score.
        least = max(least, math.frexp(largest)[1] - 53)
    exponent = least
    span = math.ldexp(high / 2.0 - low / 2.0, 1 - least) if high > low else 0.0
    if span >= cells:
        exponent = max(least, least + math.frexp(span / cells)[1] - 1)
    while cell_of(high, exponent) - cell_of(low, exponent) >= cells:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < cells:
        exponent -= 1
    return exponent


def cell_of(value: float, exponent: int) -> int:
    """Return the number ``k`` of the cell ``((k - 1) 2**e, k 2**e]`` that holds a finite value."""
    k = math.ceil(math.ldexp(value, -exponent))
    return k + 1 if edge_of(k, exponent) < value else k


def edge_of(k: int, exponent: int) -> float:
    """Return the upper edge of cell `k`; infinite past the largest float."""
    try:
        return math.ldexp(float(k), exponent)
    except OverflowError:
        return math.copysign(math.inf, k)


def edges_of(first: int, count: int, exponent: int) -> np.ndarray:
    """Return the upper edges of `count` cells from `first` on; infinite past the largest float."""
    with np.errstate(over="ignore"):
        return np.ldexp(first + np.arange(count, dtype=np.float64), exponent)


def cells_of(values: np.ndarray, exponent: int) -> np.ndarray:
    """Return the cell numbers of many values, as floats; infinite ones stay infinite."""
    with np.errstate(over="ignore"):
        k = np.ceil(np.ldexp(values, -exponent))
        return k + (np.ldexp(k, exponent) < values)


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]], cells: int = CELLS) -> int:
    """Return the least exponent, not below the one given, whose cells cover all the ranges.

    That of two parts joined is that of the whole, however the whole was divided.
    """
    ranges = [(low, high) for low, high in ranges if low <= high]
    if not ranges:
        return exponent
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    while cell_of(high, exponent) - cell_of(low, exponent) >= cells:
        exponent += 1
    return exponent


def exact_window(exponent: int, first: int, cells: int, dtype: np.dtype) -> bool:
    """Say whether the cells of a window are found without rounding in arithmetic of a dtype.

    Cell numbers, and one past them, must be whole numbers of the dtype and of 32 bits.
    """
    info = np.finfo(dtype)
    largest = max(abs(first), abs(first + cells)) + 1
    whole = largest < min(2 ** (info.nmant - 1), 2**30)
    return whole and bool(info.minexp + 2 < exponent < info.maxexp - 32)


def window_scalars(exponent: int, first: int, cells: int, dtype: np.dtype) -> tuple[Any, ...]:
    """Return width and inverse of the cells, first and last but one number, and the first."""
    numbers = (2.0**exponent, 2.0**-exponent, first, first + cells - 2, first)
    return tuple(dtype.type(x) for x in numbers)


def rounded_down(ends: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the largest numbers of a dtype that are not above the ends.

    A score of the dtype is above the one exactly when it is above the other, so that windows
    keep their meaning.
    """
    with np.errstate(over="ignore"):
        near = ends.astype(dtype)
    return np.where(near > ends, np.nextafter(near, dtype.type(-np.inf)), near)


def default_grid(low: float, high: float, exponent: int, count: int) -> np.ndarray:
    """Return about `count` evenly spaced thresholds that lie on cell edges.

    The first lies just below the smallest score, so that nothing is accepted there; the last is
    not below the largest, so that everything finite is.

    Parameters
    ----------
    low, high : float
        Smallest and largest finite score; nothing finite at all if ``low > high``.
    exponent : int
        Of the cells.
    count : int
        The number wished for.
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


def linear_grid(low: float, high: float, count: int) -> np.ndarray:
    """Return `count` thresholds evenly spaced from the smallest to the largest finite score."""
    if not low <= high:
        return np.empty(0)
    # Halves, whose difference is finite, only where the range is not.
    half = 1.0 if math.isfinite(high - low) else 0.5
    grid = np.linspace(half * low, half * high, count) / half
    grid[-1] = high
    return np.unique(grid)


def with_infinities(grid: np.ndarray, negative: bool, positive: bool) -> np.ndarray:
    """Add the infinite thresholds where scores are infinite, or where there is no other."""
    parts = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        parts.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        parts.append(np.array([np.inf]))
    return np.concatenate(parts)
