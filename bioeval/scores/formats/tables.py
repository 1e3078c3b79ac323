"""Tables with named columns, as lists of pairs or matrices: Parquet, Arrow, JSON lines."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import NoneType
from typing import Any

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError
from bioeval.base.json_text import parse_json
from bioeval.base.progress import report
from bioeval.scores.columns import GrowingColumn
from bioeval.scores.formats.files import content, guarded, optional
from bioeval.scores.formats.format import FileFacts, Format, ReadOptions, Written, say
from bioeval.scores.formats.listed_pairs import how_read, pairs_of_columns
from bioeval.scores.formats.pair_layouts import PairLayout, unknown_layout, with_header
from bioeval.scores.formats.pair_lists import FORMAT as TEXT, pair_losses, write_arrow, write_json
from bioeval.scores.formats.spellings import COLUMN_NAMES, SCORE_NAMES, folded
from bioeval.scores.formats.text_table import MOST_NAMES, Columns, Shape, TextColumn, open_text
from bioeval.scores.formats.vector_columns import (
    VECTORS,
    holds_vectors,
    read_vectors,
    vector_file,
)
from bioeval.scores.formats.wide_tables import (
    WIDE_ARROW,
    is_wide,
    wide_columns,
    wide_losses,
    wide_scores,
    write_wide_arrow,
)
from bioeval.scores.labels import Labelled, columns_of, labels_of_table, missing_values
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import StoredRows
from bioeval.scores.vector_tables import as_vector_table

# The most rows, and cells, that are read together.
_BATCH_ROWS, _BATCH_CELLS = 1 << 17, 1 << 20
_BUFFER = 1 << 20


@dataclass(frozen=True)
class Distinct:
    """The cells of a column of words: the distinct words, and the code of each row."""

    values: list[Any]
    codes: np.ndarray


class ArrowTable:
    """A table in a file whose columns are read by their numbers.

    Attributes
    ----------
    names : list of str
        The names of its columns.
    """

    def __init__(self, path: Path):
        """Open the file as what its first bytes show."""
        input_name = "a Parquet or Arrow file"
        self._arrow, self._path = optional("pyarrow", path, input_name), path
        self._parquet = content(path) == "a Parquet file"
        if self._parquet:
            # Pages are read as they are needed: a group of rows may be the whole file.
            parquet = optional("pyarrow.parquet", path, input_name)
            self._file = parquet.ParquetFile(
                path, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
            )
            self.names = list(self._file.schema_arrow.names)
            self._rows = self._file.metadata.num_rows
        else:
            self._source = self._arrow.memory_map(str(path))
            self._is_stream = content(path) == "an Arrow stream"
            if self._is_stream:
                # Without the mark of its end, whole groups of rows may be cut off.
                with open(path, "rb") as file:
                    file.seek(-4, os.SEEK_END)
                    if file.read() != bytes(4):
                        raise ValueError("the stream has no end")
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
        piece = max(1, min(_BATCH_ROWS, _BATCH_CELLS // len(wanted)))
        if self._parquet:
            names = sorted({self.names[i] for i in wanted})
            some = len(set(self.names)) == len(self.names)
            read = self._file.iter_batches(piece, columns=names if some else None)
        else:
            if self._is_stream:  # which is read once
                self._source.seek(0)
                self._file = self._arrow.ipc.open_stream(self._source)
            groups = self._file.num_record_batches if not self._is_stream else 0
            read = map(self._batch, range(groups))
            if self._is_stream:
                read = iter(lambda: self._batch(None), None)
        for number, batch in enumerate(read, 1):
            if not self._parquet:
                batch.validate(full=True)
                self._rows = max(self._rows, batch.num_rows * groups // number)
            for low in range(0, batch.num_rows, piece):
                yield batch.slice(low, piece)

    def _batch(self, number: int | None) -> Any:
        try:
            if number is None:
                return next(self._file, None)
            return self._file.get_batch(number)
        except MemoryError:  # of a damaged file, more likely: batches are written small
            raise ValueError("a batch claims more bytes than there is memory for") from None

    def _column(self, batch: Any, number: int, before: int) -> Any:
        """Return a column of a batch: floats as an array, others as distinct values."""
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
        """Find the columns of scores, and the rows that are decoded together."""
        input_name = "a Parquet file"
        parquet = optional("pyarrow.parquet", self.path, input_name)
        types = optional("pyarrow.types", self.path, input_name)
        self._file = parquet.ParquetFile(
            str(self.path), memory_map=False, pre_buffer=False, page_checksum_verification=True
        )
        about = self._file.metadata
        self.all_names: list[str] = self._file.schema_arrow.names
        text = []
        for type_ in self._file.schema_arrow.types:
            text.append(types.is_string(type_) or types.is_large_string(type_))
        #: The places of the columns of scores, and of those of text, metadata of the rows.
        self.places, self.words = wide_columns(self.all_names, text)
        self.names: list[str] = []
        self.dtype: np.dtype = np.dtype(np.float32)
        for field in map(self._file.schema_arrow.field, self.places):
            self.names.append(field.name)
            if not (types.is_float32(field.type) or types.is_float16(field.type)):
                self.dtype = np.dtype(np.float64)
        row = max(1, len(self.names) * self.dtype.itemsize)
        self._most, self._step = _WHOLE // row, max(1, _PIECE // row)
        #: About what is held of the file, however few rows are read.
        groups = about.num_row_groups
        self.held_bytes = _POOL + (_OF_CHUNK * groups + _OF_COLUMN) * len(self.all_names)
        self._groups: list[int] = []
        self._ends, sizes, large = [0], [], False
        for group in range(groups):
            step = rows = about.row_group(group).num_rows
            if not rows:
                continue
            self._groups.append(group)
            self._ends.append(self._ends[-1] + rows)
            if rows > self._most:
                step, large = self._step, True
            for low in range(0, rows, step):
                sizes.append(min(step, rows - low))
        columns = len(self.names)
        self.shape, self.chunks = (self._ends[-1], columns), (tuple(sizes), (columns,))
        if large:
            self.held_bytes += 2 * _DECODED  # as pyarrow decodes them, and as they are written
        self._lock = Lock()
        self._decoded: tuple[int, _RowsOfColumns] | None = None

    def column(self, place: int) -> np.ndarray:
        """Return a column of text."""
        parts = []
        for number, first in zip(self._groups, self._ends, strict=False):
            read = self._file.reader.read_row_group
            group = read(number, column_indices=[place], use_threads=False)
            self._require_values(group.column(0), self.all_names[place], first)
            parts.append(group.column(0).to_numpy())
        if not parts:
            raise DataError(f"{self.path}: has no rows")
        return np.concatenate(parts)

    def require_numbers(self) -> None:
        """Raise :class:`DataError` where a column of scores is something else."""
        from pyarrow import types

        for field in map(self._file.schema_arrow.field, self.places):
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
            first, stop = self._ends[place : place + 2]
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
            rows = self._ends[place + 1] - self._ends[place]
            decoded = _RowsOfColumns((rows, len(self.names)), self._step, self.dtype)
            for some, columns in self._read_columns(place, range(len(self.names))):
                decoded.write(some, columns)
            self._decoded = place, decoded
        return self._decoded[1]

    def _columns(self, place: int, wanted: range) -> Iterator[np.ndarray]:
        """Yield columns of scores of a group of rows, by their places."""
        for _, columns in self._read_columns(place, wanted):
            yield from columns

    def _read_columns(
        self, place: int, wanted: range
    ) -> Iterator[tuple[range, Iterator[np.ndarray]]]:
        """Yield the places of columns that are decoded together, and the columns."""
        first, stop = self._ends[place : place + 2]
        most = max(1, min(_COLUMNS, _DECODED // (8 * (stop - first))))
        for low in range(0, len(wanted), most):
            some = wanted[low : low + most]
            read = self._file.reader.read_row_group(
                self._groups[place],
                column_indices=[self.places[j] for j in some],
                use_threads=False,
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
            "a large group of rows could not be decoded into a temporary file in "
            f"{self._folder}: {error.strerror or error}; name a folder with room in TMPDIR"
        )

    def _pieces(self, rows: range) -> Iterator[range]:
        """Yield the rows of each piece that contains one of some rows."""
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
        """Read some rows, and some of their columns, into an array."""
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
        """Return the columns of a part in the rows of a piece."""
        cells = np.empty((len(piece), len(part)), self.dtype)
        self._at(piece, part.start)
        left = memoryview(cells).cast("B")
        while left:
            count = self._file.readinto(left)
            if not count:
                raise DataError(f"the temporary file in {self._folder} ended early")
            left = left[count:]
        return cells


_ROWS_AT_ONCE = 1 << 17  # rows


#: What reads some columns of a table, by their numbers, in pieces: a column each.
Pieces = Callable[[Sequence[int]], Iterable[Sequence[Any]]]


def _read_table(
    path: Path, names: list[str], pieces: Pieces, options: ReadOptions, lines: bool = False
) -> Scores:
    """Return the scores of a table that is read in pieces; a row may be a line."""
    options.allow("a list of pairs, or a matrix as a table", TEXT.options)
    if is_wide(names, options):
        numbers, words = _wide(names, pieces)
        if numbers:
            return _read_wide(path, names, numbers, words, pieces, options)
    shape = Shape(path, ",", [names])
    layout = with_header(shape, options)
    if layout is None or layout.score is None:
        raise unknown_layout(shape)
    how = how_read(path, layout, options)
    named = options.as_ or options.trials or options.labels or options.subject_from
    table = _columns(path, layout, pieces, None if named else MOST_NAMES, 1 if lines else None)
    return pairs_of_columns(table, layout, options, how)


def _read_wide(
    path: Path,
    names: list[str],
    numbers: list[int],
    words: list[int],
    pieces: Pieces,
    options: ReadOptions,
) -> Scores:
    """Return the matrix in the columns `numbers`, with the metadata in `words`."""
    columns = {i: TextColumn() for i in (0, *words)}
    cells = None
    for piece in pieces(range(len(names))):
        before = len(cells or ()) // len(numbers)
        rows = np.column_stack([_floats(piece[i], names[i], path, before) for i in numbers])
        for i, column in columns.items():
            _append(column, piece[i])
        if cells is None:
            cells = GrowingColumn(rows.dtype)
        cells.append(rows.reshape(-1))
    if cells is None:
        raise DataError(f"{path}: has no rows")
    matrix = cells.array().reshape(-1, len(numbers))
    meta = {names[i]: columns[i].objects().astype(str) for i in words}
    of_scores = [names[i] for i in (0, *numbers)]
    return wide_scores(path, columns[0].objects(), of_scores, matrix, options, meta)


def _wide(names: list[str], pieces: Pieces) -> tuple[list[int], list[int]]:
    """Return the places of the scores and of the metadata of a matrix, by its first rows."""
    is_text = [False] * len(names)
    for first in pieces(range(len(names))):
        is_text = [*map(_is_text, first)]
        break
    return wide_columns(names, is_text)


def _is_text(cells: Any) -> bool:
    values = cells.values if isinstance(cells, Distinct) else np.asarray(cells).tolist()
    return all(isinstance(value, str) for value in values)


def _columns(
    path: Path, layout: PairLayout, pieces: Pieces, most: int | None, first_line: int | None
) -> Columns:
    """Read the columns of a layout from pieces of a table."""
    score, templates = layout.score or 0, layout.templates or ()
    wanted = {*(layout.subjects or ()), *templates, layout.genuine, layout.fold, layout.species}
    text = {}
    for i in sorted(layout.called(wanted)):
        text[i] = TextColumn(most=most if i in templates else None)
    numbers = None
    for values, *words in pieces([score, *text]):
        scores = _floats(values, layout.names[score], path, len(numbers or ()))
        if numbers is None:
            numbers = GrowingColumn(scores.dtype)
        numbers.append(scores)
        for column, cells in zip(text.values(), words, strict=True):
            _append(column, cells)
    if numbers is None:
        raise DataError(f"{path}: has no rows")
    return Columns(path, text, {score: numbers.array()}, first_line)


def _append(column: TextColumn, cells: Any) -> None:
    """Append cells, or the distinct cells of an Arrow column and their codes."""
    if isinstance(cells, Distinct):
        column.append_codes(cells.codes, cells.values)
    else:
        column.append(_words(cells))


def _floats(values: Any, name: str, path: Path, before: int) -> np.ndarray:
    """Return numbers as floats; float32 is kept."""
    if getattr(values, "dtype", None) == np.float32:
        return np.asarray(values)
    if isinstance(values, Distinct):
        cells = np.empty(len(values.values), dtype=object)
        cells[:] = values.values
        values = cells[values.codes]
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64)
    try:
        floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        floats = None
    records = isinstance(values, list)  # of JSON
    doubtful = floats is None or np.isinf(floats).any()
    if doubtful or (records and bool in {*map(type, values)}):
        for row, value in enumerate(values):
            if not _is_score(value, records):
                raise DataError(
                    f"{path}: row {before + row}: {name} is {value!r:.60}; expected a number within"
                    " the range of float64"
                )
    if floats is None:
        raise DataError(f"{path}: {name} holds values that are no numbers; expected numbers")
    return floats


def _is_score(value: Any, of_record: bool) -> bool:
    """Whether a value is a number that float64 has; in JSON, true and false are none."""
    try:
        return not (of_record and isinstance(value, bool)) and not overflows(str(value))
    except ValueError:
        return False


def _words(values: Any) -> np.ndarray:
    """Return a column as text, with whole numbers, such as 1 for genuine, without a point."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        return np.array([*map(str, array)], dtype=object)
    return array.astype(str).astype(object)


def read_table_object(table: Any, options: ReadOptions) -> Scores:
    """Return the scores of a table in memory (pandas, polars or Arrow): pairs, or a matrix."""
    vectors = as_vector_table(table, wanted=options.embeddings_key is not None)
    if vectors is not None and holds_vectors(vectors, options):
        return read_vectors(Path("the table"), vectors, options)
    names = [*map(str, getattr(table, "columns", ()))]
    if not is_wide(names, options) and COLUMN_NAMES.isdisjoint(map(folded, names)):
        named = {options.scores_key, options.genuine_key} - {None}
        if not named and (sides := labels_of_table(table)):
            return _labelled_matrix(table, sides, options)
    columns = columns_of(table)
    if columns is None:
        raise DataError(
            f"load was given {type(table).__name__}; expected the path of a file, or a table of "
            "pandas, polars or Arrow whose columns have names"
        )
    options.allow("a table", TEXT.options)
    names, whole = [*map(str, columns)], [*map(np.asarray, columns.values())]
    for name, column in zip(names, whole, strict=True):
        gap = missing_values(column)
        if gap.any() and name.casefold() not in SCORE_NAMES:
            raise DataError(f"row {int(np.argmax(gap))} of the table: {name} has no value")
    pieces = lambda wanted: [[whole[i] for i in wanted]]  # noqa: E731 - all at once
    return _read_table(Path("the table"), names, pieces, options)


def _labelled_matrix(table: Any, sides: tuple[Labelled, Labelled], options: ReadOptions) -> Scores:
    """Return the matrix of a table with labels in its index and columns."""
    (labels, meta), (gallery_labels, _) = sides
    read_otherwise = options.subject_from or options.labels or options.as_ == "pairs"
    if options.kind is None or read_otherwise:
        names = ["label", *map(str, labels)]
        if gallery_labels is not None:
            names = ["probe", *map(str, gallery_labels)]
        return wide_scores(Path("the table"), labels, names, np.asarray(table), options, meta)
    options.allow("a matrix as a table", ("kind", "nan", "as_"))
    return Scores(table, kind=options.kind, nan=options.nan or "raise", name="the table")


# ------------------------------------------------------------------------- Arrow


def _read_arrow(path: Path, options: ReadOptions) -> Scores:
    with guarded(path, expected="a Parquet or Arrow file"):
        vectors = vector_file(path)
        if vectors is not None and holds_vectors(vectors, options):
            return read_vectors(path, vectors, options)
        if options.embeddings_key is not None:
            raise DataError(
                f"{path}: no column holds vectors (a list of numbers in each row), and "
                f"{say('embeddings_key', options.embeddings_key)} names one"
            )
        if content(path) == "a Parquet file":
            rows = ParquetRows(path)
            if is_wide(rows.all_names, options) and rows.places:
                # The groups of rows are read as they are counted.
                rows.require_numbers()
                meta = {rows.all_names[i]: _words(rows.column(i)).astype(str) for i in rows.words}
                labels = _words(rows.column(0))
                names = [rows.all_names[0], *rows.names]
                return wide_scores(path, labels, names, StoredRows(rows, str(path)), options, meta)
        with ArrowTable(path) as table:
            return _read_table(path, table.names, table.pieces, options)


# ------------------------------------------------------------------------- JSON lines


def _read_json(path: Path, options: ReadOptions) -> Scores:
    with guarded(path, expected="lines of JSON"):
        names = [*_record(path, *_first_line(path), None)]
    with guarded(path, expected="lines of JSON"):
        records = lambda wanted: _records(path, names, wanted)  # noqa: E731
        return _read_table(path, names, records, options, lines=True)


def _records(path: Path, names: list[str], wanted: Sequence[int]) -> Iterator[list[Any]]:
    """Yield the `wanted` values of records as columns, of many lines at once."""
    columns: dict[str, list[Any]] = {names[i]: [] for i in wanted}
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record = _record(path, number, line, names)
            for name, column in columns.items():
                column.append(record[name])
            if len(column) == _ROWS_AT_ONCE:
                yield [*columns.values()]
                columns = {name: [] for name in columns}
    if any(columns.values()):
        yield [*columns.values()]


def _record(path: Path, number: int, line: bytes, names: list[str] | None) -> dict[str, Any]:
    """Return the object of a line, with a value for each of the names."""
    record = parse_json(line, f"{path}: line {number}")
    if not isinstance(record, dict) or not record:
        raise DataError(
            f"{path}: line {number}: expected one JSON object a line, as {{'score': 1}}"
        )
    for name in names or ():
        if name not in record or isinstance(record[name], dict | list | NoneType):
            raise DataError(f"{path}: line {number}: {name!r} has no value")
    return record


def _first_line(path: Path) -> tuple[int, bytes]:
    """Return the number of the first line that is not blank, and the line."""
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                return number, line
    return 1, b""


def _is_json(file: FileFacts) -> bool:
    words = file.path.name.lower().split(".")[-2:]
    return file.is_text and not {"jsonl", "ndjson"}.isdisjoint(words)


def _begins_with_json(file: FileFacts) -> bool:
    """Whether the first line is an object of JSON."""
    with guarded(file.path, expected="text"):
        line = _first_line(file.path)[1].strip()
    try:
        return line[:1] == b"{" and bool(_record(file.path, 1, line, None))
    except DataError:
        return False


#: What `content` calls tables of Arrow.
_ARROW = ("a Parquet file", "an Arrow (Feather) file", "an Arrow stream")

FORMATS = (
    Format(
        name="`.parquet`",
        suffixes=(".parquet", ".feather", ".arrow", ".arrows"),
        holds=(
            "a list of pairs, a matrix, or a column of embeddings, as a table of Parquet or Arrow "
            "(Feather, streams)"
        ),
        looks="a Parquet or Arrow file",
        expected="a Parquet or Arrow file",
        recognised_by="its first bytes",
        cannot_hold=(
            "metadata, the policy for failed comparisons; a matrix becomes its single "
            "comparisons; a `.wide.parquet` file: lists, masks, metadata, the kind"
        ),
        recognise=lambda file: file.content in _ARROW,
        read=_read_arrow,
        options=tuple(dict.fromkeys((*TEXT.options, *VECTORS))),
        written="a list of pairs, also as .feather; a matrix as .wide.parquet",
        otherwise=(
            Written(
                WIDE_ARROW,
                write_wide_arrow,
                lambda scores: wide_losses(scores, ("float32", "float64")),
            ),
        ),
        write=write_arrow,
        losses=pair_losses,
    ),
    Format(
        name="`.jsonl`",
        suffixes=(".jsonl", ".ndjson"),
        holds="a list of pairs, a JSON object a line",
        looks="lines of JSON",
        expected="lines of JSON",
        recognised_by="a first line that is a JSON object, or its suffix",
        cannot_hold=(
            "metadata, the policy for failed comparisons; a matrix becomes its single comparisons"
        ),
        recognise=_is_json,
        first_line=_begins_with_json,
        read=_read_json,
        options=TEXT.options,
        written="a list of pairs, also as .jsonl.gz",
        written_as=(".jsonl", ".ndjson", ".jsonl.gz"),
        write=write_json,
        losses=pair_losses,
    ),
)
