"""Texts of lines and columns, compressed or not: their first lines, and their columns in pieces."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.csv_cells import from_cell
from bioeval.base.errors import DataError, counted, received
from bioeval.base.memory import physical_memory
from bioeval.base.progress import report
from bioeval.scores.columns import PIECE, GrowingColumn
from bioeval.scores.formats.files import (
    COMPRESSED,
    content,
    decode,
    existing_file,
    guarded,
    line_feeds,
    optional,
)
from bioeval.scores.formats.spellings import COLUMN_NAMES, folded, is_number, require_few

if TYPE_CHECKING:
    import pandas as pd


#: The most bytes of a line.
_LONGEST_LINE = 1 << 22

_SAMPLE = 1 << 16  # bytes
_BUFFER = 1 << 20
_FIRST_LINES = 1000  # by which columns are known
_COMMENT = "#"

_DECIMAL_COMMA = re.compile(r"\s[+-]?\d+,\d+\s*$")


class _Watched(io.RawIOBase):
    """The bytes of a text with line feeds as line ends; a line without end is refused."""

    def __init__(self, file: IO[bytes], path: Path, place: IO[bytes]):
        self._file, self._path, self._place = file, path, place
        self._size = path.stat().st_size
        self._line = 0
        self._returned = False  # whether what was read ends in a carriage return

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        self._place.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Read some bytes, and report how much of the file is read."""
        piece = self._piece(min(len(buffer), 1 << 20))
        end = piece.rfind(b"\n")
        self._line = len(piece) - end - 1 if end >= 0 else self._line + len(piece)
        if self._line > _LONGEST_LINE:
            raise DataError(
                f"{self._path}: has a line of more than {_LONGEST_LINE >> 20} MiB; expected lines "
                "of scores, as text"
            )
        buffer[: len(piece)] = piece
        report(min(self._place.tell(), self._size), self._size)
        return len(piece)

    def _piece(self, size: int) -> bytes:
        """Read some bytes; a line feed goes with the carriage return that was read before it."""
        while raw := self._file.read(size):
            piece = raw[1:] if self._returned and raw[:1] == b"\n" else raw
            self._returned = raw.endswith(b"\r")
            if piece:
                return line_feeds(piece)
        return b""


def open_text(path: Path) -> IO[bytes]:
    """Open a text, decompressed where it is compressed, with line feeds as line ends."""
    existing_file(path)
    kind = content(path)
    place = open(path, "rb")  # noqa: SIM115 - closed with what is returned
    file = place
    if kind == "a zstandard file":
        arrow = optional(COMPRESSED[kind], path, kind)
        file = arrow.CompressedInputStream(arrow.PythonFile(place), "zstd")
    elif kind in COMPRESSED:
        file = optional(COMPRESSED[kind], path, kind).open(place, "rb")
    elif kind != "text":
        place.close()
        raise DataError(f"{path}: is {kind}; expected text")
    return io.BufferedReader(_Watched(file, path, place), _BUFFER)


@dataclass(frozen=True)
class Shape:
    """The columns of a text: their separator, their number, and the first lines."""

    path: Path
    mark: str  # a comma, semicolon or tab, or a blank for any white space
    cells: list[list[str]] = field(repr=False)  # the first lines that are not blank, as cells
    skipped: int = 0  # lines before the first of these
    #: Whether cells are separated by one blank, or by a mark without blanks around it, in these
    #: lines.
    single: bool = False
    comments: int = 0  # lines before the first of these that begin with ``#``

    @property
    def columns(self) -> int:
        """Number of columns of the first line."""
        return len(self.cells[0])

    @property
    def rows(self) -> list[list[str]]:
        """The first lines that have as many cells as the first."""
        return [row for row in self.cells if len(row) == self.columns]

    def column(self, i: int) -> list[str]:
        """Return the cells of a column in these lines."""
        return [row[i] for row in self.rows]

    def columns_except(self, *known: int | None) -> list[int]:
        """Return the places of all columns but some that are known."""
        return [i for i in range(self.columns) if i not in known]

    @property
    def reading(self) -> tuple[str, ...]:
        """How comment lines before the first pair are read, in phrases."""
        if self.comments:
            return (f"{counted(self.comments, 'comment lines')} at the start left out",)
        return ()


def _split(lines: list[str], mark: str) -> list[list[str]]:
    """Return the cells of lines; a quoted cell may be cut off at the end of what was read."""
    if mark == " ":
        return [*map(str.split, lines)]
    rows = []
    for row in csv.reader(lines, delimiter=mark, skipinitialspace=True):
        rows.append([*map(from_cell, map(str.strip, row))])
    return rows


def _cells(line: str, mark: str) -> list[str]:
    for row in _split([line], mark):
        return row
    return []


def shape_of(path: Path) -> Shape:
    """Return the columns of a text, from its first lines after blank ones and comments."""
    with guarded(path, expected="text"), open_text(path) as file:
        raw = file.read(_SAMPLE)
        whole = len(raw) < _SAMPLE
    lines = raw.splitlines()
    if not whole and len(lines) > 1:
        lines.pop()  # cut off
    texts = [decode(line, path, number) for number, line in enumerate(lines, 1)]
    written = [i for i, line in enumerate(texts) if line.strip()]
    comments = [*takewhile(lambda i: texts[i].lstrip().startswith(_COMMENT), written)]
    kept = [texts[i] for i in written[len(comments) :][:_FIRST_LINES]]
    if not kept:
        input_name = " and comments" if comments else ""
        raise DataError(f"{path}: holds nothing but blank lines{input_name}")
    skipped = written[len(comments)]
    mark = _mark(kept[0])
    rows = _split(kept, mark)
    # The names of the columns may stand after #, as np.savetxt writes them.
    names = _cells(texts[comments[-1]].strip().lstrip(_COMMENT), mark) if comments else []
    if len(names) == len(rows[0]) and not COLUMN_NAMES.isdisjoint(map(folded, names)):
        skipped = comments.pop()
        rows.insert(0, names)
    require_few(rows[0], f"{path}: line {skipped + 1}")
    if mark == " ":
        single = all(line == " ".join(line.split()) for line in kept)
    else:
        single = not any(mark + " " in line or '"' in line for line in kept)
    return Shape(path, mark, rows, skipped, single, len(comments))


def _mark(line: str) -> str:
    """Return what separates the cells of a line."""
    if ";" in line:
        return ";"
    if "\t" in line:
        return "\t"
    if "," in line and not _DECIMAL_COMMA.search(line):
        return ","
    return " "  # also of a decimal comma, which is then refused


@dataclass
class TextColumn:
    """A column of text: the distinct values, and the code of each line's value."""

    values: list[str] = field(default_factory=list)
    _codes: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int32))
    _number: dict[str, int] = field(default_factory=dict)

    def append(self, cells: Any) -> None:
        """Append cells."""
        import pandas as pd

        codes, distinct = pd.Series(cells, dtype=object).factorize()
        self.append_codes(codes, distinct.tolist())

    def append_codes(self, codes: np.ndarray, distinct: Iterable[object]) -> None:
        """Append cells as distinct values and their codes."""
        known = self._number
        words: list[Any] = [*distinct]
        numbers = [*map(known.get, words)]
        if None in numbers:
            numbers = [known.setdefault(str(value).strip(), len(known)) for value in words]
            self.values = [*known]
        self._codes.append(np.array(numbers, dtype=np.int32)[codes])

    def renamed(self, values: Iterable[str]) -> TextColumn:
        """Return a column with other words in place of the distinct values."""
        renamed = TextColumn()
        renamed.append_codes(self.codes, values)
        return renamed

    @property
    def codes(self) -> np.ndarray:
        """The code of each line's value, int32."""
        return self._codes.array()

    def objects(self) -> np.ndarray:
        """Return the value of each line; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True)
class Columns:
    """Columns of a text or a table by their number: text, and numbers as float64."""

    path: Path
    text: dict[int, TextColumn]
    numbers: dict[int, np.ndarray]
    first_line: int | None  # None: rows of a table, which have no lines

    @property
    def noun(self) -> str:
        """The name of a row in messages."""
        return "row" if self.first_line is None else "line"

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: {self.noun} {self.line(row)}"

    def line(self, row: int) -> int:
        """Return the line of a row, or the row of a table."""
        return self.lines([row])[0]

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Return the lines of rows; the file is read again, since blank lines are not rows."""
        if self.first_line is None:
            return [*rows]
        known = {}
        for row, number, _ in _lines_of(self.path, self.first_line, set(rows)):
            known[row] = number
        return [known.get(row, self.first_line + row) for row in rows]


def _lines_of(path: Path, first: int, rows: set[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield rows, their numbers as lines and their text; `first` is the line of row 0."""
    if not rows:
        return
    here, last = -1, max(rows)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if number < first or not line.strip():
                continue
            here += 1
            if here in rows:
                yield here, number, line
            if here == last:
                return


_LINES = 1 << 19  # read at once
#: Bytes that a line takes beside its text columns, which share their values.
_LINE_BYTES = 64


def read_columns(
    shape: Shape,
    header: bool,
    text: dict[int, str],
    numbers: dict[int, str],
    digits: Collection[int] = (),
    blanks: Collection[int] = (),
) -> Columns:
    """Read columns of a text; `text` and `numbers` are the names of the columns to read.

    Of text in the columns `digits`, whole numbers may lose a sign and zeros before them; in those
    of `blanks`, cells may be blank.

    pandas parses the numbers as it reads them, fastest where one blank separates the cells. Where a
    line is not as expected, the file is read again line by line, so that an error names the line;
    where only cells in quotes or numbers such as NaN were the reason, these are converted.
    """
    import pandas as pd

    first = shape.skipped + header + 1
    with guarded(shape.path, expected="text"):
        for single in dict.fromkeys((shape.single, False)):
            with suppress(ValueError, pd.errors.ParserWarning):  # a ParserError is a ValueError
                pieces = _pieces(replace(shape, single=single), first, numbers, {*text}, digits)
                columns = _grown(shape, first, pieces, text, numbers)
                for i, column in columns.text.items():
                    # The parser of plain cells cannot read these, nor quotes after a blank.
                    if i not in blanks and any(x[:1] in ("", '"') for x in column.values):
                        raise ValueError("a cell is blank, or in quotes")
                for i, name in numbers.items():
                    _require_in_range(shape, first, columns.numbers[i], i, name)
                return columns
        filled = {i: name for i, name in (text | numbers).items() if i not in blanks}
        pieces = _checked(shape, first, filled, numbers)
        return _grown(shape, first, pieces, text, numbers)


def _grown(
    shape: Shape,
    first: int,
    pieces: Iterator[pd.DataFrame],
    text: Collection[int],
    numbers: Collection[int],
) -> Columns:
    columns = {i: TextColumn() for i in text}
    values = {i: GrowingColumn(np.float64) for i in numbers}
    rows, most = 0, physical_memory() // _LINE_BYTES
    for piece in pieces:
        for i, column in columns.items():
            codes, distinct = piece[i].factorize()
            words = map(str.strip, map(str, distinct.tolist()))
            column.append_codes(codes, words if shape.mark == " " else map(from_cell, words))
        for i, grown in values.items():
            grown.append(piece[i].to_numpy(dtype=np.float64))
        rows += len(piece)
        if most and rows > most:
            raise DataError(
                f"{shape.path}: more than {most:,} lines do not fit into the memory of this "
                "machine; expected a matrix as .npy (memory-mapped)"
            )
    if not rows:
        raise DataError(f"{shape.path}: has a header but no rows")
    return Columns(shape.path, columns, {i: x.array() for i, x in values.items()}, first)


def rows_of(shape: Shape, first: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield the number and the cells of each line that is not blank, from line `first` on."""
    with open_text(shape.path) as file:
        texts = (decode(line, shape.path, number) for number, line in enumerate(file, 1))
        lines = islice(texts, first - 1, None)
        if shape.mark == " ":
            yield from ((n, row) for n, line in enumerate(lines, first) if (row := line.split()))
            return
        reader = csv.reader(lines, delimiter=shape.mark, skipinitialspace=True)
        for row in reader:
            if any(row := [*map(str.strip, row)]):
                yield reader.line_num + first - 1, row


def _checked(
    shape: Shape, first: int, filled: dict[int, str], numbers: dict[int, str]
) -> Iterator[pd.DataFrame]:
    """Yield the lines in pieces; raise where one has other cells than the first, or a blank one."""
    import pandas as pd

    rows, columns = rows_of(shape, first), shape.columns
    while some := [*islice(rows, PIECE)]:
        for number, row in some:
            where = f"{shape.path}: line {number}"
            if len(row) > columns + 1 or any(row[columns:]):
                raise DataError(f"{where}: {len(row)} cells; expected {columns}")
            row[columns:] = []
            row += [""] * (columns - len(row))
            for i, name in filled.items():
                if not row[i] and row[-1]:
                    raise DataError(f"{where}: the cell {name!r} is blank")
                if not row[i]:
                    raise DataError(
                        f"{where}: {columns - row.count('')} cells; expected {columns}, none of "
                        "them blank"
                    )
            for i, name in numbers.items():
                row[i] = _number(row[i], where, name)
        yield pd.DataFrame([row for _, row in some], dtype=object)


def _require_in_range(shape: Shape, first: int, values: np.ndarray, column: int, name: str) -> None:
    """Raise where a number became infinite and was not written so: 1e400 is no infinity."""
    rows = set(np.flatnonzero(np.isinf(values)).tolist())
    for _, number, line in _lines_of(shape.path, first, rows):
        cells = _cells(decode(line, shape.path, number).strip(), shape.mark)
        if column < len(cells) and is_number(cells[column]):
            _number(cells[column], f"{shape.path}: line {number}", name)


def _pieces(
    shape: Shape, first: int, numbers: Collection[int], text: Set[int], digits: Collection[int]
) -> Iterator[pd.DataFrame]:
    """Yield the lines in pieces, without blank ones."""
    import pandas as pd

    # Before 3.1, numbers were the nearest float64 only where that was said.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    # Names are read fastest as what pandas takes them for, unless it could be a number.
    plain = _plain(shape)
    slow = {*text, *numbers} - {*plain, *digits}
    with warnings.catch_warnings(), open_text(shape.path) as file:
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for _ in range(first - 1):
            file.readline()
        for piece in pd.read_csv(
            file,
            sep=shape.mark if shape.mark != " " or shape.single else r"\s+",
            header=None,
            names=list(range(shape.columns)),
            index_col=False,
            dtype={i: np.float64 if i in numbers else object for i in slow},
            na_filter=False,
            # It takes the parser more time than the cells do.
            skipinitialspace=not shape.single,
            quoting=csv.QUOTE_NONE if shape.mark == " " else csv.QUOTE_MINIMAL,
            encoding="utf-8",
            chunksize=_LINES,
            **exact,
        ):
            if not all(map(pd.api.types.is_string_dtype, piece.dtypes.loc[[*plain & text]])):
                raise ValueError("a column of names has a piece of numbers alone")
            if any(piece[i].dtype.kind == "f" for i in digits):
                raise ValueError("a column of whole numbers has others")
            yield piece


def _plain(shape: Shape) -> set[int]:
    """Return the columns of which most cells of the first lines are neither numbers nor truth."""
    plain = set()
    for i in range(shape.columns):
        _, *cells = shape.column(i)
        if 2 * sum(map(_is_name, cells)) > len(cells):
            plain.add(i)
    return plain


def _is_name(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.casefold() not in ("true", "false")
    return False


def _number(cell: str, where: str, name: str) -> float:
    """Return the number in a cell; raise with advice where it is not a number."""
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
    elif "," in text:
        hint = " (decimals have a point, not a comma)"
    raise DataError(f"{where}: {name} is {received(cell)}; expected a number{hint}")
