"""Parts of a sorted matrix: a part is a mask of its probes and of its gallery."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.sorted_matrix import SortedCells, SortedClasses, SortedMatrix
from bioeval.counting.sorted_scores import SortedScores
from bioeval.scores.arrays import scored

#: Rows and columns of a part, increasing.
Places = tuple[np.ndarray, np.ndarray]


class SearchesOfParts(NamedTuple):
    """How each probe stands in the gallery of each part; see ``kernels/masks.py``.

    int32 (parts, m); `best` and `nearest` are codes, -1 of no mate, of no other, and of what is no
    probe of the part.
    """

    best: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    nearest: np.ndarray


class MaskedParts:
    """Some parts of a sorted matrix.

    - `rows`, `columns` (int8 (parts, m), (parts, n)): 1 of what is in the part
    """

    def __init__(self, matrix: SortedMatrix, places: Sequence[Places]):
        self.matrix = matrix
        m, n = matrix.attempts.shape
        self.rows = np.zeros((len(places), m), dtype=np.int8)
        self.columns = np.zeros((len(places), n), dtype=np.int8)
        for part, (rows, columns) in enumerate(places):
            self.rows[part, rows] = 1
            self.columns[part, columns] = 1

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def are_same(self) -> np.ndarray:
        """Whether the probes of each part are its gallery, bool (parts,)."""
        own = self.matrix.own_column
        if self.rows.shape != self.columns.shape or not np.array_equal(own, np.arange(len(own))):
            return np.zeros(len(self), dtype=bool)
        return (self.rows == self.columns).all(axis=1)

    @cached_property
    def are_square(self) -> np.ndarray:
        """Whether every probe of each part is in its gallery, bool (parts,)."""
        own = self.matrix.own_column
        inside = (own >= 0) & (self.columns[:, own] == 1)
        return (inside | (self.rows == 0)).all(axis=1)

    @cached_property
    def probing(self) -> np.ndarray:
        """The number of probes of each person, int32 (parts, people)."""
        return _number_of_each(self.rows, self.matrix.probe, self.matrix.people)

    @cached_property
    def enrolled(self) -> np.ndarray:
        """The number of gallery templates of each person, int32 (parts, people)."""
        return _number_of_each(self.columns, self.matrix.gallery, self.matrix.people)

    @cached_property
    def have_whole_people(self) -> bool:
        """Whether each enrolled person has all its gallery templates in the part."""
        every = np.bincount(self.matrix.gallery, minlength=self.matrix.people)
        return bool(((self.enrolled == 0) | (self.enrolled == every)).all())

    # -- attempts

    def attempts(self) -> AttemptsOfParts:
        """Return the comparisons of templates."""
        matrix = self.matrix
        if matrix.is_mirrored and self.are_same.all():
            return self._picked(matrix.upper, self.columns, times=2)
        return self._picked(matrix.templates, self.columns)

    def claims(self, fusion: str, whole: SortedClasses) -> AttemptsOfParts:
        """Return the claims of each probe, fused by a rule of distances.

        The claims of the `whole` gallery serve parts in which everybody enrolled is whole.
        """
        if self.have_whole_people:
            return self._picked(whole, (self.enrolled > 0).astype(np.int8))
        if fusion == "best":
            return self._nearest(self.matrix.templates, farthest=False)
        if fusion == "worst":
            return self._nearest(self.matrix.templates, farthest=True)
        return self._fused(fusion)

    def _picked(
        self, classes: SortedClasses, columns: np.ndarray, times: int = 1
    ) -> AttemptsOfParts:
        """Return the attempts of sorted lists, each standing for so many."""
        sides = [self._keys(*self._places(x, columns), x, classes) for x in classes[:2]]
        scores = (
            SortedScores.of_keys(np.repeat(keys, times), classes.distances, len(self))
            for keys, _ in sides
        )
        return AttemptsOfParts(*scores, *(times * failed for _, failed in sides))

    def _places(self, cells: SortedCells, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of the cells of each part, in order, and their number (parts,)."""
        from bioeval.kernels.masks import pick_attempts

        places = np.empty(len(self) * len(cells.row) + 1, dtype=np.int32)
        number = np.empty(len(self), dtype=np.int64)
        pick_attempts(cells.row, cells.target, self.rows, columns, places, number)
        return places[: number.sum()], number

    def _keys(
        self, places: np.ndarray, number: np.ndarray, cells: SortedCells, classes: SortedClasses
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the keys of the cells that have a score, and the number of others (parts,)."""
        part = np.repeat(np.arange(len(self)) * len(classes.distances), number)
        keys = part + cells.code[places]
        failed = np.zeros(len(self), dtype=np.int64)
        if cells.scored < len(cells.row):
            is_scored = places < cells.scored
            each = np.repeat(np.arange(len(self)), number)
            failed = np.bincount(each[~is_scored], minlength=len(self))
            keys = keys[is_scored]
        return keys, failed

    def _nearest(self, classes: SortedClasses, *, farthest: bool) -> AttemptsOfParts:
        """Return the nearest or the farthest attempt of each claim."""
        from bioeval.kernels.masks import first_of_claims

        matrix, sides = self.matrix, []
        for cells in classes[:2]:
            listed = cells.backwards() if farthest else cells
            places, number = self._places(listed, self.columns)
            claim = listed.row.astype(np.int32) * matrix.people + matrix.gallery[listed.target]
            seen = np.zeros(len(matrix.probe) * matrix.people, dtype=np.int32)
            kept, number_kept = np.empty(len(places) + 1, np.int32), np.empty_like(number)
            first_of_claims(places, number, claim.astype(np.int32), seen, kept, number_kept)
            kept = kept[: number_kept.sum()]
            keys, failed = self._keys(kept, number_kept, listed, classes)
            sides.append((np.sort(keys) if farthest else keys, failed))
        scores = (SortedScores.of_keys(x, classes.distances, len(self)) for x, _ in sides)
        return AttemptsOfParts(*scores, *(failed for _, failed in sides))

    def _fused(self, fusion: str) -> AttemptsOfParts:
        """Return the claims of each part, fused and sorted anew."""
        matrix = self.matrix
        attempts: tuple[list[np.ndarray], ...] = ([], [])
        failed = np.zeros((2, len(self)), dtype=np.int64)
        by_person = np.argsort(matrix.gallery, kind="stable")
        for part in range(len(self)):
            rows = np.flatnonzero(self.rows[part])
            columns = by_person[self.columns[part, by_person] == 1]
            people, starts = np.unique(matrix.gallery[columns], return_index=True)
            claims = matrix.fused(columns, np.append(starts, len(columns)), fusion, rows)
            own = matrix.probe[rows, None] == people
            for k, chosen in enumerate((own, ~own)):
                values = np.sort(claims[chosen & ~np.isnan(claims)])
                if matrix.rejected:
                    number = int(values.searchsorted(np.inf))
                    failed[k, part] = len(values) - number
                    values = scored(values[:number])
                attempts[k].append(values.astype(np.float64))
        return AttemptsOfParts.of_lists(*attempts, *failed)

    # -- searches

    def searches(self) -> SearchesOfParts:
        """Return how each probe of each part stands in its gallery."""
        from bioeval.kernels.masks import rank_in_parts

        ranked = np.full((5, *self.rows.shape), -1, dtype=np.int32)
        matrix = self.matrix
        rank_in_parts(matrix.mates, matrix.others, self.rows, self.columns, ranked)
        return SearchesOfParts(*ranked)

    def most_candidates(self) -> np.ndarray:
        """Return the number of candidates of the probe of each part that has most, (parts,)."""
        matrix = self.matrix
        if matrix.is_complete:
            own = matrix.own_column
            inside = (own >= 0) & (self.columns[:, own] == 1)
            without = ((self.rows == 1) & ~inside).any(axis=1)
            return self.columns.sum(axis=1, dtype=np.int64) - ~without
        is_attempt = (~np.isnan(matrix.attempts)).astype(np.float32)  # whole numbers below 2^24
        number = self.columns.astype(np.float32) @ is_attempt.T
        return (number * self.rows).max(axis=1).astype(np.int64)


def _number_of_each(mask: np.ndarray, person: np.ndarray, people: int) -> np.ndarray:
    """Return how many templates of each person are in each part, int32 (parts, people)."""
    order = np.argsort(person, kind="stable")
    codes, first = np.unique(person[order], return_index=True)
    numbers = np.zeros((len(mask), people), dtype=np.int32)
    numbers[:, codes] = np.add.reduceat(mask[:, order], first, axis=1, dtype=np.int32)
    return numbers
