"""Measures of re-identification that are means over queries.

A query has a value (:class:`QueryMean`), or a weight of its matches at each rank or better
(:class:`MatchCurve`). If the first matches of three queries are at the ranks 1, 1 and 3, then the
CMC is ``[2/3, 2/3, 1]``, and the mean reciprocal rank ``(1 + 1 + 1/3) / 3``.
"""

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


# The share of each match in a measure of its query, from its order among the matches of the query,
# its rank, and the number of matches. The measure is the sum of the shares. Shares are monotone in
# the rank.


def _share_of_inp(order: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return matches over the rank of the last match (Ye et al. 2021), as its share."""
    return np.where(order == number, number / rank, 0.0)


def _share_of_reciprocal_rank(
    order: np.ndarray, rank: np.ndarray, number: np.ndarray
) -> np.ndarray:
    """Return 1 over the rank of the first match (Voorhees 1999, TREC-8), as its share."""
    return np.where(order == 1, 1 / rank, 0.0)


def _share_of_r_precision(order: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return 1 / R for each of the first R ranks (Manning et al. 2008, section 8.4)."""
    return (rank <= number) / number


def _share_of_ap_at_r(order: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return precision / R of each match in the first R ranks (Musgrave et al. 2020)."""
    return np.where(rank <= number, order / rank / number, 0.0)


def _share_of_ndcg(order: np.ndarray, rank: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the discounted gain over that of an ideal ranking (Järvelin and Kekäläinen 2002).

    An ideal ranking has all matches first.
    """
    ideal_ranks = np.arange(1, number.max(initial=0) + 1)
    gain_of_ideal_ranking = np.cumsum(1 / np.log2(1.0 + ideal_ranks))  # by the number of matches
    return 1 / np.log2(1.0 + rank) / gain_of_ideal_ranking[number - 1]


#: The means of measures that are sums of shares, and the function of the shares.
OF_MATCH: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "mean_inp": _share_of_inp,
    "mrr": _share_of_reciprocal_rank,
    "r_precision": _share_of_r_precision,
    "mean_ap_at_r": _share_of_ap_at_r,
    "ndcg": _share_of_ndcg,
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
