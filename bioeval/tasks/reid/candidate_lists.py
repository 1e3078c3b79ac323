"""The candidate list of each query, and the ranks of its matches in the rows that are read.

The columns are read in the gallery's own order. Which of them are on a query's list follows from
integer codes alone: one list of columns for all queries, or one for each camera, less the
templates of the query's own identity that its camera removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import BlockReader, require_subjects, require_templates
from bioeval.scores.labels import Codes
from bioeval.scores.matrix import Scores, codes_of
from bioeval.scores.provenance import Provenance
from bioeval.tasks.reid.convention import (
    Convention,
    cameras_of,
    left_out_notes,
    left_out_queries,
)
from bioeval.tasks.reid.kernel import ListedGallery, Mates, Queries, rank_mates
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

    def same_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of pairs of one subject that agree in a column."""
        probe, gallery = codes_of(self.scores).probe[rows], codes_of(self.scores).gallery
        same = np.zeros((len(probe), len(gallery)), dtype=bool)
        for probes, columns in self._excluding:
            same |= probes[rows, None] == columns
        rows, columns = np.nonzero(same & (probe[:, None] == gallery))
        return rows, columns

    def _check_mask(self, mask: np.ndarray, low: int) -> None:
        """Raise :class:`DataError` where the mask of rows from `low` on contradicts the labels."""
        codes = codes_of(self.scores)
        genuine = codes.probe[low : low + len(mask), None] == codes.gallery[None]
        wrong = (mask != Mask.IGNORE) & (mask != np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR))
        wrong &= (
            np.arange(mask.shape[1]) != self.gallery.probe_position[low : low + len(mask), None]
        )
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            raise DataError(
                f"the mask contradicts the labels, first at row {low + row}, column {column}; "
                "mark what to leave out with 0"
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
    #: int64: the columns of list ``l`` are the runs ``run_first[r]:run_stop[r]`` for ``r`` in
    #: ``run_starts[l]:run_starts[l + 1]``.
    run_starts: np.ndarray
    run_first: np.ndarray
    run_stop: np.ndarray
    list_index: np.ndarray  # int64 (m,): the list of each query
    kept: np.ndarray  # bool (lists, n): the columns of each list as a mask

    def off_list(self, self_column: np.ndarray) -> np.ndarray:
        """Return the number of columns not on each query's list, without the query itself."""
        count = (~self.kept).sum(axis=1)[self.list_index]
        self_off_list = (self_column >= 0) & ~self.kept[self.list_index, self_column]
        return count - self_off_list

    @classmethod
    def of(cls, rule: str, junk: np.ndarray, camera: np.ndarray, queries: np.ndarray) -> Candidates:
        """Build the lists of a rule; see the cards for the rules."""
        if rule == "same-camera":
            cameras, list_index = np.unique(queries, return_inverse=True)
            kept = ~junk & (camera != cameras[:, None])
        else:
            kept, list_index = ~junk[None], np.zeros(len(queries), dtype=np.int64)
        edges = np.diff(np.pad(kept, ((0, 0), (1, 1))).view(np.int8), axis=1)
        of_list, first = np.divmod(np.flatnonzero(edges == 1), edges.shape[1])
        stop = np.flatnonzero(edges == -1) % edges.shape[1]
        starts = np.searchsorted(of_list, np.arange(len(kept) + 1))
        list_index = list_index.reshape(-1).astype(np.int64)
        return cls(rule != "none", starts, first, stop, list_index, kept)


@dataclass(frozen=True)
class RowsAsRead:
    """A block of distances from row `low` on; each failed comparison may be NaN."""

    reader: RowReader
    low: int
    values: np.ndarray

    def checked(self) -> RowsAsRead:
        """Return the block with the policy for failed comparisons applied."""
        block = self.reader.block(self.low, self.low + len(self.values))
        return replace(self, values=block.values)


@dataclass(frozen=True)
class RankedRows:
    """The ranks of the matches of a block of rows, from row `low` on, under a rule of removal."""

    rule: str
    low: int
    values: np.ndarray
    mates: Mates

    @property
    def stop(self) -> int:
        """The row after the last one."""
        return self.low + len(self.values)


class Lists:
    """The candidate lists of scores under a convention, as integer codes."""

    def __init__(self, scores: Scores, convention: Convention):
        """Number identities and cameras, and list the candidates under each rule."""
        require_subjects(scores, "re-identification")
        require_templates(scores, "re-identification")
        self.scores, self.convention = scores, convention
        codes = codes_of(scores)
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
        if convention.needs_cameras:
            cameras = Codes(*cameras_of(scores), "cameras")
            self.camera, self.query_camera = cameras.gallery, cameras.probe
        else:
            self.camera = np.zeros(n, dtype=np.int64)
            self.query_camera = np.zeros(scores.shape[0], dtype=np.int64)
        self.rules = self._rules_without(self.junk)

    def _rules_without(self, columns: np.ndarray) -> dict[str, Candidates]:
        """Return the lists under each rule, without some columns (bool (n,))."""
        convention = self.convention
        return {
            rule: Candidates.of(rule, columns, self.camera, self.query_camera)
            for rule in dict.fromkeys([convention.ap_removed, convention.removed])
        }

    def without(self, columns: np.ndarray) -> Lists:
        """Return the lists of a gallery that lacks some columns (bool (n,)) of others."""
        lists = copy(self)
        lists.rules = self._rules_without(self.junk | columns)
        return lists

    def notes(self) -> tuple[Message, ...]:
        """Return remarks on queries with the id of junk or of distractors."""
        notes = left_out_notes(self.scores, self.distractor_ids, self.convention.junk_ids)
        return tuple(notes)

    def about(self, reader: RowReader) -> Provenance:
        """Return the provenance of the data, with :meth:`notes`."""
        about, reading = reader.about, reader.about.reading
        if self.distractor_ids:
            identities = ", ".join(map(str, self.distractor_ids))
            reading = (*reading, f"distractors: identity {identities}")
        return replace(about, notes=(*about.notes, *self.notes()), reading=reading)

    def rows_per_block(self, reader: RowReader) -> int:
        """Return the number of rows of a block."""
        scores = self.scores
        if isinstance(scores._base, np.ndarray) and scores._reads_in_place:
            return max(1, VALUES_IN_MEMORY // scores.shape[1])
        return reader.rows_per_block()

    def blocks(self, reader: RowReader, first: int, last: int) -> Iterator[RowsAsRead]:
        """Yield blocks of the raw distances of rows ``first:last``; each holds until the next."""
        scores = self.scores
        base = scores._base
        float_ = np.dtype(base.dtype).kind == "f" and np.dtype(base.dtype).itemsize <= 8
        direct = float_ and not scores._has_mask and not scores.exclude
        step, rows = self.rows_per_block(reader), reader.given
        for low in range(first, last, step):
            high = min(low + step, last)
            if direct:
                values = rows.distances(low, high)
            else:
                values = reader.block(low, high).values
            yield RowsAsRead(reader, low, values)

    def ranked(
        self, rules: Iterable[str], reader: RowReader, first: int, last: int
    ) -> Iterator[RankedRows]:
        """Yield the matches of rows ``first:last`` under each rule, block by block."""
        for block in self.blocks(reader, first, last):
            for rule in rules:
                mates = self._rank(rule, block.low, block.values)
                if mates.failed.any():
                    block = block.checked()
                    mates = self._rank(rule, block.low, block.values)
                yield RankedRows(rule, block.low, block.values, mates)

    def _rank(self, rule: str, low: int, rows: np.ndarray) -> Mates:
        """Rank the matches of a block of rows under a rule."""
        b = len(rows)
        offsets = np.concatenate([[0], np.cumsum(self.template_counts[low : low + b])]).astype(
            np.int64
        )
        places = int(offsets[-1])
        mates = Mates(
            offsets=offsets,
            distance=np.empty(places, dtype=rows.dtype),
            column=np.empty(places, dtype=np.int64),
            closer=np.empty(places, dtype=np.int64),
            tied=np.empty(places, dtype=np.int64),
            before=np.empty(places, dtype=np.int64),
            usable=np.empty(b, dtype=np.int64),
            removed=np.empty(b, dtype=np.int64),
            failed=np.empty(b, dtype=np.int64),
        )
        queries, gallery = self.groups(rule, low, rows)
        rank_mates(queries, gallery, mates)
        return mates

    def groups(self, rule: str, low: int, rows: np.ndarray) -> tuple[Queries, ListedGallery]:
        """Return a block of rows and the gallery under a rule, in the form that kernels take."""
        part, candidates = slice(low, low + len(rows)), self.rules[rule]
        queries = Queries(
            values=rows,
            identity=self.query_identity[part],
            self_column=self.self_column[part],
            camera=self.query_camera[part],
            list_index=candidates.list_index[part],
        )
        gallery = ListedGallery(
            identity=self.identity,
            identity_starts=self.identity_starts,
            identity_columns=self.identity_columns,
            camera=self.camera,
            same_camera=candidates.same_camera,
            run_starts=candidates.run_starts,
            run_first=candidates.run_first,
            run_stop=candidates.run_stop,
        )
        return queries, gallery


def match_lists(mates: Mates) -> MatchLists:
    """Return the matches of a block of rows, without unused places."""
    starts = np.concatenate([[0], np.cumsum(mates.usable)])
    used = places_used(mates)
    return MatchLists(
        starts,
        mates.distance[used].astype(np.float64),
        closer=mates.closer[used],
        tied=mates.tied[used],
        before=mates.before[used],
    )


def places_used(mates: Mates) -> np.ndarray:
    """Return the places of the matches of a block of rows that are in use."""
    starts = np.concatenate([[0], np.cumsum(mates.usable)])
    return np.repeat(mates.offsets[:-1] - starts[:-1], mates.usable) + np.arange(starts[-1])
