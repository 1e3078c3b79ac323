"""Thresholds as a user gives them, and as distances; rates, priors and costs that a user asks for.

Inside bioeval all scores are distances: similarities are negated when they are read, and so are
their thresholds. Only :func:`to_internal` and :func:`to_user` convert them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bioeval.base.arguments import (
    as_float64,
    as_numpy,
    rate_in,
    require_integer,
    require_listed_numbers,
    require_numbers,
)
from bioeval.base.errors import DataError, ProtocolError, received, warn_user
from bioeval.base.kinds import Kind
from bioeval.counting.order import rounded_down
from bioeval.scores.matrix import Scores

# The FAR targets that results report by default.
FAR_TARGETS = (0.1, 0.01, 0.001, 0.0001)

# FAR targets that verification under protocol="auto" also reports, if there are so many attempts
# that 30 false accepts are expected.
RARE_TARGETS = (1e-5, 1e-6)


def check_targets(targets: Any, name: str = "far_targets") -> np.ndarray:
    """Return FAR or FRR targets, or raise :class:`DataError` unless all are in [0, 1].

    A target may be a text: ``"1%"``.
    """
    listed = [targets] if isinstance(targets, str) else targets
    try:
        if isinstance(listed, list | tuple):
            listed = [rate_in(x) if isinstance(x, str) else x for x in listed]
        array = np.atleast_1d(require_numbers(name, listed))
    except (DataError, ValueError):
        array = np.array([np.nan])
    if array.ndim != 1 or not ((array >= 0) & (array <= 1)).all():
        raise DataError(
            f"`{name}` is {received(targets)}; expected rates in [0, 1], as 0.01 or '1%'"
        )
    if (array > 0.5).any():
        written = [targets] if isinstance(targets, str) else np.atleast_1d(targets).tolist()
        plain = [x for x, text in zip(array, written, strict=True) if "%" not in str(text)]
        warn_of_per_cent(plain, name.partition("_")[0])
    return array


def meant_in_per_cent(rate: float, name: str, above: float = 0.5) -> str:
    """Return a warning if a FAR or FRR may be meant in per cent, such as 0.5; otherwise "".

    Examples
    --------
    >>> meant_in_per_cent(1.0, "far")
    'FAR 1 is 100 %; for 1 % write 1% or 0.01'
    """
    if not above < rate <= 1:
        return ""
    received_rate = f"{name.upper()} {rate:g} is {per_cent(rate)}"
    return f"{received_rate}; for {rate:g} % write {rate:g}% or {rate / 100:g}"


def warn_of_per_cent(rates: Iterable[float], name: str) -> None:
    """Issue a warning at the user's line for each rate that may be meant in per cent."""
    for rate in rates:
        if warning := meant_in_per_cent(rate, name):
            warn_user(warning)


def check_priors(priors: Any) -> np.ndarray:
    """Return priors as an array, or raise :class:`DataError` unless all are between 0 and 1."""
    array = require_listed_numbers(
        "priors",
        priors,
        "probabilities of a genuine attempt above 0 and below 1",
        lambda array: ((array > 0) & (array < 1)).all(),
    )
    if len(np.unique(array)) < len(array):
        raise DataError(f"`priors` is {received(priors)}; expected each prior once")
    return array


def is_supported(target: Any, attempts: Any) -> Any:
    """Return whether impostor attempts (a number or an array) are enough for a FAR target."""
    return attempts >= 30 / target


def with_rare_targets(targets: np.ndarray, attempts: float) -> np.ndarray:
    """Return FAR targets, and the rare targets that the impostor attempts support."""
    rare = [x for x in RARE_TARGETS if is_supported(x, attempts) and x not in targets]
    return np.append(targets, rare)


def per_cent(rate: float) -> str:
    """Return a round rate in per cent: 0.001 is ``0.1 %``."""
    return f"{100 * rate:.6g} %"


def check_costs(costs: Any) -> np.ndarray:
    """Return costs as an array of rows (p, c_miss, c_fa), or raise :class:`DataError`."""
    array = np.atleast_2d(require_numbers("costs", costs))
    array = array if array.size else np.empty((0, 3))
    is_valid = array.ndim == 2 and array.shape[1] == 3
    is_valid = (
        is_valid and np.isfinite(array).all() and (array >= 0).all() and (array[:, 0] <= 1).all()
    )
    if not is_valid:
        raise DataError(
            f"`costs` is {received(costs)}; expected rows of (prior, c_miss, "
            "c_fa), the prior proportion of genuine attempts in [0, 1] and costs of at least 0"
        )
    return array


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
