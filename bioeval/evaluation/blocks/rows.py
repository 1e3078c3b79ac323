"""Ranges of rows that are counted together."""

from __future__ import annotations

import math

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
