"""Limits of a rate over dependent attempts, by Clopper and Pearson at an effective number."""

from __future__ import annotations

import numpy as np
import scipy.special

from bioeval.stats.binomial import exact_lower, exact_upper


def effective_trials(
    rate: np.ndarray,
    variance: np.ndarray,
    units: np.ndarray | int,
    confidence: float,
    attempts: np.ndarray | float = np.inf,
) -> np.ndarray:
    """Return how many independent attempts would tell as much about a rate as its attempts do.

    That is ``rate (1 - rate) / variance``, at most `attempts`, times the squared quotient of the
    quantiles of the normal and of Student's distribution with ``units - 1`` degrees of freedom: the
    variance is estimated from so many independent units.
    """
    freedom = np.maximum(np.asarray(units) - 1, 1)
    level = confidence if confidence != 0.5 else 0.5 + 1e-6  # where both quantiles are 0
    narrow = scipy.special.ndtri(level) / scipy.special.stdtrit(freedom, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.fmin(rate * (1 - rate) / variance, attempts) * narrow**2


def korn_graubard(
    rate: np.ndarray,
    variance: np.ndarray,
    attempts: np.ndarray | int,
    units: np.ndarray | int,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the one-sided limits of Korn and Graubard (1998), each at the confidence level.

    - `variance`: of the rate, over independent units such as instruments or people
    - `attempts`: the rate is of so many, by so many `units`

    They are those of Clopper and Pearson at the effective number of attempts. A rate of 0 or 1 has
    the bound of `units` independent trials. Limits are NaN with fewer than two units.
    """
    rate, variance, units = np.asarray(rate), np.asarray(variance), np.asarray(units)
    effective = effective_trials(rate, variance, units, confidence, attempts)
    errors = effective * rate
    low = exact_lower(errors, effective - errors, 1 - confidence)
    high = exact_upper(errors, effective - errors, confidence)
    with np.errstate(divide="ignore"):
        without_error = 1 - (1 - confidence) ** (1 / units)
    low = np.where(rate <= 0, 0.0, np.where(rate >= 1, 1 - without_error, low))
    high = np.where(rate >= 1, 1.0, np.where(rate <= 0, without_error, high))
    known = (units > 1) & ~np.isnan(rate)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def drawn_variance(drawn: np.ndarray, units: np.ndarray | int) -> np.ndarray:
    """Return the variance of a rate from its replicates, the last axis, over so many units.

    Replicates of ``n`` units vary ``(n - 1) / n`` times as much as the rate does.
    """
    units = np.asarray(units)
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    spread = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
    return spread * units / np.maximum(units - 1, 1)


def largest_limits(
    rate: np.ndarray,
    variance: np.ndarray,
    attempts: np.ndarray | int,
    units: np.ndarray | int,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return one-sided limits of the largest of several true rates, along the last axis.

    The largest lower limit misses if one of all is above its rate: each is at the level ``1 - (1 -
    confidence) / number``. The largest upper limit misses only if that of the largest rate does: it
    needs no such correction. Limits are NaN where those of a rate are.
    """
    number = np.shape(rate)[-1]
    each = 1 - (1 - confidence) / number
    low = korn_graubard(rate, variance, attempts, units, each)[0].max(axis=-1)
    high = korn_graubard(rate, variance, attempts, units, confidence)[1].max(axis=-1)
    return low, high


def sum_limits(
    first: tuple[np.ndarray, np.ndarray, np.ndarray],
    second: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of a sum, from each part and its limits (Zou and Donner 2008).

    Those of independent parts; NaN where those of a part are.
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    low = a + b - np.hypot(a - a_low, b - b_low)
    high = a + b + np.hypot(a_high - a, b_high - b)
    return np.maximum(low, 0.0), high
