"""Writing files: whether a file can be written, and replacing files as a whole."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any

from bioeval.base.arguments import require_path
from bioeval.base.errors import DataError

# Numbers of errors by which Windows refuses to move or replace a file that is open or mapped.
_IN_USE = (5, 32, 33, 1224)


class FileInUseError(DataError):
    """A file that cannot be replaced: the command reads it, or on Windows a program has it open."""


def no_folder(folder: Path, advice: str = "; make it first") -> str:
    """Return why `folder` is not a folder: it does not exist, or a file has its name."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            return f"{place} is a file, not a folder"
    return f"there is no folder {folder}{advice}"


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
    """Raise :class:`FileInUseError` if the file or folder at `path` cannot be replaced."""
    place = path.resolve()
    with naming_writes(path), suppress(FileNotFoundError):
        os.rename(place, place)  # does nothing, or raises


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
        # Without the time and a name, equal scores give equal files.
        if path.suffix == ".gz":
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

    The first place is of the main file, without which the other files are not read. It is emptied
    first and filled last, so that no reader finds a main file beside files of another writer. If
    any move fails, or is interrupted, the former files come back.
    """
    aside = []  # the former files, under temporary names
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
    """Remove a file or a folder, unless there is none."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
