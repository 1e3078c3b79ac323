"""Texts of lines and columns, read in pieces by pandas' parser, compressed or not."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import physical_memory
from bioeval.base.progress import report
from bioeval.scores.formats.files import (
    content,
    decode,
    existing_file,
    guarded,
    optional,
)

if TYPE_CHECKING:
    import pandas as pd

#: Compressed texts: what `content` calls the file, and the module of its decompressor.
COMPRESSED = {
    "a gzip file": "gzip",
    "a bzip2 file": "bz2",
    "an xz file": "lzma",
    "a zstandard file": "pyarrow",
}

#: The most columns of a list, and bytes of a line.
MOST_COLUMNS = 1000
_LONGEST_LINE = 1 << 22

_SAMPLE = 1 << 16  # bytes
_BUFFER = 1 << 20
_LINES = 1 << 19  # read at once
_FIRST_LINES = 1000  # by which columns are known
#: Bytes that a line takes beside its text columns, which share their values.
_LINE_BYTES = 64

_DECIMAL_COMMA = re.compile(r"\s[+-]?\d+,\d+\s*$")


class _Watched(io.RawIOBase):
    """The bytes of a text: how far it is read is reported, a line without end is refused."""

    def __init__(self, file: IO[bytes], path: Path, place: IO[bytes]):
        self._file, self._path, self._place = file, path, place
        self._size = path.stat().st_size
        self._line = 0

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        self._place.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        piece = self._file.read(min(len(buffer), 1 << 20))
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


def open_text(path: Path) -> IO[bytes]:
    """Open a text, decompressed where it is compressed."""
    existing_file(path)
    found = content(path)
    place = open(path, "rb")  # noqa: SIM115 - closed with what is returned
    if found in COMPRESSED:
        return io.BufferedReader(_Watched(_decompressed(place, path, found), path, place), _BUFFER)
    if found != "text":
        place.close()
        raise DataError(f"{path}: is {found}; expected text")
    return io.BufferedReader(_Watched(place, path, place), _BUFFER)


def _decompressed(place: IO[bytes], path: Path, found: str) -> IO[bytes]:
    module = optional(COMPRESSED[found], path, found)
    if found == "a zstandard file":
        return module.CompressedInputStream(module.PythonFile(place), "zstd")
    return module.open(place, "rb")


@dataclass(frozen=True)
class Shape:
    """The columns of a text: what separates them, their number, and the first lines.

    Attributes
    ----------
    path : Path
    mark : str
        A comma, semicolon or tab, or a blank for any white space.
    cells : list of list of str
        The first lines that are not blank, as cells.
    skipped : int
        Lines before the first of these.
    single : bool
        Whether one blank separates the cells of these lines, and none is around them.
    """

    path: Path
    mark: str
    cells: list[list[str]] = field(repr=False)
    skipped: int = 0
    single: bool = False

    @property
    def columns(self) -> int:
        """Number of columns of the first line."""
        return len(self.cells[0])


def shape_of(path: Path) -> Shape:
    """Return the columns of a text, from its first lines."""
    with guarded(path, expected="text"), open_text(path) as file:
        raw = file.read(_SAMPLE)
        whole = len(raw) < _SAMPLE
    lines = raw.splitlines()
    if not whole and len(lines) > 1:
        lines.pop()  # cut off
    texts = [decode(line, path, number) for number, line in enumerate(lines, 1)]
    skipped = next((i for i, line in enumerate(texts) if line.strip()), 0)
    kept = [line for line in texts if line.strip()]
    if not kept:
        raise DataError(f"{path}: holds nothing but blank lines")
    del kept[_FIRST_LINES:]
    mark = next((mark for mark in ";\t," if mark in kept[0]), " ")
    if mark == "," and _DECIMAL_COMMA.search(kept[0]):
        mark = " "  # so that the comma is refused, and not a mark
    if mark != " ":
        # A quoted cell may be cut off at the end of what was read.
        cells = [*csv.reader(kept, delimiter=mark, skipinitialspace=True)]
        rows = [[cell.strip() for cell in row] for row in cells]
    else:
        rows = [line.split() for line in kept]
    if len(rows[0]) > MOST_COLUMNS:
        raise DataError(
            f"{path}: line {skipped + 1}: has {len(rows[0]):,} columns; expected at most "
            f"{MOST_COLUMNS:,} (a matrix of scores is read from .npy or .npz)"
        )
    single = mark == " " and all(line == " ".join(line.split()) for line in kept)
    return Shape(path, mark, rows, skipped, single)


@dataclass
class TextColumn:
    """A column of text: the distinct values, and the number of that of each line."""

    values: list[str] = field(default_factory=list)
    _codes: list[np.ndarray] = field(default_factory=list)
    _number: dict[str, int] = field(default_factory=dict)

    def append(self, cells: Any) -> None:
        """Append cells."""
        import pandas as pd

        if not isinstance(cells, pd.Series):
            cells = pd.Series(cells, dtype=object)
        codes, distinct = cells.factorize()
        known = len(self.values)
        numbers = np.empty(len(distinct), dtype=np.int32)
        for i, value in enumerate(distinct.tolist()):
            value = str(value).strip()
            numbers[i] = self._number.setdefault(value, known)
            if numbers[i] == known:
                self.values.append(value)
                known += 1
        self._codes.append(numbers[codes])

    @property
    def codes(self) -> np.ndarray:
        """The number of each line's value, int32."""
        if len(self._codes) > 1:
            self._codes = [np.concatenate(self._codes)]
        return self._codes[0]

    def objects(self) -> np.ndarray:
        """Return the value of each line; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True)
class Columns:
    """Columns of a text by their number: text, and numbers as float64."""

    path: Path
    text: dict[int, TextColumn]
    numbers: dict[int, np.ndarray]
    first_line: int

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: line {self.line(row)}"

    def line(self, row: int) -> int:
        """Return the line of a row; the file is read again, since blank lines are no rows."""
        with open_text(self.path) as file:
            rows = -1
            for number, line in enumerate(file, 1):
                rows += number >= self.first_line and bool(line.strip())
                if rows == row:
                    return number
        return self.first_line + row


def read_columns(
    shape: Shape,
    header: bool,
    text: dict[int, str],
    numbers: dict[int, str],
    digits: Collection[int] = (),
) -> Columns:
    """Read columns of a text; `text` and `numbers` have the name of each column that is read.

    Of text in the columns `digits`, whole numbers may lose a sign and zeros before them.

    The numbers are parsed as they are read, fastest where one blank separates the cells. Where a
    line is not as expected, the file is read again as text, so that an error names the line; where
    only numbers such as NaN were the reason, they are converted one by one.
    """
    import pandas as pd

    first = shape.skipped + header + 1
    with guarded(shape.path, expected="text"):
        for single in dict.fromkeys((shape.single, False)):
            with suppress(ValueError, pd.errors.ParserWarning):  # a ParserError is a ValueError
                way = replace(shape, single=single)
                return _read(way, first, text, numbers, digits, exact=False)
        try:
            return _read(shape, first, text, numbers, exact=True)
        except UnicodeDecodeError:
            with open_text(shape.path) as file:
                for number, line in enumerate(file, 1):
                    decode(line, shape.path, number)
            raise


def _read(
    shape: Shape,
    first: int,
    text: dict[int, str],
    numbers: dict[int, str],
    digits: Collection[int] = (),
    *,
    exact: bool,
) -> Columns:
    columns = {i: TextColumn() for i in text}
    values: dict[int, list[np.ndarray]] = {i: [] for i in numbers}
    rows, most = 0, physical_memory() // _LINE_BYTES
    for piece in _pieces(shape, first, [] if exact else list(numbers), digits):
        if exact:
            piece = _checked(shape, first, piece, text | numbers)
        for i, column in columns.items():
            column.append(piece[i])
        for i, name in numbers.items():
            cells = piece[i]
            values[i].append(
                _numbers(shape.path, first, cells, name)
                if exact
                else cells.to_numpy(dtype=np.float64)
            )
        rows += len(piece)
        if most and rows > most:
            raise DataError(
                f"{shape.path}: has more than {most:,} lines, which do not fit into the memory of "
                "this machine; expected a matrix as .npy, which is memory-mapped"
            )
    if not rows:
        raise DataError(f"{shape.path}: has a header but no rows")
    if not exact and any("" in column.values for column in columns.values()):
        raise ValueError("a cell is blank")
    return Columns(
        shape.path, columns, {i: np.concatenate(parts) for i, parts in values.items()}, first
    )


def _pieces(
    shape: Shape, first: int, numbers: list[int], digits: Collection[int]
) -> Iterator[pd.DataFrame]:
    """Yield the lines in pieces; without `numbers` all is text, blank lines are rows."""
    import pandas as pd

    # Before 3.1, numbers were the nearest float64 only where that was said.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact: dict[str, Any] = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    # Names are read fastest as what pandas takes them for, unless it could be a number.
    plain = _plain(shape) if numbers else set()
    fast = {*plain, *digits} if numbers else plain
    names = range(shape.columns + (not numbers))  # as text, one more shows lines that are longer
    with warnings.catch_warnings(), open_text(shape.path) as file:
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for piece in pd.read_csv(
            file,
            sep=shape.mark if shape.mark != " " or shape.single and numbers else r"\s+",
            header=None,
            names=list(names),
            index_col=False,
            dtype={i: np.float64 if i in numbers else object for i in names if i not in fast},
            na_filter=False,
            skiprows=first - 1,
            skip_blank_lines=bool(numbers),
            skipinitialspace=True,
            quoting=csv.QUOTE_NONE if shape.mark == " " else csv.QUOTE_MINIMAL,
            encoding="utf-8",
            chunksize=_LINES,
            **exact,
        ):
            if any(not pd.api.types.is_string_dtype(piece[i].dtype) for i in plain):
                raise ValueError("a column of names has a piece of numbers alone")
            if numbers and any(piece[i].dtype.kind == "f" for i in digits):
                raise ValueError("a column of whole numbers has others")
            yield piece


def _plain(shape: Shape) -> set[int]:
    """Return the columns of which most cells of the first lines are neither numbers nor truth."""
    rows = [row for row in shape.cells[1:] if len(row) == shape.columns]
    return {
        i for i in range(shape.columns) if 2 * sum(_is_name(row[i]) for row in rows) > len(rows)
    }


def _is_name(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.casefold() not in ("true", "false")
    return False


def _checked(shape: Shape, first: int, piece: pd.DataFrame, names: dict[int, str]) -> pd.DataFrame:
    """Return a piece of text without its blank lines; raise where a line has other cells."""
    blank = (piece == "").to_numpy()
    piece, blank = piece[~blank.all(axis=1)], blank[~blank.all(axis=1)]
    columns = shape.columns
    for wrong in np.flatnonzero(~blank[:, columns])[:1]:
        where = f"{shape.path}: line {first + piece.index[wrong]}"
        raise DataError(f"{where}: more than {columns} cells; expected {columns}")
    for wrong in np.flatnonzero(blank[:, list(names)].any(axis=1))[:1]:
        where = f"{shape.path}: line {first + piece.index[wrong]}"
        if blank[wrong, columns - 1]:
            raise DataError(
                f"{where}: {int((~blank[wrong]).sum())} cells; expected {columns}, none of them "
                "blank"
            )
        name = names[next(i for i in names if blank[wrong, i])]
        raise DataError(f"{where}: the cell {name!r} is blank")
    return piece


def _numbers(path: Path, first: int, cells: pd.Series, name: str) -> np.ndarray:
    found = (_number(x, f"{path}: line {first + i}", name) for i, x in cells.items())
    return np.fromiter(found, np.float64, len(cells))


def _number(cell: str, where: str, name: str) -> float:
    """Return the number of a cell; raise where it is none, with what to do."""
    text = cell.strip()
    try:
        if "_" not in text and text.isascii():
            return float(text)
    except ValueError:
        pass
    hint = ""
    if text.endswith("%"):
        hint = " (write per cent as fractions)"
    elif "," in text:
        hint = " (decimals have a point, not a comma)"
    raise DataError(f"{where}: {name} is {cell!r}; expected a number{hint}")
