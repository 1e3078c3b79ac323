"""Rows of scores as blocks of impostor attempts, in one pass over the rows."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import parallel_rows


@parallel_rows("raw")
def impostors(begin, end, raw, sign, order, starts, genuine, values, failed):
    """Write rows of distances with NaN in place of each probe's own subject; count all NaN.

    ::

        for i in rows:
            failed[i] = number of NaN in raw[i]
            values[i] = sign * raw[i, order]
            values[i, genuine[starts[i]:starts[i + 1]]] = nan

    `raw` and `values` have the shape (h, w); an empty `order` keeps the columns in their order.
    """
    for i in range(begin, end):
        row, out = raw[i], values[i]
        number = np.int32(0)
        if len(order):
            for j in range(len(out)):
                x = row[order[j]]
                number += np.int32(x != x)
                out[j] = sign * x
        else:
            for j in range(len(out)):
                x = row[j]
                number += np.int32(x != x)
                out[j] = sign * x
        failed[i] = number
        for place in range(starts[i], starts[i + 1]):
            out[genuine[place]] = np.nan
