"""MATLAB files (.mat), versions 5 to 7.3, as archives of arrays.

An array of one row or one column is a list: MATLAB has no other. Version 7.3 is HDF5.

SciPy reads the values of versions 5 to 7. It is not made for damaged files: values of a type that
MATLAB does not have end the process (SciPy 1.17), which no ``except`` can turn into an error. So
the descriptions of all arrays are read here first, and SciPy is given what they show to be an array
of real numbers or of characters.
"""

from __future__ import annotations

import math
import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import MOST_DEFLATED, Arrays, Header
from bioeval.scores.formats.files import HDF5, guarded
from bioeval.scores.formats.format import ARRAYS, FileFacts, Format, ReadOptions
from bioeval.scores.formats.hdf5 import Hdf5Arrays, refusal, text_header
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npz import read_arrays
from bioeval.scores.matrix import Scores

# Classes of MATLAB's arrays, by number: others, and then those of numbers as NumPy calls them.
_OTHERS = {
    1: "cell",
    2: "struct",
    3: "object",
    4: "char",
    5: "sparse",
    16: "function",
    17: "object",
}
_NUMBERS = dict(enumerate(("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), 6))
_CHAR, _OPAQUE = 4, 17

# Types in which numbers are stored, and characters.
_STORED = {"numbers": (1, 2, 3, 4, 5, 6, 7, 9, 12, 13), "characters": (1, 2, 4, 16, 17, 18)}
_MATRIX, _COMPRESSED = 14, 15
_HEAD_BYTES = 128
_PEEK = 4096  # bytes that hold the description of an array


class _DamagedError(Exception):
    """Bytes that are not a MATLAB 5 file."""


@dataclass(frozen=True)
class _Variable:
    """What an array says of itself before its values; `stored` and `size` are of these."""

    name: str
    number: int  # of its class
    shape: tuple[int, ...]
    is_logical: bool
    is_complex: bool
    stored: int | None
    size: int

    @property
    def dtype(self) -> np.dtype:
        """The type of the values: object where they are not read."""
        if self.is_complex:
            return np.dtype(object)
        return np.dtype(bool if self.is_logical else _NUMBERS.get(self.number, object))


class Mat5(Arrays):
    """A MATLAB 5 to 7 file whose arrays are described at once, and read one by one."""

    def __init__(self, path: Path):
        """Read the descriptions."""
        self.path = path
        with guarded(path, expected="a MATLAB file"), open(path, "rb") as file:
            self._order = {b"IM": "<", b"MI": ">"}.get(file.read(_HEAD_BYTES)[126:], "")
            if not self._order:
                raise _DamagedError("its header is not whole")
            found = _variables(file, self._order, path.stat().st_size)
            # What has no name belongs to the objects of another variable.
            self._variables = {variable.name: variable for variable in found if variable.name}
        self.headers = {}
        for name, variable in self._variables.items():
            self.headers[name] = Header(variable.shape, variable.dtype)
            if variable.number == _CHAR:
                self.headers[name] = text_header(variable.shape)

    def read(self, key: str) -> np.ndarray:
        """Read an array of numbers in MATLAB's shape, or of characters as one text for each row."""
        from scipy.io import loadmat

        variable = self._variables[key]
        kind = _OTHERS.get(variable.number, "numbers")
        if variable.is_complex:
            raise DataError(f"{self.path}: {key!r} holds complex numbers; expected real ones")
        if kind not in ("numbers", "char"):
            raise DataError(f"{self.path}: {key!r} {refusal(kind)}")
        if 0 in variable.shape:
            return np.zeros(self.headers[key].shape, self.headers[key].dtype)
        how = "characters" if kind == "char" else "numbers"
        codec = "utf-16-le" if self._order == "<" else "utf-16-be"
        with guarded(self.path, f"the array {key!r}"), warnings.catch_warnings():
            if variable.stored not in _STORED[how]:
                raise _DamagedError(f"{how} stored as type {variable.stored}")
            warnings.simplefilter("ignore")  # of variables that are there twice
            values = loadmat(
                str(self.path), appendmat=False, variable_names=[key], uint16_codec=codec
            )[key]
            if kind == "char":
                return _rows_of_text(values, variable.shape)
            if values.shape != variable.shape:
                raise _DamagedError(f"{values.shape} values; its shape is {variable.shape}")
            return _converted(values, variable.dtype)


def _rows_of_text(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return each row as one text, without the blanks that fill it up."""
    rows = ["".join(row) for row in values.reshape(shape[0], -1).tolist()]
    if any("\ufffd" in row for row in rows):
        raise _DamagedError("characters that cannot be decoded")
    return np.array([row.rstrip(" \x00") for row in rows], dtype=str)


def _converted(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return values in the type of their array; they may be stored in another."""
    with np.errstate(invalid="ignore", over="ignore"):
        converted = values.astype(dtype)
    lost = converted != values
    if dtype.kind == "f":
        lost &= values == values  # a NaN stays one
    if dtype.kind != "b" and lost.any():
        raise _DamagedError(f"numbers that {dtype} cannot hold")
    return converted


class MatArchive(Arrays):
    """A MATLAB file whose arrays are described at once, and read one by one."""

    def __init__(self, path: Path):
        """Read the headers, by the version that the first bytes show."""
        self.path = path
        self.headers: dict[str, Header] = {}
        self._transposed: set[str] = set()
        with open(path, "rb") as file:
            is_hdf5 = file.read(10).startswith((b"MATLAB 7.3", b"\x89HDF"))
        self._file: Arrays = Hdf5Arrays(path) if is_hdf5 else Mat5(path)
        for name, header in self._file.headers.items():
            shape = header.shape
            if len(shape) == 2 and 1 in shape:  # a list
                shape = (math.prod(shape),)
            self.headers[name] = Header(shape, header.dtype)
        if not self.headers:
            raise DataError(
                f"{path}: holds no matrix; expected features, labels and cameras, or scores"
            )

    def matrix(self, key: str) -> None:
        """Keep both dimensions of an array that has one row or one column."""
        self.headers[key] = self._file.headers[key]

    def transpose(self, key: str) -> None:
        """Read a matrix with its rows and columns swapped."""
        header = self.headers[key]
        self.headers[key] = Header(header.shape[::-1], header.dtype)
        self._transposed ^= {key}

    def read(self, key: str) -> np.ndarray:
        """Read one array, whole numbers in a list as integers."""
        array = self._file.read(key)
        shape = self.headers[key].shape
        if key in self._transposed:
            return array.T
        array = array.reshape(shape)
        whole = array.ndim == 1 and array.dtype.kind == "f" and _whole(array)
        if whole:
            return array.astype(np.int64)
        return array


def _whole(array: np.ndarray) -> bool:
    return bool(
        array.size
        and np.isfinite(array).all()
        and (np.abs(array) <= 2.0**53).all()
        and (array == np.floor(array)).all()
    )


# ---------------------------------------------------------------- the bytes


def _variables(file: Any, order: str, length: int) -> Iterator[_Variable]:
    """Yield what each array of a file says of itself; the values stay compressed."""
    at = _HEAD_BYTES
    while at < length:
        file.seek(at)
        tag = file.read(8)
        if len(tag) < 8:
            raise _DamagedError(f"it ends within an element, at byte {at}")
        kind, size = struct.unpack(f"{order}II", tag)
        if at + 8 + size > length:
            raise _DamagedError(f"the element at byte {at} is longer than the file")
        part, most = file.read(min(size, _PEEK)), size
        if kind == _COMPRESSED:
            most *= MOST_DEFLATED
            part = zlib.decompressobj().decompress(part, _PEEK)
            (kind,) = struct.unpack(f"{order}I", part[:4])
            part = part[8:]
        if kind != _MATRIX or not size:
            raise _DamagedError(f"the element at byte {at} is no array")
        variable = _described(part, order)
        held = variable.number in _NUMBERS or variable.number == _CHAR
        if held and math.prod(variable.shape) > most:  # a byte each
            raise _DamagedError(
                f"the array {variable.name!r} claims the shape {variable.shape} in {most:,} bytes"
            )
        if held and not variable.is_complex and variable.size > 8 * math.prod(variable.shape):
            raise _DamagedError(
                f"the array {variable.name!r} has {variable.size:,} bytes for its shape "
                f"{variable.shape}"
            )
        yield variable
        at += 8 + size


def _described(part: bytes, order: str) -> _Variable:
    """Return what the first bytes of an array say of it."""
    kind, start, size, at = _tag(part, 0, order)
    if kind != 6 or size != 8:
        raise _DamagedError("an array without its flags")
    (word,) = struct.unpack_from(f"{order}I", part, start)
    number, shape = word & 0xFF, ()
    if number not in _OTHERS and number not in _NUMBERS:
        raise _DamagedError(f"an array of unknown class {number}")
    if number != _OPAQUE:  # which has no dimensions
        _, start, size, at = _tag(part, at, order)
        shape = struct.unpack_from(f"{order}{size // 4}i", part, start)
        if len(shape) < 2 or min(shape) < 0:
            raise _DamagedError(f"an array of shape {shape}")
    _, start, size, at = _tag(part, at, order)
    name = part[start : start + size].decode("ascii", "replace").rstrip("\x00")
    stored, _, size, _ = _tag(part, at, order) if len(part) >= at + 8 else (None, 0, 0, 0)
    return _Variable(name, number, shape, bool(word & 0x200), bool(word & 0x800), stored, size)


def _tag(data: bytes, at: int, order: str) -> tuple[int, int, int, int]:
    """Return the type of the element at `at`, where its bytes begin, their number, and the next."""
    word, size = struct.unpack_from(f"{order}II", data, at)
    if not word >> 16:
        return word, at + 8, size, at + 8 + size + -size % 8
    if word >> 16 > 4:  # a small element: type and size share one word, the data follow
        raise _DamagedError(f"a small element of {word >> 16} bytes")
    return word & 0xFFFF, at + 4, word >> 16, at + 8


# ---------------------------------------------------------------- the layout


def _recognise(file: FileFacts) -> bool:
    if file.suffix == ".mat" and file.content == "an unknown binary file":
        raise DataError(
            f"{file.path}: is not a MATLAB file of version 5 to 7.3 (that of save -v4 is not "
            "read); write it with save -v7"
        )
    # HDF5 named .mat is a 7.3 file of another program than MATLAB.
    return file.content == "mat" or file.content == HDF5 and file.suffix == ".mat"


def _read(path: Path, options: ReadOptions) -> Scores:
    """Read the arrays of a file, each transposed to have a template a row."""
    archive = MatArchive(path)
    options = reid_layout(archive, options)
    wide = [options.columns.get("embeddings") or "embeddings"]
    wide.append(options.columns.get("gallery_embeddings") or "gallery_embeddings")
    wide.append(options.columns.get("indices") or "indices")
    if (
        options.columns.get("genuine") is None
        and "genuine" not in archive
        and options.pairs is None
    ):
        wide.append(options.columns.get("scores") or "scores")  # without it, one row is one probe
    for key in wide:
        if key in archive:
            if archive.headers[key].dtype.hasobject:
                archive.read(key)  # raises, with the reason
            archive.matrix(key)
    _orient(archive, options)
    return read_arrays(archive, options)


def _orient(archive: MatArchive, options: ReadOptions) -> None:
    """Transpose matrices with features, or the gallery, as rows, by the number of labels.

    Programs disagree on which dimension is the templates'. Where the number of labels fits both
    dimensions (as many features as templates), the other side's matrix decides.
    """
    labels = _shapes(archive, options.columns.get("labels"), options.columns.get("gallery_labels"))
    if [*map(len, labels)] != [1, 1]:
        return
    (probes,), (gallery,) = labels
    keys = (options.columns.get("embeddings"), options.columns.get("gallery_embeddings"))
    features = _shapes(archive, *keys)
    if [*map(len, features)] == [2, 2]:
        as_is = [shape[0] for shape in features] == [probes, gallery]
        turned = [shape[1] for shape in features] == [probes, gallery]
        if turned and not as_is:
            for key in filter(None, keys):
                archive.transpose(key)
    for shape in _shapes(archive, options.columns.get("scores")):
        if shape == (gallery, probes) != (probes, gallery):
            archive.transpose(options.columns.get("scores") or "")


def _shapes(archive: MatArchive, *keys: str | None) -> list[tuple[int, ...]]:
    return [archive.headers[key].shape for key in keys if key in archive.headers]


FORMAT = Format(
    name="`.mat`",
    suffixes=(".mat",),
    holds="what a `.npz` file holds, and the usual layout of re-identification features",
    expected="a MATLAB file",
    recognise=_recognise,
    read=_read,
    options=ARRAYS,
)
