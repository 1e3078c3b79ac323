"""The peak memory of an evaluation of a matrix in a container, in a process of its own (Linux)."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bioeval as be

CHUNK, TEMPLATES = (200, 500), 5


def labels_of(size: int) -> np.ndarray:
    """Return the subjects of so many templates."""
    return np.arange(size) // TEMPLATES


def write(kind: str, folder: Path, size: int) -> None:
    """Write a matrix of cosine distances, by rows."""
    rng = np.random.default_rng(0)
    people = rng.normal(size=(size // TEMPLATES + 1, 64))[labels_of(size)]
    x = people + 0.9 * rng.normal(size=(size, 64))
    x = (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)
    blocks = (np.round(1 - x[a : a + CHUNK[0]] @ x.T, 4) for a in range(0, size, CHUNK[0]))
    out = create(kind, folder, size)
    for i, block in enumerate(blocks):
        out[i * CHUNK[0] : i * CHUNK[0] + len(block)] = block
    if kind == "hdf5":
        out.file.close()


def create(kind: str, folder: Path, size: int) -> Any:
    """Return an array to write to."""
    shape, chunks = (size, size), tuple(min(size, c) for c in CHUNK)
    if kind == "memmap":
        return np.lib.format.open_memmap(folder / "x.npy", "w+", np.dtype("f4"), shape)
    if kind == "hdf5":
        import h5py

        file = h5py.File(folder / "x.h5", "w")
        return file.create_dataset("scores", shape, "f4", chunks=chunks, compression="gzip")
    import zarr

    return zarr.create_array(folder / "x.zarr", shape=shape, dtype="f4", chunks=chunks)


def opened(kind: str, folder: Path, size: int) -> be.Scores:
    """Return the matrix, left in its container."""
    values: Any
    if kind == "memmap":
        values = np.load(folder / "x.npy", mmap_mode="r")
    elif kind == "hdf5":
        import h5py

        values = h5py.File(folder / "x.h5")["scores"]
    else:
        import zarr

        values = zarr.open_array(folder / "x.zarr", mode="r")
    return be.Scores(values, labels_of(size))


def status(name: str) -> int:
    """Return bytes from the status of this process."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


def peak(kind: str, folder: Path, size: int, limit: str, task: str) -> dict[str, float]:
    """Evaluate under a limit, and return the peak memory beyond what the program takes."""
    run: Callable[[be.Scores], Any] = getattr(be, task)
    with tempfile.TemporaryDirectory() as small:
        write(kind, Path(small), 600)
        run(opened(kind, Path(small), 600))
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    with be.set_options(memory_limit=limit):
        scores = opened(kind, folder, size)
    run(scores)
    return {"peak": status("VmHWM") - before, "before": before}


def in_a_process(*arguments: Any) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    given, where, templates, most, called = sys.argv[1:]
    print(json.dumps(peak(given, Path(where), int(templates), most, called)))
