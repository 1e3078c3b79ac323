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


class TileFolds(NamedTuple):
    """The folds of both sides of a tile in some partitions, and where its scores are counted."""

    rows: np.ndarray  # int64 (partitions, h)
    columns: np.ndarray  # int64 (partitions, w)
    #: int64 (tables, 5): the partition of each table; where its cells begin; how far those of a
    #: row's fold are from those of the next, and of a column's fold, 0 for all folds together; and
    #: 1 where pairs across folds are left out.
    tables: np.ndarray


class TileRoom(NamedTuple):
    """Room for the scores of a tile that are counted one by one: their columns and their cells."""

    columns: np.ndarray  # uint16 (c,)
    cells: np.ndarray  # uint16 (c,)
    starts: np.ndarray  # int64 (h + 1,): where those of a row begin
    offsets: np.ndarray  # uint64 (w,): where the cells of a column's fold begin


@compiled
def count_tile(block, keys, width, folds, window, top, room, counts, infinity):
    """Count the scores of a tile into cells of their pair of folds, in each of some tables.

    Those above `top`, and NaN, are in no table. Return how many are NaN, and the bits of the least
    and of the largest finite one.

    - `block` (float (h, w')): of w columns, `width`; no score has a sign
    - `keys` (int (h, w')): the same memory
    - `folds` (TileFolds)
    - `window`: as :func:`count_by_fold`
    - `room` (TileRoom)
    - `counts` (int32): of all tables
    - `infinity` (int): the bits of infinity
    """
    height = len(block)
    cell_width = window.width
    inverse = window.inverse
    low = window.low
    high = window.high
    shift = np.int32(window.first)
    missing = np.int64(0)
    least = infinity
    none = keys.dtype.type(-1)
    largest = none
    filled = np.uint64(0)
    room.starts[0] = 0
    many = False
    whole = width - width % FEW
    for i in range(height):
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
        before = filled
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
                    room.columns[filled] = np.uint16(start + j)
                    filled += np.uint64(some[j] <= top)
            start = whole
        for p in range(start, width):
            room.columns[filled] = np.uint16(p)
            filled += np.uint64(row[p] <= top)
        many = np.int64(8 * (filled - before)) > width
        for e in range(before, filled):
            x = row[np.uint64(room.columns[e])]
            y = x * inverse
            y = y if y > low else low
            y = y if y < high else high
            z = np.ceil(y)
            k = np.int32(z) + np.int32(z * cell_width < x)
            room.cells[e] = np.uint16(k - shift)
        room.starts[i + 1] = np.int64(filled)

    offsets = room.offsets
    one = np.int32(1)
    for t in range(len(folds.tables)):
        part, origin, by_row, by_column, within = folds.tables[t]
        of_rows = folds.rows[part]
        of_columns = folds.columns[part]
        for p in range(width):
            offsets[p] = np.uint64(of_columns[p] * by_column)
        for i in range(height):
            fold = of_rows[i]
            table = counts[origin + fold * by_row :]
            columns = room.columns[room.starts[i] : room.starts[i + 1]]
            cells = room.cells[room.starts[i] : room.starts[i + 1]]
            if within == 1:
                for e in range(len(cells)):
                    p = np.uint64(columns[e])
                    if of_columns[p] == fold:
                        table[offsets[p] + np.uint64(cells[e])] += one
                continue
            # Two places far apart: equal scores side by side would wait for each other.
            half = len(cells) // 2
            front = columns[:half]
            back = columns[half : 2 * half]
            of_front = cells[:half]
            of_back = cells[half : 2 * half]
            for e in range(half):
                table[offsets[np.uint64(front[e])] + np.uint64(of_front[e])] += one
                table[offsets[np.uint64(back[e])] + np.uint64(of_back[e])] += one
            for e in range(2 * half, len(cells)):
                table[offsets[np.uint64(columns[e])] + np.uint64(cells[e])] += one
    return missing, least, largest


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
