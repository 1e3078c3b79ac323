"""Matrices that are read by rows from a file, in chunks.

While some rows are counted, a thread reads and inflates those that follow. They are read by whole
chunks, so that none is inflated twice in a pass.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from threading import Lock, Thread
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalError, DataError


class StoredRows:
    """A matrix of a zarr or HDF5 container, read by rows like an array.

    - `array` (array of a library): it has ``shape``, ``dtype``, ``chunks`` (or None), and is read
      by slices of rows
    - `input_name` (str): what is read, for messages; by default what the array says of itself
    """

    ndim = 2
    rows_of = "container"

    def __init__(self, array: Any, input_name: str = ""):
        """Find the chunks of the container; nothing is read."""
        self.array, self.input_name = array, input_name or _described(array)
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        #: The first row of each chunk, and the number of rows.
        self.row_ends = _ends(array, 0)
        #: The most rows of a chunk.
        self.chunk_rows = int(np.diff(self.row_ends).max())
        self._start()

    def _start(self) -> None:
        self._lock = Lock()
        self._last: tuple[int, np.ndarray] | None = None
        self._next: tuple[int, int, Future[np.ndarray]] | None = None
        self._end = -1  # of what was read last
        self._reader: ThreadPoolExecutor | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process; it opens an HDF5 dataset again."""
        array = self.array
        if _library(array) == "h5py":
            file = array.file.filename  # a path, or what another driver has for one
            array = _Dataset(os.path.abspath(file) if os.path.exists(file) else file, array.name)
        return {"array": array, "input_name": self.input_name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array = state["array"]
        if isinstance(array, _Dataset):
            array = array.opened()
        self.__init__(array, state["input_name"])  # type: ignore[misc]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return some rows, of a slice or indices; what follows a slice is read ahead."""
        if isinstance(rows, slice) and rows.step in (None, 1):
            with self._lock:
                return self._span(*rows.indices(self.shape[0])[:2])
        index = np.arange(self.shape[0])[rows]
        if not index.ndim:
            return self._read(int(index), int(index) + 1)[0]
        wanted, back = np.unique(index, return_inverse=True)
        with self._lock:
            parts = []
            for first, stop, some in self._by_chunk(wanted):
                parts.append(self._held(first, stop)[some - first])
        return np.concatenate(parts)[back.reshape(-1)]

    def of_columns(self, low: int, high: int) -> StoredRows:
        """Return columns ``low:high``, reading only their chunks."""
        return StoredRows(_Columns(self, low, high), self.input_name)

    def _span(self, low: int, high: int) -> np.ndarray:
        """Return rows ``low:high``: rows held, rows read ahead, and the rest read now."""
        if low >= high:
            return np.empty((0, self.shape[1]), dtype=self.dtype)
        pieces = [self._last] if self._last is not None else []
        if self._next is not None and self._next[0] < high and low < self._next[1]:
            first, _, arriving = self._next
            self._next = None
            pieces.append((first, arriving.result()))
        parts: list[np.ndarray] = []
        at = low
        while at < high:
            held = next((p for p in pieces if p[0] <= at < p[0] + len(p[1])), None)
            if held is None:
                later = [first for first, _ in pieces if at < first < high]
                stop = min(later, default=self._chunk_end(high))
                start = self._chunk_start(at) if not parts else at
                held = start, self._read(start, stop)
            first, rows = held
            parts.append(rows[at - first : high - first])
            last, at = held, at + len(parts[-1])
        block = parts[0] if len(parts) == 1 else np.concatenate(parts)
        end = last[0] + len(last[1])
        self._last = last if end > high or len(parts) == 1 else (low, block)
        if high - low == self.shape[0]:  # all at once is kept by whoever reads it
            self._last = None
        if low in (0, self._end):  # one block after the other
            self._read_ahead(end, high - low)
        self._end = high
        return block

    def _by_chunk(self, rows: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield the first row and the end of each chunk, or run of rows, and its rows."""
        ends = self.row_ends
        chunk = np.searchsorted(ends, rows, side="right") - 1
        if len(ends) > self.shape[0]:  # stored row by row
            chunk = rows - np.arange(len(rows))
        for part in np.split(rows, np.flatnonzero(np.diff(chunk)) + 1):
            first, stop = int(part[0]), int(part[-1]) + 1
            yield self._chunk_start(first), self._chunk_end(stop), part

    def _held(self, low: int, high: int) -> np.ndarray:
        """Return whole chunks, and keep them."""
        last = self._last
        if last is not None and last[0] <= low and high <= last[0] + len(last[1]):
            return last[1][low - last[0] : high - last[0]]
        self._last = low, self._read(low, high)
        return self._last[1]

    def _read_ahead(self, low: int, number: int) -> None:
        """Start to read rows from `low` on, to the end of a chunk."""
        if low >= self.shape[0]:
            return
        if self._next is not None:
            if self._next[0] == low:
                return
            self._next[2].cancel()
        if self._reader is None:
            self._reader = ThreadPoolExecutor(1, thread_name_prefix="bioeval-read")
        high = self._chunk_end(min(low + number, self.shape[0]))
        self._next = low, high, self._reader.submit(self._read, low, high)

    def _chunk_end(self, row: int) -> int:
        return int(self.row_ends[np.searchsorted(self.row_ends, row)])

    def _chunk_start(self, row: int) -> int:
        return int(self.row_ends[np.searchsorted(self.row_ends, row, side="right") - 1])

    def _read(self, low: int, high: int) -> np.ndarray:
        """Read rows from the container; any error names the chunk."""
        try:
            return np.asarray(self.array[low:high])
        except (BioevalError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of any class on damaged bytes
            raise self._blamed(error, low, high) from error

    def _blamed(self, error: Exception, low: int, high: int) -> DataError:
        """Return an error that names the chunk that could not be read."""
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        left, right = 0, self.shape[1]
        rows = self.row_ends
        spans = [(a, b) for a, b in pairwise(rows) if a < high and low < b]
        for a, b in spans:
            for c, d in pairwise(_ends(self.array, 1)):
                try:
                    self.array[a:b, c:d]
                except Exception:
                    return self._damaged(a, b, c, d, reason)
        return self._damaged(low, high, left, right, reason)

    def _damaged(self, a: int, b: int, c: int, d: int, reason: str) -> DataError:
        return DataError(
            f"{self.input_name}: rows {a}..{b - 1}, columns {c}..{d - 1} cannot be read "
            f"({reason}); write the scores again"
        )


class _Columns:
    """Consecutive columns of an array in a container."""

    def __init__(self, rows: StoredRows, low: int, high: int):
        self.rows, self.low = rows, low
        self.shape, self.dtype = (rows.shape[0], high - low), rows.dtype
        self.chunks = (tuple(np.diff(rows.row_ends).tolist()), (high - low,))

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        first, last, _ = columns.indices(self.shape[1])
        return np.asarray(self.rows.array[rows, self.low + first : self.low + last])


class _Dataset:
    """A dataset of an HDF5 file, identified by file and name."""

    def __init__(self, file: str, name: str):
        self.file, self.name = file, name

    def opened(self) -> Any:
        """Open the file, and return the dataset."""
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


def _ends(array: Any, axis: int) -> np.ndarray:
    """Return the starts of the chunks along an axis, and the end of the last one."""
    length = array.shape[axis]
    chunks = getattr(array, "chunks", None)
    if not chunks:
        step = length if axis else 1
        return np.append(np.arange(0, length, step), length)
    along = chunks[axis]
    if isinstance(along, tuple):
        return np.cumsum((0, *along))
    return np.append(np.arange(0, length, along), length)


class FileCheck:
    """Background work that verifies a file."""

    def __init__(self, input_name: str, check: Callable[[], None]):
        self._error: BioevalError | None = DataError(f"{input_name}: was not read to its end")
        self._thread: Thread | None = Thread(target=self._run, args=(check,), daemon=True)
        self._thread.start()

    def _run(self, check: Callable[[], None]) -> None:
        try:
            check()
            self._error = None
        except BioevalError as error:
            self._error = error

    def verify(self) -> None:
        """Wait for the work; raise the :class:`DataError` that it has found, if any."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            raise self._error

    def __getstate__(self) -> dict[str, None]:
        self.verify()  # a copy in another process has nothing left to verify
        return {"_thread": None, "_error": None}


def checksum(input_name: str, data: np.ndarray, expected: int) -> FileCheck:
    """Verify the checksum of a mapped array in one call, during which other threads run."""

    def compute() -> None:
        if zlib.crc32(data) != expected:
            raise DataError(
                f"{input_name} is truncated or damaged (its checksum is not that of the archive); "
                "write the file again"
            )

    return FileCheck(input_name, compute)
