"""Scores as blocks of rows that the kernels can count.

A block is C-contiguous, in float32 or float64 (whichever holds the values exactly), in distances,
NaN where there is no attempt, with the gallery's subjects side by side. Where the matrix
already is all that, a block is a view of it and nothing is copied.

A memory limit of the scores holds for what a process takes beyond the interpreter with its
libraries and compiled kernels. What does not depend on the rows read together is estimated from the
numbers of templates and genuine scores; a quarter of the limit is for impostor scores around the
operating points.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numba
import numpy as np

from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    ProtocolError,
)
from bioeval.base.memory import in_words, memory_limited
from bioeval.base.options import OPTIONS
from bioeval.base.progress import report, reporter
from bioeval.scores.arrays import (
    Mask,
    as_distances,
    distance_dtype,
    parse_fusion,
    rows_of,
    scored,
    with_failures,
    writable_alias,
)
from bioeval.scores.excluded import excluded, excluded_rows, failed_cells, left_out_rows
from bioeval.scores.gallery_order import GalleryOrder, cells_between
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, require_all_scores

# Bytes of tables and results; of a template: labels, codes, metadata and the facts of its ranks; of
# a genuine score: its place, and the score itself, also sorted.
_TABLES, _TEMPLATE, _GENUINE = 12 << 20, 400, 64

# Copies of the rows of a container: those counted, those that follow, and what inflating takes; and
# of rows that are computed from embeddings.
_STORED, _COMPUTED = 5, 6

# Bytes of a cell beside its score: what of it is NaN, left out or constant; and the part of the
# limit for all but collected scores, with some room for what a library takes for itself.
_CELL, _SHARE = 8, 0.65

# Pages of a mapped file that is larger than this are released where no limit is stated; to map them
# again takes a third of the time of an evaluation.
MAPPED = 1 << 30


def bytes_of(scores: Scores) -> tuple[int, int]:
    """Return about how many bytes are needed however few rows are read together; and by a row."""
    m, n = scores.shape
    genuine, copies = 0, 1
    if scores._labelled:
        size = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
        genuine = int(size[scores.codes.probe].sum())
    sampled = 32 * max(8 * n, 1 << 16)
    fixed = _TABLES + _TEMPLATE * (m + n) + _GENUINE * genuine + sampled
    if scores.streams:
        copies = _COMPUTED
    if rows_of(scores.cells.base) == "container":
        copies = _STORED
    cell = copies * scores.dtype.itemsize + 3 * distance_dtype(scores.dtype).itemsize + _CELL
    return fixed + getattr(scores.cells.mask, "nbytes", 0), n * cell


def rows_within(scores: Scores, chunk: int) -> int:
    """Return how many rows may be read together under the limit of the scores.

    Raise :class:`DataError` if not even a chunk of rows fits; it says how much would do.
    """
    if not scores._limited:
        return sys.maxsize
    chunk = min(chunk, scores.shape[0])
    fixed, each = bytes_of(scores)
    rows = int(_SHARE * scores._memory_limit - fixed) // each
    if rows >= chunk:
        return rows // chunk * chunk
    least = (fixed + each * chunk) / _SHARE
    why = "a row is read whole"
    if chunk > 1:
        why = f"chunks of {chunk:,} rows are read whole"
    less = "; chunks of fewer rows would need less" if chunk > 1 else ""
    raise DataError(
        f"{Argument('memory_limit')} is {in_words(scores._memory_limit)}, too little for "
        f"{scores.shape[0]:,} x {scores.shape[1]:,} {scores.dtype.name} scores ({why}): expected "
        f"at least {in_words(least)}{less}"
    )


def is_mapped(scores: Scores) -> bool:
    """Whether the scores are a mapped file so large that its pages are to be released."""
    return _pages(scores) is not None


def give_back(scores: Scores) -> None:
    """Release the pages of a mapped file; they count as memory of the process.

    They stay in the system's cache of files as long as there is room, and are mapped again where
    they are read again.
    """
    pages = _pages(scores)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def _pages(scores: Scores) -> mmap.mmap | None:
    """Return the memory map behind scores; None where it is small, or has private changes."""
    array = getattr(scores.cells.source, "_values", scores.cells.source)
    most = scores._memory_limit // 4 if scores._limited else MAPPED
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            pages = getattr(array, "_mmap", None)
            shared = array.mode in ("r", "r+", "w+")  # private changes would be lost
            large = shared and isinstance(pages, mmap.mmap) and len(pages) > most
            if large and hasattr(mmap, "MADV_DONTNEED"):
                return pages
            return None
        array = array.base
    return None


# Values in one block of rows: large enough to keep all threads busy, small enough to be a
# fraction of any matrix worth the name.
BLOCK_VALUES = 1 << 19

# Values of the rows of streamed embeddings that are read together; the bytes up to which they are
# as many as two tiles have; and how many arrays of their size there may be.
STREAM_VALUES, STREAM_BYTES = 1 << 22, 64 << 20
STREAM_COPIES = 6

# Fewer cells than this are counted on one thread: waking another costs more than it saves, and
# on a busy machine much more.
SERIAL_CELLS = 1 << 18

# Matrices of at most so many cells are read once, and their attempts are listed and sorted.
LISTED = 1 << 18


@contextmanager
def threads_for(scores: Scores) -> Iterator[None]:
    """Count on the threads of the options, or on one; verify values of a file at the end.

    The counts are the same on any number of threads.
    """
    before = numba.get_num_threads()
    small = math.prod(scores.shape) < SERIAL_CELLS
    numba.set_num_threads(1 if small else min(OPTIONS["threads"] or before, before))
    try:
        with memory_limited(scores._memory_limit) if scores._limited else nullcontext():
            yield
    finally:
        numba.set_num_threads(before)


def is_few(cells: int) -> bool:
    """Whether scores are so few that their attempts are listed and sorted."""
    return cells <= LISTED


@dataclass
class RowBlock:
    """Some rows of distances, ready to be counted.

    Where failed comparisons are `rejected`, the distances are those of
    :func:`bioeval.scores.arrays.with_failures`.
    """

    low: int
    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    probe_group: np.ndarray
    mate_start: np.ndarray
    mate_stop: np.ndarray
    probe_position: np.ndarray
    mask: np.ndarray | None = None
    rejected: bool = False
    #: The column of each place from `mate_start` to `mate_stop`; None where they are the same.
    by_subject: np.ndarray | None = None

    def rows(self, low: int, high: int) -> RowBlock:
        """Return rows ``low:high`` of the scores, which are in this block."""
        some = slice(low - self.low, high - self.low)
        return replace(
            self,
            low=low,
            values=self.values[some],
            probe_group=self.probe_group[some],
            mate_start=self.mate_start[some],
            mate_stop=self.mate_stop[some],
            probe_position=self.probe_position[some],
            mask=None if self.mask is None else self.mask[some],
        )

    def fused(self, fusion: str) -> RowBlock:
        """Return the rows of subjects, one score a group."""
        from bioeval.kernels.fuse import fuse_groups

        sides, enrolled = (self.columns, self.probe_position), self.probe_group >= 0
        values, place = fuse_claims(
            self.values, self.starts, fusion, fuse_groups, sides=sides, rejected=self.rejected
        )
        return RowBlock(
            low=self.low,
            values=values,
            columns=place,
            starts=np.arange(values.shape[1] + 1, dtype=np.int64),
            probe_group=self.probe_group,
            mate_start=np.where(enrolled, self.probe_group, 0),
            mate_stop=np.where(enrolled, self.probe_group + 1, 0),
            probe_position=np.full(len(values), -1, dtype=np.int64),
            rejected=self.rejected,
        )

    def same_subject_cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Return row and position of the cells of each probe's own subject, in order."""
        row, place = cells_between(self.mate_start, self.mate_stop)
        return row, place if self.by_subject is None else self.by_subject[place]

    def genuine(self) -> tuple[np.ndarray, np.ndarray]:
        """Return row and position of the usable cells of each probe's own subject, in order."""
        row, position = self.same_subject_cells()
        usable = position != self.probe_position[row]
        usable &= ~np.isnan(self.values[row, position])
        return row[usable], position[usable]

    def impostors(self) -> np.ndarray:
        """Return a copy of the rows with NaN in place of each probe's own subject."""
        values = self.values.copy()
        values[self.same_subject_cells()] = np.nan
        return values


def fuse_claims(
    values: np.ndarray,
    starts: np.ndarray,
    fusion: str,
    fuse: Callable[..., None],
    *,
    sides: tuple[np.ndarray, np.ndarray] | None = None,
    rejected: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of claims (h, g), NaN where there is none, by a rule of fusion.

    Claim ``k`` of a row of `values` (h, n) has the templates ``starts[k]:starts[k + 1]``. Returned
    is also the place of the nearest of them. `fuse` is ``kernels.fuse.fuse_groups``, on all threads
    or on one; `sides` are the places of the columns, and the column of each probe itself.
    """
    from bioeval.kernels.fuse import MAX, MEAN

    method, kth = parse_fusion(fusion)
    rule = {"min": 1, "max": MAX, "mean": MEAN}.get(method, kth)
    of_templates = method == "min" or (method == "max" and not rejected)
    dtype, shape = values.dtype if of_templates else np.float64, (len(values), len(starts) - 1)
    columns, itself = sides or (np.arange(values.shape[1])[None], np.full(len(values), -1))

    def by_rule(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if rule == 1 and is_few(values.size) and (np.diff(starts) > 0).all():
            nearest, place = _nearest_of_groups(values, columns[0], starts, itself)
            return nearest.astype(dtype, copy=False), place
        claims, place = np.empty(shape, dtype=dtype), np.empty(shape, dtype=np.int64)
        fuse(values, columns, starts, itself, rule, claims, place)
        return claims, place

    claims, place = by_rule(values)
    if not rejected or method == "min":
        return claims, place
    scores = scored(values)  # of a claim that has scores, these are fused
    of_scores, _ = by_rule(scores)
    failed = np.isnan(of_scores) & ~np.isnan(claims)
    if (of_scores == np.inf).any() and (scores == -np.inf).any():  # of both signs: undefined
        finite, _ = by_rule(np.minimum(scores, np.finfo(scores.dtype).max))
        failed |= (of_scores == np.inf) & (finite == -np.inf)
    return with_failures(of_scores, failed), place


def _nearest_of_groups(
    values: np.ndarray, columns: np.ndarray, starts: np.ndarray, itself: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least distance of each group of few scores, and the place of the first of them."""
    x, n = values.copy(), values.shape[1]
    rows = np.flatnonzero(itself >= 0)
    x[rows, itself[rows]] = np.nan
    least = np.fmin.reduceat(x, starts[:-1], axis=1)
    nearest = x == np.repeat(least, np.diff(starts), axis=1)
    first = np.minimum.reduceat(np.where(nearest, np.arange(n), n), starts[:-1], axis=1)
    return least, np.append(columns, -1)[first]


def among_distances(scores: Scores, threshold: Any) -> Any:
    """Return thresholds to compare the distances of blocks with: none accepts a failure."""
    if scores.nan == "reject":
        return np.minimum(threshold, np.finfo(np.float64).max)
    return threshold


def attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return distances (float64 (h, n)) of rows ``low:high``, NaN where there is no attempt."""
    raw = scores.cells.read(low, high)
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    values = np.array(values, dtype=np.float64, order="C")
    values[scores.probe_ids[low:high, None] == scores.gallery_ids] = np.nan
    left_out = left_out_rows(scores, low, high)
    if left_out is not None:
        values[left_out] = np.nan
    return values


def distances_at(scores: Scores, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the distances of some cells."""
    return as_distances(scores.cells.at(rows, columns)[None], scores.kind)[0]


def rows_per_block(scores: Scores) -> int:
    """Return the number of rows that are read together."""
    n, chunk = scores.shape[1], scores.cells.row_chunk
    most = rows_within(scores, chunk)
    if scores.streams:
        # The rows of one matrix product: enough for it to be quick, and few enough for what
        # is made of them to stay below the limit.
        size = scores.dtype.itemsize * n
        tile = scores.cells.base.tile  # fewer rows than a tile compute it again
        pair = 2 * tile if 2 * tile * size <= STREAM_BYTES else tile
        within = min(most, scores._memory_limit // (STREAM_COPIES * size))
        rows = max(1, min(1024, max(64, pair, STREAM_VALUES // n), within))
        return int(max(rows // tile * tile, min(rows, tile)))
    rows = max(1, BLOCK_VALUES // n)
    return min(max(chunk, rows // chunk * chunk), most)


def blocks_of(scores: Scores, *, reported: bool = True) -> Iterator[RowBlock]:
    """Yield all rows in order; those done are `reported` to the option `progress`."""
    tell = reporter() if reported else report
    m, step = scores.shape[0], rows_per_block(scores)
    for low in range(0, m, step):
        high = min(low + step, m)
        yield read_rows(scores, slice(low, high))
        give_back(scores)
        tell(high, m)


def read_rows(
    scores: Scores, rows: slice | np.ndarray, gallery: GalleryOrder | None = None
) -> RowBlock:
    """Return adjacent or some rows as distances that are ready to be counted.

    They are NaN where no attempt is, and by the policy where one failed; in another order of the
    `gallery` if it is given.
    """
    gallery = scores.gallery_order if gallery is None else gallery
    if isinstance(rows, slice):
        cells, low, high = scores.cells, rows.start, rows.stop
    else:
        cells, low, high = scores.cells.select(rows, None), 0, len(rows)
    position = gallery.probe_position[rows]
    raw = cells.read(low, high, gallery.order)
    mask = None
    if cells.mask is not None:
        mask = cells.read_mask(low, high, gallery.order)
        _check_mask(scores, gallery, mask, rows)
    values = as_distances(raw, scores.kind, lambda: _unread(raw.shape, position, mask))
    gone = _excluded(scores, gallery, rows) if scores.exclude else None
    if gone is not None:  # exempt from the NaN policy, then no attempt
        values = _writable_copy(values, raw)
        values[gone] = 0
    values = _without_nan(scores, values, raw, position, mask)
    if gone is not None:
        values[gone] = np.nan
    if mask is not None and (ignored := mask == Mask.IGNORE).any():
        values = _writable_copy(values, raw)
        np.copyto(values, np.nan, where=ignored)
    return RowBlock(
        low,
        writable_alias(values),
        gallery.columns,
        gallery.starts,
        gallery.probe_group[rows],
        gallery.mate_start[rows],
        gallery.mate_stop[rows],
        position,
        mask,
        scores.nan == "reject",
        gallery.by_subject,
    )


def _excluded(scores: Scores, gallery: GalleryOrder, rows: slice | np.ndarray) -> Any:
    """Return an index of the cells of rows that `exclude` leaves out."""
    order = gallery.order
    if scores.exclusions.of_all:
        return excluded_rows(scores, rows, order)
    row, position = gallery.same_subject_cells(rows)
    probe = np.arange(scores.shape[0])[rows][row]
    gone = excluded(scores, probe, position if order is None else order[position])
    return row[gone], position[gone]


def _check_mask(
    scores: Scores, order: GalleryOrder, mask: np.ndarray, rows: slice | np.ndarray
) -> None:
    """Raise where a mask contradicts the labels; it may leave cells out."""
    if not scores._labelled:
        return
    codes = scores.codes
    nobody, probe, gallery = codes.no_person, codes.probe[rows], codes.gallery[order.columns[0]]
    genuine = probe[:, None] == gallery
    wrong = (mask != Mask.IGNORE) & (mask != np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR))
    wrong &= ~(nobody[probe][:, None] & nobody[gallery])
    wrong &= np.arange(mask.shape[1]) != order.probe_position[rows][:, None]
    if wrong.any():
        place, position = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        row = int(np.arange(scores.shape[0])[rows][place])
        column = int(order.columns[0, position])
        raise DataError(
            f"the mask contradicts the labels, first at row {row}, column {column} "
            f"(mask {mask[place, position]}, labels {plain(scores.probe_labels[row])!r} and "
            f"{plain(scores.gallery_labels[column])!r}); give booleans (True: an attempt), mark "
            "what to leave out with 0, or give the mask without labels"
        )


def _without_nan(
    scores: Scores,
    values: np.ndarray,
    raw: np.ndarray,
    position: np.ndarray,
    mask: np.ndarray | None,
) -> np.ndarray:
    """Apply the NaN policy; afterwards NaN means "no attempt"."""
    if values.dtype.kind == "f" and raw.dtype.kind != "f":
        return values
    if scores.nan == "reject":
        failed = np.isnan(values) & ~_unread(values.shape, position, None)
        if not failed.any() and not (values == np.inf).any():
            return values
        return with_failures(values, failed)
    with np.errstate(invalid="ignore"):  # the least is NaN if any is
        if scores.nan == "exclude" or not np.isnan(values.min(initial=np.inf)):
            return values
    failed = np.isnan(values) & ~_unread(values.shape, position, None)
    if failed.any() and (mask is None or (failed & (mask != Mask.IGNORE)).any()):
        raise_nan(scores)
    return values


def raise_nan(scores: Scores) -> NoReturn:
    """Raise with the number of NaN that an evaluation reads, and the first one's place."""
    failed = [cells for cells in failed_cells(scores) if len(cells[0])]
    row, column, _ = failed[0]  # the caller knows of one
    count = sum(len(row) for row, _, _ in failed)
    raise DataError(
        f"the scores hold {count} NaN, the first at row {row[0]}, column {column[0]}; choose "
        f"how to treat failed comparisons: {Argument('nan', 'reject')} (as attempts that no "
        f"threshold accepts) or {Argument('nan', 'exclude')} (no attempt)"
    )


def _unread(shape: tuple[int, ...], position: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Return the cells that are never read: a template against itself, and masked ones."""
    unread = np.zeros(shape, dtype=bool) if mask is None else mask == Mask.IGNORE
    rows = np.nonzero(position >= 0)[0]
    unread[rows, position[rows]] = True
    return unread


def _writable_copy(values: np.ndarray, raw: np.ndarray) -> np.ndarray:
    """Return `values`, copied if they may still be the user's memory."""
    return values.copy() if np.may_share_memory(values, raw) else values


def require_subjects(scores: Scores, input_name: Part) -> None:
    """Raise :class:`ProtocolError` unless scores are a matrix of subjects, as a task needs."""
    if scores.layout == "pairs":
        raise ProtocolError(
            f"{input_name} needs a matrix of scores with labels; these are fixed pairs, for "
            "verification alone. A list that names its templates is read as a matrix with "
            f"{Argument('lists.as', 'matrix')}"
        )
    if not scores._labelled:
        raise ProtocolError(
            f"{input_name} needs the subjects of probes and gallery; a mask does not give the "
            "subjects of the templates. Give labels"
        )
    require_all_scores(scores)


def require_templates(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` of claim scores, which have no templates to rank."""
    if scores.claims:
        raise ProtocolError(
            f"{task} ranks the templates of a gallery, and these are claim scores, which are for "
            "verification; give the scores that the claims were made of"
        )
