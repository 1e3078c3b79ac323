"""Limits of any measure, from its values without each person or with people drawn again.

``columns`` are a value and its values without each person, ``(..., 1 + people)``: a person is left
out on all sides, and thresholds that a measure chooses are chosen anew. If three people with ten
attempts each make 3, 1 and 0 errors, they are ``[4 / 30, 1 / 20, 3 / 20, 4 / 20]``.

:func:`jackknife` is the variance of the value (Tukey 1958); its degrees of freedom follow from the
number of people who matter (Satterthwaite 1946). :func:`student` has the limits, on the logit scale
if the measure has bounds (Efron and Tibshirani 1993, An introduction to the bootstrap, chapter 11).
Rates have limits of their own (:mod:`bioeval.stats.rate_limits`), which hold without an error, too.

If people are drawn again, ``columns`` are a value and its replicates, ``(..., 1 + replicates)``,
and :func:`percentile` has the limits.
"""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.stats.independent import ROUNDING, exact_limits_of_rate, zero_error_bound

#: Lower and upper confidence limits.
Limits = tuple[np.ndarray, np.ndarray]

#: Smaller variances are rounding.
NO_VARIANCE = 1e-20


def jackknife(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of a value, and its degrees of freedom, from values without each person.

    Let ``d_a`` be the value without person a, of n people, less the mean of these values. The
    variance is ``v = (n - 1) / n sum d_a^2``, and Satterthwaite's degrees of freedom are ``2 (sum
    d^2)^2 / (sum d^4 - (sum d^2)^2 / n)``, at most ``n - 1`` (Efron and Tibshirani 1993;
    Satterthwaite 1946). If k people among many err alike, the degrees are 2 k: few people who make
    most errors say little. Variance and degrees are NaN where a value is NaN.
    """
    without_person = columns[..., 1:]
    people = without_person.shape[-1]
    if not people:
        unknown = np.full(columns.shape[:-1], np.nan)
        return unknown, unknown
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = without_person - without_person.mean(axis=-1, keepdims=True)
        squares *= squares
        total = squares.sum(axis=-1)
        fourth = np.einsum("...i,...i", squares, squares)
        # If all differ alike, the divisor is 0 up to rounding.
        freedom = 2 * total**2 / np.maximum(fourth - total**2 / people, 0.0)
    freedom = np.where(total > NO_VARIANCE, freedom, 0.0)
    freedom = np.where(np.isnan(total), np.nan, freedom)
    return (people - 1) / people * total, np.clip(freedom, 0, people - 1)


def student(
    columns: np.ndarray,
    confidence: float,
    units: np.ndarray | float,
    bounds: tuple[float, float],
) -> Limits:
    """Return Student's limits of a measure with some bounds, which may be infinite.

    With finite bounds, they are those of the share of the way from the lower to the upper bound
    (:func:`student_of_proportion`). Else they are ``value -+ t se``, without a logit scale and
    without regard to the `units`, and NaN if nobody moves the value.
    """
    least, largest = bounds
    if np.isfinite(bounds).all():
        width = largest - least
        low, high = student_of_proportion((columns - least) / width, confidence, units)
        return least + width * low, least + width * high
    low, high, variance = _student_ends(columns, confidence)
    is_known = variance > NO_VARIANCE * np.maximum(1, columns[..., 0] ** 2)  # beyond rounding
    low = np.where(is_known, np.fmax(low, least), np.nan)
    high = np.where(is_known, np.fmin(high, largest), np.nan)
    return low, high


def student_of_proportion(
    columns: np.ndarray, confidence: float, units: np.ndarray | float
) -> Limits:
    """Return Student's limits of values from 0 to 1, on the logit scale.

    They are no wider than the exact limits of `units` independent trials. If the value is 0 or 1,
    or is the same without each person, they are the one-sided bound of these trials, at both sides.
    Without units, there are no limits.
    """
    low, high, variance = student_of_logits(columns, confidence)
    units = np.asarray(units, dtype=np.float64)
    value = np.clip(columns[..., 0], 0.0, 1.0)
    exact_low, exact_high = exact_limits_of_rate(value, units, (1 - confidence) / 2)
    low = np.fmax(low, exact_low)
    high = np.fmin(high, exact_high)
    # At 0 or 1 logits are infinite.
    has_no_variance = ~np.isfinite(variance) | (variance < NO_VARIANCE)
    bound = zero_error_bound(units, confidence)
    low = np.where(has_no_variance, np.maximum(value - bound, 0), low)
    high = np.where(has_no_variance, np.minimum(value + bound, 1), high)
    has_limits = (units > 0) & ~np.isnan(value)
    return np.where(has_limits, low, np.nan), np.where(has_limits, high, np.nan)


def student_of_logits(
    columns: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Student's limits of values from 0 to 1 on the logit scale, and the logits' variance.

    At 0 or 1, where logits are infinite, limits and variance are not finite.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high, variance = _student_ends(scipy.special.logit(columns), confidence)
    return scipy.special.expit(low), scipy.special.expit(high), variance


def _student_ends(
    columns: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``value - t se``, ``value + t se`` and the variance, ``se^2``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = jackknife(columns)
        quantile = scipy.special.stdtrit(np.maximum(freedom, 1), 0.5 + confidence / 2)
        half = quantile * np.sqrt(variance)
        return columns[..., 0] - half, columns[..., 0] + half, variance


def limits_of_sum(
    *parts: tuple[np.ndarray | float, np.ndarray | float, np.ndarray | float],
    least: float = -np.inf,
) -> Limits:
    """Return the limits of a sum of independent parts, each part a value with limits.

    The squares of the distances of limits are added (Zou and Donner 2008, Statistics in Medicine
    27, 1693-1702). Limits are NaN if a part's are; none is below `least`, the least possible sum.
    """
    value = below = above = np.zeros(())
    for part, low, high in parts:
        value = np.asarray(value + part)
        below, above = np.hypot(below, part - low), np.hypot(above, high - part)
    return np.maximum(value - below, least), value + above


def percentile(
    columns: np.ndarray, confidence: float, units: np.ndarray | float | None = None
) -> Limits:
    """Return the percentiles of replicates, (..., 1 + replicates), without NaN.

    With independent `units`, a rate of exactly 0 or 1 has a one-sided bound: data without errors
    have no replicate with one. Limits are NaN without replicates or units, or where the value is.
    """
    value = columns[..., 0]
    drawn = columns[..., 1:]
    if not drawn.shape[-1]:
        return np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    tail = (1 - confidence) / 2
    unknown = np.isnan(value)
    ends = quantiles(drawn, np.array([tail, 1 - tail]))
    low, high = np.where(unknown, np.nan, ends)
    if units is None:
        return low, high
    bound = zero_error_bound(units, confidence)
    # Under expected ties a rate is a sum of fractions, and may differ from 1 by rounding.
    is_zero = value <= ROUNDING
    is_one = value >= 1 - ROUNDING
    low = np.where(is_one, 1 - bound, low)
    high = np.where(is_one, 1.0, high)
    low = np.where(is_zero, 0.0, low)
    high = np.where(is_zero, bound, high)
    has_units = np.asarray(units) > 0
    return np.where(has_units, low, np.nan), np.where(has_units, high, np.nan)


def quantiles(drawn: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return quantiles over the last axis, (levels, ...), linear between values, without NaN."""
    ordered = np.sort(drawn, axis=-1)  # NaN last
    last = np.maximum((~np.isnan(ordered)).sum(axis=-1) - 1, 0)
    position = np.multiply.outer(np.clip(levels, 0, 1), last)
    below = np.floor(position).astype(np.int64)
    above = np.ceil(position).astype(np.int64)
    # (levels, ...): the order statistics on both sides of each quantile.
    first, second = (
        np.moveaxis(np.take_along_axis(ordered, np.moveaxis(x, 0, -1), axis=-1), -1, 0)
        for x in (below, above)
    )
    with np.errstate(invalid="ignore"):  # infinity - infinity, between two infinite values
        between = first + (position - below) * (second - first)
    return np.where(first == second, first, between)
