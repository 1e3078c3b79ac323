"""What a damaged file makes its readers raise, as one error that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bioeval.base.errors import BioevalError, DataError

_LONGEST = 200  # characters of a library's message


@contextmanager
def guarded(path: Path, what: str = "", expected: str = "") -> Iterator[None]:
    """Turn whatever a reader raises into a :class:`DataError` that names the file.

    Libraries raise errors of any class on damaged bytes (``tokenize.TokenError``, ``SystemError``,
    ``OverflowError``, ``struct.error``), so no list of classes would be complete. Errors of
    bioeval, missing libraries and warnings pass; the original error remains the cause.

    Parameters
    ----------
    path
        The file that is read.
    what
        The part of it that is read, as ``"the array 'scores'"``.
    expected
        What the file should be, as ``"a .npz file"``.
    """
    where = f"{path}: {what}" if what else str(path)
    separator = " " if what else ": "
    advice = f"expected {expected}, write it again" if expected else "write the file again"
    try:
        yield
    except (BioevalError, ImportError, Warning):
        raise
    except MemoryError as error:
        raise DataError(
            f"{where}{separator}does not fit into memory; save a matrix as .npy, which is "
            "memory-mapped"
        ) from error
    except Exception as error:
        raise DataError(
            f"{where}{separator}is truncated or damaged ({_reason(error)}); {advice}"
        ) from error


def _reason(error: Exception) -> str:
    """Return the message of an error in one printable line."""
    text = " ".join(str(error).split())[:_LONGEST]
    printable = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return printable or type(error).__name__
