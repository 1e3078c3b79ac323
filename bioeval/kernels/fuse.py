"""Multi-template scores: fuse each subject's templates into one score a row."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def fuse_extreme(block, columns, starts, self_position, sign, fused, place):
    """Fuse by the smallest distance (sign = 1) or the largest (sign = -1).

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt. Group ``g`` is at ``starts[g]:starts[g + 1]``.
    columns : int64 array, shape (1, n)
        Place of each template in the gallery's own order.
    starts : int64 array, shape (g + 1,)
    self_position : int64 array, shape (b,)
        The template that is the probe itself, or -1.
    fused : float array, shape (b, g), written
        NaN where no template is left.
    place : int64 array, shape (b, g), written
        Place of the group's nearest template, the first of them in a tie.
    """
    b = block.shape[0]
    groups = len(starts) - 1
    for i in prange(b):
        row = block[i]
        for g in range(groups):
            best = np.inf
            first = np.int64(-1)
            worst = -np.inf
            for p in range(starts[g], starts[g + 1]):
                x = row[p]
                if p == self_position[i] or x != x:
                    continue
                if first < 0 or x < best:
                    best = x
                    first = columns[0, p]
                if x > worst:
                    worst = x
            if first < 0:
                fused[i, g] = np.nan
            else:
                fused[i, g] = best if sign > 0 else worst
            place[i, g] = first


@njit(parallel=True, cache=True)
def fuse_mean(block, columns, starts, self_position, fused, place):
    """Fuse by the mean, accumulated in float64 in gallery order.

    Infinities of both signs have no mean; the result is then +inf, accepted at no finite
    threshold. Arguments as for :func:`fuse_extreme`, `fused` in float64.
    """
    b = block.shape[0]
    groups = len(starts) - 1
    for i in prange(b):
        row = block[i]
        for g in range(groups):
            total = 0.0
            count = 0
            best = np.inf
            first = np.int64(-1)
            for p in range(starts[g], starts[g + 1]):
                x = np.float64(row[p])
                if p == self_position[i] or x != x:
                    continue
                total += x
                count += 1
                if first < 0 or x < best:
                    best = x
                    first = columns[0, p]
            if count == 0:
                fused[i, g] = np.nan
            else:
                mean = total / count
                fused[i, g] = mean if mean == mean else np.inf
            place[i, g] = first


@njit(parallel=True, cache=True)
def fuse_order(block, columns, starts, self_position, kth, fused, place):
    """Fuse by the `kth` smallest distance (from 1), or by the median where `kth` is 0.

    The median of an even number is the mean of the two in the middle. A group of fewer than
    `kth` templates is no attempt. Arguments as for :func:`fuse_extreme`, `fused` in float64.
    """
    b = block.shape[0]
    groups = len(starts) - 1
    largest = 0
    for g in range(groups):
        largest = max(largest, starts[g + 1] - starts[g])
    for i in prange(b):
        row = block[i]
        held = np.empty(largest, dtype=np.float64)
        for g in range(groups):
            count = 0
            best = np.inf
            first = np.int64(-1)
            for p in range(starts[g], starts[g + 1]):
                x = np.float64(row[p])
                if p == self_position[i] or x != x:
                    continue
                held[count] = x
                count += 1
                if first < 0 or x < best:
                    best = x
                    first = columns[0, p]
            place[i, g] = first
            if count == 0 or count < kth:
                fused[i, g] = np.nan
                continue
            ordered = np.sort(held[:count])
            if kth > 0:
                fused[i, g] = ordered[kth - 1]
            else:
                low = ordered[(count - 1) // 2]
                high = ordered[count // 2]
                middle = low if low == high else 0.5 * low + 0.5 * high
                fused[i, g] = middle if middle == middle else np.inf
