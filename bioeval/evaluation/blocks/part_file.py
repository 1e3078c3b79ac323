"""Files of a checkpoint, of one block each: plain arrays, one JSON header, and a checksum.

They appear whole or not at all, and are never unpickled.
"""

from __future__ import annotations

import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from bioeval.base.errors import CheckpointError
from bioeval.scores.formats.files import replacing
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.parts import Extent, Joined, KeptRows, NarrowCells, Part, TreeSums
from bioeval.tallies.random_galleries.counts import FixedSums

#: Version of the layout of the files.
SCHEMA = 1

_MAGIC = b"bioeval part\n"
_SUM = 16  # bytes of an XXH3-128 digest
_CLASSES: dict[str, Any] = {
    c.__name__: c for c in (CellCounts, Extent, FixedSums, Joined, KeptRows, NarrowCells, TreeSums)
}


class DamagedPartError(CheckpointError):
    """A file of one block that is not as it was written; the block can be counted again."""


def write_file(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all, and is on the disk when this returns."""
    with replacing(path) as part:
        part.write_bytes(data)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_part(path: Path, part: Part, digest: str) -> None:
    """Write the counts of a block; `digest` is that of its scores, empty where none is needed."""
    arrays: list[np.ndarray] = []
    counts = _pack(part.counts, arrays)
    listed = [{"dtype": x.dtype.str, "shape": list(x.shape)} for x in arrays]
    rows = [list(run) for run in part.rows]
    header = {"schema": SCHEMA, "rows": rows, "scores": digest, "counts": counts, "arrays": listed}
    text = json.dumps(header).encode()
    body = b"".join([_MAGIC, len(text).to_bytes(8, "little"), text, *(x.tobytes() for x in arrays)])
    write_file(path, body + xxhash.xxh3_128_digest(body))


def read_part(path: Path) -> tuple[Part, str]:
    """Return the counts of a block and the digest of its scores.

    Raises
    ------
    DamagedPartError
        If the file is damaged.
    CheckpointError
        If it is of another version of the layout.
    """
    data = path.read_bytes()
    body = data[:-_SUM]
    if not body.startswith(_MAGIC) or xxhash.xxh3_128_digest(body) != data[-_SUM:]:
        raise DamagedPartError(f"{path}: is damaged (its checksum is another)")
    start = len(_MAGIC) + 8
    place = start + int.from_bytes(body[len(_MAGIC) : start], "little")
    header = json.loads(body[start:place])
    if header["schema"] != SCHEMA:
        raise CheckpointError(
            f"{path}: is of layout {header['schema']}; this version reads {SCHEMA}"
        )
    arrays = []
    for one in header["arrays"]:
        dtype, count = np.dtype(one["dtype"]), int(np.prod(one["shape"], dtype=np.int64))
        array = np.frombuffer(body, dtype, count, place).reshape(one["shape"]).copy()
        arrays.append(array)
        place += count * dtype.itemsize
    rows = tuple((int(low), int(high)) for low, high in header["rows"])
    return Part(rows, _unpack(header["counts"], arrays)), header["scores"]


def _pack(value: Any, arrays: list[np.ndarray]) -> Any:
    """Turn counts into JSON, and put their arrays into a list."""
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value))
        return {"array": len(arrays) - 1}
    if type(value).__name__ in _CLASSES and is_dataclass(value):
        inner = {f.name: _pack(getattr(value, f.name), arrays) for f in fields(value)}
        return {"class": type(value).__name__, "fields": inner}
    if isinstance(value, dict):
        return {"dict": {name: _pack(x, arrays) for name, x in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [_pack(x, arrays) for x in value]}
    if isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"counts hold a {type(value).__name__}")


def _unpack(value: Any, arrays: list[np.ndarray]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "class" in value:
        inner = {name: _unpack(x, arrays) for name, x in value["fields"].items()}
        return _CLASSES[value["class"]](**inner)
    if "dict" in value:
        return {name: _unpack(x, arrays) for name, x in value["dict"].items()}
    return tuple(_unpack(x, arrays) for x in value["tuple"])
