"""Matrices of scores: checks, indices, digests, and cells that are read in blocks of rows.

The values stay as they are (never copied, never converted), in memory, in chunks of a file, or
computed from embeddings. A mask says which cells are attempts and, without labels, which attempts
are genuine.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import math
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import as_numpy, joined, require_array
from bioeval.base.errors import BioevalError, DataError, counted, cut
from bioeval.base.files import WatchedFile
from bioeval.base.kinds import Kind
from bioeval.base.options import OPTIONS

if TYPE_CHECKING:
    from bioeval.scores.codes import Codes
    from bioeval.scores.embeddings import EmbeddingSource

#: Libraries whose arrays are read in blocks of rows.
LIBRARIES = ("zarr", "h5py")

# The first rows and columns of a square matrix, by which it is judged.
_JUDGED_ROWS = 1000
# Rows, spread over the matrix, whose scores enter a fingerprint.
_ROWS_OF_DIGEST = 16

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
    return row_source(values) == "container" or library in LIBRARIES


def as_values(values: Any) -> Any:
    """Return a checked matrix of scores; an array stored in chunks is not read."""
    if OPTIONS["memory_limit"] is not None:
        # The pages of a map count as memory, which reading by rows does not keep.
        values = _rows_of_map(values)
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


def _rows_of_map(values: Any) -> Any:
    """Return a read-only memory map as rows of its file, and any other values as they are.

    So are a view or a copy of a map, and a map of a file that is another one by now.
    """
    is_map = type(values) is np.memmap and isinstance(values.base, mmap.mmap)
    if not is_map or values.ndim != 2 or not values.size or values.mode != "r":
        return values
    by_columns = not values.flags.c_contiguous
    lines = values.T if by_columns else values  # as they are stored
    chosen = np.unique(np.linspace(0, len(lines) - 1, _ROWS_OF_DIGEST).astype(np.int64)).tolist()
    try:
        path = str(values.filename)
        matrix = NpyMatrix(path, values.shape, values.dtype, values.offset, by_columns)
        is_file = all(matrix.line(i).tobytes() == lines[i].tobytes() for i in chosen)
    except (OSError, EOFError):  # it was removed, or replaced by a shorter one; or it has no name
        return values
    return StoredRows(matrix) if is_file else values


def doubt_of_square(values: Any, similarity: bool) -> str:
    """Return the code of the message on a matrix that seems not to be of all against all, or "".

    ``"half-matrix"``: one triangle holds a single value, such as 0, and the other triangle scores.
    ``"not-all-against-all"``: the matrix is not symmetric, and less than nine tenths of the
    templates are nearest to themselves, in their row and in their column, or, of distances, nearer
    to themselves than a twentieth of the usual distance. A diagonal of a single value, which may
    have been filled in, and what is not finite on it are not judged.
    """
    size = min(_JUDGED_ROWS, values.shape[0])
    if size < 3:
        return ""
    if is_stored(values):  # its rows are read whole
        spans = row_spans(size, values.shape[1])
        values = np.concatenate([values[low:high][:, :size] for low, high in spans])
    values = values[:size, :size]
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


def row_source(values: Any) -> str:
    """Return where rows of a matrix come from: "embeddings" or a "container"; "" for an array."""
    return getattr(values, "row_source", "")


class StoredRows:
    """A matrix of a zarr or HDF5 container or of a .npy file, read by rows like an array.

    Whole chunks are read, and the rows that were read last are kept, so that a pass over all rows
    inflates each chunk once. A file that changes after the matrix was opened is an error. The array
    has ``shape``, ``dtype``, perhaps ``chunks``, and is read by slices of rows.
    """

    ndim = 2
    row_source = "container"

    def __init__(self, array: Any, input_name: str = ""):
        self.array = array
        self.input_name = input_name or _described(array)
        self.shape = (int(array.shape[0]), int(array.shape[1]))
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
        return {"arguments": (array, self.input_name), "state": state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array, input_name = state["arguments"]
        if isinstance(array, tuple):  # the file and the name of a dataset
            import h5py

            array = h5py.File(array[0], "r")[array[1]]
        self.__init__(array, input_name)  # type: ignore[misc]
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
            rows = np.asarray(self.array[low:high])
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
        place = low, high, 0, self.shape[1]
        for first_row, end_row in _spans(low, high, self.chunk_rows):
            for first_column, end_column in _spans(0, self.shape[1], self.chunk_columns):
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

    def line(self, number: int) -> np.ndarray:
        """Return a row, or a column if columns are stored one after the other."""
        width = self.shape[not self.by_columns]
        return self._lines(number, number + 1, 0, width, width)[0]

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


# ------------------------------------------------------------------------------------------- cells


@dataclass(eq=False)
class Cells:
    """The cells of a matrix, which are read by rows like an array: the source of most scores.

    - `is_stored`: whether the values are in a container, whose chunks of `row_chunk` rows are
      decompressed when rows are read
    - `streams`: whether each reading of rows computes them from embeddings
    - `in_memory`: whether the values are an array, or a lazy matrix of embeddings
    """

    source: Any  # array, container, embeddings, or lazy matrix of embeddings
    #: Values of :class:`Mask` in the shape of the source; None: all are attempts. The mask of a
    #: protocol is read by rows, and has `scores_mask`, the mask of the scores themselves, and
    #: `removed`, which cells the protocol leaves out.
    mask: Any = None
    rows: np.ndarray | None = None  # int64: the selected rows of the source; None: all
    columns: np.ndarray | None = None

    ndim = 2

    def __post_init__(self) -> None:
        row_count, column_count = self.source.shape
        rows_from = row_source(self.source)
        self.shape = (
            row_count if self.rows is None else len(self.rows),
            column_count if self.columns is None else len(self.columns),
        )
        self.dtype = np.dtype(self.source.dtype)
        self._is_lazy = rows_from == "embeddings" and self.source.keeps
        self.streams = rows_from == "embeddings" and not self._is_lazy
        self.is_stored = rows_from == "container"
        self.row_chunk = self.source.chunk_rows if self.is_stored and self.rows is None else 1
        self.in_memory = isinstance(self.source, np.ndarray) or self._is_lazy

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle source, mask and selection; a lazy matrix that is made, as an array."""
        is_made = self._is_lazy and self.embeddings is None
        return Cells, (self.base if is_made else self.source, self.mask, self.rows, self.columns)

    @property
    def base(self) -> Any:
        """The source of the values; a lazy matrix is made now, and kept."""
        return self.source.made() if self._is_lazy else self.source

    @property
    def embeddings(self) -> EmbeddingSource | None:
        """The embeddings from which values are computed; None if the values are in memory."""
        is_computed = self.streams or (self._is_lazy and self.source.kept is None)
        return self.source if is_computed else None

    def require_kind(self, kind: Kind) -> None:
        """Raise :class:`DataError` if the metric of embeddings gives scores of another kind."""
        if self.streams:
            self.source.require_kind(kind)

    def read(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        """Return the values of rows ``low:high``, with the columns in `order`."""
        return read_block(self.base, self.rows, low, high, composed(self.columns, order))

    def read_mask(self, low: int, high: int, order: np.ndarray | None = None) -> np.ndarray:
        return read_block(self.mask, self.rows, low, high, composed(self.columns, order))

    def __getitem__(self, rows: Any) -> np.ndarray:
        if isinstance(rows, slice) and rows.step in (None, 1):
            return self.read(*rows.indices(self.shape[0])[:2])
        index = composed(self.rows, np.arange(self.shape[0])[rows])
        return read_block(self.base, index, 0, len(index), self.columns)

    def values(self) -> np.ndarray:
        """Return the values as an array; of a selection, a copy of the selected cells."""
        if self.rows is None and self.columns is None:
            return self.base if self.in_memory else np.asarray(self.base[:])
        return self.read(0, self.shape[0])

    def read_cells(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        i = composed(self.rows, rows)
        j = composed(self.columns, columns)
        if self.in_memory:
            return self.base[i, j]
        cells = np.empty(len(i), dtype=self.dtype)
        order = np.argsort(i, kind="stable")
        starts = np.flatnonzero(np.diff(i[order], prepend=-1))
        for places in np.split(order, starts[1:]) if len(order) else ():
            cells[places] = np.asarray(self.base[i[places[0]] : i[places[0]] + 1])[0, j[places]]
        return cells

    def is_ignored(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return which of the cells ``(rows, columns)`` the mask ignores; it must be an array."""
        if self.mask is None:
            return np.zeros(len(rows), dtype=bool)
        return self.mask[composed(self.rows, rows), composed(self.columns, columns)] == Mask.IGNORE

    def digest(self, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> str:
        """Return a digest of the values of some rows, which are spread over the matrix.

        Each row has the scores of all gallery templates, so that another template changes it. Masks
        do not count, since the protocol decides what is left out.
        """
        row_count = self.shape[0]
        if not row_count:
            return digest_of_values([])
        rows = np.unique(np.linspace(0, row_count - 1, _ROWS_OF_DIGEST).astype(np.int64))
        if (source := self.embeddings) is not None:  # reading a row would compute a whole tile
            values = source.of_rows(composed(self.rows, rows))
            values = values if self.columns is None else values[:, self.columns]
        elif self.in_memory:
            values = read_block(self.base, composed(self.rows, rows), 0, len(rows), self.columns)
        else:
            values = np.stack([self.read(row, row + 1)[0] for row in rows.tolist()])
        is_itself = probe_ids[rows][:, None] == gallery_ids
        return digest_of_values([np.where(is_itself, values.dtype.type(0), values)])

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Cells:
        selected_rows = composed(self.rows, rows)
        return Cells(self.source, self.mask, selected_rows, composed(self.columns, columns))

    def masked(self, mask: Any) -> Cells:
        """Return the same values with a mask, perhaps an object that is read by rows."""
        selected = self.rows is not None or self.columns is not None
        return Cells(self if selected else self.source, mask)

    def missing(self, low: int, high: int, failures: bool) -> np.ndarray:
        """Return which cells of rows ``low:high`` are masked or, with `failures`, failed.

        Cells that are left out by the mask of a protocol alone are not missing.
        """
        missing = np.zeros((high - low, self.shape[1]), dtype=bool)
        mask = getattr(self.mask, "scores_mask", self.mask)
        if mask is not None:
            missing |= read_block(mask, self.rows, low, high, self.columns) == Mask.IGNORE
        if not failures:
            return missing
        source = self.embeddings
        failed = None if source is None else source.failed
        if failed is not None:
            probe = failed[0][composed(self.rows, np.arange(low, high))]
            gallery = failed[1] if self.columns is None else failed[1][self.columns]
            return missing | probe[:, None] | gallery
        return missing | np.isnan(self.read(low, high))

    def removed(self, rows: np.ndarray) -> np.ndarray:
        """Return which cells of some rows the mask of a protocol leaves out."""
        if not hasattr(self.mask, "removed"):
            return np.zeros((len(rows), self.shape[1]), dtype=bool)
        cells = self.mask.removed(composed(self.rows, rows))
        return cells if self.columns is None else cells[:, self.columns]


def composed(selection: np.ndarray | None, index: Any) -> Any:
    """Return ``selection[index]``, where None selects everything."""
    if selection is None:
        return index
    return selection if index is None else selection[index]


# -------------------------------------------------------------------------------------------- masks


class Mask:
    """Values of a mask."""

    IGNORE, IMPOSTOR, GENUINE = 0, 1, 2


def as_mask(mask: Any, shape: tuple[int, int], codes: Codes | None) -> np.ndarray:
    """Return a checked mask as uint8; in a boolean mask, `codes` decide which are genuine."""
    array = require_array("mask", joined(mask, "mask", 2))
    if array.shape != shape:
        hint = ": is it transposed? Give mask.T" if array.shape == shape[::-1] else ""
        raise DataError(f"mask has shape {array.shape}; expected {shape}, as the scores{hint}")
    if array.dtype == bool:
        attempts = array
        if codes is None:
            raise DataError(
                "mask is boolean, which says where attempts are and not which are genuine; give "
                "labels, or integers 0 (ignore), 1 (impostor) and 2 (genuine)"
            )
        if not attempts.any():
            raise DataError("mask is False everywhere; expected True where there is an attempt")
        array = np.zeros(shape, np.uint8)
        for row, is_attempt in enumerate(attempts):
            genuine = codes.gallery[is_attempt] == codes.probe[row]
            array[row, is_attempt] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    if array.dtype.kind not in "iu":
        raise DataError(
            f"mask has dtype {array.dtype}; expected booleans (True: an attempt), or integers 0 "
            "(ignore), 1 (impostor) and 2 (genuine)"
        )
    if array.min() < 0 or array.max() > 2:
        wrong = (array < 0) | (array > 2)
        place = np.unravel_index(int(np.argmax(wrong)), shape)
        raise DataError(
            f"mask has {counted(wrong.sum(), 'values')} other than 0 (ignore), 1 (impostor) and 2 "
            f"(genuine), the first is {array[place]} at row {place[0]}, column {place[1]}"
        )
    return array.astype(np.uint8, copy=False)


def subjects_of_mask(mask: np.ndarray, square: bool) -> tuple[tuple[np.ndarray, np.ndarray], bool]:
    """Return subjects of the probes and of the gallery, and whether they are consistent.

    Templates that genuine cells connect have one subject; the subjects are inconsistent if two of
    its templates meet in an impostor cell. In a square matrix, row ``i`` and column ``i`` are the
    same template.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_count, column_count = mask.shape
    i, j = np.nonzero(mask == Mask.GENUINE)
    if square:
        i = np.append(i, np.arange(row_count))
        j = np.append(j, np.arange(row_count))
    graph = coo_matrix(
        (np.ones(len(i), dtype=np.int8), (i, row_count + j)),
        shape=(row_count + column_count, row_count + column_count),
    )
    _, subject = connected_components(graph, directed=False)
    gallery = subject[row_count:].astype(np.int64)
    probe = subject[:row_count].astype(np.int64) if not square else gallery
    is_consistent = not any(
        (mask[row, gallery == probe[row]] == Mask.IMPOSTOR).any() for row in range(row_count)
    )
    return (probe, gallery), is_consistent
