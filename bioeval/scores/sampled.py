"""A few attempts from everywhere, by which scores are judged before all of them are counted."""

from __future__ import annotations

import math

import numpy as np

from bioeval.scores.blocks import is_few
from bioeval.scores.matrix import Scores
from bioeval.scores.people import mate_cells
from bioeval.scores.selecting import of_own_columns, selected

# Of many scores: probes, columns of their mates, and columns from everywhere.
_PROBES, _MATES, _OTHERS = 256, 256, 64

# Cells of whole rows that are read where columns cannot be read alone; chunks of a container; and
# one of how many chunks, or of computed rows, of which there are at least a few.
_CELLS, _CHUNKS, _PROPORTION, _FEW = 1 << 22, 8, 16, 16


def sample_of(scores: Scores, *, with_diagonal: bool = False) -> Scores:
    """Return some probes of a matrix against some of their mates and templates from everywhere.

    With the diagonal, also against the templates at their own places. Few scores are all of them.
    """
    if is_few(math.prod(scores.shape)):
        return scores
    rows = _rows(scores)
    _, mates = mate_cells(scores, rows)
    columns = [some(np.unique(mates), _MATES), some(np.arange(scores.shape[1]), _OTHERS)]
    columns += [rows] if with_diagonal else []
    return of_own_columns(selected(scores, rows, np.unique(np.concatenate(columns))))


def _rows(scores: Scores) -> np.ndarray:
    """Return probes from everywhere; of a container, those of a few of its chunks."""
    cells, (m, n) = scores.cells, scores.shape
    most = _PROBES
    if cells.embeddings is not None:
        most = min(most, max(_FEW, m // _PROPORTION))
    if cells.is_stored or (cells.streams and cells.mask is not None):
        most = max(1, min(most, _CELLS // n))
    if not cells.is_stored:
        return some(np.arange(m), most)
    chunk = cells.row_chunk
    first = some(np.arange(0, m, chunk), min(_CHUNKS, max(1, m // chunk // _PROPORTION)))
    rows = first[:, None] + np.arange(min(chunk, max(1, most // len(first))))
    return rows[rows < m]


def some(values: np.ndarray, most: int) -> np.ndarray:
    """Return at most so many values, evenly spaced among all."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).astype(np.int64)]
