"""Files of HDF5, as other programs or MATLAB 7.3 write them: named arrays, and words.

Arrays of MATLAB have the attribute ``MATLAB_class``. They get the shape that MATLAB shows, although
in HDF5 MATLAB reverses dimensions and writes characters as numbers.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.formats.containers import MOST_INFLATED, Lazy, refused, require_unicode
from bioeval.scores.formats.faults import guarded
from bioeval.scores.formats.files import FileKind, optional
from bioeval.scores.stored import StoredRows

# Attributes of a file that are words, and are read as arrays of one word.
_WORDS = ("kind", "nan", "metric")
# Classes of MATLAB that HDF5 holds as datasets, and that are no arrays of numbers or characters.
_NO_ARRAYS = ("cell", "function_handle", "string")
# What to save in MATLAB in place of such a class.
_ADVICE = {"cell": "numbers, or names as char(x)", "sparse": "full(x)", "string": "char(x)"}
# Arrays up to this size are accepted whatever they store, since unwritten HDF5 chunks read as the
# fill value.
_MOST_FILLED = 1 << 20
# The most characters of a line of text, of which a damaged file may claim any number.
_MOST_CHARACTERS = 1 << 16
#: The codec of UTF-16 text in each order of bytes, which is written as numpy does.
UTF16 = {"<": "utf-16-le", ">": "utf-16-be"}


def open_hdf5(path: Path) -> dict[str, Lazy]:
    """Return the datasets of an HDF5 file, and the words among its attributes."""
    h5py = optional("h5py", path, FileKind.HDF5)
    arrays: dict[str, Lazy] = {}
    with guarded(path, expected=FileKind.HDF5):
        file = h5py.File(path, "r")
        try:
            for name in _WORDS:
                word = _as_text(file.attrs.get(name))
                if isinstance(word, str):
                    text = np.array(word)
                    arrays[name] = Lazy((), text.dtype, text.copy)
            links: list[tuple[str, Any]] = []
            file.visititems_links(lambda name, link: links.append((name, link)))
            closed: list[str] = []  # groups whose members are not listed
            for name, link in links:
                # MATLAB keeps the contents of cells and objects in groups with a # in their names.
                if "#" in name or any(name.startswith(f"{group}/") for group in closed):
                    continue
                array = _array(path, name, link, file)
                if array is not None:
                    arrays[name] = array
                    if array.dtype.hasobject:
                        closed.append(name)
        except BaseException:
            file.close()
            raise
    return arrays


def _as_text(attribute: Any) -> Any:
    return attribute.decode("ascii", "replace") if isinstance(attribute, bytes) else attribute


def _array(path: Path, name: str, link: Any, file: Any) -> Lazy | None:
    """Return the array of an HDF5 file that is called `name`; None for a plain group."""
    import h5py

    if not isinstance(link, h5py.HardLink):
        reason = "is a link, and bioeval follows none; copy the values to its place"
        return refused(path, name, reason)
    item = file[name]
    matlab_class = str(_as_text(item.attrs.get("MATLAB_class", "")))
    if not isinstance(item, h5py.Dataset):
        if "MATLAB_sparse" in item.attrs:
            return refused(path, name, no_array("sparse"))
        return refused(path, name, no_array("struct")) if matlab_class else None
    if item.is_virtual or item.external:
        return refused(path, name, "has its values in other files; copy them into this file")
    is_text = bool(h5py.check_string_dtype(item.dtype))
    if matlab_class in _NO_ARRAYS or (not is_text and item.dtype.kind not in "biuf"):
        return refused(path, name, no_array(matlab_class or "struct"), item.shape[::-1])
    if item.attrs.get("MATLAB_empty", 0):
        return Lazy((0, 0), item.dtype, lambda: np.empty((0, 0), item.dtype))
    stored_bytes = item.id.get_storage_size()
    if item.nbytes > max(_MOST_FILLED, MOST_INFLATED * stored_bytes):
        raise ValueError(
            f"it claims {item.shape} {item.dtype}, {item.nbytes:,} bytes, and stores "
            f"{stored_bytes:,}"
        )
    array = _array_of_class(item, matlab_class, is_text)

    def read() -> np.ndarray:
        if 0 in array.shape:
            return np.empty(array.shape, array.dtype)
        with guarded(path, f"the array {name!r}"):
            return array.read()

    rows = None if matlab_class else lambda: StoredRows(item, f"{path}: the array {name!r}")
    return Lazy(array.shape, array.dtype, read, rows)


def no_array(matlab_class: str) -> str:
    """Return the fault of a class of MATLAB that is no array, and what to save in its place."""
    advice = _ADVICE.get(matlab_class, "its arrays one by one")
    return (
        f"is a MATLAB {matlab_class}; expected a matrix of numbers or of characters. Save {advice}"
    )


def _array_of_class(item: Any, matlab_class: str, is_text: bool) -> Lazy:
    if matlab_class == "char":
        return _matlab_characters(item)
    if is_text:
        return Lazy(item.shape, np.dtype("U1"), lambda: _strings(item))
    if matlab_class:
        return _matlab_numbers(item, np.dtype(bool) if matlab_class == "logical" else item.dtype)
    return Lazy(item.shape, item.dtype, lambda: np.asarray(item[...]))


def _matlab_characters(item: Any) -> Lazy:
    """Return a matrix of UTF-16 code units as one text for each row of the matrix."""
    shape = item.shape[::-1]

    def read() -> np.ndarray:
        units = np.ascontiguousarray(np.asarray(item[...]).T, dtype="<u2")
        return rows_of_text(units, "<")

    return Lazy(shape[:1], dtype_of_text(shape), read)


def _matlab_numbers(item: Any, dtype: np.dtype) -> Lazy:
    def read() -> np.ndarray:
        return np.asarray(item[...]).T.astype(dtype, copy=False)

    return Lazy(item.shape[::-1], dtype, read)


def _strings(item: Any) -> np.ndarray:
    return require_unicode(np.asarray(item.asstr("utf-8")[()]).astype(str))


def dtype_of_text(shape: tuple[int, ...]) -> np.dtype:
    """Return the dtype of the rows of a matrix of characters as texts."""
    return np.dtype(f"U{min(prod(shape[1:]), _MOST_CHARACTERS)}")


def rows_of_text(units: np.ndarray, order: str) -> np.ndarray:
    """Return rows of UTF-16 code units, uint16 (rows, width), as text, str (rows,)."""
    codec = UTF16[order]
    return np.array([row.tobytes().decode(codec).rstrip(" \x00") for row in units], dtype=str)
