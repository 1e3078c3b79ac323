"""Confidence limits and p-values of the difference of two systems, and Holm's adjustment."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.bootstrap import confidence_limits
from bioeval.stats.options import IntervalOptions

#: Subjects that must be decided differently for a difference to be declared: with five, the most
#: extreme outcome of a two-sided sign test has a probability of 2 / 2^5 = 6.25 %.
LEAST_DISCORDANT = 6


def least_discordant(confidence: float) -> int:
    """Return the number of independent discordant subjects that significance needs."""
    return max(LEAST_DISCORDANT, math.ceil(1 - math.log2(1 - confidence)))


def sign_test_bound(units: int) -> float:
    """Return the smallest two-sided p-value of a sign test of independent units."""
    return min(1.0, 2.0 ** (1 - units))


def with_jackknife(options: IntervalOptions) -> IntervalOptions:
    """Return options whose columns of weights end with those of the jackknife."""
    return replace(options, method="subject-bootstrap-bca")


def percentile_limits(
    change: np.ndarray, tolerance: float, options: IntervalOptions
) -> tuple[float, float, float]:
    """Return the percentile limits of a bootstrapped difference, and its two-sided p-value.

    The p-value is the smallest ``1 - confidence`` at which the interval is beyond the tolerance, at
    least that of no replicate on the other side of 0.

    Parameters
    ----------
    change : float64 array, shape (columns,)
        In each column of :func:`bioeval.stats.resampling.weight_columns`.
    tolerance : float
        A difference of this size is rounding.
    """
    low, high = confidence_limits(change[None], replace(options, method="subject-bootstrap"))
    drawn = change[1 : 1 + options.replicates]
    drawn = np.sort(drawn[~np.isnan(drawn)])
    level = min(_level(drawn, tolerance), _level(-drawn[::-1], tolerance))
    p = min(1.0, 2 * max(level, 1 / (1 + len(drawn))))
    return float(low[0]), float(high[0]), p


def _level(ordered: np.ndarray, value: float) -> float:
    """Return the largest level whose quantile of sorted values is not above a value."""
    below, last = int(np.searchsorted(ordered, value, side="right")), len(ordered) - 1
    if not 0 < below <= last:
        return float(below > 0)
    before, after = ordered[below - 1], ordered[below]
    return float((below - 1 + (value - before) / (after - before)) / last)


def jackknife_limits(
    change: np.ndarray, tolerance: float, options: IntervalOptions
) -> tuple[float, float, float]:
    """Return the limits of a difference by the studentised jackknife, and its two-sided p-value.

    Without subject (or group of subjects) ``a`` the difference is ``x_a``; with ``m`` the mean of
    the ``n`` of these, ``V = (n - 1) / n * sum_a (x_a - m)^2``, and the limits are those of
    Student's t with ``n - 1`` degrees of freedom. The p-value is that of :func:`percentile_limits`.
    NaN where one of them is undefined, or where all are the same, which says nothing of their
    spread.
    """
    without = change[1 + options.replicates :]
    n = len(without)
    if n < 2 or np.isnan(without).any():
        return np.nan, np.nan, np.nan
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if not error > 0:
        return np.nan, np.nan, np.nan
    half = float(scipy.special.stdtrit(n - 1, 0.5 + options.confidence / 2)) * error
    value = float(change[0])
    p = float(2 * scipy.special.stdtr(n - 1, -max(abs(value) - tolerance, 0.0) / error))
    return value - half, value + half, p


def bounded_limits(
    low: float, high: float, tolerance: float, trials: int, confidence: float
) -> tuple[float, float, float]:
    """Return limits widened on both sides by a bound by subjects, and their p-value.

    As for a rate without an error among `trials` subjects: where every replicate has the same
    difference, resampling says nothing of its spread.
    """
    bound = float(zero_error_bound(trials, confidence))
    apart = min(max(low - tolerance, -high - tolerance, 0.0), 1.0)
    return low - bound, high + bound, (1 - apart) ** trials


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's step-down method; NaN are left out.

    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65-70. Valid under any dependence of the tests.
    """
    out = np.full(len(p), np.nan)
    tested = np.nonzero(~np.isnan(p))[0]
    order = tested[np.argsort(p[tested], kind="stable")]
    factor = len(order) - np.arange(len(order))
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factor))
    return out
