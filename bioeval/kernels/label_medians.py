"""Median distances of a probe to the templates of each label."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiled import parallel_rows


@register_jitable
def smallest(values, k):
    """Return the value with `k` others before it in increasing order; `values` are reordered.

    Hoare's selection; ``np.partition`` takes ten seconds to compile.
    """
    low = 0
    high = len(values) - 1
    while low < high:
        pivot = values[k]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if j < k:
            low = i
        if k < i:
            high = j
    return values[k]


@parallel_rows(over="values")
def label_medians(begin, end, values, columns, starts, own, itself, found):
    """Write each row's median distance to its own label, and the least to another label.

    The median of an even number of distances is the lower of the two in the middle. Distances that
    are not finite are left out, and so is a label without any.

    Parameters
    ----------
    values : float64 array, shape (b, n)
        Distances, NaN where there is no attempt.
    columns : int64 array, shape (n,)
        Column of each position: label ``g`` has those at positions ``starts[g]:starts[g + 1]``.
    starts : int64 array, shape (g + 1,)
    own, itself : int64 arrays, shape (b,)
        The label of each row, and the position that is the probe itself; -1 for none.
    found : float64 array, shape (b, 3), written
        The median of the own label, the least of the others, both NaN for none, and which label
        has it, the first of equal ones and -1 for none.
    """
    most = 0
    for g in range(len(starts) - 1):
        most = max(most, starts[g + 1] - starts[g])
    kept = np.empty(most)
    for i in range(begin, end):
        found[i, 0], found[i, 1], found[i, 2] = np.nan, np.nan, -1.0
        least = np.inf
        for g in range(len(starts) - 1):
            # Values above the least median so far cannot be a lesser one.
            limit = np.inf if g == own[i] else least
            finite = near = 0
            for position in range(starts[g], starts[g + 1]):
                x = values[i, columns[position]]
                if position == itself[i] or not abs(x) < np.inf:
                    continue
                finite += 1
                if x < limit:
                    kept[near] = x
                    near += 1
            middle = (finite - 1) // 2
            if finite == 0 or near <= middle:
                continue
            median = smallest(kept[:near], middle)
            if g == own[i]:
                found[i, 0] = median
            else:
                least = median
                found[i, 1], found[i, 2] = median, g
