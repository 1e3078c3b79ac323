"""Passes over the rows of scores, which executors run, and their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bioeval.base.executors import Pass, executor
from bioeval.base.progress import rows_reported_to
from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.parts import ConcatenatedRows, merged


@rows_reported_to(None)
def counts_of(
    name: str,
    reader: BlockReader,
    count: Callable[[Iterable[Block]], Any],
    depends_on: Sequence[np.ndarray] = (),
) -> Any:
    """Return the sum over all blocks of the counts of a function.

    - `name`: what is counted, in a word or two
    - `count`: counts some blocks, as :func:`bioeval.tallies.parts.merged` takes it. It changes
      nothing, and can be sent to another process
    - `depends_on`: what the counts depend on besides the scores and the options of the evaluation
    """
    chosen = executor()
    if chosen is None or not reader.of_rows:
        return count(reader)
    return chosen.count(BlockPass(name, reader, count, depends_on))


class RowPass(Pass):
    """A pass over all rows, in the blocks of its `reader`."""

    reader: Any

    @property
    def step(self) -> int:
        """Number of rows that are read together."""
        return self.reader.rows_per_block()

    merged = staticmethod(merged)

    @staticmethod
    def watched(reader: BlockReader, low: int, high: int) -> dict[str, ConcatenatedRows]:
        """Return the findings of a reader about failure codes in rows ``low:high``."""
        if reader.scores._streams:
            return {}
        watch, rows = reader.watch, slice(low, high)
        codes = {"value": watch.value[rows], "count": watch.count[rows], "sample": watch.sample}
        return {name: ConcatenatedRows.of(array) for name, array in codes.items()}

    def include_watched(self, watched: dict[str, ConcatenatedRows]) -> None:
        """Give the reader the sentinels that were seen in all rows."""
        for name, joined in watched.items():
            setattr(self.reader.watch, name, joined.array())


class BlockPass(RowPass):
    """Counts of a function, over blocks of rows that may be read in any order."""

    def __init__(
        self,
        name: str,
        reader: BlockReader,
        count: Callable[[Iterable[Block]], Any],
        depends_on: Sequence[np.ndarray] = (),
    ):
        self.name, self.reader, self.scores, self.count = name, reader, reader.scores, count
        self.depends_on = depends_on

    def part(self, low: int, high: int) -> Any:
        """Count rows ``low:high``."""
        return self.count(self.reader.for_rows(low, high).blocks_of(low, high))
