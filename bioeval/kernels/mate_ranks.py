"""Where every mate of a query stands: mates first, then one sweep of the row, without sorting it.

The mates of a row are gathered and sorted; they are few. A row is then read once: only what is
not farther than the last mate is looked at more closely, so that most of a row costs one
comparison. Templates of the query's own identity stand among the rest and are taken out again.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Values compared with the last mate at a time, before any of them is looked at more closely.
CHUNK = 64

# Up to so many mates, all near values are compared with each; beyond, each near value is placed
# among the mates by bisection.
FEW = 64


@njit(cache=True)
def _sorted_in(value, column, count, distance, columns):
    """Put a mate in its place among `count` others; equal ones keep the order of the columns."""
    at = count
    while at > 0 and distance[at - 1] > value:
        distance[at] = distance[at - 1]
        columns[at] = columns[at - 1]
        at -= 1
    distance[at] = value
    columns[at] = column


@njit(cache=True)
def _sort_all(distance, columns):
    """Sort many mates by distance, equal ones by column (Shell's sort: no memory, no recursion)."""
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


@njit(cache=True)
def _collect(part, last, near, s):
    """Add what is not farther than the last mate, NaN included, to the `s` near values."""
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


@njit(cache=True)
def _count_few(near, mates, closer, tied):
    """Count the near values before, and exactly at, each of a few mates."""
    for t in range(len(mates)):
        d = mates[t]
        before = np.int32(0)
        same = np.int32(0)
        for q in range(len(near)):
            before += np.int32(near[q] < d)
            same += np.int32(near[q] == d)
        closer[t] = before
        tied[t] = same


@njit(cache=True)
def _count_many(near, mates, closer, tied):
    """Count the near values before, and exactly at, each of many sorted mates."""
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


@njit(cache=True)
def _listed(run_first, run_stop, low, high, j):
    """Say whether a column is on one of the runs ``low:high``, which are in order."""
    end = high
    while low < high:  # the first run that ends beyond the column
        middle = (low + high) // 2
        if run_stop[middle] <= j:
            low = middle + 1
        else:
            high = middle
    return low < end and run_first[low] <= j


@njit(parallel=True, cache=True)
def rank_mates(
    rows, own_starts, own_columns, own, self_column, camera, query_camera, same_camera,
    run_starts, run_first, run_stop, which, infinity,
    offsets, buffer, distance, column, closer, tied, before, found, removed, failed,
):  # fmt: skip
    """Rank all mates of each row among the templates of others.

    Parameters
    ----------
    rows : float array, shape (b, n), C-contiguous
        Distances; NaN = no attempt.
    own_starts, own_columns : int64 arrays
        Identity ``c`` has the columns ``own_columns[own_starts[c]:own_starts[c + 1]]``, rising.
    own, self_column : int64 arrays, shape (b,)
        The identity of each row, and the column that is the query itself; -1 for none.
    camera : int64 array, shape (n,); query_camera : int64 array, shape (b,)
    same_camera : bool
        Whether an own template from the query's camera is removed.
    run_starts, run_first, run_stop : int64 arrays
        The columns of list ``l`` are the runs ``run_first[r]:run_stop[r]``, rising, for ``r`` in
        ``run_starts[l]:run_starts[l + 1]``. What is on no list is seen by nobody.
    which : int64 array, shape (b,)
        The list that each row searches.
    infinity : float
        In the dtype of `rows`.
    offsets : int64 array, shape (b + 1,)
        Row ``i`` may write places ``offsets[i]:offsets[i + 1]`` of the next five.
    distance, column, closer, tied, before : arrays, written
        Of each mate, from near to far (equal ones by column): its distance, its column, the
        others closer, those exactly as close, and those of them in an earlier column.
    buffer : array of the dtype of `rows`, shape (chunks, n + 1)
        One line for each thread; their number says how many there may be.
    found, removed, failed : int64 arrays, shape (b,), written
        Usable mates; own templates of the list that are removed; comparisons of the list that
        are NaN, the query with itself and the removed ones left out.
    """
    b = len(rows)
    chunks = len(buffer)
    for c in prange(chunks):
        near = buffer[c]
        for i in range(b * c // chunks, b * (c + 1) // chunks):
            row = rows[i]
            at = offsets[i]
            start = np.int64(0)
            stop = np.int64(0)
            if own[i] >= 0:
                start = own_starts[own[i]]
                stop = own_starts[own[i] + 1]
            low = run_starts[which[i]]
            high = run_starts[which[i] + 1]

            mates = distance[at : at + stop - start]
            places = column[at : at + stop - start]
            k = np.int64(0)
            away = np.int64(0)
            unseen = np.int64(0)  # NaN of the list that are no failure
            few = stop - start <= 64
            for p in range(start, stop):
                j = own_columns[p]
                x = row[j]
                if not _listed(run_first, run_stop, low, high, j):
                    continue
                if j == self_column[i]:
                    unseen += x != x
                elif same_camera and camera[j] == query_camera[i]:
                    away += 1
                    unseen += x != x
                elif x == x:
                    if few:
                        _sorted_in(x, j, k, mates, places)
                    else:
                        mates[k] = x
                        places[k] = j
                    k += 1
            if not few:
                _sort_all(mates[:k], places[:k])
            found[i] = k
            removed[i] = away
            last = mates[k - 1] if k > 0 else -infinity

            # What is not farther than the last mate, or is NaN: that shows here at no cost.
            s = np.int64(0)
            for r in range(low, high):
                s = _collect(row[run_first[r] : run_stop[r]], last, near, s)
            bad = np.int64(0)
            for q in range(s):
                bad += near[q] != near[q]
            failed[i] = bad - unseen
            if k == 0:
                continue
            mates = mates[:k]
            n_closer = closer[at : at + k]
            n_tied = tied[at : at + k]
            if k <= FEW:
                _count_few(near[:s], mates, n_closer, n_tied)
            else:
                _count_many(near[:s], mates, n_closer, n_tied)

            # Own templates stand among them and are taken out: the mates by their order ...
            t = np.int64(0)
            while t < k:
                e = t
                while e < k and mates[e] == mates[t]:
                    e += 1
                for q in range(t, e):
                    n_closer[q] -= t
                    n_tied[q] -= e - t
                t = e
            # ... and those that were removed, or are the query itself.
            for p in range(start, stop):
                j = own_columns[p]
                gone = j == self_column[i] or (same_camera and camera[j] == query_camera[i])
                if gone and _listed(run_first, run_stop, low, high, j):
                    x = row[j]
                    for q in range(k):
                        n_closer[q] -= x < mates[q]
                        n_tied[q] -= x == mates[q]

            for t in range(k):
                count = np.int64(0)
                if n_tied[t] > 0:
                    d = mates[t]
                    for r in range(low, high):
                        if run_first[r] >= places[t]:
                            break
                        part = row[run_first[r] : min(run_stop[r], places[t])]
                        for q in range(len(part)):
                            count += part[q] == d
                    for p in range(start, stop):
                        j = own_columns[p]
                        if j < places[t] and row[j] == d:
                            count -= _listed(run_first, run_stop, low, high, j)
                before[at + t] = count
