"""The passes that count verification in folds, by rows of scores or by tiles of embeddings.

One pass counts every fold, and a second one collects the scores of the few bins in which thresholds
fall. Of embeddings, a few tiles are a pilot that says where these bins are about, so that the first
pass has fine cells there.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.attempts.cells import CellGrid, cell_exponent, cell_of, rounded_down
from bioeval.attempts.fold_counts import (
    PAIR_ENTRIES,
    CollectedScores,
    CollectPass,
    CountPass,
    DivisionIntoFolds,
    FoldRowReader,
    PlacedScores,
    RangePass,
    RowWindows,
    Subset,
    Weighted,
    extent_of,
    joined_scores,
    of_tree,
)
from bioeval.attempts.fold_tiles import (
    MOST_KEPT,
    NO_WINDOW,
    FoldTiles,
    TileCollectPass,
    TileCountPass,
)
from bioeval.attempts.parts import Extent
from bioeval.attempts.threshold_search import Attempts, runs_of
from bioeval.base.progress import report_rows, rows_reported_to
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores

# Cells of one fold: as many as keep the tables of a row in the processor's cache.
ROW_ENTRIES, MOST_CELLS, LEAST_CELLS = 1 << 16, 1 << 11, 1 << 8

# Rows looked at beforehand to place the cells.
SAMPLE_ROWS = 16

# Scores to collect, and as a proportion of all, beyond which everything is counted once more, in
# finer cells where the points lie: counting is cheap, sorting is not.
REFINE, REFINE_SHARE = 1 << 15, 2.0**-7

# Tiles of a pilot. Around the bins that it finds, the scores up to them may be so many times fewer
# or more, and so many times the square root of their number: for fine cells, and for scores that
# are kept.
HELD_TILES = 16
WIDER, ERRORS = 1.25, 8
KEPT_WIDER, KEPT_ERRORS = 1.05, 4


class FoldPasses:
    """Counts the attempts of verification by the folds of probe and gallery template.

    Several partitions share each pass over the scores. With ``templates="multi"`` all templates of
    a subject in the gallery must be in one fold.

    - `edges` (float64 (bins,)): upper edges of the bins, the last one infinite
    - `total` (int64 (bins,)): all impostor scores in each bin
    - `genuine` (float64): all genuine scores, increasing
    """

    def __init__(
        self,
        reader: BlockReader,
        templates: str,
        fusion: str,
        codes: Sequence[tuple[np.ndarray, np.ndarray]],
        partition: type[DivisionIntoFolds] = DivisionIntoFolds,
    ):
        """Divide the probes and the gallery by `codes`, their fold in each partition."""
        self.rows = FoldRowReader(reader, templates, fusion)
        gallery = reader.gallery
        self.partitions = []
        for probe, fold in codes:
            if gallery.order is not None:
                fold = fold[gallery.order]
            if templates == "multi":
                fold = fold[gallery.starts[:-1]]
            self.partitions.append(partition(probe.astype(np.int64), fold.astype(np.int64)))
        folds = max(x.folds for x in self.partitions)
        by_pair = PAIR_ENTRIES // (folds**2 * len(self.partitions))
        #: Cells of each fold.
        self.number = max(LEAST_CELLS, min(MOST_CELLS, ROW_ENTRIES // folds, by_pair))
        #: The tiles that are counted; None where rows are.
        self.tiles = FoldTiles.of(reader, templates, fusion)
        # A sample of the rows places the cells, with a margin around it.
        if self.tiles is None:
            sample = self.rows.sample(SAMPLE_ROWS)
        else:
            some = BlockReader(_some_rows(reader.scores))
            block = some.block(0, some.scores.shape[0])
            sample = [FoldRowReader(some, templates, fusion).of_block(block)]
        self.extent = functools.reduce(Extent.merge, map(extent_of, sample))
        self.dtype = sample[0].values.dtype if self.tiles is None else self.tiles.dtype
        self.grid = self._grid_for(self.extent.low, self.extent.high, 3 * self.number // 4)
        #: Cells that cover all scores, while those of the grid do not.
        self.wide: CellGrid | None = None
        #: Where scores are kept while they are counted, and those kept.
        self.window = NO_WINDOW
        self.kept = joined_scores([], self.dtype)
        self.genuine = np.empty(0)
        self.edges = np.append(self.grid.edges[:-1], np.inf)

    def _grid_for(self, low: float, high: float, number: int) -> CellGrid:
        """Return cells, `number` of which cover the range as far as exact; outermost are open."""
        if low > high:
            low = high = 0.0
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

    def count(self, wanted: Callable[[], np.ndarray] | None = None) -> None:
        """Count all pairs, and gather the genuine scores.

        `wanted` returns flags of the bins that are needed, by what has been counted; if it is
        given, a pilot may make those bins narrower, and others wider.
        """
        if self.tiles is not None:
            genuine = self.tiles.genuine()
            self._take_genuine(*genuine)
            if wanted is not None:
                self._take_pilot(wanted)
            if self._count_tiles():
                return
            self.tiles, self.grid = None, self.wide or self.grid
            self.wide, self.edges = None, np.append(self.grid.edges[:-1], np.inf)
        from_memory = self.rows.from_memory
        late = from_memory  # or the rows of a failed attempt show twice
        fold_pass = CountPass(self.rows, self.partitions, self.grid)
        with rows_reported_to(None) if late else contextlib.nullcontext():
            counts = fold_pass.whole()
        genuine = counts["genuine"]["0"].array()
        row = counts["genuine"]["1"].array()
        position = counts["genuine"]["2"].array()
        if from_memory:
            gallery = self.rows.reader.gallery
            mates = (gallery.mate_stop - gallery.mate_start).sum()
            mates -= (gallery.probe_position >= 0).sum()
            if counts["failed"] or len(genuine) < mates:
                self.rows.from_memory = False  # the reader knows what failed comparisons are
                self.count()
                return
            if late:
                report_rows(self.rows.scores.shape[0], self.rows.scores.shape[0])
        self._take_genuine(genuine, row, position)
        self._take_counts(counts)

    def _take_genuine(self, scores: np.ndarray, row: np.ndarray, position: np.ndarray) -> None:
        """Take all genuine scores, with their rows and their positions."""
        order = np.argsort(scores)
        self.genuine = scores[order].astype(np.float64)
        for one in self.partitions:
            one.pair = one.pairs_of(row[order], position[order])

    def _take_counts(self, counts: dict[str, Any]) -> None:
        """Take the counts of a pass by the cells of the grid."""
        for i, one in enumerate(self.partitions):
            one.counts = counts["counts"][str(i)]
        self.total = counts["total"]

    def _count_tiles(self) -> bool:
        """Count all tiles; return whether they hold all impostor attempts, none of them failed."""
        assert self.tiles is not None
        counts = self._counted_tiles(self.grid, self.window)
        self.edges = np.append(self.grid.edges[:-1], np.inf)
        self._take_counts(counts)
        kept = [PlacedScores(*scores) for scores in of_tree(counts["kept"])]
        self.kept = self.tiles.in_both_directions(joined_scores(kept, self.dtype))
        return counts["made"] == self.tiles.impostors

    def _counted_tiles(
        self, grid: CellGrid, window: tuple[float, float] = NO_WINDOW
    ) -> dict[str, Any]:
        """Return the counts of all tiles, after their ranges are taken."""
        assert self.tiles is not None
        tiled = self.tiles.tiled
        counts = TileCountPass(self.tiles, self.partitions, grid, window).whole()
        places = tiled.places(range(len(tiled.rows)))
        self.tiles.least = dict(zip(places, counts["least"].array().tolist(), strict=True))
        self.extent = counts["extent"]
        return counts

    def _take_pilot(self, wanted: Callable[[], np.ndarray]) -> None:
        """Make the cells finer where a few tiles say that the wanted bins will be."""
        assert self.tiles is not None
        sample = self.tiles.tiled.spread(HELD_TILES)
        counts = TileCountPass(self.tiles, self.partitions, self.grid).over(sample, sample=True)
        self._take_counts(counts)
        flags = wanted()
        if not flags.any() or not self.total.any():
            return
        low, high = self._ends(flags, WIDER, ERRORS)
        narrower = self._grid_for(
            max(low, self.extent.low), min(high, self.extent.high), 3 * self.number // 4
        )
        if low < high and narrower.exponent < self.grid.exponent:
            self.grid, self.wide = narrower, self.grid
            low, high = self._ends(flags, KEPT_WIDER, KEPT_ERRORS)
            share = self._in_window(low, high) / self.total.sum()
            if share * self.tiles.impostors <= MOST_KEPT * (1 + self.tiles.twice):
                self.window = low, high

    def _ends(self, flags: np.ndarray, wider: float, errors: float) -> tuple[float, float]:
        """Return ends around the flagged bins, with fewer or more scores up to them."""
        first, last = np.flatnonzero(flags)[[0, -1]]
        below = np.append(0, np.cumsum(self.total))
        least = below[first] / wider - errors * math.sqrt(below[first])
        most = below[last + 1] * wider + errors * math.sqrt(below[last + 1] + 1)
        first = min(first, max(0, int(below.searchsorted(least, side="right")) - 1))
        last = max(last, min(len(flags) - 1, int(below.searchsorted(most))))
        return float(self.edges[first - 1]) if first else -np.inf, float(self.edges[last])

    def _in_window(self, low: float, high: float) -> int:
        """Return the number of scores in the bins between two edges."""
        first, last = self.edges.searchsorted((low, high))
        return int(self.total[first + (low > -np.inf) : last + 1].sum())

    def attempts(self, partition: DivisionIntoFolds, part: Subset) -> Attempts:
        """Return the attempts of a part, as far as they have been counted."""
        inside = partition.has(part, partition.pair)
        return Attempts(
            self.genuine[inside], self.edges, partition.counts[int(part.inside), part.fold]
        )

    # -- collecting

    @rows_reported_to(None)
    def narrow(self, wanted: np.ndarray) -> bool:
        """Divide wanted bins with too many scores to collect; return whether any was divided."""
        most = max(REFINE, REFINE_SHARE * self.total.sum())
        if not wanted.any() or self.total[wanted].sum() <= most:
            return False
        first, last = np.flatnonzero(wanted)[[0, -1]]
        if self.wide is not None and (first == 0 or last == len(wanted) - 1):
            self.grid, self.wide, self.window = self.wide, None, NO_WINDOW  # the pilot was wrong
            self._count_tiles()
            return True
        low, high = -np.inf, float(self.edges[last])
        if first:
            low = float(self.edges[first - 1])
        ends = low, high
        if not np.isfinite(ends).all():
            if self.tiles is None:
                self.extent = RangePass(self.rows, self.partitions).whole()["extent"]
            low, high = max(low, self.extent.low), min(high, self.extent.high)
        narrower = self._grid_for(low, high, self.number)
        if low >= high or narrower.exponent >= self.grid.exponent:
            return False
        self.grid = narrower
        if self.tiles is None:
            counts = CountPass(self.rows, self.partitions, narrower, genuine=False).whole()
        else:
            counts = self._counted_tiles(narrower)
        edges = narrower.edges[:-1]
        between = np.flatnonzero((edges > ends[0]) & (edges < ends[1]))
        divided = functools.partial(_divided, bins=slice(first, last + 1), between=between)
        for i, one in enumerate(self.partitions):
            one.counts = divided(one.counts, counts["counts"][str(i)])
        self.total = divided(self.total, counts["total"])
        self.edges = np.concatenate([self.edges[:first], edges[between], self.edges[last:]])
        return True

    def collect(self, wanted: np.ndarray) -> Iterator[Weighted]:
        """Yield the impostor scores in some bins for each partition, in increasing order.

        `wanted` flags the bins, or has a row of flags for each fold of the probe in the first
        partition.
        """
        windows = self._windows(np.atleast_2d(wanted))
        if self.tiles is None:
            yield from CollectPass(self.rows, self.partitions, windows, self.dtype).collected()
        elif self._holds(windows):
            near = np.flatnonzero(self.kept.values <= windows.upto.max())
            bins = self.edges.searchsorted(self.kept.values[near])
            scores = CollectedScores(self.partitions, self.dtype)
            flags: np.ndarray = np.atleast_2d(wanted).max(axis=0)
            scores.add(self.kept.those(near[flags[bins]]))
            m = self.rows.scores.shape[0]
            report_rows(m, m)
            yield from scores.each()
        else:
            yield from TileCollectPass(self.tiles, self.partitions, windows).collected()

    def _holds(self, windows: RowWindows) -> bool:
        """Whether all scores in some windows were kept while they were counted."""
        low, high = self.window
        if not low < high or len(windows.first) > 2 or not len(windows.upto):
            return False
        above = np.nan_to_num(windows.above, nan=-np.inf).min()
        if above < low or windows.upto.max() > high:
            return False
        inside = (self.edges > low) & (self.edges <= high)
        return len(self.kept.values) == int(self.total[inside].sum())

    def _windows(self, wanted: np.ndarray) -> RowWindows:
        """Return the windows of wanted bins, with a row for each fold of the probe, or one row."""
        firsts, lasts = zip(*map(runs_of, wanted), strict=True)
        first, last = np.concatenate(firsts), np.concatenate(lasts)
        above = np.where(first > 0, self.edges[first - 1], np.nan)
        return RowWindows(
            np.concatenate([[0], np.cumsum([len(x) for x in firsts])]),
            rounded_down(above, self.dtype),
            rounded_down(self.edges[last], self.dtype),
            int(self.total[wanted.any(axis=0)].sum()),
        )


def _divided(old: np.ndarray, new: np.ndarray, bins: slice, between: np.ndarray) -> np.ndarray:
    """Return counts of bins along the last axis, some divided at the ends of other bins.

    The new counts are of all scores; `between` are the new bins that end inside the old ones.
    """
    before = old[..., : bins.start].sum(axis=-1, keepdims=True)
    inside = old[..., bins].sum(axis=-1, keepdims=True)
    reached = np.cumsum(new, axis=-1)[..., between]
    parts = np.diff(np.concatenate([before, reached, before + inside], axis=-1), axis=-1)
    return np.concatenate([old[..., : bins.start], parts, old[..., bins.stop :]], axis=-1)


def _some_rows(scores: Scores) -> Scores:
    """Return a few rows from all over the scores, which are computed alone."""
    m = scores.shape[0]
    return scores.select(probes=np.unique(np.linspace(0, m - 1, min(m, SAMPLE_ROWS)).astype(int)))
