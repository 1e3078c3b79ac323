"""Checks of numeric arguments: an error states the legal interval and the value received."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, subject

#: The most replicates, repetitions or galleries that are drawn: far beyond what changes a result.
MOST_DRAWS = 1_000_000


def require_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int, or raise :class:`DataError` unless it is an integer >= `low`.

    With `high` it may not be greater than that either.
    """
    try:
        whole = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        whole = None
    if whole is None or whole < low:
        raise DataError(f"{subject(name)} is {value!r}; expected an integer >= {low}")
    if high is not None and whole > high:
        raise DataError(f"{subject(name)} is too large; expected an integer from {low} to {high:,}")
    return whole


def require_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
) -> float:
    """Return `value` as a float, or raise :class:`DataError` unless it is in the interval.

    The interval starts at `low` (included) or `above` (excluded) and ends at `high` (included);
    infinities are outside.
    """
    try:
        real = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        real = math.nan
    inside = math.isfinite(real)
    inside = inside and (low is None or real >= low) and (above is None or real > above)
    if not inside or (high is not None and real > high):
        start = f"[{low:g}" if above is None else f"({above:g}"
        end = "inf)" if high is None else f"{high:g}]"
        raise DataError(f"{subject(name)} is {value!r}; expected a number in {start}, {end}")
    return real


def number_in(text: str) -> float:
    """Parse a number; raise ValueError where it is beyond the range of float64.

    ``1e400`` is no infinity and ``1e-400`` no 0: scores may lie between.
    """
    found = float(text)
    overflow = math.isinf(found) and "inf" not in text.lower()
    underflow = found == 0 and bool(set(text.lower().partition("e")[0]) & set("123456789"))
    if overflow or underflow:
        raise ValueError(text)
    return found


def as_float64(name: str, values: Any) -> np.ndarray:
    """Return numbers as float64, or raise :class:`DataError` where one is not exact there.

    Scores are compared with the number that was given, never with its neighbour.
    """
    given = np.asarray(values)
    with np.errstate(over="ignore"):
        found = given.astype(np.float64)
    # A list of integers and floats is rounded already where it becomes an array.
    each = values if isinstance(values, (list, tuple)) else given.reshape(-1)
    wide = given.dtype.kind == "O" or given.dtype.itemsize > 8
    doubtful = found == found if wide else abs(found) >= 2.0**53
    for i in np.flatnonzero(doubtful).tolist():
        number, near = each[i], found.reshape(-1)[i].item()
        if near != (number.item() if isinstance(number, np.generic) else number):
            raise DataError(
                f"{subject(name)}: {number} is no float64 number, in which scores are compared; "
                f"the nearest one is {near!r}"
            )
    return found


def require_probability(name: str, value: Any) -> np.ndarray:
    """Return `value` as an array, or raise :class:`DataError` unless all are in [0, 1]."""
    array = np.asarray(value, dtype=np.float64)
    if not ((array >= 0.0) & (array <= 1.0)).all():
        raise DataError(f"{subject(name)} is {value!r}; expected numbers in [0, 1]")
    return array


def require_increasing_proportions(name: str, values: Any) -> list[Fraction]:
    """Return numbers by their decimal values, 0.29 as 29 / 100.

    Raise :class:`DataError` unless they increase within [0, 1].
    """
    try:
        array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.array([math.nan])
    inside = array.ndim == 1 and len(array) > 0 and ((array >= 0) & (array <= 1)).all()
    if not inside or (np.diff(array) <= 0).any():
        raise DataError(f"{subject(name)} is {values!r}; expected increasing numbers from 0 to 1")
    return [Fraction(repr(value)) for value in array.tolist()]


def require_prior(prior: Any) -> None:
    """Raise :class:`DataError` unless a prior is above 0 and below 1."""
    if not 0 < require_number("prior", prior, above=0.0, high=1.0) < 1:
        raise DataError(f"prior is {prior!r}; expected a probability below 1")
