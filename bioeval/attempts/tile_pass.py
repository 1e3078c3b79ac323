"""One pass over tiles of distances between embeddings, each of which serves two sides.

A few tiles of pairs from all over the templates are a pilot that places the cells and the windows
of operating points. Then each tile is computed, and counted while it is in the cache of a core. The
facts of a probe add up over its tiles, in any order: each thread has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bioeval.attempts.cells import CellGrid, rounded_down
from bioeval.attempts.counters import HistogramWithThresholds
from bioeval.attempts.counting import Counter, KernelCounters
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.kinds import (
    NO_SECOND_PASS,
    PILOT_GROUPS,
    KindOfTemplates,
    around,
    pilot_bits,
)
from bioeval.attempts.points import moment_scale
from bioeval.attempts.second_pass import PointsWanted, SecondPass, scratch_of
from bioeval.attempts.tiled_scores import FusedTiles, TiledScores, Visit
from bioeval.base.memory import at_most
from bioeval.kernels.argument_groups import TaskFlags, VerificationTables
from bioeval.kernels.tiles import TileKind, TileOutput, TileSide, count_tile

# Scores of a line that are counted together, and tiles whose counts fit into 32 bits.
LINE, TILES_COUNTED = 1 << 12, 1 << 11

# Tiles of the pilot: at most, and one of so many where there are many; those of them that are held
# until they are counted.
PILOT_TILES, PART, HELD_TILES = 256, 80, 32

# Kept scores for which a thread has room before it sets them aside, besides those of a tile.
ROOM = 1 << 18


#: What a pass by tiles finds about the ranks of a probe, by templates and by subjects.
FACTS = (
    "closer",
    "tied",
    "tied_before",
    "subjects_closer",
    "subjects_tied",
    "subjects_tied_before",
)


def marks_of(kernel: KernelCounters, dtype: np.dtype) -> np.ndarray:
    """Return the given thresholds of counters, in the dtype of the scores."""
    for counter in kernel.attempts:
        if counter.threshold_counter is not None:
            return rounded_down(counter.threshold_counter.thresholds, dtype)
    return np.empty(0, dtype=dtype)


class KindCounts:
    """What one thread counts for verification with single or with multi templates.

    - `moments` (float (4, tiles)): common to all threads, each tile has a column
    """

    def __init__(
        self,
        cells: HistogramWithThresholds,
        second_pass: SecondPass | None,
        moments: np.ndarray,
        scale: float,
        most: int,
    ):
        """Make empty tables, with room to keep as many scores as one tile may add."""
        self.cells, self.second_pass = cells, second_pass
        self.counts = np.zeros(cells.narrow.count, dtype=np.int64)
        self.within = np.zeros(len(cells.marks), dtype=np.int64)
        self.kept: list[np.ndarray] = []
        self.most, self.room, self.tiles = most, 0, 0
        dtype = cells.marks.dtype
        if second_pass is None:
            points = NO_SECOND_PASS.tables(dtype, 1, 0)
        else:
            self.room = (ROOM + 2 * most) * bool(second_pass.windows)
            points = second_pass.tables(dtype, 1, self.room, 0, scale)
            shift = np.uint32(cells.grid.exponent - cells.narrow.exponent)
            points = points._replace(shift=shift, moments=moments)
        self.tables = VerificationTables(cells.tables(1), points)
        self.flags = (
            np.empty(0, dtype=np.uint8) if second_pass is None else self._flags(second_pass)
        )

    def _flags(self, second_pass: SecondPass) -> np.ndarray:
        """Flag the cells whose scores are kept, or that hold genuine scores to pair them with."""
        narrow = self.cells.narrow
        flags = np.zeros(narrow.count, dtype=np.uint8)
        if len(second_pass.flags):
            flags |= np.repeat(second_pass.flags, narrow.count // len(second_pass.flags))
        if second_pass.genuine is not None:
            places = narrow.places_of(second_pass.genuine.astype(np.float64))
            flags[np.clip(places, 0, narrow.count - 1).astype(np.int64)] = 1
        flags[0] = 0  # which NaN is counted in; no score may be there
        return flags

    @property
    def pairs_by_cell(self) -> int:
        """Twice the pairs of genuine scores with larger ones in cells that are not flagged."""
        if self.second_pass is None or self.second_pass.genuine is None:
            return 0
        edges = self.cells.narrow.edges
        below = np.searchsorted(self.second_pass.genuine, edges, side="right")
        return 2 * int((self.counts * below)[self.flags == 0].sum())

    def end_tile(self) -> None:
        """Set counts and kept scores aside before there is no room for those of another tile."""
        self.tiles += 1
        if self.tiles % TILES_COUNTED == 0:
            self.set_counts_aside()
        points = self.tables.points
        if points.filled[0] + self.most > self.room > 0:
            self.set_kept_aside()
            if sum(map(len, self.kept)) > at_most(PointsWanted.MOST_SCORES, 32):
                points.filled[0], self.kept = -1, []

    def set_counts_aside(self) -> None:
        """Add the counts up in 64 bits, and begin again."""
        counts, within = self.cells.counted(self.tables.counts)
        self.counts += counts
        self.within += within
        self.tables = self.tables._replace(counts=self.cells.tables(1))

    def set_kept_aside(self) -> None:
        """Copy the scores kept, and make room for more."""
        points = self.tables.points
        if points.filled[0] > 0:
            self.kept.append(points.kept[0, : points.filled[0]].copy())
            points.filled[0] = 0


class TileThread:
    """Counts the tiles of one thread; the facts of a probe add up over its tiles."""

    def __init__(self, tile_pass: TilePass, kinds: Sequence[KindCounts], tiles: int):
        """Begin with no facts; `tiles` is how many there are for all threads."""
        self.tile_pass, self.tiled, self.kinds = tile_pass, tile_pass.tiled, kinds
        tiled, dtype = self.tiled, tile_pass.dtype
        self.facts = {name: np.zeros(tiled.shape[0], dtype=np.int32) for name in FACTS}
        self.keys = np.dtype(f"i{dtype.itemsize}")
        self.other = np.full(tiled.shape[0], np.inf, dtype=dtype).view(self.keys)
        self.least = np.full(tiles, np.inf, dtype=dtype).view(self.keys)
        subjects = max(int(layers[0]) for layers in tiled.columns.layers)
        largest = max(int(side.sizes().max()) for side in (tiled.rows, tiled.columns))
        self.fused = np.empty((2, subjects * largest), dtype=dtype)
        self.scratch = scratch_of(dtype, 1, LINE)
        self.flags = tile_pass.flags

    def count(self, turn: int, i: int, j: int, tile: np.ndarray) -> None:
        """Count a tile."""
        tiled, single, multi = self.tiled, *self.kinds
        gaps = tiled.without_mates(i, j, tile)
        diagonal = tiled.symmetric and i == j
        kind = TileKind(tiled.symmetric and not diagonal, diagonal, gaps)
        layers = tiled.rows.layers[i] if tiled.symmetric else self.tile_pass.no_layers
        rows = self._side(tiled.rows[i], layers)
        across = tiled.columns[j]
        columns = self._side(across if tiled.symmetric else slice(0, 0), tiled.columns.layers[j])
        columns = columns._replace(places=tiled.column[across])
        output = TileOutput(
            single.tables, multi.tables, single.flags, multi.flags, turn, self.least
        )
        count_tile(
            tile,
            tile.view(self.keys),
            rows,
            columns,
            kind,
            self.flags,
            output,
            self.fused,
            self.fused.view(self.keys),
            self.scratch,
            tile.dtype.type(np.nan),
        )
        single.end_tile()
        multi.end_tile()

    def _side(self, places: slice, layers: np.ndarray) -> TileSide:
        """Return some templates as a side of a tile."""
        mates = self.tiled.mates
        return TileSide(
            mates.best[places],
            mates.best.view(self.keys)[places],
            mates.best_place[places],
            self.tiled.column[places],
            layers,
            other=self.other[places],
            **{name: values[places] for name, values in self.facts.items()},
        )


class TilePass:
    """A pass that fills counters of verification and identification by tiles."""

    no_layers = np.zeros(1, dtype=np.int64)

    def __init__(
        self,
        tiled: TiledScores,
        counters: Sequence[Counter[Any]],
        kernel: KernelCounters,
        wanted: PointsWanted | None,
    ):
        """Find the mates, and place cells and windows by a pilot."""
        self.tiled, self.reader, self.scores = tiled, tiled.reader, tiled.scores
        self.dtype = tiled.source.dtype
        self.kinds = [KindOfTemplates.among(x, kernel) for x in ("single", "multi")]
        self.by_template = [x for x in kernel.ranks if x.rank_unit == "template"]
        self.by_subject = [x for x in kernel.ranks if x.rank_unit == "subject"]
        single, multi = self.kinds
        self.flags = TaskFlags(
            bool(single.counters), bool(multi.counters), bool(self.by_subject), kernel.farthest
        )
        self.thresholds = marks_of(kernel, self.dtype)
        of_subjects = tiled.genuine_of_subjects(kernel.farthest)
        for kind, genuine in zip(self.kinds, (tiled.genuine, of_subjects), strict=True):
            if kind.counters and wanted is not None and len(genuine):
                kind.wanted, kind.genuine = wanted, np.sort(genuine)
        #: Whether cells could be placed.
        self.placed = self._take_pilot()

    # -- the pilot

    def _take_pilot(self) -> bool:
        """Place cells and windows by the scores of some tiles; False if no cells are exact."""
        tiled = self.tiled
        number = len(tiled.rows) * len(tiled.columns) // PART
        places = tiled.spread(min(max(HELD_TILES, number), PILOT_TILES))
        about = self._ranges(places[:HELD_TILES])
        if about is None:
            return False
        m, n = tiled.shape
        bits = pilot_bits(m * n)
        cells = []
        for counts in about:
            grid = around(counts, self.dtype)
            if grid is None:
                return False
            cells.append(HistogramWithThresholds.at(counts, grid, self.thresholds[:0], bits))
        groups = [
            self._counts_of_pilot(places[k::PILOT_GROUPS], cells) for k in range(PILOT_GROUPS)
        ]
        every = tiled.impostors
        for k, kind in enumerate(self.kinds):
            kind.pilot = about[k]
            if kind.counters:
                by_group = np.array([counts[k] for counts in groups])
                by_group = by_group[by_group.any(axis=1)]
                total = every[k] // (1 + self._twice(kind))
                kind.take_pilot(cells[k].narrow, by_group, int(by_group.sum()), of=total)
                kind.take_second_pass()
            if not kind.place_cells(kind.pilot, self.thresholds):
                return False
        return True

    def _counts_of_pilot(
        self, places: Sequence[tuple[int, int]], cells: Sequence[HistogramWithThresholds]
    ) -> list[np.ndarray]:
        """Return the counts of some tiles, single and multi, by cell."""
        threads: list[TileThread] = []

        def take() -> Visit:
            kinds = [KindCounts(x, None, np.empty((4, 0)), 1.0, 0) for x in cells]
            thread = TileThread(self, kinds, len(places))
            threads.append(thread)

            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                if self.tiled.holds_mates(i, j):
                    tile = tile.copy()  # on the diagonal it is overwritten
                thread.count(turn, i, j, tile)

            return visit

        self.tiled.visit(places, take, again=True)
        for thread in threads:
            for kind in thread.kinds:
                kind.set_counts_aside()
        none = [np.zeros(x.narrow.count, dtype=np.int64) for x in cells]
        return [
            sum((thread.kinds[k].counts for thread in threads), start=none[k])
            for k in range(len(cells))
        ]

    def _twice(self, kind: KindOfTemplates) -> bool:
        """Whether a score that is counted stands for both directions."""
        return self.tiled.symmetric and kind.templates == "single"

    def _ranges(self, places: Sequence[tuple[int, int]]) -> list[CellCounts] | None:
        """Return cells that cover the scores of some tiles, and the fused ones; None for none.

        The tiles are held.
        """
        tiled = self.tiled
        ends: list[list[float]] = [[], []]

        def take() -> Visit:
            fused = FusedTiles(tiled, farthest=self.flags.farthest)

            def visit(turn: int, i: int, j: int, tile: np.ndarray) -> None:
                if (i, j) not in tiled.held:
                    tiled.held[i, j] = tile.copy()
                tiled.without_mates(i, j, tile)
                for k, scores in enumerate(([tile], fused.of(i, j, tile))):
                    for some in scores:
                        there = some[some == some]
                        if len(there):
                            ends[k] += [float(there.min()), float(there.max())]

            return visit

        tiled.visit(places, take, again=True)
        if not (ends[0] and ends[1] and np.isfinite(ends[0]).all()):
            return None
        cells = []
        for its in ends:
            grid = CellGrid.covering(min(its), max(its))
            cells.append(CellCounts(grid.exponent, grid.first, np.ones(grid.count, np.int64)))
        return cells

    # -- counting

    def run(self) -> dict[Counter[Any], SecondPass] | None:
        """Fill the counters; return the second passes, or None if some score had no cell."""
        tiled = self.tiled
        places = tiled.places(range(len(tiled.rows)))
        moments, scales = [], []
        for kind in self.kinds:
            wants = kind.second_pass is not None and kind.second_pass.with_moments
            moments.append(np.zeros((4, len(places) * wants)))
            scales.append(moment_scale(*kind.pilot.range) if kind.pilot is not None else 1.0)
        threads: list[TileThread] = []

        def take() -> Visit:
            counts = []
            for k, kind in enumerate(self.kinds):
                assert kind.cells is not None
                counts.append(
                    KindCounts(
                        kind.cells, kind.second_pass, moments[k], scales[k], tiled.tiles.size
                    )
                )
            threads.append(TileThread(self, counts, len(places)))
            return threads[-1].count

        tiled.visit(places, take, progress=True)
        of_kinds, complete = {}, True
        for k, kind in enumerate(self.kinds):
            counts = [thread.kinds[k] for thread in threads]
            its = counts_of(kind, counts, moments[k], scales[k], twice=self._twice(kind))
            complete &= its.pop("complete")
            of_kinds[str(k)] = its
        if not complete:
            return None
        genuine = tiled.genuine, tiled.genuine_of_subjects(self.flags.farthest)
        for kind, scores in zip(self.kinds, genuine, strict=True):
            for counter in kind.counters:
                counter.genuine.append(scores)
        second_passes = include_kinds(self.kinds, of_kinds, complete=True)
        facts = {name: np.zeros(tiled.shape[0], dtype=np.int64) for name in FACTS}
        other = np.full(tiled.shape[0], np.inf, dtype=self.dtype)
        for thread in threads:
            for name, values in thread.facts.items():
                facts[name] += values
            other = np.minimum(other, thread.other.view(self.dtype))
        self._include_facts(facts, other)
        least = np.minimum.reduce([thread.least.view(self.dtype) for thread in threads])
        tiled.least = dict(zip(places, least.tolist(), strict=True))
        return second_passes

    def _include_facts(self, counted: dict[str, np.ndarray], other: np.ndarray) -> None:
        """Write the facts of all probes."""
        tiled, mates, n = self.tiled, self.tiled.mates, self.tiled.shape[1]
        sizes = np.diff(self.reader.gallery.starts)
        group = tiled.rows.subjects
        others = n - np.where(group >= 0, sizes[group], 0)
        mated = mates.number > 0
        common = {
            "mate": np.where(mated, mates.best.astype(np.float64), np.nan),
            "other": np.where(others > 0, other.astype(np.float64), np.nan),
        }
        facts = {name: values * mated for name, values in counted.items()}
        by_template = {
            **{name: facts[name] for name in FACTS[:3]},
            "mates_tied": mates.tied,
            "mates": mates.number,
            "others": others,
        }
        by_subject = {
            **{name: facts[f"subjects_{name}"] for name in FACTS[:3]},
            "mates_tied": mated,
            "mates": mated,
            "others": len(sizes) - (group >= 0),
        }
        for counters, values in ((self.by_template, by_template), (self.by_subject, by_subject)):
            for counter in counters:
                for name, array in {**common, **values}.items():
                    getattr(counter.facts, name)[tiled.row] = array


def counts_of(
    kind: KindOfTemplates,
    threads: Sequence[KindCounts],
    moments: np.ndarray,
    scale: float,
    *,
    twice: bool = False,
) -> dict[str, Any]:
    """Return what all threads have counted, and whether it is complete: every score has a cell."""
    cells, times = kind.cells, 1 + twice
    assert cells is not None
    by_narrow = np.zeros(cells.narrow.count, dtype=np.int64)
    within = np.zeros(len(cells.marks), dtype=np.int64)
    for x in threads:
        x.set_counts_aside()
        x.set_kept_aside()
        by_narrow += times * x.counts
        within += times * x.within
    grid, narrow = cells.grid, cells.narrow
    by_cell = by_narrow.reshape(grid.count, -1).sum(axis=1)
    complete = not (by_cell[0] or by_cell[-2] or by_cell[-1])
    counts: dict[str, Any] = {
        "complete": complete,
        "cells": CellCounts(grid.exponent, grid.first + 1, by_cell[1:-2]).fitted(),
        "between": np.diff(within[kind.given], prepend=0, append=by_narrow.sum()),
    }
    if kind.second_pass is not None:
        found = kind.second_pass.fresh()
        if complete:
            found.include_tiles([x.tables.points for x in threads], moments, scale)
            found.pairs += sum(x.pairs_by_cell for x in threads)
            if found.windows:
                found.kept = [scores for x in threads for scores in x.kept]
            found.include_cells(CellCounts(narrow.exponent, narrow.first, by_narrow))
        if twice:
            found.count_twice()
        found.up_to = within[kind.divided]
        counts["points"] = found.counts()
    return counts


def include_kinds(
    kinds: Sequence[KindOfTemplates], counts: dict[str, Any], *, complete: bool
) -> dict[Counter[Any], SecondPass]:
    """Fill the counters with the counts of all tiles; return the second passes that saw all."""
    second_passes: dict[Counter[Any], SecondPass] = {}
    for kind, its in zip(kinds, counts.values(), strict=True):
        if kind.second_pass is not None and complete:
            kind.second_pass.include_counts(its["points"])
        for counter in kind.counters:
            counter.cells.include(its["cells"])
            if counter.threshold_counter is not None:
                counter.threshold_counter.counts += its["between"]
            if kind.second_pass is not None and complete:
                second_passes[counter] = kind.second_pass
    return second_passes
