"""One pass over the scores for all tasks.

The kernel of whole rows counts finite scores with labels. It reads floats that lie in memory where
they are. What a mask, the metadata, or NaN leave out, and other dtypes, it reads in the blocks that
the general kernels count. These count all else, block by block: infinite scores, other fusions,
claims. The counts are the same either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.executors import executor, refuse_executor
from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import report_rows
from bioeval.kernels.argument_groups import (
    GalleryColumns,
    Matrix,
    Probes,
    RankFacts,
    RawRows,
    RowOutput,
    Scratch,
    TaskFlags,
    VerificationTables,
)
from bioeval.kernels.whole_rows import count_whole_rows
from bioeval.scores.arrays import Mask, distance_dtype, writable_alias
from bioeval.scores.blocks import (
    Block,
    BlockReader,
    GivenRows,
    give_back,
    is_mapped,
    is_small,
    rows_within,
    threads_for,
)
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.cells import CellGrid, rounded_down
from bioeval.tallies.counters import HistogramWithThresholds
from bioeval.tallies.counting import AttemptCounter, Counter, KernelCounters, RankCounter
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.kinds import (
    NO_SECOND_PASS,
    PILOT_GROUPS,
    UNUSED,
    KindOfTemplates,
    around,
    pilot_bits,
)
from bioeval.tallies.parts import Counts, empty_facts, facts_of_rows
from bioeval.tallies.points import moment_scale
from bioeval.tallies.row_passes import RowPass
from bioeval.tallies.second_pass import (
    PointsWanted,
    SecondPass,
    scratch_of,
)

# Scores in one call of the kernel, in memory or read from elsewhere, and rows that are looked at
# beforehand to place its cells.
VALUES_IN_MEMORY = 1 << 24
READ_VALUES = 1 << 22
SAMPLE_ROWS = 32

# Genuine scores of a mapped file that are read together.
MATES = 1 << 11

# Rows of the pilot that places windows, at most a quarter of all; and scores so few that all are
# kept.
PILOT_ROWS, KEEP_ALL = 256, 1 << 16

R = TypeVar("R")

_KEYS: dict[np.dtype, Any] = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}


class Counted(NamedTuple):
    """Results of one pass, in the order of the counters."""

    results: list[Any]
    #: What the pass has collected of the operating points, by counter; of some, or of none.
    second_passes: dict[Counter[Any], SecondPass]


def count_together(reader: BlockReader, counters: Sequence[Counter[R]]) -> list[R]:
    """Fill counters in one pass over the scores and return their results, in order."""
    return count_with_points(reader, counters, None).results


def count_with_points(
    reader: BlockReader, counters: Sequence[Counter[Any]], wanted: PointsWanted | None
) -> Counted:
    """Fill counters in one pass over the scores, which may collect what points will need.

    `wanted` are the operating points of verification that are looked for next.
    """
    kernel = kernel_counters(reader.scores, counters) if reader.of_rows else None
    chosen = executor()
    with threads_for(reader.scores):
        if chosen is not None and not (reader.of_rows and not are_pairs(reader.scores)):
            refuse_executor()  # nothing to merge: there are no blocks of rows
            chosen = None
        by_tiles = None
        if kernel is not None:
            by_tiles = count_by_tiles(reader, counters, kernel, wanted)
            if kernel.farthest:
                kernel = None
        if by_tiles is not None:
            second_passes = by_tiles
        elif chosen is not None:
            counter_pass = CounterPass(reader, counters, kernel is not None, wanted)
            second_passes = counter_pass.include(chosen.count(counter_pass))
        elif kernel is not None:
            second_passes = count_by_kernel(reader, counters, kernel, wanted)
        else:
            second_passes = {}
            count_by_blocks(reader, counters)
    reader.note_failure_codes()
    return Counted([counter.result() for counter in counters], second_passes)


def count_by_blocks(reader: BlockReader, counters: Sequence[Counter[Any]]) -> None:
    """Fill counters with the blocks of one pass."""
    if are_pairs(reader.scores):
        for counter in counters:
            counter.add_pairs()
        return
    for block in reader.blocks():
        for counter in counters:
            counter.add(block)


def kernel_counters(scores: Scores, counters: Sequence[Counter[Any]]) -> KernelCounters | None:
    """Return counters by what the kernel of whole rows counts for them; None if it cannot."""
    if are_pairs(scores) or not scores._labelled or is_small(scores):
        return None
    if scores._enrolment_times is not None:  # who is enrolled differs by probe
        return None
    kernel = KernelCounters.of(counters)
    if kernel is None or not (kernel.attempts or kernel.ranks):
        return None
    grids = []
    for counter in kernel.attempts:
        grids.append(
            np.empty(0)
            if counter.threshold_counter is None
            else counter.threshold_counter.thresholds
        )
    if all(itertools.starmap(np.array_equal, itertools.pairwise(grids))):
        return kernel
    return None


def count_by_kernel(
    reader: BlockReader,
    counters: Sequence[Counter[Any]],
    kernel: KernelCounters,
    wanted: PointsWanted | None = None,
) -> dict[Counter[Any], SecondPass]:
    """Fill counters that the kernel serves; return the second passes taken at the same time."""
    kernel_pass = KernelPass(reader, counters, kernel, wanted=wanted)
    if kernel_pass.rows_counted(0, reader.scores.shape[0]):
        return _second_passes(kernel_pass.kinds)
    return {}


def count_by_tiles(
    reader: BlockReader,
    counters: Sequence[Counter[Any]],
    kernel: KernelCounters,
    wanted: PointsWanted | None,
) -> dict[Counter[Any], SecondPass] | None:
    """Fill counters from tiles of embeddings; None, and nothing, where tiles cannot serve them."""
    from bioeval.tallies.tiled_scores import TiledScores

    if kernel.raw:
        return None
    tiled = TiledScores.of(reader)
    if tiled is None:
        return None
    from bioeval.tallies.tile_pass import TilePass
    from bioeval.tallies.tile_reading import TileReading

    tile_pass = TilePass(tiled, counters, kernel, wanted)
    if not tile_pass.placed:
        return None
    chosen, m = executor(), reader.scores.shape[0]
    counts = tile_pass.part(0, m) if chosen is None else chosen.count(tile_pass)
    second_passes = tile_pass.include(counts)
    if second_passes is not None:
        reader.second_reading = partial(TileReading, tile_pass)
    return second_passes


def _second_passes(kinds: Iterable[KindOfTemplates]) -> dict[Counter[Any], SecondPass]:
    """Return the second passes that were taken, by the counters that they were taken for."""
    return {
        counter: kind.second_pass
        for kind in kinds
        if kind.second_pass is not None
        for counter in kind.counters
    }


class CounterPass(RowPass):
    """A pass that fills some counters, in blocks of rows in any place and order."""

    name = "counts"

    def __init__(
        self,
        reader: BlockReader,
        counters: Sequence[Counter[Any]],
        by_kernel: bool,
        wanted: PointsWanted | None = None,
    ):
        """Take the sample that places the cells, if the kernel of whole rows counts."""
        self.scores = scores = reader.scores
        self.reader, self.counters, self.by_kernel = reader, counters, by_kernel
        self.kinds: Sequence[KindOfTemplates] = ()
        if by_kernel:
            kernel_pass = KernelPass(reader, counters, _joined(counters), wanted=wanted)
            # The sample that places the cells is taken once, not by every block.
            sample = kernel_pass._counted(0, scores.shape[0])
            if all(len(cells.counts) for cells in sample):
                for kind, cells in zip(kernel_pass.kinds, sample, strict=True):
                    kind.pilot = cells
            self.kinds = kernel_pass.kinds
        self.depends_on = [array for counter in counters for array in counter.depends_on]

    def part(self, low: int, high: int) -> dict[str, Counts]:
        """Count rows ``low:high``."""
        reader, counters = self.reader.for_rows(low, high), [x.fresh() for x in self.counters]
        second_passes = {}
        complete = True
        if self.by_kernel:
            kernel_pass = KernelPass(reader, counters, _joined(counters), self.kinds)
            complete = kernel_pass.rows_counted(low, high)
            for i, kind in enumerate(kernel_pass.kinds):
                if kind.second_pass is not None:
                    second_passes[str(i)] = kind.second_pass.counts()
        else:
            for block in reader.blocks_of(low, high):
                for counter in counters:
                    counter.add(block)
        return {
            "counters": {str(i): x.counts(low, high) for i, x in enumerate(counters)},
            "second_passes": second_passes,
            "complete": complete,
            "watch": self.watched(reader, low, high),
        }

    def include(self, counts: dict[str, Counts]) -> dict[Counter[Any], SecondPass]:
        """Merge the counts of all rows into the counters; return the second passes."""
        for i, counter in enumerate(self.counters):
            counter.merge(counts["counters"][str(i)], 0, self.scores.shape[0])
        self.include_watched(counts["watch"])
        if not counts["complete"]:
            return {}
        kinds = []
        for i, known in enumerate(self.kinds):
            kind = known.fresh(_joined(self.counters))
            if kind.second_pass is not None:
                kind.second_pass.include_counts(counts["second_passes"][str(i)])
            kinds.append(kind)
        return _second_passes(kinds)


def _joined(counters: Sequence[Counter[Any]]) -> KernelCounters:
    """Return counters, all of which the kernel serves, by what it counts for them."""
    kernel = KernelCounters.of(counters)
    assert kernel is not None
    return kernel


def _mask_in_place(scores: Scores) -> bool:
    """Whether the kernel can read scores and their mask in place."""
    mask = scores._mask
    if mask is None or not scores._in_memory:
        return scores._in_memory
    fits = isinstance(mask, np.ndarray) and mask.dtype == np.uint8 and not scores.exclude
    return fits and mask.flags.c_contiguous


class KernelPass:
    """The arrays that the kernel needs, made once, and the counters that receive its counts."""

    def __init__(
        self,
        reader: BlockReader,
        counters: Sequence[Counter[Any]],
        kernel: KernelCounters,
        known: Sequence[KindOfTemplates] = (),
        *,
        wanted: PointsWanted | None = None,
    ):
        """Make the arrays of the kernel; `known` kinds keep their cells and the points `wanted`."""
        self.scores = scores = reader.scores
        self.reader, self.counters = reader, counters
        self.dtype = distance_dtype(scores.dtype)
        self.keys = np.iinfo(_KEYS[self.dtype])
        self.gaps = scores._has_mask or bool(scores.exclude) or scores.nan == "exclude"
        self.by_blocks = scores.dtype != self.dtype or (self.gaps and not _mask_in_place(scores))
        self.in_place = scores._in_memory and not self.by_blocks
        # A block that is read comes with the columns of a selection already chosen.
        self.columns = np.arange(scores.shape[1])
        if self.in_place:
            self.base = writable_alias(scores._base)
            self.mask: Any = None
            if scores._mask is not None:
                self.mask = writable_alias(scores._mask)
            self.rows = scores._base_rows(np.arange(scores.shape[0]))
            self.columns = scores._base_columns(self.columns)
        self.gallery = self._gallery_columns()
        gallery = reader.gallery
        self.subject_size = gallery.mate_stop - gallery.mate_start
        if known:
            self.kinds = [kind.fresh(kernel) for kind in known]
        else:
            self.kinds = [KindOfTemplates.among(x, kernel) for x in ("single", "multi")]
        single, multi = self.kinds
        ranks = kernel.ranks
        self.by_template = [counter for counter in ranks if counter.rank_unit == "template"]
        self.by_subject = [counter for counter in ranks if counter.rank_unit == "subject"]
        self.raw = kernel.raw
        self.tasks = TaskFlags(bool(single.counters), bool(multi.counters), bool(self.by_subject))
        self.scratch = self._scratch(numba.get_num_threads())
        self.thresholds = np.empty(0, dtype=self.dtype)
        threshold_counters = [
            counter.threshold_counter
            for counter in kernel.attempts
            if counter.threshold_counter is not None
        ]
        if threshold_counters:
            self.thresholds = rounded_down(threshold_counters[0].thresholds, self.dtype)
        self.computed = GivenRows(scores)
        # Of a file, or of embeddings that have no tiles, the genuine scores are all over the rows.
        at_hand = isinstance(scores._base, np.ndarray)
        at_hand &= isinstance(scores._mask, np.ndarray | None)
        if not known and at_hand and wanted is not None and kernel.attempts:
            self._want_second_passes(wanted)

    def _gallery_columns(self) -> GalleryColumns:
        """Return the columns of the gallery in the order of its subjects."""
        gallery = self.reader.gallery
        order, gathered = self.columns, self.in_place and self.scores._selects_columns
        if gallery.order is not None and not self.by_blocks:
            order, gathered = order[gallery.order], True
        return GalleryColumns(
            order=order.astype(np.uint32),  # unsigned, so that no index is checked for its sign
            places=np.ascontiguousarray(gallery.columns[0]),
            gathered=gathered,
            starts=gallery.starts,
        )

    def rows_counted(self, first: int, last: int) -> bool:
        """Count rows ``first:last`` for all; return whether the second passes saw all of them."""
        scores, reader, complete = self.scores, self.reader, True
        step = self._rows_per_call()
        for low in range(first, last, step):
            high = min(low + step, last)
            block = reader.block(low, high) if self.by_blocks else None
            raw = self.count(low, high, block)
            if raw is None:
                complete = False
                for start in range(low, high, reader.rows_per_block()):
                    rest = block or reader.block(start, min(start + reader.rows_per_block(), high))
                    for counter in self.counters:
                        counter.add(rest)
            else:
                for of_raw in self.raw:
                    of_raw.add_raw(low, raw, self.columns, block)
                if not (scores._computed or self.by_blocks):
                    reader.watch.look(low, raw, self.columns, 1.0)
            give_back(scores)
            report_rows(high, scores.shape[0])
        return complete

    def _rows_per_call(self) -> int:
        """Return how many rows the kernel counts in one call."""
        scores = self.scores
        step = self.reader.rows_per_block()
        # Streamed rows are always computed in the same blocks, so that they are the same each time.
        if scores._streams or self.by_blocks:
            return step
        most = self.reader.most_rows
        values = READ_VALUES
        if scores._in_memory:
            most = rows_within(scores, step, in_place=True)
            if not scores.exclude:
                values = VALUES_IN_MEMORY
        return max(step, min(values // scores.shape[1], most) // step * step)

    def _want_second_passes(self, wanted: PointsWanted) -> None:
        """Gather the genuine scores, and estimate by a pilot where operating points fall."""
        mates = self._mates()
        for kind in self.kinds:
            if not kind.counters:
                continue
            genuine = self._nearest(mates) if kind.templates == "multi" else mates
            genuine = np.sort(genuine)
            genuine = genuine[: len(genuine) - np.count_nonzero(np.isnan(genuine))]
            if len(genuine):
                kind.wanted, kind.genuine = wanted, genuine
        m, n = self.scores.shape
        if m * n > KEEP_ALL and m >= 4 * PILOT_GROUPS:
            most = min(PILOT_ROWS, m // 4, self.reader.most_rows)
            self._pilot(max(most // PILOT_GROUPS, 1) * PILOT_GROUPS)
        for kind in self.kinds:
            if m * n <= KEEP_ALL:
                kind.windows, kind.share = [(-np.inf, np.inf)], 1.0
            kind.take_second_pass()

    def _pilot(self, number: int) -> None:
        """Place windows by the counts of some rows."""
        m, n = self.scores.shape
        cells = []
        for counted in self._counted(0, m):
            grid = around(counted, self.dtype)
            if grid is None:
                return
            no_marks = self.thresholds[:0]
            cells.append(HistogramWithThresholds.at(UNUSED, grid, no_marks, pilot_bits(m * n)))
        rows = np.linspace(0, m - 1, number).astype(np.int64)
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
        matrix, scratch = self._matrix(rows, block), self._scratch(PILOT_GROUPS)
        facts, subject_facts = empty_facts(number), empty_facts(number)
        if self._run(rows, matrix, tables, facts, subject_facts, scratch) is None:
            return
        for kind, table, its in zip(self.kinds, tables, cells, strict=True):
            kind.take_pilot(its.narrow, table.counts.cells, number, of=m)

    def _scratch(self, chunks: int) -> Scratch:
        """Return memory for one row of each chunk."""
        groups = len(self.gallery.starts) - 1
        return scratch_of(self.dtype, chunks, self.scores.shape[1], groups)

    def _mates(self) -> np.ndarray:
        """Return the genuine scores of all rows side by side, NaN for the probe itself."""
        gallery = self.reader.gallery
        row, place = self.reader.same_subject_cells(0, self.scores.shape[0])
        column = gallery.columns[0][place]
        cells = self.scores._base_rows(row), self.scores._base_columns(column)
        mates = self._gathered(*cells)
        if larger_is_closer(self.scores.kind):
            mates = -mates
        left_out = place == gallery.probe_position[row]
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

    def _nearest(self, mates: np.ndarray) -> np.ndarray:
        """Return the least genuine score of each row that has any."""
        starts = np.cumsum(self.subject_size) - self.subject_size
        if len(mates):
            return np.fmin.reduceat(mates, starts[self.subject_size > 0])
        return mates

    def count(self, low: int, high: int, block: Block | None) -> RawRows | None:
        """Count rows ``low:high`` for all, and return them; None if some score has no cell.

        Their `block` is needed where this counts by blocks.
        """
        counted = self._counted(low, high)
        placed = True
        for kind, cells in zip(self.kinds, counted, strict=True):
            placed &= kind.place_cells(cells, self.thresholds)
        if not placed:
            return None
        rows = np.arange(low, high)
        matrix = self._matrix(rows, block)
        tables = []
        for kind, cells in zip(self.kinds, counted, strict=True):
            tables.append(self._tables(kind, cells, high - low))
        facts = self._facts(self.by_template, slice(low, high))
        gallery = self.reader.gallery
        subject_facts = self._facts(self.by_subject, slice(low, high))
        genuine = self._run(rows, matrix, tables, facts, subject_facts, self.scratch)
        if genuine is None:
            return None
        single = self.kinds[0].counts_in(tables[0])
        multi = self.kinds[1].counts_in(tables[1])
        if single is None or multi is None:
            return None
        mates = self.subject_size[rows] - (gallery.probe_position[rows] >= 0)
        non_mates = self.scores.shape[1] - self.subject_size[rows]
        if not self.gaps and ((facts.mates != mates) | (facts.others != non_mates)).any():
            return None
        self.kinds[0].include(single, genuine[~np.isnan(genuine)])
        self.kinds[1].include(multi, facts.mate[facts.mates > 0].astype(self.dtype))
        for alike in (self.by_template, self.by_subject):  # they differ in their results only
            for other in alike[1:]:
                for copied, values in zip(other.facts, alike[0].facts, strict=True):
                    copied[rows] = values[rows]
        return matrix.raw

    def _tables(self, kind: KindOfTemplates, counted: CellCounts, rows: int) -> VerificationTables:
        """Return empty tables for some rows."""
        cells, second_pass, chunks = kind.cells, kind.second_pass, len(self.scratch.cells)
        assert cells is not None
        counts = cells.tables(chunks)
        if second_pass is None:
            return VerificationTables(counts, NO_SECOND_PASS.tables(self.dtype, chunks, 0))
        n = self.scores.shape[1]
        if kind.templates == "multi":
            n = len(self.gallery.starts) - 1
        capacity = int(min(1.0, 2 * kind.share) * n * rows / chunks) + 4 * n
        moments, scale = rows * second_pass.with_moments, moment_scale(*counted.range)
        points = second_pass.tables(
            self.dtype, chunks, capacity * bool(second_pass.windows), moments, scale
        )
        points = points._replace(shift=np.uint32(cells.grid.exponent - cells.narrow.exponent))
        return VerificationTables(counts, points)

    def _run(
        self,
        rows: np.ndarray,
        matrix: Matrix,
        tables: Sequence[VerificationTables],
        facts: RankFacts,
        subject_facts: RankFacts,
        scratch: Scratch,
    ) -> np.ndarray | None:
        """Count rows, and return their genuine scores; None if a cell is refused."""
        gallery = self.reader.gallery
        offsets = np.concatenate([[0], np.cumsum(self.subject_size[rows])])
        genuine = np.empty(offsets[-1], dtype=self.dtype)
        probes = Probes(gallery.probe_group[rows], gallery.probe_position[rows], offsets)
        single, multi = tables
        refused = np.zeros(len(rows), dtype=np.int64)
        output = RowOutput(single, multi, genuine, facts, subject_facts, refused)
        count_whole_rows(matrix, self.gallery, probes, self.tasks, output, scratch)
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
        raw = RawRows(values, numbers)
        if block is None and self.scores._has_mask:
            raw = RawRows(values, numbers, self.mask, self.rows[rows])
        elif block is None and self.scores.exclude:
            raw = RawRows(values, numbers, self._not_excluded(rows), np.arange(len(rows)))
        return Matrix(
            raw=raw,
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

    def _facts(self, counters: list[RankCounter[Any]], rows: slice) -> RankFacts:
        """Return the arrays that facts are written to: the first counter's, or temporary ones."""
        if counters:
            return facts_of_rows(counters[0].facts, rows)
        return empty_facts(rows.stop - rows.start)

    def _counted(self, low: int, high: int) -> list[CellCounts]:
        """Return the contents of single- and multi-template tables, so far or of a sample."""
        counted = [kind.counted for kind in self.kinds]
        if all(len(cells.counts) for cells in counted):
            return counted
        pilots = [kind.pilot for kind in self.kinds if kind.pilot is not None]
        if pilots:
            return pilots
        block = self.reader.block(low, min(low + SAMPLE_ROWS, high))
        sample = []
        for kind in self.kinds:
            sample.append(_sample(kind.counters[0], block) if kind.counters else UNUSED)
        return sample


def _sample(counter: AttemptCounter[Any], block: Block) -> CellCounts:
    """Count the impostor scores of a few rows of a block in cells, without compiling a kernel."""
    values, start, stop = block.values, block.mate_start, block.mate_stop
    if counter.templates == "multi":
        values = np.fmin.reduceat(values, block.starts[:-1], axis=1)
        start, stop = block.probe_group, block.probe_group + 1
    column = np.arange(values.shape[1])
    impostor = (column < start[:, None]) | (column >= stop[:, None])
    scores = values[impostor & np.isfinite(values)]
    if not len(scores):
        return CellCounts()
    grid = CellGrid.covering(float(scores.min()), float(scores.max()))
    places = grid.places_of(scores.astype(np.float64)).astype(np.int64)
    return CellCounts(grid.exponent, grid.first, np.bincount(places, minlength=grid.count))
