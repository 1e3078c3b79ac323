"""How many events there will be: counts at a rate that is known, or that has an interval."""

from __future__ import annotations

import numpy as np
import scipy.special
import scipy.stats

# Values of an uncertain rate, at quantiles of equal weight.
NODES = 400


def count_limits(trials: int, rate: np.ndarray, confidence: float) -> tuple[int, int]:
    """Return the middle of the number of events in so many independent trials.

    Parameters
    ----------
    trials : int
    rate : float array, shape (k,)
        The rate, or values of it that are equally likely.
    confidence : float
        The least proportion between the limits, both included.
    """
    tail = (1 - confidence) / 2
    return _quantile(trials, rate, tail), _quantile(trials, rate, 1 - tail)


def _quantile(trials: int, rate: np.ndarray, level: float) -> int:
    """Return the smallest count that is not exceeded with a probability of at least `level`."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        reached = scipy.stats.binom.cdf(middle, trials, rate).mean() >= level - 1e-12
        low, high = (low, middle) if reached else (middle, high)
    return high


def values_of_rate(rate: float, low: float, high: float, confidence: float) -> np.ndarray:
    """Return equally likely values of a rate with a confidence interval, shape (NODES,).

    Its logit is normal on either side of the estimate, so that the limits have their confidence.
    Without an error (or without a success) the limit is one-sided, and the rate falls off
    exponentially.
    """
    level = (np.arange(NODES) + 0.5) / NODES
    if rate <= 0.0:
        return -np.expm1(np.log1p(-level) / np.log1p(-confidence) * np.log1p(-min(high, 1 - 1e-12)))
    if rate >= 1.0:
        return 1 - values_of_rate(0.0, 0.0, 1 - low, confidence)
    logit = scipy.special.logit
    z = scipy.special.ndtri(0.5 + confidence / 2)
    down, up = ((logit(rate) - logit(x)) / z for x in (low, high))
    spread = [abs(x) for x in (down, up)]
    spread = [x if np.isfinite(x) else min(spread) for x in spread]  # a limit of 0 or 1
    normal = scipy.special.ndtri(level)
    return scipy.special.expit(logit(rate) + normal * np.where(normal < 0, *spread))
