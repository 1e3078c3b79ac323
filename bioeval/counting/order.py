"""Order without rounding: neighbours of numbers of a dtype, sorting, and distinct values."""

from __future__ import annotations

import numpy as np


def rounded_down(ends: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the largest numbers of a dtype that are not above the ends.

    A score of the dtype is above an end exactly when it is above the rounded end.
    """
    with np.errstate(over="ignore"):
        rounded = ends.astype(dtype)
        return np.where(rounded > ends, np.nextafter(rounded, dtype.type(-np.inf)), rounded)


def next_number(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the next larger numbers of a dtype, or of float64 for numbers not of the dtype."""
    with np.errstate(over="ignore"):  # infinity follows the largest number
        of_dtype = numbers.astype(dtype)
        narrow = np.nextafter(of_dtype, of_dtype.dtype.type(np.inf)).astype(np.float64)
        return np.where(of_dtype == numbers, narrow, np.nextafter(numbers, np.inf))


def ordinals_of(numbers: np.ndarray) -> np.ndarray:
    """Return the positions (int64) of float64 numbers in their order: neighbours differ by 1."""
    return _flipped(numbers.view(np.int64))


def float_of(ordinals: np.ndarray) -> np.ndarray:
    return _flipped(ordinals).view(np.float64)


def _flipped(bits: np.ndarray) -> np.ndarray:
    """Flip all bits but the sign of negative numbers, so that larger magnitudes come first."""
    return np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN."""
    return np.sort(scores)[: len(scores) - np.count_nonzero(np.isnan(scores))]  # NaN comes last


def distinct(ordered: np.ndarray) -> np.ndarray:
    return ordered[run_bounds(ordered)[:-1]]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, their first indices, and the end."""
    bounds = run_bounds(ordered)
    return ordered[bounds[:-1]], bounds


def run_bounds(ordered: np.ndarray) -> np.ndarray:
    """Return the first index of each distinct value of an increasing array, and the end."""
    is_first = np.ones(len(ordered) + 1, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:-1])
    return np.flatnonzero(is_first)
