"""Digests of rows of numbers; the order of the columns does not matter."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.parallel_rows import parallel_rows

# Of the finaliser of SplitMix64.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@register_jitable
def digest_cell(x, sign, key):
    """Return 64 bits for a signed number as float64; both zeros are alike, and NaN gives 0."""
    y = np.float64(x) * sign + 0.0
    z = key + np.float64(y).view(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    z ^= z >> np.uint64(31)
    return z if y == y else np.uint64(0)


@register_jitable
def has_distinct(line, mask, columns, own, number, seen):
    """Whether a row has as many distinct values as `seen` has room for."""
    filled = 0
    for p in range(number):
        place = columns[p] if len(columns) > 0 else p
        x = line[place]
        if p == own or x != x or (len(mask) > 0 and mask[place] == 0):
            continue
        known = False
        for k in range(filled):
            known |= seen[k] == x
        if not known:
            seen[filled] = x
            filled += 1
            if filled == len(seen):
                return True
    return False


@parallel_rows("sums")
def digest_rows(begin, end, raw, columns, own, sign, keys, summed, least, sums, varied):
    """Write a digest of each row, and whether it has at least `least` distinct values.

    Parameters
    ----------
    raw : RawRows
    columns : uint32 array, shape (n,) or (0,)
        Columns of the values; the first ones in order where it is empty.
    own : int64 array, shape (b,)
        The place among the columns that is left out of each row; -1 for none.
    sign : float
        1.0, or -1.0 for numbers with the other sign.
    keys : uint64 array, shape (n,)
        The key of each column.
    summed : bool
        Whether digests are wanted.
    least : int
        0 where `varied` is not wanted.
    sums, varied : uint64 and bool arrays, shape (b,), written
    """
    number = len(keys)
    seen = np.empty(least)
    for i in range(begin, end):
        line = raw.values[raw.rows[i]]
        mask = raw.mask[raw.mask_rows[i]] if len(raw.mask) > 0 else raw.mask.reshape(-1)
        none = np.uint64(0)
        if summed:
            total = np.uint64(0)
            if len(columns) > 0:
                for p in range(number):
                    digest = digest_cell(line[columns[p]], sign, keys[p])
                    total += none if len(mask) > 0 and mask[columns[p]] == 0 else digest
            elif len(mask) > 0:
                part = line[:number]
                kept = mask[:number]
                for p in range(number):
                    digest = digest_cell(part[p], sign, keys[p])
                    total += digest if kept[p] > 0 else none
            else:
                part = line[:number]
                for p in range(number):
                    total += digest_cell(part[p], sign, keys[p])
            if own[i] >= 0:
                place = columns[own[i]] if len(columns) > 0 else own[i]
                if len(mask) == 0 or mask[place] > 0:
                    total -= digest_cell(line[place], sign, keys[own[i]])
            sums[i] = total
        if least > 0:
            varied[i] = has_distinct(line, mask, columns, own[i], number, seen)
