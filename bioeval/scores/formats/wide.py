"""Tables whose columns have names: a matrix, a column for each gallery template; or a list.

A table is a text, a Parquet file or a DataFrame.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.progress import report
from bioeval.scores.columns import GrowingColumn
from bioeval.scores.formats.faults import fault, guarded, say
from bioeval.scores.formats.files import optional
from bioeval.scores.formats.layouts import (
    COLUMNS,
    HEADER_NAMES,
    folded,
    like_number,
    no_scores,
    with_header,
)
from bioeval.scores.formats.lists import Listed, how_read, wanted_columns
from bioeval.scores.formats.options import Given
from bioeval.scores.formats.tables import Columns, Head, Words, read_columns
from bioeval.scores.matrix import Scores

_ROW_NAMES = ("label", "probe")
_ROWS = 1 << 17  # of a list that are read together


def is_wide(names: Sequence[str], given: Given) -> bool:
    """Whether the columns are those of a matrix: the first names the rows, the others templates."""
    return (
        len(names) > 2
        and names[0].casefold() in _ROW_NAMES
        and "columns.scores" not in given
        and {*COLUMNS["score"]}.isdisjoint(map(str.casefold, names))
        and HEADER_NAMES.isdisjoint(map(folded, names[1:]))
    )


def with_corner(head: Head) -> Head:
    """Return the first lines; an empty first cell is ``label`` in a square matrix."""
    (corner, *names), *rows = head.cells
    if not corner and len(rows) > 1 and [row[0] for row in rows] == names[: len(rows)]:
        head.cells[0][0] = _ROW_NAMES[0]
    return head


def read_wide(head: Head, given: Given) -> Scores | None:
    """Read a text as a matrix with names of rows and columns; None of a list."""
    names = head.cells[0]
    if len(head.rows) < 2 or not is_wide(names, given):
        return None
    numbers = {i: names[i] for i in range(1, head.width)}
    for i in numbers:
        _, *cells = head.column(i)
        if 2 * sum(map(like_number, cells)) <= len(cells):
            _refuse_words(head.path, names[i])
    table = read_columns(head, True, {0: names[0]}, numbers)
    values = np.column_stack([*table.numbers.values()])
    return _matrix(head.path, names, table.words[0].objects().astype(str), values, given)


def _refuse_words(path: Path, name: str) -> None:
    """Raise for a column of a matrix that holds no numbers."""
    raise fault(
        path,
        f"the column {name!r} of a matrix holds no numbers",
        "expected a score in each cell; metadata and subjects of the rows are read from a .npz "
        "file",
    )


def _matrix(
    path: Path, names: Sequence[str], labels: np.ndarray, values: Any, given: Given
) -> Scores:
    """Return the matrix of a table: all against all where rows and columns have the same names."""
    if given.take("lists.as") == "pairs":
        raise fault(
            path,
            "is a matrix, not a list of pairs",
            f"leave out {say('lists.as', 'pairs')}, or convert it to a list",
        )
    corner, *columns = names
    rows, listed = labels, labels.tolist()
    square = listed == columns
    if corner.casefold() == _ROW_NAMES[0] and not square and sorted(listed) == sorted(columns):
        raise fault(
            path,
            "rows and columns have the same labels in another order, so that it is not known which "
            "cells compare a template with itself",
            "bring both into one order, or, of two sets of templates, write probe for label above "
            "the rows",
        )
    return Scores(
        values,
        rows,
        None if square else np.array(columns, dtype=str),
        kind=given.kind_of(path, None, ""),
        nan=given.take("nan", "raise"),
        name=path.name.split(".")[0],
    )


def list_of_table(head: Head, columns: Any, given: Given) -> Scores:
    """Return the list in a table with typed columns; `columns` reads some of them."""
    layout = with_header(head, given)
    if layout is None or layout.get("score") is None:
        raise no_scores(head, named=True)
    how = how_read(head.path, layout, given)
    return Listed(columns(layout.score, wanted_columns(layout, given)), layout, given).scores(how)


# ------------------------------------------------------------------------- Parquet


def read_parquet(path: Path, given: Given) -> Scores:
    """Read a matrix, or a list of pairs, as the names and types of the columns show."""
    optional("pyarrow.parquet", path, "a Parquet file")
    arrow = optional("pyarrow", path, "a Parquet file")
    opened = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    with guarded(path, expected="a Parquet file"), opened as file:
        names = file.schema_arrow.names
        if not file.metadata.num_rows:
            raise fault(path, "has no rows")
        if not is_wide(names, given):
            head = Head(path, ",", [names])
            return list_of_table(head, lambda *two: _columns(path, file, names, *two), given)
        table = file.read()
        for name in names[1:]:
            if arrow.types.is_string(kind := table.column(name).type) or "string" in str(kind):
                _refuse_words(path, name)
        columns = [_floats(path, name, table.column(name)) for name in names[1:]]
        narrow = all(column.dtype == np.float32 for column in columns)
        values = np.empty((table.num_rows, len(columns)), np.float32 if narrow else np.float64)
        for place, column in enumerate(columns):
            values[:, place] = column
        labels = _words(path, names[0], table.column(0)).astype(str)
    return _matrix(path, names, labels, values, given)


def _columns(path: Path, file: Any, names: list[str], score: int, wanted: list[int]) -> Columns:
    words = {i: Words() for i in wanted}
    numbers: GrowingColumn | None = None
    done, rows = 0, file.metadata.num_rows
    for batch in file.iter_batches(_ROWS, columns=[names[i] for i in (score, *words)]):
        values = _floats(path, names[score], batch.column(names[score]), done, fails=True)
        if numbers is None:
            numbers = GrowingColumn(values.dtype)
        numbers.append(values)
        for i, column in words.items():
            _append(path, names[i], column, batch.column(names[i]), done)
        done += batch.num_rows
        report(done, rows)
    if numbers is None:
        raise fault(path, "has no rows")
    return Columns(path, words, {score: numbers.array()}, None)


def _append(path: Path, name: str, column: Words, cells: Any, before: int) -> None:
    """Append cells as their distinct values and their codes."""
    from pyarrow import types

    _require_values(path, name, cells, before)
    if types.is_dictionary(cells.type):  # which may hold values of no row
        cells = cells.dictionary_decode()
    coded = cells.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    column.append(codes, map(str, coded.dictionary.to_pylist()))


def _require_values(path: Path, name: str, column: Any, before: int) -> None:
    """Raise unless a column has one value in each row; `before` rows were read before."""
    from pyarrow import types

    if types.is_nested(column.type):
        raise fault(path, f"{name} is of type {column.type}", "expected one value per row")
    if column.null_count:
        row = before + column.is_null().index(True).as_py()
        raise fault(path, f"row {row}: {name} has no value", "expected one in each row")


def _floats(path: Path, name: str, column: Any, before: int = 0, fails: bool = False) -> np.ndarray:
    """Return a column of numbers as floats; float32 is kept, and float16 becomes float32.

    With `fails`, a row without a value is NaN.
    """
    from pyarrow import types

    kind = column.type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        raise fault(path, f"column {name!r} is {kind}", "expected numbers")
    if not fails:
        _require_values(path, name, column, before)
    narrow = types.is_float32(kind) or types.is_float16(kind)
    values = column.to_numpy(zero_copy_only=False) if column.null_count else np.asarray(column)
    return values.astype(np.float32 if narrow else np.float64)


def _words(path: Path, name: str, column: Any) -> np.ndarray:
    """Return a column as text."""
    _require_values(path, name, column, 0)
    return np.array([*map(str, np.asarray(column).tolist())], dtype=object)


# ------------------------------------------------------------------------- a DataFrame


def read_frame(frame: Any, given: Given) -> Scores:
    """Read a DataFrame of comparisons, as a file with the same columns is read."""
    import pandas as pd

    path, names = Path("DataFrame"), [*map(str, frame.columns)]
    if not len(frame):
        raise fault(path, "has no rows")

    def columns(score: int, wanted: list[int]) -> Columns:
        values = pd.to_numeric(frame.iloc[:, score], errors="coerce")
        wrong = values.isna() & frame.iloc[:, score].notna()
        if wrong.any():
            row = int(np.argmax(wrong.to_numpy()))
            cell = frame.iloc[row, score]
            if str(cell).strip():
                raise fault(path, f"row {row}: {names[score]} is {cell!r}", "expected a number")
        words = {}
        for i in wanted:
            cells = frame.iloc[:, i]
            if cells.isna().any():
                row = int(np.argmax(cells.isna().to_numpy()))
                raise fault(path, f"row {row}: {names[i]} has no value", "expected one")
            codes, distinct = cells.factorize()
            words[i] = Words.of(codes, map(str, distinct.tolist()))
        return Columns(path, words, {score: values.to_numpy(dtype=np.float64)}, None)

    first = frame.head(1000).astype(str).to_numpy().tolist()
    return list_of_table(Head(path, ",", [names, *first]), columns, given)
