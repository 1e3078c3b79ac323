"""Numbers for subjects derived from their scores, independent of labels and places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.base.random import Stream
from bioeval.partition.shuffling import permutation

_SEED = np.random.SeedSequence(0x4F52444552)

# Odd constants of splitmix64 (Steele, Lea and Flood 2014).
_STEP, _FIRST, _SECOND = (
    np.uint64(x) for x in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def numbers_by_scores(
    members: Sequence[np.ndarray], rows: tuple[np.ndarray, np.ndarray], people: int
) -> np.ndarray:
    """Return a number for each subject, 0 to `people` - 1, from two systems' scores alone.

    The numbers do not change where the systems, the rows or the subjects change places. Subjects
    are sorted by the sums of their rows, equal sums by digests of their rows and of those whom they
    share them with; random numbers then decide, so that neighbours need not be alike.

    Parameters
    ----------
    members : int arrays, each of shape (k,)
        The subject of each row; the second array of rows between two subjects.
    rows : pair of int64 arrays, shape (k,)
        What each system says in each row, as whole numbers that do not depend on its scale.
    """
    first, second = sorted(rows, key=summary)
    size = np.zeros(people, dtype=np.int64)
    for side in members:
        np.add.at(size, side, first + second)
    content = _mixed(first.astype(np.uint64) * _STEP + second.astype(np.uint64))
    digest = size.astype(np.uint64)
    before, distinct = 0, len(np.unique(digest))
    while before < distinct < people:  # until digests of digests tell no more subjects apart
        known, digest = digest, _mixed(digest)
        for side, other in zip(members, members[::-1], strict=True):
            np.add.at(digest, side, _mixed(content + known[other] * _SECOND))
        before, distinct = distinct, len(np.unique(digest))
    number = np.empty(people, dtype=np.int64)
    number[np.lexsort((digest, size))] = permutation(Stream(_SEED, people), people)
    return number


def summary(values: np.ndarray) -> tuple[int, int]:
    """Return two numbers that distinguish systems, whatever the order of their int64 values."""
    return int(values.sum()), int(values @ values)


def ranks_among(*values: np.ndarray) -> list[np.ndarray]:
    """Return the ranks of values among the distinct ones of all arrays, from 1; 0 for NaN."""
    distinct = np.unique(np.concatenate(values))
    distinct = distinct[~np.isnan(distinct)]
    return [np.where(np.isnan(x), 0, np.searchsorted(distinct, x) + 1) for x in values]


def _mixed(x: np.ndarray) -> np.ndarray:
    """Return well-mixed bits of integers, equal for equal integers."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))
