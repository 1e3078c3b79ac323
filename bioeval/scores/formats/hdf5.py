"""Stores of named arrays in HDF5.

They hold what a .npz file does, under the same names; words such as ``kind`` may be attributes. A
matrix stays in the file, and its rows are read as they are counted.
"""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.formats.archive import Arrays, Header, require_text
from bioeval.scores.formats.files import HDF5, guarded, replacing
from bioeval.scores.formats.format import ARRAYS, Format, ReadOptions, keeps_everything
from bioeval.scores.formats.mat import Mat73
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npz import read_arrays, write_arrays
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import FileCheck, StoredRows

#: Words that may be attributes of the file.
_WORDS = ("kind", "nan", "metric")

# Values, or bytes, of rows that are written together.
_CHUNK = 1 << 20


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


class _Hdf5File(io.FileIO):
    """A file for HDF5 that takes all bytes: HDF5 ends the process after a failed write.

    After an error, such as a full disk, the rest is kept in memory, and HDF5 closes the file as if
    all were well. `error` is raised by :class:`_Hdf5Writer`.
    """

    def __init__(self, path: Path):
        super().__init__(path, "w+")
        self.error: OSError | None = None
        self._kept: list[tuple[int, bytes]] = []
        self._place = self._end = 0

    def seek(self, place: int, whence: int = 0) -> int:
        """Remember the place for what follows."""
        self._place = place + (self._end if whence else 0)
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def write(self, data: Any) -> int:
        """Write everything, or keep it."""
        left = memoryview(data).cast("B")
        place, self._end = self._place, max(self._end, self._place + len(left))
        try:
            if self.error is None:
                super().seek(place)
                while left:
                    left = left[super().write(left) :]
        except OSError as error:
            self.error = error
        if self.error is not None:
            self._kept.append((place, bytes(data)))
        return len(data)

    def readinto(self, buffer: Any) -> int:
        """Read what was written, or kept."""
        out = memoryview(buffer).cast("B")
        super().seek(self._place)
        out[:] = (super().read(len(out)) or b"").ljust(len(out), b"\0")
        for place, data in self._kept:
            low, high = max(place, self._place), min(place + len(data), self._place + len(out))
            if low < high:
                out[low - self._place : high - self._place] = data[low - place : high - place]
        return len(out)

    def truncate(self, size: int | None = None) -> int:
        """Set the length, unless an error has left less."""
        self._end = self._place if size is None else size
        if self.error:
            return self._end
        return super().truncate(self._end)


class _Hdf5Writer:
    """Writes the arrays of scores into an HDF5 file with checksums for every byte.

    HDF5 1.10 brought checksums of its own structures; arrays have them where they are in chunks.
    HDF5 is called in a thread of its own, where no interruption ends a call halfway.
    """

    def __init__(self, path: Path):
        import h5py

        self._h5py = h5py
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bioeval-hdf5")
        self._raw = _Hdf5File(path)
        self._file = self._call(h5py.File, self._raw, "w", libver=("v110", "v110"))
        self._datasets: list[Any] = []  # which would write in this thread where they end

    def __enter__(self) -> _Hdf5Writer:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._raw, self._thread:
            self._call(self._file.close)

    def _call(self, function: Any, *args: Any, **options: Any) -> Any:
        """Call HDF5; raise the error of the file, if there is one."""
        answer = self._thread.submit(function, *args, **options).result()
        if self._raw.error is not None:
            raise self._raw.error
        return answer

    def add(self, key: str, array: Any) -> None:
        """Write a whole array; text as UTF-8 of one width."""
        array = np.asarray(array)
        if array.dtype.kind == "U":
            array = np.char.encode(array, "utf-8")
            width = max(1, array.dtype.itemsize)
            array = array.astype(self._h5py.string_dtype("utf-8", width))
        self._call(self._created(key, array.shape, array.dtype).__setitem__, ..., array)

    def add_rows(self, key: str, shape: tuple[int, ...], dtype: np.dtype, read: Any) -> None:
        """Write an array whose rows are read in blocks."""
        data = self._created(key, shape, dtype)
        step = max(1, _CHUNK // max(1, shape[1]))
        for low in range(0, shape[0], step):
            high = min(shape[0], low + step)
            self._call(data.__setitem__, slice(low, high), read(low, high))

    def _created(self, key: str, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        """Return a new dataset with checksums; HDF5 has them of chunks and of headers."""
        how = {}
        if not shape:  # in the header of the dataset, which has a checksum
            how["dcpl"] = self._h5py.h5p.create(self._h5py.h5p.DATASET_CREATE)
            how["dcpl"].set_layout(self._h5py.h5d.COMPACT)
        elif prod(shape):
            rows = max(1, _CHUNK // (prod(shape[1:]) * dtype.itemsize))
            how = {"chunks": (min(shape[0], rows), *shape[1:]), "fletcher32": True}
        self._datasets.append(self._call(self._file.create_dataset, key, shape, dtype, **how))
        return self._datasets[-1]


def _write(scores: Scores, path: Path) -> None:
    with replacing(path) as part, _Hdf5Writer(part) as out:
        write_arrays(scores, out, path)


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
    written="everything in one file",
    write=_write,
    losses=keeps_everything,
)
