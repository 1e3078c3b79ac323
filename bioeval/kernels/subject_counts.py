"""Impostor scores counted between thresholds for each pair of subjects; genuine scores listed.

The rows of a block are ordered by subject, so that each pair of subjects is counted by one
thread.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def count_pairs(block, starts, own, self_position, row_starts, thresholds, counts):
    """Count the impostor scores of each pair of subjects between thresholds.

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt. Group ``g`` is at columns ``starts[g]:starts[g + 1]``.
    starts : int64 array, shape (g + 1,)
    own, self_position : int64 arrays, shape (b,)
        The group of the row's own subject, which is left out, and the template that is the probe
        itself; -1 where there is none.
    row_starts : int64 array, shape (s + 1,)
        Rows ``row_starts[k]:row_starts[k + 1]`` are probes of one subject.
    thresholds : float64 array, shape (t,), increasing
    counts : int32 array, shape (s, g, t + 1), added to
        Bin ``k`` holds the scores above ``thresholds[k - 1]`` and not above ``thresholds[k]``.
    """
    groups = len(starts) - 1
    for s in prange(len(row_starts) - 1):
        for i in range(row_starts[s], row_starts[s + 1]):
            row = block[i]
            for g in range(groups):
                if g == own[i]:
                    continue
                table = counts[s, g]
                for p in range(starts[g], starts[g + 1]):
                    x = np.float64(row[p])
                    if x != x or p == self_position[i]:
                        continue
                    low = 0
                    high = len(thresholds)
                    while low < high:
                        middle = (low + high) // 2
                        if thresholds[middle] < x:
                            low = middle + 1
                        else:
                            high = middle
                    table[low] += 1


@njit(cache=True)
def list_own(block, own_start, own_stop, self_position, value, row):
    """Write the genuine scores one after the other, with their rows; return how many they are."""
    filled = 0
    for i in range(block.shape[0]):
        for p in range(own_start[i], own_stop[i]):
            x = block[i, p]
            if p != self_position[i] and x == x:
                value[filled] = x
                row[filled] = i
                filled += 1
    return filled


@njit(cache=True)
def list_claims(block, starts, self_position, rows, groups, value, claim):
    """Write the scores of explicit claims, with the claims' numbers; return how many they are."""
    filled = 0
    for c in range(len(rows)):
        i = rows[c]
        for p in range(starts[groups[c]], starts[groups[c] + 1]):
            x = block[i, p]
            if p != self_position[i] and x == x:
                value[filled] = x
                claim[filled] = c
                filled += 1
    return filled
