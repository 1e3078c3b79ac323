"""People that settle a promise: as many as bring the limit of a rate to one side of it.

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

    - `people` (int): how many there are; `pairs` (int): pairs of them that are compared, 0 where
      the rate is of each person
    """

    limits: RateCurve
    confidence: float
    people: int
    pairs: int = 0

    def at(self, rate: float) -> tuple[float, float]:
        """Return the lower and the upper limit of a rate."""
        low, high = self.limits.limits_at(np.array(rate))
        return float(low), float(high)

    def people_to_settle(self, rate: float, promise: float) -> float:
        """Return about how many people bring the limit of a rate to a promise.

        NaN where no number does. With `a` times the people the effective attempts are `a` times as
        many (`a * a` times, where they are the pairs of people), and counting two people twice
        raises the rate by one `a`-th as much. The people there are suffice if, and only if, their
        limit does.
        """
        limits, people = self.limits, self.people
        if not len(limits.trials) or not people:
            return math.nan
        more = np.geomspace(1 / people, 1e9 / people, 8001)
        effective = float(np.interp(rate, limits.rate, limits.trials))
        raised = float(np.interp(rate, limits.rate, limits.raised))
        trials = effective * more
        if 0 < self.pairs <= effective:
            trials = effective * more**2
        below = rate < promise
        # A limit lies beyond the promise where the distribution has enough of its mass before it:
        # one value of the distribution is cheap, and of any number of trials known; a quantile is
        # not.
        if below:
            q = np.minimum(rate + (raised - rate) / more, 1.0)
            mass = _beta_mass(trials * q + 1, trials * (1 - q), promise)
            enough = mass >= self.confidence
        else:
            mass = _beta_mass(trials * rate, trials * (1 - rate) + 1, promise)
            enough = mass < 1 - self.confidence
        too_few = np.flatnonzero(~enough)
        if not (enough[-1] and effective > 0):
            return math.nan
        needed = math.ceil(people * more[too_few[-1] + 1 if len(too_few) else 0])
        low, high = self.at(rate)
        settled = high <= promise if below else low > promise
        return min(needed, people) if settled else max(needed, people + 1)


def shares_without_error(rate: float, confidence: float) -> int:
    """Return how many independent trials without an error show that a rate is at most this."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the mass of the beta distribution up to a rate; all is at an end where a or b is 0."""
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))
