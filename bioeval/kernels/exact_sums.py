"""Sums of floats as whole numbers."""

import numpy as np

from bioeval.kernels.compiling import compiled


@compiled
def add_exactly(values, row, units, limbs):
    """Add rows of numbers to the rows of a table of whole numbers, limb by limb.

    A number is divided into multiples of the units, the largest first; the last is rounded.

    - `values`: float64 (r, k)
    - `row` (int64 (r,)): the row of the table that each is added to; -1 for none
    - `units` (float64 (l,)): powers of two
    - `limbs` (int64 (l, rows, k), added to): numbers of each unit
    """
    last = len(units) - 1
    rest = np.empty(values.shape[1])
    for r in range(len(row)):
        at = row[r]
        if at < 0:
            continue
        for k in range(len(rest)):
            rest[k] = values[r, k]
        for i in range(last):
            unit = units[i]
            inverse = 1.0 / unit
            for k in range(len(rest)):
                whole = np.int64(rest[k] * inverse)
                limbs[i, at, k] += whole
                rest[k] -= whole * unit
        inverse = 1.0 / units[last]
        for k in range(len(rest)):
            limbs[last, at, k] += np.int64(np.rint(rest[k] * inverse))


@compiled
def carry(limbs, bits):
    """Carry what is beyond ``2**bits`` in the lower limbs, the later ones, to the upper limbs."""
    number, rows, columns = limbs.shape
    for i in range(number - 1, 0, -1):
        for r in range(rows):
            for k in range(columns):
                carried = limbs[i, r, k] >> bits
                limbs[i, r, k] -= carried << bits
                limbs[i - 1, r, k] += carried
