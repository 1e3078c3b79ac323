"""The smallest and the largest score of all attempts, found in a sweep of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bioeval.base.engine import engine
from bioeval.base.progress import report
from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.counters import CellCounter, ImpostorBlock, finite_range
from bioeval.tallies.parts import Extent, merged

#: The smallest and the largest finite score, and whether -inf and +inf occur.
Found = tuple[float, float, bool, bool]


def extent_of(reader: BlockReader, attempts: Callable[[Block], Iterable[ImpostorBlock]]) -> Found:
    """Return the extent of the attempts of all blocks of a reader."""
    work, chosen = ExtentWork(reader, attempts), engine()
    if chosen is None or not reader.of_rows:
        counts = work.add(_NONE, reader)
    else:
        counts = chosen.count(work, None)
    return found(counts)


def extent_among(attempts: Iterable[ImpostorBlock]) -> Found:
    """Return the extent of some attempts."""
    counts: dict[str, Any] = _NONE
    for one in attempts:
        counts = _added(counts, one)
    return found(counts)


def found(counts: dict[str, Any]) -> Found:
    """Return the extent that was counted."""
    extent: Extent = counts["extent"]
    return extent.low, extent.high, counts["negative"] > 0, counts["positive"] > 0


_NONE: dict[str, Any] = {"extent": Extent(), "negative": 0, "positive": 0}


class ExtentWork:
    """The extent of attempts, in blocks of rows that may be read in any order."""

    what = "extent"

    def __init__(self, reader: BlockReader, attempts: Callable[[Block], Iterable[ImpostorBlock]]):
        self.reader, self.scores, self.attempts = reader, reader.scores, attempts

    @property
    def step(self) -> int:
        """Rows that are read together."""
        return self.reader.rows_per_block()

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Find the extent of rows ``low:high``."""
        return self.add(_NONE, self.reader.for_rows(low, high).blocks_of(low, high))

    def add(self, counts: dict[str, Any], blocks: Iterable[Block]) -> dict[str, Any]:
        """Return counts with those of blocks added."""
        for block in blocks:
            for attempts in self.attempts(block):
                counts = _added(counts, attempts)
            report(block.low + len(block.values), self.scores.shape[0])
        return counts


def _added(counts: dict[str, Any], attempts: ImpostorBlock) -> dict[str, Any]:
    """Return counts with those of some attempts added; infinities need not be counted twice."""
    negative = positive = 0
    if not (counts["negative"] and counts["positive"]):
        counter = CellCounter()
        counter.add(*attempts)
        negative = min(counter.cells.negative_infinite, 1)
        positive = min(counter.cells.positive_infinite, 1)
    extent = Extent(*finite_range(*attempts))
    return merged(counts, {"extent": extent, "negative": negative, "positive": positive})
