"""Texts of lines, compressed or not, and the columns that their first lines show."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bioeval.base.errors import DataError
from bioeval.base.progress import report
from bioeval.scores.formats.files import content, decode, existing_file, guarded, optional

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
_FIRST_LINES = 1000  # by which columns are known

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
    single : bool
        Whether cells are separated by one blank, or by a mark without blanks around it, in these
        lines.
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
    single = (
        all(line == " ".join(line.split()) for line in kept)
        if mark == " "
        else not any(mark + " " in line or '"' in line for line in kept)
    )
    return Shape(path, mark, rows, skipped, single)
