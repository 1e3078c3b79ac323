"""The names of both sides of listed pairs as codes, to save memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bioeval.scores.growing_column import PIECE, release, taken
from bioeval.scores.labels import Codes, as_labels


class CodedSides:
    """The subjects, or the templates, of both sides of pairs.

    Parameters
    ----------
    values : sequence
        Distinct names.
    a, b : int32 arrays, shape (p,)
        The place in `values` of the name of each side of each pair.
    """

    def __init__(self, values: Sequence[Any], a: np.ndarray, b: np.ndarray):
        self.values, self.a, self.b = list(values), a, b

    @classmethod
    def of(cls, names: np.ndarray, what: str) -> CodedSides:
        """Return names given as an array, (p, 2)."""
        a, b = (as_labels(side, what) for side in names.T.tolist())
        found = Codes(a, b, what)
        codes = found.probe.astype(np.int32), found.gallery.astype(np.int32)
        return cls(found.values.tolist(), *codes)

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: np.ndarray) -> CodedSides:
        """Return the names of some pairs, by their places or by a boolean selection."""
        return CodedSides(self.values, taken(self.a, index), taken(self.b, index))

    def exchanged(self, turned: np.ndarray) -> CodedSides:
        """Return the names with the sides of some pairs exchanged."""
        sides = (np.where(turned, self.b, self.a), np.where(turned, self.a, self.b))
        return CodedSides(self.values, *sides)

    def objects(self) -> np.ndarray:
        """Return the name of each side, (p, 2); equal names are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return np.column_stack([values[self.a], values[self.b]])

    def codes(self) -> Codes:
        """Return the names that occur, in their order, and the code of each side."""
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
