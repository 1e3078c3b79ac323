"""One sweep for all tasks, of finite scores with labels.

Floats that lie in memory are swept where they are. What a mask, the metadata, or NaN leave out, and
other dtypes, is swept in the blocks that the general kernels count. These count all else, block by
block: infinite scores, other fusions, claims. The counts are the same either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from bioeval.base.arguments import require_callable
from bioeval.base.engines import engine, refuse_engine
from bioeval.base.errors import DataError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.memory import at_most
from bioeval.kernels.argument_groups import (
    GalleryColumns,
    Matrix,
    Probes,
    RankFacts,
    RawRows,
    Scratch,
    SweepOutput,
    TaskFlags,
    VerificationTables,
)
from bioeval.kernels.sweep import sweep_rows
from bioeval.scores.arrays import Mask, writable_alias
from bioeval.scores.blocks import (
    Block,
    BlockReader,
    GivenRows,
    Progress,
    distance_dtype,
    give_back,
    is_mapped,
    is_small,
    rows_within,
    threads_for,
)
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.cells import CELLS, CellGrid, rounded_down
from bioeval.tallies.counters import HistogramWithThresholds
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.parts import InBlocks, empty_facts, facts_of_rows
from bioeval.tallies.points import moment_scale
from bioeval.tallies.second_pass import (
    PointsWanted,
    SecondPass,
    Windows,
    expected_windows,
    scratch_of,
)
from bioeval.tallies.verification_job import VerificationJob

if TYPE_CHECKING:
    from bioeval.tallies.identification_job import IdentificationJob

# Scores in one call of the kernel, in memory or read from elsewhere, and rows that are looked at
# beforehand to place its cells.
SWEEP_VALUES = 1 << 24
READ_VALUES = 1 << 22
SAMPLE_ROWS = 32

# Genuine scores of embeddings that are computed together, about, and by how many last digits those
# of whole rows may be others.
MATES, DIGITS = 1 << 11, 64

# Rows of the pilot that places windows, at most a quarter of all, and groups of them, whose
# differences say how far to trust it; the most that is kept of the scores, as a proportion, what is
# kept anyway, and what never; and scores so few that all are kept.
PILOT_ROWS, PILOT_GROUPS = 256, 16
MOST_KEPT, KEPT_ANYWAY, MOST_SCORES_KEPT, KEEP_ALL = 1 / 8, 1 << 20, 1 << 25, 1 << 16

# Cells of the kernel's tables: twice those of a count, for scores beyond the sample's; the first
# and the last two are for everything outside. Room for more scores that is kept on either side.
WINDOW, MARGIN = 2 * CELLS + 3, CELLS // 4

# Bits by which cells are narrower where points are looked for.
NARROWER = 2

# Counts of a task that is not there.
UNUSED = CellCounts(counts=np.ones(1, dtype=np.int64))
NO_SECOND_PASS = SecondPass(())

_KEYS: dict[np.dtype, Any] = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}


def run_jobs(
    reader: BlockReader, jobs: Sequence[Any], progress: Progress | None = None
) -> list[Any]:
    """Run jobs over one sweep of the scores and return their tallies, in order."""
    require_callable("progress", progress)
    scores = reader.scores
    swept = reader.of_rows and sweepable(scores, jobs)
    if swept:
        run = run_sweep
    else:
        run = run_blocks
    with threads_for(scores):
        chosen = engine()
        if chosen is not None and _has_parts(reader, jobs):
            work = SweepWork(reader, jobs, swept)
            work.include(chosen.count(work, progress))
            return _results(reader, jobs)
        return run(reader, jobs, progress)


def run_blocks(
    reader: BlockReader, jobs: Sequence[Any], progress: Progress | None = None
) -> list[Any]:
    """Run jobs over the blocks of one sweep and return their tallies, in order."""
    if are_pairs(reader.scores):
        for job in jobs:
            job.add_pairs()
    else:
        for block in reader.blocks(progress):
            for job in jobs:
                job.add(block)
    return _results(reader, jobs)


def _results(reader: BlockReader, jobs: Sequence[Any]) -> list[Any]:
    """Return the tallies of jobs at the end of a sweep."""
    reader.note_failure_codes()
    return [job.result() for job in jobs]


def sweepable(scores: Scores, jobs: Sequence[Any]) -> bool:
    """Whether the one-sweep kernel can run these jobs over these scores."""
    if are_pairs(scores) or not scores._labelled or is_small(scores):
        return False
    if scores._enrolment_times is not None:  # who is enrolled differs by probe
        return False
    counting = [job for job in jobs if job.form != "digests"]
    return bool(counting) and all(map(_served, counting)) and _same_thresholds(jobs)


def _served(job: Any) -> bool:
    if job.form not in ("verification", "identification"):
        return False
    alike = not job.fuses or job.fusion == "min"
    return alike and (job.form == "identification" or job.claims is None)


def _same_thresholds(jobs: Sequence[Any]) -> bool:
    """Whether all verification jobs count at the same given thresholds, or none does."""
    none = np.empty(0)
    given = [job.given for job in jobs if job.form == "verification"]
    grids = [none if counter is None else counter.thresholds for counter in given]
    return all(np.array_equal(a, b) for a, b in itertools.pairwise(grids))


def run_sweep(reader: BlockReader, jobs: Sequence[Any], progress: Progress | None) -> list[Any]:
    """Run jobs, all :func:`sweepable`, and return their tallies in order."""
    sweep = RowSweep(reader, jobs)
    if sweep.rows_counted(0, reader.scores.shape[0], progress):
        _hand_on(sweep.verification, sweep.second_passes)
    return _results(reader, jobs)


def _hand_on(
    verification: Sequence[Sequence[VerificationJob]], second_passes: Sequence[Any]
) -> None:
    """Give the jobs of each kind the second pass that was taken for them."""
    for alike, second_pass in zip(verification, second_passes, strict=True):
        for job in alike:
            job.second_pass = second_pass


class SweepWork(InBlocks):
    """A sweep for some jobs, counted in blocks of rows in any place and order."""

    what = "counts"

    def __init__(self, reader: BlockReader, jobs: Sequence[Any], swept: bool):
        self.scores = scores = reader.scores
        self.reader, self.jobs, self.swept = reader, jobs, swept
        self.estimate: PilotEstimate | None = None
        if swept:
            sweep = RowSweep(reader, jobs)
            # The sample that places the cells is taken once, not by every block.
            sample = sweep._counted(0, scores.shape[0])
            if all(len(cells.counts) for cells in sample):
                sweep.pilot = sample
            else:
                sweep.pilot = []
            self.estimate = sweep.estimate
        verification = (job for job in jobs if job.form == "verification")
        self.depends_on = [array for job in verification for array in job.drawn]
        self.depends_on += [job.keys for job in jobs if job.form == "digests"]

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Count rows ``low:high``."""
        reader, jobs = self.reader.for_rows(low, high), [job.fresh() for job in self.jobs]
        second_passes: list[SecondPass | None] = [None, None]
        complete = True
        if self.estimate is not None:
            sweep = RowSweep(reader, jobs, self.estimate)
            complete, second_passes = sweep.rows_counted(low, high), sweep.second_passes
        else:
            for block in reader.blocks_of(low, high):
                for job in jobs:
                    job.add(block)
        return {
            "jobs": {str(i): job.counts(low, high) for i, job in enumerate(jobs)},
            "looks": {str(i): x.counts() for i, x in enumerate(second_passes) if x is not None},
            "complete": complete,
            "watch": self.watched(reader, low, high),
        }

    def include(self, found: dict[str, Any]) -> None:
        """Include the counts of all rows."""
        for i, job in enumerate(self.jobs):
            job.include_counts(found["jobs"][str(i)])
        self.include_watched(found["watch"])
        if self.estimate is None or not found["complete"]:
            return
        second_passes = [x and x.fresh() for x in self.estimate.second_passes]
        for i, second_pass in enumerate(second_passes):
            if second_pass is not None:
                second_pass.include_counts(found["looks"][str(i)])
        _hand_on(by_templates(self.jobs), second_passes)


def _has_parts(reader: BlockReader, jobs: Sequence[Any]) -> bool:
    """Whether counts of blocks of rows can be merged; raise if they would have to be."""
    rows = reader.of_rows and not are_pairs(reader.scores)
    mergeable = rows and all(hasattr(job, "include_counts") for job in jobs)
    if not mergeable:
        refuse_engine()
    return mergeable


def by_templates(jobs: Sequence[Any]) -> tuple[list[VerificationJob], list[VerificationJob]]:
    """Return the verification jobs with single templates, and those with multi templates."""
    verification = [j for j in jobs if j.form == "verification"]
    single = [j for j in verification if j.templates == "single"]
    multi = [j for j in verification if j.templates == "multi"]
    return single, multi


@dataclass(frozen=True, eq=False)
class PilotEstimate:
    """Facts about all scores before the sweep: about where operating points fall.

    The first of each two is of single, the second of multi templates.
    """

    pilot: list[CellCounts]
    room: list[float]
    expected: list[tuple[PointsWanted, np.ndarray] | None]
    windows: list[Windows]
    second_passes: list[SecondPass | None]


class RowSweep:
    """The arrays that the kernel needs, made once, and the jobs that receive its counts."""

    def __init__(
        self, reader: BlockReader, jobs: Sequence[Any], estimate: PilotEstimate | None = None
    ):
        self.scores = scores = reader.scores
        self.reader, self.jobs = reader, jobs
        gallery = reader.gallery
        self.dtype = distance_dtype(scores.dtype)
        self.keys = np.iinfo(_KEYS[self.dtype])
        self.gaps = scores._has_mask or bool(scores.exclude) or scores.nan == "exclude"
        mask: Any = scores._mask
        self.by_blocks = scores.dtype != self.dtype
        if self.gaps:
            direct = isinstance(mask, np.ndarray) and mask.dtype == np.uint8 and not scores.exclude
            direct = mask is None or (direct and mask.flags.c_contiguous)
            self.by_blocks |= not (direct and scores._in_memory)
        in_place = scores._in_memory and not self.by_blocks
        if in_place:
            self.base = writable_alias(scores._base)
            self.mask: Any = None if mask is None else writable_alias(mask)
            self.rows = scores._base_rows(np.arange(scores.shape[0]))
        # A block that is read comes with the columns of a selection already chosen.
        columns = np.arange(scores.shape[1])
        if in_place:
            self.columns = scores._base_columns(columns)
        else:
            self.columns = columns
        gathered = gallery.order is not None and not self.by_blocks
        if gathered:
            order = self.columns[gallery.order]
        else:
            order = self.columns
        self.gallery = GalleryColumns(
            order=order.astype(np.uint32),  # unsigned, so that no index is checked for its sign
            places=np.ascontiguousarray(gallery.columns[0]),
            gathered=gathered or (in_place and scores._selects_columns),
            starts=gallery.starts,
        )
        self.own_size = gallery.mate_stop - gallery.mate_start
        self.verification = single, multi = by_templates(jobs)
        verification = single + multi
        ranks = [j for j in jobs if j.form == "identification"]
        self.by_template = [j for j in ranks if j.rank_unit == "template"]
        self.by_subject = [j for j in ranks if j.rank_unit == "subject"]
        self.digests = [j for j in jobs if j.form == "digests"]
        self.wanted = TaskFlags(bool(single), bool(multi), bool(self.by_subject))
        self.scratch = self._scratch(numba.get_num_threads())
        given = [j.given for j in verification if j.given is not None]
        if given:
            self.thresholds = rounded_down(given[0].thresholds, self.dtype)
        else:
            self.thresholds = np.empty(0, dtype=self.dtype)
        self.computed = GivenRows(scores)
        self.cells: list[HistogramWithThresholds | None] = [None, None]
        self.pilot: list[CellCounts] = []
        self.room = [0.0, 0.0]
        self.expected: list[tuple[PointsWanted, np.ndarray] | None] = [None, None]
        self.windows: list[Windows] = [(), ()]
        self.second_passes: list[SecondPass | None] = [None, None]
        if estimate is not None:
            self.pilot, self.room, self.expected = estimate.pilot, estimate.room, estimate.expected
            self.windows = estimate.windows
            self.second_passes = [x and x.fresh() for x in estimate.second_passes]
            return
        # Of a file the genuine scores, which are all over the rows, would have to be read first.
        known = scores._streams or isinstance(scores._base, np.ndarray)
        known &= isinstance(scores._mask, np.ndarray | None)
        if known and any(job.wanted is not None for job in verification):
            self._want_second_passes()

    @property
    def estimate(self) -> PilotEstimate:
        """Facts about all scores before the sweep."""
        return PilotEstimate(self.pilot, self.room, self.expected, self.windows, self.second_passes)

    def rows_counted(self, first: int, last: int, progress: Progress | None = None) -> bool:
        """Count rows ``first:last`` for all jobs; say whether the second passes saw all of them."""
        scores, reader, complete = self.scores, self.reader, True
        n = scores.shape[1]
        # Streamed rows are always computed in the same blocks, so that they are the same each time.
        step = reader.rows_per_block()
        if not (scores._streams or self.by_blocks):
            if scores._in_memory and not scores.exclude:
                values = SWEEP_VALUES
            else:
                values = READ_VALUES
            in_place = scores._in_memory
            if in_place:
                most = rows_within(scores, step, in_place=True)
            else:
                most = reader.most_rows
            step = max(step, min(values // n, most) // step * step)
        for low in range(first, last, step):
            high = min(low + step, last)
            block = None
            if self.by_blocks:
                block = reader.block(low, high)
            if not self.count(low, high, block):
                complete = False
                for start in range(low, high, reader.rows_per_block()):
                    rest = block or reader.block(start, min(start + reader.rows_per_block(), high))
                    for job in self.jobs:
                        job.add(rest)
            else:
                for job in self.digests:
                    job.look(low, self.raw, self.columns, block)
                if not (scores._streams or self.by_blocks):
                    reader.watch.look(low, self.raw, self.columns, 1.0)
            give_back(scores)
            if progress is not None:
                progress(high, scores.shape[0])
        return complete

    def _want_second_passes(self) -> None:
        """Gather the genuine scores, and estimate by a pilot where operating points fall."""
        mates = self._mates()
        for i, jobs in enumerate(self.verification):
            wanted = next((job.wanted for job in jobs if job.wanted is not None), None)
            if wanted is not None:
                genuine = np.sort(mates if i == 0 else self._nearest(mates))
                genuine = genuine[: len(genuine) - np.count_nonzero(np.isnan(genuine))]
                if len(genuine):
                    self.expected[i] = wanted, genuine
        m, n = self.scores.shape
        if m * n > KEEP_ALL and m >= 4 * PILOT_GROUPS:
            most = min(PILOT_ROWS, m // 4, self.reader.most_rows)
            self._pilot(max(most // PILOT_GROUPS, 1) * PILOT_GROUPS)
        for i, expected in enumerate(self.expected):
            if expected is not None:
                wanted, genuine = expected
                if m * n <= KEEP_ALL:
                    self.windows[i], self.room[i] = [(-np.inf, np.inf)], 1.0
                if self.pilot:
                    ends = self.pilot[i].range
                else:
                    ends = (-np.inf, np.inf)
                every = wanted.every_score
                self.second_passes[i] = SecondPass(
                    self.windows[i],
                    genuine if every else None,
                    ends,
                    moments=every,
                    digits=self.digits,
                )

    def _pilot(self, number: int) -> None:
        """Place windows by the counts of some rows."""
        grids = [_around(cells, self.dtype) for cells in self._counted(0, self.scores.shape[0])]
        cells = [
            HistogramWithThresholds.at(UNUSED, x, self.thresholds[:0])
            for x in grids
            if x is not None
        ]
        if len(cells) < len(grids):
            return
        rows = np.linspace(0, self.scores.shape[0] - 1, number).astype(np.int64)
        rows = rows.reshape(-1, PILOT_GROUPS).T.reshape(-1)  # each group from all over
        block = None
        if self.by_blocks:
            try:
                block = BlockReader(self.scores.select(probes=rows)).block(0, number)
            except DataError:  # raised again, with the right rows, when these are counted
                return
            block.values = block.values.astype(self.dtype, copy=False)  # few rows are float64
        none = NO_SECOND_PASS.tables(self.dtype, PILOT_GROUPS, 0)
        tables = [VerificationTables(x.tables(PILOT_GROUPS), none) for x in cells]
        facts = empty_facts(number), empty_facts(number)
        if self._run(rows, tables, *facts, self._scratch(PILOT_GROUPS), block) is None:
            return
        for i, (found, table) in enumerate(zip(cells, tables, strict=True)):
            expected, grid = self.expected[i], found.grid
            by_group = table.counts.cells
            counts = CellCounts(grid.exponent, grid.first, by_group.sum(axis=0)).fitted()
            self.pilot.append(counts if len(counts.counts) else UNUSED)
            if expected is not None and len(counts.counts):
                every = counts.total / number * self.scores.shape[0]
                keep = expected[0].keep
                anyway = max(keep, KEPT_ANYWAY) / every
                most = min(max(MOST_KEPT, anyway), at_most(MOST_SCORES_KEPT, 32) / every)
                if keep:  # wider windows, of which the closest are kept
                    from bioeval.tallies.kept_points import closest_windows

                    self.windows[i], self.room[i] = closest_windows(
                        grid, by_group.sum(axis=0), *expected[::-1], most * counts.total
                    )
                else:
                    self.windows[i], self.room[i] = expected_windows(
                        grid, by_group, *expected[::-1], most
                    )

    def _scratch(self, chunks: int) -> Scratch:
        """Return memory for one row of each chunk."""
        groups = len(self.gallery.starts) - 1
        return scratch_of(self.dtype, chunks, self.scores.shape[1], groups)

    def _mates(self) -> np.ndarray:
        """Return the genuine scores of all rows side by side, NaN for the probe itself."""
        gallery = self.reader.gallery
        row, place = self.reader.own_cells(0, self.scores.shape[0])
        column = gallery.columns[0][place]
        cells = self.scores._base_rows(row), self.scores._base_columns(column)
        exact: np.ndarray | None = None
        if not self.scores._streams:
            exact = self._gathered(*cells)
        elif not self.scores._selects_rows:
            exact = self.scores._base.of_cells(*cells)
        if exact is None:
            self.digits = DIGITS
        else:
            self.digits = 0
        if exact is None:
            mates = self._computed_mates(row, column)
        else:
            mates = exact
        if larger_is_closer(self.scores.kind):
            mates = -mates
        left_out = place == gallery.self_position[row]
        left_out |= self.scores._excluded(row, column)
        if self.scores._mask is not None:
            left_out |= self.scores._mask[cells] == Mask.IGNORE
        mates[left_out] = np.nan
        return mates

    def _gathered(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return scores of cells; those of a mapped file are read gradually."""
        scores = np.empty(len(rows), dtype=self.dtype)
        for low in range(0, len(rows), MATES):
            some = slice(low, low + MATES)
            scores[some] = self.scores._base[rows[some], columns[some]]
            give_back(self.scores)
        return scores

    def _computed_mates(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Return scores of embeddings, computed for a few subjects at a time."""
        scores = np.empty(len(row), dtype=self.dtype)
        own = self.reader.gallery.own[row]
        order = np.argsort(own, kind="stable")
        row, column, own = row[order], column[order], own[order]
        change = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        size = np.diff(np.append(change, len(own)))
        part = (np.cumsum(size) - 1) // MATES
        for some in np.split(np.arange(len(row)), change[np.flatnonzero(np.diff(part)) + 1]):
            rows, i = np.unique(row[some], return_inverse=True)
            columns, j = np.unique(column[some], return_inverse=True)
            block = self.scores._base.among(
                self.scores._base_rows(rows), self.scores._base_columns(columns)
            )
            scores[order[some]] = block[i, j]
        return scores

    def _nearest(self, mates: np.ndarray) -> np.ndarray:
        """Return the least genuine score of each row that has any."""
        starts = np.cumsum(self.own_size) - self.own_size
        if len(mates):
            return np.fmin.reduceat(mates, starts[self.own_size > 0])
        return mates

    def count(self, low: int, high: int, block: Block | None) -> bool:
        """Count rows ``low:high`` for all jobs; False if some score has no cell.

        Their `block` is needed where this counts by blocks.
        """
        counted = self._counted(low, high)
        marked = [x for i, cells in enumerate(counted) if (x := self._marked(i, cells)) is not None]
        if len(marked) < len(counted):
            return False
        rows = np.arange(low, high)
        tables = [self._tables(i, x, counted[i], high - low) for i, x in enumerate(marked)]
        facts = self._facts(self.by_template, slice(low, high))
        gallery = self.reader.gallery
        subject_facts = self._facts(self.by_subject, slice(low, high))
        genuine = self._run(rows, tables, facts, subject_facts, self.scratch, block)
        if genuine is None:
            return False
        counts = [x.counted(found.counts) for x, found in zip(marked, tables, strict=True)]
        by_cell = [
            c.reshape(x.grid.count, -1).sum(axis=1)
            for x, (c, _) in zip(marked, counts, strict=True)
        ]
        if any(c[0] or c[-2] or c[-1] for c in by_cell):
            return False
        mates = self.own_size[rows] - (gallery.self_position[rows] >= 0)
        others = self.scores.shape[1] - self.own_size[rows]
        if not self.gaps and ((facts.mates != mates) | (facts.others != others)).any():
            return False
        scores = genuine[~np.isnan(genuine)], facts.mate[facts.mates > 0].astype(self.dtype)
        for i, jobs in enumerate(self.verification):
            grid, narrow, (by_narrow, at_marks) = marked[i].grid, marked[i].narrow, counts[i]
            for job in jobs:
                job.genuine.append(scores[i])
                cells = CellCounts(grid.exponent, grid.first + 1, by_cell[i][1:-2])
                job.cells.include(cells.fitted())
                if job.given is not None:
                    job.given.counts += np.diff(at_marks, prepend=0, append=by_narrow.sum())
            second_pass = self.second_passes[i]
            if second_pass is not None:
                second_pass.include(tables[i].points)
                second_pass.include_cells(CellCounts(narrow.exponent, narrow.first, by_narrow))
        for alike in (self.by_template, self.by_subject):  # they differ in their results only
            for other in alike[1:]:
                for mine, found in zip(other.facts, alike[0].facts, strict=True):
                    mine[rows] = found[rows]
        return True

    def _tables(
        self, i: int, marked: HistogramWithThresholds, counted: CellCounts, rows: int
    ) -> VerificationTables:
        """Return empty tables for some rows."""
        second_pass, chunks = self.second_passes[i], len(self.scratch.cells)
        counts = marked.tables(chunks)
        if second_pass is None:
            return VerificationTables(counts, NO_SECOND_PASS.tables(self.dtype, chunks, 0))
        if i == 0:
            n = self.scores.shape[1]
        else:
            n = len(self.gallery.starts) - 1
        room = int(min(1.0, 2 * self.room[i]) * n * rows / chunks) + 4 * n
        moments, scale = rows * second_pass.with_moments, moment_scale(*counted.range)
        points = second_pass.tables(
            self.dtype, chunks, room * bool(second_pass.windows), moments, scale
        )
        points = points._replace(shift=np.uint32(marked.grid.exponent - marked.narrow.exponent))
        return VerificationTables(counts, points)

    def _run(
        self,
        rows: np.ndarray,
        tables: Sequence[VerificationTables],
        facts: RankFacts,
        subject_facts: RankFacts,
        scratch: Scratch,
        block: Block | None,
    ) -> np.ndarray | None:
        """Count rows, and return their genuine scores; None if a cell is refused."""
        gallery = self.reader.gallery
        offsets = np.concatenate([[0], np.cumsum(self.own_size[rows])])
        genuine = np.empty(offsets[-1], dtype=self.dtype)
        probes = Probes(gallery.own[rows], gallery.self_position[rows], offsets)
        single, multi = tables
        refused = np.zeros(len(rows), dtype=np.int64)
        output = SweepOutput(single, multi, genuine, facts, subject_facts, refused)
        sweep_rows(self._matrix(rows, block), self.gallery, probes, self.wanted, output, scratch)
        if refused.any():
            return None
        return genuine

    def _matrix(self, rows: np.ndarray, block: Block | None) -> Matrix:
        """Return the matrix and the rows of it to count."""
        if block is not None:
            values, numbers = block.values, np.arange(len(rows))
        elif self.scores._in_memory and (
            is_mapped(self.scores) and rows[-1] - rows[0] >= len(rows)
        ):
            values, numbers = self._copied(self.rows[rows]), np.arange(len(rows))
        elif self.scores._in_memory:
            values, numbers = self.base, self.rows[rows]
        else:
            low, high = int(rows[0]), int(rows[-1]) + 1
            if high - low == len(rows):
                values = self.computed.read(low, high)
            else:
                values = self.scores.select(probes=rows)._read_rows(0, len(rows))
            values = np.require(values, self.dtype, ("C", "A", "W"))
            numbers = np.arange(len(values))
        self.raw = RawRows(values, numbers)
        if block is None and self.scores._has_mask:
            self.raw = RawRows(values, numbers, self.mask, self.rows[rows])
        elif block is None and self.scores.exclude:
            self.raw = RawRows(values, numbers, self._not_excluded(rows), np.arange(len(rows)))
        return Matrix(
            raw=self.raw,
            keys=values.view(self.keys.dtype),
            gaps=self.gaps,
            negated=larger_is_closer(self.scores.kind) and block is None,
            infinity=self.dtype.type(np.inf),
            nan=self.dtype.type(np.nan),
            key_mask=self.keys.dtype.type(self.keys.max),
            key_shift=self.keys.dtype.type(self.keys.bits - 1),
            genuine=np.uint8(Mask.GENUINE if self.scores._has_mask else Mask.IMPOSTOR),
            strict=self.scores.nan != "exclude",
        )

    def _not_excluded(self, rows: np.ndarray) -> np.ndarray:
        """Return a mask of rows that is 0 for pairs left out by `exclude`, and else 1."""
        mask = np.full((len(rows), self.base.shape[1]), Mask.IMPOSTOR, dtype=np.uint8)
        row, position = self.reader.same_cells(rows)
        mask[row, self.gallery.order[position]] = Mask.IGNORE
        return mask

    def _copied(self, rows: np.ndarray) -> np.ndarray:
        """Return copies of rows from all over a mapped file, so that no neighbours are mapped."""
        copies = np.empty((len(rows), self.base.shape[1]), dtype=self.dtype)
        for low in range(0, len(rows), PILOT_GROUPS):
            copies[low : low + PILOT_GROUPS] = self.base[rows[low : low + PILOT_GROUPS]]
            give_back(self.scores)
        return copies

    def _facts(self, jobs: list[IdentificationJob], rows: slice) -> RankFacts:
        """Return the arrays that the facts are written to: the first job's, or temporary ones."""
        if jobs:
            return facts_of_rows(jobs[0].facts, rows)
        return empty_facts(rows.stop - rows.start)

    def _marked(self, i: int, counted: CellCounts) -> HistogramWithThresholds | None:
        """Return the marked cells of single- or multi-template tables; None if they are inexact.

        They are made anew where the scores move.
        """
        known = self.cells[i]
        grid = _around(counted, self.dtype, None if known is None else known.grid)
        if grid is None or (known is not None and known.grid == grid):
            if grid is None:
                return None
            return known
        second_pass = self.second_passes[i]
        bits = 0
        if second_pass is not None:
            bits = NARROWER
        self.cells[i] = HistogramWithThresholds.at(counted, grid, self.thresholds, bits)
        if second_pass is not None:
            second_pass.keep_cells(grid)
        return self.cells[i]

    def _counted(self, low: int, high: int) -> list[CellCounts]:
        """Return the contents of single- and multi-template tables, so far or of a sample."""
        jobs = [jobs[0] if jobs else None for jobs in self.verification]
        counted = [UNUSED if job is None else job.cells.cells for job in jobs]
        if all(len(cells.counts) for cells in counted):
            return counted
        if self.pilot:
            return self.pilot
        block = self.reader.block(low, min(low + SAMPLE_ROWS, high))
        return [UNUSED if job is None else _sample(job, block) for job in jobs]


def _sample(job: VerificationJob, block: Block) -> CellCounts:
    """Count the impostor scores of a few rows of a block in cells, without compiling a kernel."""
    values, start, stop = block.values, block.mate_start, block.mate_stop
    if job.templates == "multi":
        values = np.fmin.reduceat(values, block.starts[:-1], axis=1)
        start, stop = block.own, block.own + 1
    column = np.arange(values.shape[1])
    impostor = (column < start[:, None]) | (column >= stop[:, None])
    scores = values[impostor & np.isfinite(values)]
    if not len(scores):
        return CellCounts()
    grid = CellGrid.covering(float(scores.min()), float(scores.max()))
    places = grid.places_of(scores.astype(np.float64)).astype(np.int64)
    return CellCounts(grid.exponent, grid.first, np.bincount(places, minlength=grid.count))


def _around(cells: CellCounts, dtype: np.dtype, known: CellGrid | None = None) -> CellGrid | None:
    """Return a grid with the cells seen so far near its middle; None if it cannot be exact.

    The `known` one is kept as long as it will do.
    """
    if not len(cells.counts):
        return None
    if known is not None and known.exponent == cells.exponent:
        before = cells.first - known.first
        if min(before, WINDOW - before - len(cells.counts)) >= MARGIN:
            return known
    first = cells.first - (WINDOW - len(cells.counts)) // 2
    grid = CellGrid(cells.exponent, first, WINDOW)
    if grid.exact_in(dtype):
        return grid
    return None
