"""Re-identification without each of some groups of people, as queries and in the gallery.

A query's match keeps its distance whoever else is left out, and has fewer candidates before it. So
the candidates of each group around each match say what a count without the group would. What ranks
people and not templates is counted anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
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

    `group` (int64) is that of each subject's code, from 0; -1 for those who stay. `means` chooses
    means of all measures, always the same ones; `of_all` are those over all queries. A group
    changes the values of the others' queries, but not which queries a mean is over: each keeps its
    matches.
    """
    codes = scores.codes
    of_query, of_column = group[codes.probe], group[codes.gallery]
    groups = int(group.max(initial=-1)) + 1
    values: dict[tuple[int, int], list[np.ndarray]] = {}
    for one_group, counts in _counts_without(scores, rules, of_query, of_column, groups):
        chosen = means(counts.measures(curves=False)).values()
        for place, mean in enumerate(chosen):
            values.setdefault((place, one_group), []).append(mean.values)
    without = np.empty((len(of_all), groups))
    for (place, one_group), parts in values.items():
        mean = of_all[place].of_some(of_query != one_group, np.concatenate(parts))
        without[place, one_group] = mean.mean
    return without


def _counts_without(
    scores: Scores, rules: Convention, of_query: np.ndarray, of_column: np.ndarray, groups: int
) -> Iterator[tuple[int, ReidCounts]]:
    """Yield each group, and the counts of some queries of others without it, in their order."""
    if rules.cmc in ("identity-dedup", "single-gallery-shot"):
        for one_group in range(groups):
            kept = scores.select(
                probes=np.flatnonzero(of_query != one_group),
                gallery=np.flatnonzero(of_column != one_group),
            )
            yield one_group, ReidCounts.of(Candidates(kept, rules))
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
        for one_group in range(groups):
            kept = of_query[rows] != one_group
            some = copy(candidates)
            some.left_out = candidates.left_out[kept]
            of_rule = {rule: _without(ranks, one_group, kept) for rule, ranks in matches.items()}
            of_ap, of_cmc = of_rule[rules.ap_removed], of_rule[rules.removed]
            yield one_group, ReidCounts(candidates=some, matches=of_ap, cmc_matches=of_cmc)


def _without(ranks: Sequence[MatchLists], one_group: int, kept: np.ndarray) -> MatchLists:
    """Return the matches of some queries among the candidates that are not of a group.

    `ranks` are those among all candidates, and among those of each group.
    """
    every, by_group = ranks
    chosen = kept[every.query]
    return MatchLists(
        np.append(0, np.cumsum(every.counts[kept])),
        every.distance[chosen],
        closer=(every.closer - by_group.closer[one_group])[chosen],
        tied=(every.tied - by_group.tied[one_group])[chosen],
        before=(every.before - by_group.before[one_group])[chosen],
    )
