"""FAR and FRR with the one-sided limits, by people, on which guarantees are based."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.verification import verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.scores.matrix import Scores
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.error_curves import EER
from bioeval.stats.limits import RateCurve
from bioeval.stats.options import PEOPLE, IntervalMethod
from bioeval.stats.verification import VerificationColumns
from bioeval.stats.weighted_sums import by_subject
from bioeval.stats.weights import groups_of, without_each
from bioeval.studies.assurance.limits import Judged

#: Limits need at least this number of people who are left out in turn.
FEWEST = 3


class Operating(NamedTuple):
    """An operating point: a threshold and its rates."""

    threshold: float  # a distance
    next: float  # the nearest score that the threshold rejects
    far: float
    far_of_attempts: float  # FAR of all attempts, in place of a mean over people
    frr: float


@dataclass(frozen=True)
class FarCurve:
    """FAR along increasing thresholds, and its one-sided limits."""

    judged: Judged
    thresholds: np.ndarray  # float64 (k,): distances
    far: np.ndarray  # float64 (k,)
    frr: np.ndarray  # float64 (k,)
    loosest: Callable[[float], Operating]  # the loosest operating point with at most this FAR
    impostors: int  # number of impostor attempts
    over: str  # what the mean is over, in words
    event: str  # what the rate is of, in words
    fixed_gallery: bool = False  # whether people of the gallery are never left out
    refusal: Message | None = None  # why nothing can be guaranteed, if nothing can


class JudgedAttempts:
    """Verification of single templates, with one-sided limits of FAR and FRR."""

    def __init__(self, scores: Scores, confidence: float, thresholds: np.ndarray | None = None):
        """Count the attempts without each person; `thresholds` of the user are counted as well."""
        self.confidence = confidence
        self.verified = verify(scores, wanted=_no_points(), thresholds=thresholds)
        self.verified.find_points(symmetric=None, with_thresholds=False)
        method = IntervalMethod(PEOPLE)
        columns = VerificationColumns.count(self.verified, method, [EER])
        self.curve = columns.one_sided(confidence)
        is_person = ~columns.people.no_person
        probing, claimed = columns.persons.made[:, is_person] > 0
        self._thresholds = columns.grid.usual
        self.genuine_people = len(np.unique(columns.genuine.person))  # people with genuine attempts
        self._impostor_people = int((probing | claimed).sum())  # people with impostor attempts
        self._sides = (probing, claimed)

    @property
    def refusal(self) -> Message | None:
        """The message on too few people for limits of FAR, perhaps on one side; None if enough."""
        people_on_smaller_side = int(min(x.sum() for x in self._sides))
        if self._impostor_people < FEWEST:
            return too_few(self._impostor_people, "people with impostor attempts")
        if self.verified.scores.layout != "pairs" and people_on_smaller_side < FEWEST:
            return too_few(people_on_smaller_side, "people on one side of the comparisons")
        return None

    @property
    def far(self) -> Judged:
        """FAR, a rate of pairs of people."""
        compared = self.verified.compared
        pairs = 0 if compared is None else compared.pairs
        return Judged(self.curve.far, self.confidence, self._impostor_people, pairs)

    @property
    def frr(self) -> Judged:
        """FRR, a rate of people."""
        return Judged(self.curve.frr, self.confidence, self.genuine_people)

    def rates(self, threshold: float) -> tuple[float, float]:
        """Return FAR and FRR at a threshold, as a distance; NaN without an attempt of the class."""
        attempts = self.verified.attempts
        accepted, rejected = attempts.errors_at(threshold)
        sizes = attempts.impostor_attempts, attempts.genuine_attempts
        far, frr = (
            x / number if number else math.nan
            for x, number in zip((accepted, rejected), sizes, strict=True)
        )
        return far, frr

    def far_curve(self) -> FarCurve:
        """Return FAR along thresholds, by which a threshold is assured."""
        rates = self.curve.curve
        return FarCurve(
            judged=self.far,
            thresholds=self._thresholds,
            far=rates.far[:, 0],
            frr=rates.frr[:, 0],
            loosest=self._loosest,
            impostors=self.verified.attempts.impostor_attempts,
            over="impostor attempts",
            event="of the impostor attempts are accepted",
            refusal=self.refusal,
        )

    def _loosest(self, far: float) -> Operating:
        wanted = PointsWanted(np.array([far]), np.empty((0, 3)), False)
        attempts = verify(self.verified.scores, wanted=wanted).attempts
        frr = math.nan
        if attempts.genuine_attempts:
            _, ((threshold,),) = attempts.points.at_far(np.array([far]))
            frr = attempts.errors_at(threshold)[1] / attempts.genuine_attempts
        else:
            first_beyond = attempts.points.far_limits(np.array([far]))[0, 0]
            impostors = attempts.impostor.keys
            accepted = impostors[: impostors.searchsorted(first_beyond)]
            threshold = float(max(accepted, default=-np.inf))
        far_reached = attempts.errors_at(threshold)[0] / attempts.impostor_attempts
        following = float(attempts.next_scores(threshold))
        return Operating(threshold, following, far_reached, far_reached, frr)


def _no_points() -> PointsWanted:
    return PointsWanted(np.empty(0), np.empty((0, 3)), False)


def too_few(people: int, who: str) -> Message:
    """Return the message that refuses data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=FEWEST)


# Shares are added up in different orders: a mean that equals a rate may be above it by this much.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SearchesOfOthers:
    """Searches of a fixed gallery by people who are not enrolled; each person has equal weight."""

    other: np.ndarray  # float64 (searches,): the nearest distance of each search
    person: np.ndarray  # int64 (searches,): the person who searches
    genuine: np.ndarray  # float64: distances of mates, infinite for a mate that is not at rank 1

    def far_curve(self, confidence: float) -> FarCurve:
        """Return FAR along thresholds, a mean over people, with its one-sided limits."""
        _, person = np.unique(self.person, return_inverse=True)
        person = person.reshape(-1)
        searches_of_person = np.bincount(person)
        people = len(searches_of_person)
        # The weight of a search is such that each person counts as 1.
        weight = 1 / searches_of_person[person]
        alarms = _FalseAlarms.from_searches(self, weight, people)
        thresholds = grid_of(alarms.nearest)
        columns = self._far_without_groups(thresholds, person, weight)
        limits = RateCurve.from_columns(
            np.clip(columns, 0.0, 1.0), people, people, confidence, 1, raised=True, one_sided=True
        )
        population = "people who are not enrolled"
        return FarCurve(
            judged=Judged(limits, confidence, people),
            thresholds=thresholds,
            far=columns[:, 0],
            frr=np.array([alarms.frr_at(x) for x in thresholds]),
            loosest=alarms.loosest,
            impostors=len(self.other),
            over=population,
            event="of the searches by people who are not enrolled raise a false alarm",
            fixed_gallery=True,
            refusal=too_few(people, population) if people < FEWEST else None,
        )

    def _far_without_groups(
        self, thresholds: np.ndarray, person: np.ndarray, weight: np.ndarray
    ) -> np.ndarray:
        """Return FAR of all people and without each group, float64 (thresholds, 1 + groups).

        `person` and `weight` (searches,) are the people, numbered from 0, and the weights.
        """
        group = groups_of(int(person.max(initial=-1)) + 1)
        groups = int(group.max(initial=-1)) + 1
        accepted_of_group = by_subject(self.other, group[person], thresholds, groups, weight)
        accepted = without_each(accepted_of_group[:-1].cumsum(axis=0))
        people = without_each(np.bincount(group, minlength=groups).astype(np.float64))
        return accepted / np.where(people > 0, people, np.nan)


class _FalseAlarms(NamedTuple):
    """Searches of people who are not enrolled, in the order of their nearest distances."""

    nearest: np.ndarray  # float64 (searches,)
    far: np.ndarray  # float64 (searches,): FAR if the search and all before it are accepted
    mates: np.ndarray  # float64: distances of mates in increasing order

    @classmethod
    def from_searches(cls, searches: SearchesOfOthers, weight: np.ndarray, people: int) -> Self:
        order = np.argsort(searches.other, kind="stable")
        far = np.minimum(np.cumsum(weight[order]) / max(people, 1), 1.0)
        return cls(searches.other[order], far, np.sort(searches.genuine, kind="stable"))

    def frr_at(self, threshold: float) -> float:
        return float((~(self.mates <= threshold)).mean()) if len(self.mates) else math.nan

    def _next_above(self, threshold: float) -> float:
        """Return the first score above a threshold; infinity if there is none, and NaN for NaN."""
        if math.isnan(threshold):
            return threshold
        following = (np.append(x, np.inf) for x in (self.mates, self.nearest))
        return float(min(x[x.searchsorted(threshold, side="right")] for x in following))

    def loosest(self, far: float) -> Operating:
        nearest, mates = self.nearest, self.mates
        # How many of the nearest distances may be accepted: all equal ones, or none of them.
        is_last_of_equal = np.append(nearest[1:] != nearest[:-1], True)
        allowed = np.flatnonzero(is_last_of_equal & (self.far <= far + _ROUNDING))
        accepted = int(allowed[-1]) + 1 if len(allowed) else 0
        next_false_accept = nearest[accepted] if accepted < len(nearest) else np.inf
        # The threshold is the last score before the next false accept.
        mates_before = mates[(mates < next_false_accept) & np.isfinite(mates)]
        scores_before = [*nearest[:accepted][-1:], *mates_before[-1:]]
        threshold = float(max(scores_before, default=-np.inf))
        if not accepted and next_false_accept == -np.inf:
            threshold = math.nan
        return Operating(
            threshold,
            next=self._next_above(threshold),
            far=float(self.far[accepted - 1]) if accepted else 0.0,
            far_of_attempts=accepted / len(nearest) if accepted else 0.0,
            frr=self.frr_at(threshold),
        )
