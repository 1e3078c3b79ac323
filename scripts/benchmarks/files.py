"""From file to results: each kind of file, against the same matrix in memory."""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.matrices import Matrix
from benchmarks.options import Options
from benchmarks.rows import Row, number, timed
from benchmarks.timing import Contender, interleaved, most_threads
from bioeval.evaluation import evaluate
from bioeval.scores.formats import load, save
from bioeval.scores.matrix import Scores

Tell = Callable[[str], None]

_FEW_ROUNDS = 3

#: Rows and columns of a chunk of stored arrays.
_CHUNK = 500

NAMES = {
    "npz": ".npz",
    "npy": ".npy",
    "hdf5": f"HDF5, chunks of {_CHUNK} x {_CHUNK}",
    "zarr": f"zarr, chunks of {_CHUNK} x {_CHUNK}, compressed",
    "deflated": ".npz, compressed",
}


def file_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Time be.load and be.evaluate of float64 files, by the wall clock on up to two threads.

    Checksums and inflating have threads of their own. All files are in the system's cache of files.
    """
    threads = min(2, most_threads())
    about: dict[str, Any] = {"part": "files", "section": "files"}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        matrix = Matrix(options.size, options.templates, "float64")
        calls: dict[str, Callable[[], object]] = {}
        for key, name in NAMES.items():
            tell(f"writing a file: {name}")
            try:
                opened = _write(key, matrix, folder, stack)
            except ImportError:
                yield Row(**about, key=f"file: {key}", name=name, note="skipped: not installed")
                continue
            calls[key] = partial(_evaluate, opened)
        calls["memory"] = partial(evaluate, matrix.scores)
        work = [Contender(key, call, threads) for key, call in calls.items()]
        times, _ = interleaved(work, min(options.repeat, _FEW_ROUNDS), tell)
        memory = number(float(np.median(times["memory"])))
        note = f"float64, on {threads} threads; in memory {memory} s"
        for key in calls:
            if key != "memory":
                ratio = times[key] / times["memory"]
                row = {**about, "key": f"file: {key}", "name": NAMES[key], "note": note}
                yield timed(ratio, times[key], matrix.values.size, **row)


def _evaluate(opened: Callable[[], Scores]) -> object:
    return evaluate(opened())


def _write(key: str, matrix: Matrix, folder: Path, stack: ExitStack) -> Callable[[], Scores]:
    """Write a file and return what opens it."""
    path = folder / f"{key}.{'npz' if key == 'deflated' else key}"
    if key == "npz":
        save(matrix.scores, path)
    elif key == "npy":
        np.save(path, matrix.values)
        path.with_suffix(".labels.csv").write_text("\n".join(["label", *map(str, matrix.labels)]))
    elif key == "deflated":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in (("scores", matrix.values), ("labels", matrix.labels)):
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array)
    else:
        chunk = (min(_CHUNK, matrix.size),) * 2
        if key == "hdf5":
            hdf5 = stack.enter_context(importlib.import_module("h5py").File(path, "w"))
            stored = hdf5.create_dataset("scores", data=matrix.values, chunks=chunk)
        else:
            zarr = importlib.import_module("zarr")
            stored = zarr.create_array(str(path), data=matrix.values, chunks=chunk)
        return lambda: Scores(stored, matrix.labels)
    return lambda: load(path)
