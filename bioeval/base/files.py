"""Files: replaced as a whole, unchanged while they are read, and cells of CSV without formulas."""

from __future__ import annotations

import ctypes
import errno
import io
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
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


def remove_parts_of(path: Path) -> None:
    """Remove the parts of `path` that killed runs have left; no other run may be writing."""
    form = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}\.part")
    with suppress(OSError):
        for name in os.listdir(path.parent):
            if form.fullmatch(name):
                discard(path.with_name(name))


@contextmanager
def locked(path: Path, work: str) -> Iterator[None]:
    """Hold the lock file `path` inside; raise :class:`DataError` if another process holds it.

    The file says who holds it, and does which `work`. The system lets go of the lock of a process
    that is killed. Without a lock file, on a system that has no locks, the block runs all the same.
    """
    file = None
    try:
        while file is None:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _lock(file):
                os.lseek(file, 0, os.SEEK_SET)
                holder = os.read(file, 1 << 12).decode("utf-8", "replace") or "another process"
                raise DataError(f"{holder}; wait until it ends, or name another folder")
            if sys.platform == "win32":  # an open file cannot be removed
                break
            with suppress(OSError):
                if os.path.samestat(os.fstat(file), os.stat(path)):
                    break
            os.close(file)  # the process that held the lock has removed the file
            file = None
    except PermissionError as error:
        if sys.platform == "win32" and path.exists():  # being removed by who holds it
            raise DataError(f"{path} is held by another process; wait until it ends") from error
    except OSError:
        pass
    except DataError:
        if file is not None:
            os.close(file)
        raise
    try:
        if file is not None:
            host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME")
            os.truncate(file, 0)
            holder = f"process {os.getpid()} of {host} ({work})"
            os.write(file, holder.encode("utf-8", "replace"))  # a name of a file may be no text
        yield
    finally:
        if file is not None:
            discard(path)  # before it is let go: who opens it later finds another file or none
            os.close(file)
            if sys.platform == "win32":
                discard(path)


def _lock(file: int) -> bool:
    """Whether this process now has the lock of an open file."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, 1 << 20, os.SEEK_SET)  # others may read the beginning
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise
    return True


def exchange(new: Path, old: Path) -> None:
    """Exchange two folders: in one step on Linux, else in two, of which an error undoes the first.

    A process that is killed leaves `old` as one of the two, or, of the two steps, beside its place.
    """
    if sys.platform == "linux":
        at_place, exchanged = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        rename = getattr(ctypes.CDLL(None), "renameat2", None)
        places = os.fsencode(new), os.fsencode(old)
        if rename and rename(at_place, places[0], at_place, places[1], exchanged) == 0:
            return
    aside = part_of(old)
    try:
        os.rename(old, aside)
        os.rename(new, old)
    except BaseException:
        if aside.exists() and not old.exists():
            os.rename(aside, old)
        raise
    os.rename(aside, new)


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


def put_in_place(
    parts: Sequence[Path], places: Sequence[Path], obsolete: Sequence[Path] = ()
) -> None:
    """Move all files to their places and remove `obsolete` files, or none.

    The first place is the main file's, without which the other files are not read. The old main
    file is moved aside first, and the new one put in place last, so that no reader finds a main
    file beside files of another writer. If a move fails or is interrupted, the previous files are
    restored.
    """
    aside: list[tuple[Path, Path]] = []
    try:
        for place in (*places, *obsolete):
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


# The files that are read inside :func:`unchanged`, as they were at first.
_FILES: ContextVar[dict[str, WatchedFile] | None] = ContextVar("files", default=None)


class WatchedFile:
    """A file with its size and its time of modification when its reading began.

    - `name` (str): the file, in messages
    - `file` (int or path): the open file, or its place
    """

    def __init__(self, name: str, file: int | str | Path):
        self.name = name
        self.file = file
        self.state = self._state()

    def _state(self) -> tuple[int, int] | None:
        """Return the size in bytes and the time in nanoseconds; None if there is no file."""
        try:
            status = os.stat(self.file)
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def require_unchanged(self, state: tuple[int, int] | None = None) -> None:
        """Raise :class:`DataError` if the file is not as it was, or not in the `state` given."""
        before = state or self.state
        now = self._state()
        if now == before:
            return
        change = "it was written to"
        if now is None or before is None:
            change = "it was removed"
        elif now[0] != before[0]:
            change = f"{before[0]:,} bytes became {now[0]:,}"
        raise DataError(
            f"{self.name}: changed while it was read ({change}); read it again when no program "
            "writes to it"
        )


@contextmanager
def unchanged() -> Iterator[None]:
    """Raise :class:`DataError` at the end if a file of :func:`watch` changed inside.

    The change is the reason of an error inside, too.
    """
    files: dict[str, WatchedFile] = {}
    before = _FILES.set(files)
    try:
        yield
    except DataError as error:
        for file in files.values():
            try:
                file.require_unchanged()
            except DataError as change:
                raise change from error
        raise
    finally:
        _FILES.reset(before)
    for file in files.values():
        file.require_unchanged()


def watch(path: Path) -> None:
    """Note that a file is read; :func:`unchanged` compares it at the end."""
    files = _FILES.get()
    if files is not None and str(path) not in files:
        files[str(path)] = WatchedFile(str(path), path)


# The beginning of a cell that a spreadsheet runs, unless the cell is a number. Apostrophes before
# it count, so that reading takes away one apostrophe for each that writing has added.
_RUNS = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)
_NUMBER = re.compile(
    r"'*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*%?|inf(inity)?|nan)", re.IGNORECASE | re.ASCII
)


def as_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs: ``'=1+1`` for ``=1+1``."""
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def from_cell(text: str) -> str:
    """Return the text of a cell that :func:`as_cell` wrote."""
    return text[1:] if text[:1] == "'" and as_cell(text) != text else text
