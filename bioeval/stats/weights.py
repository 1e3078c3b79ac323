"""Weights of people: the data themselves, the data without each person, and people drawn again.

Every limit is computed from a measure at several weights of people. The first column is the data,
where everyone weighs 1. In the other columns one person weighs 0 on all sides (the jackknife:
Quenouille 1956, Tukey 1958), or people are drawn with replacement, and weigh as often as they were
drawn (the subsets bootstrap: Bolle, Ratha and Pankanti 2004): a genuine attempt of ``a`` counts
``w_a`` times, and an impostor attempt of ``a`` and ``b`` ``w_a w_b`` times. Copies of a person are
not compared with each other. Drawn weights and counts are integers, whose sums are exact in any
order.
"""

from __future__ import annotations

import numpy as np

from bioeval.base.random import Stream

#: The most people who are left out one by one; more people are left out in this number of groups.
GROUPS = 1000


def groups_of(people: int) -> np.ndarray:
    """Return the group with which each person is left out: its own, up to a thousand people."""
    return np.arange(people) * min(people, GROUPS) // max(people, 1)


def groups_of_people(no_person: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the group with which each subject is left out, and the number of groups.

    Templates of no person, such as distractors, are never left out: their number is the number of
    groups.
    """
    group = groups_of(int((~no_person).sum()))
    groups = int(group.max(initial=-1)) + 1
    of_each = np.full(len(no_person), groups)
    of_each[~no_person] = group
    return of_each, groups


def without_each(each: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
    """Return sums, and the sums without each person, (..., 1 + people).

    `each` (..., people) leaves with each person. The `total` is the sum of `each`, unless attempts
    leave with two people, or with nobody.
    """
    if total is None:
        total = each.sum(axis=-1)
    return np.concatenate([total[..., None], total[..., None] - each], axis=-1)


def resampled(
    subjects: int, seed: np.random.SeedSequence, replicates: int, no_person: np.ndarray | None
) -> np.ndarray:
    """Return the weights of subjects in the data and in replicates, float32 (subjects, columns).

    Subjects who are no person, such as all distractors, are not drawn: their weight is 1.
    """
    drawn = np.ones(subjects, dtype=bool) if no_person is None else ~no_person
    people = int(drawn.sum())
    weights = np.ones((subjects, 1 + (replicates if people > 1 else 0)), dtype=np.float32)
    if weights.shape[1] > 1:
        weights[drawn, 1:] = Stream(seed, 0).resampled(people, replicates)
    return weights


def kish(attempts: np.ndarray) -> float:
    """Return the number of equally active people that these people are worth (Kish 1965).

    That is ``(sum n)^2 / sum n^2``, and 0 without an attempt.
    """
    attempts = np.asarray(attempts, dtype=np.float64)
    squares = float((attempts**2).sum())
    return float(attempts.sum()) ** 2 / squares if squares else 0.0
