"""The candidate list of each query, and the ranks of its matches among the rows that are read.

The columns are read in the gallery's own order. Which of them are on a query's list, and which of
its own identity are matches, follows from integer codes alone: one list of columns for all queries,
or one for each camera, less the templates of the query's own identity that its camera removes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.progress import reporter
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import BlockReader, require_subjects, require_templates
from bioeval.scores.matrix import Scores, codes_of
from bioeval.scores.provenance import Provenance, camera_notes, joined
from bioeval.tasks.reid.convention import (
    Convention,
    camera_codes,
    left_out_notes,
    left_out_queries,
)
from bioeval.tasks.reid.kernel import Columns, Mates, Queries, rank_mates
from bioeval.tasks.reid.matches import MatchLists

# Scores in one call of a kernel, where nothing must be copied.
VALUES_IN_MEMORY = 1 << 24


class RowReader(BlockReader):
    """Reader of blocks whose columns are in the gallery's own order."""

    @cached_property
    def gallery(self) -> Any:
        """The gallery, with its columns neither reordered nor grouped."""
        m, n = self.scores.shape
        none = np.zeros(m, dtype=np.int64)
        return SimpleNamespace(
            order=None,
            columns=np.arange(n, dtype=np.int64)[None],
            starts=np.array([0, n], dtype=np.int64),
            probe_position=_self_columns(self.scores),
            probe_group=none - 1,
            mate_start=none,
            mate_stop=none,
        )

    def excluded_cells(self, low: int, high: int) -> Any:
        """Return an index of the cells of rows ``low:high`` that `exclude` leaves out."""
        return self.scores._excluded_rows(low, high)

    def _check_mask(self, mask: np.ndarray, low: int) -> None:
        """Raise :class:`DataError` where the mask of rows from `low` on contradicts the labels."""
        codes = codes_of(self.scores)
        genuine = codes.probe[low : low + len(mask), None] == codes.gallery[None]
        wrong = (mask != Mask.IGNORE) & (mask != np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR))
        nobody = codes.no_person
        wrong &= ~(nobody[codes.probe[low : low + len(mask)]][:, None] & nobody[codes.gallery])
        wrong &= (
            np.arange(mask.shape[1]) != self.gallery.probe_position[low : low + len(mask), None]
        )
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            raise DataError(
                f"the mask contradicts the labels, first at row {low + row}, column {column}; "
                "give booleans (True: an attempt), or mark what to leave out with 0"
            )


def _self_columns(scores: Scores) -> np.ndarray:
    """Return the column that is the query itself, -1 where it is not in the gallery."""
    ids = scores.gallery_ids
    largest = max(int(ids.max()), int(scores.probe_ids.max()))
    position = np.full(largest + 1, -1, dtype=np.int64)
    position[ids] = np.arange(len(ids))
    return position[scores.probe_ids]


@dataclass
class Candidates:
    """The candidate lists of all queries under one rule of removal."""

    same_camera: bool  # whether templates of the query's identity from its camera are removed
    list_index: np.ndarray  # int64 (m,): the list of each query
    columns: Columns

    @property
    def kept(self) -> np.ndarray:
        """The columns of each list, bool (lists, n)."""
        return self.columns.kept


@dataclass(frozen=True)
class RankedRows:
    """A block of rows, and their matches under a rule of removal."""

    rule: str
    rows: slice
    queries: Queries
    columns: Columns
    mates: Mates

    @property
    def matches(self) -> MatchLists:
        """The matches of the rows."""
        starts, distance, _, *counts = self.mates
        return MatchLists(starts, distance.astype(np.float64), *counts)


class Lists:
    """The candidate lists of scores under a convention, as integer codes."""

    def __init__(self, scores: Scores, convention: Convention):
        """Number identities and cameras, and list the candidates under each rule."""
        require_subjects(scores, "re-identification")
        require_templates(scores, "re-identification")
        self.scores, self.convention = scores, convention
        codes = codes_of(scores).labelled
        n = scores.shape[1]
        self.marked = codes.of_no_person(convention.junk_ids)
        ids = (*convention.distractor_ids, *scores.distractor_ids)
        self.distractor_ids = tuple(dict.fromkeys(ids))
        self.distractors = codes.of_no_person(self.distractor_ids)
        #: Queries that are junk or distractors: they match nothing, and are left out of all means.
        self.left_out = left_out_queries(scores, (*convention.junk_ids, *self.distractor_ids))
        self.identity = codes.gallery
        #: The code of each query's subject; -1 where it is of no person.
        self.query_identity = np.where(self.left_out, -1, codes.probe)
        self.identities = len(codes.values)
        self.identity_columns = np.argsort(self.identity, kind="stable").astype(np.int64)
        counts = np.bincount(self.identity, minlength=self.identities)
        self.identity_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.template_counts = np.where(self.left_out, 0, counts[self.query_identity])
        self.self_column = _self_columns(scores)
        self.enrolled = (self.template_counts > (self.self_column >= 0)) & scores._enrolled_probes()
        removes = convention.junk == "remove"
        self.junk = self.marked[self.identity] if removes else np.zeros(n, dtype=bool)
        rules = (convention.removed, convention.ap_removed)
        self.of_cameras: list[Message] = []
        if convention.needs_cameras:
            cameras = camera_codes(scores)
            self.of_cameras = camera_notes(scores, cameras, "same-camera" in rules)
            self.camera, self.query_camera = cameras.gallery, cameras.probe
        else:
            self.camera = np.zeros(n, dtype=np.int64)
            self.query_camera = np.zeros(scores.shape[0], dtype=np.int64)
        self.rules = self._rules_without(self.junk)

    def _rules_without(self, columns: np.ndarray) -> dict[str, Candidates]:
        """Return the lists under each rule, without some columns (bool (n,)); see the cards."""
        rules = {}
        for rule in (self.convention.ap_removed, self.convention.removed):
            kept, index = ~columns[None], np.zeros(len(self.query_camera), dtype=np.int64)
            if rule == "same-camera":
                cameras, index = np.unique(self.query_camera, return_inverse=True)
                kept = kept & (self.camera != cameras[:, None])
            of_rule = Columns(
                np.arange(len(self.identity)),
                self.identity,
                self.identity_starts,
                self.identity_columns,
                kept,
            )
            rules[rule] = Candidates(rule != "none", index.reshape(-1).astype(np.int64), of_rule)
        return rules

    def without(self, columns: np.ndarray) -> Lists:
        """Return the lists of a gallery that lacks some columns (bool (n,)) of others."""
        lists = copy(self)
        lists.rules = self._rules_without(self.junk | columns)
        return lists

    def notes(self) -> tuple[Message, ...]:
        """Return remarks on queries with the id of junk or of distractors, and on cameras."""
        notes = left_out_notes(self.scores, self.distractor_ids, self.convention.junk_ids)
        return (*notes, *self.of_cameras)

    def about(self, reader: RowReader) -> Provenance:
        """Return the provenance of the data, with :meth:`notes`."""
        about, reading = reader.about, reader.about.reading
        if self.distractor_ids:
            identities = ", ".join(map(str, self.distractor_ids))
            reading = (*reading, f"distractors: identity {identities}")
        return replace(about, notes=joined(about.notes, self.notes()), reading=reading)

    @cached_property
    def own(self) -> tuple[np.ndarray, np.ndarray]:
        """The row and the column of all templates of each query's own identity, in order."""
        number = self.template_counts
        row = np.repeat(np.arange(len(number)), number)
        first = self.identity_starts[self.query_identity] - (np.cumsum(number) - number)
        return row, self.identity_columns[np.arange(len(row)) + np.repeat(first, number)]

    def own_of(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Return those of some rows."""
        row, column = self.own
        cells = slice(*np.searchsorted(row, [rows.start, rows.stop]))
        return row[cells], column[cells]

    def listed(self, rule: str, row: np.ndarray, column: np.ndarray) -> tuple[Any, Any]:
        """Return which own templates are on the list of a rule: matches, and removed ones."""
        candidates = self.rules[rule]
        listed = candidates.kept[candidates.list_index[row], column]
        gone = column == self.self_column[row]
        if candidates.same_camera:
            gone |= self.camera[column] == self.query_camera[row]
        return listed & ~gone, listed & gone

    def removed_entries(self, rule: str) -> np.ndarray:
        """Return the number of columns that are not on each query's list, without the query."""
        candidates, itself, (row, column) = self.rules[rule], self.self_column, self.own
        gone = self.listed(rule, row, column)[1] & (column != itself[row])
        removed = np.bincount(row[gone], minlength=len(itself))
        removed += np.count_nonzero(~candidates.kept, axis=1)[candidates.list_index]
        return removed - ((itself >= 0) & ~candidates.kept[candidates.list_index, itself])

    def rows_per_block(self, reader: RowReader) -> int:
        """Return the number of rows of a block."""
        scores = self.scores
        if isinstance(scores._base, np.ndarray) and scores._reads_in_place:
            return max(1, VALUES_IN_MEMORY // scores.shape[1])
        return reader.rows_per_block()

    def parts(self, number: int) -> list[range]:
        """Return rows of about so many parts."""
        ends = np.linspace(0, self.scores.shape[0], number + 1).astype(int).tolist()
        return [range(low, high) for low, high in itertools.pairwise(ends) if low < high]

    def blocks(
        self, reader: RowReader, most: int | None = None, part: range | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield all rows, or those of a part, at most so many at a time, and their distances.

        These hold until the next. Each failed comparison may be NaN.
        """
        scores, given, step = self.scores, reader.given, self.rows_per_block(reader)
        dtype = np.dtype(scores._base.dtype)
        as_given = dtype.kind == "f" and dtype.itemsize <= 8
        as_given = as_given and not scores._has_mask and not scores.exclude
        as_given = as_given and scores.nan != "reject"
        step = min(step, most or step)
        part = range(scores.shape[0]) if part is None else part
        for low in range(part.start, part.stop, step):
            high = min(low + step, part.stop)
            read = given.distances if as_given else lambda *rows: reader.block(*rows).values
            yield slice(low, high), read(low, high)
            reporter()(high, scores.shape[0])

    def ranked(
        self, reader: RowReader, most: int | None = None, part: range | None = None
    ) -> Iterator[list[RankedRows]]:
        """Yield blocks of at most so many rows, with their matches under each rule."""
        for rows, values in self.blocks(reader, most, part):
            checked = False
            blocks = []
            for rule in self.rules:
                ranked, failed = self._rank(rule, rows, values)
                if failed and not checked:
                    values, checked = reader.block(rows.start, rows.stop).values, True
                    ranked, _ = self._rank(rule, rows, values)
                blocks.append(ranked)
            yield blocks

    def _rank(self, rule: str, rows: slice, values: np.ndarray) -> tuple[RankedRows, bool]:
        """Rank the matches of a block of rows; return whether a comparison on a list failed."""
        candidates, (row, column) = self.rules[rule], self.own_of(rows)
        usable = self.listed(rule, row, column)[0]
        row, column = row[usable] - rows.start, column[usable]
        distance = values[row, column]
        there = ~np.isnan(distance)
        mates = sorted_mates(row[there], column[there], distance[there], len(values))
        queries = Queries(values, self.query_identity[rows], candidates.list_index[rows])
        failed = np.empty(len(values), dtype=np.int64)
        rank_mates(queries, candidates.columns, mates, failed)
        ranked = RankedRows(rule, rows, queries, candidates.columns, mates)
        return ranked, not there.all() or bool(failed.any())


def sorted_mates(row: np.ndarray, column: np.ndarray, distance: np.ndarray, rows: int) -> Mates:
    """Return the mates of some rows from near to far, equal ones by column; not yet ranked."""
    order = np.lexsort((column, distance, row))
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    return Mates(
        starts,
        distance[order],
        column[order],
        *np.empty((3, len(order)), dtype=np.int64),
    )
