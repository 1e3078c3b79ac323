"""Ranges of rows, and the rows that one process computes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bioeval.base.engine import RowWork

# Comparisons of one block, about: a few tenths of a second of counting, against which sending and
# merging are little; and of embeddings, of whose product each takes ten times as long.
CELLS, CELLS_STREAMED = 1 << 28, 1 << 25


def row_ranges(work: RowWork, workers: int = 4, rows: int | None = None) -> list[tuple[int, int]]:
    """Return the blocks of rows of some work.

    `rows` is how many rows a block has, rounded up to those that are read together; by default
    as many as make a block worth sending, and few enough for four blocks a worker.
    """
    m, n = work.scores.shape[0], math.prod(work.scores.shape[1:])
    step = work.step
    if rows is None:
        most = (CELLS_STREAMED if work.scores.streams else CELLS) // n
        rows = min(most, -(-m // (4 * workers)))
    size = max(1, -(-rows // step)) * step
    return [(low, min(low + size, m)) for low in range(0, m, size)]


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
