"""The parts of scores that are computed from embeddings: tiles, which are blocks.

A tile has the distances of some templates to some others, computed by one product of matrices, and
is counted while it is in the cache of a core. A tile has all templates of its people. If embeddings
are compared with themselves, a tile is computed once, and stands for its mirror image, too: of four
bands of templates, these tiles are computed, and all others are mirror images::

    (0, 0) (0, 1) (0, 2)
           (1, 1) (1, 2) (1, 3)
                  (2, 2) (2, 3)
    (3, 0)               (3, 3)

Mates, which are comparisons of a probe with its own subject, are found first: few tiles have any.
All other passes leave them out. :func:`bioeval.counting.reduce.reduce` is the caller: it asks
:meth:`TileParts.from_scores` whether tiles are possible, takes `mates` and `sample`, and visits all
blocks. :class:`TemplateTiles` lays out the templates of a side.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.base.progress import report_rows
from bioeval.counting.parts import Add, Parts
from bioeval.kernels.compiling import writable_alias
from bioeval.kernels.rows import Embeddings, finish_euclidean
from bioeval.scores.attempts import are_left_out, excluded
from bioeval.scores.blocks import Block, Mates
from bioeval.scores.cells import composed
from bioeval.scores.codes import BlockLines
from bioeval.scores.embeddings import EmbeddingSource, on_all_threads, padded
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import TEMPLATE, TILES, stated_memory_limit

# The most bytes of tiles that are kept for the next visit; none are under a stated memory limit.
MOST_KEPT = 64 << 20

# The number of tiles in a sample, unless there are very many: then one in SAMPLE_PROPORTION.
SAMPLE_TILES = 32
SAMPLE_PROPORTION = 128

#: Receives a tile: its turn in the sequence of tiles, its `i` and `j`, and its scores.
Visitor = Callable[[int, int, int, np.ndarray], None]


class TileParts(Parts):
    """Tiles of a product of embeddings.

    The layout of the tiles is the same in all passes. There are four kinds of indices:

    - a row or a column of the scores
    - a position: its place in the order in which the tiles have the rows, or the columns
    - a band: a run of positions of rows, `rows[i]`, or of columns, `columns[j]`
    - a tile ``(i, j)``: band `i` of the rows, and band `j` of the columns

    If templates of a subject are `fused`, they are laid out in layers.
    """

    few = False

    def __init__(self, scores: Scores, source: EmbeddingSource, fused: bool):
        self.scores, self.source, self.fused = scores, source, fused
        self.dtype = source.dtype
        gallery = scores.gallery_order
        self.symmetric = source.symmetric and np.array_equal(scores.probe_ids, scores.gallery_ids)
        largest = LARGEST[source.dtype.itemsize]
        # Loops compare subjects side by side only where templates are fused.
        side_by_side = SIDE_BY_SIDE if fused else 1
        self.columns = TemplateTiles.of_subjects(gallery.starts, largest, side_by_side)
        self.column_at_position = gallery.columns[0][self.columns.order]
        if self.symmetric:
            self.rows = self.columns
            self.row_at_position = self.column_at_position
        else:
            self.rows = TemplateTiles.of_probes(gallery.probe_group, largest)
            self.row_at_position = self.rows.order
        self.shape = len(self.row_at_position), len(self.column_at_position)
        self.most_kept = MOST_KEPT if stated_memory_limit(scores) is None else 0
        #: Tiles that were computed and not yet counted.
        self.kept: dict[tuple[int, int], np.ndarray] = {}

    @cached_property
    def own_position(self) -> np.ndarray:
        """For each position of a row, the position of the same template among the columns, or -1.

        It is -1 if the gallery lacks the template.
        """
        # The position of each column, by the column's place in the gallery.
        position = np.empty(self.shape[1], dtype=np.int64)
        position[self.columns.order] = np.arange(self.shape[1])
        place_in_gallery = self.scores.gallery_order.probe_position[self.row_at_position]
        return np.where(place_in_gallery >= 0, position[place_in_gallery], -1)

    @classmethod
    def from_scores(cls, scores: Scores, *, fused: bool = True) -> TileParts | None:
        """Return the tiles of scores; None if they are to be counted by rows.

        If the matrix could be kept, scores are computed by tiles once, and the second time as a
        matrix.
        """
        if scores.layout == "pairs" or not knows_people(scores) or scores.has_mask:
            return None
        source = scores.cells.embeddings
        if source is None or callable(source.metric) or scores.kind != "distance":
            return None
        if source.shape[1] < len(source.embeddings[1]):
            return None
        if not all(np.isfinite(side.squared).all() for side in source.sides):
            return None  # failed templates
        most_templates = LARGEST[source.dtype.itemsize] * MOST_OF_SUBJECT
        if np.diff(scores.gallery_order.starts).max() > most_templates:
            return None
        # Scores that could be kept as a matrix are computed by tiles once only.
        if not (scores.streams or scores.cells.source.begin_count()):
            return None
        limit = stated_memory_limit(scores)
        if limit is not None and sum(scores.shape) * TEMPLATE + TILES > limit:
            return None  # rows need less, or are refused with what they need
        return cls(scores, source, fused)

    @cached_property
    def _padded_sides(self) -> tuple[_PaddedSide, _PaddedSide]:
        """The embeddings of the rows and of the columns."""
        cells = self.scores.cells
        rows = composed(cells.rows, self.row_at_position)
        probes = _PaddedSide(self.source, 0, rows, self.rows.starts)
        if self.symmetric:
            return probes, probes
        columns = composed(cells.columns, self.column_at_position)
        return probes, _PaddedSide(self.source, 1, columns, self.columns.starts)

    @property
    def size(self) -> int:
        return math.prod(self.shape) // (1 + self.symmetric)

    def whole(self) -> Block:
        """Raise an error: tiles are never few."""
        raise AssertionError("tiles are counted one by one")

    def sample(self) -> list[Block]:
        """Return tiles from all over the product; most are kept for the next visit."""
        tiles = len(self.rows) * len(self.columns)
        # The sample grows with very many tiles: points are then expected among fewer scores.
        growth = max(1, tiles // (SAMPLE_PROPORTION * SAMPLE_TILES))
        sampled_tiles = self.spread(min(growth * SAMPLE_TILES, tiles))
        blocks: dict[int, list[Block]] = {}

        def make_visitor() -> Callable[..., None]:
            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                if turn < SAMPLE_TILES and self.most_kept:
                    self.kept.setdefault((i, j), tile.copy())
                blocks[turn] = self.blocks(i, j, tile.copy())

            return visit

        self.for_each_tile(sampled_tiles, make_visitor, keep=True)
        return [block for k in sorted(blocks) for block in blocks[k]]

    def parts(self, number: int) -> list[range]:
        """Return bands of tiles in about `number` parts."""
        ends = np.linspace(0, len(self.rows), number + 1).astype(int).tolist()
        return [range(low, high) for low, high in itertools.pairwise(ends) if low < high]

    def visit(self, make_adder: Callable[[], Add], part: range | None = None) -> None:
        bands = range(len(self.rows)) if part is None else part

        def make_visitor() -> Callable[..., None]:
            add = make_adder()

            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                for block in self.blocks(i, j, tile):
                    add(block)

            return visit

        self.for_each_tile(self.tiles_of(bands), make_visitor, progress=True)

    def blocks(self, i: int, j: int, values: np.ndarray) -> list[Block]:
        """Return a tile as a block, with NaN in place of mates.

        There is a second block, the mirror image, if the image does not leave out the same pairs.
        """
        if self.may_hold_mates(i, j):
            self.complete(i, j, values)
            values[self._same_subject(i, j)] = np.nan
        row = self.row_at_position[self.rows[i]]
        column = self.column_at_position[self.columns[j]]
        is_mirrored = self.symmetric and i != j
        number = len(self.columns)
        block = Block(values, row[:, None], column[None], i * number + j, self._lines[j])
        exclusions = self.scores.exclusions
        if not any(x.of_all for x in exclusions):
            return [block._replace(rows=self._lines[i] if is_mirrored else None)]
        blocks = [block]
        if is_mirrored:
            image = np.ascontiguousarray(values[: len(row), : len(column)].T)
            lines = self._lines[i]
            blocks.append(Block(image, column[:, None], row[None], j * number + i, lines))
        for block in blocks:
            is_left_out = are_left_out(exclusions, block.probe, block.candidates, False)
            np.copyto(block.by_probe, np.nan, where=is_left_out)
        return blocks

    @cached_property
    def _lines(self) -> list[BlockLines]:
        """For each band of columns, the people of its columns, by which templates are fused."""
        columns = self.columns
        people = self.scores.gallery_order.subjects
        lines = []
        for j, layers in enumerate(columns.layers):
            subjects = columns.subjects[columns[j]][: int(layers[0])]
            subject_index = np.concatenate([np.arange(size) for size in layers.tolist()])
            lines.append(BlockLines(people[subjects], subject_index, layers=layers))
        return lines

    def for_each_tile(
        self,
        tiles: Sequence[tuple[int, int]],
        make_visitor: Callable[[], Visitor],
        *,
        progress: bool = False,
        keep: bool = False,
    ) -> None:
        """Hand each tile to a visitor; `make_visitor` is called once in each thread.

        Tiles are computed, or taken from the kept tiles, which stay for the next pass with `keep`.
        """
        caller = threading.get_ident()
        kept_tile = self.kept.get if keep else self.kept.pop

        def compute(turns: Iterator[int]) -> None:
            largest = max(self._padded_sides[0].sizes) * max(self._padded_sides[1].sizes)
            buffer = np.empty(largest, dtype=self.source.dtype)
            visit = make_visitor()
            for turn in turns:
                i, j = tiles[turn]
                tile = kept_tile((i, j), None)
                visit(turn, i, j, self.compute(i, j, buffer) if tile is None else tile)
                if progress and threading.get_ident() == caller:
                    report_rows(self.shape[0] * turn // len(tiles), self.scores.shape[0])

        if tiles:
            _ = self._padded_sides  # cached before threads use them
            on_all_threads(compute, len(tiles))
        if progress:
            report_rows(self.scores.shape[0], self.scores.shape[0])

    def tiles_of(self, bands: range) -> list[tuple[int, int]]:
        """Return the tiles ``(i, j)`` that are computed in bands `i` of the rows.

        If both sides are one set, band `i` has the tiles ``i, i + 1, ...`` up to half way round, so
        that each pair of bands has one tile, and all bands have about as much work.
        """
        count = len(self.columns)
        if not self.symmetric:
            return [(i, j) for i in bands for j in range(count)]
        tiles = []
        for i in bands:
            tiles_of_band = count // 2 + 1
            # If the number of bands is even, two bands have the tile half way round: the first one
            # computes it.
            if count % 2 == 0 and i >= count // 2:
                tiles_of_band -= 1
            tiles += [(i, (i + step) % count) for step in range(tiles_of_band)]
        return tiles

    def compute(self, i: int, j: int, buffer: np.ndarray) -> np.ndarray:
        """Return the distances of a tile, padded with NaN, in the memory of `buffer`."""
        source = self.source
        rows, columns = self._padded_sides
        shape = (rows.sizes[i], columns.sizes[j])
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        if source.metric in ("cosine", "l2"):
            (row, row_vectors), (column, column_vectors) = rows[i], columns[j]
            np.matmul(row_vectors, column_vectors.T, out=tile)
            is_cosine = source.metric == "cosine"
            finish_euclidean.on_one_thread(tile, 0, row, column, source.near_share, is_cosine)
            if source.scale != 1.0:
                tile[...] = source.unscaled(tile)
            return tile
        probe = source.sides[0][rows.order[self.rows[i]]]
        gallery = source.sides[1][columns.order[self.columns[j]]]
        tile[...] = np.nan
        tile[: len(probe.vectors), : len(gallery.vectors)] = source.distances(
            probe, gallery, str(source.metric), np.empty_like(buffer)
        )
        tile += 0.0  # -0.0 becomes 0.0
        return tile

    def spread(self, count: int) -> list[tuple[int, int]]:
        """Return `count` tiles from all over the scores, off the diagonal where possible."""
        rows, columns = len(self.rows), len(self.columns)
        count = min(count, rows * columns)
        bands = np.linspace(0, rows - 1, count).astype(int).tolist()
        # Multiples of the golden ratio are spread evenly, whatever their number.
        steps = (np.arange(count) * 0.6180339887 % 1).tolist()
        if self.symmetric and rows > 1:
            half = max((rows - 1) // 2, 1)  # a band has the tiles of half of all columns
            tiles = [
                (i, (i + 1 + int(step * half)) % rows) for i, step in zip(bands, steps, strict=True)
            ]
        else:
            tiles = [(i, int(step * columns)) for i, step in zip(bands, steps, strict=True)]
        return [tiles[k] for k in np.random.default_rng(0).permutation(count)]

    def complete(self, i: int, j: int, tile: np.ndarray) -> None:
        """Write the cells below the diagonal of a tile that compares templates with themselves."""
        if self.symmetric and i == j:
            size = self.rows[i].stop - self.rows[i].start
            square = tile[:size, :size]
            np.copyto(square, square.T, where=np.tri(size, k=-1, dtype=bool))

    def may_hold_mates(self, i: int, j: int) -> bool:
        """Whether a tile may have comparisons of a probe with its own subject."""
        if self.symmetric:
            return i == j
        # Subjects are numbers; those of both bands may meet if their ranges overlap.
        first_of_rows, last_of_rows = self._subject_ranges[0][i]
        first_of_columns, last_of_columns = self._subject_ranges[1][j]
        return last_of_rows >= first_of_columns and first_of_rows <= last_of_columns

    @cached_property
    def _subject_ranges(self) -> list[list[tuple[int, int]]]:
        """The first and the last subject of each band of rows, and of each band of columns."""
        ranges = []
        for side in (self.rows, self.columns):
            subjects_of_bands = np.split(side.subjects, side.starts[1:-1])
            ranges.append([(int(x.min()), int(x.max())) for x in subjects_of_bands])
        return ranges

    @cached_property
    def mates(self) -> Mates:
        if self.symmetric:
            tiles_with_mates = [(i, i) for i in range(len(self.rows))]
        else:
            tiles = itertools.product(range(len(self.rows)), range(len(self.columns)))
            tiles_with_mates = [(i, j) for i, j in tiles if self.may_hold_mates(i, j)]
        mates: list[tuple[np.ndarray, ...]] = []

        def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
            self.complete(i, j, tile)
            rows = self.rows[i]
            columns = self.columns[j]
            row_in_tile, column_in_tile = self._same_subject(i, j)
            row = self.row_at_position[rows][row_in_tile]
            column = self.column_at_position[columns][column_in_tile]
            distance = tile[row_in_tile, column_in_tile]
            is_attempt = self.own_position[rows][row_in_tile] != columns.start + column_in_tile
            is_attempt &= ~excluded(self.scores, row, column) & ~np.isnan(distance)
            mates.append((row[is_attempt], column[is_attempt], distance[is_attempt]))
            # Tiles with mates are kept if they are few.
            if len(tiles_with_mates) * tile.nbytes <= self.most_kept:
                self.kept[i, j] = tile.copy()

        self.for_each_tile(tiles_with_mates, lambda: visit)
        nothing = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, self.source.dtype)
        row, column, distance = map(np.concatenate, zip(nothing, *mates, strict=True))
        order = np.lexsort((column, row))
        return Mates(row[order], column[order], distance[order], self.scores.shape[0])

    def _same_subject(self, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and the columns, within a tile, of the cells of one subject."""
        rows = self.rows.subjects[self.rows[i]]
        columns = self.columns.subjects[self.columns[j]]
        return np.divmod(np.flatnonzero(rows[:, None] == columns), len(columns))


# ---------------------------------------------------------------------------------------- the tiles

# A tile compares two groups of templates. If a set is compared with itself, each pair of groups has
# one tile, which stands for both directions: half as many products as the matrix has scores.

#: Templates on each side of a tile, by the bytes of a distance: a tile and its tables then fit into
#: the cache of a core. A subject's templates are never divided, so that a tile may have more.
LARGEST = {4: 480, 8: 320}

#: Embeddings are not counted in tiles if a subject has more templates than this number of tiles.
MOST_OF_SUBJECT = 2

#: Subjects that a loop compares at a time. The number of subjects in a tile is a multiple of it, if
#: the tile has more.
SIDE_BY_SIDE = 8


@dataclass(frozen=True, eq=False)
class TemplateTiles:
    """The templates of one side in tiles; a place is a position in the sequence of all tiles."""

    order: np.ndarray  # int64 (n,): the template at each place
    starts: np.ndarray  # int64 (tiles + 1,): the first place of each tile, and the end
    subjects: np.ndarray  # int64 (n,): the subject at each place, -1 if the gallery lacks it
    #: For each tile, int64 (layers,): how many subjects have a first template, a second one, ...
    layers: Sequence[np.ndarray]

    @classmethod
    def of_subjects(
        cls, starts: np.ndarray, largest: int, side_by_side: int = SIDE_BY_SIDE
    ) -> TemplateTiles:
        """Lay out a gallery whose subject ``g`` is at the positions ``starts[g]:starts[g + 1]``.

        A tile of a subject a with two templates and a subject b with one has the places a1, b1, a2,
        and the layers ``[2, 1]``.
        """
        sizes = np.diff(starts)
        template_count = int(starts[-1])
        # The first subject of each tile, and the end: a tile takes as many subjects as fit.
        first_subjects = [0]
        while (first := first_subjects[-1]) < len(sizes):
            end = int(np.searchsorted(starts, starts[first] + largest, side="right")) - 1
            subject_count = end - first
            if end < len(sizes) and subject_count > side_by_side:
                subject_count -= subject_count % side_by_side
            first_subjects.append(first + max(subject_count, 1))
        tile = np.repeat(np.arange(len(first_subjects) - 1), np.diff(first_subjects))  # (subjects,)
        # In a tile, the subjects with most templates come first.
        by_size = np.lexsort((np.arange(len(sizes)), -sizes, tile))
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[by_size] = np.arange(len(sizes))
        # A layer has the first template of each subject, the next layer the second, and so on:
        # templates are sorted by tile, then layer, then rank of the subject.
        subject = np.repeat(np.arange(len(sizes)), sizes)  # (n,)
        layer = np.arange(template_count) - starts[subject]  # (n,)
        order = np.lexsort((rank[subject], layer, tile[subject]))
        first_places = starts[np.array(first_subjects)]
        layers = [
            np.bincount(layer[order[low:high]]).astype(np.int64)
            for low, high in zip(first_places[:-1], first_places[1:], strict=True)
        ]
        return cls(order, first_places, subject[order], layers)

    @classmethod
    def of_probes(cls, subjects: np.ndarray, largest: int) -> TemplateTiles:
        order = np.argsort(subjects, kind="stable")
        starts = np.append(np.arange(0, len(order), largest), len(order))
        return cls(order, starts, subjects[order], ())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, tile: int) -> slice:
        return slice(int(self.starts[tile]), int(self.starts[tile + 1]))


class _PaddedSide:
    """The embeddings of one side in the order of its tiles, each tile padded with zeros."""

    def __init__(
        self, source: EmbeddingSource, number: int, order: np.ndarray, tile_starts: np.ndarray
    ):
        self.side = source.sides[number]
        self.order = order  # (n,): the embedding at each place
        self._tile_starts = tile_starts  # of the places, without padding
        self.sizes = [padded(n) for n in np.diff(tile_starts).tolist()]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()

    @cached_property
    def _padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors (total, f), squared lengths (total,) and rows in the source (total,)."""
        side = self.side
        total = self.starts[-1]
        # (n,): the place of each template in the padded tiles.
        shift = np.array(self.starts[:-1]) - self._tile_starts[:-1]
        place = np.arange(len(self.order)) + np.repeat(shift, np.diff(self._tile_starts))
        vectors = np.zeros((total, side.vectors.shape[1]), dtype=side.vectors.dtype)
        vectors[place] = side.vectors[self.order]
        squared = np.full(total, np.nan, dtype=side.squared.dtype)
        squared[place] = side.squared[self.order]
        rows = np.zeros(total, dtype=np.int64)
        rows[place] = self.order
        return vectors, squared, rows

    def __getitem__(self, tile: int) -> tuple[Embeddings, np.ndarray]:
        """Return the embeddings of a tile as kernels take them, and its vectors (size, f)."""
        places = slice(self.starts[tile], self.starts[tile + 1])
        vectors, squared, rows = self._padded
        exact, factor = self._exact
        return Embeddings(exact, factor, squared[places], rows[places]), vectors[places]

    @cached_property
    def _exact(self) -> tuple[np.ndarray, np.ndarray]:
        """`exact` and `factor` of the side, in the memory order that kernels need."""
        exact, factor = map(np.ascontiguousarray, (self.side.exact, self.side.factor))
        return writable_alias(exact), writable_alias(factor)
