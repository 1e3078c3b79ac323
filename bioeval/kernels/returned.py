"""How many gallery entries each query gets back within each threshold, of what its list holds."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True)
def _bin(z, thresholds, base, scale, guide):
    """Return the number of thresholds below a value that is not NaN."""
    place = (z - base) * scale
    last = len(guide) - 2
    p = np.int64(0)
    if place > 0:
        p = last if place >= last else np.int64(place)
    lower = guide[p]
    while lower < len(thresholds) and thresholds[lower] < z:
        lower += 1
    return lower


@njit(parallel=True, cache=True)
def finite_range_of_lists(
    rows, run_starts, run_first, run_stop, which, hidden, low, high
):  # fmt: skip
    """Find the smallest and the largest finite value of each row.

    Parameters
    ----------
    rows : float array, shape (b, n)
    run_starts, run_first, run_stop, which
        As for ``rank_mates``.
    hidden : int64 array, shape (b,)
        A column that is left out, -1 for none.
    low, high : float64 arrays, shape (b,), written
        (inf, -inf) where there is none.
    """
    for i in prange(len(rows)):
        row = rows[i]
        least = np.inf
        most = -np.inf
        for r in range(run_starts[which[i]], run_starts[which[i] + 1]):
            for j in range(run_first[r], run_stop[r]):
                x = np.float64(row[j])
                if np.isfinite(x) and j != hidden[i]:
                    least = min(least, x)
                    most = max(most, x)
        low[i] = least
        high[i] = most


@njit(parallel=True, cache=True)
def count_returned(
    rows, own_starts, own_columns, own, self_column, camera, query_camera, same_camera,
    run_starts, run_first, run_stop, which, low, span,
    thresholds, base, scale, guide, counts,
):  # fmt: skip
    """Count the entries of each row's list between thresholds.

    Parameters
    ----------
    rows, own_starts, own_columns, own, self_column, camera, query_camera, same_camera
        As for ``rank_mates``.
    run_starts, run_first, run_stop, which
        As for ``rank_mates``.
    low, span : float
        ``(value - low) / span``, in float64, is what is compared.
    thresholds : float64 array, shape (t,)
    base, scale, guide
        ``guide[p]`` is a threshold not above any value of place ``(value - base) * scale = p``.
    counts : int64 array, shape (b, t + 1), written
        Entries ``thresholds[k - 1] < value <= thresholds[k]``; NaN, the query itself and removed
        templates of its own identity are not counted.
    """
    for i in prange(len(rows)):
        row = rows[i]
        line = counts[i]
        line[:] = 0
        first = run_starts[which[i]]
        last = run_starts[which[i] + 1]
        for r in range(first, last):
            part = row[run_first[r] : run_stop[r]]
            for q in range(len(part)):
                z = (np.float64(part[q]) - low) / span
                if z == z:
                    line[_bin(z, thresholds, base, scale, guide)] += 1
        if own[i] < 0:
            continue
        for p in range(own_starts[own[i]], own_starts[own[i] + 1]):
            j = own_columns[p]
            gone = j == self_column[i] or (same_camera and camera[j] == query_camera[i])
            on_list = False
            for r in range(first, last):
                if run_first[r] <= j and j < run_stop[r]:
                    on_list = True
            z = (np.float64(row[j]) - low) / span
            if gone and on_list and z == z:
                line[_bin(z, thresholds, base, scale, guide)] -= 1
