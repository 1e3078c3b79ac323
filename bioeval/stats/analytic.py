"""Closed-form variance of error rates by subject (Mansfield and Wayman 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.stats.bootstrap import checked_counts, independent_trials, open_limits
from bioeval.stats.options import CONFIDENCE, Interval, check_confidence


def mansfield_wayman(errors: Any, attempts: Any, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate with the normal interval of its variance by subject.

    Parameters
    ----------
    errors, attempts : array_like of int, shape (n,) or (n, n)
        Errors and attempts of each subject (genuine attempts), or of each ordered pair of
        subjects (impostor attempts, the diagonal left out).
    confidence : float
        Two-sided confidence level.

    Returns
    -------
    Interval
        Clipped to [0, 1]. For a rate of exactly 0 or 1, a one-sided bound by subjects. NaN where
        fewer than two subjects (for pairs, four) have attempts.

    Notes
    -----
    Mansfield and Wayman (2002), Best Practices in Testing and Reporting Performance of Biometric
    Devices 2.01, appendix B: the ratio estimator for genuine attempts; for pairs the variance
    after Bickel, in which attempts are correlated when they share a subject. For equal numbers of
    attempts this is their formula; for unequal ones, errors are replaced by
    ``errors - rate * attempts``. Where that variance is not positive, which happens in small
    samples, the larger estimate is used that counts the covariance of a pair with itself twice.

    Examples
    --------
    >>> from bioeval import stats
    >>> found = stats.mansfield_wayman([0, 1, 0, 2, 0, 1], [4, 4, 4, 4, 4, 4])
    >>> print(f"{found.estimate:.3f} [{found.low:.3f}, {found.high:.3f}]")
    0.167 [0.003, 0.330]
    """
    x, n = checked_counts(errors, attempts)
    confidence = check_confidence(confidence)
    total, trials = float(n.sum()), independent_trials(n)
    rate = float(x.sum()) / total if total else np.nan
    spread = np.sqrt(variance(x, n))
    half = scipy.special.ndtri(0.5 + confidence / 2) * spread
    limits = np.array(max(rate - half, 0.0)), np.array(min(rate + half, 1.0))
    low, high = open_limits(np.array(rate), *limits, trials, confidence)
    return Interval(rate, float(low), float(high), confidence, "mansfield-wayman (by subject)")


def variance(errors: np.ndarray, attempts: np.ndarray) -> float:
    """Return the variance of ``errors.sum() / attempts.sum()``; NaN for too few subjects."""
    total = float(attempts.sum())
    if not total:
        return float("nan")
    away = errors - attempts * (float(errors.sum()) / total)
    if errors.ndim == 1:
        return float(ratio_variances(errors[None], attempts)[0])
    n = int((attempts.any(axis=0) | attempts.any(axis=1)).sum())
    if n < 4:
        return float("nan")
    shared = float(((away.sum(axis=0) + away.sum(axis=1)) ** 2).sum())
    itself = float((away * (away + away.T)).sum())
    scale = n * (n - 1) / ((n - 2) * (n - 3)) / total**2
    return max(shared - itself, 0.0) * scale or shared / total**2


def ratio_variances(errors: np.ndarray, attempts: np.ndarray) -> np.ndarray:
    """Return the variances of several rates over the same attempts.

    Parameters
    ----------
    errors : array, shape (k, subjects)
    attempts : array, shape (subjects,)

    Returns
    -------
    float64 array, shape (k,)
        NaN for fewer than two subjects with attempts.
    """
    total, n = float(attempts.sum()), int((attempts > 0).sum())
    if n < 2:
        return np.full(len(errors), np.nan)
    away = errors - attempts * (errors.sum(axis=1) / total)[:, None]
    return n / (n - 1) * (away**2).sum(axis=1) / total**2
