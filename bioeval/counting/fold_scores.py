"""Attempts by the folds of both templates: their scores, or numbers of scores by cell.

A division puts each template into a fold. A part of a division has the attempts with both templates
in a fold, or with neither template in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bioeval.counting.cells import BitCells, GenuineScores
from bioeval.counting.counted_scores import CountedAttempts, CountedScores, CountTable
from bioeval.counting.floats import rounded_down
from bioeval.counting.order import runs

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

    def is_in_part(self, division: int, part: Subset) -> np.ndarray:
        """Return which distances are in a part of a division."""
        if part.fold is None:
            return np.ones(len(self.distances), dtype=bool)
        probe_inside = self.probe[division] == part.fold
        gallery_inside = self.gallery[division] == part.fold
        return probe_inside & gallery_inside if part.inside else ~(probe_inside | gallery_inside)

    def distances_in(self, division: int, part: Subset) -> np.ndarray:
        return self.distances[self.is_in_part(division, part)]

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


class PartCounts(NamedTuple):
    """A part after the first pass: its genuine scores, and its impostor scores by cell."""

    genuine: GenuineScores  # float64 (k,)
    genuine_cells: np.ndarray  # int64 (k,): the cell of each genuine score
    impostors: np.ndarray  # int64 (cells,): impostor scores in each cell
    failed: int  # impostor attempts that failed

    def attempts(
        self, cells: BitCells, kept_cells: np.ndarray, kept: np.ndarray
    ) -> CountedAttempts:
        """Return the attempts, from the `kept` impostor scores of the increasing `kept_cells`."""
        impostors = PartlyKept(self.impostors, kept_cells, kept.astype(np.float64))
        accepted = impostors.upto(impostors.scores, cells.cells_of(impostors.scores))
        scores, first = runs(self.genuine.scores)
        genuine_cells = self.genuine_cells[first[:-1]]
        counts, is_exact = impostors.around(scores, genuine_cells)
        below = accepted - np.diff(impostors.kept_before)
        impostor = CountedScores(
            CountTable(impostors.scores, below, accepted),
            int(self.impostors.sum()),
            CountTable(scores, *counts),
            dtype=np.dtype(cells.dtype),
            is_exact=is_exact,
            count_upto=lambda x: impostors.upto(x, cells.cells_of(rounded_down(x, cells.dtype))),
        )
        return CountedAttempts(self.genuine.scores, impostor, self.genuine.missed, self.failed)


class PartlyKept:
    """Impostor scores that are kept if they are in some cells, and otherwise only counted.

    - `scores` (float64 (k,)): the distinct kept scores, increasing
    - `kept_before` (int64 (k + 1,)): the number of kept scores before each of them, and of all
    """

    def __init__(self, counts: np.ndarray, kept_cells: np.ndarray, kept: np.ndarray):
        self.scores, self.kept_before = runs(kept)
        self._counts, self._kept_cells = counts, kept_cells
        # Scores in all cells before each cell, and in the kept cells before each kept cell.
        self._before_cell = np.append(0, np.cumsum(counts))
        self._kept_before_cell = np.append(0, np.cumsum(counts[kept_cells]))

    def upto(
        self, thresholds: np.ndarray, cells: np.ndarray, side: Literal["left", "right"] = "right"
    ) -> np.ndarray:
        """Count scores up to (left: below) thresholds, which lie in `cells` that are kept."""
        kept_cells_before = self._kept_cells.searchsorted(cells)
        in_other_cells = self._before_cell[cells] - self._kept_before_cell[kept_cells_before]
        return in_other_cells + self.kept_before[self.scores.searchsorted(thresholds, side=side)]

    def around(self, thresholds: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count scores below and up to increasing thresholds in `cells`, (2, k); say where exactly.

        Numbers are exact in kept cells and in cells without scores; in any other cell, they are the
        number of scores before the cell.
        """
        counts = np.repeat(self._before_cell[None, cells], 2, axis=0)
        in_kept = indices_in_cells(self._kept_cells, cells)
        counts[0, in_kept] = self.upto(thresholds[in_kept], cells[in_kept], "left")
        counts[1, in_kept] = self.upto(thresholds[in_kept], cells[in_kept])
        is_exact = self._counts[cells] == 0
        is_exact[in_kept] = True
        return counts, is_exact


def indices_in_cells(kept: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the indices of the increasing `cells` (k,) that are among the cells `kept`."""
    low, high = (cells.searchsorted(kept, x) for x in ("left", "right"))
    return np.concatenate([kept[:0], *map(np.arange, low, high)])
