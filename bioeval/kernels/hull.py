"""The convex hull of the points of a ROC."""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled


@register_jitable
def find_hull(x, y, out):
    """Write the indices of the lower-left convex hull of points; return their number."""
    n = 0
    for i in range(len(x)):
        if n > 0 and x[out[n - 1]] == x[i]:
            n -= 1  # the same x further down
        elif n > 0 and y[out[n - 1]] == y[i]:
            continue  # the same y further right
        while n >= 2:
            a = out[n - 2]
            b = out[n - 1]
            turn = (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a])
            if turn > 0:
                break
            n -= 1
        out[n] = i
        n += 1
    return n


@compiled
def lower_hull(x, y, out):
    """Write the indices of the lower-left hull of the points of a ROC; return their number."""
    return find_hull(x, y, out)


@register_jitable
def meeting(x, y, chosen):
    """Return where the hull of a ROC meets the line FAR = FRR; NaN if it does not.

    The hull ends at the last point, which accepts most, also where that has the FRR of a corner.
    """
    corners = find_hull(x, y, chosen)
    if chosen[corners - 1] != len(x) - 1:
        chosen[corners] = len(x) - 1
        corners += 1
    i = 0
    while i < corners - 1 and x[chosen[i]] < y[chosen[i]]:
        i += 1
    b = chosen[i]
    if i == 0 or x[b] < y[b]:
        return x[b] if x[b] == y[b] else np.nan
    a = chosen[i - 1]
    gap0 = y[a] - x[a]
    gap1 = y[b] - x[b]
    return x[a] + gap0 / (gap0 - gap1) * (x[b] - x[a])


@compiled
def hull_equal_errors(far, frr, out):
    """Write where the hull of each ROC, a row of points, meets the line FAR = FRR."""
    chosen = np.empty(far.shape[1], dtype=np.int64)
    for k in range(len(out)):
        out[k] = meeting(far[k], frr[k], chosen)
