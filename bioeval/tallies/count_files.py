"""Files of counts: a ``.npz`` of plain arrays and one JSON header, never a pickle.

Tallies, mates of a gallery in parts, and the finished blocks of a checkpoint are written so. An
array has the name of its field, with those of the objects that hold it before: ``tallies.0.di``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.json_text import parse_json
from bioeval.base.messages import Message
from bioeval.base.studies import offered
from bioeval.scores.formats.archive import Archive
from bioeval.scores.formats.files import existing_file, guarded

#: The schema of the files.
SCHEMA = 1

#: The dataclasses that a file may hold, by their names; studies offer others.
Classes = Mapping[str, type]


@dataclass(frozen=True)
class CountFile:
    """What a file of counts holds, and the totals of its arrays when they were written."""

    contents: dict[str, Any]
    arrays: dict[str, np.ndarray]
    totals: dict[str, list[int]]

    def damage(self) -> str:
        """Return which array is not the one that was written; an empty string if each is."""
        words = "{} values, {} of them NaN, with the sum {}"
        for name, expected in self.totals.items():
            counted = _totals(self.arrays[name])
            if counted != expected:
                written = f"its header has {words.format(*expected)}"
                return f"the array {name!r} has {words.format(*counted)}; {written}"
        return ""


def write_counts(
    path: str | os.PathLike[str], kind: str, contents: Mapping[str, Any], classes: Classes
) -> None:
    """Write counts of a kind, such as ``"tallies"``; the file appears whole or not at all.

    Contents are made of arrays, numbers, text, messages, lists, tuples, sets of text, dictionaries,
    and dataclasses of `classes`.
    """
    arrays: dict[str, np.ndarray] = {}
    packed = {name: _pack(value, name, arrays, classes) for name, value in contents.items()}
    totals = {name: _totals(array) for name, array in arrays.items()}
    header = {"schema": SCHEMA, "kind": kind, **packed, "totals": totals}
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    Archive.write(path, {"header": text, **arrays})


def read_counts(
    path: str | os.PathLike[str], kind: str, expected: str, classes: Classes
) -> CountFile:
    """Return what a file holds that :func:`write_counts` wrote; `expected` says what, for messages.

    Raise :class:`DataError` if the file is missing, truncated, of another kind or of another
    schema.
    """
    path = existing_file(path, expected)
    with guarded(path, expected=expected):
        arrays = _archive(path, expected).read_all()
        header = parse_json(arrays.pop("header").tobytes(), f"{path}: header")
        schema, held, totals = (header.pop(name) for name in ("schema", "kind", "totals"))
        if held != kind:
            raise DataError(f"{path}: is a file of {held}; expected {expected}")
        if schema != SCHEMA:
            raise DataError(
                f"{path}: is of schema {schema}; this version of bioeval reads schema {SCHEMA}"
            )
        contents = {name: _unpack(value, arrays, classes) for name, value in header.items()}
        return CountFile(contents, arrays, totals)


def kind_of_counts(path: str | os.PathLike[str], expected: str) -> str:
    """Return the kind of counts in a file; raise :class:`DataError` if it holds none."""
    path = existing_file(path, expected)
    with guarded(path, expected=expected):
        return str(_archive(path, expected).read_json("header")["kind"])


def _archive(path: Path, expected: str) -> Archive:
    archive = Archive(path, expected)
    if "header" not in archive:
        raise DataError(f"{path}: holds no counts, but {archive.listing()}; expected {expected}")
    return archive


def _totals(array: np.ndarray) -> list[int]:
    """Return how many values an array has, how many are NaN, and the sum of whole numbers."""
    missing = total = 0
    if array.dtype.kind == "f":
        missing = int(np.isnan(array).sum())
    elif array.dtype.kind in "iub":
        total = int(array.sum())
    return [array.size, missing, total]


def _pack(value: Any, name: str, arrays: dict[str, np.ndarray], classes: Classes) -> Any:
    """Turn a value into JSON, its arrays put into `arrays` by name."""

    def packed(named: Mapping[Any, Any]) -> dict[str, Any]:
        return {key: _pack(x, f"{name}.{key}", arrays, classes) for key, x in named.items()}

    kind = type(value).__name__
    if isinstance(value, Message):
        return {"message": value.entry()}
    if kind in classes or offered("saved", kind):
        return {"class": kind, **packed({x.name: getattr(value, x.name) for x in fields(value)})}
    if isinstance(value, np.ndarray):
        while name in arrays:  # keys of dictionaries may have dots
            name += "."
        arrays[name] = value
        return {"array": name}
    if isinstance(value, dict):
        return {"dict": packed(value)}
    if isinstance(value, (list, tuple)):
        listed = [*packed(dict(enumerate(value))).values()]
        return listed if isinstance(value, list) else {"tuple": listed}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{name} of counts is a {kind}")


def _unpack(value: Any, arrays: Mapping[str, np.ndarray], classes: Classes) -> Any:
    """Return what :func:`_pack` turned into JSON."""
    if isinstance(value, list):
        return [_unpack(x, arrays, classes) for x in value]
    if not isinstance(value, dict):
        return value

    def unpacked(named: Mapping[str, Any]) -> dict[str, Any]:
        return {key: _unpack(x, arrays, classes) for key, x in named.items()}

    if "class" in value:
        content = unpacked(value)
        kind = content.pop("class")
        study = offered("saved", kind)
        return (classes if study is None else study.CLASSES)[kind](**content)
    ((form, content),) = value.items()
    if form == "array":
        return arrays[content]
    if form == "dict":
        return unpacked(content)
    if form == "message":
        return Message.of_entry(content)
    return {"tuple": tuple, "set": frozenset}[form](_unpack(content, arrays, classes))
