"""Counts of all folds in one sweep, and the scores of a few bins in another."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numba
import numpy as np

from bioeval.kernels import folds as kernel
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.by_fold.rows import RowReader, Rows, Tick
from bioeval.tallies.cells import CellGrid, cell_exponent, cell_of, rounded_down
from bioeval.tallies.counters import finite_range, gather
from bioeval.tallies.threshold_search import Attempts, runs_of

# Cells of one fold: as many as keep the tables of a row in the processor's cache.
ROW_ENTRIES, MOST_CELLS, LEAST_CELLS = 1 << 16, 1 << 11, 1 << 8

# Entries of the tables by pair of folds, above which each side is counted by itself.
PAIR_ENTRIES = 1 << 22

# Rows looked at beforehand to place the cells.
SAMPLE_ROWS = 16

# Scores to collect, and as a proportion of all, beyond which everything is counted once more, in
# finer cells where the points lie: counting is cheap, sorting is not.
REFINE, REFINE_SHARE = 1 << 15, 2.0**-7

# Collected scores beyond which equal ones are joined as they come.
COLLECT = 1 << 22

# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30


class RowWindows(NamedTuple):
    """Windows of scores: those of fold ``f`` are ``first[f]:first[f + 1]``."""

    first: np.ndarray
    above: np.ndarray
    upto: np.ndarray
    scores: int  # in them, at most


# Says which scores are kept, from their values, rows and positions.
Keep = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

# Scores, the number of the pair of folds of each, and how often it occurs.
Weighted = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Part:
    """The part of a fold: both templates are inside it (test), or neither is (training)."""

    fold: int
    inside: bool = True


@dataclass
class Partition:
    """One division of the templates into folds, which count from 0.

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

    @cached_property
    def folds(self) -> int:
        """Number of folds."""
        return int(max(self.probe.max(), self.gallery.max())) + 1

    def pairs_of(self, row: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Return the folds of both templates of some scores, as one number."""
        return self.probe[row] * self.folds + self.gallery[position]

    def has(self, part: Part, pairs: np.ndarray) -> np.ndarray:
        """Return which pairs of folds are of a part."""
        probe, gallery = np.divmod(np.arange(self.folds**2), self.folds)
        if part.inside:
            both = (probe == part.fold) & (gallery == part.fold)
        else:
            both = (probe != part.fold) & (gallery != part.fold)
        return both[pairs]

    def parts_of(self, tables: list[np.ndarray]) -> np.ndarray:
        """Return the `counts` from those of the tables, the bins along the last axis."""
        return _by_part(tables)

    def tables(self, grid: CellGrid) -> list[FoldTable]:
        """Return a table by pair of folds; by each side, and within folds, where it is too big."""
        if self.folds**2 * (grid.count + 1) <= PAIR_ENTRIES:
            return [FoldTable(self, grid)]
        return [
            FoldTable(self, grid, by_gallery=False),
            FoldTable(self, grid, by_probe=False),
            FoldTable(self, grid, by_gallery=False, within=True),
        ]


class Groups(Partition):
    """Folds of which each pair is counted: `counts` has the shape (folds, folds, bins)."""

    def parts_of(self, tables: list[np.ndarray]) -> np.ndarray:
        """Return the counts of each pair of folds."""
        return tables[0][..., :-1].astype(np.int64)

    def tables(self, grid: CellGrid) -> list[FoldTable]:
        """Return a table by pair of folds."""
        return [FoldTable(self, grid)]


class FoldTable:
    """Counts impostor scores by cell, and by the folds of both sides or of one.

    The outermost cells of the grid are open; one cell more is for failed comparisons. With
    `within`, pairs across folds are left out.
    """

    def __init__(
        self,
        folds: Partition,
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

    def add(self, rows: slice, found: Rows) -> None:
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
    """Return the counts with neither side in each fold, and with both, shape (2, folds, cells)."""
    first, kind = tables[0][..., :-1], tables[0].dtype
    if len(tables) == 1:
        by_probe, by_gallery = first.sum(axis=1, dtype=kind), first.sum(axis=0, dtype=kind)
        within = np.stack([first[k, k] for k in range(len(first))])
    else:
        by_probe, by_gallery, within = first[:, 0], tables[1][0, :, :-1], tables[2][:, 0, :-1]
    total = by_probe.sum(axis=0, dtype=np.int64)
    return np.stack([total - by_probe - by_gallery + within, within])


class FoldSweep:
    """Counts the attempts of verification by the folds of probe and gallery template.

    Several partitions share each look at the scores. With ``templates="multi"`` all templates of a
    subject in the gallery must be in one fold.

    Attributes
    ----------
    edges : float64 array, shape (bins,)
        Upper edges of the bins, the last one infinite.
    total : int64 array, shape (bins,)
        All impostor scores in each bin.
    genuine : float64 array
        All genuine scores, increasing.
    """

    def __init__(
        self,
        reader: BlockReader,
        templates: str,
        fusion: str,
        codes: Sequence[tuple[np.ndarray, np.ndarray]],
        partition: type[Partition] = Partition,
    ):
        self.rows = RowReader(reader, templates, fusion)
        gallery = reader.gallery
        self.partitions = []
        for probe, fold in codes:
            fold = fold if gallery.order is None else fold[gallery.order]
            if templates == "multi":
                fold = fold[gallery.starts[:-1]]
            self.partitions.append(partition(probe.astype(np.int64), fold.astype(np.int64)))
        most = max(x.folds for x in self.partitions)
        self.number = max(
            LEAST_CELLS,
            min(MOST_CELLS, ROW_ENTRIES // most, PAIR_ENTRIES // (most**2 * len(codes))),
        )
        self.grid = self._first_grid()
        self.genuine = np.empty(0)
        self.edges = np.append(self.grid.edges[:-1], np.inf)

    def _first_grid(self) -> CellGrid:
        """Place the cells by a sample of the rows, with some room around it."""
        sample = self.rows.sample(SAMPLE_ROWS)
        ranges = [finite_range(*found[:3]) for found in sample]
        self.dtype = sample[0].values.dtype
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return self._grid_for(low, high, 3 * self.number // 4)

    def _grid_for(self, low: float, high: float, number: int) -> CellGrid:
        """Return cells of which `number` cover the range, as far as they are exact.

        The outermost ones are open.
        """
        low, high = (low, high) if low <= high else (0.0, 0.0)
        info = np.finfo(self.dtype)
        exponent = max(cell_exponent(low, high, number), int(info.minexp) + 3)
        most = int(info.maxexp) - 33
        while exponent < most:
            grid = self._around(low, high, exponent)
            if grid.exact_in(self.dtype):
                return grid
            exponent += 1
        return CellGrid(most, -1, 3)

    def _around(self, low: float, high: float, exponent: int) -> CellGrid:
        first, last = cell_of(low, exponent), cell_of(high, exponent)
        margin = max(2, self.number - (last - first + 1))
        return CellGrid(exponent, first - margin // 2 - 1, last - first + 1 + margin)

    # -- counting

    def count(self, tick: Tick | None = None) -> None:
        """Count all pairs, and gather the genuine scores."""
        from_memory = self.rows.from_memory
        found: list[tuple[np.ndarray, ...]] = []
        counted = self._counted(None if from_memory else tick, found)
        genuine, row, position = map(np.concatenate, zip(*found, strict=True))
        if from_memory:
            if counted[0][0][..., -1].any() or len(genuine) < self._expected():
                self.rows.from_memory = False  # the reader knows what failed comparisons are
                self.count(tick)
                return
            if tick is not None:
                tick(self.rows.scores.shape[0])
        order = np.argsort(genuine)
        self.genuine = genuine[order].astype(np.float64)
        for one, tables in zip(self.partitions, counted, strict=True):
            one.pair = one.pairs_of(row[order], position[order])
            one.counts = one.parts_of(tables)
        self.total = counted[0][0][..., :-1].sum(axis=(0, 1), dtype=np.int64)

    def _counted(
        self, tick: Tick | None, genuine: list[tuple[np.ndarray, ...]] | None = None
    ) -> list[list[np.ndarray]]:
        """Return the tables of each partition in the cells of the grid.

        To `genuine` are added the genuine scores, their rows and positions.
        """
        tables = [one.tables(self.grid) for one in self.partitions]
        for rows, found in self.rows.sweep(tick):
            for table in itertools.chain(*tables):
                table.add(rows, found)
            if genuine is not None:
                value, row, position = gather(*found)
                genuine.append((value, row + rows.start, position))
        return [[table.result() for table in some] for some in tables]

    def _expected(self) -> int:
        """Return the number of genuine scores if no comparison has failed."""
        gallery = self.rows.reader.gallery
        return int(
            (gallery.own_stop - gallery.own_start).sum() - (gallery.self_position >= 0).sum()
        )

    def attempts(self, partition: Partition, part: Part) -> Attempts:
        """Return the attempts of a part, as far as they are counted."""
        inside = partition.has(part, partition.pair)
        return Attempts(
            self.genuine[inside], self.edges, partition.counts[int(part.inside), part.fold]
        )

    # -- collecting

    def narrow(self, wanted: np.ndarray) -> bool:
        """Divide the wanted bins where too many scores would be collected; say if that was done."""
        most = max(REFINE, REFINE_SHARE * self.total.sum())
        if not wanted.any() or self.total[wanted].sum() <= most:
            return False
        first, last = np.flatnonzero(wanted)[[0, -1]]
        low, high = (float(self.edges[first - 1]) if first else -np.inf), float(self.edges[last])
        ends = low, high
        if not np.isfinite(ends).all():
            ranges = [finite_range(*found[:3]) for _, found in self.rows.sweep(None)]
            low, high = (
                max(low, min(r[0] for r in ranges)),
                min(high, max(r[1] for r in ranges)),
            )
        narrower = self._grid_for(low, high, self.number)
        if low >= high or narrower.exponent >= self.grid.exponent:
            return False
        self.grid = narrower
        counted = self._counted(None)
        edges = narrower.edges[:-1]
        between = np.flatnonzero((edges > ends[0]) & (edges < ends[1]))
        divided = functools.partial(_divided, bins=slice(first, last + 1), between=between)
        for one, tables in zip(self.partitions, counted, strict=True):
            one.counts = divided(one.counts, one.parts_of(tables))
        total = counted[0][0][..., :-1].sum(axis=(0, 1), dtype=np.int64)
        self.total = divided(self.total, total)
        self.edges = np.concatenate([self.edges[:first], edges[between], self.edges[last:]])
        return True

    def collect(
        self, wanted: np.ndarray, tick: Tick | None = None, keep: Keep | None = None
    ) -> Iterator[Weighted]:
        """Yield the impostor scores in some bins for each partition, in increasing order.

        `wanted` flags the bins, or has a row of flags for each fold of the probe in the first
        partition. Of the scores collected, `keep` says which are kept.
        """
        windows = self._windows(np.atleast_2d(wanted))
        joined: list[list[Weighted]] = [[] for _ in self.partitions]
        kept: list[tuple[np.ndarray, ...]] = []
        waiting = 0
        for rows, found in self.rows.sweep(tick):
            inside = self._inside(rows, found, windows)
            if keep is not None:
                these = keep(*inside)
                inside = tuple(x[these] for x in inside)
            kept.append(inside)
            waiting += len(kept[-1][0])
            if waiting > COLLECT:
                for parts, coded in zip(joined, self._coded(kept), strict=True):
                    parts[:] = [_joined([*parts, coded])]
                kept, waiting = [], 0
        for parts, coded in zip(joined, self._coded(kept), strict=True):
            yield _joined([*parts, coded]) if parts else coded

    def _coded(self, kept: list[tuple[np.ndarray, ...]]) -> Iterator[Weighted]:
        """Yield collected scores in increasing order for each partition, each counted once."""
        none = np.empty(0, self.dtype), np.empty(0, np.int32), np.empty(0, np.int32)
        values, row, position = map(np.concatenate, zip(none, *kept, strict=True))
        order = np.argsort(values)
        values, row, position = values[order].astype(np.float64), row[order], position[order]
        for one in self.partitions:
            yield values, one.pairs_of(row, position), np.ones(len(values), dtype=np.int64)

    def _windows(self, wanted: np.ndarray) -> RowWindows:
        """Return the windows of wanted bins, which has a row for each fold of the probe, or one."""
        ends = [runs_of(flags) for flags in wanted]
        first, last = (np.concatenate(side) for side in zip(*ends, strict=True))
        above = np.where(first > 0, self.edges[first - 1], np.nan)
        return RowWindows(
            np.concatenate([[0], np.cumsum([len(one) for one, _ in ends])]),
            rounded_down(above, self.dtype),
            rounded_down(self.edges[last], self.dtype),
            int(self.total[wanted.any(axis=0)].sum()),
        )

    def _inside(self, rows: slice, found: Rows, windows: RowWindows) -> tuple[np.ndarray, ...]:
        """Return the impostor scores of some rows in windows, their rows and positions."""
        values, chunks = found.values, numba.get_num_threads()
        if not len(windows.upto):
            return np.empty(0, values.dtype), *np.empty((2, 0), dtype=np.int32)
        of_chunk = -(-len(values) // chunks) * values.shape[1]
        room = min(of_chunk, windows.scores)
        out = np.empty((chunks, room), dtype=values.dtype)
        place = np.empty((chunks, room, 2), dtype=np.int32)
        filled = np.empty(chunks, dtype=np.int64)
        fold = self.partitions[0].probe[rows]
        kernel.collect_scores(
            found, fold if len(windows.first) > 2 else np.zeros_like(fold), windows.first,
            windows.above, windows.upto, out, place, filled,
        )  # fmt: skip
        kept = np.arange(room) < filled[:, None]
        row, position = place[kept].T
        return out[kept], row + np.int32(rows.start), position


def _divided(old: np.ndarray, new: np.ndarray, bins: slice, between: np.ndarray) -> np.ndarray:
    """Return counts of bins, some of them divided at the ends of other bins, along the last axis.

    The new counts are of all scores; `between` are the new bins that end inside the old ones.
    """
    before = old[..., : bins.start].sum(axis=-1, keepdims=True)
    inside = old[..., bins].sum(axis=-1, keepdims=True)
    reached = np.cumsum(new, axis=-1)[..., between]
    parts = np.diff(np.concatenate([before, reached, before + inside], axis=-1), axis=-1)
    return np.concatenate([old[..., : bins.start], parts, old[..., bins.stop :]], axis=-1)


def _joined(
    parts: Sequence[Weighted],
) -> Weighted:
    """Join equal scores of the same pair of folds."""
    values, code, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(values):
        return values, code, weights
    order = np.lexsort((code, values))
    values, code, weights = values[order], code[order], weights[order]
    new = np.append(True, (values[1:] != values[:-1]) | (code[1:] != code[:-1]))
    starts = np.flatnonzero(new)
    return values[starts], code[starts], np.add.reduceat(weights, starts)
