"""Opening files by what their first bytes say, texts line by line; replacing a file as a whole."""

from __future__ import annotations

import csv
import errno
import importlib
import io
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any

import numpy as np

from bioeval.base.arguments import require_path
from bioeval.base.csv_cells import from_cell
from bioeval.base.distribution import how_to_install
from bioeval.base.errors import DataError, nearest_name
from bioeval.base.progress import report
from bioeval.scores.formats.faults import guarded

#: What HDF5 files are called in messages.
HDF5 = "an HDF5 file"

#: What the first bytes of a file that bioeval does not read say it is.
FOREIGN_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89HDF\r\n\x1a\n", HDF5),
    (b"\x1f\x8b", "a gzip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip file"),
    (b"\x28\xb5\x2f\xfd", "a zstandard file"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow (Feather) file"),
    (b"\xff\xff\xff\xff", "an Arrow stream"),
    (b"SQLite format 3", "an SQLite database"),
    (b"%PDF", "a PDF file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
)

#: Compressed texts: what `content` calls the file, and the module of its decompressor.
COMPRESSED = {
    "a gzip file": "gzip",
    "a bzip2 file": "bz2",
    "an xz file": "lzma",
    "a zstandard file": "pyarrow",
}

NPY_MAGIC = b"\x93NUMPY"
MAT_MAGIC = b"MATLAB "
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")

#: The most bytes of a text, decompressed; an array of text padded to its longest value has at most
#: as many characters. Text takes some ten times its size in memory, arrays do not.
MOST_TEXT = 1 << 28

# Numbers of errors by which Windows refuses to move or replace a file that is open or mapped.
_IN_USE = (5, 32, 33, 1224)


class FileInUseError(DataError):
    """A file that cannot be replaced: the command reads it, or on Windows a program has it open."""


def optional(module: str, path: Path, input_name: str) -> Any:
    """Import an optional library; the error says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise DataError(
            f"{path}: is {input_name}, which needs {package}: {how_to_install('formats')}"
        ) from None


def existing_file(path: str | os.PathLike[str], input_name: str = "a file") -> Path:
    """Return `path` if it is a file that is not empty; else raise an error that describes it."""
    path = require_path("path", path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder; expected {input_name}")
    if not no_loop(path, input_name).exists():
        folder = path.parent
        if not folder.is_dir():
            raise DataError(f"{path}: no such file; {no_folder(folder, '')}")
        others = [x for x in os.listdir(folder) if x != path.name]  # it may be a link to nothing
        raise DataError(f"{path}: no such file.{nearest_name(path.name, others)}")
    if not path.is_file():
        raise DataError(
            f"{path}: is a pipe or a device, and {input_name} is read more than once; write it to "
            "a file first, and name that"
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path}: is empty (0 bytes); write the file again")
    return path


def no_folder(folder: Path, advice: str = "; make it first") -> str:
    """Return why `folder` is not a folder: it does not exist, or a file has its name."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            return f"{place} is a file, not a folder"
    return f"there is no folder {folder}{advice}"


def content(path: Path) -> str:
    """Return ``"npy"``, ``"zip"``, ``"mat"``, ``"text"``, or words for any other content."""
    if path.is_dir():
        return "a folder"
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if head.startswith(NPY_MAGIC):
        return "npy"
    if head.startswith(ZIP_MAGIC):
        return "zip"
    if head.startswith(MAT_MAGIC) and b"MAT-file" in head[:116]:
        return "mat"
    for magic, name in FOREIGN_MAGIC:
        if head.startswith(magic):
            return name
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a Python pickle (never unpickled)"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    if b"\x00" in head:
        return "an unknown binary file"
    return "text"


def read_bounded(path: Path, most: int = MOST_TEXT, file: Any = None) -> bytes:
    """Return the bytes of a file, or of an open one, in pieces; no more than `most` bytes."""
    pieces, size = [], 0
    with file or open(path, "rb") as stream:
        while piece := stream.read(1 << 20):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise DataError(
                    f"{path}: has more than {most >> 20} MiB of text, the most that is read; "
                    "expected a smaller file, or its numbers as arrays in a .npz file"
                )
    return b"".join(pieces)


def line_feeds(raw: bytes) -> bytes:
    r"""Return bytes of a text with ``\n`` in place of its line ends ``\r\n`` and ``\r``."""
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def decode(raw: bytes, path: Path, first_line: int = 1) -> str:
    """Decode bytes of a UTF-8 file; errors count lines from `first_line`."""
    raw = line_feeds(raw)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = raw.count(b"\n", 0, error.start) + first_line, raw[error.start]
        raise DataError(
            f"{path}: line {line}: the byte {byte:#04x} is not UTF-8 text; save it as UTF-8"
        ) from None


def decoded_lines(path: Path) -> list[str]:
    """Return the lines of a text in UTF-8, without the blank ones at its end."""
    lines = decode(read_bounded(path), path).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def read_text(path: Path) -> str:
    """Return a text in UTF-8, decompressed if it is gzip, with line feeds as line ends."""
    kind = content(path)
    if kind == "a gzip file":
        with guarded(path, expected="a whole gzip file"), open(path, "rb") as packed:
            return decode(read_bounded(path, file=GzipFile(fileobj=packed)), path)
    if kind != "text":
        raise DataError(f"{path}: is {kind}; expected text, or text compressed by gzip")
    return decode(read_bounded(path), path)


#: The most bytes of a line.
_LONGEST_LINE = 1 << 22

_BUFFER = 1 << 20


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


def mark_of(line: str) -> str:
    """Return what separates the cells of a line: semicolon, tab, comma, or else a blank."""
    return next((mark for mark in ";\t," if mark in line), " ")


def lines_of(path: Path, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in UTF-8 from line `first` on, with their numbers."""
    with guarded(path, expected="text"), open_text(path) as file:
        for number, raw in enumerate(file, 1):
            if number >= first:
                yield number, decode(raw, path, number).rstrip("\n")


def cells_of(line: str, mark: str) -> list[str]:
    """Return the cells of a line."""
    if mark == " ":
        return line.split()
    row = next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
    return [from_cell(cell.strip()) for cell in row]


def rows_of(path: Path, mark: str, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank, from line `first` on."""
    lines = lines_of(path, first)
    if mark == " ":
        yield from ((n, row) for n, line in lines if (row := line.split()))
        return
    texts = (f"{line}\n" for _, line in lines)
    reader = csv.reader(texts, delimiter=mark, skipinitialspace=True)
    for row in reader:
        if any(row := [*map(str.strip, row)]):
            yield reader.line_num + first - 1, row


def text_array(cells: list[str], where: str) -> np.ndarray:
    """Return text as an array as wide as the longest value."""
    longest = max(map(len, cells), default=0)
    if longest * len(cells) > MOST_TEXT:
        raise DataError(
            f"{where}: the longest of {len(cells):,} values has {longest:,} characters, so that "
            f"all of them would need more than {MOST_TEXT >> 20} Mi characters; expected shorter "
            "values"
        )
    return np.array(cells, dtype=str)


def no_loop(path: Path, expected: str = "a name to write to") -> Path:
    """Return `path`; raise where symbolic links lead from it back to it."""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DataError(f"{path}: is a loop of symbolic links; expected {expected}") from None
    return path


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return `path` if a file can be written there; else raise, before anything is computed."""
    path = no_loop(require_path("path", path))
    if path.is_dir():
        raise DataError(f"{path}: is a folder; expected the name of a file to write")
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: is not a regular file; expected the name of a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path}: {no_folder(path.parent)}")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise DataError(f"{path}: the folder {path.parent} may not be written to")
    require_unused(path)
    return path


def require_unused(path: Path) -> None:
    """Raise :class:`FileInUseError` if a file or a folder is there that cannot be replaced."""
    place = path.resolve()
    with naming_writes(path), suppress(FileNotFoundError):
        os.rename(place, place)  # does nothing, but where the system refuses it


def part_of(path: Path) -> Path:
    """Return a temporary name beside `path` for a file while it is written."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")


@contextmanager
def naming_writes(path: Path, *parts: Path) -> Iterator[None]:
    """Name `path` in errors of writing to `parts`, such as a full disk."""
    try:
        yield
    except OSError as error:
        if getattr(error, "winerror", None) in _IN_USE:
            name = path.name
            for file in (error.filename2, error.filename):
                if file and not os.path.basename(file).endswith(".part"):
                    name = os.path.basename(file)
            raise FileInUseError(
                f"{path.with_name(name)}: is in use, by scores that are read from it or by "
                "another program; close it, or give another name"
            ) from error
        if error.filename is not None and not str(error.filename).startswith((*map(str, parts),)):
            raise
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, reason, str(path)) from error


@contextmanager
def text_to_write(part: Path, path: Path) -> Iterator[IO[str]]:
    """Open `part` to write text, compressed where `path` ends in .gz."""
    with ExitStack() as stack:
        raw: Any = stack.enter_context(open(part, "wb"))
        if path.suffix == ".gz":  # without the time and a name: the same scores, the same bytes
            raw = stack.enter_context(GzipFile("", "wb", fileobj=raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(raw, encoding="utf-8", newline=""))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside `path` that takes its place when the block ends well.

    When the block fails, or is interrupted, the temporary file is removed and whatever was at
    `path` stays as it was.
    """
    named = check_target(path)
    place = named.resolve()
    part = part_of(place)
    try:
        with naming_writes(named, part):
            part.touch(exist_ok=False)
            yield part
            with open(part, "rb+") as file:
                os.fsync(file.fileno())
            os.replace(part, place)
    finally:
        discard(part)


def put_in_place(parts: Sequence[Path], places: Sequence[Path]) -> None:
    """Move all files to their places, or none.

    The first place is that of the main file, without which the others are not read. It is emptied
    first and filled last, so that no reader finds a main file beside files of another writer.
    What was there comes back where one fails, or is interrupted.
    """
    aside = []
    try:
        for place in places:
            if place.exists():
                aside.append((part_of(place), place))
                os.replace(place, aside[-1][0])
        for part, place in reversed([*zip(parts, places, strict=True)]):
            os.replace(part, place)
    except BaseException:
        for part, place in zip(parts, places, strict=True):
            if not part.exists():
                discard(place)
        for old, place in reversed(aside):
            if old.exists():
                os.replace(old, place)
        raise
    for old, _ in aside:
        discard(old)


def discard(path: Path) -> None:
    """Remove a file or a folder, if there is one."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
