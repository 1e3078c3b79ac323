"""Sums of attempts at weights of people, and sums without each person.

Every limit is computed from a measure at several weights of people. In the first column, the data,
everyone has weight 1. In the other columns one person has weight 0 (the jackknife: Quenouille 1956,
Tukey 1958), or people are drawn with replacement, and their weight is how often they were drawn
(the subsets bootstrap: Bolle, Ratha and Pankanti 2004). A genuine attempt of ``a`` counts ``w_a``
times; impostor attempts, of two people, are in :mod:`bioeval.stats.impostor_sums`. Drawn weights
and counts are integers, whose sums are exact in any order.
"""

from __future__ import annotations

import numpy as np
import scipy

# The most values of a temporary array.
VALUES_AT_ONCE = 1 << 22

# If fewer than one cell in this number is not 0, a sparse product is faster than a dense one, whose
# threads wait for each other.
_SPARSE = 10

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


def rates_without_each(
    errors_of_unit: np.ndarray,
    attempts_of_unit: np.ndarray,
    errors: np.ndarray | None = None,
    attempts: np.ndarray | None = None,
) -> np.ndarray:
    """Return rates, and the rates without each unit, (..., 1 + units); NaN without an attempt.

    A unit is a person or a group of people, with its comparisons, queries or searches. The errors
    and attempts in all are by default those of all units, see :func:`without_each`.
    """
    return ratio(without_each(errors_of_unit, errors), without_each(attempts_of_unit, attempts))


def kish(attempts: np.ndarray) -> float:
    """Return the effective number of people (Kish 1965), from the attempts of each person.

    The number is ``(sum n)^2 / sum n^2``: the number of people if all make equally many attempts,
    and 0 without an attempt.
    """
    attempts = np.asarray(attempts, dtype=np.float64)
    squares = float((attempts**2).sum())
    return float(attempts.sum()) ** 2 / squares if squares else 0.0


def linear_forms(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_a counts[t, a] w_a`` for each column of weights, (layers, columns).

    `counts` is (layers, subjects), `weights` (subjects, columns).
    """
    forms = np.empty((len(counts), weights.shape[1]))
    matrix = counts.astype(np.float64)
    # Sums of whole numbers are exact in any order.
    if np.count_nonzero(matrix) * _SPARSE < matrix.size and (matrix == np.floor(matrix)).all():
        matrix = scipy.sparse.csr_array(matrix)
    step = max(1, VALUES_AT_ONCE // max(len(weights), 1))
    for low in range(0, weights.shape[1], step):
        columns = slice(low, low + step)
        forms[:, columns] = matrix @ weights[:, columns].astype(np.float64)
    return forms


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole``, NaN where `whole` is 0."""
    with np.errstate(invalid="ignore"):
        return part / np.where(whole > 0, whole, np.nan)


def by_subject(
    values: np.ndarray,
    subjects: np.ndarray,
    thresholds: np.ndarray,
    number_of_subjects: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the number of values of each subject between consecutive increasing thresholds.

    Row ``i`` of the result, of shape (t + 1, number_of_subjects), is above ``thresholds[i - 1]``
    and not above ``thresholds[i]``.
    """
    layer = np.searchsorted(thresholds, values)
    # A cell of the flat result for each value.
    size = (len(thresholds) + 1) * number_of_subjects
    counts = np.bincount(layer * number_of_subjects + subjects, weights, minlength=size)
    return counts.reshape(len(thresholds) + 1, number_of_subjects)
