"""Arrays of files, read when they are needed and never unpickled: .npy, .npz, HDF5, MATLAB.

A reader of files of named arrays returns a dictionary of :class:`Lazy` arrays by name.

MATLAB 7.3 writes HDF5. The arrays of versions 5 to 7 are found and checked here, and read by SciPy,
which ends the process on some damaged files. Arrays of MATLAB have the shape that MATLAB shows,
although in HDF5 it reverses dimensions and writes characters as numbers.
"""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from bioeval.base.options import MEMORY_LIMIT, OPTIONS
from bioeval.scores.formats.texts import FileKind, fault, guarded, optional
from bioeval.scores.stored import NpyMatrix, StoredRows, npy_values

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
    copies: int = 1  # the number of copies in memory while the values are read

    @classmethod
    def of(cls, values: Any) -> Lazy:
        """Return an array that is at hand: of NumPy, a matrix that is read by rows, or a frame."""
        dtype = values.dtype if hasattr(values, "dtype") else np.dtype(float)
        whole = slice(None) if values.shape else ()
        return cls(values.shape, dtype, lambda: values[whole], lambda: values)

    @property
    def is_vector(self) -> bool:
        """Whether the array is a list, or a matrix of one row or one column."""
        return prod(self.shape) == max(self.shape, default=0) > 0

    def __str__(self) -> str:
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


def _npy_header(file: Any) -> tuple[tuple[int, ...], np.dtype, bool, int]:
    """Return shape, dtype, whether columns come first, and the bytes before the values."""
    head = io.BytesIO(file.read(_MOST_HEADER))
    version = npy_format.read_magic(head)
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"it is of version {version}")
    read = npy_format.read_array_header_2_0
    if version == (1, 0):
        read = npy_format.read_array_header_1_0
    shape, by_columns, dtype = read(head)
    return tuple(shape), dtype, by_columns, head.tell()


def open_npy(path: Path, expected: str = "a .npy matrix", as_: str = "float") -> Any:
    """Return a .npy array, which errors call `expected`; large matrices are read by rows.

    No array is memory-mapped, since a map of a file that becomes shorter ends the process.
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
        if _is_read_by_rows(shape, dtype):
            matrix = NpyMatrix(path, (shape[0], shape[1]), dtype, start, by_columns)
            return StoredRows(matrix, str(path))
        file.seek(start)
        return npy_values(file, shape, dtype, by_columns)


def _is_read_by_rows(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    is_matrix = len(shape) == 2 and 0 not in shape and dtype.kind in "biuf"
    most = MEMORY_LIMIT if OPTIONS["memory_limit"] is None else 0
    return is_matrix and prod(shape) * dtype.itemsize > most


def open_npz(path: Path) -> dict[str, Lazy]:
    """Return the arrays of a .npz file."""
    arrays = {}
    with guarded(path, expected="a .npz file"), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name != member.filename:
                arrays[name] = _member(path, name, archive, member)
    if not arrays:
        raise fault(
            path,
            f"is a zip file of {len(members)} files, none of them an array",
            "expected a .npz file",
        )
    return arrays


def _member(path: Path, name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Lazy:
    part = f"the array {name!r}"
    further_data = fault(path, f"{part} is followed by more data than declared")
    with guarded(path, part), archive.open(member) as file:
        shape, dtype, by_columns, start = _npy_header(file)
        if not dtype.hasobject:
            size = member.file_size
            ratios = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: MOST_INFLATED}
            if member.compress_type in ratios:
                packed = min(member.compress_size, path.stat().st_size)
                size = min(size, ratios[member.compress_type] * packed)
            _require_bytes(shape, dtype, size)
    if dtype.hasobject:
        reason = "is of dtype object, a Python pickle, and bioeval never unpickles; "
        advice = "save it as numbers or as text (numpy.array(x, dtype=str))"
        return refused(path, name, reason + advice, shape)

    def read() -> np.ndarray:
        with guarded(path, part):
            with zipfile.ZipFile(path) as archive, archive.open(member) as file:
                array = npy_format.read_array(file, allow_pickle=False)
                further_bytes = file.read(1)  # zipfile verifies the checksum at the end
            require_unicode(array)
        if further_bytes:
            raise further_data
        return array

    def rows() -> StoredRows:
        if member.file_size != start + prod(shape) * dtype.itemsize:
            raise further_data
        with guarded(path, part), zipfile.ZipFile(path) as archive:
            with archive.open(member) as values:
                while values.read(1 << 20):  # zipfile verifies the checksum at the end
                    pass
            with open(path, "rb") as file:
                file.seek(member.header_offset + 26)  # lengths of the name and of more fields
                first = member.header_offset + 30 + sum(struct.unpack("<HH", file.read(4)))
        matrix = NpyMatrix(path, (shape[0], shape[1]), dtype, first + start, by_columns)
        return StoredRows(matrix, f"{path}: {part}")

    has_rows = member.compress_type == zipfile.ZIP_STORED and _is_read_by_rows(shape, dtype)
    return Lazy(shape, dtype, read, rows if has_rows else None)


# Attributes of a file that are words, and are read as arrays of one word.
_WORDS = ("kind", "nan", "metric")
# Classes of MATLAB that HDF5 holds as datasets, and that are no arrays of numbers or characters.
_NO_ARRAYS = ("cell", "function_handle", "string")
# What to save in MATLAB in place of such a class.
_ADVICE = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}
# Arrays up to this size are accepted whatever they store, since unwritten HDF5 chunks read as the
# fill value.
_MOST_FILLED = 1 << 20
# The most characters of a line of text, of which a damaged file may claim any number.
_MOST_CHARACTERS = 1 << 16


def open_hdf5(path: Path) -> dict[str, Lazy]:
    """Return the datasets of an HDF5 file, and the words among its attributes."""
    h5py = optional("h5py", path, FileKind.HDF5)
    arrays: dict[str, Lazy] = {}
    with guarded(path, expected=FileKind.HDF5):
        file = h5py.File(path, "r")
        try:
            for name in _WORDS:
                word = _as_text(file.attrs.get(name))
                if isinstance(word, str):
                    arrays[name] = Lazy.of(np.array(word))
            links: list[tuple[str, Any]] = []
            file.visititems_links(lambda name, link: links.append((name, link)))
            closed: list[str] = []  # groups whose members are not listed
            for name, link in links:
                # MATLAB keeps the contents of cells and objects in groups with a # in their names.
                if "#" in name or any(name.startswith(f"{group}/") for group in closed):
                    continue
                array = _array(path, name, link, file)
                if array is not None:
                    arrays[name] = array
                    if array.dtype.hasobject:
                        closed.append(name)
        except BaseException:
            file.close()
            raise
    return arrays


def _as_text(attribute: Any) -> Any:
    return attribute.decode("ascii", "replace") if isinstance(attribute, bytes) else attribute


def _array(path: Path, name: str, link: Any, file: Any) -> Lazy | None:
    """Return the array of an HDF5 file that is called `name`; None for a plain group."""
    import h5py

    if not isinstance(link, h5py.HardLink):
        reason = "is a link, and bioeval follows none; copy the values to its place"
        return refused(path, name, reason)
    item = file[name]
    matlab_class = str(_as_text(item.attrs.get("MATLAB_class", "")))
    if not isinstance(item, h5py.Dataset):
        if "MATLAB_sparse" in item.attrs:
            return refused(path, name, _no_array("sparse"))
        return refused(path, name, _no_array("struct")) if matlab_class else None
    if item.is_virtual or item.external:
        return refused(path, name, "has its values in other files; copy them into this file")
    is_text = bool(h5py.check_string_dtype(item.dtype))
    if matlab_class in _NO_ARRAYS or (not is_text and item.dtype.kind not in "biuf"):
        return refused(path, name, _no_array(matlab_class or "struct"), item.shape[::-1])
    if item.attrs.get("MATLAB_empty", 0):
        return Lazy((0, 0), item.dtype, lambda: np.empty((0, 0), item.dtype))
    stored_bytes = item.id.get_storage_size()
    if item.nbytes > max(_MOST_FILLED, MOST_INFLATED * stored_bytes):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores "
            f"{stored_bytes:,}"
        )
    shape: tuple[int, ...] = item.shape[::-1] if matlab_class else item.shape
    dtype = item.dtype
    if matlab_class == "char":  # UTF-16 code units, a text for each row of the matrix
        shape, dtype = shape[:1], _dtype_of_text(shape)
    elif is_text:
        shape, dtype = item.shape, np.dtype("U1")
    elif matlab_class == "logical":
        dtype = np.dtype(bool)

    def read() -> np.ndarray:
        if 0 in shape:
            return np.empty(shape, dtype)
        with guarded(path, f"the array {name!r}"):
            if is_text and matlab_class != "char":
                return require_unicode(np.asarray(item.asstr("utf-8")[()]).astype(str))
            values = np.asarray(item[...])
            if matlab_class == "char":
                rows = np.ascontiguousarray(values.T, dtype="<u2")
                texts = [row.tobytes().decode("utf-16-le").rstrip(" \x00") for row in rows]
                return np.array(texts, dtype=str)
            return values.T.astype(dtype, copy=False) if matlab_class else values

    rows = None if matlab_class else lambda: StoredRows(item, f"{path}: the array {name!r}")
    return Lazy(shape, dtype, read, rows)


def _no_array(matlab_class: str) -> str:
    """Return the fault of a class of MATLAB that is no array, and what to save in its place."""
    advice = _ADVICE.get(matlab_class, "its arrays one by one")
    return (
        f"is a MATLAB {matlab_class}; expected a matrix of numbers or of characters. Save {advice}"
    )


def _dtype_of_text(shape: tuple[int, ...]) -> np.dtype:
    return np.dtype(f"U{min(prod(shape[1:]), _MOST_CHARACTERS)}")


# ------------------------------------------------------------------------- MATLAB 5 to 7


# Numbers of the format are as in MathWorks, "MAT-File Format".
# The types in which numbers are stored, and characters.
_NUMBERS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13}
_CHARACTERS = {1, 2, 4, 16, 17}
# What SciPy adds to the arrays of a file.
_NO_VARIABLES = ("__header__", "__version__", "__globals__")
# The classes of arrays of numbers, and all other classes but characters.
_CLASSES = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), 6))
_OTHERS = {1: "cell", 2: "struct", 3: "object", 5: "sparse", 16: "function", 17: "object"}
_CHAR = 4
_OPAQUE = 17
# Types of elements: an array, and a compressed array.
_MATRIX = 14
_COMPRESSED = 15
# The type of an array's flags: its class in the lowest byte, and two marks.
_ARRAY_FLAGS = 6
_IS_COMPLEX = 0x800
_IS_LOGICAL = 0x200
_HEAD_BYTES = 128
# Bytes that hold the description of an array.
_DESCRIPTION_BYTES = 4096


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
                offset = _HEAD_BYTES
                length = path.stat().st_size
                while offset < length:
                    file.seek(offset)
                    tag = file.read(8)
                    if len(tag) < 8:
                        raise ValueError(f"it ends within an element, at byte {offset}")
                    kind, size = struct.unpack(f"{order}II", tag)
                    if offset + 8 + size > length:
                        problem = f"the element at byte {offset} is longer than the file"
                        raise ValueError(problem)
                    if kind not in (_MATRIX, _COMPRESSED) or not size:
                        raise ValueError(f"the element at byte {offset} is no array")
                    read = partial(_bytes_of_element, path, offset + 8, kind, size)
                    available = size * (MOST_INFLATED if kind == _COMPRESSED else 1)
                    name, array = _variable(path, order, available, read)
                    if name:  # an array without a name belongs to the objects of a variable
                        arrays[name] = array
                    offset += 8 + size
    if not arrays:
        raise fault(path, "holds no matrix", "expected features, labels and cameras, or scores")
    return arrays


def _bytes_of_element(path: Path, offset: int, kind: int, size: int, most: int) -> Any:
    """Return the first bytes of an array behind its tag, decompressed."""
    with open(path, "rb") as file:
        file.seek(offset)
        if kind == _MATRIX:
            return file.read(min(size, most))
        tag_and_array = bytearray()
        unpack = zlib.decompressobj().decompress
        for start in range(0, size, 1 << 20):
            packed = file.read(min(size - start, 1 << 20))
            tag_and_array += unpack(packed, most + 8 - len(tag_and_array))
            if len(tag_and_array) == most + 8:
                break
        return tag_and_array[8:]


def _variable(
    path: Path, order: str, available: int, read_bytes: Callable[[int], Any]
) -> tuple[str, Lazy]:
    """Return the name and the array of an element; raise where it claims too many values."""
    data = read_bytes(_DESCRIPTION_BYTES)
    kind, start, size, end = _tag(data, 0, order)
    if kind != _ARRAY_FLAGS or size != 8:
        raise ValueError("an array without its flags")
    (flags,) = struct.unpack_from(f"{order}I", data, start)
    matlab_class = flags & 0xFF
    if matlab_class not in {_CHAR, *_OTHERS, *_CLASSES}:
        raise ValueError(f"an array of unknown class {matlab_class}")
    shape: tuple[int, ...] = ()
    if matlab_class != _OPAQUE:  # opaque arrays have no dimensions
        _, start, size, end = _tag(data, end, order)
        shape = struct.unpack_from(f"{order}{size // 4}i", data, start)
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"an array of shape {shape}")
    _, start, size, end = _tag(data, end, order)
    name = data[start : start + size].decode("ascii", "replace").rstrip("\x00")
    if flags & _IS_COMPLEX:
        return name, refused(path, name, "holds complex numbers; expected real ones", shape)
    if matlab_class in _OTHERS:
        return name, refused(path, name, _no_array(_OTHERS[matlab_class]), shape)
    shape_as_read = shape
    if matlab_class == _CHAR:
        dtype = _dtype_of_text(shape)
        shape_as_read = shape[:1]
    else:
        dtype = np.dtype(bool if flags & _IS_LOGICAL else _CLASSES[matlab_class])
    if 0 in shape:
        return name, Lazy(shape_as_read, dtype, lambda: np.zeros(shape_as_read, dtype))
    if prod(shape) > available:  # each value takes a byte at least
        raise ValueError(f"the array {name!r} claims the shape {shape} in {available:,} bytes")
    kind, start, size, end = _tag(data, end, order)
    if size > 8 * prod(shape):  # each value takes 8 bytes at most
        raise ValueError(f"the array {name!r} has {size:,} bytes for its shape {shape}")

    def read() -> np.ndarray:
        """Return the values by SciPy, which gets this array alone, of a type that it knows."""
        from scipy.io import loadmat

        is_text = matlab_class == _CHAR
        with guarded(path, f"the array {name!r}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind not in (_CHARACTERS if is_text else _NUMBERS):
                noun = "characters" if is_text else "numbers"
                raise ValueError(f"{noun} stored as type {kind}")
            raw = read_bytes(end)
            if len(raw) < start + size:
                raise ValueError("its values are cut off")
            mark = b"\x00\x01IM" if order == "<" else b"\x01\x00MI"
            head = b"MATLAB 5.0 MAT-file".ljust(124) + mark
            raw = head + struct.pack(f"{order}II", _MATRIX, len(raw)) + raw
            arrays = loadmat(io.BytesIO(raw), mat_dtype=True)
            (values,) = (arrays[x] for x in arrays if x not in _NO_VARIABLES)
            if is_text:
                return np.char.rstrip(values.reshape(shape[:1]), " \x00")
            return values.reshape(shape).astype(dtype, copy=False)

    return name, Lazy(shape_as_read, dtype, read, copies=3)


def _tag(data: bytes | bytearray, offset: int, order: str) -> tuple[int, int, int, int]:
    """Return the tag at an offset: the type, the first byte and the size of its data, and its end.

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
