"""Files of named arrays (.npz, HDF5, MATLAB 5 to 7.3), each as a dictionary of arrays by name.

Values are read when they are needed, and never unpickled. Arrays of MATLAB have the shape that
MATLAB shows, although in HDF5 MATLAB reverses dimensions and writes characters as numbers. Files of
MATLAB 5 to 7 are parsed here, since SciPy's reader ends the process on some damaged files.
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
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy_format

from bioeval.scores.formats.faults import fault, guarded
from bioeval.scores.formats.files import HDF5, optional
from bioeval.scores.stored import StoredRows

# The most bytes that deflate packs into one byte.
_MOST_INFLATED = 1032
# Arrays up to this size are accepted whatever they store, since unwritten HDF5 chunks read as the
# fill value.
_MOST_FILLED = 1 << 20
# The most bytes of the header of a .npy array.
_MOST_HEADER = 1 << 16
# Bytes that hold the description of an array of MATLAB.
_DESCRIPTION_BYTES = 4096
# The most characters of a line of text, of which a damaged file may claim any number.
_MOST_CHARACTERS = 1 << 16
# The codec of UTF-16 text in each order of bytes, which is written as numpy does.
_UTF16 = {"<": "utf-16-le", ">": "utf-16-be"}


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


def _refused(path: Path, name: str, reason: str, shape: tuple[int, ...] = ()) -> Lazy:
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


def _npy_header(file: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Return shape and dtype of a .npy array, and the number of bytes before its values."""
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
    ratio = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _MOST_INFLATED}.get(member.compress_type)
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


# ------------------------------------------------------------------------- HDF5, and MATLAB 7.3

# Attributes of a file that are words, and are read as arrays of one word.
_WORDS = ("kind", "nan", "metric")
# What to save in MATLAB in place of a class that is no array of numbers or of characters.
_ADVICE = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}
# Classes of MATLAB that HDF5 holds as datasets, and that are no such array.
_NO_ARRAYS = ("cell", "function_handle", "string")


def _no_array(matlab_class: str) -> str:
    advice = _ADVICE.get(matlab_class, "its arrays one by one")
    return (
        f"is a MATLAB {matlab_class}; expected a matrix of numbers or of characters. Save {advice}"
    )


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
                # MATLAB keeps the contents of cells and objects in groups with a # in their names.
                if "#" in name or any(name.startswith(f"{group}/") for group in closed):
                    return
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
    """Return the array of an HDF5 file that is called `name`; None for a plain group.

    Arrays that MATLAB wrote have the attribute ``MATLAB_class``, and reversed dimensions.
    """
    import h5py

    if not isinstance(link, h5py.HardLink):
        reason = "is a link, and bioeval follows none; copy the values to its place"
        return _refused(path, name, reason)
    item = file[name]
    stated_class = item.attrs.get("MATLAB_class", b"")
    matlab_class = (
        stated_class.decode("ascii", "replace")
        if isinstance(stated_class, bytes)
        else str(stated_class)
    )
    if not isinstance(item, h5py.Dataset):
        is_sparse = "MATLAB_sparse" in item.attrs
        if matlab_class or is_sparse:
            return _refused(path, name, _no_array("sparse" if is_sparse else "struct"))
        return None
    is_text = bool(h5py.check_string_dtype(item.dtype))
    if item.is_virtual or item.external:
        return _refused(path, name, "has its values in other files; copy them into this file")
    if matlab_class in _NO_ARRAYS or (not is_text and item.dtype.kind not in "biuf"):
        return _refused(path, name, _no_array(matlab_class or "struct"), item.shape[::-1])
    if item.attrs.get("MATLAB_empty", 0):
        return Lazy((0, 0), item.dtype, lambda: np.empty((0, 0), item.dtype))
    stored_bytes = item.id.get_storage_size()
    if item.nbytes > max(_MOST_FILLED, _MOST_INFLATED * stored_bytes):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores "
            f"{stored_bytes:,}"
        )
    if matlab_class == "char":
        array = _matlab_characters(item)
    elif is_text:
        array = Lazy(item.shape, np.dtype("U1"), lambda: _strings(item))
    elif matlab_class:
        array = _matlab_numbers(item, np.dtype(bool) if matlab_class == "logical" else item.dtype)
    else:
        array = Lazy(item.shape, item.dtype, lambda: np.asarray(item[...]))
    rows = None if matlab_class else lambda: StoredRows(item, f"{path}: the array {name!r}")

    def read() -> np.ndarray:
        if 0 in array.shape:
            return np.empty(array.shape, array.dtype)
        with guarded(path, f"the array {name!r}"):
            return array.read()

    return Lazy(array.shape, array.dtype, read, rows)


def _matlab_characters(item: Any) -> Lazy:
    """Return a matrix of UTF-16 code units as one text for each row of the matrix."""
    shape = item.shape[::-1]
    dtype = np.dtype(f"U{min(prod(shape[1:]), _MOST_CHARACTERS)}")

    def read() -> np.ndarray:
        units = np.ascontiguousarray(np.asarray(item[...]).T, dtype="<u2")
        return _rows_of_text(units, "<")

    return Lazy(shape[:1], dtype, read)


def _matlab_numbers(item: Any, dtype: np.dtype) -> Lazy:
    def read() -> np.ndarray:
        return np.asarray(item[...]).T.astype(dtype, copy=False)

    return Lazy(item.shape[::-1], dtype, read)


def _strings(item: Any) -> np.ndarray:
    return require_unicode(np.asarray(item.asstr("utf-8")[()]).astype(str))


def _rows_of_text(units: np.ndarray, order: str) -> np.ndarray:
    """Return rows of UTF-16 code units, uint16 (rows, width), as text, str (rows,)."""
    codec = _UTF16[order]
    return np.array([row.tobytes().decode(codec).rstrip(" \x00") for row in units], dtype=str)


# ------------------------------------------------------------------------- MATLAB 5 to 7

# Numbers of the format (MathWorks, "MAT-File Format"): the types in which numbers are stored, the
# types in which characters are stored, the classes of arrays of numbers, and all other classes.
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_CHARACTERS = {1: "u1", 2: "u1", 4: "u2", 16: "utf-8", 17: "u2"}
_CLASSES = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), 6))
_OTHERS = {1: "cell", 2: "struct", 3: "object", 5: "sparse", 16: "function", 17: "object"}
_CHAR, _OPAQUE = 4, 17  # two of the classes
_MATRIX, _COMPRESSED = 14, 15  # types of elements: an array, perhaps compressed
_ARRAY_FLAGS = 6  # the type of an array's flags: its class in the lowest byte, and two marks
_IS_COMPLEX, _IS_LOGICAL = 0x800, 0x200
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
                for element in _elements(path, file, order):
                    name, array = _variable(element)
                    if name:  # an array without a name belongs to the objects of a variable
                        arrays[name] = array
    if not arrays:
        raise fault(path, "holds no matrix", "expected features, labels and cameras, or scores")
    return arrays


class _Element(NamedTuple):
    """An array in a MATLAB file, perhaps compressed."""

    path: Path
    offset: int  # position of the first byte after the tag
    kind: int  # _MATRIX or _COMPRESSED
    size: int  # number of bytes
    order: str  # order of bytes: "<" or ">"

    def read(self, limit: int) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            if self.kind == _MATRIX:
                return file.read(min(self.size, limit))
            tag_and_array = zlib.decompressobj().decompress(file.read(self.size), limit + 8)
            return tag_and_array[8:]


def _elements(path: Path, file: Any, order: str) -> Iterator[_Element]:
    offset = _HEAD_BYTES
    length = path.stat().st_size
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
        yield _Element(path, offset + 8, kind, size, order)
        offset += 8 + size


class _Description(NamedTuple):
    """The description of an array, which stands before its values."""

    matlab_class: int
    flags: int
    shape: tuple[int, ...]
    name: str
    end: int  # the byte behind the description, where the tag of the values begins


def _description(data: bytes, order: str) -> _Description:
    kind, start, size, end = _tag(data, 0, order)
    if kind != _ARRAY_FLAGS or size != 8:
        raise ValueError("an array without its flags")
    (flags,) = struct.unpack_from(f"{order}I", data, start)
    matlab_class = flags & 0xFF
    shape = tuple[int, ...]()
    if matlab_class not in {_CHAR, *_OTHERS, *_CLASSES}:
        raise ValueError(f"an array of unknown class {matlab_class}")
    if matlab_class != _OPAQUE:  # opaque arrays have no dimensions
        _, start, size, end = _tag(data, end, order)
        shape = struct.unpack_from(f"{order}{size // 4}i", data, start)
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"an array of shape {shape}")
    _, start, size, end = _tag(data, end, order)
    name = data[start : start + size].decode("ascii", "replace").rstrip("\x00")
    return _Description(matlab_class, flags, shape, name, end)


def _variable(element: _Element) -> tuple[str, Lazy]:
    path = element.path
    order = element.order
    data = element.read(_DESCRIPTION_BYTES)
    matlab_class, flags, shape, name, end = _description(data, order)
    if flags & _IS_COMPLEX:
        return name, _refused(path, name, "holds complex numbers; expected real ones", shape)
    if matlab_class in _OTHERS:
        return name, _refused(path, name, _no_array(_OTHERS[matlab_class]), shape)
    is_text = matlab_class == _CHAR
    dtype = np.dtype(bool if flags & _IS_LOGICAL else _CLASSES.get(matlab_class, "U1"))
    if is_text:
        dtype = np.dtype(f"U{min(prod(shape[1:]), _MOST_CHARACTERS)}")
    shape_as_read = shape[:1] if is_text else shape
    if 0 in shape:
        return name, Lazy(shape_as_read, dtype, lambda: np.zeros(shape_as_read, dtype))
    available = element.size * (_MOST_INFLATED if element.kind == _COMPRESSED else 1)
    if prod(shape) > available:  # each value takes a byte at least
        raise ValueError(f"the array {name!r} claims the shape {shape} in {available:,} bytes")
    stored_type, start, size, _ = _tag(data, end, order)
    if size > 8 * prod(shape):  # each value takes 8 bytes at most
        raise ValueError(f"the array {name!r} has {size:,} bytes for its shape {shape}")

    def read() -> np.ndarray:
        with guarded(path, f"the array {name!r}"):
            raw = element.read(start + size)[start : start + size]
            if is_text:
                return _rows_of_text(_code_units(raw, stored_type, order, shape[0]), order)
            if stored_type not in _NUMBERS:
                raise ValueError(f"numbers stored as type {stored_type}")
            values = np.frombuffer(raw, order + _NUMBERS[stored_type]).reshape(shape, order="F")
            with np.errstate(invalid="ignore", over="ignore"):
                converted = values.astype(dtype)
            if dtype.kind != "b" and ((converted != values) & (values == values)).any():
                raise ValueError(f"numbers that {dtype} cannot hold")
            return converted

    return name, Lazy(shape_as_read, dtype, read)


def _code_units(raw: bytes, stored_type: int, order: str, rows: int) -> np.ndarray:
    """Return characters as rows of UTF-16 code units, uint16 (rows, width)."""
    if stored_type not in _CHARACTERS:
        raise ValueError(f"characters stored as type {stored_type}")
    if _CHARACTERS[stored_type] == "utf-8":
        units = np.frombuffer(raw.decode("utf-8").encode(_UTF16[order]), f"{order}u2")
    else:
        units = np.frombuffer(raw, order + _CHARACTERS[stored_type])
    return np.ascontiguousarray(units.astype(f"{order}u2").reshape(rows, -1, order="F"))


def _tag(data: bytes, offset: int, order: str) -> tuple[int, int, int, int]:
    """Return type, first byte and size of the element at an offset, and the next offset.

    A tag is two words of 32 bits: type and size, with the data behind, filled up to 8 bytes. A
    small element has size and type in the first word, and its data, up to 4 bytes, in the second.
    """
    type_word, size = struct.unpack_from(f"{order}II", data, offset)
    small_size = type_word >> 16
    if not small_size:
        return type_word, offset + 8, size, offset + 8 + size + -size % 8
    if small_size > 4:
        raise ValueError(f"a small element of {small_size} bytes")
    return type_word & 0xFFFF, offset + 4, small_size, offset + 8
