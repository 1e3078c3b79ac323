"""Counters of impostor scores: in cells, between given thresholds, and in cells with thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np

from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counts import CellCounts, ThresholdCounts
from bioeval.attempts.parts import Extent, merged
from bioeval.attempts.threshold_search import distinct
from bioeval.attempts.thresholds import grid_over
from bioeval.kernels import count as kernel
from bioeval.kernels.argument_groups import CellTables
from bioeval.scores.blocks import Block, BlockReader


class ImpostorBlock(NamedTuple):
    """Impostor scores: a block of rows, and where each row's own subject starts and stops."""

    values: np.ndarray
    mate_start: np.ndarray
    mate_stop: np.ndarray

    @classmethod
    def of_listed(cls, scores: np.ndarray) -> ImpostorBlock:
        """Return scores as one row without genuine ones."""
        none = np.zeros(1, dtype=np.int64)
        return cls(scores[None], none, none)

    def cells(self) -> CellCounts:
        """Count the finite and infinite scores into cells."""
        counter = CellCounter()
        counter.add(self)
        return counter.cells


#: The smallest and the largest finite score, and whether -inf and +inf occur.
ExtentWithInfinities = tuple[float, float, bool, bool]


#: The attempts of a block.
AttemptsOf = Callable[[Block], Iterable[ImpostorBlock]]


def grid_over_attempts(
    reader: BlockReader, attempts: AttemptsOf, number: int | None, count: int | None = None
) -> np.ndarray:
    """Return a given number of thresholds over the attempts of all blocks, or about `count`."""
    extent = extent_of_counts(_counts(attempts, reader))
    return grid_over(*extent, number=number, count=count)


def extent_among(attempts: Iterable[ImpostorBlock]) -> ExtentWithInfinities:
    """Return the extent of some attempts."""
    counts = _NONE
    for one in attempts:
        counts = _added(counts, one)
    return extent_of_counts(counts)


def extent_of_counts(counts: dict[str, Any]) -> ExtentWithInfinities:
    """Return the extent as it was counted."""
    extent = counts["extent"]
    return extent.low, extent.high, counts["negative"] > 0, counts["positive"] > 0


_NONE: dict[str, Any] = {"extent": Extent(), "negative": 0, "positive": 0}


def _counts(attempts: AttemptsOf, blocks: Iterable[Block]) -> dict[str, Any]:
    """Return the extent of the attempts of some blocks."""
    counts = _NONE
    for block in blocks:
        for one in attempts(block):
            counts = _added(counts, one)
    return counts


def _added(counts: dict[str, Any], attempts: ImpostorBlock) -> dict[str, Any]:
    """Return the sum of counts and those of some attempts; infinities may be in one alone."""
    negative = positive = 0
    if not (counts["negative"] and counts["positive"]):
        cells = attempts.cells()
        negative = min(cells.negative_infinite, 1)
        positive = min(cells.positive_infinite, 1)
    extent = Extent.of(attempts.values, attempts.mate_start, attempts.mate_stop)
    return merged(counts, {"extent": extent, "negative": negative, "positive": positive})


# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20


def impostor_scores(block: ImpostorBlock) -> np.ndarray:
    """Return the impostor scores of a small block, without NaN."""
    values, start, stop = block
    column = np.arange(values.shape[1])
    impostor = (column < start[:, None]) | (column >= stop[:, None])
    return values[impostor & ~np.isnan(values)]


class CellCounter:
    """Counts scores into cells that widen as the range of the scores is seen."""

    def __init__(self) -> None:
        self.cells = CellCounts()

    def add(self, block: ImpostorBlock) -> None:
        """Count the finite and infinite scores of a block, without the rows' own subjects."""
        extent = Extent.of(block.values, block.mate_start, block.mate_stop)
        low, high = extent.low, extent.high
        grid = CellGrid(0, 0, 0)
        if low <= high:
            grid = CellGrid.covering(low, high)
        infinite, tables = _tables(2), _tables(grid.count)
        kernel.count_cells(
            block.values,
            block.mate_start,
            block.mate_stop,
            2.0**grid.exponent,
            2.0**-grid.exponent,
            grid.first,
            tables,
            infinite,
        )
        counts, (negative, positive) = tables.sum(axis=0), infinite.sum(axis=0)
        self.include(CellCounts(grid.exponent, grid.first, counts, int(negative), int(positive)))

    def include(self, counted: CellCounts) -> None:
        """Add counts made elsewhere."""
        self.cells = self.cells.merge(counted)


class ThresholdCounter:
    """Counts scores between given thresholds (internal, increasing)."""

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds
        self.counts = np.zeros(len(thresholds) + 1, dtype=np.int64)
        self.guide = guide_to(thresholds)

    def add(self, block: ImpostorBlock) -> None:
        """Count the scores of a block, without the rows' own subjects."""
        tables = _tables(len(self.counts))
        kernel.count_thresholds(*block, self.thresholds, *self.guide, tables)
        self.counts += tables.sum(axis=0)

    def by_row(
        self, values: np.ndarray, mate_start: np.ndarray, mate_stop: np.ndarray
    ) -> np.ndarray:
        """Return the counts of each row of a block, int64 of shape (b, t + 1)."""
        tables = np.zeros((len(values), len(self.counts)), dtype=np.int64)
        kernel.count_thresholds(values, mate_start, mate_stop, self.thresholds, *self.guide, tables)
        return tables

    def ranges(self, blocks: Iterable[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest score between thresholds, over blocks of rows."""
        shape = (numba.get_num_threads(), len(self.counts))
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for block in blocks:
            kernel.ranges_between(*block, self.thresholds, *self.guide, low, high)
        return low.min(axis=0), high.max(axis=0)

    def result(self) -> ThresholdCounts:
        """Return the counts."""
        return ThresholdCounts(self.thresholds, self.counts)


def gather(
    values: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    probe_position: np.ndarray,
    rows: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores at ``start:stop`` of some rows or all, with row numbers and positions."""
    if rows is None:
        rows = np.arange(len(values))
    size = int((stop - start).sum())
    value = np.empty(size, values.dtype)
    index, position = np.empty((2, size), dtype=np.int64)
    filled = kernel.gather(values, rows, start, stop, probe_position, value, index, position)
    return value[:filled], index[:filled], position[:filled]


def gather_claims(
    block: Block, claims: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the claims of the rows of a block, and the claims' numbers.

    Claim ``c`` is made by the probe ``claims[0][c]`` for the group ``claims[1][c]``; each template
    of the group makes one attempt.
    """
    probes, groups = claims
    low, high = np.searchsorted(probes, [block.low, block.low + len(block.values)])
    chosen = groups[low:high]
    start, stop = block.starts[chosen], block.starts[chosen + 1]
    rows = probes[low:high] - block.low
    value, claim, _ = gather(block.values, start, stop, block.probe_position, rows)
    return value, claim + low


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see ``count_thresholds``."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(places - 1) / (finite[-1] - base))
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))


def _tables(width: int) -> np.ndarray:
    """Return empty tables, one for each thread."""
    return np.zeros((numba.get_num_threads(), width), dtype=np.int64)


# Cells are made narrower by at most this many bits, until so few scores are in cells with marks.
FINER, MARKED_SHARE = 5, 0.09


@dataclass(frozen=True)
class HistogramWithThresholds:
    """Cells with marks (thresholds) in some of them."""

    grid: CellGrid  # the cells that are counted for
    narrow: CellGrid  # the cells in which scores are found: the same, or narrower ones
    marks: np.ndarray  # increasing, of the dtype of the scores
    places: np.ndarray  # int64: the narrow cell of each mark
    cells: np.ndarray  # int64: the narrow cells that hold marks, increasing

    @classmethod
    def at(
        cls, counted: CellCounts, grid: CellGrid, marks: np.ndarray, bits: int = 0
    ) -> HistogramWithThresholds:
        """Mark cells that are exact in the dtype of the marks, as narrow as needed.

        `counted` says about where the scores are; the cells are narrower by `bits` anyway.
        """
        narrow, places = grid, _cells_of_marks(grid, marks)
        while (done := grid.exponent - narrow.exponent) < max(FINER, bits):
            if done >= bits and _marked_share(counted, narrow, places) <= MARKED_SHARE:
                break
            finer = narrow.narrower(1)
            if not finer.exact_in(marks.dtype):
                break
            narrow, places = finer, _cells_of_marks(finer, marks)
        return cls(grid, narrow, marks, places, distinct(places))

    @cached_property
    def _ends(self) -> np.ndarray:
        """Cumulative number of marks up to the end of each cell."""
        return np.cumsum(np.bincount(self.places, minlength=self.narrow.count))[self.cells]

    def tables(self, chunks: int) -> CellTables:
        """Return empty tables for the kernel."""
        dtype = self.marks.dtype
        ends = self._ends
        cells = np.zeros((chunks, self.narrow.count), dtype=np.int32)
        slots = np.concatenate([[0], ends[:-1]])[: len(ends)] + np.arange(len(self.cells))
        cells[:, self.cells] = ~slots
        marks = np.zeros((chunks, len(self.marks) + len(ends), 2), dtype=dtype)
        marks[..., 0] = np.insert(self.marks, ends, np.inf)
        return CellTables(
            self.narrow.window(dtype), cells, marks=marks, at_most=marks.view(f"i{dtype.itemsize}")
        )

    def counted(self, tables: CellTables) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of the narrow cells and of scores up to each mark, over all chunks."""
        cells = tables.cells.sum(axis=0, dtype=np.int64)
        within = np.cumsum(tables.at_most[..., 1].sum(axis=0, dtype=np.int64))
        if len(self.cells):
            guards = self._ends + np.arange(len(self.cells))
            cells[self.cells] = 0
            below = np.cumsum(cells)
            cells[self.cells] = np.diff(within[guards], prepend=0)
            within = np.delete(within, guards) + below[self.places]
        return cells, within


def _cells_of_marks(grid: CellGrid, marks: np.ndarray) -> np.ndarray:
    """Return the cell of each mark; marks beyond the cells go to the outermost ones."""
    places = grid.places_of(marks.astype(np.float64))
    return np.clip(places, 0, grid.count - 1).astype(np.int64)


def _marked_share(counted: CellCounts, grid: CellGrid, places: np.ndarray) -> float:
    """Return about which proportion of the scores is in marked cells, if evenly spread."""
    if not len(places) or not len(counted.counts):
        return 0.0
    marked = distinct(places)
    bits = counted.exponent - grid.exponent
    cell = (-((-(marked + grid.first)) >> bits)) - counted.first
    inside = cell[(cell >= 0) & (cell < len(counted.counts))]
    return float(counted.counts[inside].sum() / (counted.counts.sum() << bits))
