"""Identification: how each probe ranks its best mate, whose distance is known before."""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled


@compiled
def rank_rows(tile, best, closer, within, candidates, nearest):
    """Count the scores of each row: closer than its best mate, not farther, and in all.

    ::

        for i, row in enumerate(tile):
            for x in row, without NaN:
                closer[i] += x < best[i]
                within[i] += x <= best[i]
                candidates[i] += 1
                nearest[i] = min(nearest[i], x)

    NaN is in place of mates. All but `tile` have an entry for each row.

    - `best`: the score of the best mate, NaN for none
    - `closer`, `within`, `candidates` (int32): added to
    - `nearest`: lowered to the least score
    """
    for i in range(len(best)):
        row = tile[i]
        mate = best[i]
        below = np.int32(0)
        within_mate = np.int32(0)
        attempts = np.int32(0)
        for j in range(len(row)):
            x = row[j]
            below += np.int32(x < mate)
            within_mate += np.int32(x <= mate)
            attempts += np.int32(x == x)
        closer[i] += below
        within[i] += within_mate
        candidates[i] += attempts
        nearest[i] = least(row, nearest[i])


@compiled
def rank_columns(tile, best, closer, within, candidates, nearest):
    """Count for each column of a tile, as :func:`rank_rows` does for each row.

    ::

        for row in tile:
            for j, x in enumerate(row), without NaN:
                closer[j] += x < best[j]
                within[j] += x <= best[j]
                candidates[j] += 1
                nearest[j] = min(nearest[j], x)
    """
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(len(best)):
            x = row[j]
            closer[j] += np.int32(x < best[j])
            within[j] += np.int32(x <= best[j])
            candidates[j] += np.int32(x == x)
            nearest[j] = x if x < nearest[j] else nearest[j]


#: Minima that are found side by side.
LANES = 16


@called_by_loops
def least(row, low):
    """Return the least of `low` and of all scores of a row that are not NaN."""
    minima = np.full(LANES, low)
    end_of_lanes = len(row) - len(row) % LANES
    for start in range(0, end_of_lanes, LANES):
        piece = row[start : start + LANES]
        for j in range(LANES):
            minima[j] = piece[j] if piece[j] < minima[j] else minima[j]
    for j in range(end_of_lanes, len(row)):
        low = row[j] if row[j] < low else low
    for j in range(LANES):
        low = minima[j] if minima[j] < low else low
    return low
