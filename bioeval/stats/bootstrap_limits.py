"""The ends of an interval, from what a value becomes in the replicates."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from bioeval.stats.binomial import zero_error_bound
from bioeval.stats.options import Asked

# Far below one error in any number of attempts that is counted.
ROUNDING = 1e-12


def ends(values: np.ndarray, asked: Asked) -> tuple[np.ndarray, np.ndarray]:
    """Return low and high by a bootstrap method.

    Parameters
    ----------
    values : float64 array, shape (..., columns)
        The value in each column of :func:`bioeval.stats.resampling.weight_columns`; NaN where a
        replicate has no attempt of a class, which leaves it out.

    Returns
    -------
    low, high : float64 arrays, shape (...)
        NaN where nothing was resampled, or the value itself is not defined.
    """
    estimate = values[..., 0]
    drawn = values[..., 1 : 1 + asked.replicates]
    nothing = np.full(estimate.shape, np.nan)
    if not drawn.shape[-1]:
        return nothing, nothing.copy()
    tail = (1 - asked.confidence) / 2
    if asked.method.endswith("logit"):
        low, high = _logit(estimate, drawn, tail)
    elif asked.method.endswith("bca"):
        low, high = _bca(estimate, drawn, values[..., 1 + asked.replicates :], tail)
    else:
        low, high = (
            quantiles(drawn, np.full(estimate.shape, tail)),
            quantiles(drawn, np.full(estimate.shape, 1 - tail)),
        )
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def quantiles(drawn: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return a quantile of the last axis, a share each, NaN left out.

    Linear between order statistics, as numpy does by default.
    """
    ordered = np.sort(drawn, axis=-1)  # NaN last
    number = (~np.isnan(ordered)).sum(axis=-1)
    place = np.clip(share, 0, 1) * np.maximum(number - 1, 0)
    place = np.where(np.isnan(place), 0.0, place)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    first = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    second = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    return np.where(np.isnan(share), np.nan, first + (place - below) * (second - first))


def _logit(estimate: np.ndarray, drawn: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a normal interval on the logit scale, with the standard error of the replicates."""
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    spread = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
    inside = (estimate > 0) & (estimate < 1)
    p = np.where(inside, estimate, 0.5)
    half = -ndtri(tail) * np.sqrt(spread) / (p * (1 - p))
    low, high = expit(logit(p) - half), expit(logit(p) + half)
    return np.where(inside, low, estimate), np.where(inside, high, estimate)


def _bca(
    estimate: np.ndarray, drawn: np.ndarray, without: np.ndarray, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval of Efron (1987)."""
    at = estimate[..., None]
    number = np.maximum((~np.isnan(drawn)).sum(axis=-1), 1)
    below = ((drawn < at).sum(axis=-1) + 0.5 * (drawn == at).sum(axis=-1)) / number
    bias = ndtri(np.clip(below, 1 / (number + 1), number / (number + 1)))
    there = ~np.isnan(without)
    mean = np.where(there, without, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    away = np.where(there, mean[..., None] - without, 0.0)
    squares = (away**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.where(squares > 0, (away**3).sum(axis=-1) / (6 * squares**1.5), 0.0)
    shares = []
    for z in (ndtri(tail), -ndtri(tail)):
        moved = bias + z
        shares.append(ndtr(bias + moved / np.maximum(1 - speed * moved, 1e-3)))
    return quantiles(drawn, shares[0]), quantiles(drawn, shares[1])


def never_closed(
    estimate: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    trials: int,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Open the interval of a rate of exactly 0 or 1 by a one-sided bound.

    Resampling data without an error gives no error, and the interval [0, 0] would say that the
    rate is known. What is known is that none of `trials` independent trials was an error.

    Parameters
    ----------
    trials : int
        Subjects (0 of only one), or pairs of subjects of whom nobody is in two; without any, the
        ends are not defined.
    """
    if not trials:
        nothing = np.full(np.shape(estimate), np.nan)
        return nothing, nothing.copy()
    bound = float(zero_error_bound(trials, confidence))
    # Under expected ties a rate is a sum of fractions, and may miss 1 by a rounding.
    none, all_ = estimate <= ROUNDING, estimate >= 1 - ROUNDING
    low = np.where(none, 0.0, np.where(all_, 1 - bound, low))
    high = np.where(none, bound, np.where(all_, 1.0, high))
    return low, high
