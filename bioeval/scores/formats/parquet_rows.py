"""A matrix in a Parquet file, read by groups of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError

# Columns that are decoded together: of each, pyarrow holds some kilobytes beside its values.
_COLUMNS = 1024

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

        self._file = parquet.ParquetFile(str(self.path), memory_map=False, pre_buffer=False)
        about = self._file.metadata
        self.all_names: list[str] = self._file.schema_arrow.names
        fields = list(self._file.schema_arrow)[1:]
        self.names = self.all_names[1:]
        small = all(types.is_float32(f.type) or types.is_float16(f.type) for f in fields)
        self.dtype = np.dtype(np.float32 if small else np.float64)
        groups = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        self._groups = [i for i, rows in enumerate(groups) if rows]
        sizes = tuple(rows for rows in groups if rows)
        self.shape, self.chunks = (sum(sizes), len(fields)), (sizes, (len(fields),))
        self._ends = np.cumsum((0, *sizes))
        #: About what is held of the file, however few rows are read.
        self.held_bytes = _POOL + (_OF_CHUNK * len(groups) + _OF_COLUMN) * len(self.all_names)

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
        names = self.names[columns]
        out = np.empty((high - low, len(names)), dtype=self.dtype)
        for place, group in enumerate(self._groups):
            first, stop = int(self._ends[place]), int(self._ends[place + 1])
            if first >= high or stop <= low:
                continue
            part = slice(max(low, first) - first, min(high, stop) - first)
            into = out[max(low, first) - low : min(high, stop) - low]
            for j, column in enumerate(self._columns(group, names, columns)):
                self._require_values(column, names[j], first)
                into[:, j] = column.to_numpy()[part]
        return out

    def _columns(self, group: int, names: list[str], columns: slice) -> Iterator[Any]:
        """Yield the named columns of a group of rows."""
        if len(set(self.names)) < len(self.names):  # found by their places alone
            yield from self._file.read_row_group(group, use_threads=False).columns[1:][columns]
            return
        for low in range(0, len(names), _COLUMNS):
            some = names[low : low + _COLUMNS]
            yield from self._file.read_row_group(group, columns=some, use_threads=False).columns
