"""Count all folds at once: each score by the fold of its probe and that of its template.

As in ``count``, the row's own subject is at ``own_start:own_stop``, everything else is an impostor
score, and NaN is no attempt. The cells cover the whole line: the first one is open below, the last
one above, and one more is for NaN.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def count_by_fold(block, own_start, own_stop, row_fold, offset, window, nan_cell, room, tables):
    """Count impostor scores into cells of their pair of folds.

    The cells of the fold of position ``p`` begin at ``offset[p]``, int32, in a row of `tables`,
    int32 of shape (chunks, folds, folds * cells); `nan_cell` is counted from the first. `room`,
    int32 of shape (chunks, n), is for the cells of a row.
    """
    b, n = block.shape
    chunks = room.shape[0]
    width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    one = np.int32(1)
    half = n // 2
    for c in prange(chunks):
        index = room[c]
        front = index[:half]
        back = index[half : 2 * half]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            for p in range(n):
                x = row[p]
                y = x * inverse
                y = y if y > low else low
                y = y if y < high else high
                z = np.ceil(y)
                k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed, or been cut
                k = k - shift if x == x else nan_cell
                index[p] = offset[p] + k
            table = tables[c, row_fold[i]]
            # Two places far apart: equal scores side by side would wait for each other.
            for p in range(half):
                table[front[p]] += one
                table[back[p]] += one
            if 2 * half < n:
                table[index[n - 1]] += one
            for p in range(own_start[i], own_stop[i]):
                table[index[p]] -= one


@njit(parallel=True, cache=True)
def collect_by_fold(block, own_start, own_stop, window, wanted, above, upto, found, out, place):
    """Collect the impostor scores of each row that lie in wanted cells, with their positions.

    Most pieces of a row hold no such score, which comparisons without branches find out: no wanted
    score is at most `above` (NaN: there is no such bound), or larger than `upto`. Scores beyond the
    room in `out` and `place` are counted in `found`, but not written.
    """
    b, n = block.shape
    most = out.shape[1]
    width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    for i in prange(b):
        row = block[i]
        filled = np.int64(0)
        for start in range(0, n, 64):
            some = row[start : start + 64]
            hits = np.int32(0)
            for j in range(len(some)):
                hits += np.int32((some[j] <= upto) & (not (some[j] <= above)))
            if hits == 0:
                continue
            for j in range(len(some)):
                x = some[j]
                p = start + j
                inside = (x <= upto) & (not (x <= above))
                if inside and (p < own_start[i] or p >= own_stop[i]):
                    y = x * inverse
                    y = y if y > low else low
                    y = y if y < high else high
                    z = np.ceil(y)
                    if wanted[np.int32(z) + np.int32(z * width < x) - shift]:
                        if filled < most:
                            out[i, filled] = x
                            place[i, filled] = p
                        filled += 1
        found[i] = filled
