"""Impostor counts between consecutive genuine scores: the corner points of the ROC."""

from __future__ import annotations

import numba
import numpy as np

from bioeval.base.errors import MergeError
from bioeval.kernels import count as kernel_count
from bioeval.kernels import refine as kernel
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counters import guide_to
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.points import GenuineRanks

# Narrow cells that lead to genuine scores: the most of them, and the most bits narrower.
PLACES, FINER = 1 << 16, 8


class GenuineRankCounter:
    """Counts impostor scores between the distinct genuine scores.

    Only scores of cells that hold a genuine score need be looked at, where these cells can be found
    exactly (`by_cell`): those of any other cell lie between the same two genuine scores, and have
    been counted. Otherwise every score is searched for.
    """

    def __init__(self, genuine: np.ndarray, cells: CellCounts):
        self.scores, self.repeats = np.unique(genuine, return_counts=True)
        self.cells = cells
        finite = not (cells.negative_infinite or cells.positive_infinite)
        self.by_cell = bool(
            finite
            and len(cells.counts)
            and np.isfinite(self.scores).all()
            and cells.grid.with_margin().exact_in(np.dtype(np.float64))
        )
        chunks = numba.get_num_threads()
        if self.by_cell:
            self.counted = np.zeros(2 * len(self.scores) + 2, dtype=np.int64)
            self._tables = np.zeros((chunks, len(self.counted)), dtype=np.int32)
            self._waiting = 0
            self._in_dtype: dict[np.dtype, np.ndarray | None] = {}
        else:
            self.guide = guide_to(self.scores)
            self.below = np.zeros((chunks, len(self.scores) + 1), dtype=np.int64)
            self.equal = np.zeros((chunks, len(self.scores)), dtype=np.int64)

    def prepare(self, wanted: np.ndarray) -> None:
        """Narrow the cells that hold genuine scores, and those that are wanted besides."""
        if not self.by_cell:
            return
        grid = self.cells.grid
        places = grid.places_of(self.scores)
        places = places[(places >= 0) & (places < grid.count)].astype(np.int64)
        self.looked_at = np.zeros(grid.count, dtype=bool)
        self.looked_at[places] = self.looked_at[wanted] = True
        low = int(np.argmax(self.looked_at))  # all cells where none is looked at
        high = grid.count - int(np.argmax(self.looked_at[::-1]))
        part = CellGrid(grid.exponent, grid.first + low, high - low)
        for bits in range(FINER, -1, -1):
            self._narrow = part.narrower(bits)
            if self._narrow.count <= PLACES and self._narrow.exact_in(np.dtype(np.float32)):
                break
        places = np.searchsorted(self.scores, self._narrow.boundaries, side="right")
        self._places = places.astype(np.uint32)
        self._wanted = np.zeros(self._narrow.count, dtype=np.uint8)
        self._wanted.reshape(-1, 1 << bits)[wanted - low] = 1

    def fits(self, dtype: np.dtype) -> bool:
        """Say whether scores of a dtype can be compared with the genuine ones as they are."""
        return self._scores_in(dtype) is not None

    def _scores_in(self, dtype: np.dtype) -> np.ndarray | None:
        """Return the genuine scores in a dtype, and a guard; None if that is not exact."""
        if dtype not in self._in_dtype:
            with np.errstate(over="ignore"):
                scores = np.append(self.scores, np.inf).astype(dtype)
            exact = bool((scores[:-1] == self.scores).all()) and self._narrow.exact_in(dtype)
            self._in_dtype[dtype] = scores if exact else None
        return self._in_dtype[dtype]

    def tables(self, values: np.ndarray) -> kernel.GenuineCells:
        """Return what ``look_rows`` counts the scores of a block in."""
        if self._waiting + values.size > np.iinfo(np.int32).max:
            self._flush()
        self._waiting += values.size
        scores = self._scores_in(values.dtype)
        assert scores is not None
        window = self._narrow.window(values.dtype)
        return kernel.GenuineCells(*window, self._places, self._wanted, scores, self._tables)

    def _flush(self) -> None:
        self.counted += self._tables.sum(axis=0, dtype=np.int64)
        self._tables[:] = 0
        self._waiting = 0

    def add(self, values: np.ndarray, start: np.ndarray, stop: np.ndarray) -> None:
        """Search for the impostor scores of a block among the genuine ones."""
        kernel_count.count_between(
            values, start, stop, self.scores, *self.guide, self.below, self.equal
        )

    def result(self) -> GenuineRanks:
        """Return the counts; the scores must be those that the cells counted."""
        cells = self.cells
        if self.by_cell:
            self._flush()
            require_same(int(self.counted.sum()), int(cells.counts[self.looked_at].sum()))
            under, equal = self.counted[::2].copy(), self.counted[1:-1:2]
            others = np.flatnonzero(~self.looked_at)
            edges = cells.grid.edges[others]
            np.add.at(under, np.searchsorted(self.scores, edges), cells.counts[others])
        else:
            under, equal = self.below.sum(axis=0), self.equal.sum(axis=0)
            require_same(int(under.sum() + equal.sum()), cells.total)
        below = np.cumsum(under[:-1]) + np.concatenate([[0], np.cumsum(equal)[:-1]])
        return GenuineRanks(self.scores, self.repeats.astype(np.int64), below, equal, cells.total)


def require_same(seen: int, counted: int) -> None:
    """Raise :class:`MergeError` unless a second look finds as many scores as were counted."""
    if seen != counted:
        raise MergeError(
            f"the scores hold {seen} impostor attempts where the tally counted {counted}; "
            "refine a tally with the very scores that it counted"
        )
