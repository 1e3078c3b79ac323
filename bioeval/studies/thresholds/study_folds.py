"""The folds of a threshold study: of people, or of pairs whose people are not known."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval import partition
from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.random import RandomState
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_subjects
from bioeval.studies.folds.options import ThresholdTask

# The default numbers of folds and of repeats.
USUAL_FOLDS = 10
REPEATS = 20


def require_folds(scores: Scores, name: str, number: int | None, *, low: int) -> None:
    if number is None:
        return
    require_integer(name, number, low=low, of_draws=True)
    if scores.layout == "pairs" and scores.pair_folds is not None:
        raise DataError(f"`{name}` is {number}, but these pairs define folds; leave it out")


def usual_folds(scores: Scores) -> tuple[int, list[Message]]:
    """Return the default number of folds, and a message if the usual number is not possible.

    Each fold has at least two people, or a pair of each class.
    """
    if scores.layout == "pairs" and scores.pair_folds is not None:
        return USUAL_FOLDS, []
    if divides_people(scores) or scores.layout != "pairs":
        available = len(scores.subjects)
        most_folds = len(scores.subjects) // 2
        noun = "people"
    else:
        genuine = int(np.count_nonzero(scores.genuine))
        available = most_folds = min(genuine, len(scores.genuine) - genuine)
        noun = "pairs of the rarer class"
    folds = min(USUAL_FOLDS, max(most_folds, 2))
    if folds == USUAL_FOLDS:
        return folds, []
    return folds, [
        Message("fewer-folds", folds=folds, usual=USUAL_FOLDS, there=available, what=noun)
    ]


def splitter_of_study(
    scores: Scores, folds: int, repeats: int | None, random_state: RandomState, task: ThresholdTask
) -> Any:
    if scores.layout != "pairs":
        require_subjects(scores, "a threshold study")
    drawn: dict[str, Any] = {
        "n_repeats": repeats or REPEATS,
        "shuffle": True,
        "random_state": random_state,
    }
    if task == "open_set":
        return partition.SubjectKFold(folds, **drawn, stratify="enrolled")
    if scores.layout == "pairs" and scores.pair_folds is not None:
        return partition.PredefinedPairFolds(scores.pair_folds)
    if divides_people(scores):
        return partition.SubjectKFold(folds, **drawn)
    return partition.SampleKFold(folds, **drawn, stratify="genuine")


def divides_people(scores: Scores) -> bool:
    """Whether folds divide people; otherwise they divide pairs, and share subjects."""
    if scores.layout != "pairs":
        return True
    if scores.pair_subjects is None or scores.pair_folds is None:
        return scores.pair_subjects is not None
    # Given folds divide people if each person is in one fold.
    codes = scores.codes
    sides = np.concatenate([codes.gallery, codes.probe])
    people = sides[~codes.no_person[sides]].tolist()
    folds = np.tile(scores.pair_folds, 2)[~codes.no_person[sides]].tolist()
    return len(set(zip(people, folds, strict=True))) == len(set(people))
