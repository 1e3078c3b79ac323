"""Limits of a mean over people, or over pairs of people, that keep their level.

One-sided: with probability `confidence` over data sets the upper limit is not below the rate of the
population. The guaranteed limit holds for any population; the estimated one is closer, and its
level was measured (``docs/uncertainty.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy

from bioeval.stats import quantiles

AssuranceRule = Literal["estimated", "guaranteed"]
ASSURANCES: tuple[AssuranceRule, ...] = get_args(AssuranceRule)


@dataclass(frozen=True, eq=False)
class PeopleMeans:
    """Means over people or over pairs of people, of one rate at several thresholds."""

    mean: np.ndarray  # float64 (k,): the mean on the data
    without: np.ndarray  # float64 (k, n): the mean without each person who is resampled
    drawn: np.ndarray  # float64 (k, replicates): the mean in each bootstrap replicate
    number: int  # number of people, or of pairs of people, that the mean is over
    #: Number of them that are independent: of pairs, those of a set of disjoint pairs.
    independent: int
    #: How many of the ``n`` people are of each side that is resampled by itself.
    sides: tuple[int, ...]

    def lower(self, confidence: float, assurance: str) -> np.ndarray:
        """Return the one-sided lower limits."""
        if assurance == "guaranteed":
            return guaranteed_limits(self.mean, self.independent, confidence)[0]
        bca, effective = _bca(self, 1 - confidence), _korn_graubard(self, confidence)[0]
        return np.fmin(bca, effective)

    def upper(self, confidence: float, assurance: str) -> np.ndarray:
        """Return the one-sided upper limits."""
        if assurance == "guaranteed":
            return guaranteed_limits(self.mean, self.independent, confidence)[1]
        bca, effective = _bca(self, confidence), _korn_graubard(self, confidence)[1]
        return np.fmax(bca, effective)

    def people_to_settle(self, claim: float, confidence: float) -> float:
        """Return about how many people bring the estimated limit of the first mean to a claim.

        NaN where no number does. The effective trials grow with the people; where they are as many
        as the pairs, with the pairs. The limit of BCa approaches the mean with the root of the
        trials, in the logarithm. The people there are suffice if, and only if, their limit does.
        """
        u, trials = self.mean[0], np.geomspace(1, 1e12, 4001)
        below = u < claim
        with np.errstate(invalid="ignore"):
            if below:
                enough = _beta(trials * u + 1, trials * (1 - u), confidence) <= claim
            else:
                enough = _beta(trials * u, trials * (1 - u) + 1, 1 - confidence) > claim
        effective = _effective(self, confidence)[0]
        if not enough.any() or not effective > 0:
            return math.nan
        more = trials[np.argmax(enough)] / effective
        bca = _bca(self, confidence if below else 1 - confidence)[0]
        if u > 0 and bca > 0:  # else it is not defined, or no number brings it to the claim
            more = max(more, (math.log(bca / u) / math.log(claim / u)) ** 2)
        people = sum(self.sides)
        if effective >= self.number > people:
            more = math.sqrt(more)
        needed = math.ceil(people * more)
        if below:
            settled = self.upper(confidence, "estimated")[0] <= claim
        else:
            settled = self.lower(confidence, "estimated")[0] > claim
        if settled:
            return min(needed, people)
        return max(needed, people + 1)

    def people_for_guarantee(self, claim: float, confidence: float) -> float:
        """Return how many people bring the guaranteed limit of the first mean to a claim.

        NaN where no number does.
        """
        shares = shares_to_settle(float(self.mean[0]), claim, confidence)
        return float(np.ceil(sum(self.sides) * np.ceil(shares) / max(self.independent, 1)))

    def bias(self) -> np.ndarray:
        """Return the normal quantile of the proportion of replicates below the mean, ties half."""
        at = self.mean[:, None]
        below = (self.drawn < at).sum(axis=1) + 0.5 * (self.drawn == at).sum(axis=1)
        return scipy.special.ndtri(below / self.drawn.shape[1])


def divergence(u: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return ``kl(u, q) = u ln(u / q) + (1 - u) ln((1 - u) / (1 - q))``, in nats."""
    return scipy.special.rel_entr(u, q) + scipy.special.rel_entr(1 - u, 1 - q)


def guaranteed_limits(
    mean: np.ndarray, independent: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of Hoeffding (1963) for the mean of independent shares of 0 to 1.

    They are the smallest and the largest ``q`` with ``independent * kl(mean, q) <= ln(1 / (1 -
    confidence))``.
    """
    mean = np.asarray(mean, dtype=np.float64)
    low = _last_within(mean, 0.0, independent, confidence)
    high = _last_within(mean, 1.0, independent, confidence)
    return low, high


def _last_within(mean: np.ndarray, end: float, independent: int, confidence: float) -> np.ndarray:
    """Return the rate nearest to an end that data with this mean do not exclude."""
    inside, outside = mean.copy(), np.full(mean.shape, end)
    if independent:
        allowed = -math.log1p(-confidence) / independent
    else:
        allowed = math.inf
    reached = divergence(mean, outside) <= allowed
    for _ in range(100):
        middle = (inside + outside) / 2
        within = divergence(mean, middle) <= allowed
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    # The outer end of the last step, so that rounding promises less.
    return np.where(reached, end, outside)


def shares_for_guarantee(rate: float, confidence: float) -> int:
    """Return how many independent shares, all 0, show that a rate is at most this."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def shares_to_settle(mean: float, claim: float, confidence: float) -> float:
    """Return how many independent shares with this mean would show or refute a claim."""
    apart = float(divergence(np.array(mean), np.array(claim)))
    if apart > 0:
        return -math.log1p(-confidence) / apart
    return math.nan


def _bca(means: PeopleMeans, level: float) -> np.ndarray:
    """Return a quantile of the replicates, bias-corrected and accelerated (Efron 1987).

    NaN where it is not defined: all means without a person are equal, or all replicates are on one
    side of the mean.
    """
    bias = means.bias()
    away = means.without.mean(axis=1, keepdims=True) - means.without
    squares = (away**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = (away**3).sum(axis=1) / (6 * squares**1.5)
        moved = bias + scipy.special.ndtri(level)
        stretched = 1 - speed * moved
        # Beyond the pole the formula turns round; before it, it tends to the end of the replicates.
        place = np.where(stretched > 0, bias + moved / stretched, np.copysign(np.inf, moved))
    known = np.isfinite(bias) & (squares > 0)
    return quantiles(means.drawn, np.where(known, scipy.special.ndtr(place), np.nan))


def _effective(means: PeopleMeans, confidence: float) -> np.ndarray:
    """Return the number of independent trials that have the variance of the jackknife over people.

    Where that is not known, it is the number of independent shares.
    """
    u = means.mean
    sides = np.split(means.without, np.cumsum(means.sides)[:-1], axis=1)
    spread = sum((side.shape[1] - 1) * side.var(axis=1) for side in sides)
    freedom = max(min(means.sides) - 1, 1)
    level = confidence if confidence != 0.5 else 0.5 + 1e-6  # where both quantiles are 0
    narrow = scipy.special.ndtri(level) / scipy.special.stdtrit(freedom, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.minimum(u * (1 - u) / spread * narrow**2, means.number)
    unknown = (spread == 0) | np.isinf(means.bias())
    return np.where(unknown, means.independent, effective)


def _korn_graubard(means: PeopleMeans, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return limits by Clopper and Pearson at effective trials (Korn and Graubard, 1998)."""
    u, delta, effective = means.mean, 1 - confidence, _effective(means, confidence)
    without_error = 1.0
    if means.independent:
        without_error = 1 - delta ** (1 / means.independent)
    return (
        np.where(u >= 1, 1 - without_error, _beta(effective * u, effective * (1 - u) + 1, delta)),
        np.where(u <= 0, without_error, _beta(effective * u + 1, effective * (1 - u), confidence)),
    )


def _beta(a: np.ndarray, b: np.ndarray, level: float) -> np.ndarray:
    """Return a quantile of the beta distribution, 0 or 1 where a parameter is 0."""
    with np.errstate(invalid="ignore"):
        quantile = scipy.special.betaincinv(np.maximum(a, 1e-300), np.maximum(b, 1e-300), level)
    return np.where(a <= 0, 0.0, np.where(b <= 0, 1.0, quantile))


def exact_limits(
    errors: np.ndarray, trials: int, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the one-sided limits of Clopper and Pearson (1934) for independent trials."""
    errors = np.asarray(errors, dtype=np.float64)
    return (
        _beta(errors, trials - errors + 1, 1 - confidence),
        _beta(errors + 1, trials - errors, confidence),
    )
