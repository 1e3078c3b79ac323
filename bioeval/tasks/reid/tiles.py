"""Ranks of the matches of queries, counted in squares of a product of embeddings.

No row of distances is made. The squares that compare queries with their own identities come first:
they give the matches. Then the candidates of each square are counted around the matches of its rows
while it is in the cache of a core; of a set compared with itself, also around those of its columns,
so that each pair is multiplied once. Counts are whole numbers, and add up in any order.
"""

from __future__ import annotations

import threading

import numpy as np

from bioeval.base.options import OPTIONS
from bioeval.counting.squares import Squares, source_of_tiles
from bioeval.scores.blocks import BlockReader, is_small
from bioeval.scores.labels import Codes
from bioeval.tasks.reid import kernel
from bioeval.tasks.reid.candidate_lists import Lists, sorted_mates
from bioeval.tasks.reid.matches import MatchLists


def matches_by_squares(lists: Lists) -> dict[str, MatchLists] | None:
    """Return the matches of all queries under each rule; None if rows are to be read."""
    if source_of_tiles(lists.scores) is None:
        return None
    query, column, codes = _compared(lists)
    if not len(query) or not len(column):
        return None
    view = lists.scores.select(probes=query, gallery=column)._with(_codes=codes)
    squares = Squares.of(BlockReader(view), fused=False)
    if squares is None:
        return None
    value, row, position = squares.placed(multi=False)
    positions = squares.reader.gallery.columns[0]
    ranked = RankedSquares(lists, squares, query[squares.row], column[squares.column])
    return ranked.matches(value, query[row], column[positions[position]])


def _compared(lists: Lists) -> tuple[np.ndarray, np.ndarray, Codes]:
    """Return the queries that may have matches, the columns on any list, and identities of both.

    Of a set compared with itself both are the same templates. Each column whose identity is that of
    no query has an identity of its own; these come first.
    """
    scores = lists.scores
    column = np.flatnonzero(
        np.any([candidates.kept.any(axis=0) for candidates in lists.rules.values()], axis=0)
    )
    query = np.flatnonzero(lists.template_counts > (lists.self_column >= 0))
    asked = np.zeros(lists.identities, dtype=bool)
    asked[lists.query_identity[query]] = True
    column = column[np.argsort(asked[lists.identity[column]], kind="stable")]
    identity = lists.identity[column]
    of_columns = np.where(asked[identity], identity, lists.identities + np.arange(len(column)))
    of_queries = lists.query_identity[query]
    if np.array_equal(scores.probe_ids, scores.gallery_ids):
        query, of_queries = column, of_columns
    values, codes = np.unique(np.append(of_columns, of_queries), return_inverse=True)
    codes = codes.reshape(-1)
    return query, column, Codes.known(values, codes[len(column) :], codes[: len(column)])


class RankedSquares:
    """Counts the candidates in squares around the matches of their rows and columns.

    `query` and `column` are the row and the column of the scores at each place of the squares.
    """

    def __init__(self, lists: Lists, squares: Squares, query: np.ndarray, column: np.ndarray):
        self.lists, self.squares, self.query, self.column = lists, squares, query, column

    def matches(
        self, value: np.ndarray, row: np.ndarray, column: np.ndarray
    ) -> dict[str, MatchLists]:
        """Return the matches under each rule, of genuine scores and their rows and columns."""
        lists, m = self.lists, len(self.lists.query_identity)
        place = np.empty(m, dtype=np.int64)
        place[self.query] = np.arange(len(self.query))
        mates = {}
        for rule in lists.rules:
            usable = lists.listed(rule, row, column)[0]
            mates[rule] = sorted_mates(
                place[row[usable]], column[usable], value[usable], len(self.query)
            )
        self.mates = mates
        matches = {}
        for rule, counts in self._of_all_squares().items():
            starts, distance = mates[rule][:2]
            query = np.repeat(self.query, np.diff(starts))
            order = np.argsort(query, kind="stable")
            starts = np.concatenate([[0], np.cumsum(np.bincount(query, minlength=m))])
            closest = distance[order].astype(np.float64)
            matches[rule] = MatchLists(starts, closest, *counts[:, order])
        return matches

    def _columns(self, rule: str) -> list[kernel.Columns]:
        """Return the columns of each tile; those of the queries' identities are NaN there."""
        columns, none = [], np.empty(0, dtype=np.int64)
        kept = self.lists.rules[rule].kept[:, self.column]
        for some in map(self.squares.columns.__getitem__, range(len(self.squares.columns))):
            of_tile, place = np.ascontiguousarray(kept[:, some]), self.column[some]
            columns.append(kernel.Columns(place, place, none, none, of_tile))
        return columns

    def _of_all_squares(self) -> dict[str, np.ndarray]:
        """Return the counts of candidates around the matches, under each rule."""
        squares, client = self.squares, OPTIONS["client"]
        if client is None or is_small(self.lists.scores):
            return self.counts(range(len(squares.rows)))
        from bioeval.counting.cluster import Sent, Workers

        m = self.lists.scores.shape[0]
        workers = Workers(client, Sent(self), squares.bands, m)
        (counts,) = workers.ask(RankedSquares.counts, _sums)
        return counts

    def counts(self, bands: range) -> dict[str, np.ndarray]:
        """Return these of the squares of some bands: closer, tied, and before, of each match."""
        squares, rules, mates = self.squares, self.lists.rules, self.mates
        counts = {rule: np.zeros((3, len(x.distance)), dtype=np.int64) for rule, x in mates.items()}
        matched = np.any([np.diff(of_rule.starts) > 0 for of_rule in mates.values()], axis=0)
        candidates = {rule: self._columns(rule) for rule in rules}
        list_index = {rule: rules[rule].list_index[self.query] for rule in rules}
        nobody, none = np.full(len(self.query), -1), np.empty(0, dtype=np.int64)
        adding = threading.Lock()

        def count_side(side: slice, j: int, tile: np.ndarray, rule: str) -> None:
            """Count the columns of tile `j` around the matches of some rows."""
            starts, distance, column = mates[rule][:3]
            starts = starts[side.start : side.stop + 1]
            some = slice(int(starts[0]), int(starts[-1]))
            found = np.empty((3, some.stop - some.start), dtype=np.int64)
            kernel.rank_mates.on_one_thread(
                kernel.Queries(
                    tile[: side.stop - side.start], nobody[side], list_index[rule][side]
                ),
                candidates[rule][j],
                kernel.Mates(starts - starts[0], distance[some], column[some], *found),
                none,
            )
            with adding:
                counts[rule][:, some] += found

        def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
            squares.without_mates(i, j, tile)
            rows, columns = squares.rows[i], squares.columns[j]
            for rule in rules:
                count_side(rows, j, tile, rule)
            if squares.symmetric and i != j:
                height, width = rows.stop - rows.start, columns.stop - columns.start
                turned = np.ascontiguousarray(tile[:height, :width].T)
                for rule in rules:
                    count_side(columns, i, turned, rule)

        of_rows = np.add.reduceat(matched, squares.rows.starts[:-1])
        wanted = [
            (i, j)
            for i, j in squares.places(bands)
            if of_rows[i] or (squares.symmetric and of_rows[j])
        ]
        squares.visit(wanted, lambda: visit, progress=True)
        return counts


def _sums(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {rule: counts + other[rule] for rule, counts in one.items()}
