"""Verification, also in folds: impostor scores by cell and up to thresholds; their moments.

The loops of verification and of folds count scores in cells, whose edges follow the spacing of
float32. A tile is C-contiguous, float32 or float64, with NaN where there is no impostor attempt.
The key of a score is a whole number: the bits of its float32 difference from a centre, so changed
that keys are in the order of the scores. A cell is a range of keys. Cells do not depend on the
scores, so that counts of tiles can be added.
"""

import numpy as np

from bioeval.kernels.compiling import called_by_loops, compiled

# The largest float32.
LARGEST = np.float32(3.4028235e38)

# The bits of an infinite float32.
_INFINITY = 0x7F800000

#: The first key of all cells, a step below the key of minus infinity.
LEAST = -_INFINITY - 1

#: The distance of the key of infinity from the first key.
SPAN = 2 * _INFINITY + 1


@called_by_loops
def find_cells(row, centre, window, rounded, cell):
    """Write the cell of each score of a row; `rounded` is room for as many float32.

    ::

        for j, x in enumerate(row):
            key = the bits of float32(x - centre), as a whole number in the order of the floats
            cell[j] = min(max(key - 1, low) - low >> shift, width)
            if x is NaN:
                cell[j] = width + 1

    - `window` (low, shift, width): the key from which cells begin, the number of low bits that the
      keys of a cell differ in, and the number of cells; keys below `low` are in the first cell,
      keys above all cells in cell ``width``, and NaN in cell ``width + 1``

    A cell includes its upper edge and not its lower one; a float64 is rounded up.
    """
    low, shift, width = window
    for j in range(len(row)):
        difference = row[j] - centre
        if row.itemsize > 4:  # finite scores stay finite
            too_large = LARGEST < abs(difference) < np.inf
            difference = np.copysign(LARGEST, difference) if too_large else difference
        rounded[j] = np.float32(difference) + np.float32(0)  # no zero has a sign
    bits = rounded.view(np.int32)
    # Every step is cast to 32 bits, since numba would widen it to 64.
    for j in range(len(row)):
        # Sign and magnitude to a whole number in the order of the floats.
        key = bits[j]
        key = key if key >= 0 else np.int32(-np.int32(key & np.int32(0x7FFFFFFF)))
        # A score on the upper edge is in the cell below, unless it is a float64 above this edge,
        # rounded down.
        step = np.int32(1)
        if row.itemsize > 4:
            difference = row[j] - centre
            step = np.int32(not np.float64(rounded[j]) < difference < np.inf)
        key = max(np.int32(key - step), low)
        index = min(np.uint32(np.uint32(key) - np.uint32(low)) >> shift, width)
        cell[j] = index if row[j] == row[j] else width + np.uint32(1)


@compiled
def cells_of(values, centre, window, cell):
    """Write the cell of each value into `cell` (uint32); see :func:`find_cells`."""
    find_cells(values, centre, window, np.empty(len(values), np.float32), cell)


@compiled
def count_and_keep(tile, centre, window, table, flags, thresholds, first, weight, counts, kept):
    """Count the scores of a tile by cell, and the scores of flagged cells by thresholds.

    ::

        for x in tile:
            k = the cell of x
            table[k] += weight
            if flags[k] has bit 1:
                kept.append(x)
            if flags[k] has bit 0:
                m = the first threshold that is not below x
                counts[0, m] += weight
                counts[1, m] += weight if thresholds[m] == x else 0

    - `window`: see :func:`find_cells`
    - `table` (int32 (n,), of all cells): added to; each score counts `weight` times
    - `flags` (uint8 (n,)): bit 0 for cells with thresholds, bit 1 for cells whose scores are kept;
      no other bits, so that ``flags >> 1`` is the number of scores to keep, 0 or 1
    - `thresholds`: increasing scores with infinity at the end
    - `first` (int32 (n + 1,)): the number of thresholds in the cells before each cell
    - `counts` (int64 (2, thresholds)): added to: scores up to each threshold and above the
      threshold before, and scores equal to the threshold
    - `kept`: room for all scores of the tile, and one more; the number of kept scores is returned
    """
    width = tile.shape[1]
    rounded = np.empty(width, np.float32)
    cell = np.empty(width, np.uint32)
    column = np.empty(width + 1, np.int32)
    kept_scores = 0
    for i in range(tile.shape[0]):
        row = tile[i]
        find_cells(row, centre, window, rounded, cell)
        flagged = 0
        for j in range(width):
            k = cell[j]
            table[k] += weight
            # Always written, kept only if the cell has a flag: no branch, so that it is fast.
            column[flagged] = j
            flagged += flags[k] != 0
        for j in range(flagged):
            x = row[column[j]]
            k = cell[column[j]]
            flag = flags[k]
            kept[kept_scores] = x
            kept_scores += flag >> 1
            if flag & 1:
                threshold = first[k]
                end = first[k + 1]
                while end - threshold > 8:  # many thresholds are close together
                    middle = (threshold + end) >> 1
                    if thresholds[middle] < x:
                        threshold = middle + 1
                    else:
                        end = middle
                while thresholds[threshold] < x:
                    threshold += 1
                counts[0, threshold] += weight
                if thresholds[threshold] == x:
                    counts[1, threshold] += weight
    return kept_scores


#: Scaled scores from here on are left out of sums: their squares might overflow.
TOO_LARGE = 2.0**300

#: Partial sums that are added to side by side, in the same order on any processor.
LANES = 16


@compiled
def add_moments(tile, centre, scale, sums):
    """Add numbers of finite and infinite scores, and sums of scores and of squares.

    ::

        for x in tile:
            y = (x - centre) * scale
            if abs(y) < TOO_LARGE:
                sums[:3] += 1, y, y**2
            sums[3] += x == inf

    `scale` is a power of two. Larger scores are left out of the sums: half the largest
    difference of such a score from the centre is returned, or 0.
    """
    width = tile.shape[1]
    end_of_lanes = width - width % LANES
    origin = centre * scale
    total = np.zeros(LANES)
    squares = np.zeros(LANES)
    number = 0
    infinite = 0
    not_summed = 0
    half_farthest = 0.0
    for i in range(tile.shape[0]):
        row = tile[i]
        for start in range(0, end_of_lanes, LANES):
            part = row[start : start + LANES]
            for j in range(LANES):
                x = np.float64(part[j]) * scale - origin
                is_summed = abs(x) < TOO_LARGE
                x = x if is_summed else 0.0
                number += is_summed
                total[j] += x
                squares[j] += x * x
        for j in range(end_of_lanes, width):
            x = np.float64(row[j]) * scale - origin
            if abs(x) < TOO_LARGE:
                number += 1
                total[0] += x
                squares[0] += x * x
        # Rarely, scores of the row were not summed. Infinities and NaN are counted first; only if
        # scores are still missing, finite scores that are too large are looked for.
        if number + infinite + not_summed < (i + 1) * width:
            for j in range(width):
                infinite += row[j] == np.inf
                not_summed += (row[j] != row[j]) | (row[j] == -np.inf)
        if number + infinite + not_summed < (i + 1) * width:
            for j in range(width):
                x = np.float64(row[j])
                if abs(x) < np.inf and not abs(x * scale - origin) < TOO_LARGE:
                    half_farthest = max(half_farthest, abs(x / 2 - centre / 2))
                    not_summed += 1
    sums[0] += number
    sums[1] += total.sum()
    sums[2] += squares.sum()
    sums[3] += infinite
    return half_farthest


@called_by_loops
def keep_of_row(row, cell, wanted, i, kept, scores, rows, columns):
    """Append the scores of row `i` in wanted cells after `kept` scores; return the number then."""
    end = kept
    for j in range(len(cell)):
        columns[end] = j
        end += wanted[cell[j]]
    for k in range(kept, end):
        scores[k] = row[columns[k]]
        rows[k] = i
    return end


@compiled
def count_by_fold(
    tile, centre, window, row_fold, column_fold, table, wanted, scores, rows, columns
):
    """Count scores by cell and by the folds of row and column; keep scores in wanted cells.

    ::

        for i, j, x in tile:
            for p in divisions:
                table[p, row_fold[p, i], column_fold[p, j], cell of x] += 1
            if wanted[cell of x]:
                scores.append(x), rows.append(i), columns.append(j)

    The number of kept scores is returned.

    - `window`: see :func:`find_cells`
    - `row_fold` (int16 (p, h)), `column_fold` (int16 (p, w)): the folds of p divisions
    - `table` (int32 (p, folds, folds, cells)): added to
    - `wanted` (bool (cells,))
    - `scores`, `rows`, `columns`: room for all scores of the tile, and one more
    """
    rounded = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    width = column_fold.shape[1]
    kept = 0
    for i in range(row_fold.shape[1]):
        row = tile[i]
        find_cells(row, centre, window, rounded, cell)
        for p in range(row_fold.shape[0]):
            row_table = table[p, row_fold[p, i]]
            column = column_fold[p]
            for j in range(len(column)):
                row_table[column[j], cell[j]] += 1
        kept = keep_of_row(row, cell[:width], wanted, i, kept, scores, rows, columns)
    return kept


@compiled
def keep_wanted(tile, centre, window, wanted, sizes, scores, rows, columns):
    """Write the scores in wanted cells, with row and column; return their number.

    ::

        for i, j, x in tile, without padding:
            if wanted[cell of x]:
                scores.append(x), rows.append(i), columns.append(j)

    - `sizes`: the numbers of rows and of columns without padding
    """
    rounded = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    kept = 0
    for i in range(sizes[0]):
        row = tile[i]
        find_cells(row, centre, window, rounded, cell)
        kept = keep_of_row(row, cell[: sizes[1]], wanted, i, kept, scores, rows, columns)
    return kept
