"""Counting the scores of a tile in cells of float bits, and up to thresholds.

A tile is C-contiguous, float32 or float64, with NaN where there is no impostor attempt. The key of
a score is its difference from a centre as a float32, whose bits are taken as a whole number in the
order of the floats; a cell is a run of keys. Any monotone map would do, and the counts of tiles add
up whatever they hold.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled

LARGEST = np.float32(3.4028235e38)

#: The least key, and by how much it is below the largest: those of the infinities.
LEAST, SPAN = -0x7F800001, 0xFF000001


@called_by_loops
def find_cells(row, centre, cells, line, cell):
    """Write the cell of each score of a row; `line` is room for as many float32.

    - `cells`: the key from which cells begin, the bits of keys that cells leave out, and the number
      of cells; whatever is below the key is in the first one, above all in one more, and NaN in the
      next

    A cell has its upper edge, and not its lower one; a float64 is rounded up.
    """
    low, shift, width = cells
    for j in range(len(row)):
        x = row[j] - centre
        if row.itemsize > 4:  # finite scores stay finite
            x = np.copysign(LARGEST, x) if LARGEST < abs(x) < np.inf else x
        line[j] = np.float32(x) + np.float32(0)  # no zero has a sign
    bits = line.view(np.int32)
    for j in range(len(row)):
        b = bits[j]
        b = b if b >= 0 else np.int32(-np.int32(b & np.int32(0x7FFFFFFF)))
        below = np.int32(1)
        if row.itemsize > 4:
            x = row[j] - centre
            below = np.int32(not np.float64(line[j]) < x < np.inf)
        b = max(np.int32(b - below), low)
        k = min(np.uint32(np.uint32(b) - np.uint32(low)) >> shift, width)
        cell[j] = k if row[j] == row[j] else width + np.uint32(1)


@compiled
def cells_of(values, centre, cells, cell):
    """Write the cell of each of some scores; see :func:`find_cells`."""
    find_cells(values, centre, cells, np.empty(len(values), np.float32), cell)


@compiled
def count_and_keep(tile, centre, cells, table, flags, thresholds, first, weight, counts, kept):
    """Count scores by cell; those in flagged cells also by thresholds; return the scores kept.

    - `table` (int32 (n,), of all cells): added to; each score counts `weight` times
    - `flags` (uint8 (n,)): bit 0 for cells with thresholds, bit 1 for cells whose scores are kept
    - `thresholds`: increasing scores with infinity at the end; `first` (int32 (n + 1,)): how many
      of them are in the cells before each
    - `counts` (int64 (2, thresholds)): added to: scores up to each threshold and above the one
      before, and those equal to it
    - `kept`: room for as many scores as the tile has, and one more
    """
    width = tile.shape[1]
    line = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    place = np.empty(width + 1, np.int32)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, cells, line, cell)
        near = 0
        for j in range(width):
            k = cell[j]
            table[k] += weight
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
    """Write the scores in cells with bit 1, and return their number."""
    width = tile.shape[1]
    line = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    number = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, cells, line, cell)
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
    """Add the number of finite scores, their sum and that of their squares, and infinite ones.

    Scores are taken from a centre, and multiplied by a power of two. Those that are then too large
    are left out: returned is half the largest difference of such a score, or 0.
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
