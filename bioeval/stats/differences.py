"""Confidence limits and p-values of the difference of two systems, and Holm's adjustment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from bioeval.stats.bootstrap_limits import confidence_limits
from bioeval.stats.options import IntervalOptions

#: Subjects that must be decided differently for a difference to be declared: with five, the most
#: extreme outcome of a two-sided sign test has a probability of 2 / 2^5 = 6.25 %.
LEAST_DISCORDANT = 6


def with_jackknife(options: IntervalOptions) -> IntervalOptions:
    """Return options whose columns of weights end with those of the jackknife."""
    return replace(options, method="subject-bootstrap-bca")


def percentile_limits(change: np.ndarray, options: IntervalOptions) -> tuple[float, float, float]:
    """Return the percentile limits of a bootstrapped difference, and its two-sided p-value.

    Parameters
    ----------
    change : float64 array, shape (columns,)
        In each column of :func:`bioeval.stats.resampling.weight_columns`.
    """
    low, high = confidence_limits(change[None], replace(options, method="subject-bootstrap"))
    drawn = change[1 : 1 + options.replicates]
    drawn = drawn[~np.isnan(drawn)]
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (1 + least) / (1 + len(drawn)))
    return float(low[0]), float(high[0]), p


def jackknife_limits(change: np.ndarray, options: IntervalOptions) -> tuple[float, float, float]:
    """Return the limits of a difference by the studentised jackknife, and its two-sided p-value.

    Without subject (or group of subjects) ``a`` the difference is ``x_a``; with ``m`` the mean of
    the ``n`` of these, ``V = (n - 1) / n * sum_a (x_a - m)^2``, and the limits are those of
    Student's t with ``n - 1`` degrees of freedom. NaN where one of them is undefined, or where all
    are the same, which says nothing of their spread.
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
    p = float(2 * scipy.special.stdtr(n - 1, -abs(value) / error))
    return value - half, value + half, p


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's step-down method; NaN are no tests.

    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65-70. Valid under any dependence of the tests.
    """
    out = np.full(len(p), np.nan)
    tested = np.nonzero(~np.isnan(p))[0]
    order = tested[np.argsort(p[tested], kind="stable")]
    factor = len(order) - np.arange(len(order))
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factor))
    return out
