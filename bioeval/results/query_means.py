"""Measures that are means over queries, by what each query adds to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.results.dataset import rate


@dataclass(frozen=True)
class QueryMean:
    """A mean of values over queries.

    Attributes
    ----------
    counted : bool array, shape (queries,)
        The queries that the mean is over.
    query : int64 array, shape (n,)
        The queries that have a value; others that are counted have 0.
    values : float64 or bool array, shape (n,) or (n, thresholds)
        Bool: decisions, whose mean is a proportion of the queries.
    """

    counted: np.ndarray
    query: np.ndarray
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean; NaN without a query."""
        return rate(self.values.sum(axis=0), int(self.counted.sum()))

    @property
    def each(self) -> np.ndarray:
        """The value of each query, NaN where it has none."""
        out = np.full((len(self.counted), *self.values.shape[1:]), np.nan)
        out[self.query] = self.values
        return out


@dataclass(frozen=True)
class MatchCurve:
    """A CMC: the proportion of queries whose counted match is at a rank or better.

    Attributes
    ----------
    counted : bool array, shape (queries,)
        The queries that the proportion is over.
    query, rank : int64 arrays, shape (n,)
    weight : array, shape (n,)
        Of each counted match: its query and its rank, and its weight or probability.
    """

    counted: np.ndarray
    query: np.ndarray
    rank: np.ndarray
    weight: np.ndarray

    def counts(self, max_rank: int) -> np.ndarray:
        """Return the number of queries, or its expectation, up to each rank."""
        kept = self.rank <= max_rank
        return np.cumsum(np.bincount(self.rank[kept] - 1, self.weight[kept], minlength=max_rank))

    def within(self, rank: int) -> QueryMean:
        """Return the weight, or decision, of each query at one rank or better."""
        kept = self.rank <= rank
        weights = np.bincount(self.query[kept], self.weight[kept], minlength=len(self.counted))
        query = np.unique(self.query)
        return QueryMean(self.counted, query, weights[query])


@dataclass(frozen=True)
class QueryMeasures:
    """The measures of a result that are over its queries: the CMC, and means by name."""

    cmc: MatchCurve
    means: dict[str, QueryMean]

    @property
    def counted(self) -> np.ndarray:
        """Whether any measure counts each query."""
        return np.any([self.cmc.counted, *(mean.counted for mean in self.means.values())], axis=0)
