"""Counts of blocks of rows as they are sent and kept, and their exact sums in any order.

Counts are a tree of dictionaries. Integers and arrays of integers add; truth values hold together
if both do; arrays of :class:`ConcatenatedRows` follow each other in the order of the rows; anything
else merges by its own `merge`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.attempts.cells import CELLS
from bioeval.attempts.counts import CellCounts
from bioeval.base.errors import DataError
from bioeval.kernels import count as kernel
from bioeval.kernels.argument_groups import RankFacts

#: A tree of counts.
Counts = Any


@dataclass(frozen=True, eq=False)
class ConcatenatedRows:
    """Arrays of blocks of rows, in the order of the rows."""

    arrays: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, *arrays: np.ndarray) -> ConcatenatedRows:
        """Return concatenated arrays."""
        return cls(arrays)

    def merge(self, other: ConcatenatedRows) -> ConcatenatedRows:
        """Return these arrays followed by those of later rows."""
        return ConcatenatedRows((*self.arrays, *other.arrays))

    def array(self) -> np.ndarray:
        """Return the arrays as one."""
        return self.arrays[0] if len(self.arrays) == 1 else np.concatenate(self.arrays)


@dataclass(frozen=True)
class Extent:
    """The smallest and the largest finite score; (inf, -inf) without any."""

    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: np.ndarray, mate_start: np.ndarray, mate_stop: np.ndarray) -> Extent:
        """Return the extent of a block of rows, without those of each row's own subject."""
        if not values.size:
            return cls()
        lows, highs = np.empty(len(values)), np.empty(len(values))
        kernel.finite_range(values, mate_start, mate_stop, lows, highs)
        return cls(float(lows.min()), float(highs.max()))

    def merge(self, other: Extent) -> Extent:
        """Return the extent of both."""
        return Extent(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, eq=False)
class NarrowCells:
    """Counts in cells that may be narrower, and more, than those of a tally."""

    cells: CellCounts = field(default_factory=CellCounts)
    most: int = CELLS

    def merge(self, other: NarrowCells) -> NarrowCells:
        """Return the counts of both."""
        most = max(self.most, other.most)
        return NarrowCells(self.cells.merge(other.cells, most=most), most)


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Scores that second passes over blocks of rows have kept, in their common windows."""

    lows: np.ndarray
    highs: np.ndarray
    scores: ConcatenatedRows = field(default_factory=ConcatenatedRows)

    @classmethod
    def of(cls, windows: Sequence[tuple[float, float]], scores: Sequence[np.ndarray]) -> KeptRows:
        """Return the scores that one pass has kept."""
        lows, highs = np.array(windows, dtype=np.float64).reshape(-1, 2).T
        return cls(lows, highs, ConcatenatedRows(tuple(scores)))

    @property
    def windows(self) -> list[tuple[float, float]]:
        """The windows of the scores kept: above the first limit, at most the second."""
        return list(zip(self.lows.tolist(), self.highs.tolist(), strict=True))

    def merge(self, other: KeptRows) -> KeptRows:
        """Return the scores that both have kept."""
        lows = np.maximum(self.lows[:, None], other.lows).reshape(-1)
        highs = np.minimum(self.highs[:, None], other.highs).reshape(-1)
        there = lows < highs
        return KeptRows(lows[there], highs[there], self.scores.merge(other.scores))


def merged(first: Counts, second: Counts) -> Counts:
    """Return the counts of two consecutive blocks of rows."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {name: merged(first[name], second[name]) for name in first}
    if isinstance(first, bool) and isinstance(second, bool):
        return first and second
    if type(first) is int and type(second) is int:
        return first + second
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.dtype.kind not in "iu" or first.shape != second.shape:
            raise DataError("counts of blocks differ in shape, or are not whole numbers")
        return first + second
    if type(first) is type(second) and hasattr(first, "merge"):
        return first.merge(second)
    raise DataError(f"a {type(first).__name__} and a {type(second).__name__} do not add up")


def empty_facts(probes: int) -> RankFacts:
    """Return arrays of zeros for the facts of some probes."""
    floats = ("mate", "other")
    return RankFacts(
        *(np.zeros(probes, float if x in floats else np.int64) for x in RankFacts._fields)
    )


def facts_of_rows(facts: RankFacts, rows: slice) -> RankFacts:
    """Return views of the facts of some rows."""
    return RankFacts(*(values[rows] for values in facts))
