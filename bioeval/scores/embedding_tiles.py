"""Distances between embeddings in tiles of whole subjects, for counts that need no rows.

A tile compares two groups of templates. If a set is compared with itself, each pair of groups has
one tile, which stands for both directions: half as many products as the matrix has scores. No tile
is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.kernels.distance import Embeddings, finish_euclidean
from bioeval.scores.arrays import writable_alias
from bioeval.scores.embeddings import EmbeddingSource, padded

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
        first_subjects = _first_subjects(starts, largest, side_by_side)
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

    def sizes(self) -> np.ndarray:
        return np.diff(self.starts)


def _first_subjects(starts: np.ndarray, largest: int, side_by_side: int) -> list[int]:
    """Return the first subject of each tile, and the end: a tile takes as many subjects as fit."""
    count = len(starts) - 1
    first_subjects = [0]
    while (first := first_subjects[-1]) < count:
        end = int(np.searchsorted(starts, starts[first] + largest, side="right")) - 1
        subject_count = end - first
        if end < count and subject_count > side_by_side:
            subject_count -= subject_count % side_by_side
        first_subjects.append(first + max(subject_count, 1))
    return first_subjects


class EmbeddingTiles:
    """Computes the distances of embeddings in tiles.

    - `rows`, `columns` (TemplateTiles): the tiles of the probes and of the gallery
    - `symmetric`: whether both sides are one set, so that each pair of groups has one tile
    """

    def __init__(
        self, source: EmbeddingSource, rows: TemplateTiles, columns: TemplateTiles, symmetric: bool
    ):
        self.source = source
        self.rows = rows
        self.columns = columns
        self.symmetric = symmetric
        self._probe = _PaddedSide(source, 0, rows)
        self._gallery = self._probe if symmetric else _PaddedSide(source, 1, columns)

    def of_band(self, i: int) -> Iterator[int]:
        """Yield the number `j` of each tile ``(i, j)`` that is computed in band `i` of the rows.

        If both sides are one set, band `i` has the tiles ``i, i + 1, ...`` up to half way round, so
        that each pair of bands has one tile, and all bands have about as much work.
        """
        count = len(self.columns)
        if not self.symmetric:
            yield from range(count)
            return
        tiles_of_band = count // 2 + 1
        if count % 2 == 0 and 2 * i >= count:  # the bands before have the tile half way round
            tiles_of_band -= 1
        for step in range(tiles_of_band):
            yield (i + step) % count

    @property
    def size(self) -> int:
        """The number of distances of the largest tile, with the padding."""
        return max(self._probe.sizes) * max(self._gallery.sizes)

    def compute(self, i: int, j: int, buffer: np.ndarray) -> np.ndarray:
        """Return the distances of a tile, padded with NaN, in the memory of `buffer`."""
        source = self.source
        shape = (self._probe.sizes[i], self._gallery.sizes[j])
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        if source.metric in ("cosine", "l2"):
            (rows, row_vectors), (columns, column_vectors) = self._probe[i], self._gallery[j]
            np.matmul(row_vectors, column_vectors.T, out=tile)
            is_cosine = source.metric == "cosine"
            finish_euclidean.on_one_thread(tile, 0, rows, columns, source.near_share, is_cosine)
            if source.scale != 1.0:
                tile[...] = source.unscaled(tile)
            return tile
        probe = source.sides[0][self.rows.order[self.rows[i]]]
        gallery = source.sides[1][self.columns.order[self.columns[j]]]
        tile[...] = np.nan
        tile[: len(probe.vectors), : len(gallery.vectors)] = source.distances(
            probe, gallery, str(source.metric), np.empty_like(buffer)
        )
        tile += 0.0  # -0.0 becomes 0.0
        return tile


class _PaddedSide:
    """The embeddings of one side in the order of its tiles, each tile padded with zeros."""

    def __init__(self, source: EmbeddingSource, number: int, tiles: TemplateTiles):
        self.side = source.sides[number]
        self.tiles = tiles
        self.sizes = [padded(n) for n in tiles.sizes().tolist()]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()

    @cached_property
    def _padded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors (total, f), squared lengths (total,) and rows in the source (total,)."""
        side = self.side
        total = self.starts[-1]
        # (n,): the place of each template in the padded tiles.
        place = np.repeat(self.starts[:-1], self.tiles.sizes())
        place += np.arange(len(place)) - np.repeat(self.tiles.starts[:-1], self.tiles.sizes())
        vectors = np.zeros((total, side.vectors.shape[1]), dtype=side.vectors.dtype)
        vectors[place] = side.vectors[self.tiles.order]
        squared = np.full(total, np.nan, dtype=side.squared.dtype)
        squared[place] = side.squared[self.tiles.order]
        rows = np.zeros(total, dtype=np.int64)
        rows[place] = self.tiles.order
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
