"""Arrays of files, read when they are needed and never unpickled; .npy and .npz files.

A reader of files of named arrays returns a dictionary of :class:`Lazy` arrays by name; the readers
of HDF5 and of MATLAB's files are in :mod:`bioeval.scores.formats.hdf5`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from bioeval.base.memory import MEMORY_LIMIT
from bioeval.base.options import OPTIONS
from bioeval.scores.arrays import NpyMatrix, StoredRows, npy_values
from bioeval.scores.formats.faults import fault, guarded

#: The most bytes that deflate packs into one byte.
MOST_INFLATED = 1032
# The most bytes of the header of a .npy array.
_MOST_HEADER = 1 << 16


@dataclass(frozen=True)
class Lazy:
    """An array of a file, of which shape and dtype are known before the values are read."""

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[], np.ndarray]
    #: Returns a matrix whose rows are read from the file as they are needed.
    rows: Callable[[], Any] | None = None

    @property
    def is_vector(self) -> bool:
        """Whether the array is a list, or a matrix of one row or one column."""
        return prod(self.shape) == max(self.shape, default=0) > 0

    def __str__(self) -> str:
        """Shape and dtype, for a message."""
        return f"{self.shape} {self.dtype}"


def refused(path: Path, name: str, reason: str, shape: tuple[int, ...] = ()) -> Lazy:
    """Return an array that raises when it is read; its dtype is object."""

    def read() -> np.ndarray:
        raise fault(path, f"{name!r} {reason}")

    return Lazy(shape, np.dtype(object), read)


def _require_bytes(shape: tuple[int, ...], dtype: np.dtype, size: int) -> None:
    needed = prod(shape) * max(1, dtype.itemsize)
    if any(isinstance(n, bool) or n < 0 for n in shape) or needed > size:
        raise ValueError(
            f"its header claims {shape} {dtype}, {needed:,} bytes, of a file with {size:,}"
        )


def require_unicode(array: np.ndarray) -> np.ndarray:
    """Return an array; raise where text has a code point that is no character of Unicode."""
    if array.dtype.kind == "U" and array.size and array.dtype.itemsize:
        codes = np.ascontiguousarray(array).reshape(-1).view(array.dtype.str[0] + "u4")
        wrong = codes[(codes >= 0x110000) | ((codes >= 0xD800) & (codes < 0xE000))]
        if len(wrong):
            raise ValueError(f"it holds the code point {int(wrong[0]):#x}: not a character")
    return array


# ------------------------------------------------------------------------- NumPy


class _NpyHeader(NamedTuple):
    """The header of a .npy array."""

    shape: tuple[int, ...]
    dtype: np.dtype
    by_columns: bool
    start: int  # the number of bytes before the values


def _npy_header(file: Any) -> _NpyHeader:
    head = io.BytesIO(file.read(_MOST_HEADER))
    version = npy_format.read_magic(head)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"it is of version {version}")
    read = npy_format.read_array_header_2_0
    if version == (1, 0):
        read = npy_format.read_array_header_1_0
    shape, by_columns, dtype = read(head)
    return _NpyHeader(tuple(shape), dtype, by_columns, head.tell())


def npy_dimensions(path: Path) -> int:
    """Return the number of dimensions of a .npy array."""
    with guarded(path, expected="a .npy matrix"), open(path, "rb") as file:
        return len(_npy_header(file).shape)


def open_npy(path: Path, expected: str = "a .npy matrix", as_: str = "float") -> Any:
    """Return a .npy array, which errors call `expected`; `as_` is its expected type.

    A matrix that memory shall not hold is read by rows: one of more than 1 GiB, or any under a
    stated limit. No array is memory-mapped, since a map of a file that becomes shorter ends the
    process.
    """
    with guarded(path, expected=expected), open(path, "rb") as file:
        shape, dtype, by_columns, start = _npy_header(file)
        if dtype.hasobject:
            kind = "numbers" if as_ == "float" else "text"
            raise fault(
                path,
                "holds Python objects, a pickle, and bioeval never unpickles",
                f"save it as {kind} (numpy.asarray(x, dtype={as_}))",
            )
        _require_bytes(shape, dtype, path.stat().st_size - start)
        is_matrix = len(shape) == 2 and 0 not in shape and dtype.kind in "biuf"
        most = MEMORY_LIMIT if OPTIONS["memory_limit"] is None else 0
        if is_matrix and prod(shape) * dtype.itemsize > most:
            matrix = NpyMatrix(path, (shape[0], shape[1]), dtype, start, by_columns)
            return StoredRows(matrix, str(path))
        file.seek(start)
        return npy_values(file, shape, dtype, by_columns)


def open_npz(path: Path) -> dict[str, Lazy]:
    """Return the arrays of a .npz file."""
    arrays = {}
    with guarded(path, expected="a .npz file"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name == member.filename:
                continue
            with guarded(path, f"the array {name!r}"), archive.open(member) as file:
                shape, dtype, _, _ = _npy_header(file)
                if not dtype.hasobject:
                    _require_bytes(shape, dtype, _size_at_most(member, path.stat().st_size))
            arrays[name] = Lazy(shape, dtype, partial(_read_member, path, name))
            if dtype.hasobject:
                reason = "is of dtype object, a Python pickle, and bioeval never unpickles; "
                advice = "save it as numbers or as text (numpy.array(x, dtype=str))"
                arrays[name] = refused(path, name, reason + advice, shape)
    if not arrays:
        raise fault(
            path,
            f"is a zip file of {len(members)} files, none of them an array",
            "expected a .npz file",
        )
    return arrays


def _size_at_most(member: zipfile.ZipInfo, file_size: int) -> int:
    ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_INFLATED}.get(member.compress_type)
    if ratio is None:
        return member.file_size
    return min(member.file_size, ratio * min(member.compress_size, file_size))


def _read_member(path: Path, name: str) -> np.ndarray:
    with guarded(path, f"the array {name!r}"):
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
            array = npy_format.read_array(file, allow_pickle=False)
            further_bytes = file.read(1)  # zipfile verifies the checksum when the end is reached
        require_unicode(array)
    if further_bytes:
        raise fault(path, f"the array {name!r} is followed by more data than declared")
    return array
