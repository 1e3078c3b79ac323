"""MATLAB files (.mat), versions 5 to 7.3, as archives of arrays.

An array of one row or one column is a list: MATLAB has no other. Version 7.3 is HDF5 with its
dimensions reversed and its characters as numbers; arrays are returned as MATLAB shows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats import mat5
from bioeval.scores.formats.archive import MOST_DEFLATED, Arrays, Header, require_text
from bioeval.scores.formats.array_reader import read_arrays
from bioeval.scores.formats.files import HDF5, guarded, replacing
from bioeval.scores.formats.format import Format, Found
from bioeval.scores.formats.npz import write_arrays
from bioeval.scores.formats.options import ARRAYS, ReadOptions
from bioeval.scores.formats.reid_arrays import reid_layout
from bioeval.scores.matrix import Scores

# Bytes up to which an array may be larger than what is stored, as one of fill values alone is.
_SMALL = 1 << 20

# Bytes that an array of MATLAB 5 stays below.
_MOST_BYTES = 1 << 31


class MatArchive(Arrays):
    """A MATLAB file whose arrays are described at once, and read one by one."""

    def __init__(self, path: Path):
        self.path = path
        self.headers: dict[str, Header] = {}
        self._transposed: set[str] = set()
        with open(path, "rb") as file:
            head = file.read(128)
        is_hdf5 = head.startswith((b"MATLAB 7.3", b"\x89HDF"))
        self._file: _Mat5 | Mat73 = Mat73(path) if is_hdf5 else _Mat5(path)
        for name, header in self._file.headers.items():
            self.headers[name] = Header(_as_list(header.shape), header.dtype)
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
        return array.astype(np.int64) if whole else array


def _as_list(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape without MATLAB's second dimension where only one of two is not 1."""
    return (math.prod(shape),) if len(shape) == 2 and 1 in shape else shape


def _whole(array: np.ndarray) -> bool:
    """Say whether all values are whole numbers that float64 holds exactly."""
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
        self.variables = mat5.variables(path)
        self.headers = {name: _header(found) for name, found in self.variables.items()}

    def read(self, key: str) -> np.ndarray:
        return mat5.read(self.path, self.variables[key])


def _header(variable: mat5.Variable) -> Header:
    if variable.kind == "char":
        return _text(variable.shape)
    if variable.is_logical:
        return Header(variable.shape, np.dtype(bool))
    plain = None if variable.is_complex else mat5.NUMERIC.get(variable.kind)
    return Header(variable.shape, np.dtype(plain or object))


class Mat73:
    """A MATLAB 7.3 file, which is HDF5; also plain HDF5, whose dimensions are as they are."""

    def __init__(self, path: Path):
        self.path = path
        self.headers: dict[str, Header] = {}
        self._refused: dict[str, str] = {}
        with self._open() as file:
            for name in file:
                if not name.startswith("#"):  # what cells and objects refer to
                    self._look(file, name)

    def _look(self, file: Any, name: str) -> None:
        import h5py

        link = file.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            self._refuse(name, "is a link to another place, which bioeval does not follow")
            return
        item = file[name]
        kind = _class_of(item)
        if not isinstance(item, h5py.Dataset):
            self._refuse(
                name, mat5.refusal("sparse" if "MATLAB_sparse" in item.attrs else "struct")
            )
        elif item.is_virtual or item.external:
            self._refuse(name, "is stored in another file, which bioeval does not follow")
        elif kind in ("cell", "function_handle", "string") or item.dtype.kind not in "biufSU":
            self._refuse(name, mat5.refusal(kind or "struct"), item.shape[::-1])
        elif item.attrs.get("MATLAB_empty", 0):
            self.headers[name] = Header((0, 0), item.dtype)
        else:
            _require_values(item)
            shape = item.shape[::-1] if kind else item.shape
            dtype = np.dtype(bool) if kind == "logical" else item.dtype
            self.headers[name] = _text(shape) if kind == "char" else Header(shape, dtype)

    def _refuse(self, name: str, why: str, shape: tuple[int, ...] = ()) -> None:
        self._refused[name] = why
        self.headers[name] = Header(shape, np.dtype(object))

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if key in self._refused:
            raise DataError(f"{self.path}: {key!r} {self._refused[key]}")
        header = self.headers[key]
        if 0 in header.shape:
            return np.empty(header.shape, header.dtype)
        with self._open() as file:
            array = np.asarray(file[key][()])
            kind = _class_of(file[key])
            require_text(array)
        if kind:
            array = array.T
        if kind == "char":
            return mat5.char_rows(array)
        return array.astype(bool) if kind == "logical" else array

    @contextmanager
    def _open(self) -> Iterator[Any]:
        import h5py

        with guarded(self.path, expected="a MATLAB 7.3 file"), h5py.File(self.path, "r") as file:
            yield file


def _require_values(item: Any) -> None:
    """Raise :class:`ValueError` where a dataset claims more values than the file holds."""
    stored = item.id.get_storage_size()
    if item.nbytes > max(_SMALL, MOST_DEFLATED * stored):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores {stored:,}"
        )


def _text(shape: tuple[int, ...]) -> Header:
    """Return the header of a row of text for each row; a damaged file may claim any width."""
    return Header(shape[:1], np.dtype(f"U{min(math.prod(shape[1:]), 1 << 16)}"))


def _class_of(item: Any) -> str:
    """Return MATLAB's class of an HDF5 item; ``""`` where MATLAB did not write it."""
    found = item.attrs.get("MATLAB_class", b"")
    return found.decode("ascii", "replace") if isinstance(found, bytes) else str(found)


def _recognise(found: Found) -> bool:
    if found.suffix == ".mat" and found.content == "an unknown binary file":
        raise DataError(
            f"{found.path}: is no MATLAB file of version 5 to 7.3 (that of save -v4 is not read); "
            "write it with save -v7"
        )
    # HDF5 named .mat is a 7.3 file of another program than MATLAB.
    return found.content == "mat" or found.content == HDF5 and found.suffix == ".mat"


def _read(path: Path, options: ReadOptions) -> Scores:
    archive = MatArchive(path)
    options = reid_layout(archive, options)
    wide = [options.embeddings_key or "embeddings"]
    wide.append(options.gallery_embeddings_key or "gallery_embeddings")
    wide.append(options.indices_key or "indices")
    if options.genuine_key is None and "genuine" not in archive:
        wide.append(options.scores_key or "scores")  # without it, one row is one probe
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
    keys = (options.probe_labels_key or "", options.gallery_labels_key or "")
    labels = [archive.headers[key].shape for key in keys if key in archive]
    if [len(shape) for shape in labels] != [1, 1]:
        return
    counts = [shape[0] for shape in labels]
    features = (options.embeddings_key or "", options.gallery_embeddings_key or "")
    if all(key in archive for key in features):
        shapes = [archive.headers[key].shape for key in features]
        as_is = all(s[:1] == (n,) for s, n in zip(shapes, counts, strict=True))
        turned = all(len(s) == 2 and s[1] == n for s, n in zip(shapes, counts, strict=True))
        if turned and not as_is:
            for key in features:
                archive.transpose(key)
    key = options.scores_key or ""
    if key in archive and archive.headers[key].shape == (counts[1], counts[0]) != tuple(counts):
        archive.transpose(key)


class _MatWriter:
    """Collects the arrays of scores for a MATLAB file."""

    def __init__(self, path: Path):
        self._path = path
        self.arrays: dict[str, np.ndarray] = {}

    def add(self, key: str, array: Any) -> None:
        """Add a whole array; text as rows of characters."""
        array = np.asarray(array)
        if array.dtype.kind not in "biufU" or array.dtype.itemsize > 8 and array.dtype.kind == "f":
            raise DataError(f"{self._path}: {key!r} is {array.dtype}, which MATLAB has not")
        if array.nbytes >= _MOST_BYTES:
            raise DataError(
                f"{self._path}: {key!r} takes {array.nbytes:,} bytes, and a MATLAB 5 file holds "
                f"less than {_MOST_BYTES:,} an array; save it as .h5"
            )
        if array.dtype.kind == "U":
            self._check_text(key, array)
        if array.dtype == np.float16:
            array = array.astype(np.float32)
        column = array.ndim == 1 and array.dtype.kind != "U"
        self.arrays[key] = array[:, None] if column else array

    def _check_text(self, key: str, array: np.ndarray) -> None:
        if array.ndim > 1:
            raise DataError(
                f"{self._path}: {key!r} is text in {array.ndim} dimensions, which MATLAB has not; "
                "save it as .h5"
            )
        if any(word != word.rstrip(" \0") for word in array.reshape(-1).tolist()):
            raise DataError(
                f"{self._path}: {key!r} has text with a blank at its end, which MATLAB's rows of "
                "characters do not keep"
            )

    def add_rows(self, key: str, shape: tuple[int, ...], dtype: np.dtype, read: Any) -> None:
        """Add an array whose rows are read at once."""
        self.add(key, np.asarray(read(0, shape[0]), dtype=dtype))


def _write(scores: Scores, path: Path) -> None:
    """Write a MATLAB 5 file."""
    from scipy.io import savemat

    out = _MatWriter(path)
    write_arrays(scores, out, path)
    with replacing(path) as part, open(part, "wb") as file:
        savemat(file, out.arrays)


def _losses(scores: Scores) -> list[str]:
    return ["float16 scores become float32"] if scores.dtype == np.float16 else []


FORMAT = Format(
    name="`.mat`",
    suffixes=(".mat",),
    holds="what a `.npz` file holds, and the usual layout of re-identification features",
    looks="a MATLAB file",
    expected="a MATLAB file",
    recognise=_recognise,
    read=_read,
    options=ARRAYS,
    written="everything in one file, of MATLAB 5",
    write=_write,
    losses=_losses,
)
