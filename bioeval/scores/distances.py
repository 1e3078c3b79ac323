"""Scores as distances, exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.base.kinds import larger_is_closer


def distance_dtype(dtype: np.dtype) -> np.dtype:
    """Return the smaller dtype that holds scores of a dtype exactly for counting."""
    small = dtype.itemsize <= 2 or dtype == np.float32
    return np.dtype(np.float32 if small else np.float64)


def as_distances(
    raw: np.ndarray, kind: str, unread: Callable[[], np.ndarray] | None = None
) -> np.ndarray:
    """Return values as C-contiguous float32 or float64 distances, exactly.

    Similarities are negated. An integer or an extended float that cannot be held exactly is an
    error, but for the cells that `unread` returns.
    """
    target = distance_dtype(raw.dtype)
    with np.errstate(over="ignore"):
        values = np.require(raw, target, ("C", "A"))
    if raw.dtype.itemsize >= 8 and raw.dtype != np.float64:
        inexact = _inexact(raw, values)
        if inexact.any() and unread is not None:
            inexact &= ~unread()
        if inexact.any():
            row, column = np.unravel_index(int(np.argmax(inexact)), inexact.shape)
            raise DataError(
                f"{int(inexact.sum())} {raw.dtype} scores of one block of rows cannot be counted "
                f"exactly in float64, the first is {raw[row, column]}; scale the scores (whole "
                "numbers up to 2**53 are exact)"
            )
    if larger_is_closer(kind):
        values = np.negative(values)
    return values


def _inexact(raw: np.ndarray, values: np.ndarray) -> np.ndarray:
    if raw.dtype.kind == "f":
        return (values != raw) & (raw == raw)
    if raw.dtype.kind == "u":
        return raw > 2**53
    return (raw > 2**53) | (raw < -(2**53))


def listed_distances(values: np.ndarray, kind: str, nan: str) -> np.ndarray:
    """Return the scores of a list of pairs as distances under a NaN policy."""
    distances = as_distances(values[None], kind)[0]
    failed = np.isnan(distances)
    if not failed.any() or nan == "exclude":
        return distances
    if nan == "raise":
        raise DataError(
            f"the scores hold {int(failed.sum())} NaN, the first at position "
            f"{int(np.argmax(failed))}; choose how to treat failed comparisons: "
            f"{Argument('nan', 'reject')} or {Argument('nan', 'exclude')}"
        )
    return np.where(failed, distances.dtype.type(np.inf), distances)
