"""Verification in folds: the attempts of parts of the templates, from the same scores.

A division puts each template into a fold. The test part of a fold has the attempts with both
templates in the fold, and its training part the attempts with neither template in it; other
attempts are in neither part. With probes in the folds 0, 1, 2 and gallery templates in 0, 1, the
parts of fold 0 are::

                   gallery 0    gallery 1
    probe 0        test         -
    probe 1        -            training
    probe 2        -            training

If all attempts fit into memory, a part is selected from their sorted list. Otherwise one pass
counts all scores by cell and by the folds of both templates, and a second pass keeps the scores of
the cells with thresholds. :class:`FoldAttempts` does both.
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
        no_folds = np.empty((divisions, 0), np.int16)
        with_empty = [cls(np.empty(0, dtype), no_folds, no_folds), *parts]  # there may be no parts
        distances = np.concatenate([x.distances for x in with_empty])
        probe = np.concatenate([x.probe for x in with_empty], axis=1)
        gallery = np.concatenate([x.gallery for x in with_empty], axis=1)
        order = np.argsort(distances)
        order = order[: np.count_nonzero(~np.isnan(distances))]  # NaN is last
        return cls(distances[order], probe[:, order], gallery[:, order])

    def of_division(self, division: int, indices: np.ndarray) -> ScoresByFold:
        """Return some distances, with their folds in one division alone."""
        row = slice(division, division + 1)
        return ScoresByFold(
            self.distances[indices], self.probe[row, indices], self.gallery[row, indices]
        )

    def is_in_part(self, division: int, part: Subset) -> np.ndarray:
        """Return which distances are in a part of a division."""
        if part.fold is None:
            return np.ones(len(self.distances), dtype=bool)
        probe_inside = self.probe[division] == part.fold
        gallery_inside = self.gallery[division] == part.fold
        if part.inside:
            return probe_inside & gallery_inside
        return ~(probe_inside | gallery_inside)

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
        for one_way, *mirrored in other._recent:
            self.counts += one_way
            for table in mirrored:  # table 1, if there is one
                self.counts += table.swapaxes(1, 2)  # as the folds of probe and gallery
                # Its blocks stand for both directions; if fused, each direction is a block.
                if not is_fused:
                    self.counts += table

    @cached_property
    def _sums(self) -> list[list[tuple[np.ndarray, ...]]]:
        """Sums of each division's `counts` and `failed`.

        They are by the probe's fold, by the gallery's fold, and of all.
        """
        return [
            [(x.sum(axis=1), x.sum(axis=0), x.sum(axis=(0, 1))) for x in of_division]
            for of_division in zip(self.counts, self.failed, strict=True)
        ]

    def in_part(self, division: int, part: Subset) -> tuple[np.ndarray, int]:
        """Return the impostor scores of a part by cell, and its failed impostor attempts."""
        of_counts, of_failed = self._sums[division]
        by_cell = self._in_part(self.counts[division], of_counts, part)
        return by_cell, int(self._in_part(self.failed[division], of_failed, part))

    @staticmethod
    def _in_part(table: np.ndarray, sums: tuple[np.ndarray, ...], part: Subset) -> np.ndarray:
        """Return the numbers of a part, (...), from a table (folds, folds, ...) and its sums."""
        by_probe, by_gallery, total = sums
        if part.fold is None:
            return total
        both_inside = table[part.fold, part.fold]
        if part.inside:
            return both_inside
        # By inclusion and exclusion: neither the probe nor the gallery template is in the fold.
        return total - by_probe[part.fold] - by_gallery[part.fold] + both_inside


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
        self.fusion, self.rules = fusion, rules
        #: All tuples of parts, each after the index of its division.
        self.tuples = [
            (k, subsets) for k, of_division in enumerate(parts) for subsets in of_division
        ]
        #: int16 (divisions, m) and (divisions, n): the folds of probes and of gallery templates.
        self.probe = np.array([probe for probe, _ in codes], np.int16)
        self.gallery = np.array([gallery for _, gallery in codes], np.int16)
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
            mated = ScoresByFold(
                mates.distance, self.probe[:, mates.probe], self.gallery[:, mates.gallery]
            )
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
            self._prepare_cells(parts)

    def _prepare_cells(self, parts: Parts) -> None:
        """Choose the cells from a sample, and those whose scores are kept in the first pass."""
        blocks = parts.sample()
        if not blocks:
            assert isinstance(parts, RowParts)  # tiles have a sample, top-K lists no scores
            blocks = [parts.first()]
        divisions = len(self.probe)
        entries_of_cell = self.folds**2 * divisions
        distances = self.genuine.distances
        #: `wanted`, bool (cells + 2,): the cells whose scores are kept in this pass.
        self.cells, self.wanted, _ = choose_cells(
            [x.ravel() for block in blocks for x in self._scores(block)],
            self.dtype,
            self._without_failed(distances),
            len(distances),
            parts.size,
            targets=PointsWanted.of_rule(self.rules[0]).targets,
            number_of_cells=max(LEAST_CELLS, min(MOST_CELLS, ENTRIES // entries_of_cell)),
        )
        if {"eer", "far"}.isdisjoint(rule.name for rule in self.rules):
            self.wanted[:] = False  # the sample tells where EER and FAR targets are, no other point
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
            attempts = side if self.fusion is None else side.by_person(self.fusion)
            yield attempts.scores()[0]

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
        #: The impostor scores of each part by cell, and how many failed; by division and part.
        self.impostors_of_parts = {
            (division, part): self.tables.in_part(division, part)
            for division, subsets in self.tuples
            for part in subsets
        }
        #: For each tuple of parts, the cells in which its threshold may be.
        self.cells_with_thresholds = self._cells_with_thresholds()
        is_needed = np.zeros_like(self.wanted)
        for cells in self.cells_with_thresholds:
            is_needed[cells] = True
        self.kept = [x.select(is_needed[self.cells.cells_of(x.distances)]) for x in self.kept]
        self.wanted = is_needed & ~self.wanted  # needed, and not kept in the first pass
        return bool(self.wanted.any())

    def _cells_with_thresholds(self) -> list[np.ndarray]:
        """Return, for each tuple, the cells in which a rule may choose a threshold, increasing."""
        distances = self.genuine.distances
        number = len(self._without_failed(distances))  # failures are at the end
        scores = scored(distances) if self.rejected else distances
        genuine_cells = self.cells.cells_of(scores)[:number]
        cells_by_tuple = []
        for division, (first_part, *_) in self.tuples:
            is_in_part = self.genuine.is_in_part(division, first_part)
            by_cell, failed = self.impostors_of_parts[division, first_part]
            filled = np.flatnonzero(by_cell)
            attempts = AttemptsOfParts.of_cells(
                genuine_cells[is_in_part[:number]],
                filled,
                by_cell[filled],
                int(np.count_nonzero(is_in_part[number:])),
                failed,
            )
            cells: list[int] = []
            for rule in self.rules:
                if rule.name == "fixed":
                    cells.append(self._cell_of(rule.values[0]))
                else:
                    cells.extend(cells_of(rule, attempts).tolist())
            cells_by_tuple.append(np.unique(np.array(cells, dtype=np.int64)))
        return cells_by_tuple

    def _without_failed(self, distances: np.ndarray) -> np.ndarray:
        return increasing(scored(distances)) if self.rejected else distances

    # -- the result

    def result(self) -> Iterator[list[AttemptsOfParts]]:
        """Return, for some tuples at a time, the attempts of first parts, of second parts, ..."""
        self._encode()
        scores = len(self.genuine_code) + len(self.impostor_code)
        at_once = max(1, TOGETHER // max(scores, 1))
        indices = range(len(self.tuples))
        batches = (indices[first : first + at_once] for first in indices[::at_once])
        return (self._attempts_by_place(batch) for batch in batches)

    def _attempts_by_place(self, tuples: range) -> list[AttemptsOfParts]:
        """Return the attempts of the first parts of some tuples, of their second parts, ..."""
        of_places = []
        for place in range(len(self.tuples[tuples[0]][1])):
            parts = [(self.tuples[i][0], self.tuples[i][1][place]) for i in tuples]
            genuine, missed = self._listed(self.genuine, self.genuine_code, parts)
            if self.few:
                impostor, failed = self._listed(self.impostor, self.impostor_code, parts)
            else:
                cells = [self.cells_with_thresholds[i] for i in tuples]
                impostor, failed = self._partly_listed(parts, cells)
            of_places.append(AttemptsOfParts(genuine, impostor, missed, failed))
        return of_places

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

    def _listed(
        self, scores: ScoresByFold, codes: np.ndarray, parts: Sequence[tuple[int, Subset]]
    ) -> tuple[SortedScores, np.ndarray]:
        """Return the scores of parts of divisions, and how many of each part failed, (parts,).

        `codes` are of all scores but the failed ones, which are at the end.
        """
        keys = []  # a key is ``part * len(table) + code``, as in SortedScores
        failed = np.zeros(len(parts), dtype=np.int64)
        for k, (division, part) in enumerate(parts):
            is_in_part = scores.is_in_part(division, part)
            keys.append(k * len(self.table) + codes[is_in_part[: len(codes)]])
            failed[k] = np.count_nonzero(is_in_part[len(codes) :])
        return SortedScores.of_keys(np.concatenate(keys), self.table, len(parts)), failed

    def _partly_listed(
        self, parts: Sequence[tuple[int, Subset]], cells_with_threshold: Sequence[np.ndarray]
    ) -> tuple[PartlyListed, np.ndarray]:
        """Return the impostor scores of parts of divisions, and how many of each part failed.

        Scores are listed in the cells in which the threshold of the part may be. The other scores
        of a cell are a single entry, whose weight is their number.
        """
        cells = self.cells.cells_of(self.impostor.distances)  # increasing
        listed = []  # keys of scores, part after part
        unlisted = []  # keys of cells, and the numbers of their scores
        weights = []
        failed = np.zeros(len(parts), dtype=np.int64)
        for k, (division, part) in enumerate(parts):
            by_cell, failed[k] = self.impostors_of_parts[division, part]
            first = cells.searchsorted(cells_with_threshold[k], "left")
            end = cells.searchsorted(cells_with_threshold[k], "right")
            index = np.concatenate([np.arange(0), *map(np.arange, first, end)])
            index = index[self.impostor.of_division(division, index).is_in_part(0, part)]
            listed.append(k * len(self.table) + self.impostor_code[index])
            unlisted_by_cell = by_cell.copy()
            unlisted_by_cell[cells_with_threshold[k]] = 0
            filled = np.flatnonzero(unlisted_by_cell)
            unlisted.append(k * len(self.table) + self.code_below_cell[filled])
            weights.append(unlisted_by_cell[filled])
        keys = np.concatenate(listed)
        unlisted_keys = np.concatenate(unlisted)
        place = keys.searchsorted(unlisted_keys)
        ones = np.ones(len(keys), np.int64)
        all_keys = np.insert(keys, place, unlisted_keys)
        impostors = PartlyListed(
            all_keys,
            SortedScores.of_keys(all_keys, self.table, len(parts)).starts,
            self.table,
            weights=np.insert(ones, place, np.concatenate(weights)),
            is_listed=np.insert(ones.astype(bool), place, False),
            dtype=self.dtype,
        )
        return impostors, failed

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
