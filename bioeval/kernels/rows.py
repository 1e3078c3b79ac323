"""Rows of scores turned into blocks of impostor attempts, in one pass over the rows."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import parallel_rows


@parallel_rows("raw")
def impostors(begin, end, raw, sign, order, starts, genuine, values, failed):
    """Write rows of distances with NaN in place of each probe's own subject; count NaN in `raw`.

    ::

        for i in rows:
            failed[i] = number of NaN in raw[i]
            values[i] = sign * raw[i, order]
            values[i, genuine[starts[i]:starts[i + 1]]] = nan

    `raw` and `values` have the shape (h, w); an empty `order` keeps the columns in their order.
    """
    for i in range(begin, end):
        row, distances = raw[i], values[i]
        missing = np.int32(0)
        if len(order):
            for j in range(len(distances)):
                x = row[order[j]]
                missing += np.int32(x != x)
                distances[j] = sign * x
        else:
            for j in range(len(distances)):
                x = row[j]
                missing += np.int32(x != x)
                distances[j] = sign * x
        failed[i] = missing
        for k in range(starts[i], starts[i + 1]):
            distances[genuine[k]] = np.nan
