"""Exact operating points of open-set identification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.tallies.points import Curve, EqualError, allowed_false_accepts, equal_error


@dataclass(frozen=True)
class OpenSetPoints:
    """Exact operating points: the thresholds are the scores of the attempts themselves.

    Attributes
    ----------
    mate, ranks, weights : arrays, shape (g,)
        Distance, rank and weight of best mates; several entries a probe under expected ties.
    genuine : int
        Genuine attempts.
    other : float64 array, shape (i,)
        Distances of the impostor attempts, increasing.
    """

    mate: np.ndarray
    ranks: np.ndarray
    weights: np.ndarray
    genuine: int
    other: np.ndarray

    def reject_all(self, points: np.ndarray) -> float:
        """Return the threshold that rejects everything; NaN if a point has that very value."""
        return float("nan") if (points == -np.inf).any() else float("-inf")

    def equal_error(self, rank: int = 1) -> EqualError:
        """Return where FAR and 1 - DIR(t, rank) cross."""
        if not self.genuine or not len(self.other):
            return EqualError()
        hits = self.ranks <= rank
        order = np.argsort(self.mate[hits], kind="stable")
        mate, weights = self.mate[hits][order], self.weights[hits][order]
        threshold = np.union1d(mate, self.other)
        taken = np.concatenate([[0.0], np.cumsum(weights)])
        found = taken[np.searchsorted(mate, threshold, side="right")]
        curve = Curve(
            np.concatenate([[self.reject_all(threshold)], threshold]),
            np.concatenate([[0], np.searchsorted(self.other, threshold, side="right")]),
            np.concatenate([[self.genuine], np.maximum(self.genuine - found, 0.0)]),
            self.genuine,
            len(self.other),
        )
        return equal_error(curve)

    def at_far(self, targets: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR at each FAR target and rank, and the loosest threshold that gives it."""
        dir_ = np.full((len(targets), ranks), np.nan)
        threshold = np.full((len(targets), ranks), np.nan)
        total = len(self.other)
        if not self.genuine or not total:
            return dir_, threshold
        inside = self.ranks <= ranks
        mate, rank, weights = self.mate[inside], self.ranks[inside] - 1, self.weights[inside]
        # Whether a point of a rank has the value -inf, that of rejecting all.
        lowest = np.zeros(ranks, dtype=bool)
        np.logical_or.at(lowest, rank, mate == -np.inf)
        lowest = np.logical_or.accumulate(lowest) | (self.other[0] == -np.inf)
        for i, target in enumerate(targets):
            allowed = allowed_false_accepts(float(target), total)
            if allowed < total:
                limit = self.other[allowed]
                below = mate < limit
                others = self.other[: np.searchsorted(self.other, limit)]
            else:
                below, others = np.ones(len(mate), dtype=bool), self.other
            found = np.cumsum(np.bincount(rank[below], weights[below], minlength=ranks))
            dir_[i] = np.minimum(found, self.genuine) / self.genuine
            loosest = np.full(ranks, -np.inf)
            np.maximum.at(loosest, rank[below], mate[below])
            loosest = np.maximum.accumulate(loosest)
            counted = np.zeros(ranks, dtype=bool)
            counted[rank[below]] = True
            counted = np.logical_or.accumulate(counted) | bool(len(others))
            if len(others):
                loosest = np.maximum(loosest, others[-1])
            none = np.where(lowest, np.nan, -np.inf)
            threshold[i] = np.where(counted, loosest, none)
        return dir_, threshold
