"""Tables of impostor counts by cell and by the folds of probe and gallery template."""

from __future__ import annotations

import numba
import numpy as np

from bioeval.kernels import folds as kernel
from bioeval.tallies.by_fold.rows import Rows
from bioeval.tallies.cells import CellGrid

# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30


class FoldTable:
    """Counts impostor scores by cell, and by the folds of both sides or of one.

    The outermost cells of the grid are open; one cell more is for failed comparisons. With
    `within`, pairs across folds are left out.
    """

    def __init__(
        self,
        grid: CellGrid,
        row_fold: np.ndarray,
        fold: np.ndarray,
        folds: int,
        *,
        by_probe: bool = True,
        by_gallery: bool = True,
        within: bool = False,
    ):
        self.grid, self.row_fold, self.fold, self.within = grid, row_fold, fold, within
        self.table = row_fold if by_probe else np.zeros_like(row_fold)
        width = grid.count + 1
        self.offset = (fold * width if by_gallery else np.zeros_like(fold)).astype(np.int32)
        self.shape = (folds if by_probe else 1, folds if by_gallery else 1, width)
        size = (self.shape[0], self.shape[1] * width)
        self.tables = np.zeros((numba.get_num_threads(), *size), dtype=np.int32)
        self.counts = np.zeros(size, dtype=np.int64)
        self.waiting = 0

    def add(self, rows: slice, found: Rows) -> None:
        """Count some rows."""
        values, start, stop, _ = found
        if self.within:
            same = self.row_fold[rows, None] == self.fold
            values = np.where(same, values, values.dtype.type(np.nan))
        room = np.empty((len(self.tables), values.shape[1]), dtype=np.int32)
        kernel.count_by_fold(
            values, start, stop, self.table[rows], self.offset, self.grid.window(values.dtype),
            np.int32(self.grid.count), room, self.tables,
        )  # fmt: skip
        self.waiting += values.size
        if self.waiting > FLUSH:
            self._flush()

    def _flush(self) -> None:
        for table in self.tables:  # several times as fast as a sum over all
            self.counts += table
        self.tables[:] = 0
        self.waiting = 0

    def result(self) -> np.ndarray:
        """Return the counts, shape (folds or 1, folds or 1, cells + 1), failed ones last."""
        self._flush()
        return self.counts.reshape(self.shape)
