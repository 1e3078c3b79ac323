"""Rates, priors and costs for which a user asks, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bioeval.base.arguments import rate_in, require_listed_numbers, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.base.messages import warn_user

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
