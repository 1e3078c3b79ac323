"""Distances between embeddings in tiles of whole subjects, for counts that need no rows.

A tile compares two groups of templates. Of a set compared with itself, each pair of groups has one
tile, for both directions: half as many products as the matrix has scores. No tile is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.kernels.distance import Embeddings, finish_euclidean
from bioeval.scores.arrays import writable_alias
from bioeval.scores.embeddings import EmbeddingSource, filled_up

# Templates of a tile of distances of 4 and of 8 bytes, about: a tile and its tables are in the
# cache of a core. Subjects with more than so many tiles of templates have no tile.
LARGEST = {4: 480, 8: 320}
MOST_OF_SUBJECT = 2

# Subjects of a tile are a multiple of it where there are as many: so many scores are compared at a
# time.
SIDE_BY_SIDE = 8


@dataclass(frozen=True, eq=False)
class TemplateTiles:
    """The templates of one side in tiles."""

    order: np.ndarray  # int64 (n,): the template at each place of the tiles
    starts: np.ndarray  # int64 (tiles + 1,): where the places of each tile begin, and the end
    subjects: np.ndarray  # int64 (n,): subject at each place, -1 where the gallery lacks it
    #: Of each tile, int64 (layers,): how many subjects have a first template, a second, ...
    layers: Sequence[np.ndarray]

    @classmethod
    def of_subjects(
        cls, starts: np.ndarray, largest: int, side_by_side: int = SIDE_BY_SIDE
    ) -> TemplateTiles:
        """Lay out a gallery whose subject ``g`` is at the positions ``starts[g]:starts[g + 1]``."""
        sizes = np.diff(starts)
        template_count = int(starts[-1])
        cuts = [0]  # subjects that begin a tile: as many as fit, a multiple of `side_by_side`
        while cuts[-1] < len(sizes):
            last = int(np.searchsorted(starts, starts[cuts[-1]] + largest, side="right")) - 1
            number = last - cuts[-1]
            if last < len(sizes) and number > side_by_side:
                number -= number % side_by_side
            cuts.append(cuts[-1] + max(number, 1))
        tile = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))  # (subjects,)
        # In a tile, the subjects with most templates come first.
        by_size = np.lexsort((np.arange(len(sizes)), -sizes, tile))
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[by_size] = np.arange(len(sizes))
        # Both (n,): the subject of each template, and its number within the subject, the layer.
        # Templates are sorted by tile, then layer, then rank of the subject.
        subject = np.repeat(np.arange(len(sizes)), sizes)
        layer = np.arange(template_count) - starts[subject]
        order = np.lexsort((rank[subject], layer, tile[subject]))
        begin = starts[np.array(cuts)]
        layers = [
            np.bincount(layer[order[low:high]]).astype(np.int64)
            for low, high in zip(begin[:-1], begin[1:], strict=True)
        ]
        return cls(order, begin, subject[order], layers)

    @classmethod
    def of_probes(cls, subjects: np.ndarray, largest: int) -> TemplateTiles:
        """Lay out probes in the order of their subjects."""
        order = np.argsort(subjects, kind="stable")
        starts = np.append(np.arange(0, len(order), largest), len(order))
        return cls(order, starts, subjects[order], ())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, tile: int) -> slice:
        """Return the places of a tile."""
        return slice(int(self.starts[tile]), int(self.starts[tile + 1]))

    def sizes(self) -> np.ndarray:
        """Return the numbers of templates of the tiles."""
        return np.diff(self.starts)


class EmbeddingTiles:
    """Computes tiles of distances.

    - `rows`, `columns` (TemplateTiles): whose orders are places of the embeddings of the source
    - `symmetric`: whether both sides are one set, so that each pair of tiles is computed once
    """

    def __init__(
        self, source: EmbeddingSource, rows: TemplateTiles, columns: TemplateTiles, symmetric: bool
    ):
        self.source = source
        self.rows = rows
        self.columns = columns
        self.symmetric = symmetric
        self._left = _PaddedSide(source, 0, rows)
        self._right = self._left if symmetric else _PaddedSide(source, 1, columns)

    def of_band(self, i: int) -> Iterator[int]:
        """Yield the columns of the tiles that are computed in a band of rows.

        Of one set, each band has as many, going round, and each pair of bands has one tile.
        """
        count = len(self.columns)
        if not self.symmetric:
            yield from range(count)
            return
        half = count // 2 + 1
        if count % 2 == 0 and 2 * i >= count:
            half -= 1
        for step in range(half):
            yield (i + step) % count

    @property
    def size(self) -> int:
        """The number of scores of the largest tile, filled up."""
        return max(self._left.sizes) * max(self._right.sizes)

    def compute(self, i: int, j: int, buffer: np.ndarray) -> np.ndarray:
        """Return the distances of a tile, filled up with NaN, in the memory of `buffer`."""
        source = self.source
        shape = (self._left.sizes[i], self._right.sizes[j])
        tile = buffer[: shape[0] * shape[1]].reshape(shape)
        if source.metric in ("cosine", "l2"):
            (rows, left), (columns, right) = self._left[i], self._right[j]
            np.matmul(left, right.T, out=tile)
            near_share = source._near
            cosine = source.metric == "cosine"
            finish_euclidean.on_one_thread(tile, 0, rows, columns, near_share, cosine)
            if source._scale != 1.0:
                tile[...] = source._unscaled(tile)
            return tile
        probe = self.rows.order[self.rows[i]]
        entry = self.columns.order[self.columns[j]]
        tile[...] = np.nan
        tile[: len(probe), : len(entry)] = source._distances(
            source._left[probe], source._right[entry], str(source.metric), np.empty_like(buffer)
        )
        tile += 0.0  # no zero has a sign
        return tile


class _PaddedSide:
    """The embeddings of one side in the order of its tiles, each filled up with zeros."""

    def __init__(self, source: EmbeddingSource, number: int, tiles: TemplateTiles):
        self.side = (source._left, source._right)[number]
        self.tiles = tiles
        self.sizes = [filled_up(n) for n in tiles.sizes().tolist()]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()

    @cached_property
    def _filled(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vectors of products (total, f), squared lengths (total,), rows in the source (total,)."""
        side = self.side
        total = self.starts[-1]
        # (n,): the place of each template among the filled tiles.
        place = np.repeat(self.starts[:-1], self.tiles.sizes())
        place += np.arange(len(place)) - np.repeat(self.tiles.starts[:-1], self.tiles.sizes())
        vectors = np.zeros((total, side.products.shape[1]), dtype=side.products.dtype)
        vectors[place] = side.products[self.tiles.order]
        squared = np.full(total, np.nan, dtype=side.squared.dtype)
        squared[place] = side.squared[self.tiles.order]
        rows = np.zeros(total, dtype=np.int64)
        rows[place] = self.tiles.order
        return vectors, squared, rows

    def __getitem__(self, tile: int) -> tuple[Embeddings, np.ndarray]:
        """Return a tile as kernels take it, and its vectors of products (size, f)."""
        places = slice(self.starts[tile], self.starts[tile + 1])
        vectors, squared, rows = self._filled
        exact, factor = self._exact
        return Embeddings(exact, factor, squared[places], rows[places]), vectors[places]

    @cached_property
    def _exact(self) -> tuple[np.ndarray, np.ndarray]:
        """Embeddings before rounding, and their factors, in the memory order of kernels."""
        exact, factor = map(np.ascontiguousarray, (self.side.exact, self.side.factor))
        return writable_alias(exact), writable_alias(factor)
