"""CSV files as tables of text, and CSV files of labels with metadata.

Cells stay the text they are: ``007``, ``NA`` and ``1e5`` are labels like any other. Only blanks
around a cell are dropped, since two subjects never differ by these alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, nearest_name
from bioeval.scores.enrolment_times import COLUMNS as TIMES
from bioeval.scores.formats.files import content, decode, existing_file, read_bounded, text_array
from bioeval.scores.labels import LABEL_COLUMNS

#: The most columns, or arrays of metadata: more are a matrix, or damage.
MOST_COLUMNS = 1000

_FIRST_LINE = 1 << 16  # characters to look at


@dataclass(frozen=True)
class TextTable:
    """The rows of a CSV file as columns of text."""

    path: Path
    columns: dict[str, list[str]]
    lines: list[int] = field(repr=False)

    def find(self, *names: str) -> str | None:
        """Return the first of `names` that is a column, whatever its case."""
        folded = {column.casefold(): column for column in self.columns}
        return next((folded[name] for name in names if name in folded), None)

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: line {self.lines[row]}"


@dataclass(frozen=True)
class Labels:
    """Identities and metadata of templates, from a CSV file."""

    path: Path
    label: np.ndarray
    meta: dict[str, np.ndarray]
    has_header: bool
    column: str = ""  # of the labels, where the reader chose it among several

    def expect(self, count: int, what: str) -> None:
        """Raise unless there are `count` labels."""
        if len(self.label) == count:
            return
        hint = ""
        if not self.has_header and len(self.label) == count + 1:
            hint = (
                f" Its first line, {str(self.label[0])!r}, was read as a label: call that column "
                "'label'"
            )
        raise DataError(f"{self.path}: {len(self.label)} labels for {count} {what}.{hint}")


def read_table(path: str | Path, headerless: str | None = None) -> TextTable:
    """Read a CSV file in UTF-8, with a header.

    Cells are separated by commas, or by semicolons or tabs where the first line has no comma.
    With `headerless`, a single column has a header only where its first cell is one of
    `LABEL_COLUMNS`, and otherwise gets this name.
    """
    path = existing_file(path, "the CSV file")
    found = content(path)
    if found != "text":
        what = {"npy": "a NumPy array", "zip": "a zip or .npz file"}.get(found, found)
        raise DataError(f"{path}: is {what}; expected CSV text in UTF-8")
    text = io.StringIO(decode(read_bounded(path), path), newline="")
    first = text.readline()
    text.seek(0)
    delimiter = next((mark for mark in ",;\t" if mark in first), ",")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    columns: dict[str, list[str]] = {}
    lines: list[int] = []
    blank = 0  # the first of the blank lines, of which none may be followed by others
    line = 1
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            here, line = line, reader.line_num + 1
            if not any(cells):
                blank = blank or here
                continue
            if blank:
                raise DataError(f"{path}: line {blank}: is blank")
            if not columns:
                names = _header(path, here, cells, headerless)
                columns = {name: [] for name in names}
                if names is cells:
                    continue
            _append(columns, cells, f"{path}: line {here}")
            lines.append(here)
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: {error}; expected CSV") from None
    if not lines:
        held = "has a header but no rows" if columns else "holds nothing but blank lines"
        raise DataError(f"{path}: {held}")
    return TextTable(path, columns, lines)


def _header(path: Path, line: int, cells: list[str], headerless: str | None) -> list[str]:
    """Return the names of the columns, from the first line unless that is data already."""
    if len(cells) > MOST_COLUMNS:
        raise DataError(
            f"{path}: line {line}: has {len(cells):,} columns; expected at most {MOST_COLUMNS:,} "
            "(a matrix of scores is read from .npy or .npz)"
        )
    if headerless is not None and len(cells) == 1 and cells[0].casefold() not in LABEL_COLUMNS:
        return [headerless]
    for number, name in enumerate(cells, 1):
        if not name:
            raise DataError(f"{path}: line {line}: column {number} has no name in the header")
        if name in cells[: number - 1]:
            raise DataError(f"{path}: line {line}: two columns are called {name!r}")
    return cells


def _append(columns: dict[str, list[str]], cells: list[str], where: str) -> None:
    """Append a row to the columns; of times alone, a cell may be blank."""
    if len(cells) != len(columns):
        raise DataError(
            f"{where}: {len(cells)} cells; expected {len(columns)} ({', '.join(columns)})"
        )
    for (name, column), cell in zip(columns.items(), cells, strict=True):
        if not cell and name not in TIMES:
            raise DataError(f"{where}: the cell {name!r} is blank")
        column.append(cell)


def matrix_advice(path: Path) -> str:
    """Return advice for a text that begins like a matrix of numbers; ``""`` for any other."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            line = file.readline(_FIRST_LINE)
    except UnicodeDecodeError:
        return ""
    mark = next((mark for mark in ",;\t" if mark in line), None)
    cells = line.split(mark)
    if len(line) == _FIRST_LINE:
        cells.pop()  # cut off
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return ""
    if len(numbers) < 3:
        return ""  # a list without its header, more likely
    part = "" if mark is None else f", delimiter={mark!r}"
    target = str(path.with_suffix(".npy"))
    return (
        "begins with a line of numbers, as a matrix does (in a list of pairs, write the names "
        "of the columns in a first line, such as 'genuine template_a template_b score'); a matrix "
        'of scores must be a .npy or .npz file. To make one: python -c "import numpy as np; '
        f'np.save({target!r}, np.loadtxt({str(path)!r}{part}))"'
    )


def read_labels(path: str | Path, meta: Mapping[str, str] | None = None) -> Labels:
    """Read the labels, and every further column as metadata, of a CSV file.

    The labels are a column of `LABEL_COLUMNS`, or the only one of a file without a header. `meta`
    renames columns: ``{"camera": "cam_id"}`` gives the column ``cam_id`` as ``camera``.
    """
    table = read_table(path, headerless="")
    has_header = "" not in table.columns
    key = table.find(*LABEL_COLUMNS) if has_header else ""
    if key is None:
        names = ", ".join(repr(name) for name in LABEL_COLUMNS)
        raise DataError(
            f"{table.path}: no column of labels; its columns are "
            f"{', '.join(map(repr, table.columns))}, expected one called {names}"
        )
    columns = {
        name: text_array(cells, f"{table.path}: {name}")
        for name, cells in table.columns.items()
        if name != key
    }
    for name, column in (meta or {}).items():
        if column not in columns:
            raise DataError(
                f"{table.path}: no column {column!r} (named by {name}={column}); the others are "
                f"{', '.join(map(repr, columns)) or 'none'}.{nearest_name(column, columns)}"
            )
    renamed = {column: name for name, column in (meta or {}).items()}
    columns = {renamed.get(column, column): values for column, values in columns.items()}
    label = text_array(table.columns[key], f"{table.path}: {key}")
    chosen = key if len(table.columns) > 1 and key != LABEL_COLUMNS[0] else ""
    return Labels(table.path, label, columns, has_header, chosen)


def check_cells(values: np.ndarray, what: str, named: Path) -> None:
    """Raise where a cell of CSV would not be read back as the same text."""
    for row, value in enumerate(np.asarray(values).tolist()):
        text = str(value)
        if not text or text != text.strip() or "\x00" in text or "\r" in text:
            raise DataError(
                f"{named}: {what} {row} is {text!r}; CSV would change this text; save to a "
                ".npz file"
            )


def write_labels(
    target: Path, label: np.ndarray, meta: Mapping[str, np.ndarray], *, named: Path | None = None
) -> None:
    """Write labels and metadata as CSV; refuse text that would not be read back the same.

    `named` is the final name of the file, for messages, where `target` is a temporary one.
    """
    named = named or target
    columns = {"label": label, **meta}
    for name, values in columns.items():
        check_cells(values, name, named)
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(v).tolist() for v in columns.values()), strict=True))
