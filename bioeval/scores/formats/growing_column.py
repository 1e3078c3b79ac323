"""Columns of numbers that grow as a file is read."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Values of a column that are worked on together: few, so that temporary arrays stay small.
PIECE = 1 << 17


class GrowingColumn:
    """Numbers appended piece by piece, of the first type that can hold all."""

    def __init__(self, dtype: Any):
        self._pieces = [np.empty(0, dtype)]

    def append(self, values: np.ndarray) -> None:
        self._pieces.append(values.copy())

    def array(self) -> np.ndarray:
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        return self._pieces[0]
