"""Files as texts: their errors, their kind by the first bytes, their lines and cells.

:func:`fault` makes the error of a file, and :func:`guarded` turns errors of libraries into such
errors. :func:`kind_of_file` tells a text from other files. A text may be compressed, and is read
with line feeds as line ends::

    for line, cells in rows_of(path, ",", first=2):  # the number and the cells of each line
        ...

Tables are made of texts in :mod:`bioeval.scores.formats.tables`.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
import traceback
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.arguments import require_path
from bioeval.base.environment import how_to_install
from bioeval.base.errors import BioevalError, DataError, backquoted, nearest_name, printable
from bioeval.base.files import from_cell, require_no_loop, unchanged, watch, why_no_folder
from bioeval.base.progress import report
from bioeval.scores.labels import normal

if TYPE_CHECKING:
    pass

# Characters of a library's message that are shown.
_LONGEST = 200
# Places of wrong rows that are shown.
_EXAMPLES = 3


def fault(place: Any, problem: str, expected: Any = "", *, line: int | None = None) -> DataError:
    """Return the error of a file: its place, the problem, and the expected content or a remedy."""
    location = f"{place}: " if line is None else f"{place}: line {line}: "
    return DataError(f"{location}{problem}; {expected}" if expected else f"{location}{problem}")


def missing(
    place: Any,
    noun: str,
    name: str,
    names: Sequence[str],
    word: str,
    contents: str = "",
    other_arguments: Container[str] = (),
) -> DataError:
    """Return the error of an absent column or array that a `word` of ``columns`` names."""
    hint = nearest_name(name, [x for x in names if x not in other_arguments])
    contents = contents or ", ".join(map(repr, names)) or "nothing"
    option = backquoted(f"columns.{word}")
    return DataError(f"{place}: no {noun} {name!r}; {option} names it.{hint} It holds: {contents}")


def first_of_role(
    place: Any,
    names: Sequence[str],
    role: str,
    are_equal: Callable[[str, str], bool],
    line: int | None = None,
) -> str:
    """Return the first of the columns or arrays that may have a role; others must be equal."""
    first, *others = names
    for other in others:
        if not are_equal(first, other):
            raise fault(
                place,
                f"{first!r} and {other!r} could each be the {role}, and differ",
                f'say `columns={{"{other}": None}}` if {first!r} is meant, or '
                f'`columns={{"{first}": None}}` if {other!r} is',
                line=line,
            )
    return first


def one_side_alone(place: Any, title: str, side: str, line: int | None = None) -> DataError:
    """Return the error of a column or array of one side of pairs, such as ``"subject_a"``."""
    noun, _, letter = side.partition("_")
    other = f"{noun}_{'b' if letter == 'a' else 'a'}"
    return fault(
        place,
        f"{title!r} has the {noun}s of one side of the pairs alone",
        f'name that of the other side as `columns={{"{other}": ...}}`, or say '
        f'`columns={{"{title}": None}}` if it is not to be read',
        line=line,
    )


def wrong_shape(place: Any, noun: str, shape: Any, expected: str) -> DataError:
    return fault(place, f"{noun} has shape {shape}".strip(), f"expected {expected}")


def refuse_rows(wrong: np.ndarray, table: Any, problem: str, expected: Any = "") -> None:
    """Raise if rows of a table are wrong, with their number and the places of the first."""
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return
    places = ", ".join(map(str, table.lines(rows[:_EXAMPLES].tolist())))
    advice = f"; {expected}" if expected else ""
    raise DataError(
        f"{table.path}: {len(rows):,} of {len(wrong):,} {table.noun}s: each {problem}; the first "
        f"on {table.noun} {places}{advice}"
    )


# Errors of these classes are a file's only if a reader raised them; others are faults of bioeval.
_OF_PROGRAMS = (AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError)
# The modules that read files.
_READERS = (
    *("ast", "bz2", "csv", "gzip", "h5netcdf", "h5py", "lzma", "pyarrow", "scipy.io", "tokenize"),
    *("xarray", "zipfile", "pandas.io", "pandas._libs.parsers"),
    *("numpy.lib.format", "numpy.lib._format_impl", "numpy.lib.npyio", "numpy.lib._npyio_impl"),
)


@contextmanager
def guarded(place: Any, part: str = "", expected: str = "") -> Iterator[None]:
    """Turn any error of a reader into a :class:`DataError` that names the file.

    Libraries raise errors of any class on damaged bytes (``tokenize.TokenError``, ``SystemError``),
    so no list of classes would be complete. Errors of bioeval, missing libraries and warnings pass,
    and so does a mistake in a program, such as a KeyError, if no reader raised it.

    `part` is a noun, as ``"the array 'scores'"``, and so is `expected`, as ``"a .npz file"``.
    """
    location = f"{place}: {part} " if part else f"{place}: "
    advice = f"expected {expected}, write it again" if expected else "write the file again"
    try:
        yield
    except (BioevalError, ImportError, Warning):
        raise
    except MemoryError as error:
        raise DataError(
            f"{location}does not fit into memory; save a matrix as .npy, which is read by rows"
        ) from error
    except Exception as error:
        if isinstance(error, _OF_PROGRAMS) and not _is_of_reader(error):
            raise
        reason = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
        raise DataError(f"{location}is truncated or damaged ({reason}); {advice}") from error


def _is_of_reader(error: BaseException) -> bool:
    """Whether a module that reads files raised an error, or a function that it called."""
    modules = [x.f_globals.get("__name__", "") for x, _ in traceback.walk_tb(error.__traceback__)]
    while modules and not modules[-1].startswith("bioeval"):
        if any(modules[-1] == x or modules[-1].startswith(f"{x}.") for x in _READERS):
            return True
        modules.pop()
    return False


@contextmanager
def naming_file(place: Any, *further_places: Any) -> Iterator[None]:
    """Name the file in errors that name no file, such as errors of the scores in the file."""
    try:
        yield
    except DataError as error:
        if any(printable(str(file)) in str(error) for file in (place, *further_places)):
            raise
        raise error.preceded_by(f"{place}: ") from error.__cause__


class FileKind(StrEnum):
    """The kind of a file in the words of messages, with its first bytes if they suffice."""

    magic: bytes

    def __new__(cls, words: str, magic: bytes = b"") -> Self:
        kind = str.__new__(cls, words)
        kind._value_ = words
        kind.magic = magic
        return kind

    TEXT = "text"
    NPY = "a NumPy array", b"\x93NUMPY"
    ZIP = "a zip file"
    MAT = "a MATLAB file"
    HDF5 = "an HDF5 file", b"\x89HDF\r\n\x1a\n"
    GZIP = "a gzip file", b"\x1f\x8b"
    BZIP2 = "a bzip2 file", b"BZh"
    XZ = "an xz file", b"\xfd7zXZ\x00"
    SEVEN_ZIP = "a 7-zip file", b"7z\xbc\xaf\x27\x1c"
    ZSTANDARD = "a zstandard file", b"\x28\xb5\x2f\xfd"
    PARQUET = "a Parquet file", b"PAR1"
    ARROW = "an Arrow (Feather) file", b"ARROW1"
    ARROW_STREAM = "an Arrow stream", b"\xff\xff\xff\xff"
    SQLITE = "an SQLite database", b"SQLite format 3"
    PDF = "a PDF file", b"%PDF"
    PNG = "a PNG image", b"\x89PNG"
    JPEG = "a JPEG image", b"\xff\xd8\xff"
    PICKLE = "a Python pickle (never unpickled)"
    UTF16 = "UTF-16 text"
    SPREADSHEET = "a spreadsheet (.xlsx)"
    FOLDER = "a folder"
    UNKNOWN = "an unknown binary file"


#: The modules that decompress compressed texts.
COMPRESSED = {
    FileKind.GZIP: "gzip",
    FileKind.BZIP2: "bz2",
    FileKind.XZ: "lzma",
    FileKind.ZSTANDARD: "pyarrow",
}

MAT_MAGIC = b"MATLAB "
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")

#: The most bytes of a decompressed text, and the most characters of an array of text, padded to its
#: longest value. In memory a text takes some ten times its size.
MOST_TEXT = 1 << 28

# The most bytes of a line.
_LONGEST_LINE = 1 << 22

#: Bytes that are read together.
BUFFER = 1 << 20


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
    """Return `path` if there is a file with content; else raise an error that says why not."""
    path = require_path("path", path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder; expected {input_name}")
    require_no_loop(path, input_name)
    if not path.exists():
        folder = path.parent
        if not folder.is_dir():
            raise DataError(f"{path}: no such file; {why_no_folder(folder, '')}")
        # The name itself is listed if it is a link to nothing.
        siblings = [x for x in os.listdir(folder) if x != path.name]
        raise DataError(f"{path}: no such file.{nearest_name(path.name, siblings)}")
    if not path.is_file():
        raise DataError(
            f"{path}: is a pipe or a device, and {input_name} is read more than once; write it to "
            "a file first, and name that"
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path}: is empty (0 bytes); write the file again")
    watch(path)
    return path


def kind_of_file(path: Path) -> FileKind:
    """Return the kind of a file by its first bytes, whatever its suffix."""
    if path.is_dir():
        return FileKind.FOLDER
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if head.startswith(ZIP_MAGIC):
        is_office = path.suffix.lower() == ".xlsx" or b"[Content_Types].xml" in head
        return FileKind.SPREADSHEET if is_office else FileKind.ZIP
    if head.startswith(MAT_MAGIC) and b"MAT-file" in head[:116]:
        return FileKind.MAT
    for kind in FileKind:
        if kind.magic and head.startswith(kind.magic):
            return kind
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return FileKind.PICKLE
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return FileKind.UTF16
    if b"\x00" in head:
        return FileKind.UNKNOWN
    return FileKind.TEXT


def advice_on(kind: FileKind) -> str:
    """Return what to do with a table in another form; empty of other files."""
    is_table = kind in (FileKind.SPREADSHEET, FileKind.UTF16)
    return "; save it as CSV, UTF-8" if is_table else ""


def line_feeds(raw: bytes) -> bytes:
    r"""Return the bytes of a text with ``\n`` in place of the line ends ``\r\n`` and ``\r``."""
    return raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw


def decode(raw: bytes, path: Path, first_line: int = 1) -> str:
    """Decode bytes of a UTF-8 file; errors count lines from `first_line`."""
    raw = line_feeds(raw)
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + first_line
        byte = raw[error.start]
        raise DataError(
            f"{path}: line {line}: the byte {byte:#04x} is not UTF-8 text; save it as UTF-8"
        ) from None


class _TextBytes(io.RawIOBase):
    """The bytes of a text with line feeds as line ends; raise where a line or the text is too long.

    `stored` is the file itself, whose progress is reported, and `file` has its bytes decompressed.
    """

    def __init__(self, file: IO[bytes], path: Path, stored: IO[bytes], bounded: bool):
        self._file = file
        self._path = path
        self._stored = stored
        self._size = path.stat().st_size
        self._line_bytes = 0  # bytes of the last line so far
        self._bytes_left = MOST_TEXT if bounded else None
        self._ends_in_return = False  # whether the last bytes end in a carriage return

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        self._stored.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        piece = self._piece(min(len(buffer), BUFFER))
        end = piece.rfind(b"\n")
        self._line_bytes = len(piece) - end - 1 if end >= 0 else self._line_bytes + len(piece)
        if self._line_bytes > _LONGEST_LINE:
            raise DataError(
                f"{self._path}: has a line of more than {_LONGEST_LINE >> 20} MiB; expected lines "
                "of scores, as text"
            )
        if self._bytes_left is not None:
            self._bytes_left -= len(piece)
            if self._bytes_left < 0:
                raise DataError(
                    f"{self._path}: has more than {MOST_TEXT >> 20} MiB of text, the most that is "
                    "read; expected a smaller file, or its numbers as arrays in a .npz file"
                )
        buffer[: len(piece)] = piece
        report(min(self._stored.tell(), self._size), self._size)
        return len(piece)

    def _piece(self, size: int) -> bytes:
        """Read bytes with line feeds as line ends; a line end may be cut between two readings."""
        while raw := self._file.read(size):
            piece = raw[1:] if self._ends_in_return and raw[:1] == b"\n" else raw
            self._ends_in_return = raw.endswith(b"\r")
            if piece:
                return line_feeds(piece)
        return b""


def open_text(path: Path, bounded: bool = False) -> IO[bytes]:
    """Open a text, decompressed where it is compressed, with line feeds as line ends.

    A `bounded` text has at most :data:`MOST_TEXT` bytes.
    """
    existing_file(path)
    kind = kind_of_file(path)
    if kind != FileKind.TEXT and kind not in COMPRESSED:
        raise fault(path, f"is {kind}", f"expected text in UTF-8{advice_on(kind)}")
    # Imported before the file is opened, since an import may fail.
    module: Any = optional(COMPRESSED[kind], path, kind) if kind in COMPRESSED else None
    stored = open(path, "rb")  # noqa: SIM115 - closed with the reader that is returned
    file = stored
    if kind == FileKind.ZSTANDARD:
        file = module.CompressedInputStream(module.PythonFile(stored), "zstd")
    elif module is not None:
        file = module.open(stored, "rb")
    return io.BufferedReader(_TextBytes(file, path, stored, bounded), BUFFER)


def read_text(path: Path) -> str:
    """Return a text in UTF-8, decompressed where it is compressed, with line feeds as line ends."""
    with unchanged(), guarded(path, expected="text"), open_text(path, bounded=True) as file:
        return decode(file.read(), path)


def delimiter_of(line: str) -> str:
    """Return the separator of the cells of a line: a semicolon, tab or comma, else a blank."""
    return next((delimiter for delimiter in ";\t," if delimiter in line), " ")


def cells_of(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line; among blanks, a cell in quotes may hold some."""
    if delimiter == " ":
        if '"' not in line:
            return line.split()
        line = line.strip().replace("\t", " ")
        return next(csv.reader([line], delimiter=" ", skipinitialspace=True), [])
    row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [from_cell(cell.strip()) for cell in row]


def rows_of(path: Path, delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank, from line `first` on."""
    with guarded(path, expected="text"), open_text(path) as file:
        numbered = islice(enumerate(file, 1), first - 1, None)
        if delimiter == " ":
            lines = ((n, cells_of(decode(raw, path, n), delimiter)) for n, raw in numbered)
            yield from ((n, row) for n, row in lines if row)
            return
        last_text = ""  # the line that the reader has read last

        def texts() -> Iterator[str]:
            nonlocal last_text
            for number, raw in numbered:
                last_text = decode(raw, path, number)
                yield last_text

        reader = csv.reader(texts(), delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if any(cells) or '"' in last_text:  # a cell "" is a blank one, and no blank line
                    yield reader.line_num + first - 1, cells
        except csv.Error as error:
            line = reader.line_num + first - 1
            raise fault(path, str(error), "expected CSV", line=line) from None


def text_array(cells: list[str], source: str) -> np.ndarray:
    """Return text as an array, whose values are padded to the longest; raise if it is too large."""
    longest = max(map(len, cells), default=0)
    if longest * len(cells) > MOST_TEXT:
        raise DataError(
            f"{source}: the longest of {len(cells):,} values has {longest:,} characters, so that "
            f"all of them would need more than {MOST_TEXT >> 20} Mi characters; expected shorter "
            "values"
        )
    return np.array([*map(normal, cells)], dtype=str)
