"""Access to the arrays in a .npz file, one at a time and never unpickled."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format

from bioeval.base.errors import DataError, nearest_name
from bioeval.scores.formats.files import guarded
from bioeval.scores.formats.format import say

#: Names listed in a message before it says how many more there are.
LISTED = 12

_BLOCK_BYTES = 1 << 25
_MOST_HEADER = 1 << 16

#: The most bytes that deflate packs into one; what a compressed array claims is held against it.
MOST_DEFLATED = 1032
_CODE_POINTS = 0x110000


@dataclass(frozen=True)
class Header:
    """The shape and the dtype of an array in the file."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def is_pickled(self) -> bool:
        """Whether the array holds Python objects."""
        return self.dtype.hasobject


class Arrays:
    """Arrays by name in a file: their headers, and their values when they are read."""

    path: Path
    headers: dict[str, Header]

    def __contains__(self, key: str) -> bool:
        return key in self.headers

    def listing(self) -> str:
        """Return the arrays with shape and dtype; arrays in folders are only counted."""
        keys = [key for key in self.headers if "/" not in key] or list(self.headers)
        parts = []
        for key in keys[:LISTED]:
            parts.append(f"{key} {self.headers[key].shape} {self.headers[key].dtype}")
        more = len(self.headers) - len(parts)
        if more > 0:
            parts.append(f"and {more} more")
        return "; ".join(parts)

    def require(self, option: str, key: str) -> None:
        """Raise unless the array that `option` names is in the file."""
        if key not in self.headers:
            raise DataError(
                f"{self.path}: no array {key!r}; {say(option)} names "
                f"it.{nearest_name(key, self.headers)} It holds: {self.listing()}"
            )

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        raise NotImplementedError

    def read_if_there(self, key: str | None) -> np.ndarray | None:
        """Read an array that a file need not have."""
        return self.read(key) if key in self.headers else None

    def rows(self, key: str) -> Any:
        """Return a matrix, read by rows where the file allows it."""
        return self.read(key)

    def text(self, key: str) -> str:
        """Read one word, stored as a 0-d array of text."""
        header = self.headers[key]
        if header.shape not in ((), (1,)) or header.dtype.kind not in "SU":
            raise DataError(
                f"{self.path}: {key!r} is {header.shape} {header.dtype}; expected one word of text"
            )
        word = self.read(key).reshape(-1)[0]
        if isinstance(word, bytes):
            return word.decode("ascii", "replace")
        return str(word)


class Archive(Arrays):
    """A .npz file whose headers are read at once, and its arrays one by one."""

    def __init__(self, path: Path):
        """Read the headers."""
        self.path = path
        self.headers: dict[str, Header] = {}
        with guarded(path, expected="a .npz file"), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            for member in members:
                if member.filename.endswith(".npy"):
                    name = member.filename.removesuffix(".npy")
                    with guarded(path, f"the array {name!r}"), archive.open(member) as file:
                        header, _ = read_header(file)
                        if not header.is_pickled:
                            require_bytes(header, _size_at_most(member, path.stat().st_size))
                    self.headers[name] = header
        if not self.headers:
            raise DataError(
                f"{path}: is a zip file of {len(members)} files, none of them an array; expected a "
                ".npz file"
            )

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if self.headers[key].is_pickled:
            raise DataError(
                f"{self.path}: the array {key!r} is of dtype object, a Python pickle, and bioeval "
                "never unpickles; save it as numbers or as text (numpy.array(x, dtype=str))"
            )
        with guarded(self.path, f"the array {key!r}"):
            with zipfile.ZipFile(self.path) as archive, archive.open(f"{key}.npy") as file:
                array = npy_format.read_array(file, allow_pickle=False)
                rest = file.read(1)  # the checksum is verified at the end
            require_text(array)
        if rest:
            raise DataError(
                f"{self.path}: the array {key!r} is followed by more data than declared"
            )
        return array


def _size_at_most(member: zipfile.ZipInfo, file_size: int) -> int:
    """Return the largest number of bytes that a member of a zip file can inflate to."""
    ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_DEFLATED}.get(member.compress_type)
    if ratio is None:
        return member.file_size
    return min(member.file_size, ratio * min(member.compress_size, file_size))


def read_header(file: Any) -> tuple[Header, int]:
    """Read the header of an array in .npy form, and the number of its bytes."""
    head = io.BytesIO(file.read(_MOST_HEADER))
    version = npy_format.read_magic(head)
    read = {
        (1, 0): npy_format.read_array_header_1_0,
        (2, 0): npy_format.read_array_header_2_0,
        (3, 0): npy_format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"it is of version {version}")
    shape, _, dtype = read(head)
    if any(isinstance(length, bool) or length < 0 for length in shape):
        raise ValueError(f"the header has the shape {shape}")
    return Header(tuple(shape), dtype), head.tell()


def open_array(path: Path, input_name: str = "a .npy matrix", as_: str = "numbers") -> np.ndarray:
    """Memory-map a .npy array, which errors call `input_name`; `as_` is what it should hold."""
    with guarded(path, expected=input_name):
        with open(path, "rb") as file:
            header, size = read_header(file)
        size = path.stat().st_size - size
        if header.is_pickled:
            dtype = "float" if as_ == "numbers" else "str"
            raise DataError(
                f"{path}: holds Python objects, a pickle, and bioeval never unpickles; save it "
                f"as {as_} (numpy.asarray(x, dtype={dtype}))"
            )
        require_bytes(header, size)
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def require_bytes(header: Header, size: int) -> None:
    """Raise :class:`ValueError` where a header claims more values than `size` bytes can hold."""
    needed = prod(header.shape) * max(1, header.dtype.itemsize)
    if needed > size:
        raise ValueError(
            f"its header claims {header.shape} {header.dtype}, {needed:,} bytes, of a file with "
            f"{size:,}"
        )


def require_text(array: np.ndarray) -> None:
    """Raise :class:`ValueError` where text has a code point that is no character of Unicode."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return
    codes = np.ascontiguousarray(array).reshape(-1).view(array.dtype.str[0] + "u4")
    wrong = codes[(codes >= _CODE_POINTS) | ((codes >= 0xD800) & (codes < 0xE000))]
    if len(wrong):
        raise ValueError(f"it holds the code point {int(wrong[0]):#x}: not a character")


class ArchiveWriter:
    """Writes a .npz file array by array, so that no array has to be in memory as a whole."""

    def __init__(self, file: BinaryIO | os.PathLike[str]):
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self._zip.close()

    def add(self, key: str, array: Any) -> None:
        """Write a whole array."""
        array = np.asarray(array)
        rows = array[None] if not array.shape else array
        self.add_rows(key, array.shape, array.dtype, lambda low, high: rows[low:high])

    def add_rows(
        self,
        key: str,
        shape: tuple[int, ...],
        dtype: np.dtype,
        read: Callable[[int, int], np.ndarray],
    ) -> None:
        """Write an array whose rows are read in blocks of some tens of megabytes."""
        # A fixed date, so that equal scores give equal files.
        member = zipfile.ZipInfo(f"{key}.npy", date_time=(1980, 1, 1, 0, 0, 0))
        head = {
            "descr": npy_format.dtype_to_descr(np.dtype(dtype)),
            "fortran_order": False,
            "shape": tuple(map(int, shape)),
        }
        count = shape[0] if shape else 1
        step = max(1, _BLOCK_BYTES // max(1, prod(shape[1:]) * dtype.itemsize))
        with self._zip.open(member, "w", force_zip64=True) as file:
            npy_format.write_array_header_1_0(file, head)
            for low in range(0, count, step):
                block = read(low, min(count, low + step))
                file.write(np.ascontiguousarray(block, dtype=dtype).tobytes())
