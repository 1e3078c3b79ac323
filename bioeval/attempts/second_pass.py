"""Findings of a second pass over the impostor scores about operating points, besides counts.

A second pass reads the impostor scores alone, where the counts say that the points are. A first
pass takes its place where a pilot expects the points, as far as the differences between groups of
its rows say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numba
import numpy as np

from bioeval.attempts.cells import CELLS, CellGrid, cell_exponent, cell_of, rounded_down
from bioeval.attempts.counters import ImpostorBlock
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.parts import ConcatenatedRows, KeptRows, NarrowCells
from bioeval.attempts.points import (
    Moments,
    check_costs,
    check_targets,
    moment_scale,
    moments_of_rows,
)
from bioeval.attempts.threshold_search import Objective, crossing_weight, distinct, objectives
from bioeval.base.arguments import require_flag
from bioeval.base.scalars import Scalar
from bioeval.kernels import count as kernel_count
from bioeval.kernels.argument_groups import CellWindow, PointTables, RankTable, Scratch
from bioeval.kernels.whole_rows import second_pass_of_rows

EVERY_BIT = np.iinfo(np.uint32).max

# Cells of a table: so many for each genuine score, and at most; those of one word.
CELLS_A_SCORE, MOST_CELLS, WORD = 128, 1 << 21, 32


def rank_table(genuine: np.ndarray, low: float, high: float) -> RankTable:
    """Return the table of increasing genuine scores, for impostor scores from about low to high."""
    scores = distinct(genuine)
    grid = _grid_of(scores, low, high)
    number = grid.count // WORD
    places = _places(grid, scores)
    repeats = np.diff(np.searchsorted(genuine, scores), append=len(genuine))
    word = places // WORD
    usual = int(np.argmax(np.bincount(repeats, minlength=2)))  # two where a matrix is symmetric
    occupied = np.zeros(grid.count, dtype=bool)
    occupied[places] = True
    bits = np.packbits(occupied, bitorder="little").view("<u4").astype(np.uint64)
    # The outermost cells hold whatever is beyond the table.
    several = (repeats != usual) | (places == 0) | (places == grid.count - 2)
    several[1:] |= places[1:] == places[:-1]
    bits[word[several]] = EVERY_BIT
    below = np.concatenate([[0], np.cumsum(repeats), [len(genuine)]])
    first = np.searchsorted(word, np.arange(number + 1))
    return RankTable(
        window=grid.window(genuine.dtype),
        words=bits | (below[first[1:]].astype(np.uint64) << np.uint64(32)),
        repeats=usual,
        places=first.astype(np.uint32),
        scores=np.append(scores, genuine.dtype.type(np.inf)),
        below=below.astype(np.uint32),
    )


def _places(grid: CellGrid, scores: np.ndarray) -> np.ndarray:
    """Return the cell of each score; scores beyond the cells go to the outermost ones."""
    places = grid.places_of(scores.astype(np.float64))
    return np.clip(places, 0, grid.count - 2).astype(np.int64)


def _grid_of(scores: np.ndarray, low: float, high: float) -> CellGrid:
    """Return narrow cells over the genuine scores, with a margin, in whole words of bits."""
    finite = scores[np.isfinite(scores)]
    ends = finite[[0, -1]].tolist() if len(finite) else [0.0, 0.0]
    low = min(max(low, ends[0]), ends[1])
    high = min(max(high, ends[0]), ends[1])
    cells = min(MOST_CELLS, 1 << (CELLS_A_SCORE * len(scores)).bit_length())
    most = min(1 << np.finfo(scores.dtype).nmant, 1 << 30)  # whole numbers, and of 32 bits
    least = max(cell_exponent(low, high, cells), np.finfo(scores.dtype).minexp + 3)
    for exponent in range(least, np.finfo(scores.dtype).maxexp - 32):
        first = cell_of(low, exponent)
        count = cell_of(high, exponent) - first + 4
        grid = CellGrid(exponent, first - 1, (-(-count // WORD) + 1) * WORD)  # the last is beyond
        if max(abs(grid.first), abs(grid.first + grid.count)) + 1 < most:
            return grid
    return CellGrid(0, 0, 2 * WORD)


# Sums of a row that are added to side by side, in a fixed order: exact sums of every score take
# four times as long (0.53 and 0.13 ns a score). And scores that are compared with all windows
# while they are close at hand.
LANES, PIECE = 128, 256

# Ranges of scores: above the first number, and at most the second.
Windows = Sequence[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class PointsWanted:
    """The operating points wanted: at FAR and FRR targets, and those that need every score.

    The latter are AUC, d', the hull's EER, `optima`, and the least of each row of `costs`. The
    false accepts at the thresholds `rows`, if given, are wanted as well; `expected` yields cells of
    a pilot in which more points may lie.
    """

    targets: np.ndarray
    costs: np.ndarray
    every_score: bool
    rows: np.ndarray | None = None
    expected: Callable[[Any], Iterator[np.ndarray]] | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    optima: Sequence[Scalar] = ()

    #: Scores that are kept around the points in a pass, at most.
    MOST_SCORES: ClassVar = 1 << 25

    #: Prior proportion of genuine attempts, cost of a false reject, cost of a false accept, for
    #: half the total error rate.
    COSTS: ClassVar = ((0.5, 1.0, 1.0),)

    @classmethod
    def checked(
        cls, far_targets: Any, costs: Any, auc: Any, optima: Sequence[Scalar]
    ) -> PointsWanted:
        """Return the points that the arguments of a call want."""
        targets, every_score = check_targets(far_targets), require_flag("auc", auc)
        return cls(targets, check_costs(costs), every_score, optima=optima)


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Moments of some rows, of their scores times a power of two."""

    scale: float  # that power
    number: np.ndarray  # int64: finite scores of each row
    #: float64: a score of each row, the mean from there, and the sum of squares around it.
    origin: np.ndarray
    mean: np.ndarray
    spread: np.ndarray

    @property
    def scales(self) -> np.ndarray:
        """The scale of each row."""
        return np.full(len(self.number), self.scale)

    def scaled(self, scale: float) -> tuple[np.ndarray, ...]:
        """Return the arrays at another scale."""
        ratio = scale / self.scale
        return self.number, self.origin * ratio, self.mean * ratio, self.spread * ratio**2

    def part(self, low: int, high: int, scale: float) -> RowMoments:
        """Return those of rows ``low:high`` (they have one scale)."""
        return RowMoments(
            scale,
            self.number[low:high],
            self.origin[low:high],
            self.mean[low:high],
            self.spread[low:high],
        )


class SecondPass:
    """Impostor scores kept in windows, their ordered pairs with genuine scores, and their moments.

    - `windows` (sequence of (float, float)): scores above the one and at most the other are kept
    - `genuine` (float array): genuine scores, increasing, to count pairs with
    - `ends` ((float, float)): impostor scores are about from the one to the other
    - `moments` (bool): whether moments are wanted
    - `places` (bool): whether :meth:`add` keeps the row in its block and the position of each
      score, in `places`
    """

    def __init__(
        self,
        windows: Windows,
        genuine: np.ndarray | None = None,
        ends: tuple[float, float] = (-np.inf, np.inf),
        *,
        moments: bool = False,
        places: bool = False,
    ):
        """Lay out the windows; the genuine scores are sorted."""
        self.windows, self.genuine, self.ends = windows, genuine, ends
        self.grid: CellGrid | None = None
        self.flags = np.empty(0, dtype=np.uint8)
        self.cells, self.most_cells = CellCounts(), CELLS
        self.kept: list[np.ndarray] = []
        self.with_places, self.places = places, list[np.ndarray]()
        self.pairs = 0
        #: Genuine scores, float64 and increasing, up to each of which impostor scores are counted.
        self.divisions = np.empty(0)
        self.up_to = np.empty(0, dtype=np.int64)
        self.with_moments = moments
        self.rows: list[RowMoments] = []
        self._ranks: dict[np.dtype, RankTable] = {}

    def tables(
        self, dtype: np.dtype, chunks: int, capacity: int, rows: int = 0, scale: float = 1.0
    ) -> PointTables:
        """Return empty tables for the kernel, with space for kept scores and moments of rows."""
        if dtype not in self._ranks:
            genuine = np.empty(0)
            if self.genuine is not None:
                genuine = self.genuine
            table = rank_table(genuine.astype(dtype), *self.ends)
            if not len(genuine):
                table = table._replace(words=table.words[:0])
            self._ranks[dtype] = table
        flags, frame = np.empty(0, dtype=np.uint8), CellWindow(*np.zeros(5, dtype=dtype))
        windows = self.windows
        if self.grid is not None and self.grid.exact_in(dtype):
            flags, frame, windows = self.flags, self.grid.window(dtype), ()
        lows, highs = np.array(windows, dtype=np.float64).reshape(-1, 2).T
        return PointTables(
            flags=flags,
            shift=np.uint32(0),
            frame=frame,
            lows=rounded_down(lows, dtype),
            highs=rounded_down(highs, dtype),
            kept=np.empty((chunks, capacity), dtype=dtype),
            filled=np.zeros(chunks, dtype=np.int64),
            ranks=self._ranks[dtype],
            pairs=np.zeros(chunks, dtype=np.int64),
            scale=scale,
            sums=np.empty((chunks, 2, LANES)),
            moments=np.empty((4, rows)),
        )

    def divide_at(self, scores: np.ndarray) -> None:
        """Count impostor scores up to each of some genuine scores."""
        self.divisions = scores.astype(np.float64)
        self.up_to = np.zeros(len(scores), dtype=np.int64)

    def keep_cells(self, grid: CellGrid) -> None:
        """Keep scores by cells of a grid; windows that end within a cell are narrowed."""
        ends = grid.boundaries
        flags = np.zeros(grid.count, dtype=np.uint8)
        windows = []
        for low, high in self.windows:
            first = int(np.searchsorted(ends, low))
            last = int(np.searchsorted(ends, high, side="right")) - 1
            if first < last:
                flags[first:last] = 1
                if low != -np.inf:
                    low = float(ends[first])
                windows.append((low, high if high == np.inf else float(ends[last])))
        flags[[0, -2, -1]] = 0  # whatever is beyond, and NaN
        self.grid, self.flags, self.windows = grid, flags, windows

    def include(self, tables: PointTables) -> None:
        """Include the findings in some rows."""
        if self.with_moments and tables.moments.size:
            number, origin, total, square = tables.moments
            mean = total / np.maximum(number, 1)
            spread = square - mean * total
            # At most ten binary digits may be lost; NaN and infinities fail the comparison too.
            exact = (spread >= square / 1024) & (square < np.inf)
            exact = (exact | (square == 0.0)) & np.isfinite(origin)
            self.with_moments = bool(exact.all())
            number = number.astype(np.int64)
            self.rows.append(RowMoments(tables.scale, number, origin, mean, spread))
        self.pairs += int(tables.pairs.sum())
        if (tables.filled < 0).any():
            self.windows, self.kept, self.places = (), [], []
        if self.windows:
            self.kept += _filled(tables.kept, tables.filled)

    def include_tiles(
        self, threads: Sequence[PointTables], moments: np.ndarray, scale: float
    ) -> None:
        """Include the findings of threads in tiles; they have set the kept scores aside."""
        tables = threads[0]
        for one in threads[1:]:
            tables = tables._replace(
                pairs=np.append(tables.pairs, one.pairs),
                filled=np.append(tables.filled, one.filled),
            )
        none = np.empty((len(tables.filled), 0), dtype=tables.kept.dtype)
        self.include(tables._replace(kept=none, moments=moments, scale=scale))

    def count_twice(self) -> None:
        """Let each score found stand for both directions of a pair of templates.

        Arrays of kept scores are listed twice, and not copied.
        """
        self.pairs *= 2
        self.kept += self.kept
        self.rows = [
            replace(rows, number=2 * rows.number, spread=2 * rows.spread) for rows in self.rows
        ]

    def include_cells(self, cells: CellCounts) -> None:
        """Include counts in narrower cells than those of the tally."""
        self.most_cells = 2 * len(cells.counts)
        self.cells = self.cells.merge(cells, most=self.most_cells)

    def add(self, block: ImpostorBlock) -> None:
        """Take in the impostor scores of a block."""
        values, start, stop = block
        if self.with_moments:
            scale, count = moment_scale(*self.ends), np.empty(len(values), dtype=np.int64)
            origin, mean, squares = np.empty((3, len(values)))
            kernel_count.row_moments(
                values, start, stop, scale, LANES, count, origin, mean, squares
            )
            self.rows.append(RowMoments(scale, count, origin, mean, squares))
        if not self.windows and self.genuine is None:
            return
        if not self._comparable(values.dtype):
            values = values.astype(np.float64)
        (b, n), chunks = values.shape, numba.get_num_threads()
        tables = self.tables(values.dtype, chunks, (-(-b // chunks) * n + 1) * bool(self.windows))
        scratch = scratch_of(values.dtype, chunks, n)
        places = np.empty((chunks, tables.kept.shape[1] * self.with_places, 2), dtype=np.int32)
        second_pass_of_rows(values, start, stop, tables, places, scratch)
        self.include(tables)
        if self.windows and self.with_places:
            self.places += _filled(places, tables.filled)

    def _comparable(self, dtype: np.dtype) -> bool:
        """Whether scores of a dtype can be compared with the genuine ones without conversion."""
        if self.genuine is None:
            return True
        with np.errstate(over="ignore"):
            return bool((self.genuine.astype(dtype) == self.genuine).all())

    def pairs_with(self, genuine: np.ndarray) -> int | None:
        """Return twice the ordered pairs with genuine scores; None if unknown."""
        if self.genuine is None or len(self.genuine) != len(genuine):
            return None
        return self.pairs if (self.genuine == genuine).all() else None

    @property
    def starts_with_any(self) -> bool:
        """Whether the second pass takes from a first block what it needs for all others."""
        return False

    def fresh(self) -> Self:
        """Return the same second pass before it has found anything."""
        second_pass = copy(self)
        second_pass.cells, second_pass.pairs = CellCounts(), 0
        second_pass.up_to = np.zeros_like(self.up_to)
        second_pass.kept, second_pass.places, second_pass.rows = [], [], []
        return second_pass

    def counts(self) -> dict[str, Any]:
        """Return the findings, as counts of some rows that merge with those of others."""
        return {
            "moments": self.with_moments,
            "number": self._of_rows("number"),
            "origin": self._of_rows("origin"),
            "mean": self._of_rows("mean"),
            "spread": self._of_rows("spread"),
            "scale": self._of_rows("scales"),
            "pairs": self.pairs,
            "up_to": self.up_to,
            "paired": self.genuine is not None,
            "kept": KeptRows.of(self.windows, self.kept),
            "cells": NarrowCells(self.cells, self.most_cells),
        }

    def _of_rows(self, name: str) -> ConcatenatedRows:
        """Return one array of the moments of all rows."""
        return ConcatenatedRows(tuple(getattr(x, name) for x in self.rows))

    def include_counts(self, counts: dict[str, Any]) -> None:
        """Take in the findings of second passes over all rows."""
        self.with_moments = counts["moments"]
        if self.with_moments:
            scale = counts["scale"].array()
            every = RowMoments(
                math.nan,
                number=counts["number"].array(),
                origin=counts["origin"].array(),
                mean=counts["mean"].array(),
                spread=counts["spread"].array(),
            )
            self.rows = [every.part(low, high, float(scale[low])) for low, high in runs(scale)]
        self.pairs, self.up_to = counts["pairs"], counts["up_to"]
        if not counts["paired"]:
            self.genuine = None
        self.windows, self.kept = counts["kept"].windows, list(counts["kept"].scores.arrays)
        self.cells = counts["cells"].cells

    def moments(self) -> Moments | None:
        """Return the moments of the finite scores; None where a sum has lost its digits."""
        if not self.with_moments:
            return None
        scale = self.rows[-1].scale if self.rows else 1.0
        parts = [x.scaled(scale) for x in self.rows]
        return moments_of_rows(scale, *map(np.concatenate, zip(*parts, strict=True)))

    def within(self, windows: Windows) -> tuple[np.ndarray, int]:
        """Return the kept scores in windows inside of those of this pass, increasing.

        And how many scores each of them stands for.
        """
        inner, arrays = SecondPass(windows), {id(scores): scores for scores in self.kept}
        both_ways = 2 * len(arrays) == len(self.kept)  # see count_twice
        for scores in arrays.values() if both_ways else self.kept:
            inner.add(ImpostorBlock.of_listed(scores))
        increasing = np.concatenate([np.empty(0, dtype=np.float32), *inner.kept])
        inner.kept = []
        increasing.sort()
        return increasing, 1 + both_ways


def _filled(chunks: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    """Return the filled part of each chunk."""
    return [chunk[:number].copy() for chunk, number in zip(chunks, numbers, strict=True)]


def runs(values: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the start and the stop of each run of equal values."""
    ends = np.flatnonzero(values[1:] != values[:-1]) + 1
    yield from itertools.pairwise([0, *ends.tolist(), len(values)])


def scratch_of(dtype: np.dtype, chunks: int, n: int) -> Scratch:
    """Return memory for one row of each chunk."""
    return Scratch(
        line=np.empty((chunks, n + 1), dtype=dtype),
        cells=np.empty((chunks, n), dtype=np.uint32),
        marked=np.empty((chunks, n + 2), dtype=np.uint32),
        flags=np.empty((chunks, PIECE), dtype=np.uint32),
    )


# Standard errors of the pilot within which a point is looked for.
ERRORS = 4.0

# Cells that a window begins and ends between: as much wider may the final cells be.
ALIGNED = 4

# How many times as far an optimum is looked for, which is flat, and cells with genuine scores that
# it may be next to: a few scores more are kept, and another pass is seldom needed.
FLAT, NEIGHBOURS = 2.0, 8

# FAR targets that every window of the lowest scores covers; and up to which FAR all are kept:
# they are few, and many points are there.
LEAST_TARGETS, LOWEST = (0.0, 1e-6, 1e-5), 1e-3

# Genuine scores at which scores around an optimum are divided, at most.
MOST_DIVISIONS = 1 << 17


class Expected(NamedTuple):
    """Where operating points are expected.

    - `windows`: where scores are to be kept; `share`: the proportion of the impostor scores there
    - `divisions`: genuine scores, increasing; an optimum is at one of them or in a window
    """

    windows: Windows
    share: float
    divisions: np.ndarray


def expected_points(
    grid: CellGrid, counts: np.ndarray, genuine: np.ndarray, wanted: PointsWanted, most: float
) -> Expected:
    """Return where operating points are expected.

    `counts`, shape (groups, cells), are those of a pilot, by groups of its rows: the differences
    between groups say how far off it may be. At most the proportion `most` is kept, of the points
    with the fewest scores first. An optimum is at a genuine score: where too many scores are
    around it to be kept, they are counted up to each genuine score, which takes longer.
    """
    pilot = Pilot(grid, counts, genuine)
    share = np.diff(pilot.far, prepend=0.0)
    chosen, divided = np.zeros((2, grid.count), dtype=bool)
    spans = [(pilot.aligned(span), False) for span in pilot.spans(wanted)]
    spans += [(pilot.aligned(span), True) for span in pilot.optima(wanted)]
    for span, is_optimum in sorted(spans, key=lambda each: float(share[each[0]].sum())):
        if share[chosen | span].sum() <= most:
            chosen |= span
        elif is_optimum:
            divided |= span
    if chosen.any():
        chosen |= pilot.far <= min(LOWEST, most)
    change = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0))
    ends = grid.boundaries
    ends[0], ends[-1] = -np.inf, np.inf
    windows = [(float(ends[a]), float(ends[b])) for a, b in change.reshape(-1, 2)]
    divisions = distinct(genuine[pilot.genuine_in(divided & ~chosen)])
    if len(divisions) > MOST_DIVISIONS:
        divisions = divisions[:0]
    return Expected(windows, float(share[chosen].sum()), divisions)


class Pilot:
    """Counts of a pilot by groups of its rows, with the genuine scores."""

    def __init__(self, grid: CellGrid, counts: np.ndarray, genuine: np.ndarray):
        """Estimate FAR and FRR at the edges of the cells."""
        self.grid, self.groups = grid, len(counts)
        self.total = counts.sum()
        self.filled = np.flatnonzero(counts.any(axis=0))
        self.accepted = np.cumsum(counts, axis=1) / np.maximum(counts.sum(axis=1), 1)[:, None]
        self.far = np.cumsum(counts.sum(axis=0)) / self.total
        #: Genuine scores up to the edge of each cell.
        self.within = np.searchsorted(genuine, grid.edges, side="right")
        self.frr = 1 - self.within / len(genuine)
        self.held = np.diff(self.within, prepend=0) > 0
        self.last = int(np.searchsorted(grid.edges, genuine[-1]))

    def spans(self, wanted: PointsWanted) -> Iterator[np.ndarray]:
        """Yield the cells in which each point may lie, without optima."""
        error = self.error_of(self.accepted, self.far)
        for target in (*LEAST_TARGETS, *wanted.targets):
            yield self.crossing(self.far - target, error)
        yield self.crossing(self.far - self.frr, error)
        yield np.arange(len(self.far)) == min(self.last, len(self.far) - 1)
        for target in wanted.frr_targets:
            yield np.arange(len(self.frr)) == int(np.argmax(self.frr <= target))
        if wanted.expected is not None:
            yield from wanted.expected(self)

    def optima(self, wanted: PointsWanted) -> Iterator[np.ndarray]:
        """Yield the cells in which each optimum may lie."""
        if wanted.every_score:
            for objective in objectives(wanted.optima, wanted.costs, self.weights()):
                yield self.optimum(objective)

    def genuine_in(self, cells: np.ndarray) -> np.ndarray:
        """Return the places of the genuine scores in some cells."""
        before = np.append(0, self.within[:-1])
        return np.flatnonzero(np.repeat(cells, self.within - before))

    def weights(self) -> list[float]:
        """Return weights of the hull's point, of all groups and of two halves of them."""
        weights = []
        for some in (slice(None), slice(0, None, 2), slice(1, None, 2)):
            far = self.accepted[some].mean(axis=0)
            if len(self.accepted[some]):
                weights.append(crossing_weight(np.append(0.0, far), np.append(1.0, self.frr)))
        return weights

    def error_of(self, groups: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return the possible error of the mean of the groups, in proportions of the scores."""
        return ERRORS * np.sqrt(
            groups.var(axis=0) / (self.groups - 1) + (share + 1 / self.total) / self.total
        )

    def crossing(self, over: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return the cells where increasing numbers may cross 0, down to the scores before."""
        if (over + error >= 0).any():
            first = int(np.argmax(over + error >= 0))
        else:
            first = len(over) - 1
        last = len(over) - 1 - int(np.argmax((over - error <= 0)[::-1]))
        before = np.searchsorted(self.filled, first) - 1
        cells = np.arange(len(over))
        return (cells >= (self.filled[before] if before >= 0 else 0)) & (cells <= last + 1)

    def optimum(self, objective: Objective) -> np.ndarray:
        """Return the cells of genuine scores in which a function of the rates may be least."""
        cost = objective(self.far, self.frr)
        best = int(np.argmin(cost))
        groups = objective(self.accepted, self.frr)
        error = FLAT * self.error_of(groups - groups[:, [best]], abs(self.far - self.far[best]))
        near = objective(np.append(0.0, self.far[:-1]), self.frr) - error <= cost[best]
        chosen = np.flatnonzero(near & self.held)
        before = np.append(0, self.within[:-1])
        first = np.searchsorted(self.within, before[chosen] - NEIGHBOURS, side="right")
        last = np.searchsorted(self.within, self.within[chosen] + NEIGHBOURS)
        changes = np.zeros(len(near) + 2, dtype=np.int64)
        np.add.at(changes, np.minimum(first, np.maximum(chosen - 1, 0)), 1)
        np.add.at(changes, np.minimum(np.maximum(last, chosen + 1), len(near) - 1) + 1, -1)
        return np.cumsum(changes)[: len(near)] > 0

    def aligned(self, span: np.ndarray) -> np.ndarray:
        """Return the cells of a span, widened to whole wider cells."""
        size = ALIGNED * max(1, len(span) // (2 * CELLS))
        shift = (self.grid.first - 1) % size
        count = -(-(shift + len(span)) // size) * size
        padded = np.zeros(count, dtype=bool)
        padded[shift : shift + len(span)] = span
        wide = np.repeat(padded.reshape(-1, size).any(axis=1), size)
        return wide[shift : shift + len(span)]
