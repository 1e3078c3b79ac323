"""One sweep for all folds: every pair is counted by the folds of its two templates.

With a table over (fold of probe, fold of gallery template) the test part of fold ``k`` is the
entry ``(k, k)``, and its training part the sum of all entries with neither side in ``k``; pairs
across the two are used by neither. So one pass over the scores counts every fold, and a second
one collects the scores of the few cells in which thresholds fall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numba
import numpy as np

from bioeval.kernels import count as kernel_count
from bioeval.kernels import folds as kernel
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.threshold_rules import Attempts, Cells, Chosen, Rule, choose, wanted_cells
from bioeval.tallies.thresholds import cell_exponent, cell_of, exact_window

# Cells of one fold: as many as keep the tables of a row in the processor's cache.
ROW_ENTRIES, MOST_CELLS, LEAST_CELLS = 1 << 16, 1 << 12, 1 << 8

# Entries of a table by pair of folds, above which each side is counted by itself.
PAIR_ENTRIES = 1 << 22

# Scores in one call of the kernels, where they are read from memory as they are.
SWEEP_VALUES = 1 << 24

# Rows looked at beforehand to place the cells.
SAMPLE_ROWS = 16

# Scores to collect, and which share of all, beyond which everything is counted once more, in finer
# cells where the points lie: to count is cheap, to sort is not.
REFINE, REFINE_SHARE = 1 << 16, 2.0**-9

# Collected scores beyond which equal ones are joined as they come.
COLLECT = 1 << 22

# Scores of one row that are expected in the cells looked into.
ROOM = 64

# A table of 32 bits is emptied before it can overflow.
FLUSH = 1 << 30

Tick = Callable[[int], None]


@dataclass(frozen=True)
class Part:
    """Which pairs make a part.

    Attributes
    ----------
    fold : int
        Both templates are in this fold, or neither is.
    inside : bool
    """

    fold: int
    inside: bool = True

    def has(self, probe: np.ndarray, gallery: np.ndarray) -> np.ndarray:
        """Return which pairs of folds belong to the part."""
        if self.inside:
            return (probe == self.fold) & (gallery == self.fold)
        return (probe != self.fold) & (gallery != self.fold)


class FoldSweep:
    """Counts the attempts of verification by the folds of probe and gallery template.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    reader : BlockReader
    templates, fusion : str
        As for :func:`bioeval.verification`. With ``"multi"`` all templates of a subject in the
        gallery must be in one fold.
    probe_fold, gallery_fold : int64 arrays, shapes (m,) and (n,)
        Folds count from 0.
    """

    def __init__(
        self,
        scores: Scores,
        reader: BlockReader,
        templates: str,
        fusion: str,
        probe_fold: np.ndarray,
        gallery_fold: np.ndarray,
    ):
        self.scores, self.reader = scores, reader
        self.multi, self.fusion = templates == "multi", fusion
        self.row_fold = probe_fold.astype(np.int64)
        gallery = reader.gallery
        self.fold = (gallery_fold if gallery.order is None else gallery_fold[gallery.order]).astype(
            np.int64
        )
        if self.multi:
            self.fold = self.fold[gallery.starts[:-1]]
        self.folds = int(max(self.row_fold.max(), self.fold.max())) + 1
        self.genuine = np.empty(0)
        self.pair = np.empty((0, 2), dtype=np.int32)
        self.plain = not self.multi and _is_plain(scores) and gallery.order is None
        self.cells = self._first_cells()

    # -- blocks

    def _ready(self, block: Block) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return values, where the own subject starts and stops, and where the probe stands."""
        if not self.multi:
            return block.values, block.own_start, block.own_stop, block.self_position
        nobody = np.full(len(block.values), -1, dtype=np.int64)
        if self.fusion == "min":
            return (*block.nearest(), nobody)
        fused = block.fused(self.fusion)
        return fused.values, fused.own_start, fused.own_stop, nobody

    def _sweep(self, tick: Tick | None) -> Iterator[tuple[slice, tuple]]:
        if self.plain:  # no failed comparison, as far as is known: nothing to look for first
            yield from self._as_they_are(tick)
            return
        for block in self.reader:
            rows = slice(block.low, block.low + len(block.values))
            yield rows, self._ready(block)
            if tick is not None:
                tick(len(block.values))

    def _as_they_are(self, tick: Tick | None) -> Iterator[tuple[slice, tuple]]:
        gallery, base = self.reader.gallery, self.scores.base
        m, n = self.scores.shape
        step = max(1, SWEEP_VALUES // n)
        for low in range(0, m, step):
            rows = slice(low, min(low + step, m))
            yield rows, (
                base[rows], gallery.own_start[rows], gallery.own_stop[rows],
                gallery.self_position[rows],
            )  # fmt: skip
            if tick is not None:
                tick(rows.stop - low)

    # -- cells

    def _first_cells(self) -> Cells:
        """Place the cells by a sample of the rows, with some room around it."""
        m = self.scores.shape[0]
        if self.scores.row_chunk > 1:  # rows that are stored together are read together
            blocks = [self.reader.block(0, min(m, SAMPLE_ROWS))]
        else:
            rows = np.unique(np.linspace(0, m - 1, min(m, SAMPLE_ROWS)).astype(int)).tolist()
            blocks = [self.reader.block(i, i + 1) for i in rows]
        ranges = [_range(*self._ready(block)[:3]) for block in blocks]
        self.dtype = self._ready(blocks[0])[0].dtype
        self.number = max(LEAST_CELLS, min(MOST_CELLS, ROW_ENTRIES // self.folds))
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return self._cells_for(low, high, 3 * self.number // 4)

    def _cells_for(self, low: float, high: float, number: int) -> Cells:
        """Return cells of which `number` cover the range, as far as they are exact."""
        low, high = (low, high) if low <= high else (0.0, 0.0)
        info = np.finfo(self.dtype)
        exponent = max(cell_exponent(low, high, number), int(info.minexp) + 3)
        most = int(info.maxexp) - 33
        while exponent < most:
            cells = self._around(low, high, exponent)
            if exact_window(exponent, cells.first, cells.count, self.dtype):
                return cells
            exponent += 1
        return Cells(most, -1, 3)

    def _around(self, low: float, high: float, exponent: int) -> Cells:
        first, last = cell_of(low, exponent), cell_of(high, exponent)
        margin = max(2, self.number - (last - first + 1))
        return Cells(exponent, first - margin // 2 - 1, last - first + 1 + margin)

    def _scalars(self, dtype: np.dtype) -> tuple:
        cells = self.cells
        numbers = (2.0**cells.exponent, 2.0**-cells.exponent, cells.first)
        high = cells.first + cells.count - 2
        return (
            *(dtype.type(x) for x in (*numbers, high)),
            np.int32(cells.first),
            np.int32(cells.count),
        )

    # -- counting

    def count(self, tick: Tick | None = None) -> None:
        """Count all pairs, and gather the genuine scores where that is not yet done."""
        width, folds = self.cells.count + 1, self.folds
        if folds * folds * width <= PAIR_ENTRIES:
            tables = [_Table(self)]
        else:
            tables = [_Table(self, by_gallery=False), _Table(self, by_probe=False)]
            tables.append(_Table(self, by_gallery=False, within=True))
        genuine, pairs = [], []
        for rows, block in self._sweep(None if self.plain else tick):
            for table in tables:
                table.add(rows, block)
            if not len(self.pair):
                found = self._gather(rows, block)
                genuine.append(found[0])
                pairs.append(found[1])
        counted = [table.result() for table in tables]
        if self.plain:
            if counted[0][..., -1].any() or (genuine and self._failed(genuine)):
                self.plain = False  # there are failed comparisons: the reader knows what they are
                self.count(tick)
                return
            if tick is not None:
                tick(self.scores.shape[0])
        if genuine:
            self._sort(np.concatenate(genuine), np.concatenate(pairs))
        self._add_up([table[..., :-1] for table in counted])

    def _failed(self, genuine: list[np.ndarray]) -> bool:
        """Say whether some genuine scores are missing."""
        gallery = self.reader.gallery
        expected = (gallery.own_stop - gallery.own_start).sum() - (gallery.self_position >= 0).sum()
        return sum(map(len, genuine)) != int(expected)

    def _add_up(self, tables: list[np.ndarray]) -> None:
        """Keep the counts within each fold, and those of neither side in it."""
        first = tables[0]
        if len(tables) == 1:
            of_probe, of_gallery = first.sum(axis=1), first.sum(axis=0)
            self.within = np.array([first[k, k] for k in range(self.folds)])
        else:
            of_probe, of_gallery, self.within = first[:, 0], tables[1][0], tables[2][:, 0]
        self.total = of_probe.sum(axis=0)
        self.outside = self.total - of_probe - of_gallery + self.within

    def _gather(self, rows: slice, block: tuple) -> tuple[np.ndarray, np.ndarray]:
        values, start, stop, itself = block
        room = int((stop - start).sum())
        out = np.empty(room, dtype=values.dtype)
        pair = np.empty((room, 2), dtype=np.int32)
        filled = kernel.gather_by_fold(
            values, start, stop, itself, self.row_fold[rows], self.fold, out, pair
        )
        return out[:filled].astype(np.float64), pair[:filled]

    def _sort(self, genuine: np.ndarray, pair: np.ndarray) -> None:
        order = np.argsort(genuine, kind="stable")
        self.genuine, self.pair = genuine[order], pair[order]

    def attempts(self, part: Part) -> Attempts:
        """Return the attempts of a part, as far as they are counted."""
        counts = self.within[part.fold] if part.inside else self.outside[part.fold]
        inside = part.has(self.pair[:, 0], self.pair[:, 1])
        return Attempts(self.genuine[inside], counts, self.cells)

    # -- collecting

    def refine(self, wanted: np.ndarray) -> bool:
        """Make the cells finer where too many scores would be collected; say if that was done.

        Everything must then be counted again.
        """
        most = max(REFINE, REFINE_SHARE * self.total.sum())
        if not wanted.any() or self.total[wanted].sum() <= most:
            return False
        chosen = np.nonzero(wanted)[0]
        low, high = self.cells.low(int(chosen[0])), float(self.cells.edges[chosen[-1]])
        if not np.isfinite([low, high]).all():
            low, high = self._ends(low, high)
        finer = self._cells_for(low, high, self.number)
        if finer.exponent >= self.cells.exponent:
            return False
        self.cells = finer
        return True

    def _ends(self, low: float, high: float) -> tuple[float, float]:
        """Return a range without what lies beyond the smallest and the largest finite score."""
        ranges = [_range(*block[:3]) for _, block in self._sweep(None)]
        least, most = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return max(low, least), min(high, most)

    def collect(
        self, wanted: np.ndarray, tick: Tick | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the impostor scores in some cells: values, pairs of folds, and how often.

        The values are in increasing order.
        """
        flags = wanted.astype(np.uint8)
        kept: list[tuple[np.ndarray, ...]] = [(np.empty(0), np.empty(0, int), np.empty(0, int))]
        waiting = 0
        for rows, block in self._sweep(tick):
            values, code = self._inside(rows, block, flags)
            kept.append((values, code, np.ones(len(values), dtype=np.int64)))
            waiting += len(values)
            if waiting > COLLECT:
                kept, waiting = [_joined(kept)], 0
        values, code, weights = (np.concatenate(column) for column in zip(*kept, strict=True))
        order = np.argsort(values)
        return values[order], code[order], weights[order]

    def _inside(
        self, rows: slice, block: tuple, flags: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        values, start, stop, _ = block
        found = np.empty(len(values), dtype=np.int64)
        most = min(values.shape[1], ROOM)
        first, last = np.flatnonzero(flags)[[0, -1]] if flags.any() else (1, 0)
        above = self.cells.low(first) if first else np.nan
        bounds = (values.dtype.type(above), values.dtype.type(self.cells.edges[last]))
        while True:
            out = np.empty((len(values), most), dtype=values.dtype)
            place = np.empty((len(values), most), dtype=np.int32)
            kernel.collect_by_fold(  # type: ignore[call-arg]
                values,
                start,
                stop,
                *self._scalars(values.dtype)[:-1],
                flags,
                *bounds,
                found,
                out,
                place,
            )
            if int(found.max(initial=0)) <= most:
                break
            most = int(found.max())
        row, column = np.nonzero(np.arange(most) < found[:, None])
        code = self.row_fold[rows][row] * self.folds + self.fold[place[row, column]]
        return out[row, column].astype(np.float64), code

    def split(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the folds of probe and gallery template of pairs as collected."""
        return code // self.folds, code % self.folds


def _is_plain(scores: Scores) -> bool:
    """Say whether the kernels can read the scores from memory as they are."""
    base = scores.base
    whole = not scores.selects_columns and not scores.selects_rows
    return (
        whole
        and isinstance(base, np.ndarray)
        and base.dtype in (np.dtype(np.float32), np.dtype(np.float64))
        and scores.kind == "distance"
        and not scores.exclude
        and not scores.has_mask
        and base.dtype.isnative
        and bool(base.flags.c_contiguous and base.flags.aligned and base.flags.writeable)
    )


class _Table:
    """Counts by cell and by the folds of both sides, or of one; one table a thread.

    With `within`, pairs across folds are no attempts.
    """

    def __init__(
        self,
        sweep: FoldSweep,
        by_probe: bool = True,
        by_gallery: bool = True,
        within: bool = False,
    ):
        self.sweep, self.within = sweep, within
        self.row_fold = sweep.row_fold if by_probe else np.zeros_like(sweep.row_fold)
        fold = sweep.fold if by_gallery else np.zeros_like(sweep.fold)
        self.width = sweep.cells.count + 1
        self.offset = (fold * self.width).astype(np.int32)
        sides = (sweep.folds if by_probe else 1, sweep.folds if by_gallery else 1)
        self.shape = (*sides, self.width)
        chunks = numba.get_num_threads()
        self.tables = np.zeros((chunks, self.shape[0], self.shape[1] * self.width), np.int32)
        self.counts = np.zeros(self.tables.shape[1:], dtype=np.int64)
        self.waiting = 0

    def add(self, rows: slice, block: tuple) -> None:
        values, start, stop, _ = block
        row_fold = self.row_fold[rows]
        if self.within:  # what lies across folds is no attempt
            same = self.sweep.row_fold[rows, None] == self.sweep.fold
            values = np.where(same, values, values.dtype.type(np.nan))
        room = np.empty((len(self.tables), values.shape[1]), dtype=np.int32)
        kernel.count_by_fold(  # type: ignore[call-arg]
            values, start, stop, row_fold, self.offset, *self.sweep._scalars(values.dtype), room,
            self.tables,
        )  # fmt: skip
        self.waiting += values.size
        if self.waiting > FLUSH:
            self._flush()

    def _flush(self) -> None:
        for table in self.tables:  # several times as fast as a sum over all
            self.counts += table
        self.tables[:] = 0
        self.waiting = 0

    def result(self) -> np.ndarray:
        self._flush()
        return self.counts.reshape(self.shape)


def _range(values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> tuple[float, float]:
    lows, highs = np.empty(len(values)), np.empty(len(values))
    kernel_count.finite_range(values, start, stop, lows, highs)
    return float(lows.min()), float(highs.max())


def _joined(parts: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join equal scores of the same pair of folds."""
    values, code, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not len(values):
        return values, code, weights
    order = np.lexsort((code, values))
    values, code, weights = values[order], code[order], weights[order]
    new = np.append(True, (values[1:] != values[:-1]) | (code[1:] != code[:-1]))
    starts = np.nonzero(new)[0]
    return values[starts], code[starts], np.add.reduceat(weights, starts)


@dataclass
class Judged:
    """One fold: the threshold that was chosen, and the attempts it was chosen and judged on."""

    chosen: Chosen
    train: Attempts
    test: Attempts


def judge_folds(
    scores: Scores,
    reader: BlockReader,
    rule: Rule,
    fixed: float,
    folds: Sequence[tuple[Part, Part]],
    codes: tuple[np.ndarray, np.ndarray],
    templates: str,
    fusion: str,
    tick: Tick | None = None,
) -> list[Judged]:
    """Choose a threshold on the first part of each fold and count both parts at it.

    Parameters
    ----------
    fixed : float
        The threshold of the rule ``"fixed"``, as a distance.
    folds : sequence of (Part, Part)
        Training part and test part.
    codes : pair of int64 arrays
        The fold of each probe and of each gallery template.
    tick : callable, optional
        Called with the number of rows just done; two passes are made.
    """
    with threads_for(scores):
        sweep = FoldSweep(scores, reader, templates, fusion, *codes)
        sweep.count(tick)
        while True:
            judged = [Judged(Chosen(), *map(sweep.attempts, parts)) for parts in folds]
            wanted = [wanted_cells(rule, fold.train, fixed) for fold in judged]
            every = np.logical_or.reduce(wanted)
            if not sweep.refine(every):
                break
            sweep.count()
        values, code, weights = sweep.collect(every, tick)
    probe, gallery = sweep.split(code)
    cell = sweep.cells.of_increasing(values)
    for fold, parts, cells in zip(judged, folds, wanted, strict=True):
        looked = cells[cell]
        for attempts, part in zip((fold.train, fold.test), parts, strict=True):
            inside = looked & part.has(probe, gallery)
            attempts.look_into(values[inside], weights[inside])
        fold.chosen = choose(rule, fold.train, cells, fixed)
    return judged


def judge_two(
    train: Scores, test: Scores, rule: Rule, fixed: float, templates: str, fusion: str
) -> Judged:
    """Choose a threshold on some scores and count others at it.

    For parts that one sweep cannot tell apart: of systems that are trained anew for each fold,
    and of subjects who are in both parts and fused there.
    """
    whole = Part(0)
    found = []
    cells: Cells | None = None
    wanted: np.ndarray | None = None
    for scores in (train, test):
        reader = BlockReader(scores)
        everything = tuple(np.zeros(n, dtype=np.int64) for n in scores.shape)
        with threads_for(scores):
            sweep = FoldSweep(scores, reader, templates, fusion, *everything)
            if cells is not None:
                sweep.cells = cells
            while True:
                sweep.count()
                attempts = sweep.attempts(whole)
                if cells is not None:
                    break
                wanted = wanted_cells(rule, attempts, fixed)
                if not sweep.refine(wanted):
                    break
            assert wanted is not None
            values, _, weights = sweep.collect(wanted)
        cells = sweep.cells
        attempts.look_into(values, weights)
        found.append(attempts)
    assert wanted is not None
    return Judged(choose(rule, found[0], wanted, fixed), *found)


def judge_listed(train: Attempts, test: Attempts, rule: Rule, fixed: float) -> Judged:
    """Choose a threshold on listed attempts and count others at it."""
    wanted = wanted_cells(rule, train, fixed)
    return Judged(choose(rule, train, wanted, fixed), train, replace(test))
