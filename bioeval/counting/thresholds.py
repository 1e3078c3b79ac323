"""Thresholds as a user gives them, and as distances.

Inside bioeval all scores are distances: similarities are negated when they are read, and so are
their thresholds. Only :func:`to_internal` and :func:`to_user` convert them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import as_float64, require_integer, require_numbers
from bioeval.base.array_libraries import as_numpy
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.counting.floats import rounded_down
from bioeval.scores.matrix import Scores

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


def to_internal(thresholds: np.ndarray, kind: Kind) -> np.ndarray:
    """Convert a user's increasing thresholds to increasing distances."""
    return -thresholds[::-1] if kind == "similarity" else thresholds


def to_user(values: Any, kind: Kind) -> Any:
    """Convert distances, a number or an array, to the user's units; the order is kept."""
    # Adding 0.0 makes -0.0 a plain 0.
    return 0.0 - values if kind == "similarity" else 0.0 + values


def in_order_of_scores(kind: Kind) -> slice:
    """Return the slice that puts values at increasing distances in order of increasing scores."""
    return slice(None, None, -1) if kind == "similarity" else slice(None)


def is_accepted(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return which distances a threshold accepts, compared without rounding; NaN accepts none.

    A plain ``distances <= threshold`` rounds a Python number to the dtype of the distances: 5e-324
    becomes 0 in float32.
    """
    return distances <= rounded_down(np.array([threshold]), distances.dtype)
