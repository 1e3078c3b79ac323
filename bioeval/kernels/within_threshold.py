"""Number of gallery entries retrieved within each threshold, by query."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows

# Values whose places are found at a time, without a branch.
CHUNK = 256


class GuidedThresholds(NamedTuple):
    """Thresholds, and a guide that finds the place of a value among them.

    The place of a value is ``(value - base) * scale``, clipped to ``0 ... last``; ``guide[p]`` is
    the first threshold that is not of an earlier place. The entry after the last place is for NaN,
    and leads to ``t + 1``. The first four are of the dtype of the distances.
    """

    values: np.ndarray  # (t + 2,), not decreasing; the last two are infinite, as guards
    base: np.floating
    scale: np.floating
    last: np.floating
    guide: np.ndarray  # int64
    steps: int  # the largest number of thresholds in one place


@register_jitable
def _places(part, base, scale, last, places):
    """Write the place of each value in the guide: 0 ... last, and last + 1 for NaN."""
    zero = scale - scale
    for q in range(len(part)):
        x = part[q]
        y = (x - base) * scale
        p = np.int32(y) if y > zero and y < last else np.int32(0)
        p = np.int32(last) if y >= last else p
        places[q] = p if x == x else np.int32(last) + np.int32(1)


@register_jitable
def _count_run(run, thresholds, places, even, odd):
    """Count the values of a run between thresholds, in two tables alternately."""
    limits = thresholds.values
    for a in range(0, len(run), CHUNK):
        part = run[a : a + CHUNK]
        _places(part, thresholds.base, thresholds.scale, thresholds.last, places)
        half = len(part) // 2
        for q in range(half):
            k = thresholds.guide[places[q]]
            m = thresholds.guide[places[q + half]]
            for _ in range(thresholds.steps):
                k += np.int64(limits[k] < part[q])
                m += np.int64(limits[m] < part[q + half])
            even[k] += 1
            odd[m] += 1
        if 2 * half < len(part):
            q = len(part) - 1
            k = thresholds.guide[places[q]]
            for _ in range(thresholds.steps):
                k += np.int64(limits[k] < part[q])
            even[k] += 1


@register_jitable
def _subtract_removed(queries, gallery, limits, i, even):
    """Subtract the query itself and the removed templates of its own identity."""
    row = queries.values[i]
    own = queries.own[i]
    which = queries.which[i]
    for p in range(gallery.own_starts[own], gallery.own_starts[own + 1]):
        j = gallery.own_columns[p]
        same = gallery.same_camera and gallery.camera[j] == queries.camera[i]
        if j != queries.self_column[i] and not same:
            continue
        for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
            if gallery.run_first[r] <= j and j < gallery.run_stop[r] and row[j] == row[j]:
                even[np.searchsorted(limits, row[j])] -= 1


@parallel_rows("queries.values")
def count_retrieved(begin, end, queries, gallery, thresholds, counts):
    """Count the entries of each query's list between thresholds.

    ``counts[i, k]`` gets those with ``thresholds[k - 1] < value <= thresholds[k]``, without NaN,
    the query itself and removed templates of its own identity.
    """
    width = counts.shape[1]
    places = np.empty(CHUNK, np.int32)
    even = np.empty(width + 1, np.int64)  # the last place is for NaN
    odd = np.empty(width + 1, np.int64)
    for i in range(begin, end):
        row = queries.values[i]
        which = queries.which[i]
        even[:] = 0
        odd[:] = 0
        for r in range(gallery.run_starts[which], gallery.run_starts[which + 1]):
            run = row[gallery.run_first[r] : gallery.run_stop[r]]
            _count_run(run, thresholds, places, even, odd)
        if queries.own[i] >= 0:
            _subtract_removed(queries, gallery, thresholds.values[: width - 1], i, even)
        for k in range(width):
            counts[i, k] = even[k] + odd[k]
