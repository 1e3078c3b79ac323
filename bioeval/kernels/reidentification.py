"""Re-identification: ranks of all mates of each query, and its candidates within thresholds.

The mates of a row are known and sorted; they are few. The row holds NaN in their place and is read
once: only values up to the farthest mate are collected, so that most of a row costs one comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows
from bioeval.kernels.layers import threshold_of


class Rows(NamedTuple):
    """Some queries, and their mates."""

    #: float (h, w'), C-contiguous: distances to others, perhaps with more columns behind them; NaN
    #: = no attempt.
    values: np.ndarray
    gallery: np.ndarray  # int64 (w,): the gallery template of each column
    #: int64 (h,): the mates of a query, from near to far.
    starts: np.ndarray
    stops: np.ndarray


class Ranked(NamedTuple):
    """The mates of all queries; the mates of a query are sorted by distance and then by place."""

    distance: np.ndarray  # of the dtype of the values
    gallery: np.ndarray  # int64


class Counts(NamedTuple):
    """Others closer than each mate, exactly as close, and as close and before it; added to.

    Integers (mates,), or (groups, mates).
    """

    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


# Values compared with the farthest mate at a time, before any of them is collected.
CHUNK = 64

# Up to this many mates, all collected values are compared with each mate; beyond, each value is
# placed among the sorted mates by bisection.
FEW = 64


@called_by_loops
def _collect(row, last, near, wanted):
    """Write the values up to the farthest mate; return their number.

    `wanted` (uint8 (CHUNK,)) is written.
    """
    s = np.int64(0)
    rest = len(row) // CHUNK * CHUNK
    for a in range(0, rest, CHUNK):
        piece = row[a : a + CHUNK]
        number = np.int32(0)
        for q in range(CHUNK):
            some = np.int32(piece[q] <= last)
            wanted[q] = some
            number += some
        if number > 0:
            for q in range(CHUNK):
                near[s] = piece[q]
                s += wanted[q]
    for q in range(rest, len(row)):
        near[s] = row[q]
        s += np.int64(row[q] <= last)
    return s


@called_by_loops
def _first_above(values, x):
    """Return the first place of increasing values that is above `x`, which is not NaN."""
    low, high = np.int64(0), np.int64(len(values))
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@called_by_loops
def _count_few(near, mates, closer, tied):
    """Count the values below every mate, and values equal to the mate, for few mates."""
    for t in range(len(mates)):
        d = mates[t]
        before = np.int32(0)
        same = np.int32(0)
        for q in range(len(near)):
            before += np.int32(near[q] < d)
            same += np.int32(near[q] == d)
        closer[t] = before
        tied[t] = same


@called_by_loops
def _count_many(near, mates, closer, tied):
    """Count the values below every mate, and values equal to the mate, for many sorted mates."""
    k = len(mates)
    closer[:k] = 0
    tied[:k] = 0
    for x in near:
        farther = _first_above(mates, x)
        if farther < k:
            closer[farther] += 1
        if farther > 0 and mates[farther - 1] == x:
            tied[farther - 1] += 1
    for t in range(1, k):
        closer[t] += closer[t - 1]
    for t in range(k - 2, -1, -1):
        if mates[t] == mates[t + 1]:
            tied[t] = tied[t + 1]


@parallel_rows("rows.values")
def rank_mates(begin, end, rows, mates, counts):
    """Count the other candidates that rank before each mate of each query, and its ties.

    ::

        for i in queries:
            for t in mates of i:
                for j, x in enumerate(row i):
                    closer[t] += x < distance[t]
                    tied[t] += x == distance[t]
                    before[t] += x == distance[t] and gallery[j] < gallery[t]

    Ties are counted a second time for their places: few mates have any.
    """
    n = len(rows.gallery)
    near, wanted = np.empty(n + 1, rows.values.dtype), np.empty(CHUNK, np.uint8)
    most = np.int64(0)
    for i in range(begin, min(end, len(rows.starts))):
        most = max(most, rows.stops[i] - rows.starts[i])
    closer, tied = np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(begin, min(end, len(rows.starts))):
        low, high = rows.starts[i], rows.stops[i]
        if low == high:
            continue
        row = rows.values[i, :n]
        distance = mates.distance[low:high]
        s = _collect(row, distance[-1], near, wanted)
        if s == 0:
            continue
        if high - low <= FEW:
            _count_few(near[:s], distance, closer, tied)
        else:
            _count_many(near[:s], distance, closer, tied)
        for t in range(low, high):
            counts.closer[t] += closer[t - low]
            if tied[t - low] > 0:
                d, place = mates.distance[t], mates.gallery[t]
                before = np.int64(0)
                for j in range(n):
                    before += np.int64((row[j] == d) & (rows.gallery[j] < place))
                counts.tied[t] += tied[t - low]
                counts.before[t] += before


@parallel_rows("rows.values")
def rank_mates_by_group(begin, end, rows, mates, counts, group):
    """Count the other candidates of each group apart, as :func:`rank_mates` counts all.

    ::

        for i in queries:
            for t in mates of i:
                for j, x in enumerate(row i):
                    closer[group[gallery[j]], t] += x < distance[t]  # tied, before alike

    `group` (int64 (n,)) has the group of each gallery template, from 0; -1 for none.
    """
    most = np.int64(0)
    for i in range(begin, min(end, len(rows.starts))):
        most = max(most, rows.stops[i] - rows.starts[i])
    nearer = np.zeros((most, len(counts.closer)), np.int64)
    for i in range(begin, min(end, len(rows.starts))):
        low, high = rows.starts[i], rows.stops[i]
        if low == high:
            continue
        row = rows.values[i]
        distance, place = mates.distance[low:high], mates.gallery[low:high]
        nearer[: high - low] = 0
        for j in range(len(rows.gallery)):
            x = row[j]
            g = group[rows.gallery[j]]
            if not (x <= distance[-1]) or g < 0:
                continue
            t = _first_above(distance, x)
            if t < len(distance):
                nearer[t, g] += 1
            t -= 1
            while t >= 0 and distance[t] == x:
                counts.tied[g, low + t] += 1
                counts.before[g, low + t] += rows.gallery[j] < place[t]
                t -= 1
        for t in range(high - low):
            for g in range(nearer.shape[1]):
                if t > 0:
                    nearer[t, g] += nearer[t - 1, g]
                counts.closer[g, low + t] += nearer[t, g]


@parallel_rows("values")
def count_within(begin, end, values, probes, thresholds, base, scale, guide, counts):
    """Count the values of each row between thresholds; `counts` (rows of `probes`) are added to.

    ::

        for i, row in enumerate(values):
            for x in row:
                if x is not NaN:
                    counts[probes[i], the first threshold that is not below x] += 1

    `base`, `scale` and `guide` are explained in :func:`bioeval.kernels.layers.threshold_of`.
    """
    for i in range(begin, min(end, len(probes))):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            if x == x:
                counts[probes[i], threshold_of(x, thresholds, base, scale, guide)] += 1
