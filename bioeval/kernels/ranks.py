"""Facts of each probe for identification: mates first, then one sweep of the row."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True)
def rank_facts(
    block, columns, own_start, own_stop, self_position,
    mate, closer, tied, tied_before, mates_tied, mates, other, others,
):  # fmt: skip
    """Rank the best mate of each row among the candidates that are not mates.

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt. The row's own subject stands at ``own_start:own_stop``.
    columns : int64 array, shape (1, n) or (b, n)
        Place of each candidate in the gallery's own order, for stable ties.
    own_start, own_stop, self_position : int64 arrays, shape (b,)
        ``self_position`` is the candidate that is the probe itself, or -1.
    mate, other : float64 arrays, shape (b,), written
        Distance of the best mate, and of the nearest other; NaN where there is none.
    closer, tied, tied_before : int64 arrays, shape (b,), written
        Others closer than the mate, exactly as close, and of those before it in the gallery.
    mates_tied, mates, others : int64 arrays, shape (b,), written
        Mates exactly as close as the best, usable mates, usable others.
    """
    b, n = block.shape
    shared = columns.shape[0] == 1
    for i in prange(b):
        row = block[i]
        place = columns[0] if shared else columns[i]
        start = own_start[i]
        stop = own_stop[i]
        best = np.inf
        best_place = np.int64(0)
        count = np.int64(0)
        same = np.int64(0)
        for p in range(start, stop):
            x = row[p]
            if p == self_position[i] or x != x:
                continue
            if count == 0 or x < best:
                best = x
                best_place = place[p]
                same = 1
            elif x == best:
                same += 1
                best_place = min(best_place, place[p])
            count += 1
        n_closer = np.int64(0)
        n_tied = np.int64(0)
        n_before = np.int64(0)
        n_others = np.int64(0)
        nearest = np.inf
        for side in range(2):
            part = row[:start] if side == 0 else row[stop:]
            for j in range(len(part)):
                x = part[j]
                n_closer += x < best
                n_tied += x == best
                n_others += x == x
                if x < nearest:
                    nearest = x
        if count > 0 and n_tied > 0:
            for p in range(n):
                if (p < start or p >= stop) and row[p] == best and place[p] < best_place:
                    n_before += 1
        mates[i] = count
        others[i] = n_others
        other[i] = nearest if n_others > 0 else np.nan
        mate[i] = best if count > 0 else np.nan
        closer[i] = n_closer if count > 0 else 0
        tied[i] = n_tied if count > 0 else 0
        tied_before[i] = n_before
        mates_tied[i] = same
