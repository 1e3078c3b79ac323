"""Counting the scores of a tile by the folds of both templates, and keeping some of them."""

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.cells import find_cells
from bioeval.kernels.compiling import compiled


@register_jitable
def find_wide_cells(row, centre, low, shift, width, line, cell):
    """Write the wide cell of each score: of 2 to the power `shift` cells, from cell `low` on.

    The first and the last but one hold whatever is beyond them, the last one NaN.
    """
    find_cells(row, centre, line, cell)
    for j in range(len(row)):
        k = (np.int64(cell[j]) - low) >> shift
        k = min(max(k, 0), width - 2)
        cell[j] = k if row[j] == row[j] else width - 1


@compiled
def count_by_fold(tile, centre, cells, row_fold, column_fold, by_row, by_column, within):
    """Add scores to tables by the fold of the row, by that of the column, and by one of both.

    - `cells`: the first cell, the bits that are left out, and the number of wide cells
    - `row_fold` (int64 (p, h)), `column_fold` (int64 (p, w)): of each division
    - `by_row`, `by_column`, `within` (int64 (p, folds, wide cells)): added to
    """
    low, shift, width = cells
    line = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    for i in range(row_fold.shape[1]):
        find_wide_cells(tile[i], centre, low, shift, width, line, cell)
        for p in range(row_fold.shape[0]):
            own = row_fold[p, i]
            mine = by_row[p, own]
            same = within[p, own]
            columns = column_fold[p]
            for j in range(len(columns)):
                mine[cell[j]] += 1
                by_column[p, columns[j], cell[j]] += 1
                same[cell[j]] += columns[j] == own


@compiled
def keep_wanted(tile, centre, cells, wanted, heights, scores, rows, columns):
    """Write the scores in wanted wide cells, with row and column; return their number.

    - `heights`: the numbers of rows and columns that are no padding
    """
    low, shift, width = cells
    line = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    number = 0
    for i in range(heights[0]):
        row = tile[i]
        find_wide_cells(row, centre, low, shift, width, line, cell)
        for j in range(heights[1]):
            scores[number] = row[j]
            rows[number] = i
            columns[number] = j
            number += wanted[cell[j]]
    return number
