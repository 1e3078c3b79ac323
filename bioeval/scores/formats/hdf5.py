"""Stores of named arrays in HDF5.

They hold what a .npz file does, under the same names; words such as ``kind`` may be attributes. A
matrix stays in the file, and its rows are read as they are counted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.formats.archive import Arrays, Header, require_text
from bioeval.scores.formats.files import HDF5, guarded
from bioeval.scores.formats.format import ARRAYS, Format, ReadOptions
from bioeval.scores.formats.mat import Mat73
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npz import read_arrays
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import FileCheck, StoredRows

#: Words that may be attributes of the file.
_WORDS = ("kind", "nan", "metric")


class Hdf5Arrays(Arrays):
    """The datasets of an HDF5 file; values in other files, also by links, are refused."""

    def __init__(self, path: Path):
        """Read the headers, and the words among the attributes."""
        import h5py

        self.path = path
        self.headers: dict[str, Header] = {}
        self._words: dict[str, np.ndarray] = {}
        self._plain = Mat73(path, groups=True)
        with guarded(path, expected="an HDF5 file"):
            self._file = h5py.File(path, "r")
            for name in _WORDS:
                word = self._file.attrs.get(name)
                if isinstance(word, bytes):
                    word = word.decode("ascii", "replace")
                if isinstance(word, str):
                    self._words[name] = np.array(word)
                    self.headers[name] = Header((), self._words[name].dtype)
        self.elsewhere = self._plain.elsewhere
        for name, header in self._plain.headers.items():
            item = self._file[name] if name not in self.elsewhere else None
            if isinstance(item, h5py.Dataset) and h5py.check_string_dtype(item.dtype):
                header = Header(item.shape, np.dtype("U1"))
            self.headers[name] = header

    def require(self, option: str, key: str) -> None:
        """Raise unless the array that `option` names is in the file, and can be read."""
        super().require(option, key)
        if self.headers[key].is_pickled:
            self._plain.read(key)  # raises, with the reason

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if key in self._words:
            return self._words[key]
        with guarded(self.path, f"the array {key!r}"):
            array = self._read(key)
            require_text(array)
        return array

    def _read(self, key: str) -> np.ndarray:
        if self.headers[key].dtype.kind != "U":
            return self._plain.read(key)
        values = np.asarray(self._file[key].asstr()[()])
        return values.astype(str) if values.dtype.hasobject else values

    def mapped(self, key: str) -> tuple[Any, FileCheck | None]:
        """Return a dataset whose values stay in the file."""
        if self.headers[key].is_pickled or key in self._words:
            return self.read(key), None
        return StoredRows(self._file[key], f"{self.path}: the array {key!r}"), None


def _read(path: Path, options: ReadOptions) -> Scores:
    arrays = Hdf5Arrays(path)
    return read_arrays(arrays, reid_layout(arrays, options))


FORMAT = Format(
    name="`.h5`",
    suffixes=(".h5", ".hdf5"),
    holds="what a `.npz` file holds, in HDF5",
    looks="an HDF5 file",
    expected="an HDF5 file",
    recognise=lambda file: file.content == HDF5 and file.suffix not in (".mat", ".nc"),
    read=_read,
    options=ARRAYS,
)
