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
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.folds import FoldAttempts, Subset
from bioeval.attempts.lists import Attempts
from bioeval.attempts.passes import count_together
from bioeval.attempts.threshold_rules import ChosenThreshold, Rule, choose
from bioeval.attempts.verification_counter import VerificationCounter
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
        cls, folds: FoldAttempts, rule: Rule, parts: Sequence[Sequence[tuple[Subset, Subset]]]
    ) -> list[list[Self]]:
        """Choose a threshold on the first part of each fold and count both parts at it.

        `rule` holds its threshold, if it gives one, as a distance; `parts` are those of each
        division of the folds.
        """
        every = [list(itertools.chain(*both)) for both in parts]
        counted = folds.of_parts(every, rule)
        return [
            [
                cls(choose(rule, train), train, test)
                for train, test in zip(attempts[::2], attempts[1::2], strict=True)
            ]
            for attempts in counted
        ]

    @classmethod
    def of_listed(cls, train: Attempts, test: Attempts, rule: Rule) -> Self:
        """Choose a threshold on listed attempts and count others at it."""
        return cls(choose(rule, train), train, test)

    def training_thresholds(self) -> TrainingThresholds:
        """Return thresholds between which others like the chosen one can be found.

        Where the training part has few distinct scores they are these; else they are denser around
        the chosen threshold, which is one of them, and around the EER.
        """
        train, chosen = self.train, self.chosen.threshold
        total = train.impostor_attempts
        if train.marks is None:  # every score is known
            places, reached = train.values, train.accepted
            every = np.union1d(train.genuine, places)
            if total <= FEW and len(every) <= SubjectAttempts.EXACT:
                return TrainingThresholds(every, True)
        else:
            cells = train.cells
            places, reached = cells.grid.edges, np.cumsum(cells.counts)
        around = [train.about_equal_error() * total]
        if math.isfinite(chosen):
            around.append(float(train.false_accepts(chosen)))
        wanted = np.array([chosen])
        thresholds = SubjectAttempts.thresholds_among(places, reached, total, around, wanted)
        return TrainingThresholds(thresholds, False)


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
        counter = VerificationCounter(reader)
        (tally,) = count_together(reader, [counter], PointsWanted.of_rule(rule))
        chosen = choose(rule, tally.attempts)
        number = int(max(x.max() for x in groups)) + 1
        row_group, group = groups
        if reader.gallery.order is not None:
            group = group[reader.gallery.order]
        of_rows = np.eye(number, dtype=np.float32)[:, row_group]
        of_columns = np.eye(number, dtype=np.float32)[group]
        rejected, genuine = np.zeros((2, number), dtype=np.int64)
        accepted, made = np.zeros((2, number, number), dtype=np.int64)
        with threads_for(reader.scores):
            for block in reader.blocks():
                row, position = block.own()
                its, impostors = row_group[row + block.low], block.impostors()
                within = is_accepted(block.values[row, position], chosen.threshold)
                genuine += np.bincount(its, minlength=number)
                rejected += np.bincount(its[~within], minlength=number)
                rows = of_rows[:, block.low : block.low + len(impostors)]
                for table, there in (
                    (made, ~np.isnan(impostors)),
                    (accepted, is_accepted(impostors, chosen.threshold)),
                ):
                    table += np.rint(rows @ (there @ of_columns)).astype(np.int64)
        return cls(
            reader.about,
            chosen,
            rejected,
            genuine,
            accepted,
            made,
            tally.attempts.about_equal_error(),
        )

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
        chosen = choose(rule, every)
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
