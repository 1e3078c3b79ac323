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
from bioeval.attempts.folds import FoldAttempts, Subset
from bioeval.attempts.lists import Attempts
from bioeval.attempts.threshold_rules import ChosenThreshold, Rule, choose


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
