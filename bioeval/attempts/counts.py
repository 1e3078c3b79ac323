"""Tallies: counts of attempts, in integers.

Everything here is in internal distances (see :mod:`bioeval.attempts.thresholds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bioeval.attempts.cells import CellCounts, cell_exponent, joint_exponent
from bioeval.attempts.lists import Attempts
from bioeval.attempts.points import VerificationPoints
from bioeval.attempts.thresholds import DEFAULT_COUNT, default_grid, grid_over, with_infinities
from bioeval.attempts.tied_places import place_weights
from bioeval.scores.provenance import Provenance


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
    """The attempts of verification, and false accepts at the thresholds of its curve.

    `points` are the operating points, once they are found. `people` is None where the claims are
    of all subjects: then they are those of `about`. `grid` has the user's thresholds, as distances,
    or their number; None is a default. Of counted attempts the `curve` is given.
    """

    about: Provenance
    templates: str
    fusion: str
    claims: str
    attempts: Attempts
    grid: np.ndarray | int | None = None
    counted_curve: tuple[np.ndarray, np.ndarray] | None = None
    skipped_claims: int = 0
    points: VerificationPoints | None = None
    people: ListedPeople | None = None  # of listed attempts
    unenrolled: np.ndarray | None = None  # scores of drawn claims by probes who are not enrolled

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds (float64, increasing) of the curve, and the false accepts (int64) there."""
        if self.counted_curve is not None:
            return self.counted_curve
        thresholds = self.grid
        if thresholds is None:
            thresholds = curve_thresholds(self.genuine, self.attempts.cells)
        elif isinstance(thresholds, int):
            thresholds = grid_over(*_extent_of(self.attempts), number=thresholds)
        return thresholds, self.attempts.false_accepts(thresholds).astype(np.int64)

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds of the curve."""
        return self.curve[0]

    @property
    def accepted(self) -> np.ndarray:
        """The false accepts at these."""
        return self.curve[1]

    @property
    def given(self) -> bool:
        """Whether the thresholds are the user's."""
        return self.grid is not None

    @property
    def genuine(self) -> np.ndarray:
        """The genuine scores, increasing."""
        return self.attempts.genuine

    @property
    def genuine_attempts(self) -> int:
        """Number of genuine attempts, with those that failed."""
        return self.attempts.genuine_attempts

    @property
    def impostor_attempts(self) -> int:
        """Number of impostor attempts, with those that failed."""
        return self.attempts.impostor_attempts


def _extent_of(attempts: Attempts) -> tuple[float, float, bool, bool]:
    """Return the least and the largest finite score, and whether -inf and +inf are scores."""
    both = attempts.genuine, attempts.values
    finite = [x[np.isfinite(x)] for x in both]
    low = min((float(x[0]) for x in finite if len(x)), default=np.inf)
    high = max((float(x[-1]) for x in finite if len(x)), default=-np.inf)
    return low, high, any(-np.inf in x[:1] for x in both), any(np.inf in x[-1:] for x in both)


def curve_thresholds(genuine: np.ndarray, impostor: CellCounts) -> np.ndarray:
    """Return about 1,000 thresholds over both classes, on the edges of cells."""
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
    distances of templates always (TTR and FTR speak of templates). A distance is NaN where there is
    no candidate, and where all comparisons failed: no threshold accepts it.
    """

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
