"""Thresholds chosen on a part of the attempts, and counts of others at them: folds and groups.

A group is like a fold whose test part is itself: one pass counts every pair of groups, and a second
one collects the scores of the few bins in which thresholds lie.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from bioeval.attempts.by_subject import FEW, SubjectAttempts
from bioeval.attempts.cells import is_accepted
from bioeval.attempts.fold_counts import DivisionIntoFolds, Groups, Subset, Weighted
from bioeval.attempts.fold_passes import FoldPasses
from bioeval.attempts.threshold_rules import ChosenThreshold, Rule, choose, wanted_bins
from bioeval.attempts.threshold_search import Attempts, within
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.provenance import Provenance


class TrainingThresholds(NamedTuple):
    """Increasing thresholds of a training part, and whether they are all its distinct scores."""

    thresholds: np.ndarray
    every_score: bool


@dataclass
class Judged:
    """One fold: the threshold chosen on its training part, and the attempts of both parts."""

    chosen: ChosenThreshold
    train: Attempts
    test: Attempts

    @classmethod
    def of_folds(
        cls,
        passes: FoldPasses,
        rule: Rule,
        folds: Sequence[Sequence[tuple[Subset, Subset]]],
        *,
        every_score: bool = False,
    ) -> list[list[Self]]:
        """Choose a threshold on the first part of each fold and count both parts at it.

        `rule` holds its threshold, if it gives one, as a distance; `folds` are those of each
        partition of the passes. Two passes are made over the scores. With `every_score` those of
        all bins are collected, where they are few.
        """
        judged = []

        def counted_folds() -> list[list[_Fold]]:
            return [
                [_Fold.of(passes, partition, rule, *both) for both in parts]
                for partition, parts in zip(passes.partitions, folds, strict=True)
            ]

        def wanted_by(counted: list[list[_Fold]]) -> np.ndarray:
            return np.logical_or.reduce([x.wanted for x in itertools.chain(*counted)])

        with threads_for(passes.rows.scores):
            # Where thresholds are chosen anew without some people, other bins matter as well.
            passes.count(None if every_score else lambda: wanted_by(counted_folds()))
            while True:
                counted = counted_folds()
                every = wanted_by(counted)
                if not passes.narrow(every):
                    break
            numbers = [x.train.impostor_attempts for x in itertools.chain(*counted)]
            everywhere = every_score and max(numbers) <= FEW
            if everywhere:
                every = np.ones_like(every)
            each = zip(passes.partitions, counted, passes.collect(every), strict=True)
            for partition, some, scores in each:
                for fold in some:
                    inside = every if everywhere else fold.wanted
                    fold.take_scores(scores, partition, passes.edges, inside)
                judged.append([cls(choose(rule, x.train, x.wanted), x.train, x.test) for x in some])
        return judged

    @classmethod
    def of_listed(cls, train: Attempts, test: Attempts, rule: Rule) -> Self:
        """Choose a threshold on listed attempts and count others at it."""
        return cls(choose(rule, train, wanted_bins(rule, train)), train, test)

    def training_thresholds(self) -> TrainingThresholds:
        """Return thresholds between which others like the chosen one can be found.

        Where the training part has few distinct scores they are these; else they are denser around
        the chosen threshold, which is one of them, and around the EER.
        """
        train, chosen = self.train, self.chosen.threshold
        total = train.impostor_attempts
        places, reached = train.values, train.false_accepts(train.values)
        if train.accepted[-1] == total:  # every score is known
            every = np.union1d(train.genuine, places)
            if total <= FEW and len(every) <= SubjectAttempts.EXACT:
                return TrainingThresholds(every, True)
        else:
            places, first = np.unique(np.append(places, train.edges[:-1]), return_index=True)
            reached = np.append(reached, train.below[1:-1])[first]
        around = [train.about_equal_error() * total]
        if math.isfinite(chosen):
            around.append(float(train.false_accepts(chosen)))
        wanted = np.array([chosen])
        thresholds = SubjectAttempts.thresholds_among(places, reached, total, around, wanted)
        return TrainingThresholds(thresholds, False)


@dataclass(frozen=True, eq=False)
class _Fold:
    """The attempts of both parts of a fold, and in which bins its threshold may lie."""

    parts: tuple[Subset, Subset]
    train: Attempts
    test: Attempts
    wanted: np.ndarray

    @classmethod
    def of(
        cls,
        passes: FoldPasses,
        partition: DivisionIntoFolds,
        rule: Rule,
        train: Subset,
        test: Subset,
    ) -> Self:
        """Return the attempts of a fold, as far as they have been counted."""
        training = passes.attempts(partition, train)
        wanted = wanted_bins(rule, training)
        return cls((train, test), training, passes.attempts(partition, test), wanted)

    def take_scores(
        self,
        scores: Weighted,
        partition: DivisionIntoFolds,
        edges: np.ndarray,
        flags: np.ndarray,
    ) -> None:
        """Divide some bins of both parts by the scores collected."""
        places = within(scores.values, edges, flags)
        for part, attempts in zip(self.parts, (self.train, self.test), strict=True):
            inside = places[partition.has(part, scores.pairs[places])]
            attempts.take_scores(scores.values[inside], scores.weights[inside])


@dataclass
class GroupTally:
    """Attempts and errors by group, at one threshold."""

    about: Provenance
    chosen: ChosenThreshold  # chosen by a rule on the attempts of all groups, as a distance
    #: int64 (groups,); errors of claims that several choices of templates decide are float64.
    false_rejects: np.ndarray
    genuine_attempts: np.ndarray
    #: int64 (groups, groups): by the group of the probe and that of the claimed subject.
    false_accepts: np.ndarray
    impostor_attempts: np.ndarray
    #: About the EER of all attempts together; NaN without attempts of both classes.
    equal_error: float

    @classmethod
    def of_matrix(
        cls,
        reader: BlockReader,
        groups: tuple[np.ndarray, np.ndarray],
        rule: Rule,
    ) -> Self:
        """Count a matrix by the groups of probes and gallery templates, numbered from 0.

        `rule` holds its threshold, if it gives one, as a distance; `options` are templates and
        fusion.
        """
        passes = FoldPasses(reader, "single", "min", [groups], Groups)
        (pairs,) = passes.partitions
        number = pairs.folds
        with threads_for(reader.scores):
            passes.count()
            while True:
                every = Attempts(passes.genuine, passes.edges, passes.total)
                wanted = wanted_bins(rule, every)
                if not passes.narrow(wanted):
                    break
            ((values, codes, weights),) = passes.collect(wanted)
        every.take_scores(values, weights)
        chosen = choose(rule, every, wanted)
        threshold = chosen.threshold

        def of_groups(there: np.ndarray) -> np.ndarray:
            """Return the number of genuine attempts of each group, of a mask of all."""
            places = pairs.pair[there] // (number + 1)
            return np.bincount(places, minlength=number).astype(np.int64)

        genuine = rejected = of_groups(np.ones(len(passes.genuine), dtype=bool))
        accepted = np.zeros((number, number), dtype=np.int64)
        if not math.isnan(threshold):  # which rejects all
            rejected = of_groups(~is_accepted(passes.genuine, threshold))
            b = int(every.bin_of(threshold))
            inside = np.flatnonzero(is_accepted(values, threshold))
            inside = inside[passes.edges.searchsorted(values[inside]) == b]
            more = np.bincount(codes[inside], weights[inside], number**2).astype(np.int64)
            accepted = pairs.counts[..., :b].sum(axis=-1) + more.reshape(number, number)
        made = pairs.counts.sum(axis=-1)
        equal_error = every.about_equal_error()
        return cls(reader.about, chosen, rejected, genuine, accepted, made, equal_error)

    @classmethod
    def of_listed(cls, attempts: SubjectAttempts, group: np.ndarray, rule: Rule) -> Self:
        """Count attempts that are listed singly; `group` is the group of each subject."""
        values, probe, claimed = attempts.listed()
        made = ~np.isnan(values)
        values, probe, claimed = values[made], probe[made], claimed[made]
        genuine, number = probe == claimed, int(group.max()) + 1
        pair = group[probe] * number + group[claimed]

        def by_pair(chosen: np.ndarray) -> np.ndarray:
            return np.bincount(pair[chosen], minlength=number**2).reshape(number, number)

        every = Attempts.listed(values[genuine], values[~genuine])
        chosen = choose(rule, every, wanted_bins(rule, every))
        accepted = is_accepted(values, chosen.threshold)  # NaN rejects all
        return cls(
            attempts.reader.about,
            chosen,
            by_pair(genuine & ~accepted).diagonal(),
            by_pair(genuine).diagonal(),
            by_pair(~genuine & accepted),
            by_pair(~genuine),
            every.about_equal_error(),
        )
