"""Lists of pairs and matrices as tables of Parquet."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.progress import report
from bioeval.scores.columns import GrowingColumn
from bioeval.scores.formats.files import guarded, optional, replacing
from bioeval.scores.formats.format import Format, ReadOptions
from bioeval.scores.formats.listed_pairs import how_read, pairs_of_columns
from bioeval.scores.formats.pair_layouts import PairLayout, unknown_layout, with_header
from bioeval.scores.formats.pair_lists import FORMAT as TEXT, blocks_of_lines, pair_losses
from bioeval.scores.formats.text_table import Columns, Shape, TextColumn
from bioeval.scores.formats.wide_tables import is_wide, wide_columns, wide_scores
from bioeval.scores.matrix import Scores

# Rows of a list that are read together.
_ROWS = 1 << 17


def _arrow(path: Path) -> Any:
    optional("pyarrow.parquet", path, "a Parquet file")
    return optional("pyarrow", path, "a Parquet file")


def _read(path: Path, options: ReadOptions) -> Scores:
    """Read a matrix, or a list of pairs, as the names and types of the columns show."""
    arrow = _arrow(path)
    opened = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    with guarded(path, expected="a Parquet file"), opened as file:
        schema = file.schema_arrow
        if is_wide(schema.names, options):
            types = arrow.types
            is_text = [types.is_string(x) or types.is_large_string(x) for x in schema.types]
            numbers, words = wide_columns(schema.names, is_text)
            if numbers:
                return _matrix(path, file.read(), numbers, words, options)
        return _list(path, file, schema.names, options)


def _matrix(
    path: Path, table: Any, numbers: list[int], words: list[int], options: ReadOptions
) -> Scores:
    """Return the matrix in the columns `numbers`, with the metadata in `words`."""
    names = table.column_names
    if not table.num_rows:
        raise DataError(f"{path}: has no rows")
    columns = {i: _floats(path, names[i], table.column(i)) for i in numbers}
    narrow = all(column.dtype == np.float32 for column in columns.values())
    values = np.empty((table.num_rows, len(numbers)), np.float32 if narrow else np.float64)
    for place, column in enumerate(columns.values()):
        values[:, place] = column
    text = {names[i]: table.column(i).fill_null("") for i in words}  # an unknown value
    meta = {name: _words(path, name, column).astype(str) for name, column in text.items()}
    labels = _words(path, names[0], table.column(0))
    return wide_scores(
        path, labels, [names[0], *(names[i] for i in numbers)], values, options, meta
    )


def _list(path: Path, file: Any, names: list[str], options: ReadOptions) -> Scores:
    shape = Shape(path, ",", [names])
    layout = with_header(shape, options)
    if layout is None or layout.score is None:
        raise unknown_layout(shape)
    how = how_read(path, layout, options)
    return pairs_of_columns(_columns(path, file, layout), layout, options, how)


def _columns(path: Path, file: Any, layout: PairLayout) -> Columns:
    score, sides = layout.score or 0, {*(layout.subjects or ()), *(layout.templates or ())}
    wanted = layout.called(sides | {layout.genuine, layout.fold, layout.species})
    text = {i: TextColumn() for i in sorted(wanted)}
    numbers: GrowingColumn | None = None
    done, rows = 0, file.metadata.num_rows
    for batch in file.iter_batches(_ROWS, columns=[layout.names[i] for i in (score, *text)]):
        values = _floats(path, layout.names[score], batch.column(layout.names[score]), done)
        if numbers is None:
            numbers = GrowingColumn(values.dtype)
        numbers.append(values)
        for i, column in text.items():
            _append(path, layout.names[i], column, batch.column(layout.names[i]), done)
        done += batch.num_rows
        report(done, rows)
    if numbers is None:
        raise DataError(f"{path}: has no rows")
    return Columns(path, text, {score: numbers.array()}, None)


def _append(path: Path, name: str, column: TextColumn, cells: Any, before: int) -> None:
    """Append cells as their distinct values and their codes."""
    from pyarrow import types

    if types.is_floating(cells.type):
        column.append(_words(path, name, cells, before))
        return
    _require_values(path, name, cells, before)
    if types.is_dictionary(cells.type):  # which may hold values of no row
        cells = cells.dictionary_decode()
    coded = cells.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    column.append_codes(codes, coded.dictionary.to_pylist())


def _require_values(path: Path, name: str, column: Any, before: int) -> None:
    """Raise unless a column has one value in each row; `before` rows were read before."""
    from pyarrow import types

    if types.is_nested(column.type):
        raise DataError(f"{path}: {name} is of type {column.type}; expected one value per row")
    if column.null_count:
        row = before + column.is_null().index(True).as_py()
        raise DataError(f"{path}: row {row}: {name} has no value; expected one in each row")


def _floats(path: Path, name: str, column: Any, before: int = 0) -> np.ndarray:
    """Return a column of numbers as floats; float32 is kept, and float16 becomes float32."""
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise DataError(f"{path}: column {name!r} is {kind}; expected numbers")
    _require_values(path, name, column, before)
    narrow = types.is_float32(kind) or types.is_float16(kind)
    return np.asarray(column).astype(np.float32 if narrow else np.float64)


def _words(path: Path, name: str, column: Any, before: int = 0) -> np.ndarray:
    """Return a column as text, with whole numbers, such as 1 for genuine, without a point."""
    _require_values(path, name, column, before)
    return np.array([*map(str, np.asarray(column).tolist())], dtype=object)


def _write(scores: Scores, path: Path) -> None:
    scores._require_matrix()
    arrow = _arrow(path)
    writer = arrow.parquet.ParquetWriter
    blocks = map(arrow.table, blocks_of_lines(scores))
    first = next(blocks)
    with (
        replacing(path) as part,
        writer(str(part), first.schema, write_page_checksum=True) as out,
    ):
        for table in chain([first], blocks):
            out.write_table(table)


FORMAT = Format(
    name="`.parquet`",
    suffixes=(".parquet",),
    holds="a list of pairs, or a matrix, as a table of Parquet",
    expected="a Parquet file",
    recognise=lambda file: file.content == "a Parquet file",
    read=_read,
    options=TEXT.options,
    written="a list of pairs",
    write=_write,
    losses=pair_losses,
)
