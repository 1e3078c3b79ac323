"""Tallies: counts of attempts, in integers.

Everything here is in internal distances (see :mod:`bioeval.attempts.thresholds`).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from bioeval.attempts.cells import CELLS, CellGrid, cell_exponent, joint_exponent
from bioeval.attempts.points import VerificationPoints
from bioeval.attempts.thresholds import DEFAULT_COUNT, default_grid, with_infinities
from bioeval.attempts.tied_places import place_weights
from bioeval.base.errors import DataError
from bioeval.scores.provenance import Provenance


@dataclass
class CellCounts:
    """Scores counted into the cells of a :class:`CellGrid`, and infinite ones.

    The exponent is the least whose cells cover the scores (:func:`cell_exponent`); it follows
    from the scores alone, so merged counts have the very cells that counting everything at once
    would have had. The first and the last cell are not empty.
    """

    exponent: int = 0
    first: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    negative_infinite: int = 0
    positive_infinite: int = 0

    @property
    def grid(self) -> CellGrid:
        """The cells."""
        return CellGrid(self.exponent, self.first, len(self.counts))

    @property
    def total(self) -> int:
        """The number of scores counted."""
        return int(self.counts.sum()) + self.negative_infinite + self.positive_infinite

    @property
    def range(self) -> tuple[float, float]:
        """Upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.grid.edges[[0, -1]].tolist()
        # Past the largest float there is no finite edge, nor a finite score.
        return low, min(high, sys.float_info.max)

    def fitted(self) -> CellCounts:
        """Return the same counts without empty cells at the ends, in cells no wider than needed."""
        filled = np.nonzero(self.counts)[0]
        if not len(filled):
            return replace(self, exponent=0, first=0, counts=self.counts[:0])
        low, high = int(filled[0]), int(filled[-1]) + 1
        cells = replace(self, first=self.first + low, counts=self.counts[low:high])
        while len(cells.counts) > CELLS:
            cells = cells.coarsened(cells.exponent + 1)
        return cells

    def coarsened(self, exponent: int) -> CellCounts:
        """Return the same counts in wider cells, of another exponent."""
        if exponent == self.exponent or not len(self.counts):
            return replace(self)
        k = self.first + np.nonzero(self.counts)[0]
        # ceil(k / 2**shift): cells are closed above.
        joined = -((-k) >> min(62, exponent - self.exponent))
        first = int(joined[0])
        counts = np.zeros(int(joined[-1]) - first + 1, dtype=np.int64)
        np.add.at(counts, joined - first, self.counts[self.counts > 0])
        return replace(self, exponent=exponent, first=first, counts=counts)

    def merge(self, other: CellCounts, most: int = CELLS) -> CellCounts:
        """Count the scores of both, with a limit to the number of cells."""
        negative = self.negative_infinite + other.negative_infinite
        positive = self.positive_infinite + other.positive_infinite
        if not len(self.counts) or not len(other.counts):
            kept = self if len(self.counts) else other
            return replace(kept, negative_infinite=negative, positive_infinite=positive)
        exponent = max(self.exponent, other.exponent)
        first, last = _cover(exponent, self, other)
        while last - first >= most:
            exponent += 1
            first, last = _cover(exponent, self, other)
        counts = np.zeros(last - first + 1, dtype=np.int64)
        for part in (self.coarsened(exponent), other.coarsened(exponent)):
            start = part.first - first
            counts[start : start + len(part.counts)] += part.counts
        return CellCounts(exponent, first, counts, negative, positive)

    def at_most(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of scores at or below each threshold.

        Exact at cell edges, at and beyond the ends of the range, and at the infinities.
        """
        before = np.concatenate([[0], np.cumsum(self.counts)])
        places = self.grid.places_of(thresholds)
        taken = np.clip(places + 1, 0, len(self.counts)).astype(np.int64)
        out = before[taken] + self.negative_infinite
        out[thresholds == -np.inf] = self.negative_infinite
        out[thresholds == np.inf] = self.total
        return out


def _cover(exponent: int, *parts: CellCounts) -> tuple[int, int]:
    """Return the first and the last cell of an exponent that cover the cells of all parts."""
    ends = []
    for part in parts:
        shift = exponent - part.exponent
        last = part.first + len(part.counts) - 1
        ends += [-((-part.first) >> shift), -((-last) >> shift)]
    return min(ends), max(ends)


@dataclass
class ThresholdCounts:
    """Scores counted between given thresholds: bin ``i`` holds ``t[i - 1] < x <= t[i]``."""

    thresholds: np.ndarray
    counts: np.ndarray

    @property
    def total(self) -> int:
        """The number of scores counted."""
        return int(self.counts.sum())

    def at_most(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of scores at or below each of the given thresholds."""
        place = np.searchsorted(self.thresholds, thresholds)
        if (place >= len(self.thresholds)).any() or (self.thresholds[place] != thresholds).any():
            raise DataError("counts are known only at the thresholds they were made with")
        return np.cumsum(self.counts)[place]


class ListedPeople(NamedTuple):
    """The subjects of listed pairs or claims, and the pairs of them that are compared.

    - `subjects` (int): on either side
    - `pairs` (int): pairs of two subjects that are compared, each once, whatever their templates
    - `disjoint_pairs` (int): the most of these pairs of which no two share a subject
    """

    subjects: int
    pairs: int
    disjoint_pairs: int


@dataclass
class VerificationTally:
    """Counts of verification: genuine scores (few) are kept, impostor scores are counted.

    `given` holds the counts at thresholds of the user's; `points` the operating points,
    where the scores have been looked at again to find them. `people` is None where the claims are
    of all subjects: then they are those of `about`.
    """

    form: ClassVar[str] = "verification"

    about: Provenance
    templates: str
    fusion: str
    claims: str
    genuine: np.ndarray
    impostor: CellCounts
    given: ThresholdCounts | None = None
    skipped_claims: int = 0
    points: VerificationPoints | None = None
    people: ListedPeople | None = None  # of listed attempts
    unenrolled: np.ndarray | None = None  # scores of drawn claims by probes who are not enrolled
    missed: tuple[int, int] = (0, 0)  # genuine and impostor attempts that no threshold accepts

    def grid(self) -> np.ndarray:
        """Return the thresholds of the result, as increasing distances."""
        impostor, genuine = self.impostor, self.genuine
        if self.given is not None:
            return self.given.thresholds
        finite = genuine[np.isfinite(genuine)].astype(np.float64)
        ranges = [impostor.range]
        exponents = []
        if len(impostor.counts):
            exponents.append(impostor.exponent)
        if len(finite):
            ranges.append((float(finite[0]), float(finite[-1])))
            exponents.append(cell_exponent(*ranges[-1]))
        exponent = joint_exponent(max(exponents, default=0), ranges)
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        negative = impostor.negative_infinite > 0 or bool((genuine == -np.inf).any())
        positive = impostor.positive_infinite > 0 or bool((genuine == np.inf).any())
        return with_infinities(default_grid(low, high, exponent, DEFAULT_COUNT), negative, positive)


ImpostorProbes = Literal["auto", "unenrolled", "leave-subject-out", "both"]


def role_of(layout: str, impostors: str, all_enrolled: bool) -> str:
    """Return which probes are impostors, by name: ``"auto"`` resolved by layout and enrolment.

    All-against-all, each probe is one, enrolled when it is seen or not.
    """
    if layout == "all-against-all":
        if all_enrolled:
            return "leave-subject-out"
        return "both"
    if impostors != "auto":
        return impostors
    if all_enrolled:
        return "leave-subject-out"
    return "unenrolled"


@dataclass
class IdentificationTally:
    """Facts of each probe, for open-set and closed-set results.

    All arrays have one entry a probe. With rank unit ``"subject"`` the candidates are subjects
    at their fused distance, otherwise templates; ``nearest_mate`` and ``nearest_other`` are
    distances of templates always (TTR and FTR speak of templates).
    """

    form: ClassVar[str] = "identification"

    about: Provenance
    rank_unit: str
    fusion: str
    enrolled: np.ndarray
    mate: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    mates_tied: np.ndarray
    mates: np.ndarray
    other: np.ndarray
    others: np.ndarray
    nearest_mate: np.ndarray
    nearest_other: np.ndarray

    def impostor_role(self, impostors: str) -> str:
        """Return the impostor probes by name: ``"auto"`` resolved, as :func:`role_of`."""
        return role_of(self.about.layout, impostors, bool(self.enrolled.all()))

    @staticmethod
    def of_role(usable: np.ndarray, enrolled: np.ndarray, role: str) -> np.ndarray:
        """Return the probes of a role, of those that have a usable non-mate."""
        if role == "unenrolled":
            usable = usable & ~enrolled
        elif role == "leave-subject-out":
            usable = usable & enrolled
        return np.nonzero(usable)[0]

    def impostor_probes(self, role: str) -> np.ndarray:
        """Return the probes that make an impostor attempt."""
        return self.of_role(self.others > 0, self.enrolled, role)

    def rank_weights(
        self, chosen: np.ndarray, ties: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (probe, rank, weight) of the best mates of chosen probes; each must have one.

        See :func:`bioeval.attempts.tied_places.place_weights`.
        """
        index, ranks, weights = place_weights(
            self.closer[chosen],
            self.tied[chosen],
            self.tied_before[chosen],
            self.mates_tied[chosen],
            ties,
        )
        return chosen[index], ranks, weights
