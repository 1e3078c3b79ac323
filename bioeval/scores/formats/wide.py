"""Tables whose columns have names: a matrix, a column for each gallery template; or a list.

A table is a text, a Parquet file or a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.progress import report
from bioeval.scores.columns import GrowingColumn
from bioeval.scores.formats.faults import fault, guarded
from bioeval.scores.formats.files import optional
from bioeval.scores.formats.layout_table import letter
from bioeval.scores.formats.layouts import with_header
from bioeval.scores.formats.lists import Listed, columns_of_words, score_options
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import (
    COLUMNS,
    HEADER_NAMES,
    counts_columns,
    folded,
    is_number,
    like_number,
)
from bioeval.scores.formats.tables import Columns, Head, Words, as_integers, read_columns
from bioeval.scores.formats.template_tables import read_templates
from bioeval.scores.formats.unknown_lists import no_scores
from bioeval.scores.labels import as_objects, missing_values, with_whole_numbers
from bioeval.scores.matrix import Scores

# The name above the rows of a matrix: rows and columns are the same templates, or others.
_ROW_NAMES = ("label", "probe")
# Rows of a Parquet file that are read together.
_ROWS_PER_PIECE = 1 << 17
# The first rows of a DataFrame, by which its columns are known.
_FIRST_ROWS = 1000


def is_wide(names: Sequence[str], arguments: Arguments) -> bool:
    """Whether columns are a matrix: names of the rows, and a column for each gallery template."""
    return (
        len(names) > 2
        and names[0].casefold() in _ROW_NAMES
        and "columns.scores" not in arguments
        and {*COLUMNS["score"]}.isdisjoint(map(str.casefold, names))
        and HEADER_NAMES.isdisjoint(map(folded, names[1:]))
    )


def with_corner(head: Head) -> Head:
    """Return the first lines of a text; where the first cell of a matrix is empty, it is filled.

    It becomes ``label`` if the rows have the names of the columns, else ``probe``.
    """
    corner, *column_names = head.cells[0]
    rows = head.cells[1:]
    row_names = [row[0] for row in rows]
    # Numbers of columns are no names, nor are the numbers of a matrix whose diagonal is blank.
    is_unnamed = counts_columns(column_names) or letter(column_names) == "f"
    if corner or len(rows) < 2 or is_unnamed:
        return head
    if row_names == column_names[: len(rows)]:
        head.cells[0][0] = _ROW_NAMES[0]
    elif _is_named_matrix(column_names, row_names, rows):
        head.cells[0][0] = _ROW_NAMES[sorted(row_names) != sorted(column_names)]
    return head


def _is_named_matrix(column_names: list[str], row_names: list[str], rows: list[list[str]]) -> bool:
    has_columns = len(column_names) > 1 and not any(map(is_number, column_names))
    has_columns = has_columns and HEADER_NAMES.isdisjoint(map(folded, column_names))
    has_names = has_columns and not all(map(is_number, row_names))
    return has_names and all(not cell or is_number(cell) for row in rows for cell in row[1:])


def read_wide(head: Head, arguments: Arguments) -> Scores | None:
    """Read a text as a matrix with names of rows and columns; None if the text is a list."""
    names = head.cells[0]
    if len(head.rows) < 2 or not is_wide(names, arguments):
        return None
    numbers = {i: names[i] for i in range(1, head.width)}
    for i in numbers:
        _, *cells = head.column(i)
        if 2 * sum(map(like_number, cells)) <= len(cells):
            raise fault(
                head.path,
                f"the column {names[i]!r} of a matrix holds no numbers",
                "expected a score in each cell; metadata and subjects of the rows are read from a "
                ".npz file",
            )
    arguments.take("header")
    table = read_columns(head, True, {0: names[0]}, numbers, blanks=[0, *numbers])
    return _matrix(table, names, arguments)


def _matrix(table: Columns, names: Sequence[str], arguments: Arguments) -> Scores:
    path = table.path
    labels = table.words[0].objects().astype(str)
    if arguments.take("lists.as") == "pairs":
        raise fault(
            path,
            "is a matrix, not a list of pairs",
            'leave out `lists={"as": "pairs"}`, or convert it to a list',
        )
    corner, *columns = names
    rows = labels.tolist()
    square = rows == columns
    if corner.casefold() == _ROW_NAMES[0] and not square and sorted(rows) == sorted(columns):
        raise fault(
            path,
            "rows and columns have the same labels in another order, so that it is not known which "
            "cells compare a template with itself",
            "bring both into one order, or, of two sets of templates, write probe for label above "
            "the rows",
        )
    subject_of, (probe_meta, gallery_meta) = _subjects_and_metadata(path, rows, columns, arguments)
    return Scores(
        np.column_stack([*table.numbers.values()]),
        [*map(subject_of, rows)],
        None if square else [*map(subject_of, columns)],
        kind=arguments.kind_of(path, None, ""),
        nan=arguments.take("nan", "raise"),
        name=path.name.split(".")[0],
        probe_meta=probe_meta,
        gallery_meta=None if square else gallery_meta,
    )


def _subjects_and_metadata(
    path: Path, rows: list[str], columns: list[str], arguments: Arguments
) -> tuple[Callable[[str], str], list[dict[str, list[str]]]]:
    """Return a function from a name to its subject, and the metadata of rows and of columns.

    With a table of templates, or a pattern, the names of rows and columns are of templates;
    otherwise they are the subjects.
    """
    all_names = [*dict.fromkeys([*rows, *columns])]
    if "labels" in arguments:
        templates = read_templates(arguments.take("labels"))
        subject = templates.subjects()
        meta, _ = templates.metadata(arguments.all_meta())
        templates.require(all_names, path)
    elif "subject_from" in arguments:
        meta = arguments.take("subject_from").parts(all_names, lambda name: str(path))
        subject = meta.pop("subject")
    else:
        return str, [{}, {}]
    sides = [
        {"template": side}
        | {name: [value_of_name[x] for x in side] for name, value_of_name in meta.items()}
        for side in (rows, columns)
    ]
    return subject.__getitem__, sides


# ------------------------------------------------------------------------- Parquet, a DataFrame

#: A function that yields the columns of some numbers, in pieces of rows.
Pieces = Callable[[Sequence[int]], Iterator[dict[int, Any]]]


def read_parquet(path: Path, arguments: Arguments) -> Scores:
    """Read a matrix, or a list of pairs, as the names of the columns show."""
    optional("pyarrow.parquet", path, "a Parquet file")
    arrow = optional("pyarrow", path, "a Parquet file")
    opened = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    with guarded(path, expected="a Parquet file"), opened as file:
        names = file.schema_arrow.names

        def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
            for batch in file.iter_batches(_ROWS_PER_PIECE, columns=[names[i] for i in columns]):
                yield {i: batch.column(names[i]).to_pandas() for i in columns}

        return _of_table(Head(path, ",", [names]), file.metadata.num_rows, pieces, arguments)


def read_frame(frame: Any, arguments: Arguments) -> Scores:
    """Read a DataFrame, as a file with the same columns is read."""
    first = frame.head(_FIRST_ROWS).astype(str).to_numpy().tolist()
    missing = missing_values(as_objects([*frame.columns]))
    names = [
        "" if is_missing else str(name)
        for name, is_missing in zip(frame.columns, missing, strict=True)
    ]
    head = Head(Path("DataFrame"), ",", [names, *first])

    def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
        yield {i: frame.iloc[:, i] for i in columns}

    return _of_table(head, len(frame), pieces, arguments)


def _of_table(head: Head, rows: int, pieces: Pieces, arguments: Arguments) -> Scores:
    path = head.path
    names = head.cells[0]
    if not rows:
        raise fault(path, "has no rows")
    if is_wide(names, arguments):
        table = _columns(head, rows, pieces, [*range(1, len(names))], [0], [0])
        return _matrix(table, names, arguments)
    layout = with_header(head, arguments)
    if layout is None or layout.get("score") is None:
        raise no_scores(head, named=True)
    options = score_options(path, layout, arguments)
    words = columns_of_words(layout, arguments)
    labels = {*layout.templates, *layout.subjects}
    table = _columns(head, rows, pieces, [layout.score], words, layout.may_be_blank, labels)
    return Listed(table, layout, arguments).scores(options)


def _columns(
    head: Head,
    rows: int,
    pieces: Pieces,
    numbers: Sequence[int],
    words: Sequence[int],
    blanks: Collection[int],
    labels: Collection[int] = (),
) -> Columns:
    """Read columns of numbers and of words.

    A missing number is NaN. Words may be missing in the columns `blanks` alone; in the columns
    `labels`, whole floats become integers.
    """
    text = {i: Words() for i in words}
    values = dict[int, GrowingColumn]()
    rows_read = 0
    names = head.cells[0]

    def refuse(wrong: np.ndarray, i: int, problem: str, expected: str) -> None:
        for row in np.flatnonzero(wrong)[:1].tolist():
            raise fault(head.path, f"row {rows_read + row}: {names[i]} {problem}", expected)

    for piece in pieces([*numbers, *words]):
        piece = {i: _blank_as_missing(cells) for i, cells in piece.items()}
        for i in numbers:
            cells = _as_floats(piece[i])
            wrong = np.isnan(cells) & piece[i].notna().to_numpy()
            if wrong.any():
                refuse(wrong, i, f"is {piece[i][wrong].iloc[0]!r}", "expected a number")
            values.setdefault(i, GrowingColumn(cells.dtype)).append(cells)
        for i, column in text.items():
            try:
                codes, distinct = piece[i].factorize()
            except TypeError:  # a cell holds a list, which is not hashable
                problem = f"column {names[i]!r} holds no single values"
                raise fault(head.path, problem, "expected one per row") from None
            if i not in blanks:
                refuse(codes < 0, i, "has no value", "expected one in each row")
            values_in_piece = distinct.tolist()
            if i in labels:
                source = f"{head.path}: column {names[i]!r}"
                piece_labels = np.asarray(distinct)
                if piece[i].dtype in (np.float16, np.float32):  # factorize may have widened them
                    piece_labels = piece_labels.astype(piece[i].dtype)
                values_in_piece = with_whole_numbers(piece_labels, source).tolist()
            # A missing word has the code -1, and so the last value.
            blank = [""] if (codes < 0).any() else []
            column.append(codes, [*map(str, values_in_piece), *blank])
        rows_read += len(piece[numbers[0]])
        report(rows_read, rows)
    text = {i: column.renamed(as_integers(column.values)) for i, column in text.items()}
    return Columns(head.path, text, {i: x.array() for i, x in values.items()}, None)


def _blank_as_missing(cells: Any) -> Any:
    if cells.dtype.kind not in "OSUT":
        return cells
    blank = cells.map(lambda cell: isinstance(cell, str) and not cell.strip())
    return cells.mask(blank.to_numpy(dtype=bool)) if blank.any() else cells


def _as_floats(cells: Any) -> np.ndarray:
    import pandas as pd

    values = pd.to_numeric(cells, errors="coerce")
    kind = getattr(values.dtype, "numpy_dtype", values.dtype)  # pandas has dtypes with NA
    dtype = np.float32 if kind in (np.float16, np.float32) else np.float64
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy().astype(dtype)
    return values.to_numpy(dtype=dtype, na_value=np.nan)
