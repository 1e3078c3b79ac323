"""The second pass over impostor scores: counted between genuine scores, or collected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange


class FlaggedCells(NamedTuple):
    """Cells of the first pass, some of which are looked into.

    Attributes
    ----------
    width, inverse, low, high, first : floats of the dtype of the scores
        As for :class:`CellWindow`; nothing is wanted of the outermost cells.
    flags : uint8 array, shape (cells,)
        1 for cells to look into.
    """

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any
    flags: np.ndarray


class GenuineCells(NamedTuple):
    """Narrow cells, from the first flagged cell to the last, that lead to the genuine scores.

    Attributes
    ----------
    width, inverse, low, high, first : floats of the dtype of the scores
        As for :class:`CellWindow`.
    places : uint32 array, shape (cells + 1,)
        The first genuine score that is not below each cell, and after all; empty to count nothing.
    wanted : uint8 array, shape (cells,)
        1 for cells whose impostor scores are collected besides.
    scores : array of the dtype of the scores, shape (u + 1,), increasing
        The distinct genuine scores, and infinity as a guard.
    counts : int32 array, shape (chunks, 2 u + 2), added to
        Entry ``2 i`` gets the impostor scores with ``scores[i - 1] < x < scores[i]``, and
        ``2 i + 1`` those at ``scores[i]``.
    """

    width: Any
    inverse: Any
    low: Any
    high: Any
    first: Any
    places: np.ndarray
    wanted: np.ndarray
    scores: np.ndarray
    counts: np.ndarray


class Scratch(NamedTuple):
    """Room for one row of each chunk.

    Attributes
    ----------
    cells : uint16 array, shape (chunks, n)
    kept : float array, shape (chunks, n + 1)
        Scores of flagged cells.
    narrow : uint32 array, shape (chunks, n + 1)
        Their narrow cells.
    """

    cells: np.ndarray
    kept: np.ndarray
    narrow: np.ndarray


@njit(parallel=True, cache=True)
def count_between(block, own_start, own_stop, genuine, base, scale, guide, below, equal):
    """Count impostor scores between, and exactly at, the distinct genuine scores.

    ``below[c, i]`` gets the scores with ``genuine[i - 1] < x < genuine[i]``, ``equal[c, i]`` those
    at ``genuine[i]``. The guide is the one of ``count_thresholds``.

    Parameters
    ----------
    genuine : float64 array, shape (u,), increasing
    below : int64 array, shape (chunks, u + 1), added to
    equal : int64 array, shape (chunks, u), added to
    """
    b = block.shape[0]
    chunks = below.shape[0]
    places = len(guide) - 1
    u = len(genuine)
    last = genuine[u - 1]
    for c in prange(chunks):
        under = below[c]
        at = equal[c]
        beyond = np.int64(0)
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            for side in range(2):
                part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
                for j in range(len(part)):
                    x = np.float64(part[j])
                    if x > last:
                        beyond += 1
                        continue
                    if x != x:
                        continue
                    y = (x - base) * scale
                    place = 0
                    if y > 0:
                        place = places - 1 if y >= places - 1 else np.int64(y)
                    low = guide[place]
                    high = guide[place + 1]
                    while low < high:
                        middle = (low + high) // 2
                        if genuine[middle] < x:
                            low = middle + 1
                        else:
                            high = middle
                    if genuine[low] == x:
                        at[low] += 1
                    else:
                        under[low] += 1
        under[u] += beyond


@njit(parallel=True, cache=True)
def collect_windows(block, own_start, own_stop, lows, highs, piece, found, out):
    """Collect the impostor scores of each row that lie in any window ``(low, high]``.

    Most pieces of a row hold no such score; comparisons without branches find that out.

    Parameters
    ----------
    lows, highs : arrays of the dtype of `block`
        Disjoint windows.
    piece : int
        Scores looked at together.
    found : int64 array, shape (b,), written
        Number of scores of each row.
    out : float array, shape (b, room), written
        The scores; those beyond the room are counted in `found` but not written.
    """
    windows = len(lows)
    room = out.shape[1]
    for i in prange(block.shape[0]):
        row = block[i]
        filled = np.int64(0)
        for side in range(2):
            part = row[: own_start[i]] if side == 0 else row[own_stop[i] :]
            for start in range(0, len(part), piece):
                some = part[start : start + piece]
                hits = np.int32(0)
                for w in range(windows):
                    low = lows[w]
                    high = highs[w]
                    for j in range(len(some)):
                        hits += np.int32((some[j] > low) & (some[j] <= high))
                if hits == 0:
                    continue
                for j in range(len(some)):
                    x = some[j]
                    inside = False
                    for w in range(windows):
                        inside |= (x > lows[w]) & (x <= highs[w])
                    if inside:
                        if filled < room:
                            out[i, filled] = x
                        filled += 1
        found[i] = filled


@njit
def find_cells(line, index, window):
    """Write the cell of each score; those beyond the window into its outermost ones."""
    width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    for p in range(len(line)):
        x = line[p]
        y = x * inverse
        y = y if y > low else low
        y = y if y < high else high
        z = np.ceil(y)
        k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed
        index[p] = np.uint16(k - shift)


@njit
def collect_flagged(line, index, flags, out, filled):
    """Append the scores of flagged cells, which are rare, as far as there is room."""
    for p in range(len(line)):
        if flags[index[p]]:
            if filled < len(out):
                out[filled] = line[p]
            filled += 1
    return filled


@njit
def keep_flagged(line, index, flags, kept, filled):
    """Append the scores of flagged cells, which are many; without branches."""
    for p in range(len(line)):
        kept[filled] = line[p]
        filled += np.uint64(flags[index[p]])
    return filled


@njit
def count_kept(kept, narrow, genuine, counts, out):
    """Count scores between, and exactly at, the genuine scores that their narrow cells lead to.

    Return how many lie in wanted cells; those are written as far as there is room.
    """
    width = genuine.width
    inverse = genuine.inverse
    places = genuine.places
    wanted = genuine.wanted
    scores = genuine.scores
    shift = np.int32(genuine.first)
    filled = np.int64(0)
    for p in range(len(kept)):
        x = kept[p]
        z = np.ceil(x * inverse)
        k = np.int32(z) + np.int32(z * width < x)
        narrow[p] = np.uint32(k - shift)
    for p in range(len(kept)):
        x = kept[p]
        cell = narrow[p]
        if wanted[cell]:
            if filled < len(out):
                out[filled] = x
            filled += 1
        low = places[cell]
        high = places[cell + np.uint32(1)]
        while high - low > 4:
            middle = (low + high) >> np.uint32(1)
            if scores[middle] < x:
                low = np.uint32(middle + np.uint32(1))
            else:
                high = np.uint32(middle)
        # Two steps that take no branch; more are so rare that one costs little.
        low = np.uint32(low + np.uint32(scores[low] < x))
        low = np.uint32(low + np.uint32(scores[low] < x))
        while scores[low] < x:
            low = np.uint32(low + np.uint32(1))
        counts[np.uint32(2) * low + np.uint32(scores[low] == x)] += np.int32(1)
    return filled


@njit
def look_into_row(row, start, stop, flagged, genuine, scratch, chunk, out):
    """Collect, or count, the impostor scores of one row; return how many are collected."""
    index = scratch.cells[chunk]
    flags = flagged.flags
    find_cells(row, index, flagged)
    if len(genuine.places) == 0:
        filled = collect_flagged(row[:start], index[:start], flags, out, 0)
        return collect_flagged(row[stop:], index[stop:], flags, out, filled)
    kept = scratch.kept[chunk]
    held = np.uint64(0)
    held = keep_flagged(row[:start], index[:start], flags, kept, held)
    held = keep_flagged(row[stop:], index[stop:], flags, kept, held)
    return count_kept(kept[:held], scratch.narrow[chunk], genuine, genuine.counts[chunk], out)


@njit(parallel=True, cache=True)
def look_rows(block, own_start, own_stop, flagged, genuine, scratch, found, out):
    """Collect the impostor scores of some cells, or count those between genuine scores.

    Parameters
    ----------
    flagged : FlaggedCells
        The cells that are looked into.
    genuine : GenuineCells
        Where to count; without places every score of a flagged cell is collected.
    scratch : Scratch
        Room for one row of each chunk.
    found, out
        As for :func:`collect_windows`: of all flagged cells, or of the wanted ones among these.
    """
    b = block.shape[0]
    chunks = scratch.cells.shape[0]
    for c in prange(chunks):
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            found[i] = look_into_row(
                block[i], own_start[i], own_stop[i], flagged, genuine, scratch, c, out[i]
            )


def _least_of(size):
    """Return a kernel for groups of one size, so common that it is worth a loop of its own."""

    @njit
    def least_of(line, nearest):
        for g in range(len(nearest)):
            part = line[g * size : (g + 1) * size]
            least = part[0]
            for p in range(1, size):
                least = part[p] if part[p] < least else least
            nearest[g] = least

    return least_of


least_of_4 = _least_of(4)
least_of_5 = _least_of(5)
least_of_10 = _least_of(10)


@njit
def least_but(part, left_out):
    """Return the least of a few scores that are not NaN, one place left out; NaN if none is."""
    least = np.nan
    for p in range(len(part)):
        if p != left_out and (part[p] < least or least != least):
            least = part[p]
    return least


@njit(parallel=True, cache=True)
def fuse_nearest(block, starts, self_position, fused):
    """Write each subject's smallest distance; NaN where no template is left.

    Parameters
    ----------
    block : float array, shape (b, n)
        Distances; NaN = no attempt.
    starts : int64 array, shape (g + 1,)
    self_position : int64 array, shape (b,)
    fused : float array, shape (b, g), written
    """
    groups = len(starts) - 1
    size = starts[1] - starts[0]
    for g in range(groups):
        if starts[g + 1] - starts[g] != size:
            size = 0
            break
    for i in prange(block.shape[0]):
        row = block[i]
        nearest = fused[i]
        if size == 10:  # known sizes are several times faster; any other is found as well
            least_of_10(row, nearest)
        elif size == 5:
            least_of_5(row, nearest)
        elif size == 4:
            least_of_4(row, nearest)
        else:
            for g in range(groups):
                part = row[starts[g] : starts[g + 1]]
                least = part[0]
                for p in range(1, len(part)):
                    least = part[p] if part[p] < least else least
                nearest[g] = least
        # A NaN is never smaller, nor is anything smaller than a NaN: those groups again.
        for g in range(groups):
            if nearest[g] != nearest[g]:
                nearest[g] = least_but(row[starts[g] : starts[g + 1]], -1)
        own = self_position[i]
        for g in range(groups):
            if starts[g] <= own < starts[g + 1]:
                nearest[g] = least_but(row[starts[g] : starts[g + 1]], own - starts[g])


@njit(cache=True)
def lower_hull(x, y, out):
    """Write the indices of the lower-left convex hull of points; return how many they are.

    The points come with `x` not falling and `y` not rising, as the points of a ROC do.
    """
    n = 0
    for i in range(len(x)):
        if n > 0 and x[out[n - 1]] == x[i]:
            n -= 1  # the same x further down
        elif n > 0 and y[out[n - 1]] == y[i]:
            continue  # the same y further right
        while n >= 2:
            a = out[n - 2]
            b = out[n - 1]
            turn = (x[b] - x[a]) * (y[i] - y[a]) - (y[b] - y[a]) * (x[i] - x[a])
            if turn > 0:
                break
            n -= 1
        out[n] = i
        n += 1
    return n
