"""Arrays of scores: checks, indices, rows of a selection, rows of files in chunks, and digests."""

from __future__ import annotations

import ctypes
import hashlib
import io
import math
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from bioeval.base.arguments import as_numpy, joined, require_array
from bioeval.base.errors import BioevalError, DataError, counted, cut
from bioeval.base.files import WatchedFile
from bioeval.base.options import OPTIONS

#: Libraries whose arrays are read in blocks of rows.
LIBRARIES = ("zarr", "h5py")

# The first rows and columns of a square matrix, by which it is judged.
_JUDGED_ROWS = 1000

# The share of templates that are nearest to themselves in a matrix of all against all; and how near
# of distances, relative to the usual distance.
_NEARLY_ALL, _NEAR = 0.9, 0.05


def as_array(values: Any, input_name: str) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(
            f"{input_name} is a masked array ({counted(np.ma.count_masked(values), 'values')} "
            "masked), True where there is no value; give x.data with mask=~x.mask (True: an "
            "attempt)"
        )
    try:
        array = in_memory(joined(values, input_name, 2), input_name)
    except DataError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{input_name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise wrong_dtype(input_name, array)
    return array


def in_memory(values: Any, input_name: str) -> np.ndarray:
    """Return an array; a stored array of zarr or h5py is read whole."""
    if type(values).__module__.partition(".")[0] not in LIBRARIES:
        return np.asarray(as_numpy(values, input_name))
    return np.asarray(values[...])


def wrong_dtype(input_name: str, array: np.ndarray) -> DataError:
    """Return the error of values that are no numbers; numbers as text have a hint."""
    have = "have" if str(input_name).endswith("s") else "has"
    wrong = f"{input_name} {have} dtype {array.dtype}; expected an integer or float dtype"
    if array.dtype.kind not in "USO":
        return DataError(wrong)
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            text = str(value) if isinstance(value, str) else value
            return DataError(f"{wrong}. {cut(repr(text), 80)} at {list(place)} is not a number")
    return DataError(f"{wrong}. They are numbers as text or objects: give values.astype(float)")


def is_stored(values: Any) -> bool:
    """Whether values are an array that a library keeps in chunks."""
    library = type(values).__module__.partition(".")[0]
    return row_source(values) is RowSource.CONTAINER or library in LIBRARIES


def as_values(values: Any) -> Any:
    """Return a checked matrix of scores; an array stored in chunks is not read."""
    if OPTIONS["memory_limit"] is not None and is_map_of_file(values):
        # The pages of a map count as memory, which reading by rows does not keep.
        by_columns = not values.flags.c_contiguous
        place = values.filename, values.shape, values.dtype, values.offset, by_columns
        values = StoredRows(NpyMatrix(*place))
    stored = is_stored(values)
    base = values if stored or row_source(values) else as_array(values, "the scores")
    if np.dtype(base.dtype).kind not in "biuf":
        if isinstance(base, np.ndarray):
            raise wrong_dtype("the scores", base)
        raise DataError(f"the scores have dtype {base.dtype}; expected an integer or float dtype")
    if len(base.shape) != 2:
        raise DataError(
            f"the scores have shape {tuple(base.shape)}; expected two dimensions, (probes, "
            "gallery). For a list of pairs use Scores.from_pairs"
        )
    if 0 in base.shape:
        empty = "there are no probes" if base.shape[1] else "the gallery is empty"
        raise DataError(f"{empty}: the scores have shape {tuple(base.shape)}")
    return base if not stored or row_source(base) else StoredRows(base)


def is_map_of_file(values: Any) -> bool:
    """Whether a matrix is a read-only memory map, and no view or copy of one."""
    return (
        type(values) is np.memmap
        and values.ndim == 2
        and values.mode == "r"
        and values.filename is not None
        and isinstance(values.base, mmap.mmap)
    )


def doubt_of_square(values: np.ndarray, similarity: bool) -> str:
    """Return the code of the message on a matrix that seems not to be of all against all, or "".

    ``"half-matrix"``: one triangle holds a single value, such as 0, and the other triangle scores.
    ``"not-all-against-all"``: the matrix is not symmetric, and less than nine tenths of the
    templates are nearest to themselves, in their row and in their column, or, of distances, nearer
    to themselves than a twentieth of the usual distance. A diagonal of a single value, which may
    have been filled in, and what is not finite on it are not judged.
    """
    values = values[:_JUDGED_ROWS, :_JUDGED_ROWS]
    if len(values) < 3:
        return ""
    if _is_half(values) or _is_half(values.T):
        return "half-matrix"
    diagonal = values.diagonal()
    is_finite = np.isfinite(diagonal)
    own = diagonal[is_finite].astype(np.float64)
    if not len(own) or len(np.unique(own)) == 1:
        return ""
    with np.errstate(over="ignore", invalid="ignore"):  # also for NaN of damaged files
        floats = values.astype(np.float64)
        np.fill_diagonal(floats, 0.0)
        largest = np.abs(floats[np.isfinite(floats)]).max(initial=0.0)
        if np.allclose(floats, floats.T, rtol=0.0, atol=1e-5 * largest, equal_nan=True):
            return ""
    nearest = np.fmax.reduce if similarity else np.fmin.reduce
    shares = [(diagonal == nearest(values, axis=axis))[is_finite].mean() for axis in (0, 1)]
    if not similarity and own.min() >= 0:
        usual = np.nanmedian(values)
        shares.append((own <= _NEAR * usual).mean())
    return "not-all-against-all" if min(shares) < _NEARLY_ALL else ""


def _is_half(values: np.ndarray) -> bool:
    """Whether the lower triangle holds a single value, and the upper triangle does not."""
    value = values[-1, 0]
    if len(values) < 4 or not np.isfinite(value) or (values[-1, :-1] != value).any():
        return False
    if (values[0, 1:] == value).all():
        return False
    return bool((values[np.tril_indices(len(values), -1)] == value).all())


def as_index(index: Any, length: int, input_name: str) -> np.ndarray:
    """Return indices, a boolean choice or a slice as int64 indices from 0."""
    if isinstance(index, slice):
        index = np.arange(length)[index]
    array = require_array(input_name, index)
    if array.dtype == bool:
        if array.shape != (length,):
            raise DataError(
                f"{input_name} is a boolean choice of shape {array.shape}; expected ({length},)"
            )
        array = np.nonzero(array)[0]
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise DataError(
            f"{input_name} has shape {array.shape} and dtype {array.dtype}; expected a list of "
            "indices"
        )
    if array.size == 0:
        raise DataError(f"{input_name} is empty; expected at least one index")
    if array.min() < -length or array.max() >= length:
        wrong = (array < -length) | (array >= length)
        raise DataError(
            f"{input_name} has {counted(int(wrong.sum()), 'values')} outside 0..{length - 1}, the "
            f"first is {int(array[np.argmax(wrong)])}"
        )
    return array.astype(np.int64) % length


def named_choice(chosen: Any) -> tuple[Any, ...] | None:
    """Return the probes and gallery, or the test part, of a mapping or a named tuple; else None."""
    if not isinstance(chosen, Mapping) and not hasattr(chosen, "_asdict"):
        return None
    parts = chosen if isinstance(chosen, Mapping) else chosen._asdict()
    if "probes" in parts and "gallery" in parts:
        return parts["probes"], parts["gallery"]
    if "test" in parts:
        return (parts["test"],)
    raise DataError(
        f"{type(chosen).__name__} names {', '.join(map(str, parts)) or 'nothing'}; expected "
        "probes and gallery, or train and test, as in bioeval.partition.ProbesGallery and TrainTest"
    )


def read_block(
    base: Any, rows: np.ndarray | None, low: int, high: int, columns: np.ndarray | None
) -> np.ndarray:
    """Return rows ``low:high`` of a selection of an array, a stored array or embeddings."""
    if rows is None:
        block = np.asarray(base[low:high])
    elif isinstance(base, np.ndarray):
        # Few columns are picked cell by cell; many columns are faster as whole rows.
        if columns is not None and 2 * len(columns) < base.shape[1]:
            return base[np.ix_(rows[low:high], columns)]
        block = base[rows[low:high]]
    else:
        # Each computed or stored row is read once.
        distinct_rows, place = np.unique(rows[low:high], return_inverse=True)
        block = np.asarray(base[distinct_rows])[place.reshape(-1)]
    if columns is None:
        return block
    return np.take(block, columns, axis=1)


def row_spans(count: int, width: int, cells: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Yield the ends ``low, high`` of consecutive rows, which have at most `cells` together.

    There are `count` rows of `width` cells; a row with more cells is alone.
    """
    step = max(1, cells // max(width, 1))
    for low in range(0, count, step):
        yield low, min(low + step, count)


def writable_alias(array: np.ndarray) -> np.ndarray:
    """Return an array over the same memory that numba takes for writable.

    For read-only arrays, such as memory maps, numba would compile every kernel once more. Kernels
    write to none of them.
    """
    if array.flags.writeable:
        return array.view(np.ndarray)
    memory = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    vars(memory)["owner"] = array  # lives as long as the alias
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)


# ---------------------------------------------------------------------------- rows of other sources


class RowSource(Enum):
    """The kinds of matrices that are no arrays, by the source of their rows."""

    EMBEDDINGS = auto()  # computed each time
    LAZY_MATRIX = auto()  # made of embeddings when rows are first read
    CONTAINER = auto()  # read from a file in chunks


def row_source(values: Any) -> RowSource | None:
    """Return the source of the rows of a matrix; None for an array."""
    return getattr(values, "row_source", None)


class StoredRows:
    """A matrix of a zarr or HDF5 container or of a .npy file, read by rows like an array.

    Whole chunks are read, and the rows that were read last are kept, so that a pass over all rows
    inflates each chunk once. A file that changes after the matrix was opened is an error. The array
    has ``shape``, ``dtype``, perhaps ``chunks``, and is read by slices of rows.
    """

    ndim = 2
    row_source = RowSource.CONTAINER

    def __init__(self, array: Any, input_name: str = "", columns: tuple[int, int] | None = None):
        """Take an array, or its consecutive `columns`, from the first to before the second."""
        self.array = array
        self.input_name = input_name or _described(array)
        self.columns = columns or (0, int(array.shape[1]))
        self.shape = (int(array.shape[0]), self.columns[1] - self.columns[0])
        self.dtype = np.dtype(array.dtype)
        # The rows and columns of a chunk.
        chunks: tuple[int, int] = getattr(array, "chunks", None) or (1, self.shape[1])
        self.chunk_rows, self.chunk_columns = chunks
        self.file = _file_of(array)
        self._lock = Lock()
        # The rows that were read last, and the number of the first of them.
        self._kept: tuple[int, np.ndarray] = (0, np.empty((0, self.shape[1]), self.dtype))

    def __getstate__(self) -> dict[str, Any]:
        array = self.array
        if _library(array) == "h5py":
            file = array.file.filename  # other drivers have names that are no paths
            array = os.path.abspath(file) if os.path.exists(file) else file, array.name
        state = None if self.file is None else self.file.state
        arguments = array, self.input_name, self.columns
        return {"arguments": arguments, "state": state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array, *further_arguments = state["arguments"]
        if isinstance(array, tuple):  # the file and the name of a dataset
            import h5py

            array = h5py.File(array[0], "r")[array[1]]
        self.__init__(array, *further_arguments)  # type: ignore[misc]
        if self.file is not None and state["state"] is not None:
            self.file.require_unchanged(state["state"])

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            low, high, _ = rows.indices(self.shape[0])
            return self._rows(low, max(low, high))
        index = np.arange(self.shape[0])[rows]
        if not index.size:
            return self._rows(0, 0)
        distinct_rows, place = np.unique(index, return_inverse=True)
        # A run of rows is read at once: rows in the same chunk or, without chunks, adjacent rows.
        chunk = (
            distinct_rows // self.chunk_rows
            if self.chunk_rows > 1
            else distinct_rows - np.arange(len(distinct_rows))
        )
        runs = np.split(distinct_rows, np.flatnonzero(np.diff(chunk)) + 1)
        parts = [
            self._rows(int(run[0]), int(run[-1]) + 1)[run - run[0]] for run in runs if len(run)
        ]
        return np.concatenate(parts)[place.reshape(index.shape)]

    def of_columns(self, low: int, high: int) -> StoredRows:
        """Return columns ``low:high``, reading only their chunks."""
        first = self.columns[0]
        part = StoredRows(self.array, self.input_name, (first + low, first + high))
        part.file = self.file
        return part

    def _rows(self, low: int, high: int) -> np.ndarray:
        with self._lock:
            first, kept = self._kept
            end = first + len(kept)
            if not (first <= low and high <= end):
                # To the end of the chunk of the last row, but no row that is kept already.
                stop = min(-(-high // self.chunk_rows) * self.chunk_rows, self.shape[0])
                if first <= low < end:
                    kept = np.concatenate([kept[low - first :], self._read(end, stop)])
                    first = low
                else:
                    first = low - low % self.chunk_rows
                    kept = self._read(first, stop)
                # The whole matrix is not kept twice: the caller has it.
                is_whole = high - low == self.shape[0]
                self._kept = (0, kept[:0]) if is_whole else (first, kept)
            return kept[low - first : high - first]

    def _read(self, low: int, high: int) -> np.ndarray:
        try:
            rows = np.asarray(self.array[low:high, slice(*self.columns)])
        except (BioevalError, MemoryError):
            raise
        except Exception as error:  # libraries raise errors of any class on damaged bytes
            if self.file is not None:
                self.file.require_unchanged()
            raise self._blamed(error, low, high) from error
        # HDF5 reads zeros behind the end of a file.
        if self.file is not None:
            self.file.require_unchanged()
        return rows

    def _blamed(self, error: Exception, low: int, high: int) -> DataError:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        place = low, high, *self.columns
        for first_row, end_row in _spans(low, high, self.chunk_rows):
            for first_column, end_column in _spans(*self.columns, self.chunk_columns):
                try:
                    self.array[first_row:end_row, first_column:end_column]
                except Exception:
                    place = first_row, end_row, first_column, end_column
                    break
        first_row, end_row, first_column, end_column = place
        return DataError(
            f"{self.input_name}: rows {first_row}..{end_row - 1}, columns "
            f"{first_column}..{end_column - 1} cannot be read ({reason}); write the scores again"
        )


def _spans(low: int, high: int, size: int) -> list[tuple[int, int]]:
    return [*pairwise([*range(low, high, size), high])]


# A chunk of a .npy file in the order of columns takes at most this number of bytes.
_CHUNK = 16 << 20


class NpyMatrix:
    """A matrix in a .npy file, whose rows are read when they are needed.

    Reading fails where the file has become shorter; a memory map would end the process.

    - `start` (int): the number of bytes before the values
    - `by_columns` (bool): whether columns are stored one after the other (Fortran's order)
    """

    def __init__(
        self,
        path: str | Path,
        shape: tuple[int, int],
        dtype: np.dtype,
        start: int,
        by_columns: bool,
    ):
        self.path = os.path.abspath(path)
        self.shape = shape
        self.dtype = dtype
        self.start = start
        self.by_columns = by_columns
        self.chunks = (1, shape[1])
        if by_columns:  # each column is a piece of the file
            self.chunks = (max(1, _CHUNK // (shape[1] * dtype.itemsize)), shape[1])
        self._lock = Lock()
        self.number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self.number)

    def __reduce__(self) -> tuple[Any, ...]:
        return NpyMatrix, (self.path, self.shape, self.dtype, self.start, self.by_columns)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        first_row, end_row, _ = rows.indices(self.shape[0])
        first, end, _ = columns.indices(self.shape[1])
        if not self.by_columns:
            return self._lines(first_row, end_row, first, end, self.shape[1])
        return self._lines(first, end, first_row, end_row, self.shape[0]).T

    def _lines(self, low: int, high: int, first: int, end: int, width: int) -> np.ndarray:
        """Return values ``first:end`` of stored lines ``low:high``, which have `width` values."""
        lines = np.empty((max(high - low, 0), max(end - first, 0)), self.dtype)
        pieces = [lines] if lines.shape[1] == width else [*lines]  # whole lines are one piece
        with self._lock, io.FileIO(self.number, closefd=False) as file:
            for number, piece in enumerate(pieces):
                file.seek(self.start + ((low + number) * width + first) * self.dtype.itemsize)
                read_exactly(file, piece)
        return lines


def read_exactly(file: Any, array: np.ndarray) -> None:
    """Fill an array in C order from a file; raise where the file ends before."""
    if not array.nbytes:
        return
    view = memoryview(array.reshape(-1).view(np.uint8))
    while len(view):
        count = file.readinto(view)
        if not count:
            raise EOFError(f"it ends at byte {file.tell():,}, within the values")
        view = view[count:]


def npy_values(file: Any, shape: tuple[int, ...], dtype: np.dtype, by_columns: bool) -> np.ndarray:
    """Read all values of a .npy file, which is opened at the first of them."""
    values = np.empty(math.prod(shape), dtype)
    read_exactly(file, values)
    return values.reshape(shape, order="F" if by_columns else "C")


def _file_of(array: Any) -> WatchedFile | None:
    """Return the file of an array that must not change; None if the process may write to it."""
    if isinstance(array, NpyMatrix):
        return WatchedFile(array.path, array.number)
    if _library(array) != "h5py" or array.file.mode != "r" or array.file.swmr_mode:
        return None
    if array.file.driver != "sec2":  # other drivers have no number of one open file
        return None
    return WatchedFile(array.file.filename, array.file.id.get_vfd_handle())


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _described(array: Any) -> str:
    if _library(array) == "h5py":
        return f"{array.file.filename}: {array.name.lstrip('/')!r}"
    if _library(array) == "zarr":
        return str(array.store_path)
    if isinstance(array, NpyMatrix):
        return array.path
    return f"the {_library(array)} array of scores"


# ------------------------------------------------------------------------------------------ digests


# Values that enter a digest together.
_VALUES_AT_ONCE = 1 << 20


def digest_of_values(arrays: Iterable[np.ndarray]) -> str:
    """Return a short digest of scores, independent of byte order and of the bits of NaN."""
    import xxhash

    hashed = xxhash.xxh3_64()
    for array in arrays:
        flat = array.reshape(-1)
        for low in range(0, len(flat), _VALUES_AT_ONCE):
            piece = flat[low : low + _VALUES_AT_ONCE]
            copied = piece.astype(piece.dtype.newbyteorder("<"))
            if copied.dtype.kind == "f":
                copied[np.isnan(copied)] = np.nan
            hashed.update(copied)
    return hashed.hexdigest()


def digest(*arrays: np.ndarray) -> str:
    """Return a short digest of label arrays, independent of platform and dtype width."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{len(array)}\n".encode())
        if array.dtype.kind in "iu":
            sha.update(b"i")
            for low in range(0, len(array), _VALUES_AT_ONCE):
                sha.update(array[low : low + _VALUES_AT_ONCE].astype("<i8").tobytes())
        else:
            sha.update("\0".join(map(repr, array.tolist())).encode("utf-8", "backslashreplace"))
    return sha.hexdigest()[:16]
