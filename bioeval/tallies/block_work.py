"""Counts of the blocks of a reader: in this process, or by the engine that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bioeval.base.engine import engine
from bioeval.scores.blocks import Block, BlockReader


def counts_of(
    what: str,
    reader: BlockReader,
    count: Callable[[Iterable[Block]], Any],
    depends_on: Sequence[np.ndarray] = (),
) -> Any:
    """Return the sum over all blocks of the counts of a function.

    Parameters
    ----------
    what : str
        What is counted, in a word or two.
    reader : BlockReader
    count : callable
        Counts some blocks, as :func:`bioeval.tallies.parts.merged` takes it. It changes nothing,
        and can be sent to another process.
    depends_on : sequence of array
        What the counts depend on besides the scores and the options of the evaluation.
    """
    chosen = engine()
    if chosen is None or not reader.of_rows:
        return count(reader)
    return chosen.count(BlockWork(what, reader, count, depends_on), None)


class InBlocks:
    """Work over all rows, in the blocks of its `reader`."""

    reader: Any

    @property
    def step(self) -> int:
        """Number of rows that are read together."""
        return self.reader.rows_per_block()


class BlockWork(InBlocks):
    """Counts of a function, over blocks of rows that may be read in any order."""

    def __init__(
        self,
        what: str,
        reader: BlockReader,
        count: Callable[[Iterable[Block]], Any],
        depends_on: Sequence[np.ndarray] = (),
    ):
        self.what, self.reader, self.scores, self.count = what, reader, reader.scores, count
        self.depends_on = depends_on

    def part(self, low: int, high: int) -> Any:
        """Count rows ``low:high``."""
        return self.count(self.reader.for_rows(low, high).blocks_of(low, high))
