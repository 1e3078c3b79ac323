"""Folds: scores of a tile, counted by the folds of both templates; a few scores are kept."""

import numpy as np

from bioeval.kernels.compiling import compiled
from bioeval.kernels.verification import find_cells


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

    - `window`: see :func:`bioeval.kernels.verification.find_cells`
    - `row_fold` (int16 (p, h)), `column_fold` (int16 (p, w)): the folds of p divisions
    - `table` (int32 (p, folds, folds, cells)): added to
    - `wanted` (bool (cells,))
    - `scores`, `rows`, `columns`: room for all scores of the tile, and one more
    """
    rounded = np.empty(tile.shape[1], np.float32)
    cell = np.empty(tile.shape[1], np.uint32)
    kept = 0
    for i in range(row_fold.shape[1]):
        row = tile[i]
        find_cells(row, centre, window, rounded, cell)
        for p in range(row_fold.shape[0]):
            row_table = table[p, row_fold[p, i]]
            column = column_fold[p]
            for j in range(len(column)):
                row_table[column[j], cell[j]] += 1
        kept_before = kept
        for j in range(column_fold.shape[1]):
            columns[kept] = j
            kept += wanted[cell[j]]
        for k in range(kept_before, kept):
            scores[k] = row[columns[k]]
            rows[k] = i
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
        kept_before = kept
        for j in range(sizes[1]):
            columns[kept] = j
            kept += wanted[cell[j]]
        for k in range(kept_before, kept):
            scores[k] = row[columns[k]]
            rows[k] = i
    return kept
