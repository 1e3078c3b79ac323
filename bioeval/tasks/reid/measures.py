"""Average precision, CMC, mINP and other measures of each query, and their means over the queries.

The measures are computed from :class:`MatchLists`, the matches of all queries in one row. A match
has an `order` among the matches of its query, 1 for the nearest; `closer` non-matches are nearer
and `tied` non-matches as near, of which `before` are listed before the match. Then::

    rank = order + closer + (tied non-matches that the treatment of ties puts before the match)
    average precision = mean of order / rank over the matches of a query

A query with the list "match, non-match, match" has `order` 1, 2 and `closer` 0, 1: the ranks are 1
and 3, and the average precision is (1/1 + 2/3) / 2. A query has `counts` listed matches, and
`positives` matches in all: they differ for top-K lists alone. A run is a set of equally close
matches of a query.

The file has the measures of a query first, then :class:`ReidCounts`, which makes the result, then
its messages, and last the means without groups of people, for intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, ProtocolError, counted
from bioeval.counting.mate_ranks import MatchLists, MateRanks, Within
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.searches import RankFacts
from bioeval.counting.single_template import chances_of_shots
from bioeval.counting.thresholds import to_user
from bioeval.counting.ties import ENDS, place_weights, tied_ahead
from bioeval.protocol.tasks import ApForm, PrecisionOver, RankKOver, Ties
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import all_beyond_scores, following_scores
from bioeval.results.dataset import Scalars, dataset, rate, variables_over
from bioeval.results.query_means import (
    OF_MATCH,
    OF_QUERY,
    OF_RANK,
    MatchCurve,
    QueryMean,
    QueryMeasures,
)
from bioeval.results.support import rank_message, tie_message
from bioeval.results.variables import QUERY_MEANS, REID, Variable
from bioeval.scores.matrix import Scores
from bioeval.scores.people import left_out_with, require_people
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.reid.candidates import Candidates, Convention

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
    return matches.closer + tied_ahead(ties, matches.tied, matches.before)


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
    precision = matches.order / ranks_of(matches, ties)
    precision = np.append(precision, 0.0)  # `reduceat` needs an entry at the end of the last query
    interpolated = np.full((len(has_match), TENTHS + 1), np.nan)
    for tenth in range(TENTHS + 1):
        # The fewest matches with this recall: tenth / 10 of all, rounded up without floats.
        needed = np.maximum(-(-tenth * listed_matches // TENTHS), 1)
        # The largest precision from this match to the last of the query. `reduceat` takes the
        # maximum from each index to the next: each second one is between two queries, and not used.
        begin_and_end = np.column_stack([first + needed - 1, first + listed_matches])
        maxima = np.maximum.reduceat(precision, begin_and_end.reshape(-1))
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

    The measure is one of ``OF_MATCH``. Under expected ties it must be one of ``OF_RANK``, and the
    value is its mean over all orders of tied entries.
    """
    if ties == "expected":
        return _expected_match_sum(matches, name)
    share_of_match = OF_MATCH[name]
    matches_of_query = matches.positives[matches.query]
    shares = share_of_match(matches.order, ranks_of(matches, ties), matches_of_query)
    return per_query(matches, shares)


def _expected_match_sum(matches: MatchLists, name: str) -> np.ndarray:
    """Return the mean of a measure over all orders of tied entries (McSherry and Najork 2008).

    A match that is tied with other entries is at each of their ranks with equal chance.
    """
    share_of_match = OF_MATCH[name]
    first, last = _equal_runs(matches)
    run_starts = np.flatnonzero(matches.order == first)
    # Each run has its matches, the rank before it, all entries tied with it, and its query.
    matches_of_run = (last - first + 1)[run_starts]
    rank_before_run = (matches.closer + first - 1)[run_starts]
    entries_of_run = matches.tied[run_starts] + matches_of_run
    query_of_run = matches.query[run_starts]
    chance = matches_of_run / entries_of_run  # that an entry of the run is a match

    sums = np.zeros(len(matches.counts))
    run_ends = np.cumsum(entries_of_run)  # where the runs end if their entries follow each other
    low = 0
    while low < len(run_starts):
        # Runs whose entries fit into memory are read together, and at least one run.
        begin = run_ends[low] - entries_of_run[low]
        high = max(low + 1, int(np.searchsorted(run_ends, begin + MOST_PLACES, side="right")))
        run = np.repeat(np.arange(low, high), entries_of_run[low:high])  # of each entry
        run_begins = run_ends - entries_of_run
        entry = np.arange(begin, begin + len(run)) - run_begins[run]  # from 0 within its run
        rank = rank_before_run[run] + 1 + entry
        query = query_of_run[run]
        # These measures (OF_RANK) depend on the rank alone: the order of matches is not needed.
        share = share_of_match(rank, rank, matches.counts[query])
        sums += np.bincount(query, share * chance[run], minlength=len(sums))
        low = high
    return np.where(matches.counts > 0, sums, np.nan)


def places_of_first_match(matches: MatchLists, ties: Ties) -> Places:
    """Return the ranks of the first match of each query with a match."""
    matched = np.flatnonzero(matches.counts > 0)
    first = matches.starts[matched]
    # How many matches of each query are as close as its first match, itself among them.
    distance_of_first = np.repeat(matches.distance[first], matches.counts[matched])
    is_as_close = _same(matches.distance, distance_of_first)
    mates_tied = np.bincount(matches.query[is_as_close], minlength=len(matches.counts))
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
    rank_before = matches.closer + first - 1
    tied_entries = matches.tied + last - first + 1
    ranks = np.clip(max_rank - rank_before, 0, tied_entries)  # those up to `max_rank`
    return _spread_over_ranks(matches, rank_before, ranks, 1.0 / tied_entries)


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
    matches: MatchLists, rank_before: np.ndarray, ranks: np.ndarray, weight: np.ndarray
) -> Places:
    """Return the ranks of matches where each match is at several consecutive ranks.

    Each match (arrays are (matches,)) is at the `ranks` ranks behind `rank_before`, with the same
    `weight` at each rank.
    """
    places_before = np.cumsum(ranks) - ranks  # of earlier matches
    step = np.arange(ranks.sum()) - np.repeat(places_before, ranks)  # from 0 for each match
    rank = np.repeat(1 + rank_before, ranks) + step
    return Places(np.repeat(matches.query, ranks), rank, np.repeat(weight, ranks))


def precision_changes(places: Places, positives: np.ndarray, max_rank: int) -> Places:
    """Return the changes from rank to rank of the precision ``TP(K) / min(K, h)`` of each query.

    ``TP(K)`` is the number of matches at the `places` up to rank K, and h is the query's number of
    `positives` (queries,). The changes are returned as weights, whose sum up to rank K is the
    precision at K. With h = 2 and matches at ranks 1 and 3, precision is 1, 1/2, 1 at ranks 1 to 3,
    and the changes are 1, -1/2, 1/2.
    """
    query, rank, weight = places
    # Up to rank h the divisor is the rank, so that precision changes at every rank. These ranks
    # are in one row, query by query: `starts` is where the ranks of a query begin.
    ranks_of_query = np.minimum(positives, max_rank)
    starts = np.cumsum(ranks_of_query) - ranks_of_query
    is_early = rank <= ranks_of_query[query]
    place = (starts[query] + rank - 1)[is_early]
    hits = np.bincount(place, weight[is_early], minlength=int(ranks_of_query.sum()))
    early_query = np.repeat(np.arange(len(positives)), ranks_of_query)
    early_rank = np.arange(len(early_query)) - starts[early_query] + 1
    sums = np.append(0.0, np.cumsum(hits))  # over the whole row
    precision = (sums[1:] - sums[starts[early_query]]) / early_rank
    change = precision.copy()
    change[1:] -= np.where(early_rank[1:] > 1, precision[:-1], 0.0)
    # Beyond rank h the divisor is h, so that precision changes at the ranks of matches alone.
    is_late = ~is_early
    return Places(
        query=np.append(early_query, query[is_late]),
        rank=np.append(early_rank, rank[is_late]),
        weight=np.append(change, (weight / positives[query])[is_late]),
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


#: The recall levels of interpolated precision.
RECALL_LEVELS = np.arange(TENTHS + 1) / TENTHS

#: Dimensions of the means that are not single numbers.
_DIMENSIONS = {
    "interpolated_precision": ("recall_level",),
    **dict.fromkeys(("precision", "recall", "f1"), ("threshold",)),
}

#: In messages, the CMC at rank 1 and at any other rank.
CMC_WORDS = ("the rate at rank 1", "the rate at rank")

#: The message of results in which no query has a match.
NO_MATCH = "no-query-with-match"


def _reduced(parts: Parts, reducers: Mapping[str, Reducer]) -> dict[str, Any]:
    """Return the results of reducers by name, from one pass over the scores."""
    return dict(zip(reducers, reduce(parts, *reducers.values()), strict=True))


@dataclass(eq=False, kw_only=True)
class ReidCounts:
    """Counts from which the measures of re-identification are computed, query by query."""

    candidates: Candidates
    matches: MatchLists  # matches in the lists of average precision and INP
    #: In the lists of the CMC: the same, unless the convention removes other entries for the CMC.
    cmc_matches: MatchLists
    #: Chances of the CMC over galleries of one match of each identity, from `chances_of_shots`.
    shots: tuple[np.ndarray, np.ndarray] | None = None
    identities: RankFacts | None = None  # rank of the best match among identities, not templates
    thresholds: np.ndarray | None = None  # float64 (t,): increasing distances
    #: int64 (m, t): entries of the list of `matches` within each threshold.
    retrieved: np.ndarray | None = None
    per_query: bool = False  # whether the result has the values of each query

    table: ClassVar[Mapping[str, Variable]] = REID

    @classmethod
    def from_candidates(
        cls, candidates: Candidates, thresholds: np.ndarray | None = None, **fields: Any
    ) -> Self:
        """Count the candidates; `thresholds` are distances, and `fields` further fields."""
        rules = candidates.rules
        reducers: dict[str, Reducer] = {"matches": MateRanks()}
        if thresholds is not None:
            reducers["retrieved"] = Within(thresholds)
        cmc_reducers: dict[str, Reducer] = {}
        parts_for_cmc = candidates.parts
        if rules.cmc == "identity-dedup":
            cmc_reducers["identities"] = RankFacts("best")
            # Identities are ranked only where all templates of a person are in one block.
            parts_for_cmc = candidates.people

        if rules.removed == rules.ap_removed:  # one pass over the scores for both lists
            counts = _reduced(parts_for_cmc(rules.removed), {**reducers, **cmc_reducers})
            counts["cmc_matches"] = counts["matches"]
        else:
            counts = _reduced(candidates.parts(rules.ap_removed), reducers)
            cmc_reducers = {"cmc_matches": MateRanks(), **cmc_reducers}
            counts |= _reduced(parts_for_cmc(rules.removed), cmc_reducers)
        if thresholds is not None:  # junk and distractors retrieve nothing
            counts["retrieved"] = counts["retrieved"] * ~candidates.left_out[:, None]
        if rules.cmc == "single-gallery-shot":
            scores = candidates.without_removed(rules.removed, by_label=True)
            counts["shots"] = chances_of_shots(scores, rules.max_rank, rules.ties)
        return cls(candidates=candidates, thresholds=thresholds, **counts, **fields)

    @cached_property
    def ambiguous(self) -> int:
        """The number of queries with a non-match tied with a match."""
        return len(np.unique(self.matches.query[self.matches.tied > 0]))

    def in_means(self, matches: MatchLists) -> np.ndarray:
        """Return which queries the means are over, bool (queries,).

        They are the queries with a match, or all that are not left out, as the convention treats
        unmatched queries.
        """
        keeps_unmatched = self.candidates.rules.unmatched == "zero"
        return (matches.positives > 0) | (keeps_unmatched & ~self.candidates.left_out)

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        return Scalars.of_dataset(self.dataset())

    def dataset(self) -> xr.Dataset:
        """Return the measures of re-identification; see :func:`bioeval.reid`."""
        candidates = self.candidates
        rules = candidates.rules
        about = candidates.about()
        measures = self.measures()
        # The means and the curves over ranks.
        at_rank = measures.cmc.counts(rules.max_rank)
        if rules.ties != "expected" and rules.cmc not in ("allshots", "single-gallery-shot"):
            at_rank = np.rint(at_rank).astype(np.int64)  # each query has one match at one rank
        cmc = rate(at_rank, int(measures.cmc.counted.sum()))
        variables: dict[str, Any] = {"cmc": (("rank",), cmc), "cmc_count": (("rank",), at_rank)}
        for name, mean in measures.means.items():
            variables[name] = _DIMENSIONS.get(name, ()), mean.mean
        for name, curve in measures.curves.items():
            variables[name] = ("rank",), curve.means(rules.max_rank)
        # Numbers of queries and of removed entries.
        in_means = self.in_means(self.matches)
        searching = int((~candidates.left_out).sum())
        with_match = int((self.matches.counts > 0).sum())
        absent = int(candidates.absent.sum())
        removed_entries = candidates.removed_entries(rules.removed)
        variables |= {
            "queries": int(in_means.sum()),
            "skipped": searching - int(in_means.sum()),
            "unmatched": searching - with_match,
            "not_in_gallery": absent,
            "left_out": len(in_means) - searching,
            "removed": removed_entries.sum(),
            "tied": self.ambiguous,
        }
        if self.cmc_matches is not self.matches:
            variables["cmc_queries"] = int(measures.cmc.counted.sum())
        if about.people:
            variables["subjects"] = len(np.unique(candidates.identity[in_means]))
        coordinates = {"rank": np.arange(1, rules.max_rank + 1), "recall_level": RECALL_LEVELS}
        if self.thresholds is not None:
            micro_f1 = self._in_order_of_thresholds(self._retrieved_sets.micro_f1())
            variables["micro_f1"] = ("threshold",), micro_f1
            thresholds = to_user(self.thresholds, about.kind)
            coordinates["threshold"] = self._in_order_of_thresholds(thresholds)
        if self.per_query:
            values_of_queries = self._by_query(measures, removed_entries)
            variables |= variables_over(("probe",), **values_of_queries)
            coordinates["probe"] = np.arange(len(in_means))
        messages = self._messages(searching, with_match, absent)
        attrs = about_attrs(about, "reid", "re-identification", messages)
        attrs |= {**rules.attrs(), "ties": rules.ties}
        table = self.table
        if rules.cmc in ("single-gallery-shot", "identity-dedup"):
            words = (
                f"{table['cmc'].long_name}; on one entry of each identity, other measures on all"
            )
            table = {**table, "cmc": replace(table["cmc"], long_name=words)}
        return dataset(variables, table, coordinates, attrs)

    def _by_query(
        self, measures: QueryMeasures, removed_entries: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the variables over the queries, in the order of the result."""
        values = {}
        for name, name_of_query in OF_QUERY.items():
            if name in measures.means:
                values[name_of_query] = measures.means[name].by_query
        values["first_match_rank"] = self._first_match_rank()
        values["matches"] = self.matches.counts
        values["removed_entries"] = removed_entries
        values["identity"] = self.candidates.labels()
        names = self.candidates.names()
        if names is not None:
            values["template"] = names
        return values

    def _messages(self, searching: int, with_match: int, absent: int) -> list[Message]:
        """Return the messages of the result.

        `searching` queries are not left out: `with_match` of them have a match in their list, and
        the people of `absent` of them have no templates in the gallery.
        """
        matches, rules = self.matches, self.candidates.rules
        messages: list[Message] = []
        if rules.ap != "tied-once":
            messages += precision_message(matches, self.in_means(matches), rules.ap)
        if self.cmc_matches.tied.any():
            messages += rank_message(
                "cmc", lambda ties: self._cmc(ties).means(rules.max_rank), CMC_WORDS
            )
        if rules.ties == "expected" and self.ambiguous:
            undefined = ["mAP", *(QUERY_MEANS[x].label for x in OF_MATCH if x not in OF_RANK)]
            undefined.append("interpolated precision")
            messages.append(Message("expected-ties", queries=self.ambiguous, measures=undefined))
        if rules.rank_k is not None:
            messages += cut_messages(matches.counts, rules.rank_k, rules.rank_k_over)
        if self.thresholds is not None:
            kind = self.candidates.scores.kind
            messages += self.thresholds_beyond_scores(to_user(self.thresholds, kind))
        if not with_match:
            consequence = "nothing can be ranked"
            if searching and rules.unmatched != "skip":
                consequence += ", and every mean is 0"
            messages.append(no_match(searching, absent, rules.ap_removed, consequence))
        elif with_match < searching:
            skips = rules.unmatched == "skip"
            treatment = "left out" if skips else "counted as 0 in every mean"
            messages.append(without_match(absent, searching - with_match - absent, treatment))
        if with_match and not self.cmc_matches.counts.any():
            consequence = "the CMC is not defined"
            messages.append(no_match(searching, absent, rules.removed, consequence))
        return messages

    def with_intervals(self, dataset: xr.Dataset, interval_method: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals; the sample is the people of the queries."""
        from bioeval.tasks.reid.intervals import query_mean_intervals

        if interval_method.by_subject:
            require_people(self.candidates.scores, method=interval_method.method)
        scores, identity = self.candidates.scores, self.candidates.identity
        people = left_out_with(scores, identity, interval_method.unit)
        return query_mean_intervals(dataset, self.measures(), people, self.table, interval_method)

    def measures(self, *, curves: bool = True) -> QueryMeasures:
        """Return the measures of re-identification, with the value of each query.

        Without `curves`, the CMC is the only curve.
        """
        matches = self.matches
        rules = self.candidates.rules
        in_means = self.in_means(matches)
        cmc = self._cmc(rules.ties)

        # The value of each query by the name of the mean. Under expected ties, if a match and a
        # non-match are tied, only some measures have an exact mean over the orders: others are NaN.
        # Without such ties every order is the same, and any treatment gives the ranks.
        is_undefined = rules.ties == "expected" and self.ambiguous > 0
        ties: Ties = "stable" if rules.ties == "expected" else rules.ties
        undefined = np.full(len(matches.counts), np.nan)
        values: dict[str, np.ndarray] = {"mean_ap": undefined}
        if rules.ap == "tied-once" or not is_undefined:
            values["mean_ap"] = average_precision(matches, ties, rules.ap)
        for name in OF_MATCH:
            if not is_undefined:
                values[name] = match_sum(matches, ties, name)
            elif name in OF_RANK:
                values[name] = match_sum(matches, "expected", name)
            else:
                values[name] = undefined
        if rules.rank_k is not None:
            values["rank_k_mean_ap"] = undefined
            if not is_undefined:
                values["rank_k_mean_ap"] = cut_average_precision(
                    matches, ties, rules.rank_k, rules.rank_k_over
                )
        query = np.flatnonzero(matches.counts)
        means = {name: QueryMean(in_means, query, x[query]) for name, x in values.items()}
        if self.thresholds is not None:
            for name, mean in self._retrieved_sets.measures(in_means).items():
                means[name] = replace(mean, values=self._in_order_of_thresholds(mean.values))
        if not curves:
            return QueryMeasures(cmc, means)

        levels = np.full((len(in_means), TENTHS + 1), np.nan)
        if not is_undefined:
            levels = interpolated_precision(matches, ties)
        means["interpolated_precision"] = QueryMean(in_means, query, levels[query])
        over_ranks = ranked_curves(
            matches,
            in_means,
            rules.ties,
            rules.max_rank,
            matches.counts,
            precision_over=rules.precision_over,
        )
        return QueryMeasures(cmc, means, over_ranks)

    @cached_property
    def _retrieved_sets(self) -> RetrievedSets:
        assert self.thresholds is not None and self.retrieved is not None
        return RetrievedSets(self.matches, self.retrieved, self.thresholds)

    def thresholds_beyond_scores(self, thresholds: np.ndarray) -> list[Message]:
        """Return the message that all thresholds retrieve nothing, or everything, if they do.

        The thresholds are in the units of the user, in the order of increasing distances.
        """
        candidates, sets = self.candidates, self._retrieved_sets
        hits = sets.hits.sum(axis=0)
        positives = int(sets.positives.sum())
        removed = candidates.removed_entries(candidates.rules.ap_removed) + candidates.in_gallery
        entries = int((candidates.scores.shape[-1] - removed)[~candidates.left_out].sum())
        false_rate = rate(sets.retrieved.sum(axis=0) - hits, entries - positives)
        miss_rate = 1 - rate(hits, positives)
        following = following_scores(candidates.scores, thresholds)
        return all_beyond_scores(thresholds, false_rate, miss_rate, following)

    def _first_match_rank(self) -> np.ndarray:
        """Return the mean rank of the first match of each query; NaN without a match."""
        matches = self.cmc_matches
        query, rank, weight = places_of_first_match(matches, self.candidates.rules.ties)
        first_rank = np.bincount(query, rank * weight, minlength=len(matches.counts))
        return np.where(matches.counts > 0, first_rank, np.nan)

    def _in_order_of_thresholds(self, values: np.ndarray) -> np.ndarray:
        """Return values (..., t) in the order of the user's thresholds, which increase."""
        if self.candidates.scores.kind == "similarity":
            return values[..., ::-1]
        return values

    def _cmc(self, ties: Ties) -> MatchCurve:
        matches, rules = self.cmc_matches, self.candidates.rules
        in_means = self.in_means(matches)
        if self.shots is not None:  # galleries of one match of each identity
            # All ranks of the match of each query, weighted by their probabilities.
            at_rank, at_ends = self.shots  # (queries, ranks), (queries, 2, ranks)
            chances = at_rank if ties == rules.ties else at_ends[:, ENDS.index(ties)]
            query, index = np.indices((len(matches.counts), rules.max_rank)).reshape(2, -1)
            return MatchCurve(in_means, query, 1 + index, chances.reshape(-1))
        if self.identities is not None:  # a list of identities, not of templates
            query = np.flatnonzero(matches.counts)
            tied = self.identities.tied[query]
            if ties == "expected" and tied.any():
                raise ProtocolError(
                    f"there are ties in {counted((tied > 0).sum(), 'queries')}: a CMC over "
                    "distinct identities "
                    "is not defined under expected ties; choose stable, pessimistic or optimistic"
                )
            ahead = tied_ahead(ties, tied, self.identities.tied_before[query])
            rank = 1 + self.identities.closer[query] + ahead
            return MatchCurve(in_means, query, rank, np.ones(len(rank)))
        if rules.cmc == "allshots":
            places = places_among_non_matches(matches, ties)
        else:
            places = places_of_first_match(matches, ties)
        return MatchCurve(in_means, *places)


def ranked_curves(
    matches: MatchLists,
    in_means: np.ndarray,
    ties: Ties,
    max_rank: int,
    positives: np.ndarray,
    *,
    precision_over: PrecisionOver,
) -> dict[str, MatchCurve]:
    """Return precision and recall over the ranks.

    `positives` (queries,) are the numbers of matches in the gallery.
    """
    places = places_of_all_matches(matches, ties, max_rank)
    query, rank, weight = places
    precision = MatchCurve(in_means, *places, per_rank=True)
    if precision_over == "smaller":
        matches_of_query = np.where(in_means, positives, 0)
        precision = MatchCurve(in_means, *precision_changes(places, matches_of_query, max_rank))
    return {
        "precision_at_k": precision,
        "recall_at_k": MatchCurve(in_means, query, rank, weight / positives[query]),
    }


def precision_message(
    matches: MatchLists, in_means: np.ndarray, form: ApForm = "sum"
) -> Iterator[Message]:
    """Yield the message that mAP depends on the order of equal scores, if it does."""
    if matches.tied.any():
        ends = [average_precision(matches, ties, form)[matches.counts > 0].sum() for ties in ENDS]
        yield from tie_message("mean_ap", (rate(x, int(in_means.sum())) for x in ends), "mAP")


def no_match(queries: int, absent: int, rule: str, consequence: str) -> Message:
    """Return the message why none of the `queries` has a match; `absent` are not in the gallery."""
    if not queries:
        reason = "all queries are junk or distractors; give queries of people"
    elif absent == queries:
        reason = (
            f"no identity of the {counted(queries, 'queries')} is in the gallery; check that both "
            "sides use the same labels"
        )
    else:
        reason = (
            f"all matches of {queries - absent:,} of {counted(queries, 'queries')} are removed "
            f"({rule}) or failed, and {absent:,} have none in the gallery; check the cameras, and "
            "if all images are of one camera, choose a convention that removes none, such as "
            "vehicleid"
        )
    return Message(NO_MATCH, why=reason, consequence=consequence)


def without_match(absent: int, removed: int, treatment: str) -> Message:
    """Return the message on queries without a match; `treatment` is in words."""
    reasons = []
    if absent:
        reasons.append(f"{absent:,} not in the gallery")
    if removed:
        reasons.append(f"all matches of {removed:,} are removed")
    about = {"queries": absent + removed, "why": ", ".join(reasons), "treatment": treatment}
    return Message("queries-without-match", **about)


# Re-identification without each of some groups of people, as queries and in the gallery.


# About how many counts, one for each match and group, are in memory at a time.
COUNTS_IN_MEMORY = 1 << 19


def means_without_groups(
    scores: Scores,
    rules: Convention,
    group: np.ndarray,
    means: Callable[[QueryMeasures], Mapping[Any, QueryMean]],
    all_means: Sequence[QueryMean],
) -> np.ndarray:
    """Return means over queries without each group of people, float64 (means, groups).

    `group` (int64) gives the group of each subject's code, from 0; -1 for subjects who stay.
    `means` chooses the means from all measures; `all_means` are its means over all queries. Leaving
    out a group changes the values of other people's queries, but not which queries a mean is over,
    because each query keeps its matches.
    """
    codes = scores.codes
    query_group, column_group = group[codes.probe], group[codes.gallery]
    groups = int(group.max(initial=-1)) + 1
    values: dict[tuple[int, int], list[np.ndarray]] = {}
    for left_out_group, counts in _counts_without(scores, rules, query_group, column_group, groups):
        for index, mean in enumerate(means(counts.measures(curves=False)).values()):
            values.setdefault((index, left_out_group), []).append(mean.values)
    left_out_means = np.empty((len(all_means), groups))
    for (index, left_out_group), blocks in values.items():
        mean = all_means[index].of_some(query_group != left_out_group, np.concatenate(blocks))
        left_out_means[index, left_out_group] = mean.mean
    return left_out_means


def _counts_without(
    scores: Scores,
    rules: Convention,
    query_group: np.ndarray,
    column_group: np.ndarray,
    groups: int,
) -> Iterator[tuple[int, ReidCounts]]:
    """Yield each group with the counts without it, for a block of the other groups' queries.

    The groups come in order within a block, and the blocks in the order of the queries.
    """
    if rules.cmc in ("identity-dedup", "single-gallery-shot"):
        for left_out_group in range(groups):
            kept_scores = scores.select(
                probes=np.flatnonzero(query_group != left_out_group),
                gallery=np.flatnonzero(column_group != left_out_group),
            )
            yield left_out_group, ReidCounts.from_candidates(Candidates(kept_scores, rules))
        return
    templates = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
    cells = int(templates[scores.codes.probe].sum()) * groups
    step = max(1, len(query_group) * COUNTS_IN_MEMORY // max(cells, 1))
    for low in range(0, len(query_group), step):
        rows = np.arange(low, min(low + step, len(query_group)))
        candidates = Candidates(scores.select(probes=rows), rules)
        matches = {}
        for rule in {rules.ap_removed, rules.removed}:
            matches[rule] = reduce(
                candidates.parts(rule), MateRanks(), MateRanks(column_group, groups)
            )
        for left_out_group in range(groups):
            is_kept = query_group[rows] != left_out_group
            matches_by_rule = {
                rule: _without(ranks, left_out_group, is_kept) for rule, ranks in matches.items()
            }
            counts = ReidCounts(
                candidates=candidates.of_queries(is_kept),
                matches=matches_by_rule[rules.ap_removed],
                cmc_matches=matches_by_rule[rules.removed],
            )
            yield left_out_group, counts


def _without(matches: Sequence[MatchLists], left_out_group: int, is_kept: np.ndarray) -> MatchLists:
    """Return the matches of the kept queries, ranked among the candidates of other groups.

    `matches` are ranked among all candidates, and among the candidates of each group.
    """
    among_all, by_group = matches
    is_match_kept = is_kept[among_all.query]
    return MatchLists(
        np.append(0, np.cumsum(among_all.counts[is_kept])),
        among_all.distance[is_match_kept],
        closer=(among_all.closer - by_group.closer[left_out_group])[is_match_kept],
        tied=(among_all.tied - by_group.tied[left_out_group])[is_match_kept],
        before=(among_all.before - by_group.before[left_out_group])[is_match_kept],
    )
