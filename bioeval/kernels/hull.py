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
    """Return where the hull of points meets the line FAR = FRR; NaN if it does not."""
    corners = find_hull(x, y, chosen)
    i = 0
    while i < corners - 1 and x[chosen[i]] < y[chosen[i]]:
        i += 1
    b = chosen[i]
    if i == 0:
        return x[b] if x[b] == y[b] else np.nan
    a = chosen[i - 1]
    gap0 = y[a] - x[a]
    gap1 = y[b] - x[b]
    return x[a] + gap0 / (gap0 - gap1) * (x[b] - x[a])


def interpreted_hull(far, frr, starts, out):
    """Do as :func:`hull_equal_errors`, without compiling it: on lists, which Python is quick at."""
    for k, (first, stop) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        x, y = [*far[first:stop].tolist(), 1.0], [*frr[first:stop].tolist(), 0.0]
        out[k] = meeting(x, y, [0] * len(x)) if first < stop else np.nan


@compiled
def hull_equal_errors(far, frr, starts, out):
    """Write where the hull of each ROC meets the line FAR = FRR; NaN of a ROC without points.

    The points of ROC ``k`` are at ``starts[k]:starts[k + 1]``, and (1, 0) follows.
    """
    longest = 0
    for k in range(len(out)):
        longest = max(longest, starts[k + 1] - starts[k])
    x = np.empty(longest + 1)
    y = np.empty(longest + 1)
    chosen = np.empty(longest + 1, dtype=np.int64)
    for k in range(len(out)):
        n = starts[k + 1] - starts[k]
        out[k] = np.nan
        if n == 0:
            continue
        for i in range(n):  # assignments of slices take seconds to compile
            x[i] = far[starts[k] + i]
            y[i] = frr[starts[k] + i]
        x[n] = 1.0
        y[n] = 0.0
        out[k] = meeting(x[: n + 1], y[: n + 1], chosen)
