"""One pass over the rows of a matrix, some whole rows at a time: they are a tile for themselves.

The kernel of tiles counts finite scores with labels. It takes a copy of rows in the order of the
gallery, without mates, which it can change. They come from memory as they are; what the metadata of
a matrix elsewhere, or NaN there, leave out, and other dtypes, come in the blocks of the general
kernels. Rows with a score that has no cell are counted by these.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counters import HistogramWithThresholds
from bioeval.attempts.counting import AttemptCounter, Counter, KernelCounters
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.kinds import PILOT_GROUPS, UNUSED, KindOfTemplates, around, pilot_bits
from bioeval.attempts.parts import merged
from bioeval.attempts.points import moment_scale
from bioeval.attempts.second_pass import PointsWanted, SecondPass, scratch_of
from bioeval.attempts.tile_pass import (
    FACTS,
    LINE,
    KindCounts,
    counts_of,
    include_kinds,
    marks_of,
)
from bioeval.base.errors import DataError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import report_rows
from bioeval.kernels.argument_groups import GalleryColumns, Matrix, Probes, RawRows, TaskFlags
from bioeval.kernels.compiling import in_turns
from bioeval.kernels.tiles import (
    KeyRange,
    Mates,
    TileOutput,
    TileSide,
    WholeRows,
    arrange_rows,
    count_rows,
)
from bioeval.scores.arrays import Mask, distance_dtype, writable_alias
from bioeval.scores.blocks import (
    Block,
    BlockReader,
    GivenRows,
    give_back,
    is_mapped,
    rows_within,
)
from bioeval.scores.matrix import Scores

# Bytes of the rows of a tile: few enough for the caches, and so many that the call of the kernel
# takes no time beside its work. Half as many took some 3 % longer, a quarter over 5 %, and twice as
# many some 3 %.
TILE_BYTES = 1 << 22

# Scores that are taken together, in memory or read from elsewhere, and rows that are looked at
# beforehand to place the cells.
VALUES_IN_MEMORY = 1 << 24
READ_VALUES = 1 << 22
SAMPLE_ROWS = 32

# Genuine scores of a mapped file that are read together.
MATES = 1 << 11

# Rows of the pilot that places windows, at most a quarter of all; and scores so few that all are
# kept.
PILOT_ROWS, KEEP_ALL = 256, 1 << 16


class MatrixRows:
    """Rows of a matrix as the kernel takes them, and their gallery."""

    def __init__(self, reader: BlockReader):
        """Find out how the rows are read."""
        self.reader, self.scores = reader, reader.scores
        scores, gallery = self.scores, reader.gallery
        self.dtype = distance_dtype(scores.dtype)
        gaps = scores._has_mask or bool(scores.exclude) or scores.nan == "exclude"
        self.by_blocks = scores.dtype != self.dtype or (gaps and not _mask_in_place(scores))
        in_place = scores._in_memory and not self.by_blocks
        # A block that is read comes with the columns of a selection already chosen.
        order, gathered = np.arange(scores.shape[1]), in_place and scores._selects_columns
        if in_place:
            self.base = writable_alias(scores._base)
            self.mask: Any = None
            if scores._mask is not None:
                self.mask = writable_alias(scores._mask)
            self.rows = scores._base_rows(np.arange(scores.shape[0]))
            order = scores._base_columns(order)
        if gallery.order is not None and not self.by_blocks:
            order, gathered = order[gallery.order], True
        self.gallery = GalleryColumns(
            order=order.astype(np.uint32),  # unsigned, so that no index is checked for its sign
            places=np.ascontiguousarray(gallery.columns[0]),
            gathered=gathered,
            starts=gallery.starts,
        )
        self.subject_size = gallery.mate_stop - gallery.mate_start
        self.computed = GivenRows(scores)

    def per_call(self) -> int:
        """Return how many rows are taken together."""
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

    def matrix(self, rows: np.ndarray, block: Block | None) -> Matrix:
        """Return the matrix and the rows of it to count; of their `block` if they have one."""
        scores = self.scores
        if block is not None:
            values, numbers = np.ascontiguousarray(block.values, self.dtype), np.arange(len(rows))
        elif scores._in_memory and is_mapped(scores) and rows[-1] - rows[0] >= len(rows):
            values, numbers = self._copied(self.rows[rows]), np.arange(len(rows))
        elif scores._in_memory:
            values, numbers = self.base, self.rows[rows]
        else:
            low, high = int(rows[0]), int(rows[-1]) + 1
            if high - low == len(rows):
                values = self.computed.read(low, high)
            else:
                values = scores.select(probes=rows)._read_rows(0, len(rows))
            values = np.require(values, self.dtype, ("C", "A", "W"))
            numbers = np.arange(len(values))
        raw = RawRows(values, numbers)
        if block is None and scores._has_mask:
            raw = RawRows(values, numbers, self.mask, self.rows[rows])
        elif block is None and scores.exclude:
            raw = RawRows(values, numbers, self._not_excluded(rows), np.arange(len(rows)))
        return Matrix(
            raw=raw,
            sign=self.dtype.type(-1 if larger_is_closer(scores.kind) and block is None else 1),
            zero=self.dtype.type(0),
            nan=self.dtype.type(np.nan),
            genuine=np.uint8(Mask.GENUINE if scores._has_mask else Mask.IMPOSTOR),
            strict=scores.nan != "exclude" and block is None,
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

    def mates(self) -> np.ndarray:
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

    def nearest(self, mates: np.ndarray) -> np.ndarray:
        """Return the least genuine score of each row that has any."""
        starts = np.cumsum(self.subject_size) - self.subject_size
        if len(mates):
            return np.fmin.reduceat(mates, starts[self.subject_size > 0])
        return mates


def _mask_in_place(scores: Scores) -> bool:
    """Whether the kernel can read scores and their mask in place."""
    mask = scores._mask
    if mask is None or not scores._in_memory:
        return scores._in_memory
    fits = isinstance(mask, np.ndarray) and mask.dtype == np.uint8 and not scores.exclude
    return fits and mask.flags.c_contiguous


class RowFacts(NamedTuple):
    """What is found of some rows by tiles, in arrays that their threads share."""

    mates: Mates
    facts: dict[str, np.ndarray]  # int32 (b,), by name
    other: np.ndarray  # int (b,): the bits of the nearest other score
    missing: np.ndarray  # int32 (b,): scores, and those of subjects, that are NaN
    subjects_missing: np.ndarray

    @classmethod
    def none(cls, sizes: np.ndarray, dtype: np.dtype) -> RowFacts:
        """Return empty facts of rows with so many places of mates."""
        b, offsets = len(sizes), np.cumsum(sizes) - sizes
        genuine = np.full(int(sizes.sum()), np.nan, dtype=dtype)
        best = np.full(b, np.inf, dtype=dtype)
        other = np.full(b, np.inf, dtype=dtype).view(f"i{dtype.itemsize}")
        return cls(
            Mates(offsets, genuine, best, *np.zeros((3, b), dtype=np.int64)),
            {name: np.zeros(b, dtype=np.int32) for name in FACTS},
            other,
            *np.zeros((2, b), dtype=np.int32),
        )


class RowThread:
    """Counts tiles of whole rows on one thread."""

    def __init__(
        self,
        rows: MatrixRows,
        kinds: Sequence[KindCounts],
        flags: TaskFlags,
        most: int,
        limits: np.ndarray,
    ):
        """Make room for tiles of up to so many rows."""
        n, groups = rows.scores.shape[1], len(rows.gallery.starts) - 1
        self.rows, self.kinds, self.flags, self.limits = rows, kinds, flags, limits
        dtype = rows.dtype
        self.ends = ends_of(dtype)
        self.tile = np.empty((most, n), dtype=dtype)
        self.ordered = np.empty((most, n), dtype=f"i{dtype.itemsize}")
        self.fused = np.empty((1, most * groups), dtype=dtype)
        self.mask = np.empty(n, dtype=np.uint8)
        self.scratch = scratch_of(dtype, 1, LINE)

    def count(
        self, low: int, high: int, matrix: Matrix, probes: Probes, found: RowFacts
    ) -> tuple[bool, bool]:
        """Count some of the rows; return whether none is refused, and whether all are counted."""
        gallery, tile = self.rows.gallery, self.tile[: high - low]
        keys, ordered = tile.view(self.ordered.dtype), self.ordered[: high - low]
        refused, least, largest = arrange_rows(
            low, high, matrix, gallery, probes, (found.mates, found.missing), tile, keys, ordered,
            self.mask, self.ends,
        )  # fmt: skip
        if refused:
            return False, False
        if not self.limits[0] < least or largest > self.limits[1]:
            return True, False
        some = slice(low, high)
        best = found.mates.best[some]
        single, multi = self.kinds
        none = np.empty(0, dtype=np.int64)
        side = TileSide(
            best,
            ordered_bits(best.view(keys.dtype), self.ends),
            found.mates.best_place[some],
            none,
            none,
            other=found.other[some],
            **{name: values[some] for name, values in found.facts.items()},
        )
        whole = WholeRows(
            probes.group[some],
            found.missing[some],
            found.subjects_missing[some],
            self.limits[2:],
            bool(least < 0),
        )
        counted = count_rows(
            tile,
            ordered if least < 0 else keys,
            side,
            _as_columns(side, gallery),
            whole,
            self.flags,
            TileOutput(
                single.tables, multi.tables, single.flags, multi.flags, low, found.other[:0]
            ),
            self.fused,
            self.fused.view(keys.dtype),
            self.scratch,
            self.ends,
        )
        single.end_tile()
        multi.end_tile()
        return True, counted


def _as_columns(side: TileSide, gallery: GalleryColumns) -> TileSide:
    """Return the gallery as the columns of tiles that serve their rows only."""
    none = {name: values[:0] for name, values in side._asdict().items()}
    return TileSide(**none | {"places": gallery.places, "layers": gallery.starts})


def ends_of(dtype: np.dtype) -> KeyRange:
    """Return the bits of scores that are special, of a dtype."""
    info = np.iinfo(f"i{dtype.itemsize}")
    kind = info.dtype.type
    infinity = np.array(np.inf, dtype=dtype).view(info.dtype)[()]
    return KeyRange(kind(infinity), kind(info.min), kind(info.max))


def ordered_bits(keys: np.ndarray, ends: KeyRange) -> np.ndarray:
    """Return the bits of floats in the order of the floats, zero without a sign; or undo it."""
    return np.where(keys < 0, keys ^ ends.largest, keys)


class MatrixPass:
    """A pass that fills counters of verification and identification by whole rows."""

    def __init__(
        self,
        reader: BlockReader,
        counters: Sequence[Counter[Any]],
        kernel: KernelCounters,
        wanted: PointsWanted | None = None,
    ):
        """Place cells and windows by a sample and a pilot."""
        self.scores = scores = reader.scores
        self.reader, self.counters, self.kernel = reader, counters, kernel
        self.dtype = distance_dtype(scores.dtype)
        self.kinds = [KindOfTemplates.among(x, kernel) for x in ("single", "multi")]
        single, multi = self.kinds
        by_subject = any(x.rank_unit == "subject" for x in kernel.ranks)
        self.flags = TaskFlags(bool(single.counters), bool(multi.counters), by_subject)
        self.thresholds = marks_of(kernel, self.dtype)
        # Of a file, or of embeddings that have no tiles, the genuine scores are all over the rows.
        self.at_hand = isinstance(scores._base, np.ndarray)
        self.at_hand &= isinstance(scores._mask, np.ndarray | None)
        for kind, counts in zip(self.kinds, self._sample(), strict=True):
            kind.pilot = counts
        if self.at_hand and wanted is not None and kernel.attempts:
            self._want_second_passes(wanted)
        #: Whether cells could be placed.
        self.placed = True
        for kind in self.kinds:
            assert kind.pilot is not None
            self.placed &= kind.place_cells(kind.pilot, self.thresholds)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("rows", None)  # made again where they are needed
        return state

    @property
    def ends(self) -> KeyRange:
        """Bits of scores that are special."""
        return ends_of(self.dtype)

    @cached_property
    def rows(self) -> MatrixRows:
        """The rows of the matrix."""
        return MatrixRows(self.reader)

    # -- the pilot

    def _sample(self) -> list[CellCounts]:
        """Return the contents of single- and multi-template tables of a few rows."""
        m, n = self.scores.shape
        number = min(SAMPLE_ROWS, m)
        block = None
        # Of many rows, the later ones may have scores elsewhere; of few, to choose some takes time.
        if self.at_hand and m * n > VALUES_IN_MEMORY:
            rows = np.linspace(0, m - 1, number).astype(np.int64)
            with contextlib.suppress(DataError):  # raised again when these rows are counted
                block = BlockReader(self.scores.select(probes=rows)).block(0, number)
        if block is None:
            block = self.reader.block(0, number)
        return [
            _sample(kind.counters[0], block) if kind.counters else UNUSED for kind in self.kinds
        ]

    def _want_second_passes(self, wanted: PointsWanted) -> None:
        """Gather the genuine scores, and estimate by a pilot where operating points fall."""
        rows = self.rows
        mates = rows.mates()
        for kind in self.kinds:
            if not kind.counters:
                continue
            genuine = rows.nearest(mates) if kind.templates == "multi" else mates
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
        for kind in self.kinds:
            assert kind.pilot is not None
            grid = around(kind.pilot, self.dtype)
            if grid is None:
                return
            no_marks = self.thresholds[:0]
            cells.append(HistogramWithThresholds.at(UNUSED, grid, no_marks, pilot_bits(m * n)))
        rows = np.linspace(0, m - 1, number).astype(np.int64)
        rows = rows.reshape(-1, PILOT_GROUPS).T.reshape(-1)  # each group from all over
        block = None
        if self.rows.by_blocks:
            try:
                block = BlockReader(self.scores.select(probes=rows)).block(0, number)
            except DataError:  # raised again, with the right rows, when these are counted
                return
        matrix = self.rows.matrix(rows, block)
        probes, found = self._probes(rows)
        size = number // PILOT_GROUPS
        kinds = [KindCounts(x, None, np.empty((4, 0)), 1.0, 0) for x in cells]
        anywhere = np.array([self.ends.least, self.ends.largest])
        thread = RowThread(self.rows, kinds, self.flags, min(size, self._most), anywhere)
        by_group = [np.zeros((PILOT_GROUPS, x.narrow.count), dtype=np.int64) for x in cells]
        for k in range(PILOT_GROUPS):
            for low, high in self._tiles(k * size, (k + 1) * size):
                if not thread.count(low, high, matrix, probes, found)[0]:
                    return
            for its, groups in zip(kinds, by_group, strict=True):
                its.set_counts_aside()
                groups[k] = its.counts
                its.counts = np.zeros_like(its.counts)
        for kind, placed, groups in zip(self.kinds, cells, by_group, strict=True):
            kind.take_pilot(placed.narrow, groups, number, of=m)

    # -- counting

    @property
    def _most(self) -> int:
        """The number of rows of a tile."""
        return max(1, TILE_BYTES // (self.scores.shape[1] * self.dtype.itemsize))

    def _tiles(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """Yield the rows of tiles."""
        for first in range(low, high, self._most):
            yield first, min(first + self._most, high)

    def _probes(self, rows: np.ndarray) -> tuple[Probes, RowFacts]:
        """Return the probes of some rows, about which nothing is found yet."""
        gallery, sizes = self.reader.gallery, self.rows.subject_size[rows]
        found = RowFacts.none(sizes, self.dtype)
        group, position = gallery.probe_group[rows], gallery.probe_position[rows]
        return Probes(group, position, found.mates.offsets), found

    def run(self) -> dict[Counter[Any], SecondPass]:
        """Fill the counters; return the second passes."""
        reader, rows, m = self.reader, self.rows, self.scores.shape[0]
        complete, counts = True, self._count(0, 0, None)[0]
        step = rows.per_call()
        for first in range(0, m, step):
            last = min(first + step, m)
            block = reader.block(first, last) if rows.by_blocks else None
            matrix = rows.matrix(np.arange(first, last), block)
            some, left = self._count(first, last, matrix)
            counts = merged(counts, some)
            complete &= not left
            for start, stop in left:
                self._by_blocks(start, stop, block)
            give_back(self.scores)
            report_rows(last, m)
        return include_kinds(self.kinds, counts, complete=complete)

    def _by_blocks(self, low: int, high: int, block: Block | None) -> None:
        """Count rows that have scores without a cell."""
        step = self.reader.rows_per_block()
        for first in range(low, high, step):
            last = min(first + step, high)
            some = self.reader.block(first, last) if block is None else block.rows(first, last)
            for counter in self.counters:
                counter.add(some)

    def _count(
        self, low: int, high: int, matrix: Matrix | None
    ) -> tuple[dict[str, Any], list[tuple[int, int]]]:
        """Count rows ``low:high``; return the counts, and runs of rows that are not counted."""
        rows = np.arange(low, high)
        probes, found = self._probes(rows)
        tiles = list(self._tiles(0, high - low))
        moments, scales, limits = [], [], []
        for kind in self.kinds:
            wants = kind.second_pass is not None and kind.second_pass.with_moments
            moments.append(np.zeros((4, len(rows) * wants)))
            assert kind.pilot is not None
            scales.append(moment_scale(*kind.pilot.range))
            limits += self._limits_of(kind)
        threads: list[RowThread] = []
        left = []

        def new_thread() -> RowThread:
            counts = []
            for k, kind in enumerate(self.kinds):
                assert kind.cells is not None
                size = min(self._most, max(len(rows), 1)) * self.scores.shape[1]
                counts.append(KindCounts(kind.cells, kind.second_pass, moments[k], scales[k], size))
            ends = np.array(limits, dtype=found.other.dtype)
            threads.append(
                RowThread(self.rows, counts, self.flags, min(self._most, len(rows)), ends)
            )
            return threads[-1]

        def count(turns: Iterator[int]) -> None:
            thread = new_thread()
            for turn in turns:
                assert matrix is not None
                if not all(thread.count(*tiles[turn], matrix, probes, found)):
                    left.append(tiles[turn])

        if tiles:
            in_turns(count, len(tiles))
        else:
            new_thread()
        left.sort()
        counted = np.ones(len(rows), dtype=bool)
        for first, last in left:
            counted[first:last] = False
        mates = found.mates
        mated = (mates.number > 0) & counted
        of_rows = np.repeat(counted, self.rows.subject_size[rows])
        genuine = mates.genuine[of_rows]
        genuine = genuine[~np.isnan(genuine)], mates.best[mated]
        of_kinds = {}
        for k, kind in enumerate(self.kinds):
            its = counts_of(
                kind, [x.kinds[k] for x in threads], moments[k][:, counted[: moments[k].shape[1]]],
                scales[k],
            )  # fmt: skip
            its.pop("complete")
            of_kinds[str(k)] = its
            for counter in self.kernel.attempts:
                if counter.templates == kind.templates:
                    counter.genuine.append(genuine[k])
        self._include_facts(rows, found, counted)
        runs = [(low + a, low + b) for a, b in _joined(left)]
        return of_kinds, runs

    def _limits_of(self, kind: KindOfTemplates) -> list[Any]:
        """Return the bits that scores with a cell are above, and at most."""
        ends = self.ends
        if not kind.counters:
            return [ends.least, ends.largest]
        assert kind.cells is not None
        edges = kind.cells.grid.edges[[0, -3]].astype(self.dtype) + self.dtype.type(0)
        return list(ordered_bits(edges.view(ends.least.dtype), ends))

    def _include_facts(self, rows: np.ndarray, found: RowFacts, counted: np.ndarray) -> None:
        """Write the facts of probes that are counted."""
        mates, n = found.mates, self.scores.shape[1]
        others = n - found.missing.astype(np.int64)
        mated = mates.number > 0
        bits = ordered_bits(found.other, self.ends)
        common = {
            "mate": np.where(mated, mates.best.astype(np.float64), np.nan),
            "other": np.where(others > 0, bits.view(self.dtype).astype(np.float64), np.nan),
        }
        facts = {name: values * mated for name, values in found.facts.items()}
        units = {
            "template": {
                **{name: facts[name] for name in FACTS[:3]},
                "mates_tied": mates.tied,
                "mates": mates.number,
                "others": others,
            },
            "subject": {
                **{name: facts[f"subjects_{name}"] for name in FACTS[:3]},
                "mates_tied": mated,
                "mates": mated,
                "others": len(self.rows.gallery.starts) - 1 - found.subjects_missing,
            },
        }
        for counter in self.kernel.ranks:
            for name, array in {**common, **units[counter.rank_unit]}.items():
                getattr(counter.facts, name)[rows[counted]] = array[counted]


def _joined(runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield increasing runs, those that touch joined."""
    ends = np.array(runs, dtype=np.int64).reshape(-1, 2)
    cuts = np.flatnonzero(ends[1:, 0] != ends[:-1, 1]) + 1
    for low, high in itertools.pairwise([0, *cuts.tolist(), len(ends)]):
        if high > low:
            yield int(ends[low, 0]), int(ends[high - 1, 1])


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
