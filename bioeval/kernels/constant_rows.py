"""Rows of one value: each row is read only up to its second distinct value."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiled import compiled


@compiled
def constant_rows(values, rows, places, itself, value, count):
    """Write the only finite value of each row (NaN for several) and how often it occurs.

    Parameters
    ----------
    values : float array, shape (M, N)
    rows, places : int64 arrays, shapes (b,) and (n,)
        Rows of `values`, and the place of each column in them.
    itself : int64 array, shape (b,)
        The column that is not read; -1 for none.
    value, count : float64 and int64 arrays, shape (b,), written
    """
    for i in range(len(rows)):
        row = values[rows[i]]
        first = np.nan
        number = 0
        for column in range(len(places)):
            x = row[places[column]]
            if column == itself[i] or not abs(x) < np.inf:
                continue
            if number > 0 and x != first:
                first = np.nan
                break
            first = x
            number += 1
        value[i] = first
        count[i] = number
