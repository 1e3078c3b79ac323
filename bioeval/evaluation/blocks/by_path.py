"""Arrays in files that workers read themselves, if they find the same file in the same place."""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from bioeval.scores.stored import StoredRows

# Stores of zarr that are in the same place for others; their metadata, in version 3 and 2.
_STORES, _METADATA = ("LocalStore", "FsspecStore"), ("zarr.json", ".zarray")


class FileMissingOnWorker(Exception):  # noqa: N818 (no error: the rows are sent instead)
    """A file of the scores is not at the same path on a worker, or is another one."""


def place_in_file(values: Any) -> tuple[Any, ...] | None:
    """Return the place of an array in its file, as :func:`opened` takes it; None without a file."""
    stored = isinstance(values, StoredRows)
    array = values.array if stored else values
    kind, where = type(array).__module__.partition(".")[0], None
    if type(array) in (np.ndarray, np.memmap):
        where = _place_of_memmap(array)
    elif kind == "h5py" and hasattr(array, "file") and array.file.mode == "r":
        where = str(array.file.filename), array.name
    elif kind == "zarr" and type(getattr(array, "store", None)).__name__ in _STORES:
        where = array.store, array.path
    try:
        return where and (kind, values.what if stored else None, _stamp(*where[:2]), *where)
    except FileMissingOnWorker:  # removed meanwhile
        return None


def opened(kind: str, what: str | None, stamp: Any, *where: Any) -> Any:
    """Return an array that :func:`place_in_file` has found.

    Raises
    ------
    FileMissingOnWorker
        If the file is not there, or another one.
    """
    if _stamp(*where[:2]) != stamp:
        raise FileMissingOnWorker(f"{where[0]} is another file")
    try:
        array: Any
        if kind == "h5py":
            import h5py

            array = h5py.File(where[0], "r")[where[1]]
        elif kind == "zarr":
            import zarr

            array = zarr.open_array(where[0], path=where[1], mode="r")
        else:
            path, offset, dtype, shape = where
            array = np.asarray(np.memmap(path, np.dtype(dtype), "r", offset, shape))
    except OSError as error:  # such as one that is locked
        raise FileMissingOnWorker(str(error)) from error
    return array if what is None else StoredRows(array, what)


def _place_of_memmap(values: np.ndarray) -> tuple[Any, ...] | None:
    """Return the place in its file of a mapped array, or of a view of one."""
    whole: Any = values
    while isinstance(whole, np.ndarray) and not isinstance(whole, np.memmap):
        whole = whole.base
    mapped = getattr(whole, "_mmap", None)
    if not isinstance(mapped, mmap.mmap) or whole.filename is None:
        return None
    if not values.flags.c_contiguous or whole.mode == "c":  # changes of a copy are not in the file
        return None
    start = np.frombuffer(mapped, dtype=np.uint8).ctypes.data
    first = whole.offset - whole.offset % mmap.ALLOCATIONGRANULARITY
    offset = first + values.ctypes.data - start
    return str(whole.filename), offset, values.dtype.str, tuple(values.shape)


def _stamp(place: Any, inner: Any) -> Any:
    """Return the size and time of a file, which show whether it was replaced.

    Of a zarr array they are those of its metadata; at an address, the metadata themselves.
    """
    try:
        if isinstance(place, str):
            found = os.stat(place)
        elif hasattr(place, "root"):
            names = [os.path.join(place.root, inner, name) for name in _METADATA]
            found = os.stat(next(filter(os.path.isfile, names), names[0]))
        else:
            import zarr

            return repr(zarr.open_array(place, path=inner, mode="r").metadata)
    except Exception as error:  # stores raise errors of any class
        raise FileMissingOnWorker(str(place)) from error
    return found.st_size, found.st_mtime_ns
