"""The matches of each query from near to far, and the measures of their ranks.

A match has an `order` among the matches of its query, 1 for the nearest; `closer` non-matches are
nearer and `tied` non-matches as near, of which `before` are listed before the match. A query has
`counts` matches that are listed, and `positives` in all: they differ for top-K lists alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.identification import place_weights
from bioeval.counting.mate_ranks import MatchLists
from bioeval.protocol.choices import ApForm, RankKOver, Ties
from bioeval.results.query_means import OF_MATCH, QueryMean

#: Places of tied entries in memory at a time.
MOST_PLACES = 1 << 22

#: Recall levels of interpolated precision are 0, 1/10 ... 1.
TENTHS = 10


class Places(NamedTuple):
    """Ranks at which matches are; under expected ties a match has several, each with a probability.

    All arrays have the same length.
    """

    query: np.ndarray  # int64: the query of the match
    rank: np.ndarray  # int64, from 1
    weight: np.ndarray  # float64: what the match counts at this rank


def ranks_of(lists: MatchLists, ties: Ties) -> np.ndarray:
    """Return the rank of each match under pessimistic, optimistic or stable ties."""
    return lists.order + non_matches_before(lists, ties)


def non_matches_before(lists: MatchLists, ties: Ties) -> np.ndarray:
    """Return the number of non-matches that the treatment of ties puts before each match."""
    if ties == "optimistic":
        return lists.closer
    return lists.closer + (lists.tied if ties == "pessimistic" else lists.before)


def per_query(lists: MatchLists, values: np.ndarray) -> np.ndarray:
    """Return the sum over the matches of each query; NaN for a query without a match."""
    sums = np.bincount(lists.query, values, minlength=len(lists.counts))
    return np.where(lists.positives > 0, sums, np.nan)


def average_precision(lists: MatchLists, ties: Ties, form: ApForm = "sum") -> np.ndarray:
    """Return the average precision of each query; NaN where it has no match.

    With ``P(k)`` the precision at rank ``k``, the form ``"sum"`` is the mean of ``P`` at the
    matches; ``"trapezoid"`` the mean of ``(P(k - 1) + P(k)) / 2`` there, with ``P(0) = 1``; and
    ``"tied-once"`` the mean of the precision of all that is not farther than the match: equal
    scores are one threshold, whatever `ties` says.
    """
    order = lists.order
    with np.errstate(invalid="ignore", divide="ignore"):
        if form == "tied-once":
            _, matches_within = _equal_runs(lists)
            precision = matches_within / (matches_within + lists.closer + lists.tied)
        else:
            rank = ranks_of(lists, ties)
            precision = order / rank
            if form == "trapezoid":
                earlier = np.where(rank > 1, (order - 1) / np.maximum(rank - 1, 1), 1.0)
                precision = (earlier + precision) / 2
        return per_query(lists, precision) / lists.positives


def _equal_runs(lists: MatchLists) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the first and of the last match that is tied with each match.

    Both are (matches,), counted from 1 within a query.
    """
    order = lists.order
    starts_run = order == 1
    starts_run[1:] |= ~_same(lists.distance[1:], lists.distance[:-1])
    first = np.flatnonzero(starts_run)
    last = np.append(first[1:], len(order)) - 1
    run = np.cumsum(starts_run) - 1  # (matches,)
    return order[first[run]], order[last[run]]


def interpolated_precision(lists: MatchLists, ties: Ties) -> np.ndarray:
    """Return the interpolated precision of each query at each recall level, NaN without a match.

    Interpolated precision is the largest precision at this recall or beyond. The recall of the
    ``i``-th of ``h`` matches is ``i / h``, compared with the level exactly; the precision is
    largest at a match.
    """
    is_matched = lists.counts > 0
    first = lists.starts[:-1][is_matched]
    count = lists.counts[is_matched]
    precision = np.append(lists.order / ranks_of(lists, ties), 0.0)
    interpolated = np.full((len(is_matched), TENTHS + 1), np.nan)
    for tenth in range(TENTHS + 1):
        # The matches of which this recall consists: tenth / 10 of all, rounded up without floats.
        needed = np.maximum(-(-tenth * count // TENTHS), 1)
        runs = np.column_stack([first + needed - 1, first + count])
        # Every second maximum is of what lies between the runs.
        maxima = np.maximum.reduceat(precision, runs.reshape(-1))
        interpolated[is_matched, tenth] = maxima[::2]
    return interpolated


def cut_average_precision(
    lists: MatchLists, ties: Ties, rank_k: int, over: RankKOver
) -> np.ndarray:
    """Return the average precision of lists cut at a rank.

    The denominator `over` is ``"positives"``, the number of matches of the query; ``"smaller"``,
    the smaller of that number and the cut; or ``"found"``, the number of matches within the cut, of
    which a list without one has the average precision 0.
    """
    rank = ranks_of(lists, ties)
    within = rank <= rank_k
    precisions = np.where(within, lists.order / rank, 0.0)
    number = lists.positives
    if over == "smaller":
        number = np.minimum(number, rank_k)
    elif over == "found":
        number = np.maximum(np.bincount(lists.query[within], minlength=len(number)), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return per_query(lists, precisions) / number


def cut_messages(matches: np.ndarray, rank_k: int, over: RankKOver) -> list[Message]:
    """Return a message if a query has more `matches` than fit into a list cut at a rank."""
    beyond = int((matches > rank_k).sum())
    if over != "positives" or not beyond:
        return []
    return [
        Message("more-matches-than-places", beyond=beyond, queries=len(matches), places=int(rank_k))
    ]


def match_sum(lists: MatchLists, ties: Ties, name: str) -> np.ndarray:
    """Return a measure of each query that is a sum over its matches; NaN without a match.

    :data:`bioeval.results.query_means.OF_MATCH` has the share of each match. Under expected ties,
    the measure must depend on ranks alone, and is the mean over all orders of tied entries.
    """
    if ties == "expected":
        return _expected_match_sum(lists, name)
    of_match = OF_MATCH[name]
    number = lists.positives[lists.query]
    return per_query(lists, of_match(lists.order, ranks_of(lists, ties), number))


def _expected_match_sum(lists: MatchLists, name: str) -> np.ndarray:
    """Return the mean of a measure over all orders of tied entries (McSherry and Najork 2008).

    A match that is tied with other entries is at each of their places with equal chance.
    """
    of_match = OF_MATCH[name]
    first, last = _equal_runs(lists)
    heads = np.flatnonzero(lists.order == first)  # the first match of each run of tied matches
    # Of each run: its matches, the entries before it, all its entries, and their query.
    matches = (last - first + 1)[heads]
    before = (lists.closer + first - 1)[heads]
    entries = lists.tied[heads] + matches
    query = lists.query[heads]
    sums = np.zeros(len(lists.counts))
    ends = np.cumsum(entries)
    low = 0
    while low < len(heads):  # as many places at a time as fit into memory, and at least one head
        start = ends[low] - entries[low]
        high = max(low + 1, int(np.searchsorted(ends, start + MOST_PLACES, side="right")))
        times = entries[low:high]
        head = np.repeat(np.arange(low, high), times)
        rank = before[head] + 1 + np.arange(len(head)) - (ends - entries)[head] + start
        added = of_match(rank, rank, lists.counts[query[head]]) * (matches / entries)[head]
        sums += np.bincount(query[head], added, minlength=len(sums))
        low = high
    return np.where(lists.counts > 0, sums, np.nan)


def places_of_first_match(lists: MatchLists, ties: Ties) -> Places:
    """Return the places of the first match of each query with a match."""
    matched = np.flatnonzero(lists.counts > 0)
    first = lists.starts[matched]
    best = np.repeat(lists.distance[first], lists.counts[matched])
    mates_tied = np.bincount(lists.query[_same(lists.distance, best)], minlength=len(lists.counts))
    index, rank, weight = place_weights(
        lists.closer[first], lists.tied[first], lists.before[first], mates_tied[matched], ties
    )
    return Places(matched[index], rank, weight)


def places_of_all_matches(lists: MatchLists, ties: Ties, max_rank: int) -> Places:
    """Return the places of all matches up to a rank.

    Under expected ties a match is with equal chance at each place of equally close entries.
    """
    if ties != "expected":
        rank = ranks_of(lists, ties)
        is_listed = rank <= max_rank
        weight = np.ones(np.count_nonzero(is_listed))
        return Places(lists.query[is_listed], rank[is_listed], weight)
    first, last = _equal_runs(lists)
    before = lists.closer + first - 1
    tied = lists.tied + last - first + 1
    return _spread_over_ranks(lists, before, np.clip(max_rank - before, 0, tied), 1.0 / tied)


def places_among_non_matches(lists: MatchLists, ties: Ties) -> Places:
    """Return the places of the ``h`` matches of each query among its non-matches, weight ``1 / h``.

    Under expected ties a match is with equal chance at each place among the non-matches exactly
    as close.
    """
    weight = 1.0 / np.repeat(lists.counts, lists.counts)
    if ties != "expected":
        return Places(lists.query, 1 + non_matches_before(lists, ties), weight)
    ranks = lists.tied + 1
    return _spread_over_ranks(lists, lists.closer, ranks, weight / ranks)


def _spread_over_ranks(
    lists: MatchLists, before: np.ndarray, ranks: np.ndarray, weight: np.ndarray
) -> Places:
    """Return the places of matches of which each may be at several consecutive ranks.

    A match, in arrays (matches,), has the number `ranks` of them, which follow rank `before`, and
    the same `weight` at each.
    """
    step = np.arange(ranks.sum()) - np.repeat(np.cumsum(ranks) - ranks, ranks)
    rank = np.repeat(1 + before, ranks) + step
    return Places(np.repeat(lists.query, ranks), rank, np.repeat(weight, ranks))


def precision_changes(places: Places, positives: np.ndarray, max_rank: int) -> Places:
    """Return the changes from rank to rank of the precision ``TP(K) / min(K, h)`` of each query.

    ``TP(K)`` is the number of matches at the `places` up to rank K, and h the number of `positives`
    (queries,) of the query. The weights that are returned are the changes: their sum up to K is the
    precision at K. With h = 2 and matches at ranks 1 and 3, precision is 1, 1/2, 1 at ranks 1 to 3,
    and the changes are 1, -1/2, 1/2.
    """
    query, rank, weight = places
    # Up to rank h the divisor is the rank: every rank has a change.
    last = np.minimum(positives, max_rank)
    starts = np.cumsum(last) - last
    early = rank <= last[query]
    added = np.bincount((starts[query] + rank - 1)[early], weight[early], minlength=int(last.sum()))
    early_query = np.repeat(np.arange(len(positives)), last)
    early_rank = np.arange(len(early_query)) - starts[early_query] + 1
    sums = np.append(0.0, np.cumsum(added))
    precision = (sums[1:] - sums[starts[early_query]]) / early_rank
    change = precision.copy()
    change[1:] -= np.where(early_rank[1:] > 1, precision[:-1], 0.0)
    # Beyond rank h the divisor is h: only the ranks of matches have a change.
    late = ~early
    return Places(
        np.append(early_query, query[late]),
        np.append(early_rank, rank[late]),
        np.append(change, (weight / positives[query])[late]),
    )


class RetrievedSets:
    """Entries that each query retrieves within each threshold, ``d <= tau``.

    - `retrieved` (int64 (queries, t)): gallery entries within each threshold, matches included
    - `thresholds` (float64 (t,)): increasing distances
    """

    def __init__(self, matches: MatchLists, retrieved: np.ndarray, thresholds: np.ndarray):
        self.matches = matches
        self.retrieved = retrieved
        self.positives = matches.counts[:, None].astype(np.float64)  # (queries, 1)
        #: (matches,): the first threshold that retrieves each match; t if none does.
        self._first_threshold = np.searchsorted(thresholds, matches.distance)

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of weights of the matches that each query retrieves, (queries, t)."""
        queries, thresholds = self.retrieved.shape
        is_retrieved = self._first_threshold < thresholds
        first = self._first_threshold[is_retrieved]
        cell = self.matches.query[is_retrieved] * thresholds + first
        added = np.bincount(cell, weights[is_retrieved], minlength=queries * thresholds)
        return added.reshape(queries, thresholds).cumsum(axis=1)

    @cached_property
    def hits(self) -> np.ndarray:
        """The number of matches that each query retrieves, shape (queries, t), as floats."""
        return np.rint(self.sums(np.ones(len(self.matches.distance))))

    def measures(self, counted: np.ndarray) -> dict[str, QueryMean]:
        """Return precision, recall and F1 of counted queries at each threshold.

        Of h matches with TP among n retrieved entries, they are ``TP / n`` (0 where nothing is
        retrieved), ``TP / h`` and ``2 TP / (n + h)``.
        """
        hits = self.hits
        with np.errstate(invalid="ignore", divide="ignore"):
            values = {
                "precision": np.where(self.retrieved > 0, hits / self.retrieved, 0.0),
                "recall": hits / self.positives,
                "f1": 2 * hits / (self.retrieved + self.positives),
            }
        matched = np.flatnonzero(self.matches.counts > 0)
        return {name: QueryMean(counted, matched, x[matched]) for name, x in values.items()}

    def micro_f1(self) -> np.ndarray:
        """Return F1 (t,) of the entries of all queries together, with unmatched queries."""
        entries = self.retrieved.sum(axis=0) + self.positives.sum()
        with np.errstate(invalid="ignore"):
            return 2 * self.hits.sum(axis=0) / entries


def _same(distance: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the mask of equal distances; two failed comparisons, NaN, are equal."""
    return (distance == other) | (np.isnan(distance) & np.isnan(other))
