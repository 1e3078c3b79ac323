"""Verification in folds: the attempts of parts of the templates, from the same scores.

The test part of a fold has the attempts with both templates in the fold, and its training part the
attempts with neither template in it; other attempts are in neither part. If all attempts fit into
memory, a part is selected from their sorted list. Otherwise one pass counts all scores by cell and
by the folds of both templates, and a second pass keeps the scores of the cells with thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np

from bioeval.counting.counted import AttemptCounter
from bioeval.counting.floats import rounded_down
from bioeval.counting.order import increasing, runs
from bioeval.counting.parts import ListParts, PairParts, Parts, TileParts
from bioeval.counting.reduce import Reducer
from bioeval.counting.sorted_attempts import Attempts, CountedAttempts, CountedScores
from bioeval.counting.threshold_rules import Rule, wanted_cells
from bioeval.counting.wanted_points import PointsWanted
from bioeval.kernels import folds as kernel
from bioeval.scores.blocks import Block
from bioeval.scores.distances import scored

# The largest and the smallest number of cells of a table, and the number of its entries.
MOST_CELLS = 1 << 12
LEAST_CELLS = 1 << 8
ENTRIES = 1 << 18

# The largest count of an int32 entry, before the table is added to 64 bits.
MOST_COUNTED = (1 << 31) - 1


Side = Literal["left", "right"]

#: int16 (divisions, ...): the folds of the probes, and of the candidates, of a block.
Folds = tuple[np.ndarray, np.ndarray]


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

    def is_in_part(self, division: int, part: Subset) -> np.ndarray:
        """Return which distances are in a part of a division."""
        if part.fold is None:
            return np.ones(len(self.distances), dtype=bool)
        probe_inside = self.probe[division] == part.fold
        gallery_inside = self.gallery[division] == part.fold
        return probe_inside & gallery_inside if part.inside else ~(probe_inside | gallery_inside)

    def distances_in(self, division: int, part: Subset) -> np.ndarray:
        return self.distances[self.is_in_part(division, part)]


class PartCounts(NamedTuple):
    """A part after the first pass: its genuine scores, and its impostor scores by cell."""

    genuine: np.ndarray  # float64 (k,), increasing
    genuine_cells: np.ndarray  # (k,): the cell of each genuine score
    counts: np.ndarray  # int64 (cells,): impostor scores in each cell
    missed: int  # genuine attempts that failed
    failed: int  # impostor attempts that failed


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

    Parameters
    ----------
    fusion : str, optional
        As of :class:`bioeval.counting.verification.CollectAttempts`. If templates are fused, all
        gallery templates of a subject must be in one fold.
    codes : sequence of pairs of ndarray
        For each division, the fold of each probe and of each gallery template, from 0; if pairs
        are listed, the folds of both sides of each pair.
    parts : sequence of sequences of tuples of Subset
        For each division, the wanted parts in tuples; a threshold is chosen on the first part of a
        tuple, and applied to all parts of the tuple.
    *rules : Rule
        The rules by which thresholds are chosen.
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
        #: int32 (sides, divisions, folds, folds, cells): side 0 counts blocks, and side 1 blocks
        #: that stand for their mirror images, too, or are mirror images. The last table has counted
        #: `number_in_table` scores, and may count more.
        self.recent: list[np.ndarray] = []
        self.number_in_table = MOST_COUNTED

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        scores = parts.scores
        divisions = len(self.probe)
        self.rejected = mates.rejected
        self.dtype = parts.dtype
        self.few = parts.few or isinstance(parts, PairParts)  # pairs are in memory anyway
        if self.fusion not in (None, "best"):
            self.dtype = np.dtype(np.float64)
        probe = mates.probe
        template = mates.gallery
        distance = mates.distance
        if self.fusion is not None:
            self.person_fold = np.zeros((divisions, len(scores.codes.values)), np.int16)
            self.person_fold[:, scores.codes.gallery] = self.gallery
            distance = mates.fused(self.fusion)
            probe = np.flatnonzero(~np.isnan(distance))
            distance = distance[probe]
            folds = self.person_fold[:, scores.codes.probe[probe]]
        else:
            folds = self.gallery[:, template]
        mated = ScoresByFold(distance, self.probe[:, probe], folds)
        self.genuine = ScoresByFold.joined([mated], divisions, self.dtype)
        self.counting = False
        if self.few:
            return
        genuine, missed = self._scores_and_failed(self.genuine.distances)
        points = PointsWanted.of_rule(self.rules[0])
        self.counter = AttemptCounter(self.dtype, points, np.empty(0), genuine, missed)
        number_of_cells = max(LEAST_CELLS, min(MOST_CELLS, ENTRIES // (self.folds**2 * divisions)))
        assert not isinstance(parts, ListParts)  # top-K lists have no scores
        blocks = parts.sample() or [parts.first()]
        sample = [x.ravel() for block in blocks for x in self._scores(block)]
        self.counter.choose_cells(sample, parts.size, number_of_cells)
        if {"eer", "far"}.isdisjoint(rule.name for rule in self.rules):
            self.counter.kept_cells[:] = False
        shape = divisions, self.folds, self.folds
        self.sides = 1 + (isinstance(parts, TileParts) and parts.tiled.symmetric)
        #: Impostor scores by the folds of probe and gallery, and by cell; and failed attempts.
        self.tables = np.zeros((*shape, len(self.counter.kept_cells)), dtype=np.int64)
        self.failed = np.zeros(shape, dtype=np.int64)
        self.counting = True
        self.wanted = self.counter.kept_cells

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.kept = []
        empty.recent = []
        empty.number_in_table = MOST_COUNTED
        if self.counting:
            empty.failed = np.zeros_like(self.failed)
        return empty

    def merge(self, other: Self) -> None:
        self.kept += other.kept
        if self.counting:
            self.failed += other.failed
            for tables in other.recent:
                for side, table in enumerate(tables):
                    # Side 1 has attempts in both directions; if fused, each direction is a block.
                    if side == 0 or self.fusion is None:
                        self.tables += table
                    if side == 1:
                        self.tables += table.swapaxes(1, 2)

    def _scores(self, block: Block) -> Iterator[np.ndarray]:
        for side in block.sides():
            yield (side if self.fusion is None else side.by_person(self.fusion)).scores()[0]

    def add(self, block: Block) -> None:
        for side in [block] if self.fusion is None else block.sides():
            ranked = side if self.fusion is None else side.by_person(self.fusion)
            fold_of_gallery = self.gallery if self.fusion is None else self.person_fold
            folds = self.probe[:, ranked.probes], fold_of_gallery[:, ranked.candidates]
            values = ranked.values
            if self.few:
                places = np.nonzero(~np.isnan(values))
                self._keep(values[places], ranked, folds, places[0], places[-1])
                continue
            if self.rejected:
                if self.counting:
                    self._add_failed(ranked, folds)
                values = scored(values)
            self._count(np.ascontiguousarray(values, self.dtype), ranked, folds)

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
        places = np.empty((2, len(room)), dtype=np.int32)
        rows, columns = folds[::-1] if block.transposed else folds
        cells = self.counter.cells.centre, self.counter.cells.window
        if self.counting:
            self.number_in_table += values.size
            if self.number_in_table > MOST_COUNTED:
                self.recent.append(np.zeros((self.sides, *self.tables.shape), dtype=np.int32))
                self.number_in_table = values.size
            table = self.recent[-1][int(block.transposed or block.twice)]
            number = kernel.count_by_fold(
                values, *cells, rows, columns, table, self.wanted, room, *places
            )
        else:
            sizes = rows.shape[1], columns.shape[1]
            number = kernel.keep_wanted(values, *cells, self.wanted, sizes, room, *places)
        if number:
            self._keep(room[:number].copy(), block, folds, *places[:, :number])

    def _add_failed(self, block: Block, folds: Folds) -> None:
        row, column = np.nonzero(block.by_probe == np.inf)
        for k, (probe, gallery) in enumerate(zip(*folds, strict=True)):
            np.add.at(self.failed[k], (probe[row], gallery[column]), 1)
            if block.twice:
                np.add.at(self.failed[k], (gallery[column], probe[row]), 1)

    def finish_pass(self) -> bool:
        """Find the cells with thresholds; return whether scores of these cells are missing."""
        if not self.counting:
            return False
        self.counting = False
        self.tables[..., -1] = 0  # NaN
        counter = self.counter
        scores = self.genuine.distances
        self.cells = counter.cells.cells_of(scored(scores) if self.rejected else scores)
        self.counts_of_parts = [
            {part: self._part(k, part) for subsets in parts for part in subsets}
            for k, parts in enumerate(self.parts)
        ]
        cell_of_rule = [self._cell_of(x.values[0]) if x.name == "fixed" else 0 for x in self.rules]
        is_needed = np.zeros(len(counter.kept_cells), dtype=bool)
        #: For each tuple of parts, the cells in which its threshold may be.
        self.cells_with_thresholds: list[list[np.ndarray]] = []
        for k, parts in enumerate(self.parts):
            self.cells_with_thresholds.append([])
            for subsets in parts:
                part = self.counts_of_parts[k][subsets[0]]
                failures = part.missed, part.failed
                is_needed_by_part = np.zeros_like(is_needed)
                for rule, cell in zip(self.rules, cell_of_rule, strict=True):
                    is_needed_by_part |= wanted_cells(
                        rule, part.genuine_cells, part.counts, cell, failures
                    )
                self.cells_with_thresholds[k].append(np.flatnonzero(is_needed_by_part))
                is_needed |= is_needed_by_part
        self.kept = [x.select(is_needed[counter.cells.cells_of(x.distances)]) for x in self.kept]
        self.wanted = is_needed & ~counter.kept_cells
        return bool(self.wanted.any())

    def _part(self, k: int, part: Subset) -> PartCounts:
        impostors = []  # impostor scores by cell, and failed impostor attempts
        for table, (by_probe, by_gallery, total) in zip(
            (self.tables[k], self.failed[k]), self._sums[k], strict=True
        ):
            if part.fold is None:
                impostors.append(total)
                continue
            both_inside = table[part.fold, part.fold]
            # By inclusion and exclusion: neither the probe nor the gallery template is in the fold.
            both_outside = total - by_probe[part.fold] - by_gallery[part.fold] + both_inside
            impostors.append(both_inside if part.inside else both_outside)
        is_in_part = self.genuine.is_in_part(k, part)
        scores, missed = self._scores_and_failed(self.genuine.distances[is_in_part])
        cells = self.cells[is_in_part][: len(scores)]
        return PartCounts(scores.astype(np.float64), cells, impostors[0], missed, int(impostors[1]))

    @cached_property
    def _sums(self) -> list[list[tuple[np.ndarray, ...]]]:
        """Sums of each division's tables: by the probe's fold, by the gallery's fold, of all."""
        return [
            [(x.sum(axis=1), x.sum(axis=0), x.sum(axis=(0, 1))) for x in both]
            for both in zip(self.tables, self.failed, strict=True)
        ]

    def result(self) -> list[list[list[Attempts]]]:
        self.impostor = impostors = ScoresByFold.joined(self.kept, len(self.probe), self.dtype)
        if self.few:
            return [
                [[self._attempts_of_list(k, x, impostors) for x in subsets] for subsets in parts]
                for k, parts in enumerate(self.parts)
            ]
        cells = self.counter.cells.cells_of(impostors.distances)  # increasing, as the distances
        attempts: list[list[list[Attempts]]] = []
        for k, parts in enumerate(self.parts):
            attempts.append([])
            for subsets, own_cells in zip(parts, self.cells_with_thresholds[k], strict=True):
                in_own_cells = impostors.select(_indices_in_cells(own_cells, cells))
                attempts[k].append(
                    [self._attempts_of_counts(k, x, in_own_cells, own_cells) for x in subsets]
                )
        return attempts

    def by_fold(self, threshold: float) -> FoldCounts:
        """Return the attempts by the folds of the first division, after :meth:`result`.

        The threshold was chosen on all attempts; NaN accepts nothing.
        """
        rounded_threshold = rounded_down(np.array([threshold]), self.dtype)
        folds = self.folds

        def count(placed: ScoresByFold, *, failures: bool) -> tuple[np.ndarray, np.ndarray]:
            is_accepted = (
                scored(placed.distances) if failures else placed.distances
            ) <= rounded_threshold
            fold_pair = placed.probe[0].astype(np.int64) * folds + placed.gallery[0]
            attempts = np.bincount(fold_pair, minlength=folds * folds).reshape(folds, folds)
            accepted = np.bincount(fold_pair[is_accepted], minlength=folds * folds)
            return attempts, accepted.reshape(folds, folds)

        genuine = count(self.genuine, failures=self.rejected)
        impostor = self.impostor
        cell = 0
        if not self.few:  # scores in the cells before were counted, not kept
            cell = 0 if np.isnan(threshold) else self._cell_of(threshold)
            impostor = impostor.select(self.counter.cells.cells_of(impostor.distances) == cell)
        failures = self.rejected and self.few  # otherwise no kept score is a failure
        attempts, accepted = count(impostor, failures=failures)
        if not self.few:
            attempts = self.tables[0].sum(axis=-1) + self.failed[0]
            accepted = accepted + self.tables[0, ..., :cell].sum(axis=-1)
        return FoldCounts(*genuine, attempts, accepted)

    def _cell_of(self, threshold: float) -> int:
        return int(self.counter.cells.cells_of(rounded_down(np.array([threshold]), self.dtype))[0])

    def _attempts_of_list(self, k: int, part: Subset, impostors: ScoresByFold) -> Attempts:
        genuine = self.genuine.distances_in(k, part)
        impostor = impostors.distances_in(k, part)
        if self.rejected:
            return Attempts.with_failures(scored(genuine), scored(impostor))
        return Attempts.from_ordered(genuine, impostor)

    def _scores_and_failed(self, distances: np.ndarray) -> tuple[np.ndarray, int]:
        if not self.rejected:
            return distances, 0
        scores = increasing(scored(distances))
        return scores, len(distances) - len(scores)

    def _attempts_of_counts(
        self, k: int, part: Subset, in_cells: ScoresByFold, kept: np.ndarray
    ) -> Attempts:
        """Return the attempts of a part of division `k`.

        Impostor scores in the increasing cells `kept` are in `in_cells`; of other cells, only the
        number of scores is known.
        """
        genuine, genuine_cells, counts, missed, failed = self.counts_of_parts[k][part]
        # Distinct known impostor scores, and how many known scores are before each.
        known_scores, known_before = runs(in_cells.distances_in(k, part).astype(np.float64))
        before = np.append(0, np.cumsum(counts))  # (cells + 1,): impostor scores before each cell
        before_kept = np.append(0, np.cumsum(counts[kept]))  # the same, of kept cells alone

        def count_up_to(
            thresholds: np.ndarray, cells: np.ndarray, side: Side = "right"
        ) -> np.ndarray:
            """Count impostor scores up to (left: below) thresholds, which lie in `cells`."""
            in_other_cells = before[cells] - before_kept[kept.searchsorted(cells)]
            return in_other_cells + known_before[known_scores.searchsorted(thresholds, side=side)]

        accepted = count_up_to(known_scores, self.counter.cells.cells_of(known_scores))
        scores, first = runs(genuine)
        genuine_cells = genuine_cells[first[:-1]]
        # (2, scores): how many impostor scores are below, and up to, each distinct genuine score.
        # They are exact in kept cells and in cells without impostors; in other cells they are the
        # number of impostor scores before the cell.
        impostors_at = np.repeat(before[None, genuine_cells], 2, axis=0)
        exact_places = _indices_in_cells(kept, genuine_cells)
        is_exact = counts[genuine_cells] == 0
        is_exact[exact_places] = True
        impostors_at[0, exact_places] = count_up_to(
            scores[exact_places], genuine_cells[exact_places], "left"
        )
        impostors_at[1, exact_places] = count_up_to(
            scores[exact_places], genuine_cells[exact_places]
        )
        impostor = CountedScores(
            known_scores,
            accepted - np.diff(known_before),
            accepted,
            int(before[-1]),
            at=scores,
            counts=impostors_at,
            dtype=np.dtype(self.dtype),
            is_exact=is_exact,
            count_upto=lambda x: count_up_to(
                x, self.counter.cells.cells_of(rounded_down(x, self.dtype))
            ),
        )
        return CountedAttempts(genuine, impostor, missed, failed)


def _indices_in_cells(kept: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the indices of the increasing `cells` (k,) that are among the cells `kept`."""
    low, high = (cells.searchsorted(kept, x) for x in ("left", "right"))
    return np.concatenate([kept[:0], *map(np.arange, low, high)])
