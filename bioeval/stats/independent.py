"""Limits of independent attempts: binomial intervals, and the rules of 3 and of 30.

Attempts that share a subject are dependent: for all-against-all comparisons, these intervals are
far too narrow (``docs/uncertainty.md``). With an effective number of attempts, which follows from
how a rate varies between people (:mod:`bioeval.stats.jackknife`), exact intervals hold for
dependent attempts, too.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy

from bioeval.base.arguments import CONFIDENCE, check_confidence, require_choice, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.results.support import RuleOf

LimitSide = Literal["both", "lower", "upper"]
SIDES: tuple[LimitSide, ...] = get_args(LimitSide)

#: Rates differ from 0 or 1 by rounding up to this: far less than one error in any countable number.
ROUNDING = 1e-12


def wilson(
    errors: Any, attempts: Any, confidence: float = CONFIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's score interval of a rate of independent attempts.

    Parameters
    ----------
    errors, attempts : array_like of int
        Numbers of errors and of attempts; they broadcast.
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    low, high : ndarray of float64
        NaN where there was no attempt.

    Raises
    ------
    DataError
        If a count is negative or not finite, or there are more errors than attempts.

    Notes
    -----
    Wilson (1927), Journal of the American Statistical Association 22. Assumes
    independent attempts; those that share a subject are dependent.

    Examples
    --------
    >>> from bioeval import stats
    >>> low, high = stats.wilson(3, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0103 0.0845
    """
    errors, attempts = _checked_counts(errors, attempts)
    z = scipy.special.ndtri(0.5 + check_confidence(confidence) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = errors / attempts
        middle = (rate + z * z / (2 * attempts)) / (1 + z * z / attempts)
        variance = rate * (1 - rate) / attempts + z * z / (4 * attempts * attempts)
        half = z / (1 + z * z / attempts) * np.sqrt(variance)
        low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
    low = np.where(errors == 0, 0.0, low)
    high = np.where(errors == attempts, 1.0, high)
    return np.where(attempts > 0, low, np.nan), np.where(attempts > 0, high, np.nan)


def clopper_pearson(
    errors: Any,
    attempts: Any,
    confidence: float = CONFIDENCE,
    side: LimitSide = "both",
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact interval of Clopper and Pearson of a rate of independent attempts.

    Parameters
    ----------
    errors, attempts : array_like of int
        As for :func:`wilson`.
    confidence : float
        Confidence level, two-sided or one-sided.
    side : {"both", "lower", "upper"}
        Side of the interval; for a one-sided bound the other limit is 0 or 1.

    Returns
    -------
    low, high : ndarray of float64
        NaN where there was no attempt.

    Notes
    -----
    Clopper and Pearson (1934), Biometrika 26. Conservative for independent attempts; those
    that share a subject are dependent.

    Examples
    --------
    No error in 300 attempts: at 95 % the rate is below one per cent (the rule of 3).

    >>> from bioeval import stats
    >>> low, high = stats.clopper_pearson(0, 300, side="upper")
    >>> print(f"{low:.4f} {high:.5f}")
    0.0000 0.00994
    """
    require_choice("side", side, SIDES)
    errors, attempts = _checked_counts(errors, attempts)
    miss = 1 - check_confidence(confidence)
    if side == "both":
        miss = miss / 2
    low, high = exact_limits(errors, attempts - errors, miss)
    if side == "upper":
        low = np.zeros(errors.shape)
    if side == "lower":
        high = np.ones(errors.shape)
    return np.where(attempts > 0, low, np.nan), np.where(attempts > 0, high, np.nan)


def exact_limits(
    errors: np.ndarray, correct: np.ndarray, miss: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of Clopper and Pearson; each limit misses with probability `miss`.

    Numbers of errors and of correct attempts need not be whole. The lower limit is 0 without an
    error, and the upper limit is 1 if all attempts are errors.
    """
    return _beta_quantile(errors, correct + 1, miss), _beta_quantile(errors + 1, correct, 1 - miss)


def exact_limits_of_rate(
    rate: np.ndarray, trials: np.ndarray | float, miss: np.ndarray | float
) -> tuple[np.ndarray, np.ndarray]:
    """Return :func:`exact_limits` of a rate in a number of trials, which need not be whole.

    A rate may differ from 0 or 1 by rounding. Limits are NaN without a trial, or for a NaN.
    """
    rate = np.clip(rate, 0.0, 1.0)
    trials = np.asarray(trials, dtype=np.float64)
    rate = np.where(trials > 0, rate, np.nan)
    errors = rate * trials
    low, high = exact_limits(errors, trials - errors, miss)
    return np.where(rate <= ROUNDING, 0.0, low), np.where(rate >= 1 - ROUNDING, 1.0, high)


def _beta_quantile(a: np.ndarray, b: np.ndarray, level: np.ndarray | float) -> np.ndarray:
    """Return a quantile of the beta distribution, 0 or 1 where a parameter is 0."""
    with np.errstate(invalid="ignore"):
        quantile = scipy.special.betaincinv(np.maximum(a, 1e-300), np.maximum(b, 1e-300), level)
    return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, quantile))


def zero_error_bound(trials: Any, confidence: float = CONFIDENCE) -> np.ndarray:
    """Return the upper confidence bound of a rate without an error in independent trials.

    Parameters
    ----------
    trials : array_like of int
        Number of independent trials without an error: subjects, not attempts.
    confidence : float
        One-sided confidence level.

    Returns
    -------
    ndarray of float64
        ``1 - (1 - confidence) ** (1 / trials)``: about 3 / trials at 95 %. 1 without any trial.

    Examples
    --------
    >>> from bioeval import stats
    >>> print(f"{stats.zero_error_bound(100):.4f}")
    0.0295
    """
    number = require_numbers("trials", trials)
    if not (number >= 0).all():
        raise DataError(f"trials is {received(trials)}; expected numbers >= 0")
    with np.errstate(divide="ignore"):
        return -np.expm1(np.log1p(-check_confidence(confidence)) / number)


def rule_of_3(attempts: Any) -> np.ndarray:
    """Return the 95 % upper bound of a rate without an error in independent attempts.

    Parameters
    ----------
    attempts : array_like of int

    Returns
    -------
    ndarray of float64
        ``3 / attempts``, at most 1.

    Notes
    -----
    ISO/IEC 19795-1, "rule of 3". For a FAR give the number of pairs of people who are compared,
    each once, however many templates it has (docs/uncertainty.md, "How much data is needed").

    Examples
    --------
    >>> from bioeval import stats
    >>> float(stats.rule_of_3(3000))
    0.001
    """
    _, number = _checked_counts(0, attempts)
    with np.errstate(divide="ignore"):
        return np.minimum(RuleOf(3) / number, 1.0)


def rule_of_30(rate: Any) -> np.ndarray:
    """Return the number of attempts of which 30 are expected to be errors.

    Parameters
    ----------
    rate : array_like of float
        The expected rate.

    Returns
    -------
    ndarray of float64
        ``30 / rate``.

    Notes
    -----
    If the attempts are independent, a rate with 30 errors is within 30 % of the true one in 90 % of
    tests. Attempts of the same people are not: where some people have most errors, the rate is less
    often so near. The interval of a result says how near it is.

    Doddington et al. (2000), Speech Communication 31; ISO/IEC 19795-1, "rule of 30".

    Examples
    --------
    >>> from bioeval import stats
    >>> float(stats.rule_of_30(0.001))
    30000.0
    """
    expected_rate = require_numbers("rate", rate)
    if not ((expected_rate >= 0) & (expected_rate <= 1)).all():
        raise DataError(f"rate is {received(rate)}; expected rates in [0, 1]")
    with np.errstate(divide="ignore"):
        return RuleOf(30) / expected_rate


_MOST = 1e100  # the largest count: squares of larger counts overflow


def _checked_counts(errors: Any, attempts: Any) -> tuple[np.ndarray, np.ndarray]:
    try:
        error_count, number = np.broadcast_arrays(
            require_numbers("errors", errors), require_numbers("attempts", attempts)
        )
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"`errors` and `attempts` do not broadcast as counts: {error}") from None
    if not ((error_count >= 0) & (error_count <= number) & (number <= _MOST)).all():
        raise DataError(
            f"`attempts` is {received(attempts)}, and the number of errors {received(errors)}; "
            "expected finite counts with 0 <= errors <= attempts"
        )
    return error_count, number
