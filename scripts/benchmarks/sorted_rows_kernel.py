"""Re-identification by sorting every row, as compiled rankers do it: a stand-in for benchmarks."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def average_precision_by_sorting(rows, own, identity, query_camera, camera, found):
    """Write the average precision of each row under the rules of Market-1501.

    Parameters
    ----------
    rows : float array, shape (b, n)
    own, query_camera : int64 arrays, shape (b,); identity, camera : int64 arrays, shape (n,)
    found : float64 array, shape (b,), written
        NaN without a match.
    """
    for i in range(len(rows)):
        order = np.argsort(rows[i])
        matches = 0
        rank = 0
        total = 0.0
        for p in range(len(order)):
            j = order[p]
            if identity[j] == own[i]:
                if camera[j] == query_camera[i]:
                    continue
                matches += 1
                rank += 1
                total += matches / rank
            else:
                rank += 1
        found[i] = total / matches if matches > 0 else np.nan
