"""Isotonic regression of the class on the score, from the points of a ROC.

Pooling adjacent violators gives blocks of scores of equal posterior, which are the edges of the
convex hull of the ROC (Fawcett and Niculescu-Mizil 2007). Its corners are at genuine scores, so
that the false accepts at these are all that must be known of the impostor scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from bioeval.kernels.hull import lower_hull

LOG2 = float(np.log(2.0))


@dataclass(frozen=True)
class Pooled:
    """Blocks of scores of equal posterior, from strict to loose.

    Attributes
    ----------
    edges : float64 array, shape (b - 1,)
        The last genuine distance before each block but the first: where that one ends.
    genuine, impostor : int64 arrays, shape (b,)
        Attempts in each block.
    """

    edges: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray

    @classmethod
    def of_points(
        cls, distances: np.ndarray, fa: np.ndarray, fr: np.ndarray, attempts: tuple[int, int]
    ) -> Pooled:
        """Pool the points at the distinct genuine distances; `attempts` are numbers by class."""
        genuine, impostor = attempts
        x, y, at = (
            np.concatenate([[first], values, [last]]).astype(np.float64)
            for first, values, last in (
                (0, fa, impostor), (genuine, fr, 0), (-np.inf, distances, np.inf),
            )
        )  # fmt: skip
        chosen = np.empty(len(x), dtype=np.int64)
        corners = chosen[: lower_hull(x, y, chosen)]
        # The hull leaves out the ends of the ROC where they are on an edge along an axis.
        corners = np.unique(np.concatenate([[0], corners, [len(x) - 1]]))
        x, y, at = x[corners], y[corners], at[corners]
        there = np.append(True, (np.diff(x) > 0) | (np.diff(y) < 0))
        x, y, at = x[there].astype(np.int64), y[there].astype(np.int64), at[there]
        return cls(at[1:-1], -np.diff(y), np.diff(x))

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """The proportions of both classes in each block."""
        return self.genuine / self.genuine.sum(), self.impostor / self.impostor.sum()

    @property
    def llr(self) -> np.ndarray:
        """The log-likelihood ratio of each block, decreasing; inf or -inf for one class alone."""
        with np.errstate(divide="ignore"):
            genuine, impostor = map(np.log, self.rates)
        return genuine - impostor

    def cross_entropy(self, log_odds: np.ndarray) -> np.ndarray:
        """Return the smallest empirical cross-entropy, in bits, at prior log odds."""
        prior = scipy.special.expit(log_odds)[:, None]
        genuine, impostor = self.rates
        g, i = prior * genuine, (1 - prior) * impostor
        # A block holds g of one class and i of the other: its cost is the entropy of that mixture.
        xlogy = scipy.special.xlogy
        return (xlogy(g + i, g + i) - xlogy(g, g) - xlogy(i, i)).sum(axis=1) / LOG2

    def least_cost(self, weight_frr: np.ndarray, weight_far: np.ndarray) -> np.ndarray:
        """Return the least of ``weight_frr FRR + weight_far FAR`` over all thresholds."""
        genuine, impostor = (np.append(0, np.cumsum(rates)) for rates in self.rates)
        cost = np.multiply.outer(weight_frr, 1 - genuine) + np.multiply.outer(weight_far, impostor)
        return cost.min(axis=1)
