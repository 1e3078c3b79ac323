"""Re-identification without each of some groups of people, as queries and in the gallery.

A query's match keeps its distance whoever else is left out, and has fewer candidates before it. So
the candidates of each group around each match suffice for the counts without the group. A CMC that
ranks people and not templates is counted anew.
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

# Counts of a match and a group, about, that are in memory at a time.
COUNTS_IN_MEMORY = 1 << 19


def means_without_groups(
    scores: Scores,
    rules: Convention,
    group: np.ndarray,
    means: Callable[[QueryMeasures], Mapping[Any, QueryMean]],
    of_all: Sequence[QueryMean],
) -> np.ndarray:
    """Return means over queries without each group of people, float64 (means, groups).

    `group` (int64) gives the group of each subject's code, from 0; -1 for subjects who stay.
    `means` chooses the same means from all measures in each call; `of_all` are these means over all
    queries. A group changes the values of the queries of other people, but not which queries a mean
    is over, because each query keeps its matches.
    """
    codes = scores.codes
    of_query, of_column = group[codes.probe], group[codes.gallery]
    groups = int(group.max(initial=-1)) + 1
    values: dict[tuple[int, int], list[np.ndarray]] = {}
    for left_out_group, counts in _counts_without(scores, rules, of_query, of_column, groups):
        chosen = means(counts.measures(curves=False)).values()
        for place, mean in enumerate(chosen):
            values.setdefault((place, left_out_group), []).append(mean.values)
    left_out_means = np.empty((len(of_all), groups))
    for (place, left_out_group), parts in values.items():
        mean = of_all[place].of_some(of_query != left_out_group, np.concatenate(parts))
        left_out_means[place, left_out_group] = mean.mean
    return left_out_means


def _counts_without(
    scores: Scores, rules: Convention, of_query: np.ndarray, of_column: np.ndarray, groups: int
) -> Iterator[tuple[int, ReidCounts]]:
    """Yield a group, and the counts of a block of the queries of other groups, without the group.

    The groups come in order within a block, and the blocks in the order of the queries.
    """
    if rules.cmc in ("identity-dedup", "single-gallery-shot"):
        for left_out_group in range(groups):
            is_kept = scores.select(
                probes=np.flatnonzero(of_query != left_out_group),
                gallery=np.flatnonzero(of_column != left_out_group),
            )
            yield left_out_group, ReidCounts.from_candidates(Candidates(is_kept, rules))
        return
    templates = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
    cells = int(templates[scores.codes.probe].sum()) * groups
    step = max(1, len(of_query) * COUNTS_IN_MEMORY // max(cells, 1))
    for low in range(0, len(of_query), step):
        rows = np.arange(low, min(low + step, len(of_query)))
        candidates = Candidates(scores.select(probes=rows), rules)
        matches = {}
        for rule in {rules.ap_removed, rules.removed}:
            matches[rule] = reduce(
                candidates.parts(rule), MateRanks(), MateRanks(of_column, groups)
            )
        for left_out_group in range(groups):
            is_kept = of_query[rows] != left_out_group
            of_rule = {
                rule: _without(ranks, left_out_group, is_kept) for rule, ranks in matches.items()
            }
            of_ap = of_rule[rules.ap_removed]
            of_cmc = of_rule[rules.removed]
            yield (
                left_out_group,
                ReidCounts(
                    candidates=candidates.of_queries(is_kept), matches=of_ap, cmc_matches=of_cmc
                ),
            )


def _without(ranks: Sequence[MatchLists], left_out_group: int, is_kept: np.ndarray) -> MatchLists:
    """Return the matches of some queries among the candidates that are not of a group.

    `ranks` are the ranks among all candidates, and among the candidates of each group.
    """
    among_all, by_group = ranks
    chosen = is_kept[among_all.query]
    return MatchLists(
        np.append(0, np.cumsum(among_all.counts[is_kept])),
        among_all.distance[chosen],
        closer=(among_all.closer - by_group.closer[left_out_group])[chosen],
        tied=(among_all.tied - by_group.tied[left_out_group])[chosen],
        before=(among_all.before - by_group.before[left_out_group])[chosen],
    )
