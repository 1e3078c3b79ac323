"""Texts with a row on each line: their first lines, and whole columns, which are read in pieces."""

from __future__ import annotations

import csv
import re
import warnings
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError, counted, received
from bioeval.base.files import from_cell
from bioeval.base.options import OPTIONS, physical_memory, require_memory
from bioeval.scores.formats.files import (
    cells_of,
    decode,
    delimiter_of,
    fault,
    guarded,
    open_text,
    rows_of,
)
from bioeval.scores.formats.roles import (
    HEADER_NAMES,
    folded,
    is_float,
    is_number,
    require_few,
    require_no_thousands,
)
from bioeval.scores.labels import LEAST_INEXACT, normal, with_whole_numbers

if TYPE_CHECKING:
    import pandas as pd


#: Values of a column that are worked on together: few, so that temporary arrays stay small.
PIECE = 1 << 17


class GrowingColumn:
    """Numbers appended piece by piece, of the first type that can hold all."""

    def __init__(self, dtype: Any):
        self._pieces = [np.empty(0, dtype)]

    def append(self, values: np.ndarray) -> None:
        self._pieces.append(values.copy())

    def array(self) -> np.ndarray:
        if len(self._pieces) > 1:
            self._pieces = [np.concatenate(self._pieces)]
        return self._pieces[0]


# The most bytes, and the most lines, of a text by which its columns are known.
_FIRST_BYTES = 1 << 16
_FIRST_LINES = 1000
_COMMENT = "#"
# The line by which Excel knows the separator of the cells.
_SEPARATOR = re.compile(r"sep=[;,|]?", re.IGNORECASE)
# Distinct values up to this number have codes of one byte.
_MOST_BYTE_CODES = np.iinfo(np.int8).max
# Lines that pandas reads together.
_LINES_PER_PIECE = 1 << 19
# Bytes that a line takes beside its columns of words, which share their values.
_LINE_BYTES = 64
# What a table takes under a memory limit, with an evaluation of it: bytes in any case, and for each
# row, for a number and a word in it, and for a distinct word.
_TABLE_BYTES = 32 << 20
_ROW_BYTES = 32
_NUMBER_BYTES = 16
_WORD_BYTES = 8
_NAME_BYTES = 400
# A number with a comma at the end of a line, in a text whose cells are separated by blanks.
_DECIMAL_COMMA = re.compile(r"\s[+-]?\d+,\d+\s*$")
# A whole number in a column with blanks, which pandas writes as a float: 1.0, or 1e+16.
_WHOLE_FLOAT = re.compile(
    r"-?(0|[1-9][0-9]*)\.0|-?[0-9](\.[0-9]+)?e\+(1[6-9]|[2-9][0-9]|[1-3][0-9]{2})"
)


@dataclass
class Head:
    """The first lines of a text, or the first rows of a table, by which its columns are known."""

    path: Path
    delimiter: str  # a comma, semicolon or tab, a blank for any white space; "" of a table
    cells: list[list[str]] = field(repr=False)  # the cells of each line that is not blank
    start_line: int = 1  # the number of the first of these lines in the file
    #: Whether one blank separates the cells, or a delimiter without blanks and quotes around it.
    is_plain: bool = False
    comments: int = 0  # number of lines before the first that begin with ``#``

    @property
    def is_text(self) -> bool:
        """Whether the lines are those of a text."""
        return bool(self.delimiter)

    @property
    def width(self) -> int:
        """Number of columns of the first line."""
        return len(self.cells[0])

    @property
    def rows(self) -> list[list[str]]:
        """The lines that have as many cells as the first line."""
        return [row for row in self.cells if len(row) == self.width]

    def column(self, i: int) -> list[str]:
        """Return the cells of a column in `rows`."""
        return [row[i] for row in self.rows]

    def columns_except(self, *known: int | None) -> list[int]:
        """Return the numbers of all columns but `known`."""
        return [i for i in range(self.width) if i not in known]

    @property
    def reading(self) -> tuple[str, ...]:
        """The remark that comment lines at the start are left out, if there are any."""
        if self.comments:
            return (f"{counted(self.comments, 'comment lines')} at the start left out",)
        return ()


def head_of(path: Path, blanks: bool = True) -> Head:
    """Return the first lines of a text, without blank lines and without comments at the start.

    If `blanks`, blanks may separate the cells; otherwise cells may hold blanks.
    """
    with guarded(path, expected="text"), open_text(path) as file:
        raw = file.read(_FIRST_BYTES)
    raw_lines = raw.splitlines()
    if len(raw) == _FIRST_BYTES and len(raw_lines) > 1:
        raw_lines.pop()  # the last line is cut
    comments: list[tuple[int, str]] = []  # each with the number of its line
    texts: list[str] = []
    start_line = 1
    for number, raw_line in enumerate(raw_lines, 1):
        text = decode(raw_line, path, number)
        if not texts and _SEPARATOR.fullmatch(text.strip()):
            continue
        if not texts and text.lstrip().startswith(_COMMENT):
            comments.append((number, text))
        elif text.strip():
            start_line = start_line if texts else number
            texts.append(text)
        if len(texts) == _FIRST_LINES:
            break
    if not texts:
        raise fault(path, "holds nothing but blank lines" + " and comments" * bool(comments))
    if not blanks:
        delimiter = next((x for x in ",;\t" if x in texts[0]), ",")
    elif _DECIMAL_COMMA.search(texts[0]) and delimiter_of(texts[0]) == ",":
        delimiter = " "  # the number is then refused with advice on the decimal mark
    else:
        delimiter = delimiter_of(texts[0])
    if delimiter == " ":
        rows = [cells_of(text, delimiter) for text in texts]
        is_plain = all(text == " ".join(text.split()) for text in texts)
    else:  # csv accepts a quoted cell that is cut at the end
        reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True)
        rows = [[*map(from_cell, map(str.strip, row))] for row in reader]
        is_plain = not any(delimiter + " " in text or '"' in text for text in texts)
    # The names of the columns may stand after #, as np.savetxt writes them.
    names = cells_of(comments[-1][1].strip().lstrip(_COMMENT), delimiter) if comments else []
    if len(names) == len(rows[0]) and not HEADER_NAMES.isdisjoint(map(folded, names)):
        start_line, _ = comments.pop()
        rows.insert(0, names)
    # R writes names of rows, each another word, or their numbers, and no title above them.
    titles, *below = rows
    first = [row[0] for row in below if len(row) == len(titles) + 1 and row[0] and row[-1]]
    are_names = not any(map(is_number, first))
    if all(map(str.isdecimal, first)):  # of all rows, or of the chosen ones
        are_names = all(int(x) < int(y) for x, y in pairwise(first))
    if len({*first}) == len(below) > 0 and are_names and not any(map(is_number, titles)):
        titles.insert(0, "")
    require_few(path, start_line, rows[0])
    return Head(path, delimiter, rows, start_line, is_plain, len(comments))


@dataclass
class Words:
    """A column of text: the distinct values, and the code of each row's value."""

    values: list[str] = field(default_factory=list)
    _codes: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int8))
    _code_of_value: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_codes(cls, codes: np.ndarray, distinct: Iterable[Any]) -> Words:
        """Return the column whose row ``i`` is ``distinct[codes[i]]``."""
        column = cls()
        column.append(codes, distinct)
        return column

    def append(self, codes: np.ndarray, distinct: Iterable[Any]) -> None:
        """Append the rows ``distinct[codes]``; values that become equal as text are one value."""
        code_of_value = self._code_of_value
        words = [*distinct]
        new_codes: list[Any] = [*map(code_of_value.get, words)]
        if None in new_codes:
            new_codes = [
                code_of_value.setdefault(normal(str(value).strip()), len(code_of_value))
                for value in words
            ]
            self.values = [*code_of_value]
        fits_in_byte = len(code_of_value) <= _MOST_BYTE_CODES
        dtype = np.int8 if fits_in_byte else np.int32
        self._codes.append(np.array(new_codes, dtype=dtype)[codes])

    def renamed(self, values: Iterable[str]) -> Words:
        """Return the column with other words, in the order of the distinct values."""
        if values is self.values:
            return self
        return Words.from_codes(self.codes, values)

    @property
    def codes(self) -> np.ndarray:
        """The code of each row's value, int8 or int32."""
        return self._codes.array()

    def objects(self) -> np.ndarray:
        """Return the value of each row; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True)
class Columns:
    """The columns of a text or a table that were read, by their number."""

    path: Path
    words: dict[int, Words]
    numbers: dict[int, np.ndarray]  # each float64 (rows,)
    start_line: int | None  # the number of the line with row 0; None for a table without lines

    @property
    def noun(self) -> str:
        """The name of a row in messages."""
        return "row" if self.start_line is None else "line"

    def require_exact(self, labels: Collection[int], names: Sequence[str]) -> None:
        """Raise where columns of `labels` are floats so large that different numbers are one."""
        for i in labels:
            if (floats := whole_floats(self.words[i].values)) is not None:
                with_whole_numbers(floats, f"{self.path}: column {names[i]!r}")

    def place_of(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: {self.noun} {self.lines([row])[0]}"

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers of the lines of rows; the file is read again to count blank lines."""
        if self.start_line is None:
            return [*rows]
        lines = _lines_of_rows(self.path, self.start_line, {*rows})
        line_of_row = {row: number for row, number, _ in lines}
        return [line_of_row.get(row, self.start_line + row) for row in rows]


def _lines_of_rows(path: Path, start_line: int, rows: Set[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the number of each row, the number of its line, and the bytes of the line.

    Row 0 is the first line from `start_line` on that is not blank.
    """
    if not rows:
        return
    row = -1
    last = max(rows)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if number < start_line or not line.strip():
                continue
            row += 1
            if row in rows:
                yield row, number, line
            if row == last:
                return


def require_rows(
    path: Path, rows: int, numbers: int, words: Collection[Words] | Collection[int]
) -> None:
    """Raise if a table does not fit into the stated memory limit: it is read whole.

    `words` are the columns of words, or, before they are read, their numbers.
    """
    if (limit := OPTIONS["memory_limit"]) is not None:
        names = sum(len(x.values) for x in words if isinstance(x, Words))
        row_bytes = _ROW_BYTES + _NUMBER_BYTES * numbers + _WORD_BYTES * len(words)
        needed = _TABLE_BYTES + rows * row_bytes + names * _NAME_BYTES
        remedy = "a table is read whole: a matrix as .npy or HDF5 would need less"
        uncounted = "" if all(isinstance(x, Words) for x in words) else ", their names not counted,"
        require_memory(needed, f"{path}: {rows:,} rows{uncounted}", remedy, limit=limit)


def read_columns(
    head: Head,
    words: Collection[int],
    numbers: Collection[int],
    *,
    names: Sequence[str],
    header: bool = True,
    digits: Collection[int] = (),
    blanks: Collection[int] = (),
    labels: Collection[int] = (),
) -> Columns:
    """Read columns of a text, by their numbers.

    - `words`, `numbers`: the columns to read
    - `names`: the names of all columns, for messages
    - `digits`: columns of words in which whole numbers may lose a sign and leading zeros
    - `blanks`: columns in which cells may be blank; a blank number is NaN
    - `labels`: columns of words in which whole floats must be exact, as 1.0 is read as 1

    pandas parses the numbers as it reads them, fastest where one blank separates the cells. Where a
    line is not as expected, the file is read again line by line, so that an error names the line;
    if only cells in quotes or numbers such as NaN were the reason, such cells are converted.
    """
    import pandas as pd

    start_line = head.start_line + header
    rows = 0  # counted where a limit is stated
    if OPTIONS["memory_limit"] is not None:
        with open_text(head.path) as file:
            lines = sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
        rows = lines - (start_line - 1)
    require_rows(head.path, rows, len(numbers), words)
    with guarded(head.path, expected="text"):
        for is_plain in dict.fromkeys((head.is_plain, False)):
            with suppress(ValueError, pd.errors.ParserWarning):  # a ParserError is a ValueError
                pieces = _pieces(
                    replace(head, is_plain=is_plain), start_line, numbers, {*words}, digits
                )
                columns = _grown(head, start_line, pieces, words, numbers)
                for column in columns.words.values():
                    # The parser of plain cells reads neither blank cells nor quotes after a blank.
                    if any(x[:1] in ("", '"') for x in column.values):
                        raise ValueError("a cell is blank, or in quotes")
                for i in numbers:
                    infinite = {*np.flatnonzero(np.isinf(columns.numbers[i])).tolist()}
                    for _, line, raw in _lines_of_rows(head.path, start_line, infinite):
                        cells = cells_of(decode(raw, head.path, line).strip(), head.delimiter)
                        if i < len(cells) and is_number(cells[i]):
                            _number(cells[i], f"{head.path}: line {line}", names[i])  # too large?
                break
        else:
            pieces = _checked_pieces(head, start_line, words, numbers, names, blanks)
            columns = _grown(head, start_line, pieces, words, numbers)
    columns.require_exact(labels, names)
    for i in numbers:
        if _may_have_thousands(columns.numbers[i]):
            listed = rows_of(head.path, head.delimiter, start_line)
            cells = [row[i] for _, row in listed if i < len(row)]
            require_no_thousands(f"{head.path}: {names[i]}", cells)
    require_rows(head.path, rows, len(numbers), columns.words.values())
    return columns


def _may_have_thousands(values: np.ndarray) -> bool:
    """Whether numbers are those of cells in which points may separate thousands.

    They are whole below 1000, or have three decimals at most, and the largest is whole.
    """
    for some in (values[:_FIRST_LINES], values):
        size = np.abs(some[~np.isnan(some)])
        is_whole = size == np.floor(size)
        decimals = size[~is_whole]
        if not size.size or size.max() >= 1000 or decimals.min(initial=1) < 1:
            return False
        if (np.abs(decimals * 1000 - np.round(decimals * 1000)) > 1e-6).any():
            return False
    return bool(decimals.size) and decimals.max() < size[is_whole].max(initial=0)


def cells_by_column(head: Head, header: bool) -> tuple[list[int], list[list[str]]]:
    """Return the number of each line, and the cells of each column as text."""
    rows = [*rows_of(head.path, head.delimiter, head.start_line + header, bounded=True)]
    width = head.width
    for line, row in rows:
        if len(row) != width:
            raise fault(head.path, f"{len(row)} cells", f"expected {width}", line=line)
    if not rows:
        raise fault(head.path, "has a header but no rows")
    columns = zip(*(row for _, row in rows), strict=True)
    return [line for line, _ in rows], [[*map(from_cell, column)] for column in columns]


def whole_floats(cells: Iterable[str]) -> np.ndarray | None:
    """Return the numbers in cells, if all are whole floats as pandas writes them; else None.

    Blank cells do not count.
    """
    numbers = [cell for cell in cells if cell]
    if not numbers or not all(map(_WHOLE_FLOAT.fullmatch, numbers)):
        return None
    return np.array(numbers, dtype=np.float64)


def as_integers(cells: Sequence[str]) -> Sequence[str]:
    """Return the cells of a column; if all are whole floats or blank, 1 in place of 1.0."""
    numbers = whole_floats(cells)
    if numbers is None or (np.abs(numbers) >= LEAST_INEXACT).any():
        return cells
    return [str(int(float(cell))) if cell else cell for cell in cells]


def _grown(
    head: Head,
    start_line: int,
    pieces: Iterator[pd.DataFrame],
    words: Collection[int],
    numbers: Collection[int],
) -> Columns:
    columns = {i: Words() for i in words}
    values = {i: GrowingColumn(np.float64) for i in numbers}
    rows = 0
    limit = physical_memory() // _LINE_BYTES
    for piece in pieces:
        for i, column in columns.items():
            codes, distinct = piece[i].factorize()
            cells = map(str.strip, map(str, distinct.tolist()))
            column.append(codes, cells if head.delimiter == " " else map(from_cell, cells))
        for i, grown in values.items():
            grown.append(piece[i].to_numpy(dtype=np.float64))
        rows += len(piece)
        if limit and rows > limit:
            raise fault(
                head.path,
                f"more than {limit:,} lines do not fit into the memory of this machine",
                "expected a matrix as .npy, which is read by rows",
            )
    if not rows:
        raise fault(head.path, "has a header but no rows")
    columns = {i: column.renamed(as_integers(column.values)) for i, column in columns.items()}
    return Columns(head.path, columns, {i: x.array() for i, x in values.items()}, start_line)


def _checked_pieces(
    head: Head,
    start_line: int,
    words: Collection[int],
    numbers: Collection[int],
    names: Sequence[str],
    blanks: Collection[int],
) -> Iterator[pd.DataFrame]:
    """Yield pieces of a text that is read line by line; raise where a line is not as expected."""
    import pandas as pd

    rows = rows_of(head.path, head.delimiter, start_line)
    separator = repr(head.delimiter if head.delimiter != " " else r"\s+").replace("'", '"')
    titles = "" if start_line > head.start_line else ", header=None, names=[...]"
    decimals = (
        f': read the text by `pd.read_csv(path, sep={separator}, decimal=","{titles})`, and load '
        "the table"
    )
    filled = [i for i in (*words, *numbers) if i not in blanks]
    while piece := [*islice(rows, PIECE)]:
        for line, row in piece:
            is_header = row == head.cells[0] and not any(is_number(row[i]) for i in numbers)
            if is_header and numbers and line > head.start_line:
                problem = "repeats the names of the columns"
                raise fault(head.path, problem, "leave the line out", line=line)
            if len(row) > head.width + 1 or any(row[head.width :]):
                raise fault(head.path, f"{len(row)} cells", f"expected {head.width}", line=line)
            # Where blanks separate cells, cells at the end may be blank, but for numbers.
            lacks_cells = len(row) < head.width and (
                head.delimiter != " " or any(i >= len(row) for i in numbers)
            )
            row[head.width :] = []
            row += [""] * (head.width - len(row))
            blank = next((names[i] for i in filled if not row[i]), None)
            if blank is not None and row[-1]:
                raise fault(head.path, f"the cell {blank!r} is blank", line=line)
            if lacks_cells or blank is not None:
                cell_count = sum(map(bool, row))
                if row is piece[-1][1] and next(rows, None) is None:
                    with open_text(head.path) as file:
                        (last,) = deque(file, maxlen=1)
                    if not last.endswith(b"\n"):
                        problem = f"the last line has {cell_count} of {head.width} cells and no end"
                        raise fault(head.path, problem, "the file is truncated: write it again")
                expected = f"expected {head.width}, none of them blank"
                raise fault(head.path, f"{cell_count} cells", expected, line=line)
            for i in numbers:
                cells: list[Any] = row
                source = f"{head.path}: line {line}"
                cells[i] = _number(row[i] or "nan", source, names[i], decimals)
        yield pd.DataFrame([row for _, row in piece], dtype=object)


def _pieces(
    head: Head, start_line: int, numbers: Collection[int], words: Set[int], digits: Collection[int]
) -> Iterator[pd.DataFrame]:
    """Yield pieces of a text as pandas parses them; raise ValueError if a line is not as expected.

    Columns are object or, `numbers`, float64; a column of names may be of a dtype of strings.
    """
    import pandas as pd

    # Before 3.1, pandas read numbers as the nearest float64 only on request.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    # pandas reads names fastest if it chooses the dtype. So it may where the first lines have names
    # that are no numbers; a piece of numbers alone is an error.
    inferred = set()
    for i in range(head.width):
        cells = head.column(i)[1:]
        are_names = [not is_float(x) and x.casefold() not in ("true", "false") for x in cells]
        if 2 * sum(are_names) > len(cells):
            inferred.add(i)
    stated = {*words, *numbers} - {*inferred, *digits}
    lines = _LINES_PER_PIECE
    if (limit := OPTIONS["memory_limit"]) is not None:
        lines = max(1, min(lines, limit // (8 * _LINE_BYTES * head.width)))
    with warnings.catch_warnings(), open_text(head.path) as file:
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for _ in range(start_line - 1):
            file.readline()
        for piece in pd.read_csv(
            file,
            sep=head.delimiter if head.delimiter != " " or head.is_plain else r"\s+",
            header=None,
            names=list(range(head.width)),
            index_col=False,
            dtype={i: np.float64 if i in numbers else object for i in stated},
            na_filter=False,
            # Skipping blanks takes more time than parsing the cells.
            skipinitialspace=not head.is_plain,
            quoting=csv.QUOTE_NONE if head.delimiter == " " else csv.QUOTE_MINIMAL,
            encoding="utf-8",
            chunksize=lines,
            **exact,
        ):
            if not all(map(pd.api.types.is_string_dtype, piece.dtypes.loc[[*inferred & words]])):
                raise ValueError("a column of names has a piece of numbers alone")
            if any(piece[i].dtype.kind == "f" for i in digits):
                raise ValueError("a column of whole numbers has others")
            yield piece


def _number(cell: str, source: str, name: str, decimals: str = "") -> float:
    text = cell.strip()
    hint = ""
    try:
        if "_" not in text and text.isascii():
            if not overflows(text):
                return float(text)
            hint = f" within the range of float64, and {text:.40} is too large"
    except ValueError:
        pass
    if text.endswith("%"):
        hint = " (write per cent as fractions)"
    elif text.count(".") > 1:
        hint = " (thousands have no separator)"
    elif "," in text:
        hint = f" (decimals have a point, not a comma{decimals})"
    elif text.isalpha():
        hint = "; of a comparison that failed the cell is blank, or the number `failed`"
    elif not hint:
        hint = ', or another column as `columns={"scores": ...}`'
    raise DataError(f"{source}: {name} is {received(cell)}; expected a number{hint}")
