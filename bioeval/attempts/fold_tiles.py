"""Verification in folds by tiles of embeddings: each pair of templates is multiplied once.

While a tile is in the cache of a core, its scores are counted by the folds of its rows and of its
columns, in every partition. Of a set compared with itself a score is counted once, by the folds of
a pair in one direction; the other direction is added at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.cells import CellGrid
from bioeval.attempts.fold_counts import (
    FLUSH,
    CollectedScores,
    DivisionIntoFolds,
    PlacedScores,
    RowWindows,
    Table,
    Weighted,
    as_tree,
)
from bioeval.attempts.parts import ConcatenatedRows, Extent
from bioeval.attempts.tiled_scores import FusedTiles, TiledScores, Visit
from bioeval.kernels import folds as kernel
from bioeval.kernels.folds import FoldRows, FoldTables, KeptCells, PlacedCells
from bioeval.scores.blocks import BlockReader, is_small
from bioeval.scores.embedding_tiles import TemplateTiles

# Scores that are counted together: the counts of a partition are brought to the cache for them.
TOGETHER = 1 << 18

# Scores that are kept while all are counted, at most, in one direction.
MOST_KEPT = 1 << 22


class TileScores(NamedTuple):
    """The impostor scores of a tile in one direction; NaN is none."""

    values: np.ndarray  # float (h, w'): of w columns, then NaN
    rows: np.ndarray  # int32 (h,): the rows of the scores
    positions: np.ndarray  # int32 (w,): the positions in the gallery


class FoldTiles:
    """The tiles of embeddings as folds count them: of templates, or of subjects fused."""

    def __init__(self, tiled: TiledScores, *, multi: bool, farthest: bool):
        self.tiled, self.multi, self.farthest = tiled, multi, farthest
        self.reader, self.scores = tiled.reader, tiled.scores
        self.dtype = tiled.source.dtype
        #: Whether a score is that of both directions.
        self.twice = tiled.symmetric and not multi
        #: The least score of each tile, once all have been counted.
        self.least: dict[tuple[int, int], float] = {}

    @classmethod
    def of(cls, reader: BlockReader, templates: str, fusion: str) -> FoldTiles | None:
        """Return the tiles of a reader's scores; None where they are to be read by rows."""
        if is_small(reader.scores) or (templates == "multi" and fusion not in ("min", "max")):
            return None
        tiled = TiledScores.of(reader)
        if tiled is None:
            return None
        return cls(tiled, multi=templates == "multi", farthest=fusion == "max")

    @property
    def impostors(self) -> int:
        """The number of impostor attempts."""
        return self.tiled.impostors[self.multi]

    def genuine(self) -> PlacedScores:
        """Return the genuine scores, with their rows and positions in the gallery."""
        tiled, mates = self.tiled, self.tiled.mates
        if self.multi:
            mated = np.flatnonzero(mates.number > 0)
            scores = tiled.genuine_of_subjects(self.farthest)
            return PlacedScores(scores, tiled.row[mated], tiled.rows.subjects[mated])
        place, column = self._own()
        made = column != tiled.itself[place]
        for probe, gallery in zip(*tiled.same, strict=True):
            made &= probe[place] != gallery[column]
        there = ~np.isnan(mates.genuine)
        return PlacedScores(
            mates.genuine[there], tiled.row[place[made]], tiled.columns.order[column[made]]
        )

    def in_both_directions(self, scores: PlacedScores) -> PlacedScores:
        """Return scores and, where each is that of both directions of a pair, the others."""
        if not self.twice:
            return scores
        values, rows, positions = scores
        rows_of, position_of = self._turned
        other = values, rows_of[positions], position_of[rows]
        return PlacedScores(*map(np.concatenate, zip(scores, other, strict=True)))

    def turned(self, scores: TileScores) -> TileScores:
        """Return the other direction of a tile of templates."""
        rows_of, position_of = self._turned
        values = np.ascontiguousarray(scores.values[:, : len(scores.positions)].T)
        return TileScores(values, rows_of[scores.positions], position_of[scores.rows])

    @cached_property
    def _turned(self) -> tuple[np.ndarray, np.ndarray]:
        """The row of each position of the gallery, and the position of each row, of one set."""
        tiled = self.tiled
        row, position = np.empty((2, tiled.shape[0]), dtype=np.int32)
        row[tiled.columns.order] = tiled.row
        position[tiled.row] = tiled.columns.order
        return row, position

    def _own(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of all pairs of one subject, by row in the order of the columns."""
        tiled, starts = self.tiled, self.reader.gallery.starts
        group = tiled.rows.subjects
        number = np.where(group >= 0, np.diff(starts)[group], 0)
        by_subject = np.argsort(tiled.columns.subjects, kind="stable")
        place = np.repeat(np.arange(len(group)), number)
        column = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number)
        return place, by_subject[starts[group[place]] + column]

    def attempts_of(self, one: DivisionIntoFolds, tables: Sequence[Table]) -> list[np.ndarray]:
        """Return the numbers of impostor attempts in tables, of the shape (rows, columns, 1)."""
        tiled, n, folds = self.tiled, one.folds, (len(one.probe), len(one.gallery))
        group = tiled.rows.subjects
        if self.multi:
            enrolled = group >= 0
            probe, gallery = one.probe[tiled.row[enrolled]], one.gallery[group[enrolled]]
        else:
            place, column = self._own()
            probe = one.probe[tiled.row[place]]
            gallery = one.gallery[tiled.columns.order[column]]
        rows, columns = np.bincount(one.probe, minlength=n), np.bincount(one.gallery, minlength=n)
        made = []
        for table in tables:
            shape = table.shape(n, 1)
            if table.within:
                number = rows * columns
                number -= np.bincount(probe[probe == gallery], minlength=n)
            elif table.by_probe and table.by_gallery:
                number = np.outer(rows, columns).reshape(-1)
                number -= np.bincount(probe * n + gallery, minlength=n * n)
            elif table.by_probe:
                number = rows * folds[1] - np.bincount(probe, minlength=n)
            else:
                number = folds[0] * columns - np.bincount(gallery, minlength=n)
            made.append(number.reshape(shape))
        return made


class _TileReader:
    """Reads tiles as folds count them, for one thread."""

    def __init__(self, tiles: FoldTiles):
        self.tiles, self.tiled = tiles, tiles.tiled
        self.fused = FusedTiles(self.tiled, farthest=tiles.farthest) if tiles.multi else None
        #: The row and the position of each place of the tiles.
        self.row = self.tiled.row.astype(np.int32)
        self.position = self.tiled.columns.order.astype(np.int32)

    def read(self, i: int, j: int, tile: np.ndarray) -> Iterator[TileScores]:
        """Yield the impostor scores of a tile, which is overwritten."""
        tiled = self.tiled
        rows, columns = tiled.rows[i], tiled.columns[j]
        tiled.without_mates(i, j, tile)
        if self.fused is not None:
            of_rows, *of_columns = self.fused.of(i, j, tile)
            yield TileScores(of_rows, self.row[rows], _subjects(tiled.columns, j))
            for fused in of_columns:
                turned = np.ascontiguousarray(fused.T)
                yield TileScores(turned, self.row[columns], _subjects(tiled.rows, i))
            return
        height, width = rows.stop - rows.start, columns.stop - columns.start
        scores = tile[:height]
        if tiled.symmetric and i == j:
            scores[:, :width][np.tri(height, width, dtype=bool)] = np.nan
        yield TileScores(scores, self.row[rows], self.position[columns])


def _subjects(side: TemplateTiles, tile: int) -> np.ndarray:
    """Return the subjects of a tile in the order of its first layer."""
    places = side[tile]
    first = side.subjects[places.start : places.start + int(side.layers[tile][0])]
    return first.astype(np.int32)


class TilePassOfFolds:
    """A pass over the tiles for some partitions."""

    def __init__(self, tiles: FoldTiles, partitions: Sequence[DivisionIntoFolds]):
        self.tiles, self.tiled = tiles, tiles.tiled
        self.reader, self.scores = tiles.reader, tiles.scores
        self.partitions = [partition.bare() for partition in partitions]

    def whole(self) -> dict[str, Any]:
        """Return the counts of all tiles."""
        return self.over(self.tiled.places(range(len(self.tiled.rows))))

    def over(self, places: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """Return the counts of some tiles."""
        raise NotImplementedError


#: A window without scores.
NO_WINDOW = (np.inf, -np.inf)


class TileCountPass(TilePassOfFolds):
    """Counts the impostor scores of each partition by cell, and keeps some of them."""

    def __init__(
        self,
        tiles: FoldTiles,
        partitions: Sequence[DivisionIntoFolds],
        grid: CellGrid,
        window: tuple[float, float] = NO_WINDOW,
    ):
        """Lay out the tables of all partitions, one after the other.

        Scores in the `window`, above its first end and up to its second, are kept.
        """
        super().__init__(tiles, partitions)
        self.grid, self.window = grid, window
        self.tables: list[list[Table]] = [one.tables(grid) for one in self.partitions]
        width, self.size = grid.count + 1, 0
        layout = []
        for i, (one, tables) in enumerate(zip(self.partitions, self.tables, strict=True)):
            for table in tables:
                shape = rows, columns, _ = table.shape(one.folds, width)
                by_row, by_column = columns * width * (rows > 1), width * (columns > 1)
                layout.append((i, self.size, by_row, by_column, table.within))
                self.size += math.prod(shape)
        self.layout = np.array(layout, dtype=np.int64)

    def whole(self) -> dict[str, Any]:
        """Return the counts of all tiles.

        Scores in the last cell are not counted: there are as many as attempts are left.
        """
        counts = super().whole()
        for i, (one, tables) in enumerate(zip(self.partitions, self.tables, strict=True)):
            attempts = self.tiles.attempts_of(one, tables)
            made = one.parts_of([np.append(x, np.zeros_like(x), axis=-1) for x in attempts])
            its = counts["counts"][str(i)]
            its[..., -1] = made[..., 0] - its[..., :-1].sum(axis=-1)
        total = counts["total"]
        total[-1] = self.tiles.impostors - total[:-1].sum()
        return counts

    def over(self, places: Sequence[tuple[int, int]], *, sample: bool = False) -> dict[str, Any]:
        """Return the counts of some tiles; those of a `sample` are held to be counted again.

        Of a sample, scores in the last cell are counted, too.
        """
        least = np.full(len(places), np.inf)
        threads: list[_CountThread] = []

        def take() -> Visit:
            thread = _CountThread(self, least, np.inf if sample else self.grid.edges[-2])
            threads.append(thread)
            if not sample:
                return thread.visit

            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                self.tiled.held.setdefault((i, j), tile.copy())
                thread.visit(turn, i, j, tile.copy())

            return visit

        self.tiled.visit(places, take, progress=not sample, again=sample)
        counts = np.zeros(self.size, dtype=np.int64)
        for thread in threads:
            counts += thread.result()
        results = list(self._by_partition(counts))
        extent = Extent()
        for thread in threads:
            extent = extent.merge(thread.extent)
        return {
            "counts": {str(i): x.parts_of(results[i]) for i, x in enumerate(self.partitions)},
            "total": results[0][0].sum(axis=(0, 1))[:-1],
            "made": sum(thread.made for thread in threads) * (1 + self.tiles.twice),
            "extent": extent,
            "least": ConcatenatedRows.of(least),
            "kept": as_tree([scores for thread in threads for scores in thread.kept]),
        }

    def _by_partition(self, counts: np.ndarray) -> Iterator[list[np.ndarray]]:
        """Yield the tables of each partition, of both directions."""
        width, start = self.grid.count + 1, 0
        for one, tables in zip(self.partitions, self.tables, strict=True):
            results = []
            for table in tables:
                shape = table.shape(one.folds, width)
                stop = start + math.prod(shape)
                results.append(counts[start:stop].reshape(shape))
                start = stop
            yield _both_directions(results) if self.tiles.twice else results


def _both_directions(tables: list[np.ndarray]) -> list[np.ndarray]:
    """Return the counts of pairs in both directions, from those in one."""
    if len(tables) == 1:
        return [tables[0] + tables[0].transpose(1, 0, 2)]
    by_probe, by_gallery, within = tables
    of_either = by_probe[:, 0] + by_gallery[0]
    return [of_either[:, None], of_either[None], 2 * within]


class _CountThread:
    """Counts the tiles of one thread."""

    def __init__(self, count_pass: TileCountPass, least: np.ndarray, top: float):
        """Make empty tables; `least` is for the least score of each tile of all threads.

        Scores up to `top` are counted.
        """
        tiles, grid = count_pass.tiles, count_pass.grid
        self.least, self.reader = least, _TileReader(tiles)
        self.window, self.top = grid.window(tiles.dtype), tiles.dtype.type(top)
        self.keys = np.dtype(f"i{tiles.dtype.itemsize}")
        self.infinity = np.array(np.inf, dtype=tiles.dtype).view(self.keys)[()]
        self.tables = FoldTables(
            np.array([one.probe for one in count_pass.partitions], dtype=np.int32),
            np.array([one.gallery for one in count_pass.partitions], dtype=np.int32),
            count_pass.layout,
            np.zeros(count_pass.size, dtype=np.int32),
        )
        size = tiles.tiled.tiles.size + 1  # one is written behind the last
        rows, positions = np.empty((2, size + TOGETHER), dtype=np.int32)
        cells = np.empty(size + TOGETHER, dtype=np.uint16)
        self.placed = PlacedCells(rows, positions, cells)
        limits = np.array(count_pass.window, dtype=tiles.dtype)
        room = size if limits[0] < limits[1] else 0
        self.room = KeptCells(
            limits, np.empty(room, dtype=tiles.dtype), *np.empty((2, room), dtype=np.int32)
        )
        self.kept: list[PlacedScores] = []
        self.flushed: np.ndarray | int = 0
        self.added = self.waiting = self.kept_scores = 0
        #: The number of impostor attempts, and their range.
        self.made = 0
        self.extent = Extent()

    def visit(self, turn: int, i: int, j: int, tile: np.ndarray) -> None:
        """Count a tile."""
        for scores in self.reader.read(i, j, tile):
            self._find(turn, scores)
            if self.waiting > TOGETHER:
                self._count()

    def _find(self, turn: int, scores: TileScores) -> None:
        """Find the cells of a tile's scores."""
        values, width = scores.values, len(scores.positions)
        self.waiting, kept, missing, *ends = kernel.find_tile_cells(
            values,
            values.view(self.keys),
            scores.rows,
            scores.positions,
            self.window,
            self.top,
            self.waiting,
            self.placed,
            self.room,
            self.infinity,
        )
        self.made += len(values) * width - missing
        ends = np.array(ends, dtype=self.keys).view(values.dtype).astype(np.float64)
        self.least[turn] = min(self.least[turn], ends[0])
        if ends[0] <= ends[1]:
            self.extent = self.extent.merge(Extent(float(ends[0]), float(ends[1])))
        if kept and self.kept_scores <= MOST_KEPT:  # if there are more, a second pass collects them
            self.kept.append(PlacedScores(*(x[:kept].copy() for x in self.room[1:])))
            self.kept_scores += kept

    def _count(self) -> None:
        """Count the scores whose cells are known."""
        kernel.count_placed(self.waiting, self.placed, self.tables)
        self.added += self.waiting
        self.waiting = 0
        if self.added > FLUSH:
            self.flushed = self.flushed + self.tables.counts.astype(np.int64)
            self.tables.counts[:] = 0
            self.added = 0

    def result(self) -> np.ndarray:
        """Return the counts of all tables."""
        self._count()
        return self.flushed + self.tables.counts.astype(np.int64)


class TileCollectPass(TilePassOfFolds):
    """Collects the impostor scores in some windows, of those tiles that may have any."""

    def __init__(
        self,
        tiles: FoldTiles,
        partitions: Sequence[DivisionIntoFolds],
        windows: RowWindows,
    ):
        """Take the windows."""
        super().__init__(tiles, partitions)
        self.windows = windows
        self.highest = float(windows.upto.max(initial=-np.inf))

    def collected(self) -> Iterator[Weighted]:
        """Yield the scores of all tiles for each partition."""
        places = self.tiled.places(range(len(self.tiled.rows)))
        least = self.tiles.least
        places = [place for place in places if least.get(place, -np.inf) <= self.highest]
        threads: list[_CollectThread] = []

        def take() -> Visit:
            threads.append(_CollectThread(self))
            return threads[-1].visit

        self.tiled.visit(places, take, progress=True)
        scores = CollectedScores(self.partitions, self.tiles.dtype)
        for thread in threads:
            scores.include(thread.scores)
        return scores.each()


class _CollectThread:
    """Collects the scores of the tiles of one thread."""

    def __init__(self, collect_pass: TileCollectPass):
        self.collect_pass, self.windows = collect_pass, collect_pass.windows
        tiles = collect_pass.tiles
        self.reader = _TileReader(tiles)
        self.scores = CollectedScores(collect_pass.partitions, tiles.dtype)
        #: The windows of each fold, or the same ones for all.
        self.by_fold = len(self.windows.first) > 2
        room = tiles.tiled.tiles.size
        self.values = np.empty((1, room), dtype=tiles.dtype)
        self.place = np.empty((1, room, 2), dtype=np.int32)

    def visit(self, turn: int, i: int, j: int, tile: np.ndarray) -> None:
        """Collect the scores of a tile."""
        for scores in self.reader.read(i, j, tile):
            tiles = self.collect_pass.tiles
            found = self._inside(scores)
            if self.by_fold and tiles.twice:
                self.add(found)
                self.add(self._inside(tiles.turned(scores)))
            else:
                self.add(tiles.in_both_directions(found))

    def add(self, found: PlacedScores) -> None:
        """Take in some scores."""
        if len(found.values):
            self.scores.add(found)

    def _inside(self, scores: TileScores) -> PlacedScores:
        """Return the scores of a tile in the windows."""
        windows, height = self.windows, len(scores.rows)
        fold = np.zeros(height, dtype=np.int64)
        if self.by_fold:
            fold = self.collect_pass.partitions[0].probe[scores.rows]
        filled = np.empty(1, dtype=np.int64)
        no_mates = np.zeros(height, dtype=np.int64)
        kernel.collect_scores.on_one_thread(
            FoldRows(scores.values, no_mates, no_mates, no_mates),
            fold,
            windows.first,
            windows.above,
            windows.upto,
            self.values,
            self.place,
            filled,
        )
        number = int(filled[0])
        row, column = self.place[0, :number].T
        values = self.values[0, :number].copy()
        return PlacedScores(values, scores.rows[row], scores.positions[column])
