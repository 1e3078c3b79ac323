"""Counts of all folds in one sweep, and the scores of a few cells in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np

from bioeval.kernels import folds as kernel
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.by_fold.rows import RowReader, Rows, Tick
from bioeval.tallies.cells import CellGrid, cell_exponent, cell_of
from bioeval.tallies.counters import finite_range, gather
from bioeval.tallies.threshold_search import Attempts

# Cells of one fold: as many as keep the tables of a row in the processor's cache.
ROW_ENTRIES, MOST_CELLS, LEAST_CELLS = 1 << 16, 1 << 12, 1 << 8

# Entries of a table by pair of folds, above which each side is counted by itself.
PAIR_ENTRIES = 1 << 22

# Rows looked at beforehand to place the cells.
SAMPLE_ROWS = 16

# Scores to collect, and as a proportion of all, beyond which everything is counted once more, in
# finer cells where the points lie: counting is cheap, sorting is not.
REFINE, REFINE_SHARE = 1 << 16, 2.0**-9

# Collected scores beyond which equal ones are joined as they come.
COLLECT = 1 << 22

# Scores of one row that are expected in the cells looked into.
ROOM = 64


# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30


@dataclass(frozen=True)
class Part:
    """The part of a fold: both templates are inside it (test), or neither is (training)."""

    fold: int
    inside: bool = True

    def has(self, probe: np.ndarray, gallery: np.ndarray) -> np.ndarray:
        """Return which pairs of folds belong to the part."""
        if self.inside:
            return (probe == self.fold) & (gallery == self.fold)
        return (probe != self.fold) & (gallery != self.fold)


class FoldTable:
    """Counts impostor scores by cell, and by the folds of both sides or of one.

    The outermost cells of the grid are open; one cell more is for failed comparisons. With
    `within`, pairs across folds are left out.
    """

    def __init__(
        self,
        grid: CellGrid,
        row_fold: np.ndarray,
        fold: np.ndarray,
        folds: int,
        *,
        by_probe: bool = True,
        by_gallery: bool = True,
        within: bool = False,
    ):
        self.grid, self.row_fold, self.fold, self.within = grid, row_fold, fold, within
        self.table = row_fold if by_probe else np.zeros_like(row_fold)
        width = grid.count + 1
        self.offset = (fold * width if by_gallery else np.zeros_like(fold)).astype(np.int32)
        self.shape = (folds if by_probe else 1, folds if by_gallery else 1, width)
        size = (self.shape[0], self.shape[1] * width)
        self.tables = np.zeros((numba.get_num_threads(), *size), dtype=np.int32)
        self.counts = np.zeros(size, dtype=np.int64)
        self.waiting = 0

    def add(self, rows: slice, found: Rows) -> None:
        """Count some rows."""
        values, start, stop, _ = found
        if self.within:
            same = self.row_fold[rows, None] == self.fold
            values = np.where(same, values, values.dtype.type(np.nan))
        room = np.empty((len(self.tables), values.shape[1]), dtype=np.int32)
        kernel.count_by_fold(
            values, start, stop, self.table[rows], self.offset, self.grid.window(values.dtype),
            np.int32(self.grid.count), room, self.tables,
        )  # fmt: skip
        self.waiting += values.size
        if self.waiting > FLUSH:
            self._flush()

    def _flush(self) -> None:
        for table in self.tables:  # several times as fast as a sum over all
            self.counts += table
        self.tables[:] = 0
        self.waiting = 0

    def result(self) -> np.ndarray:
        """Return the counts, shape (folds or 1, folds or 1, cells + 1), failed ones last."""
        self._flush()
        return self.counts.reshape(self.shape)


class FoldSweep:
    """Counts the attempts of verification by the folds of probe and gallery template.

    Folds count from 0. With ``templates="multi"`` all templates of a subject in the gallery must be
    in one fold.
    """

    def __init__(
        self,
        reader: BlockReader,
        templates: str,
        fusion: str,
        probe_fold: np.ndarray,
        gallery_fold: np.ndarray,
    ):
        self.rows = RowReader(reader, templates, fusion)
        gallery = reader.gallery
        self.row_fold = probe_fold.astype(np.int64)
        self.fold = (gallery_fold if gallery.order is None else gallery_fold[gallery.order]).astype(
            np.int64
        )
        if templates == "multi":
            self.fold = self.fold[gallery.starts[:-1]]
        self.folds = int(max(self.row_fold.max(), self.fold.max())) + 1
        self.genuine = np.empty(0)
        self.pair = np.empty((0, 2), dtype=np.int64)
        self.number = max(LEAST_CELLS, min(MOST_CELLS, ROW_ENTRIES // self.folds))
        self.grid = self._first_grid()

    # -- cells, of which the outermost ones are open

    @property
    def grid(self) -> CellGrid:
        """The cells."""
        return self._grid

    @grid.setter
    def grid(self, grid: CellGrid) -> None:
        self._grid = grid
        self.edges = np.append(grid.edges[:-1], np.inf)

    def _first_grid(self) -> CellGrid:
        """Place the cells by a sample of the rows, with some room around it."""
        sample = self.rows.sample(SAMPLE_ROWS)
        ranges = [finite_range(*found[:3]) for found in sample]
        self.dtype = sample[0][0].dtype
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return self._grid_for(low, high, 3 * self.number // 4)

    def _grid_for(self, low: float, high: float, number: int) -> CellGrid:
        """Return cells of which `number` cover the range, as far as they are exact."""
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
        """Count all pairs, and gather the genuine scores where that is not yet done."""
        tables = self._tables()
        from_memory = self.rows.from_memory
        genuine, pairs = [], []
        for rows, found in self.rows.sweep(None if from_memory else tick):
            for table in tables:
                table.add(rows, found)
            if not len(self.pair):
                scores, pair = self._gather(rows, found)
                genuine.append(scores)
                pairs.append(pair)
        counted = [table.result() for table in tables]
        if from_memory:
            if counted[0][..., -1].any() or (genuine and self._failed(genuine)):
                self.rows.from_memory = False  # the reader knows what failed comparisons are
                self.count(tick)
                return
            if tick is not None:
                tick(len(self.row_fold))
        if genuine:
            scores, pair = np.concatenate(genuine), np.concatenate(pairs)
            order = np.argsort(scores, kind="stable")
            self.genuine, self.pair = scores[order], pair[order]
        self._add_up([table[..., :-1] for table in counted])

    def _tables(self) -> list[FoldTable]:
        """Return a table by pair of folds; by each side, and within folds, where it is too big."""
        given = (self.grid, self.row_fold, self.fold, self.folds)
        if self.folds**2 * (self.grid.count + 1) <= PAIR_ENTRIES:
            return [FoldTable(*given)]
        return [
            FoldTable(*given, by_gallery=False),
            FoldTable(*given, by_probe=False),
            FoldTable(*given, by_gallery=False, within=True),
        ]

    def _failed(self, genuine: list[np.ndarray]) -> bool:
        """Say whether some genuine scores are missing."""
        gallery = self.rows.reader.gallery
        expected = (gallery.own_stop - gallery.own_start).sum() - (gallery.self_position >= 0).sum()
        return sum(map(len, genuine)) != int(expected)

    def _add_up(self, tables: list[np.ndarray]) -> None:
        """Keep the counts within each fold, and those of neither side in it."""
        first = tables[0]
        if len(tables) == 1:
            by_probe, by_gallery = first.sum(axis=1), first.sum(axis=0)
            self.within = np.array([first[k, k] for k in range(self.folds)])
        else:
            by_probe, by_gallery, self.within = first[:, 0], tables[1][0], tables[2][:, 0]
        self.total = by_probe.sum(axis=0)
        self.outside = self.total - by_probe - by_gallery + self.within

    def _gather(self, rows: slice, found: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the genuine scores of some rows, and the folds of both sides."""
        value, row, position = gather(*found)
        pair = np.column_stack([self.row_fold[rows][row], self.fold[position]])
        return value.astype(np.float64), pair

    def attempts(self, part: Part) -> Attempts:
        """Return the attempts of a part, as far as they are counted."""
        counts = self.within[part.fold] if part.inside else self.outside[part.fold]
        inside = part.has(self.pair[:, 0], self.pair[:, 1])
        return Attempts(self.genuine[inside], self.edges, counts)

    # -- collecting

    def narrow(self, wanted: np.ndarray) -> bool:
        """Make the cells narrower where too many scores would be collected; say if that was done.

        Everything must then be counted again.
        """
        most = max(REFINE, REFINE_SHARE * self.total.sum())
        if not wanted.any() or self.total[wanted].sum() <= most:
            return False
        first, last = np.flatnonzero(wanted)[[0, -1]]
        low, high = (float(self.edges[first - 1]) if first else -np.inf), float(self.edges[last])
        if not np.isfinite([low, high]).all():
            ranges = [finite_range(*found[:3]) for _, found in self.rows.sweep(None)]
            low, high = (
                max(low, min(r[0] for r in ranges)),
                min(high, max(r[1] for r in ranges)),
            )
        narrower = self._grid_for(low, high, self.number)
        if narrower.exponent >= self.grid.exponent:
            return False
        self.grid = narrower
        return True

    def collect(
        self, wanted: np.ndarray, tick: Tick | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the impostor scores in some cells: values, pairs of folds, and how often.

        The values are in increasing order.
        """
        flags = wanted.astype(np.uint8)
        kept: list[tuple[np.ndarray, ...]] = [(np.empty(0), np.empty(0, int), np.empty(0, int))]
        waiting = 0
        for rows, found in self.rows.sweep(tick):
            values, code = self._inside(rows, found, flags)
            kept.append((values, code, np.ones(len(values), dtype=np.int64)))
            waiting += len(values)
            if waiting > COLLECT:
                kept, waiting = [_joined(kept)], 0
        values, code, weights = (np.concatenate(column) for column in zip(*kept, strict=True))
        order = np.argsort(values)
        return values[order], code[order], weights[order]

    def _inside(self, rows: slice, found: Rows, flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the impostor scores of some rows in flagged cells, and their pairs of folds."""
        values, start, stop, _ = found
        number = np.empty(len(values), dtype=np.int64)
        most = min(values.shape[1], ROOM)
        first, last = np.flatnonzero(flags)[[0, -1]] if flags.any() else (1, 0)
        above = self.edges[first - 1] if first else np.nan
        bounds = (values.dtype.type(above), values.dtype.type(self.edges[last]))
        window = self.grid.window(values.dtype)
        while True:
            out = np.empty((len(values), most), dtype=values.dtype)
            place = np.empty((len(values), most), dtype=np.int32)
            kernel.collect_by_fold(values, start, stop, window, flags, *bounds, number, out, place)
            if int(number.max(initial=0)) <= most:
                break
            most = int(number.max())
        row, column = np.nonzero(np.arange(most) < number[:, None])
        code = self.row_fold[rows][row] * self.folds + self.fold[place[row, column]]
        return out[row, column].astype(np.float64), code

    def split(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the folds of probe and gallery template of pairs as collected."""
        return code // self.folds, code % self.folds


def _joined(parts: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join equal scores of the same pair of folds."""
    values, code, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(values):
        return values, code, weights
    order = np.lexsort((code, values))
    values, code, weights = values[order], code[order], weights[order]
    new = np.append(True, (values[1:] != values[:-1]) | (code[1:] != code[:-1]))
    starts = np.flatnonzero(new)
    return values[starts], code[starts], np.add.reduceat(weights, starts)
