"""Files of MATLAB 5 to 7.3: named arrays, in the shape that MATLAB shows.

Versions 5 to 7 are parsed here, since SciPy's reader ends the process on some damaged files;
version 7.3 is HDF5.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bioeval.scores.formats.containers import MOST_INFLATED, Lazy, refused
from bioeval.scores.formats.faults import fault, guarded
from bioeval.scores.formats.hdf5 import UTF16, dtype_of_text, no_array, open_hdf5, rows_of_text

# Numbers of the format are as in MathWorks, "MAT-File Format".
# The types in which numbers are stored.
_NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
# The types in which characters are stored.
_CHARACTERS = {1: "u1", 2: "u1", 4: "u2", 16: "utf-8", 17: "u2"}
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
    flags_tag = _tag(data, 0, order)
    if flags_tag.type != _ARRAY_FLAGS or flags_tag.size != 8:
        raise ValueError("an array without its flags")
    (flags,) = struct.unpack_from(f"{order}I", data, flags_tag.start)
    matlab_class = flags & 0xFF
    shape = tuple[int, ...]()
    if matlab_class not in {_CHAR, *_OTHERS, *_CLASSES}:
        raise ValueError(f"an array of unknown class {matlab_class}")
    end = flags_tag.end
    if matlab_class != _OPAQUE:  # opaque arrays have no dimensions
        tag = _tag(data, end, order)
        shape = struct.unpack_from(f"{order}{tag.size // 4}i", data, tag.start)
        if len(shape) < 2 or min(shape) < 0:
            raise ValueError(f"an array of shape {shape}")
        end = tag.end
    tag = _tag(data, end, order)
    name = tag.data_in(data).decode("ascii", "replace").rstrip("\x00")
    return _Description(matlab_class, flags, shape, name, tag.end)


def _variable(element: _Element) -> tuple[str, Lazy]:
    """Return the name and the array of an element; raise where it claims too many values."""
    data = element.read(_DESCRIPTION_BYTES)
    described = _description(data, element.order)
    matlab_class, flags, shape, name, end = described
    if flags & _IS_COMPLEX:
        reason = "holds complex numbers; expected real ones"
        return name, refused(element.path, name, reason, shape)
    if matlab_class in _OTHERS:
        return name, refused(element.path, name, no_array(_OTHERS[matlab_class]), shape)
    shape_as_read = shape
    if matlab_class == _CHAR:
        dtype = dtype_of_text(shape)
        shape_as_read = shape[:1]
    else:
        dtype = np.dtype(bool if flags & _IS_LOGICAL else _CLASSES[matlab_class])
    if 0 in shape:
        return name, Lazy(shape_as_read, dtype, lambda: np.zeros(shape_as_read, dtype))
    available = element.size * (MOST_INFLATED if element.kind == _COMPRESSED else 1)
    if prod(shape) > available:  # each value takes a byte at least
        raise ValueError(f"the array {name!r} claims the shape {shape} in {available:,} bytes")
    values = _tag(data, end, element.order)
    if values.size > 8 * prod(shape):  # each value takes 8 bytes at most
        raise ValueError(f"the array {name!r} has {values.size:,} bytes for its shape {shape}")
    return name, Lazy(
        shape_as_read, dtype, partial(_read_values, element, described, values, dtype)
    )


def _read_values(
    element: _Element, described: _Description, tag: _Tag, dtype: np.dtype
) -> np.ndarray:
    with guarded(element.path, f"the array {described.name!r}"):
        raw = tag.data_in(element.read(tag.start + tag.size))
        if described.matlab_class == _CHAR:
            units = _code_units(raw, tag.type, element.order, described.shape[0])
            return rows_of_text(units, element.order)
        if tag.type not in _NUMBERS:
            raise ValueError(f"numbers stored as type {tag.type}")
        stored = np.frombuffer(raw, element.order + _NUMBERS[tag.type])
        values = stored.reshape(described.shape, order="F")
        with np.errstate(invalid="ignore", over="ignore"):
            converted = values.astype(dtype)
        if dtype.kind != "b" and ((converted != values) & (values == values)).any():
            raise ValueError(f"numbers that {dtype} cannot hold")
        return converted


def _code_units(raw: bytes, stored_type: int, order: str, row_count: int) -> np.ndarray:
    """Return characters as rows of UTF-16 code units, uint16 (rows, width)."""
    if stored_type not in _CHARACTERS:
        raise ValueError(f"characters stored as type {stored_type}")
    if _CHARACTERS[stored_type] == "utf-8":
        units = np.frombuffer(raw.decode("utf-8").encode(UTF16[order]), f"{order}u2")
    else:
        units = np.frombuffer(raw, order + _CHARACTERS[stored_type])
    return np.ascontiguousarray(units.astype(f"{order}u2").reshape(row_count, -1, order="F"))


class _Tag(NamedTuple):
    """The tag of an element within an array: the type and the place of its data."""

    type: int
    start: int  # first byte of the data
    size: int  # number of bytes
    end: int  # first byte of the next element

    def data_in(self, element: bytes) -> bytes:
        return element[self.start : self.start + self.size]


def _tag(data: bytes, offset: int, order: str) -> _Tag:
    """Return the tag at an offset.

    A tag is two words of 32 bits: type and size, with the data behind, filled up to 8 bytes. A
    small element has size and type in the first word, and its data, up to 4 bytes, in the second.
    """
    type_word, size = struct.unpack_from(f"{order}II", data, offset)
    small_size = type_word >> 16
    if not small_size:
        return _Tag(type_word, offset + 8, size, offset + 8 + size + -size % 8)
    if small_size > 4:
        raise ValueError(f"a small element of {small_size} bytes")
    return _Tag(type_word & 0xFFFF, offset + 4, small_size, offset + 8)
