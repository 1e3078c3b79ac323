"""Folds: scores of a tile counted by the folds of both templates; few of them are kept."""

import numpy as np

from bioeval.kernels.cells import find_cells
from bioeval.kernels.compiling import compiled


@compiled
def count_by_fold(tile, centre, cells, row_fold, column_fold, table, wanted, scores, rows, columns):
    """Count scores by cell and by the folds of row and column; keep scores in wanted cells.

    ::

        for i, j, x in tile:
            for p in divisions:
                table[p, row_fold[p, i], column_fold[p, j], cell of x] += 1
            if wanted[cell of x]:
                scores.append(x), rows.append(i), columns.append(j)

    The number of kept scores is returned.

    - `cells`: see :func:`bioeval.kernels.cells.find_cells`
    - `row_fold` (int16 (p, h)), `column_fold` (int16 (p, w)): of each division
    - `table` (int32 (p, folds, folds, cells)): added to
    - `wanted` (bool (cells,))
    - `scores`, `rows`, `columns`: room for as many as the tile has, and one more
    """
    rounded = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    number = 0
    for i in range(row_fold.shape[1]):
        row = tile[i]
        find_cells(row, centre, cells, rounded, cell)
        for p in range(row_fold.shape[0]):
            mine = table[p, row_fold[p, i]]
            column = column_fold[p]
            for j in range(len(column)):
                mine[column[j], cell[j]] += 1
        first = number
        for j in range(column_fold.shape[1]):
            columns[number] = j
            number += wanted[cell[j]]
        for k in range(first, number):
            scores[k] = row[columns[k]]
            rows[k] = i
    return number


@compiled
def keep_wanted(tile, centre, cells, wanted, heights, scores, rows, columns):
    """Write the scores in wanted cells, with row and column; return their number.

    ::

        for i, j, x in tile, without padding:
            if wanted[cell of x]:
                scores.append(x), rows.append(i), columns.append(j)

    - `heights`: the numbers of rows and columns that are no padding
    """
    rounded = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    number = 0
    for i in range(heights[0]):
        row = tile[i]
        find_cells(row, centre, cells, rounded, cell)
        first = number
        for j in range(heights[1]):
            columns[number] = j
            number += wanted[cell[j]]
        for k in range(first, number):
            scores[k] = row[columns[k]]
            rows[k] = i
    return number
