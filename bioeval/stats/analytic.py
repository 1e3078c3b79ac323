"""Variances of error rates by subject, in closed form (Mansfield and Wayman 2002)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from bioeval.stats.bootstrap import checked_counts, independent_trials
from bioeval.stats.bootstrap_limits import never_closed
from bioeval.stats.interval import Interval
from bioeval.stats.options import CONFIDENCE, check_confidence


def mansfield_wayman(errors: Any, attempts: Any, confidence: float = CONFIDENCE) -> Interval:
    """Return a rate with the normal interval of its variance by subject.

    Parameters
    ----------
    errors, attempts : array_like of int, shape (n,) or (n, n)
        Errors and attempts of each subject (genuine attempts), or of each ordered pair of
        subjects (impostor attempts, the diagonal left out).
    confidence : float
        Of both sides together.

    Returns
    -------
    Interval
        Cut to [0, 1]. Without an error, or without anything else, a one-sided bound by subjects.
        NaN where fewer than two subjects (four, of pairs) have attempts.

    Notes
    -----
    Mansfield and Wayman (2002), Best Practices in Testing and Reporting Performance of Biometric
    Devices 2.01, appendix B: of genuine attempts the ratio estimator; of pairs the variance after
    Bickel, in which two attempts are related when they share a subject. For equal numbers of
    attempts this is their formula to the letter; for unequal ones, errors are replaced by
    ``errors - rate * attempts``. Where that variance is not positive, which happens in small
    samples, the larger one is taken that counts what a pair shares with itself twice.

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
    half = ndtri(0.5 + confidence / 2) * spread
    ends = np.array(max(rate - half, 0.0)), np.array(min(rate + half, 1.0))
    low, high = never_closed(np.array(rate), *ends, trials, confidence)
    return Interval(rate, float(low), float(high), confidence, "mansfield-wayman (by subject)")


def variance(errors: np.ndarray, attempts: np.ndarray) -> float:
    """Return the variance of ``errors.sum() / attempts.sum()``; NaN of too few subjects."""
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
    """Return the variances of several rates of the same attempts.

    Parameters
    ----------
    errors : array, shape (k, subjects)
    attempts : array, shape (subjects,)

    Returns
    -------
    float64 array, shape (k,)
        NaN of fewer than two subjects with attempts.
    """
    total, n = float(attempts.sum()), int((attempts > 0).sum())
    if n < 2:
        return np.full(len(errors), np.nan)
    away = errors - attempts * (errors.sum(axis=1) / total)[:, None]
    return n / (n - 1) * (away**2).sum(axis=1) / total**2
