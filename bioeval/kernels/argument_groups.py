"""Named groups of arguments that several kernel files share: no compiled code, types alone.

A field is read by its name inside the kernels, so that a call lists groups and not forty arrays.
Groups of a single kernel are defined beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class CellWindow(NamedTuple):
    """A run of cells ``((k - 1) width, k width]``; its numbers are of the dtype of the scores.

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


class RankFacts(NamedTuple):
    """How each probe's best mate ranks among the candidates that are not mates; all written.

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
