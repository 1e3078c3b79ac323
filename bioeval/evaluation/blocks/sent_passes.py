"""A pass as it is sent to a cluster, and what a worker does with it.

Large arrays are sent once, any other matrix by its rows, and of arrays in files the path alone:
workers read them, if they find the same file in the same place.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import sys
import threading
import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np

from bioeval.base.errors import BioevalError
from bioeval.base.executors import Pass, counts_here
from bioeval.base.progress import shown_by
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import StoredRows
from bioeval.tallies.parts import RowRangeCounts, merged_parts

# The metadata of a store of zarr, in version 3 and 2.
_METADATA = ("zarr.json", ".zarray")


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
    elif kind == "zarr" and hasattr(getattr(array, "store", None), "root"):
        where = array.store, array.path
    try:
        how = values.input_name if stored else None
        return where and (kind, how, _stamp(*where[:2]), *where)
    except FileMissingOnWorker:  # removed meanwhile
        return None


def opened(kind: str, how: str | None, stamp: Any, *where: Any) -> Any:
    """Return an array that :func:`place_in_file` has found.

    Raise :class:`FileMissingOnWorker` if the file is not there, or another one.
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
    if how is None:
        return array
    return StoredRows(array, how)


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
    """Return the size and time of a file, to see whether it was replaced.

    Of a zarr array they are those of its metadata.
    """
    try:
        if isinstance(place, str):
            status = os.stat(place)
        else:
            names = [os.path.join(place.root, inner, name) for name in _METADATA]
            status = os.stat(next(filter(os.path.isfile, names), names[0]))
    except Exception as error:  # stores raise errors of any class
        raise FileMissingOnWorker(str(place)) from error
    return status.st_size, status.st_mtime_ns


# Bytes of an array that is sent by itself, once for all passes.
LARGE = 1 << 20

#: Rows of the matrices of a pass, by name: their numbers, and their values.
Rows = dict[str, tuple[np.ndarray, np.ndarray]]


@dataclass
class Packed:
    """A pass as bytes, without its large arrays (by digest) and the matrices that are sent by rows.

    Of each matrix these are the scores that read it.
    """

    token: str
    data: bytes
    arrays: dict[str, np.ndarray]
    matrices: dict[str, tuple[Any, list[Scores]]]


def pack(row_pass: Pass, by_path: bool = True) -> Packed:
    """Return a pass as it is sent; `by_path`: workers read files of scores themselves."""
    import cloudpickle  # type: ignore[import-untyped]

    from bioeval.evaluation.blocks.checkpoint import digest_of

    matrices = _matrices(row_pass, by_path)
    names = {id(values): name for name, (values, _) in matrices.items()}
    arrays = {}

    class Pickler(cloudpickle.Pickler):
        def persistent_id(self, value: Any) -> Any:
            """Return what stands for rows and large arrays; None for what is pickled."""
            if isinstance(value, (str, int)):  # most of what there is
                return None
            if (name := names.get(id(value))) is not None:
                return "rows", name, tuple(value.shape), np.dtype(value.dtype).str
            if by_path and (where := place_in_file(value)) is not None:
                return where
            if type(value) is np.ndarray and value.nbytes >= LARGE and not value.dtype.hasobject:
                digest = digest_of(value)
                arrays[digest] = value
                return "array", list(arrays).index(digest)
            return None

    file = io.BytesIO()
    Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(row_pass)
    return Packed(uuid.uuid4().hex, file.getvalue(), arrays, matrices)


def _matrices(row_pass: Pass, by_path: bool) -> dict[str, tuple[Any, list[Scores]]]:
    """Return the matrices that are sent by rows, each once, and the scores that read them."""
    matrices: dict[int, tuple[str, Any, list[Scores]]] = {}
    read = (row_pass.scores, *row_pass.also_read) if row_pass.reads_rows else ()
    for k, scores in enumerate(read):
        for name, values in (("values", scores._base), ("mask", scores._mask)):
            computed = isinstance(values, EmbeddingSource) or not hasattr(values, "dtype")
            if values is not None and not (computed or by_path and place_in_file(values)):
                matrices.setdefault(id(values), (f"{name} {k}", values, []))[2].append(scores)
    return {name: (values, readers) for name, values, readers in matrices.values()}


def sent_rows(packed: Packed, low: int, high: int) -> Rows:
    """Return rows ``low:high`` of the matrices that are sent by rows."""
    rows = {}
    for name, (values, readers) in packed.matrices.items():
        numbers = np.unique(np.concatenate([x._base_rows(np.arange(low, high)) for x in readers]))
        some: Any = numbers
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            some = slice(int(numbers[0]), int(numbers[-1]) + 1)
        rows[name] = numbers, np.ascontiguousarray(values[some])
    return rows


class RowsElsewhere(Exception):  # noqa: N818 (no error: who counts reads these rows where they are)
    """Error: rows are read that were not sent."""


@dataclass
class RowsHere:
    """A matrix of which only the rows `numbers` (increasing) are present."""

    shape: tuple[int, ...]
    dtype: np.dtype
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    ndim = 2

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return rows by their numbers in the whole; some that are elsewhere raise."""
        if isinstance(rows, slice):
            low, high, step = rows.indices(self.shape[0])
            places = np.searchsorted(self.numbers, [low, high])
            if step != 1 or places[1] - places[0] != high - low:
                raise RowsElsewhere
            return self.values[slice(*places)]
        wanted = np.asarray(rows)
        place = np.searchsorted(self.numbers, wanted)
        if (place >= len(self.numbers)).any() or (self.numbers[place] != wanted).any():
            raise RowsElsewhere
        return self.values[place]


# -- on a worker

# Kernels run their own threads, and two kernels at a time would disturb each other.
_ALONE = threading.Lock()

# The pass that was unpacked last, by its token.
_unpacked: dict[str, tuple[Pass, dict[str, RowsHere]]] = {}


def returned(data: Any) -> Any:
    """Return the argument; as the result of a task, dask computes it again if it is lost."""
    return data


def unpack(data: bytes, arrays: Sequence[np.ndarray]) -> tuple[Pass, dict[str, RowsHere]]:
    """Return the pass, and the matrices whose rows are sent separately."""
    matrices: dict[str, RowsHere] = {}
    # An array lies in its message at any byte, and a product would copy it for each block.
    aligned = [np.require(array, requirements="A") for array in arrays]

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, reference: Any) -> Any:
            kind, *rest = reference
            if kind == "array":
                return aligned[rest[0]]
            if kind == "rows":
                name, shape, dtype = rest
                return matrices.setdefault(name, RowsHere(shape, np.dtype(dtype)))
            return opened(kind, *rest)

    # From the process that started the pass, through the cluster: never from a file.
    return Unpickler(io.BytesIO(data)).load(), matrices


def count_rows(
    sent: tuple[str, bytes], arrays: Sequence[np.ndarray], low: int, high: int, rows: Rows
) -> RowRangeCounts | Exception:
    """Return the counts of rows ``low:high``, or an error that would occur again."""
    from distributed import get_worker

    token, data = sent
    worker = get_worker()
    # One of several workers writes the line about compilation, and none into a terminal: names are
    # numbers in a cluster that was started on this machine.
    quiet = isinstance(worker.name, int) and worker.name > 0
    quiet = quiet or sys.stderr is None or sys.stderr.isatty()
    most = int(getattr(numba.config, "NUMBA_NUM_THREADS"))  # noqa: B009 (set when it is loaded)
    with _ALONE, shown_by(lambda *_: None) if quiet else nullcontext():
        before = numba.get_num_threads()
        matrices: dict[str, RowsHere] = {}
        try:
            if token not in _unpacked:
                _unpacked.clear()
                _unpacked[token] = unpack(data, arrays)
            counted, matrices = _unpacked[token]
            for name, (numbers, values) in rows.items():
                matrices[name].numbers, matrices[name].values = numbers, values
            numba.set_num_threads(min(int(worker.state.nthreads), most))
            return RowRangeCounts(((low, high),), counts_here(counted, low, high))
        except (BioevalError, FileMissingOnWorker, RowsElsewhere) as error:
            return error
        finally:
            numba.set_num_threads(before)
            for matrix in matrices.values():
                matrix.numbers, matrix.values = matrix.numbers[:0], matrix.values[:0]


def merge_counts(parts: Sequence[RowRangeCounts | Exception]) -> RowRangeCounts | Exception:
    """Return the counts of some blocks, in the order of their rows, or the error of one."""
    wrong = [part for part in parts if isinstance(part, Exception)]
    if wrong:
        return wrong[0]
    return merged_parts([x for x in parts if isinstance(x, RowRangeCounts)])
