"""Re-identification: ranks of all mates of each query, and its candidates within thresholds.

The mates of a row are few, known before, and sorted by distance; the row has NaN in their place.
Only values up to the farthest mate are collected, so that most values cost one comparison.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import called_by_loops, parallel_rows
from bioeval.kernels.layers import threshold_of


class Rows(NamedTuple):
    """Some queries, and their mates."""

    #: float (h, w + padding), C-contiguous: distances to others; NaN = no attempt.
    values: np.ndarray
    gallery: np.ndarray  # int64 (w,): the gallery template of each column
    #: int64 (h,): the mates of query ``i`` are ``starts[i]:stops[i]`` of the arrays of mates.
    starts: np.ndarray
    stops: np.ndarray


class Ranked(NamedTuple):
    """The mates of all queries; the mates of a query are sorted by distance, then by template."""

    distance: np.ndarray  # distances in the dtype of the values
    gallery: np.ndarray  # int64


class Counts(NamedTuple):
    """Numbers of other candidates, (mates,) or (groups, mates), to which a loop adds."""

    closer: np.ndarray  # closer than the mate
    tied: np.ndarray  # exactly as close as the mate
    before: np.ndarray  # tied, and an earlier template of the gallery


# Values compared with the farthest mate at a time, before any of them is collected.
CHUNK = 64

# Up to this number of mates, all collected values are compared with each mate; among more mates,
# each value is placed by bisection.
FEW = 64


@called_by_loops
def _collect(row, farthest, near, is_wanted):
    """Write the values up to the farthest mate; return their number.

    `near` has room for one value more than the row has: without a branch, every value of a chunk is
    written, and the next one takes its place unless it is near. `is_wanted` (uint8 (CHUNK,)) is
    scratch.
    """
    collected = np.int64(0)
    whole_chunks = len(row) // CHUNK * CHUNK
    for start in range(0, whole_chunks, CHUNK):
        chunk = row[start : start + CHUNK]
        near_in_chunk = np.int32(0)
        for q in range(CHUNK):
            is_near = np.int32(chunk[q] <= farthest)
            is_wanted[q] = is_near
            near_in_chunk += is_near
        if near_in_chunk > 0:
            for q in range(CHUNK):
                near[collected] = chunk[q]
                collected += is_wanted[q]
    for q in range(whole_chunks, len(row)):
        near[collected] = row[q]
        collected += np.int64(row[q] <= farthest)
    return collected


@called_by_loops
def _first_above(values, x):
    """Return the index of the first of the increasing values above `x`, which is not NaN."""
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
    """Count the values below each mate, and the values equal to it, for few mates."""
    for t in range(len(mates)):
        d = mates[t]
        below = np.int32(0)
        equal = np.int32(0)
        for q in range(len(near)):
            below += np.int32(near[q] < d)
            equal += np.int32(near[q] == d)
        closer[t] = below
        tied[t] = equal


@called_by_loops
def _count_many(near, mates, closer, tied):
    """Count the values below each mate, and the values equal to it, for many sorted mates."""
    k = len(mates)
    closer[:k] = 0
    tied[:k] = 0
    for x in near:
        first_farther = _first_above(mates, x)
        if first_farther < k:
            closer[first_farther] += 1
        if first_farther > 0 and mates[first_farther - 1] == x:
            tied[first_farther - 1] += 1
    for t in range(1, k):
        closer[t] += closer[t - 1]
    for t in range(k - 2, -1, -1):
        if mates[t] == mates[t + 1]:
            tied[t] = tied[t + 1]


@parallel_rows("rows.values")
def rank_mates(begin, end, rows, mates, counts):
    """Count the other candidates that are closer than each mate of each query, or tied with it.

    ::

        for i in queries:
            for t in mates of i:
                for j, x in enumerate(row i):
                    is_tied = x == mates.distance[t]
                    closer[t] += x < mates.distance[t]
                    tied[t] += is_tied
                    before[t] += is_tied and rows.gallery[j] < mates.gallery[t]

    Tied candidates are sought a second time, to count the earlier ones: few mates have ties.
    """
    n = len(rows.gallery)
    near, is_wanted = np.empty(n + 1, rows.values.dtype), np.empty(CHUNK, np.uint8)
    most = np.int64(0)
    for i in range(begin, min(end, len(rows.starts))):
        most = max(most, rows.stops[i] - rows.starts[i])
    closer, tied = np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(begin, min(end, len(rows.starts))):
        first, stop = rows.starts[i], rows.stops[i]
        if first == stop:
            continue
        row = rows.values[i, :n]
        distance = mates.distance[first:stop]
        collected = _collect(row, distance[-1], near, is_wanted)
        if collected == 0:
            continue
        if stop - first <= FEW:
            _count_few(near[:collected], distance, closer, tied)
        else:
            _count_many(near[:collected], distance, closer, tied)
        for t in range(first, stop):
            counts.closer[t] += closer[t - first]
            if tied[t - first] > 0:
                d, mate_position = mates.distance[t], mates.gallery[t]
                before = np.int64(0)
                for j in range(n):
                    before += np.int64((row[j] == d) & (rows.gallery[j] < mate_position))
                counts.tied[t] += tied[t - first]
                counts.before[t] += before


@parallel_rows("rows.values")
def rank_mates_by_group(begin, end, rows, mates, counts, group):
    """Count the other candidates of each group apart, as :func:`rank_mates` counts all.

    ::

        for i in queries:
            for t in mates of i:
                for j, x in enumerate(row i):
                    # `tied` and `before` alike
                    closer[group[rows.gallery[j]], t] += x < mates.distance[t]

    `group` (int64 (n,)) has the group of each gallery template, from 0; -1 for none.
    """
    most = np.int64(0)
    for i in range(begin, min(end, len(rows.starts))):
        most = max(most, rows.stops[i] - rows.starts[i])
    nearer = np.zeros((most, len(counts.closer)), np.int64)
    for i in range(begin, min(end, len(rows.starts))):
        first, stop = rows.starts[i], rows.stops[i]
        if first == stop:
            continue
        row = rows.values[i]
        distance, mate_positions = mates.distance[first:stop], mates.gallery[first:stop]
        nearer[: stop - first] = 0
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
                counts.tied[g, first + t] += 1
                counts.before[g, first + t] += rows.gallery[j] < mate_positions[t]
                t -= 1
        for t in range(stop - first):
            for g in range(nearer.shape[1]):
                if t > 0:
                    nearer[t, g] += nearer[t - 1, g]
                counts.closer[g, first + t] += nearer[t, g]


@parallel_rows("values")
def count_within(begin, end, values, probes, thresholds, base, scale, guide, counts):
    """Add the number of values between thresholds to `counts`, in the row of each probe.

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
