"""The second pass over impostor scores: those of chosen cells, counted or collected."""

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
def collect_windows(block, own_start, own_stop, lows, highs, piece, found, out):
    """Collect the impostor scores of each row that lie in any of disjoint windows ``(low, high]``.

    Most pieces of a row hold no such score; comparisons without branches find that out. Scores
    beyond the room in `out`, shape (b, room), are counted in `found` but not written.
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

    Without places in `genuine` every score of a flagged cell is collected, otherwise those of
    wanted cells; `found` and `out` are as for :func:`collect_windows`.
    """
    b = block.shape[0]
    chunks = scratch.cells.shape[0]
    for c in prange(chunks):
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            found[i] = look_into_row(
                block[i], own_start[i], own_stop[i], flagged, genuine, scratch, c, out[i]
            )


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
