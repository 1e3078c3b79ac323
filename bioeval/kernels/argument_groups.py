"""Named tuples of arguments that several kernel files share; no compiled code.

A field is read by its name inside the kernels, so that a call lists groups and not forty arrays.
Groups of a single kernel are defined beside it.
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


class GroupedBlock(NamedTuple):
    """A block of probes against a gallery grouped by subject.

    Attributes
    ----------
    values : float array, shape (b, n)
        Distances, grouped by subject; NaN = no attempt.
    columns : int64 array, shape (n,)
        Place of each candidate in the gallery's own order, for stable ties.
    starts : int64 array, shape (groups + 1,)
        Group ``g`` has the candidates ``starts[g]:starts[g + 1]``.
    own, self_position : int64 arrays, shape (b,)
        The row's own group, and the candidate that is the probe itself; -1 for none.
    """

    values: np.ndarray
    columns: np.ndarray
    starts: np.ndarray
    own: np.ndarray
    self_position: np.ndarray


class Queries(NamedTuple):
    """A block of queries of re-identification.

    Attributes
    ----------
    values : float array, shape (b, n), C-contiguous
        Distances to the gallery; NaN = no attempt.
    own : int64 array, shape (b,)
        The identity of each query; -1 for none.
    self_column : int64 array, shape (b,)
        The column that is the query itself; -1 for none.
    camera : int64 array, shape (b,)
    which : int64 array, shape (b,)
        The list of columns that each query searches.
    """

    values: np.ndarray
    own: np.ndarray
    self_column: np.ndarray
    camera: np.ndarray
    which: np.ndarray


class ListedGallery(NamedTuple):
    """The gallery of re-identification, and the columns of each list.

    Attributes
    ----------
    identity : int64 array, shape (n,)
        The identity of each column.
    own_starts, own_columns : int64 arrays
        Identity ``c`` has the columns ``own_columns[own_starts[c]:own_starts[c + 1]]``,
        increasing.
    camera : int64 array, shape (n,)
    same_camera : bool
        Whether own templates from the query's camera are removed.
    run_starts, run_first, run_stop : int64 arrays
        The columns of list ``l`` are the runs ``run_first[r]:run_stop[r]``, increasing, for ``r``
        in ``run_starts[l]:run_starts[l + 1]``. Columns on no list are ignored.
    """

    identity: np.ndarray
    own_starts: np.ndarray
    own_columns: np.ndarray
    camera: np.ndarray
    same_camera: bool
    run_starts: np.ndarray
    run_first: np.ndarray
    run_stop: np.ndarray


class Mates(NamedTuple):
    """The mates of each query, from near to far (equal ones by column); all written but `offsets`.

    Attributes
    ----------
    offsets : int64 array, shape (b + 1,)
        Row ``i`` may write places ``offsets[i]:offsets[i + 1]`` of the next five.
    distance : array of the dtype of the values
    column, closer, tied, before : int64 arrays
        Of each mate: its column, the others closer, those exactly as close, and those of the
        latter in an earlier column.
    found : int64 array, shape (b,)
        Usable mates.
    removed : int64 array, shape (b,)
        Own templates on the list that are removed.
    failed : int64 array, shape (b,)
        Comparisons on the list that are NaN, except with the query itself and removed ones.
    """

    offsets: np.ndarray
    distance: np.ndarray
    column: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    found: np.ndarray
    removed: np.ndarray
    failed: np.ndarray
