"""The smallest and the largest score of all attempts, found in a sweep of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.block_work import counts_of
from bioeval.tallies.counters import CellCounter, ImpostorBlock, finite_range
from bioeval.tallies.parts import Extent, merged

#: The smallest and the largest finite score, and whether -inf and +inf occur.
Found = tuple[float, float, bool, bool]


def extent_of(reader: BlockReader, attempts: Callable[[Block], Iterable[ImpostorBlock]]) -> Found:
    """Return the extent of the attempts of all blocks of a reader."""
    return found(counts_of("extent", reader, partial(_counts, attempts)))


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


def _counts(
    attempts: Callable[[Block], Iterable[ImpostorBlock]], blocks: Iterable[Block]
) -> dict[str, Any]:
    """Return the extent of the attempts of some blocks."""
    counts = _NONE
    for block in blocks:
        for one in attempts(block):
            counts = _added(counts, one)
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
