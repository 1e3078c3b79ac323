"""Arrays in files that workers read themselves, if they find the same file in the same place."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from bioeval.scores.stored import StoredRows

# Stores of zarr that are in the same place for others; their metadata, in version 3 and 2.
_STORES, _METADATA = ("LocalStore", "FsspecStore"), ("zarr.json", ".zarray")


class FileMissingOnWorker(Exception):  # noqa: N818 (no error: the rows are sent instead)
    """A file of the scores is not at the same path on a worker, or is another one."""


def place_in_file(values: Any) -> tuple[Any, ...] | None:
    """Return from which file an array is read, and where in it; None for any other array."""
    try:
        if isinstance(values, StoredRows):
            found = place_in_file(values.array)
            return None if found is None else ("stored", values.what, *found)
        if type(values) in (np.ndarray, np.memmap):
            return _place_of_memmap(values)
        library = type(values).__module__.partition(".")[0]
        if library == "h5py" and hasattr(values, "file") and values.file.mode == "r":
            path = str(values.file.filename)
            return "hdf5", path, _stamp(path), values.name
        if library == "zarr" and type(getattr(values, "store", None)).__name__ in _STORES:
            return "zarr", values.store, values.path, _stamp_of_store(values.store, values.path)
    except FileMissingOnWorker:  # removed meanwhile
        pass
    return None


def opened(kind: str, *place: Any) -> Any:
    """Return an array that :func:`place_in_file` has found.

    Raises
    ------
    FileMissingOnWorker
        If the file is not there, or another one.
    """
    try:
        return _OPENERS[kind](*place)
    except OSError as error:  # such as one that is locked
        raise FileMissingOnWorker(str(error)) from error


def _place_of_memmap(values: np.ndarray) -> tuple[Any, ...] | None:
    """Return where in a file an array is that is mapped, or a view of one."""
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
    path = str(whole.filename)
    return "memmap", path, _stamp(path), values.dtype.str, offset, tuple(values.shape)


def _stamp(path: str) -> tuple[int, int]:
    """Return size and time of a file, by which another one is noticed."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise FileMissingOnWorker(path) from error
    return found.st_size, found.st_mtime_ns


def _stamp_of_store(store: Any, path: str) -> Any:
    """Return size and time of the metadata of an array; at an address, the metadata."""
    if hasattr(store, "root"):
        names = [os.path.join(store.root, path, name) for name in _METADATA]
        return _stamp(next(filter(os.path.isfile, names), names[0]))
    import zarr

    try:
        return repr(zarr.open_array(store, path=path, mode="r").metadata)
    except Exception as error:  # stores raise errors of any class
        raise FileMissingOnWorker(path) from error


def _require_same(there: Any, here: Any) -> None:
    if here != there:
        raise FileMissingOnWorker(f"{there} there, {here} here")


def _open_memmap(
    path: str, stamp: tuple[int, int], dtype: str, offset: int, shape: tuple[int, ...]
) -> np.ndarray:
    _require_same(stamp, _stamp(path))
    return np.asarray(np.memmap(path, np.dtype(dtype), "r", offset, shape))


def _open_hdf5(path: str, stamp: tuple[int, int], name: str) -> Any:
    import h5py

    _require_same(stamp, _stamp(path))
    return h5py.File(path, "r")[name]


def _open_zarr(store: Any, path: str, stamp: Any) -> Any:
    import zarr

    _require_same(stamp, _stamp_of_store(store, path))
    return zarr.open_array(store, path=path, mode="r")


def _open_stored(what: str, kind: str, *place: Any) -> StoredRows:
    return StoredRows(_OPENERS[kind](*place), what)


_OPENERS: dict[str, Callable[..., Any]] = {
    "memmap": _open_memmap,
    "hdf5": _open_hdf5,
    "zarr": _open_zarr,
    "stored": _open_stored,
}
