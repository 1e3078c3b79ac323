"""A matrix of values: the source of the values, the mask, and the selected rows and columns.

The values stay as they are (never copied, never converted) and are read in blocks of rows. A mask
says which cells are attempts and, without labels, which attempts are genuine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import joined, require_array
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.scores.arrays import RowSource, digest_of_values, read_block, row_source

if TYPE_CHECKING:
    from bioeval.scores.codes import Codes
    from bioeval.scores.embeddings import EmbeddingSource


# Rows, spread over the matrix, whose scores enter a fingerprint.
_ROWS_OF_DIGEST = 16


class ProtocolMask:
    """Mask of a matrix under a protocol, computed for the rows that are read."""

    scores_mask: np.ndarray | None  # of the scores themselves, without what the protocol leaves out
    removed: Any  # read by rows: which cells the protocol leaves out, bool (rows, columns)


@dataclass(eq=False)
class Cells:
    """The cells of a matrix, which are read by rows like an array: the source of most scores.

    - `is_stored`: whether the values are in a container, whose chunks of `row_chunk` rows are
      decompressed when rows are read
    - `streams`: whether each reading of rows computes them from embeddings
    - `in_memory`: whether the values are an array, or a lazy matrix of embeddings
    """

    source: Any  # array, container, embeddings, or lazy matrix of embeddings
    #: Values of :class:`Mask` in the shape of the source, or a :class:`ProtocolMask`; None: all are
    #: attempts.
    mask: Any = None
    rows: np.ndarray | None = None  # int64: the selected rows of the source; None: all
    columns: np.ndarray | None = None

    ndim = 2

    def __post_init__(self) -> None:
        row_count, column_count = self.source.shape
        rows_from = row_source(self.source)
        self.shape = (
            row_count if self.rows is None else len(self.rows),
            column_count if self.columns is None else len(self.columns),
        )
        self.dtype = np.dtype(self.source.dtype)
        self.streams = rows_from is RowSource.EMBEDDINGS
        self.is_stored = rows_from is RowSource.CONTAINER
        self.row_chunk = self.source.chunk_rows if self.is_stored and self.rows is None else 1
        self._is_lazy = rows_from is RowSource.LAZY_MATRIX
        self.are_computed = self.streams or self._is_lazy  # from embeddings, each time or once
        self.in_memory = isinstance(self.source, np.ndarray) or self._is_lazy

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle source, mask and selection; a lazy matrix is pickled as an array."""
        return Cells, (self.source, self.mask, self.rows, self.columns)

    @property
    def base(self) -> Any:
        """The source of the values; a lazy matrix is made now, and kept."""
        return self.source.matrix() if self._is_lazy else self.source

    @property
    def embeddings(self) -> EmbeddingSource | None:
        """The embeddings from which values are computed; None if the values are in memory."""
        if self._is_lazy:
            return self.source.source
        return self.source if self.streams else None

    def require_kind(self, kind: Kind) -> None:
        """Raise :class:`DataError` if the metric of embeddings gives scores of another kind."""
        if self.streams:
            from bioeval.scores.embeddings import kind_of_metric

            kind_of_metric(self.source.metric, kind)

    def read(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the values of rows ``low:high``, with the columns in `order`."""
        return read_block(self.base, self.rows, low, high, composed(self.columns, order))

    def read_mask(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        return read_block(self.mask, self.rows, low, high, composed(self.columns, order))

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
        cells = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(i, kind="stable")
        starts = np.flatnonzero(np.diff(i[order], prepend=-1))
        for places in np.split(order, starts[1:]) if len(order) else ():
            cells[places] = np.asarray(self.base[i[places[0]] : i[places[0]] + 1])[0, j[places]]
        return cells

    def is_ignored(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return which of the cells ``(rows, columns)`` the mask ignores; it must be an array."""
        if self.mask is None:
            return np.zeros(len(rows), dtype=bool)
        return self.mask[composed(self.rows, rows), composed(self.columns, columns)] == Mask.IGNORE

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

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Cells:
        selected_rows = composed(self.rows, rows)
        return Cells(self.source, self.mask, selected_rows, composed(self.columns, columns))

    def masked(self, mask: Any) -> Cells:
        """Return the same values with a mask, perhaps an object that is read by rows."""
        selected = self.rows is not None or self.columns is not None
        return Cells(self if selected else self.source, mask)

    def loaded(self, limit: int) -> Cells:
        """Return a container's values in memory if they take at most `limit` bytes."""
        base = self.source
        size = math.prod(base.shape) * base.dtype.itemsize
        if not self.is_stored or self.rows is not None or size > limit:
            return self
        return replace(self, source=base[:])

    def of_own_columns(self) -> Cells:
        """Return the same cells, for which no other columns are computed or inflated.

        The last digits of distances of embeddings may differ from the distances in a whole row.
        """
        columns = self.columns
        # With most of the columns, little would be saved.
        if columns is None or self.mask is not None or 2 * len(columns) > self.source.shape[1]:
            return self
        if self.embeddings is not None:
            return replace(self, source=self.embeddings.of_columns(columns), columns=None)
        if self.is_stored:
            low = int(columns.min())
            part = self.source.of_columns(low, int(columns.max()) + 1)
            return replace(self, source=part, columns=columns - low)
        return self

    def missing(self, low: int, high: int, failures: bool) -> np.ndarray:
        """Return which cells of rows ``low:high`` are masked or, with `failures`, failed.

        Cells that are left out by the mask of a protocol alone are not missing.
        """
        missing = np.zeros((high - low, self.shape[1]), dtype=bool)
        mask = self.mask.scores_mask if isinstance(self.mask, ProtocolMask) else self.mask
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
        if not isinstance(self.mask, ProtocolMask):
            return np.zeros((len(rows), self.shape[1]), dtype=bool)
        cells = self.mask.removed[composed(self.rows, rows)]
        return cells if self.columns is None else cells[:, self.columns]


def composed(selection: np.ndarray | None, index: Any) -> Any:
    """Return ``selection[index]``, where None selects everything."""
    if selection is None:
        return index
    return selection if index is None else selection[index]


# -------------------------------------------------------------------------------------------- masks


class Mask:
    """Values of a mask."""

    IGNORE, IMPOSTOR, GENUINE = 0, 1, 2


def as_mask(mask: Any, shape: tuple[int, int], codes: Codes | None) -> np.ndarray:
    """Return a checked mask as uint8; in a boolean mask, `codes` decide which are genuine."""
    array = require_array("mask", joined(mask, "mask", 2))
    if array.shape != shape:
        hint = ": is it transposed? Give mask.T" if array.shape == shape[::-1] else ""
        raise DataError(f"mask has shape {array.shape}; expected {shape}, as the scores{hint}")
    if array.dtype == bool:
        attempts = array
        if codes is None:
            raise DataError(
                "mask is boolean, which says where attempts are and not which are genuine; give "
                "labels, or integers 0 (ignore), 1 (impostor) and 2 (genuine)"
            )
        if not attempts.any():
            raise DataError("mask is False everywhere; expected True where there is an attempt")
        array = np.zeros(shape, np.uint8)
        for row, is_attempt in enumerate(attempts):
            genuine = codes.gallery[is_attempt] == codes.probe[row]
            array[row, is_attempt] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    if array.dtype.kind not in "iu":
        raise DataError(
            f"mask has dtype {array.dtype}; expected booleans (True: an attempt), or integers 0 "
            "(ignore), 1 (impostor) and 2 (genuine)"
        )
    if array.min() < 0 or array.max() > 2:
        wrong = (array < 0) | (array > 2)
        place = np.unravel_index(int(np.argmax(wrong)), shape)
        raise DataError(
            f"mask has {int(wrong.sum())} values other than 0 (ignore), 1 (impostor) and 2 "
            f"(genuine), the first is {array[place]} at row {place[0]}, column {place[1]}"
        )
    return array.astype(np.uint8, copy=False)


def subjects_of_mask(mask: np.ndarray, square: bool) -> tuple[tuple[np.ndarray, np.ndarray], bool]:
    """Return subjects of the probes and of the gallery, and whether they are consistent.

    Templates that genuine cells connect have one subject; the subjects are inconsistent if two of
    its templates meet in an impostor cell. In a square matrix, row ``i`` and column ``i`` are the
    same template.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_count, column_count = mask.shape
    i, j = np.nonzero(mask == Mask.GENUINE)
    if square:
        i = np.append(i, np.arange(row_count))
        j = np.append(j, np.arange(row_count))
    graph = coo_matrix(
        (np.ones(len(i), dtype=np.int8), (i, row_count + j)),
        shape=(row_count + column_count, row_count + column_count),
    )
    _, subject = connected_components(graph, directed=False)
    gallery = subject[row_count:].astype(np.int64)
    probe = subject[:row_count].astype(np.int64) if not square else gallery
    is_consistent = not any(
        (mask[row, gallery == probe[row]] == Mask.IMPOSTOR).any() for row in range(row_count)
    )
    return (probe, gallery), is_consistent
