"""Scores counted by the lower code of both templates.

As in :mod:`bioeval.kernels.count`, the row's own subject is at ``mate_start:mate_stop``, everything
else is an impostor score, NaN no attempt.
"""

import numpy as np

from bioeval.kernels.compiling import parallel_rows


@parallel_rows("tables")
def count_by_lower(begin, end, block, mate_start, mate_stop, row_code, code, threshold, tables):
    """Count impostor scores by the lower code of their templates, also at the threshold.

    ``tables[c, k, 0]``, int64, gets those up to the threshold, and ``tables[c, k, 1]`` the others;
    NaN is no attempt. `code` has one for each position, `row_code` one for each row.
    """
    b, n = block.shape
    chunks = tables.shape[0]
    for c in range(begin, end):
        table = tables[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            mine = row_code[i]
            for side in range(2):
                start = 0 if side == 0 else mate_stop[i]
                stop = mate_start[i] if side == 0 else n
                for p in range(start, stop):
                    x = np.float64(row[p])
                    if x == x:
                        table[min(mine, code[p]), np.int64(not (x <= threshold))] += 1
