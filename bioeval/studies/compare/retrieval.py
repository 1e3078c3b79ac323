"""The measures of re-identification of one system: means over its queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bioeval.base.messages import messages_of
from bioeval.base.progress import rows_reported_to
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.variables import QUERY_MEANS, VARIABLES
from bioeval.scores.matrix import Scores
from bioeval.stats.identification import FEWEST
from bioeval.stats.options import IntervalMethod
from bioeval.studies.compare.measures import (
    MeasuredSystem,
    left_out_in_words,
    limits_without,
    number_of_groups,
    whole,
)
from bioeval.studies.compare.results import NEW_PEOPLE, THIS_GALLERY, SystemMeasure
from bioeval.studies.compare.wanted import WantedMeasures
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.intervals import QueryReplicates
from bioeval.tasks.reid.reid import plan_reid, require_matches
from bioeval.tasks.reid.without_groups import means_without_groups

# Groups of people who are left out in turn.
_GROUPS = 100

# Ranks of the CMC that are compared unless others are asked for.
_RANKS = (1, 5)

# Attributes of a result that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


def by_queries(
    scores: Scores,
    rules: Convention,
    wanted: WantedMeasures,
    interval: IntervalMethod,
) -> MeasuredSystem:
    """Measure the means over the queries under a convention, and without each person."""
    ranks = sorted({int(x) for x in wanted.numbers("cmc")}) or _RANKS
    counts = plan_reid(scores, rules)()
    dataset, measures = counts.dataset(), counts.measures(curves=False)
    if rules.unmatched == "skip":
        require_matches(dataset)
    cut = rules.rank_k or int(dataset.get("rank_k", 0))
    named = partial(_named, cut=cut, curve=dataset.sizes["rank"], ranks=ranks)
    means, codes = named(measures), scores.codes
    no_person = codes.of_no_person((*scores.no_person_ids, *rules.junk_ids, *rules.distractor_ids))
    details = {name: dataset.attrs[name] for name in _DETAILS}
    values_without: dict[tuple[str, int], np.ndarray] = {}
    searching = int((~no_person[np.unique(codes.probe)]).sum())
    # Entries after the last of a list are not known: the gallery of lists is always fixed.
    if searching >= FEWEST and scores.layout != "top-k":
        groups = number_of_groups(searching, _GROUPS)
        details["jackknifed"] = left_out_in_words(searching, groups)
        group = _groups(codes, no_person, groups)
        compared = replace(rules, max_rank=min(rules.max_rank, max(ranks)))
        of_all = [*means.values()]
        with rows_reported_to(None):
            left_out = means_without_groups(scores, compared, group, named, of_all)
        values_without = dict(zip(means, left_out, strict=True))
    is_person = ~no_person[codes.probe]
    queries = QueryReplicates(np.where(is_person, codes.probe, -1), measures.counted, interval)
    system_measures = []
    for (name, rank), mean in means.items():
        columns = queries.replicate_mean(mean)[0]
        low, high = map(float, queries.limits(columns, mean.counted))
        of_each = values_without.get((name, rank))
        if of_each is not None:
            columns = np.append(columns[0], of_each)
            trials = round(queries.independent_people(mean.counted))
            low, high = limits_without(VARIABLES[name], columns[0], of_each, trials, interval)
        decided = np.nan_to_num(mean.by_query) + mean.counted
        system_measures.append(
            SystemMeasure(
                scalar=VARIABLES[name],
                columns=columns,
                limits=(low, high),
                places={"rank": rank} if rank else {},
                own=whole(np.bincount(codes.probe[is_person], decided[is_person])),
                population=THIS_GALLERY if of_each is None else NEW_PEOPLE,
            )
        )
    return MeasuredSystem(
        wanted.in_order(system_measures),
        len(np.unique(codes.probe[measures.counted])),
        (int(dataset["queries"]),),
        details,
        messages_of(dataset.attrs),
    )


def _groups(codes: Any, no_person: np.ndarray, groups: int) -> np.ndarray:
    """Return the group of people with which each code is left out; -1 of no person.

    People who search, and people who are only enrolled, are spread evenly over the groups.
    """
    group = np.full(len(codes.values), -1)
    searches = np.isin(np.arange(len(group)), codes.probe)
    for side in (searches, ~searches):
        people = np.flatnonzero(side & ~no_person)
        group[people] = np.arange(len(people)) % groups
    return group


def _named(
    measures: QueryMeasures, cut: int, curve: int, ranks: Sequence[int]
) -> dict[tuple[str, int], QueryMean]:
    """Return the means that are compared, by the names of their scalars and their ranks.

    Lists are cut at rank `cut`, if at all, and the CMC ends at rank `curve`.
    """
    named = {}
    for name in QUERY_MEANS:
        if (mean := measures.means.get(name)) is not None:
            named[name, cut if name == "rank_k_mean_ap" else 0] = mean
    for rank in ranks:
        if rank <= curve:
            named["cmc", rank] = measures.cmc.up_to_rank(rank)
    return named
