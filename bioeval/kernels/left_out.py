"""Effect of leaving one subject out of the gallery on each probe, in one pass over its row.

The rank of a probe changes with a subject that has candidates up to the distance of the best mate,
its nearest non-mate with the one subject that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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


@parallel_rows("block")
def count_by_group(begin, end, block, columns, starts, probe_group, mates, output):
    """Count the candidates of each group up to the best mate of each row.

    Group ``g`` is at ``starts[g]:starts[g + 1]``, the row's own is ``probe_group[i]`` or -1.
    `columns` has the shape (1, n) or (b, n). `mates` are the distance and the place of the best
    mate of each row, NaN without one.
    """
    best_of, place_of = mates
    for i in range(begin, end):
        row = block[i]
        place = columns[0] if columns.shape[0] == 1 else columns[i]
        best = best_of[i]
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
                    closer += np.int32(x < best)
                    if x == best:
                        tied += np.int32(1)
                        before += np.int32(place[p] < place_of[i])
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
