"""Files of named arrays (.npz, HDF5, MATLAB 5 to 7.3), each as a dictionary of arrays by name.

Values are read when they are asked for, and never unpickled. MATLAB's arrays are as it shows them:
in HDF5, MATLAB reverses dimensions, and writes characters as numbers. Files of MATLAB 5 to 7 are
parsed here: SciPy's reader ends the process on some damaged files.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from bioeval.scores.formats.faults import fault, guarded
from bioeval.scores.formats.files import HDF5, optional
from bioeval.scores.stored import StoredRows

_INFLATES = 1032  # the most bytes that deflate packs into one
_SMALL = 1 << 20  # bytes up to which an array may be larger than what is stored: of fill values
_MOST_HEADER = 1 << 16
_PEEK = 4096  # bytes that hold the description of an array of MATLAB
_WIDEST = 1 << 16  # characters of text, of which a damaged file may claim any number


@dataclass(frozen=True)
class Lazy:
    """An array of a file: shape, dtype and a reader; `rows` keeps a matrix in the file."""

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[], np.ndarray]
    rows: Callable[[], Any] | None = None

    @property
    def is_vector(self) -> bool:
        """Whether the array is a list, or a matrix of one row or one column."""
        return prod(self.shape) == max(self.shape, default=0) > 0

    def __str__(self) -> str:
        """Shape and dtype, for a message."""
        return f"{self.shape} {self.dtype}"


def _refused(path: Path, name: str, reason: str, shape: tuple[int, ...] = ()) -> Lazy:
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


def _npy_header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    head = io.BytesIO(file.read(_MOST_HEADER))
    version = npy_format.read_magic(head)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"it is of version {version}")
    read = npy_format.read_array_header_2_0
    if version == (1, 0):
        read = npy_format.read_array_header_1_0
    shape, _, dtype = read(head)
    return tuple(shape), dtype, head.tell()


def open_npy(path: Path, expected: str = "a .npy matrix", as_: str = "float") -> np.ndarray:
    """Memory-map a .npy array, which errors call `expected`; `as_` is its expected type."""
    with guarded(path, expected=expected):
        with open(path, "rb") as file:
            shape, dtype, start = _npy_header(file)
        if dtype.hasobject:
            kind = "numbers" if as_ == "float" else "text"
            raise fault(
                path,
                "holds Python objects, a pickle, and bioeval never unpickles",
                f"save it as {kind} (numpy.asarray(x, dtype={as_}))",
            )
        _require_bytes(shape, dtype, path.stat().st_size - start)
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


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
                shape, dtype, _ = _npy_header(file)
                if not dtype.hasobject:
                    _require_bytes(shape, dtype, _size_at_most(member, path.stat().st_size))
            arrays[name] = Lazy(shape, dtype, partial(_read_member, path, name))
            if dtype.hasobject:
                reason = "is of dtype object, a Python pickle, and bioeval never unpickles; "
                advice = "save it as numbers or as text (numpy.array(x, dtype=str))"
                arrays[name] = _refused(path, name, reason + advice, shape)
    if not arrays:
        raise fault(
            path,
            f"is a zip file of {len(members)} files, none of them an array",
            "expected a .npz file",
        )
    return arrays


def _size_at_most(member: zipfile.ZipInfo, file_size: int) -> int:
    ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _INFLATES}.get(member.compress_type)
    if ratio is None:
        return member.file_size
    return min(member.file_size, ratio * min(member.compress_size, file_size))


def _read_member(path: Path, name: str) -> np.ndarray:
    with guarded(path, f"the array {name!r}"):
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
            array = npy_format.read_array(file, allow_pickle=False)
            further_bytes = file.read(1)  # the checksum is verified at the end
        require_unicode(array)
    if further_bytes:
        raise fault(path, f"the array {name!r} is followed by more data than declared")
    return array


# ------------------------------------------------------------------------- HDF5, and MATLAB 7.3

#: Words that may be attributes of the file.
_WORDS = ("kind", "nan", "metric")
#: Classes of MATLAB that are no arrays of numbers or of characters, and the advice instead.
_ADVICE = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}
_NO_ARRAYS = ("cell", "function_handle", "string")


def _of_matlab(kind: str) -> str:
    advice = _ADVICE.get(kind, "its arrays one by one")
    return f"is a MATLAB {kind}; expected a matrix of numbers or of characters. Save {advice}"


def open_hdf5(path: Path) -> dict[str, Lazy]:
    """Return the datasets of an HDF5 file, and the words among its attributes."""
    h5py = optional("h5py", path, HDF5)
    arrays: dict[str, Lazy] = {}
    with guarded(path, expected=HDF5):
        file = h5py.File(path, "r")
        try:
            for name in _WORDS:
                word = file.attrs.get(name)
                word = word.decode("ascii", "replace") if isinstance(word, bytes) else word
                if isinstance(word, str):
                    text = np.array(word)
                    arrays[name] = Lazy((), text.dtype, text.copy)
            closed: list[str] = []  # groups whose members are not listed

            def add(name: str, link: Any) -> None:
                if "#" in name or any(name.startswith(f"{group}/") for group in closed):
                    return  # what cells and objects hold
                array = _hdf5_array(path, name, link, file)
                if array is not None:
                    arrays[name] = array
                    if array.dtype.hasobject:
                        closed.append(name)

            file.visititems_links(add)
        except BaseException:
            file.close()
            raise
    return arrays


def _hdf5_array(path: Path, name: str, link: Any, file: Any) -> Lazy | None:
    """Return the array under a name of an HDF5 file; None of a group of arrays."""
    import h5py

    if not isinstance(link, h5py.HardLink):
        reason = "is a link, and bioeval follows none; copy the values to its place"
        return _refused(path, name, reason)
    item = file[name]
    kind = item.attrs.get("MATLAB_class", b"")
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if not isinstance(item, h5py.Dataset):
        if kind or "MATLAB_sparse" in item.attrs:
            kind = "sparse" if "MATLAB_sparse" in item.attrs else "struct"
            return _refused(path, name, _of_matlab(kind))
        return None
    text = h5py.check_string_dtype(item.dtype)
    if item.is_virtual or item.external:
        return _refused(path, name, "has its values in other files; copy them into this file")
    if kind in _NO_ARRAYS or not text and item.dtype.kind not in "biuf":
        return _refused(path, name, _of_matlab(kind or "struct"), item.shape[::-1])
    if item.attrs.get("MATLAB_empty", 0):
        return Lazy((0, 0), item.dtype, lambda: np.empty((0, 0), item.dtype))
    stored = item.id.get_storage_size()
    if item.nbytes > max(_SMALL, _INFLATES * stored):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores {stored:,}"
        )
    shape = item.shape[::-1] if kind else item.shape
    dtype = item.dtype
    if kind == "char":
        shape, dtype = shape[:1], np.dtype(f"U{min(prod(shape[1:]), _WIDEST)}")
    elif text:
        dtype = np.dtype("U1")
    elif kind == "logical":
        dtype = np.dtype(bool)

    def read() -> np.ndarray:
        if 0 in shape:
            return np.empty(shape, dtype)
        with guarded(path, f"the array {name!r}"):
            if text and not kind:
                return require_unicode(np.asarray(item.asstr("utf-8")[()]).astype(str))
            array = np.asarray(item[...])
            array = array.T if kind else array
            if kind == "char":
                return _rows_of_text(np.ascontiguousarray(array, dtype="<u2"), "<")
            return array.astype(bool) if kind == "logical" else array

    rows = None if kind else lambda: StoredRows(item, f"{path}: the array {name!r}")
    return Lazy(shape, dtype, read, rows)


def _rows_of_text(units: np.ndarray, order: str) -> np.ndarray:
    codec = "utf-16-le" if order == "<" else "utf-16-be"
    return np.array([row.tobytes().decode(codec).rstrip(" \x00") for row in units], dtype=str)


# ------------------------------------------------------------------------- MATLAB 5 to 7

# Types in which numbers and characters are stored, and classes of arrays, by number.
_STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_CHARACTERS = {1: "u1", 2: "u1", 4: "u2", 16: "utf-8", 17: "u2"}
_CLASSES = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), 6))
_OTHERS = {1: "cell", 2: "struct", 3: "object", 5: "sparse", 16: "function", 17: "object"}
_CHAR, _OPAQUE, _MATRIX, _COMPRESSED = 4, 17, 14, 15
_HEAD_BYTES = 128


def open_mat(path: Path) -> dict[str, Lazy]:
    """Return the arrays of a MATLAB file, 5 to 7.3."""
    with open(path, "rb") as file:
        start = file.read(_HEAD_BYTES)
        if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
            arrays = open_hdf5(path)
        else:
            arrays = {}
            with guarded(path, expected="a MATLAB file"):
                order = {b"IM": "<", b"MI": ">"}.get(start[126:])
                if order is None:
                    raise ValueError("its header is not whole")
                for start_of_array, kind, size in _elements(file, order, path.stat().st_size):
                    name, array = _variable(path, start_of_array, kind, size, order)
                    if name:  # what has none belongs to the objects of another variable
                        arrays[name] = array
    if not arrays:
        raise fault(path, "holds no matrix", "expected features, labels and cameras, or scores")
    return arrays


def _elements(file: Any, order: str, length: int) -> Iterator[tuple[int, int, int]]:
    """Yield first byte, type and number of bytes of each element, compressed or an array."""
    offset = _HEAD_BYTES
    while offset < length:
        file.seek(offset)
        tag = file.read(8)
        if len(tag) < 8:
            raise ValueError(f"it ends within an element, at byte {offset}")
        kind, size = struct.unpack(f"{order}II", tag)
        if offset + 8 + size > length:
            raise ValueError(f"the element at byte {offset} is longer than the file")
        if kind not in (_MATRIX, _COMPRESSED) or not size:
            raise ValueError(f"the element at byte {offset} is no array")
        yield offset + 8, kind, size
        offset += 8 + size


def _part(path: Path, offset: int, kind: int, size: int, limit: int) -> bytes:
    with open(path, "rb") as file:
        file.seek(offset)
        if kind == _MATRIX:
            return file.read(min(size, limit))
        raw = zlib.decompressobj().decompress(file.read(size), limit + 8)
        return raw[8:]


def _variable(path: Path, offset: int, kind: int, size: int, order: str) -> tuple[str, Lazy]:
    part = _part(path, offset, kind, size, _PEEK)
    flags, start, count, place = _tag(part, 0, order)
    if flags != 6 or count != 8:
        raise ValueError("an array without its flags")
    (word,) = struct.unpack_from(f"{order}I", part, start)
    number = word & 0xFF
    shape = tuple[int, ...]()
    if number not in {_CHAR, *_OTHERS, *_CLASSES}:
        raise ValueError(f"an array of unknown class {number}")
    if number != _OPAQUE:  # which has no dimensions
        _, start, count, place = _tag(part, place, order)
        shape = struct.unpack_from(f"{order}{count // 4}i", part, start)
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"an array of shape {shape}")
    _, start, count, place = _tag(part, place, order)
    name = part[start : start + count].decode("ascii", "replace").rstrip("\x00")
    if word & 0x800:
        return name, _refused(path, name, "holds complex numbers; expected real ones", shape)
    if number in _OTHERS:
        return name, _refused(path, name, _of_matlab(_OTHERS[number]), shape)
    dtype = np.dtype(bool if word & 0x200 else _CLASSES.get(number, "U1"))
    if number == _CHAR:
        dtype = np.dtype(f"U{min(prod(shape[1:]), _WIDEST)}")
    as_list = shape[:1] if number == _CHAR else shape
    if 0 in shape:
        return name, Lazy(as_list, dtype, lambda: np.zeros(as_list, dtype))
    available = size * (_INFLATES if kind == _COMPRESSED else 1)
    if prod(shape) > available:  # a byte each
        raise ValueError(f"the array {name!r} claims the shape {shape} in {available:,} bytes")
    stored, start, count, _ = _tag(part, place, order)
    if count > 8 * prod(shape):
        raise ValueError(f"the array {name!r} has {count:,} bytes for its shape {shape}")

    def read() -> np.ndarray:
        with guarded(path, f"the array {name!r}"):
            raw = _part(path, offset, kind, size, start + count)[start : start + count]
            if number == _CHAR:
                return _rows_of_text(_code_units(raw, stored, order, shape[0]), order)
            if stored not in _STORED:
                raise ValueError(f"numbers stored as type {stored}")
            values = np.frombuffer(raw, order + _STORED[stored]).reshape(shape, order="F")
            with np.errstate(invalid="ignore", over="ignore"):
                converted = values.astype(dtype)
            if dtype.kind != "b" and ((converted != values) & (values == values)).any():
                raise ValueError(f"numbers that {dtype} cannot hold")
            return converted

    return name, Lazy(as_list, dtype, read)


def _code_units(raw: bytes, stored: int, order: str, rows: int) -> np.ndarray:
    """Return characters as rows of UTF-16 code units, uint16 (rows, width)."""
    if stored not in _CHARACTERS:
        raise ValueError(f"characters stored as type {stored}")
    if _CHARACTERS[stored] == "utf-8":
        codec = "utf-16-le" if order == "<" else "utf-16-be"
        units = np.frombuffer(raw.decode("utf-8").encode(codec), f"{order}u2")
    else:
        units = np.frombuffer(raw, order + _CHARACTERS[stored])
    return np.ascontiguousarray(units.astype(f"{order}u2").reshape(rows, -1, order="F"))


def _tag(data: bytes, offset: int, order: str) -> tuple[int, int, int, int]:
    """Return type, first byte and size of the element at an offset, and the next offset.

    A small element has its data in the tag itself.
    """
    word, size = struct.unpack_from(f"{order}II", data, offset)
    if not word >> 16:
        return word, offset + 8, size, offset + 8 + size + -size % 8
    if word >> 16 > 4:  # a small element: type and size share one word, the data follow
        raise ValueError(f"a small element of {word >> 16} bytes")
    return word & 0xFFFF, offset + 4, word >> 16, offset + 8
