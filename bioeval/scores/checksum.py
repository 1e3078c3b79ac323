"""Checksums of mapped files, verified while their scores are counted."""

from __future__ import annotations

import zlib
from pathlib import Path
from threading import Thread
from typing import Any

from bioeval.base.errors import DataError

_PART = 1 << 22  # bytes read at once


class Checksum:
    """The checksum of a stored array, computed in the background while the array is counted."""

    def __init__(self, what: str, path: Path, start: int, size: int, expected: int):
        self.what, self.path, self.expected = what, path, expected
        self._found: int | None = None
        self._thread: Thread | None = Thread(target=self._compute, args=(start, size), daemon=True)
        self._thread.start()

    def _compute(self, start: int, size: int) -> None:
        found = 0
        try:
            with open(self.path, "rb") as file:
                file.seek(start)
                while size and (part := file.read(min(size, _PART))):
                    found = zlib.crc32(part, found)
                    size -= len(part)
        except OSError:  # the file has gone: nothing is verified
            return
        self._found = found

    def verify(self) -> None:
        """Wait for the checksum; raise :class:`DataError` where the bytes have another."""
        if self._thread is not None:
            self._thread.join()
            if self._found != self.expected:
                raise DataError(
                    f"{self.what} is truncated or damaged (its checksum is not that of the "
                    "archive); write the file again"
                )
            self._thread = None

    def __getstate__(self) -> dict[str, Any]:
        self.verify()  # a copy in another process has nothing left to verify
        return self.__dict__
