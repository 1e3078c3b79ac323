"""Ranks of all mates of a query: mates first, then one pass over the row, without sorting it.

The mates of a row are gathered and sorted; they are few. The row is then read once: only values
up to the farthest mate are collected, so that most of a row costs one comparison. Templates of
the query's own identity are among them and are subtracted again.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows

# Values compared with the farthest mate at a time, before any of them is collected.
CHUNK = 64

# Up to this many mates, all collected values are compared with each mate; beyond, each value is
# placed among the sorted mates by bisection.
FEW = 64


@register_jitable
def _sort_all(distance, columns):
    """Sort mates by distance, equal ones by column (Shell's sort: no memory, no recursion)."""
    n = len(distance)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value = distance[i]
            column = columns[i]
            j = i
            while j >= gap:
                d = distance[j - gap]
                if d < value or (d == value and columns[j - gap] < column):
                    break
                distance[j] = d
                columns[j] = columns[j - gap]
                j -= gap
            distance[j] = value
            columns[j] = column
        gap //= 3


@register_jitable
def _collect(part, last, near, s):
    """Append the values up to the farthest mate, and NaN, to the `s` values of `near`."""
    n = len(part)
    whole = n // CHUNK * CHUNK
    for a in range(0, whole, CHUNK):
        piece = part[a : a + CHUNK]
        hit = np.int32(0)
        for q in range(CHUNK):
            hit += np.int32(not (piece[q] > last))
        if hit > 0:
            for q in range(CHUNK):
                near[s] = piece[q]
                s += np.int64(not (piece[q] > last))
    for q in range(whole, n):
        near[s] = part[q]
        s += np.int64(not (part[q] > last))
    return s


@register_jitable
def _count_few(near, mates, closer, tied):
    """Count the values below, and exactly at, each of a few mates."""
    for t in range(len(mates)):
        d = mates[t]
        before = np.int32(0)
        same = np.int32(0)
        for q in range(len(near)):
            before += np.int32(near[q] < d)
            same += np.int32(near[q] == d)
        closer[t] = before
        tied[t] = same


@register_jitable
def _count_many(near, mates, closer, tied):
    """Count the values below, and exactly at, each of many sorted mates."""
    k = len(mates)
    for t in range(k):
        closer[t] = 0
        tied[t] = 0
    for q in range(len(near)):
        x = near[q]
        low = 0
        high = k
        while low < high:  # the first mate that is farther
            middle = (low + high) // 2
            if mates[middle] <= x:
                low = middle + 1
            else:
                high = middle
        if low < k:
            closer[low] += 1
        if low > 0 and mates[low - 1] == x:
            tied[low - 1] += 1
    total = np.int64(0)
    for t in range(k):
        total += closer[t]
        closer[t] = total
    for t in range(k - 2, -1, -1):
        if mates[t] == mates[t + 1]:
            tied[t] = tied[t + 1]


@register_jitable
def _listed(gallery, low, high, j):
    """Whether a column is in one of the ordered runs ``low:high``."""
    end = high
    while low < high:  # the first run that ends beyond the column
        middle = (low + high) // 2
        if gallery.run_stop[middle] <= j:
            low = middle + 1
        else:
            high = middle
    return low < end and gallery.run_first[low] <= j


@register_jitable
def _removed(queries, gallery, i, j):
    """Whether an own template is removed: it is the query itself or from its camera."""
    return j == queries.self_column[i] or (
        gallery.same_camera and gallery.camera[j] == queries.camera[i]
    )


@register_jitable
def _subtract_own(queries, gallery, i, own, runs, mates, closer, tied):
    """Subtract the own templates from the counts of each mate.

    `own` and `runs` are the ranges of the row's own columns and of the runs of its list.
    """
    k = len(mates)
    # The mates, by their order ...
    t = np.int64(0)
    while t < k:
        e = t
        while e < k and mates[e] == mates[t]:
            e += 1
        for q in range(t, e):
            closer[q] -= t
            tied[q] -= e - t
        t = e
    # ... and those that are removed.
    for p in range(own[0], own[1]):
        j = gallery.own_columns[p]
        if _removed(queries, gallery, i, j) and _listed(gallery, runs[0], runs[1], j):
            x = queries.values[i, j]
            for q in range(k):
                closer[q] -= x < mates[q]
                tied[q] -= x == mates[q]


@register_jitable
def _count_before(row, gallery, own, runs, distance, place):
    """Count templates of others at the same distance as a mate, in an earlier column."""
    count = np.int64(0)
    for r in range(runs[0], runs[1]):
        if gallery.run_first[r] >= place:
            break
        part = row[gallery.run_first[r] : min(gallery.run_stop[r], place)]
        for q in range(len(part)):
            count += part[q] == distance
    for p in range(own[0], own[1]):
        j = gallery.own_columns[p]
        if j < place and row[j] == distance:
            count -= _listed(gallery, runs[0], runs[1], j)
    return count


@register_jitable
def _rank_row(queries, gallery, written, near, i):
    """Rank the mates of row `i`; `near` has room for its values."""
    row = queries.values[i]
    at = written.offsets[i]
    own = (np.int64(0), np.int64(0))
    if queries.own[i] >= 0:
        own = (gallery.own_starts[queries.own[i]], gallery.own_starts[queries.own[i] + 1])
    runs = (gallery.run_starts[queries.which[i]], gallery.run_starts[queries.which[i] + 1])

    room = own[1] - own[0]
    mates = written.distance[at : at + room]
    places = written.column[at : at + room]
    k = np.int64(0)
    away = np.int64(0)
    unread = np.int64(0)  # NaN on the list that are no failure
    for p in range(own[0], own[1]):
        j = gallery.own_columns[p]
        x = row[j]
        if not _listed(gallery, runs[0], runs[1], j):
            continue
        if _removed(queries, gallery, i, j):
            away += j != queries.self_column[i]
            unread += x != x
        elif x == x:
            mates[k] = x
            places[k] = j
            k += 1
    _sort_all(mates[:k], places[:k])
    written.found[i] = k
    written.removed[i] = away
    farthest = mates[k - 1] if k > 0 else row.dtype.type(-np.inf)

    # Collect the values up to the farthest mate; NaN is detected in the same pass.
    s = np.int64(0)
    for r in range(runs[0], runs[1]):
        s = _collect(row[gallery.run_first[r] : gallery.run_stop[r]], farthest, near, s)
    bad = np.int64(0)
    for q in range(s):
        bad += near[q] != near[q]
    written.failed[i] = bad - unread
    if k == 0:
        return
    mates = mates[:k]
    closer = written.closer[at : at + k]
    tied = written.tied[at : at + k]
    if k <= FEW:
        _count_few(near[:s], mates, closer, tied)
    else:
        _count_many(near[:s], mates, closer, tied)
    _subtract_own(queries, gallery, i, own, runs, mates, closer, tied)
    for t in range(k):
        written.before[at + t] = np.int64(0)
        if tied[t] > 0:
            written.before[at + t] = _count_before(row, gallery, own, runs, mates[t], places[t])


@parallel_rows("queries.values")
def rank_mates(begin, end, queries, gallery, mates):
    """Rank all mates of each query among the templates of others; ``mates`` is written."""
    near = np.empty(queries.values.shape[1] + 1, queries.values.dtype)
    for i in range(begin, end):
        _rank_row(queries, gallery, mates, near, i)
