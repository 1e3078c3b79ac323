"""Texts of lines and columns, read in pieces by pandas' parser."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Collection, Iterable, Iterator, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import physical_memory
from bioeval.scores.columns import GrowingColumn
from bioeval.scores.formats.files import decode, guarded
from bioeval.scores.formats.text_columns import MOST_NAMES, Columns, TextColumn
from bioeval.scores.formats.text_shape import Shape, open_text

if TYPE_CHECKING:
    import pandas as pd

_LINES = 1 << 19  # read at once
#: Bytes that a line takes beside its text columns, which share their values.
_LINE_BYTES = 64


def read_columns(
    shape: Shape,
    header: bool,
    text: dict[int, str],
    numbers: dict[int, str],
    digits: Collection[int] = (),
    bounded: Collection[int] = (),
    blanks: Collection[int] = (),
) -> Columns:
    """Read columns of a text; `text` and `numbers` are the names of the columns to read.

    Of text in the columns `digits`, whole numbers may lose a sign and zeros before them. Columns
    that are `bounded` are given up where they have too many distinct names; in those of `blanks`
    cells may be blank.

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
                return _read(way, first, text, numbers, digits, bounded, blanks, exact=False)
        try:
            return _read(shape, first, text, numbers, (), bounded, blanks, exact=True)
        except UnicodeDecodeError:
            with open_text(shape.path) as file:
                for number, line in enumerate(file, 1):
                    decode(line, shape.path, number)
            raise
        except pd.errors.EmptyDataError:
            raise DataError(f"{shape.path}: has a header but no rows") from None
        except pd.errors.ParserWarning:  # the first line is longer than that with the names
            raise _longer_line(shape, first) from None


def _longer_line(shape: Shape, first: int) -> DataError:
    """Return the error of the first line with more cells than the first line of the text."""
    expected = f"expected {shape.columns}"
    with open_text(shape.path) as file:
        for number, line in enumerate(file, 1):
            text = decode(line, shape.path, number)
            cells = text.split()
            if shape.mark != " ":
                cells = next(csv.reader([text], delimiter=shape.mark), [])
            if number >= first and len(cells) > shape.columns:
                return DataError(f"{shape.path}: line {number}: {len(cells)} cells; {expected}")
    return DataError(f"{shape.path}: has lines with more cells than the first; {expected}")


def _read(
    shape: Shape,
    first: int,
    text: dict[int, str],
    numbers: dict[int, str],
    digits: Collection[int] = (),
    bounded: Collection[int] = (),
    blanks: Collection[int] = (),
    *,
    exact: bool,
) -> Columns:
    columns = {i: TextColumn(most=MOST_NAMES if i in bounded else None) for i in text}
    values = {i: GrowingColumn(np.float64) for i in numbers}
    rows, most = 0, physical_memory() // _LINE_BYTES
    for piece in _pieces(shape, first, [] if exact else list(numbers), text.keys(), digits):
        if exact:
            filled = {i: x for i, x in (text | numbers).items() if i not in blanks}
            piece = _checked(shape, first, piece, filled)
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
                f"{shape.path}: more than {most:,} lines do not fit into the memory of this "
                "machine; expected a matrix as .npy (memory-mapped)"
            )
    if not rows:
        raise DataError(f"{shape.path}: has a header but no rows")
    if not exact:
        _require_plain(column for i, column in columns.items() if i not in blanks)
    return Columns(shape.path, columns, {i: column.array() for i, column in values.items()}, first)


def _pieces(
    shape: Shape, first: int, numbers: list[int], text: Set[int], digits: Collection[int]
) -> Iterator[pd.DataFrame]:
    """Yield the lines in pieces; without `numbers` all cells are text, and blank lines are rows."""
    import pandas as pd

    # Before 3.1, numbers were the nearest float64 only where that was said.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact: dict[str, Any] = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    # Names are read fastest as what pandas takes them for, unless it could be a number.
    plain = _plain(shape) if numbers else set()
    fast = {*range(shape.columns)} - ({*text, *numbers} - {*plain, *digits}) if numbers else plain
    names = range(shape.columns + (not numbers))  # as text, one more shows lines that are longer
    with warnings.catch_warnings(), open_text(shape.path) as file:
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for _ in range(first - 1):
            file.readline()
        for piece in pd.read_csv(
            file,
            sep=shape.mark if shape.mark != " " or shape.single and numbers else r"\s+",
            header=None,
            names=list(names),
            index_col=False,
            dtype={i: np.float64 if i in numbers else object for i in names if i not in fast},
            na_filter=False,
            skip_blank_lines=bool(numbers),
            # It takes the parser more time than the cells do.
            skipinitialspace=not (shape.single and numbers),
            quoting=csv.QUOTE_NONE if shape.mark == " " else csv.QUOTE_MINIMAL,
            encoding="utf-8",
            chunksize=_LINES,
            **exact,
        ):
            if any(not pd.api.types.is_string_dtype(piece[i].dtype) for i in plain & text):
                raise ValueError("a column of names has a piece of numbers alone")
            if numbers and any(piece[i].dtype.kind == "f" for i in digits):
                raise ValueError("a column of whole numbers has others")
            yield piece


def _require_plain(columns: Iterable[TextColumn]) -> None:
    """Raise where the parser of plain cells has met blank cells, or quotes after a blank."""
    for column in columns:
        if any(not value or value[0] == '"' for value in column.values):
            raise ValueError("a cell is blank, or in quotes")


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
    """Return a piece of text without blank lines; raise where the number of cells differs."""
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
    """Return the number in a cell; raise with advice where it is not a number."""
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
