"""How long a newcomer waits: ``bioeval run`` where nothing is compiled, and where all is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.matrices import Matrix
from benchmarks.options import Options
from benchmarks.rows import Row, number
from benchmarks.timing import most_threads, quartiles

SIZE, TEMPLATES = 400, 10
_ROUNDS = 3


def start_rows(options: Options, tell: Callable[[str], None]) -> Iterator[Row]:
    """Time whole processes by the wall clock, on up to two threads, in a new cache of kernels."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {}
        for dtype in ("float64", "float32"):
            matrix = Matrix(SIZE, TEMPLATES, dtype)
            files[dtype] = folder / f"{dtype}.npz"
            np.savez(files[dtype], scores=matrix.values, labels=matrix.labels)
        tell("bioeval run, nothing compiled")
        cold = seconds_of(files["float64"], folder)
        tell("bioeval run, all compiled")
        warm = np.array([seconds_of(files["float64"], folder) for _ in range(_ROUNDS)])
        tell("bioeval run, another dtype")
        other = seconds_of(files["float32"], folder)
    middle = float(np.median(warm))
    about: dict[str, Any] = {"part": "start", "section": "start"}
    for key, label, taken, amount, unit in (
        ("cold", "the first run", cold, cold, "s"),
        ("dtype", "the first run of another dtype", other, other - middle, "s more"),
    ):
        low, ratio, high = quartiles(taken / warm)
        yield Row(
            **about,
            key=f"start: {key}",
            name=label,
            ratio=ratio,
            low=low,
            high=high,
            seconds=taken,
            amount=amount,
            figure=f"{number(amount)} {unit}",
        )
    yield Row(
        **about,
        key="start: warm",
        name="a later run",
        ratio=1.0,
        low=1.0,
        high=1.0,
        seconds=middle,
        amount=middle,
        figure=f"{number(middle)} s",
    )


def seconds_of(file: Path, cache: Path) -> float:
    """Return how long ``bioeval run`` of a file takes in a new process."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(cache / "kernels"),
        "NUMBA_NUM_THREADS": str(min(2, most_threads())),
    }
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bioeval", "run", str(file)],
        check=True,
        capture_output=True,
        env=environment,
    )
    return time.perf_counter() - start
