"""Precision, recall and F1 of the entries that each query retrieves within a threshold."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bioeval.results.query_means import QueryMean
from bioeval.tallies.reid_counts import MatchLists


class RetrievedSets:
    """Entries that each query retrieves within each threshold, ``d <= tau``.

    Parameters
    ----------
    matches : MatchLists
    retrieved : int64 array, shape (queries, t)
        Gallery entries within each threshold, matches included.
    thresholds : float64 array, shape (t,)
        Increasing distances.
    """

    def __init__(self, matches: MatchLists, retrieved: np.ndarray, thresholds: np.ndarray):
        self.matches, self.retrieved = matches, retrieved
        self.positives = matches.counts[:, None].astype(np.float64)
        self._within = np.searchsorted(thresholds, matches.distance)

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights of the matches that each query retrieves, (queries, t)."""
        shape = self.retrieved.shape
        inside = self._within < shape[1]
        flat = self.matches.query[inside] * shape[1] + self._within[inside]
        found = np.bincount(flat, weights[inside], minlength=shape[0] * shape[1])
        return found.reshape(shape).cumsum(axis=1)

    @cached_property
    def hits(self) -> np.ndarray:
        """The number of matches that each query retrieves, shape (queries, t), as floats."""
        return np.rint(self.sums(np.ones(len(self.matches.distance))))

    def measures(self, counted: np.ndarray) -> dict[str, QueryMean]:
        """Return precision, recall and F1 as means over the counted queries.

        Precision is 0 where nothing is retrieved. A query without a match has 0.
        """
        hits, found = self.hits, self.matches.counts > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            values = {
                "precision": np.where(self.retrieved > 0, hits / self.retrieved, 0.0),
                "recall": hits / self.positives,
                "f1": 2 * hits / (self.retrieved + self.positives),
            }
        query = np.flatnonzero(found)
        return {name: QueryMean(counted, query, each[query]) for name, each in values.items()}

    def micro_f1(self) -> np.ndarray:
        """Return F1 of the entries of all queries together, with unmatched queries."""
        whole = self.retrieved.sum(axis=0) + self.positives.sum()
        with np.errstate(invalid="ignore"):
            return 2 * self.hits.sum(axis=0) / whole
