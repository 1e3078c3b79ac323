"""The number of rows that are read together: as many as memory allows.

A memory limit of the scores holds for the memory that a process takes beyond the interpreter with
its libraries and compiled kernels. Memory that does not depend on the rows read together is
estimated from the numbers of templates and genuine scores; a quarter of the limit is for impostor
scores around the operating points.
"""

from __future__ import annotations

import mmap
import sys

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import size_in_words
from bioeval.scores.distances import distance_dtype
from bioeval.scores.matrix import Scores

# Bytes of tables and results.
_TABLES = 12 << 20

# Bytes of a template: its labels, codes, metadata, and what is counted of its ranks.
_TEMPLATE = 400

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


def bytes_of(scores: Scores) -> tuple[int, int]:
    """Estimate the bytes that are needed in any case, and for each row that is read."""
    probe_count, gallery_count = scores.shape
    genuine = 0
    copies = 1
    if scores._labelled:
        templates = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
        genuine = int(templates[scores.codes.probe].sum())
    sampled = 32 * max(8 * gallery_count, 1 << 16)  # impostor scores drawn to place thresholds
    fixed = _TABLES + _TEMPLATE * (probe_count + gallery_count) + _GENUINE * genuine + sampled
    if scores.streams:
        copies = _COMPUTED
    if scores.cells.is_stored:
        copies = _STORED
    cell = copies * scores.dtype.itemsize + 3 * distance_dtype(scores.dtype).itemsize + _CELL
    return fixed + getattr(scores.cells.mask, "nbytes", 0), gallery_count * cell


def stated_memory_limit(scores: Scores) -> int | None:
    """Return the stated memory limit in bytes; None if none was stated."""
    return scores._memory_limit if scores._limited else None


def rows_within(scores: Scores, chunk: int) -> int:
    """Return the number of rows that may be read together within the memory limit of the scores.

    Raise :class:`DataError` with the least limit if not even a chunk of rows fits.
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
    """Return the memory map behind scores if its pages are to be released.

    None for a small map, for a map with private changes, and for other sources.
    """
    array = scores.cells.source
    limit = scores._memory_limit // 4 if scores._limited else MAPPED
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
        most = min(limit, scores._memory_limit // (STREAM_COPIES * bytes_of_row))
        rows = max(1, min(1024, max(64, least, STREAM_VALUES // gallery_count), most))
        return int(max(rows // tile * tile, min(rows, tile)))
    rows = max(1, BLOCK_VALUES // gallery_count)
    return min(max(chunk, rows // chunk * chunk), limit)
