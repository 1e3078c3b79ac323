"""Whether a square matrix without gallery labels seems to be of all templates against all.

A matrix of 40 rows and 40 columns with one list of labels is taken as all against all: row i and
column i are the same template. The first rows and columns may tell that it is something else, such
as 40 probes against a gallery of 40, or a matrix of which one triangle was never filled in::

    0 5 7 8      0 5 7 8    3 5 7 8
    5 0 6 9      0 0 6 9    6 4 9 5
    7 6 0 4      0 0 0 4    8 7 5 6
    8 9 4 0      0 0 0 0    9 6 8 4
    symmetric    a half     distances that are small nowhere on the diagonal
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.options import row_spans
from bioeval.scores.stored import is_stored

# The first rows and columns by which a matrix is judged.
_JUDGED = 1000
# In fewer rows a triangle may hold a single value by chance.
_LEAST_OF_HALF = 4
# Values that differ by this share of the largest are one value, to the rounding of float32.
_ROUNDING = 1e-5
# The share of templates that are nearest to themselves in a matrix of all against all, if some
# are not since they failed or are listed twice.
_NEARLY_ALL = 0.9
# The largest distance of a template to itself, as a share of the usual distance.
_NEAR = 0.05


def doubt_of_square(values: Any, similarity: bool) -> str:
    """Return the code of the message on a matrix that seems not to be of all against all, or "".

    ``"half-matrix"``: one triangle holds a single value, such as 0, and the other triangle scores.
    ``"not-all-against-all"``: the matrix is not symmetric, and less than nine tenths of the
    templates are nearest to themselves, in their row and in their column, or, of distances, nearer
    to themselves than a twentieth of the usual distance. A diagonal of a single value, which may
    have been filled in, and what is not finite on it are not judged.
    """
    size = min(_JUDGED, values.shape[0])
    if size < 3:
        return ""
    values = _first(values, size)
    if _is_half(values) or _is_half(values.T):
        return "half-matrix"
    diagonal = values.diagonal()
    is_judged = np.isfinite(diagonal)
    own = diagonal[is_judged].astype(np.float64)  # scores of templates against themselves
    if len(np.unique(own)) <= 1 or _is_symmetric(values):
        return ""
    nearest = np.fmax.reduce if similarity else np.fmin.reduce
    shares = [(diagonal == nearest(values, axis=axis))[is_judged].mean() for axis in (0, 1)]
    if not similarity and own.min() >= 0:
        shares.append((own <= _NEAR * np.nanmedian(values)).mean())
    return "not-all-against-all" if min(shares) < _NEARLY_ALL else ""


def _first(values: Any, size: int) -> np.ndarray:
    """Return the first rows and columns of a matrix, whose rows are read whole if it is stored."""
    if is_stored(values):
        spans = row_spans(size, values.shape[1])
        values = np.concatenate([values[low:high][:, :size] for low, high in spans])
    return values[:size, :size]


def _is_half(values: np.ndarray) -> bool:
    """Whether the lower triangle holds a single value, and the upper triangle does not."""
    value = values[-1, 0]
    # The last row and the first show most matrices to be whole.
    if len(values) < _LEAST_OF_HALF or not np.isfinite(value) or (values[-1, :-1] != value).any():
        return False
    if (values[0, 1:] == value).all():
        return False
    return bool((values[np.tril_indices(len(values), -1)] == value).all())


def _is_symmetric(values: np.ndarray) -> bool:
    """Whether the values are equal to their mirror images, whatever is on the diagonal."""
    with np.errstate(over="ignore", invalid="ignore"):  # also for NaN of damaged files
        floats = values.astype(np.float64)
        np.fill_diagonal(floats, 0.0)
        largest = np.abs(floats[np.isfinite(floats)]).max(initial=0.0)
        near = _ROUNDING * largest
        return np.allclose(floats, floats.T, rtol=0.0, atol=near, equal_nan=True)
