"""One sweep for all tasks, where the scores allow it: floats without NaN or infinity.

Everything else (other dtypes, masks, failed comparisons, other fusions) is counted block by block
by the general kernels; the counts are the same either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np

from bioeval.kernels import sweep as kernel
from bioeval.kernels.argument_groups import RankFacts
from bioeval.scores.arrays import writable_alias
from bioeval.scores.blocks import Block, BlockReader, Progress, threads_for
from bioeval.scores.matrix import PairScores, Scores
from bioeval.tallies.cells import CELLS, CellGrid
from bioeval.tallies.counters import CellCounter
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.divided_cells import DividedCells
from bioeval.tallies.identification_job import IdentificationJob, empty_facts, facts_of_rows
from bioeval.tallies.verification_job import VerificationJob

# Scores in one call of the kernel, in memory or read from elsewhere, and rows that are looked at
# beforehand to place its cells.
SWEEP_VALUES = 1 << 24
READ_VALUES = 1 << 22
SAMPLE_ROWS = 32

# Cells of the kernel's tables: twice those of a count, for scores beyond the sample's; the first
# and the last two are for everything outside.
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


def run_blocks(
    scores: Scores, reader: BlockReader, jobs: Sequence[Any], progress: Progress | None = None
) -> list[Any]:
    """Run jobs over the blocks of one sweep and return their tallies, in order."""
    if isinstance(scores, PairScores):
        for job in jobs:
            job.add_pairs()
    else:
        for block in reader.blocks(progress):
            for job in jobs:
                job.add(block)
    return _results(reader, jobs)


def _results(reader: BlockReader, jobs: Sequence[Any]) -> list[Any]:
    """Return the tallies of jobs at the end of a sweep."""
    reader.note_sentinels()
    return [job.result() for job in jobs]


def sweepable(scores: Scores, jobs: Sequence[Any]) -> bool:
    """Say whether the one-sweep kernel can serve these jobs over these scores."""
    if isinstance(scores, PairScores) or not scores.labelled or scores.has_mask or scores.exclude:
        return False
    return scores.dtype in _KEYS and all(map(_served, jobs)) and _same_thresholds(jobs)


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
    step = reader.rows_per_block()
    if not scores.streams:
        values = SWEEP_VALUES if scores.in_memory else READ_VALUES
        step = max(step, values // n // step * step)
    for low in range(0, m, step):
        high = min(low + step, m)
        if not sweep.count(low, high):
            for start in range(low, high, reader.rows_per_block()):
                block = reader.block(start, min(start + reader.rows_per_block(), high))
                for job in jobs:
                    job.add(block)
        elif not scores.streams:
            reader.watch.look(low, *sweep.counted, sweep.columns, 1.0)
        if progress is not None:
            progress(high, m)
    return _results(reader, jobs)


class _Sweep:
    """The arrays that the kernel needs, made once, and the jobs that its counts go to."""

    def __init__(self, scores: Scores, reader: BlockReader, jobs: Sequence[Any]):
        self.scores, self.reader = scores, reader
        gallery = reader.gallery
        self.dtype = scores.dtype
        self.keys = np.iinfo(_KEYS[self.dtype])
        if scores.in_memory:
            self.base = writable_alias(scores.base)
            self.rows = scores.base_rows(np.arange(scores.shape[0]))
        # A block that is read comes with the columns of a selection already chosen.
        columns = np.arange(scores.shape[1])
        self.columns = scores.base_columns(columns) if scores.in_memory else columns
        order = self.columns if gallery.order is None else self.columns[gallery.order]
        self.gallery = kernel.Gallery(
            order=order.astype(np.uint32),  # unsigned, so that no index is checked for its sign
            places=np.ascontiguousarray(gallery.columns[0]),
            gathered=gallery.order is not None or (scores.in_memory and scores.selects_columns),
            starts=gallery.starts,
        )
        self.own_size = gallery.own_stop - gallery.own_start
        verification = [j for j in jobs if isinstance(j, VerificationJob)]
        single, multi = ([j for j in verification if j.templates == x] for x in ("single", "multi"))
        self.verification = (single, multi)
        ranks = [j for j in jobs if isinstance(j, IdentificationJob)]
        self.by_template = [j for j in ranks if j.rank_unit == "template"]
        self.by_subject = [j for j in ranks if j.rank_unit == "subject"]
        self.wanted = kernel.Wanted(bool(single), bool(multi), bool(self.by_subject))
        chunks, n = numba.get_num_threads(), scores.shape[1]
        line = np.empty((chunks, n + 1), dtype=self.dtype)
        self.scratch = kernel.Scratch(
            line=line,
            keys=line.view(self.keys.dtype),
            cells=np.empty((chunks, n), dtype=np.uint16),
            nearest=np.empty((chunks, len(gallery.starts) - 1), dtype=self.dtype),
        )
        given = [j.given for j in verification if j.given is not None]
        self.thresholds = given[0].thresholds if given else None
        self.divided: dict[CellGrid, DividedCells] = {}

    def count(self, low: int, high: int) -> bool:
        """Count rows ``low:high`` for all jobs; False if some score has no cell."""
        grids = self._grids(low, high)
        if None in grids:
            return False
        divided = self._divide([grid for grid in grids if grid is not None])
        rows = slice(low, high)
        tables = [cells.tables(len(self.scratch.cells)) for cells in divided]
        facts = self._facts(self.by_template, rows)
        gallery = self.reader.gallery
        offsets = np.concatenate([[0], np.cumsum(self.own_size[rows])])
        genuine = np.empty(offsets[-1], dtype=self.dtype)
        kernel.sweep_rows(  # type: ignore[call-arg]
            self._matrix(rows),
            self.gallery,
            kernel.Probes(gallery.own[rows], gallery.self_position[rows], offsets),
            self.wanted,
            *tables,
            genuine,
            facts,
            self._facts(self.by_subject, rows),
            self.scratch,
        )
        counts = [table.counts.sum(axis=(0, 1), dtype=np.int64) for table in tables]
        by_cell = [cells.by_cell(c) for cells, c in zip(divided, counts, strict=True)]
        if any(c[0] or c[-2] or c[-1] for c in by_cell):
            return False
        mates = self.own_size[rows] - (gallery.self_position[rows] >= 0)
        others = self.scores.shape[1] - self.own_size[rows]
        if (facts.mates != mates).any() or (facts.others != others).any():
            return False
        scores = genuine[~np.isnan(genuine)], facts.mate[facts.mates > 0].astype(self.dtype)
        for i, jobs in enumerate(self.verification):
            grid = divided[i].grid
            for job in jobs:
                job.genuine.append(scores[i])
                job.cells.include(
                    CellCounts(grid.exponent, grid.first + 1, by_cell[i][1:-2]).fitted()
                )
                if job.given is not None:
                    job.given.counts += divided[i].by_threshold(counts[i])
        for alike in (self.by_template, self.by_subject):  # they differ in their results only
            for other in alike[1:]:
                for mine, found in zip(other.facts, alike[0].facts, strict=True):
                    mine[rows] = found[rows]
        return True

    def _matrix(self, rows: slice) -> kernel.Matrix:
        """Return the matrix, and which of its rows to count."""
        if self.scores.in_memory:
            values, numbers = self.base, self.rows[rows]
        else:
            values = self.scores.read_rows(rows.start, rows.stop)
            values = np.require(values, self.dtype, ("C", "A", "W"))
            numbers = np.arange(len(values))
        self.counted = values, numbers
        return kernel.Matrix(
            values=values,
            keys=values.view(self.keys.dtype),
            rows=numbers,
            negated=self.scores.kind == "similarity",
            infinity=self.dtype.type(np.inf),
            key_mask=self.keys.dtype.type(self.keys.max),
            key_shift=self.keys.dtype.type(self.keys.bits - 1),
        )

    def _facts(self, jobs: list[IdentificationJob], rows: slice) -> RankFacts:
        """Return the arrays that the facts are written to: the first job's, or spare ones."""
        return facts_of_rows(jobs[0].facts, rows) if jobs else empty_facts(rows.stop - rows.start)

    def _divide(self, grids: Sequence[CellGrid]) -> list[DividedCells]:
        """Return the cells of each grid, divided at the given thresholds."""
        self.divided = {
            grid: self.divided.get(grid) or DividedCells.at(grid, self.thresholds, self.dtype)
            for grid in grids
        }  # those of blocks before are not kept: their grids may have been many
        return [self.divided[grid] for grid in grids]

    def _grids(self, low: int, high: int) -> list[CellGrid | None]:
        """Return the cells of single- and multi-template tables; None where they are not exact.

        They are placed around the counts so far, or around those of a sample of rows.
        """
        jobs = [jobs[0] if jobs else None for jobs in self.verification]
        counted = [None if job is None else job.cells.cells for job in jobs]
        if any(cells is not None and not len(cells.counts) for cells in counted):
            block = self.reader.block(low, min(low + SAMPLE_ROWS, high))
            counted = [None if job is None else _sample(job, block) for job in jobs]
        unused = CellGrid(0, 0, WINDOW)
        return [unused if cells is None else _around(cells, self.dtype) for cells in counted]


def _sample(job: VerificationJob, block: Block) -> CellCounts:
    """Count the impostor scores of a block, on the side."""
    counter = CellCounter()
    for impostors in job.impostors(block):
        counter.add(*impostors)
    return counter.cells


def _around(cells: CellCounts, dtype: np.dtype) -> CellGrid | None:
    """Return a grid with the cells seen so far in its middle; None if it cannot be exact."""
    if not len(cells.counts):
        return None
    first = cells.first - (WINDOW - len(cells.counts)) // 2
    grid = CellGrid(cells.exponent, first, WINDOW)
    return grid if grid.exact_in(dtype) else None
