"""People that settle a guarantee: as many as bring the limit of a rate to one side of it.

The limits are those of all intervals by people (:mod:`bioeval.stats.limits`), each one-sided: with
probability `confidence` over data sets the upper one is not below the rate of the population. How
often that holds was measured (``docs/uncertainty.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from bioeval.stats.limits import RateCurve


@dataclass(frozen=True)
class Judged:
    """A rate of people along its curve, with one-sided limits.

    - `people` (int): number of people; `pairs` (int): pairs of people that are compared, 0 if the
      rate is of each person
    """

    limits: RateCurve
    confidence: float
    people: int
    pairs: int = 0

    def limits_at(self, rate: float) -> tuple[float, float]:
        """Return the lower and the upper limit of a rate."""
        low, high = self.limits.limits_at(np.array(rate))
        return float(low), float(high)

    def people_to_settle(self, rate: float, target: float) -> float:
        """Return about how many people bring the limit of a rate to a target.

        NaN if no number is enough. With `a` times the people, there are `a` times as many effective
        attempts (`a * a` times if attempts are pairs of people), and counting two people twice
        raises the rate by one `a`-th as much. The people tested suffice if, and only if, the limit
        of their rate does.
        """
        limits, people = self.limits, self.people
        if not len(limits.trials) or not people:
            return math.nan
        factors = np.geomspace(1 / people, 1e9 / people, 8001)
        effective = float(np.interp(rate, limits.rate, limits.trials))
        raised = float(np.interp(rate, limits.rate, limits.raised))
        trials = effective * factors
        if 0 < self.pairs <= effective:
            trials = effective * factors**2
        below = rate < target
        # A limit lies beyond the target if the distribution has enough of its mass before the
        # target: the mass is cheap to compute at any number of trials, and a quantile is not.
        if below:
            raised_rates = np.minimum(rate + (raised - rate) / factors, 1.0)
            mass = _beta_mass(trials * raised_rates + 1, trials * (1 - raised_rates), target)
            is_enough = mass >= self.confidence
        else:
            mass = _beta_mass(trials * rate, trials * (1 - rate) + 1, target)
            is_enough = mass < 1 - self.confidence
        failing = np.flatnonzero(~is_enough)
        if not (is_enough[-1] and effective > 0):
            return math.nan
        needed = math.ceil(people * factors[failing[-1] + 1 if len(failing) else 0])
        low, high = self.limits_at(rate)
        settled = high <= target if below else low > target
        return min(needed, people) if settled else max(needed, people + 1)


def shares_without_error(rate: float, confidence: float) -> int:
    """Return the number of independent trials without an error that shows a rate.

    The smallest ``n`` with ``(1 - rate)^n <= 1 - confidence``.
    """
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the mass of the beta distribution up to a rate.

    All mass is at 0 if `a` is 0, and at 1 if `b` is 0.
    """
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))
