"""One-sided limits of a rate, and the number of people that settles whether it keeps a target.

The limits are computed like those of all intervals by people (:mod:`bioeval.stats.limits`), but
one-sided: in a proportion `confidence` of data sets, the upper limit is not below the rate of the
population. How often this holds was measured (``docs/uncertainty.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from bioeval.stats.limits import RateCurve


@dataclass(frozen=True)
class Judged:
    """A rate along thresholds, with one-sided limits."""

    limits: RateCurve
    confidence: float
    people: int  # number of people
    pairs: int = 0  # number of pairs of people compared; 0 if attempts are of single people

    def limits_at(self, rate: float) -> tuple[float, float]:
        """Return the lower and the upper limit of a rate."""
        low, high = self.limits.limits_at(np.array(rate))
        return float(low), float(high)

    def people_to_settle(self, rate: float, target: float) -> float:
        """Return about how many people are needed for a limit of the rate to reach a target.

        NaN if no number is enough. With `a` times the people, there are `a` times as many effective
        attempts (`a * a` times if attempts are of pairs of people), and counting two people twice
        raises the rate by one `a`-th as much. The people tested are enough if, and only if, the
        limit of their rate reaches the target.
        """
        limits, people = self.limits, self.people
        if not len(limits.trials) or not people:
            return math.nan
        # From one person to 10^9 people, as multiples of the people tested.
        factors = np.geomspace(1 / people, 1e9 / people, 8001)
        effective = float(np.interp(rate, limits.rate, limits.trials))
        raised = float(np.interp(rate, limits.rate, limits.raised))
        trials = effective * factors
        if 0 < self.pairs <= effective:
            trials = effective * factors**2
        is_below = rate < target
        # A limit is beyond the target if a beta distribution has enough of its mass before the
        # target. The mass is cheap to compute for any number of trials; a quantile is not.
        if is_below:
            raised_rates = np.minimum(rate + (raised - rate) / factors, 1.0)
            mass = _beta_mass(trials * raised_rates + 1, trials * (1 - raised_rates), target)
            is_enough = mass >= self.confidence
        else:
            mass = _beta_mass(trials * rate, trials * (1 - rate) + 1, target)
            is_enough = mass < 1 - self.confidence
        not_enough = np.flatnonzero(~is_enough)
        if not (is_enough[-1] and effective > 0):
            return math.nan
        needed = math.ceil(people * factors[not_enough[-1] + 1 if len(not_enough) else 0])
        low, high = self.limits_at(rate)
        is_settled = high <= target if is_below else low > target
        return min(needed, people) if is_settled else max(needed, people + 1)


def shares_without_error(rate: float, confidence: float) -> int:
    """Return how many independent trials without an error show that a rate is not exceeded.

    It is the smallest ``n`` with ``(1 - rate)^n <= 1 - confidence``.
    """
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the probability of a value up to a rate, of beta distributions.

    All mass is at 0 if `a` is 0, and at 1 if `b` is 0.
    """
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))
