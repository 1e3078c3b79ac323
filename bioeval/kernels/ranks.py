"""Facts of each probe for identification: mates first, then one pass over the row."""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import FEW, by_numpy, compiled, parallel_rows


class RankFacts(NamedTuple):
    """Rank of each probe's best mate among the candidates that are not mates; all written."""

    #: `mate`, `other`: float64 (b,): distance of the best mate, and of the nearest non-mate; NaN
    #: where there is none.
    mate: np.ndarray
    #: int64 (b,): non-mates closer than the best mate, exactly as close, and of those before it in
    #: the gallery.
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    #: `mates_tied`, `mates`, `others`: int64 (b,): mates exactly as close as the best, usable
    #: mates, usable non-mates.
    mates_tied: np.ndarray
    mates: np.ndarray
    other: np.ndarray
    others: np.ndarray


@register_jitable
def rank_row(row, place, start, stop, probe_position, facts, i):
    """Write the facts of one row, the `i`-th; see :func:`rank_facts`."""
    best = np.inf
    best_place = np.int64(0)
    count = np.int64(0)
    same = np.int64(0)
    for p in range(start, stop):
        x = row[p]
        if p == probe_position or x != x:
            continue
        if count == 0 or x < best:
            best = x
            best_place = place[p]
            same = 1
        elif x == best:
            same += 1
            best_place = min(best_place, place[p])
        count += 1
    closer = np.int64(0)
    tied = np.int64(0)
    before = np.int64(0)
    non_mates = np.int64(0)
    nearest = np.inf
    for side in range(2):
        part = row[:start] if side == 0 else row[stop:]
        for j in range(len(part)):
            x = part[j]
            closer += x < best
            tied += x == best
            non_mates += x == x
            if x < nearest:
                nearest = x
    if count > 0 and tied > 0:
        for p in range(len(row)):
            if (p < start or p >= stop) and row[p] == best and place[p] < best_place:
                before += 1
    facts.mates[i] = count
    facts.others[i] = non_mates
    facts.other[i] = nearest if non_mates > 0 else np.nan
    facts.mate[i] = best if count > 0 else np.nan
    facts.closer[i] = closer if count > 0 else 0
    facts.tied[i] = tied if count > 0 else 0
    facts.tied_before[i] = before
    facts.mates_tied[i] = same


def numpy_rank_facts(block, columns, mate_start, mate_stop, probe_position, facts):
    """Do as :func:`rank_facts`, by NumPy."""
    column = np.arange(block.shape[1])
    same_person = (column >= mate_start[:, None]) & (column < mate_stop[:, None])
    there = ~np.isnan(block)
    mates, non_mates = (
        same_person & there & (column != probe_position[:, None]),
        ~same_person & there,
    )
    mated = mates.any(axis=1)
    facts.mates[:], facts.others[:] = mates.sum(axis=1), non_mates.sum(axis=1)
    shown = (np.where(x, block, np.inf) for x in (mates, non_mates))
    best, other = (x[np.arange(len(x)), x.argmin(axis=1)] for x in shown)  # the first zero
    facts.mate[:] = np.where(mated, best, np.nan)
    facts.other[:] = np.where(facts.others > 0, other, np.nan)
    tied, mates_tied = (x & mated[:, None] & (block == best[:, None]) for x in (non_mates, mates))
    facts.closer[:] = (non_mates & mated[:, None] & (block < best[:, None])).sum(axis=1)
    facts.tied[:], facts.mates_tied[:] = tied.sum(axis=1), mates_tied.sum(axis=1)
    last = np.iinfo(np.int64).max
    place = np.where(mates_tied, columns, last).min(axis=1, initial=last)
    facts.tied_before[:] = (tied & (columns < place[:, None])).sum(axis=1)


@by_numpy(numpy_rank_facts, lambda block, *_: block.size or FEW + 1)
@parallel_rows("block")
def rank_facts(begin, end, block, columns, mate_start, mate_stop, probe_position, facts):
    """Rank the best mate of each row among the candidates that are not mates.

    The row's own subject is at ``mate_start:mate_stop``, the probe itself at `probe_position` or
    -1. The places in the gallery's own order, for stable ties, are shared or by row: `columns` has
    the shape (1, n) or (b, n).
    """
    shared = columns.shape[0] == 1
    for i in range(begin, end):
        place = columns[0] if shared else columns[i]
        rank_row(block[i], place, mate_start[i], mate_stop[i], probe_position[i], facts, i)


@compiled
def rank_rows(tile, best, closer, within, there, other):
    """Add up for each row of a tile the scores closer than its best mate, and those up to it.

    NaN is in place of mates. All but `tile` have an entry for each row.

    - `best`: the score of the best mate, NaN for none
    - `closer`, `within`, `there` (int32): added to; the last has the scores that are not NaN
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
    """Do as :func:`rank_rows` for the columns of a tile."""
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


@register_jitable
def least(row, low):
    """Return the least of a number and of scores, NaN left out."""
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
