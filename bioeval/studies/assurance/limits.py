"""One-sided limits of a mean over people, or over pairs of people: promises.

With probability `confidence` over data sets the upper limit is not below the rate of the
population; how often that holds was measured (``docs/uncertainty.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.special

from bioeval.stats.limits import exact, trials_of_promise

#: People that the upper limit counts twice: with none, promises that do not hold were
#: shown in up to 15 % of simulated data sets of 40 people, with two in up to 7 %
#: (``docs/uncertainty.md``).
DOUBLED = 2


@dataclass(frozen=True, eq=False)
class PeopleMeans:
    """Means over people or over pairs of people, of one rate at several thresholds.

    Those :meth:`of` people have the fields from the sum and the number of rates of each person.
    """

    columns: np.ndarray  # float64 (k, 1 + n): the mean on the data, and without each person
    #: float64 (k,): the mean with the two people counted twice without whom it is the smallest.
    doubled: np.ndarray
    number: int  # the most independent trials that there can be
    #: Number of independent shares: of pairs of people, those of a set of disjoint pairs.
    independent: int
    #: People of a share who are left out: two of a pair, one where the gallery is fixed.
    sides: int = 1
    #: The number of people on the smaller side, where some are on both and others on one.
    fewest: int | None = None

    @property
    def mean(self) -> np.ndarray:
        """The mean on the data, (k,)."""
        return self.columns[:, 0]

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.columns.shape[1] - 1

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
        sides: int = 1,
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
        columns = np.column_stack([np.minimum(total / whole, 1.0), without])
        return cls(columns, doubled, number, independent, sides, fewest)

    def lower(self, confidence: float) -> np.ndarray:
        """Return the one-sided lower limits."""
        return exact(self.mean, self._trials(confidence), 1 - confidence)[0]

    def upper(self, confidence: float) -> np.ndarray:
        """Return the one-sided upper limits, of the mean in which two people are counted twice."""
        return exact(self.doubled, self._trials(confidence), 1 - confidence)[1]

    def _trials(self, confidence: float) -> np.ndarray:
        """Return the effective number of independent trials."""
        people = self.fewest or self.people
        counts = self.number, self.independent, 1 - confidence
        return trials_of_promise(self.columns, *counts, self.sides, people)

    def people_to_settle(self, promise: float, confidence: float) -> float:
        """Return about how many people bring the limit of the first mean to a promise.

        NaN where no number does. With `a` times the people the effective trials are `a` times as
        many (`a * a` times, where they are the pairs of people), and counting two people twice
        raises the mean by one `a`-th as much. The people there are suffice if, and only if, their
        limit does.
        """
        people = self.people
        more = np.geomspace(1 / people, 1e9 / people, 8001)
        u, effective = self.mean[0], self._trials(confidence)[0]
        trials = effective * more
        if self.sides == 2 and effective >= self.number:
            trials = effective * more**2
        below = u < promise
        # A limit lies beyond the promise where the distribution has enough of its mass before it:
        # one value of the distribution is cheap, and of any number of trials known; a quantile is
        # not.
        if below:
            q = np.minimum(u + (self.doubled[0] - u) / more, 1.0)
            enough = _beta_mass(trials * q + 1, trials * (1 - q), promise) >= confidence
        else:
            enough = _beta_mass(trials * u, trials * (1 - u) + 1, promise) < 1 - confidence
        too_few = np.flatnonzero(~enough)
        if not (enough[-1] and effective > 0):
            return math.nan
        needed = math.ceil(people * more[too_few[-1] + 1 if len(too_few) else 0])
        settled = (
            self.upper(confidence)[0] <= promise if below else self.lower(confidence)[0] > promise
        )
        return min(needed, people) if settled else max(needed, people + 1)


def shares_without_error(rate: float, confidence: float) -> int:
    """Return how many independent shares, all 0, show that a rate is at most this."""
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate) - 1e-9)


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the mass of the beta distribution up to a rate; all is at an end where a or b is 0."""
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))
