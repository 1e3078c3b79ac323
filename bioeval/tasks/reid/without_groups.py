"""Re-identification without each of some groups of people, as queries and in the gallery.

A query's match keeps its distance whoever else is left out, and has fewer candidates before it.
Therefore the counts without a group are the counts of all candidates less the counts of the group's
candidates. A CMC that ranks people and not templates is counted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bioeval.counting.mate_ranks import MatchLists, MateRanks
from bioeval.counting.reduce import reduce
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.counts import ReidCounts

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
