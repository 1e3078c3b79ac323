"""MATLAB 5 files: real matrices of numbers, and of characters, read from their bytes.

The common readers build every kind of MATLAB value, and a damaged file can crash their compiled
part and with it the whole process. Evaluation needs matrices only: these are read; cells,
structures, objects and functions are refused by name.

The layout is that of "MAT-File Format" (The MathWorks), Level 5.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import MOST_DEFLATED
from bioeval.scores.formats.files import guarded

#: Classes of a MATLAB array, by number.
CLASSES = {
    1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single",
    8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64",
    15: "uint64", 16: "function", 17: "opaque",
}  # fmt: skip

#: The dtype of each class of numbers.
NUMERIC = {
    "double": "f8", "single": "f4", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2",
    "int32": "i4", "uint32": "u4", "int64": "i8", "uint64": "u8",
}  # fmt: skip

# How values are stored, which may be narrower than their class.
_STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_TEXT = {2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_MATRIX, _COMPRESSED = 14, 15
_HEAD_BYTES = 128
_PEEK = 4096  # bytes that hold the description of an array


class _DamagedError(Exception):
    """Bytes that are not a MATLAB 5 file."""


@dataclass(frozen=True)
class Variable:
    """An array of the file: its MATLAB class and shape, and the place of its element."""

    name: str
    kind: str
    shape: tuple[int, ...]
    is_logical: bool
    is_complex: bool
    start: int
    size: int
    compressed: bool


def variables(path: Path) -> dict[str, Variable]:
    """Return the arrays of a MATLAB 5 file, without reading their values."""
    with guarded(path, expected="a MATLAB file"):
        return {variable.name: variable for variable in _scan(path)}


def read(path: Path, variable: Variable) -> np.ndarray:
    """Read an array of numbers in MATLAB's shape, or of characters as one text for each row."""
    what = f"{path}: {variable.name!r}"
    if variable.is_complex:
        raise DataError(f"{what} holds complex numbers; expected real ones")
    if variable.kind not in NUMERIC and variable.kind != "char":
        raise DataError(f"{what} {refusal(variable.kind)}")
    with guarded(path, f"the array {variable.name!r}"):
        with open(path, "rb") as file:
            order = _byte_order(file.read(_HEAD_BYTES))
            file.seek(variable.start)
            body = file.read(variable.size)
        if variable.compressed:
            stream = zlib.decompressobj()
            body = stream.decompress(body, 8 * math.prod(variable.shape) + _PEEK)[8:]
            if not stream.eof:
                raise _DamagedError("its compressed values are not whole")
        return _values(body, variable, order)


def refusal(kind: str) -> str:
    """Return why an array of this class is not read, and what to save in its place."""
    advice = {
        "cell": "numbers, or names as char(x)",
        "sparse": "full(x)",
        "string": "char(x)",
    }.get(kind, "its arrays one by one")
    return f"is a MATLAB {kind}; expected a matrix of numbers or of characters. Save {advice}"


def char_rows(codes: np.ndarray) -> np.ndarray:
    """Return one text for each row of a matrix of UTF-16 code units, without blanks at the end."""
    wide = np.ascontiguousarray(codes, dtype="<u2")
    rows = [row.tobytes().decode("utf-16-le", "replace").rstrip(" \x00") for row in wide]
    return np.array(rows, dtype=str)


# ---------------------------------------------------------------- the bytes


def _byte_order(head: bytes) -> str:
    order = {b"IM": "<", b"MI": ">"}.get(head[126:128])
    if len(head) < _HEAD_BYTES or order is None:
        raise _DamagedError("its header is not whole")
    return order


def _scan(path: Path) -> Iterator[Variable]:
    length = path.stat().st_size
    with open(path, "rb") as file:
        order = _byte_order(file.read(_HEAD_BYTES))
        at = _HEAD_BYTES
        while at < length:
            file.seek(at)
            tag = file.read(8)
            if len(tag) < 8:
                raise _DamagedError(f"it ends within an element, at byte {at}")
            kind, size = struct.unpack(f"{order}II", tag)
            if at + 8 + size > length:
                raise _DamagedError(f"the element at byte {at} is longer than the file")
            part = file.read(min(size, _PEEK))
            start, compressed = at + 8, kind == _COMPRESSED
            if compressed:
                part = zlib.decompressobj().decompress(part, _PEEK)
                (kind,) = struct.unpack(f"{order}I", part[:4])
                part = part[8:]
            if kind == _MATRIX and size:
                found = _describe(part, order, start, size, compressed)
                _require_values(found)
                if found.name:  # what has none belongs to the objects of another variable
                    yield found
            elif kind not in _STORED and kind not in _TEXT and kind != _MATRIX:
                raise _DamagedError(f"an element of unknown type {kind} at byte {at}")
            at += 8 + size
            if not compressed:
                at += -size % 8


def _element(data: bytes, at: int, order: str) -> tuple[int, bytes, int]:
    """Return the type and the bytes of the element at `at`, and where the next one begins."""
    (word,) = struct.unpack_from(f"{order}I", data, at)
    if word >> 16:  # a small element: type and size share one word, the data follow in four bytes
        kind, size = word & 0xFFFF, word >> 16
        if size > 4:
            raise _DamagedError(f"a small element of {size} bytes")
        return kind, data[at + 4 : at + 4 + size], at + 8
    (size,) = struct.unpack_from(f"{order}I", data, at + 4)
    return word, data[at + 8 : at + 8 + size], at + 8 + size + -size % 8


def _describe(part: bytes, order: str, start: int, size: int, compressed: bool) -> Variable:
    kind, flags, at = _element(part, 0, order)
    if kind != 6 or len(flags) != 8:
        raise _DamagedError("an array without its flags")
    (word,) = struct.unpack(f"{order}I", flags[:4])
    word_class = CLASSES.get(word & 0xFF)
    if word_class is None:
        raise _DamagedError(f"an array of unknown class {word & 0xFF}")
    if word_class == "opaque":  # no dimensions; the name comes first
        _, name, _ = _element(part, at, order)
        return Variable(_name(name), "object", (), False, False, start, size, compressed)
    _, dims, at = _element(part, at, order)
    shape = struct.unpack(f"{order}{len(dims) // 4}i", dims[: len(dims) // 4 * 4])
    if len(shape) < 2 or min(shape) < 0:
        raise _DamagedError(f"an array of shape {shape}")
    _, name, _ = _element(part, at, order)
    logical, complex_ = bool(word & 0x200), bool(word & 0x800)
    return Variable(_name(name), word_class, shape, logical, complex_, start, size, compressed)


def _require_values(variable: Variable) -> None:
    """Refuse an array that claims more values than its element can hold, a byte each."""
    bytes_ = variable.size * (MOST_DEFLATED if variable.compressed else 1)
    held = variable.kind in NUMERIC or variable.kind == "char"
    if held and math.prod(variable.shape) > bytes_:
        raise _DamagedError(
            f"the array {variable.name!r} claims the shape {variable.shape} in {bytes_:,} bytes"
        )


def _name(raw: bytes) -> str:
    return raw.decode("ascii", "replace").rstrip("\x00")


def _values(body: bytes, variable: Variable, order: str) -> np.ndarray:
    _, _, at = _element(body, 0, order)  # flags
    _, _, at = _element(body, at, order)  # shape
    _, _, at = _element(body, at, order)  # name
    count = math.prod(variable.shape)
    if at >= len(body) and count == 0:
        stored, data = 9, b""
    else:
        stored, data, _ = _element(body, at, order)
    if variable.kind == "char":
        return _characters(stored, data, variable, order)
    if stored not in _STORED:
        raise _DamagedError(f"numbers stored as type {stored}")
    values = np.frombuffer(data, dtype=f"{order}{_STORED[stored]}")
    if len(values) != count:
        raise _DamagedError(f"{len(values)} values; its shape {variable.shape} needs {count}")
    dtype = np.dtype(bool if variable.is_logical else NUMERIC[variable.kind])
    with np.errstate(invalid="ignore", over="ignore"):
        found = values.astype(dtype)
    lost = found != values
    if dtype.kind == "f":
        lost &= values == values  # a NaN stays one
    if dtype.kind != "b" and lost.any():
        raise _DamagedError(f"numbers that {dtype} cannot hold")
    return found.reshape(variable.shape, order="F")


def _characters(stored: int, data: bytes, variable: Variable, order: str) -> np.ndarray:
    if stored not in _TEXT:
        raise _DamagedError(f"characters stored as type {stored}")
    encoding = _TEXT[stored]
    if encoding in ("utf-16", "utf-32"):
        encoding += "-le" if order == "<" else "-be"
    text = data.decode(encoding)
    rows, width = variable.shape[0], math.prod(variable.shape[1:])
    if not width and rows > _PEEK:
        raise _DamagedError(f"{rows} rows without characters")
    if len(text) != rows * width:
        raise _DamagedError(f"{len(text)} characters; its shape {variable.shape} needs others")
    lines = (
        ("".join(text[row::rows]) for row in range(rows)) if width else ("" for _ in range(rows))
    )
    return np.array([line.rstrip(" \x00") for line in lines], dtype=str)
