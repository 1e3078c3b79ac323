"""How fast this machine evaluates: short runs at three sizes, remembered until they are stale.

Processor time on one thread is measured: threads that wait for each other on a busy machine would
add to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
from scipy.optimize import nnls

from bioeval.base.errors import BioevalError
from bioeval.base.progress import stage
from bioeval.base.version import __version__
from bioeval.evaluation.evaluate import evaluate
from bioeval.protocol.card import Protocol
from bioeval.scores.formats.files import read_bounded, replacing
from bioeval.scores.matrix import Scores

SCHEMA = 1

#: Days after which a calibration is made anew.
DAYS = 30

# Templates of the runs, and how often each is run; the least time counts.
SIZES, ROUNDS = (2000, 4000, 8000), 2

# Those of a matrix, which is to be larger than the caches of the processor.
MATRICES = (4000, 8000, 12000)

# Cells of a container that are read to find how fast they are.
READ_CELLS = 1 << 24


@dataclass(frozen=True)
class Work:
    """What is evaluated: enough to measure something like it on a smaller scale.

    `dim` is 0 for a matrix of scores. `share` is the number of probes by that of gallery templates,
    0 for all against all.
    """

    protocol: str | Protocol
    dim: int
    dtype: str
    metric: str
    templates: int
    share: float
    auc: bool

    def key(self) -> str:
        """Return a text by which a calibration is found again."""
        card = self.protocol if isinstance(self.protocol, str) else repr(self.protocol)
        return json.dumps([card, *list(asdict(self).values())[1:]], default=repr)


@dataclass(frozen=True)
class Speed:
    """Processor seconds of an evaluation: ``start + template (m + n) + cell m n``."""

    start: float
    template: float
    cell: float
    measured: str  # the date
    machine: str
    error: float  # of the largest run, as a proportion, by a fit to all

    def seconds(self, probes: float, gallery: float) -> float:
        """Return the processor time of an evaluation."""
        return self.start + self.template * (probes + gallery) + self.cell * probes * gallery


def speed_of(work: Work, *, again: bool = False) -> Speed:
    """Return the speed of this machine, measured now or, if not `again`, up to a month ago."""
    place, machine = _place(), machine_facts()
    known = _remembered(place)
    found = known.get(work.key())
    if not again and found and found["machine"] == machine and _days(found["measured"]) < DAYS:
        return Speed(**found)
    speed = _measured(work, machine)
    known[work.key()] = asdict(speed)
    with contextlib.suppress(OSError, BioevalError):  # a calibration that is not kept is repeated
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as part:
            part.write_text(json.dumps({"schema": SCHEMA, "speeds": known}, indent=1))
    return speed


@contextlib.contextmanager
def on_one_thread() -> Iterator[None]:
    """Let nothing use more than one thread: neither kernels nor linear algebra."""
    from threadpoolctl import threadpool_limits

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)


def machine_facts() -> str:
    """Return what the speed depends on: processor, threads and versions."""
    name = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(
            (x.partition(":")[2].strip() for x in lines if x.startswith("model name")), name
        )
    versions = f"numpy {np.__version__}, scipy {scipy.__version__}, numba {numba.__version__}"
    return f"{name or platform.machine()}; bioeval {__version__}, {versions}"


def read_seconds(scores: Scores) -> float:
    """Return the processor time to read and inflate a cell of a container, once."""
    m, n = scores.shape
    chunk = scores.row_chunk
    rows = min(m, max(chunk, READ_CELLS // n // chunk * chunk))
    array = scores.base.array
    return _processor_time(lambda: np.asarray(array[:rows])) / (rows * n)


def _measured(work: Work, machine: str) -> Speed:
    rows, times = [], []
    with stage("measuring the speed of this machine"), on_one_thread():
        sizes = SIZES if work.dim else MATRICES
        for size in (sizes[0], *sizes):  # the first compiles what is not compiled yet
            scores = _example(work, size)
            run = partial(evaluate, scores, work.protocol, auc=work.auc)
            times.append(min(_processor_time(run) for _ in range(ROUNDS)))
            rows.append([1.0, sum(scores.shape), scores.shape[0] * scores.shape[1]])
    design, seconds = np.array(rows[1:]), np.array(times[1:])
    scale = design.max(axis=0)
    # Relative errors are made small, so that the start is not lost beside the largest run.
    found, _ = nnls(design / scale / seconds[:, None], np.ones(len(seconds)))
    start, template, cell = found / scale
    last = float(design[-1] @ (found / scale) / seconds[-1] - 1)
    date = time.strftime("%Y-%m-%d", time.gmtime())
    return Speed(float(start), float(template), float(cell), date, machine, last)


def _example(work: Work, size: int) -> Scores:
    """Return scores of the kind that is planned, of so many gallery templates."""
    rng = np.random.default_rng(size)
    each = max(2, min(work.templates, 50))
    labels = np.arange(size) // each
    m = size if not work.share else max(each, round(size * min(work.share, 1.0)))
    cameras = np.arange(size) % 2
    dim = work.dim or 32
    x = rng.normal(size=(size // each + 1, dim))[labels] + 0.7 * rng.normal(size=(size, dim))
    if work.metric == "bhattacharyya":
        x = np.abs(x)
    x = x.astype(work.dtype)
    given: tuple[Any, ...] = (x, labels)
    meta: dict[str, Any] = {"probe_meta": {"camera": cameras}}
    if work.share:
        y = x[:m] + (0.5 * np.abs(rng.normal(size=(m, dim)))).astype(work.dtype)
        given = (y, labels[:m], x, labels)
        meta = {"probe_meta": {"camera": 1 - cameras[:m]}, "gallery_meta": {"camera": cameras}}
    dtype = "float32" if work.dtype in ("float16", "float32") else "float64"
    # One byte too little for the matrix, so that it is computed in blocks as a large one is.
    limit = m * size * np.dtype(dtype).itemsize - 1
    metric = work.metric if work.dim else "cosine"
    scores = Scores.from_embeddings(*given, metric=metric, dtype=dtype, memory_limit=limit, **meta)
    if work.dim:
        return scores
    values = scores.base.whole().astype(work.dtype)
    if work.share:
        return Scores(values, labels[:m], labels, **meta)
    return Scores(values, labels, **meta)


def _processor_time(call: Callable[[], object]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def _place() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "bioeval" / "speed.json"


def _remembered(place: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(place, 1 << 20))
        speeds = found["speeds"] if found["schema"] == SCHEMA else {}
        return {key: asdict(Speed(**speed)) for key, speed in speeds.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BioevalError):
        return {}


def _days(date: str) -> float:
    try:
        return (time.time() - time.mktime(time.strptime(date, "%Y-%m-%d"))) / 86400
    except ValueError:
        return float("inf")
