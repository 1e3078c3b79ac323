"""Sums of chances as integers."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def add_fixed(values, row, scale, shift, high, low):
    """Add chances to sums of integers, which are the same in any order of addition.

    Parameters
    ----------
    values : float64 array, shape (r, k)
        From 0 to 1.
    row : int64 array, shape (r,)
        The row of the sums that each row is added to; -1 for none.
    scale, shift : int
        A chance is rounded to a multiple of ``1 / scale``; the sums hold its last `shift` bits
        and the bits above them.
    high, low : int64 arrays, shape (rows, k), added to
    """
    mask = (np.int64(1) << shift) - 1
    for r in range(len(row)):
        at = row[r]
        if at < 0:
            continue
        for k in range(values.shape[1]):
            whole = np.int64(np.rint(values[r, k] * scale))
            high[at, k] += whole >> shift
            low[at, k] += whole & mask
