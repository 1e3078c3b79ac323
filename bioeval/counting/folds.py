"""Verification in folds: the attempts of parts of the templates, from the same scores.

The test part of a fold has the attempts whose templates are both in it, and its training part those
with neither; pairs across the two are used by neither. Where the attempts fit, a part is a filter
of the sorted list. Else one look counts all scores by cell, and by the folds of both templates, and
a second one takes the scores of the cells in which thresholds fall.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, NamedTuple, Self

import numpy as np

from bioeval.counting.cells import EvenCounts
from bioeval.counting.counted import AttemptCounter
from bioeval.counting.floats import rounded_down
from bioeval.counting.parts import ListParts, PairParts, Parts, TileParts
from bioeval.counting.reduce import Reducer
from bioeval.counting.sorted_attempts import (
    Attempts,
    CountedAttempts,
    CountedScores,
    PointsWanted,
    increasing,
    runs,
)
from bioeval.counting.threshold_rules import Rule, wanted_cells
from bioeval.kernels import folds as kernel
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import Block

# Wide cells of a table, at most and at least, and its entries.
MOST_CELLS, LEAST_CELLS, ENTRIES = 1 << 12, 1 << 8, 1 << 18

# What an entry of int32 counts to, before it is added to one of 64 bits.
MOST_COUNTED = (1 << 31) - 1


Side = Literal["left", "right"]

#: int16 (divisions, ...): the folds of the probes of a block, and of its candidates.
Folds = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Subset:
    """The part of a fold: both templates are inside it (test), or neither is (training).

    That of no fold is everything.
    """

    fold: int | None = None
    inside: bool = True


class Placed(NamedTuple):
    """Distances in increasing order, and which fold each side is in, of each division."""

    distances: np.ndarray
    probe: np.ndarray  # integer (divisions, k)
    gallery: np.ndarray

    def those(self, chosen: np.ndarray) -> Placed:
        """Return some of the distances."""
        return Placed(self.distances[chosen], self.probe[:, chosen], self.gallery[:, chosen])

    @classmethod
    def joined(cls, parts: Sequence[Placed], divisions: int, dtype: np.dtype) -> Placed:
        """Put parts in order; NaN is left out."""
        none = cls(np.empty(0, dtype), *np.empty((2, divisions, 0), np.int16))
        every = [none, *parts]
        distances = np.concatenate([x.distances for x in every])
        order = np.argsort(distances)
        order = order[: np.count_nonzero(~np.isnan(distances))]
        sides = (np.concatenate([x[k] for x in every], axis=1)[:, order] for k in (1, 2))
        return cls(distances[order], *sides)

    def within(self, division: int, part: Subset) -> np.ndarray:
        """Return which distances are in a part of a division."""
        if part.fold is None:
            return np.ones(len(self.distances), dtype=bool)
        inside = self.probe[division] == part.fold, self.gallery[division] == part.fold
        return inside[0] & inside[1] if part.inside else ~(inside[0] | inside[1])

    def of(self, division: int, part: Subset) -> np.ndarray:
        """Return the distances of a part of a division."""
        return self.distances[self.within(division, part)]


class Counted(NamedTuple):
    """What a look has counted of a part: its genuine scores, and impostor scores by cell."""

    genuine: np.ndarray  # float64, increasing
    cells: np.ndarray  # of the genuine scores
    counts: np.ndarray  # int64: impostor scores in each cell
    missed: int  # genuine, and impostor attempts that failed
    failed: int


class FoldCounts(NamedTuple):
    """Attempts by the folds of probe and gallery, and those accepted, int64 (folds, folds)."""

    genuine_attempts: np.ndarray
    genuine_accepted: np.ndarray
    impostor_attempts: np.ndarray
    impostor_accepted: np.ndarray


class FoldAttempts(Reducer):
    """The attempts of parts of divisions of the templates, as far as some rules need them.

    A fold may be any set of templates, such as those of the people of a group.

    Parameters
    ----------
    fusion : str, optional
        As of :class:`bioeval.counting.verification.CollectAttempts`. Fused, all templates of a
        subject in the gallery must be in one fold.
    codes : sequence of pairs of ndarray
        The fold of each probe and of each gallery template, from 0, of each division; of listed
        pairs, of both sides of each pair.
    parts : sequence of sequences of tuples of Subset
        The parts of each division that are wanted; a threshold is chosen on the first of those
        beside each other, and asked of all of them.
    *rules : Rule
        What chooses the thresholds.
    """

    lists_fewer = True  # cells of counts serve all folds, and a sorted list each of them alone

    def __init__(
        self,
        fusion: str | None,
        codes: Sequence[tuple[np.ndarray, np.ndarray]],
        parts: Sequence[Sequence[tuple[Subset, ...]]],
        *rules: Rule,
    ):
        self.fusion, self.parts, self.rules = fusion, parts, rules
        #: int16 (divisions, m) and (divisions, n): the folds of probes and of gallery templates.
        self.probe, self.gallery = (np.array([x[k] for x in codes], np.int16) for k in (0, 1))
        self.folds = 1 + int(max(self.probe.max(), self.gallery.max()))
        self.kept: list[Placed] = []
        #: int32 (sides, ...): what was counted of blocks, and of mirror images, or of both at once;
        #: in the last there is room for scores. And how many scores it has.
        self.recent: list[np.ndarray] = []
        self.counted = MOST_COUNTED

    def prepare(self, parts: Parts) -> None:
        """Take the genuine scores, and expect by a sample where thresholds are."""
        mates, scores, divisions = parts.mates, parts.scores, len(self.probe)
        self.rejected, self.dtype = mates.rejected, parts.dtype
        self.few = parts.few or isinstance(parts, PairParts)  # which are in memory anyway
        if self.fusion not in (None, "best"):
            self.dtype = np.dtype(np.float64)
        probe, column, distance = mates.probe, mates.gallery, mates.distance
        if self.fusion is not None:
            self.of_person = np.zeros((divisions, len(scores.codes.values)), np.int16)
            self.of_person[:, scores.codes.gallery] = self.gallery
            distance = mates.fused(self.fusion)
            probe = np.flatnonzero(~np.isnan(distance))
            distance, folds = distance[probe], self.of_person[:, scores.codes.probe[probe]]
        else:
            folds = self.gallery[:, column]
        mated = Placed(distance, self.probe[:, probe], folds)
        self.genuine = Placed.joined([mated], divisions, self.dtype)
        self.counting = False
        if self.few:
            return
        genuine, missed = self._scored(self.genuine.distances)
        wanted = PointsWanted.of_rule(self.rules[0])
        self.kind = AttemptCounter(self.dtype, wanted, np.empty(0), genuine, missed)
        most = max(LEAST_CELLS, min(MOST_CELLS, ENTRIES // (self.folds**2 * divisions)))
        assert not isinstance(parts, ListParts)  # which have no scores
        blocks = parts.sample() or [parts.first()]
        sample = [x.ravel() for block in blocks for x in self._scores(block)]
        self.kind.place(sample, parts.size, most)
        if {"eer", "far"}.isdisjoint(rule.name for rule in self.rules):
            self.kind.kept_cells[:] = False
        shape = divisions, self.folds, self.folds
        self.sides = 1 + (isinstance(parts, TileParts) and parts.squares.symmetric)
        #: Impostor scores by the folds of probe and gallery, and by cell; and those that failed.
        self.tables = np.zeros((*shape, len(self.kind.kept_cells)), dtype=np.int64)
        self.failed = np.zeros(shape, dtype=np.int64)
        self.counting, self.wanted = True, self.kind.kept_cells

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = super().fresh()
        other.kept, other.recent, other.counted = [], [], MOST_COUNTED
        if self.counting:
            other.failed = np.zeros_like(self.failed)
        return other

    def merge(self, other: Self) -> None:
        """Add what a copy has counted and kept."""
        self.kept += other.kept
        if self.counting:
            self.failed += other.failed
            for tables in other.recent:
                for side, table in enumerate(tables):
                    if side == 0 or self.fusion is None:
                        self.tables += table
                    if side == 1:
                        self.tables += table.swapaxes(1, 2)

    def _scores(self, block: Block) -> Iterator[np.ndarray]:
        """Yield the scores of a block, NaN where there is none."""
        for side in block.sides():
            yield (side if self.fusion is None else side.by_person(self.fusion)).scores()[0]

    def add(self, block: Block) -> None:
        """Keep the distances of a block, or count them by fold."""
        for side in [block] if self.fusion is None else block.sides():
            made = side if self.fusion is None else side.by_person(self.fusion)
            of = self.gallery if self.fusion is None else self.of_person
            folds = self.probe[:, made.probes], of[:, made.candidates]
            values = made.values
            if self.few:
                places = np.nonzero(~np.isnan(values))
                self._keep(values[places], made, folds, places[0], places[-1])
                continue
            if self.rejected:
                if self.counting:
                    self._add_failed(made, folds)
                values = scored(values)
            self._count(np.ascontiguousarray(values, self.dtype), made, folds)

    def _keep(
        self, values: np.ndarray, block: Block, folds: Folds, row: np.ndarray, column: np.ndarray
    ) -> None:
        """Keep distances of a block, with the folds of both sides."""
        if block.turned:
            row, column = column, row
        sides = folds[0][:, row], folds[1][:, column]
        self.kept.append(Placed(values, *sides))
        if block.twice:
            self.kept.append(Placed(values, *sides[::-1]))

    def _count(self, values: np.ndarray, block: Block, folds: Folds) -> None:
        """Count scores by cell and fold, and keep those in wanted cells."""
        room = np.empty(values.size + 1, self.dtype)
        places = np.empty((2, len(room)), dtype=np.int32)
        kind, (rows, columns) = self.kind, folds[::-1] if block.turned else folds
        if self.counting:
            self.counted += values.size
            if self.counted > MOST_COUNTED:
                self.recent.append(np.zeros((self.sides, *self.tables.shape), dtype=np.int32))
                self.counted = values.size
            table = self.recent[-1][int(block.turned or block.twice)]
            number = kernel.count_by_fold(
                values,
                kind.cells.centre,
                kind.cells.window,
                rows,
                columns,
                table,
                self.wanted,
                room,
                *places,
            )
        else:
            sizes = rows.shape[1], columns.shape[1]
            number = kernel.keep_wanted(
                values, kind.cells.centre, kind.cells.window, self.wanted, sizes, room, *places
            )
        if number:
            self._keep(room[:number].copy(), block, folds, *places[:, :number])

    def _add_failed(self, block: Block, folds: Folds) -> None:
        """Count the attempts that failed."""
        row, column = np.nonzero(block.by_probe == np.inf)
        for k, (probe, gallery) in enumerate(zip(*folds, strict=True)):
            np.add.at(self.failed[k], (probe[row], gallery[column]), 1)
            if block.twice:
                np.add.at(self.failed[k], (gallery[column], probe[row]), 1)

    def finish_pass(self) -> bool:
        """Find the thresholds; return whether some are in cells whose scores were not kept."""
        if not self.counting:
            return False
        self.counting = False
        self.tables[..., -1] = 0  # NaN
        kind, scores = self.kind, self.genuine.distances
        self.cells = kind.cells.places_of(scored(scores) if self.rejected else scores)
        self.of_parts = [
            {part: self._part(k, part) for beside in parts for part in beside}
            for k, parts in enumerate(self.parts)
        ]
        given = [self._cell_of(x.values[0]) if x.name == "fixed" else 0 for x in self.rules]
        wanted = np.zeros(len(kind.kept_cells), dtype=bool)
        #: The cells, by number, in which the threshold of parts beside each other may lie.
        self.held: list[list[np.ndarray]] = []
        for k, parts in enumerate(self.parts):
            self.held.append([])
            for beside in parts:
                x = self.of_parts[k][beside[0]]
                of_part = np.zeros_like(wanted)
                for rule, at in zip(self.rules, given, strict=True):
                    of_part |= wanted_cells(rule, x.cells, x.counts, at, (x.missed, x.failed))
                self.held[k].append(np.flatnonzero(of_part))
                wanted |= of_part
        self.kept = [x.those(wanted[kind.cells.places_of(x.distances)]) for x in self.kept]
        self.wanted = wanted & ~kind.kept_cells
        return bool(self.wanted.any())

    def _part(self, k: int, part: Subset) -> Counted:
        """Return what was counted of a part."""
        counts = []
        for table, (by_probe, by_gallery, every) in zip(
            (self.tables[k], self.failed[k]), self._sums[k], strict=True
        ):
            if part.fold is None:
                counts.append(every)
                continue
            within = table[part.fold, part.fold]
            outside = every - by_probe[part.fold] - by_gallery[part.fold] + within
            counts.append(within if part.inside else outside)
        inside = self.genuine.within(k, part)
        scores, missed = self._scored(self.genuine.distances[inside])
        cells = self.cells[inside][: len(scores)]
        return Counted(scores.astype(np.float64), cells, counts[0], missed, int(counts[1]))

    @cached_property
    def _sums(self) -> list[list[tuple[np.ndarray, ...]]]:
        """Of each division, the tables summed by the fold of the probe, the gallery, and in all."""
        return [
            [(x.sum(axis=1), x.sum(axis=0), x.sum(axis=(0, 1))) for x in both]
            for both in zip(self.tables, self.failed, strict=True)
        ]

    def result(self) -> list[list[list[Attempts]]]:
        """Return the attempts of the parts of each division."""
        self.near = near = Placed.joined(self.kept, len(self.probe), self.dtype)
        if self.few:
            return [
                [[self._listed(self.genuine.of(k, x), near.of(k, x)) for x in y] for y in parts]
                for k, parts in enumerate(self.parts)
            ]
        cells = self.kind.cells.places_of(near.distances)  # which increase
        made: list[list[list[Attempts]]] = []
        for k, parts in enumerate(self.parts):
            made.append([])
            for beside, held in zip(parts, self.held[k], strict=True):
                some = near.those(_places_of(held, cells))
                made[k].append([self._counted(k, x, some.of(k, x), held) for x in beside])
        return made

    def by_fold(self, threshold: float) -> FoldCounts:
        """Return the attempts of the folds of the first division, after the result.

        The threshold is one that was chosen on everything; NaN accepts nothing.
        """
        at, n = rounded_down(np.array([threshold]), self.dtype), self.folds

        def counted(placed: Placed, *, failures: bool) -> tuple[np.ndarray, np.ndarray]:
            accepted = (scored(placed.distances) if failures else placed.distances) <= at
            place = placed.probe[0].astype(np.int64) * n + placed.gallery[0]
            made = np.bincount(place, minlength=n * n).reshape(n, n)
            return made, np.bincount(place[accepted], minlength=n * n).reshape(n, n)

        genuine = counted(self.genuine, failures=self.rejected)
        near, cell = self.near, 0
        if not self.few:  # of the scores in the cells before, there are numbers alone
            cell = 0 if np.isnan(threshold) else self._cell_of(threshold)
            near = near.those(self.kind.cells.places_of(near.distances) == cell)
        failures = self.rejected and self.few  # else no failure was kept, and infinite ones are
        made, accepted = counted(near, failures=failures)
        if not self.few:
            made = self.tables[0].sum(axis=-1) + self.failed[0]
            accepted = accepted + self.tables[0, ..., :cell].sum(axis=-1)
        return FoldCounts(*genuine, made, accepted)

    def _cell_of(self, threshold: float) -> int:
        return int(self.kind.cells.places_of(rounded_down(np.array([threshold]), self.dtype))[0])

    def _listed(self, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return attempts of increasing distances."""
        if self.rejected:
            return Attempts.with_failures(scored(genuine), scored(impostor))
        return Attempts.ordered(genuine, impostor)

    def _scored(self, distances: np.ndarray) -> tuple[np.ndarray, int]:
        """Return increasing scores, and how many attempts failed."""
        if not self.rejected:
            return distances, 0
        scores = increasing(scored(distances))
        return scores, len(distances) - len(scores)

    def _counted(self, k: int, part: Subset, known: np.ndarray, held: np.ndarray) -> Attempts:
        """Return the attempts of a part, whose impostor scores in held cells are known."""
        genuine, genuine_cells, counts, missed, failed = self.of_parts[k][part]
        values, within = runs(known.astype(np.float64))
        before = np.append(0, np.cumsum(counts))
        held_before = np.append(0, np.cumsum(counts[held]))

        def upto(thresholds: np.ndarray, cells: np.ndarray, side: Side = "right") -> np.ndarray:
            missing = before[cells] - held_before[held.searchsorted(cells)]
            return missing + within[values.searchsorted(thresholds, side=side)]

        accepted = upto(values, self.kind.cells.places_of(values))
        scores, first = runs(genuine)
        genuine_cells = genuine_cells[first[:-1]]
        impostors_at = np.repeat(before[None, genuine_cells], 2, axis=0)
        near = _places_of(held, genuine_cells)  # elsewhere no score is known one by one
        exact = counts[genuine_cells] == 0
        exact[near] = True
        impostors_at[0, near] = upto(scores[near], genuine_cells[near], "left")
        impostors_at[1, near] = upto(scores[near], genuine_cells[near])
        impostor = CountedScores(
            values,
            accepted - np.diff(within),
            accepted,
            int(before[-1]),
            at=scores,
            counts=impostors_at,
            dtype=np.dtype(self.dtype),
            is_exact=exact,
            count_upto=lambda x: upto(x, self.kind.cells.places_of(rounded_down(x, self.dtype))),
        )
        cells = partial(self._in_cells, counts)
        return CountedAttempts(genuine, impostor, missed, failed, count_cells=cells)

    def _in_cells(self, counts: np.ndarray) -> EvenCounts:
        """Return about how many scores are in cells of one width."""
        filled = np.flatnonzero(counts)
        largest = np.finfo(np.float64).max
        upper = np.clip(self.kind.cells.approximate_edges(filled), -largest, largest)
        return EvenCounts.from_upper(upper, counts[filled], upper[:0])


def _places_of(held: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return where increasing cells are some that are held."""
    low, high = (cells.searchsorted(held, x) for x in ("left", "right"))
    return np.concatenate([held[:0], *map(np.arange, low, high)])
