"""Effect of leaving one subject out of the gallery on each probe, in one pass over its row.

The rank of a probe changes with a subject that has candidates up to the distance of the best mate,
its nearest non-mate with the one subject that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import parallel_rows


class ByGroup(NamedTuple):
    """Facts of each row about each group of the gallery; all written."""

    #: int32 (b, groups): candidates closer than the row's best mate, exactly as close, and those of
    #: the latter before it in the gallery; 0 for the own group, and without a mate.
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    #: int64 (b,): the group of the nearest candidate that is no mate; -1 for none.
    nearest: np.ndarray
    #: float64 (b,): distance of the nearest candidate of any further group; NaN for none.
    second: np.ndarray


@register_jitable
def _best_mate(row, place, start, stop, probe_position):
    """Return distance, place and number of the best mates."""
    best = np.inf
    best_place = np.int64(0)
    mates = np.int64(0)
    for p in range(start, stop):
        x = row[p]
        if p == probe_position or x != x:
            continue
        if mates == 0 or x < best:
            best = x
            best_place = place[p]
        elif x == best:
            best_place = min(best_place, place[p])
        mates += 1
    return best, best_place, mates


@parallel_rows("block")
def count_by_group(begin, end, block, columns, starts, probe_group, probe_position, output):
    """Count the candidates of each group up to the best mate of each row.

    Group ``g`` is at ``starts[g]:starts[g + 1]``, the row's own is ``probe_group[i]`` or -1, the
    probe itself is at `probe_position` or -1. `columns` has the shape (1, n) or (b, n).
    """
    for i in range(begin, end):
        row = block[i]
        place = columns[0] if columns.shape[0] == 1 else columns[i]
        start = np.int64(0)
        stop = np.int64(0)
        if probe_group[i] >= 0:
            start = starts[probe_group[i]]
            stop = starts[probe_group[i] + 1]
        best, best_place, mates = _best_mate(row, place, start, stop, probe_position[i])
        nearest = np.int64(-1)
        first = np.nan
        second = np.nan
        for g in range(len(starts) - 1):
            closer = np.int32(0)
            tied = np.int32(0)
            before = np.int32(0)
            if g != probe_group[i]:
                low = np.nan
                for p in range(starts[g], starts[g + 1]):
                    x = row[p]
                    if x == x and not low <= x:
                        low = np.float64(x)
                    if mates > 0:
                        closer += np.int32(x < best)
                        if x == best:
                            tied += np.int32(1)
                            before += np.int32(place[p] < best_place)
                if low == low and not first <= low:
                    second = first
                    first = low
                    nearest = np.int64(g)
                elif low == low and not second <= low:
                    second = low
            output.closer[i, g] = closer
            output.tied[i, g] = tied
            output.before[i, g] = before
        output.nearest[i] = nearest
        output.second[i] = second
