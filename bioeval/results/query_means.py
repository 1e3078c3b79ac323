"""Means of measures over the queries of re-identification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bioeval.results.dataset import rate

#: For each mean, the variable with the values of the queries.
OF_QUERY = {
    "mean_ap": "average_precision",
    "rank_k_mean_ap": "rank_k_average_precision",
    "mean_inp": "inp",
    "mrr": "reciprocal_rank",
    "r_precision": "query_r_precision",
    "mean_ap_at_r": "query_ap_at_r",
    "ndcg": "query_ndcg",
}


def _ndcg(order: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the share of a match in NDCG, ``1 / log2(1 + rank)`` over the ideal sum.

    The ideal ranking has all matches first (Järvelin and Kekäläinen 2002).
    """
    ideal = np.cumsum(1 / np.log2(1.0 + np.arange(1, number.max(initial=0) + 1)))
    return 1 / np.log2(1.0 + rank) / ideal[number - 1]


#: Measures of a query that are sums over its matches: the function returns the share of a match
#: from its order among the matches, its rank, and the number of matches. Shares are monotone in the
#: rank. INP, matches over the rank of the last match: Ye et al. (2021); MRR: Voorhees (1999),
#: TREC-8; R-precision: Manning, Raghavan and Schütze (2008), section 8.4; MAP@R: Musgrave, Belongie
#: and Lim (2020).
OF_MATCH: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "mean_inp": lambda order, rank, number: np.where(order == number, number / rank, 0.0),
    "mrr": lambda order, rank, number: np.where(order == 1, 1 / rank, 0.0),
    "r_precision": lambda order, rank, number: (rank <= number) / number,
    "mean_ap_at_r": lambda order, rank, number: np.where(
        rank <= number, order / rank / number, 0.0
    ),
    "ndcg": _ndcg,
}

#: Measures whose shares depend on the rank and the number of matches alone. Their mean over all
#: orders of tied entries is the mean over the ranks of these entries.
OF_RANK = ("r_precision", "ndcg")


@dataclass(frozen=True)
class QueryMean:
    """A mean of values over queries."""

    counted: np.ndarray  # bool (queries,): the queries that the mean is over
    query: np.ndarray  # int64 (n,): the queries with a value; other counted queries have 0
    #: float64 or bool, (n,) or (n, thresholds); the mean of bool is a proportion of the queries.
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """The mean; NaN without a query."""
        return rate(self.values.sum(axis=0), int(self.counted.sum()))

    @property
    def by_query(self) -> np.ndarray:
        """The value of each query, NaN for a query without a value."""
        values = np.full((len(self.counted), *self.values.shape[1:]), np.nan)
        values[self.query] = self.values
        return values

    def of_some(self, chosen: np.ndarray, values: np.ndarray) -> QueryMean:
        """Return the mean over the `chosen` queries, with new `values` of these queries."""
        query = self.query[chosen[self.query]]
        return replace(self, counted=self.counted & chosen, query=query, values=values)


@dataclass(frozen=True)
class MatchCurve:
    """A mean over queries: the weight of their matches at each rank or better.

    The CMC is the proportion of queries whose first match is at the rank or better (if all shots
    count, the mean over their matches); recall and precision at a rank count all matches.
    """

    counted: np.ndarray  # bool (queries,): the queries that the mean is over
    query: np.ndarray  # int64 (n,): the query of each counted match
    rank: np.ndarray  # int64 (n,): the rank of each counted match
    weight: np.ndarray  # (n,): weight or probability of each counted match
    per_rank: bool = False  # whether the weight is divided by the rank, as precision is

    def means(self, max_rank: int) -> np.ndarray:
        """Return the mean at ranks 1 ... `max_rank`."""
        divisor = np.arange(1, max_rank + 1) if self.per_rank else 1
        return rate(self.counts(max_rank) / divisor, int(self.counted.sum()))

    def counts(self, max_rank: int) -> np.ndarray:
        """Return the number of queries, or its expectation, at each rank or better."""
        is_counted = self.rank <= max_rank
        return np.cumsum(
            np.bincount(self.rank[is_counted] - 1, self.weight[is_counted], minlength=max_rank)
        )

    def up_to_rank(self, rank: int) -> QueryMean:
        """Return the mean at a rank, with the weight of each query's matches up to the rank."""
        is_counted = self.rank <= rank
        weights = np.bincount(
            self.query[is_counted], self.weight[is_counted], minlength=len(self.counted)
        )
        query = np.unique(self.query)
        return QueryMean(self.counted, query, weights[query])


@dataclass(frozen=True)
class QueryMeasures:
    """The measures of a result that are means over queries: curves over ranks, and others."""

    cmc: MatchCurve
    means: dict[str, QueryMean]
    curves: dict[str, MatchCurve] = field(default_factory=dict)  # besides the CMC, by name

    @property
    def counted(self) -> np.ndarray:
        """Whether any measure counts each query."""
        return np.any([self.cmc.counted, *(mean.counted for mean in self.means.values())], axis=0)
