"""Memory of an evaluation besides the scores, and the number of rows that fit a limit.

The limit is on what a process takes beyond the interpreter with its libraries and compiled kernels.
What does not depend on the rows read together is estimated from the numbers of templates and
genuine scores; a quarter of the limit is for impostor scores around the operating points.
"""

from __future__ import annotations

import mmap
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.base.memory import in_words
from bioeval.scores.arrays import rows_of

if TYPE_CHECKING:
    from bioeval.scores.labelled_matrix import LabelledMatrix

# Bytes of tables and results; of a template: labels, codes, metadata and the facts of its ranks; of
# a genuine score: its place, and the score itself, also sorted.
_TABLES, _TEMPLATE, _GENUINE = 12 << 20, 400, 64

# Copies of the rows of a container: those counted, those that follow, and what inflating takes; and
# of rows that are computed from embeddings.
_STORED, _COMPUTED = 5, 6

# A dask array is made of many chunks that are computed at the same time, and then joined; and what
# its graph takes.
_DASK, _GRAPH = 12, 32 << 20

# Bytes of a cell beside its score: what of it is NaN, left out or constant; and the part of the
# limit for all but collected scores, with some room for what a library takes for itself.
_CELL, _SHARE = 8, 0.65

# A file that is mapped is given back to the system in parts of this size where no limit is stated.
MAPPED = 1 << 30


def counted_size(dtype: np.dtype) -> int:
    """Return the bytes of a score while it is counted."""
    return 4 if dtype.itemsize <= 2 or dtype == np.float32 else 8


def fixed_bytes(scores: LabelledMatrix) -> int:
    """Return about how many bytes are needed however few rows are read together."""
    m, n = scores.shape
    genuine = 0
    if scores.labelled:
        size = np.bincount(scores.codes.gallery, minlength=len(scores.codes.values))
        own = scores.codes.probe
        genuine = int(size[own[own >= 0]].sum())
    held = 0 if scores._mask is None else getattr(scores._mask, "nbytes", 0)
    if rows_of(scores.base) == "container":
        held += scores.base.held_bytes + _GRAPH * scores.base.is_graph
    return estimated_bytes(m, n, genuine) + held


def estimated_bytes(probes: int, gallery: int, genuine: int) -> int:
    """Return about how many bytes templates and genuine comparisons take."""
    sampled = 32 * max(8 * gallery, 1 << 16)
    return _TABLES + _TEMPLATE * (probes + gallery) + _GENUINE * genuine + sampled


def row_bytes(scores: LabelledMatrix, *, in_place: bool = False) -> int:
    """Return about how many bytes a row takes while it is read and counted."""
    n, own = scores.shape[1], scores.dtype.itemsize
    if in_place:
        return n * own
    copies = _COMPUTED if scores.streams else 1
    if rows_of(scores.base) == "container":
        copies = _DASK if scores.base.is_graph else _STORED
    return n * (copies * own + 3 * counted_size(scores.dtype) + _CELL)


def rows_within(scores: LabelledMatrix, chunk: int, *, in_place: bool = False) -> int:
    """Return how many rows may be read together under the limit of the scores.

    With `in_place` they are those of a mapped file, which are counted where they are.

    Raises
    ------
    DataError
        If not even a chunk of rows fits; it says how much would do.
    """
    if not scores.limited:
        return sys.maxsize
    chunk = min(chunk, scores.shape[0])
    fixed, each = fixed_bytes(scores), row_bytes(scores, in_place=in_place)
    rows = int(_SHARE * scores.memory_limit - fixed) // each
    if rows >= chunk:
        return rows // chunk * chunk
    least = (fixed + each * chunk) / _SHARE
    why = f"chunks of {chunk:,} rows are read whole" if chunk > 1 else "a row is read whole"
    less = "; chunks of fewer rows would need less" if chunk > 1 else ""
    held = scores.base.held_bytes if rows_of(scores.base) == "container" else 0
    if held > each * chunk:
        less = (
            f"; {in_words(held)} are for the file, with many columns in many groups of rows: "
            "fewer groups need less, and HDF5 much less"
        )
    raise DataError(
        f"{Argument('memory_limit')} is {in_words(scores.memory_limit)}, too little for "
        f"{scores.shape[0]:,} x {scores.shape[1]:,} {scores.dtype.name} scores ({why}): "
        f"expected at least {in_words(least)}{less}"
    )


def room_for_tiles(scores: LabelledMatrix) -> int:
    """Return how many bytes of distances of embeddings may be kept for rows that follow."""
    if not scores.limited:
        return scores.memory_limit // 4
    most = min(1024 * row_bytes(scores), int(_SHARE * scores.memory_limit))
    return max(0, int(_SHARE * scores.memory_limit) - fixed_bytes(scores) - most)


def is_mapped(scores: LabelledMatrix) -> bool:
    """Whether the scores are a mapped file so large that its pages are to be released."""
    return _pages(scores) is not None


def give_back(scores: LabelledMatrix) -> None:
    """Release the pages of a mapped file; they count as memory of the process.

    They stay in the system's cache of files as long as there is room, and are mapped again where
    they are read again.
    """
    pages = _pages(scores)
    if pages is not None:
        pages.madvise(mmap.MADV_DONTNEED)


def _pages(scores: LabelledMatrix) -> mmap.mmap | None:
    array: Any = getattr(scores.base, "_values", scores.base)
    limit = scores.memory_limit if scores.limited else MAPPED
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            found = getattr(array, "_mmap", None)
            shared = array.mode in ("r", "r+", "w+")  # private changes would be lost
            large = shared and isinstance(found, mmap.mmap) and len(found) > limit // 4
            return found if large and hasattr(mmap, "MADV_DONTNEED") else None
        array = array.base
    return None
