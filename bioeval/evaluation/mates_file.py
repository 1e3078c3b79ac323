"""Saved mates of a gallery in parts: an ``.npz`` file of plain arrays and one JSON header.

Nothing in a file is taken on trust: what was read is checked before it is used.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import Archive
from bioeval.scores.formats.files import existing_file, guarded, replacing
from bioeval.tallies.shared_mates import MateLists

SCHEMA = 1
WHAT = "saved mates of a gallery in parts"

_DIGESTS = ("probes", "templates", "subjects", "several")
_LISTS = {"starts": "i", "distance": "f", "site": "i", "place": "i"}


def write_mates(path: str | os.PathLike[str], mates: Any) -> None:
    """Write `BestMates`; the file appears whole or not at all."""
    arrays = {name: getattr(mates, name) for name in _DIGESTS}
    header: dict[str, Any] = {"bioeval_mates": SCHEMA}
    header |= {name: getattr(mates, name) for name in ("protocol", "data", "key", "sites", "parts")}
    header["ends"] = [repr(mates.low), repr(mates.high)]
    header["lists"] = [[name, lists.nearest] for name, lists in mates.lists.items()]
    for i, lists in enumerate(mates.lists.values()):
        arrays |= {f"list{i}.{name}": getattr(lists, name) for name in _LISTS}
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with replacing(path) as part_path, open(part_path, "wb") as file:
        np.savez(file, header=text, **arrays)


def read_mates(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the attributes of saved mates.

    Raises
    ------
    DataError
        If the file is missing, truncated, or holds no mates.
    """
    path = existing_file(path, WHAT)
    with guarded(path, expected=WHAT):
        archive = Archive(path, WHAT)
        arrays = {name: archive.read(name) for name in archive.headers}
        header = json.loads(arrays["header"].tobytes())
        version = header["bioeval_mates"]
    if version != SCHEMA:
        raise DataError(f"{path}: holds mates of layout {version}; this version reads {SCHEMA}")
    with guarded(path, expected=WHAT):
        found = {name: header[name] for name in ("protocol", "key")}
        found |= {name: tuple(header[name]) for name in ("data", "sites", "parts")}
        found |= {name: arrays[name] for name in _DIGESTS}
        found["low"], found["high"] = map(float, header["ends"])
        lists = {}
        for i, (name, nearest) in enumerate(header["lists"]):
            lists[name] = MateLists(**{x: arrays[f"list{i}.{x}"] for x in _LISTS}, nearest=nearest)
        wrong = _wrong(found, lists)
    if wrong:
        raise DataError(f"{path}: the mates are damaged: {wrong}")
    return {**found, "lists": lists}


def _wrong(found: dict[str, Any], lists: dict[str, MateLists]) -> str:
    """Return what is wrong with mates; an empty string if nothing."""
    words = [found["protocol"], found["key"], *found["data"], *found["sites"], *found["parts"]]
    if not all(isinstance(x, str) for x in words) or len(found["data"]) != 4:
        return "the description of its data is damaged"
    if not found["parts"] or len(found["parts"]) != len(found["sites"]):
        return "the parts of the gallery are damaged"
    if any(len(x) != 16 or set(x) - set("0123456789abcdef") for x in found["parts"]):
        return "the digests of its parts are damaged"
    for name in _DIGESTS:
        if found[name].ndim != 1 or found[name].dtype != np.uint64:
            return f"{name} are not digests"
    sites = len(set(found["sites"]))
    for each in lists.values():
        if not _right(each, len(found["probes"]), sites):
            return "the mates of its probes are damaged"
    return ""


def _right(lists: MateLists, probes: int, sites: int) -> bool:
    arrays = [getattr(lists, name) for name in _LISTS]
    kinds = zip(arrays, _LISTS.values(), strict=True)
    if not all(x.ndim == 1 and x.dtype.kind == kind for x, kind in kinds):
        return False
    starts, distance, site, place = arrays
    number = len(distance)
    right = len(starts) == probes + 1 and starts[0] == 0 and starts[-1] == number
    right = right and bool((np.diff(starts) >= 0).all()) and isinstance(lists.nearest, bool)
    if not right or np.isnan(distance).any() or (lists.nearest and (np.diff(starts) > 1).any()):
        return False
    falls = np.diff(distance) < 0
    if number > 1 and not np.isin(np.flatnonzero(falls) + 1, starts).all():
        return False
    if len(site) != len(place) or len(place) not in (0, number):
        return False
    return bool(((site >= 0) & (site < sites)).all() and (place >= 0).all())
