"""The subjects of listed pairs as numbers, so that a long list does not hold an object a side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.scores.growing_column import PIECE, release
from bioeval.scores.labels import Codes


class CodedSubjects:
    """The subjects of both sides of pairs.

    Parameters
    ----------
    values : sequence of str
        Distinct subjects.
    a, b : int32 arrays, shape (p,)
        The place in `values` of the subject of each side of each pair.
    """

    def __init__(self, values: Sequence[str], a: np.ndarray, b: np.ndarray):
        self.values, self.a, self.b = list(values), a, b

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: np.ndarray) -> CodedSubjects:
        """Return the subjects of some pairs."""
        return CodedSubjects(self.values, self.a[index], self.b[index])

    def objects(self) -> np.ndarray:
        """Return the subject of each side, (p, 2); equal ones are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return np.column_stack([values[self.a], values[self.b]])

    def codes(self) -> Codes:
        """Return the subjects that occur, in their order, and the code of each side."""
        count = np.zeros(len(self.values), dtype=np.int64)
        for column in (self.a, self.b):
            for low in range(0, len(column), PIECE):
                count += np.bincount(column[low : low + PIECE], minlength=len(count))
        present = np.flatnonzero(count)
        values, place = np.unique([self.values[i] for i in present], return_inverse=True)
        new = np.zeros(len(self.values), dtype=np.int32)
        new[present] = place.reshape(-1)
        if np.array_equal(new, np.arange(len(new))):
            sides = [self.a, self.b]
        else:
            sides = [np.empty(len(self), dtype=np.int32) for _ in range(2)]
            for side, column in zip(sides, (self.a, self.b), strict=True):
                for low in range(0, len(column), PIECE):
                    side[low : low + PIECE] = new[column[low : low + PIECE]]
        release(self.a, self.b)
        return Codes.known(values, *sides)
