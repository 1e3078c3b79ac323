"""Limits of what was estimated anew in each replicate, and bounds of rates of exactly 0 or 1."""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.stats.binomial import zero_error_bound

# Far below one error in any countable number of attempts.
ROUNDING = 1e-12


def quantiles(drawn: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return a quantile over the last axis, at a level for each row, ignoring NaN.

    Linear between order statistics, as numpy does by default.
    """
    ordered = np.sort(drawn, axis=-1)  # NaN last
    number = (~np.isnan(ordered)).sum(axis=-1)
    place = np.clip(level, 0, 1) * np.maximum(number - 1, 0)
    place = np.where(np.isnan(place), 0.0, place)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    first = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    second = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    return np.where(np.isnan(level), np.nan, first + (place - below) * (second - first))


def logit(estimate: np.ndarray, drawn: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a normal interval on the logit scale, with the replicates' standard error."""
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    spread = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
    return logit_limits(estimate, -scipy.special.ndtri(tail) * np.sqrt(spread))


def logit_limits(estimate: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval on the logit scale; `half` is half its width on the scale of rates."""
    inside = (estimate > 0) & (estimate < 1)
    p = np.where(inside, estimate, 0.5)
    half = half / (p * (1 - p))
    middle = scipy.special.logit(p)
    low, high = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    return np.where(inside, low, estimate), np.where(inside, high, estimate)


def bca(
    estimate: np.ndarray, drawn: np.ndarray, without: np.ndarray, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval of Efron (1987)."""
    at = estimate[..., None]
    number = np.maximum((~np.isnan(drawn)).sum(axis=-1), 1)
    below = ((drawn < at).sum(axis=-1) + 0.5 * (drawn == at).sum(axis=-1)) / number
    bias = scipy.special.ndtri(np.clip(below, 1 / (number + 1), number / (number + 1)))
    there = ~np.isnan(without)
    mean = np.where(there, without, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    away = np.where(there, mean[..., None] - without, 0.0)
    squares = (away**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.where(squares > 0, (away**3).sum(axis=-1) / (6 * squares**1.5), 0.0)

    def limit(z: float) -> np.ndarray:
        moved = bias + z
        level = scipy.special.ndtr(bias + moved / np.maximum(1 - speed * moved, 1e-3))
        return quantiles(drawn, level)

    z = scipy.special.ndtri(tail)
    return limit(z), limit(-z)


def open_limits(
    estimate: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    trials: int | np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the limits of a rate of exactly 0 or 1 by a one-sided bound.

    Resampling data without errors yields no errors, and the interval [0, 0] would claim certainty.
    The data show only that none of `trials` independent trials (subjects, or disjoint pairs of
    subjects) was an error. Without a trial the limits are NaN.
    """
    bound = zero_error_bound(trials, confidence)
    # Under expected ties a rate is a sum of fractions, and may differ from 1 by rounding.
    none, all_ = estimate <= ROUNDING, estimate >= 1 - ROUNDING
    low = np.where(none, 0.0, np.where(all_, 1 - bound, low))
    high = np.where(none, bound, np.where(all_, 1.0, high))
    return np.where(trials, low, np.nan), np.where(trials, high, np.nan)
