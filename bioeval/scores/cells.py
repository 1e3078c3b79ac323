"""The cells of a matrix of scores: values and mask, read in blocks of rows.

The values stay as they are (never copied, never converted), in memory, in chunks of a file, or
computed from embeddings. A mask says which cells are attempts and, without labels, which attempts
are genuine. A selection of rows and columns is a view, and a selection of a selection one, too::

    cells.select([5, 3, 8], None).select([0, 2], [4])   is   cells.select([5, 8], [4])
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.digests import digest_of_values
from bioeval.base.kinds import Kind
from bioeval.scores.embeddings import EmbeddingSource, LazyMatrix
from bioeval.scores.masks import Mask
from bioeval.scores.stored import StoredRows

# Rows, spread over the matrix, whose scores enter a fingerprint.
_ROWS_OF_DIGEST = 16


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a matrix, which are read by rows like an array: the source of most scores.

    The values are in `source`, of the selected `rows` and `columns`:

    - an array, perhaps a memory map, or a :class:`LazyMatrix`, which is made when it is first read:
      these are `in_memory`
    - :class:`StoredRows` (`is_stored`): a file, whose chunks of `row_chunk` rows are decompressed
      when rows are read
    - :class:`EmbeddingSource` (`streams`): each reading of rows computes them
    - another object that is read by rows, such as the cells that another mask is laid on
    """

    source: Any
    #: Values of :class:`Mask` in the shape of the source; None: all are attempts. The mask of a
    #: protocol is read by rows, and has `scores_mask`, the mask of the scores themselves, and
    #: `removed`, which cells the protocol leaves out.
    mask: Any = None
    rows: np.ndarray | None = None  # int64: the selected rows of the source; None: all
    columns: np.ndarray | None = None

    ndim = 2

    @cached_property
    def shape(self) -> tuple[int, int]:
        row_count, column_count = self.source.shape
        return (
            row_count if self.rows is None else len(self.rows),
            column_count if self.columns is None else len(self.columns),
        )

    @cached_property
    def dtype(self) -> np.dtype:
        return np.dtype(self.source.dtype)

    @property
    def in_memory(self) -> bool:
        return isinstance(self.source, np.ndarray | LazyMatrix)

    @property
    def is_stored(self) -> bool:
        return isinstance(self.source, StoredRows)

    @property
    def streams(self) -> bool:
        return isinstance(self.source, EmbeddingSource)

    @property
    def row_chunk(self) -> int:
        return self.source.chunk_rows if self.is_stored and self.rows is None else 1

    @property
    def base(self) -> Any:
        """The source of the values; a lazy matrix is made now, and kept."""
        return self.source.made() if isinstance(self.source, LazyMatrix) else self.source

    @property
    def embeddings(self) -> EmbeddingSource | None:
        """The embeddings from which values are computed; None if the values are in memory."""
        if isinstance(self.source, LazyMatrix):
            return None if self.source.is_made else self.source.embeddings
        return self.source if self.streams else None

    def require_kind(self, kind: Kind) -> None:
        """Raise :class:`DataError` if the metric of embeddings gives scores of another kind."""
        if self.streams:
            self.source.require_kind(kind)

    # ---------------------------------------------------------------------------------- values

    def read(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the values of rows ``low:high``, with the columns in `order`."""
        return read_block(self.base, self.rows, low, high, composed(self.columns, order))

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            return self.read(*rows.indices(self.shape[0])[:2])
        index = composed(self.rows, np.arange(self.shape[0])[rows])
        return read_block(self.base, index, 0, len(index), self.columns)

    def values(self) -> np.ndarray:
        """Return the values as an array; of a selection, a copy of the selected cells."""
        if self.rows is None and self.columns is None:
            return self.base if self.in_memory else np.asarray(self.base[:])
        return self.read(0, self.shape[0])

    def read_cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        i = composed(self.rows, rows)
        j = composed(self.columns, columns)
        if self.in_memory:
            return self.base[i, j]
        # Each row is read once, for all of its cells.
        cells = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(i, kind="stable")
        starts = np.flatnonzero(np.diff(i[order], prepend=-1))
        for places in np.split(order, starts)[1:]:
            row = i[places[0]]
            cells[places] = np.asarray(self.base[row : row + 1])[0, j[places]]
        return cells

    def digest(self, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> str:
        """Return a digest of the values of some rows, which are spread over the matrix.

        Each row has the scores of all gallery templates, so that another template changes it. Masks
        do not count, since the protocol decides what is left out.
        """
        row_count = self.shape[0]
        if not row_count:
            return digest_of_values([])
        rows = np.unique(np.linspace(0, row_count - 1, _ROWS_OF_DIGEST).astype(np.int64))
        if (source := self.embeddings) is not None:  # reading a row would compute a whole tile
            values = source.of_rows(composed(self.rows, rows))
            values = values if self.columns is None else values[:, self.columns]
        elif self.in_memory:
            values = read_block(self.base, composed(self.rows, rows), 0, len(rows), self.columns)
        else:
            values = np.stack([self.read(row, row + 1)[0] for row in rows.tolist()])
        is_itself = probe_ids[rows][:, None] == gallery_ids
        return digest_of_values([np.where(is_itself, values.dtype.type(0), values)])

    # ----------------------------------------------------------------------- parts and masks

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Cells:
        selected_rows = composed(self.rows, rows)
        return Cells(self.source, self.mask, selected_rows, composed(self.columns, columns))

    def masked(self, mask: Any) -> Cells:
        """Return the same values with a mask, perhaps an object that is read by rows."""
        selected = self.rows is not None or self.columns is not None
        return Cells(self if selected else self.source, mask)

    def read_mask(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        return read_block(self.mask, self.rows, low, high, composed(self.columns, order))

    def is_ignored(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return which of the cells ``(rows, columns)`` the mask ignores; it must be an array."""
        if self.mask is None:
            return np.zeros(len(rows), dtype=bool)
        return self.mask[composed(self.rows, rows), composed(self.columns, columns)] == Mask.IGNORE

    def missing(self, low: int, high: int, failures: bool) -> np.ndarray:
        """Return which cells of rows ``low:high`` are masked or, with `failures`, failed.

        Cells that are left out by the mask of a protocol alone are not missing.
        """
        missing = np.zeros((high - low, self.shape[1]), dtype=bool)
        mask = getattr(self.mask, "scores_mask", self.mask)
        if mask is not None:
            missing |= read_block(mask, self.rows, low, high, self.columns) == Mask.IGNORE
        if not failures:
            return missing
        source = self.embeddings
        failed = None if source is None else source.failed
        if failed is not None:
            probe = failed[0][composed(self.rows, np.arange(low, high))]
            gallery = failed[1] if self.columns is None else failed[1][self.columns]
            return missing | probe[:, None] | gallery
        return missing | np.isnan(self.read(low, high))

    def removed(self, rows: np.ndarray) -> np.ndarray:
        """Return which cells of some rows the mask of a protocol leaves out."""
        if not hasattr(self.mask, "removed"):
            return np.zeros((len(rows), self.shape[1]), dtype=bool)
        cells = self.mask.removed(composed(self.rows, rows))
        return cells if self.columns is None else cells[:, self.columns]


def composed(selection: np.ndarray | None, index: Any) -> Any:
    """Return ``selection[index]``, where None selects everything."""
    if selection is None:
        return index
    return selection if index is None else selection[index]


def read_block(
    base: Any, rows: np.ndarray | None, low: int, high: int, columns: np.ndarray | None
) -> np.ndarray:
    """Return rows ``low:high`` of a selection of an array, a stored array or embeddings."""
    if rows is None:
        block = np.asarray(base[low:high])
    elif isinstance(base, np.ndarray):
        # Few columns are picked cell by cell; many columns are faster as whole rows.
        if columns is not None and 2 * len(columns) < base.shape[1]:
            return base[np.ix_(rows[low:high], columns)]
        block = base[rows[low:high]]
    else:
        # Each computed or stored row is read once.
        distinct_rows, place = np.unique(rows[low:high], return_inverse=True)
        block = np.asarray(base[distinct_rows])[place.reshape(-1)]
    if columns is None:
        return block
    return np.take(block, columns, axis=1)
