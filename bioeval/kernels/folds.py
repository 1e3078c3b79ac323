"""Scores counted by the folds of both templates.

As in ``count``, the row's own subject is at ``mate_start:mate_stop``, everything else is an
impostor score, and NaN is no attempt. The cells of folds cover the whole line: the first one is
open below, the last one above, and one more is for NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.kernels.compiling import compiled, parallel_rows

# Scores that are looked at together; those of a tile, among which few are looked for.
PIECE = 64
FEW = 16


class FoldRows(NamedTuple):
    """Rows of distances with the folds of their templates."""

    values: np.ndarray  # float (b, n): NaN = no attempt
    #: int64 (b,): where the probe's own subject starts and stops, and the probe itself; -1 for
    #: none.
    mate_start: np.ndarray
    mate_stop: np.ndarray
    probe_position: np.ndarray


@parallel_rows("bins")
def count_by_fold(begin, end, rows, row_fold, offset, window, nan_cell, bins, tables):
    """Count impostor scores into cells of their pair of folds.

    The cells of the fold of position ``p`` begin at ``offset[p]``, int32, in a row of `tables`,
    int32 of shape (chunks, folds, folds * cells); `nan_cell` is counted from the first. `bins`,
    int32 of shape (chunks, n), is for the cells of a row.
    """
    block = rows.values
    mate_start = rows.mate_start
    mate_stop = rows.mate_stop
    b, n = block.shape
    chunks = bins.shape[0]
    width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    one = np.int32(1)
    half = n // 2
    for c in range(begin, end):
        index = bins[c]
        front = index[:half]
        back = index[half : 2 * half]
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            for p in range(n):
                x = row[p]
                y = x * inverse
                y = y if y > low else low
                y = y if y < high else high
                z = np.ceil(y)
                k = np.int32(z) + np.int32(z * width < x)  # y may have underflowed, or been cut
                k = k - shift if x == x else nan_cell
                index[p] = offset[p] + k
            table = tables[c, row_fold[i]]
            # Two places far apart: equal scores side by side would wait for each other.
            for p in range(half):
                table[front[p]] += one
                table[back[p]] += one
            if 2 * half < n:
                table[index[n - 1]] += one
            for p in range(mate_start[i], mate_stop[i]):
                table[index[p]] -= one


class PlacedCells(NamedTuple):
    """Room for scores: the row and the position of each, and its cell."""

    rows: np.ndarray  # int32 (c,)
    positions: np.ndarray  # int32 (c,)
    cells: np.ndarray  # uint16 (c,)


class KeptCells(NamedTuple):
    """Room for scores above the first limit and up to the second, with rows and positions."""

    limits: np.ndarray  # float (2,)
    values: np.ndarray  # float (c,)
    rows: np.ndarray  # int32 (c,)
    positions: np.ndarray  # int32 (c,)


@compiled
def find_tile_cells(block, keys, rows, positions, window, top, filled, placed, kept, infinity):
    """Find the cells of the scores of a tile up to `top`, and write those to keep.

    Return how many scores are placed now, how many are kept, how many are NaN, and the bits of the
    least and of the largest finite one.

    - `block` (float (h, w')): no score has a sign; NaN is none
    - `keys` (int (h, w')): the same memory
    - `rows` (int32 (h,)), `positions` (int32 (w,))
    - `window`: as :func:`count_by_fold`
    - `filled` (int64): how many scores are placed already
    - `placed` (PlacedCells), `kept` (KeptCells): with room for one score more than there may be
    - `infinity` (int): the bits of infinity
    """
    width = len(positions)
    cell_width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    above = kept.limits[0]
    upto = kept.limits[1]
    keeps = above < upto
    missing = np.int64(0)
    least = infinity
    none = keys.dtype.type(-1)
    largest = none
    place = np.uint64(filled)
    kept_place = np.uint64(0)
    many = False
    whole = width - width % FEW
    for i in range(len(block)):
        line = keys[i, :width]
        failed = np.int32(0)
        for p in range(width):
            x = line[p]
            failed = np.int32(failed + np.int32(x > infinity))
            least = x if x < least else least
            x = x if x < infinity else none
            largest = x if x > largest else largest
        missing += failed

        # The scores up to the top, most of which may be in few places.
        row = block[i, :width]
        before = place
        start = 0
        if not many:
            for start in range(0, whole, FEW):
                some = row[start : start + FEW]
                hits = np.int32(0)
                for j in range(FEW):
                    hits += np.int32(some[j] <= top)
                if hits == 0:
                    continue
                for j in range(FEW):
                    placed.positions[place] = np.int32(start + j)
                    place += np.uint64(some[j] <= top)
            start = whole
        for p in range(start, width):
            placed.positions[place] = np.int32(p)
            place += np.uint64(row[p] <= top)
        many = np.int64(8 * (place - before)) > width
        for e in range(before, place):
            p = np.uint64(placed.positions[e])
            x = row[p]
            y = x * inverse
            y = y if y > low else low
            y = y if y < high else high
            z = np.ceil(y)
            k = np.int32(z) + np.int32(z * cell_width < x)
            placed.cells[e] = np.uint16(k - shift)
            placed.rows[e] = rows[i]
            placed.positions[e] = positions[p]
            if keeps:
                kept.values[kept_place] = x
                kept.rows[kept_place] = rows[i]
                kept.positions[kept_place] = positions[p]
                kept_place += np.uint64((x > above) & (x <= upto))
    return np.int64(place), np.int64(kept_place), missing, least, largest


class FoldTables(NamedTuple):
    """The folds of both sides in some partitions, and the tables of their pairs."""

    probe: np.ndarray  # int32 (partitions, m)
    gallery: np.ndarray  # int32 (partitions, n)
    #: int64 (tables, 5): the partition of each table; where its cells begin; how far those of a
    #: row's fold are from those of the next, and of a column's fold, 0 for all folds together; and
    #: 1 where pairs across folds are left out.
    layout: np.ndarray
    counts: np.ndarray  # int32: of all tables


@compiled
def count_placed(number, placed, tables):
    """Count scores whose cells are known by the folds of both templates, in each of some tables.

    - `number` (int): how many are placed
    - `placed` (PlacedCells)
    - `tables` (FoldTables)
    """
    one = np.int32(1)
    half = np.int64(number) // 2
    for t in range(len(tables.layout)):
        part, origin, by_row, by_column, within = tables.layout[t]
        probe = tables.probe[part]
        gallery = tables.gallery[part]
        counts = tables.counts[origin:]
        if within == 1:
            for e in range(number):
                fold = np.int64(probe[np.uint64(placed.rows[e])])
                if fold == gallery[np.uint64(placed.positions[e])]:
                    counts[np.uint64(fold * by_row) + np.uint64(placed.cells[e])] += one
            continue
        # Two places far apart: equal scores side by side would wait for each other.
        for e in range(half):
            f = np.int64(probe[np.uint64(placed.rows[e])]) * by_row
            f += np.int64(gallery[np.uint64(placed.positions[e])]) * by_column
            counts[np.uint64(f) + np.uint64(placed.cells[e])] += one
            g = np.int64(probe[np.uint64(placed.rows[half + e])]) * by_row
            g += np.int64(gallery[np.uint64(placed.positions[half + e])]) * by_column
            counts[np.uint64(g) + np.uint64(placed.cells[half + e])] += one
        for e in range(2 * half, number):
            f = np.int64(probe[np.uint64(placed.rows[e])]) * by_row
            f += np.int64(gallery[np.uint64(placed.positions[e])]) * by_column
            counts[np.uint64(f) + np.uint64(placed.cells[e])] += one


@parallel_rows("values")
def collect_scores(begin, end, rows, row_fold, first, above, upto, values, place, filled):
    """Collect the impostor scores in windows, with their places in the rows and columns.

    - `rows`: Rows
    - `row_fold` (int64 (b,)): which windows a row has: those from ``first[f]`` to ``first[f + 1]``
    - `first`: int64
    - `above`, `upto` (float (windows,), of the dtype of the scores): ends of the windows, those of
      a row increasing; NaN for no lower end
    - `values`, `place`: (chunks, capacity) and (chunks, capacity, 2), written
    - `filled` (int64 (chunks,), written): the number collected; those beyond the capacity are not
      written
    """
    block = rows.values
    mate_start = rows.mate_start
    mate_stop = rows.mate_stop
    b, n = block.shape
    chunks, capacity = values.shape
    for c in range(begin, end):
        count = 0
        inside = np.empty(PIECE, dtype=np.int32)
        near = np.empty(PIECE, dtype=np.int32)
        last = np.empty(PIECE, dtype=block.dtype)
        whole = n // PIECE * PIECE
        for i in range(c * b // chunks, (c + 1) * b // chunks):
            row = block[i]
            start_window = first[row_fold[i]]
            stop_window = first[row_fold[i] + 1]
            if start_window == stop_window:
                continue
            for j in range(PIECE):  # assignments of slices take seconds to compile
                last[j] = row[whole + j] if whole + j < n else np.nan
            lowest = above[start_window]
            highest = upto[stop_window - 1]
            # Most pieces of a row hold no such score, which comparisons without branches find out;
            # a constant number of them at a time is several times as fast.
            for start in range(0, n, PIECE):
                some = row[start : start + PIECE] if start < whole else last
                hits = np.int32(0)
                for j in range(PIECE):
                    hits += np.int32((some[j] <= highest) & (not (some[j] <= lowest)))
                if hits == 0:
                    continue
                for w in range(start_window, stop_window):
                    low = above[w]
                    high = upto[w]
                    if w == start_window:
                        for j in range(PIECE):
                            inside[j] = np.int32((some[j] <= high) & (not (some[j] <= low)))
                    else:
                        for j in range(PIECE):
                            inside[j] += np.int32((some[j] <= high) & (not (some[j] <= low)))
                hits = np.int32(0)
                for j in range(PIECE):
                    hits += inside[j]
                if hits == 0:
                    continue
                hits = np.int32(0)
                for j in range(PIECE):
                    near[hits] = start + j
                    hits += inside[j]
                for k in range(hits):
                    p = near[k]
                    if mate_start[i] <= p < mate_stop[i]:
                        continue
                    if count < capacity:
                        values[c, count] = row[p]
                        place[c, count, 0] = i
                        place[c, count, 1] = p
                    count += 1
        filled[c] = count
