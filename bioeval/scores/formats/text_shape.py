"""Texts of lines, compressed or not, and the columns that their first lines show."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import IO, Any

from bioeval.base.errors import DataError, counted
from bioeval.base.progress import report
from bioeval.scores.formats.files import (
    COMPRESSED,
    content,
    decode,
    existing_file,
    guarded,
    optional,
)
from bioeval.scores.formats.spellings import COLUMN_NAMES, folded, is_number

#: The most columns of a list, and bytes of a line.
MOST_COLUMNS = 1000
_LONGEST_LINE = 1 << 22

_SAMPLE = 1 << 16  # bytes
_BUFFER = 1 << 20
_FIRST_LINES = 1000  # by which columns are known
_COMMENT = "#"

_DECIMAL_COMMA = re.compile(r"\s[+-]?\d+,\d+\s*$")


class _Watched(io.RawIOBase):
    """The bytes of a text, with progress; a line without end is refused."""

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
    """The columns of a text: their separator, their number, and the first lines.

    Attributes
    ----------
    path : Path
    mark : str
        A comma, semicolon or tab, or a blank for any white space.
    cells : list of list of str
        The first lines that are not blank, as cells.
    skipped : int
        Lines before the first of these.
    comments : int
        Lines before the first of these that begin with ``#``.
    commented : bool
        Whether the first of these has the names of the columns after ``#``.
    single : bool
        Whether cells are separated by one blank, or by a mark without blanks around it, in these
        lines.
    """

    path: Path
    mark: str
    cells: list[list[str]] = field(repr=False)
    skipped: int = 0
    single: bool = False
    comments: int = 0
    commented: bool = False

    @property
    def columns(self) -> int:
        """Number of columns of the first line."""
        return len(self.cells[0])

    @property
    def reading(self) -> tuple[str, ...]:
        """How comment lines before the first pair are read."""
        named = f"names of columns on line {self.skipped + 1}, after #"
        left = f"{counted(self.comments, 'comment lines')} at the start left out"
        return (*[named] * self.commented, *[left] * bool(self.comments))


def _split(lines: list[str], mark: str) -> list[list[str]]:
    """Return the cells of lines; a quoted cell may be cut off at the end of what was read."""
    if mark == " ":
        return [line.split() for line in lines]
    rows = csv.reader(lines, delimiter=mark, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def _bare(line: str) -> str:
    return line.strip().lstrip(_COMMENT).strip()


def _names_columns(line: str, mark: str, below: list[str], names: Collection[str | None]) -> bool:
    """Whether a comment has the names of the columns of the line below it."""
    cells = (_split([_bare(line)], mark) or [[]])[0]
    known = any(cell in names or folded(cell) in COLUMN_NAMES for cell in cells)
    return known and len(cells) == len(below) and not any(map(is_number, cells))


def _refuse_row(path: Path, number: int, line: str, mark: str, below: list[str]) -> None:
    """Raise where a comment could be a row whose first name begins with ``#``."""
    cells = (_split([line.strip()], mark) or [[]])[0]
    alike = len(cells) == len(below) > 1 and cells[0].strip(_COMMENT) and not is_number(below[0])
    numbers = [i for i, cell in enumerate(below) if is_number(cell)]
    if alike and numbers and all(is_number(cells[i]) for i in numbers):
        raise DataError(
            f"{path}: line {number} begins with # and has {len(cells)} cells like the rows below; "
            "if it is a comment, delete it; if it is a row, write the names of the columns in a "
            "first line and the names of templates without #"
        )


def shape_of(path: Path, names: Collection[str | None] = ()) -> Shape:
    """Return the columns of a text, from its first lines; `names` are known names of columns.

    Blank lines and comments before the first line are left out. The last comment may have the names
    of the columns.
    """
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
        what = " and comments" if comments else ""
        raise DataError(f"{path}: holds nothing but blank lines{what}")
    skipped = written[len(comments)]
    mark = next((mark for mark in ";\t," if mark in kept[0]), " ")
    if mark == "," and _DECIMAL_COMMA.search(kept[0]):
        mark = " "  # so that the comma is refused, and not a mark
    rows = _split(kept, mark)
    commented = bool(comments) and _names_columns(texts[comments[-1]], mark, rows[0], names)
    if commented:
        skipped = comments.pop()
        rows.insert(0, _split([_bare(texts[skipped])], mark)[0])
    for i in comments:
        _refuse_row(path, i + 1, texts[i], mark, rows[-1])
    if len(rows[0]) > MOST_COLUMNS:
        raise DataError(
            f"{path}: line {skipped + 1}: has {len(rows[0]):,} columns; expected at most "
            f"{MOST_COLUMNS:,} (a matrix of scores is read from .npy or .npz)"
        )
    single = (
        all(line == " ".join(line.split()) for line in kept)
        if mark == " "
        else not any(mark + " " in line or '"' in line for line in kept)
    )
    return Shape(path, mark, rows, skipped, single, len(comments), commented)
