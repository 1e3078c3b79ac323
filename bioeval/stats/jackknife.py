"""Limits of a measure from its values without each person (the jackknife).

``columns`` are a value and its values without each person, ``(..., 1 + people)``: a person is left
out on all sides, and thresholds that a measure chooses are chosen anew. If three people with ten
attempts each make 3, 1 and 0 errors, they are ``[4 / 30, 1 / 20, 3 / 20, 4 / 20]``.

:func:`jackknife` is the variance. For rates, it becomes an effective number of attempts
(:func:`effective_attempts`), whose exact limits a :class:`RateCurve` or :func:`limits_of_rate` has;
:func:`student` has the limits of other measures.

Rates at a threshold have the exact limits of an effective number of attempts (Korn and Graubard
1998), also if there is no error. Other measures have Student's limits on the logit scale (Efron and
Tibshirani 1993, An introduction to the bootstrap, chapter 11). The variance is the jackknife's
(Tukey 1958); its degrees of freedom follow from the number of people who matter (Satterthwaite
1946).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from bioeval.stats.independent import exact_limits, zero_error_bound

#: Lower and upper confidence limits.
Limits = tuple[np.ndarray, np.ndarray]

#: The fewest people, or disjoint pairs of people, who must err so that their errors show how
#: uncertain a rate is: as many as a sign test of two systems needs. Among 3 to 10, it is the
#: smallest number with which limits hold from 20 people on, also with unequal numbers of templates.
#: Degrees of freedom cannot tell: two false accepts of two pairs among 20 people have nearly the
#: largest possible number.
LEAST_ERRING = 6.0

#: The number of people whom the upper limits of FAR and FRR count twice. With none, up to 12 % of
#: simulated data sets showed guarantees that do not hold; with two, up to 8 %.
DOUBLED = 2

# The degrees of freedom from which on enough people move a rate whose threshold is chosen on the
# data: five people who err alike have ten.
_MOVING_FREEDOM = 10.0

# Smaller variances are rounding.
_NOTHING = 1e-20

# Far below one error in any countable number of attempts.
ROUNDING = 1e-12


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
    freedom = np.where(total > _NOTHING, freedom, 0.0)
    freedom = np.where(np.isnan(total), np.nan, freedom)
    return (people - 1) / people * total, np.clip(freedom, 0, people - 1)


def exact(rate: np.ndarray, trials: np.ndarray | float, miss: np.ndarray | float) -> Limits:
    """Return the limits of Clopper and Pearson (1934), each missing with probability `miss`.

    The number of trials need not be whole. Limits are NaN if the rate is NaN, or without a trial.
    """
    rate = np.clip(rate, 0.0, 1.0)
    trials = np.asarray(trials, dtype=np.float64)
    rate = np.where(trials > 0, rate, np.nan)
    errors = rate * trials
    low, high = exact_limits(errors, trials - errors, miss)
    return np.where(rate <= ROUNDING, 0.0, low), np.where(rate >= 1 - ROUNDING, 1.0, high)


class Sample(NamedTuple):
    """The attempts of a rate, and how many independent trials they are worth.

    Where fewer than :data:`LEAST_ERRING` people err, what other thresholds show about the
    dependence of attempts does not hold: the few may always err, and others never. There, attempts
    are worth at most one trial for each person, or pair of people (`most`).
    """

    attempts: float
    units: float  # the fewest trials: people, or disjoint pairs (Kish's effective number)
    sides: int  # people in an attempt: one or two
    #: (people,): the share of all attempts in which each person takes part; None: equal shares.
    shares: np.ndarray | None = None
    least: float | None = None  # the fewest trials where enough people err; None: `units`
    most: float | None = None  # the most trials where few people err; None: `units`

    def shares_in(self, columns: np.ndarray) -> np.ndarray:
        """Return the shares of the people who are left out in `columns`, (..., 1 + people)."""
        people = columns.shape[-1] - 1
        if self.shares is not None:
            return self.shares
        return np.full(people, self.sides / max(people, 1))


def _erring_units(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return the effective number (Kish 1965) of units that err, as if all had equal errors.

    With ``x_a`` the rate without person ``a``, who takes part in the share ``s_a`` of all attempts,
    this person takes part in the share ``e_a = 1 - (1 - s_a) x_a / x`` of all errors. The number is
    ``(sum e)^2 / sum e^2``, over the number of people in an attempt.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1 - (1 - sample.shares_in(columns)) * columns[..., 1:] / columns[..., :1]
        share = np.where(columns[..., :1] > ROUNDING, share, 0.0)  # without an error, nobody errs
        share = np.clip(share, 0.0, None)
        number = share.sum(axis=-1) ** 2 / (share**2).sum(axis=-1)
    return np.where(np.isnan(number), 0.0, number / sample.sides)


def enough_err(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return whether enough people err, and enough do not, to show how uncertain a rate is.

    With few people, half of the independent units are enough. A rate that is 0 or 1 without a
    person is uncertain without a limit.
    """
    if columns.shape[-1] < 3:
        return np.zeros(columns.shape[:-1], dtype=bool)
    number = np.minimum(_erring_units(columns, sample), _erring_units(1 - columns, sample))
    is_uncertain = ((columns > ROUNDING) & (columns < 1 - ROUNDING)).all(axis=-1)
    shares = sample.shares_in(columns)
    squares = np.maximum((shares**2).sum(axis=-1), _NOTHING)  # 0 without an attempt
    units = shares.sum(axis=-1) ** 2 / squares / sample.sides
    # The margin is for rounding: six people who err alike are enough.
    return is_uncertain & (number >= np.minimum(LEAST_ERRING, units / 2) - 1e-9)


def moved_by_many(columns: np.ndarray) -> np.ndarray:
    """Return whether enough people move rates (..., 1 + people) whose threshold is chosen anew.

    Fewer people are needed than for :func:`enough_err`, since everyone moves a threshold.
    """
    freedom = jackknife(columns)[1]
    people = columns.shape[-1] - 1
    with np.errstate(invalid="ignore"):
        return freedom >= min(_MOVING_FREEDOM, 0.4 * max(people - 1, 1))


def _student_share(freedom: np.ndarray | float, miss: float) -> np.ndarray:
    """Return ``(z / t)^2`` of the normal and Student's quantiles: the share of attempts left."""
    level = min(miss, 0.5 - 1e-6)  # both quantiles are 0 at 0.5
    student = scipy.special.stdtrit(np.maximum(freedom, 1), level)
    return (scipy.special.ndtri(level) / student) ** 2


def _effective_trials(
    columns: np.ndarray, miss: float, sample: Sample
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where enough people err, (...), and two effective numbers of attempts there.

    Both numbers are ``p (1 - p) / v (z / t)^2``, by the variance of the jackknife (Korn and
    Graubard 1998, *Survey Methodology* 24): with Student's quantile ``t`` limits are wider if few
    people matter. The first takes the variance ``v`` of the rates, and the second that of their
    logits, over the square of the slope of the logit; it is smaller if the rate would be much
    smaller without one person. They are (k,), of the k rates at which enough err.
    """
    rate = columns[..., 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = jackknife(columns)
        is_known = enough_err(columns, sample) & (variance > _NOTHING)
        binomial = (rate * (1 - rate))[is_known]
        by_rates = binomial / variance[is_known] * _student_share(freedom[is_known], miss)
        logits = scipy.special.logit(np.clip(columns[is_known], 0.0, 1.0))
        variance, freedom = jackknife(logits)
        by_logits = _student_share(freedom, miss) / binomial / variance
    return is_known, by_rates, by_logits


def effective_attempts(columns: np.ndarray, sample: Sample, miss: float) -> np.ndarray:
    """Return the effective number of attempts along a curve, from columns in order of their rates.

    - Where enough people err, the number follows from the variance of the rate. It is at least
      `least` of the sample.
    - Elsewhere, the number is taken from the nearest rates at which enough err (a generalised
      variance function: Wolter 2007, Introduction to variance estimation, chapter 7): smaller rates
      share a number, so that their limits rise with the rates. It is at least `units`, and at most
      `most`.
    - If enough err nowhere, it is the number of independent `units`: people, or disjoint pairs.

    No number is larger than the number of attempts.
    """
    attempts, units = sample.attempts, sample.units
    rate = columns[:, 0]
    is_known, by_rates, by_logits = _effective_trials(columns, miss, sample)
    if not is_known.any():
        return np.full(len(rate), np.fmin(units, attempts), dtype=np.float64)
    # Linear between known rates; constant before the first and after the last.
    most = units if sample.most is None else sample.most
    number = np.minimum(np.interp(rate, rate[is_known], by_rates), most)
    number[is_known] = np.fmin(by_rates, by_logits)
    number = np.where(np.isnan(number), 0.0, number)
    least = units if sample.least is None else sample.least
    fewest = np.fmin(np.where(is_known, least, units), attempts)
    return np.clip(number, fewest, attempts)


def with_doubled_people(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return rates in which the :data:`DOUBLED` people who raise them most are counted twice.

    `columns` are (..., 1 + people). Leaving out person `a`, who takes part in the share ``s`` of
    the attempts, lowers the rate by ``d_a``. Counting the person twice adds ``(1 - s) d_a`` to the
    errors, and ``s`` to the attempts, as parts of all attempts.
    """
    rate = columns[..., 0]
    shares = np.broadcast_to(sample.shares_in(columns), columns[..., 1:].shape)
    excess = np.clip((rate[..., None] - columns[..., 1:]) * (1 - shares), 0.0, None)
    # Of people who raise it alike, those with the fewest attempts, whatever the order of people.
    raising = np.lexsort((shares, -np.round(excess, 12)))[..., :DOUBLED]
    added = np.take_along_axis(excess, raising, axis=-1).sum(axis=-1)
    attempts = 1 + np.take_along_axis(shares, raising, axis=-1).sum(axis=-1)
    return np.minimum(rate + added / attempts, 1.0)


class RateCurve(NamedTuple):
    """The limits of a rate along its curve, as a function of the rate.

    The limits rise with the rate, so that no two contradict each other, and do not depend on the
    thresholds of a result. All arrays are (points,).
    """

    rate: np.ndarray  # increasing, from 0 to 1
    low: np.ndarray
    high: np.ndarray
    trials: np.ndarray = np.empty(0)  # effective number of attempts; empty if unknown
    raised: np.ndarray = np.empty(0)  # rate with people counted twice, for `high`; or empty

    @classmethod
    def from_columns(
        cls,
        columns: np.ndarray,
        sample: Sample,
        confidence: float,
        *,
        raised: bool = False,
        one_sided: bool = False,
    ) -> RateCurve:
        """Return the limits of a rate along `columns`, (thresholds, 1 + people).

        If `raised`, the upper limit is the limit of the rate in which two people count twice. The
        confidence is of both limits together or, if `one_sided`, of each limit.
        """
        columns = _distinct_with_ends(columns)
        miss = 1 - confidence if one_sided else (1 - confidence) / 2
        trials = effective_attempts(columns, sample, miss)
        if columns.shape[-1] < 3 or not sample.units:
            trials = np.zeros(len(columns))
        rate = columns[:, 0]
        raised_rate = rate
        if raised:
            raised_rate = np.maximum.accumulate(with_doubled_people(columns, sample))
        miss_at_rate = np.full(len(rate), miss)
        if not one_sided:
            # Without an error, or with nothing else, only one of the two limits can miss: it has
            # the probability of both (the rule of 3, on units).
            miss_at_rate[(rate <= 0) | (rate >= 1)] = 2 * miss
        low = exact(rate, trials, miss_at_rate)[0]
        high = exact(raised_rate, trials, miss_at_rate)[1]
        # Limits rise with the rates: low limits are lowered, high limits are raised.
        low = np.minimum.accumulate(low[::-1])[::-1]
        high = np.maximum.accumulate(high)
        return cls(rate, low, high, trials, raised_rate)

    @classmethod
    def from_replicates(
        cls,
        columns: np.ndarray,
        units: float,
        confidence: float,
        rates: np.ndarray | None = None,
    ) -> RateCurve:
        """Return the percentiles of a rate along `columns`, (thresholds, 1 + replicates).

        A rate of exactly 0 or 1 has the one-sided bound of `units`, since no replicate differs. If
        `rates` are given, the curve is computed only around these rates, with the same limits.
        """
        columns = _distinct_with_ends(columns, rates)
        low, high = percentile(columns, confidence)
        bound = float(zero_error_bound(units, confidence)) if units else np.nan
        # The bound holds at exactly 0 and 1; right beside them, percentiles at the curve's ends.
        rate = np.concatenate([[0.0], columns[:, 0], [1.0]])
        rate[1] = np.nextafter(0.0, 1.0)
        rate[-2] = np.nextafter(1.0, 0.0)
        if not units:
            return cls(rate, np.full(len(rate), np.nan), np.full(len(rate), np.nan))
        return cls(
            rate,
            np.concatenate([[0.0], low, [1 - bound]]),
            np.concatenate([[bound], high, [1.0]]),
        )

    def limits_at(self, rate: np.ndarray) -> Limits:
        """Return the limits of rates, linear between points of the curve; NaN for NaN."""
        return np.interp(rate, self.rate, self.low), np.interp(rate, self.rate, self.high)

    def largest_rate(self, limit: float) -> float:
        """Return the largest rate whose upper limit is at most `limit`; NaN if there is none."""
        next_point = int(np.searchsorted(self.high, limit, side="right"))
        if not next_point or not np.isfinite(self.high[:1]).all():
            return np.nan
        if next_point == len(self.rate):
            return float(self.rate[-1])
        # Linear between the last point whose upper limit is within `limit`, and the next point.
        (first, last) = self.rate[next_point - 1 : next_point + 1]
        (low, high) = self.high[next_point - 1 : next_point + 1]
        return float(first + (last - first) * (limit - low) / (high - low))


def _distinct_with_ends(columns: np.ndarray, rates: np.ndarray | None = None) -> np.ndarray:
    """Return the columns at distinct rates, increasing, with the rates 0 and 1 at the ends.

    If `rates` are given, only columns around these rates are returned in between.
    """
    rate, index = np.unique(columns[:, 0], return_index=True)
    is_inside = (rate > 0) & (rate < 1)
    if rates is not None:
        # A cell for each distinct rate, behind a cell for no rate, and before another one.
        is_near = np.zeros(len(rate) + 2, dtype=bool)
        is_near[np.searchsorted(rate, rates, side="right")] = True  # the last rate up to each
        is_near[np.searchsorted(rate, rates) + 1] = True  # the first rate not below each
        is_inside &= is_near[1:-1]
    none = np.zeros((1, columns.shape[1]))
    every = np.ones((1, columns.shape[1]))
    return np.concatenate([none, columns[index[is_inside]], every])


def limits_of_rate(columns: np.ndarray, sample: Sample, confidence: float) -> Limits:
    """Return the limits of rates that have no curve, (..., 1 + people).

    Where too few people err, they are the exact limits of `units` independent trials. The numbers
    and shares of the sample may be arrays, of each rate.
    """
    miss = (1 - confidence) / 2
    rate = columns[..., 0]
    attempts = np.asarray(sample.attempts, dtype=np.float64)
    units = np.asarray(sample.units, dtype=np.float64)
    is_known, by_rates, by_logits = _effective_trials(columns, miss, sample)
    trials = np.array(np.broadcast_to(units, rate.shape))
    trials[is_known] = np.fmin(by_rates, by_logits)
    trials = np.clip(trials, np.fmin(units, attempts), attempts)
    trials = np.where(units > 0, trials, 0.0)
    # Only one of the two limits can miss a rate of 0 or 1: it has the probability of both.
    is_one_sided = ~is_known & ((rate <= ROUNDING) | (rate >= 1 - ROUNDING))
    return exact(rate, trials, np.where(is_one_sided, 2 * miss, miss))


def student(
    columns: np.ndarray,
    confidence: float,
    units: np.ndarray | float = np.inf,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Limits:
    """Return Student's limits, ``value -+ t se``, on the logit scale if the bounds are finite.

    The limits are no wider than the exact limits of `units` independent trials. If the value is at
    a bound, or is the same without each person, they are the one-sided bound of these trials.
    """
    least, largest = bounds
    if np.isfinite(bounds).all():
        width = largest - least
        low, high = _student_of_proportion((columns - least) / width, confidence, units)
        return least + width * low, least + width * high
    low, high, variance = _student_ends(columns, confidence)
    is_known = variance > _NOTHING * np.maximum(1, columns[..., 0] ** 2)  # beyond rounding
    low = np.where(is_known, np.fmax(low, least), np.nan)
    high = np.where(is_known, np.fmin(high, largest), np.nan)
    return low, high


def _student_of_proportion(
    columns: np.ndarray, confidence: float, units: np.ndarray | float
) -> Limits:
    """Return Student's limits of values from 0 to 1, on the logit scale."""
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high, variance = _student_ends(scipy.special.logit(columns), confidence)
    low = scipy.special.expit(low)
    high = scipy.special.expit(high)
    units = np.asarray(units, dtype=np.float64)
    if not np.isfinite(units).all():
        return low, high
    value = np.clip(columns[..., 0], 0.0, 1.0)
    # No wider than the exact limits of the units.
    exact_low, exact_high = exact(value, units, (1 - confidence) / 2)
    low = np.fmax(low, exact_low)
    high = np.fmin(high, exact_high)
    # At 0 or 1, where logits are infinite, or if nobody moves the value: the units' bound.
    has_no_variance = ~np.isfinite(variance) | (variance < _NOTHING)
    bound = zero_error_bound(units, confidence)
    low = np.where(has_no_variance, np.maximum(value - bound, 0), low)
    high = np.where(has_no_variance, np.minimum(value + bound, 1), high)
    # No limits without units.
    has_limits = (units > 0) & ~np.isnan(value)
    return np.where(has_limits, low, np.nan), np.where(has_limits, high, np.nan)


def _student_ends(
    columns: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``value - t se``, ``value + t se`` and the variance, ``se^2``."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = jackknife(columns)
        quantile = scipy.special.stdtrit(np.maximum(freedom, 1), 0.5 + confidence / 2)
        half = quantile * np.sqrt(variance)
        return columns[..., 0] - half, columns[..., 0] + half, variance


def chosen_anew(columns: np.ndarray, fallback: Limits, confidence: float) -> Limits:
    """Return the limits of rates whose threshold is chosen anew in each column.

    Every person moves the threshold: the degrees of freedom are the number of people less one. If
    few people move the threshold, the limits are `fallback`. Limits include the value.
    """
    miss = (1 - confidence) / 2
    value = columns[..., 0]
    people = columns.shape[-1] - 1
    variance, _ = jackknife(columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        trials = value * (1 - value) / np.where(variance > _NOTHING, variance, np.nan)
        is_known = (value > 0) & (value < 1) & moved_by_many(columns)
        is_known &= ~np.isnan(fallback[0])
    trials = np.where(is_known, trials * _student_share(people - 1, miss), 0.0)
    low, high = exact(value, trials, miss)
    low = np.where(is_known, low, fallback[0])
    high = np.where(is_known, high, fallback[1])
    return np.minimum(low, value), np.maximum(high, value)


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
