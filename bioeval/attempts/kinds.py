"""What a pass knows of verification with single or with multi templates, and where it counts.

A pilot of a few scores places the cells of the kernel's tables, and the windows in which operating
points are expected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from bioeval.attempts.cells import CELLS, CellGrid
from bioeval.attempts.counters import HistogramWithThresholds
from bioeval.attempts.counting import AttemptCounter, KernelCounters
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.second_pass import PointsWanted, SecondPass, Windows, expected_points
from bioeval.attempts.threshold_search import distinct
from bioeval.base.memory import at_most

# Groups of a pilot, whose differences say how far to trust it; the most that is kept of the scores,
# as a proportion, and what is kept anyway (and never `PointsWanted.MOST_SCORES`).
PILOT_GROUPS = 16
MOST_KEPT, KEPT_ANYWAY = 1 / 8, 1 << 20

# Cells of the kernel's tables: twice those of a count, for scores beyond the sample's; the first
# and the last two are for everything outside.
WINDOW = 2 * CELLS + 3

# Bits by which cells are narrower where points are looked for.
NARROWER = 2

# Scores from which on a pilot has narrower cells, too: its windows keep fewer of them, and take
# longer to find.
MANY = 1 << 24

# Counts of a task that is not there.
UNUSED = CellCounts(counts=np.ones(1, dtype=np.int64))
NO_SECOND_PASS = SecondPass(())


def pilot_bits(scores: int) -> int:
    """Return by how many bits the cells of a pilot are narrower, of a number of scores."""
    return NARROWER if scores >= MANY else 0


@dataclass(eq=False)
class KindOfTemplates:
    """What a pass knows of verification with single, or with multi templates."""

    templates: str
    counters: list[AttemptCounter[Any]]  # they differ in their results only; there may be none
    pilot: CellCounts | None = None  # counts of a few rows, which place the cells
    #: The points that are looked for, if there are genuine scores.
    wanted: PointsWanted | None = None
    #: float: the genuine scores, increasing, where points are wanted.
    genuine: np.ndarray = field(default_factory=lambda: np.empty(0))
    #: Where the points are expected, and the proportion of the impostor scores there.
    windows: Windows = ()
    share: float = 0.0
    #: Genuine scores up to which impostor scores are counted, since an optimum is at one of them.
    divisions: np.ndarray = field(default_factory=lambda: np.empty(0))
    second_pass: SecondPass | None = None  # the second pass that is taken at the same time
    cells: HistogramWithThresholds | None = None  # the cells, once they are placed
    #: The places of the given thresholds, and of the divisions, among the marks of the cells.
    given: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    divided: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @classmethod
    def among(cls, templates: str, kernel: KernelCounters) -> Self:
        """Return the kind with those of some counters that are of it."""
        return cls(templates, [x for x in kernel.attempts if x.templates == templates])

    def take_pilot(self, grid: CellGrid, by_group: np.ndarray, rows: int, of: int) -> None:
        """Place windows by the counts of some rows of all, in groups of them."""
        counts = CellCounts(grid.exponent, grid.first, by_group.sum(axis=0)).fitted()
        if not len(counts.counts):
            self.pilot = UNUSED
            return
        self.pilot = counts
        if self.wanted is None:
            return
        every = counts.total / rows * of
        anyway = KEPT_ANYWAY / every
        most = min(max(MOST_KEPT, anyway), at_most(PointsWanted.MOST_SCORES, 32) / every)
        if len(by_group) < 2:  # nothing tells how far off they are: of so few, all are kept
            self.windows, self.share = [(-np.inf, np.inf)], 1.0
        else:
            self.windows, self.share, self.divisions = expected_points(
                grid, by_group, self.genuine, self.wanted, most
            )

    def take_second_pass(self) -> None:
        """Take a second pass at the same time, in the windows placed."""
        if self.wanted is None:
            return
        ends = self.pilot.range if self.pilot is not None else (-np.inf, np.inf)
        genuine = self.genuine if self.wanted.every_score else None
        self.second_pass = SecondPass(self.windows, genuine, ends, moments=self.wanted.every_score)
        self.second_pass.divide_at(self.divisions)

    def place_cells(self, counted: CellCounts, thresholds: np.ndarray) -> bool:
        """Place the cells by counts; False if they are inexact."""
        dtype = thresholds.dtype
        grid = around(counted, dtype)
        if grid is None:
            return False
        divisions = self.divisions.astype(dtype)
        marks = distinct(np.sort(np.concatenate([thresholds, divisions])))
        self.given, self.divided = marks.searchsorted(thresholds), marks.searchsorted(divisions)
        bits = 0
        if self.second_pass is not None:
            bits = NARROWER
            self.second_pass.keep_cells(grid)
        self.cells = HistogramWithThresholds.at(counted, grid, marks, bits)
        return True


def around(cells: CellCounts, dtype: np.dtype) -> CellGrid | None:
    """Return a grid with the cells seen so far near its middle; None if it cannot be exact."""
    if not len(cells.counts):
        return None
    first = cells.first - (WINDOW - len(cells.counts)) // 2
    grid = CellGrid(cells.exponent, first, WINDOW)
    if grid.exact_in(dtype):
        return grid
    return None
