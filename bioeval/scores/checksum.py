"""Files that are verified while their scores are counted."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from threading import Thread

import numpy as np

from bioeval.base.errors import BioevalError, DataError


class Verification:
    """Work in the background that shows whether a file is whole."""

    def __init__(self, what: str, work: Callable[[], None]):
        self._error: BioevalError | None = DataError(f"{what}: was not read to its end")
        self._thread: Thread | None = Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
            self._error = None
        except BioevalError as error:
            self._error = error

    def verify(self) -> None:
        """Wait for the work; raise the :class:`DataError` that it ended with, if any."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            raise self._error

    def __getstate__(self) -> dict[str, None]:
        self.verify()  # a copy in another process has nothing left to verify
        return {"_thread": None, "_error": None}


def checksum(what: str, data: np.ndarray, expected: int) -> Verification:
    """Verify the checksum of the bytes of a mapped array.

    All in one call, during which other threads run: between two calls it would wait for a kernel.
    """

    def compute() -> None:
        if zlib.crc32(data) != expected:
            raise DataError(
                f"{what} is truncated or damaged (its checksum is not that of the archive); write "
                "the file again"
            )

    return Verification(what, compute)
