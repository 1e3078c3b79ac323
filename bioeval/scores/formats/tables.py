"""Tables with named columns, as lists of pairs or matrices: Parquet, Arrow, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.progress import report
from bioeval.scores.formats.files import guarded, optional
from bioeval.scores.formats.format import Format, Found
from bioeval.scores.formats.options import ReadOptions
from bioeval.scores.formats.pair_layouts import (
    SCORE_NAMES,
    PairLayout,
    unknown_layout,
    with_header,
)
from bioeval.scores.formats.pair_lists import FORMAT as TEXT
from bioeval.scores.formats.pair_lists import how_read, pairs_of_columns
from bioeval.scores.formats.pair_writers import pair_losses, write_arrow, write_json
from bioeval.scores.formats.text_table import Columns, Shape, TextColumn, open_text
from bioeval.scores.formats.wide_tables import is_wide, wide_scores
from bioeval.scores.labels import columns_of, missing_values
from bioeval.scores.matrix import Scores

_PIECE = 1 << 17  # rows


def _read_pieces(
    path: Path, names: list[str], pieces: Iterable[dict[str, Any]], options: ReadOptions
) -> Scores:
    """Return the scores of a table that is read in pieces, mappings of names to arrays."""
    shape = Shape(path, ",", [names])
    if is_wide(names, options):
        parts = [*pieces]
        rows = [np.column_stack([_floats(p, n, path, 0) for n in names[1:]]) for p in parts]
        labels = np.concatenate([np.asarray(_words(piece[names[0]])) for piece in parts])
        return wide_scores(path, labels, names[1:], np.vstack(rows), options)
    layout = with_header(shape, options)
    if layout is None or layout.score is None:
        raise unknown_layout(shape)
    how = how_read(path, layout, options)
    table = _columns(path, layout, names, pieces)
    return pairs_of_columns(table, layout, options, how)


def _columns(
    path: Path, layout: PairLayout, names: list[str], pieces: Iterable[dict[str, Any]]
) -> Columns:
    score = layout.score or 0
    wanted = {*(layout.subjects or ()), *(layout.templates or ()), layout.genuine, layout.fold}
    text = {i: TextColumn() for i in wanted if i is not None}
    numbers: list[np.ndarray] = []
    rows = 0
    for piece in pieces:
        numbers.append(_floats(piece, names[score], path, rows))
        for i, column in text.items():
            column.append(_words(piece[names[i]]))
        rows += len(numbers[-1])
    if not rows:
        raise DataError(f"{path}: has no rows")
    return Columns(path, text, {score: np.concatenate(numbers)}, 0)


def _floats(piece: dict[str, Any], name: str, path: Path, before: int) -> np.ndarray:
    values = piece[name]
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
    return _read_pieces(Path("the table"), list(columns), [columns], options)


# ------------------------------------------------------------------------- Arrow


def _read_arrow(path: Path, options: ReadOptions) -> Scores:
    dataset = optional("pyarrow.dataset", path, "a Parquet or Arrow file")
    with guarded(path, expected="a Parquet or Arrow file"):
        with open(path, "rb") as file:
            kind = "parquet" if file.read(4) == b"PAR1" else "feather"
        table = dataset.dataset(str(path), format=kind)
        return _read_pieces(path, table.schema.names, _batches(table, path), options)


def _batches(table: Any, path: Path) -> Iterator[dict[str, Any]]:
    total, done = table.count_rows(), 0
    for batch in table.to_batches(batch_size=_PIECE):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.null_count:
                row = done + next(i for i, value in enumerate(column) if not value.is_valid)
                raise DataError(f"{path}: row {row}: {name} has no value; expected one in each row")
        done += batch.num_rows
        report(done, total)
        if batch.num_rows:
            yield {
                name: column.to_numpy(zero_copy_only=False)
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }


# ------------------------------------------------------------------------- JSON lines


def _read_json(path: Path, options: ReadOptions) -> Scores:
    with guarded(path, expected="lines of JSON"), open_text(path) as file:
        names = [*_record(path, 1, next(iter(file), b""), None)]
    with guarded(path, expected="lines of JSON"):
        return _read_pieces(path, names, _records(path, names), options)


def _records(path: Path, names: list[str]) -> Iterator[dict[str, Any]]:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record = _record(path, number, line, names)
            for name, column in columns.items():
                column.append(record[name])
            if len(column) == _PIECE:
                yield columns
                columns = {name: [] for name in names}
    if columns[names[0]]:
        yield columns


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
    if found.suffix not in (".jsonl", ".ndjson"):
        return False
    return found.content == "text"


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
        written="a list of pairs, also as .feather",
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
