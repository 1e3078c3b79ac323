"""How many gallery entries each query gets back within each threshold, of what its list holds."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

# Values whose places are found at a time, without a branch.
CHUNK = 256


@njit(cache=True)
def _places(part, base, scale, last, places):
    """Write the place of each value in the guide: 0 ... last, and last + 1 for NaN."""
    zero = scale - scale
    for q in range(len(part)):
        x = part[q]
        y = (x - base) * scale
        p = np.int32(y) if y > zero and y < last else np.int32(0)
        p = np.int32(last) if y >= last else p
        places[q] = p if x == x else np.int32(last) + np.int32(1)


@njit(parallel=True, cache=True)
def count_returned(
    rows, own_starts, own_columns, own, self_column, camera, query_camera, same_camera,
    run_starts, run_first, run_stop, which,
    thresholds, base, scale, last, guide, steps, places, tables, counts,
):  # fmt: skip
    """Count the entries of each row's list between thresholds.

    Parameters
    ----------
    rows, own_starts, own_columns, own, self_column, camera, query_camera, same_camera
        As for ``rank_mates``.
    run_starts, run_first, run_stop, which
        As for ``rank_mates``.
    thresholds : array of the dtype of `rows`, shape (t + 2,)
        Not decreasing; the last two are infinite, as guards.
    base, scale, last : scalars of the dtype of `rows`
        The place of a value is ``(value - base) * scale``, cut off to ``0 ... last``.
    guide : int64 array
        ``guide[p]`` is the first threshold that is not of an earlier place; the entry after the
        last place is for NaN, and leads to ``t + 1``.
    steps : int
        The largest number of thresholds in one place.
    places : int32 array, shape (chunks, CHUNK)
    tables : int64 array, shape (chunks, 2, t + 2)
    counts : int64 array, shape (b, t + 1), written
        Entries ``thresholds[k - 1] < value <= thresholds[k]``; NaN, the query itself and removed
        templates of its own identity are not counted.
    """
    b = len(rows)
    chunks = len(places)
    width = counts.shape[1]
    for c in prange(chunks):
        at = places[c]
        even = tables[c, 0]
        odd = tables[c, 1]
        for i in range(b * c // chunks, b * (c + 1) // chunks):
            row = rows[i]
            even[:] = 0
            odd[:] = 0
            first = run_starts[which[i]]
            stop = run_starts[which[i] + 1]
            for r in range(first, stop):
                run = row[run_first[r] : run_stop[r]]
                for a in range(0, len(run), CHUNK):
                    part = run[a : a + CHUNK]
                    _places(part, base, scale, last, at)
                    half = len(part) // 2
                    for q in range(half):
                        k = guide[at[q]]
                        m = guide[at[q + half]]
                        for _ in range(steps):
                            k += np.int64(thresholds[k] < part[q])
                            m += np.int64(thresholds[m] < part[q + half])
                        even[k] += 1
                        odd[m] += 1
                    if 2 * half < len(part):
                        q = len(part) - 1
                        k = guide[at[q]]
                        for _ in range(steps):
                            k += np.int64(thresholds[k] < part[q])
                        even[k] += 1
            if own[i] >= 0:
                for p in range(own_starts[own[i]], own_starts[own[i] + 1]):
                    j = own_columns[p]
                    if j != self_column[i] and not (same_camera and camera[j] == query_camera[i]):
                        continue
                    for r in range(first, stop):
                        if run_first[r] <= j and j < run_stop[r] and row[j] == row[j]:
                            k = np.searchsorted(thresholds[: width - 1], row[j])
                            even[k] -= 1
            for k in range(width):
                counts[i, k] = even[k] + odd[k]
