"""Counts of re-identification over each query's candidates, and the means over the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import ProtocolError, counted
from bioeval.base.messages import Message
from bioeval.counting.identification import ENDS, RankFacts
from bioeval.counting.mate_ranks import MatchLists, MateRanks, Within
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.single_template import SingleShots
from bioeval.counting.thresholds import to_user
from bioeval.protocol.choices import ApForm, PlainTies, PrecisionOver, Ties
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Scalars, dataset, rate, variables_over
from bioeval.results.query_means import (
    OF_MATCH,
    OF_QUERY,
    OF_RANK,
    MatchCurve,
    QueryMean,
    QueryMeasures,
)
from bioeval.results.support import all_beyond_scores, following_scores, rank_message, tie_message
from bioeval.results.variables import QUERY_MEANS, REID, Variable
from bioeval.scores.matrix import Scores
from bioeval.scores.people import left_out_with, require_people
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.matches import (
    TENTHS,
    Places,
    RetrievedSets,
    average_precision,
    cut_average_precision,
    cut_messages,
    interpolated_precision,
    match_sum,
    places_among_non_matches,
    places_of_all_matches,
    places_of_first_match,
    precision_changes,
)

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


@dataclass(eq=False, kw_only=True)
class ReidCounts:
    """Counts from which the measures of re-identification are computed, query by query."""

    candidates: Candidates
    matches: MatchLists  # matches in the lists of average precision and INP
    #: In the lists of the CMC: the same, unless the convention removes other entries for the CMC.
    cmc_matches: MatchLists
    shots: SingleShots | None = None  # CMC over galleries of one match of each identity
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
        within = [] if thresholds is None else [Within(thresholds)]
        ranks_of_identities = [RankFacts("best")] if rules.cmc == "identity-dedup" else []
        # Identities are ranked only where all templates of a person are in one block.
        parts_for_cmc = candidates.people if ranks_of_identities else candidates.parts
        ap_reducers: list[Reducer] = [MateRanks(), *within]
        if rules.removed == rules.ap_removed:
            parts = parts_for_cmc(rules.removed)
            matches, *further = reduce(parts, *ap_reducers, *ranks_of_identities)
            cmc_matches = matches
        else:
            matches, *further = reduce(candidates.parts(rules.ap_removed), *ap_reducers)
            parts = parts_for_cmc(rules.removed)
            cmc_matches, *ranks = reduce(parts, MateRanks(), *ranks_of_identities)
            further += ranks
        if within:
            fields["retrieved"] = further.pop(0) * ~candidates.left_out[:, None]
        if ranks_of_identities:
            fields["identities"] = further.pop(0)
        if rules.cmc == "single-gallery-shot":
            single = candidates.without_removed(rules.removed, by_label=True)
            fields["shots"] = SingleShots.from_scores(single, rules.max_rank, rules.ties)
        return cls(
            candidates=candidates,
            matches=matches,
            cmc_matches=cmc_matches,
            thresholds=thresholds,
            **fields,
        )

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
        variables = self._means_and_curves(measures)
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
            query, rank, weight = places_of_first_match(
                self.cmc_matches, self.candidates.rules.ties
            )
            first_rank = np.bincount(query, rank * weight, minlength=len(removed_entries))
            numbers = {
                of_query: measures.means[name].by_query
                for name, of_query in OF_QUERY.items()
                if name in measures.means
            }
            numbers["first_match_rank"] = np.where(self.cmc_matches.counts > 0, first_rank, np.nan)
            numbers["matches"] = self.matches.counts
            numbers["removed_entries"] = removed_entries
            numbers["identity"] = self.candidates.labels()
            if (names := self.candidates.names()) is not None:
                numbers["template"] = names
            variables |= variables_over(("probe",), **numbers)
            coordinates["probe"] = np.arange(len(in_means))
        messages = self._messages(searching, with_match, absent)
        attrs = about_attrs(about, "reid", "re-identification", messages)
        attrs |= {**rules.attrs(), "ties": rules.ties}
        return dataset(variables, self._explained_variables(), coordinates, attrs)

    def _means_and_curves(self, measures: QueryMeasures) -> dict[str, Any]:
        rules = self.candidates.rules
        at_rank = measures.cmc.counts(rules.max_rank)
        if rules.ties != "expected" and rules.cmc not in ("allshots", "single-gallery-shot"):
            at_rank = np.rint(at_rank).astype(np.int64)  # each query has one match at one rank
        cmc = rate(at_rank, int(measures.cmc.counted.sum()))
        variables: dict[str, Any] = {"cmc": (("rank",), cmc), "cmc_count": (("rank",), at_rank)}
        for name, mean in measures.means.items():
            variables[name] = _DIMENSIONS.get(name, ()), mean.mean
        for name, curve in measures.curves.items():
            variables[name] = ("rank",), curve.means(rules.max_rank)
        return variables

    def _explained_variables(self) -> Mapping[str, Variable]:
        if self.candidates.rules.cmc not in ("single-gallery-shot", "identity-dedup"):
            return self.table
        cmc = self.table["cmc"]
        words = f"{cmc.long_name}; on one entry of each identity, other measures on all"
        return {**self.table, "cmc": replace(cmc, long_name=words)}

    def _messages(self, searching: int, with_match: int, absent: int) -> list[Message]:
        """Return the messages of the result.

        `searching` queries are not left out: `with_match` of them have a match in their list, and
        the people of `absent` of them have no templates in the gallery.
        """
        matches, rules = self.matches, self.candidates.rules
        messages = [*self._tie_messages()]
        if rules.rank_k is not None:
            messages += cut_messages(matches.counts, rules.rank_k, rules.rank_k_over)
        if self.thresholds is not None:
            kind = self.candidates.scores.kind
            messages += self.thresholds_beyond_scores(to_user(self.thresholds, kind))
        messages += _unmatched(searching, with_match, absent, rules.unmatched, rules.ap_removed)
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
        in_means = self.in_means(self.matches)
        plain_ties = "stable" if rules.ties == "expected" else rules.ties
        cmc = self._cmc(rules.ties)
        values = self._query_values(plain_ties)
        query = np.flatnonzero(matches.counts)
        means = {name: QueryMean(in_means, query, x[query]) for name, x in values.items()}
        if self.thresholds is not None:
            for name, mean in self._retrieved_sets.measures(in_means).items():
                means[name] = replace(mean, values=self._in_order_of_thresholds(mean.values))
        if not curves:
            return QueryMeasures(cmc, means)
        levels = np.full((len(in_means), TENTHS + 1), np.nan)
        if rules.ties != "expected" or not self.ambiguous:
            levels = interpolated_precision(matches, plain_ties)
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

    def _query_values(self, plain_ties: PlainTies) -> dict[str, np.ndarray]:
        """Return the value of each query by the name of the mean, NaN where ties leave it open.

        `plain_ties` are the convention's; under expected ties, the policy where nothing is tied.
        """
        matches, rules = self.matches, self.candidates.rules
        is_undefined = rules.ties == "expected" and self.ambiguous > 0
        undefined_values = np.full(len(matches.counts), np.nan)
        values: dict[str, np.ndarray] = {"mean_ap": undefined_values}
        if not is_undefined or rules.ap == "tied-once":
            values["mean_ap"] = average_precision(matches, plain_ties, rules.ap)
        for name in OF_MATCH:
            if not is_undefined or name in OF_RANK:
                ties = "expected" if is_undefined else plain_ties
                values[name] = match_sum(matches, ties, name)
            else:
                values[name] = undefined_values
        if rules.rank_k is not None:
            values["rank_k_mean_ap"] = undefined_values
            if not is_undefined:
                cut = rules.rank_k, rules.rank_k_over
                values["rank_k_mean_ap"] = cut_average_precision(matches, plain_ties, *cut)
        return values

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
        removed = candidates.removed_entries(candidates.rules.ap_removed) + candidates.itself
        entries = int((candidates.scores.shape[-1] - removed)[~candidates.left_out].sum())
        false_rate = rate(sets.retrieved.sum(axis=0) - hits, entries - positives)
        miss_rate = 1 - rate(hits, positives)
        following = following_scores(candidates.scores, thresholds)
        return all_beyond_scores(thresholds, false_rate, miss_rate, following)

    def _in_order_of_thresholds(self, values: np.ndarray) -> np.ndarray:
        return values[..., ::-1] if self.candidates.scores.kind == "similarity" else values

    def _cmc(self, ties: Ties) -> MatchCurve:
        matches, rules = self.cmc_matches, self.candidates.rules
        in_means = self.in_means(matches)
        if self.shots is not None:
            return MatchCurve(in_means, *self._chances_of_shots(self.shots, ties))
        if self.identities is not None:
            query = np.flatnonzero(self.cmc_matches.counts)
            closer = self.identities.closer[query]
            tied = self.identities.tied[query]
            before = self.identities.tied_before[query]
            if ties == "expected" and tied.any():
                raise ProtocolError(
                    f"{int((tied > 0).sum())} queries have ties: a CMC over distinct identities "
                    "is not defined under expected ties; choose stable, pessimistic or optimistic"
                )
            tied_before = {"pessimistic": tied, "optimistic": np.zeros_like(tied)}.get(ties, before)
            return MatchCurve(
                in_means, *Places(query, 1 + closer + tied_before, np.ones(len(closer)))
            )
        places_of = places_among_non_matches if rules.cmc == "allshots" else places_of_first_match
        return MatchCurve(in_means, *places_of(matches, ties))

    def _chances_of_shots(self, shots: SingleShots, ties: Ties) -> Places:
        """Return all ranks of the match of each query, weighted by their probabilities."""
        rules = self.candidates.rules
        chances = shots.at_rank
        if ties != rules.ties:
            chances = shots.at_ends[:, ENDS.index(ties)]
        shape = len(self.cmc_matches.counts), rules.max_rank
        query, index = np.indices(shape).reshape(2, -1)
        return Places(query, 1 + index, chances.reshape(-1))

    def _tie_messages(self) -> Iterator[Message]:
        matches, rules = self.matches, self.candidates.rules
        if rules.ap != "tied-once":
            yield from precision_message(matches, self.in_means(matches), rules.ap)
        if self.cmc_matches.tied.any():
            yield from rank_message(
                "cmc", lambda ties: self._cmc(ties).means(rules.max_rank), CMC_WORDS
            )
        if rules.ties == "expected" and self.ambiguous:
            undefined = ["mAP", *(QUERY_MEANS[x].label for x in OF_MATCH if x not in OF_RANK)]
            undefined.append("interpolated precision")
            yield Message("expected-ties", queries=self.ambiguous, measures=undefined)


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


def _unmatched(
    searching: int, with_match: int, absent: int, unmatched: str, rule: str
) -> list[Message]:
    if not with_match:
        consequence = "nothing can be ranked"
        if searching and unmatched != "skip":
            consequence += ", and every mean is 0"
        return [no_match(searching, absent, rule, consequence)]
    if with_match == searching:
        return []
    treatment = "left out" if unmatched == "skip" else "counted as 0 in every mean"
    return [without_match(absent, searching - with_match - absent, treatment)]


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
