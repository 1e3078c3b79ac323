"""Rows of one value: each row is read only up to its second distinct value."""

import numpy as np

from bioeval.kernels.compiling import FEW, by_numpy, compiled


def numpy_constant_rows(raw, places, left_out, value, count):
    """Do as :func:`constant_rows`, by NumPy."""
    x = raw.values[np.ix_(raw.rows, places)].astype(np.float64)
    column = np.arange(len(places))
    read = np.isfinite(x) & (column != left_out[:, None])
    if len(raw.mask) > 0:
        read &= raw.mask[np.ix_(raw.mask_rows, places)] != 0
    rows = np.arange(len(x))
    other = read & (x != x[rows, read.argmax(axis=1)][:, None])
    several = other.any(axis=1)
    end = np.where(several, other.argmax(axis=1), len(places))
    read &= column < end[:, None]
    count[:] = read.sum(axis=1)
    last = len(places) - 1 - read[:, ::-1].argmax(axis=1)
    value[:] = np.where(several | (count == 0), np.nan, x[rows, last])


@by_numpy(numpy_constant_rows, lambda raw, places, *_: len(raw.rows) * len(places) or FEW + 1)
@compiled
def constant_rows(raw, places, left_out, value, count):
    """Write the only finite value of each row (NaN for several) and how often it occurs.

    - `raw`: RawRows
    - `places` (int64 (n,)): the place of each column in a row
    - `left_out` (int64 (b,)): the column that is not read; -1 for none
    - `value`, `count`: float64 and int64 (b,), written
    """
    for i in range(len(raw.rows)):
        row = raw.values[raw.rows[i]]
        mask = raw.mask[raw.mask_rows[i]] if len(raw.mask) > 0 else raw.mask.reshape(-1)
        first = np.nan
        number = 0
        for column in range(len(places)):
            x = row[places[column]]
            if column == left_out[i] or not abs(x) < np.inf:
                continue
            if len(mask) > 0 and mask[places[column]] == 0:
                continue
            if number > 0 and x != first:
                first = np.nan
                break
            first = x
            number += 1
        value[i] = first
        count[i] = number
