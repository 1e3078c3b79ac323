"""Chunks that a container lacks: they would be read as its fill value, such as 0, in silence.

A chunk is absent because it was lost, because it was never written, or because a program left it
out on purpose, all of it being the fill value; the container does not say which.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    counted,
)

#: What to do with chunks that are not in the file.
MissingChunks = Literal["raise", "fill"]
MISSING_CHUNKS: tuple[MissingChunks, ...] = get_args(MissingChunks)

_METADATA = ("zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata")
_CHUNK = re.compile(r"(c[/.])?\d+([/.]\d+)*|c")


def require_chunks(array: Any, input_name: Part) -> Any:
    """Return an array of a library that raises where a chunk is missing; else the same array.

    Of an array in zarr a chunk is missed when it is read, since a store at an address may not list
    its chunks; of one in HDF5 now.
    """
    library = type(array).__module__.partition(".")[0]
    if library == "h5py" and hasattr(array, "id"):
        _require_hdf5(array, input_name)
    if library == "zarr" and hasattr(array, "store"):
        import zarr

        _refuse_more_chunks(array, input_name)
        store = _complete_store()(array.store, input_name, array.fill_value)
        plain = zarr.open_array(store, path=array.path, mode="r")
        if (plain.shape, plain.dtype, plain.chunks) != (array.shape, array.dtype, array.chunks):
            raise DataError(
                input_name,
                f": its own metadata ({plain.shape} {plain.dtype}) contradict those of its group "
                f"({array.shape} {array.dtype}); write the scores again",
            )
        return plain
    return array


def read_whole(array: Any, input_name: Part, fill: bool = False) -> np.ndarray:
    """Read a whole array of a library; raise where a chunk is missing, or fill it."""
    with settled():
        return np.asarray((array if fill else require_chunks(array, input_name))[...])


@contextmanager
def settled() -> Iterator[None]:
    """Wait after an error for what zarr still reads; asyncio would print tracebacks about it."""
    try:
        yield
    except Exception:
        if (zarr := sys.modules.get("zarr.core.sync")) is not None:
            zarr.sync(_others())
        raise


async def _others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=10)


def without_noise(record: logging.LogRecord) -> bool:
    """Whether a message of asyncio is not about tasks of zarr whose error is reported already."""
    message = record.getMessage()
    if "never retrieved" not in message:
        return True
    texts = [message]
    if record.exc_info:
        texts += [frame.filename for frame in traceback.extract_tb(record.exc_info[2])]
    return not any("zarr" in text for text in texts)


def _missing(input_name: Part, problem: str, fill: Any) -> DataError:
    return DataError(
        input_name,
        f": {problem}; write the scores again or, if all values of such chunks are the fill value "
        f"{fill!s:.40}, read the file with ",
        Argument("missing_chunks", "fill"),
    )


def _require_hdf5(dataset: Any, input_name: Part) -> None:
    """Raise unless every chunk of a dataset was written."""
    if not dataset.size:
        return
    count, written = 1, dataset.id.get_storage_size() > 0
    if dataset.chunks:
        count = prod(-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True))
        written = dataset.id.get_num_chunks()
    if written < count:
        lost = f"lacks {count - written:,} of its {counted(count, 'chunks')}"
        raise _missing(input_name, lost, dataset.fillvalue)


def _refuse_more_chunks(array: Any, input_name: Part) -> None:
    """Raise if a folder has more chunks than the shape of its array."""
    root = getattr(array.store, "root", None)
    if root is None:
        return
    folder = os.path.join(root, array.path)
    size = getattr(array, "shards", None) or array.chunks
    count = prod(-(-n // c) for n, c in zip(array.shape, size, strict=True))
    stored = 0
    for place, _, names in os.walk(folder):
        inner = os.path.relpath(place, folder).replace(os.sep, "/").removeprefix(".").strip("/")
        stored += sum(bool(_CHUNK.fullmatch(f"{inner}/{name}".strip("/"))) for name in names)
    if stored > count:
        raise DataError(
            input_name,
            f": {stored:,} chunks contradict its metadata, of shape {array.shape} in {count:,} "
            "chunks; write the scores again",
        )


@cache
def _complete_store() -> Any:
    """Return the class of stores that raise where a chunk is not in another store."""
    from zarr.storage import WrapperStore

    class CompleteStore(WrapperStore):
        def __init__(self, store: Any, input_name: Part = "", fill: Any = None):
            super().__init__(store)
            self.input_name, self.fill = input_name, fill

        def _with_store(self, store: Any) -> CompleteStore:
            return type(self)(store, self.input_name, self.fill)

        async def get(self, key: str, *how: Any, **also: Any) -> Any:
            chunk = await super().get(key, *how, **also)
            if chunk is None and key.rpartition("/")[2] not in _METADATA:
                raise _missing(self.input_name, f"the chunk {key!r} is missing", self.fill)
            return chunk

    return CompleteStore
