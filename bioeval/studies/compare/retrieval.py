"""The measures of re-identification of one system, which are means over its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.messages import messages_of
from bioeval.base.progress import rows_reported_to
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.variables import QUERY_MEANS, VARIABLES
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.stats.search_attempts import FEWEST
from bioeval.studies.compare.measures import (
    MeasuredSystem,
    as_whole_numbers,
    left_out_in_words,
    limits_without,
    number_of_groups,
)
from bioeval.studies.compare.results import NEW_PEOPLE, THIS_GALLERY, SystemMeasure
from bioeval.studies.compare.wanted import WantedMeasures
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.intervals import QueryReplicates
from bioeval.tasks.reid.reid import plan_reid, require_matches
from bioeval.tasks.reid.without_groups import means_without_groups

# Number of groups of people that are left out in turn.
_GROUPS = 100

# The ranks of the CMC that are compared by default.
_RANKS = (1, 5)

# The attributes of a result that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


#: The name of a mean over queries, and its rank, which is 0 for a mean over the whole list.
MeanKey = tuple[str, int]


class _ChosenMeans(NamedTuple):
    """The means over queries that are compared."""

    ranks: Sequence[int]  # the ranks of the CMC
    last_rank: int  # the last rank of the CMC
    rank_k: int  # the rank at which lists are cut, or 0

    def means_of(self, measures: QueryMeasures) -> dict[MeanKey, QueryMean]:
        """Return the means as far as they are defined."""
        means: dict[MeanKey, QueryMean] = {}
        for name in QUERY_MEANS:
            if (mean := measures.means.get(name)) is not None:
                means[name, self.rank_k if name == "rank_k_mean_ap" else 0] = mean
        for rank in self.ranks:
            if rank <= self.last_rank:
                means["cmc", rank] = measures.cmc.up_to_rank(rank)
        return means


def by_queries(
    scores: Scores, rules: Convention, wanted: WantedMeasures, interval: IntervalMethod
) -> MeasuredSystem:
    """Measure the means over the queries under a convention, and without each person."""
    counts = plan_reid(scores, rules)()
    dataset, measures = counts.dataset(), counts.measures(curves=False)
    if rules.unmatched == "skip":
        require_matches(dataset)
    chosen = _ChosenMeans(
        sorted({int(x) for x in wanted.numbers("cmc")}) or _RANKS,
        last_rank=dataset.sizes["rank"],
        rank_k=rules.rank_k or int(dataset.get("rank_k", 0)),
    )
    means = chosen.means_of(measures)
    details = {name: dataset.attrs[name] for name in _DETAILS}
    codes = scores.codes
    no_person = codes.of_no_person((*scores.no_person_ids, *rules.junk_ids, *rules.distractor_ids))
    left_out = _without_groups(scores, rules, no_person, chosen, means)
    if left_out is not None:
        details["jackknifed"] = left_out.in_words

    # The measures, with limits by these groups, or else by people who search this gallery.
    is_person = ~no_person[codes.probe]
    queries = QueryReplicates(np.where(is_person, codes.probe, -1), measures.counted, interval)
    system_measures = []
    for (name, rank), mean in means.items():
        columns = queries.replicate_mean(mean)[0]
        low, high = map(float, queries.limits(columns, mean.counted))
        if left_out is not None:
            without = left_out.means[name, rank]
            trials = round(queries.independent_people(mean.counted))
            low, high = limits_without(VARIABLES[name], columns[0], without, trials, interval)
            columns = np.append(columns[0], without)
        # A counted query adds 1 to its person, so that systems with other queries differ.
        decided = np.nan_to_num(mean.by_query) + mean.counted
        system_measures.append(
            SystemMeasure(
                scalar=VARIABLES[name],
                columns=columns,
                limits=(low, high),
                places={"rank": rank} if rank else {},
                own=as_whole_numbers(np.bincount(codes.probe[is_person], decided[is_person])),
                population=THIS_GALLERY if left_out is None else NEW_PEOPLE,
            )
        )
    return MeasuredSystem(
        wanted.in_order(system_measures),
        len(np.unique(codes.probe[measures.counted])),
        (int(dataset["queries"]),),
        details,
        messages_of(dataset.attrs),
    )


class _WithoutGroups(NamedTuple):
    """Means without each group of people, as probes and in the gallery."""

    means: dict[MeanKey, np.ndarray]  # float64 (groups,)
    in_words: str  # who is left out


def _without_groups(
    scores: Scores,
    rules: Convention,
    no_person: np.ndarray,
    chosen: _ChosenMeans,
    means: dict[MeanKey, QueryMean],
) -> _WithoutGroups | None:
    """Return the means without each group; None of few people, and of top-K lists.

    The gallery of lists is fixed, because the entries after the last of a list are not known.
    """
    codes = scores.codes
    searching = int((~no_person[np.unique(codes.probe)]).sum())
    if searching < FEWEST or scores.layout == "top-k":
        return None
    groups = number_of_groups(searching, _GROUPS)
    group = _group_of_person(codes, no_person, groups)
    short_rules = replace(rules, max_rank=min(rules.max_rank, max(chosen.ranks)))
    with rows_reported_to(None):
        values = means_without_groups(
            scores, short_rules, group, chosen.means_of, [*means.values()]
        )
    by_key = dict(zip(means, values, strict=True))
    return _WithoutGroups(by_key, left_out_in_words(searching, groups))


def _group_of_person(codes: Any, no_person: np.ndarray, groups: int) -> np.ndarray:
    """Return the group of people with which each code is left out; -1 for no person.

    People who search, and people who are only enrolled, are spread evenly over the groups.
    """
    group = np.full(len(codes.values), -1)
    is_searching = np.isin(np.arange(len(group)), codes.probe)
    for is_in_role in (is_searching, ~is_searching):
        people = np.flatnonzero(is_in_role & ~no_person)
        group[people] = np.arange(len(people)) % groups
    return group
