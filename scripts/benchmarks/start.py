"""How long whole processes take: ``bioeval run`` where nothing is compiled and later."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
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

#: Templates of the experiment of the course, and of each of its subjects.
EXPERIMENT = 165, 5

#: What every program loads that has results in xarray and compiled loops.
IMPORTS = ("-c", "import numba, xarray")


def start_rows(options: Options, tell: Callable[[str], None]) -> Iterator[Row]:
    """Take the processor time of whole processes, on two threads, in a new cache of kernels."""
    threads = min(2, most_threads())
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = {}
        for key, size, templates, dtype in (
            ("float64", SIZE, TEMPLATES, "float64"),
            ("float32", SIZE, TEMPLATES, "float32"),
            ("experiment", *EXPERIMENT, "float64"),
        ):
            matrix = Matrix(size, templates, dtype)
            files[key] = folder / f"{key}.npz"
            np.savez(files[key], scores=matrix.values, labels=matrix.labels)

        def seconds(*arguments: str | Path) -> float:
            return taken_by(arguments, folder, threads)

        plain = ("-m", "bioeval", "run")
        experiment = (*plain, files["experiment"], "--protocol", "course-experiment")
        tell("bioeval run, nothing compiled")
        cold = seconds(*plain, files["float64"])
        tell("bioeval run, another dtype")
        other = seconds(*plain, files["float32"])
        seconds(*experiment)
        tell("bioeval run, all compiled")
        rounds = [
            (seconds(*plain, files["float64"]), seconds(*experiment), seconds(*IMPORTS))
            for _ in range(_ROUNDS)
        ]
    warm, drawn, imports = np.array(rounds).T
    middle = float(np.median(warm))
    for key, section, name, ratios, amount in (
        ("cold", "start", "the first run", cold / warm, cold),
        ("dtype", "start", "another dtype, more", other / warm - 1, other - middle),
        ("warm", "imports", "bioeval run, 400 x 400", warm / imports, middle),
        ("experiment", "imports", "course-experiment, 165 templates", drawn / imports, drawn),
    ):
        yield _row("start", section, f"start: {key}", name, ratios, float(np.median(amount)))


def _row(part: str, section: str, key: str, name: str, ratios: Any, amount: float) -> Row:
    low, ratio, high = quartiles(ratios)
    about: dict[str, Any] = {"part": part, "section": section, "key": key, "name": name}
    about |= {"ratio": ratio, "low": low, "high": high, "seconds": amount, "amount": amount}
    return Row(**about, figure=f"{number(amount)} s")


def taken_by(arguments: Sequence[str | Path], cache: Path, threads: int) -> float:
    """Return the processor time of Python in a new process, with kernels compiled into a folder."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(cache / "kernels"),
        "NUMBA_NUM_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
    }
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, *map(str, arguments)], check=True, capture_output=True, env=environment
    )
    after = os.times()
    used = (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )
    return used or time.perf_counter() - start  # no time of children on Windows
