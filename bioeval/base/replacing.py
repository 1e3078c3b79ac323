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


def why_no_folder(folder: Path, advice: str = "; make it first") -> str:
    """Return why `folder` is not a folder: it does not exist, or a file has its name."""
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            return f"{place} is a file, not a folder"
    return f"there is no folder {folder}{advice}"


def require_no_loop(path: Path, expected: str = "a name to write to") -> None:
    """Raise :class:`DataError` if symbolic links lead from `path` back to it."""
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DataError(f"{path}: is a loop of symbolic links; expected {expected}") from None


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return `path` if a file can be written there; else raise, before anything is computed."""
    path = require_path("path", path)
    require_no_loop(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder; expected the name of a file to write")
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: is not a regular file; expected the name of a file to write")
    if not path.parent.is_dir():
        raise DataError(f"{path}: {why_no_folder(path.parent)}")
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
    """Name `path` in errors of writing to `parts`, such as a full disk.

    Errors about other files pass unchanged. If Windows refuses a file that is in use, the error
    names the file that was moved or replaced, and not a part.
    """
    try:
        yield
    except OSError as error:
        if getattr(error, "winerror", None) in _IN_USE:
            names = [os.path.basename(x) for x in (error.filename, error.filename2) if x]
            in_use = next((name for name in names if not name.endswith(".part")), path.name)
            raise FileInUseError(
                f"{path.with_name(in_use)}: is in use, by scores that are read from it or by "
                "another program; close it, or give another name"
            ) from error
        is_of_part = any(str(error.filename).startswith(str(part)) for part in parts)
        if error.filename is not None and not is_of_part:
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

    The first place is the main file's, without which the other files are not read. The old main
    file is moved aside first, and the new one put in place last, so that no reader finds a main
    file beside files of another writer. If a move fails or is interrupted, the previous files are
    restored.
    """
    aside: list[tuple[Path, Path]] = []
    try:
        for place in places:
            if place.exists():
                old = part_of(place)
                aside.append((old, place))  # before the move, which may be interrupted
                os.replace(place, old)
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
