"""Named tuples of arguments that several kernel files share, and those of the one-pass kernel.

There is no compiled code. A field is read by its name inside the kernels, so that a call lists
groups and not forty arrays. Other groups of a single kernel are defined beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class CellWindow(NamedTuple):
    """A run of cells ``((k - 1) width, k width]``, with numbers of the dtype of the scores.

    Attributes
    ----------
    width, inverse : float
        A power of two and its inverse, so that ``x * inverse`` is exact or is corrected.
    low, high : float
        Numbers of the first cell, and of the last but one: what lies beyond is counted in the
        first and in the last cell.
    first : float
        Number of the cell that is entry 0 of a table.
    """

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any


class RawRows(NamedTuple):
    """Rows of a matrix of scores, and of the mask beside it.

    Attributes
    ----------
    values : float array, shape (M, N), C-contiguous
    rows : int64 array, shape (b,)
        Rows of `values` that are read.
    mask : uint8 array, shape (M', N), or (0, 0) for none
        0 for cells that are left out.
    mask_rows : int64 array, shape (b,) or (0,)
        The row of `mask` that belongs to each row.
    """

    values: np.ndarray
    rows: np.ndarray
    mask: np.ndarray = np.empty((0, 0), dtype=np.uint8)
    mask_rows: np.ndarray = np.empty(0, dtype=np.int64)


class RankFacts(NamedTuple):
    """Rank of each probe's best mate among the candidates that are not mates; all written.

    Attributes
    ----------
    mate, other : float64 arrays, shape (b,)
        Distance of the best mate, and of the nearest non-mate; NaN where there is none.
    closer, tied, tied_before : int64 arrays, shape (b,)
        Non-mates closer than the best mate, exactly as close, and of those before it in the
        gallery.
    mates_tied, mates, others : int64 arrays, shape (b,)
        Mates exactly as close as the best, usable mates, usable non-mates.
    """

    mate: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    mates_tied: np.ndarray
    mates: np.ndarray
    other: np.ndarray
    others: np.ndarray


class Matrix(NamedTuple):
    """The matrix of scores, and the rows of it to count.

    Attributes
    ----------
    raw : RawRows
        The rows to count. Their mask is 1 for impostor cells and `genuine` for genuine ones.
    keys : int array, shape (M, N)
        The memory of the values as integers of the same width.
    gaps : bool
        Whether NaN is no attempt.
    negated : bool
        Whether the scores are similarities.
    infinity : float
        Infinity in the dtype of `values`.
    nan : float
        NaN without a sign in the dtype of `values`.
    key_mask, key_shift : int
        The largest integer of the dtype of `keys`, and its number of bits less one.
    genuine : int
        The mask of genuine cells; others than these two are refused.
    strict : bool
        Whether NaN in a cell that the mask does not leave out is refused.
    """

    raw: RawRows
    keys: np.ndarray
    gaps: bool
    negated: bool
    infinity: Any
    nan: Any
    key_mask: Any
    key_shift: Any
    genuine: Any
    strict: bool


class GalleryColumns(NamedTuple):
    """The gallery in the order of counting: the templates of a subject side by side.

    Attributes
    ----------
    order, places : uint32 and int64 arrays, shape (n,)
        Column of the matrix, and place in the gallery, of each position.
    gathered : bool
        Whether the columns must be put in order first.
    starts : int64 array, shape (g + 1,)
        Group ``g`` has the positions ``starts[g]:starts[g + 1]``; no group is empty.
    """

    order: np.ndarray
    places: np.ndarray
    gathered: bool
    starts: np.ndarray


class Probes(NamedTuple):
    """The probe of each row, with its own subject's columns.

    Attributes
    ----------
    own, self_position : int64 arrays, shape (b,)
        Group of the probe's own subject, and the position of the probe itself; -1 for none.
    offsets : int64 array, shape (b + 1,)
        The genuine scores of row ``i`` are written at ``offsets[i]:offsets[i + 1]``.
    """

    own: np.ndarray
    self_position: np.ndarray
    offsets: np.ndarray


class TaskFlags(NamedTuple):
    """Choice of counts: verification by templates, by subjects, and ranks among subjects."""

    single: bool
    multi: bool
    subject_ranks: bool


class CellTables(NamedTuple):
    """Tables of impostor counts in cells; some cells have marked thresholds.

    Attributes
    ----------
    window : CellWindow
    cells : int32 array, shape (chunks, cells), added to
        The count of each cell; of a cell with marks, the number of its first slot, inverted.
    marks : float array, shape (chunks, slots, 2)
        The marks of each marked cell, increasing, each cell's followed by infinity, are in the
        first of each two places.
    at_most : int array, shape (chunks, slots, 2), added to
        The same memory; the second places have the scores of the cell that are at most a mark and
        not at most the one before.
    """

    window: CellWindow
    cells: np.ndarray
    marks: np.ndarray
    at_most: np.ndarray


class RankTable(NamedTuple):
    """Rank of scores among the genuine scores.

    Attributes
    ----------
    window : CellWindow
        Narrow cells, 64 of them a word.
    bits : uint64 array, shape (words,)
        The cells of each word that hold a genuine score; all where it is not one score in each
        cell, with the usual repeats.
    aside : uint64 array, shape (words,) or (0,)
        The cells whose scores are put aside, where those are not the same.
    repeats : int
        Genuine scores of the same value, in most words.
    ends : uint32 array, shape (words,)
        Genuine scores up to the end of each word.
    places : uint32 array, shape (words + 1,)
        Distinct genuine scores up to the beginning of each word, and of all.
    scores : array of the dtype of the scores, shape (u + 1,)
        The distinct genuine scores, increasing, and infinity.
    below : uint32 array, shape (u + 2,)
        Genuine scores below each of them; all, and all.
    """

    window: CellWindow
    bits: np.ndarray
    aside: np.ndarray
    repeats: int
    ends: np.ndarray
    places: np.ndarray
    scores: np.ndarray
    below: np.ndarray


class PointTables(NamedTuple):
    """Findings about operating points besides counts; arrays of length 0 where not wanted.

    Attributes
    ----------
    flags : uint8 array, shape (cells,)
        1 for cells whose scores are kept: those in which the scores are counted, but for
        `shift` bits of their number.
    frame : CellWindow
        These cells.
    lows, highs : float arrays, shape (w,)
        Scores above the one and at most the other are kept.
    kept : float array, shape (chunks, room), written
    filled : int64 array, shape (chunks,), added to
        Scores kept; -1 where there was not room for all.
    ranks : RankTable
    pairs : int64 array, shape (chunks,), added to
        Twice the pairs of a genuine score and a larger impostor score, equal ones counted once.
    later : float array, shape (chunks, room), written
        Scores put aside, whose pairs are not among them; for a table with `aside`.
    deferred : int64 array, shape (chunks,), added to
        How many there are; -1 where there was not room for all.
    scale : float
        A power of two by which scores are multiplied for their moments.
    sums : float64 array, shape (chunks, 2, lanes)
        Room for as many sums side by side, whose order is the same on any processor.
    moments : float64 array, shape (4, b), written
        How many scores each row has; one of them, the origin; the sum of the differences from it,
        so that a mean close to it keeps its digits; and the sum of their squares. Shape (4, 0) for
        none.
    """

    flags: np.ndarray
    shift: Any
    frame: CellWindow
    lows: np.ndarray
    highs: np.ndarray
    kept: np.ndarray
    filled: np.ndarray
    ranks: RankTable
    pairs: np.ndarray
    later: np.ndarray
    deferred: np.ndarray
    scale: float
    sums: np.ndarray
    moments: np.ndarray


class VerificationTables(NamedTuple):
    """Findings about the impostor scores of one task."""

    counts: CellTables
    points: PointTables


class SweepOutput(NamedTuple):
    """Findings of all tasks.

    Attributes
    ----------
    single, multi : VerificationTables
        Of verification by templates and by subjects.
    genuine : float array, shape (offsets[b],), written
        The genuine scores, NaN for the probe itself.
    facts, subject_facts : RankFacts
        Ranks among templates, and, where they are wanted, among subjects.
    refused : int64 array, shape (b,), written
        Cells whose mask has the other class, or which are NaN and must not be.
    """

    single: VerificationTables
    multi: VerificationTables
    genuine: np.ndarray
    facts: RankFacts
    subject_facts: RankFacts
    refused: np.ndarray


class Scratch(NamedTuple):
    """Memory for one row of each chunk.

    Attributes
    ----------
    line, keys : float and int arrays, shape (chunks, n + 1)
        The same memory.
    cells : uint32 array, shape (chunks, n)
    marked : uint32 array, shape (chunks, n + 2)
        Positions of scores in marked cells.
    flags : uint32 array, shape (chunks, piece)
        Which scores of a piece are kept.
    nearest : float array, shape (chunks, g)
    mask : uint8 array, shape (chunks, n)
    """

    line: np.ndarray
    keys: np.ndarray
    cells: np.ndarray
    marked: np.ndarray
    flags: np.ndarray
    nearest: np.ndarray
    mask: np.ndarray
