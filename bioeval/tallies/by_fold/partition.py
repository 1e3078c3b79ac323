"""Divisions of the templates into folds, and the tables that count their pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numba
import numpy as np

from bioeval.kernels import folds as kernel
from bioeval.kernels.folds import FoldRows
from bioeval.scores.arrays import writable_alias
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tallies.cells import CellGrid

# Scores in one call of the kernels, where they are read from memory as they are.
SWEEP_VALUES = 1 << 24

# Fused scores that are kept for the next sweep, at most.
KEPT_VALUES = 1 << 22

# Called with the number of rows just done.
Tick = Callable[[int], None]


class FoldRowReader:
    """Reads rows of distances to templates, or to subjects at their fused distance.

    While `from_memory` is set, rows are handed on as they are in memory, without looking for failed
    comparisons; set it to False where there turn out to be some.
    """

    def __init__(self, reader: BlockReader, templates: str, fusion: str):
        self.reader, self.scores = reader, reader.scores
        self.multi, self.fusion = templates == "multi", fusion
        self.from_memory = (
            not self.multi and _is_plain(self.scores) and reader.gallery.order is None
        )
        self.looked_at = 0
        self.kept: list[tuple[slice, FoldRows]] = []

    def of_block(self, block: Block) -> FoldRows:
        """Return the rows of a block."""
        if not self.multi:
            return FoldRows(block.values, block.mate_start, block.mate_stop, block.self_position)
        no_self = np.full(len(block.values), -1, dtype=np.int64)
        if self.fusion == "min":
            return FoldRows(*block.nearest(), no_self)
        fused = block.fused(self.fusion)
        return FoldRows(fused.values, fused.mate_start, fused.mate_stop, no_self)

    def sweep(self, tick: Tick | None) -> Iterator[tuple[slice, FoldRows]]:
        """Yield all rows in blocks, with their places in the scores."""
        if self.kept:
            swept: Iterable[tuple[slice, FoldRows]] = self.kept
        elif self.from_memory:
            swept = self._from_memory(0, self.scores.shape[0])
        else:
            swept = map(self._placed, self.reader)
        kept = []
        for rows, found in swept:
            yield rows, found
            if self.multi and self.scores.shape[0] * found.values.shape[1] <= KEPT_VALUES:
                kept.append((rows, found))
            if tick is not None:
                tick(rows.stop - rows.start)
        self.kept = kept

    def for_rows(self, low: int, high: int) -> Self:
        """Return a reader of rows ``low:high`` that has not yet read any."""
        rows = copy(self)
        rows.reader, rows.kept = self.reader.for_rows(low, high), []
        return rows

    def sweep_of(self, low: int, high: int) -> Iterator[tuple[slice, FoldRows]]:
        """Yield rows ``low:high`` in blocks; `low` is the start of a block."""
        if self.from_memory:
            return self._from_memory(low, high)
        return map(self._placed, self.reader.blocks_of(low, high))

    def _placed(self, block: Block) -> tuple[slice, FoldRows]:
        return slice(block.low, block.low + len(block.values)), self.of_block(block)

    def _from_memory(self, first: int, last: int) -> Iterator[tuple[slice, FoldRows]]:
        step = max(1, SWEEP_VALUES // self.scores.shape[1])
        for low in range(first, last, step):
            rows = slice(low, min(low + step, last))
            if low >= self.looked_at:  # for failure codes, once
                self.reader.look(low, self.scores.base[rows])
                self.looked_at = rows.stop
            yield rows, self._in_memory(rows)

    def _in_memory(self, rows: slice | np.ndarray) -> FoldRows:
        gallery = self.reader.gallery
        return FoldRows(
            writable_alias(self.scores.base[rows]), gallery.mate_start[rows],
            gallery.mate_stop[rows], gallery.self_position[rows],
        )  # fmt: skip

    def sample(self, number: int) -> list[FoldRows]:
        """Return about `number` rows from all over the scores, as blocks of rows."""
        m = self.scores.shape[0]
        if self.scores.row_chunk > 1:  # rows that are stored together are read together
            return [self.of_block(self.reader.block(0, min(m, number)))]
        rows = np.unique(np.linspace(0, m - 1, min(m, number)).astype(int))
        if self.from_memory:
            return [self._in_memory(rows)]
        return [self.of_block(self.reader.block(i, i + 1)) for i in rows.tolist()]


def _is_plain(scores: Scores) -> bool:
    """Whether the kernels can read the scores from memory directly."""
    base = scores.base
    whole = not scores.selects_columns and not scores.selects_rows
    return (
        whole
        and isinstance(base, np.ndarray)
        and base.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        and scores.kind == "distance"
        and not scores.exclude
        and not scores.has_mask
        and base.dtype.isnative
        and bool(base.flags.c_contiguous and base.flags.aligned and base.flags.writeable)
    )


# Cells of one fold: as many as keep the tables of a row in the processor's cache.
ROW_ENTRIES, MOST_CELLS, LEAST_CELLS = 1 << 16, 1 << 11, 1 << 8

# Entries of the tables by pair of folds, above which each side is counted by itself.
PAIR_ENTRIES = 1 << 22

# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30


def cells_for(partitions: Sequence[DivisionIntoFolds]) -> int:
    """Return the number of cells of each fold, given the partitions."""
    most = max(x.folds for x in partitions)
    room = PAIR_ENTRIES // (most**2 * len(partitions))
    return max(LEAST_CELLS, min(MOST_CELLS, ROW_ENTRIES // most, room))


@dataclass(frozen=True)
class Subset:
    """The part of a fold: both templates are inside it (test), or neither is (training)."""

    fold: int
    inside: bool = True


@dataclass
class DivisionIntoFolds:
    """One division of the templates into folds, numbered from 0.

    Attributes
    ----------
    probe, gallery : int64 arrays, shape (m,) and (n,)
        The fold of each row, and of each position of a row.
    counts : int64 array, shape (2, folds, bins)
        Impostor scores in each bin: with neither template in the fold, and with both.
    pair : int64 array, shape (g,)
        The folds of both templates of each genuine score, as :meth:`pairs_of` gives them.
    """

    probe: np.ndarray
    gallery: np.ndarray
    counts: np.ndarray = field(default_factory=lambda: np.empty(0))
    pair: np.ndarray = field(default_factory=lambda: np.empty(0))

    def bare(self) -> Self:
        """Return the division without its counts."""
        return type(self)(self.probe, self.gallery)

    @cached_property
    def folds(self) -> int:
        """Number of folds."""
        return int(max(self.probe.max(), self.gallery.max())) + 1

    def pairs_of(self, row: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return the folds of both templates of scores, as one number."""
        return self.probe[row] * self.folds + self.gallery[position]

    def has(self, part: Subset, pairs: np.ndarray) -> np.ndarray:
        """Return which pairs of folds belong to a part."""
        probe, gallery = np.divmod(np.arange(self.folds**2), self.folds)
        if part.inside:
            both = (probe == part.fold) & (gallery == part.fold)
        else:
            both = (probe != part.fold) & (gallery != part.fold)
        return both[pairs]

    def parts_of(self, tables: list[np.ndarray]) -> np.ndarray:
        """Return `counts` of the parts from those of the tables, bins along the last axis."""
        return _by_part(tables)

    def tables(self, grid: CellGrid) -> list[FoldCounts]:
        """Return a table by pair of folds; where too big, by each side and within folds."""
        if self.folds**2 * (grid.count + 1) <= PAIR_ENTRIES:
            return [FoldCounts(self, grid)]
        return [
            FoldCounts(self, grid, by_gallery=False),
            FoldCounts(self, grid, by_probe=False),
            FoldCounts(self, grid, by_gallery=False, within=True),
        ]


class Groups(DivisionIntoFolds):
    """Folds whose pairs are all counted: `counts` has the shape (folds, folds, bins)."""

    def parts_of(self, tables: list[np.ndarray]) -> np.ndarray:
        """Return the counts of each pair of folds."""
        return tables[0][..., :-1].astype(np.int64)

    def tables(self, grid: CellGrid) -> list[FoldCounts]:
        """Return a table by pair of folds."""
        return [FoldCounts(self, grid)]


class FoldCounts:
    """Counts impostor scores by cell, and by the folds of both sides or of one.

    The outermost cells of the grid are open; one cell more is for failed comparisons. With
    `within`, pairs across folds are left out.
    """

    def __init__(
        self,
        folds: DivisionIntoFolds,
        grid: CellGrid,
        *,
        by_probe: bool = True,
        by_gallery: bool = True,
        within: bool = False,
    ):
        self.folds, self.grid, self.within = folds, grid, within
        self.row = folds.probe if by_probe else np.zeros_like(folds.probe)
        width, number = grid.count + 1, folds.folds
        offset = folds.gallery * width if by_gallery else np.zeros_like(folds.gallery)
        self.offset = offset.astype(np.int32)
        self.shape = (number if by_probe else 1, number if by_gallery else 1, width)
        size = (self.shape[0], self.shape[1] * width)
        self.tables = np.zeros((numba.get_num_threads(), *size), dtype=np.int32)
        self.counts: np.ndarray | int = 0
        self.added = 0

    def add(self, rows: slice, found: FoldRows) -> None:
        """Count some rows."""
        values = found.values
        if self.added + values.size > FLUSH:
            self.counts = self.counts + self._waiting().astype(np.int64)
            self.tables[:] = 0
            self.added = 0
        if self.within:
            same = self.folds.probe[rows, None] == self.folds.gallery
            found = found._replace(values=np.where(same, values, values.dtype.type(np.nan)))
        room = np.empty((len(self.tables), values.shape[1]), dtype=np.int32)
        kernel.count_by_fold(
            found, self.row[rows], self.offset, self.grid.window(values.dtype),
            np.int32(self.grid.count), room, self.tables,
        )  # fmt: skip
        self.added += values.size

    def _waiting(self) -> np.ndarray:
        return self.tables[0] if len(self.tables) == 1 else self.tables.sum(axis=0, dtype=np.int32)

    def result(self) -> np.ndarray:
        """Return the counts, shape (folds or 1, folds or 1, cells + 1), failed ones last."""
        return (self.counts + self._waiting()).reshape(self.shape)


def _by_part(tables: list[np.ndarray]) -> np.ndarray:
    """Return the counts with neither side, and with both sides, in each fold: (2, folds, cells)."""
    first, kind = tables[0][..., :-1], tables[0].dtype
    if len(tables) == 1:
        by_probe, by_gallery = first.sum(axis=1, dtype=kind), first.sum(axis=0, dtype=kind)
        within = np.stack([first[k, k] for k in range(len(first))])
    else:
        by_probe, by_gallery, within = first[:, 0], tables[1][0, :, :-1], tables[2][:, 0, :-1]
    total = by_probe.sum(axis=0, dtype=np.int64)
    return np.stack([total - by_probe - by_gallery + within, within])
