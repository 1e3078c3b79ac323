"""Median distances to each label."""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import parallel_rows


@register_jitable
def smallest(values, k):
    """Return the value with `k` others before it in order (Hoare); `values` are reordered."""
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
def label_medians(begin, end, values, columns, starts, row_labels, self_positions, medians):
    """Write each row's median distance to its own label, and the least to another label.

    The median of an even number of distances is the lower of the two in the middle. Distances that
    are not finite are left out, and so is a label without any.

    - `values` (float64 (b, n)): distances, NaN where there is no attempt
    - `columns` (int64 (n,)): column of each position: label ``g`` has those at positions
      ``starts[g]:starts[g + 1]``
    - `starts`: int64 (g + 1,)
    - `row_labels`, `self_positions` (int64 (b,)): the label of each row, and the position
      that is the probe itself; -1 for none
    - `medians` (float64 (b, 3), written): the median of the own label, the least of the others,
      both NaN for none, and which label has it, the first of equal ones and -1 for none
    """
    most = 0
    for g in range(len(starts) - 1):
        most = max(most, starts[g + 1] - starts[g])
    kept = np.empty(most)
    for i in range(begin, end):
        medians[i, 0], medians[i, 1], medians[i, 2] = np.nan, np.nan, -1.0
        least = np.inf
        for g in range(len(starts) - 1):
            # Values above the least median so far cannot be a lesser one.
            limit = np.inf if g == row_labels[i] else least
            finite = near = 0
            for position in range(starts[g], starts[g + 1]):
                x = values[i, columns[position]]
                if position == self_positions[i] or not abs(x) < np.inf:
                    continue
                finite += 1
                if x < limit:
                    kept[near] = x
                    near += 1
            middle = (finite - 1) // 2
            if finite == 0 or near <= middle:
                continue
            median = smallest(kept[:near], middle)
            if g == row_labels[i]:
                medians[i, 0] = median
            else:
                least = median
                medians[i, 1], medians[i, 2] = median, g
