"""Record what bioeval gives today, and compare it later, byte for byte.

    python golden.py make FOLDER                                     run every case and record it
    python golden.py compare FOLDER [--only PATTERN] [--no-texts]    run again, print each difference
    python golden.py list                                            the names of the cases

The bioeval that is importable is used (``PYTHONPATH=checkout``). All three take ``--only PATTERN``
(a part of a case's name, or a pattern with ``*``) and ``--jobs N``.

A case is one call of the public API, or one command, on data that are made here with numpy alone.
Its result is taken apart into nodes and variables: arrays with dims, dtype and attributes, plain
values, and texts. Files: ``CASE.npz`` where there are arrays (``index``, JSON, says what each is),
else ``CASE.json``. A case that raises is recorded with the class of its exception; the message is
kept for the reader and never compared.

Differences are of four sorts, named in each line:

    value   numbers, words in arrays, names, dims, dtypes, JSON and CSV of commands, exit codes
    attrs   attributes of datasets and variables, and the order of variables
    text    tables, titles, warnings: what is written for people
    error   another exception, or none, or a new one

Floats are compared by their bits (0.0 is not -0.0), NaN equals NaN. ``--no-texts`` leaves out texts
and attributes that are words; attributes that are numbers are still compared. Exit code 1 if
anything differs.

Record and compare on one machine, with one version of numpy: sums of BLAS and of SIMD loops may
differ in the last bit on another.
"""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is loaded: sums in one order
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

import argparse  # noqa: E402
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import fnmatch  # noqa: E402
import functools  # noqa: E402
import io  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
import multiprocessing  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
import zipfile  # noqa: E402
from collections.abc import Callable, Iterator, Mapping  # noqa: E402
from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: E402
from concurrent.futures.process import BrokenProcessPool  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

sys.dont_write_bytecode = True

import numpy as np  # noqa: E402

VALUE, ATTRS, TEXT = "value", "attrs", "text"

# Attributes and keys that say when and with which version a result was made.
VOLATILE = {
    "bioeval_version",
    "bioeval",
    "created",
    "date",
    "time_s",
    "seconds",
    "python",
    "calibrated_template",
}


def be() -> Any:
    """The package under test."""
    import bioeval

    return bioeval


# ------------------------------------------------------------------------------------------- data


def points(counts: list[int], dims: int, within: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of people with these numbers of templates, and whose they are."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(len(counts)), counts)
    x = rng.normal(size=(len(counts), dims))[who] + within * rng.normal(size=(who.size, dims))
    return np.round(x, 5), who


def apart(a: np.ndarray, b: np.ndarray, digits: int = 6) -> np.ndarray:
    """Euclidean distances, rounded so that no last bit of a sum decides anything."""
    d = np.empty((len(a), len(b)))
    for i, row in enumerate(a):
        d[i] = np.sqrt(((row - b) ** 2).sum(axis=1))
    return np.round(d, digits)


def words(who: np.ndarray, prefix: str = "s") -> np.ndarray:
    return np.array([f"{prefix}{i:03d}" for i in who])


@functools.cache
def square32() -> dict[str, Any]:
    """50 subjects of 5 templates, distances, float32, labels int."""
    x, who = points([5] * 50, 6, 0.55, 1)
    return {"values": apart(x, x).astype(np.float32), "labels": who, "kind": "distance"}


@functools.cache
def uneven() -> dict[str, Any]:
    """Subjects of 1 to 7 templates, float64, labels are words."""
    x, who = points([1, 2, 3, 7, 4, 1, 5, 2] * 4, 5, 0.6, 2)
    return {"values": apart(x, x), "labels": words(who), "kind": "distance"}


@functools.cache
def watch() -> dict[str, Any]:
    """Probes against a gallery, similarities; a third of the probes' subjects are not enrolled."""
    x, who = points([6] * 45, 6, 0.5, 3)
    turn = np.tile(np.arange(6), 45)
    gallery = (turn < 3) & (who < 30)
    probe = (turn >= 3) & (turn < 6)
    d = apart(x[probe], x[gallery])
    return {
        "values": np.round(10 - d, 6),
        "labels": words(who[probe]),
        "gallery_labels": words(who[gallery]),
        "kind": "similarity",
    }


@functools.cache
def enrolled() -> dict[str, Any]:
    """Probes against a gallery, everybody enrolled, numbers of templates differ, distances."""
    x, who = points([2, 4, 5, 3, 6] * 5, 5, 0.5, 4)
    first = np.r_[True, who[1:] != who[:-1]]
    second = np.r_[False, first[:-1]] & ~first
    gallery = first | (second & (who % 2 == 0))
    return {
        "values": apart(x[~gallery], x[gallery]),
        "labels": who[~gallery] + 100,
        "gallery_labels": who[gallery] + 100,
        "kind": "distance",
    }


@functools.cache
def ties() -> dict[str, Any]:
    """Whole numbers from 0 to about 12: most scores are tied."""
    x, who = points([4] * 20, 4, 0.7, 5)
    d = np.floor(2 * apart(x, x)).astype(np.int16)
    return {"values": d, "labels": who, "kind": "distance"}


@functools.cache
def ties_watch() -> dict[str, Any]:
    """Similarities of whole numbers, probes against a gallery, some not enrolled."""
    source = watch()
    values = np.floor(2 * source["values"]).astype(np.int32)
    return {**source, "values": values}


@functools.cache
def failed() -> dict[str, Any]:
    """One comparison in thirty failed (NaN), in both directions, and a whole row."""
    source = uneven()
    d = source["values"].copy()
    hole = np.random.default_rng(6).random(d.shape) < 1 / 30
    d[hole] = np.nan
    d[7] = np.nan
    return {**source, "values": d}


@functools.cache
def failed_watch() -> dict[str, Any]:
    source = watch()
    s = source["values"].copy()
    s[np.random.default_rng(7).random(s.shape) < 1 / 25] = np.nan
    return {**source, "values": s}


@functools.cache
def columns() -> dict[str, Any]:
    """All against all with metadata: session, camera, quality, sex, visit."""
    x, who = points([6] * 30, 6, 0.6, 8)
    rng = np.random.default_rng(9)
    n = who.size
    quality = np.round(rng.random(n), 3)
    x = np.round(x + (1 - quality)[:, None] * 0.4 * rng.normal(size=x.shape), 5)
    meta = {
        "session": np.tile([1, 1, 2, 2, 3, 3], 30),
        "camera": rng.integers(0, 4, n),
        "quality": quality,
        "sex": np.where(who % 5 < 2, "f", "m"),
        "visit": np.tile([1, 2, 3, 1, 2, 3], 30),
        "template": np.array([f"{w:02d}_{i % 6}" for i, w in enumerate(who)]),
    }
    return {
        "values": apart(x, x),
        "labels": words(who),
        "kind": "distance",
        "probe_meta": meta,
    }


@functools.cache
def visits() -> dict[str, Any]:
    """Probes against a gallery with quality, sex, visit and camera on both sides."""
    source = columns()
    turn = np.tile(np.arange(6), 30)
    who = np.repeat(np.arange(30), 6)
    g, p = (turn < 2) & (who < 24), turn >= 2
    return {
        "values": source["values"][np.ix_(p, g)],
        "labels": source["labels"][p],
        "gallery_labels": source["labels"][g],
        "kind": "distance",
        "probe_meta": {k: v[p] for k, v in source["probe_meta"].items()},
        "gallery_meta": {k: v[g] for k, v in source["probe_meta"].items()},
    }


@functools.cache
def over_years() -> dict[str, Any]:
    """Enrolments, withdrawals and probes with dates; genuine distances grow with age."""
    rng, day = np.random.default_rng(10), np.timedelta64(1, "D")
    who = np.repeat(np.arange(40), 2)
    probe = rng.integers(0, 40, 200)
    since = np.datetime64("2015-01-01") + rng.integers(0, 4 * 365, 80) * day
    until = np.where(rng.random(80) < 0.3, since + 1000 * day, np.datetime64("NaT"))
    seen = np.datetime64("2016-01-01") + rng.integers(0, 6 * 365, 200) * day
    years = (seen[:, None] - since) / (365.25 * day)
    mates = probe[:, None] == who
    d = rng.normal(10, 1, mates.shape) + mates * (0.3 * np.maximum(years, 0) - 4)
    return {
        "values": np.round(d, 5),
        "labels": probe,
        "gallery_labels": who,
        "kind": "distance",
        "probe_meta": {"seen_at": seen},
        "gallery_meta": {"enrolled_at": since, "withdrawn_at": until},
    }


@functools.cache
def streets() -> dict[str, Any]:
    """Queries against a gallery by cameras, with distractors (0) and junk (-1)."""
    x, who = points([9] * 25, 6, 0.7, 11)
    rng = np.random.default_rng(12)
    n = who.size
    camera = rng.integers(1, 5, n)
    query = np.tile(np.arange(9), 25) < 2
    label = who + 1
    label[(~query) & (rng.random(n) < 0.06)] = -1
    label[(~query) & (rng.random(n) < 0.08)] = 0
    d = apart(x[query], x[~query])
    return {
        "values": d,
        "labels": label[query],
        "gallery_labels": label[~query],
        "kind": "distance",
        "probe_meta": {"camera": camera[query]},
        "gallery_meta": {"camera": camera[~query]},
    }


@functools.cache
def tied_streets() -> dict[str, Any]:
    source = streets()
    return {**source, "values": np.floor(3 * source["values"]).astype(np.int64)}


@functools.cache
def failed_streets() -> dict[str, Any]:
    source = streets()
    d = source["values"].astype(np.float32)
    d[np.random.default_rng(13).random(d.shape) < 1 / 30] = np.nan
    return {**source, "values": d, "nan": "reject"}


@functools.cache
def two_cameras() -> dict[str, Any]:
    """One query and one or two gallery images an identity, two cameras (VIPeR, CUHK03)."""
    x, who = points([3] * 40, 6, 0.6, 14)
    turn = np.tile(np.arange(3), 40)
    q = turn == 0
    return {
        "values": apart(x[q], x[~q]),
        "labels": who[q] + 1,
        "gallery_labels": who[~q] + 1,
        "kind": "distance",
        "probe_meta": {"camera": np.ones(40, int)},
        "gallery_meta": {"camera": np.full(80, 2)},
    }


@functools.cache
def tiny() -> dict[str, Any]:
    """6 x 6, by hand."""
    d = [
        [0.0, 1.0, 7.0, 8.0, 9.0, 5.0],
        [1.0, 0.0, 6.0, 9.0, 4.0, 8.0],
        [7.0, 6.0, 0.0, 2.0, 5.0, 5.0],
        [8.0, 9.0, 2.0, 0.0, 5.0, 7.0],
        [9.0, 4.0, 5.0, 5.0, 0.0, 3.5],
        [5.0, 8.0, 5.0, 7.0, 3.5, 0.0],
    ]
    who = np.array(["ann", "ann", "bob", "bob", "cat", "cat"])
    return {"values": np.array(d), "labels": who, "kind": "distance"}


@functools.cache
def large() -> dict[str, Any]:
    """300 x 300 similarities."""
    x, who = points([5] * 60, 8, 0.7, 15)
    return {"values": np.round(1 / (1 + apart(x, x)), 9), "labels": who, "kind": "similarity"}


@functools.cache
def lopsided() -> dict[str, Any]:
    """Not symmetric, with infinite scores, float64."""
    source = uneven()
    d = source["values"].copy()
    rng = np.random.default_rng(16)
    d += np.round(rng.normal(0, 0.2, d.shape), 4)
    d[rng.random(d.shape) < 0.01] = np.inf
    return {**source, "values": d}


@functools.cache
def masked() -> dict[str, Any]:
    """A matrix with a mask: a tenth of the cells is ignored."""
    source = enrolled()
    same = source["labels"][:, None] == source["gallery_labels"]
    mask = np.where(same, 2, 1).astype(np.uint8)
    mask[np.random.default_rng(17).random(mask.shape) < 0.1] = 0
    return {**source, "mask": mask}


@functools.cache
def mask_only() -> dict[str, Any]:
    """No labels: a mask alone says what is genuine."""
    source = masked()
    return {"values": source["values"], "kind": "distance", "mask": source["mask"]}


@functools.cache
def ratios() -> dict[str, Any]:
    """Log-likelihood ratios."""
    source = square32()
    return {
        **source,
        "values": np.round(4.0 - 2.0 * source["values"].astype(float), 4),
        "kind": "llr",
    }


@functools.cache
def alone() -> dict[str, Any]:
    """One subject: no impostor attempt."""
    x, _ = points([5], 3, 0.5, 18)
    return {"values": apart(x, x), "labels": np.array(["ann"] * 5), "kind": "distance"}


@functools.cache
def constant() -> dict[str, Any]:
    return {
        "values": np.ones((12, 12)),
        "labels": np.repeat([1, 2, 3, 4], 3),
        "kind": "distance",
    }


@functools.cache
def one_template() -> dict[str, Any]:
    """Everybody with one template: no genuine attempt."""
    x, who = points([1] * 9, 3, 0.5, 19)
    return {"values": apart(x, x), "labels": who, "kind": "distance"}


def systems(n: int = 3) -> list[Any]:
    """Several systems over the same 25 subjects of 4 templates, the last one of similarities."""
    made = []
    for i, within in enumerate((0.6, 0.75, 0.7)[:n]):
        x, who = points([4] * 25, 6, 0.5, 20)
        noise = np.random.default_rng(21 + i).normal(size=x.shape)
        d = apart(x + within * noise, x + within * noise)
        labels = words(who)
        if i == 2:
            made.append(be().Scores(10 - d, labels, kind="similarity", name="gamma"))
        else:
            made.append(be().Scores(d, labels, kind="distance", name=("alpha", "beta")[i]))
    return made


def watch_systems(n: int = 2) -> list[Any]:
    """Two systems over the same probes and gallery; metadata of cameras."""
    made = []
    source = streets()
    for i in range(n):
        noise = np.random.default_rng(30 + i).normal(0, 0.2 + 0.4 * i, source["values"].shape)
        made.append(
            be().Scores(
                **{**source, "values": np.round(source["values"] + noise, 5)}, name=f"system{i}"
            )
        )
    return made


MATRICES: dict[str, Callable[[], dict[str, Any]]] = {
    "square32": square32,
    "uneven": uneven,
    "watch": watch,
    "enrolled": enrolled,
    "ties": ties,
    "ties_watch": ties_watch,
    "reject": lambda: {**failed(), "nan": "reject"},
    "exclude": lambda: {**failed(), "nan": "exclude"},
    "raise": failed,
    "reject_watch": lambda: {**failed_watch(), "nan": "reject"},
    "exclude_watch": lambda: {**failed_watch(), "nan": "exclude"},
    "columns": columns,
    "sessions": lambda: {**columns(), "exclude": ("session",)},
    "visits": visits,
    "over_years": over_years,
    "streets": streets,
    "tied_streets": tied_streets,
    "failed_streets": failed_streets,
    "two_cameras": two_cameras,
    "tiny": tiny,
    "large": large,
    "lopsided": lopsided,
    "masked": masked,
    "mask_only": mask_only,
    "ratios": ratios,
    "alone": alone,
    "constant": constant,
    "one_template": one_template,
}


def scores(name: str, **changes: Any) -> Any:
    """New scores of a data set: no case sees what another one left behind."""
    if name.startswith("emb"):
        return embeddings(name, **changes)
    if name.startswith("pairs"):
        return pairs(name)
    given = {**MATRICES[name](), **changes}
    return be().Scores(given.pop("values"), **given)


def claims_of(name: str, options: dict[str, Any]) -> Lazy:
    """Scores of a data set, or of its claims where they have several templates or tries.

    The options that say so are taken out.
    """
    use = {x: options.pop(x) for x in ("attempts", "templates", "fusion") if x in options}
    if "attempts" not in use and use.get("templates") != "multi":
        return data(name)
    return Lazy(lambda: be().claim_scores(scores(name), **{"templates": "single", **use}))


def embeddings(name: str, **changes: Any) -> Any:
    x, who = points([5] * 24, 7, 0.6, 40)
    _, metric = name.split("_", 1)
    if metric == "watch":
        turn = np.tile(np.arange(5), 24)
        g, p = (turn < 2) & (who < 18), turn >= 2
        return be().Scores.from_embeddings(
            x[p], words(who[p]), x[g], words(who[g]), metric="l2", **changes
        )
    if metric == "bhattacharyya":
        x = np.abs(x)
        x = np.round(x / x.sum(axis=1, keepdims=True), 6)
    return be().Scores.from_embeddings(x, words(who), metric=metric, **changes)


def pairs(name: str) -> Any:
    """A list of pairs, with the subjects of both sides, or with folds, or with neither."""
    x, who = points([4] * 30, 6, 0.7, 41)
    i, j = np.triu_indices(who.size, 1)
    rng = np.random.default_rng(42)
    take = (who[i] == who[j]) | (rng.random(i.size) < 0.08)
    i, j = i[take], j[take]
    d = np.round(np.sqrt(((x[i] - x[j]) ** 2).sum(axis=1)), 5)
    genuine = who[i] == who[j]
    make = be().PairScores if hasattr(be(), "PairScores") else be().Scores.from_pairs
    if name == "pairs":
        return make(d, genuine, kind="distance")
    if name == "pairs_named":
        both = np.stack([words(who[i]), words(who[j])], axis=1)
        return make(d, genuine, kind="distance", subjects=both)
    if name == "pairs_folds":
        return make(10 - d, genuine, kind="similarity", pair_folds=np.arange(d.size) % 10)
    if name == "pairs_failed":
        bad = d.copy()
        bad[::17] = np.nan
        return make(bad, genuine, kind="distance", nan="reject")
    raise KeyError(name)


def top_lists(distances: bool = True, kind: str = "distance") -> Any:
    source = streets()
    order = np.argsort(source["values"], axis=1, kind="stable")[:, :15]
    d = np.take_along_axis(source["values"], order, axis=1)
    if kind == "similarity":
        d = 10 - d
    make = be().TopKScores if hasattr(be(), "TopKScores") else be().Scores.from_top_k
    return make(
        order,
        source["labels"],
        source["gallery_labels"],
        distances=d if distances else None,
        kind=kind,
        probe_meta=source["probe_meta"],
        gallery_meta=source["gallery_meta"],
    )


@functools.cache
def scene(seed: int = 50, cameras: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Tracks of six people and of a tracker: frame, id, left, top, width, height, flag, class, visible."""
    rng = np.random.default_rng(seed)
    truth, found = [], []
    name = dict(enumerate(range(1, 7)))
    for frame in range(1, 41):
        for who in range(6):
            left = 20 * who + 1.5 * frame * (-1) ** who + 100
            top = 50 + 8 * who
            if (frame + 5 * who) % 37 > 3:
                flag = int(who != 5)
                truth.append((frame, who + 1, left, top, 30, 60, flag, 1 if who < 5 else 8, 1))
            if rng.random() < 0.06:
                name[who] = max(name.values()) + 1
            if rng.random() < 0.88:
                shift = np.round(rng.normal(0, 4, 4), 1)
                box = (left + shift[0], top + shift[1], 30 + abs(shift[2]), 60 + abs(shift[3]))
                found.append((frame, name[who], *box, 1, 1, 1))
        if rng.random() < 0.3:
            found.append((frame, 900 + frame, 300.0, 10.0, 20.0, 30.0, 1, 1, 1))
    return np.array(truth, float), np.array(found, float)


# ------------------------------------------------------------------------------- taking results apart

Leaf = dict[str, Any]


class Record:
    """A flat list of leaves: node, variable, what it is."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.arrays: dict[str, np.ndarray] = {}

    def add(self, node: str, name: str, sort: str, value: Any, **more: Any) -> None:
        self.leaves.append({"node": node, "name": name, "sort": sort, "value": value, **more})

    def array(self, node: str, name: str, values: Any, dims: Any = None, sort: str = VALUE) -> None:
        values = np.asarray(values)
        more = {"dims": list(dims) if dims is not None else None, "shape": list(values.shape)}
        if values.dtype.kind in "biufc":
            key = f"a{len(self.arrays)}"
            self.arrays[key] = np.ascontiguousarray(values).reshape(values.shape)
            self.add(node, name, sort, None, array=key, dtype=values.dtype.str, **more)
        elif values.dtype.kind in "mM":
            key = f"a{len(self.arrays)}"
            self.arrays[key] = values.astype(np.int64)
            self.add(node, name, sort, None, array=key, dtype=values.dtype.str, **more)
        else:  # words: the length of the longest is no number of the result
            kind = "words" if values.dtype.kind in "UT" else values.dtype.kind
            listed = [plain(v) for v in values.reshape(-1).tolist()]
            self.add(node, name, sort, listed, dtype=kind, **more)


def plain(value: Any) -> Any:
    """A plain value that JSON keeps exactly; floats by the shortest text that gives their bits."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return {type(value).__name__: str(value)}


def is_text(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(v, str) for v in value)
    )


def attributes(record: Record, node: str, name: str, attrs: Mapping[Any, Any]) -> None:
    for key, value in attrs.items():
        if str(key) in VOLATILE:
            continue
        if isinstance(value, np.ndarray):
            kept: Any = {
                "dtype": value.dtype.str,
                "values": [plain(v) for v in value.ravel().tolist()],
            }
        elif isinstance(value, (list, tuple)):
            kept = [plain(v) for v in value]
        else:
            kept = plain(value)
        record.add(node, f"{name}@{key}" if name else f"@{key}", ATTRS, kept, text=is_text(kept))


def take_apart(record: Record, value: Any, node: str = "", name: str = "", depth: int = 0) -> None:
    """Add everything that a result holds; objects by their public data."""
    import xarray as xr

    package = be()
    if isinstance(value, xr.DataTree):
        attributes(record, node or "/", "", value.attrs)
        if value.data_vars or value.coords:
            take_apart(record, value.to_dataset(inherit=False), node or "/", depth=depth + 1)
        record.add(node or "/", "children", ATTRS, list(value.children), text=False)
        for child, below in value.children.items():
            take_apart(record, below, f"{node}/{child}", depth=depth + 1)
    elif isinstance(value, xr.Dataset):
        where = f"{node}.{name}" if name else node
        attributes(record, where, "", value.attrs)
        record.add(where, "order", ATTRS, [str(k) for k in value.variables], text=False)
        for key, variable in value.variables.items():
            record.array(where, str(key), variable.values, variable.dims)
            attributes(record, where, str(key), variable.attrs)
        record.add(where, "coords", VALUE, sorted(map(str, value.coords)))
    elif isinstance(value, xr.DataArray):
        record.array(node, name or str(value.name), value.values, value.dims)
        attributes(record, node, name or str(value.name), value.attrs)
    elif isinstance(value, np.ndarray):
        record.array(node, name, value)
    elif value is None or isinstance(value, (bool, int, float, str, bytes, np.generic)):
        record.add(node, name, VALUE, plain(value), type=type(value).__name__)
    elif isinstance(value, Text):
        record.add(node, name, TEXT, value.text)
    elif isinstance(value, Path):
        record.add(node, name, VALUE, value.name)
    elif isinstance(value, package.Scores) and value.layout not in ("pairs", "top-k"):
        take_scores(record, value, node, name)
    elif isinstance(value, package.Scores) and value.layout == "pairs":
        where = f"{node}.{name}" if name else node
        record.array(where, "scores", np.asarray(value.values))
        record.array(where, "genuine", np.asarray(value.genuine))
        record.add(where, "about", VALUE, [value.kind, value.nan, list(value.shape)])
    elif isinstance(value, package.Scores):
        record.add(node, name, VALUE, [list(value.shape), value.depth, value.gallery_size])
    elif isinstance(value, Mapping):
        where = f"{node}.{name}" if name else node
        record.add(where, "keys", ATTRS, [str(k) for k in value], text=False)
        for key, item in value.items():
            if str(key) not in VOLATILE:
                take_apart(record, item, where, str(key), depth + 1)
    elif isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        where = f"{node}.{name}" if name else node
        record.add(where, "length", VALUE, len(value))
        for i, item in enumerate(value):
            take_apart(record, item, where, str(i), depth + 1)
    elif hasattr(value, "_fields"):
        take_apart(record, {k: getattr(value, k) for k in value._fields}, node, name, depth + 1)
    elif hasattr(value, "ax_") and hasattr(value, "figure_"):
        take_display(record, value, f"{node}.{name}" if name else node)
    elif dataclasses.is_dataclass(value) and depth < 12:
        public = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        take_apart(record, public, node, name, depth + 1)
    else:
        record.add(node, name, TEXT, f"{type(value).__name__}")


def take_scores(record: Record, value: Any, node: str, name: str) -> None:
    where = f"{node}.{name}" if name else node
    record.array(where, "values", np.asarray(value.values))
    for side in ("probe", "gallery"):
        labels = getattr(value, f"{side}_labels")
        if labels is not None:
            record.array(where, f"{side}_labels", np.asarray(labels))
        for key, column in (getattr(value, f"{side}_meta") or {}).items():
            record.array(where, f"{side}_{key}", np.asarray(column))
    if value.mask is not None:
        record.array(where, "mask", np.asarray(value.mask))
    record.add(where, "about", VALUE, [value.kind, value.nan, value.layout, list(value.shape)])
    record.add(where, "fingerprint", TEXT, str(value.fingerprint))


def take_display(record: Record, display: Any, node: str) -> None:
    """The arrays behind a plot, and the data of what was drawn from them."""
    curves = getattr(display, "curves", None)
    if isinstance(curves, Mapping):
        for name, curve in curves.items():
            for part in ("x", "y", "low", "high"):
                values = getattr(curve, part, None)
                if values is not None:
                    record.array(f"{node}curve {name}", part, np.asarray(values))
    for name, values in sorted(vars(display).items()):
        if isinstance(values, np.ndarray) and not name.startswith("_"):
            record.array(node + "display", name, values)
    for i, ax in enumerate(display.figure_.axes):
        where = f"{node}axes{i}"
        for k, line in enumerate(ax.lines):
            x, y = line.get_xdata(orig=True), line.get_ydata(orig=True)
            record.array(where, f"line{k}.x", np.asarray(x))
            record.array(where, f"line{k}.y", np.asarray(y))
        for k, drawn in enumerate(ax.collections):
            offsets = np.ma.filled(np.asarray(drawn.get_offsets(), dtype=float), np.nan)
            record.array(where, f"collection{k}.offsets", offsets)
            paths = [p.vertices for p in drawn.get_paths()]
            if paths and sum(map(len, paths)) < 4000:
                record.array(where, f"collection{k}.paths", np.concatenate(paths))
            values = drawn.get_array()
            if values is not None and np.size(values) < 20000:
                record.array(
                    where, f"collection{k}.values", np.ma.filled(values.astype(float), np.nan)
                )
        for k, patch in enumerate(ax.patches):
            if hasattr(patch, "get_xy") and hasattr(patch, "get_height"):
                box = [*patch.get_xy(), patch.get_width(), patch.get_height()]
                record.array(where, f"patch{k}", np.asarray(box, dtype=float))
        for k, image in enumerate(ax.images):
            values = image.get_array()
            if values is not None and np.size(values) < 70000:
                record.array(where, f"image{k}", np.ma.getdata(values))
        record.array(where, "limits", np.asarray([*ax.get_xlim(), *ax.get_ylim()], dtype=float))
        said = [ax.get_title(), ax.get_title("left"), ax.get_xlabel(), ax.get_ylabel()]
        said += [t.get_text() for t in ax.texts]
        record.add(where, "texts", TEXT, said)


@dataclasses.dataclass(frozen=True)
class Text:
    """What is written for people."""

    text: str


# ------------------------------------------------------------------------------------------ cases

CASES: dict[str, Callable[[], Any]] = {}


def case(name: str, call: Callable[[], Any]) -> None:
    if name in CASES:
        raise ValueError(f"two cases are named {name}")
    CASES[name] = call


def later(function: str, *args: Any, **options: Any) -> Callable[[], Any]:
    """A call of a public function by its name; arguments that are functions are called first."""

    def call() -> Any:
        target: Any = be()
        for part in function.split("."):
            target = getattr(target, part)
        return target(*map(_now, args), **{k: _now(v) for k, v in options.items()})

    return call


def _now(value: Any) -> Any:
    return value() if isinstance(value, Lazy) else value


class Lazy:
    """A value that is made when a case is run."""

    def __init__(self, make: Callable[[], Any]):
        self.make = make

    def __call__(self) -> Any:
        return self.make()


def data(name: str, **changes: Any) -> Lazy:
    return Lazy(lambda: scores(name, **changes))


def few(method: str = "subject-bootstrap", confidence: float = 0.95) -> dict[str, Any]:
    """Intervals of few replicates."""
    of = be().stats.IntervalMethod
    return {"interval": of(method, confidence, replicates=100, random_state=5)}


GRID = 25
ALL_SETS = [
    *MATRICES,
    "emb_l2",
    "emb_cosine",
    "emb_l1",
    "emb_linf",
    "emb_bhattacharyya",
    "emb_watch",
]
PAIR_SETS = ["pairs", "pairs_named", "pairs_folds", "pairs_failed"]
INTERVALS = (
    "subject-bootstrap",
    "wilson",
    "clopper-pearson",
)
CARDS = (
    "cityflow course-all-vs-all course-experiment course-kfold-pairs course-kfold-probe-vs-gallery "
    "course-kfold course-probe-vs-gallery cuhk03-new cuhk03-torchreid cuhk03 dev-eval dukemtmc "
    "frte-11 frte-1n fvc2004 gom-market1501 identity-dedup ijbc-11 ijbc-1n lfw-blufr lfw-closed-set "
    "lfw-open-set lfw-view2 market1501-original market1501 msmt17 open-reid pairs vehicleid "
    "veri776-original veri776 viper voxceleb"
).split()
REID = (
    "cuhk03-new cuhk03-torchreid cuhk03 dukemtmc identity-dedup market1501-original market1501 "
    "msmt17 open-reid vehicleid veri776-original veri776 viper cityflow"
).split()
PLACES = ("pessimistic", "optimistic", "stable", "expected")


def text_of(options: Mapping[str, Any]) -> str:
    def word(value: Any) -> str:
        if isinstance(value, (list, tuple, np.ndarray)):
            return ",".join(word(v) for v in value)
        return str(getattr(value, "method", value))

    left_out = {"thresholds", "replicates", "random_state", "max_rank"}
    return " ".join(f"{k}={word(v)}" for k, v in options.items() if k not in left_out)


def cases_of_verification() -> None:
    for name in [*ALL_SETS, *PAIR_SETS]:
        for templates in ("single", "multi"):
            if name in PAIR_SETS and templates == "multi":
                continue
            case(
                f"verification/{name}/{templates}",
                later("verification", data(name), templates=templates, thresholds=GRID),
            )
    for name in ("square32", "watch", "ties", "reject", "exclude_watch", "sessions", "masked"):
        for fusion in ("mean", "max", "median", "kth:2"):
            options = {"templates": "multi", "fusion": fusion, "thresholds": GRID}
            case(
                f"verification/{name}/multi {fusion}", later("verification", data(name), **options)
            )
    variants: list[tuple[str, dict[str, Any]]] = [
        ("tiny", {"thresholds": [0.5, 1.0, 2.0, 5.0, 9.0]}),
        ("tiny", {"thresholds": [3.5]}),
        ("tiny", {}),
        ("ties", {"thresholds": np.arange(13.0)}),
        ("large", {"thresholds": 1000}),
        ("watch", {"thresholds": np.linspace(2, 10, 17)}),
        ("square32", {"far_targets": (0.5, 0.05, 0.02, 0.00001)}),
        ("watch", {"far_targets": (0.3,)}),
        ("square32", {"costs": ((0.5, 1.0, 1.0), (0.01, 10.0, 1.0), (0.9, 1, 5))}),
        ("uneven", {"auc": False}),
        ("uneven", {"auc": False, "templates": "multi"}),
        ("visits", {"attempts": "visit"}),
        ("visits", {"attempts": "visit", "templates": "multi", "fusion": "mean"}),
        ("columns", {"attempts": "visit"}),
        ("visits", {"attempts": "visit", **few()}),
        ("square32", {"templates": "none"}),
        ("square32", {"fusion": "kth:9", "templates": "multi"}),
        ("square32", {"interval": "no such"}),
    ]
    for i, (name, options) in enumerate(variants):
        thresholds = {} if "thresholds" in options or not i else {"thresholds": GRID}
        case(
            f"verification/{name}/variant{i} {text_of(options)[:60]}",
            later(
                "verification",
                claims_of(name, options) if "attempts" in options else data(name),
                **options,
                **thresholds,
            ),
        )
    for name, method in itertools.product(
        ("square32", "uneven", "watch", "reject_watch", "ties"), INTERVALS
    ):
        for templates in ("single", "multi"):
            if name in ("ties", "reject_watch") and templates == "multi":
                continue
            options = {"templates": templates, "thresholds": 12, **few(method)}
            case(
                f"verification/{name}/{templates} {method}",
                later("verification", data(name), **options),
            )
    for name, method in itertools.product(("pairs", "pairs_named"), INTERVALS):
        case(
            f"verification/{name}/single {method}",
            later("verification", data(name), thresholds=12, **few(method)),
        )
    case(
        "verification/large/single subject-bootstrap confidence=0.9",
        later(
            "verification",
            data("large"),
            thresholds=12,
            **few(confidence=0.9),
        ),
    )
    for name, share, per_probe in (
        ("square32", 0.5, 1),
        ("watch", 0.3, 3),
        ("columns", 0.1, 2),
        ("enrolled", 0.9, 1),
    ):
        for templates in ("single", "multi"):

            def drawn(
                name: str = name, share: float = share, per: int = per_probe, t: str = templates
            ) -> Any:
                sampler = be().partition.ClaimSampler(per, share, random_state=3)
                found = scores(name)
                claims = sampler.draw(found)
                return {
                    "drawn": claims,
                    "result": be().verification(found, templates=t, claims=claims, thresholds=GRID),
                    "sampler": be().verification(
                        found, templates=t, claims=sampler, thresholds=GRID
                    ),
                }

            case(f"verification/{name}/claims {share} {templates}", drawn)

    def claimed(rule: str) -> Any:
        found = scores("watch")
        claims = np.roll(found.probe_labels, 3)
        return be().verification(
            found, templates="multi", claims=claims, unenrolled_claims=rule, thresholds=GRID
        )

    for rule in ("raise", "skip"):
        case(f"verification/watch/claims given {rule}", functools.partial(claimed, rule))


def cases_of_identification() -> None:
    for name in ALL_SETS:
        case(
            f"open_set/{name}",
            later("open_set", data(name), thresholds=12, max_rank=8),
        )
        case(f"closed_set/{name}", later("closed_set", data(name), max_rank=12))
        case(
            f"closed_set/{name} skip", later("closed_set", data(name), max_rank=12, unmated="skip")
        )
    for name in ("square32", "watch", "ties", "ties_watch", "enrolled"):
        for unit, tie in itertools.product(("template", "subject"), PLACES):
            options = {"rank_unit": unit, "ties": tie, "max_rank": 8}
            case(
                f"open_set/{name} {unit} {tie}",
                later("open_set", data(name), thresholds=12, **options),
            )
            case(
                f"closed_set/{name} {unit} {tie}",
                later(
                    "closed_set",
                    data(name),
                    unmated="skip" if "watch" in name else "auto",
                    **options,
                ),
            )
            if name in ("ties", "ties_watch", "watch"):
                case(
                    f"ranks/{name} {unit} {tie}",
                    later("ranks", data(name), rank_unit=unit, ties=tie),
                )
    for name in ("square32", "ties_watch", "reject_watch"):
        for fusion in ("mean", "max", "median", "kth:2"):
            options = {"rank_unit": "subject", "fusion": fusion, "max_rank": 8}
            case(
                f"open_set/{name} {fusion}", later("open_set", data(name), thresholds=12, **options)
            )
            case(
                f"closed_set/{name} {fusion}",
                later("closed_set", data(name), unmated="skip", **options),
            )
    for name in ("square32", "watch", "uneven", "ties_watch"):
        for impostors in ("auto", "unenrolled", "leave-subject-out", "both"):
            options = {"impostors": impostors, "max_rank": 5, "thresholds": 12}
            case(f"open_set/{name} impostors={impostors}", later("open_set", data(name), **options))
        for unit in ("template", "subject"):
            options = {"gallery": "single", "rank_unit": unit, "max_rank": 6}
            mark = f"gallery=1 exact {unit}"
            case(f"open_set/{name} {mark}", later("open_set", data(name), thresholds=10, **options))
            case(f"closed_set/{name} {mark}", later("closed_set", data(name), **options))
    for name, method in itertools.product(("square32", "watch"), INTERVALS):
        options = {"max_rank": 6, **few(method)}
        case(f"open_set/{name} {method}", later("open_set", data(name), thresholds=10, **options))
        case(
            f"closed_set/{name} {method}",
            later("closed_set", data(name), unmated="skip", **options),
        )
    for name in ("columns", "reject", "exclude", "tiny", "streets", "emb_watch"):
        case(f"ranks/{name}", later("ranks", data(name)))
    case(
        "open_set/square32 far_targets",
        later(
            "open_set",
            data("square32"),
            thresholds=[0.5, 1.0, 2.0],
            far_targets=(0.3, 0.02),
            max_rank=3,
        ),
    )

    for name, kwargs in (
        ("square32", {}),
        ("ties", {"ties": "optimistic"}),
        ("ties", {"ties": "expected"}),
        ("uneven", {"fusion": "mean"}),
        ("enrolled", {"impostors": "both"}),
    ):
        case(
            f"gallery_size/{name} {text_of(kwargs)}",
            later("gallery_size", data(name), thresholds=10, max_rank=5, **kwargs),
        )


def cases_of_reid() -> None:
    sets = ("streets", "tied_streets", "failed_streets", "two_cameras", "watch", "columns")
    for convention, name in itertools.product(REID, sets):
        if name in ("watch", "columns") and convention not in (
            "market1501",
            "open-reid",
            "identity-dedup",
        ):
            continue
        case(
            f"reid/{name} {convention}",
            later("reid", data(name), convention, max_rank=20, per_query=name == "streets"),
        )
    variants: list[dict[str, Any]] = [
        *({"ties": tie} for tie in PLACES),
        {"rank_k": 5},
        {"rank_k": 10, "rank_k_over": "smaller"},
        {"rank_k": 10, "rank_k_over": "positives"},
        *({"ap": form} for form in ("sum", "trapezoid", "tied-once")),
        {"unmatched": "zero"},
        {"removed": "same-camera"},
        {"removed": "none"},
        {"removed_for_ap": "none"},
        {"removed_for_ap": "same-id-same-camera", "removed": "none"},
        {"junk": "keep"},
        {"junk": "remove", "junk_ids": (0,)},
        *({"cmc": c} for c in ("first-match", "allshots", "single-gallery-shot", "identity-dedup")),
        {"cmc": "single-gallery-shot", "ties": "expected"},
        {"cmc": "single-gallery-shot", "unmatched": "zero"},
        {"cmc": "allshots", "unmatched": "zero"},
        {"removed": "same-camera", "removed_for_ap": "same-id-same-camera"},
        {"cmc": "allshots", "removed": "same-camera"},
        {"thresholds": 15},
        {"thresholds": [0.5, 1.0, 2.0]},
    ]
    for i, options in enumerate(variants):
        for name in ("streets", "tied_streets"):
            case(
                f"reid/{name} variant{i + (i > 20)} {text_of(options)}",
                later("reid", data(name), **options, max_rank=15, per_query=True),
            )
    for method in INTERVALS:
        case(
            f"reid/streets {method}",
            later("reid", data("streets"), max_rank=10, **few(method)),
        )
        case(
            f"gom/streets {method}",
            later(
                "gom",
                data("streets"),
                max_rank=5,
                thresholds=np.linspace(0, 1, 11),
                **few(method),
            ),
        )
    for name in (
        "streets",
        "tied_streets",
        "failed_streets",
        "two_cameras",
        "watch",
        "columns",
        "emb_watch",
    ):
        for variant in ("paper", "reference"):
            case(
                f"gom/{name} {variant}",
                later(
                    "gom",
                    data(name),
                    variant=variant,
                    thresholds=np.linspace(0, 1, 21),
                    per_query=name == "streets",
                ),
            )
    for i, options in enumerate(
        (
            {"budget": 10},
            {"budget": 100, "variant": "reference"},
            {"scaled": False},
            {"scaled": True},
            {"max_rank": 2},
            {"ties": "pessimistic"},
            {"ties": "optimistic"},
            {"ties": "stable"},
            {"max_rank": 30},
            *(
                {"convention": c}
                for c in ("veri776", "msmt17", "vehicleid", "cuhk03", "open-reid", "gom-market1501")
            ),
        )
    ):
        case(
            f"gom/tied_streets variant{i} {text_of(options)}",
            later("gom", data("tied_streets"), thresholds=np.linspace(0, 1, 21), **options),
        )
    case("gom/default grid", later("gom", data("streets")))
    t = np.linspace(0, 1, 11)
    curves = {
        "mrep": np.round(t * 0.6, 4),
        "mfr": np.round(t**2, 4),
        "mrp": np.round(1 - t / 8, 4),
        "mvp": np.round(0.2 + t * 0.95, 4).clip(0, 1),
    }
    case(
        "gom_from_curves/four",
        later("gom_from_curves", t, **curves, name="drawn"),
    )
    case(
        "gom_from_curves/two",
        later("gom_from_curves", t, mrep=curves["mrep"], mfr=curves["mfr"]),
    )
    case(
        "gom_from_curves/cmc",
        later("gom_from_curves", t, **curves, cmc=[0.5, 0.7, 0.8]),
    )
    for i, options in enumerate(
        (
            {},
            {"removed": "same-id-same-camera"},
            {"removed": "same-camera", "junk": "remove"},
            {"junk": "remove", "junk_ids": (-1, 0)},
            {"unmatched": "zero"},
            {"rank_k": 10},
            {"rank_k": 10, "rank_k_over": "smaller"},
            {"max_rank": 5, "per_query": True},
        )
    ):
        for with_distances in (True, False):
            case(
                f"top_k/{'distances' if with_distances else 'orders'} {text_of(options)}{i}",
                later(
                    "reid",
                    Lazy(functools.partial(top_lists, with_distances)),
                    "top-k",
                    **{"junk_ids": (-1,), **options},
                ),
            )
    lists = Lazy(lambda: top_lists(True, "similarity"))
    case("top_k/similarities", later("reid", lists, "top-k", junk_ids=(-1,)))
    names = {
        "market1501": [
            "0002_c1s1_000451_03.jpg",
            "-1_c3s2_000001_00.jpg",
            "query/1501_c6s4_001902_01.jpg",
        ],
        "dukemtmc-reid": ["0001_c2_f0046182.jpg", "0005_c8_f0000001.jpg"],
        "msmt17": [
            "0000/0000_000_01_0303morning_0008_0.jpg",
            "0001/0001_012_15_0302noon_0123_2_ex.jpg",
        ],
        "veri776": ["0002_c002_00030600_0.jpg", "0776_c019_00084270_1.jpg"],
        "vehicleid": ["0000001 1", "0000002 13"],
    }
    for pattern, listed in names.items():
        case(f"parse_names/{pattern}", later("parse_names", listed, pattern))
    case("parse_names/wrong", later("parse_names", ["no name"], "market1501"))


def cases_of_cards() -> None:
    """Every card on every data set that may fit it; what does not fit is an error, and stays one."""
    sets = {
        "columns": data("columns"),
        "visits": data("visits"),
        "streets": data("streets"),
        "pairs_named": data("pairs_named"),
        "pairs_folds": data("pairs_folds"),
    }
    for card, (name, made) in itertools.product(CARDS, sets.items()):
        if card in REID and name in ("pairs_folds", "columns"):
            continue
        grid = {} if card in REID else {"thresholds": 12}
        options = {**grid, "max_rank": 8}
        case(f"evaluate/{name} {card}", later("evaluate", made, card, **options))
        if name == ("streets" if card in REID else "visits"):
            case(f"summary/{name} {card}", later("summary", made, card))
    for name in ("columns", "visits", "pairs_folds"):
        case(
            f"evaluate/{name} no grid",
            later(
                "evaluate", data(name), "course-kfold-pairs" if name == "pairs_folds" else "auto"
            ),
        )
    for name in ALL_SETS:
        case(
            f"evaluate/{name} auto",
            later("evaluate", data(name), thresholds=12, max_rank=8),
        )
        case(f"summary/{name} auto", later("summary", data(name)))
    for card in CARDS:
        case(f"protocol/{card}", functools.partial(explained, card))
    for name, method in (
        ("columns", "wilson"),
        ("visits", "subject-bootstrap"),
        ("columns", "subject-bootstrap"),
    ):
        case(
            f"evaluate/{name} interval={method}",
            later("evaluate", data(name), thresholds=12, max_rank=5, **few(method)),
        )
    case(
        "evaluate/columns far_targets no auc",
        later(
            "evaluate",
            data("columns"),
            far_targets=(0.2, 0.05),
            auc=False,
            thresholds=12,
            max_rank=5,
        ),
    )

    def both() -> Any:
        return be().evaluate({s.name: s for s in systems()}, thresholds=12, max_rank=5)

    case("evaluate/three systems", both)
    case("summary/three systems", lambda: be().summary({s.name: s for s in systems()}))
    case("summary/far_targets", later("summary", data("square32"), far_targets=(0.05,), auc=False))

    def own_card() -> Any:
        text = Path("own.toml")
        text.write_text(OWN_CARD, encoding="utf-8")
        return be().evaluate(scores("columns"), "own.toml", thresholds=12, max_rank=5)

    case("evaluate/own card", own_card)
    case("evaluate/no such card", later("evaluate", data("tiny"), "no-such-card"))
    for name in (*ALL_SETS, *PAIR_SETS):
        case(f"check_data/{name}", later("check_data", data(name)))
    case("check_data/market1501", later("check_data", data("streets"), "market1501"))
    case(
        "check_data/far",
        later("check_data", data("columns"), far_targets=(0.05, 1e-5), read_scores=False),
    )


OWN_CARD = """
schema = 1
name = "own"
title = "A card of this file"
summary = "Verification of several templates, and ranks of subjects."
layout = "all-against-all"
exclude = ["session"]
not_said = ["Everything else."]

[source]
text = "This file"

[verification]
templates = ["multi"]
fusion = "mean"

[closed_set]
rank_unit = "subject"
fusion = "mean"
ties = "expected"
unmated = "auto"

[thresholds]
count = 20

[report]
far_targets = [0.1, 0.03]
ranks = [1, 3]
"""


def explained(card: str) -> Any:
    """A shipped card as the command line explains it, and as it is recorded in results."""
    found = command("protocols", card, "--json")()
    return {"card": found}


def named(rule: float | str) -> str:
    """A threshold or a rule in the name of a case."""
    return str(rule).replace("=", ",") if isinstance(rule, str) else f"fixed,{rule}"


def cases_of_folds() -> None:
    rules = ("eer", "far=0.01", "hter", "accuracy", "cost=0.1,1.0,5.0", 2.0)

    def p(kind: str, *args: Any, **options: Any) -> Lazy:
        return Lazy(lambda: getattr(be().partition, kind)(*args, **options))

    folds = np.arange(180) // 6 % 3
    splitters: dict[str, Lazy] = {
        "SubjectKFold": p("SubjectKFold", 4),
        "SubjectKFold shuffled": p("SubjectKFold", 5, shuffle=True, random_state=1),
        "SubjectKFold stratify": p("SubjectKFold", 3, shuffle=True, random_state=1, stratify="sex"),
        "RepeatedSubjectKFold": p("SubjectKFold", 3, n_repeats=3, shuffle=True, random_state=2),
        "SubjectShuffleSplit": p("SubjectShuffleSplit", 4, test_size=0.4, random_state=3),
        "SubjectShuffleSplit numbers": p(
            "SubjectShuffleSplit", 3, test_size=8, train_size=12, random_state=3
        ),
        "SampleKFold": p("SampleKFold", 3, shuffle=True, random_state=4),
        "RepeatedSampleKFold": p("SampleKFold", 2, n_repeats=2, shuffle=True, random_state=4),
        "SampleShuffleSplit": p("SampleShuffleSplit", 3, test_size=0.5, random_state=5),
        "TrainValidationTest": p("TrainValidationTest", 0.3, 0.3, n_splits=3, random_state=6),
        "TrainValidationTest samples": p(
            "TrainValidationTest", 0.3, 0.3, unit="sample", n_splits=2, random_state=6
        ),
        "PredefinedFolds": p("PredefinedFolds", folds),
        "Experiment": p("Experiment", 0.5, None, 2, 0.3, repeats=3, random_state=7),
        "Experiment validation": p("Experiment", 0.3, 0.3, 3, 0.25, repeats=3, random_state=7),
        "Experiment sessions": p(
            "Experiment", 0.5, None, {"session": 1}, 0.3, repeats=3, random_state=7
        ),
        "Experiment galleries": p("Experiment", None, None, 2, 0.3, repeats=3, random_state=7),
        "Experiment probes": p(
            "Experiment", 12, None, 2, 6, probe_templates=2, repeats=2, random_state=8
        ),
        "ProbeGallerySplit": p("ProbeGallerySplit", 2, n_repeats=3, random_state=9),
        "ProbeGallerySplit enrol": p("ProbeGallerySplit", enrol={"session": 1}),
        "ProbeGallerySplit quality": p("ProbeGallerySplit", 2, quality="quality"),
        "EnrolledSplit": Lazy(
            lambda: be().partition.EnrolledSplit(
                be().partition.ProbeGallerySplit(2), unenrolled=0.3, n_repeats=2, random_state=9
            )
        ),
    }

    def split(make: Lazy) -> Any:
        found = scores("columns")
        splitter = make()
        x, y = np.zeros((180, 1)), found.probe_labels
        try:  # by sample indices, as scikit-learn does it
            parts = list(splitter.split(x, y))
        except Exception:  # splitters that need metadata take the scores
            parts = list(splitter.split(found))
        return [[np.asarray(part) for part in fold] for fold in parts]

    for name, make in splitters.items():
        case(f"partition/{name}", functools.partial(split, make))
        for task in ("verification", "open_set", "closed_set"):
            options = {"threshold": "far=0.05", "task": task}
            case(
                f"cross_evaluate/columns {name} {task}",
                later("cross_evaluate", data("columns"), make, **options),
            )
        case(
            f"repeat/columns {name}",
            later("repeat", data("columns"), make, curves=True, thresholds=10, max_rank=6),
        )
    halves = splitters["RepeatedSubjectKFold"]
    for rule in rules:
        for name in ("columns", "visits", "ties", "reject", "square32", "watch"):
            case(
                f"cross_evaluate/{name} rule={named(rule)}",
                later("cross_evaluate", data(name), halves, threshold=rule),
            )
    for i, options in enumerate(
        (
            {"templates": "multi"},
            {"templates": "multi", "fusion": "mean"},
            few("people"),
            {"task": "open_set", "rank_unit": "subject", "ties": "optimistic", "ranks": (1, 3)},
            {"task": "closed_set", "rank_unit": "subject", "ties": "expected"},
            {"far_targets": (0.1, 0.01)},
            few("people", confidence=0.8),
            {"claims": Lazy(lambda: be().partition.ClaimSampler(2, 0.3, random_state=1))},
        )
    ):
        case(
            f"cross_evaluate/columns variant{i}",
            later("cross_evaluate", claims_of("columns", options), halves, **options),
        )
    case(
        "cross_evaluate/pairs_named",
        later("cross_evaluate", data("pairs_named"), p("SubjectKFold", 3), threshold="accuracy"),
    )
    pair_folds = Lazy(
        lambda: be().partition.PredefinedPairFolds(
            pairs("pairs_folds").folds
            if hasattr(pairs("pairs_folds"), "folds")
            else np.arange(pairs("pairs_folds").shape[0]) % 10
        )
    )
    case(
        "cross_evaluate/pairs_folds",
        later("cross_evaluate", data("pairs_folds"), pair_folds, threshold="accuracy"),
    )

    def trained(splitter: Lazy, **options: Any) -> Any:
        x, who = points([5] * 24, 12, 0.9, 60)
        return be().cross_evaluate(x, splitter(), y=who, estimator=Centred(), **options)

    case("cross_evaluate/estimator l2", lambda: trained(p("SubjectKFold", 3), metric="l2"))
    case(
        "cross_evaluate/estimator cosine",
        lambda: trained(p("SubjectKFold", 3), metric="cosine", threshold="far=0.05"),
    )
    case(
        "cross_evaluate/estimator validation",
        lambda: trained(
            p("TrainValidationTest", 0.3, 0.3, n_splits=2, random_state=1), metric="l2"
        ),
    )
    case(
        "cross_evaluate/estimator closed_set",
        lambda: trained(p("SubjectKFold", 3), metric="l2", task="closed_set"),
    )

    def calibrated(estimator: Any, given: Any) -> Any:
        return be().cross_evaluate(
            given, be().partition.SubjectKFold(4), estimator=estimator, threshold="eer"
        )

    case(
        "cross_evaluate/Calibrator",
        lambda: calibrated(be().Calibrator("logistic"), scores("columns")),
    )
    case(
        "cross_evaluate/Fusion",
        lambda: calibrated(be().SystemFusion("logistic"), {s.name: s for s in systems()}),
    )

    def scored(measure: str, **options: Any) -> Any:
        x, who = points([5] * 20, 8, 0.8, 61)
        return be().make_scorer(measure, **options)(Centred().fit(x, who), x, who)

    for measure in ("eer", "frr_at_far", "auc", "recognition_rate"):
        case(f"make_scorer/{measure}", functools.partial(scored, measure, far_target=0.05))

    def eer_scorer() -> Any:
        x, who = points([5] * 20, 8, 0.8, 61)
        return be().eer_scorer(Centred().fit(x, who), x, who)

    case("eer_scorer", eer_scorer)
    for target in ("far=0.01", "eer", "hter", "cost=0.5,1,1", 2.0):
        for name in ("square32", "watch", "pairs_named"):
            case(
                f"study_threshold/{name} {named(target)}",
                later(
                    "study_threshold",
                    data(name),
                    target,
                    folds=4,
                    repeats=3,
                    random_state=5,
                    **few(),
                ),
            )
    case(
        "study_threshold/columns multi",
        later(
            "study_threshold",
            claims_of("columns", {"templates": "multi", "fusion": "mean"}),
            "far=0.02",
            folds=3,
            repeats=2,
            random_state=5,
            **few(),
        ),
    )


class Centred:
    """A small estimator without any library: the mean of the training data is taken away."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def __repr__(self) -> str:
        return f"Centred({self.scale})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"scale": self.scale}

    def set_params(self, **given: Any) -> Centred:
        self.scale = given.get("scale", self.scale)
        return self

    def fit(self, X: Any, y: Any = None) -> Centred:
        self.mean_ = np.round(np.asarray(X).mean(axis=0), 6)
        self.kept_ = np.round(np.asarray(X).std(axis=0), 6)
        return self

    def transform(self, X: Any) -> np.ndarray:
        return np.round(self.scale * (np.asarray(X) - self.mean_) / self.kept_, 6)


def cases_of_people() -> None:
    for name in ("square32", "uneven", "watch", "ties", "reject", "columns", "exclude_watch"):
        case(
            f"zoo/{name} single",
            later("zoo", data(name), permutations=50, random_state=1),
        )
    for i, options in enumerate(
        (
            {"threshold": "far=0.01"},
            {"threshold": 2.0},
            {"quantile": 0.1},
        )
    ):
        case(
            f"zoo/columns variant{i}",
            later("zoo", data("columns"), permutations=50, random_state=1, **options),
        )
    for name in ("columns", "visits"):
        for i, options in enumerate(
            (
                {},
                {"threshold": "far=0.02"},
                {"threshold": 2.0, "alpha": 0.2},
                {"templates": "multi", "fusion": "mean"},
                few("people"),
            )
        ):
            case(
                f"by_group/{name} variant{i}",
                later("by_group", claims_of(name, options), "sex", **options),
            )
        for i, options in enumerate(
            (
                {"threshold": "eer"},
                {"threshold": 2.0, "fractions": (0.0, 0.1, 0.2, 0.5, 0.9, 1.0)},
                {"threshold": "far=0.01"},
            )
        ):
            case(
                f"error_discard/{name} variant{i}",
                later("error_discard", data(name), "quality", **options),
            )
    case("by_group/camera", later("by_group", data("columns"), "camera"))
    case(
        "by_group/array",
        later("by_group", data("square32"), np.repeat(np.arange(50) % 3, 5), threshold="hter"),
    )
    for name in (
        "square32",
        "ties",
        "watch",
        "columns",
        "pairs",
        "pairs_named",
        "reject",
        "streets",
        "tiny",
    ):
        case(f"worst_pairs/{name}", later("worst_pairs", data(name), 7))
    for name, threshold in itertools.product(
        ("columns", "watch", "tiny", "ties"), (None, "eer", 2.0)
    ):
        case(f"explain/{name} {threshold}", later("explain", data(name), 3, threshold=threshold))
    case("explain/name", later("explain", data("columns"), "02_3"))
    case("explain/text", lambda: Text(str(be().explain(scores("columns"), 5))))
    for name in ("tiny", "tiny ties"):
        case(
            f"step_by_step/{name}",
            later(
                "step_by_step", data("tiny") if name == "tiny" else data("constant"), threshold=3.5
            ),
        )

    def rates() -> Any:
        return be().step_by_step(scores("tiny"), threshold=5.0).rates

    case("step_by_step/rates", rates)
    for fta, fte in ((0.02, 0.0), (0.0, 0.01), (0.1, 0.2)):
        case(
            f"with_failures/{fta} {fte}",
            lambda a=fta, b=fte: be().with_failures(
                be().verification(scores("watch"), thresholds=12), fta=a, fte=b
            ),
        )
    case(
        "with_failures/tree",
        lambda: be().with_failures(
            be().evaluate(scores("columns"), thresholds=12, max_rank=4), fta=0.05
        ),
    )


def cases_of_two() -> None:
    def two(**options: Any) -> Any:
        a, b, _ = systems()
        return be().compare(a, b, **(few() | options))

    for i, options in enumerate(
        (
            {},
            None,
            None,
            {"far_targets": (0.05,)},
            {"rank_unit": "subject", "ties": "expected"},
            {"adjust": "holm"},
            few(confidence=0.8),
            {"impostors": "leave-subject-out"},
        )
    ):
        if options is not None:
            case(f"compare/variant{i} {text_of(options)}", functools.partial(two, **options))
    case("compare/kinds", lambda: be().compare(systems()[0], systems()[2], **few()))
    case("compare/other people", lambda: be().compare(systems()[0], scores("uneven"), **few()))
    for card in ("market1501", "veri776", "cuhk03", "vehicleid"):
        case(f"compare/{card}", lambda c=card: be().compare(*watch_systems(), protocol=c, **few()))
    case("compare/watch", lambda: be().compare(*watch_systems(), **few()))

    for method, scale in itertools.product(
        ("mean", "min", "max", "product", "weighted", "logistic"), ("none", "min-max", "z", "tanh")
    ):

        def fused(method: str = method, scale: str = scale) -> Any:
            options = (
                {"weights": {"alpha": 2.0, "beta": 1.0, "gamma": 0.5}}
                if method == "weighted"
                else {}
            )
            return be().fuse({s.name: s for s in systems()}, method, normalise=scale, **options)

        case(f"fuse/{method} {scale}", fused)
    case(
        "fuse/train",
        lambda: be().fuse(
            {s.name: s.select(np.arange(40, 100)) for s in systems(2)},
            "logistic",
            train={s.name: s.select(np.arange(40)) for s in systems(2)},
        ),
    )

    def learnt() -> Any:
        fusion = be().SystemFusion("logistic", normalise="z").fit({s.name: s for s in systems()})
        return {
            "weights": fusion.weights_,
            "result": fusion.transform({s.name: s for s in systems()}),
        }

    case("Fusion/logistic", learnt)
    for method in ("z", "t", "s", "zt", "as"):

        def normal(method: str = method) -> Any:
            whole = scores("square32")
            rows, cohort = np.arange(0, 150), np.arange(150, 250)
            values, labels = (
                MATRICES["square32"]()["values"],
                MATRICES["square32"]()["labels"],
            )
            package = be()
            target = package.Scores(
                values[np.ix_(rows[75:], rows[:75])], labels[75:150], labels[:75] + 15
            )
            against = package.Scores(
                values[np.ix_(cohort, rows[:75])], labels[cohort], labels[:75] + 15
            )
            probes = package.Scores(
                values[np.ix_(rows[75:], cohort)], labels[75:150], labels[cohort]
            )
            among = whole.select(cohort, cohort)
            options: dict[str, Any] = {
                "z": {"gallery_cohort": against},
                "t": {"probe_cohort": probes},
                "s": {"gallery_cohort": against, "probe_cohort": probes},
                "zt": {"gallery_cohort": against, "probe_cohort": probes, "cohort": among},
                "as": {"gallery_cohort": against, "probe_cohort": probes, "top": 20},
            }[method]
            return package.normalise(target, method, **options)

        case(f"normalise/{method}", normal)
    for method, name in itertools.product(
        ("logistic", "pav"), ("square32", "watch", "ties", "uneven")
    ):

        def calibrated(method: str = method, name: str = name) -> Any:
            made = be().Calibrator(method, prior=0.3).fit(scores(name))
            out = made.transform(scores(name))
            return {"llr": out, "calibration": be().calibration(out, priors=(0.5, 0.01))}

        case(f"Calibrator/{name} {method}", calibrated)
    for name in ("ratios", "square32", "watch", "ties", "pairs", "reject"):
        for templates in ("single", "multi"):
            if name == "pairs" and templates == "multi":
                continue
            case(
                f"calibration/{name} {templates}",
                later("calibration", claims_of(name, {"templates": templates})),
            )
    case("calibration/costs", later("calibration", data("ratios"), (0.3, 0.02), costs=(10.0, 1.0)))

    for name in ("square32", "watch", "ties", "pairs"):
        case(
            f"epc/{name}",
            later(
                "epc",
                data(name),
                data(name) if name == "pairs" else data(name),
                alphas=(0.1, 0.3, 0.5, 0.9),
            ),
        )
    case(
        "epc/two sets",
        lambda: be().epc(
            be().claim_scores(scores("square32"), fusion="mean"),
            be().claim_scores(scores("large", kind="distance"), fusion="mean"),
        ),
    )
    case("epc/systems", lambda: be().epc(systems()[0], systems()[1]))


def cases_of_plans() -> None:
    for i, options in enumerate(
        (
            {"far": 1e-3, "frr_width": 0.02},
            {"far": 1e-2, "frr_width": 0.02},
            {"threshold": 2.0, "n_templates": (2, 4)},
            {"confidence": 0.9, "far": 0.01},
        )
    ):
        case(f"sample_size/pilot variant{i}", later("sample_size", data("square32"), **options))
        case(f"sample_size/watch variant{i}", later("sample_size", data("watch"), **options))
    for i, options in enumerate(
        (
            {"frr": 0.02, "icc": 0.2},
            {"frr": 0.05, "icc": 0.1, "n_templates": (3, 6)},
            {"frr": 0.02},
        )
    ):
        case(f"sample_size/no pilot variant{i}", later("sample_size", far=1e-3, **options))
    flat = {"people_per_day": 2000, "impostor_share": 0.01}
    case("workload/rates", later("workload", {"far": 0.001, "frr": 0.02}, **flat))
    case(
        "workload/limits",
        later(
            "workload",
            {"far": 0.001, "far_low": 0.0005, "far_high": 0.002, "frr": 0.02},
            **flat,
            days=(1, 7),
        ),
    )
    case("workload/list", later("workload", {"fpir": 0.01, "fnir": 0.1}, **flat, days=10))
    case(
        "workload/verification",
        lambda: be().workload(
            be().verification(scores("square32"), thresholds=12, **few()),
            threshold="far=0.01",
            **flat,
        ),
    )
    case(
        "workload/threshold",
        lambda: be().workload(
            be().verification(scores("square32"), interval="wilson", thresholds=[2.0]), **flat
        ),
    )
    case(
        "workload/open set",
        lambda: be().workload(
            be().open_set(scores("watch"), thresholds=12, max_rank=3), threshold="far=0.1", **flat
        ),
    )
    models: list[dict[str, Any]] = [
        {},
        {"sessions": 2, "session_sd": 0.3},
        {"cameras": 3, "camera_sd": 0.3},
        {"metric": "cosine", "dimensions": 8, "between": 2.0, "within": 0.5},
        {"layout": "probe-against-gallery", "probes": 2, "unenrolled": 4},
        {
            "layout": "probe-against-gallery",
            "probes": (1, 3),
            "unenrolled": 0.2,
            "n_templates": (1, 4),
        },
        {"model": "gaussian-scores", "d_prime": 2.5, "kind": "similarity"},
        {
            "model": "gaussian-scores",
            "goat_sd": 0.5,
            "wolf_sd": 0.3,
            "lamb_sd": 0.2,
            "genuine_sd": 1.5,
        },
        {"kind": "similarity"},
    ]
    for i, options in enumerate(models):
        case(
            f"simulate/variant{i} {text_of(options)[:50]}",
            later("simulate", **{"n_subjects": 12, "n_templates": 3, "random_state": 4, **options}),
        )
        if not {"model", "metric", "kind"} & set(options):
            case(
                f"simulate_embeddings/variant{i}",
                later(
                    "simulate_embeddings",
                    **{"n_subjects": 12, "n_templates": 3, "random_state": 4, **options},
                ),
            )

    s = "stats."
    rng = np.random.default_rng(70)
    attempts = rng.integers(1, 30, 40)
    errors = np.minimum(rng.integers(0, 4, 40), attempts)
    # So that what is drawn below stays as it was recorded.
    rng.integers(1, 6, (20, 20)), rng.integers(0, 3, (20, 20)), rng.random((20, 20))
    for k, n in ((0, 10), (3, 100), (100, 100), (17, 1000)):
        case(f"stats/wilson {k} {n}", later(s + "wilson", k, n))
        for side in ("both", "lower", "upper"):
            case(
                f"stats/clopper_pearson {k} {n} {side}",
                later(s + "clopper_pearson", k, n, 0.9, side),
            )
    case("stats/wilson array", later(s + "wilson", errors, attempts, 0.99))
    case("stats/rule_of_3", later(s + "rule_of_3", np.array([1, 10, 1000])))
    case("stats/rule_of_30", later(s + "rule_of_30", np.array([0.1, 0.01, 0.5])))
    case("stats/zero_error_bound", later(s + "zero_error_bound", np.array([1, 10, 300]), 0.9))
    rng.normal(1, 1, 60), rng.normal(3, 1, 90)  # so that what is drawn below stays
    rng.integers(0, 12, 180)  # as it was recorded
    case("stats/nadeau_bengio", later(s + "nadeau_bengio", np.round(rng.random(10), 3), 4, 36))
    case("stats/METHODS", lambda: list(be().stats.METHODS))


def cases_of_tracking() -> None:
    truth, found = scene()
    for i, options in enumerate(
        (
            {},
            {"pairing": "previous-frame"},
            {"iou": 0.3},
            {"iou": 0.7, "pairing": "previous-frame"},
            {"mostly_tracked": "more-than"},
            {"frames": 60},
            *({"ignored": k} for k in ("mot20", "remove", "count")),
        )
    ):
        case(f"tracking/variant{i} {text_of(options)}", later("tracking", truth, found, **options))
    other_truth, other_found = scene(51)
    case(
        "tracking/sequences",
        later(
            "tracking",
            {"a": truth, "b": other_truth},
            {"a": found, "b": other_found},
        ),
    )
    case(
        "tracking/cityflow",
        later(
            "tracking",
            np.column_stack([np.ones(len(truth)), truth[:, 1], truth[:, 0], truth[:, 2:6]]),
            np.column_stack([np.ones(len(found)), found[:, 1], found[:, 0], found[:, 2:6]]),
            columns="cityflow",
        ),
    )
    small = [(1, 1, 0, 0, 10, 10), (2, 1, 0, 0, 10, 10), (3, 1, 0, 0, 10, 10)]
    result = [
        (1, 1, 0, 0, 10, 10),
        (2, 3, 50, 0, 10, 10),
        (3, 1, 2, 0, 10, 10),
        (3, 2, 1, 0, 10, 10),
    ]
    for pairing in ("last-known", "previous-frame"):
        case(f"tracking/by hand {pairing}", later("tracking", small, result, pairing=pairing))


def cases_of_files() -> None:
    def saved(name: str, ending: str) -> Any:
        be().save(scores(name), f"kept{ending}")
        return be().load(f"kept{ending}")

    def streamed(name: str, size: int | str | None) -> Any:
        with be().set_options(memory_limit=size):
            made = scores(name)._with(_limited=False)
        return be().evaluate(made, thresholds=12, max_rank=5)

    for name in ("columns", "watch", "pairs_named", "masked", "reject", "over_years"):
        for ending in (
            ".npz",
            ".csv",
            ".parquet",
        ):
            if ending != ".npz" and name not in ("watch", "pairs_named"):
                continue
            case(f"save and load/{name} {ending}", functools.partial(saved, name, ending))
    for name, size in (("emb_l2", None), ("emb_cosine", "20KiB"), ("emb_watch", 20000)):
        case(f"streamed/{name}", functools.partial(streamed, name, size))
    case(
        "select/columns",
        lambda: scores("columns").select(np.arange(0, 180, 2), np.arange(1, 180, 3)),
    )
    case(
        "select/evaluated",
        lambda: be().evaluate(
            scores("watch").select(np.arange(0, 120, 2)), thresholds=12, max_rank=5
        ),
    )
    case(
        "excluding/columns",
        lambda: be().verification(scores("columns").excluding("camera"), thresholds=12),
    )
    case(
        "at_pairs/columns",
        lambda: be().verification(
            scores("columns").at_pairs(np.arange(170), np.arange(170) + np.arange(170) % 9 + 1),
            thresholds=12,
        ),
    )
    case(
        "from_pairs",
        lambda: be().verification(
            be().Scores.from_pairs([0.1, 0.2, 0.9, 0.7, 0.3], [1, 1, 0, 0, 0]), thresholds=5
        ),
    )
    for dtype in ("float16", "float32", "uint8", "int64", ">f8", "bool"):

        def typed(dtype: str = dtype) -> Any:
            values = np.floor(MATRICES["square32"]()["values"] * 3)
            values = (values > 6).astype(dtype) if dtype == "bool" else values.astype(dtype)
            return be().verification(
                be().Scores(values, MATRICES["square32"]()["labels"]), thresholds=12
            )

        case(f"verification/dtype {dtype}", typed)


def cases_of_plots() -> None:
    import_plot = "plot."

    def drawn(name: str, make: Callable[[], Any], **options: Any) -> Any:
        import matplotlib.pyplot as plt

        made = make()
        try:
            return getattr(be().plot, name)(made, **options)
        finally:
            plt.close("all")

    def one(name: str, mark: str, make: Callable[[], Any], **options: Any) -> None:
        case(f"{import_plot}{name}/{mark}", functools.partial(drawn, name, make, **options))

    def ver(name: str = "square32", **options: Any) -> Callable[[], Any]:
        return lambda: be().verification(scores(name), thresholds=GRID, **options)

    def two() -> Any:
        return {k: be().verification(scores(k), thresholds=GRID) for k in ("square32", "watch")}

    for name in ("roc", "det", "error_rates"):
        one(name, "one", ver())
        one(name, "similarities", ver("watch"))
        one(name, "interval", ver(interval="wilson"))
        if name != "error_rates":
            one(name, "two", two)
    one("roc", "log", ver(), log=True)
    one("error_rates", "log", ver(), log=True)
    opened = lambda: be().open_set(scores("watch"), thresholds=12, max_rank=8)  # noqa: E731
    one("dir_far", "one", opened, ranks=(1, 3))
    one("dir_far", "log", opened, ranks=(1, 5), log=True)
    closed = lambda: be().closed_set(scores("square32"), max_rank=20)  # noqa: E731
    one("cmc", "one", closed)
    one("cmc", "ranks", closed, max_rank=5)
    one("cmc", "reid", lambda: be().reid(scores("streets"), max_rank=20))
    one("gom", "one", lambda: be().gom(scores("streets"), thresholds=np.linspace(0, 1, 11)))
    one("precision_recall", "one", lambda: be().reid(scores("streets"), max_rank=20))
    one(
        "gallery_size",
        "one",
        lambda: be().gallery_size(scores("square32"), [5, 10, 20, 50], thresholds=10, max_rank=5),
        ranks=(1, 5),
    )
    repeated = lambda: be().partition.SubjectKFold(2, n_repeats=3, shuffle=True, random_state=1)  # noqa: E731
    curves = lambda: be().repeat(  # noqa: E731
        scores("columns"), repeated(), curves=True, thresholds=10, max_rank=6
    )
    for node in ("verification/single", "open_set", "closed_set"):
        one("repeated", node, lambda node=node: curves()[node])
    one("folds", "one", lambda: be().cross_evaluate(scores("columns"), repeated()))
    one("spread", "one", lambda: be().cross_evaluate(scores("columns"), repeated()))
    one("spread", "repeat", lambda: curves()["verification/single"])
    one(
        "threshold_study",
        "one",
        lambda: be().study_threshold(
            scores("columns"), folds=3, repeats=2, random_state=5, **few()
        ),
    )
    zooed = lambda: be().zoo(scores("columns"), permutations=20)  # noqa: E731
    one("zoo", "one", zooed)
    one("groups", "one", lambda: be().by_group(scores("columns"), "sex"))
    one(
        "groups",
        "interval",
        lambda: be().by_group(scores("columns"), "sex", **few("people")),
    )
    one("epc", "one", lambda: be().epc(systems()[0], systems()[1], alphas=(0.1, 0.5, 0.9)))
    one(
        "error_discard",
        "one",
        lambda: be().error_discard(scores("columns"), "quality", threshold="eer"),
    )
    tracked = lambda: be().tracking(*scene())  # noqa: E731
    one("hota", "one", tracked)
    cal = lambda: be().calibration(scores("ratios"))  # noqa: E731
    for name in ("reliability", "tippett", "empirical_cross_entropy", "bayes_error"):
        one(name, "one", cal)
        one(
            name,
            "two",
            lambda: {
                "a": be().calibration(scores("ratios")),
                "b": be().calibration(scores("square32")),
            },
        )
    for name in ("square32", "watch", "ties", "pairs"):
        one("score_distributions", name, lambda n=name: scores(n))
    one(
        "score_distributions",
        "threshold",
        lambda: scores("square32"),
        thresholds={"t": 2.0},
        log=True,
    )
    for name in ("tiny", "watch", "masked", "reject", "large"):
        one("matrix", name, lambda n=name: scores(n), pixels=60)

    def saved_all() -> Any:
        found = scores("columns")
        tree = be().evaluate(found, thresholds=12, max_rank=5)
        return sorted(p.name for p in be().plot.save_all(tree, found, "plots", ("svg",)))

    case("plot.save_all/names", saved_all)

    def saved() -> Any:
        return be().plot.save(be().plot.roc(be().verification(scores("tiny"))), "roc.svg")

    case("plot.save/name", saved)

    def page() -> Any:
        be().report(
            be().evaluate(scores("columns"), thresholds=12, max_rank=5), "page.html", title="A page"
        )
        return Path("page.html").stat().st_size > 10000

    case("report/written", page)


# ---------------------------------------------------------------------------------- command line


def write_files() -> None:
    """The data sets as files, beside the cases that read them."""

    def put(path: str, name: str) -> None:
        given = dict(MATRICES[name]())
        out: dict[str, Any] = {"scores": given["values"], "kind": given["kind"]}
        for side in ("probe", "gallery"):
            labels = {"probe": "labels", "gallery": "gallery_labels"}[side]
            if labels in given:
                out[f"{side}_labels"] = given[labels]
            for key, column in given.get(f"{side}_meta", {}).items():
                column = np.asarray(column)
                if column.dtype.kind == "M":
                    column = np.where(np.isnat(column), "", np.datetime_as_string(column, unit="D"))
                out[f"{side}_{key}"] = column
        if "mask" in given:
            out["mask"] = given["mask"]
        np.savez(path, **out)

    for name in (
        "square32",
        "uneven",
        "watch",
        "ties",
        "columns",
        "visits",
        "streets",
        "tiny",
        "large",
        "masked",
        "ratios",
        "enrolled",
        "over_years",
        "two_cameras",
        "tied_streets",
    ):
        put(f"{name}.npz", name)
    put("failed.npz", "raise")
    for s in systems():
        np.savez(
            f"{s.name}.npz",
            scores=np.asarray(s.values),
            labels=np.asarray(s.probe_labels),
            kind=s.kind,
        )
    for i, s in enumerate(watch_systems()):
        source = streets()
        np.savez(
            f"street{i}.npz",
            scores=np.asarray(s.values),
            kind="distance",
            labels=source["labels"],
            gallery_labels=source["gallery_labels"],
            probe_camera=source["probe_meta"]["camera"],
            gallery_camera=source["gallery_meta"]["camera"],
        )
    x, who = points([5] * 24, 7, 0.6, 40)
    np.savez("faces.npz", features=x, subject=words(who), session=np.tile([1, 1, 2, 2, 3], 24))
    np.save("matrix.npy", MATRICES["tiny"]()["values"])
    Path("people.csv").write_text("label,camera\nann,1\nann,2\nbob,1\nbob,2\ncat,1\ncat,2\n")
    Path("trials.txt").write_text(
        "".join(
            f"{'target' if i % 3 == 0 else 'nontarget'} {(i * 37 % 101) / 50 + (i % 3 == 0):.3f}\n"
            for i in range(90)
        )
    )
    rows = ["distance,genuine,subject_a,subject_b"]
    i, j = np.triu_indices(120, 1)
    d = apart(x, x, 4)
    for a, b in zip(i, j, strict=True):
        if who[a] == who[b] or (7 * a + 3 * b) % 11 == 0:
            rows.append(f"{d[a, b]},{int(who[a] == who[b])},s{who[a]},s{who[b]}")
    Path("pairs.csv").write_text("\n".join(rows) + "\n")
    Path("grid10.txt").write_text("\n".join(f"{t:.2f}" for t in np.linspace(2, 11, 19)) + "\n")
    for name, seed in (("", 50), ("2", 51)):
        truth, found = scene(seed)
        for kind, table in (("gt", truth), ("result", found)):
            np.savetxt(f"{kind}{name}.txt", table, delimiter=",", fmt="%g")
    for seed, sequence in ((50, "one"), (51, "two")):
        truth, found = scene(seed)
        Path(f"mot/gt/{sequence}/gt").mkdir(parents=True, exist_ok=True)
        Path("mot/found").mkdir(parents=True, exist_ok=True)
        np.savetxt(f"mot/gt/{sequence}/gt/gt.txt", truth, delimiter=",", fmt="%g")
        Path(f"mot/gt/{sequence}/seqinfo.ini").write_text(
            f"[Sequence]\nname={sequence}\nseqLength=40\nframeRate=10\n"
        )
        np.savetxt(f"mot/found/{sequence}.txt", found, delimiter=",", fmt="%g")


def run_main(args: list[str]) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output and error."""
    from bioeval.__main__ import main

    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        old = os.dup(1), os.dup(2)
        before = sys.stdout, sys.stderr
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)
        try:
            try:
                code = main(args)
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            sys.stdout, sys.stderr = before
            os.dup2(old[0], 1)
            os.dup2(old[1], 2)
            os.close(old[0])
            os.close(old[1])
        out.seek(0)
        err.seek(0)
        return (
            code or 0,
            out.read().decode("utf-8", "replace"),
            err.read().decode("utf-8", "replace"),
        )


def without_volatile(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_volatile(v) for k, v in value.items() if k not in VOLATILE}
    if isinstance(value, list):
        return [without_volatile(v) for v in value]
    return value


WORDS_OF_JSON = re.compile(
    r"warning|note|reason|says|message|text|title|summary|explan|what|hint|advice|fingerprint"
)


class Document:
    """JSON of a command; sentences for people are texts."""

    def __init__(self, value: Any):
        self.value = without_volatile(value)

    def take(self, record: Record, node: str) -> None:
        self._take(record, node, "", self.value, False)

    def _take(self, record: Record, node: str, name: str, value: Any, text: bool) -> None:
        if isinstance(value, dict):
            record.add(node, f"{name} keys", VALUE, sorted(value))
            record.add(node, f"{name} order", ATTRS, list(value), text=False)
            for key, item in value.items():
                said = text or bool(WORDS_OF_JSON.search(key))
                self._take(record, node, f"{name}/{key}", item, said)
        elif isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value):
            record.add(node, f"{name} length", VALUE, len(value))
            for i, item in enumerate(value):
                self._take(record, node, f"{name}/{i}", item, text)
        elif isinstance(value, list):
            sort = TEXT if text and any(isinstance(v, str) for v in value) else VALUE
            record.add(node, name, sort, [plain(v) for v in value])
        else:
            sentence = isinstance(value, str) and (text or " " in value)
            record.add(node, name, TEXT if sentence else VALUE, plain(value))


class Commands:
    """What a row of commands gave."""

    def __init__(self, runs: list[dict[str, Any]]):
        self.runs = runs

    def take(self, record: Record, node: str) -> None:
        for i, run in enumerate(self.runs):
            where = f"{node}{i + 1} {run['command']}"
            record.add(where, "exit code", VALUE, run["code"])
            for name, content in run["documents"].items():
                Document(content).take(record, f"{where} | {name}")
            for name, lines in run["csv"].items():
                record.add(f"{where} | {name}", "lines", VALUE, lines)
            for name, text in run["texts"].items():
                record.add(f"{where} | {name}", "text", TEXT, text)
            record.add(where, "files", VALUE, run["files"])


def strict_json(text: str) -> Any:
    return json.loads(text)


def run_commands(lines: list[list[str]]) -> Commands:
    folder = Path("case")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    runs = []
    for args in lines:
        before = {p for p in folder.rglob("*")}
        code, out, err = run_main(args)
        found: dict[str, Any] = {
            "command": args[0],
            "code": code,
            "documents": {},
            "csv": {},
            "texts": {},
        }
        try:
            found["documents"]["stdout"] = strict_json(out)
        except ValueError:
            found["texts"]["stdout"] = out
        if "--json" not in args or code:
            found["texts"]["stderr"] = err
        new = sorted(p for p in folder.rglob("*") if p.is_file() and p not in before)
        found["files"] = [str(p.relative_to(folder)) for p in new]
        for path in new:
            name = str(path.relative_to(folder))
            if path.suffix == ".json":
                found["documents"][name] = strict_json(path.read_text("utf-8"))
            elif path.suffix == ".csv":
                found["csv"][name] = path.read_text("utf-8").split("\n")
            elif path.name == "table.txt":
                found["texts"][name] = path.read_text("utf-8")
        runs.append(found)
    shutil.rmtree(folder, ignore_errors=True)
    return Commands(runs)


def command(*args: str) -> Callable[[], Any]:
    return lambda: run_commands([list(args)])


def cases_of_commands() -> None:
    few = "--replicates 100 --seed 5"
    lines = f"""
    run square32.npz --thresholds 15 --max-rank 8
    run uneven.npz --thresholds 15 --max-rank 8
    run watch.npz --thresholds 15 --max-rank 8
    run ties.npz --thresholds 15 --max-rank 8
    run large.npz --thresholds 15 --max-rank 5
    run tiny.npz
    run masked.npz --columns mask=mask --thresholds 15
    run failed.npz --thresholds 15
    run failed.npz --nan reject --thresholds 15 --max-rank 5
    run failed.npz --nan exclude --thresholds 15 --max-rank 5
    run matrix.npy --labels people.csv --kind distance
    run trials.txt --kind similarity --thresholds 15
    run pairs.csv --kind distance --thresholds 15
    run pairs.csv --kind distance --protocol course-kfold
    run faces.npz --columns embeddings=features,labels=subject --metric l2 --thresholds 15 --max-rank 5
    run faces.npz --columns embeddings=features,labels=subject,session=session --exclude session --thresholds 15 --max-rank 5
    run columns.npz --exclude session --thresholds 15 --max-rank 5
    run columns.npz --protocol course-kfold
    run columns.npz --train 0.5 --gallery-templates 2 --unenrolled 0.3 --repeats 3
    run columns.npz --train 0.4 --gallery-templates session=1 --unenrolled 3 --repeats 3 --target far=0.05
    run columns.npz --attempts visit --thresholds 15 --max-rank 5
    run columns.npz --interval subject-bootstrap --thresholds 12 --max-rank 5 {few}
    run watch.npz --interval wilson --thresholds 12 --max-rank 5
    run watch.npz --interval clopper-pearson --confidence 0.9 --thresholds 12 --max-rank 5
    run watch.npz --fta 0.02 --fte 0.01 --thresholds 12 --max-rank 5
    run columns.npz --worst 5 --thresholds 12 --max-rank 5
    run streets.npz --protocol market1501 --per-query --max-rank 10
    run streets.npz --protocol veri776 --max-rank 10
    run tied_streets.npz --protocol cuhk03 --max-rank 10
    run streets.npz --protocol gom-market1501
    run two_cameras.npz --protocol viper --max-rank 10
    run watch.npz --far 0.05 --far 0.2 --no-auc --thresholds 10
    run watch.npz --terms iso --thresholds 12 --max-rank 5
    run no-such-file.npz
    run watch.npz --protocol no-such-card
    check square32.npz
    check watch.npz --far 0.0001
    check failed.npz
    check streets.npz --protocol market1501
    explain columns.npz --probe 17
    explain columns.npz --probe 02_3 --threshold 2.0
    explain watch.npz --probe 4 --threshold far=0.05
    explain tiny.npz --step-by-step --threshold 3.5
    threshold square32.npz --target far=0.01 --folds 4 --repeats 2 {few}
    threshold columns.npz --target eer --folds 3 --repeats 2 --templates multi {few}
    threshold pairs.csv --kind distance --target far=0.05 --folds 2 --repeats 2 {few}
    compare alpha.npz beta.npz {few}
    compare street0.npz street1.npz --protocol market1501 {few}
    calibration ratios.npz
    calibration square32.npz --calibrate logistic --train large.npz
    calibration alpha.npz --calibrate pav --train beta.npz --priors 0.5,0.01 --costs 10,1
    zoo columns.npz --permutations 50
    workload square32.npz --people 2000 --impostors 0.01 --far 0.01 {few}
    workload --rates far=0.001,frr=0.02 --people 2000 --impostors 0.01
    workload watch.npz --people 100 --impostors 0.9 --far 0.1 --task open_set {few}
    sample-size square32.npz --far 1e-2 --width 0.02
    sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6
    groups columns.npz --by sex
    groups columns.npz --by sex --threshold far=0.02 --interval subject-bootstrap {few}
    groups columns.npz --by sex --templates multi --fusion mean --alpha 0.2 --threshold 2.0
    error-discard columns.npz --quality quality --threshold eer
    error-discard visits.npz --quality quality --threshold 2.0 --fractions 0,0.1,0.5
    tracking gt.txt result.txt --frames 40
    tracking gt.txt result.txt --pairing previous-frame --mostly-tracked more-than --targets
    tracking mot/gt mot/found
    tracking gt2.txt result2.txt --iou 0.3 --ignored count
    gom street0.npz street1.npz --thresholds 0,0.1,0.2,0.4,0.6,0.8,1
    gom street0.npz --variant reference --budget 50 --interval wilson
    """
    for line in filter(None, map(str.strip, lines.strip().splitlines())):
        args = line.split()
        case(f"cli/{line[:110]}", functools.partial(run_commands, [[*args, "--json"]]))
        if args[0] in ("run", "check") and "--json" in args:
            continue
        case(
            f"cli/{line[:100]} --out",
            functools.partial(run_commands, [[*args, "--out", "case/out"]]),
        )
    tables = """
    run square32.npz --thresholds 15
    run streets.npz --protocol market1501
    compare alpha.npz beta.npz --replicates 100
    zoo columns.npz --permutations 50
    groups columns.npz --by sex
    tracking gt.txt result.txt
    protocols
    convert --list
    """
    for line in filter(None, map(str.strip, tables.strip().splitlines())):
        case(f"cli/table {line}", functools.partial(run_commands, [line.split()]))
    case("cli/protocols --json", command("protocols", "--json"))
    case("cli/version", lambda: run_main(["--version"])[0])
    case("cli/help", lambda: [run_main(["--help"])[0], Text(run_main(["--help"])[1])])
    for word in (
        "run check explain threshold compare report calibration fuse gom zoo gallery-size workload "
        "sample-size groups error-discard tracking protocols "
        "convert simulate"
    ).split():
        case(
            f"cli/help {word}",
            lambda w=word: [run_main([w, "--help"])[0], Text(run_main([w, "--help"])[1])],
        )

    def chain(name: str, *steps: str) -> None:
        case(f"cli/{name}", functools.partial(run_commands, [step.split() for step in steps]))

    for method, more in (
        ("mean", "--normalise z"),
        ("product", "--normalise min-max"),
        ("logistic", "--protocol course-kfold"),
        ("weighted", "--weights alpha=2 --weights beta=1"),
    ):
        chain(f"fuse {method}", f"fuse alpha.npz beta.npz --method {method} {more} --json")
    chain(
        "fuse three and run",
        "fuse alpha.npz beta.npz gamma.npz --normalise z --out case/f.npz --json",
        "run case/f.npz --json --thresholds 15 --max-rank 5",
    )
    for ending in (
        "npz",
        "csv",
        "parquet",
        "tsv",
    ):
        for name in ("watch", "columns"):
            chain(
                f"convert {name} {ending}",
                f"convert {name}.npz case/c.{ending} --json",
                f"run case/c.{ending} --json --thresholds 12 --max-rank 5",
            )
    chain("convert dry run", "convert watch.npz case/c.csv --dry-run --json")
    for i, options in enumerate(
        (
            "--subjects 12 --templates 3",
            "--layout probe-against-gallery --subjects 12 --templates 2 --probes 3 --unenrolled 0.2",
            "--model gaussian-scores --d-prime 3 --kind similarity --subjects 12 --templates 3",
            "--subjects 10 --templates 2-5 --within 0.5",
        )
    ):
        chain(
            f"simulate {i}",
            f"simulate {options} --seed 3 --out case/sim.npz",
            "run case/sim.npz --json --thresholds 12 --max-rank 5",
        )
    chain("report", "report columns.npz --out case/page.html --replicates 100 --folds 3")


def register() -> None:
    if CASES:
        return
    cases_of_verification()
    cases_of_identification()
    cases_of_reid()
    cases_of_cards()
    cases_of_folds()
    cases_of_people()
    cases_of_two()
    cases_of_plans()
    cases_of_tracking()
    cases_of_files()
    cases_of_plots()
    cases_of_commands()
    files = [file_of(name) for name in CASES]
    if len(set(files)) < len(files):
        twice = {f for f in files if files.count(f) > 1}
        raise ValueError(f"two cases would have one file: {sorted(twice)}")


# ------------------------------------------------------------------------------------------ running

_PLACE: list[Any] = []


def place() -> None:
    """Work in a folder of this process alone, with the files that commands read."""
    if not _PLACE:
        kept = tempfile.TemporaryDirectory(prefix="golden-")
        _PLACE.append(kept)
        os.chdir(kept.name)
        write_files()


def run_case(name: str) -> Record:
    """Run one case; an exception is its result."""
    register()
    place()
    record = Record()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = CASES[name]()
            if isinstance(found, Commands):
                found.take(record, "")
            elif isinstance(found, dict) and any(isinstance(v, Commands) for v in found.values()):
                for key, value in found.items():
                    value.take(record, f"{key} ")
            else:
                take_apart(record, found)
        except Exception as error:
            record = Record()
            record.add(
                "",
                "exception",
                VALUE,
                type(error).__name__,
                message=" ".join(str(error).split())[:300],
            )
    said = [str(w.message) for w in caught if w.category.__module__.startswith("bioeval")]
    if said:
        record.add("", "warnings", TEXT, said)
    return record


def file_of(name: str) -> str:
    """Name of a file for a case."""
    return re.sub(r"[^A-Za-z0-9._=+,-]+", "_", name.replace("/", "~").replace("~", "--", 1))


def write_record(folder: Path, name: str, record: Record) -> None:
    for old in (folder / f"{file_of(name)}.npz", folder / f"{file_of(name)}.json"):
        old.unlink(missing_ok=True)
    index = json.dumps({"case": name, "leaves": record.leaves}, ensure_ascii=True, allow_nan=False)
    if not record.arrays and len(index) < 8192:  # larger ones are packed, too
        (folder / f"{file_of(name)}.json").write_text(index + "\n", encoding="utf-8")
        return
    arrays = {**record.arrays, "index": np.frombuffer(index.encode(), np.uint8)}
    # All arrays of a case in one stream each: deflate at its best, and no date in the archive.
    with zipfile.ZipFile(
        folder / f"{file_of(name)}.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9
    ) as archive:
        for key, values in arrays.items():
            out = io.BytesIO()
            np.lib.format.write_array(out, values, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), out.getvalue(), zipfile.ZIP_DEFLATED, 9)


def read_record(folder: Path, name: str) -> Record | None:
    record = Record()
    packed, text = folder / f"{file_of(name)}.npz", folder / f"{file_of(name)}.json"
    if packed.exists():
        with np.load(packed, allow_pickle=False) as found:
            index = json.loads(found["index"].tobytes().decode())
            record.arrays = {k: found[k] for k in found.files if k != "index"}
    elif text.exists():
        index = json.loads(text.read_text(encoding="utf-8"))
    else:
        return None
    record.leaves = index["leaves"]
    return record


def same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where two arrays of one dtype and shape are equal: by bits, NaN equal to NaN."""
    if a.dtype.kind == "c":
        return same_bits(a.real.copy(), b.real.copy()) & same_bits(a.imag.copy(), b.imag.copy())
    if a.dtype.kind == "f":
        whole = np.dtype(f"u{a.dtype.itemsize}")
        bits = (
            a.view(whole) == b.view(whole)
            if a.ndim
            else a.reshape(1).view(whole) == b.reshape(1).view(whole)
        )
        return bits.reshape(a.shape) | (np.isnan(a) & np.isnan(b))
    return a == b


def shown(value: Any) -> str:
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    return text if len(text) <= 160 else text[:150] + f"... ({len(text)} characters)"


def first_of(a: Any, b: Any) -> tuple[str, Any, Any]:
    """Where two plain values differ first."""
    if isinstance(a, list) and isinstance(b, list):
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            if x != y:
                return f"[{i}]", x, y
        return "length", len(a), len(b)
    if isinstance(a, str) and isinstance(b, str) and ("\n" in a or "\n" in b):
        return first_line(a, b)
    return "", a, b


def first_line(a: str, b: str) -> tuple[str, Any, Any]:
    where, x, y = first_of(a.split("\n"), b.split("\n"))
    return f"line {where}", x, y


Difference = tuple[str, str, str, str, str, str]


def differences(was: Record, now: Record, texts: bool) -> Iterator[Difference]:
    """(sort, node, variable, first index, recorded, now) of each difference."""

    def keyed(record: Record) -> dict[tuple[str, str, str, int], Leaf]:
        found: dict[tuple[str, str, str, int], Leaf] = {}
        for leaf in record.leaves:
            count = itertools.count()
            key = next(
                k
                for i in count
                if (k := (leaf["node"], leaf["name"], leaf["sort"], i)) not in found
            )
            found[key] = leaf
        return found

    a, b = keyed(was), keyed(now)
    failed_was, failed_now = (
        next((leaf for leaf in record.leaves if leaf["name"] == "exception"), None)
        for record in (was, now)
    )
    if failed_was or failed_now:
        x = failed_was["value"] if failed_was else "a result"
        y = f"{failed_now['value']}: {failed_now.get('message', '')}" if failed_now else "a result"
        if not failed_was or not failed_now or failed_was["value"] != failed_now["value"]:
            yield "error", "", "exception", "", x, y
        return
    for key in [*a, *(k for k in b if k not in a)]:
        node, name, sort, _ = key
        one, two = a.get(key), b.get(key)
        leaf = one or two
        assert leaf is not None
        if not texts and (sort == TEXT or (sort == ATTRS and leaf.get("text"))):
            continue
        if one is None or two is None:
            x, y = ("(not there)", "new") if one is None else ("there", "(missing)")
            yield sort, node, name, "", x, y
            continue
        for what in ("dims", "dtype", "shape", "type"):
            if one.get(what) != two.get(what):
                yield sort, node, name, what, shown(one.get(what)), shown(two.get(what))
                break
        else:
            if "array" in one:
                x, y = was.arrays[one["array"]], now.arrays[two["array"]]
                equal = same_bits(x, y)
                if not np.all(equal):
                    wrong = np.argwhere(~np.atleast_1d(equal))
                    index = tuple(wrong[0].tolist())
                    where = (
                        f"{list(index)} and {len(wrong) - 1} more"
                        if len(wrong) > 1
                        else f"{list(index)}"
                    )
                    yield (
                        sort,
                        node,
                        name,
                        where,
                        shown(np.atleast_1d(x)[index]),
                        shown(np.atleast_1d(y)[index]),
                    )
            elif one["value"] != two["value"]:
                where, x, y = first_of(one["value"], two["value"])
                yield sort, node, name, where, shown(x), shown(y)


def work_make(folder: str, name: str) -> tuple[str, float, str]:
    start = time.perf_counter()
    record = run_case(name)
    write_record(Path(folder), name, record)
    error = next(
        (
            f"{e['value']}: {e.get('message', '')}"
            for e in record.leaves
            if e["name"] == "exception"
        ),
        "",
    )
    return name, time.perf_counter() - start, error


def work_compare(folder: str, name: str, texts: bool) -> tuple[str, float, list[Difference]]:
    start = time.perf_counter()
    was = read_record(Path(folder), name)
    if was is None:
        return name, 0.0, [("error", "", "case", "", "not recorded", "is run")]
    found = list(differences(was, plain_again(run_case(name)), texts))
    return name, time.perf_counter() - start, found


def plain_again(record: Record) -> Record:
    """A record as it would be read back, so that JSON makes no difference."""
    record.leaves = json.loads(json.dumps(record.leaves, ensure_ascii=True, allow_nan=False))
    return record


def chosen(only: list[str] | None) -> list[str]:
    register()
    if not only:
        return list(CASES)

    def fits(name: str, pattern: str) -> bool:
        return fnmatch.fnmatchcase(name, pattern) if set(pattern) & set("*?[") else pattern in name

    return [name for name in CASES if any(fits(name, pattern) for pattern in only)]


def in_parallel(work: Callable[..., Any], jobs: int, names: list[str], *args: Any) -> Iterator[Any]:
    """Yield what `work` returns for each name, in any order."""
    if jobs <= 1:
        for name in names:
            yield work(*args[:1], name, *args[1:])
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        # From both ends, so that workers seldom compile the same kernels at the same time.
        order = [name for pair in zip(names, reversed(names), strict=True) for name in pair]
        futures = [pool.submit(work, *args[:1], name, *args[1:]) for name in dict.fromkeys(order)]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            print("a case ended its process; run with --jobs 1 to see which", file=sys.stderr)
            raise


def make(folder: Path, names: list[str], jobs: int, verbose: bool) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    start, raised, slow = time.perf_counter(), [], []
    for name, seconds, error in in_parallel(work_make, jobs, names, str(folder.resolve())):
        slow.append((seconds, name))
        if error:
            raised.append((name, error))
        if verbose:
            print(f"{seconds:7.2f} s  {name}  {error}", flush=True)
    import numba
    import xarray

    about = {
        "cases": len(names),
        "bioeval": be().__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "xarray": xarray.__version__,
        "numba": numba.__version__,
        "machine": platform.machine(),
        "raised": dict(sorted(raised)),
    }
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    size = sum(p.stat().st_size for p in folder.iterdir())
    for seconds, name in sorted(slow, reverse=True)[:5]:
        print(f"slow: {seconds:.1f} s  {name}")
    print(
        f"{len(names)} cases recorded, {len(raised)} of them exceptions, {size / 1e6:.1f} MB, "
        f"{time.perf_counter() - start:.0f} s"
    )
    return 0


def compare(
    folder: Path, names: list[str], jobs: int, texts: bool, all_cases: bool, most: int
) -> int:
    start, differ, by_sort = (
        time.perf_counter(),
        0,
        dict.fromkeys(("value", "attrs", "text", "error"), 0),
    )
    for name, _, found in in_parallel(work_compare, jobs, names, str(folder.resolve()), texts):
        differ += bool(found)
        for i, (sort, node, variable, where, was, now) in enumerate(found):
            by_sort[sort] += 1
            if i < most:
                print(f"{sort}: {name} | {node} | {variable} | {where} | was {was} | now {now}")
        if len(found) > most:
            print(
                f"      {name}: {len(found) - most} differences more (--most {len(found)} shows them)"
            )
        if found:
            sys.stdout.flush()
    if all_cases:
        known = {f"{file_of(name)}{end}" for name in names for end in (".npz", ".json")} | {
            "about.json"
        }
        for path in sorted(folder.iterdir()):
            if path.name not in known:
                print(f"error: {path.name} | | case | | was recorded | now no such case")
                differ += 1
    listed = ", ".join(f"{n} {sort}" for sort, n in by_sort.items() if n)
    print(f"{len(names)} cases, {differ} differ" + (f" ({listed})" if listed else ""))
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return int(differ > 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=("make", "compare", "list"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument(
        "--only",
        action="append",
        metavar="PATTERN",
        help="part of a name, or a pattern; repeatable",
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--no-texts",
        action="store_true",
        help="leave out words: texts, and attributes that are words",
    )
    parser.add_argument(
        "--most", type=int, default=12, help="most differences of a case to print (12)"
    )
    parser.add_argument("--verbose", action="store_true", help="make: print each case")
    given = parser.parse_args()
    names = chosen(given.only)
    if given.do == "list":
        print("\n".join(names))
        return 0
    if given.folder is None:
        parser.error("name a folder")
    if given.do == "make":
        return make(given.folder, names, given.jobs, given.verbose)
    if not given.folder.is_dir():
        parser.error(f"{given.folder} is no folder")
    return compare(given.folder, names, given.jobs, not given.no_texts, not given.only, given.most)


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
