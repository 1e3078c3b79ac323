"""Limits of the difference of two systems in a measure, and its p-value."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from bioeval import stats
from bioeval.stats.options import IntervalMethod
from bioeval.studies.compare.measures import PairedMeasure


class DifferenceLimits(NamedTuple):
    """Limits of a difference, and its two-sided p-value; NaN where they are not defined."""

    low: float = np.nan
    high: float = np.nan
    p: float = np.nan


def difference_limits(measure: PairedMeasure, interval: IntervalMethod) -> DifferenceLimits:
    """Return the limits of the difference of a measure, and its p-value.

    The p-value is at most ``1 - confidence`` where the limits are beyond the tolerance, and nowhere
    else. It is at least that of a sign test of the independent discordant subjects; where this is
    too much, the limits are widened to 0.
    """
    change, tolerance = measure.change, measure.attempt / 2
    if np.isnan(change[0]) or not measure.trials:
        return DifferenceLimits()
    if measure.same:
        return DifferenceLimits(0.0, 0.0, 1.0)
    rule = measure.scalar.jackknife
    drawn = change[1 : 1 + interval.replicates]
    if rule == "alone" and np.isnan(drawn).all():  # of people left out alone
        low, high, p = jackknife_limits(change, tolerance, interval)
        if np.isnan(low):
            return DifferenceLimits()
    else:
        low, high, p = percentile_limits(change, tolerance, interval)
    if rule:
        jackknifed = jackknife_limits(change, tolerance, interval)
        if not np.isnan(jackknifed).any():
            if rule == "wider":
                low, high = min(low, jackknifed.low), max(high, jackknifed.high)
                p = max(p, jackknifed.p)
            else:
                low, high, p = jackknifed
    if high - low < tolerance:
        low, high, p = bounded_limits(low, high, tolerance, measure.trials, interval.confidence)
    # The smallest two-sided p-value of a sign test of independent units.
    p = max(p, min(1.0, 2.0 ** (1 - measure.evidence)))
    if p > 1 - interval.confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    smallest, largest = measure.scalar.bounds
    widest = largest - smallest
    return DifferenceLimits(max(low, -widest), min(high, widest), p)


def population_of(measure: PairedMeasure, interval: IntervalMethod) -> str:
    """Return the population that the limits of a measure are for.

    Where a rate without some person is undefined, or all of them are the same, the limits are those
    of the replicates alone.
    """
    if measure.same or not np.isnan(jackknife_limits(measure.change, 0.0, interval).low):
        return measure.population
    return measure.drawn_for


#: Subjects that must be decided differently for a difference to be declared: with five, the most
#: extreme outcome of a two-sided sign test has a probability of 2 / 2^5 = 6.25 %.
LEAST_DISCORDANT = 6


def least_discordant(confidence: float) -> int:
    """Return the number of independent discordant subjects that significance needs."""
    return max(LEAST_DISCORDANT, math.ceil(1 - math.log2(1 - confidence)))


def percentile_limits(
    change: np.ndarray, tolerance: float, options: IntervalMethod
) -> DifferenceLimits:
    """Return the percentile limits of a bootstrapped difference, and its two-sided p-value.

    The p-value is the smallest ``1 - confidence`` at which the interval is beyond the tolerance, at
    least that of no replicate on the other side of 0.

    - `change` (float64 (columns,)): in each column of
      :meth:`IntervalMethod.weights`
    - `tolerance`: a difference of this size is rounding
    """
    low, high = replace(options, method="subject-bootstrap").limits(change[None])
    drawn = change[1 : 1 + options.replicates]
    drawn = np.sort(drawn[~np.isnan(drawn)])
    level = min(_level(drawn, tolerance), _level(-drawn[::-1], tolerance))
    p = min(1.0, 2 * max(level, 1 / (1 + len(drawn))))
    return DifferenceLimits(float(low[0]), float(high[0]), p)


def _level(ordered: np.ndarray, value: float) -> float:
    """Return the largest level whose quantile of sorted values is not above a value."""
    below, last = int(np.searchsorted(ordered, value, side="right")), len(ordered) - 1
    if not 0 < below <= last:
        return float(below > 0)
    before, after = ordered[below - 1], ordered[below]
    return float((below - 1 + (value - before) / (after - before)) / last)


def jackknife_limits(
    change: np.ndarray, tolerance: float, options: IntervalMethod
) -> DifferenceLimits:
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
        return DifferenceLimits()
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if not error > 0:
        return DifferenceLimits()
    half = float(scipy.special.stdtrit(n - 1, 0.5 + options.confidence / 2)) * error
    value = float(change[0])
    p = float(2 * scipy.special.stdtr(n - 1, -max(abs(value) - tolerance, 0.0) / error))
    return DifferenceLimits(value - half, value + half, p)


def bounded_limits(
    low: float, high: float, tolerance: float, trials: int, confidence: float
) -> DifferenceLimits:
    """Return limits widened on both sides by a bound by subjects, and their p-value.

    As for a rate without an error among `trials` subjects: where every replicate has the same
    difference, resampling says nothing of its spread.
    """
    bound = float(stats.zero_error_bound(trials, confidence))
    apart = min(max(low - tolerance, -high - tolerance, 0.0), 1.0)
    return DifferenceLimits(low - bound, high + bound, (1 - apart) ** trials)
