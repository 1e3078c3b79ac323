"""Limits of a mean over people, or over pairs of people, that keep their level.

One-sided: with probability `confidence` over data sets the upper limit is not below the rate of the
population; how often that holds was measured (``docs/uncertainty.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from bioeval.stats.independent import effective_trials, exact_lower, exact_upper

#: People that the upper limit counts twice: with none, claims that do not hold were
#: shown in up to 15 % of simulated data sets of 40 people, with two in up to 7 %
#: (``docs/uncertainty.md``).
DOUBLED = 2


@dataclass(frozen=True, eq=False)
class PeopleMeans:
    """Means over people or over pairs of people, of one rate at several thresholds.

    Those :meth:`of` people have the fields from the sum and the number of rates of each person.
    """

    mean: np.ndarray  # float64 (k,): the mean on the data
    without: np.ndarray  # float64 (k, n): the mean without each person
    #: float64 (k,): the mean with the two people counted twice without whom it is the smallest.
    doubled: np.ndarray
    number: int  # the most independent trials that there can be
    #: Number of independent shares: of pairs of people, those of a set of disjoint pairs.
    independent: int
    of_pairs: bool = False
    #: The number of people on the smaller side, where some are on both and others on one.
    fewest: int | None = None

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.without.shape[1]

    @classmethod
    def of(
        cls,
        total: np.ndarray,
        whole: float,
        sums: np.ndarray,
        numbers: np.ndarray,
        *,
        number: int,
        independent: int,
        of_pairs: bool = False,
        fewest: int | None = None,
    ) -> PeopleMeans:
        """Return the means of `whole` shares with the sums `total`.

        `sums` (k, n) and `numbers` (n,) are of the shares of each person.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            without = np.clip((total[:, None] - sums) / (whole - numbers), 0.0, 1.0)
        twice = np.argsort(without, axis=1, kind="stable")[:, :DOUBLED]
        more = np.take_along_axis(sums, twice, axis=1).sum(axis=1)
        doubled = np.minimum((total + more) / (whole + numbers[twice].sum(axis=1)), 1.0)
        mean = np.minimum(total / whole, 1.0)
        return cls(mean, without, doubled, number, independent, of_pairs, fewest)

    def lower(self, confidence: float) -> np.ndarray:
        """Return the one-sided lower limits."""
        u, trials = self.mean, _effective(self, confidence)
        low = exact_lower(trials * u, trials * (1 - u), 1 - confidence)
        return np.where(u >= 1, 1 - self._without_error(confidence), low)

    def upper(self, confidence: float) -> np.ndarray:
        """Return the one-sided upper limits.

        They are those of Clopper and Pearson at effective trials (Korn and Graubard, 1998), for the
        mean in which two people are counted twice.
        """
        u, q, trials = self.mean, self.doubled, _effective(self, confidence)
        high = exact_upper(trials * q, trials * (1 - q), confidence)
        return np.where(u <= 0, self._without_error(confidence), high)

    def _without_error(self, confidence: float) -> float:
        """Return the upper limit where nothing was accepted in the independent shares."""
        return 1 - (1 - confidence) ** (1 / self.independent) if self.independent else 1.0

    def people_to_settle(self, claim: float, confidence: float) -> float:
        """Return about how many people bring the limit of the first mean to a claim.

        NaN where no number does. With `a` times the people the effective trials are `a` times as
        many (`a * a` times, where they are the pairs of people), and counting two people twice
        raises the mean by one `a`-th as much. The people there are suffice if, and only if, their
        limit does.
        """
        people = self.people
        more = np.geomspace(1 / people, 1e9 / people, 8001)
        u, effective = self.mean[0], _effective(self, confidence)[0]
        trials = effective * more
        if self.of_pairs and effective >= self.number:
            trials = effective * more**2
        below = u < claim
        # A limit lies beyond the claim where the distribution has enough of its mass before it: one
        # value of the distribution is cheap, and of any number of trials known; a quantile is not.
        if u == 0 and below:
            enough = -np.expm1(math.log1p(-confidence) / (self.independent * more)) <= claim
        elif below:
            q = np.minimum(u + (self.doubled[0] - u) / more, 1.0)
            enough = _beta_mass(trials * q + 1, trials * (1 - q), claim) >= confidence
        else:
            enough = _beta_mass(trials * u, trials * (1 - u) + 1, claim) < 1 - confidence
        too_few = np.flatnonzero(~enough)
        if enough[-1] and effective > 0:
            needed = math.ceil(people * more[too_few[-1] + 1 if len(too_few) else 0])
        else:
            return math.nan
        if below:
            settled = self.upper(confidence)[0] <= claim
        else:
            settled = self.lower(confidence)[0] > claim
        if settled:
            return min(needed, people)
        return max(needed, people + 1)


def shares_without_error(rate: float, confidence: float) -> int:
    """Return how many independent shares, all 0, show that a rate is at most this."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def _effective(means: PeopleMeans, confidence: float) -> np.ndarray:
    """Return the number of independent trials that have the variance of the jackknife over people.

    Where that is not known, it is the number of independent shares.
    """
    n = means.people
    spread = (n - 1) * means.without.var(axis=1)
    effective = effective_trials(means.mean, spread, means.fewest or n, confidence)
    return np.where(spread == 0, means.independent, np.minimum(effective, means.number))


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the mass of the beta distribution up to a rate; all is at an end where a or b is 0."""
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))
