"""Peak memory of one piece of work, in a process of its own.

Run as ``python -m benchmarks.memory '{"key": "counts", "size": 8000, ...}'``; prints one JSON
document.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.machine import forget_peak, held_bytes, peak_bytes
from benchmarks.options import Options
from benchmarks.peers import NotRun
from benchmarks.rows import Row

#: What is measured: the key of the work, and what the table calls it.
CASES = {
    "counts": "counts",
    "evaluate": "be.evaluate",
    "evaluate, thresholds": "be.evaluate, 1,000 thresholds of the user's",
    "evaluate, shuffled": "be.evaluate, gallery not grouped by subject",
    "evaluate, float64": "be.evaluate, float64",
    "embeddings": "counts from embeddings, streamed in float32",
    "file": "be.load and be.evaluate of a .npz file, float64",
    "argsort": "np.argsort of the rows",
    "sort": "two np.sort, genuine and impostor",
    "roc_curve": "scikit-learn roc_curve",
}

_PATIENCE = 1_800


def memory_rows(options: Options, tell: Callable[[str], None]) -> Iterator[Row]:
    """Measure each case in a new process."""
    cases = [(key, key, name, options) for key, name in CASES.items()]
    for templates, features in options.sizes_of_vectors:
        size = f"{templates:,} x {features}"
        of_size = replace(options, embeddings=(templates, features))
        cases.append((size, "vectors", f"be.evaluate from embeddings, {size}", of_size))
    for key, work, name, given_options in cases:
        about: dict[str, Any] = {
            "part": "memory",
            "key": f"memory: {key}",
            "section": "memory",
            "name": name,
        }
        if peak_bytes() is None:
            yield Row(**about, note="not offered: this system does not tell a process's peak")
            continue
        tell(f"peak memory: {key}")
        found = elsewhere(work, given_options)
        if "reason" in found:
            yield Row(**about, note=found["reason"])
            continue
        above, given, cells = found["above"], found["bytes"], found["cells"]
        yield Row(
            **about,
            ratio=above / given,
            low=above / given,
            high=above / given,
            bytes_per_cell=above / cells,
            amount=above / 2**20,
            figure=f"{above / 2**20:,.0f} MiB over {given / 2**20:,.0f}",
            note=found["note"],
        )


def elsewhere(key: str, options: Options) -> dict[str, Any]:
    """Measure the peak memory of the work of a key, in a new process."""
    given = {"key": key, "size": options.size, "templates": options.templates}
    given |= {"threads": options.threads, "pairs": options.pairs}
    given["embeddings"] = options.embeddings
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", json.dumps(given)],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, "PYTHONPATH": path},
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return {"reason": f"failed: the process ended with {done.returncode}: {last}"}
    return json.loads(done.stdout.splitlines()[-1])


def measure(key: str, options: Options) -> dict[str, Any]:
    """Return the peak above what is held once the data are there, in bytes.

    A first run on a small matrix loads the libraries and compiles the kernels.
    """
    from benchmarks.timing import limited
    from benchmarks.workbench import Workbench

    templates = options.templates
    few = 10 * templates
    small = Options(size=few, templates=templates, embeddings=(few, 8))
    with limited(options.threads):
        Workbench(small).work(key).call()
        work = Workbench(options).work(key)
        forget_peak()
        before = held_bytes()
        work.call()
    after = peak_bytes()
    assert before is not None and after is not None  # checked before
    found = {
        "above": max(0, after - before - work.mapped),
        "bytes": work.bytes,
        "cells": work.cells,
    }
    return {**found, "note": work.note}


def main() -> None:
    """Measure what the command line says."""
    given = json.loads(sys.argv[1])
    key = given.pop("key")
    try:
        found = measure(key, Options(**given))
    except NotRun as reason:
        found = {"reason": str(reason)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
