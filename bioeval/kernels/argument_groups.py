"""Named tuples of arguments that several kernel files share, and those of the one-pass kernel.

There is no compiled code. A field is read by its name inside the kernels, so that a call lists
groups and not forty arrays. Other groups of a single kernel are defined beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class CellWindow(NamedTuple):
    """A run of cells ``((k - 1) width, k width]``, with numbers of the dtype of the scores."""

    #: A power of two and its inverse, so that ``x * inverse`` is exact or is corrected.
    width: Any
    inverse: Any
    #: Numbers of the first cell, and of the last but one: what lies beyond is counted in the first
    #: and in the last cell.
    low: Any
    high: Any
    first: Any  # number of the cell that is entry 0 of a table


class RawRows(NamedTuple):
    """Rows of a matrix of scores, and of the mask beside it."""

    values: np.ndarray  # float (M, N), C-contiguous
    rows: np.ndarray  # int64 (b,): rows of `values` that are read
    #: uint8 (M', N), or (0, 0) for none: 0 for cells that are left out.
    mask: np.ndarray = np.empty((0, 0), dtype=np.uint8)
    #: int64 (b,) or (0,): the row of `mask` that belongs to each row.
    mask_rows: np.ndarray = np.empty(0, dtype=np.int64)


class RankFacts(NamedTuple):
    """Rank of each probe's best mate among the candidates that are not mates; all written."""

    #: `mate`, `other`: float64 (b,): distance of the best mate, and of the nearest non-mate; NaN
    #: where there is none.
    mate: np.ndarray
    #: int64 (b,): non-mates closer than the best mate, exactly as close, and of those before it in
    #: the gallery.
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    #: `mates_tied`, `mates`, `others`: int64 (b,): mates exactly as close as the best, usable
    #: mates, usable non-mates.
    mates_tied: np.ndarray
    mates: np.ndarray
    other: np.ndarray
    others: np.ndarray


class Matrix(NamedTuple):
    """The matrix of scores, and the rows of it to count."""

    #: The rows to count. Their mask is 1 for impostor cells and `genuine` for genuine ones.
    raw: RawRows
    sign: Any  # 1, or -1 if the scores are similarities
    zero: Any  # zero, and NaN, without a sign in the dtype of the values
    nan: Any
    genuine: Any  # the mask of genuine cells; others than these two are refused
    strict: bool  # whether NaN in a cell that the mask does not leave out is refused


class GalleryColumns(NamedTuple):
    """The gallery in the order of counting: the templates of a subject side by side."""

    #: uint32 and int64 (n,): column of the matrix, and place in the gallery, of each position.
    order: np.ndarray
    places: np.ndarray
    gathered: bool  # whether the columns must be put in order first
    #: int64 (g + 1,): group ``g`` has the positions ``starts[g]:starts[g + 1]``; no group is empty.
    starts: np.ndarray


class Probes(NamedTuple):
    """The probe of each row, with its own subject's columns."""

    #: int64 (b,): group of the probe's own subject, and the position of the probe itself; -1 for
    #: none.
    group: np.ndarray
    probe_position: np.ndarray
    #: int64 (b + 1,): the genuine scores of row ``i`` are written at ``offsets[i]:offsets[i + 1]``.
    offsets: np.ndarray


class TaskFlags(NamedTuple):
    """Choice of counts: verification by templates, by subjects, and ranks among subjects."""

    single: bool
    multi: bool
    subject_ranks: bool
    farthest: bool = False  # whether verification by subjects takes the farthest template


class CellTables(NamedTuple):
    """Tables of impostor counts in cells; some cells have marked thresholds."""

    window: CellWindow
    #: int32 (chunks, cells), added to: the count of each cell; of a cell with marks, the number of
    #: its first slot, inverted.
    cells: np.ndarray
    #: float (chunks, slots, 2): the marks of each marked cell, increasing, each cell's followed by
    #: infinity, are in the first of each two places.
    marks: np.ndarray
    #: int (chunks, slots, 2), added to: the same memory; the second places have the scores of the
    #: cell that are at most a mark and not at most the one before.
    at_most: np.ndarray


class RankTable(NamedTuple):
    """Rank of scores among the genuine scores."""

    window: CellWindow  # narrow cells, 32 of them a word
    #: uint64 (words,): in the lower half, the cells of each word that hold a genuine score, all
    #: where it is not one score in each cell, with the usual repeats; in the upper half, how many
    #: genuine scores there are up to the end of the word.
    words: np.ndarray
    repeats: int  # genuine scores of the same value, in most words
    #: uint32 (words + 1,): distinct genuine scores up to the beginning of each word, and of all.
    places: np.ndarray
    #: Of the dtype of the scores (u + 1,): the distinct genuine scores, increasing, and infinity.
    scores: np.ndarray
    below: np.ndarray  # uint32 (u + 2,): genuine scores below each of them; all, and all


class PointTables(NamedTuple):
    """Findings about operating points besides counts; arrays of length 0 where not wanted."""

    #: uint8 (cells,): 1 for cells whose scores are kept: those in which the scores are counted, but
    #: for `shift` bits of their number.
    flags: np.ndarray
    shift: Any
    frame: CellWindow  # these cells
    #: float (w,): scores above the one and at most the other are kept.
    lows: np.ndarray
    highs: np.ndarray
    kept: np.ndarray  # float (chunks, room), written
    #: int64 (chunks,), added to: scores kept; -1 where there was not room for all.
    filled: np.ndarray
    ranks: RankTable
    #: int64 (chunks,), added to: twice the pairs of a genuine score and a larger impostor score,
    #: equal ones counted once.
    pairs: np.ndarray
    scale: float  # a power of two by which scores are multiplied for their moments
    #: float64 (chunks, 2, lanes): room for as many sums side by side, whose order is the same on
    #: any processor.
    sums: np.ndarray
    #: float64 (4, b), written: how many scores each row has; one of them, the origin; the sum of
    #: the differences from it, so that a mean close to it keeps its digits; and the sum of their
    #: squares. Shape (4, 0) for none.
    moments: np.ndarray


class VerificationTables(NamedTuple):
    """Findings about the impostor scores of one task."""

    counts: CellTables
    points: PointTables


class Scratch(NamedTuple):
    """Memory for one row of each chunk."""

    line: np.ndarray  # float (chunks, n + 1)
    cells: np.ndarray  # uint32 (chunks, n)
    marked: np.ndarray  # uint32 (chunks, n + 2): positions of scores in marked cells
    flags: np.ndarray  # uint32 (chunks, piece): which scores of a piece are kept
