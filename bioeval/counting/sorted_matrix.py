"""A matrix whose attempts are sorted once, for thousands of its parts.

A part is a choice of rows and columns, as of a fold. Attempts that are picked from the sorted list
are in order, so that no part is sorted again. Distances are replaced by codes: whole numbers in the
same order, equal for equal distances. A failed comparison has the largest code. For instance::

    attempts    row     0   1   0   1      distances
    0.3  0.1    target  1   1   0   0      0.1  0.2  0.3
    0.3  0.2    code    0   1   2   2

:class:`SortedMatrix` is what the studies use: it sorts on first use and remembers what it sorted.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.scores.attempts import columns_of_probes, left_out_rows, may_lack_comparisons
from bioeval.scores.blocks import fused
from bioeval.scores.distances import scored
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import read_rows

#: The most cells of a matrix that is sorted, which takes about 85 bytes a cell.
MOST_CELLS = 1 << 23

#: The most rows, columns and people: their numbers have 16 bits.
MOST_TEMPLATES = 1 << 16


class SortedCells(NamedTuple):
    """Attempts in increasing order of their distances, failed attempts last.

    Arrays are (k,), an entry for each attempt. The numbers are narrow, since there are several
    sorted lists of a matrix: see :data:`MOST_TEMPLATES`.
    """

    row: np.ndarray  # uint16: probe
    target: np.ndarray  # uint16: column; of claims, index into `SortedMatrix.claimed`
    code: np.ndarray  # int32: index of the distance among the distinct distances
    scored: int  # the number of attempts that did not fail

    @classmethod
    def sort(cls, attempts: np.ndarray, *, rejected: bool) -> tuple[SortedCells, np.ndarray]:
        """Sort the cells of a matrix that are not NaN; return them, and the distance of each code.

        With `rejected` failures, failed comparisons are +inf in the matrix.
        """
        index = np.flatnonzero(~np.isnan(attempts))  # of cells of the flat matrix
        values = attempts.reshape(-1)[index]
        order = np.argsort(values)
        index = index[order]
        values = values[order]
        # The code of an attempt is the number of smaller distinct distances.
        is_first = np.ones(len(values), dtype=bool)  # the first attempt of its distance
        np.not_equal(values[1:], values[:-1], out=is_first[1:])
        code = np.cumsum(is_first, dtype=np.int32) - np.int32(1)
        distances = values[is_first]
        attempts_with_score = len(values)
        if rejected:
            # Failed attempts are the +inf at the end: their code stays, and its distance is NaN.
            attempts_with_score = int(values.searchsorted(np.inf))
            distances = np.append(scored(distances[distances < np.inf]), np.nan)
        row, column = np.divmod(index.astype(np.uint32), np.uint32(attempts.shape[1]))
        cells = cls(row.astype(np.uint16), column.astype(np.uint16), code, attempts_with_score)
        return cells, distances.astype(np.float64)

    def select(self, is_selected: np.ndarray) -> SortedCells:
        """Return the attempts for which `is_selected`, bool (k,), is true, in the same order."""
        return SortedCells(
            self.row[is_selected],
            self.target[is_selected],
            self.code[is_selected],
            int(np.count_nonzero(is_selected[: self.scored])),
        )

    def both_ways(self) -> SortedCells:
        """Return the cells, each followed by its mirror image."""
        sides = np.stack([self.row, self.target], axis=1)  # (k, 2)
        row = sides.reshape(-1)
        target = sides[:, ::-1].reshape(-1)
        return SortedCells(row, target, np.repeat(self.code, 2), 2 * self.scored)

    def backwards(self) -> SortedCells:
        """Return the cells from the farthest to the nearest, failed attempts last."""
        failed = np.arange(self.scored, len(self.row))
        order = np.append(np.arange(self.scored)[::-1], failed)
        return SortedCells(self.row[order], self.target[order], self.code[order], self.scored)


class SortedClasses(NamedTuple):
    """Genuine and impostor attempts in order, and the distance of each code.

    If failures are attempts, the last code is their code, and its distance is NaN.
    """

    genuine: SortedCells
    impostor: SortedCells
    distances: np.ndarray

    @classmethod
    def divide(cls, cells: SortedCells, distances: np.ndarray, mate: np.ndarray) -> SortedClasses:
        """Divide cells into genuine attempts, where `mate` is true, and impostor attempts."""
        return cls(cells.select(mate), cells.select(~mate), distances)


class SortedMatrix:
    """The attempts of a matrix with labels, which are sorted when first used.

    The scores never change, so each cached property, and the claims of each rule, are computed once
    and kept.

    - `attempts` (float (m, n)): distances; NaN where there is no attempt, +inf for a failed attempt
      if failures are `rejected`
    - `probe`, `gallery` (int64 (m,), (n,)): the code of each template's person
    - `is_person` (bool (people,)): whether each code is a person; distractors and junk are not
    - `own_column` (int64 (m,)): the column of the probe itself, -1 if it is not in the gallery
    """

    def __init__(self, scores: Scores):
        """Read the attempts; raise :class:`DataError` for NaN under ``nan="raise"``."""
        self.scores = scores
        block = read_rows(scores, slice(0, scores.shape[0]))
        # The columns of a block are sorted by person; here they are in the order of the gallery.
        self.attempts = np.empty_like(block.values)
        self.attempts[:, block.candidates] = block.values
        self.rejected = scores.nan == "reject"
        self.probe, self.gallery = scores.codes.probe, scores.codes.gallery
        self.is_person = ~scores.codes.no_person
        self.own_column = columns_of_probes(scores)
        self._claims: dict[str, SortedClasses] = {}  # by rule of fusion

    @property
    def people(self) -> int:
        """The number of codes."""
        return len(self.is_person)

    @cached_property
    def is_mate(self) -> np.ndarray:
        """Whether both templates of each cell are of the same person, bool (m, n)."""
        return self.probe[:, None] == self.gallery

    @cached_property
    def is_mirrored(self) -> bool:
        """Whether the matrix compares one set with itself, and is symmetric to the last bit."""
        height, width = self.attempts.shape
        if height != width or not np.array_equal(self.own_column, np.arange(width)):
            return False
        return np.array_equal(self.attempts, self.attempts.T, equal_nan=True)

    @cached_property
    def is_complete(self) -> bool:
        """Whether all comparisons of two different templates are attempts."""
        is_attempt = ~np.isnan(self.attempts)
        # A template is not compared with itself.
        probe = np.flatnonzero(self.own_column >= 0)
        is_attempt[probe, self.own_column[probe]] = True
        return bool(is_attempt.all())

    @cached_property
    def absent(self) -> np.ndarray | None:
        """1 where a comparison of two people is no attempt, float32 (m, n); None without any."""
        if not may_lack_comparisons(self.scores):
            return None
        is_of_people = self.is_person[self.probe][:, None] & self.is_person[self.gallery]
        absent = np.isnan(self.attempts) & is_of_people & ~self.is_mate
        return absent.astype(np.float32) if absent.any() else None

    @cached_property
    def differs_across_diagonal(self) -> np.ndarray:
        """Whether a cell differs from its mirror image, bool (m, m); NaN is like NaN."""
        raw = self.scores.cells.values()
        is_nan = raw != raw
        differs = (raw != raw.T) & ~(is_nan & is_nan.T)
        if self.scores.exclude or self.scores.cells.mask is not None:
            excluded = left_out_rows(self.scores, 0, len(raw))
            if excluded is not None:
                differs |= excluded != excluded.T
        return differs

    @cached_property
    def _sorted_cells(self) -> tuple[SortedCells, np.ndarray]:
        """The sorted attempts, of a mirrored matrix above the diagonal; the distance of codes."""
        attempts = self.attempts
        if self.is_mirrored:  # half as many are sorted: `templates` adds the mirror images
            attempts = np.where(np.tri(len(attempts), dtype=bool), np.nan, attempts)
        return SortedCells.sort(attempts, rejected=self.rejected)

    @cached_property
    def upper(self) -> SortedClasses:
        """Comparisons above the diagonal of a mirrored matrix, which stand for two attempts."""
        cells, distances = self._sorted_cells
        return SortedClasses.divide(cells, distances, self.is_mate[cells.row, cells.target])

    @cached_property
    def templates(self) -> SortedClasses:
        """Comparisons of templates."""
        if not self.is_mirrored:
            cells, distances = self._sorted_cells
            return SortedClasses.divide(cells, distances, self.is_mate[cells.row, cells.target])
        genuine, impostor, distances = self.upper
        return SortedClasses(genuine.both_ways(), impostor.both_ways(), distances)

    @cached_property
    def mates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mates of each probe, from near to far: starts (m + 1,), columns and codes."""
        return self._by_probe(self.templates.genuine)

    @cached_property
    def non_mates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The candidates of each probe who are other people, likewise."""
        return self._by_probe(self.templates.impostor)

    def _by_probe(self, cells: SortedCells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        order = np.argsort(cells.row, kind="stable")  # stable: from near to far for each probe
        starts = np.append(0, np.cumsum(np.bincount(cells.row, minlength=len(self.probe))))
        return starts, cells.target[order], cells.code[order]

    @cached_property
    def claimed(self) -> np.ndarray:
        """The codes of the people in the gallery, increasing."""
        return np.unique(self.gallery)

    def claims(self, fusion: str) -> SortedClasses:
        """Return the claims of each probe in the whole gallery, fused by a rule of distances.

        Their targets are indices into `claimed`. Claims are sorted once for each rule.
        """
        if fusion in self._claims:
            return self._claims[fusion]
        # Put the columns of each person side by side.
        order = np.argsort(self.gallery, kind="stable")
        starts = self.gallery[order].searchsorted(self.claimed)
        claims = self.fused(order, np.append(starts, len(order)), fusion)
        cells, distances = SortedCells.sort(claims, rejected=self.rejected)
        is_genuine = self.probe[cells.row] == self.claimed[cells.target]
        self._claims[fusion] = SortedClasses.divide(cells, distances, is_genuine)
        return self._claims[fusion]

    def fused(
        self,
        columns: np.ndarray,
        starts: np.ndarray,
        fusion: str,
        rows: np.ndarray | slice = slice(None),
    ) -> np.ndarray:
        """Return the claims (rows, people); person k has ``columns[starts[k]:starts[k + 1]]``."""
        values = np.ascontiguousarray(self.attempts[rows][:, columns])
        claims = fused(values, starts.astype(np.int64), fusion, rejected=self.rejected)
        if self.rejected and claims.dtype != np.float64:
            # Among rejected failures, the largest number of the dtype stands for an infinite score,
            # since +inf is a failure (see `with_failures`). In float64 it must be the largest
            # float64, or `scored` would not make it infinite again.
            is_infinite_score = claims == np.finfo(claims.dtype).max
            largest = np.finfo(np.float64).max
            claims = np.where(is_infinite_score, largest, claims.astype(np.float64))
        return claims
