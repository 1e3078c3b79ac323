"""Measures of top-K lists: CMC and average precision, exactly, up to the depth of the lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_integer
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message
from bioeval.counting.identification import check_max_rank
from bioeval.counting.mate_ranks import MatchLists
from bioeval.results.dataset import about_attrs, dataset, rate, variables_over
from bioeval.results.query_means import (
    OF_MATCH,
    OF_QUERY,
    QueryMean,
    QueryMeasures,
)
from bioeval.results.variables import QUERY_MEANS, REID, Variable, entries
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.counts import (
    RECALL_LEVELS,
    ReidCounts,
    ranked_curves,
    without_match,
)
from bioeval.tasks.reid.matches import (
    average_precision,
    cut_average_precision,
    cut_messages,
    first_places,
    interpolated_precision,
    match_sum,
    ranks_of,
)

TOP_K = {
    **entries(REID, "cmc", "cmc_count", *QUERY_MEANS, "precision_at_k"),
    **entries(REID, "identity"),
    **entries(REID, "recall_at_k", "interpolated_precision", "queries", "subjects", "skipped"),
    **entries(REID, "unmatched", "left_out"),
    **entries(REID, "rank_k_average_precision", *(OF_QUERY[name] for name in OF_MATCH)),
    "rank_k": Variable(
        "rank K at which lists are cut", "1", label="rank K of the lists", detail="verbose"
    ),
    "beyond_lists": Variable(
        "queries with more matches than a list has places",
        "queries",
        label="queries with more matches than places",
        detail="verbose",
    ),
    "first_match_rank": Variable("rank of the first match; NaN where none is listed", "1"),
}


#: The only values of these fields of a convention that lists support.
_SUPPORTED = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


@dataclass(eq=False, kw_only=True)
class ListCounts(ReidCounts):
    """Counts of top-K lists, and the measures that the lists determine.

    The average precision of a list is cut at the convention's `rank_k`, else as far as all lists
    are known. A removed entry leaves its place to the next, so a list covers fewer ranks. Tang et
    al., CityFlow (CVPR 2019), "rank-K mAP".
    """

    last: int  # the rank up to which the CMC is computed
    shown: int  # the last rank of the result
    cut: int  # the rank at which lists are cut
    places: np.ndarray  # int64 (m,): the ranks that the list of each query covers
    reach: int | None  # the last rank that all lists cover that lack a match; None for all

    table: ClassVar[Mapping[str, Variable]] = TOP_K

    @classmethod
    def of_lists(
        cls,
        scores: Scores,
        rules: Convention,
        max_rank: int | None = None,
        *,
        per_query: bool = False,
    ) -> ListCounts:
        """Count the lists under a convention, up to the last rank that all cover or `max_rank`.

        A ProtocolError if lists do not support the convention.
        """
        for name, word in _SUPPORTED.items():
            if getattr(rules, name) != word:
                raise ProtocolError(
                    f"the convention {rules.name} has {name} = {getattr(rules, name)!r}; top-K "
                    f"lists do not determine it; give {word!r}, or a matrix of scores"
                )
        check_max_rank(max_rank, scores.shape[1])
        ranked = ReidCounts.from_candidates(Candidates(scores, rules), per_query=per_query)
        matches = ranked.matches
        if not ranked.in_means(matches).any():
            raise ProtocolError(
                f"none of the {len(scores.indices)} queries has a match in the gallery that the "
                f"convention leaves it (removed = {rules.removed!r}); check that both sides use "
                "the same labels, and the cameras"
            )
        places = matches.counts if matches.others is None else matches.counts + matches.others
        lacking = matches.counts < matches.positives
        last = _rank("max_rank", max_rank, _reach(places, lacking & (matches.counts == 0)), scores)
        reach = _reach(places, lacking)
        cut = _rank("rank_k", rules.rank_k, reach, scores)
        last_shown = last if max_rank is not None else min(last, rules.max_rank)
        of_lists = {"last": last, "shown": last_shown, "cut": cut, "places": places, "reach": reach}
        return cls(**vars(ranked) | of_lists)

    @cached_property
    def _values_of_queries(self) -> dict[str, np.ndarray]:
        candidates, matches = self.candidates, self.matches
        rules, scores = candidates.rules, candidates.scores
        at_k = cut_average_precision(matches, "stable", self.cut, rules.rank_k_over)
        values = {"rank_k_mean_ap": at_k}
        if self.reach is None:
            values["mean_ap"] = average_precision(matches, "stable")
            values["interpolated_precision"] = interpolated_precision(matches, "stable")
        gallery = scores.gallery_size - candidates.removed_entries(rules.removed)
        behind_all = gallery - candidates.itself - matches.positives + matches.counts
        ends = [_with_unlisted(matches, end) for end in (behind_all, self.places)]
        for name in OF_MATCH:
            at_worst, at_best = (match_sum(end, "stable", name) for end in ends)
            values[name] = np.where(at_worst == at_best, at_best, np.nan)
        return values

    def measures(self, *, curves: bool = True) -> QueryMeasures:
        """Return the measures that lists determine, by the contribution of each query."""
        matches, rules = self.matches, self.candidates.rules
        counted = self.in_means(matches)
        query = np.flatnonzero(matches.positives)
        means = {}
        for name, values in self._values_of_queries.items():
            if not np.isnan(values[query]).any():
                means[name] = QueryMean(counted, query, values[query])
        over_ranks = ranked_curves(
            matches,
            counted,
            "stable",
            self.last,
            matches.positives,
            precision_over=rules.precision_over,
        )
        return QueryMeasures(self._cmc("stable"), means, over_ranks)

    def dataset(self) -> xr.Dataset:
        """Return the measures of top-K lists; see :func:`bioeval.reid`."""
        candidates = self.candidates
        matches = self.matches
        last = self.last
        rules = candidates.rules
        scores = candidates.scores
        positives = matches.positives
        measures, counted = self.measures(), self.in_means(matches)
        queries, left_out = int(counted.sum()), candidates.left_out
        searching = int((~left_out).sum())
        unmatched = int(((positives == 0) & ~left_out).sum())
        notes: list[Message] = [*cut_messages(positives, self.cut, rules.rank_k_over)]
        if unmatched:
            treatment = "left out" if rules.unmatched == "skip" else "counted as 0"
            notes.append(without_match(unmatched, 0, treatment))
        unknown = np.zeros(last, dtype=bool)
        if self.reach is not None:
            lost = [x.label for x in QUERY_MEANS.values() if x.name not in measures.means]
            notes.append(Message("matches-beyond-lists", what=lost))
            unknown[self.reach :] = True
        if unknown.any():
            lost = [f"precision and recall beyond rank {self.reach}"]
            notes.append(Message("matches-beyond-lists", what=lost))
        over_ranks = {}
        for name, curve in measures.curves.items():
            over_ranks[name] = np.where(unknown, np.nan, curve.means(last))
        means = {name: mean.mean for name, mean in measures.means.items()}
        levels = means.pop("interpolated_precision", np.full(len(RECALL_LEVELS), np.nan))
        at_rank = measures.cmc.counts(last).astype(np.int64)
        variables = {
            "cmc": (("rank",), rate(at_rank, queries)),
            "cmc_count": (("rank",), at_rank),
            "rank_k": self.cut,
            **dict.fromkeys(("mean_ap", *OF_MATCH), np.nan),
            **means,
            **variables_over(("rank",), **over_ranks),
            "interpolated_precision": (("recall_level",), levels),
            "queries": queries,
            "subjects": len(np.unique(candidates.identity[counted])),
            "skipped": searching - queries,
            "unmatched": unmatched,
            "left_out": int(left_out.sum()),
            "beyond_lists": int((positives > scores.depth).sum()),
        }
        coordinates = {"rank": np.arange(1, last + 1), "recall_level": RECALL_LEVELS}
        if self.per_query:
            listed, first, _ = first_places(matches, "stable")
            first_rank = np.full(len(counted), np.nan)
            first_rank[listed] = first
            by_probe = {"rank_k_average_precision": self._values_of_queries["rank_k_mean_ap"]}
            by_probe |= {"first_match_rank": first_rank}
            by_probe |= {OF_QUERY[name]: self._values_of_queries[name] for name in OF_MATCH}
            variables |= variables_over(("probe",), **by_probe, identity=candidates.labels())
            coordinates["probe"] = np.arange(len(counted))
        attrs = about_attrs(candidates.about(), "top-k", "top-K lists", notes)
        attrs |= {"depth": scores.depth, **rules.attrs(), "ties": "listed"}
        return dataset(variables, TOP_K, coordinates, attrs).isel(rank=slice(self.shown))


def _reach(places: np.ndarray, open_: np.ndarray) -> int | None:
    """Return the last rank that every list covers, None for all; `open_` masks cut queries."""
    return int(places[open_].min()) if open_.any() else None


def _with_unlisted(matches: MatchLists, end: np.ndarray) -> MatchLists:
    """Return all matches of the queries, with the matches that the lists lack.

    Unlisted matches follow directly behind rank `end` (queries,): the last entry is the best case,
    the end of the gallery the worst.
    """
    positives = matches.positives
    number = positives - matches.counts
    beyond = np.repeat(np.arange(len(number)), number)
    place = np.arange(1, len(beyond) + 1) - np.repeat(np.cumsum(number) - number, number)
    order = np.argsort(np.append(matches.query, beyond), kind="stable")
    ranks = np.append(ranks_of(matches, "stable"), end[beyond] + place)[order]
    none = np.zeros_like(ranks)
    starts = np.append(0, np.cumsum(positives))
    earlier_matches = np.arange(len(ranks)) - np.repeat(starts[:-1], positives)
    return MatchLists(starts, ranks.astype(np.float64), ranks - 1 - earlier_matches, none, none)


def _rank(name: str, requested: int | None, reach: int | None, scores: Scores) -> int:
    depth = scores.depth
    if requested is None:
        if reach == 0:
            raise ProtocolError(
                f"a list of {depth} places covers no rank: every entry is removed for its "
                "query, or it is empty; give longer lists, or a matrix of scores"
            )
        return depth if reach is None else reach
    rank = require_integer(name, requested, low=1)
    if reach is not None and rank > reach:
        raise ProtocolError(
            f"`{name}` is {rank}, but a list covers only {reach} ranks (of its {depth} "
            f"places, less those removed); expected at most {reach}, longer lists, or a matrix of "
            "scores"
        )
    return rank
