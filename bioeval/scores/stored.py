"""Matrices that are read by rows from a file, in chunks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalError, DataError
from bioeval.scores.row_source import RowSource


@dataclass(frozen=True, eq=False)
class _KeptRows:
    """Consecutive rows of a matrix in memory, by their numbers in the matrix."""

    first: int
    values: np.ndarray

    @property
    def stop(self) -> int:
        return self.first + len(self.values)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.values[rows.start - self.first : rows.stop - self.first]


class StoredRows:
    """A matrix of a zarr or HDF5 container, read by rows like an array.

    Whole chunks are read, and the rows that were read last are kept, so that a pass over all rows
    inflates each chunk once.

    - `array` (array of a library): has ``shape``, ``dtype``, ``chunks`` (or None), and is read by
      slices of rows
    - `input_name` (str): name in messages; by default the file and the name of the array
    """

    ndim = 2
    row_source = RowSource.CONTAINER

    def __init__(self, array: Any, input_name: str = ""):
        self.array = array
        self.input_name = input_name or _described(array)
        self.shape = tuple(array.shape)
        self.dtype = np.dtype(array.dtype)
        # The rows and columns of a chunk.
        chunks: tuple[int, int] = getattr(array, "chunks", None) or (1, self.shape[1])
        self.chunk_rows, self.chunk_columns = chunks
        self._lock = Lock()
        self._kept = _KeptRows(0, np.empty((0, self.shape[1]), self.dtype))  # read last

    def __getstate__(self) -> dict[str, Any]:
        array = self.array
        if _library(array) == "h5py":
            file = array.file.filename  # other drivers have names that are no paths
            array = _Dataset(os.path.abspath(file) if os.path.exists(file) else file, array.name)
        return {"array": array, "input_name": self.input_name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array = state["array"]
        if isinstance(array, _Dataset):
            array = array.opened()
        self.__init__(array, state["input_name"])  # type: ignore[misc]

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            low, high, _ = rows.indices(self.shape[0])
            return self._rows(low, max(low, high))
        index = np.arange(self.shape[0])[rows]
        if not index.size:
            return self._rows(0, 0)
        distinct_rows, place = np.unique(index, return_inverse=True)
        # A run of rows is read at once: rows in the same chunk or, without chunks, adjacent rows.
        chunk = (
            distinct_rows // self.chunk_rows
            if self.chunk_rows > 1
            else distinct_rows - np.arange(len(distinct_rows))
        )
        runs = np.split(distinct_rows, np.flatnonzero(np.diff(chunk)) + 1)
        parts = [
            self._rows(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs if len(run)
        ]
        return np.concatenate(parts)[place.reshape(index.shape)]

    def of_columns(self, low: int, high: int) -> StoredRows:
        """Return columns ``low:high``, reading only their chunks."""
        return StoredRows(_Columns(self, low, high), self.input_name)

    def _rows(self, low: int, high: int) -> np.ndarray:
        with self._lock:
            kept = self._kept
            if kept.first <= low and high <= kept.stop:
                return kept[low:high]
            rows = self._read_on(kept, low, high)
            # The whole matrix is not kept twice: the caller has it.
            is_whole = high - low == self.shape[0]
            self._kept = _KeptRows(0, rows.values[:0]) if is_whole else rows
            return rows[low:high]

    def _read_on(self, kept: _KeptRows, low: int, high: int) -> _KeptRows:
        """Read rows ``low:high`` to the end of their chunk, but no row that is kept already."""
        stop = min(-(-high // self.chunk_rows) * self.chunk_rows, self.shape[0])
        if kept.first <= low < kept.stop:
            new_rows = self._read(kept.stop, stop)
            return _KeptRows(low, np.concatenate([kept[low : kept.stop], new_rows]))
        first = low - low % self.chunk_rows
        return _KeptRows(first, self._read(first, stop))

    def _read(self, low: int, high: int) -> np.ndarray:
        try:
            return np.asarray(self.array[low:high])
        except (BioevalError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of any class on damaged bytes
            raise self._blamed(error, low, high) from error

    def _blamed(self, error: Exception, low: int, high: int) -> DataError:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        place = low, high, 0, self.shape[1]
        for first_row, end_row in _spans(low, high, self.chunk_rows):
            for first_column, end_column in _spans(0, self.shape[1], self.chunk_columns):
                try:
                    self.array[first_row:end_row, first_column:end_column]
                except Exception:
                    place = first_row, end_row, first_column, end_column
                    break
        first_row, end_row, first_column, end_column = place
        return DataError(
            f"{self.input_name}: rows {first_row}..{end_row - 1}, columns "
            f"{first_column}..{end_column - 1} cannot be read ({reason}); write the scores again"
        )


def _spans(low: int, high: int, size: int) -> list[tuple[int, int]]:
    return [*pairwise([*range(low, high, size), high])]


class _Columns:
    """Consecutive columns of an array in a container."""

    def __init__(self, rows: StoredRows, low: int, high: int):
        self.rows = rows
        self.low = low
        self.shape = (rows.shape[0], high - low)
        self.dtype = rows.dtype
        self.chunks = (rows.chunk_rows, high - low)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        first, last, _ = columns.indices(self.shape[1])
        return np.asarray(self.rows.array[rows, self.low + first : self.low + last])


class _Dataset:
    """A dataset of an HDF5 file, identified by file and name."""

    def __init__(self, file: str, name: str):
        self.file = file
        self.name = name

    def opened(self) -> Any:
        import h5py

        return h5py.File(self.file, "r")[self.name]


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _described(array: Any) -> str:
    if _library(array) == "h5py":
        return f"{array.file.filename}: {array.name.lstrip('/')!r}"
    if _library(array) == "zarr":
        return str(array.store_path)
    return f"the {_library(array)} array of scores"
