"""A column of numbers that grows as a file is read; a long one lies in a temporary file."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import numpy as np

from bioeval.base.errors import DataError

#: Bytes of a column that are held in memory; more are written to a temporary file and mapped.
MOST_BYTES = 1 << 25

#: Values of a column that are worked on together.
PIECE = 1 << 21


class GrowingColumn:
    """Numbers of one type, appended piece by piece."""

    def __init__(self, dtype: Any):
        self._dtype = np.dtype(dtype)
        self._parts: list[np.ndarray] = []
        self._file: Any = None
        self._waiting = 0
        self._count = 0
        self._array: np.ndarray | None = None

    def __len__(self) -> int:
        return self._count

    def append(self, values: np.ndarray) -> None:
        """Append values, which must be kept as they are by whoever gives them."""
        values = np.ascontiguousarray(values, dtype=self._dtype)
        self._parts.append(values)
        self._count += len(values)
        self._waiting += values.nbytes
        if self._waiting > MOST_BYTES:
            self._spool()

    def _spool(self) -> None:
        folder = tempfile.gettempdir()
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - mapped by `array`
            for part in self._parts:
                self._file.write(part)
            self._file.flush()
        except OSError as error:
            raise DataError(
                f"what is read is kept in a temporary file in {folder}, which failed: "
                f"{error.strerror or error}; name a folder with room in TMPDIR"
            ) from error
        self._parts, self._waiting = [], 0

    def array(self) -> np.ndarray:
        """Return all values; of a long column, mapped from a temporary file without a name."""
        if self._array is None:
            if self._file is None:
                self._array = np.concatenate([np.empty(0, self._dtype), *self._parts])
            else:
                self._spool()
                self._array = np.memmap(self._file, self._dtype, "r+", shape=(self._count,))
                self._file.close()
            self._parts = []
        return self._array


def taken(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some values of a column: by their places, or as a choice in pieces."""
    if rows.dtype != bool or len(column) <= PIECE:
        return column[rows]
    found = GrowingColumn(column.dtype)
    for low in range(0, len(column), PIECE):
        found.append(column[low : low + PIECE][rows[low : low + PIECE]])
    release(column)
    return found.array()


def release(*columns: np.ndarray) -> None:
    """Give back the memory of mapped columns that were read; they are read again when needed."""
    for column in columns:
        base: Any = column
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)
