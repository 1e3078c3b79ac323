"""Limits of error rates: exact limits at the number of independent trials that attempts are worth.

Attempts of the same people depend on each other, so n attempts are worth fewer independent trials.
How many follows from ``columns``, a rate and the rates without each person, ``(..., 1 + people)``
(:mod:`bioeval.stats.jackknife`): if the rate p has the variance v, it is ``p (1 - p) / v`` trials.
With five attempts of each of 20 people, it is 76 trials if ten people make two errors each, and 19
trials if eight people make five errors each. The limits of the rate are the exact ones of so many
trials (Korn and Graubard 1998, *Survey Methodology* 24), which exist also without an error.

A person errs who takes part in an error; units are people, or disjoint pairs of people if an
attempt has two. Where fewer than :data:`LEAST_ERRING` units err, the variance says little. There, a
rate along a curve takes the number of trials from other thresholds (:class:`RateCurve`), and a rate
by itself is worth a trial for each unit (:func:`limits_of_rate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from bioeval.stats.independent import ROUNDING, exact_limits_of_rate, zero_error_bound
from bioeval.stats.jackknife import NO_VARIANCE, Limits, jackknife, percentile

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


@dataclass(frozen=True)
class Sample:
    """The attempts of a rate, and how many independent trials they are worth."""

    attempts: float
    units: float  # independent people, or disjoint pairs of people (Kish's effective number)
    sides: int  # people in an attempt: one or two
    #: (people,): the share of all attempts in which each person takes part; empty if people are
    #: drawn again, and not left out.
    shares: np.ndarray
    least: float  # the fewest trials where enough people err
    #: The most trials where too few people err: what other thresholds show about the dependence of
    #: attempts does not hold there, since the few may always err, and others never.
    most: float


class RateCurve(NamedTuple):
    """The limits of a rate along its curve, as a function of the rate.

    The limits rise with the rate, so that no two contradict each other, and do not depend on the
    thresholds of a result. All arrays are (points,).
    """

    rate: np.ndarray  # increasing, from 0 to 1
    low: np.ndarray
    high: np.ndarray
    trials: np.ndarray  # effective number of attempts; NaN if people are drawn again
    raised: np.ndarray  # the rate whose upper limit is `high`, perhaps with people counted twice

    @classmethod
    def from_columns(
        cls,
        columns: np.ndarray,
        sample: Sample,
        *,
        miss: float,
        miss_at_ends: float,
        raised: bool = False,
    ) -> RateCurve:
        """Return the limits of a rate along `columns`, (thresholds, 1 + people).

        Each limit is wrong with probability `miss`, and with `miss_at_ends` at the rates 0 and 1,
        where only one of both limits can be wrong. If `raised`, the upper limit is the limit of the
        rate in which two people count twice.
        """
        columns = _with_ends(columns[_distinct_inside(columns[:, 0])])
        rate = columns[:, 0]
        trials = np.zeros(len(rate))  # no limits
        if columns.shape[-1] > 2 and sample.units:
            trials = effective_attempts(columns, sample, miss)
        raised_rate = rate
        if raised:
            raised_rate = np.maximum.accumulate(with_doubled_people(columns, sample))
        miss_at_rate = np.where((rate <= 0) | (rate >= 1), miss_at_ends, miss)
        low, _ = exact_limits_of_rate(rate, trials, miss_at_rate)
        _, high = exact_limits_of_rate(raised_rate, trials, miss_at_rate)
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
        inside = _distinct_inside(columns[:, 0])
        if rates is not None:
            inside = inside[_next_to(columns[inside, 0], rates)]
        columns = _with_ends(columns[inside])
        # The bound holds at exactly 0 and 1; right beside them, percentiles at the curve's ends.
        rate = np.concatenate([[0.0], columns[:, 0], [1.0]])
        rate[1] = np.nextafter(0.0, 1.0)
        rate[-2] = np.nextafter(1.0, 0.0)
        unknown = np.full(len(rate), np.nan)
        if not units:
            return cls(rate, low=unknown, high=unknown, trials=unknown, raised=rate)
        low, high = percentile(columns, confidence)
        bound = float(zero_error_bound(units, confidence))
        low = np.concatenate([[0.0], low, [1 - bound]])
        high = np.concatenate([[bound], high, [1.0]])
        return cls(rate, low, high, trials=unknown, raised=rate)

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


def _distinct_inside(rates: np.ndarray) -> np.ndarray:
    """Return the indices of the distinct rates above 0 and below 1, in increasing order."""
    distinct, index = np.unique(rates, return_index=True)
    return index[(distinct > 0) & (distinct < 1)]


def _next_to(points: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the indices of increasing points that are next to rates, on either side."""
    last_up_to_rate = np.searchsorted(points, rates, side="right") - 1
    first_from_rate = np.searchsorted(points, rates)
    near = np.union1d(last_up_to_rate, first_from_rate)
    return near[(near >= 0) & (near < len(points))]


def _with_ends(columns: np.ndarray) -> np.ndarray:
    """Return columns with a rate of 0 before them, and a rate of 1 behind them."""
    none = np.zeros((1, columns.shape[1]))
    every = np.ones((1, columns.shape[1]))
    return np.concatenate([none, columns, every])


def limits_of_rate(columns: np.ndarray, sample: Sample, confidence: float) -> Limits:
    """Return the limits of rates that have no curve, (..., 1 + people).

    Where too few people err, they are the exact limits of `units` independent trials.
    """
    miss = (1 - confidence) / 2
    rate = columns[..., 0]
    by_rates, by_logits = _trials_of_spread(columns, sample, miss)
    is_known = ~np.isnan(by_rates)
    trials = np.where(is_known, np.fmin(by_rates, by_logits), sample.units)
    trials = np.clip(trials, min(sample.units, sample.attempts), sample.attempts)
    if not sample.units > 0:
        trials = np.zeros(rate.shape)
    # Only one of the two limits can miss a rate of 0 or 1: it has the probability of both.
    is_one_sided = ~is_known & ((rate <= ROUNDING) | (rate >= 1 - ROUNDING))
    return exact_limits_of_rate(rate, trials, np.where(is_one_sided, 2 * miss, miss))


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
        trials = value * (1 - value) / np.where(variance > NO_VARIANCE, variance, np.nan)
        is_known = (value > 0) & (value < 1) & moved_by_many(columns)
        is_known &= ~np.isnan(fallback[0])
    trials = np.where(is_known, trials * _student_share(people - 1, miss), 0.0)
    low, high = exact_limits_of_rate(value, trials, miss)
    low = np.where(is_known, low, fallback[0])
    high = np.where(is_known, high, fallback[1])
    return np.minimum(low, value), np.maximum(high, value)


def moved_by_many(columns: np.ndarray) -> np.ndarray:
    """Return whether enough people move rates (..., 1 + people) whose threshold is chosen anew.

    Fewer people are needed than for :func:`_enough_err`, since everyone moves a threshold.
    """
    freedom = jackknife(columns)[1]
    people = columns.shape[-1] - 1
    with np.errstate(invalid="ignore"):
        return freedom >= min(_MOVING_FREEDOM, 0.4 * max(people - 1, 1))


# The number of trials.


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
    rate = columns[:, 0]
    by_rates, by_logits = _trials_of_spread(columns, sample, miss)
    is_known = ~np.isnan(by_rates)
    if not is_known.any():
        return np.full(len(rate), np.fmin(sample.units, sample.attempts), dtype=np.float64)
    # Linear between known rates; constant before the first and after the last.
    from_others = np.interp(rate, rate[is_known], by_rates[is_known])
    number = np.where(is_known, np.fmin(by_rates, by_logits), np.minimum(from_others, sample.most))
    fewest = np.where(is_known, sample.least, sample.units)
    return np.clip(number, np.fmin(fewest, sample.attempts), sample.attempts)


def _trials_of_spread(
    columns: np.ndarray, sample: Sample, miss: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers of trials that follow from the variance of the jackknife, both (...).

    The numbers are ``p (1 - p) / v (z / t)^2``: with Student's quantile ``t`` limits are wider if
    few people matter. The first takes the variance ``v`` of the rates, and the second that of their
    logits, over the square of the slope of the logit; it is smaller if the rate would be much
    smaller without one person. Both are NaN where too few people err, or nobody moves the rate.
    """
    rate = columns[..., 0]
    by_rates = np.full(rate.shape, np.nan)
    by_logits = np.full(rate.shape, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance, freedom = jackknife(columns)
        is_known = _enough_err(columns, sample) & (variance > NO_VARIANCE)
        binomial = (rate * (1 - rate))[is_known]
        share = _student_share(freedom[is_known], miss)
        by_rates[is_known] = binomial / variance[is_known] * share
        logits = scipy.special.logit(np.clip(columns[is_known], 0.0, 1.0))
        variance, freedom = jackknife(logits)
        by_logits[is_known] = _student_share(freedom, miss) / binomial / variance
    return by_rates, by_logits


def _student_share(freedom: np.ndarray | float, miss: float) -> np.ndarray:
    """Return ``(z / t)^2`` of the normal and Student's quantiles: the share of attempts left."""
    level = min(miss, 0.5 - 1e-6)  # both quantiles are 0 at 0.5
    student = scipy.special.stdtrit(np.maximum(freedom, 1), level)
    return (scipy.special.ndtri(level) / student) ** 2


def _enough_err(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return whether enough people err, and enough do not, to show how uncertain a rate is.

    With few people, half of the independent units are enough. A rate that is 0 or 1 without a
    person is uncertain without a limit.
    """
    if columns.shape[-1] < 3:
        return np.zeros(columns.shape[:-1], dtype=bool)
    number = np.minimum(_erring_units(columns, sample), _erring_units(1 - columns, sample))
    is_uncertain = ((columns > ROUNDING) & (columns < 1 - ROUNDING)).all(axis=-1)
    squares = np.maximum((sample.shares**2).sum(), NO_VARIANCE)  # 0 without an attempt
    units = sample.shares.sum() ** 2 / squares / sample.sides
    # The margin is for rounding: six people who err alike are enough.
    return is_uncertain & (number >= min(LEAST_ERRING, units / 2) - 1e-9)


def _erring_units(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return the effective number (Kish 1965) of units that err, as if all had equal errors.

    With ``x_a`` the rate without person ``a``, who takes part in the share ``s_a`` of all attempts,
    this person takes part in the share ``e_a = 1 - (1 - s_a) x_a / x`` of all errors. The number is
    ``(sum e)^2 / sum e^2``, over the number of people in an attempt.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1 - (1 - sample.shares) * columns[..., 1:] / columns[..., :1]
        share = np.where(columns[..., :1] > ROUNDING, share, 0.0)  # without an error, nobody errs
        share = np.clip(share, 0.0, None)
        number = share.sum(axis=-1) ** 2 / (share**2).sum(axis=-1)
    return np.where(np.isnan(number), 0.0, number / sample.sides)


def with_doubled_people(columns: np.ndarray, sample: Sample) -> np.ndarray:
    """Return rates in which the :data:`DOUBLED` people who raise them most are counted twice.

    `columns` are (..., 1 + people). Leaving out person `a`, who takes part in the share ``s`` of
    the attempts, lowers the rate by ``d_a``. Counting the person twice adds ``(1 - s) d_a`` to the
    errors, and ``s`` to the attempts, as parts of all attempts.
    """
    rate = columns[..., 0]
    shares = np.broadcast_to(sample.shares, columns[..., 1:].shape)
    excess = np.clip((rate[..., None] - columns[..., 1:]) * (1 - shares), 0.0, None)
    # Of people who raise it alike, those with the fewest attempts, whatever the order of people.
    raising = np.lexsort((shares, -np.round(excess, 12)))[..., :DOUBLED]
    added = np.take_along_axis(excess, raising, axis=-1).sum(axis=-1)
    attempts = 1 + np.take_along_axis(shares, raising, axis=-1).sum(axis=-1)
    return np.minimum(rate + added / attempts, 1.0)
