"""A matrix in a Parquet file, read by groups of rows.

Parquet stores a group by columns. A large group is decoded some columns at a time into a temporary
file, from which pieces of consecutive rows are read.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from bioeval.base.errors import DataError

# Columns that are decoded together: of each, pyarrow holds some kilobytes beside its values; and
# the most bytes of their values.
_COLUMNS, _DECODED = 1024, 1 << 24

# Bytes of a group that is read whole, and of rows that are read together of a larger one.
_WHOLE, _PIECE = 8 << 20, 2 << 20

# Bytes that pyarrow takes of an open file: for each column of each group of rows, all of which the
# footer lists, and for each column; and what its pool keeps between two groups.
_OF_CHUNK, _OF_COLUMN, _POOL = 1050, 2300, 50 << 20


class ParquetRows:
    """The columns after the first of a Parquet file, read like an array by slices of rows.

    They are float32 where all columns are, and float64 otherwise.
    """

    def __init__(self, path: Path):
        self.path = path
        self._open()

    def _open(self) -> None:
        from pyarrow import parquet, types

        self._file = parquet.ParquetFile(
            str(self.path), memory_map=False, pre_buffer=False, page_checksum_verification=True
        )
        about = self._file.metadata
        self.all_names: list[str] = self._file.schema_arrow.names
        fields = list(self._file.schema_arrow)[1:]
        self.names = self.all_names[1:]
        small = all(types.is_float32(f.type) or types.is_float16(f.type) for f in fields)
        self.dtype = np.dtype(np.float32 if small else np.float64)
        groups = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        self._groups = [i for i, rows in enumerate(groups) if rows]
        self._ends = np.cumsum((0, *filter(None, groups)))
        row = max(1, len(fields) * self.dtype.itemsize)
        self._most, step = _WHOLE // row, max(1, _PIECE // row)
        sizes: list[int] = []
        for rows in filter(None, groups):
            large = rows > self._most
            sizes += [min(step, rows - at) for at in range(0, rows, step)] if large else [rows]
        self.shape, self.chunks = (sum(sizes), len(fields)), (tuple(sizes), (len(fields),))
        #: About what is held of the file, however few rows are read.
        self.held_bytes = _POOL + (_OF_CHUNK * len(groups) + _OF_COLUMN) * len(self.all_names)
        if max(groups, default=0) > self._most:
            self.held_bytes += 2 * _DECODED  # as pyarrow decodes them, and as they are written
        self._lock = Lock()
        self._step = step
        self._decoded: tuple[int, _RowsOfColumns] | None = None

    def labels(self) -> np.ndarray:
        """Return the first column."""
        parts = [self._file.read_row_group(i, columns=self.all_names[:1]) for i in self._groups]
        found = []
        for first, part in zip(self._ends.tolist(), parts, strict=False):
            self._require_values(part.column(0), self.all_names[0], first)
            found.append(part.column(0).to_numpy())
        if not found:
            raise DataError(f"{self.path}: has no rows")
        return np.concatenate(found)

    def require_numbers(self) -> None:
        """Raise :class:`DataError` where a column of scores is something else."""
        from pyarrow import types

        for field in list(self._file.schema_arrow)[1:]:
            if not (types.is_integer(field.type) or types.is_floating(field.type)):
                raise DataError(
                    f"{self.path}: column {field.name!r} is {field.type}; expected numbers"
                )

    def _require_values(self, column: Any, name: str, first: int) -> None:
        if column.null_count:
            row = first + column.is_null().index(True).as_py()
            raise DataError(
                f"{self.path}: row {row}: {name} has no value; expected one in each row"
            )

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._open()

    def __getitem__(self, key: Any) -> np.ndarray:
        """Return some rows, and of a pair of slices some columns."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        low, high, _ = rows.indices(self.shape[0])
        wanted = range(*columns.indices(len(self.names)))
        out = np.empty((high - low, len(wanted)), dtype=self.dtype)
        for place in range(len(self._groups)):
            first, stop = int(self._ends[place]), int(self._ends[place + 1])
            if first >= high or stop <= low:
                continue
            part = slice(max(low, first) - first, min(high, stop) - first)
            into = out[max(low, first) - low : min(high, stop) - low]
            if stop - first > self._most:
                with self._lock:
                    self._decoded_group(place).read(part, columns, into)
                continue
            for j, column in enumerate(self._columns(place, wanted)):
                into[:, j] = column[part]
        return out

    def _decoded_group(self, place: int) -> _RowsOfColumns:
        """Return a large group, decoded into a temporary file; the last one is kept."""
        if self._decoded is None or self._decoded[0] != place:
            self._decoded = None
            rows = int(self._ends[place + 1] - self._ends[place])
            decoded = _RowsOfColumns((rows, len(self.names)), self._step, self.dtype)
            for some, columns in self._read_columns(place, range(len(self.names))):
                decoded.write(some, columns)
            self._decoded = place, decoded
        return self._decoded[1]

    def _columns(self, place: int, wanted: range) -> Iterator[np.ndarray]:
        """Yield columns of scores of a group of rows, which are found by their places."""
        for _, columns in self._read_columns(place, wanted):
            yield from columns

    def _read_columns(
        self, place: int, wanted: range
    ) -> Iterator[tuple[range, Iterator[np.ndarray]]]:
        """Yield the places of columns that are decoded together, and the columns."""
        first, stop = int(self._ends[place]), int(self._ends[place + 1])
        most = max(1, min(_COLUMNS, _DECODED // (8 * (stop - first))))
        for low in range(0, len(wanted), most):
            some = wanted[low : low + most]
            read = self._file.reader.read_row_group(
                self._groups[place], column_indices=[1 + j for j in some], use_threads=False
            )
            yield some, self._numbers(some, read, first)

    def _numbers(self, some: range, read: Any, first: int) -> Iterator[np.ndarray]:
        for j, column in zip(some, read.columns, strict=True):
            self._require_values(column, self.names[j], first)
            yield column.to_numpy()


class _RowsOfColumns:
    """A matrix that arrives by columns and is read by rows, in a temporary file.

    The file has the matrix by pieces of `step` rows. Each piece has the columns in the parts in
    which they arrive, so that a part is written in pieces and a piece is read at once: of a file by
    columns, reading a few rows would bring every page into memory.
    """

    def __init__(self, shape: tuple[int, int], step: int, dtype: np.dtype):
        self.shape, self.step, self.dtype = shape, step, dtype
        self._parts: list[range] = []
        self._folder = tempfile.gettempdir()
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - as long as this
        except OSError as error:
            raise self._failed(error) from error
        weakref.finalize(self, self._file.close)

    def _failed(self, error: OSError) -> DataError:
        return DataError(
            f"a large group of rows is decoded into a temporary file in {self._folder}, which "
            f"failed: {error.strerror or error}; name a folder with room in TMPDIR"
        )

    def _pieces(self, rows: range) -> Iterator[range]:
        """Yield the rows of each piece that has one of some rows."""
        first = rows.start - rows.start % self.step
        for low in range(first, rows.stop, self.step):
            yield range(low, min(low + self.step, self.shape[0]))

    def write(self, places: range, columns: Iterator[np.ndarray]) -> None:
        """Append consecutive columns."""
        part = np.empty((self.shape[0], len(places)), self.dtype)
        for j, column in enumerate(columns):
            part[:, j] = column
        self._parts.append(places)
        for piece in self._pieces(range(self.shape[0])):
            self._at(piece, places.start)
            left = memoryview(part[piece.start : piece.stop]).cast("B")
            try:
                while left:
                    left = left[self._file.write(left) :]
            except OSError as error:
                raise self._failed(error) from error

    def _at(self, piece: range, column: int) -> None:
        cell = piece.start * self.shape[1] + len(piece) * column
        self._file.seek(cell * self.dtype.itemsize)

    def read(self, rows: slice, columns: slice, into: np.ndarray) -> None:
        """Read some rows, and of them some columns, into an array."""
        low, high, _ = rows.indices(self.shape[0])
        left, right, _ = columns.indices(self.shape[1])
        parts = [part for part in self._parts if part.start < right and left < part.stop]
        for piece in self._pieces(range(low, high)):
            first, stop = max(low, piece.start), min(high, piece.stop)
            for part in parts:
                cells = self._read_part(piece, part)[first - piece.start : stop - piece.start]
                a, b = max(left, part.start), min(right, part.stop)
                into[first - low : stop - low, a - left : b - left] = cells[
                    :, a - part.start : b - part.start
                ]

    def _read_part(self, piece: range, part: range) -> np.ndarray:
        cells = np.empty((len(piece), len(part)), self.dtype)
        self._at(piece, part.start)
        left = memoryview(cells).cast("B")
        while left:
            count = self._file.readinto(left)
            if not count:
                raise DataError(f"the temporary file in {self._folder} ended early")
            left = left[count:]
        return cells
