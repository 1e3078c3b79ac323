"""Verification in folds: the attempts of parts of the templates, from the same scores.

A division puts each template into a fold. The test part of a fold has the attempts with both
templates in the fold, and its training part the attempts with neither template in it; other
attempts are in neither part. If all attempts fit into memory, a part is selected from their sorted
list. Otherwise one pass counts all scores by cell and by the folds of both templates, and a second
pass keeps the scores of the cells with thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from bioeval.counting.cells import choose_cells
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.order import increasing, rounded_down
from bioeval.counting.parts import PairParts, Parts, RowParts
from bioeval.counting.reduce import Reducer
from bioeval.counting.sorted_scores import PartlyListed, SortedScores
from bioeval.counting.threshold_rules import PointsWanted, Rule, cells_of
from bioeval.counting.tiles import TileParts
from bioeval.kernels import verification as kernel
from bioeval.scores.blocks import Block
from bioeval.scores.distances import scored

# The largest count of an int32 entry, before the table is added to 64 bits.
MOST_COUNTED = (1 << 31) - 1


@dataclass(frozen=True)
class Subset:
    """The attempts with both templates inside a fold (test), or neither (training).

    The subset of no fold has all attempts.
    """

    fold: int | None = None
    inside: bool = True


class ScoresByFold(NamedTuple):
    """Distances in increasing order, and the folds of both templates in each division."""

    distances: np.ndarray  # (k,)
    probe: np.ndarray  # integer (divisions, k): fold of the probe
    gallery: np.ndarray  # integer (divisions, k): fold of the gallery template

    def select(self, is_chosen: np.ndarray) -> ScoresByFold:
        return ScoresByFold(
            self.distances[is_chosen], self.probe[:, is_chosen], self.gallery[:, is_chosen]
        )

    @classmethod
    def joined(cls, parts: Sequence[ScoresByFold], divisions: int, dtype: np.dtype) -> ScoresByFold:
        """Return the distances of all parts in order, without NaN."""
        empty = cls(np.empty(0, dtype), *np.empty((2, divisions, 0), np.int16))
        with_empty = [empty, *parts]
        distances = np.concatenate([x.distances for x in with_empty])
        order = np.argsort(distances)
        order = order[: np.count_nonzero(~np.isnan(distances))]
        folds = (np.concatenate([x[k] for x in with_empty], axis=1)[:, order] for k in (1, 2))
        return cls(distances[order], *folds)

    def of_division(self, division: int, indices: np.ndarray) -> ScoresByFold:
        """Return some distances, with their folds in one division alone."""
        folds = (x[division : division + 1, indices] for x in (self.probe, self.gallery))
        return ScoresByFold(self.distances[indices], *folds)

    def is_in_part(self, division: int, part: Subset) -> np.ndarray:
        """Return which distances are in a part of a division."""
        if part.fold is None:
            return np.ones(len(self.distances), dtype=bool)
        probe_inside = self.probe[division] == part.fold
        gallery_inside = self.gallery[division] == part.fold
        return probe_inside & gallery_inside if part.inside else ~(probe_inside | gallery_inside)

    def number_by_folds(self, folds: int) -> np.ndarray:
        """Return the number of distances of each pair of folds of the first division."""
        fold_pair = self.probe[0].astype(np.int64) * folds + self.gallery[0]
        return np.bincount(fold_pair, minlength=folds * folds).reshape(folds, folds)


class FoldTables:
    """Impostor scores by the folds of probe and gallery, and by cell; and failed attempts.

    Threads count in int32 tables. Table 0 is for most blocks, table 1 for blocks that are mirror
    images, or stand for their mirror images, too.

    - `counts` (int64 (divisions, folds, folds, cells)): of the threads that were merged
    - `failed` (int64 (divisions, folds, folds))
    """

    def __init__(self, divisions: int, folds: int, cells: int, tables: int):
        self.counts = np.zeros((divisions, folds, folds, cells), dtype=np.int64)
        self.failed = np.zeros(self.counts.shape[:-1], dtype=np.int64)
        self._tables = tables
        self._recent: list[np.ndarray] = []  # int32 (tables, *counts.shape); the last is not full
        self._recent_number = 0  # scores counted in the last

    def fresh(self) -> FoldTables:
        empty = copy(self)
        empty.counts = np.zeros_like(self.counts)
        empty.failed = np.zeros_like(self.failed)
        empty._recent = []
        return empty

    def table_for(self, size: int, table: int) -> np.ndarray:
        """Return table 0 or 1 of a thread, with room for `size` more scores."""
        self._recent_number += size
        if not self._recent or self._recent_number > MOST_COUNTED:
            self._recent.append(np.zeros((self._tables, *self.counts.shape), dtype=np.int32))
            self._recent_number = size
        return self._recent[-1][table]

    def add_failed(self, probe: np.ndarray, gallery: np.ndarray) -> None:
        """Add failed attempts by the folds (divisions, k) of their probes and templates."""
        for failed, *folds in zip(self.failed, probe, gallery, strict=True):
            np.add.at(failed, tuple(folds), 1)

    def merge(self, other: FoldTables, *, is_fused: bool) -> None:
        self.failed += other.failed
        self.counts += other.counts  # of copies that were merged before
        for tables in other._recent:
            for k, table in enumerate(tables):
                # Table 1 has attempts in both directions; if fused, each direction is a block.
                if k == 0 or not is_fused:
                    self.counts += table
                if k == 1:
                    self.counts += table.swapaxes(1, 2)

    @cached_property
    def _sums(self) -> list[list[tuple[np.ndarray, ...]]]:
        """Sums of each division's tables: by the probe's fold, by the gallery's fold, of all."""
        return [
            [(x.sum(axis=1), x.sum(axis=0), x.sum(axis=(0, 1))) for x in both]
            for both in zip(self.counts, self.failed, strict=True)
        ]

    def in_part(self, division: int, part: Subset) -> tuple[np.ndarray, int]:
        """Return the impostor scores of a part by cell, and its failed impostor attempts."""
        tables = self.counts[division], self.failed[division]
        numbers = []
        for table, (by_probe, by_gallery, total) in zip(tables, self._sums[division], strict=True):
            if part.fold is None:
                numbers.append(total)
                continue
            both_inside = table[part.fold, part.fold]
            # By inclusion and exclusion: neither the probe nor the gallery template is in the fold.
            both_outside = total - by_probe[part.fold] - by_gallery[part.fold] + both_inside
            numbers.append(both_inside if part.inside else both_outside)
        return numbers[0], int(numbers[1])


# The largest and the smallest number of cells of a table, and the number of its entries.
MOST_CELLS = 1 << 12
LEAST_CELLS = 1 << 8
ENTRIES = 1 << 18

# The most scores in the lists of the parts that are judged together, which take memory.
TOGETHER = 1 << 20

#: int16 (divisions, ...): the folds of the probes, and of the candidates, of a block.
Folds = tuple[np.ndarray, np.ndarray]


class FoldCounts(NamedTuple):
    """Attempts, and accepted attempts, by the folds of probe and gallery, int64 (folds, folds)."""

    genuine_attempts: np.ndarray
    genuine_accepted: np.ndarray
    impostor_attempts: np.ndarray
    impostor_accepted: np.ndarray


class FoldAttempts(Reducer):
    """The attempts of parts of divisions of the templates, as far as some rules need them.

    A division puts each template into a fold, which may be any set of templates, such as the
    templates of a group of people.

    - `fusion`: if templates are fused, all gallery templates of a subject must be in one fold
    - `codes`: for each division, the fold of each probe and of each gallery template, from 0; if
      pairs are listed, the folds of both sides of each pair
    - `parts`: for each division, the wanted parts in tuples; a threshold is chosen on the first
      part of a tuple, and applied to all parts of the tuple
    - `rules`: the rules by which thresholds are chosen
    """

    lists_fewer = True  # counts by cell are shared by all folds, a sorted list is not

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
        self.kept: list[ScoresByFold] = []
        self.impostor: ScoresByFold  # the kept impostor scores, after `result`

    # -- before a pass

    def prepare(self, parts: Parts) -> None:
        self.rejected = parts.mates.rejected
        self.dtype = parts.dtype if self.fusion in (None, "best") else np.dtype(np.float64)
        codes = parts.scores.codes
        if self.fusion is not None:
            #: int16 (divisions, people): the fold of each person of the gallery, by code.
            self.person_fold = np.zeros((len(self.probe), len(codes.values)), np.int16)
            self.person_fold[:, codes.gallery] = self.gallery
        mates = parts.mates
        if self.fusion is None:
            sides = self.probe[:, mates.probe], self.gallery[:, mates.gallery]
            mated = ScoresByFold(mates.distance, *sides)
        else:
            claims = mates.fused(self.fusion)
            probe = np.flatnonzero(~np.isnan(claims))
            person_fold = self.person_fold[:, codes.probe[probe]]
            mated = ScoresByFold(claims[probe], self.probe[:, probe], person_fold)
        self.genuine = ScoresByFold.joined([mated], len(self.probe), self.dtype)
        self.few = parts.few or isinstance(parts, PairParts)  # pairs are in memory anyway
        #: Whether scores are counted by cell: in the first pass, unless they are few.
        self.counting = not self.few
        if self.counting:
            divisions = len(self.probe)
            blocks = parts.sample()
            if not blocks:
                assert isinstance(parts, RowParts)  # tiles have a sample, top-K lists no scores
                blocks = [parts.first()]
            distances = self.genuine.distances
            #: `wanted`, bool (cells + 2,): the cells whose scores are kept in this pass.
            self.cells, self.wanted, _ = choose_cells(
                [x.ravel() for block in blocks for x in self._scores(block)],
                self.dtype,
                self._without_failed(distances),
                len(distances),
                parts.size,
                targets=PointsWanted.of_rule(self.rules[0]).targets,
                number_of_cells=max(
                    LEAST_CELLS, min(MOST_CELLS, ENTRIES // (self.folds**2 * divisions))
                ),
            )
            if {"eer", "far"}.isdisjoint(rule.name for rule in self.rules):
                self.wanted[:] = False
            is_symmetric = isinstance(parts, TileParts) and parts.symmetric
            self.tables = FoldTables(divisions, self.folds, len(self.wanted), 1 + is_symmetric)

    # -- a pass

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.kept = []
        if self.counting:
            empty.tables = self.tables.fresh()
        return empty

    def merge(self, other: Self) -> None:
        self.kept += other.kept
        if self.counting:
            self.tables.merge(other.tables, is_fused=self.fusion is not None)

    def _scores(self, block: Block) -> Iterator[np.ndarray]:
        for side in block.sides():
            yield (side if self.fusion is None else side.by_person(self.fusion)).scores()[0]

    def add(self, block: Block) -> None:
        if self.fusion is None:
            self._add(block, self.gallery)
            return
        for side in block.sides():
            self._add(side.by_person(self.fusion), self.person_fold)

    def _add(self, block: Block, fold_of_candidate: np.ndarray) -> None:
        folds = self.probe[:, block.probes], fold_of_candidate[:, block.candidates]
        values = block.values
        if self.few:
            cells = np.nonzero(~np.isnan(values))
            self._keep(values[cells], block, folds, cells[0], cells[-1])
            return
        if self.rejected:
            if self.counting:
                row, column = np.nonzero(block.by_probe == np.inf)
                sides = folds[0][:, row], folds[1][:, column]
                self.tables.add_failed(*sides)
                if block.twice:
                    self.tables.add_failed(*sides[::-1])
            values = scored(values)
        self._count(np.ascontiguousarray(values, self.dtype), block, folds)

    def _keep(
        self, values: np.ndarray, block: Block, folds: Folds, row: np.ndarray, column: np.ndarray
    ) -> None:
        if block.transposed:
            row, column = column, row
        sides = folds[0][:, row], folds[1][:, column]
        self.kept.append(ScoresByFold(values, *sides))
        if block.twice:
            self.kept.append(ScoresByFold(values, *sides[::-1]))

    def _count(self, values: np.ndarray, block: Block, folds: Folds) -> None:
        room = np.empty(values.size + 1, self.dtype)
        places = np.empty((2, len(room)), dtype=np.int32)  # rows and columns of kept scores
        row_folds, column_folds = folds[::-1] if block.transposed else folds
        cells = self.cells.centre, self.cells.window
        if self.counting:
            table = self.tables.table_for(values.size, int(block.transposed or block.twice))
            number_kept = kernel.count_by_fold(
                values, *cells, row_folds, column_folds, table, self.wanted, room, *places
            )
        else:
            sizes = row_folds.shape[1], column_folds.shape[1]
            number_kept = kernel.keep_wanted(values, *cells, self.wanted, sizes, room, *places)
        if number_kept:
            self._keep(room[:number_kept].copy(), block, folds, *places[:, :number_kept])

    def finish_pass(self) -> bool:
        """Find the cells with thresholds; return whether scores of these cells are missing."""
        if not self.counting:
            return False
        self.counting = False
        self.tables.counts[..., -1] = 0  # NaN
        distances = self.genuine.distances
        genuine_cells = self.cells.cells_of(scored(distances) if self.rejected else distances)
        number = len(self._without_failed(distances))  # failures are at the end
        #: For each division, by part: its impostor scores in each cell, and how many failed.
        self.impostors_of_parts: list[dict[Subset, tuple[np.ndarray, int]]] = []
        #: For each tuple of parts, the cells in which its threshold may be.
        self.cells_with_thresholds: list[list[np.ndarray]] = []
        for division, parts in enumerate(self.parts):
            subsets_of_division = {part for subsets in parts for part in subsets}
            impostors = {x: self.tables.in_part(division, x) for x in subsets_of_division}
            self.impostors_of_parts.append(impostors)
            self.cells_with_thresholds.append([])
            for subsets in parts:
                is_in_part = self.genuine.is_in_part(division, subsets[0])
                missed = int(np.count_nonzero(is_in_part[number:]))
                by_cell, failed = impostors[subsets[0]]
                filled = np.flatnonzero(by_cell)
                attempts = AttemptsOfParts.of_cells(
                    genuine_cells[:number][is_in_part[:number]], filled, by_cell[filled],
                    missed, failed,
                )  # fmt: skip
                of_rules = [
                    [self._cell_of(x.values[0])] if x.name == "fixed" else cells_of(x, attempts)
                    for x in self.rules
                ]
                with_threshold = np.unique(np.concatenate(of_rules).astype(np.int64))
                self.cells_with_thresholds[division].append(with_threshold)
        was_kept = self.wanted
        is_needed = np.zeros_like(was_kept)
        for cells_of_division in self.cells_with_thresholds:
            for cells in cells_of_division:
                is_needed[cells] = True
        self.kept = [x.select(is_needed[self.cells.cells_of(x.distances)]) for x in self.kept]
        self.wanted = is_needed & ~was_kept
        return bool(self.wanted.any())

    def _without_failed(self, distances: np.ndarray) -> np.ndarray:
        return increasing(scored(distances)) if self.rejected else distances

    # -- the result

    def result(self) -> Iterator[list[AttemptsOfParts]]:
        """Return, for some tuples at a time, the attempts of first parts, of second parts, ..."""
        self._encode()
        tuples = [(k, x, i) for k, parts in enumerate(self.parts) for i, x in enumerate(parts)]
        at_once = max(1, TOGETHER // max(len(self.genuine_code) + len(self.impostor_code), 1))
        runs = (tuples[i : i + at_once] for i in range(0, len(tuples), at_once))
        return ([self._attempts(run, place) for place in range(len(run[0][1]))] for run in runs)

    def _encode(self) -> None:
        """Put all scores without failures, which are at the end, into a table; find their codes.

        A score of a cell is unlisted unless the cell was kept, with its failures left out. Unlisted
        scores have a code below the scores of their cell, and above those of the cells before.
        """
        self.impostor = ScoresByFold.joined(self.kept, len(self.probe), self.dtype)
        genuine = self._without_failed(self.genuine.distances).astype(np.float64)
        impostor = self.impostor.distances
        if self.few:
            impostor = self._without_failed(impostor)
        impostor = impostor.astype(np.float64)
        table = np.union1d(genuine, impostor)
        below_cells = np.empty(0)
        if not self.few:
            fixed = [x for rule in self.rules if rule.name == "fixed" for x in rule.values]
            table = np.union1d(table, [-np.inf, *fixed])
            cells_of_table = self.cells.cells_of(rounded_down(table, self.dtype))
            cells_of_table[0] = -1
            first_in_cell = cells_of_table.searchsorted(np.arange(len(self.wanted)))
            with np.errstate(over="ignore"):  # after the largest number
                below_cells = np.nextafter(table[first_in_cell - 1], np.inf)
            table = np.union1d(table, below_cells)
        self.table = table
        self.genuine_code, self.impostor_code, self.code_below_cell = (
            table.searchsorted(x) for x in (genuine, impostor, below_cells)
        )

    def _attempts(
        self, tuples: Sequence[tuple[int, tuple[Subset, ...], int]], place: int
    ) -> AttemptsOfParts:
        """Return the attempts of the parts at a place of some tuples.

        A tuple is given with its division, and its index among the tuples of the division.
        """
        codes = len(self.table)
        genuine: list[np.ndarray] = []  # the keys of the scores of each part
        listed: list[np.ndarray] = []
        unlisted = [np.empty(0, dtype=np.int64)]
        numbers = [np.empty(0, dtype=np.int64)]  # of the scores that an unlisted key stands for
        failed = np.zeros((2, len(tuples)), dtype=np.int64)
        cells = None if self.few else self.cells.cells_of(self.impostor.distances)  # increasing
        for k, (division, subsets, index) in enumerate(tuples):
            part = subsets[place]
            is_in_part = self.genuine.is_in_part(division, part)
            is_scored, is_failed = np.split(is_in_part, [len(self.genuine_code)])
            genuine.append(k * codes + self.genuine_code[is_scored])
            failed[0, k] = np.count_nonzero(is_failed)
            if cells is None:
                is_in_part = self.impostor.is_in_part(division, part)
                is_scored, is_failed = np.split(is_in_part, [len(self.impostor_code)])
                listed.append(k * codes + self.impostor_code[is_scored])
                failed[1, k] = np.count_nonzero(is_failed)
                continue
            by_cell, failed[1, k] = self.impostors_of_parts[division][part]
            kept_cells = self.cells_with_thresholds[division][index]
            ends = (cells.searchsorted(kept_cells, side) for side in ("left", "right"))
            kept = np.concatenate([kept_cells[:0], *map(np.arange, *ends)])
            kept = kept[self.impostor.of_division(division, kept).is_in_part(0, part)]
            listed.append(k * codes + self.impostor_code[kept])
            number_by_cell = by_cell.copy()
            number_by_cell[kept_cells] = 0
            filled = np.flatnonzero(number_by_cell)
            unlisted.append(k * codes + self.code_below_cell[filled])
            numbers.append(number_by_cell[filled])
        keys = np.concatenate(listed)
        impostors = SortedScores.of_keys(keys, self.table, len(tuples))
        if not self.few:
            unlisted_keys = np.concatenate(unlisted)
            at = keys.searchsorted(unlisted_keys)
            ones = np.ones(len(keys), np.int64)
            weights = np.insert(ones, at, np.concatenate(numbers))
            is_listed = np.insert(ones.astype(bool), at, False)
            keys = np.insert(keys, at, unlisted_keys)
            starts = SortedScores.of_keys(keys, self.table, len(tuples)).starts
            impostors = PartlyListed(keys, starts, self.table, weights, is_listed, self.dtype)
        genuine_scores = SortedScores.of_keys(np.concatenate(genuine), self.table, len(tuples))
        return AttemptsOfParts(genuine_scores, impostors, *failed)

    def by_fold(self, threshold: float) -> FoldCounts:
        """Return the attempts by the folds of the first division, after :meth:`result`.

        The threshold was chosen on all attempts; NaN accepts nothing.
        """
        folds = self.folds
        accepted = self._accepted(self.genuine, threshold, has_failed=self.rejected)
        genuine = self.genuine.number_by_folds(folds), accepted.number_by_folds(folds)
        if self.few:
            accepted = self._accepted(self.impostor, threshold, has_failed=self.rejected)
            attempts = self.impostor.number_by_folds(folds)
            return FoldCounts(*genuine, attempts, accepted.number_by_folds(folds))
        # Scores in the cells before the threshold's cell were counted, not kept.
        cell = 0 if np.isnan(threshold) else self._cell_of(threshold)
        in_cell = self.impostor.select(self.cells.cells_of(self.impostor.distances) == cell)
        accepted = self._accepted(in_cell, threshold, has_failed=False)
        in_cells_before = self.tables.counts[0, ..., :cell].sum(axis=-1)
        attempts = self.tables.counts[0].sum(axis=-1) + self.tables.failed[0]
        return FoldCounts(*genuine, attempts, accepted.number_by_folds(folds) + in_cells_before)

    def _accepted(
        self, attempts: ScoresByFold, threshold: float, *, has_failed: bool
    ) -> ScoresByFold:
        distances = scored(attempts.distances) if has_failed else attempts.distances
        return attempts.select(distances <= rounded_down(np.array([threshold]), self.dtype))

    def _cell_of(self, threshold: float) -> int:
        return int(self.cells.cells_of(rounded_down(np.array([threshold]), self.dtype))[0])
