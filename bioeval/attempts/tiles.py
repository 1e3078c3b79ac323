"""Tiles of scores: some rows of a matrix, or a square of a product.

Each tile is looked at on one thread while it is in the cache of a core. Squares compare whole
subjects; of one set of embeddings each pair of squares is computed once, and serves both sides.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.squares import Mates, Squares
from bioeval.base.errors import DataError
from bioeval.base.progress import report_rows
from bioeval.kernels.compiling import in_turns
from bioeval.kernels.fuse import fuse_nearest, nearest_in_layers, nearest_of_row_layers
from bioeval.scores.arrays import Mask, distance_dtype, scored, with_failures
from bioeval.scores.blocks import Block, BlockReader, give_back, is_mapped, rows_within

# Bytes of the rows of a tile: few enough for the caches.
TILE_BYTES = 1 << 20

# Scores of the rows that are read together where they are in memory.
VALUES_IN_MEMORY = 1 << 22

# Rows, and squares, that are a sample of all.
SAMPLE_ROWS, SAMPLE_SQUARES = 256, 32

# Squares of which there is one more in the sample.
SAMPLE_PROPORTION = 128

# Genuine scores, and scattered rows, of a mapped file that are read together.
MATES, PAGED_ROWS = 1 << 11, 64


class Side(NamedTuple):
    """One side of a tile whose templates are probes: their numbers, mates, and candidates."""

    probes: slice  # where the facts of the probes are
    rows: np.ndarray  # int64: the probes, as rows of the scores
    mates: Mates
    places: np.ndarray  # int64: places of the candidates in the gallery's own order
    #: int64: positions of the candidates among those of a block, and their subjects in turn.
    positions: np.ndarray
    groups: np.ndarray


class Tile(NamedTuple):
    """Scores of a tile, NaN where there is no impostor attempt.

    `fused` returns the nearest scores of subjects: a row for each row of the tile, and of a tile
    that serves both sides, a column for each of its columns; `layers_of` says which subject the
    candidates of a side belong to.
    """

    number: int
    values: np.ndarray
    weight: int  # attempts that each score stands for
    rows: Side | None
    columns: Side | None
    fused: Callable[[], list[np.ndarray]]
    #: Genuine scores of whole rows, with their rows and positions.
    own: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    subjects: tuple[np.ndarray, ...] = ()  # of the columns, and of the rows


Look = Callable[[Tile], None]


class Rows:
    """Tiles of rows of a matrix."""

    def __init__(self, reader: BlockReader):
        self.reader, self.scores = reader, reader.scores
        self.dtype = distance_dtype(self.scores.dtype)
        m = self.scores.shape[0]
        #: Whether the mates of the probes of a tile are wanted.
        self.with_mates = True
        #: The mates of each probe, once its tile was looked at.
        self.mates = Mates(
            np.zeros(m, dtype=np.int64),
            np.full(m, np.nan, dtype=self.dtype),
            *np.zeros((2, m), dtype=np.int64),
        )

    @property
    def size(self) -> int:
        """Number of scores in all tiles."""
        return math.prod(self.scores.shape)

    @property
    def genuine(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The genuine scores, and those of the nearest mates; None if they are not at hand."""
        scores, gallery = self.scores, self.reader.gallery
        at_hand = isinstance(scores._base, np.ndarray) and scores._labelled
        if not at_hand or not isinstance(scores._mask, np.ndarray | None):
            return None
        row, position = self.reader.same_subject_cells(0, scores.shape[0])
        some = position != gallery.probe_position[row]
        row, column = row[some], gallery.columns[0][position[some]]
        kept = ~scores._excluded(row, column)
        if scores._mask is not None:
            mask = scores._mask[scores._base_rows(row), scores._base_columns(column)]
            kept &= mask != Mask.IGNORE
        row, column = row[kept], column[kept]
        value = np.empty(len(row), dtype=self.dtype)
        step = MATES if is_mapped(scores) else max(len(row), 1)
        for low in range(0, len(row), step):
            part = slice(low, low + step)
            value[part] = self.reader.cells(row[part], column[part])
            give_back(scores)
        failed = np.isnan(value)
        if scores.nan == "reject":
            value = with_failures(value, failed)
        else:
            value, row = value[~failed], row[~failed]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        best = np.minimum.reduceat(value, first) if len(row) else value
        if scores.nan == "reject":
            value, best = scored(value), scored(best)
        return np.sort(value).astype(np.float64), np.sort(best).astype(np.float64)

    def sample(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return some rows in groups from everywhere, and their fused scores."""
        scores = self.scores
        if not isinstance(scores._base, np.ndarray) or not scores._labelled:
            return [], []
        m, n = scores.shape
        number = max(1, min(m // 16, SAMPLE_ROWS * max(1, (1 << 14) // n), (1 << 22) // n))
        rows = np.linspace(0, m - 1, number).astype(np.int64)
        values = np.empty((number, n), dtype=self.dtype)
        fused = np.empty((number, len(self.reader.gallery.starts) - 1), dtype=self.dtype)
        # Rows far apart map more pages than they have, so that few of a mapped file are together.
        step = PAGED_ROWS if is_mapped(scores) else number
        for low in range(0, number, step):
            some = slice(low, low + step)
            try:
                block = BlockReader(scores.select(probes=rows[some])).block(0, len(rows[some]))
            except DataError:  # raised again, with the right rows, when these are counted
                return [], []
            values[some] = block.impostors()
            fuse_nearest(values[some], block.starts, block.probe_position, fused[some])
            give_back(scores)
        groups = min(16, number)
        return [values[k::groups].ravel() for k in range(groups)], [
            fused[k::groups].ravel() for k in range(groups)
        ]

    @cached_property
    def step(self) -> int:
        """The number of rows that are read together."""
        scores, step = self.scores, self.reader.rows_per_block()
        if isinstance(scores._base, np.ndarray) and not scores._streams:
            step = max(step, min(VALUES_IN_MEMORY // scores.shape[1], rows_within(scores, step)))
        return step

    def parts(self, number: int) -> list[range]:
        """Return rows of about so many parts, each with whole blocks."""
        m, step = self.scores.shape[0], self.step
        rows = max(1, -(-m // (step * number))) * step
        return [range(low, min(low + rows, m)) for low in range(0, m, rows)]

    def visit(
        self,
        take: Callable[[], Look] | None,
        others: Sequence[Any] = (),
        part: range | None = None,
    ) -> None:
        """Look at all tiles, or those of a part, on all threads; `others` take whole blocks."""
        looks: list[Look] = []
        m, n = self.scores.shape
        rows, step = range(m) if part is None else part, self.step
        height = max(1, TILE_BYTES // (n * self.dtype.itemsize))
        for first in range(rows.start, rows.stop, step):
            block = self.reader.block(first, min(first + step, rows.stop))
            for other in others:
                other.add(block)
            if take is not None:
                starts = range(first, first + len(block.values), height)
                look_at = functools.partial(self._look_at, block, starts, take, looks)
                in_turns(look_at, len(starts))
            give_back(self.scores)
            report_rows(first + len(block.values), m)

    def _look_at(
        self,
        block: Block,
        starts: range,
        take: Callable[[], Look],
        looks: list[Look],
        turns: Iterator[int],
    ) -> None:
        """Look at tiles of a block on one thread, by a look that no other thread has now."""
        try:
            look = looks.pop()
        except IndexError:
            look = take()
        for turn in turns:
            low = starts[turn]
            look(self.tile(block.rows(low, min(low + starts.step, starts.stop))))
        looks.append(look)

    @cached_property
    def _candidates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The positions of a row, the subjects in turn, and the subject of each position."""
        sizes = np.diff(self.reader.gallery.starts)
        groups = np.arange(len(sizes))
        return np.arange(self.scores.shape[1]), groups, np.repeat(groups, sizes)

    def tile(self, block: Block) -> Tile:
        """Return the tile of a block."""
        values = np.array(block.values, dtype=self.dtype, order="C")
        values[block.same_subject_cells()] = np.nan
        rows = slice(block.low, block.low + len(values))
        if self.with_mates:
            row, position = block.own()
            value = block.values[row, position].astype(self.dtype, copy=False)
            mates = Mates.of(value, row, block.columns[0][position], len(values))
            for of_all, of_tile in zip(self.mates, mates, strict=True):
                of_all[rows] = of_tile
        else:
            row = position = np.empty(0, dtype=np.int64)
            value, mates = values[:0, 0], Mates(*(x[rows] for x in self.mates))

        def fused() -> list[np.ndarray]:
            nearest = np.empty((len(values), len(block.starts) - 1), dtype=self.dtype)
            no_self = np.full(len(values), -1, dtype=np.int64)
            fuse_nearest.on_one_thread(values, block.starts, no_self, nearest)
            return [nearest]

        positions, groups, subjects = self._candidates
        numbers = np.arange(rows.start, rows.stop)
        side = Side(rows, numbers, mates, block.columns[0], positions, groups)
        own = value, row + block.low, position
        return Tile(block.low, values, 1, side, None, fused, own, (subjects,))


class SquareTiles:
    """Squares of a product of embeddings."""

    def __init__(self, squares: Squares):
        self.squares, self.reader = squares, squares.reader
        self.dtype = squares.source.dtype
        #: The probe, and the place in the gallery's own order, of each place of the squares.
        self.mates = squares.mates

    @property
    def size(self) -> int:
        """Number of scores in all squares."""
        return math.prod(self.squares.shape) // (1 + self.squares.symmetric)

    @property
    def genuine(self) -> tuple[np.ndarray, np.ndarray]:
        """The genuine scores, and those of the nearest mates."""
        mated = self.mates.number > 0
        both = self.squares.genuine, self.mates.best[mated]
        return np.sort(both[0]).astype(np.float64), np.sort(both[1]).astype(np.float64)

    def sample(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the scores of some squares from everywhere, which are held, and fused ones."""
        squares = self.squares
        every = len(squares.rows) * len(squares.columns)
        # Of very many squares some more, thinned: points are then expected among fewer scores.
        times = max(1, every // (SAMPLE_PROPORTION * SAMPLE_SQUARES))
        places = squares.spread(min(times * SAMPLE_SQUARES, every))
        singles: dict[int, np.ndarray] = {}
        fused: dict[int, np.ndarray] = {}

        def take() -> Callable[..., None]:
            def visit(turn: int, i: int, j: int, square: np.ndarray) -> None:
                if turn < SAMPLE_SQUARES:
                    squares.held.setdefault((i, j), square.copy())
                tile = self.tile(i, j, square.copy())
                singles[turn] = tile.values.ravel()[::times].copy()
                fused[turn] = np.concatenate([x.ravel() for x in tile.fused()])[::times].copy()

            return visit

        squares.visit(places, take, again=True)
        return [singles[k] for k in sorted(singles)], [fused[k] for k in sorted(fused)]

    def parts(self, number: int) -> list[range]:
        """Return bands of squares of about so many parts."""
        return self.squares.bands(number)

    def visit(self, take: Callable[[], Look], part: range | None = None) -> None:
        """Look at all squares, or those of a part, on all threads."""
        squares = self.squares
        bands = range(len(squares.rows)) if part is None else part

        def taken() -> Callable[..., None]:
            look = take()
            return lambda turn, i, j, square: look(self.tile(i, j, square))

        squares.visit(squares.places(bands), taken, progress=True)

    def tile(self, i: int, j: int, values: np.ndarray) -> Tile:
        """Return a square as a tile; it is overwritten where it has mates."""
        squares = self.squares
        number = i * len(squares.columns) + j
        squares.without_mates(i, j, values)
        both = squares.symmetric and i != j
        rows, columns = squares.rows[i], squares.columns[j]

        def fused() -> list[np.ndarray]:
            layers = squares.columns.layers[j]
            h, w = rows.stop - rows.start, columns.stop - columns.start
            nearest = np.empty((h, int(layers[0])), dtype=self.dtype)
            nearest_in_layers(values[:h], layers, nearest)
            if not both:
                return [nearest]
            layers = squares.rows.layers[i]
            other = np.empty((int(layers[0]), w), dtype=self.dtype)
            nearest_of_row_layers(values, layers, other)
            return [nearest, other]

        sides = []
        for of, other, candidates, k in (
            (rows, squares.columns, columns, j),
            (columns, squares.rows, rows, i),
        )[: 1 + both]:
            first = candidates.start + int(other.layers[k][0])
            sides.append(
                Side(
                    of,
                    squares.row[of],
                    Mates(*(x[of] for x in self.mates)),
                    squares.column[candidates],
                    other.order[candidates],
                    other.subjects[candidates.start : first],
                )
            )
        subjects = _subjects(squares.columns.layers[j])
        of_rows = _subjects(squares.rows.layers[i]) if both else subjects[:0]
        return Tile(
            number, values, 1 + both, sides[0], sides[1] if both else None, fused, None,
            (subjects, of_rows),
        )  # fmt: skip


def _subjects(layers: np.ndarray) -> np.ndarray:
    """Return the subject of each template of a side in layers, by its place in the first layer."""
    return np.concatenate([np.arange(size) for size in layers.tolist()])
