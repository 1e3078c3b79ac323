"""Counts of all folds in one sweep, and the scores of a few bins in another."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from bioeval.base.engine import engine
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.by_fold.partition import Part, Partition, cells_for
from bioeval.tallies.by_fold.passes import (
    CollectPass,
    CountPass,
    Keep,
    RangePass,
    RowWindows,
    Weighted,
)
from bioeval.tallies.by_fold.rows import RowReader, Tick
from bioeval.tallies.cells import CellGrid, cell_exponent, cell_of, rounded_down
from bioeval.tallies.counters import finite_range
from bioeval.tallies.threshold_search import Attempts, runs_of

# Rows looked at beforehand to place the cells.
SAMPLE_ROWS = 16

# Scores to collect, and as a proportion of all, beyond which everything is counted once more, in
# finer cells where the points lie: counting is cheap, sorting is not.
REFINE, REFINE_SHARE = 1 << 15, 2.0**-7


class FoldSweep:
    """Counts the attempts of verification by the folds of probe and gallery template.

    Several partitions share each look at the scores. With ``templates="multi"`` all templates of a
    subject in the gallery must be in one fold.

    Attributes
    ----------
    edges : float64 array, shape (bins,)
        Upper edges of the bins, the last one infinite.
    total : int64 array, shape (bins,)
        All impostor scores in each bin.
    genuine : float64 array
        All genuine scores, increasing.
    """

    def __init__(
        self,
        reader: BlockReader,
        templates: str,
        fusion: str,
        codes: Sequence[tuple[np.ndarray, np.ndarray]],
        partition: type[Partition] = Partition,
    ):
        self.rows = RowReader(reader, templates, fusion)
        gallery = reader.gallery
        self.partitions = []
        for probe, fold in codes:
            fold = fold if gallery.order is None else fold[gallery.order]
            if templates == "multi":
                fold = fold[gallery.starts[:-1]]
            self.partitions.append(partition(probe.astype(np.int64), fold.astype(np.int64)))
        self.number = cells_for(self.partitions)
        self.grid = self._first_grid()
        self.genuine = np.empty(0)
        self.edges = np.append(self.grid.edges[:-1], np.inf)

    def _first_grid(self) -> CellGrid:
        """Place the cells by a sample of the rows, with some room around it."""
        sample = self.rows.sample(SAMPLE_ROWS)
        ranges = [finite_range(*found[:3]) for found in sample]
        self.dtype = sample[0].values.dtype
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return self._grid_for(low, high, 3 * self.number // 4)

    def _grid_for(self, low: float, high: float, number: int) -> CellGrid:
        """Return cells of which `number` cover the range, as far as they are exact.

        The outermost ones are open.
        """
        low, high = (low, high) if low <= high else (0.0, 0.0)
        info = np.finfo(self.dtype)
        exponent = max(cell_exponent(low, high, number), int(info.minexp) + 3)
        most = int(info.maxexp) - 33
        while exponent < most:
            grid = self._around(low, high, exponent)
            if grid.exact_in(self.dtype):
                return grid
            exponent += 1
        return CellGrid(most, -1, 3)

    def _around(self, low: float, high: float, exponent: int) -> CellGrid:
        first, last = cell_of(low, exponent), cell_of(high, exponent)
        margin = max(2, self.number - (last - first + 1))
        return CellGrid(exponent, first - margin // 2 - 1, last - first + 1 + margin)

    # -- counting

    def count(self, tick: Tick | None = None) -> None:
        """Count all pairs, and gather the genuine scores."""
        from_memory = self.rows.from_memory
        late = from_memory and engine() is None  # or the rows of a failed attempt show twice
        work = CountPass(self.rows, self.partitions, self.grid)
        found = work.whole(None if late else tick)
        genuine, row, position = (found["genuine"][str(i)].array() for i in range(3))
        if from_memory:
            if found["failed"] or len(genuine) < self._expected():
                self.rows.from_memory = False  # the reader knows what failed comparisons are
                self.count(tick)
                return
            if tick is not None and late:
                tick(self.rows.scores.shape[0])
        order = np.argsort(genuine)
        self.genuine = genuine[order].astype(np.float64)
        for i, one in enumerate(self.partitions):
            one.pair = one.pairs_of(row[order], position[order])
            one.counts = found["counts"][str(i)]
        self.total = found["total"]

    def _expected(self) -> int:
        """Return the number of genuine scores if no comparison has failed."""
        gallery = self.rows.reader.gallery
        return int(
            (gallery.own_stop - gallery.own_start).sum() - (gallery.self_position >= 0).sum()
        )

    def attempts(self, partition: Partition, part: Part) -> Attempts:
        """Return the attempts of a part, as far as they are counted."""
        inside = partition.has(part, partition.pair)
        return Attempts(
            self.genuine[inside], self.edges, partition.counts[int(part.inside), part.fold]
        )

    # -- collecting

    def narrow(self, wanted: np.ndarray) -> bool:
        """Divide the wanted bins where too many scores would be collected; say if that was done."""
        most = max(REFINE, REFINE_SHARE * self.total.sum())
        if not wanted.any() or self.total[wanted].sum() <= most:
            return False
        first, last = np.flatnonzero(wanted)[[0, -1]]
        low, high = (float(self.edges[first - 1]) if first else -np.inf), float(self.edges[last])
        ends = low, high
        if not np.isfinite(ends).all():
            extent = RangePass(self.rows, self.partitions).whole(None)["extent"]
            low, high = max(low, extent.low), min(high, extent.high)
        narrower = self._grid_for(low, high, self.number)
        if low >= high or narrower.exponent >= self.grid.exponent:
            return False
        self.grid = narrower
        found = CountPass(self.rows, self.partitions, narrower, genuine=False).whole(None)
        edges = narrower.edges[:-1]
        between = np.flatnonzero((edges > ends[0]) & (edges < ends[1]))
        divided = functools.partial(_divided, bins=slice(first, last + 1), between=between)
        for i, one in enumerate(self.partitions):
            one.counts = divided(one.counts, found["counts"][str(i)])
        self.total = divided(self.total, found["total"])
        self.edges = np.concatenate([self.edges[:first], edges[between], self.edges[last:]])
        return True

    def collect(
        self, wanted: np.ndarray, tick: Tick | None = None, keep: Keep | None = None
    ) -> Iterator[Weighted]:
        """Yield the impostor scores in some bins for each partition, in increasing order.

        `wanted` flags the bins, or has a row of flags for each fold of the probe in the first
        partition. Of the scores collected, `keep` says which are kept.
        """
        windows = self._windows(np.atleast_2d(wanted))
        work = CollectPass(self.rows, self.partitions, windows, keep, self.dtype)
        yield from work.collected(tick)

    def _windows(self, wanted: np.ndarray) -> RowWindows:
        """Return the windows of wanted bins, which has a row for each fold of the probe, or one."""
        ends = [runs_of(flags) for flags in wanted]
        first, last = (np.concatenate(side) for side in zip(*ends, strict=True))
        above = np.where(first > 0, self.edges[first - 1], np.nan)
        return RowWindows(
            np.concatenate([[0], np.cumsum([len(one) for one, _ in ends])]),
            rounded_down(above, self.dtype),
            rounded_down(self.edges[last], self.dtype),
            int(self.total[wanted.any(axis=0)].sum()),
        )


def _divided(old: np.ndarray, new: np.ndarray, bins: slice, between: np.ndarray) -> np.ndarray:
    """Return counts of bins, some of them divided at the ends of other bins, along the last axis.

    The new counts are of all scores; `between` are the new bins that end inside the old ones.
    """
    before = old[..., : bins.start].sum(axis=-1, keepdims=True)
    inside = old[..., bins].sum(axis=-1, keepdims=True)
    reached = np.cumsum(new, axis=-1)[..., between]
    parts = np.diff(np.concatenate([before, reached, before + inside], axis=-1), axis=-1)
    return np.concatenate([old[..., : bins.start], parts, old[..., bins.stop :]], axis=-1)
