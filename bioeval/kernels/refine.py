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
def collect_windows(block, own_start, own_stop, lows, highs, piece, found, out):
    """Collect the impostor scores of each row that lie in any window ``(low, high]``.

    Most pieces of a row have none, which is found out by comparisons alone, without branches.

    Parameters
    ----------
    lows, highs : arrays of the dtype of `block`
        Disjoint windows.
    piece : int
        Scores looked at together.
    found : int64 array, shape (b,), written
        Number of scores of each row.
    out : float array, shape (b, room), written
        The scores; those beyond the room are counted in `found` but not written.
    """
    windows = len(lows)
    room = out.shape[1]
    for i in prange(block.shape[0]):
        row = block[i]
        filled = np.int64(0)
        for side in range(2):
            part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
            for start in range(0, len(part), piece):
                some = part[start : start + piece]
                hits = np.int32(0)
                for w in range(windows):
                    low = lows[w]
                    high = highs[w]
                    for j in range(len(some)):
                        hits += np.int32((some[j] > low) & (some[j] <= high))
                if hits == 0:
                    continue
                for j in range(len(some)):
                    x = some[j]
                    inside = False
                    for w in range(windows):
                        inside |= (x > lows[w]) & (x <= highs[w])
                    if inside:
                        if filled < room:
                            out[i, filled] = x
                        filled += 1
        found[i] = filled


@njit(parallel=True, cache=True)
def collect_cells(
    block, own_start, own_stop, width, inverse, low, high, shift, wanted, cells, found, out
):  # fmt: skip
    """Collect the impostor scores of each row that lie in wanted cells.

    Parameters
    ----------
    width, inverse, low, high : floats of the dtype of `block`
        Of the cells, and the numbers of the outermost ones, beyond which nothing is wanted.
    shift : int
        Number of the cell that is entry 0 of `wanted`.
    wanted : uint8 array
    cells : uint16 array, shape (chunks, n)
        Room for the cells of a row.
    found, out
        As for :func:`collect_windows`.
    """
    b = block.shape[0]
    chunks = cells.shape[0]
    room = out.shape[1]
    for c in prange(chunks):
        index = cells[c]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            n = len(row)
            for p in range(n):
                x = row[p]
                y = x * inverse
                y = y if y > low else low
                y = y if y < high else high
                z = np.ceil(y)
                k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
                index[p] = np.uint16(k - shift)
            filled = np.int64(0)
            for side in range(2):
                first = np.int64(0) if side == 0 else own_stop[i]
                last = own_start[i] if side == 0 else np.int64(n)
                part = row[first:last]
                place = index[first:last]
                for p in range(len(part)):
                    if wanted[place[p]]:
                        if filled < room:
                            out[i, filled] = part[p]
                        filled += 1
            found[i] = filled


@njit(parallel=True, cache=True)
def fuse_nearest(block, starts, self_position, fused):
    """Write each subject's smallest distance; NaN where no template is left.

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt.
    starts : int64 array, shape (g + 1,)
    self_position : int64 array, shape (b,)
    fused : float array, shape (b, g), written
    """
    groups = len(starts) - 1
    for i in prange(block.shape[0]):
        row = block[i]
        own = self_position[i]
        for g in range(groups):
            part = row[starts[g] : starts[g + 1]]
            least = part[0]
            for p in range(1, len(part)):
                # Also takes the place of a NaN; a NaN itself is never smaller.
                least = part[p] if part[p] < least or least != least else least
            fused[i, g] = least
            if own >= starts[g] and own < starts[g + 1]:
                least = np.nan
                for p in range(starts[g], starts[g + 1]):
                    if p != own and (row[p] < least or least != least):
                        least = row[p]
                fused[i, g] = least


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
