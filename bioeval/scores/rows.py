"""Rows of a matrix as blocks of attempts, as many together as memory allows.

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
from bioeval.base.options import OPTIONS, at_most, memory_limited, size_in_words
from bioeval.base.progress import report, reporter
from bioeval.scores.attempts import compared_cells, excluded, failed_cells
from bioeval.scores.blocks import Block, is_few
from bioeval.scores.codes import GalleryOrder
from bioeval.scores.distances import as_distances, distance_dtype, with_failures
from bioeval.scores.labels import plain
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people

# Fewer cells than this are counted on one thread: a second thread would cost more time than it
# saves.
SERIAL_CELLS = 1 << 18

# A matrix of one set of templates has few scores up to this many times the cells of a matrix of two
# sets, since at most half of its cells are sorted.
ALL_AGAINST_ALL = 4


@contextmanager
def threads_for(scores: Scores) -> Iterator[None]:
    """Count on the threads of the options inside, or on one thread if scores are few."""
    is_small = math.prod(scores.shape) < SERIAL_CELLS
    limit = max(1, scores.memory.left)
    limited = memory_limited(limit) if scores.memory.is_stated else nullcontext()
    with at_most(1 if is_small else OPTIONS["threads"] or math.inf), limited:
        yield


def attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the distances of rows ``low:high``, float64 (h, n), with NaN for no attempt."""
    raw = scores.cells.read(low, high)
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    return np.where(compared_cells(scores, low, high), values.astype(np.float64), np.nan)


def distances_at(scores: Scores, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return as_distances(scores.cells.read_cells(rows, columns)[None], scores.kind)[0]


def blocks_of(scores: Scores, *, reported: bool = True) -> Iterator[Block]:
    """Yield all rows in blocks, in order; if `reported`, to the option `progress` too."""
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
    """Return some rows as a block of attempts, with the columns subject by subject by default."""
    gallery = scores.gallery_order if gallery is None else gallery
    order = gallery.order
    cells = scores.cells
    low, high = 0, len(scores.probe_ids[rows])
    if isinstance(rows, slice):
        low, high = rows.start, rows.stop
    else:
        cells = cells.select(rows, None)
    raw = cells.read(low, high, order)
    mask = None if cells.mask is None else cells.read_mask(low, high, order)

    # The cells that are no attempts, as places or as flags: of a template with itself, by `exclude`
    # and by the mask.
    own_position = gallery.probe_position[rows]
    has_own = np.flatnonzero(own_position >= 0)
    left_out: list[Any] = [(has_own, own_position[has_own])]
    probe = np.arange(scores.shape[0])[rows]
    if any(x.of_all for x in scores.exclusions):
        left_out.append(excluded(scores, probe[:, None], slice(None) if order is None else order))
    elif scores.exclusions:
        row, position = gallery.same_subject_cells(rows)
        columns = position if order is None else order[position]
        is_excluded = excluded(scores, probe[row], columns)
        left_out.append((row[is_excluded], position[is_excluded]))
    if mask is not None:
        _check_mask(scores, gallery, mask, rows)
        left_out.append(mask == Mask.IGNORE)

    def unread() -> np.ndarray:
        is_left_out = np.zeros(raw.shape, dtype=bool)
        for cells_left_out in left_out:
            is_left_out[cells_left_out] = True
        return is_left_out

    values = as_distances(raw, scores.kind, unread)
    if np.may_share_memory(values, raw):  # the memory may be the user's
        values = values.copy()
    for cells_left_out in left_out:
        values[cells_left_out] = 0  # a NaN here is no failed attempt
    if scores.nan == "reject":
        failed = np.isnan(values)
        if failed.any() or (values == np.inf).any():
            values = with_failures(values, failed)
    elif scores.nan == "raise":
        with np.errstate(invalid="ignore"):  # the minimum is NaN if any value is
            if np.isnan(values.min(initial=np.inf)):
                raise_nan(scores)
    for cells_left_out in left_out:
        values[cells_left_out] = np.nan

    if knows_people(scores):
        row, position = gallery.same_subject_cells(rows)
    else:
        assert mask is not None
        row, position = np.nonzero(mask == Mask.GENUINE)
    return Block(
        values,
        probe[:, None],
        gallery.columns,
        low,
        gallery.lines,
        few=has_few(scores),
        rejected=scores.nan == "reject",
        mated=(row, position),
    )


def _check_mask(
    scores: Scores, order: GalleryOrder, mask: np.ndarray, rows: slice | np.ndarray
) -> None:
    if not scores.are_labelled:
        return
    codes = scores.codes
    is_nobody = codes.no_person
    probe = codes.probe[rows]
    gallery = codes.gallery[order.columns[0]]
    is_genuine = probe[:, None] == gallery
    classes = np.where(is_genuine, Mask.GENUINE, Mask.IMPOSTOR)
    wrong = (mask != Mask.IGNORE) & (mask != classes)
    # These are no attempts, whatever the mask says.
    wrong &= ~(is_nobody[probe][:, None] & is_nobody[gallery])
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
    """Raise with the number of NaN among the attempts, and the cell of the first."""
    failed = [cells for cells in failed_cells(scores) if len(cells[0])]
    row, column, _ = failed[0]  # the caller has found a NaN
    count = sum(len(row) for row, _, _ in failed)
    raise DataError(
        f"the scores hold {count} NaN, the first at row {row[0]}, column {column[0]}; choose "
        'how to treat failed comparisons: `nan="reject"` (as attempts that no threshold accepts) '
        'or `nan="exclude"` (no attempt)'
    )


def has_few(scores: Scores) -> bool:
    cells = math.prod(scores.shape)
    return is_few(-(-cells // ALL_AGAINST_ALL) if scores.layout == "all-against-all" else cells)


def among_distances(scores: Scores, threshold: Any) -> Any:
    """Return thresholds as distances of blocks have them: an infinite one accepts no failure."""
    if scores.nan == "reject":
        return np.minimum(threshold, np.finfo(np.float64).max)
    return threshold


# ------------------------------------------------------------------------------------------- memory


# Bytes of tables and results.
_TABLES = 12 << 20

# Bytes of a template: its labels, codes, metadata, and what is counted of its ranks.
TEMPLATE = 400

# Bytes of a sample of tiles, of its cells, and of a tile for each thread.
TILES = 72 << 20

# Bytes of a genuine score: its cell, and the score itself, also sorted.
_GENUINE = 64

# Bytes of a cell besides its score, for flags of NaN and of exclusions.
_CELL = 8

# Copies of the rows of a container that are in memory at a time: rows that are counted, read ahead
# and inflated.
_STORED = 5

# Copies of the rows of embeddings that are in memory at a time.
_COMPUTED = 6

# The share of the limit for all but collected scores, with some room for the memory of libraries.
_SHARE = 0.65

# Without a stated limit, the pages of mapped files larger than this are released after reading.
# Mapping them again takes a third of the time of an evaluation.
MAPPED = 1 << 30

# Values of a block of rows: enough to keep all threads busy.
BLOCK_VALUES = 1 << 19

# Values of a block of rows that are computed from embeddings.
STREAM_VALUES = 1 << 22

# A block of computed rows has the rows of two tiles if they take at most this number of bytes.
STREAM_BYTES = 64 << 20

# The limit must hold this number of arrays of the size of a block of computed rows.
STREAM_COPIES = 6


def stated_memory_limit(scores: Scores) -> int | None:
    """Return the stated memory limit in bytes; None if none was stated."""
    return scores.memory.size if scores.memory.is_stated else None


def rows_within(scores: Scores, chunk: int) -> int:
    """Return the number of rows that may be read together within the memory limit of the scores.

    Raise :class:`DataError` with the least limit if not even a chunk of rows fits.
    """
    if not scores.memory.is_stated:
        return sys.maxsize
    probe_count, gallery_count = scores.shape
    chunk = min(chunk, probe_count)
    # The bytes that are needed in any case, and for each row that is read.
    genuine = 0
    if scores.are_labelled:
        templates = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
        genuine = int(templates[scores.codes.probe].sum())
    sampled = 32 * max(8 * gallery_count, 1 << 16)  # impostor scores drawn to place thresholds
    fixed = _TABLES + TEMPLATE * (probe_count + gallery_count) + _GENUINE * genuine + sampled
    fixed += getattr(scores.cells.mask, "nbytes", 0)
    copies = _STORED if scores.cells.is_stored else _COMPUTED if scores.streams else 1
    cell = copies * scores.dtype.itemsize + 3 * distance_dtype(scores.dtype).itemsize + _CELL
    bytes_of_row = gallery_count * cell
    rows = int(_SHARE * scores.memory.left - fixed) // bytes_of_row
    if rows >= chunk:
        return rows // chunk * chunk
    least = scores.memory.held + (fixed + bytes_of_row * chunk) / _SHARE
    reason, less = "a row is read whole", ""
    if scores.memory.held:
        reason = "the file is read whole"
        less = "; a .npy file, HDF5, or .npz that is not compressed would need less"
    if chunk > 1:
        reason = f"chunks of {chunk:,} rows are read whole"
        less = "; chunks of fewer rows would need less"
    raise DataError(
        f"`memory_limit` is {size_in_words(scores.memory.size)}, too little for "
        f"{probe_count:,} x {gallery_count:,} {scores.dtype.name} scores ({reason}): "
        f"expected at least {size_in_words(least)}{less}"
    )


def give_back(scores: Scores) -> None:
    """Release the pages of a mapped file; they count as memory of the process.

    They stay in the system's cache as long as there is room; a later reading maps them again.
    """
    if (pages := mapped_pages(scores)) is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def mapped_pages(scores: Scores) -> mmap.mmap | None:
    """Return the memory map behind scores if its pages are to be released.

    None for a small map, for a map with private changes, and for other sources.
    """
    array = scores.cells.source
    limit = scores.memory.size // 4 if scores.memory.is_stated else MAPPED
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            pages = getattr(array, "_mmap", None)
            is_shared = array.mode in ("r", "r+", "w+")  # private changes would be lost
            is_large = is_shared and isinstance(pages, mmap.mmap) and len(pages) > limit
            if is_large and hasattr(mmap, "MADV_DONTNEED"):
                return pages
            return None
        array = array.base
    return None


def rows_per_block(scores: Scores) -> int:
    gallery_count = scores.shape[1]
    chunk = scores.cells.row_chunk
    limit = rows_within(scores, chunk)
    if scores.streams:
        # Enough rows for a fast product, few enough for the limit, and whole tiles if possible:
        # a part of a tile computes the whole tile, again and again.
        bytes_of_row = scores.dtype.itemsize * gallery_count
        tile = scores.cells.base.tile
        least = 2 * tile if 2 * tile * bytes_of_row <= STREAM_BYTES else tile
        most = min(limit, scores.memory.size // (STREAM_COPIES * bytes_of_row))
        rows = max(1, min(1024, max(64, least, STREAM_VALUES // gallery_count), most))
        return int(max(rows // tile * tile, min(rows, tile)))
    rows = max(1, BLOCK_VALUES // gallery_count)
    return min(max(chunk, rows // chunk * chunk), limit)
