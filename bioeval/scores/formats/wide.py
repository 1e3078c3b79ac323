"""Tables whose columns have names: a matrix, a column for each gallery template; or a list.

A table is a text, a Parquet file or a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.progress import report
from bioeval.scores.formats.faults import fault, guarded
from bioeval.scores.formats.files import optional
from bioeval.scores.formats.layouts import no_scores, with_header
from bioeval.scores.formats.lists import Listed, columns_of_words, score_options
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import (
    COLUMNS,
    HEADER_NAMES,
    counts_columns,
    folded,
    is_number,
    like_number,
    require_no_thousands,
)
from bioeval.scores.formats.tables import (
    Columns,
    GrowingColumn,
    Head,
    Words,
    as_integers,
    read_columns,
)
from bioeval.scores.formats.template_tables import read_templates
from bioeval.scores.labels import as_objects, missing_values, with_whole_numbers
from bioeval.scores.matrix import Scores

# The names above the rows of a matrix: rows that are the templates of the columns, and others.
_SAME_TEMPLATES = "label"
_OTHER_TEMPLATES = "probe"
# Rows of a Parquet file that are read together.
_ROWS_PER_PIECE = 1 << 17
# The first rows of a DataFrame, by which its columns are known.
_FIRST_ROWS = 1000


def is_wide(names: Sequence[str], arguments: Arguments) -> bool:
    """Whether columns are a matrix: names of the rows, and a column for each gallery template."""
    return (
        len(names) > 2
        and names[0].casefold() in (_SAME_TEMPLATES, _OTHER_TEMPLATES)
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
    is_unnamed = counts_columns(column_names) or any(
        "." in x and is_number(x) for x in column_names
    )
    if corner or len(rows) < 2 or is_unnamed:
        return head
    if row_names == column_names[: len(rows)]:
        head.cells[0][0] = _SAME_TEMPLATES
    elif _is_named_matrix(column_names, row_names, rows):
        are_same = sorted(row_names) == sorted(column_names)
        head.cells[0][0] = _SAME_TEMPLATES if are_same else _OTHER_TEMPLATES
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
    corner, *column_names = names
    row_names = labels.tolist()
    square = row_names == column_names
    has_same_names = sorted(row_names) == sorted(column_names)
    if corner.casefold() == _SAME_TEMPLATES and has_same_names and not square:
        raise fault(
            path,
            "rows and columns have the same labels in another order, so that it is not known which "
            "cells compare a template with itself",
            "bring both into one order, or, of two sets of templates, write probe for label above "
            "the rows",
        )
    described = _described_names(path, [*dict.fromkeys([*row_names, *column_names])], arguments)
    return Scores(
        np.column_stack([*table.numbers.values()]),
        described.subjects(row_names),
        None if square else described.subjects(column_names),
        kind=arguments.kind_of(path, None, ""),
        nan=arguments.take("nan", "raise"),
        name=path.name.split(".")[0],
        probe_meta=described.metadata(row_names),
        gallery_meta=None if square else described.metadata(column_names),
        shared=arguments.take("shared"),
    )


class _DescribedNames(NamedTuple):
    """What a table of templates, or a pattern, says of the names of rows and columns."""

    subject: Mapping[str, str] | None  # by name; None: the names are the subjects
    meta: Mapping[str, Mapping[str, str]]  # by column, and by name

    def subjects(self, names: list[str]) -> list[str]:
        return names if self.subject is None else [self.subject[x] for x in names]

    def metadata(self, names: list[str]) -> dict[str, list[str]]:
        if self.subject is None:
            return {}
        meta = {column: [value_of[x] for x in names] for column, value_of in self.meta.items()}
        return {"template": names, **meta}


def _described_names(path: Path, names: list[str], arguments: Arguments) -> _DescribedNames:
    if "labels" in arguments:
        templates = read_templates(arguments)
        subject = templates.subjects()
        meta, _ = templates.metadata(arguments.all_meta())
        templates.require(names, path)
        return _DescribedNames(subject, meta)
    if "subject_from" in arguments:
        parts = arguments.take("subject_from").parts(names, lambda name: str(path))
        return _DescribedNames(parts.pop("subject"), parts)
    return _DescribedNames(None, {})


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

        first: list[list[str]] = []
        if not is_wide(names, arguments):
            for batch in islice(file.iter_batches(_FIRST_ROWS), 1):
                first = batch.to_pandas(ignore_metadata=True).astype(str).to_numpy().tolist()
        head = Head(path, ",", [names, *first])
        return _of_table(head, file.metadata.num_rows, pieces, arguments)


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


def _of_table(head: Head, row_count: int, pieces: Pieces, arguments: Arguments) -> Scores:
    path = head.path
    names = head.cells[0]
    if not row_count:
        raise fault(path, "has no rows")
    if is_wide(names, arguments):
        table = _columns(head, row_count, pieces, [*range(1, len(names))], [0], [0])
        return _matrix(table, names, arguments)
    layout = with_header(head, arguments)
    if layout is None or layout.get("score") is None:
        raise no_scores(head, named=True)
    options = score_options(path, layout, arguments)
    words = columns_of_words(layout, arguments)
    labels = {*layout.templates, *layout.subjects}
    table = _columns(head, row_count, pieces, [layout.score], words, layout.may_be_blank, labels)
    return Listed(table, layout, arguments).scores(options)


def _columns(
    head: Head,
    row_count: int,
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
    columns = {i: Words() for i in words}
    values = dict[int, GrowingColumn]()
    rows_read = 0
    for cells_of_column in pieces([*numbers, *words]):
        cells = {i: _blank_as_missing(column) for i, column in cells_of_column.items()}
        piece = _Piece(head, rows_read, cells)
        for i in numbers:
            floats = piece.floats(i)
            values.setdefault(i, GrowingColumn(floats.dtype)).append(floats)
        for i, column in columns.items():
            column.append(*piece.words(i, may_be_blank=i in blanks, are_labels=i in labels))
        rows_read += len(cells[numbers[0]])
        report(rows_read, row_count)
    columns = {i: column.renamed(as_integers(column.values)) for i, column in columns.items()}
    return Columns(head.path, columns, {i: x.array() for i, x in values.items()}, None)


class _Piece(NamedTuple):
    """Some rows of a table."""

    head: Head
    first_row: int
    cells: dict[int, Any]  # by number of a column, each a Series of pandas

    def floats(self, i: int) -> np.ndarray:
        """Return a column of numbers, with NaN for a missing one; raise where a cell is a word."""
        cells = self.cells[i]
        floats = _as_floats(cells)
        is_word = np.isnan(floats) & cells.notna().to_numpy()
        if cells.dtype.kind in "OSUT":
            texts = [str(x) for x in cells[cells.notna()]]
            require_no_thousands(f"{self.head.path}: {self.head.cells[0][i]}", texts)
        if is_word.any():
            self._refuse(is_word, i, f"is {cells[is_word].iloc[0]!r}", "expected a number")
        return floats

    def words(
        self, i: int, *, may_be_blank: bool, are_labels: bool
    ) -> tuple[np.ndarray, list[str]]:
        cells = self.cells[i]
        name = self.head.cells[0][i]
        try:
            codes, distinct = cells.factorize()
        except TypeError:  # a cell holds a list, which is not hashable
            problem = f"column {name!r} holds no single values"
            raise fault(self.head.path, problem, "expected one per row") from None
        is_blank = codes < 0
        if not may_be_blank:
            self._refuse(is_blank, i, "has no value", "expected one in each row")
        values = distinct.tolist()
        if are_labels:
            labels = np.asarray(distinct)
            if cells.dtype in (np.float16, np.float32):  # factorize may have widened them
                labels = labels.astype(cells.dtype)
            values = with_whole_numbers(labels, f"{self.head.path}: column {name!r}").tolist()
        # A missing word has the code -1, and so the last value.
        return codes, [*map(str, values), *([""] if is_blank.any() else [])]

    def _refuse(self, wrong: np.ndarray, i: int, problem: str, expected: str) -> None:
        for row in np.flatnonzero(wrong)[:1].tolist():
            place = f"row {self.first_row + row}: {self.head.cells[0][i]}"
            raise fault(self.head.path, f"{place} {problem}", expected)


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
