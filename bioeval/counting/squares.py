"""Scores computed from embeddings as tiles, each of which serves two sides, and their mates.

Mates come first: few tiles hold comparisons of a probe with its own subject. All other passes leave
these out, and count the rest while a tile is in the cache of a core.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.progress import report_rows
from bioeval.scores.blas_threads import on_all_threads
from bioeval.scores.cells import taken
from bioeval.scores.embedding_tiles import LARGEST, MOST_OF_SUBJECT, EmbeddingTiles, TemplateTiles
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.excluded import excluded
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people

# Bytes of the tiles that are kept for the next visit.
MOST_KEPT = 64 << 20

#: Takes a tile: its number among those visited, its band of rows and its columns, and the scores.
Visit = Callable[[int, int, int, np.ndarray], None]


def source_of_tiles(scores: Any) -> EmbeddingSource | None:
    """Return the embeddings that tiles are computed from; None if scores are read by rows."""
    if scores.layout == "pairs" or not knows_people(scores) or scores.has_mask:
        return None
    source = scores.cells.embeddings
    if source is None or callable(source.metric) or type(source) is not EmbeddingSource:
        return None
    if scores.kind != "distance":
        return None
    if not (
        np.isfinite(source.sides[0].squared).all() and np.isfinite(source.sides[1].squared).all()
    ):
        return None  # failed templates
    return source


def begin_tiles(scores: Any) -> bool:
    """Begin to compute scores by tiles; return False where a matrix is computed instead.

    If the matrix would be kept, tiles are counted once: the second time the matrix is computed.
    """
    return scores.streams or scores.cells.source.begin_count()


class Squares:
    """The tiles of scores that are computed from embeddings, and the mates of their probes.

    The layout is computed once for several passes.
    """

    def __init__(self, scores: Scores, source: EmbeddingSource, *, fused: bool):
        self.scores, self.source, self.fused = scores, source, fused
        gallery = scores.gallery_order
        self.symmetric = source.symmetric and np.array_equal(scores.probe_ids, scores.gallery_ids)
        largest = LARGEST[source.dtype.itemsize]
        columns = TemplateTiles.of_subjects(gallery.starts, largest, *([] if fused else [1]))
        #: The column of the scores, and the row, at each place of the tiles.
        self.column = gallery.columns[0][columns.order]
        rows = columns
        self.row = self.column
        if not self.symmetric:
            rows = TemplateTiles.of_probes(gallery.probe_group, largest)
            self.row = rows.order
        self.rows, self.columns = rows, columns
        self.shape = len(self.row), len(self.column)
        #: The place of the probe itself among the columns, -1 for none.
        place = np.empty(len(self.column), dtype=np.int64)
        place[columns.order] = np.arange(len(self.column))
        position = gallery.probe_position[self.row]
        self.itself = np.where(position >= 0, place[position], -1)
        #: Tiles that were computed and not yet counted, with NaN for pairs of one subject.
        self.kept: dict[tuple[int, int], np.ndarray] = {}

    @classmethod
    def from_scores(cls, scores: Scores, *, fused: bool = True) -> Squares | None:
        """Return the tiles of scores; None if they cannot be counted by tiles.

        Where templates of a subject are `fused`, subjects are laid out for it.
        """
        source = source_of_tiles(scores)
        if source is None:
            return None
        largest = LARGEST[source.dtype.itemsize] * MOST_OF_SUBJECT
        if np.diff(scores.gallery_order.starts).max() > largest or not begin_tiles(scores):
            return None
        return cls(scores, source, fused=fused)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("tiles", None)  # made again where they are needed
        state["kept"] = {}
        return state

    @cached_property
    def tiles(self) -> EmbeddingTiles:
        scores = self.scores
        rows = TemplateTiles(
            taken(scores.cells.rows, self.row),
            self.rows.starts,
            self.rows.subjects,
            self.rows.layers,
        )
        columns = TemplateTiles(
            taken(scores.cells.columns, self.column),
            self.columns.starts,
            self.columns.subjects,
            self.columns.layers,
        )
        return EmbeddingTiles(self.source, rows, columns, self.symmetric)

    def visit(
        self,
        places: Sequence[tuple[int, int]],
        take: Callable[[], Visit],
        *,
        progress: bool = False,
        again: bool = False,
    ) -> None:
        """Compute tiles side by side, or take kept tiles, which are kept further if `again`.

        `take` returns a function that takes the tiles of one thread.
        """
        caller = threading.get_ident()
        kept_tile = self.kept.get if again else self.kept.pop

        def compute(turns: Iterator[int]) -> None:
            buffer = np.empty(self.tiles.size, dtype=self.source.dtype)
            visit = take()
            for turn in turns:
                i, j = places[turn]
                tile = kept_tile((i, j), None)
                visit(turn, i, j, self.tiles.compute(i, j, buffer) if tile is None else tile)
                if progress and threading.get_ident() == caller:
                    report_rows(len(self.row) * turn // len(places), self.scores.shape[0])

        if places:
            _ = self.tiles  # made once, before threads want it
            on_all_threads(compute, len(places))
        if progress:
            report_rows(self.scores.shape[0], self.scores.shape[0])

    def places(self, bands: range) -> list[tuple[int, int]]:
        """Return the tiles of bands of rows."""
        return [(i, j) for i in bands for j in self.tiles.of_band(i)]

    def bands(self, number: int) -> list[range]:
        """Return bands of rows in about `number` parts."""
        ends = np.linspace(0, len(self.rows), number + 1).astype(int).tolist()
        return [range(low, high) for low, high in itertools.pairwise(ends) if low < high]

    def spread(self, number: int) -> list[tuple[int, int]]:
        """Return tiles from all over the scores, off the diagonal if there are more."""
        rows, columns = len(self.rows), len(self.columns)
        number = min(number, rows * columns)
        bands = np.linspace(0, rows - 1, number).astype(int).tolist()
        steps = (np.arange(number) * 0.6180339887 % 1).tolist()  # spread, whatever their number
        if self.symmetric and rows > 1:
            half = max((rows - 1) // 2, 1)  # as the tiles of a band go round
            places = [
                (i, (i + 1 + int(step * half)) % rows) for i, step in zip(bands, steps, strict=True)
            ]
        else:
            places = [(i, int(step * columns)) for i, step in zip(bands, steps, strict=True)]
        return [places[k] for k in np.random.default_rng(0).permutation(number)]

    def complete(self, i: int, j: int, tile: np.ndarray) -> None:
        """Write the cells below the diagonal of a tile of one set with itself."""
        if self.symmetric and i == j:
            size = self.rows[i].stop - self.rows[i].start
            square = tile[:size, :size]
            np.copyto(square, square.T, where=np.tri(size, k=-1, dtype=bool))

    def holds_mates(self, i: int, j: int) -> bool:
        """Whether a tile may hold comparisons of a probe with its own subject."""
        if self.symmetric:
            return i == j
        (first, last) = self._ends[0][i]
        (low, high) = self._ends[1][j]
        return last >= low and first <= high

    @cached_property
    def _ends(self) -> list[list[tuple[int, int]]]:
        return [
            [(int(x.min()), int(x.max())) for x in np.split(side.subjects, side.starts[1:-1])]
            for side in (self.rows, self.columns)
        ]

    def without_mates(self, i: int, j: int, tile: np.ndarray) -> None:
        """Write NaN for pairs of one subject."""
        if self.holds_mates(i, j):
            self.complete(i, j, tile)
            tile[self._same_subject(i, j)] = np.nan

    def mates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, columns and distances of the genuine attempts, in order."""
        mates: list[tuple[np.ndarray, ...]] = []

        def take() -> Visit:
            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                rows = self.rows[i]
                across = self.columns[j]
                self.complete(i, j, tile)
                line, place = self._same_subject(i, j)
                row, column = self.row[rows][line], self.column[across][place]
                is_attempt = self.itself[rows][line] != across.start + place
                is_attempt &= ~excluded(self.scores, row, column) & ~np.isnan(tile[line, place])
                mates.append(
                    (row[is_attempt], column[is_attempt], tile[line[is_attempt], place[is_attempt]])
                )
                # Of many tiles the tiles with mates are a small part.
                if len(pairs) * tile.nbytes <= MOST_KEPT:
                    self.kept[i, j] = tile.copy()

            return visit

        pairs = [(i, i) for i in range(len(self.rows))]
        if not self.symmetric:
            pairs = [
                (i, j)
                for i in range(len(self.rows))
                for j in range(len(self.columns))
                if self.holds_mates(i, j)
            ]
        self.visit(pairs, take)
        none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, self.source.dtype)
        row, column, distance = map(np.concatenate, zip(none, *mates, strict=True))
        order = np.lexsort((column, row))
        return row[order], column[order], distance[order]

    def _same_subject(self, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.rows.subjects[self.rows[i]], self.columns.subjects[self.columns[j]]
        return np.divmod(np.flatnonzero(rows[:, None] == columns), len(columns))
