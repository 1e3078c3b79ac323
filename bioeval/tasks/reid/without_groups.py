"""Re-identification without each of some groups of people, in one sweep over all scores.

A query's match keeps its distance whoever else is left out, and has fewer candidates before it. So
the candidates of each group around each match say what a count without the group would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores, codes_of
from bioeval.tasks.reid import kernel
from bioeval.tasks.reid.candidate_lists import Lists, RankedRows
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.counts import ReidTally
from bioeval.tasks.reid.kernel import ByGroup
from bioeval.tasks.reid.matches import MatchLists
from bioeval.tasks.reid.passes import RetrievalPass
from bioeval.tasks.reid.results import reid_measures

# Counts of a match and a group, at most, that are in memory at a time.
COUNTS_IN_MEMORY = 1 << 21


class RetrievalWithoutGroups:
    """Means over queries without each group of people, as queries and in the gallery.

    - `group` (int64 (subjects,)): the group of each subject's code, from 0; -1 for those who stay
    - `means`: chooses means of all measures, always the same ones
    """

    def __init__(
        self,
        scores: Scores,
        convention: Convention,
        group: np.ndarray,
        means: Callable[[QueryMeasures], Mapping[Any, QueryMean]],
    ):
        """Prepare the lists."""
        self.retrieval, self.means = RetrievalPass(scores, convention), means
        self.scores, self.lists = scores, self.retrieval.lists
        self.about = self.retrieval.reader.about
        codes = codes_of(scores)
        self.of_query, self.of_column = group[codes.probe], group[codes.gallery]
        self.group, self.groups = group, int(group.max(initial=-1)) + 1

    def run(self, of_all: Sequence[QueryMean]) -> np.ndarray:
        """Return means without each group, float64 of shape (means, groups).

        `of_all` are the means over all queries. A group changes the values of the others' queries,
        but not which queries a mean is over: each keeps its matches.
        """
        values: dict[tuple[int, int], list[np.ndarray]] = {}
        counts_per_row = max(int(self.lists.template_counts.max(initial=1)) * self.groups, 1)
        most = max(1, COUNTS_IN_MEMORY // counts_per_row)
        with threads_for(self.scores):
            for ranked in self.lists.ranked(self.retrieval.reader, most):
                for group, tally in enumerate(self._without_each(ranked)):
                    means = self.means(reid_measures(tally, curves=False))
                    for place, mean in enumerate(means.values()):
                        values.setdefault((place, group), []).append(mean.values)
        without = np.empty((len(of_all), self.groups))
        for (place, group), parts in values.items():
            kept = self.of_query != group
            without[place, group] = of_all[place].of_some(kept, np.concatenate(parts)).mean
        return without

    def _matches(self, block: RankedRows) -> tuple[MatchLists, ByGroup]:
        """Return the matches of a block of rows, with the candidates of each group around them."""
        shape = self.groups, len(block.mates.column)
        counts = ByGroup(*(np.empty(shape, dtype=np.int32) for _ in ByGroup._fields))
        kernel.count_by_group(block.queries, block.columns, block.mates, self.of_column, counts)
        return block.matches, counts

    def _without_each(self, ranked: Sequence[RankedRows]) -> Iterator[ReidTally]:
        """Yield the counts of a block of rows, ranked under each rule, without each group."""
        convention, lists = self.retrieval.convention, self.lists
        (over,) = (block for block in ranked if block.rule == convention.removed)
        matches = {block.rule: self._matches(block) for block in ranked}
        rows = over.rows
        if convention.cmc == "identity-dedup":
            numbered = np.where(self.group < 0, self.groups, self.group)
            identities = self.retrieval.identities_before(over, numbered, self.groups + 1)
            of_all = identities.sum(axis=1)
        for group in range(self.groups):
            kept = self.of_query[rows] != group
            by_rule = {}
            for rule, (every, by_group) in matches.items():
                chosen = kept[every.query]
                by_rule[rule] = MatchLists(
                    np.append(0, np.cumsum(every.counts[kept])),
                    every.distance[chosen],
                    closer=(every.closer - by_group.closer[group])[chosen],
                    tied=(every.tied - by_group.tied[group])[chosen],
                    before=(every.before - by_group.before[group])[chosen],
                )
            extra: dict[str, Any] = {}
            if convention.cmc == "identity-dedup":
                extra["identities"] = (of_all - identities[:, group])[kept]
            elif convention.cmc == "single-gallery-shot":
                shots = self.retrieval.single_shots(over, self._lists_without[group])
                extra["shots"] = shots[kept]
            if convention.removed != convention.ap_removed:
                extra["cmc_matches"] = by_rule[convention.removed]
            yield ReidTally(
                about=self.about,
                rules=convention,
                enrolled=lists.enrolled[rows][kept],
                left_out=lists.left_out[rows][kept],
                subject_of_query=lists.query_identity[rows][kept],
                removed_entries=np.zeros(int(kept.sum()), dtype=np.int64),
                matches=by_rule[convention.ap_removed],
                **extra,
            )

    @cached_property
    def _lists_without(self) -> list[Lists]:
        """The candidate lists without each group."""
        return [self.lists.without(self.of_column == group) for group in range(self.groups)]
