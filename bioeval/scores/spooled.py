"""A compressed matrix, inflated ahead of the counting into a temporary file, and its check."""

from __future__ import annotations

import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from math import prod
from threading import Condition, Thread
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalError, DataError


class FileCheck:
    """Background work that verifies a file."""

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
        """Wait for the work; raise the :class:`DataError` that it has found, if any."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            raise self._error

    def __getstate__(self) -> dict[str, None]:
        self.verify()  # a copy in another process has nothing left to verify
        return {"_thread": None, "_error": None}


def checksum(what: str, data: np.ndarray, expected: int) -> FileCheck:
    """Verify the checksum of the bytes of a mapped array.

    All in one call, during which other threads run: between two calls it would wait for a kernel.
    """

    def compute() -> None:
        if zlib.crc32(data) != expected:
            raise DataError(
                f"{what} is truncated or damaged (its checksum is not that of the archive); write "
                "the file again"
            )

    return FileCheck(what, compute)


class SpooledRows:
    """A matrix whose rows arrive in order, and can be read once they have arrived.

    They are written to a temporary file without a name and mapped from there, so that sweeps after
    the first one inflate nothing and no memory is held.

    Parameters
    ----------
    what : str
        What is read, for messages.
    shape, dtype
    pieces : iterator of bytes
        The values in C order. It raises a BioevalError where the source is damaged.

    Raises
    ------
    OSError
        If there can be no temporary file of this size.
    """

    rows_of = "temporary file"

    ndim = 2

    def __init__(self, what: str, shape: tuple[int, ...], dtype: np.dtype, pieces: Iterator[bytes]):
        self.shape, self.dtype = shape, dtype
        arriving = _Arriving(what, prod(shape) * dtype.itemsize)
        # Writable, since kernels would copy read-only rows.
        self._values = np.memmap(arriving.file, dtype, "r+", shape=shape)
        self._arriving = arriving
        self.verification = FileCheck(what, lambda: arriving.write(pieces))
        weakref.finalize(self, arriving.stop)  # whoever drops the matrix needs no more of it

    def __getitem__(self, rows: Any) -> np.ndarray:
        index = range(self.shape[0])[rows] if isinstance(rows, slice) else rows
        row_bytes = self.shape[1] * self.dtype.itemsize
        if np.size(index) and not self._arriving.wait((int(np.max(index)) + 1) * row_bytes):
            self.verification.verify()
        return self._values[rows]

    def __reduce__(self) -> tuple[Any, ...]:
        return np.array, (self[:],)


class _Arriving:
    """The temporary file, and the number of bytes written so far."""

    def __init__(self, what: str, size: int):
        self.what = what
        self.folder = tempfile.gettempdir()
        if size > shutil.disk_usage(self.folder).free:
            raise OSError(f"no room for {size:,} bytes in {self.folder}")
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `write`)
        self.file.truncate(size)
        self._done, self.ended = 0, False
        self._changed = Condition()

    def write(self, pieces: Iterator[bytes]) -> None:
        """Write the bytes that arrive, to the end or until :meth:`stop`."""
        try:
            self.file.seek(0)  # mapping it went to its end
            for piece in pieces:
                if self.ended:
                    raise DataError(f"{self.what}: was not read to its end")
                self.file.write(piece)
                self.file.flush()
                with self._changed:
                    self._done += len(piece)
                    self._changed.notify_all()
        except OSError as error:
            raise DataError(
                f"{self.what} could not be decompressed to a temporary file in {self.folder}: "
                f"{error.strerror or error}; name a folder with room in TMPDIR"
            ) from error
        finally:
            self.file.close()  # what is mapped stays
            self.stop()

    def wait(self, size: int) -> bool:
        """Wait until the first `size` bytes are written; False if they never will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._done >= size or self.ended)
            return self._done >= size

    def stop(self) -> None:
        """Stop writing, and end every wait."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()
