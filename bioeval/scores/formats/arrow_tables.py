"""Tables of Parquet and Arrow (Feather), read in pieces by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.progress import report
from bioeval.scores.formats.files import content, optional

# The most rows, and cells, that are read together.
_PIECE, _CELLS = 1 << 17, 1 << 20
_BUFFER = 1 << 20


@dataclass(frozen=True)
class Distinct:
    """The cells of a column of words: the distinct words, and the code of each row."""

    values: list[Any]
    codes: np.ndarray


def table_writer(path: Path, suffix: str, schema: Any) -> Any:
    """Return a writer of Parquet with checksums, or of Arrow by another suffix."""
    what = "a Parquet or Arrow file"
    if suffix == ".parquet":
        parquet = optional("pyarrow.parquet", path, what)
        return parquet.ParquetWriter(str(path), schema, write_page_checksum=True)
    ipc = optional("pyarrow", path, what).ipc
    return (ipc.new_stream if suffix == ".arrows" else ipc.new_file)(str(path), schema)


def _require_end(path: Path) -> None:
    """Raise where a stream lacks the mark of its end: whole groups of rows may be cut off."""
    with open(path, "rb") as file:
        file.seek(-4, os.SEEK_END)
        if file.read() != bytes(4):
            raise ValueError("the stream has no end")


class ArrowTable:
    """A table in a file whose columns are read by their numbers.

    Attributes
    ----------
    names : list of str
        The names of its columns.
    """

    def __init__(self, path: Path):
        what = "a Parquet or Arrow file"
        self._arrow, self._path = optional("pyarrow", path, what), path
        self._parquet = content(path) == "a Parquet file"
        if self._parquet:
            # Pages are read as they are needed: a group of rows may be the whole file.
            parquet = optional("pyarrow.parquet", path, what)
            self._file = parquet.ParquetFile(
                path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
            )
            self.names = list(self._file.schema_arrow.names)
            self._rows = self._file.metadata.num_rows
        else:
            self._source = self._arrow.memory_map(str(path))
            self._is_stream = content(path) == "an Arrow stream"
            if self._is_stream:
                _require_end(path)
            ipc = self._arrow.ipc
            self._file = (ipc.open_stream if self._is_stream else ipc.open_file)(self._source)
            self.names = list(self._file.schema.names)
            self._rows = 0

    def __enter__(self) -> ArrowTable:
        return self

    def __exit__(self, *exception: object) -> None:
        (self._file if self._parquet else self._source).close()

    def pieces(self, wanted: Sequence[int]) -> Iterator[list[Any]]:
        """Yield columns in pieces: numbers as arrays, other columns as distinct values."""
        done = 0
        for batch in self._batches(wanted):
            columns = [self._column(batch, i, done) for i in wanted]
            done += batch.num_rows
            report(done, max(done, self._rows))
            yield columns

    def _batches(self, wanted: Sequence[int]) -> Iterator[Any]:
        """Yield batches of as many rows as are read together, none of them empty."""
        piece = max(1, min(_PIECE, _CELLS // len(wanted)))
        if self._parquet:
            names = sorted({self.names[i] for i in wanted})
            some = len(set(self.names)) == len(self.names)
            read = self._file.iter_batches(piece, columns=names if some else None)
        else:
            if self._is_stream:  # which is read once
                self._source.seek(0)
                self._file = self._arrow.ipc.open_stream(self._source)
            groups = 0 if self._is_stream else self._file.num_record_batches
            read = iter(self._next, None) if self._is_stream else map(self._batch, range(groups))
        for number, batch in enumerate(read, 1):
            if not self._parquet:
                batch.validate(full=True)
                self._rows = max(self._rows, batch.num_rows * groups // number)
            for low in range(0, batch.num_rows, piece):
                yield batch.slice(low, piece)

    def _next(self) -> Any:
        return self._batch(None)

    def _batch(self, number: int | None) -> Any:
        try:
            return next(self._file, None) if number is None else self._file.get_batch(number)
        except MemoryError:  # of a damaged file, more likely: batches are written small
            raise ValueError("a batch claims more bytes than there is memory for") from None

    def _column(self, batch: Any, number: int, before: int) -> Any:
        name = self.names[number]
        # Of a Parquet file, a batch has the columns that were read, in their order.
        place = batch.schema.get_field_index(name)
        column = batch.column(place if place >= 0 else number)
        types = self._arrow.types
        if types.is_dictionary(column.type):  # which may hold values of no row
            column = column.dictionary_decode()
        if column.null_count:
            row = before + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(
                f"{self._path}: row {row}: {name} has no value; expected one in each row"
            )
        if types.is_floating(column.type):
            return column.to_numpy(zero_copy_only=False)
        if types.is_nested(column.type):
            raise DataError(
                f"{self._path}: {name} is of type {column.type}; expected one value per row"
            )
        column = column.dictionary_encode()
        codes = column.indices.to_numpy(zero_copy_only=False)
        return Distinct(column.dictionary.to_pylist(), codes)
