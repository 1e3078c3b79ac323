"""Errors of files, in the few forms that all readers share."""

from __future__ import annotations

import traceback
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from bioeval.base.errors import BioevalError, DataError, nearest_name, printable

# Characters of a library's message that are shown.
_LONGEST = 200
# Places of wrong rows that are shown.
_EXAMPLES = 3
# Names that are listed before a message says how many more there are.
_LISTED = 12


def fault(place: Any, problem: str, expected: Any = "", *, line: int | None = None) -> DataError:
    """Return the error of a file: its place, the problem, and the expected content or a remedy."""
    location = f"{place}: " if line is None else f"{place}: line {line}: "
    return DataError(f"{location}{problem}; {expected}" if expected else f"{location}{problem}")


def listing(names: Sequence[str]) -> str:
    """Return the names in a file, for a message; names in folders are only counted."""
    top_names = [name for name in names if "/" not in name] or [*names]
    listed = "; ".join(top_names[:_LISTED])
    unlisted = len(names) - min(len(top_names), _LISTED)
    return (f"{listed}; and {unlisted} more" if unlisted > 0 else listed) or "nothing"


def missing(
    place: Any,
    noun: str,
    name: str,
    names: Sequence[str],
    option: Any,
    contents: str = "",
    other_arguments: Container[str] = (),
) -> DataError:
    """Return the error of an absent column or array that an argument names.

    Names of `other_arguments` are not suggested.
    """
    hint = nearest_name(name, [x for x in names if x not in other_arguments])
    contents = contents or ", ".join(map(repr, names)) or "nothing"
    return DataError(f"{place}: no {noun} {name!r}; {option} names it.{hint} It holds: {contents}")


def wrong_shape(place: Any, noun: str, shape: Any, expected: str) -> DataError:
    """Return the error of an array that has another shape than expected."""
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

    Libraries raise errors of any class on damaged bytes (``tokenize.TokenError``, ``SystemError``,
    ``OverflowError``, ``struct.error``), so no list of classes would be complete. Errors of
    bioeval, missing libraries and warnings pass, and so does an error that shows a mistake in a
    program, such as a KeyError, if no reader raised it; the original error remains the cause.

    `part` is a noun for the part that is read, as ``"the array 'scores'"``, and `expected` a noun
    for the file, as ``"a .npz file"``.
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
