"""Files that change while they are read: an error, in place of the numbers of two files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from bioeval.base.errors import DataError

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
