"""Scan of every score: failed, infinite and perfect ones; digests of rows and columns."""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled, parallel_rows

# Positions in `counts`, and in the first axis of `places`.
GENUINE, IMPOSTOR, FAILED, FARTHEST, NEAREST, PERFECT_GENUINE, PERFECT_IMPOSTOR = range(7)
KINDS = 7

# Of the finaliser of SplitMix64.
_ODD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled
def scan_rows(
    low, values, state, classes, self_columns, perfect, rows, columns, digests, counts, places
):
    """Add the findings in some rows of distances to the counts.

    - `low` (int): the first row
    - `values` (float64 (b, n)): distances: smaller is closer
    - `state` (uint8 (b, n)): 0 no comparison, 1 impostor, 2 genuine; read where `classes` is empty
    - `classes` (int64 (b,) and (n,), or empty ones): the subject of each row and column
    - `self_columns` (int64 (b,)): the column that is the probe itself, -1 for none: no comparison,
      and not in its digest
    - `perfect` (float): the distance of equal templates; NaN where it is not known
    - `rows` (float64 (b, 4), written): the nearest and the farthest finite distance, and the
      numbers of failed and of finite comparisons
    - `columns` (float64 (4, n), added to): the same of each column
    - `digests` (pair of uint64 (b, 2) and (n,), written and added to): of each row: a digest, and
      the number of columns in it. Of a probe that is a column itself the nearest ones are left out,
      of which a copy would be one. Of each column: a digest of the rows of other probes
    - `counts` (int64 (7,), added to): genuine, impostor, failed, infinitely far, infinitely near
      comparisons; genuine and impostor ones at the perfect distance
    - `places` (int64 (7, k, 2), written): row and column of the first of each
    """
    probe, gallery = classes
    of_rows, of_columns = digests
    b, n = values.shape
    most = places.shape[1]
    for i in range(b):
        nearest, farthest = np.inf, -np.inf
        failed = finite = 0
        for j in range(n):
            if j == self_columns[i]:
                continue
            kind = state[i, j] if len(probe) == 0 else (2 if probe[i] == gallery[j] else 1)
            if len(probe) > 0 and state.shape[0] > 0 and state[i, j] == 0:
                kind = 0
            if kind == 0:
                continue
            x = values[i, j]
            index = GENUINE if kind == 2 else IMPOSTOR
            counts[index] += 1
            if x == perfect:
                index = PERFECT_GENUINE if kind == 2 else PERFECT_IMPOSTOR
            elif x != x:
                index = FAILED
                failed += 1
                columns[2, j] += 1
            elif x == np.inf:
                index = FARTHEST
            elif x == -np.inf:
                index = NEAREST
            if index > IMPOSTOR:
                if counts[index] < most:
                    places[index, counts[index], 0] = low + i
                    places[index, counts[index], 1] = j
                counts[index] += 1
            if abs(x) < np.inf:
                columns[0, j] = min(columns[0, j], x)
                columns[1, j] = max(columns[1, j], x)
                columns[3, j] += 1
                finite += 1
                nearest, farthest = min(nearest, x), max(farthest, x)
        rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] = nearest, farthest, failed, finite
        total = np.uint64(0)
        used = 0
        alone = self_columns[i] >= 0
        for j in range(n):
            x = values[i, j]
            if x != x:
                x = np.nan  # one of the many
            z = (np.float64(x + 0.0).view(np.uint64) + _ODD) * _FIRST
            z = (z ^ (z >> _SHIFT)) * _SECOND
            z ^= z >> _SHIFT
            if not alone:
                of_columns[j] += z * np.uint64(2 * (low + i) + 1)
            elif j == self_columns[i] or x == nearest:
                continue
            total += z * np.uint64(2 * j + 1)
            used += 1
        of_rows[i, 0], of_rows[i, 1] = total, used


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
