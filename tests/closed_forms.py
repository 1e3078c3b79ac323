"""True rates of simulated populations in closed form."""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad_vec
from scipy.special import log_ndtr
from scipy.stats import binom


def any_within(z, count):
    """Return the probability that any of `count` standard normal numbers is at most `z`."""
    return -np.expm1(count * log_ndtr(-np.asarray(z, dtype=float)))


@dataclass(frozen=True)
class GaussianScores:
    """Independent scores: impostor N(0, 1), genuine N(-d_prime, 1) for distances.

    The nearest of S independent distances is within t with probability 1 - (1 - F(t))^S. Given the
    distance of the best mate, each of n candidates is closer with the same probability,
    independently: their number is binomial (Bolle et al. 2005, the relation between the ROC curve
    and the CMC).
    """

    d_prime: float = 2.0
    kind: str = "distance"

    @property
    def sign(self):
        return 1.0 if self.kind == "distance" else -1.0

    def far(self, threshold, templates=1):
        return any_within(self.sign * np.asarray(threshold), templates)

    def gar(self, threshold, templates=1):
        return any_within(self.sign * np.asarray(threshold) + self.d_prime, templates)

    def open_set_far(self, threshold, subjects, templates=1):
        return self.far(threshold, subjects * templates)

    def cms(self, rank, subjects, **gallery):
        return self.dir(self.sign * np.inf, rank, subjects, **gallery)

    def dir(self, threshold, rank, subjects, *, templates=1, mates=None, rank_unit="template"):
        best_of = templates if mates is None else mates
        candidates, within = (subjects - 1) * templates, 1
        if rank_unit == "subject":
            candidates, within = subjects - 1, templates
        ranks = np.asarray(rank)

        def of_best_mate(z):
            log_density = -z * z / 2 - np.log(2 * np.pi) / 2 + (best_of - 1) * log_ndtr(-z)
            closer = any_within(z - self.d_prime, within)
            return best_of * np.exp(log_density) * binom.cdf(ranks - 1, candidates, closer)

        z = self.sign * np.asarray(threshold, dtype=float) + self.d_prime
        out = np.empty(z.shape + ranks.shape)
        for place, end in np.ndenumerate(np.clip(z, -12.0, 12.0)):
            out[place] = quad_vec(of_best_mate, -12.0, end, epsabs=1e-12, epsrel=1e-12)[0]
        return np.clip(out, 0.0, 1.0)
