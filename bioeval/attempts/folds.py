"""Verification in folds: the attempts of parts of the templates, from the same scores.

The test part of a fold has the attempts whose templates are both in it, and its training part those
with neither; pairs across the two are used by neither. Where the attempts fit, a part is a filter
of the sorted list. Else one look counts all scores by cell, and by the folds of both templates, and
a second one takes the scores of the cells in which thresholds fall.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.cells import CellCounts, rounded_down
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.lists import Attempts, distinct, increasing, runs
from bioeval.attempts.looks import CountedAttempts
from bioeval.attempts.squares import Squares
from bioeval.attempts.threshold_rules import Rule, wanted_cells
from bioeval.attempts.tiles import Rows, SquareTiles, Tile
from bioeval.base.progress import report_rows
from bioeval.kernels import folds as kernel
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import Block, BlockReader, threads_for

# Scores of which each part is a filter of the sorted list: of more, it takes longer than counting.
LISTED = 1 << 16

# Wide cells of a table, at most and at least, and its entries.
MOST_CELLS, LEAST_CELLS, ENTRIES = 1 << 12, 1 << 8, 1 << 20


@dataclass(frozen=True)
class Subset:
    """The part of a fold: both templates are inside it (test), or neither is (training)."""

    fold: int
    inside: bool = True


class Placed(NamedTuple):
    """Scores in increasing order, with their rows and positions."""

    scores: np.ndarray
    rows: np.ndarray
    positions: np.ndarray

    def those(self, chosen: np.ndarray) -> Placed:
        """Return some of the scores."""
        return Placed(*(x[chosen] for x in self))

    @classmethod
    def of(cls, scores: np.ndarray, rows: np.ndarray, positions: np.ndarray) -> Placed:
        """Put distances in order; NaN is left out."""
        order = np.argsort(scores)
        order = order[: np.count_nonzero(~np.isnan(scores))]
        return cls(scores[order], rows[order], positions[order])


@dataclass(eq=False)
class Division:
    """One division of the templates into folds, numbered from 0."""

    #: int64 (m,) and (n,): the fold of each row, and of each position of a row.
    probe: np.ndarray
    gallery: np.ndarray

    @cached_property
    def folds(self) -> int:
        """Number of folds."""
        return int(max(self.probe.max(), self.gallery.max())) + 1

    def of(self, placed: Placed) -> Callable[[Subset], np.ndarray]:
        """Return what gives the scores of a part, of placed ones."""
        sides = self.probe[placed.rows], self.gallery[placed.positions]

        def of_part(part: Subset) -> np.ndarray:
            inside = [side == part.fold for side in sides]
            both = inside[0] & inside[1] if part.inside else ~(inside[0] | inside[1])
            return placed.scores[both]

        return of_part


class FoldAttempts:
    """The attempts of parts of divisions of the templates of a matrix.

    - `codes`: the fold of each probe and of each gallery template, of each division. With
      ``templates="multi"`` all templates of a subject in the gallery must be in one fold.
    """

    def __init__(
        self,
        reader: BlockReader,
        templates: str,
        fusion: str,
        codes: Sequence[tuple[np.ndarray, np.ndarray]],
    ):
        self.reader, self.multi, self.fusion = reader, templates == "multi", fusion
        gallery = reader.gallery
        self.divisions = []
        for probe, fold in codes:
            if gallery.order is not None:
                fold = fold[gallery.order]
            if self.multi:
                fold = fold[gallery.starts[:-1]]
            self.divisions.append(Division(probe.astype(np.int64), fold.astype(np.int64)))

    def of_parts(self, parts: Sequence[Sequence[Subset]], rule: Rule) -> list[list[Attempts]]:
        """Return the attempts of parts of each division, as far as a rule needs them."""
        with threads_for(self.reader.scores):
            if math.prod(self.reader.scores.shape) <= LISTED:
                return self._listed(parts)
            return _Counted(self, parts, rule).attempts()

    def _listed(self, parts: Sequence[Sequence[Subset]]) -> list[list[Attempts]]:
        """Return the attempts of parts as filters of the sorted list."""
        both: list[list[tuple[np.ndarray, ...]]] = [[], []]
        for block in self.reader.blocks():
            part = self.of_block(block)
            row, position = part.own()
            both[0].append((part.values[row, position], row + part.low, position))
            impostors = part.impostors()
            place = np.indices(impostors.shape, dtype=np.int32).reshape(2, -1)
            both[1].append((impostors.reshape(-1), place[0] + part.low, place[1]))
        genuine, impostor = (Placed.of(*map(np.concatenate, zip(*x, strict=True))) for x in both)
        attempts = []
        for division, its in zip(self.divisions, parts, strict=True):
            of_genuine, of_impostor = division.of(genuine), division.of(impostor)
            attempts.append([self._attempts(of_genuine(x), of_impostor(x)) for x in its])
        self.report_no_look()
        return attempts

    @property
    def rejected(self) -> bool:
        """Whether failed comparisons are attempts."""
        return self.reader.scores.nan == "reject"

    def _attempts(self, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return attempts of increasing distances."""
        if self.rejected:
            return Attempts.with_failures(scored(genuine), scored(impostor))
        return Attempts.ordered(genuine, impostor)

    def report_no_look(self) -> None:
        """Report the rows of a second look that is not needed: two are expected."""
        m = self.reader.scores.shape[0]
        report_rows(m, m)

    def of_block(self, block: Block) -> Block:
        """Return a block of distances to templates, or to subjects."""
        return block.fused(self.fusion) if self.multi else block


class _Counted:
    """Parts whose attempts are counted in two looks."""

    def __init__(self, of: FoldAttempts, parts: Sequence[Sequence[Subset]], rule: Rule):
        self.of, self.parts, self.rule = of, parts, rule
        reader, divisions = of.reader, of.divisions
        self.plain = not of.multi or of.fusion == "min"
        squares = Squares.of(reader) if self.plain else None
        self.tiles: Any = Rows(reader) if squares is None else SquareTiles(squares)
        self.dtype = self.tiles.dtype if self.plain else np.dtype(np.float64)
        #: Finds the cells of scores, and expects where the points are, of a rate.
        genuine = self.tiles.genuine if self.plain else None
        own = None if genuine is None else genuine[of.multi]
        self.kind = CountedAttempts(
            self.dtype, PointsWanted.of_rule(rule), np.empty(0), own, rejected=of.rejected
        )
        folds = max(x.folds for x in divisions)
        most = max(LEAST_CELLS, min(MOST_CELLS, ENTRIES // (folds * len(divisions))))
        self.kind.place(self._sample(), self.tiles.size, most)
        if rule.name not in ("eer", "far"):
            self.kind.kept_cells[:] = False
        #: Folds of rows and of positions, in the order of the tiles.
        self.probe = np.array([x.probe for x in divisions])
        self.gallery = np.array([x.gallery for x in divisions])
        self.tables = np.zeros(
            (3, len(divisions), folds, len(self.kind.kept_cells)), dtype=np.int64
        )
        #: Impostor attempts that failed, by fold as the tables.
        self.failed = np.zeros(self.tables.shape[:3], dtype=np.int64)
        self.genuine = Placed(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))

    def _sample(self) -> list[np.ndarray]:
        if self.plain:
            sample = self.tiles.sample()[self.of.multi]
            if sample:
                return sample
        block = self.of.of_block(self.of.reader.block(0, min(16, self.of.reader.scores.shape[0])))
        return [block.impostors().reshape(-1)]

    def attempts(self) -> list[list[Attempts]]:
        """Return the attempts of all parts."""
        found: list[tuple[np.ndarray, np.ndarray]] = []
        genuine: list[tuple[np.ndarray, ...]] = []
        kept: list[Placed] = []
        self._look(lambda: self._counter(found, kept), genuine)
        self.tables = sum((x for x, _ in found), start=self.tables)
        self.failed = sum((x for _, x in found), start=self.failed)
        self.tables[..., -1] = 0  # NaN
        none = np.empty(0, self.dtype), np.empty(0, np.int64), np.empty(0, np.int64)
        if isinstance(self.tiles, SquareTiles):
            genuine = [self.tiles.squares.placed(multi=self.of.multi)]
        self.genuine = Placed.of(*map(np.concatenate, zip(none, *genuine, strict=True)))
        wanted, given = np.zeros(len(self.kind.kept_cells), dtype=bool), 0
        if self.rule.name == "fixed":
            given = int(self.kind.cells_of(rounded_down(np.array(self.rule.values), self.dtype))[0])
        tables, failed = np.moveaxis(self.tables, 1, 0), np.moveaxis(self.failed, 1, 0)
        own = [division.of(self.genuine) for division in self.of.divisions]
        for k, parts in enumerate(self.parts):
            for part in parts:
                (scores, missed), counts = self._scored(own[k](part)), _of_part(tables[k], part)
                cells = self.kind.cells_of(scores)
                both = missed, int(_of_part(failed[k], part))
                wanted |= wanted_cells(self.rule, cells, counts, given, both)
        kept = [x.those(wanted[self.kind.cells_of(x.scores)]) for x in kept]
        missing = wanted & ~self.kind.kept_cells
        if missing.any():
            self.tiles.with_mates = False
            self._look(lambda: self._keeper(missing, kept), None)
        else:
            self.of.report_no_look()
        near = Placed.of(*map(np.concatenate, zip(none, *kept, strict=True)))
        attempts = []
        for k, parts in enumerate(self.parts):
            known = self.of.divisions[k].of(near)
            attempts.append(
                [
                    self._of_part(
                        own[k](part),
                        known(part),
                        _of_part(tables[k], part),
                        wanted,
                        int(_of_part(failed[k], part)),
                    )
                    for part in parts
                ]
            )
        return attempts

    def _scored(self, distances: np.ndarray) -> tuple[np.ndarray, int]:
        """Return increasing scores, and how many attempts failed."""
        if not self.of.rejected:
            return distances, 0
        scores = increasing(scored(distances))
        return scores, len(distances) - len(scores)

    def _of_part(
        self,
        genuine: np.ndarray,
        known: np.ndarray,
        counts: np.ndarray,
        held: np.ndarray,
        failed: int,
    ) -> Attempts:
        """Return the attempts of a part, whose impostor scores in held cells are known."""
        scores, missed = self._scored(genuine)
        genuine = scores.astype(np.float64)
        values, starts = runs(known.astype(np.float64))
        weights = np.diff(starts, append=len(known))
        missing = np.append(0, np.cumsum(np.where(held, 0, counts)))
        accepted = np.cumsum(weights) + missing[self.kind.cells_of(values)]
        within = np.append(0, np.cumsum(weights))
        # Up to a genuine score in another cell there are at least so many.
        marks = distinct(genuine)
        below = missing[self.kind.cells_of(marks)]
        left, right = (within[values.searchsorted(marks, side=x)] for x in ("left", "right"))

        def reached(threshold: float) -> int:
            cell = self.kind.cells_of(rounded_down(np.array([threshold]), self.dtype))[0]
            return int(missing[cell] + within[values.searchsorted(threshold, side="right")])

        return Attempts(
            genuine,
            values,
            accepted - weights,
            accepted,
            int(counts.sum()),
            missed,
            failed,
            marks=marks,
            at_marks=np.array([below + left, below + right]),
            counted_cells=self._in_cells(counts),
            reached=reached,
        )

    def _in_cells(self, counts: np.ndarray) -> CellCounts:
        """Return about how many scores are in cells of one width."""
        filled = np.flatnonzero(counts)
        largest = np.finfo(np.float64).max
        upper = np.clip(self.kind.about(filled), -largest, largest)
        return CellCounts.of(upper, counts[filled], upper[:0])

    # -- looks

    def _look(self, take: Callable[[], Any], genuine: list[tuple[np.ndarray, ...]] | None) -> None:
        """Look at all tiles; of rows, the genuine scores are gathered on the way, if wanted."""
        if self.plain:
            self.tiles.visit(lambda: self._of_tile(take(), genuine))
            return
        look = take()
        for block in self.of.reader.blocks():
            fused = self.of.of_block(block)
            row, position = fused.own()
            if genuine is not None:
                genuine.append((fused.values[row, position], row + fused.low, position))
            values = np.ascontiguousarray(fused.impostors(), self.dtype)
            rows = np.arange(fused.low, fused.low + len(values))
            look(values, rows, np.arange(values.shape[1]), turned=False)

    def _of_tile(
        self, look: Callable[..., None], genuine: list[tuple[np.ndarray, ...]] | None
    ) -> Callable[[Tile], None]:
        """Return what looks at a tile, at the scores of its templates or of its subjects."""
        multi = self.of.multi

        def at(tile: Tile) -> None:
            sides = [side for side in (tile.rows, tile.columns) if side is not None]
            if genuine is not None and isinstance(self.tiles, Rows):
                mates, rows = sides[0].mates, sides[0].rows
                mated = np.flatnonzero(mates.number > 0)
                group = self.of.reader.gallery.probe_group[rows[mated]]
                assert tile.own is not None
                genuine.append((mates.best[mated], rows[mated], group) if multi else tile.own)
            scores = tile.fused() if multi else [tile.values] * len(sides)
            for k, (values, side) in enumerate(zip(scores, sides, strict=True)):
                candidates = side.groups if multi else side.positions
                look(values, side.rows, candidates, turned=k == 1)

        return at

    def _counter(
        self, found: list[tuple[np.ndarray, np.ndarray]], kept: list[Placed]
    ) -> Callable[..., None]:
        """Return what counts the scores of a tile, and keeps those where points are expected."""
        tables, failed = np.zeros_like(self.tables), np.zeros_like(self.failed)
        found.append((tables, failed))
        held = self.kind.kept_cells
        room = _Room(self.dtype, kept)

        def look(
            values: np.ndarray, rows: np.ndarray, candidates: np.ndarray, *, turned: bool
        ) -> None:
            folds = self.probe[:, rows], self.gallery[:, candidates]
            by = (tables[1], tables[0], tables[2]) if turned else tuple(tables)
            with_folds = folds[::-1] if turned else folds
            if self.of.rejected:
                h, w = (x.shape[1] for x in with_folds)
                where = np.nonzero(values[:h, :w] == np.inf)
                values = scored(values)
                pairs = [x[:, i] for x, i in zip(with_folds, where, strict=True)]
                for k, (a, b) in enumerate(zip(*pairs, strict=True)):
                    of = (failed[1], failed[0], failed[2]) if turned else tuple(failed)
                    np.add.at(of[0][k], a, 1)
                    np.add.at(of[1][k], b, 1)
                    np.add.at(of[2][k], a[a == b], 1)
            room.keep(
                lambda *places: kernel.count_by_fold(
                    values, self.kind.centre, self.kind.window, *with_folds, by, held, *places
                ),
                values.size, rows, candidates, turned,
            )  # fmt: skip

        return look

    def _keeper(self, wanted: np.ndarray, kept: list[Placed]) -> Callable[..., None]:
        """Return what keeps the scores of a tile in wanted cells."""
        room = _Room(self.dtype, kept)

        def look(
            values: np.ndarray, rows: np.ndarray, candidates: np.ndarray, *, turned: bool
        ) -> None:
            sizes = (len(candidates), len(rows)) if turned else (len(rows), len(candidates))
            values = scored(values) if self.of.rejected else values
            room.keep(
                lambda *places: kernel.keep_wanted(
                    values, self.kind.centre, self.kind.window, wanted, sizes, *places
                ),
                values.size, rows, candidates, turned,
            )  # fmt: skip

        return look


class _Room:
    """Room for the scores that a thread keeps of a tile, and their rows and positions."""

    def __init__(self, dtype: np.dtype, kept: list[Placed]):
        self.scores, self.places = np.empty(0, dtype), np.empty((2, 0), dtype=np.int32)
        self.kept = kept

    def keep(
        self,
        write: Callable[..., int],
        size: int,
        rows: np.ndarray,
        candidates: np.ndarray,
        turned: bool,
    ) -> None:
        """Keep what a loop writes down."""
        if len(self.scores) <= size:
            self.scores = np.empty(size + 1, self.scores.dtype)
            self.places = np.empty((2, size + 1), dtype=np.int32)
        number = write(self.scores, *self.places)
        row, column = self.places[:, :number]
        row, column = (column, row) if turned else (row, column)
        scores = self.scores[:number].copy()
        self.kept.append(
            Placed(scores, rows[row].astype(np.int32), candidates[column].astype(np.int32))
        )


def _of_part(tables: np.ndarray, part: Subset) -> np.ndarray:
    """Return the impostor scores of a part by cell, from tables by probe, gallery and both."""
    by_probe, by_gallery, within = tables[:, part.fold]
    if part.inside:
        return within
    return tables[0].sum(axis=0) - by_probe - by_gallery + within
