"""Reading rows of a matrix, as many together as memory allows.

A memory limit of the scores holds for the memory that a process takes beyond the interpreter with
its libraries and compiled kernels. Memory that does not depend on the rows read together is
estimated from the numbers of templates and genuine scores; a quarter of the limit is for impostor
scores around the operating points.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NoReturn

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import memory_limited, size_in_words
from bioeval.base.options import OPTIONS
from bioeval.base.progress import report, reporter
from bioeval.base.threads import at_most
from bioeval.scores.arrays import Mask, as_distances, distance_dtype, with_failures
from bioeval.scores.blocks import Block, is_few
from bioeval.scores.excluded import excluded, excluded_rows, failed_cells, left_out_rows
from bioeval.scores.gallery_order import GalleryOrder
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people

# Bytes of tables and results; of a template: labels, codes, metadata and the facts of its ranks; of
# a genuine score: its place, and the score itself, also sorted.
_TABLES, _TEMPLATE, _GENUINE = 12 << 20, 400, 64

# Copies of the rows of a container: rows counted, rows that follow, and the memory of inflating;
# and of rows that are computed from embeddings.
_STORED, _COMPUTED = 5, 6

# Bytes of a cell beside its score, for flags of NaN and exclusions; and the part of the limit for
# all but collected scores, with some room for the memory of libraries.
_CELL, _SHARE = 8, 0.65

# Pages of a mapped file that is larger than this are released where no limit is stated; mapping the
# pages again takes a third of the time of an evaluation.
MAPPED = 1 << 30


def bytes_of(scores: Scores) -> tuple[int, int]:
    """Return about how many bytes are needed however few rows are read together; and by a row."""
    probe_count, gallery_count = scores.shape
    genuine = 0
    copies = 1
    if scores._labelled:
        size = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
        genuine = int(size[scores.codes.probe].sum())
    sampled = 32 * max(8 * gallery_count, 1 << 16)
    fixed = _TABLES + _TEMPLATE * (probe_count + gallery_count) + _GENUINE * genuine + sampled
    if scores.streams:
        copies = _COMPUTED
    if scores.cells.is_stored:
        copies = _STORED
    cell = copies * scores.dtype.itemsize + 3 * distance_dtype(scores.dtype).itemsize + _CELL
    return fixed + getattr(scores.cells.mask, "nbytes", 0), gallery_count * cell


def stated_memory_limit(scores: Scores) -> int | None:
    """Return the memory limit in bytes that was stated; None where it is the default."""
    return scores._memory_limit if scores._limited else None


def rows_within(scores: Scores, chunk: int) -> int:
    """Return how many rows may be read together under the limit of the scores.

    Raise :class:`DataError` if not even a chunk of rows fits, with the least limit.
    """
    if not scores._limited:
        return sys.maxsize
    chunk = min(chunk, scores.shape[0])
    fixed, bytes_of_row = bytes_of(scores)
    rows = int(_SHARE * scores._memory_limit - fixed) // bytes_of_row
    if rows >= chunk:
        return rows // chunk * chunk
    least = (fixed + bytes_of_row * chunk) / _SHARE
    reason = "a row is read whole"
    if chunk > 1:
        reason = f"chunks of {chunk:,} rows are read whole"
    less = "; chunks of fewer rows would need less" if chunk > 1 else ""
    raise DataError(
        f"`memory_limit` is {size_in_words(scores._memory_limit)}, too little for "
        f"{scores.shape[0]:,} x {scores.shape[1]:,} {scores.dtype.name} scores ({reason}): "
        f"expected at least {size_in_words(least)}{less}"
    )


def give_back(scores: Scores) -> None:
    """Release the pages of a mapped file; they count as memory of the process.

    Released pages stay in the system's cache of files as long as there is room, and a later reading
    maps them again.
    """
    if (pages := mapped_pages(scores)) is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def mapped_pages(scores: Scores) -> mmap.mmap | None:
    """Return the memory map behind scores, which is so large that its pages are to be released.

    None of another source, and of a map with private changes.
    """
    array = getattr(scores.cells.source, "_values", scores.cells.source)
    limit = scores._memory_limit // 4 if scores._limited else MAPPED
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            pages = getattr(array, "_mmap", None)
            shared = array.mode in ("r", "r+", "w+")  # private changes would be lost
            large = shared and isinstance(pages, mmap.mmap) and len(pages) > limit
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


@contextmanager
def threads_for(scores: Scores) -> Iterator[None]:
    """Count on the threads of the options, or on one thread where scores are few.

    The counts are the same on any number of threads.
    """
    is_small = math.prod(scores.shape) < SERIAL_CELLS
    limited = memory_limited(scores._memory_limit) if scores._limited else nullcontext()
    with at_most(1 if is_small else OPTIONS["threads"] or math.inf), limited:
        yield


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
    return as_distances(scores.cells.read_cells(rows, columns)[None], scores.kind)[0]


def rows_per_block(scores: Scores) -> int:
    """Return the number of rows that are read together."""
    gallery_count = scores.shape[1]
    chunk = scores.cells.row_chunk
    limit = rows_within(scores, chunk)
    if scores.streams:
        # The rows of one matrix product: enough for speed, and few enough for the limit.
        size = scores.dtype.itemsize * gallery_count
        tile = scores.cells.base.tile  # fewer rows than a tile compute it again
        pair = 2 * tile if 2 * tile * size <= STREAM_BYTES else tile
        within = min(limit, scores._memory_limit // (STREAM_COPIES * size))
        rows = max(1, min(1024, max(64, pair, STREAM_VALUES // gallery_count), within))
        return int(max(rows // tile * tile, min(rows, tile)))
    rows = max(1, BLOCK_VALUES // gallery_count)
    return min(max(chunk, rows // chunk * chunk), limit)


def blocks_of(scores: Scores, *, reported: bool = True) -> Iterator[Block]:
    """Yield all rows in order; those done are `reported` to the option `progress`."""
    tell = reporter() if reported else report
    probe_count = scores.shape[0]
    step = rows_per_block(scores)
    for low in range(0, probe_count, step):
        high = min(low + step, probe_count)
        yield read_rows(scores, slice(low, high))
        give_back(scores)
        tell(high, probe_count)


def read_rows(
    scores: Scores, rows: slice | np.ndarray, gallery: GalleryOrder | None = None
) -> Block:
    """Return adjacent or some rows as a block of genuine and impostor attempts.

    Columns are in the order of `gallery`, by default in the order of subjects.
    """
    gallery = scores.gallery_order if gallery is None else gallery
    if isinstance(rows, slice):
        cells = scores.cells
        low = rows.start
        high = rows.stop
    else:
        cells = scores.cells.select(rows, None)
        low = 0
        high = len(rows)
    raw = cells.read(low, high, gallery.order)
    itself = gallery.probe_position[rows]
    lines_with_itself = np.flatnonzero(itself >= 0)
    left_out: list[Any] = [(lines_with_itself, itself[lines_with_itself])]
    if scores.exclusions.rules:
        left_out.append(_excluded(scores, gallery, rows))
    if cells.mask is not None:
        mask = cells.read_mask(low, high, gallery.order)
        _check_mask(scores, gallery, mask, rows)
        left_out.append(mask == Mask.IGNORE)

    def unread() -> np.ndarray:
        is_left_out = np.zeros(raw.shape, dtype=bool)
        for cells_left_out in left_out:
            is_left_out[cells_left_out] = True
        return is_left_out

    values = as_distances(raw, scores.kind, unread)
    if np.may_share_memory(values, raw):  # which may be the user's
        values = values.copy()
    for cells_left_out in left_out:
        values[cells_left_out] = 0  # exempt from the policy for NaN
    values = _by_policy(scores, values)
    for cells_left_out in left_out:
        values[cells_left_out] = np.nan
    if knows_people(scores):
        mated = gallery.same_subject_cells(rows)
    else:
        line, position = np.nonzero(mask == Mask.GENUINE)
        mated = line, position
    return Block(
        values,
        np.arange(scores.shape[0])[rows, None],
        gallery.columns,
        low,
        gallery.lines,
        few=has_few(scores),
        rejected=scores.nan == "reject",
        mated=mated,
    )


def _by_policy(scores: Scores, values: np.ndarray) -> np.ndarray:
    if scores.nan == "reject":
        failed = np.isnan(values)
        if failed.any() or (values == np.inf).any():
            return with_failures(values, failed)
    elif scores.nan == "raise":
        with np.errstate(invalid="ignore"):  # the least is NaN if any is
            if np.isnan(values.min(initial=np.inf)):
                raise_nan(scores)
    return values


def _excluded(scores: Scores, gallery: GalleryOrder, rows: slice | np.ndarray) -> Any:
    """Return the cells that `exclude` leaves out, as an index: flags, or rows and columns."""
    order = gallery.order
    if scores.exclusions.of_all:
        return excluded_rows(scores, rows, order)
    row, position = gallery.same_subject_cells(rows)
    probe = np.arange(scores.shape[0])[rows][row]
    is_excluded = excluded(scores, probe, position if order is None else order[position])
    return row[is_excluded], position[is_excluded]


def _check_mask(
    scores: Scores, order: GalleryOrder, mask: np.ndarray, rows: slice | np.ndarray
) -> None:
    if not scores._labelled:
        return
    codes = scores.codes
    nobody = codes.no_person
    probe = codes.probe[rows]
    gallery = codes.gallery[order.columns[0]]
    genuine = probe[:, None] == gallery
    wrong = (mask != Mask.IGNORE) & (mask != np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR))
    wrong &= ~(nobody[probe][:, None] & nobody[gallery])  # no attempt, whatever the mask says
    wrong &= np.arange(mask.shape[1]) != order.probe_position[rows][:, None]
    if wrong.any():
        place, position = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        row = int(np.arange(scores.shape[0])[rows][place])
        column = int(order.columns[0, position])
        raise DataError(
            f"the mask contradicts the labels, first at row {row}, column {column} (mask "
            f"{mask[place, position]}, labels {plain(scores.probe_labels[row])!r} and "
            f"{plain(scores.gallery_labels[column])!r}); give booleans (True: an attempt), mark "
            "what to leave out with 0, or give the mask without labels"
        )


def raise_nan(scores: Scores) -> NoReturn:
    """Raise with the number of NaN that an evaluation reads, and the first one's place."""
    failed = [cells for cells in failed_cells(scores) if len(cells[0])]
    row, column, _ = failed[0]  # the caller knows of one
    count = sum(len(row) for row, _, _ in failed)
    raise DataError(
        f"the scores hold {count} NaN, the first at row {row[0]}, column {column[0]}; choose "
        'how to treat failed comparisons: `nan="reject"` (as attempts that no threshold accepts) '
        'or `nan="exclude"` (no attempt)'
    )


# Cells that are few of a matrix that compares one set with itself: half of them are sorted.
ALL_AGAINST_ALL = 4


def has_few(scores: Scores) -> bool:
    """Whether a matrix has few scores."""
    cells = math.prod(scores.shape)
    return is_few(-(-cells // ALL_AGAINST_ALL) if scores.layout == "all-against-all" else cells)


def among_distances(scores: Scores, threshold: Any) -> Any:
    """Return thresholds to compare the distances of blocks with: none accepts a failure."""
    if scores.nan == "reject":
        return np.minimum(threshold, np.finfo(np.float64).max)
    return threshold
