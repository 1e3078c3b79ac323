"""The cell of a score, a run of float bits: a step of the loops of verification and of folds.

A tile is C-contiguous, float32 or float64, with NaN where there is no impostor attempt. The key of
a score is its difference from a centre as a float32, whose bits are taken as a whole number in the
order of the floats; a cell is a run of keys. Any monotone map would do, and the counts of tiles add
up whatever they hold.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops

LARGEST = np.float32(3.4028235e38)

#: The least key, and its distance from the largest key: the keys of the infinities.
LEAST, SPAN = -0x7F800001, 0xFF000001


@called_by_loops
def find_cells(row, centre, cells, line, cell):
    """Write the cell of each score of a row; `line` is room for as many float32.

    ::

        for j, x in enumerate(row):
            key = the bits of float32(x - centre), as a whole number in the order of the floats
            cell[j] = min(max(key - 1, low) - low >> shift, width)
            if x is NaN:
                cell[j] = width + 1

    - `cells` (low, shift, width): the key from which cells begin, the bits of keys that cells leave
      out, and the number of cells; keys below `low` are in the first cell, keys above the last cell
      in one more, and NaN in the next

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
