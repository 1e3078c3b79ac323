"""The matches of each query from near to far, and the measures of their ranks.

A match has an `order` among the matches of its query, 1 for the nearest; `closer` non-matches are
nearer and `tied` non-matches as near, of which `before` are listed before the match. A query has
`counts` listed matches, and `positives` matches in all: they differ for top-K lists alone. A run is
a set of equally close matches of a query.
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

#: Ranks of tied entries that are in memory at a time.
MOST_PLACES = 1 << 22

#: Recall levels of interpolated precision are 0, 1/10 ... 1.
TENTHS = 10


class Places(NamedTuple):
    """Ranks of matches, in arrays of one length.

    Under expected ties a match has several ranks, each with a probability as its weight.
    """

    query: np.ndarray  # int64: the query of the match
    rank: np.ndarray  # int64: a rank of the match, from 1
    weight: np.ndarray  # float64: how much the match counts at this rank


def ranks_of(matches: MatchLists, ties: Ties) -> np.ndarray:
    """Return the rank of each match under pessimistic, optimistic or stable ties."""
    return matches.order + non_matches_before(matches, ties)


def non_matches_before(matches: MatchLists, ties: Ties) -> np.ndarray:
    """Return the number of non-matches that the treatment of ties puts before each match."""
    if ties == "optimistic":
        return matches.closer
    return matches.closer + (matches.tied if ties == "pessimistic" else matches.before)


def per_query(matches: MatchLists, values: np.ndarray) -> np.ndarray:
    """Return the sum over the matches of each query; NaN for a query without a match."""
    sums = np.bincount(matches.query, values, minlength=len(matches.counts))
    return np.where(matches.positives > 0, sums, np.nan)


def average_precision(matches: MatchLists, ties: Ties, form: ApForm = "sum") -> np.ndarray:
    """Return the average precision of each query; NaN where it has no match.

    With ``P(k)`` the precision at rank ``k``, the form ``"sum"`` is the mean of ``P`` at the ranks
    of the matches, and ``"trapezoid"`` the mean of ``(P(k - 1) + P(k)) / 2`` at these ranks, with
    ``P(0) = 1``. The form ``"tied-once"`` is the mean over the matches of the precision of all
    entries at most as far as the match: equal scores are one threshold, and `ties` has no effect.
    """
    order = matches.order
    with np.errstate(invalid="ignore", divide="ignore"):
        if form == "tied-once":
            _, matches_within = _equal_runs(matches)
            precision = matches_within / (matches_within + matches.closer + matches.tied)
        else:
            rank = ranks_of(matches, ties)
            precision = order / rank
            if form == "trapezoid":
                earlier = np.where(rank > 1, (order - 1) / np.maximum(rank - 1, 1), 1.0)
                precision = (earlier + precision) / 2
        return per_query(matches, precision) / matches.positives


def _equal_runs(matches: MatchLists) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays (matches,): the order of the first and of the last match in each run."""
    order = matches.order
    starts_run = order == 1
    starts_run[1:] |= ~_same(matches.distance[1:], matches.distance[:-1])
    starts = np.flatnonzero(starts_run)
    stops = np.append(starts[1:], len(order)) - 1
    run = np.cumsum(starts_run) - 1  # (matches,)
    return order[starts[run]], order[stops[run]]


def interpolated_precision(matches: MatchLists, ties: Ties) -> np.ndarray:
    """Return the interpolated precision of each query at each recall level, NaN without a match.

    Interpolated precision is the largest precision at this recall or beyond. The recall of the
    ``i``-th of ``h`` matches is ``i / h``, compared with the level exactly; the precision is
    largest at a match.
    """
    has_match = matches.counts > 0
    first = matches.starts[:-1][has_match]
    listed_matches = matches.counts[has_match]
    precision = np.append(matches.order / ranks_of(matches, ties), 0.0)
    interpolated = np.full((len(has_match), TENTHS + 1), np.nan)
    for tenth in range(TENTHS + 1):
        # The fewest matches with this recall: tenth / 10 of all, rounded up without floats.
        needed = np.maximum(-(-tenth * listed_matches // TENTHS), 1)
        slices = np.column_stack([first + needed - 1, first + listed_matches])
        # Every second maximum is over matches between these slices, and is not used.
        maxima = np.maximum.reduceat(precision, slices.reshape(-1))
        interpolated[has_match, tenth] = maxima[::2]
    return interpolated


def cut_average_precision(
    matches: MatchLists, ties: Ties, rank_k: int, over: RankKOver
) -> np.ndarray:
    """Return the average precision of each query's list, cut at rank `rank_k`.

    The denominator `over` is ``"positives"``, the number of matches of the query; ``"smaller"``,
    the smaller of that number and `rank_k`; or ``"found"``, the number of matches up to rank
    `rank_k` (the average precision is 0 if there are none).
    """
    rank = ranks_of(matches, ties)
    within = rank <= rank_k
    precisions = np.where(within, matches.order / rank, 0.0)
    denominator = matches.positives
    if over == "smaller":
        denominator = np.minimum(denominator, rank_k)
    elif over == "found":
        denominator = np.maximum(np.bincount(matches.query[within], minlength=len(denominator)), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return per_query(matches, precisions) / denominator


def cut_messages(matches: np.ndarray, rank_k: int, over: RankKOver) -> list[Message]:
    """Return a message if a query has more than `rank_k` of the `matches` (queries,)."""
    beyond = int((matches > rank_k).sum())
    if over != "positives" or not beyond:
        return []
    return [
        Message("more-matches-than-places", beyond=beyond, queries=len(matches), places=int(rank_k))
    ]


def match_sum(matches: MatchLists, ties: Ties, name: str) -> np.ndarray:
    """Return a measure of each query that is a sum over its matches; NaN without a match.

    The measure is one of :data:`bioeval.results.query_means.OF_MATCH`. Under expected ties it must
    be one of ``OF_RANK``, and the value is its mean over all orders of tied entries.
    """
    if ties == "expected":
        return _expected_match_sum(matches, name)
    of_match = OF_MATCH[name]
    matches_of_query = matches.positives[matches.query]
    return per_query(matches, of_match(matches.order, ranks_of(matches, ties), matches_of_query))


def _expected_match_sum(matches: MatchLists, name: str) -> np.ndarray:
    """Return the mean of a measure over all orders of tied entries (McSherry and Najork 2008).

    A match that is tied with other entries is at each of their ranks with equal chance.
    """
    of_match = OF_MATCH[name]
    first, last = _equal_runs(matches)
    run_starts = np.flatnonzero(matches.order == first)
    # Each run has its matches, the rank before it, all entries tied with it, and its query.
    matches_of_run = (last - first + 1)[run_starts]
    rank_before_run = (matches.closer + first - 1)[run_starts]
    entries_of_run = matches.tied[run_starts] + matches_of_run
    query_of_run = matches.query[run_starts]
    sums = np.zeros(len(matches.counts))
    run_ends = np.cumsum(entries_of_run)
    low = 0
    while low < len(run_starts):  # ranks that fit into memory are read together, at least one run
        done = run_ends[low] - entries_of_run[low]
        high = max(low + 1, int(np.searchsorted(run_ends, done + MOST_PLACES, side="right")))
        run = np.repeat(np.arange(low, high), entries_of_run[low:high])
        entry = np.arange(done, done + len(run)) - (run_ends - entries_of_run)[run]
        rank = rank_before_run[run] + 1 + entry
        share = of_match(rank, rank, matches.counts[query_of_run[run]])
        added = share * (matches_of_run / entries_of_run)[run]
        sums += np.bincount(query_of_run[run], added, minlength=len(sums))
        low = high
    return np.where(matches.counts > 0, sums, np.nan)


def places_of_first_match(matches: MatchLists, ties: Ties) -> Places:
    """Return the ranks of the first match of each query with a match."""
    matched = np.flatnonzero(matches.counts > 0)
    first = matches.starts[matched]
    best = np.repeat(matches.distance[first], matches.counts[matched])
    mates_tied = np.bincount(
        matches.query[_same(matches.distance, best)], minlength=len(matches.counts)
    )
    index, rank, weight = place_weights(
        matches.closer[first], matches.tied[first], matches.before[first], mates_tied[matched], ties
    )
    return Places(matched[index], rank, weight)


def places_of_all_matches(matches: MatchLists, ties: Ties, max_rank: int) -> Places:
    """Return the ranks of all matches, up to `max_rank`.

    Under expected ties a match is at each rank of the entries that are tied with it with equal
    chance.
    """
    if ties != "expected":
        rank = ranks_of(matches, ties)
        is_listed = rank <= max_rank
        weight = np.ones(np.count_nonzero(is_listed))
        return Places(matches.query[is_listed], rank[is_listed], weight)
    first, last = _equal_runs(matches)
    before = matches.closer + first - 1
    tied = matches.tied + last - first + 1
    return _spread_over_ranks(matches, before, np.clip(max_rank - before, 0, tied), 1.0 / tied)


def places_among_non_matches(matches: MatchLists, ties: Ties) -> Places:
    """Return the ranks of the ``h`` matches of each query among its non-matches, weight ``1 / h``.

    Under expected ties a match is before, between or behind the non-matches that are tied with it
    with equal chance.
    """
    weight = 1.0 / np.repeat(matches.counts, matches.counts)
    if ties != "expected":
        return Places(matches.query, 1 + non_matches_before(matches, ties), weight)
    ranks = matches.tied + 1
    return _spread_over_ranks(matches, matches.closer, ranks, weight / ranks)


def _spread_over_ranks(
    matches: MatchLists, before: np.ndarray, ranks: np.ndarray, weight: np.ndarray
) -> Places:
    """Return the ranks of matches where each match is at several consecutive ranks.

    Each match (arrays are (matches,)) is at the `ranks` ranks behind rank `before`, with the same
    `weight` at each rank.
    """
    step = np.arange(ranks.sum()) - np.repeat(np.cumsum(ranks) - ranks, ranks)
    rank = np.repeat(1 + before, ranks) + step
    return Places(np.repeat(matches.query, ranks), rank, np.repeat(weight, ranks))


def precision_changes(places: Places, positives: np.ndarray, max_rank: int) -> Places:
    """Return the changes from rank to rank of the precision ``TP(K) / min(K, h)`` of each query.

    ``TP(K)`` is the number of matches at the `places` up to rank K, and h is the query's number of
    `positives` (queries,). The changes are returned as weights, whose sum up to rank K is the
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

    - `retrieved` (int64 (queries, t)): number of gallery entries within each threshold, matches
      included
    - `thresholds` (float64 (t,)): increasing distances
    """

    def __init__(self, matches: MatchLists, retrieved: np.ndarray, thresholds: np.ndarray):
        self.matches = matches
        self.retrieved = retrieved
        self.positives = matches.counts[:, None].astype(np.float64)  # (queries, 1)
        #: (matches,): the first threshold that retrieves each match; t if none does.
        self._first_threshold = np.searchsorted(thresholds, matches.distance)

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Return the sum of `weights` (matches,) over the matches that each query retrieves.

        The sums are (queries, t).
        """
        queries, thresholds = self.retrieved.shape
        is_retrieved = self._first_threshold < thresholds
        first = self._first_threshold[is_retrieved]
        cell = self.matches.query[is_retrieved] * thresholds + first
        added = np.bincount(cell, weights[is_retrieved], minlength=queries * thresholds)
        return added.reshape(queries, thresholds).cumsum(axis=1)

    @cached_property
    def hits(self) -> np.ndarray:
        """The number of matches that each query retrieves, float64 (queries, t)."""
        return np.rint(self.sums(np.ones(len(self.matches.distance))))

    def measures(self, counted: np.ndarray) -> dict[str, QueryMean]:
        """Return precision, recall and F1 at each threshold, as means over the `counted` queries.

        If a query retrieves TP of its h matches among n entries, its measures are ``TP / n`` (0
        where nothing is retrieved), ``TP / h`` and ``2 TP / (n + h)``.
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
        """Return F1 (t,) of the entries of all queries together, with and without a match."""
        entries = self.retrieved.sum(axis=0) + self.positives.sum()
        with np.errstate(invalid="ignore"):
            return 2 * self.hits.sum(axis=0) / entries


def _same(distance: np.ndarray, other_distance: np.ndarray) -> np.ndarray:
    """Return the mask of equal distances; two failed comparisons, NaN, are equal."""
    return (distance == other_distance) | (np.isnan(distance) & np.isnan(other_distance))
