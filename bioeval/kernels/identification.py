"""Identification: how each probe ranks its best mate, which is known before."""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled


@compiled
def rank_rows(tile, best, closer, within, there, other):
    """Count for each row of a tile the scores closer than its best mate, and those up to it.

    ::

        for i, row in enumerate(tile):
            for x in row, without NaN:
                closer[i] += x < best[i]
                within[i] += x <= best[i]
                there[i] += 1
                other[i] = min(other[i], x)

    NaN is in place of mates. All but `tile` have an entry for each row.

    - `best`: the score of the best mate, NaN for none
    - `closer`, `within`, `there` (int32): added to
    - `other`: lowered to the least score
    """
    for i in range(len(best)):
        row = tile[i]
        b = best[i]
        low = np.int32(0)
        upto = np.int32(0)
        number = np.int32(0)
        for j in range(len(row)):
            x = row[j]
            low += np.int32(x < b)
            upto += np.int32(x <= b)
            number += np.int32(x == x)
        closer[i] += low
        within[i] += upto
        there[i] += number
        other[i] = least(row, other[i])


@compiled
def rank_columns(tile, best, closer, within, there, other):
    """Count for each column of a tile, as :func:`rank_rows` does for each row.

    ::

        for row in tile:
            for j, x in enumerate(row), without NaN:
                closer[j] += x < best[j]
                within[j] += x <= best[j]
                there[j] += 1
                other[j] = min(other[j], x)
    """
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(len(best)):
            x = row[j]
            closer[j] += np.int32(x < best[j])
            within[j] += np.int32(x <= best[j])
            there[j] += np.int32(x == x)
            other[j] = x if x < other[j] else other[j]


#: Minima that are found side by side.
LANES = 16


@called_by_loops
def least(row, low):
    """Return the least of `low` and of all scores of a row that are not NaN."""
    lows = np.full(LANES, low)
    whole = len(row) - len(row) % LANES
    for start in range(0, whole, LANES):
        part = row[start : start + LANES]
        for j in range(LANES):
            lows[j] = part[j] if part[j] < lows[j] else lows[j]
    for j in range(whole, len(row)):
        low = row[j] if row[j] < low else low
    for j in range(LANES):
        low = lows[j] if lows[j] < low else low
    return low
