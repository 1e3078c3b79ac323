"""Tables with named columns, as lists of pairs or matrices: Parquet, Arrow, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.arrow_tables import ArrowTable, Distinct
from bioeval.scores.formats.files import guarded
from bioeval.scores.formats.format import Format, Found, Written
from bioeval.scores.formats.listed_pairs import how_read, pairs_of_columns
from bioeval.scores.formats.options import ReadOptions
from bioeval.scores.formats.pair_layouts import PairLayout, unknown_layout, with_header
from bioeval.scores.formats.pair_lists import FORMAT as TEXT
from bioeval.scores.formats.pair_writers import pair_losses, write_arrow, write_json
from bioeval.scores.formats.parquet_rows import ParquetRows
from bioeval.scores.formats.spellings import SCORE_NAMES
from bioeval.scores.formats.text_columns import MOST_NAMES, Columns, TextColumn
from bioeval.scores.formats.text_shape import Shape, open_text
from bioeval.scores.formats.wide_tables import (
    WIDE_ARROW,
    is_wide,
    wide_losses,
    wide_scores,
    write_wide_arrow,
)
from bioeval.scores.growing_column import GrowingColumn
from bioeval.scores.labels import columns_of, missing_values
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import StoredRows

_PIECE = 1 << 17  # rows


#: What reads some columns of a table, by their numbers, in pieces: a column each.
Pieces = Callable[[Sequence[int]], Iterable[Sequence[Any]]]


def _read_table(
    path: Path, names: list[str], pieces: Pieces, options: ReadOptions, lines: bool = False
) -> Scores:
    """Return the scores of a table that is read in pieces, of which a row may be a line."""
    shape = Shape(path, ",", [names])
    if is_wide(names, options):
        labels = TextColumn()
        cells: GrowingColumn | None = None
        for first, *others in pieces(range(len(names))):
            before = len(cells or ()) // len(others)
            values = [_floats(x, n, path, before) for x, n in zip(others, names[1:], strict=True)]
            _append(labels, first)
            rows = np.column_stack(values)
            cells = GrowingColumn(rows.dtype) if cells is None else cells
            cells.append(rows.reshape(-1))
        if cells is None:
            raise DataError(f"{path}: has no rows")
        matrix = cells.array().reshape(-1, len(names) - 1)
        return wide_scores(path, labels.objects(), names[1:], matrix, options)
    layout = with_header(shape, options)
    if layout is None or layout.score is None:
        raise unknown_layout(shape)
    how = how_read(path, layout, options)
    named = options.as_ or options.trials or options.labels or options.subject_from
    table = _columns(path, layout, pieces, None if named else MOST_NAMES, 1 if lines else None)
    return pairs_of_columns(table, layout, options, how)


def _columns(
    path: Path, layout: PairLayout, pieces: Pieces, most: int | None, first_line: int | None
) -> Columns:
    score, templates = layout.score or 0, layout.templates or ()
    wanted = {*(layout.subjects or ()), *templates, layout.genuine, layout.fold}
    text = {
        i: TextColumn(most=most if i in templates else None)
        for i in sorted(i for i in wanted if i is not None)
    }
    numbers: GrowingColumn | None = None
    for values, *words in pieces([score, *text]):
        found = _floats(values, layout.names[score], path, len(numbers or ()))
        numbers = GrowingColumn(found.dtype) if numbers is None else numbers
        numbers.append(found)
        for column, cells in zip(text.values(), words, strict=True):
            _append(column, cells)
    if numbers is None:
        raise DataError(f"{path}: has no rows")
    return Columns(path, text, {score: numbers.array()}, first_line)


def _append(column: TextColumn, cells: Any) -> None:
    """Append cells, or the distinct ones of an Arrow column and their numbers."""
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
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(values):
            if not isinstance(value, int | float):
                raise DataError(
                    f"{path}: row {before + row}: {name} is {value!r}; expected a number"
                ) from None
        raise


def _words(values: Any) -> np.ndarray:
    """Return a column as text; whole numbers, such as 1 for genuine, without a point."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.array([str(value) for value in array], dtype=object)
    return array if array.dtype.kind == "O" else array.astype(str).astype(object)


def read_table_object(table: Any, options: ReadOptions) -> Scores:
    """Return the scores of a table in memory (pandas, polars or Arrow): pairs, or a matrix."""
    columns = columns_of(table)
    if columns is None:
        raise DataError(
            f"load was given {type(table).__name__}; expected the path of a file, or a table of "
            "pandas, polars or Arrow whose columns have names"
        )
    options.allow("a table", TEXT.options)
    columns = {str(name): np.asarray(column) for name, column in columns.items()}
    for name, column in columns.items():
        gap = missing_values(column)
        if gap.any() and name.casefold() not in SCORE_NAMES:
            raise DataError(f"row {int(np.argmax(gap))} of the table: {name} has no value")
    whole = [*columns.values()]
    return _read_table(
        Path("the table"), list(columns), lambda wanted: [[whole[i] for i in wanted]], options
    )


# ------------------------------------------------------------------------- Arrow


def _read_arrow(path: Path, options: ReadOptions) -> Scores:
    with guarded(path, expected="a Parquet or Arrow file"):
        with open(path, "rb") as file:
            parquet = file.read(4) == b"PAR1"
        if parquet:
            rows = ParquetRows(path)
            if is_wide(rows.all_names, options):
                return _wide_parquet(path, rows, options)
        with ArrowTable(path) as table:
            return _read_table(path, table.names, table.pieces, options)


def _wide_parquet(path: Path, rows: ParquetRows, options: ReadOptions) -> Scores:
    """Return the matrix of a Parquet file, whose groups of rows are read as they are counted."""
    labels = _words(rows.labels())
    rows.require_numbers()
    return wide_scores(path, labels, rows.names, StoredRows(rows, str(path)), options)


# ------------------------------------------------------------------------- JSON lines


def _read_json(path: Path, options: ReadOptions) -> Scores:
    with guarded(path, expected="lines of JSON"), open_text(path) as file:
        names = [*_record(path, 1, next(iter(file), b""), None)]
    with guarded(path, expected="lines of JSON"):
        records = lambda wanted: _records(path, names, wanted)  # noqa: E731
        return _read_table(path, names, records, options, lines=True)


def _records(path: Path, names: list[str], wanted: Sequence[int]) -> Iterator[list[Any]]:
    columns: dict[str, list[Any]] = {names[i]: [] for i in wanted}
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record = _record(path, number, line, names)
            for name, column in columns.items():
                column.append(record[name])
            if len(column) == _PIECE:
                yield [*columns.values()]
                columns = {name: [] for name in columns}
    if any(columns.values()):
        yield [*columns.values()]


def _record(path: Path, number: int, line: bytes, names: list[str] | None) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or not record:
        raise DataError(
            f"{path}: line {number}: expected one JSON object a line, as {{'score': 1}}"
        )
    for name in names or ():
        if name not in record or isinstance(record[name], dict | list | NoneType):
            raise DataError(f"{path}: line {number}: {name!r} has no value")
    return record


def _is_json(found: Found) -> bool:
    return found.suffix in (".jsonl", ".ndjson") and found.content == "text"


def _wide_losses(scores: Scores) -> list[str]:
    return wide_losses(scores, ("float32", "float64"))


FORMATS = (
    Format(
        name="`.parquet`",
        suffixes=(".parquet", ".feather", ".arrow"),
        holds="a list of pairs, or a matrix, as a table of Parquet or Arrow (Feather)",
        looks="a Parquet or Arrow file",
        expected="a Parquet or Arrow file",
        recognise=lambda found: found.content in ("a Parquet file", "an Arrow (Feather) file"),
        read=_read_arrow,
        options=TEXT.options,
        written="a list of pairs, also as .feather; a matrix as .wide.parquet",
        otherwise=(Written(WIDE_ARROW, write_wide_arrow, _wide_losses),),
        write=write_arrow,
        losses=pair_losses,
    ),
    Format(
        name="`.jsonl`",
        suffixes=(".jsonl", ".ndjson"),
        holds="a list of pairs, a JSON object a line",
        looks="lines of JSON",
        expected="lines of JSON",
        recognise=_is_json,
        read=_read_json,
        options=TEXT.options,
        written="a list of pairs",
        write=write_json,
        losses=pair_losses,
    ),
)
