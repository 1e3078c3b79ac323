"""Counting the scores of a tile in cells of float bits, and up to marks.

A tile is C-contiguous, float32 or float64, with NaN where there is no impostor attempt. The cell of
a score is the leading bits of its difference from a centre, as a float32: any monotone map would
do, and this one needs no range, so that the counts of tiles add up whatever they hold.
"""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled

#: Low bits of a float32 that a cell leaves out: 2,048 cells from one power of two to the next.
SHIFT = 12
CELLS = 1 << (32 - SHIFT)

#: The cell of NaN, beyond that of infinity.
NAN = ((0x7FC00000 - 1) >> SHIFT) + CELLS // 2

LARGEST = np.float32(3.4028235e38)


@register_jitable
def find_cells(row, centre, line, cell):
    """Write the cell of each score of a row; `line` is room for as many float32.

    A cell has its upper edge, and not its lower one; a float64 is rounded up.
    """
    for j in range(len(row)):
        x = row[j] - centre
        if row.itemsize > 4:  # finite scores stay finite
            x = np.copysign(LARGEST, x) if LARGEST < abs(x) < np.inf else x
        line[j] = np.float32(x) + np.float32(0) if x == x else np.float32(np.nan)  # without a sign
    bits = line.view(np.int32)
    for j in range(len(row)):
        b = bits[j]
        b = b if b >= 0 else np.int32(-np.int32(b & np.int32(0x7FFFFFFF)))
        below = np.int32(1)
        if row.itemsize > 4:
            x = row[j] - centre
            below = np.int32(not np.float64(line[j]) < x < np.inf)
        cell[j] = np.uint32((np.int32(b - below) >> np.int32(SHIFT)) + np.int32(CELLS // 2))


@compiled
def cells_of(values, centre, cell):
    """Write the cell of each of some scores."""
    find_cells(values, centre, np.empty(len(values), np.float32), cell)


@compiled
def count_cells(tile, centre, table, weight):
    """Add the number of scores in each cell to a table; each counts `weight` times."""
    width = tile.shape[1]
    line = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    for i in range(tile.shape[0]):
        find_cells(tile[i], centre, line, cell)
        for j in range(width):
            table[cell[j]] += weight


@compiled
def count_and_keep(tile, centre, table, flags, marks, weight, reached, kept):
    """Count scores by cell; those in flagged cells also by marks; return the scores kept.

    - `flags` (uint8 (CELLS,)): bit 0 for cells with marks, bit 1 for cells whose scores are kept
    - `marks`: increasing scores with infinity at the end; where to look for the first not below a
      score, by equal parts of a range: first marks, the start of the range, parts for each unit
    - `reached` (int64 (2, marks)): added to: scores whose first mark not below them it is, and
      those that are equal to it
    - `kept`: room for as many scores as the tile has, and one more
    """
    marks, first, low, scale = marks
    width = tile.shape[1]
    last = np.float64(len(first) - 2)
    line = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    held = np.empty(width + 1, tile.dtype)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, line, cell)
        near = 0
        for j in range(width):
            table[cell[j]] += weight
            flag = flags[cell[j]]
            held[near] = row[j]
            near += flag & 1
            kept[number] = row[j]
            number += flag >> 1
        for j in range(near):
            v = held[j]
            part = np.int64(min(max((np.float64(v) - low) * scale, 0.0), last))
            m = np.int64(first[part])
            end = np.int64(first[part + 1])
            while end - m > 8:  # many marks are close together
                half = (m + end) >> 1
                if marks[half] < v:
                    m = half + 1
                else:
                    end = half
            while marks[m] < v:
                m += 1
            reached[0, m] += weight
            if marks[m] == v:
                reached[1, m] += weight
    return number


@compiled
def keep(tile, centre, flags, kept):
    """Write the scores in cells with bit 1, and return their number."""
    width = tile.shape[1]
    line = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, line, cell)
        for j in range(width):
            kept[number] = row[j]
            number += flags[cell[j]] >> 1
    return number


#: Sums of a row that are added to side by side, in the same order on any processor.
LANES = 16


@compiled
def add_moments(tile, centre, scale, sums):
    """Add the number of finite scores, their sum and that of their squares, and infinite ones.

    Scores are taken from a centre, and multiplied by a power of two.
    """
    width = tile.shape[1]
    whole = width - width % LANES
    total = np.zeros(LANES)
    squares = np.zeros(LANES)
    number = 0
    infinite = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        for start in range(0, whole, LANES):
            part = row[start : start + LANES]
            for j in range(LANES):
                x = (np.float64(part[j]) - centre) * scale
                there = abs(x) < np.inf
                x = x if there else 0.0
                number += there
                total[j] += x
                squares[j] += x * x
        for j in range(whole, width):
            x = (np.float64(row[j]) - centre) * scale
            if abs(x) < np.inf:
                number += 1
                total[0] += x
                squares[0] += x * x
        if number < (i + 1) * width:
            for j in range(width):
                infinite += row[j] == np.inf
    sums[0] += number
    sums[1] += total.sum()
    sums[2] += squares.sum()
    sums[3] += infinite
