"""Weights of people: the data themselves, the data without each person, and people drawn again.

Every limit is computed from a measure at several weights of people. In the first column, the data,
everyone has weight 1. In the other columns one person has weight 0 (the jackknife: Quenouille 1956,
Tukey 1958), or people are drawn with replacement, and their weight is how often they were drawn
(the subsets bootstrap: Bolle, Ratha and Pankanti 2004). A genuine attempt of ``a`` counts ``w_a``
times, and an impostor attempt of ``a`` and ``b`` ``w_a w_b`` times. Copies of a person are not
compared with each other. Drawn weights and counts are integers, whose sums are exact in any order.
"""

from __future__ import annotations

import numpy as np

from bioeval.base.random import Stream

#: The most people who are left out one by one; more people are left out in this number of groups.
GROUPS = 1000


def groups_of(people: int) -> np.ndarray:
    """Return the group with which each person is left out: its own, up to a thousand people."""
    return np.arange(people) * min(people, GROUPS) // max(people, 1)


def groups_of_people(
    no_person: np.ndarray, units: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return the group with which each subject is left out, and the number of groups.

    The people of a unit are in one group; without `units` (subjects,), each person is one.
    Templates of no person, such as distractors, are never left out: their group is the number of
    groups.
    """
    person = np.arange(int((~no_person).sum()))
    if units is not None:
        _, person = np.unique(units[~no_person], return_inverse=True)
    group = groups_of(int(person.max(initial=-1)) + 1)[person]
    groups = int(group.max(initial=-1)) + 1
    group_of_subject = np.full(len(no_person), groups)
    group_of_subject[~no_person] = group
    return group_of_subject, groups


def without_each(sums_of_person: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
    """Return sums, and the sums without each person, (..., 1 + people).

    `sums_of_person` (..., people) is missing without each person. `total` is their sum by default;
    it is another number if attempts have two people, or none.
    """
    if total is None:
        total = sums_of_person.sum(axis=-1)
    return np.concatenate([total[..., None], total[..., None] - sums_of_person], axis=-1)


def resampled(
    subjects: int, seed: np.random.SeedSequence, replicates: int, no_person: np.ndarray | None
) -> np.ndarray:
    """Return the weights of subjects in the data and in replicates, float32 (subjects, columns).

    Subjects who are no person, such as all distractors, are not drawn: their weight is 1.
    """
    is_drawn = np.ones(subjects, dtype=bool) if no_person is None else ~no_person
    people = int(is_drawn.sum())
    weights = np.ones((subjects, 1 + (replicates if people > 1 else 0)), dtype=np.float32)
    if weights.shape[1] > 1:
        weights[is_drawn, 1:] = Stream(seed, 0).resampled(people, replicates)
    return weights


def kish(attempts: np.ndarray) -> float:
    """Return the effective number of people (Kish 1965), from the attempts of each person.

    The number is ``(sum n)^2 / sum n^2``: the number of people if all make equally many attempts,
    and 0 without an attempt.
    """
    attempts = np.asarray(attempts, dtype=np.float64)
    squares = float((attempts**2).sum())
    return float(attempts.sum()) ** 2 / squares if squares else 0.0
