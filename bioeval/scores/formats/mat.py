"""MATLAB files (.mat), versions 5 to 7.3, as archives of arrays.

An array of one row or one column is a list: MATLAB has no other. Version 7.3 is HDF5 with its
dimensions reversed and its characters as numbers; arrays are returned as MATLAB shows them.

Versions 5 to 7 are read here and not by ``scipy.io.loadmat``, which is not made for damaged files:
an unknown type of values ends the process with a segmentation fault (SciPy 1.17), which no
``except`` can turn into an error. And ``scipy.io.whosmat`` says neither whether an array is complex
nor how many bytes of the file are its own, against which its shape is held before it is read.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
)
from bioeval.scores.formats.archive import MOST_DEFLATED, Arrays, Header, require_text
from bioeval.scores.formats.files import HDF5, guarded
from bioeval.scores.formats.format import ARRAYS, FileFacts, Format, ReadOptions
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npz import read_arrays
from bioeval.scores.matrix import Scores

#: Classes of a MATLAB array, by number.
CLASSES = {
    1: "cell",
    2: "struct",
    3: "object",
    4: "char",
    5: "sparse",
    6: "double",
    7: "single",
    8: "int8",
    9: "uint8",
    10: "int16",
    11: "uint16",
    12: "int32",
    13: "uint32",
    14: "int64",
    15: "uint64",
    16: "function",
    17: "opaque",
}

#: The dtype of each class of numbers.
NUMERIC = {
    "double": "f8",
    "single": "f4",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
}

# How values are stored, which may be narrower than their class.
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
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
    """Return the arrays of a MATLAB 5 file without reading their values."""
    with guarded(path, expected="a MATLAB file"):
        return {variable.name: variable for variable in _scan(path)}


def read(path: Path, variable: Variable) -> np.ndarray:
    """Read an array of numbers in MATLAB's shape, or of characters as one text for each row."""
    input_name = f"{path}: {variable.name!r}"
    if variable.is_complex:
        raise DataError(f"{input_name} holds complex numbers; expected real ones")
    if variable.kind not in NUMERIC and variable.kind != "char":
        raise DataError(f"{input_name} {refusal(variable.kind)}")
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
    """Return why an array of this class cannot be read, and what to save instead."""
    advice = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}.get(
        kind, "its arrays one by one"
    )
    return f"is a MATLAB {kind}; expected a matrix of numbers or of characters. Save {advice}"


# ---------------------------------------------------------------- the bytes


def _byte_order(head: bytes) -> str:
    order = {b"IM": "<", b"MI": ">"}.get(head[126:128])
    if len(head) < _HEAD_BYTES or order is None:
        raise _DamagedError("its header is not whole")
    return order


def _scan(path: Path) -> Iterator[Variable]:
    """Yield what each element of a file says of its array; the values stay compressed."""
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
                variable = _describe(part, order, start, size, compressed)
                _require_values(variable)
                if variable.name:  # what has none belongs to the objects of another variable
                    yield variable
            elif kind not in _STORED and kind not in _TEXT and kind != _MATRIX:
                raise _DamagedError(f"an element of unknown type {kind} at byte {at}")
            at += 8 + size
            if not compressed:
                at += -size % 8


def _element(data: bytes, at: int, order: str) -> tuple[int, bytes, int]:
    """Return the type and the bytes of the element at `at`, and the start of the next one."""
    (word,) = struct.unpack_from(f"{order}I", data, at)
    if word >> 16:  # a small element: type and size share one word, the data follow in four bytes
        kind, size = word & 0xFFFF, word >> 16
        if size > 4:
            raise _DamagedError(f"a small element of {size} bytes")
        return kind, data[at + 4 : at + 4 + size], at + 8
    (size,) = struct.unpack_from(f"{order}I", data, at + 4)
    return word, data[at + 8 : at + 8 + size], at + 8 + size + -size % 8


def _describe(part: bytes, order: str, start: int, size: int, compressed: bool) -> Variable:
    """Return what the first bytes of an array say of it."""
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
    """Return the values of an array in its own type; the stored type may be smaller."""
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
        converted = values.astype(dtype)
    lost = converted != values
    if dtype.kind == "f":
        lost &= values == values  # a NaN stays one
    if dtype.kind != "b" and lost.any():
        raise _DamagedError(f"numbers that {dtype} cannot hold")
    return converted.reshape(variable.shape, order="F")


def _characters(stored: int, data: bytes, variable: Variable, order: str) -> np.ndarray:
    """Return the rows of an array of characters, stored column by column."""
    if stored not in _TEXT:
        raise _DamagedError(f"characters stored as type {stored}")
    encoding = _TEXT[stored]
    if encoding in ("utf-16", "utf-32"):
        if order == "<":
            encoding += "-le"
        else:
            encoding += "-be"
    text = data.decode(encoding)
    rows, width = variable.shape[0], math.prod(variable.shape[1:])
    if not width and rows > _PEEK:
        raise _DamagedError(f"{rows} rows without characters")
    if len(text) != rows * width:
        raise _DamagedError(f"{len(text)} characters; its shape {variable.shape} needs others")
    if not width:
        return np.full(rows, "")
    return np.array([text[row::rows].rstrip(" \x00") for row in range(rows)], dtype=str)


# Bytes up to which an array may be larger than what is stored, as one of fill values alone is.
_SMALL = 1 << 20


class MatArchive(Arrays):
    """A MATLAB file whose arrays are described at once, and read one by one."""

    def __init__(self, path: Path):
        """Read the headers, by the version that the first bytes show."""
        self.path = path
        self.headers: dict[str, Header] = {}
        self._transposed: set[str] = set()
        with open(path, "rb") as file:
            head = file.read(128)
        is_hdf5 = head.startswith((b"MATLAB 7.3", b"\x89HDF"))
        self._file: _Mat5 | Mat73 = Mat73(path) if is_hdf5 else _Mat5(path)
        self.elsewhere = getattr(self._file, "elsewhere", frozenset())
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
    """Whether all values are whole numbers that float64 holds exactly."""
    return bool(
        array.size
        and np.isfinite(array).all()
        and (np.abs(array) <= 2.0**53).all()
        and (array == np.floor(array)).all()
    )


class _Mat5:
    """A MATLAB 5 to 7 file."""

    def __init__(self, path: Path):
        self.path = path
        self.variables = variables(path)
        self.headers = {name: _header(variable) for name, variable in self.variables.items()}

    def read(self, key: str) -> np.ndarray:
        return read(self.path, self.variables[key])


def _header(variable: Variable) -> Header:
    if variable.kind == "char":
        return _text(variable.shape)
    if variable.is_logical:
        return Header(variable.shape, np.dtype(bool))
    plain = NUMERIC.get(variable.kind) if not variable.is_complex else None
    return Header(variable.shape, np.dtype(plain or object))


class Mat73:
    """A MATLAB 7.3 file (HDF5), or plain HDF5 with its dimensions unchanged.

    Of plain HDF5, the arrays of `groups` are known by their places, as ``run7/scores``.
    """

    def __init__(self, path: Path, groups: bool = False):
        self.path = path
        self.headers: dict[str, Header] = {}
        self._refused: dict[str, str] = {}
        self.elsewhere: set[str] = set()
        with self._open() as file:
            self._list_group(file, "", {self._address(file)} if groups else None)

    @staticmethod
    def _address(item: Any) -> int:
        import h5py

        return int(h5py.h5o.get_info(item.id).addr)

    def _list_group(self, file: Any, group: str, seen: set[int] | None) -> None:
        """Look at what a group holds; of groups in it, at each that was not `seen` before."""
        import h5py

        for name in file[group] if group else file:
            place = f"{group}/{name}" if group else name
            if name.startswith("#"):  # what cells and objects refer to
                continue
            item: Any = file[place] if _within(file, place) else None
            plain = isinstance(item, h5py.Group) and not _class_of(item)
            if seen is None or not plain or "MATLAB_sparse" in item.attrs:
                self._list_array(file, place)
            elif self._address(item) not in seen:
                seen.add(self._address(item))
                self._list_group(file, place, seen)

    def _list_array(self, file: Any, name: str) -> None:
        """Look at what a name leads to; values that are not read are refused with the reason."""
        import h5py

        if not _within(file, name):
            link = file.get(name, getlink=True)
            other = getattr(link, "filename", None)
            input_name = "is a link that leads nowhere, or out of this file"
            if other:
                input_name = f"is an external link to {other!r}"
            self._refuse_elsewhere(name, input_name)
            return
        item = file[name]
        kind = _class_of(item)
        if not isinstance(item, h5py.Dataset):
            self._refuse(name, refusal("sparse" if "MATLAB_sparse" in item.attrs else "struct"))
        elif item.is_virtual:
            self._refuse_elsewhere(name, "is a virtual dataset over other files or datasets")
        elif item.external:
            self._refuse_elsewhere(name, "has its values in another file")
        elif kind in ("cell", "function_handle", "string") or item.dtype.kind not in "biufSU":
            self._refuse(name, refusal(kind or "struct"), item.shape[::-1])
        elif item.attrs.get("MATLAB_empty", 0):
            self.headers[name] = Header((0, 0), item.dtype)
        else:
            stored = item.id.get_storage_size()
            if item.nbytes > max(_SMALL, MOST_DEFLATED * stored):
                raise ValueError(
                    f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores "
                    f"{stored:,}"
                )
            shape, dtype = item.shape, item.dtype
            if kind:
                shape = shape[::-1]
            if kind == "logical":
                dtype = np.dtype(bool)
            self.headers[name] = Header(shape, dtype)
            if kind == "char":
                self.headers[name] = _text(shape)

    def _refuse(self, name: str, why: str, shape: tuple[int, ...] = ()) -> None:
        self._refused[name] = why
        self.headers[name] = Header(shape, np.dtype(object))

    def _refuse_elsewhere(self, name: str, input_name: str) -> None:
        self.elsewhere.add(name)
        advice = "bioeval reads no file through another one; copy the values into this file"
        self._refuse(name, f"{input_name}; {advice}")

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if key in self._refused:
            raise DataError(f"{self.path}: {key!r} {self._refused[key]}")
        header = self.headers[key]
        if 0 in header.shape:
            return np.empty(header.shape, header.dtype)
        with self._open() as file:
            array = np.asarray(file[key][...])
            kind = _class_of(file[key])
            require_text(array)
        if kind:
            array = array.T
        if kind == "char":  # UTF-16 code units
            lines = []
            for codes in np.ascontiguousarray(array, dtype="<u2"):
                lines.append(codes.tobytes().decode("utf-16-le", "replace").rstrip(" \x00"))
            return np.array(lines, dtype=str)
        if kind == "logical":
            return array.astype(bool)
        return array

    @contextmanager
    def _open(self) -> Iterator[Any]:
        import h5py

        with guarded(self.path, expected="a MATLAB 7.3 file"), h5py.File(self.path, "r") as file:
            yield file


_MOST_LINKS = 16  # on the way to an array


def _within(file: Any, place: str, links: int = _MOST_LINKS) -> bool:
    """Whether a place, after soft links, is in the file itself; no other file is opened."""
    import h5py

    here = ""
    parts = [part for part in place.split("/") if part not in ("", ".")]
    for number, part in enumerate(parts, 1):
        link = file.get(f"{here}/{part}", getlink=True)
        if isinstance(link, h5py.SoftLink):
            start = here if not link.path.startswith("/") else ""
            rest = "/".join((start, link.path, *parts[number:]))
            return links > 0 and _within(file, rest, links - 1)
        if not isinstance(link, h5py.HardLink):
            return False
        here = f"{here}/{part}"
    return True


def _text(shape: tuple[int, ...]) -> Header:
    """Return the header of text rows; a damaged file may claim any width."""
    return Header(shape[:1], np.dtype(f"U{min(math.prod(shape[1:]), 1 << 16)}"))


def _class_of(item: Any) -> str:
    """Return MATLAB's class of an HDF5 item; ``""`` where MATLAB did not write it."""
    name = item.attrs.get("MATLAB_class", b"")
    if isinstance(name, bytes):
        return name.decode("ascii", "replace")
    return str(name)


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
    """Return the shapes of the arrays that are named and there."""
    return [archive.headers[key].shape for key in keys if key in archive.headers]


FORMAT = Format(
    name="`.mat`",
    suffixes=(".mat",),
    holds="what a `.npz` file holds, and the usual layout of re-identification features",
    looks="a MATLAB file",
    expected="a MATLAB file",
    recognise=_recognise,
    read=_read,
    options=ARRAYS,
)
