"""One sweep for all tasks, where the scores allow it: floats in memory, without NaN or infinity.

What does not fit (other dtypes, masks, failed comparisons, other fusions) is counted block by
block by the general kernels; the counts are the same whichever way they were made.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from bioeval.kernels import sweep as kernel
from bioeval.scores.arrays import writable_alias
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.tallies.attempts import IdentificationJob, VerificationJob, run_blocks
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.divisions import Division
from bioeval.tallies.thresholds import CELLS, exact_window

# Scores in one call of the kernel, and rows looked at beforehand to place its cells.
SWEEP_VALUES = 1 << 24
SAMPLE_ROWS = 32

# Cells of the kernel's tables: twice those of a count, for scores beyond the sample's; the first
# and the last two are for all that lies outside.
WINDOW = 2 * CELLS + 3

_KEYS: dict[np.dtype, Any] = {
    np.dtype(np.float32): np.int32,
    np.dtype(np.float64): np.int64,
}


def run_jobs(
    scores: Scores, reader: BlockReader, jobs: Sequence[Any], progress: Progress | None = None
) -> list[Any]:
    """Run jobs over one sweep of the scores and return their tallies, in order."""
    run = run_sweep if sweepable(scores, jobs) else run_blocks
    with threads_for(scores):
        return run(scores, reader, jobs, progress)


def sweepable(scores: Scores, jobs: Sequence[Any]) -> bool:
    """Say whether the one-sweep kernel can serve these jobs over these scores."""
    if isinstance(scores, PairScores) or not scores.labelled or scores.has_mask:
        return False
    if scores.exclude:
        return False
    base = scores.base
    if base.dtype not in _KEYS:
        return False
    if not scores.streams and not isinstance(base, np.ndarray):
        return False
    if not scores.streams:
        plain = base.flags.c_contiguous and base.flags.aligned and base.dtype.isnative
        if not plain:
            return False
    return all(_served(job) for job in jobs) and _same_thresholds(jobs)


def _served(job: Any) -> bool:
    if isinstance(job, VerificationJob):
        return job.claims is None and (job.templates == "single" or job.fusion == "min")
    return isinstance(job, IdentificationJob) and (
        job.rank_unit == "template" or job.fusion == "min"
    )


def _same_thresholds(jobs: Sequence[Any]) -> bool:
    """Say whether all verification jobs count at the same given thresholds, or none does."""
    none = np.empty(0)
    given = [job.given for job in jobs if isinstance(job, VerificationJob)]
    grids = [none if counter is None else counter.thresholds for counter in given]
    return all(np.array_equal(a, b) for a, b in itertools.pairwise(grids))


def run_sweep(
    scores: Scores, reader: BlockReader, jobs: Sequence[Any], progress: Progress | None
) -> list[Any]:
    """Run jobs, all :func:`sweepable`, and return their tallies in order."""
    sweep = _Sweep(scores, reader, jobs)
    m, n = scores.shape
    # Streamed rows are always computed in the same blocks, so that they are the same each time.
    step = reader.rows_per_block() if scores.streams else max(1, SWEEP_VALUES // n)
    for low in range(0, m, step):
        high = min(low + step, m)
        if not sweep.count(low, high):
            for start in range(low, high, reader.rows_per_block()):
                block = reader.block(start, min(start + reader.rows_per_block(), high))
                for job in jobs:
                    job.add(block)
        if progress is not None:
            progress(high, m)
    return [job.result() for job in jobs]


class _Sweep:
    """The arrays that the kernel needs, made once, and the jobs that its counts go to."""

    def __init__(self, scores: Scores, reader: BlockReader, jobs: Sequence[Any]):
        self.scores, self.reader = scores, reader
        gallery = reader.gallery
        self.dtype = np.dtype(scores.base.dtype)
        self.key_dtype = np.dtype(_KEYS[self.dtype])
        if not scores.streams:
            self.base = writable_alias(scores.base)
            self.rows = scores.base_rows(np.arange(scores.shape[0]))
        order = np.arange(scores.shape[1]) if gallery.order is None else gallery.order
        self.gathered = gallery.order is not None or scores.selects_columns
        # A streamed block comes with the columns of a selection already chosen.
        order = order if scores.streams else scores.base_columns(order)
        # Without a sign, so that no index need be checked for being negative.
        self.order = order.astype(np.uint32)
        self.places = np.ascontiguousarray(gallery.columns[0])
        self.own_size = gallery.own_stop - gallery.own_start
        self.single = [j for j in jobs if _is(j, "single")]
        self.multi = [j for j in jobs if _is(j, "multi")]
        found = [j for j in jobs if isinstance(j, IdentificationJob)]
        self.templates = [j for j in found if j.rank_unit == "template"]
        self.subjects = [j for j in found if j.rank_unit == "subject"]
        chunks, n = numba.get_num_threads(), scores.shape[1]
        self.buffer = np.empty((chunks, n + 1), dtype=self.dtype)
        self.cells = np.empty((chunks, n), dtype=np.uint16)
        self.fused = np.empty((chunks, len(gallery.starts) - 1), dtype=self.dtype)
        self.limits = np.iinfo(self.key_dtype)
        given = [j.given for j in (*self.single, *self.multi) if j.given is not None]
        self.thresholds = given[0].thresholds if given else None
        self.divisions: dict[Window, Division] = {}

    def count(self, low: int, high: int) -> bool:
        """Count rows ``low:high`` for all jobs; False if some score has no place."""
        windows = self._windows(low, high)
        asked = (self.single, self.multi)
        if any(jobs and window is None for jobs, window in zip(asked, windows, strict=True)):
            return False
        divisions = self._divided(windows)
        gallery, dtype = self.reader.gallery, self.dtype
        rows = slice(low, high)
        if self.scores.streams:
            base = np.ascontiguousarray(self.scores.read_rows(low, high), dtype=dtype)
            numbers = np.arange(high - low)
        else:
            base, numbers = self.base, self.rows[rows]
        offsets = np.concatenate([[0], np.cumsum(self.own_size[rows])])
        genuine = np.empty(offsets[-1], dtype=dtype)
        tables = [
            np.zeros((len(self.cells), 2, division.entries if jobs else 0), dtype=np.int32)
            for jobs, division in zip(asked, divisions, strict=True)
        ]
        facts = self._facts(self.templates, rows)
        subject_facts = self._facts(self.subjects, rows)
        kernel.sweep_rows(  # type: ignore[call-arg]
            base, base.view(self.key_dtype), numbers, self.order, self.places, self.gathered,
            self.scores.kind == "similarity", gallery.starts, gallery.own[rows],
            gallery.self_position[rows], dtype.type(np.inf),
            self.key_dtype.type(self.limits.max), self.key_dtype.type(self.limits.bits - 1),
            bool(self.single), divisions[0].scalars, bool(self.multi), divisions[1].scalars,
            bool(self.subjects), divisions[0].parts, divisions[1].parts,
            self.buffer, self.buffer.view(self.key_dtype), self.cells, self.fused,
            *tables, genuine, offsets, *facts, *subject_facts,
        )  # fmt: skip
        counts = [table.sum(axis=(0, 1), dtype=np.int64) for table in tables]
        cells = [d.cells(c) if len(c) else c for d, c in zip(divisions, counts, strict=True)]
        if any(len(c) and (c[0] or c[-2] or c[-1]) for c in cells):
            return False
        mates = self.own_size[rows] - (gallery.self_position[rows] >= 0)
        others = self.scores.shape[1] - self.own_size[rows]
        if (facts[5] != mates).any() or (facts[7] != others).any():
            return False
        for i, jobs in enumerate(asked):
            for job in jobs:
                job.cells.include(divisions[i].counts(cells[i]))
                if job.given is not None:
                    job.given.counts += divisions[i].between(counts[i])
        for job in self.single:
            job.genuine.append(genuine[~np.isnan(genuine)])
        for job in self.multi:
            job.genuine.append(facts[0][facts[5] > 0].astype(dtype))
        for alike in (self.templates, self.subjects):  # they differ in what has no bearing here
            for job in alike[1:]:
                for name in FACTS:
                    job.facts[name][rows] = alike[0].facts[name][rows]
        return True

    def _divided(self, windows: Sequence[Window | None]) -> list[Division]:
        """Return the cells of each window, divided at the given thresholds."""
        used = [window or (0, 0) for window in windows]
        self.divisions = {
            window: self.divisions.get(window)
            or Division.of(*window, WINDOW, self.thresholds, self.dtype)
            for window in used
        }  # those of blocks before are not held: their windows may have been many
        return [self.divisions[window] for window in used]

    def _facts(self, jobs: list[IdentificationJob], rows: slice) -> list[np.ndarray]:
        """Return the arrays that the facts are written to: the first job's, or spare ones."""
        if jobs:
            return [jobs[0].facts[name][rows] for name in FACTS]
        b = rows.stop - rows.start
        return [np.zeros(b, float if name in ("mate", "other") else np.int64) for name in FACTS]

    def _windows(self, low: int, high: int) -> tuple[Window | None, Window | None]:
        """Return exponent and first cell of the tables, from the counts so far or a sample."""
        jobs = [*self.single[:1], *self.multi[:1]]
        if any(not len(job.cells.cells.counts) for job in jobs):
            block = self.reader.block(low, min(low + SAMPLE_ROWS, high))
            windows: list[Window | None] = []
            for wanted in (self.single, self.multi):
                if not wanted:
                    windows.append(None)
                    continue
                counter = type(wanted[0].cells)()
                for sample in wanted[0].impostors(block):
                    counter.add(*sample)
                windows.append(_window(counter.result(), self.dtype))
            return windows[0], windows[1]
        return (
            _window(self.single[0].cells.cells, self.dtype) if self.single else None,
            _window(self.multi[0].cells.cells, self.dtype) if self.multi else None,
        )


# Exponent of the cells, and the number of the cell that is table entry 0.
Window = tuple[int, int]

FACTS = IdentificationJob.NAMES


def _is(job: Any, templates: str) -> bool:
    return isinstance(job, VerificationJob) and job.templates == templates


def _window(cells: CellCounts, dtype: np.dtype) -> Window | None:
    """Return a window with the cells seen so far in its middle; None if it cannot be exact."""
    if not len(cells.counts):
        return None
    first = cells.first - (WINDOW - len(cells.counts)) // 2
    exact = exact_window(cells.exponent, first, WINDOW, dtype)
    return (cells.exponent, first) if exact else None
