"""Weights of people in replicates, and limits of what is estimated with or without some people.

The jackknife: a person leaves all sides, and an attempt of two people is missing without either of
them. The standard error is that of the logits themselves, so that one person who makes most of the
errors makes the limits wide. It is estimated from as many people as there are, and less surely
where few of them account for most of it: hence Student's distribution, with degrees of freedom
after Satterthwaite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from bioeval.base.arguments import check_confidence, require_number, require_numbers
from bioeval.base.random import Stream
from bioeval.stats.independent import clopper_pearson, zero_error_bound

#: Lower and upper confidence limits.
Limits = tuple[np.ndarray, np.ndarray]

#: Largest number of groups of subjects that are left out in turn.
GROUPS = 1000

# Far below one error in any countable number of attempts.
ROUNDING = 1e-12


def weights_of(
    subjects: int,
    seed: np.random.SeedSequence,
    replicates: int,
    no_person: np.ndarray | None,
) -> np.ndarray:
    """Return the weights of subjects, float32 of shape (subjects, columns).

    The first column is the data themselves; the replicates follow. What is of no person, such as
    all distractors, is not resampled: its weight is 1.
    """
    if no_person is not None and no_person.any():
        people = int(np.count_nonzero(~no_person))
        drawn = weights_of(people, seed, replicates, None)
        weights = np.ones((subjects, drawn.shape[1]), dtype=np.float32)
        weights[~no_person] = drawn
        return weights
    parts = [np.ones((subjects, 1), dtype=np.float32)]
    if subjects > 1 and replicates:
        parts.append(Stream(seed, 0).resampled(subjects, replicates))
    return np.concatenate(parts, axis=1)


def groups_of(subjects: int) -> np.ndarray:
    """Return the group in which each subject is left out: its own, up to a thousand subjects."""
    return np.arange(subjects) * min(subjects, GROUPS) // max(subjects, 1)


def limits_of(
    values: np.ndarray, confidence: float, replicates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper confidence limits of bootstrapped values, shape (..., columns).

    The columns are those of :func:`weights_of`; a replicate without an attempt of a class is NaN
    and is left out. Limits are NaN without replicates, or where the estimate is undefined.
    """
    estimate = values[..., 0]
    drawn = values[..., 1 : 1 + replicates]
    if not drawn.shape[-1]:
        return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
    tail = (1 - confidence) / 2
    low = quantiles(drawn, np.full(estimate.shape, tail))
    high = quantiles(drawn, np.full(estimate.shape, 1 - tail))
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


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


def logit_limits(estimate: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval on the logit scale; `half` is half its width on the scale of rates."""
    inside = (estimate > 0) & (estimate < 1)
    p = np.where(inside, estimate, 0.5)
    half = half / (p * (1 - p))
    middle = scipy.special.logit(p)
    low, high = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    return np.where(inside, low, estimate), np.where(inside, high, estimate)


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


def drawn_variance(drawn: np.ndarray, units: np.ndarray | int) -> np.ndarray:
    """Return the variance of a rate from its replicates, the last axis, over so many units.

    Replicates of ``n`` units vary ``(n - 1) / n`` times as much as the rate does.
    """
    units = np.asarray(units)
    return _variance(drawn) * units / np.maximum(units - 1, 1)


def _variance(drawn: np.ndarray) -> np.ndarray:
    """Return the variance over the last axis, NaN left out."""
    there = ~np.isnan(drawn)
    number = np.maximum(there.sum(axis=-1), 1)
    mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
    return np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number


def jackknife_limits(
    rate: np.ndarray,
    without: np.ndarray,
    confidence: float,
    trials: int,
    fewest: float = np.inf,
    *,
    chosen_anew: bool = False,
) -> Limits:
    """Return the limits of rates from those `without` each person, of shape (..., people).

    They are no wider than those of Clopper and Pearson for as many independent `trials` as there
    are people, or disjoint pairs of people, and are these where the rates without some person are
    0 or 1, or all the same. `fewest` is the number of people on the smaller of two sides.

    Of rates at thresholds that are `chosen_anew` without each person, every person moves the
    threshold: the degrees of freedom are one less than the people. As the threshold is uncertain,
    too, limits may be wider than those of independent trials.
    """
    rate, people = np.asarray(rate, dtype=np.float64), without.shape[-1]
    known = np.where(np.isnan(rate), 0.0, np.clip(rate, 0.0, 1.0))
    low, high = clopper_pearson(known * trials, trials, confidence)
    inside = (rate > 0) & (rate < 1) & ((without > 0) & (without < 1)).all(axis=-1)
    inside &= min(people, fewest) > 1
    squares = np.zeros((*inside.shape, people))
    logits = scipy.special.logit(without[inside])
    mean = logits.sum(axis=-1, keepdims=True) / max(people, 1)
    squares[inside] = (logits - mean) ** 2
    total, fourth = squares.sum(axis=-1), (squares**2).sum(axis=-1)
    inside &= total > _ROUNDING
    total, fourth = total[inside], fourth[inside]
    varies = np.maximum(fourth - total**2 / max(people, 1), _ROUNDING * fourth)
    freedom = np.full(len(total), min(people, fewest) - 1.0)
    if not chosen_anew:
        freedom = np.minimum(2 * total**2 / varies, freedom)
    half = scipy.special.stdtrit(freedom, 0.5 + confidence / 2)
    half = half * np.sqrt((people - 1) / max(people, 1) * total)
    middle = scipy.special.logit(rate[inside])
    below, above = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    if not chosen_anew:
        below, above = np.fmax(low[inside], below), np.fmin(high[inside], above)
    low[inside], high[inside] = below, above
    undefined = np.isnan(rate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


# Squares of logits that differ by rounding alone.
_ROUNDING = 1e-20


def student_limits(
    value: float, without: np.ndarray, confidence: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return Student's limits of a value, from its values without each of some units.

    Limits are within the bounds of the measure. A proportion of exactly 0 or 1, in every unit, has
    the bound of as many trials as there are units. Where a value is not defined without some unit,
    or all of the values are the same, there are no limits.
    """
    units = len(without)
    if np.isnan(value) or np.isnan(without).any() or units < 2:
        return np.nan, np.nan
    if np.ptp(without) <= _ALIKE * np.abs(without).max():
        if bounds == (0.0, 1.0) and value in bounds:
            nothing = np.array(np.nan)
            low, high = open_limits(np.array(value), nothing, nothing, units, confidence)
            return float(low), float(high)
        return np.nan, np.nan
    error = np.sqrt((units - 1) / units * ((without - without.mean()) ** 2).sum())
    half = float(scipy.special.stdtrit(units - 1, 0.5 + confidence / 2) * error)
    return max(value - half, bounds[0]), min(value + half, bounds[1])


# Values without each unit that differ by rounding alone, as a share of the largest.
_ALIKE = 1e-12


@dataclass(frozen=True)
class RepeatedMean:
    """The mean of a rate over folds, with its interval.

    Attributes
    ----------
    mean : float
        Over the folds that are not NaN.
    sd : float
        Standard deviation between these folds (``ddof = 1``).
    low, high : float
        The interval; NaN with fewer than two folds.
    folds : int
        Number of folds that are not NaN.
    """

    mean: float
    sd: float
    low: float
    high: float
    folds: int


def nadeau_bengio(
    values: Any, test_size: float, train_size: float, *, confidence: float = 0.95
) -> RepeatedMean:
    """Return the mean over folds with the interval of Nadeau and Bengio.

    The training parts of folds overlap, so their rates are not independent, and the usual
    standard error of a mean is too small. Nadeau and Bengio replace ``1 / J`` by
    ``1 / J + test_size / train_size``: with the variance ``s^2`` between the ``J`` folds,
    the interval is ``mean +- t(J - 1) sqrt((1 / J + test_size / train_size) s^2)``.

    Parameters
    ----------
    values : array_like
        The rate in each fold, of all repeats. NaN marks a fold whose class had no attempt; it is
        left out.
    test_size, train_size : float
        Sizes of the two parts of a fold, in subjects (in pairs where the folds are of pairs).
    confidence : float
        In (0, 1).

    Returns
    -------
    RepeatedMean

    Raises
    ------
    DataError
        If a size is not positive, or the confidence not inside (0, 1).

    Notes
    -----
    A heuristic without a proven coverage; the dependence of pairs that share subjects enters
    only through the spread between folds. The limits are not clipped to [0, 1]. Nadeau, C.,
    Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281,
    equation 10; for repeated folds: Bouckaert, R. R., Frank, E. (2004), PAKDD.

    Examples
    --------
    >>> from bioeval.stats import nadeau_bengio
    >>> found = nadeau_bengio([0.02, 0.04, 0.03, 0.03], test_size=10, train_size=30)
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.03, 0.0102, 0.0498)
    """
    test = require_number("test_size", test_size, above=0)
    train = require_number("train_size", train_size, above=0)
    confidence = check_confidence(confidence)
    array = require_numbers("values", values).ravel()
    array = array[~np.isnan(array)]
    n = len(array)
    mean = float(array.mean()) if n else float("nan")
    if n < 2:
        return RepeatedMean(mean, float("nan"), float("nan"), float("nan"), n)
    sd = float(array.std(ddof=1))
    half = (
        float(scipy.special.stdtrit(n - 1, 0.5 + confidence / 2))
        * sd
        * (1 / n + test / train) ** 0.5
    )
    return RepeatedMean(mean, sd, mean - half, mean + half, n)
