"""Second looks at the impostor scores: between genuine scores, and inside a few windows."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def count_gaps(block, own_start, own_stop, marks, base, scale, guide, below, equal):
    """Count impostor scores between, and exactly at, the marks (the distinct genuine scores).

    ``below[c, i]`` gets the scores with ``marks[i - 1] < x < marks[i]``, ``equal[c, i]`` those at
    ``marks[i]``. The guide is the one of ``count_thresholds``.

    Parameters
    ----------
    marks : float64 array, shape (u,), increasing
    below : int64 array, shape (chunks, u + 1), added to
    equal : int64 array, shape (chunks, u), added to
    """
    b = block.shape[0]
    chunks = below.shape[0]
    places = len(guide) - 1
    u = len(marks)
    last = marks[u - 1]
    for c in prange(chunks):
        under = below[c]
        at = equal[c]
        beyond = np.int64(0)
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            for side in range(2):
                part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
                for j in range(len(part)):
                    x = np.float64(part[j])
                    if x > last:
                        beyond += 1
                        continue
                    if x != x:
                        continue
                    y = (x - base) * scale
                    place = 0
                    if y > 0:
                        place = places - 1 if y >= places - 1 else np.int64(y)
                    low = guide[place]
                    high = guide[place + 1]
                    while low < high:
                        middle = (low + high) // 2
                        if marks[middle] < x:
                            low = middle + 1
                        else:
                            high = middle
                    if marks[low] == x:
                        at[low] += 1
                    else:
                        under[low] += 1
        under[u] += beyond


@njit(parallel=True, cache=True)
def count_windows(block, own_start, own_stop, lows, highs, out):
    """Write how many impostor scores of each row lie in any window ``(low, high]``.

    Windows are disjoint and increase.
    """
    windows = len(lows)
    bottom = lows[0]
    top = highs[windows - 1]
    for i in prange(block.shape[0]):
        row = block[i]
        found = np.int64(0)
        for side in range(2):
            part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
            for j in range(len(part)):
                x = part[j]
                if x > bottom and x <= top:
                    for w in range(windows):
                        if x <= highs[w]:
                            found += x > lows[w]
                            break
        out[i] = found


@njit(parallel=True, cache=True)
def collect_windows(block, own_start, own_stop, lows, highs, offsets, out):
    """Write the impostor scores of each row that lie in any window, from ``offsets[i]`` on."""
    windows = len(lows)
    bottom = lows[0]
    top = highs[windows - 1]
    for i in prange(block.shape[0]):
        if offsets[i] == offsets[i + 1]:
            continue
        row = block[i]
        filled = offsets[i]
        for side in range(2):
            part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
            for j in range(len(part)):
                x = part[j]
                if x > bottom and x <= top:
                    for w in range(windows):
                        if x <= highs[w]:
                            if x > lows[w]:
                                out[filled] = x
                                filled += 1
                            break


@njit(cache=True)
def lower_hull(x, y, out):
    """Write the indices of the lower-left convex hull of points; return how many they are.

    The points come with `x` not falling and `y` not rising, as the points of a ROC do.
    """
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
