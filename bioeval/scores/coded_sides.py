"""Names of the two sides of pairs, as codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bioeval.scores.codes import Codes
from bioeval.scores.labels import as_labels, as_objects


class CodedSides:
    """The subjects, or the templates, of both sides of pairs.

    - `values` (sequence): distinct names
    - `a`, `b` (int32 (p,)): the place in `values` of the name of each side of each pair; side b has
      the probes
    """

    def __init__(self, values: Sequence[Any], a: np.ndarray, b: np.ndarray):
        self.values = list(values)
        self.a = a
        self.b = b

    @classmethod
    def from_names(
        cls,
        names: np.ndarray,
        input_name: str,
        check: Callable[..., np.ndarray] = as_labels,
        of_any_type: Sequence[Any] = (),
    ) -> CodedSides:
        """Return the checked names of both sides, (p, 2), as codes.

        The names `of_any_type` may be texts among numbers.
        """
        side_a, side_b = (check(side, input_name) for side in names.T.tolist())
        # Names are numbered in the order of the second argument, then of the first: side b first.
        codes = Codes(side_a, side_b, input_name, of_any_type)
        a = codes.probe.astype(np.int32)
        b = codes.gallery.astype(np.int32)
        return cls(codes.values.tolist(), a, b)

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: np.ndarray) -> CodedSides:
        return CodedSides(self.values, self.a[index], self.b[index])

    def exchanged(self, is_exchanged: np.ndarray) -> CodedSides:
        """Return the names with the sides of some pairs exchanged; the argument is bool (p,)."""
        sides = (np.where(is_exchanged, self.b, self.a), np.where(is_exchanged, self.a, self.b))
        return CodedSides(self.values, *sides)

    def objects(self) -> np.ndarray:
        """Return the name of each side, (p, 2); equal names are one object."""
        values = as_objects(self.values)
        return np.column_stack([values[self.a], values[self.b]])

    def side(self, number: int) -> np.ndarray:
        """Return the name of side 0 or 1 of each pair; equal names are one object."""
        values = as_objects(self.values)
        return values[self.b if number else self.a]

    def codes(self) -> Codes:
        """Return the names that occur as codes of subjects: side b has the probes."""
        used = np.zeros(len(self.values), dtype=bool)
        used[self.a] = used[self.b] = True
        present = np.flatnonzero(used)
        values, place = np.unique([self.values[i] for i in present], return_inverse=True)
        new = np.zeros(len(self.values), dtype=np.int32)
        new[present] = place.reshape(-1)
        return Codes.known(values, new[self.b], new[self.a])
