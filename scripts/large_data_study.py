"""Matrices larger than the memory they are evaluated in, printed as tables of docs/large-data.md.

    scripts/large_data [--size 12000] [--limit "256 MiB"] [--only hdf5]

Each container is evaluated by a process of its own, after a small matrix has compiled what is
compiled; peak memory is the largest resident size beyond that, from /proc (Linux). The ratio is the
time of a sweep that reads and counts, to that of the slower of reading alone and counting alone.
Embeddings are measured by `scripts/bench --only embeddings --only memory --large`.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bioeval as be
from bioeval.attempts.passes import count_together
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.scores.blocks import BlockReader

KINDS = ("memmap", "hdf5", "zarr")
CHUNK, TEMPLATES, ROUNDS = (200, 500), 5, 3


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


def ratio(kind: str, folder: Path, size: int, limit: str) -> dict[str, float]:
    """Return the times of a sweep that reads and counts, and of both alone."""
    with be.set_options(memory_limit=limit):
        scores = opened(kind, folder, size)
    reader = BlockReader(scores)
    step = reader.rows_per_block()
    base = scores._base.array if scores._is_stored else scores._base
    with be.set_options(memory_limit=limit):
        held = be.Scores(np.array(base[:]), labels_of(size))

    def read() -> None:
        for low in range(0, size, step):
            np.array(base[low : low + step])

    def count(scores: be.Scores) -> None:
        reader = BlockReader(scores)
        count_together(reader, [VerificationCounter(reader)])

    count(scores)
    count(held)
    found: dict[str, list[float]] = {"read": [], "count": [], "both": []}
    for _ in range(ROUNDS):
        for name, call in (
            ("read", read), ("count", lambda: count(held)), ("both", lambda: count(scores)),
        ):  # fmt: skip
            before = time.perf_counter()
            call()
            found[name].append(time.perf_counter() - before)
    times = {name: min(x) for name, x in found.items()}
    slower = [max(a, b) / c for a, b, c in zip(*found.values(), strict=True)]
    return times | {"speed": statistics.median(slower)}


def in_a_process(*arguments: Any) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", *map(str, arguments)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--one"]:
        what, kind, folder, size, *rest = sys.argv[2:]
        calls = {"peak": peak, "ratio": ratio}
        call: Any = calls[what]
        print(json.dumps(call(kind, Path(folder), int(size), *rest)))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=12000)
    parser.add_argument("--limit", default="256 MiB")
    parser.add_argument("--only", choices=KINDS, action="append")
    parser.add_argument("--task", default="evaluate")
    options = parser.parse_args()
    size, limit = options.size, options.limit
    print(f"{size:,} x {size:,} float32, {4 * size * size / 2**20:,.0f} MiB; limit {limit}\n")
    print("| container | peak | read, s | count, s | both, s | speed of the slower |")
    print("|---|---|---|---|---|---|")
    for kind in options.only or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            write(kind, Path(folder), size)
            most = in_a_process("peak", kind, folder, size, limit, options.task)["peak"]
            t = in_a_process("ratio", kind, folder, size, limit)
        print(
            f"| {kind} | {most / 2**20:,.0f} MiB | {t['read']:.2f} | {t['count']:.2f} "
            f"| {t['both']:.2f} | {t['speed']:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
