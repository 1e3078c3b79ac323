"""Named arrays in HDF5: what a .npz file holds, or what MATLAB 7.3 writes.

Words such as ``kind`` may be attributes, and arrays may be in groups. A matrix stays in the file,
and its rows are read as they are counted. MATLAB reverses dimensions and writes characters as
numbers; its arrays are returned as MATLAB shows them.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import MOST_DEFLATED, Arrays, Header, require_text
from bioeval.scores.formats.files import HDF5, guarded
from bioeval.scores.formats.format import ARRAYS, Format, ReadOptions
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npz import read_arrays
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import StoredRows

#: Words that may be attributes of the file.
_WORDS = ("kind", "nan", "metric")

# Bytes up to which an array may be larger than what is stored, as one of fill values alone is.
_SMALL = 1 << 20
_WIDEST = 1 << 16  # characters of text, of which a damaged file may claim any number


class Hdf5Arrays(Arrays):
    """The datasets of an HDF5 file; links, and values in other files, are refused."""

    def __init__(self, path: Path):
        """Read the headers, and the words among the attributes."""
        import h5py

        self.path = path
        self.headers: dict[str, Header] = {}
        self._words: dict[str, np.ndarray] = {}
        self._refused: dict[str, str] = {}
        with guarded(path, expected=HDF5):
            self._file = h5py.File(path, "r")
            for name in _WORDS:
                word = self._file.attrs.get(name)
                if isinstance(word, bytes):
                    word = word.decode("ascii", "replace")
                if isinstance(word, str):
                    self._words[name] = np.array(word)
                    self.headers[name] = Header((), self._words[name].dtype)
            self._file.visititems_links(self._list)

    def _list(self, place: str, link: Any) -> None:
        """Look at what a name leads to; values that are not read are refused with the reason."""
        import h5py

        if "#" in place or any(place.startswith(f"{group}/") for group in self._refused):
            return  # what cells, objects and refused groups hold is not listed
        if not isinstance(link, h5py.HardLink):
            self._refuse(place, "is a link, and bioeval follows none; copy the values to its place")
            return
        item = self._file[place]
        kind = _class_of(item)
        text = h5py.check_string_dtype(item.dtype) if isinstance(item, h5py.Dataset) else None
        if not isinstance(item, h5py.Dataset):
            if kind or "MATLAB_sparse" in item.attrs:
                kind = "sparse" if "MATLAB_sparse" in item.attrs else "struct"
                self._refuse(place, refusal(kind))
        elif item.is_virtual or item.external:
            self._refuse(place, "has its values in other files; copy them into this file")
        elif kind in _NO_ARRAYS or not text and item.dtype.kind not in "biuf":
            self._refuse(place, refusal(kind or "struct"), item.shape[::-1])
        elif item.attrs.get("MATLAB_empty", 0):
            self.headers[place] = Header((0, 0), item.dtype)
        else:
            self.headers[place] = _header(item, kind, text)

    def _refuse(self, name: str, why: str, shape: tuple[int, ...] = ()) -> None:
        self._refused[name] = why
        self.headers[name] = Header(shape, np.dtype(object))

    def require(self, option: str, key: str) -> None:
        """Raise unless the array that `option` names is in the file, and can be read."""
        super().require(option, key)
        if key in self._refused:
            self.read(key)  # raises, with the reason

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if key in self._words:
            return self._words[key]
        if key in self._refused:
            raise DataError(f"{self.path}: {key!r} {self._refused[key]}")
        header = self.headers[key]
        if 0 in header.shape:
            return np.empty(header.shape, header.dtype)
        with guarded(self.path, f"the array {key!r}"):
            item = self._file[key]
            kind = _class_of(item)
            if header.dtype.kind == "U" and not kind:
                array = np.asarray(item.asstr()[()]).astype(str)
            else:
                array = np.asarray(item[...])
            require_text(array)
        if kind:
            array = array.T
        if kind == "char":  # UTF-16 code units
            rows = np.ascontiguousarray(array, dtype="<u2")
            return np.array(
                [codes.tobytes().decode("utf-16-le", "replace").rstrip(" \x00") for codes in rows],
                dtype=str,
            )
        return array.astype(bool) if kind == "logical" else array

    def rows(self, key: str) -> Any:
        """Return a dataset whose values stay in the file."""
        if key in self._refused or key in self._words or _class_of(self._file[key]):
            return self.read(key)
        return StoredRows(self._file[key], f"{self.path}: the array {key!r}")


#: Classes of MATLAB that are no arrays of numbers or of characters.
_NO_ARRAYS = ("cell", "function_handle", "string")


def refusal(kind: str) -> str:
    """Return why an array of a class of MATLAB cannot be read, and what to save instead."""
    advice = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}.get(
        kind, "its arrays one by one"
    )
    return f"is a MATLAB {kind}; expected a matrix of numbers or of characters. Save {advice}"


def text_header(shape: tuple[int, ...]) -> Header:
    """Return the header of rows of text, by the shape of its characters."""
    return Header(shape[:1], np.dtype(f"U{min(prod(shape[1:]), _WIDEST)}"))


def _header(item: Any, kind: str, text: Any) -> Header:
    """Return the header of a dataset; raise where it claims more values than it can hold."""
    stored = item.id.get_storage_size()
    if item.nbytes > max(_SMALL, MOST_DEFLATED * stored):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores {stored:,}"
        )
    shape = item.shape[::-1] if kind else item.shape
    if kind == "char":
        return text_header(shape)
    if text:
        return Header(shape, np.dtype("U1"))
    return Header(shape, np.dtype(bool) if kind == "logical" else item.dtype)


def _class_of(item: Any) -> str:
    """Return MATLAB's class of an HDF5 item; ``""`` where MATLAB did not write it."""
    name = item.attrs.get("MATLAB_class", b"")
    if isinstance(name, bytes):
        return name.decode("ascii", "replace")
    return str(name)


def _read(path: Path, options: ReadOptions) -> Scores:
    arrays = Hdf5Arrays(path)
    return read_arrays(arrays, reid_layout(arrays, options))


FORMAT = Format(
    name="`.h5`",
    suffixes=(".h5", ".hdf5"),
    holds="what a `.npz` file holds, in HDF5",
    expected="an HDF5 file",
    recognise=lambda file: file.content == HDF5 and file.suffix not in (".mat", ".nc"),
    read=_read,
    options=ARRAYS,
)
