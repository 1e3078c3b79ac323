"""Comparisons that one of two systems made and the other did not."""

from __future__ import annotations

import numpy as np

from bioeval.base.engine import engine
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores


def made_by_one(a: Scores, b: Scores) -> int:
    """Return how many comparisons one of two systems over the same templates alone made."""
    work, chosen = _MadeByOne(a, b), engine()
    if chosen is None:
        return work.part(0, a.shape[0])
    found: int = chosen.count(work, None)
    return found


class _MadeByOne:
    """These comparisons, in blocks of rows that may be read in any order."""

    what = "failures"

    def __init__(self, a: Scores, b: Scores):
        self.scores, self.beside = a, (b,)
        self.readers = BlockReader(a), BlockReader(b)
        self.step = min(reader.rows_per_block() for reader in self.readers)

    def part(self, low: int, high: int) -> int:
        """Count rows ``low:high``."""
        alone = 0
        for first in range(low, high, self.step):
            last = min(first + self.step, high)
            blocks = [reader.block(first, last) for reader in self.readers]
            differ = np.isnan(blocks[0].values) != np.isnan(blocks[1].values)
            itself = blocks[0].self_position
            rows = np.nonzero(itself >= 0)[0]
            differ[rows, itself[rows]] = False
            alone += int(differ.sum())
        return alone
