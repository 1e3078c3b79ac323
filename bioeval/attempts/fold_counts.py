"""Verification in folds: every pair is counted by the folds of its two templates.

With a table over (fold of probe, fold of gallery template) the test part of fold ``k`` is the
entry ``(k, k)``, and its training part the sum of all entries with neither side in ``k``; pairs
across the two are used by neither. So one pass over the scores counts every fold, and a second
one collects the scores of the few bins in which thresholds fall.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numba
import numpy as np

from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counters import gather
from bioeval.attempts.parts import ConcatenatedRows, Extent
from bioeval.base.progress import report_rows
from bioeval.kernels import folds as kernel
from bioeval.kernels.folds import FoldRows
from bioeval.scores.arrays import writable_alias
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores

# Scores in one call of the kernels, where they are read from memory as they are.
VALUES_IN_MEMORY = 1 << 24

# Fused scores that are kept for the next pass, at most.
KEPT_VALUES = 1 << 22


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
        self.kept: list[tuple[slice, FoldRows]] = []

    def of_block(self, block: Block) -> FoldRows:
        """Return the rows of a block."""
        if not self.multi:
            return FoldRows(block.values, block.mate_start, block.mate_stop, block.probe_position)
        no_self = np.full(len(block.values), -1, dtype=np.int64)
        if self.fusion == "min":
            return FoldRows(*block.nearest(), no_self)
        fused = block.fused(self.fusion)
        return FoldRows(fused.values, fused.mate_start, fused.mate_stop, no_self)

    def read(self) -> Iterator[tuple[slice, FoldRows]]:
        """Yield all rows in blocks, with their places in the scores."""
        if self.kept:
            row_blocks: Iterable[tuple[slice, FoldRows]] = self.kept
        elif self.from_memory:
            row_blocks = self._from_memory()
        else:
            row_blocks = map(self._placed, self.reader)
        kept = []
        for rows, block in row_blocks:
            yield rows, block
            if self.multi and self.scores.shape[0] * block.values.shape[1] <= KEPT_VALUES:
                kept.append((rows, block))
            report_rows(rows.stop, self.scores.shape[0])
        self.kept = kept

    def _placed(self, block: Block) -> tuple[slice, FoldRows]:
        return slice(block.low, block.low + len(block.values)), self.of_block(block)

    def _from_memory(self) -> Iterator[tuple[slice, FoldRows]]:
        m, n = self.scores.shape
        step = max(1, VALUES_IN_MEMORY // n)
        for low in range(0, m, step):
            rows = slice(low, min(low + step, m))
            yield rows, self._in_memory(rows)

    def _in_memory(self, rows: slice | np.ndarray) -> FoldRows:
        gallery = self.reader.gallery
        return FoldRows(
            writable_alias(self.scores._base[rows]),
            gallery.mate_start[rows],
            gallery.mate_stop[rows],
            gallery.probe_position[rows],
        )

    def sample(self, number: int) -> list[FoldRows]:
        """Return about `number` rows from all over the scores, as blocks of rows."""
        m = self.scores.shape[0]
        if self.scores._row_chunk > 1:  # rows that are stored together are read together
            return [self.of_block(self.reader.block(0, min(m, number)))]
        rows = np.unique(np.linspace(0, m - 1, min(m, number)).astype(int))
        if self.from_memory:
            return [self._in_memory(rows)]
        return [self.of_block(self.reader.block(i, i + 1)) for i in rows.tolist()]


def _is_plain(scores: Scores) -> bool:
    """Whether the kernels can read the scores from memory directly."""
    base = scores._base
    whole = not scores._selects_columns and not scores._selects_rows
    return (
        whole
        and isinstance(base, np.ndarray)
        and base.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        and scores.kind == "distance"
        and not scores.exclude
        and not scores._has_mask
        and base.dtype.isnative
        and bool(base.flags.c_contiguous and base.flags.aligned and base.flags.writeable)
    )


# Entries of the tables by pair of folds, above which each side is counted by itself.
PAIR_ENTRIES = 1 << 22

# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30


@dataclass(frozen=True)
class Subset:
    """The part of a fold: both templates are inside it (test), or neither is (training)."""

    fold: int
    inside: bool = True


class Table(NamedTuple):
    """Which folds a table of counts tells apart."""

    by_probe: bool = True
    by_gallery: bool = True
    within: bool = False  # whether pairs across folds are left out

    def shape(self, folds: int, width: int) -> tuple[int, int, int]:
        """Return the numbers of rows, columns and cells of the table of so many folds."""
        return folds if self.by_probe else 1, folds if self.by_gallery else 1, width


@dataclass
class DivisionIntoFolds:
    """One division of the templates into folds, numbered from 0."""

    #: int64 (m,) and (n,): the fold of each row, and of each position of a row.
    probe: np.ndarray
    gallery: np.ndarray
    #: int64 (2, folds, bins): impostor scores in each bin: with neither template in the fold, and
    #: with both.
    counts: np.ndarray = field(default_factory=lambda: np.empty(0))
    #: int64 (g,): the folds of both templates of each genuine score, as :meth:`pairs_of` gives
    #: them.
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
        first, kind = tables[0][..., :-1], tables[0].dtype
        if len(tables) == 1:
            by_probe, by_gallery = first.sum(axis=1, dtype=kind), first.sum(axis=0, dtype=kind)
            within = np.stack([first[k, k] for k in range(len(first))])
        else:
            by_probe, by_gallery, within = first[:, 0], tables[1][0, :, :-1], tables[2][:, 0, :-1]
        total = by_probe.sum(axis=0, dtype=np.int64)
        return np.stack([total - by_probe - by_gallery + within, within])

    def tables(self, grid: CellGrid) -> list[Table]:
        """Return a table by pair of folds; where too big, by each side and within folds."""
        if self.folds**2 * (grid.count + 1) <= PAIR_ENTRIES:
            return [Table()]
        return [
            Table(by_gallery=False),
            Table(by_probe=False),
            Table(by_gallery=False, within=True),
        ]


class Groups(DivisionIntoFolds):
    """Folds whose pairs are all counted: `counts` has the shape (folds, folds, bins)."""

    def parts_of(self, tables: list[np.ndarray]) -> np.ndarray:
        """Return the counts of each pair of folds."""
        return tables[0][..., :-1].astype(np.int64)

    def tables(self, grid: CellGrid) -> list[Table]:
        """Return a table by pair of folds."""
        return [Table()]


class FoldCounts:
    """Counts impostor scores by cell, and by the folds of both sides or of one.

    The outermost cells of the grid are open; one cell more is for failed comparisons.
    """

    def __init__(self, folds: DivisionIntoFolds, grid: CellGrid, table: Table):
        """Lay out the table: a row and a column for each fold, or one for all."""
        self.folds, self.grid, self.within = folds, grid, table.within
        width = grid.count + 1
        self.row, offset = np.zeros_like(folds.probe), np.zeros_like(folds.gallery)
        if table.by_probe:
            self.row = folds.probe
        if table.by_gallery:
            offset = folds.gallery * width
        self.offset = offset.astype(np.int32)
        self.shape = table.shape(folds.folds, width)
        rows, columns, _ = self.shape
        size = (numba.get_num_threads(), rows, columns * width)
        self.tables = np.zeros(size, dtype=np.int32)
        self.counts: np.ndarray | int = 0
        self.added = 0

    def add(self, rows: slice, block: FoldRows) -> None:
        """Count some rows."""
        values = block.values
        if self.added + values.size > FLUSH:
            self.counts = self.counts + self._waiting().astype(np.int64)
            self.tables[:] = 0
            self.added = 0
        if self.within:
            same = self.folds.probe[rows, None] == self.folds.gallery
            block = block._replace(values=np.where(same, values, values.dtype.type(np.nan)))
        bins = np.empty((len(self.tables), values.shape[1]), dtype=np.int32)
        kernel.count_by_fold(
            block,
            self.row[rows],
            self.offset,
            self.grid.window(values.dtype),
            np.int32(self.grid.count),
            bins,
            self.tables,
        )
        self.added += values.size

    def _waiting(self) -> np.ndarray:
        if len(self.tables) == 1:
            return self.tables[0]
        return self.tables.sum(axis=0, dtype=np.int32)

    def result(self) -> np.ndarray:
        """Return the counts, shape (folds or 1, folds or 1, cells + 1), failed ones last."""
        return (self.counts + self._waiting()).reshape(self.shape)


# Collected scores beyond which equal ones are joined as they come.
COLLECT = 1 << 22

# Scores that a block collects, up to which they are sent as they are.
FEW = 1 << 12


class PlacedScores(NamedTuple):
    """Scores, their rows and their positions."""

    values: np.ndarray
    rows: np.ndarray
    positions: np.ndarray

    def those(self, chosen: np.ndarray) -> Self:
        """Return some of the scores."""
        return type(self)(*(x[chosen] for x in self))


def joined_scores(parts: Sequence[PlacedScores], dtype: np.dtype) -> PlacedScores:
    """Return scores of a dtype one after the other."""
    none = np.empty(0, dtype), np.empty(0, np.int32), np.empty(0, np.int32)
    return PlacedScores(*map(np.concatenate, zip(none, *parts, strict=True)))


class Weighted(NamedTuple):
    """Scores, the number of the pair of folds of each, and how often it occurs."""

    values: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray


RowBlocks = Iterable[tuple[slice, FoldRows]]


class RowWindows(NamedTuple):
    """Windows of scores; the windows of fold ``f`` are ``first[f]:first[f + 1]``."""

    first: np.ndarray
    above: np.ndarray
    upto: np.ndarray
    scores: int  # in them, at most


class CollectedScores:
    """Scores collected for some partitions; where they are many, equal ones are joined.

    Those of a partition are in increasing order; equal ones of the same pair of folds may be
    joined.
    """

    def __init__(self, partitions: Sequence[DivisionIntoFolds], dtype: np.dtype):
        self.partitions, self.dtype = partitions, dtype
        self.kept: list[PlacedScores] = []
        self.joined: list[list[Weighted]] = [[] for _ in partitions]
        self._waiting = 0

    def add(self, scores: PlacedScores) -> None:
        """Take in some scores."""
        self.kept.append(scores)
        self._waiting += len(scores.values)
        if self._waiting > COLLECT:
            for parts, coded in zip(self.joined, self._coded(), strict=True):
                parts[:] = [_joined([*parts, coded])]
            self.kept, self._waiting = [], 0

    def include(self, other: Self) -> None:
        """Take in the scores that others have collected."""
        self.kept += other.kept
        for parts, more in zip(self.joined, other.joined, strict=True):
            parts += more

    def each(self) -> Iterator[Weighted]:
        """Yield the scores for each partition."""
        for parts, coded in zip(self.joined, self._coded(), strict=True):
            yield _joined([*parts, coded]) if parts else coded

    def _coded(self) -> Iterator[Weighted]:
        """Yield the scores as they were found for each partition, in increasing order."""
        values, row, position = joined_scores(self.kept, self.dtype)
        order = np.argsort(values)
        values, row, position = values[order].astype(np.float64), row[order], position[order]
        for one in self.partitions:
            weights = np.ones(len(values), dtype=np.int64)
            yield Weighted(values, one.pairs_of(row, position), weights)


class FoldPass:
    """A pass over the rows for some partitions."""

    def __init__(self, rows: FoldRowReader, partitions: Sequence[DivisionIntoFolds]):
        self.rows, self.reader, self.scores = rows, rows.reader, rows.scores
        self.partitions = [partition.bare() for partition in partitions]

    def whole(self) -> dict[str, Any]:
        """Return the counts of all rows."""
        return self.over(self.rows.read())

    def over(self, row_blocks: RowBlocks) -> dict[str, Any]:
        """Return the counts of some rows."""
        raise NotImplementedError


class CountPass(FoldPass):
    """Counts the impostor scores of each partition by cell, and gathers the genuine ones."""

    def __init__(
        self,
        rows: FoldRowReader,
        partitions: Sequence[DivisionIntoFolds],
        grid: CellGrid,
        *,
        genuine: bool = True,
    ):
        """Take the rows and the partitions; `genuine` scores are gathered if wanted."""
        super().__init__(rows, partitions)
        self.grid, self.genuine = grid, genuine

    def over(self, row_blocks: RowBlocks) -> dict[str, Any]:
        """Return the counts of some rows: by partition, in all, and of failed comparisons."""
        tables = [
            [FoldCounts(one, self.grid, table) for table in one.tables(self.grid)]
            for one in self.partitions
        ]
        gathered = []
        for rows, block in row_blocks:
            for table in itertools.chain(*tables):
                table.add(rows, block)
            if self.genuine:
                value, row, position = gather(*block)
                gathered.append(PlacedScores(value, row + rows.start, position))
        results = []
        for some in tables:
            results.append([table.result() for table in some])
        every = results[0][0].sum(axis=(0, 1), dtype=np.int64)
        return {
            "counts": {str(i): x.parts_of(results[i]) for i, x in enumerate(self.partitions)},
            "total": every[:-1],
            "failed": int(every[-1]),
            "genuine": as_tree(gathered),
        }


def extent_of(block: FoldRows) -> Extent:
    """Return the extent of the impostor scores of some rows."""
    return Extent.of(block.values, block.mate_start, block.mate_stop)


class RangePass(FoldPass):
    """Finds the smallest and the largest finite impostor score."""

    def over(self, row_blocks: RowBlocks) -> dict[str, Any]:
        """Return the extent of some rows."""
        extent = Extent()
        for _, block in row_blocks:
            extent = extent.merge(extent_of(block))
        return {"extent": extent}


class CollectPass(FoldPass):
    """Collects the impostor scores in some windows."""

    def __init__(
        self,
        rows: FoldRowReader,
        partitions: Sequence[DivisionIntoFolds],
        windows: RowWindows,
        dtype: np.dtype,
    ):
        """Take the windows."""
        super().__init__(rows, partitions)
        self.windows, self.dtype = windows, dtype

    def collected(self) -> Iterator[Weighted]:
        """Yield the scores of all rows for each partition."""
        scores = CollectedScores(self.partitions, self.dtype)
        for rows, block in self.rows.read():
            scores.add(self._inside(rows, block))
        return scores.each()

    def _inside(self, rows: slice, block: FoldRows) -> PlacedScores:
        """Return the impostor scores of some rows in windows, with rows and positions."""
        windows, values, chunks = self.windows, block.values, numba.get_num_threads()
        if not len(windows.upto):
            return PlacedScores(np.empty(0, values.dtype), *np.empty((2, 0), dtype=np.int32))
        of_chunk = -(-len(values) // chunks) * values.shape[1]
        capacity = min(of_chunk, windows.scores)
        out = np.empty((chunks, capacity), dtype=values.dtype)
        place = np.empty((chunks, capacity, 2), dtype=np.int32)
        filled = np.empty(chunks, dtype=np.int64)
        fold = self.partitions[0].probe[rows]
        if len(windows.first) <= 2:  # the same ones for all folds
            fold = np.zeros_like(fold)
        kernel.collect_scores(
            block, fold, windows.first, windows.above, windows.upto, out, place, filled
        )
        kept = np.arange(capacity) < filled[:, None]
        row, position = place[kept].T
        return PlacedScores(out[kept], row + np.int32(rows.start), position)


def _joined(parts: Sequence[Weighted]) -> Weighted:
    """Join equal scores of the same pair of folds."""
    values, pairs, weights = map(np.concatenate, zip(*parts, strict=True))
    if not len(values):
        return Weighted(values, pairs, weights)
    order = np.lexsort((pairs, values))
    values, pairs, weights = values[order], pairs[order], weights[order]
    new = np.append(True, (values[1:] != values[:-1]) | (pairs[1:] != pairs[:-1]))
    starts = np.flatnonzero(new)
    return Weighted(values[starts], pairs[starts], np.add.reduceat(weights, starts))


def as_tree(parts: Sequence[PlacedScores | Weighted]) -> dict[str, ConcatenatedRows]:
    """Return triples of arrays, concatenated, as counts of a block of rows."""
    if not parts:
        return {str(i): ConcatenatedRows() for i in range(3)}
    columns = map(np.concatenate, zip(*parts, strict=True))
    return {str(i): ConcatenatedRows.of(column) for i, column in enumerate(columns)}


def of_tree(tree: dict[str, ConcatenatedRows]) -> list[Any]:
    """Return the triples of arrays of all blocks of rows."""
    return list(zip(*(tree[str(i)].arrays for i in range(3)), strict=True))
