"""Matrices in files, of which rows are read when they are needed.

:class:`StoredRows` reads an array of zarr or of HDF5, or a :class:`NpyMatrix`, by rows like an
array: ``rows[10:20]`` or ``rows[[3, 7]]``. :func:`rows_of_map` turns a memory map into such rows.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import weakref
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalError, DataError
from bioeval.base.files import WatchedFile

#: Libraries whose arrays are read in blocks of rows.
LIBRARIES = ("zarr", "h5py")

# A chunk of a .npy file in the order of columns takes at most this number of bytes.
_CHUNK = 16 << 20

# Lines of a memory map that are compared with its file, spread over the matrix.
_COMPARED_LINES = 16


def library_of(values: Any) -> str:
    """Return the library that an array is of, such as "zarr"."""
    return type(values).__module__.partition(".")[0]


def is_stored(values: Any) -> bool:
    """Whether values are an array that a library keeps in chunks."""
    return isinstance(values, StoredRows) or library_of(values) in LIBRARIES


class StoredRows:
    """A matrix of a zarr or HDF5 container or of a .npy file, read by rows like an array.

    Whole chunks are read, and the rows that were read last are kept, so that a pass over all rows
    inflates each chunk once. A file that changes after the matrix was opened is an error. The array
    has ``shape``, ``dtype``, perhaps ``chunks``, and is read by slices of rows.
    """

    ndim = 2

    def __init__(self, array: Any, input_name: str = ""):
        self.array = array
        self.input_name = input_name or _described(array)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        # The rows and columns of a chunk.
        chunks: tuple[int, int] = getattr(array, "chunks", None) or (1, self.shape[1])
        self.chunk_rows, self.chunk_columns = chunks
        self.file = _file_of(array)
        self._lock = Lock()
        # The rows that were read last, and the number of the first of them.
        self._kept: tuple[int, np.ndarray] = (0, np.empty((0, self.shape[1]), self.dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a zarr array or a .npy file, or name a dataset in HDF5, which is opened again."""
        array = self.array
        if library_of(array) == "h5py":
            file = array.file.filename  # other drivers have names that are no paths
            array = os.path.abspath(file) if os.path.exists(file) else file, array.name
        state = None if self.file is None else self.file.state
        return _opened_again, (array, self.input_name, state)

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            low, high, _ = rows.indices(self.shape[0])
            return self._rows(low, max(low, high))
        index = np.arange(self.shape[0])[rows]
        if not index.size:
            return self._rows(0, 0)
        distinct_rows, place = np.unique(index, return_inverse=True)
        parts = [
            self._rows(int(run[0]), int(run[-1]) + 1)[run - run[0]]
            for run in self._runs(distinct_rows)
        ]
        return np.concatenate(parts)[place.reshape(index.shape)]

    def _runs(self, rows: np.ndarray) -> list[np.ndarray]:
        """Split increasing rows into runs, each of which is read at once.

        A run is in one chunk. Without chunks its rows are adjacent: rows 4, 5, 6, 9 less their
        places 0, 1, 2, 3 are 4, 4, 4, 6.
        """
        if self.chunk_rows > 1:
            number = rows // self.chunk_rows
        else:
            number = rows - np.arange(len(rows))
        return np.split(rows, np.flatnonzero(np.diff(number)) + 1)

    def _rows(self, low: int, high: int) -> np.ndarray:
        with self._lock:
            first, kept = self._kept
            end = first + len(kept)
            if first <= low and high <= end:
                return kept[low - first : high - first]
            stop = min(-(-high // self.chunk_rows) * self.chunk_rows, self.shape[0])
            if first <= low < end:  # the rows that are kept already are not read again
                kept = np.concatenate([kept[low - first :], self._read(end, stop)])
                first = low
            else:
                first = low - low % self.chunk_rows
                kept = self._read(first, stop)
            # The whole matrix is not kept twice: the caller has it.
            is_whole = high - low == self.shape[0]
            self._kept = (0, kept[:0]) if is_whole else (first, kept)
            return kept[low - first : high - first]

    def _read(self, low: int, high: int) -> np.ndarray:
        try:
            rows = np.asarray(self.array[low:high])
        except (BioevalError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of any class on damaged bytes
            if self.file is not None:
                self.file.require_unchanged()
            raise self._blamed(error, low, high) from error
        # HDF5 reads zeros behind the end of a file.
        if self.file is not None:
            self.file.require_unchanged()
        return rows

    def _blamed(self, error: Exception, low: int, high: int) -> DataError:
        """Return the error of rows that cannot be read, which names a damaged chunk of them."""
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        place = (low, high), (0, self.shape[1])
        for rows in _spans(low, high, self.chunk_rows):
            for columns in _spans(0, self.shape[1], self.chunk_columns):
                try:
                    self.array[slice(*rows), slice(*columns)]
                except Exception:
                    place = rows, columns
                    break
        (first_row, end_row), (first_column, end_column) = place
        return DataError(
            f"{self.input_name}: rows {first_row}..{end_row - 1}, columns "
            f"{first_column}..{end_column - 1} cannot be read ({reason}); write the scores again"
        )


def _opened_again(array: Any, input_name: str, state: Any) -> StoredRows:
    """Return pickled rows, which another process reads; raise if their file has changed."""
    if isinstance(array, tuple):  # the file and the name of a dataset
        import h5py

        array = h5py.File(array[0], "r")[array[1]]
    rows = StoredRows(array, input_name)
    if rows.file is not None and state is not None:
        rows.file.require_unchanged(state)
    return rows


def _spans(low: int, high: int, size: int) -> list[tuple[int, int]]:
    return [*pairwise([*range(low, high, size), high])]


def _file_of(array: Any) -> WatchedFile | None:
    """Return the file of an array that must not change; None if the process may write to it."""
    if isinstance(array, NpyMatrix):
        return WatchedFile(array.path, array.number)
    if library_of(array) != "h5py" or array.file.mode != "r" or array.file.swmr_mode:
        return None
    if array.file.driver != "sec2":  # other drivers have no number of one open file
        return None
    return WatchedFile(array.file.filename, array.file.id.get_vfd_handle())


def _described(array: Any) -> str:
    if library_of(array) == "h5py":
        return f"{array.file.filename}: {array.name.lstrip('/')!r}"
    if library_of(array) == "zarr":
        return str(array.store_path)
    if isinstance(array, NpyMatrix):
        return array.path
    return f"the {library_of(array)} array of scores"


# ------------------------------------------------------------------------------------- .npy files


class NpyMatrix:
    """A matrix in a .npy file, whose rows are read when they are needed.

    Reading fails where the file has become shorter; a memory map would end the process.

    - `start` (int): the number of bytes before the values
    - `by_columns` (bool): whether columns are stored one after the other (Fortran's order)
    """

    def __init__(
        self,
        path: str | Path,
        shape: tuple[int, int],
        dtype: np.dtype,
        start: int,
        by_columns: bool,
    ):
        self.path = os.path.abspath(path)
        self.shape = shape
        self.dtype = dtype
        self.start = start
        self.by_columns = by_columns
        self.chunks = (1, shape[1])
        if by_columns:  # each column is a piece of the file
            self.chunks = (max(1, _CHUNK // (shape[1] * dtype.itemsize)), shape[1])
        self._lock = Lock()
        self.number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self.number)

    def __reduce__(self) -> tuple[Any, ...]:
        return NpyMatrix, (self.path, self.shape, self.dtype, self.start, self.by_columns)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        first_row, end_row, _ = rows.indices(self.shape[0])
        first, end, _ = columns.indices(self.shape[1])
        if not self.by_columns:
            return self._lines(first_row, end_row, first, end, self.shape[1])
        return self._lines(first, end, first_row, end_row, self.shape[0]).T

    def line(self, number: int) -> np.ndarray:
        """Return a row, or a column if columns are stored one after the other."""
        width = self.shape[not self.by_columns]
        return self._lines(number, number + 1, 0, width, width)[0]

    def _lines(self, low: int, high: int, first: int, end: int, width: int) -> np.ndarray:
        """Return values ``first:end`` of stored lines ``low:high``, which have `width` values."""
        lines = np.empty((max(high - low, 0), max(end - first, 0)), self.dtype)
        pieces = [lines] if lines.shape[1] == width else [*lines]  # whole lines are one piece
        with self._lock, io.FileIO(self.number, closefd=False) as file:
            for number, piece in enumerate(pieces):
                file.seek(self.start + ((low + number) * width + first) * self.dtype.itemsize)
                read_exactly(file, piece)
        return lines


def read_exactly(file: Any, array: np.ndarray) -> None:
    """Fill an array in C order from a file; raise where the file ends before."""
    if not array.nbytes:
        return
    view = memoryview(array.reshape(-1).view(np.uint8))
    while len(view):
        count = file.readinto(view)
        if not count:
            raise EOFError(f"it ends at byte {file.tell():,}, within the values")
        view = view[count:]


def npy_values(file: Any, shape: tuple[int, ...], dtype: np.dtype, by_columns: bool) -> np.ndarray:
    """Read all values of a .npy file, which is opened at the first of them."""
    values = np.empty(math.prod(shape), dtype)
    read_exactly(file, values)
    return values.reshape(shape, order="F" if by_columns else "C")


def rows_of_map(values: Any) -> Any:
    """Return a read-only memory map as rows of its file, and any other values as they are.

    So are a view or a copy of a map, and a map of a file that is another one by now.
    """
    is_map = type(values) is np.memmap and isinstance(values.base, mmap.mmap)
    if not is_map or values.ndim != 2 or not values.size or values.mode != "r":
        return values
    by_columns = not values.flags.c_contiguous
    lines = values.T if by_columns else values  # as they are stored
    chosen = np.unique(np.linspace(0, len(lines) - 1, _COMPARED_LINES).astype(np.int64)).tolist()
    try:
        path = str(values.filename)
        matrix = NpyMatrix(path, values.shape, values.dtype, values.offset, by_columns)
        is_file = all(matrix.line(i).tobytes() == lines[i].tobytes() for i in chosen)
    except (OSError, EOFError):  # it was removed, or replaced by a shorter one; or it has no name
        return values
    return StoredRows(matrix) if is_file else values
