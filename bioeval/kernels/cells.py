"""Histogram cells of scores whose edges follow the spacing of float32.

The loops of verification and of folds count scores by these cells. A tile is C-contiguous, float32
or float64, with NaN where there is no impostor attempt. The key of a score is a whole number: the
bits of its float32 difference from a centre, so changed that keys are in the order of the scores. A
cell is a range of keys. Cells do not depend on the scores, so that counts of tiles can be added.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops

# The largest float32.
LARGEST = np.float32(3.4028235e38)

# The bits of an infinite float32.
_INFINITY = 0x7F800000

#: The first key of all cells, a step below the key of minus infinity.
LEAST = -_INFINITY - 1

#: The distance of the key of infinity from the first key.
SPAN = 2 * _INFINITY + 1


@called_by_loops
def find_cells(row, centre, window, rounded, cell):
    """Write the cell of each score of a row; `rounded` is room for as many float32.

    ::

        for j, x in enumerate(row):
            key = the bits of float32(x - centre), as a whole number in the order of the floats
            cell[j] = min(max(key - 1, low) - low >> shift, width)
            if x is NaN:
                cell[j] = width + 1

    - `window` (low, shift, width): the key from which cells begin, the number of low bits that the
      keys of a cell differ in, and the number of cells; keys below `low` are in the first cell,
      keys above all cells in cell ``width``, and NaN in cell ``width + 1``

    A cell includes its upper edge and not its lower one; a float64 is rounded up.
    """
    low, shift, width = window
    for j in range(len(row)):
        difference = row[j] - centre
        if row.itemsize > 4:  # finite scores stay finite
            too_large = LARGEST < abs(difference) < np.inf
            difference = np.copysign(LARGEST, difference) if too_large else difference
        rounded[j] = np.float32(difference) + np.float32(0)  # no zero has a sign
    bits = rounded.view(np.int32)
    # Every step is cast to 32 bits, since numba would widen it to 64.
    for j in range(len(row)):
        # Sign and magnitude to a whole number in the order of the floats.
        key = bits[j]
        key = key if key >= 0 else np.int32(-np.int32(key & np.int32(0x7FFFFFFF)))
        # A score on the upper edge is in the cell below, unless it is a float64 above this edge,
        # rounded down.
        step = np.int32(1)
        if row.itemsize > 4:
            difference = row[j] - centre
            step = np.int32(not np.float64(rounded[j]) < difference < np.inf)
        key = max(np.int32(key - step), low)
        index = min(np.uint32(np.uint32(key) - np.uint32(low)) >> shift, width)
        cell[j] = index if row[j] == row[j] else width + np.uint32(1)
