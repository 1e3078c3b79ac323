"""Some rows of a matrix that is elsewhere, under their numbers in the whole matrix."""

from __future__ import annotations

from typing import Any

import numpy as np


class RowsElsewhere(Exception):  # noqa: N818 (no error: who counts reads these rows where they are)
    """Rows are read that were not sent."""


class RowsHere:
    """A matrix of which some rows are at hand, read by the numbers of the whole.

    Parameters
    ----------
    shape, dtype
        Of the whole matrix.
    numbers : int64 array
        The rows that are at hand, increasing.
    values : array
        These rows.
    """

    ndim = 2

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype, numbers: np.ndarray, values: np.ndarray
    ):
        self.shape, self.dtype, self.numbers, self.values = shape, dtype, numbers, values

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice):
            low, high, step = rows.indices(self.shape[0])
            places = np.searchsorted(self.numbers, [low, high])
            if step != 1 or places[1] - places[0] != high - low:
                raise RowsElsewhere
            return self.values[slice(*places)]
        wanted = np.asarray(rows)
        place = np.searchsorted(self.numbers, wanted)
        if (place >= len(self.numbers)).any() or (self.numbers[place] != wanted).any():
            raise RowsElsewhere
        return self.values[place]
