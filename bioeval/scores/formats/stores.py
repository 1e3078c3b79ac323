"""Stores of named arrays: HDF5 (also netCDF 4), zarr and safetensors.

They hold what a .npz file does, under the same names; words such as ``kind`` may be attributes. A
matrix stays in the store, and its rows are read as they are counted.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.json_text import parse_json
from bioeval.base.memory import require_memory
from bioeval.base.narrow_floats import float32_of
from bioeval.scores.chunks import read_whole, require_chunks, settled, without_noise
from bioeval.scores.formats.archive import Arrays, Header, require_text
from bioeval.scores.formats.files import (
    HDF5,
    NETCDF,
    check_target,
    content,
    discard,
    guarded,
    is_zarr,
    library,
    naming_writes,
    optional,
    part_of,
    put_in_place,
    replacing,
    text_array,
    without_secrets,
)
from bioeval.scores.formats.format import ARRAYS, CHUNKED, Format, ReadOptions, keeps_everything
from bioeval.scores.formats.mat import Mat73
from bioeval.scores.formats.named_arrays import reid_layout
from bioeval.scores.formats.npy import read_bare
from bioeval.scores.formats.npz import read_arrays, write_arrays
from bioeval.scores.matrix import Scores
from bioeval.scores.stored import FileCheck, StoredRows

#: Names of dimensions of probes (0) and of gallery templates (1).
_SIDES = dict.fromkeys(("probe", "probes", "query", "queries"), 0) | dict.fromkeys(
    ("gallery", "galleries", "enrolled", "enrolment", "reference", "references", "target"), 1
)

#: What h5netcdf and netCDF 4 call a dimension without values.
_NO_VALUES = "This is a netCDF dimension but not a netCDF variable"

#: Words that may be attributes of the store.
_WORDS = ("kind", "nan", "metric")

# Values, or bytes, of rows that are written together.
_CHUNK = 1 << 20

#: The metadata of a safetensors file that holds arrays of text, as JSON.
_TEXT = "bioeval_text"


class _Store(Arrays):
    """Arrays of an open store, and the words among its attributes."""

    def __init__(self, path: Path, words: Any, fill: bool = False):
        """Take the words among the attributes as arrays."""
        self.path, self.fill = path, fill
        self.headers: dict[str, Header] = {}
        #: The names of the dimensions of arrays, where the store has them.
        self.dimensions: dict[str, tuple[str, ...]] = {}
        self._transposed: set[str] = set()
        self._words: dict[str, np.ndarray] = {}
        for name in _WORDS:
            word = words.get(name)
            if isinstance(word, bytes):
                word = word.decode("ascii", "replace")
            if isinstance(word, str):
                self._words[name] = np.array(word)
                self.headers[name] = Header((), self._words[name].dtype)

    def read(self, key: str) -> np.ndarray:
        """Read one array."""
        if key in self._words:
            return self._words[key]
        with guarded(self.path, f"the array {key!r}"):
            array = self._read(key)
            require_text(array)
        if key in self._transposed:
            return np.ascontiguousarray(array.T)
        return array

    def _read(self, key: str) -> np.ndarray:
        raise NotImplementedError

    def _array_name(self, key: str) -> str:
        return f"{self.path}: the array {key!r}"

    def _stored(self, key: str, array: Any) -> tuple[Any, None]:
        """Return an array, left in the store unless it is transposed."""
        if key not in self._transposed:
            return StoredRows(array, self._array_name(key), self.fill), None
        needed = 2 * array.nbytes
        require_memory(needed, f"{self.path}: {key!r}, transposed", "write it with probes as rows")
        return self.read(key), None

    def transpose(self, options: ReadOptions) -> tuple[str, ...]:
        """Transpose matrices whose dimensions are named in reverse, and return a note.

        A dimension is known by the labels along it, else by its name.
        """
        sides: dict[str, int] = {}
        for number, side in enumerate(("probe", "gallery")):
            key = getattr(options, f"{side}_labels_key") or f"{side}_labels"
            sides |= dict.fromkeys(self.dimensions.get(key, ()), number)
        of_labels = {*sides, *self.dimensions.get(options.labels_key or "labels", ())}
        features = {"embeddings", "gallery_embeddings", options.embeddings_key}
        features.add(options.gallery_embeddings_key)
        notes = []
        for key, names in self.dimensions.items():
            if len(names) != 2:
                continue
            known = [sides.get(name, _SIDES.get(name.casefold())) for name in names]
            turned = names[0] not in of_labels and names[1] in of_labels
            if known == [1, 0] or key in features and turned:
                self._transposed.add(key)
                header = self.headers[key]
                self.headers[key] = Header(header.shape[::-1], header.dtype)
                if key == (options.scores_key or "scores"):
                    dimensions = " x ".join(names)
                    notes.append(f"{key!r} is transposed: its dimensions are {dimensions}")
        return tuple(notes)


class Hdf5Arrays(_Store):
    """The datasets of an HDF5 file; values in other files, also by links, are refused."""

    def __init__(self, path: Path, fill: bool = False):
        """Read the headers, and the names of dimensions from their scales."""
        import h5py

        self._plain = Mat73(path, groups=True, fill=fill)
        with guarded(path, expected="an HDF5 file"):
            self._file = h5py.File(path, "r")
            super().__init__(path, self._file.attrs, fill)
        self.elsewhere = self._plain.elsewhere
        for name, header in self._plain.headers.items():
            item = self._file[name] if name not in self.elsewhere else None
            if isinstance(item, h5py.Dataset) and h5py.check_string_dtype(item.dtype):
                header = Header(item.shape, np.dtype("U1"))
            if isinstance(item, h5py.Dataset):
                scales = []
                with guarded(path, f"the dimensions of {name!r}"):
                    for dim in item.dims:
                        scales.append(dim[0].name.rpartition("/")[2] if len(dim) else "")
                    if str(item.attrs.get("NAME", b"")).count(_NO_VALUES):
                        continue
                self.dimensions[name] = tuple(scales)
            self.headers[name] = header

    def require(self, option: str, key: str) -> None:
        """Raise unless the array that `option` names is in the file, and can be read."""
        super().require(option, key)
        if self.headers[key].is_pickled:
            self._plain.read(key)  # raises, with the reason

    def _read(self, key: str) -> np.ndarray:
        if self.headers[key].dtype.kind == "U":
            if not self.fill:
                require_chunks(self._file[key], self._array_name(key))
            values = np.asarray(self._file[key].asstr()[()])
            if values.dtype.hasobject:
                return values.astype(str)
            return values
        return self._plain.read(key)

    def mapped(self, key: str) -> tuple[Any, FileCheck | None]:
        """Return a dataset whose values stay in the file."""
        if self.headers[key].is_pickled or key in self._words:
            return self.read(key), None
        return self._stored(key, self._file[key])


class ZarrArrays(_Store):
    """The arrays of a zarr group."""

    def __init__(self, path: Path, group: Any, fill: bool = False):
        """Read the headers, and the names of dimensions where an array has them."""
        self._group = group
        with guarded(path, expected="a zarr group"), settled(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of zarr, about what is no array
            super().__init__(path, dict(group.attrs), fill)
            for name, array in self._group.arrays():
                dtype = np.dtype(array.dtype)
                if dtype.kind == "T":
                    dtype = np.dtype("U1")
                self.headers[name] = Header(tuple(array.shape), dtype)
                named = getattr(array.metadata, "dimension_names", None)
                named = named or array.attrs.get("_ARRAY_DIMENSIONS", ())
                self.dimensions[name] = tuple(map(str, named))

    def _read(self, key: str) -> np.ndarray:
        array = read_whole(self._group[key], self._array_name(key), self.fill)
        if array.dtype.kind not in "TO":
            return array
        cells = [*map(str, array.reshape(-1).tolist())]
        return text_array(cells, f"{self.path}: {key!r}").reshape(array.shape)

    def mapped(self, key: str) -> tuple[Any, FileCheck | None]:
        """Return an array, left in the store."""
        return self._stored(key, self._group[key])


class NetcdfArrays(_Store):
    """The variables of a netCDF 3 file; characters are text."""

    def __init__(self, path: Path):
        """Read all variables: the format has no checksum and no chunks."""
        from scipy.io import netcdf_file

        with guarded(path, expected="a netCDF file"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scipy, which maps the file as long as it is used
            raw = io.BytesIO(path.read_bytes())  # which gives no more than it has
            with netcdf_file(raw, "r", mmap=False) as file:
                super().__init__(path, vars(file)["_attributes"])
                self._variables: dict[str, np.ndarray] = {}
                for name, variable in file.variables.items():
                    data = variable.data
                    if data.dtype.kind == "S":
                        # Arrays of characters: the last dimension is the place in a word.
                        rows = np.ascontiguousarray(data).reshape(-1, (1, *data.shape)[-1])
                        words = [row.tobytes().rstrip(b"\0").decode("utf-8") for row in rows]
                        data = text_array(words, "text").reshape(data.shape[:-1])
                    self._variables[name] = data
                    self.headers[name] = Header(data.shape, data.dtype)
                    self.dimensions[name] = tuple(variable.dimensions[: data.ndim])

    def _read(self, key: str) -> np.ndarray:
        array = self._variables[key]
        return array.astype(array.dtype.newbyteorder("="))


class SafetensorsArrays(_Store):
    """The tensors of a safetensors file."""

    def __init__(self, path: Path):
        """Read the headers, and the text from the metadata."""
        numpy = optional("safetensors", path, "a safetensors file")
        with guarded(path, expected="a safetensors file"):
            self._file = numpy.safe_open(str(path), framework="numpy")
            words = self._file.metadata() or {}
            super().__init__(path, words)
            # Text is in the metadata alone.
            text = parse_json(words.get(_TEXT, "{}").encode(), f"{path}: {_TEXT}")
            for name, values in dict(text).items():
                array = np.array(values, dtype=str)
                flat = text_array(array.reshape(-1).tolist(), name)
                self._words[name] = flat.reshape(array.shape)
                self.headers[name] = Header(array.shape, array.dtype)
            for name in self._file.keys():  # noqa: SIM118 - which is no mapping
                part = self._file.get_slice(name)
                dtype = _SAFETENSORS.get(part.get_dtype())
                if part.get_dtype() in _NARROW:
                    dtype = "f4"
                self.headers[name] = Header(tuple(part.get_shape()), np.dtype(dtype or object))

    def _read(self, key: str) -> np.ndarray:
        kind = self._file.get_slice(key).get_dtype()
        if kind in _NARROW:
            return float32_of(self._bits(key, _NARROW[kind]), kind)
        if self.headers[key].dtype.hasobject:
            raise DataError(f"{self.path}: {key!r} is of dtype {kind}; save it as float32")
        return np.asarray(self._file.get_tensor(key))

    def _bits(self, key: str, dtype: str) -> np.ndarray:
        """Return the bits of a tensor of a type that NumPy lacks, as the file has them."""
        with open(self.path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = parse_json(file.read(length), f"{self.path}: the header")
        low, high = header[key]["data_offsets"]
        shape = self.headers[key].shape
        values = np.fromfile(self.path, dtype, prod(shape), offset=8 + length + low)
        if values.nbytes != high - low or len(values) != prod(shape):
            raise ValueError(f"{key!r} has another size than its shape")
        return values.reshape(shape)


# Floats that NumPy lacks, each with the type of its bits.
_NARROW = {"BF16": "<u2", "F8_E4M3": "u1", "F8_E5M2": "u1"}

_SAFETENSORS = {
    **{"F64": "f8", "F32": "f4", "F16": "f2", "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "i2"},
    **{"U16": "u2", "I32": "i4", "U32": "u4", "I64": "i8", "U64": "u8"},
}


def _read_store(arrays: _Store, options: ReadOptions) -> Scores:
    options = reid_layout(arrays, replace(options, missing_chunks=None))
    notes = arrays.transpose(options)
    scores = read_arrays(arrays, options)
    return scores._with(_reading=(*notes, *scores._reading))


def _read_zarr(path: Path, options: ReadOptions, address: str | None = None) -> Scores:
    """Read a zarr group, or an array of its own like that of a .npy file."""
    zarr = optional("zarr", path, "a zarr store")
    logging.getLogger("asyncio").addFilter(without_noise)
    with guarded(path, expected="a zarr group or array"), settled(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = zarr.open(address or str(path), mode="r")
    fill = options.missing_chunks == "fill"
    if isinstance(content, zarr.Array):
        stored = content
        if len(content.shape) == 2:
            stored = StoredRows(content, f"{path}", fill)
        return read_bare(path, stored, replace(options, missing_chunks=None))
    return _read_store(ZarrArrays(path, content, fill), options)


def read_remote(address: str, options: ReadOptions) -> Scores:
    """Return the scores of a zarr store at an address, without copying the store."""
    library(address)
    path = Path(without_secrets(address))
    try:
        scores = _read_zarr(path, options, address)._within(options.memory_limit)
    except ImportError as error:  # of the store, which fsspec names
        raise DataError(f"{path}: cannot be read ({error})") from None
    if options.exclude:
        return scores.excluding(*options.exclude)
    return scores


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


def _write_hdf5(scores: Scores, path: Path) -> None:
    with replacing(path) as part, _Hdf5Writer(part) as out:
        write_arrays(scores, out, path)


class _ZarrWriter:
    """Writes the arrays of scores into a zarr group."""

    def __init__(self, zarr: Any, folder: Path):
        self._group = zarr.open_group(str(folder), mode="w-")
        # Without its chunks of zeros, an array is one that has lost them.
        self._how = {
            "compressors": zarr.codecs.ZstdCodec(checksum=True),
            "config": {"write_empty_chunks": True},
        }

    def add(self, key: str, array: Any) -> None:
        """Write a whole array; a word as an attribute."""
        array = np.asarray(array)
        if key in _WORDS:
            self._group.attrs[key] = str(array)
        else:
            dtype = str if array.dtype.kind == "U" else array.dtype
            data = self._group.create_array(key, shape=array.shape, dtype=dtype, **self._how)
            data[...] = array

    def add_rows(self, key: str, shape: tuple[int, ...], dtype: np.dtype, read: Any) -> None:
        """Write an array whose rows are read in blocks."""
        step = max(1, _CHUNK // max(1, shape[1]))
        chunks = (min(step, max(1, shape[0])), max(1, shape[1]))
        data = self._group.create_array(key, shape=shape, dtype=dtype, chunks=chunks, **self._how)
        for low in range(0, shape[0], step):
            high = min(shape[0], low + step)
            data[low:high] = read(low, high)


def _check_zarr(path: Path) -> Path:
    """Return `path` if a store can be written there; an existing store may be replaced."""
    # What is said of the folder holds for a store that is there as for a new one.
    check_target(part_of(path) if is_zarr(path) else path)
    return path


def _write_zarr(scores: Scores, path: Path) -> None:
    """Write a store, and replace an existing one with it."""
    zarr = optional("zarr", path, "a zarr store")
    named = _check_zarr(path)
    place = named.resolve()
    part = part_of(place)
    try:
        with naming_writes(named, part):
            write_arrays(scores, _ZarrWriter(zarr, part), named)
            put_in_place([part], [place])
    finally:
        discard(part)


class _SafetensorsWriter:
    """Collects the arrays of scores for a safetensors file; words and text are its metadata."""

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self.words: dict[str, str] = {}
        self._text: dict[str, Any] = {}

    def add(self, key: str, array: Any) -> None:
        """Add a whole array."""
        array = np.asarray(array)
        if key in _WORDS:
            self.words[key] = str(array)
        elif array.dtype.kind == "U":
            self._text[key] = array.tolist()
            self.words[_TEXT] = json.dumps(self._text)
        else:
            self.tensors[key] = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")

    def add_rows(self, key: str, shape: tuple[int, ...], dtype: np.dtype, read: Any) -> None:
        """Add an array whose rows are read at once."""
        self.add(key, np.asarray(read(0, shape[0]), dtype=dtype))


def _write_safetensors(scores: Scores, path: Path) -> None:
    """Write the tensors; errors of dtypes and of the system are those of the other formats."""
    numpy = optional("safetensors.numpy", path, "a safetensors file")
    out = _SafetensorsWriter()
    write_arrays(scores, out, path)
    for key, array in out.tensors.items():
        if array.dtype.str[1:].replace("b1", "?") not in {*_SAFETENSORS.values(), "?"}:
            raise DataError(
                f"{path}: {key!r} is {array.dtype}; a safetensors file cannot hold this type"
            )
    from safetensors import SafetensorError

    with replacing(path) as part:
        try:
            numpy.save_file(out.tensors, part, metadata=out.words)
        except SafetensorError as error:  # whose text alone has the number
            number = re.search(r"os error (\d+)", str(error))
            if number is None:
                raise OSError(str(error)) from error
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def _read_hdf5(path: Path, options: ReadOptions) -> Scores:
    if content(path) == NETCDF:
        return _read_store(NetcdfArrays(path), options)
    return _read_store(Hdf5Arrays(path, options.missing_chunks == "fill"), options)


FORMATS = (
    Format(
        name="`.h5`",
        suffixes=(".h5", ".hdf5", ".nc"),
        holds="what a `.npz` file holds, in HDF5 or netCDF (3 and 4)",
        looks="an HDF5 or netCDF file",
        expected="an HDF5 or netCDF file",
        recognised_by="the first bytes of HDF5 or netCDF 3",
        recognise=lambda file: (
            file.content == NETCDF or file.content == HDF5 and file.suffix != ".mat"
        ),
        read=_read_hdf5,
        options=CHUNKED,
        written="everything in one file",
        write=_write_hdf5,
        losses=keeps_everything,
    ),
    Format(
        name="`.zarr`",
        suffixes=(".zarr",),
        holds="what a `.npz` file holds, in a zarr group; or one array, as `.npy`",
        looks="a zarr store",
        expected="a zarr store",
        recognised_by="a folder with `zarr.json`, `.zgroup` or `.zarray`",
        recognise=lambda file: file.content == "a zarr store",
        read=_read_zarr,
        options=CHUNKED,
        written="everything in one folder",
        write=_write_zarr,
        losses=keeps_everything,
        check=_check_zarr,
    ),
    Format(
        name="`.safetensors`",
        suffixes=(".safetensors",),
        holds="what a `.npz` file holds; text is in its metadata",
        looks="a safetensors file",
        expected="a safetensors file",
        recognised_by="its suffix",
        recognise=lambda file: file.suffix == ".safetensors",
        read=lambda path, options: _read_store(SafetensorsArrays(path), options),
        options=ARRAYS,
        written="everything in one file",
        write=_write_safetensors,
        losses=keeps_everything,
    ),
)
