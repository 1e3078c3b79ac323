"""The candidate list of each query under a convention, and the ranks of its matches.

The columns are read in the gallery's own order. Which of them are on a query's list follows from
integer codes alone: one list of columns for all queries, or one for each camera, less the
templates of the query's own identity that its camera removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.kernels.argument_groups import ListedGallery, Mates, Queries
from bioeval.kernels.mate_ranks import rank_mates
from bioeval.protocol.reid import Convention, cameras_of
from bioeval.scores.arrays import GENUINE, IGNORE, IMPOSTOR, writable_alias
from bioeval.scores.blocks import BlockReader, as_distances, require_subjects
from bioeval.scores.labels import Codes
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.tallies.reid_counts import MatchLists

# Scores in one call of a kernel, where nothing must be copied.
SWEEP_VALUES = 1 << 24


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
            self_position=_self_columns(self.scores),
            own=none - 1,
            mate_start=none,
            mate_stop=none,
        )

    def same_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of pairs of one subject that agree in a column."""
        probe, gallery = self.scores.codes.probe[rows], self.scores.codes.gallery
        same = np.zeros((len(probe), len(gallery)), dtype=bool)
        for probes, columns in self._excluding:
            same |= probes[rows, None] == columns
        rows, columns = np.nonzero(same & (probe[:, None] == gallery))
        return rows, columns

    def _check_mask(self, mask: np.ndarray, low: int) -> None:
        codes = self.scores.codes
        genuine = codes.probe[low : low + len(mask), None] == codes.gallery[None]
        wrong = (mask != IGNORE) & (mask != np.where(genuine, GENUINE, IMPOSTOR))
        wrong &= np.arange(mask.shape[1]) != self.gallery.self_position[low : low + len(mask), None]
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
    """The candidate lists of all queries under one rule of removal.

    Attributes
    ----------
    same_camera : bool
        Whether templates of the query's identity from its camera are removed.
    run_starts, run_first, run_stop : int64 arrays
        The columns of list ``l`` are the runs ``run_first[r]:run_stop[r]`` for ``r`` in
        ``run_starts[l]:run_starts[l + 1]``.
    which : int64 array, shape (m,)
        The list of each query.
    kept : bool array, shape (lists, n)
        The columns of each list as a mask.
    """

    same_camera: bool
    run_starts: np.ndarray
    run_first: np.ndarray
    run_stop: np.ndarray
    which: np.ndarray
    kept: np.ndarray

    def off_list(self, self_column: np.ndarray) -> np.ndarray:
        """Return the number of columns not on each query's list, without the query itself."""
        count = (~self.kept).sum(axis=1)[self.which]
        itself = (self_column >= 0) & ~self.kept[self.which, self_column]
        return count - itself

    @classmethod
    def of(cls, rule: str, junk: np.ndarray, camera: np.ndarray, queries: np.ndarray) -> Candidates:
        """Build the lists of a rule; see the cards for the rules."""
        if rule == "same-camera":
            cameras, which = np.unique(queries, return_inverse=True)
            kept = [~junk & (camera != c) for c in cameras]
        else:
            kept, which = [~junk], np.zeros(len(queries), dtype=np.int64)
        found = [_runs(keep) for keep in kept]
        starts = np.cumsum([0, *(len(first) for first, _ in found)]).astype(np.int64)
        first, stop = (np.concatenate(parts) for parts in zip(*found, strict=True))
        which = which.reshape(-1).astype(np.int64)
        return cls(rule != "none", starts, first, stop, which, np.array(kept))


def _runs(keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the start and the end of each run of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], keep.view(np.int8), [0]])))
    return edges[::2].astype(np.int64), edges[1::2].astype(np.int64)


class Lists:
    """The candidate lists of scores under a convention, as integer codes."""

    def __init__(self, scores: Scores, convention: Convention):
        scores.require_matrix()
        require_subjects(scores, "re-identification")
        self.scores, self.convention = scores, convention
        codes = scores.codes
        n = scores.shape[1]
        self.identity, self.own = codes.gallery, codes.probe
        self.identities = len(codes.values)
        self.own_columns = np.argsort(self.identity, kind="stable").astype(np.int64)
        counts = np.bincount(self.identity, minlength=self.identities)
        self.own_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.room = counts[self.own]
        self.self_column = _self_columns(scores)
        self.enrolled = (self.room > (self.self_column >= 0)) & scores.enrolled_probes()
        self.marked = _has_id(codes, convention.junk_ids)
        ids = (*convention.distractor_ids, *scores.distractor_ids)
        self.distractor_ids = tuple(dict.fromkeys(ids))
        removes = convention.junk == "remove"
        junk = self.marked[self.identity] if removes else np.zeros(n, dtype=bool)
        self.camera, self.query_camera = self._cameras()
        self.rules = {
            rule: Candidates.of(rule, junk, self.camera, self.query_camera)
            for rule in dict.fromkeys([convention.ap_removed, convention.removed])
        }

    def _cameras(self) -> tuple[np.ndarray, np.ndarray]:
        m, n = self.scores.shape
        if not self.convention.needs_cameras:
            return np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
        queries, gallery = cameras_of(self.scores)
        codes = Codes(queries, gallery, "cameras")
        return codes.gallery, codes.probe

    def notes(self) -> tuple[str, ...]:
        """Return remarks on queries with the id of junk or of distractors."""
        codes, said = self.scores.codes, []
        keeps = self.convention.junk == "keep"
        for ids, what, then in (
            (self.distractor_ids, "distractors", "are searched like any other"),
            (
                self.convention.junk_ids,
                "junk",
                "are searched like any other" if keeps else "have no match left",
            ),
        ):
            count = int(_has_id(codes, ids)[self.own].sum())
            if count:
                said.append(f"{count} queries bear an id of {what} ({_listed(ids)}) and {then}")
        return tuple(said)

    def about(self, reader: RowReader) -> Provenance:
        """Return the provenance of the data, with :meth:`notes`."""
        reader.note_failure_codes()
        about, reading = reader.about, reader.about.reading
        if self.distractor_ids:
            reading = (*reading, f"distractors: identity {_listed(self.distractor_ids)}")
        return replace(about, notes=(*about.notes, *self.notes()), reading=reading)

    def rows(
        self, reader: RowReader, first: int, last: int
    ) -> Iterator[tuple[int, np.ndarray, Callable]]:
        """Yield blocks of raw distances of rows ``first:last``, with their first row's number.

        The third of each is a function for checked values: these have the policy for failed
        comparisons applied; the others hold NaN for each failed comparison.
        """
        scores = self.scores
        n = scores.shape[1]
        base = scores.base
        float_ = np.dtype(base.dtype).kind == "f" and np.dtype(base.dtype).itemsize <= 8
        direct = float_ and not scores.has_mask and not scores.exclude
        step = reader.rows_per_block()
        if isinstance(base, np.ndarray) and scores.reads_in_place:
            step = max(1, SWEEP_VALUES // n)
        for low in range(first, last, step):
            high = min(low + step, last)

            def checked(low: int = low, high: int = high) -> np.ndarray:
                return reader.block(low, high).values

            if direct:
                values = writable_alias(as_distances(scores.read_rows(low, high), scores.kind))
                reader.look(low, values)
                yield low, values, checked
            else:
                yield low, checked(), checked

    def rank_checked(
        self, rule: str, low: int, rows: np.ndarray, checked: Callable
    ) -> tuple[np.ndarray, Mates]:
        """Return a block of rows and the ranks of its matches, after a check for failures."""
        found = self._rank(rule, low, rows)
        if found.failed.any():
            rows = checked()
            found = self._rank(rule, low, rows)
        return rows, found

    def _rank(self, rule: str, low: int, rows: np.ndarray) -> Mates:
        """Rank the matches of a block of rows under a rule."""
        b = len(rows)
        offsets = np.concatenate([[0], np.cumsum(self.room[low : low + b])]).astype(np.int64)
        places = int(offsets[-1])
        mates = Mates(
            offsets=offsets,
            distance=np.empty(places, dtype=rows.dtype),
            **{k: np.empty(places, dtype=np.int64) for k in ("column", "closer", "tied", "before")},
            **{k: np.empty(b, dtype=np.int64) for k in ("found", "removed", "failed")},
        )
        rank_mates(*self.groups(rule, low, rows), mates)
        return mates

    def groups(self, rule: str, low: int, rows: np.ndarray) -> tuple[Queries, ListedGallery]:
        """Return a block of rows and the gallery under a rule, in the form that kernels take."""
        part, candidates = slice(low, low + len(rows)), self.rules[rule]
        queries = Queries(
            values=rows,
            own=self.own[part],
            self_column=self.self_column[part],
            camera=self.query_camera[part],
            which=candidates.which[part],
        )
        gallery = ListedGallery(
            identity=self.identity,
            own_starts=self.own_starts,
            own_columns=self.own_columns,
            camera=self.camera,
            same_camera=candidates.same_camera,
            run_starts=candidates.run_starts,
            run_first=candidates.run_first,
            run_stop=candidates.run_stop,
        )
        return queries, gallery


def match_lists(mates: Mates) -> MatchLists:
    """Return the matches of a block of rows, without unused places."""
    starts = np.concatenate([[0], np.cumsum(mates.found)])
    used = places_used(mates)
    return MatchLists(
        starts,
        mates.distance[used].astype(np.float64),
        *(x[used] for x in (mates.closer, mates.tied, mates.before)),
    )


def places_used(mates: Mates) -> np.ndarray:
    """Return the places of the matches of a block of rows that are in use."""
    starts = np.concatenate([[0], np.cumsum(mates.found)])
    return np.repeat(mates.offsets[:-1] - starts[:-1], mates.found) + np.arange(starts[-1])


def _listed(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids))


def _has_id(codes: Codes, ids: tuple[int, ...]) -> np.ndarray:
    """Return which identities are among some numbers, written as a number or as text."""
    values = codes.values
    if not ids:
        return np.zeros(len(values), dtype=bool)
    if values.dtype.kind in "iufb":
        return np.isin(values, ids)
    words = {str(number) for number in ids}
    return np.array([str(x) in words for x in values.tolist()], dtype=bool)


def kept_scores(scores: Scores, convention: Convention) -> Scores:
    """Return a view of scores without the cells that a convention removes."""
    return scores.with_mask(LazyMask(Lists(scores, convention), scores.mask))


class LazyMask:
    """Mask of a matrix under a convention, computed row by row as it is read."""

    ndim = 2

    def __init__(self, lists: Lists, mask: np.ndarray | None):
        self.lists, self.given = lists, mask
        self.shape = lists.scores.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the mask of some rows: 0 ignore, 1 impostor, 2 genuine."""
        lists = self.lists
        candidates = lists.rules[lists.convention.removed]
        index = np.arange(self.shape[0])[rows]
        genuine = lists.own[index, None] == lists.identity[None]
        mask = np.where(genuine, np.uint8(GENUINE), np.uint8(IMPOSTOR))
        mask[~candidates.kept[candidates.which[index]]] = IGNORE
        if candidates.same_camera:
            here = lists.query_camera[index, None] == lists.camera[None]
            mask[genuine & here] = IGNORE
        if self.given is not None:
            mask[self.given[index] == IGNORE] = IGNORE
        return mask
