"""Verification: impostor scores by cell and up to thresholds; a few are kept; their moments.

Tiles and cells are explained in :mod:`bioeval.kernels.cells`.
"""

import numpy as np

from bioeval.kernels.cells import find_cells
from bioeval.kernels.compiling import compiled


@compiled
def cells_of(values, centre, cells, cell):
    """Write the cell of each value into `cell` (uint32); see :func:`find_cells`."""
    find_cells(values, centre, cells, np.empty(len(values), np.float32), cell)


@compiled
def count_and_keep(tile, centre, cells, table, flags, thresholds, first, weight, counts, kept):
    """Count the scores of a tile by cell, and the scores of flagged cells by thresholds.

    ::

        for x in tile:
            k = the cell of x
            table[k] += weight
            if flags[k] has bit 1:
                kept.append(x)
            if flags[k] has bit 0:
                m = the first threshold that is not below x
                counts[0, m] += weight
                counts[1, m] += weight if thresholds[m] == x else 0

    - `table` (int32 (n,), of all cells): added to; each score counts `weight` times
    - `flags` (uint8 (n,)): bit 0 for cells with thresholds, bit 1 for cells whose scores are kept
    - `thresholds`: increasing scores with infinity at the end; `first` (int32 (n + 1,)): the number
      of thresholds in the cells before each cell
    - `counts` (int64 (2, thresholds)): added to: scores up to each threshold and above the one
      before, and those equal to it
    - `kept`: room for as many scores as the tile has, and one more; the number of kept scores is
      returned
    """
    width = tile.shape[1]
    rounded = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    place = np.empty(width + 1, np.int32)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, cells, rounded, cell)
        near = 0
        for j in range(width):
            k = cell[j]
            table[k] += weight
            # Always written, kept only if the cell has a flag: no branch, so that it is fast.
            place[near] = j
            near += flags[k] != 0
        for j in range(near):
            v = row[place[j]]
            k = cell[place[j]]
            flag = flags[k]
            kept[number] = v
            number += flag >> 1
            if flag & 1:
                m = first[k]
                end = first[k + 1]
                while end - m > 8:  # many thresholds are close together
                    half = (m + end) >> 1
                    if thresholds[half] < v:
                        m = half + 1
                    else:
                        end = half
                while thresholds[m] < v:
                    m += 1
                counts[0, m] += weight
                if thresholds[m] == v:
                    counts[1, m] += weight
    return number


@compiled
def keep(tile, centre, cells, flags, kept):
    """Write the scores in cells whose flag has bit 1 into `kept`, and return their number.

    ::

        for x in tile:
            if flags[cell of x] has bit 1:
                kept.append(x)
    """
    width = tile.shape[1]
    rounded = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, cells, rounded, cell)
        for j in range(width):
            kept[number] = row[j]
            number += flags[cell[j]] >> 1
    return number


#: Scaled scores from here on are left out of sums, in which their squares might overflow.
TOO_LARGE = 2.0**300

#: Sums of a row that are added to side by side, in the same order on any processor.
LANES = 16


@compiled
def add_moments(tile, centre, scale, sums):
    """Add numbers of finite and infinite scores, and sums of scores and of squares.

    ::

        for x in tile:
            y = (x - centre) * scale
            if abs(y) < TOO_LARGE:
                sums[:3] += 1, y, y**2
            sums[3] += x == inf

    `scale` is a power of two. Larger scores are left out of the sums: half the largest
    difference of such a score from the centre is returned, or 0.
    """
    width = tile.shape[1]
    whole = width - width % LANES
    origin = centre * scale
    total = np.zeros(LANES)
    squares = np.zeros(LANES)
    number = 0
    infinite = 0
    others = 0
    far = 0.0
    for i in range(tile.shape[0]):
        row = tile[i]
        for start in range(0, whole, LANES):
            part = row[start : start + LANES]
            for j in range(LANES):
                x = np.float64(part[j]) * scale - origin
                there = abs(x) < TOO_LARGE
                x = x if there else 0.0
                number += there
                total[j] += x
                squares[j] += x * x
        for j in range(whole, width):
            x = np.float64(row[j]) * scale - origin
            if abs(x) < TOO_LARGE:
                number += 1
                total[0] += x
                squares[0] += x * x
        if number + infinite + others < (i + 1) * width:
            for j in range(width):
                infinite += row[j] == np.inf
                others += (row[j] != row[j]) | (row[j] == -np.inf)
        if number + infinite + others < (i + 1) * width:
            for j in range(width):
                x = np.float64(row[j])
                if abs(x) < np.inf and not abs(x * scale - origin) < TOO_LARGE:
                    far = max(far, abs(x / 2 - centre / 2))
                    others += 1
    sums[0] += number
    sums[1] += total.sum()
    sums[2] += squares.sum()
    sums[3] += infinite
    return far
