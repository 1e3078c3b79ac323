"""A column of numbers that grows as a file is read; a long column is kept in a temporary file."""

from __future__ import annotations

import mmap
import tempfile
from typing import Any

import numpy as np

from bioeval.base.errors import DataError

#: Bytes of a column that are held in memory; more are written to a temporary file and mapped.
MOST_BYTES = 1 << 25

#: Values of a column that are worked on together, so few that their memory is taken but once.
PIECE = 1 << 17


class GrowingColumn:
    """Numbers of one type, appended piece by piece."""

    def __init__(self, dtype: Any):
        self._held = np.empty(0, dtype)
        self._waiting = self._written = 0
        self._file: Any = None
        self._array: np.ndarray | None = None

    def __len__(self) -> int:
        return self._written + self._waiting

    def append(self, values: np.ndarray) -> None:
        """Append a copy of values."""
        most = MOST_BYTES // self._held.itemsize
        if self._waiting + len(values) > len(self._held):
            self._spool()
            if len(values) > len(self._held):
                # The system gives the memory as it is filled, and not at once.
                self._held = np.empty(max(most, len(values)), self._held.dtype)
        self._held[self._waiting : self._waiting + len(values)] = values
        self._waiting += len(values)
        if self._waiting > most:
            self._spool()

    def _spool(self) -> None:
        if not self._waiting:
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - mapped by `array`
            self._file.write(self._held[: self._waiting])
            self._file.flush()
        except OSError as error:
            raise DataError(
                "the data could not be written to a temporary file in "
                f"{tempfile.gettempdir()}: {error.strerror or error}; name a folder with room "
                "in TMPDIR"
            ) from error
        self._written, self._waiting = len(self), 0

    def array(self) -> np.ndarray:
        """Return all values; a long column is mapped from a temporary file without a name."""
        if self._array is None:
            if self._file is None:
                self._held.resize(self._waiting, refcheck=False)
                self._array = self._held
            else:
                self._spool()
                shape = (self._written,)
                self._array = np.memmap(self._file, self._held.dtype, "r+", shape=shape)
                self._file.close()
            self._held = np.empty(0, self._held.dtype)
        return self._array


def taken(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some values of a column, by their places or by a boolean selection in pieces."""
    if rows.dtype != bool or len(column) <= PIECE:
        return column[rows]
    found = GrowingColumn(column.dtype)
    for low in range(0, len(column), PIECE):
        found.append(column[low : low + PIECE][rows[low : low + PIECE]])
    release(column)
    return found.array()


def release(*columns: np.ndarray) -> None:
    """Release the memory of mapped columns; they are read again when needed."""
    for column in columns:
        base: Any = column
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)
