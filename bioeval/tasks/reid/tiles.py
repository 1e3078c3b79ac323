"""Ranks of the matches of queries, counted by tiles of distances between embeddings.

No row of distances is made. The tiles that compare queries with their own identities come first:
they give the matches. Then the candidates of each tile are counted around the matches of its rows
while it is in the cache of a core; of a set compared with itself, also around those of its columns,
so that each pair is multiplied once. Counts are whole numbers, and add up in any order.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.attempts.squares import HELD, ComputedTiles, may_compute, source_of_tiles
from bioeval.scores.blocks import threads_for
from bioeval.scores.embedding_tiles import LARGEST, TemplateTiles
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.tasks.reid import kernel
from bioeval.tasks.reid.candidate_lists import Lists, RowReader
from bioeval.tasks.reid.matches import MatchLists


class RetrievalTiles(ComputedTiles):
    """The tiles of the queries that may have matches, and of the columns on any list.

    Templates are laid out by their identities; those whose identity is that of no query have the
    identity -1, and come first.
    """

    def __init__(self, lists: Lists, reader: RowReader, source: EmbeddingSource):
        """Lay out both sides."""
        scores = lists.scores
        self.lists, self.reader, self.scores, self.source = lists, reader, scores, source
        most = LARGEST[source.dtype.itemsize]
        self.held: dict[tuple[int, int], np.ndarray] = {}
        on_lists = [candidates.kept.any(axis=0) for candidates in lists.rules.values()]
        column = np.flatnonzero(np.any(on_lists, axis=0))
        query = np.flatnonzero(lists.template_counts > (lists.self_column >= 0))
        asked = np.zeros(lists.identities, dtype=bool)
        asked[lists.query_identity[query]] = True
        identity = lists.identity[column]
        self.columns = TemplateTiles.of_probes(np.where(asked[identity], identity, -1), most)
        #: The column of the scores, and the row, at each place of the tiles.
        self.column = column[self.columns.order]
        self.symmetric = source.symmetric and np.array_equal(scores.probe_ids, scores.gallery_ids)
        if self.symmetric:
            self.rows, self.row = self.columns, self.column
        else:
            self.rows = TemplateTiles.of_probes(lists.query_identity[query], most)
            self.row = query[self.rows.order]
        #: int64: the places of the columns of each row's own identity.
        subjects = self.rows.subjects
        self.first = np.searchsorted(self.columns.subjects, subjects)
        self.stop = np.searchsorted(self.columns.subjects, subjects, side="right")
        self.stop[subjects < 0] = self.first[subjects < 0]
        self.ends_of_rows, self.ends_of_columns = _ends(self.rows), _ends(self.columns)

    @classmethod
    def of(cls, lists: Lists, reader: RowReader) -> RetrievalTiles | None:
        """Return the tiles of scores; None if they are to be read by rows."""
        source = source_of_tiles(lists.scores)
        if source is None:
            return None
        tiles = cls(lists, reader, source)
        if not len(tiles.row) or not len(tiles.column) or not may_compute(lists.scores):
            return None
        return tiles

    def wanted(self, bands: range) -> list[tuple[int, int]]:
        """Return the tiles of some bands that have queries who may have matches."""
        rows, columns = self.ends_of_rows[:, 1] >= 0, self.ends_of_columns[:, 1] >= 0
        return [(i, j) for i, j in self.places(bands) if rows[i] or (self.symmetric and columns[j])]

    def holds_own(self, i: int, j: int) -> bool:
        """Whether a tile may compare a query with its own identity."""
        (first, last), (low, high) = self.ends_of_rows[i], self.ends_of_columns[j]
        return bool(first <= high and low <= last)

    def turned(self, i: int, j: int, tile: np.ndarray) -> np.ndarray:
        """Return a tile with rows and columns exchanged."""
        height, width = self.rows.sizes()[i], self.columns.sizes()[j]
        return np.ascontiguousarray(tile[:height, :width].T)

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where the distances of each row to its own identity begin in :attr:`own`."""
        return np.concatenate([[0], np.cumsum(self.stop - self.first)])

    @cached_property
    def own(self) -> np.ndarray:
        """The distances of each row to the columns of its own identity, in their order."""
        own = np.full(int(self.offsets[-1]), np.nan, dtype=self.source.dtype)
        pairs = [(i, j) for i, j in self.wanted(range(len(self.rows))) if self.holds_own(i, j)]

        def write(side: slice, across: slice, tile: np.ndarray) -> None:
            columns = (across.start, across.stop)
            kernel.take_own(
                tile, self.first[side], self.stop[side], columns, self.offsets[side], own
            )

        def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
            self.complete(i, j, tile)
            write(self.rows[i], self.columns[j], tile)
            if self.symmetric and i != j:
                write(self.columns[j], self.rows[i], self.turned(i, j, tile))
            if len(pairs) * tile.nbytes <= HELD:  # of many tiles these are a small part
                self.held[i, j] = tile.copy()

        self.visit(pairs, lambda: visit)
        return own


def _ends(side: TemplateTiles) -> np.ndarray:
    """Return the first and the last identity of each tile: int64 (tiles, 2); of none, its last -1.

    Those that are -1 are left out.
    """
    ends = np.empty((len(side), 2), dtype=np.int64)
    for tile in range(len(side)):
        subjects = side.subjects[side[tile]]
        known = subjects[subjects >= 0]
        ends[tile] = (known[0], known[-1]) if len(known) else (np.iinfo(np.int64).max, -1)
    return ends


@dataclass
class TiledMates:
    """The matches of the rows of tiles under a rule of removal, from near to far."""

    starts: np.ndarray  # int64 (rows + 1,): those of each row
    distance: np.ndarray
    column: np.ndarray  # int64: the column of the scores
    list_index: np.ndarray  # int64 (rows,): the list of each row
    kept: np.ndarray  # bool (lists, columns), or (0, columns) where all are on every list
    removed: np.ndarray  # int64 (rows,): templates of its identity that are removed from its list

    @classmethod
    def of(cls, tiles: RetrievalTiles, rule: str) -> TiledMates:
        """Find the matches among the templates of each row's own identity."""
        lists, candidates = tiles.lists, tiles.lists.rules[rule]
        rows = len(tiles.row)
        sizes = tiles.stop - tiles.first
        row = np.repeat(np.arange(rows), sizes)
        place = np.arange(len(row)) - np.repeat(tiles.offsets[:-1] - tiles.first, sizes)
        query, column = tiles.row[row], tiles.column[place]
        list_index = candidates.list_index[tiles.row]
        listed = candidates.kept[list_index[row], column]
        itself = column == lists.self_column[query]
        removed = itself.copy()
        if candidates.same_camera:
            removed |= lists.camera[column] == lists.query_camera[query]
        away = np.bincount(row[listed & removed & ~itself], minlength=rows)
        usable = listed & ~removed
        for probes, columns in tiles.reader._excluding:
            usable &= probes[query] != columns[column]
        distance = tiles.own[usable]
        row, column = row[usable], column[usable]
        order = np.lexsort((column, distance, row))
        kept = np.ascontiguousarray(candidates.kept[:, tiles.column])
        return cls(
            np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))]),
            distance[order],
            column[order],
            list_index,
            kept[:0] if kept.all() else kept,
            away,
        )


class TiledRanks:
    """A pass that counts the candidates around the matches of each query, by tiles."""

    def __init__(self, tiles: RetrievalTiles):
        """Find the matches under each rule."""
        self.tiles, self.scores, self.reader = tiles, tiles.scores, tiles.reader
        with threads_for(self.scores):
            self.mates = {rule: TiledMates.of(tiles, rule) for rule in tiles.lists.rules}

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Count the bands of tiles that rows ``low:high`` stand for."""
        tiles = self.tiles
        counts = {
            rule: np.zeros((3, len(mates.distance)), dtype=np.int64)
            for rule, mates in self.mates.items()
        }
        adding = threading.Lock()

        def count_side(side: slice, across: slice, tile: np.ndarray, rule: str) -> None:
            """Count the columns of a tile around the matches of its rows."""
            mates = self.mates[rule]
            starts = mates.starts[side.start : side.stop + 1]
            places = slice(int(starts[0]), int(starts[-1]))
            found = np.empty((3, places.stop - places.start), dtype=np.int32)
            kernel.rank_in_tile.on_one_thread(
                tile[: side.stop - side.start],
                kernel.TileCandidates(
                    tiles.column[across], np.ascontiguousarray(mates.kept[:, across])
                ),
                kernel.TileMates(
                    starts - starts[0],
                    mates.distance[places],
                    mates.column[places],
                    mates.list_index[side],
                    *found,
                ),
            )
            with adding:
                counts[rule][:, places] += found

        # Under the last rule, distances may be overwritten: by then all others are counted.
        rules = sorted(self.mates, key=lambda rule: len(self.mates[rule].kept))

        def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
            if tiles.holds_own(i, j):
                tiles.complete(i, j, tile, own=False)
            rows, columns = tiles.rows[i], tiles.columns[j]
            turned = None
            if tiles.symmetric and i != j and tiles.ends_of_columns[j, 1] >= 0:
                turned = tiles.turned(i, j, tile)
            for rule in rules:
                if tiles.ends_of_rows[i, 1] >= 0:
                    count_side(rows, columns, tile, rule)
                if turned is not None:
                    count_side(columns, rows, turned, rule)

        tiles.visit(tiles.wanted(tiles.bands(low, high)), lambda: visit, progress=True)
        return {"counts": counts}

    def matches(self, counts: Mapping[str, np.ndarray]) -> dict[str, MatchLists]:
        """Return the matches of all queries under each rule, with their counts."""
        matches = {}
        m = self.scores.shape[0]
        for rule, mates in self.mates.items():
            query = np.repeat(self.tiles.row, np.diff(mates.starts))
            order = np.argsort(query, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=m))])
            distance = mates.distance[order].astype(np.float64)
            matches[rule] = MatchLists(starts, distance, *counts[rule][:, order])
        return matches

    def removed(self, rule: str) -> np.ndarray:
        """Return the number of own templates on each query's list that are removed."""
        removed = np.zeros(self.scores.shape[0], dtype=np.int64)
        removed[self.tiles.row] = self.mates[rule].removed
        return removed
