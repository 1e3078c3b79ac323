"""Sums of chances as whole numbers, the same in any order of addition."""

import numpy as np

from bioeval.kernels.compiling import compiled


@compiled
def add_fixed(values, row, scale, shift, high, low):
    """Add rows of chances to the integer sums that `row` names; -1 for none.

    A chance is rounded to a multiple of ``1 / scale``; `low` sums its last `shift` bits and `high`
    those above, so that the order of addition changes nothing.
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
