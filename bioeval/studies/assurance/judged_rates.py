"""FAR and FRR with the one-sided limits, by people, on which guarantees are based."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.order import next_among
from bioeval.counting.verification import verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.scores.matrix import Scores
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.error_curves import EER
from bioeval.stats.limits import RateCurve
from bioeval.stats.options import PEOPLE, IntervalMethod
from bioeval.stats.verification_columns import VerificationColumns
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
        rates, scores = self.curve.curve, self.verified.scores

        def loosest(far: float) -> Operating:
            points = PointsWanted(np.array([far]), np.empty((0, 3)), False)
            attempts = verify(scores, wanted=points).attempts
            if attempts.genuine_attempts:
                _, ((threshold,),) = attempts.points.at_far(np.array([far]))
            else:
                limits = attempts.points.far_limits(np.array([far]))
                impostors = attempts.impostor.keys
                threshold = float(
                    max(impostors[: impostors.searchsorted(limits[0, 0])], default=-np.inf)
                )
            accepted, rejected = attempts.errors_at(threshold)
            far_reached = accepted / attempts.impostor_attempts
            frr = rejected / attempts.genuine_attempts if attempts.genuine_attempts else math.nan
            following = float(attempts.next_scores(threshold))
            return Operating(threshold, following, far_reached, far_reached, frr)

        return FarCurve(
            self.far,
            self._thresholds,
            rates.far[:, 0],
            rates.frr[:, 0],
            loosest,
            self.verified.attempts.impostor_attempts,
            "impostor attempts",
            "of the impostor attempts are accepted",
            refusal=self.refusal,
        )


def _no_points() -> PointsWanted:
    return PointsWanted(np.empty(0), np.empty((0, 3)), False)


def too_few(people: int, who: str) -> Message:
    """Return the message that refuses data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=FEWEST)


@dataclass(frozen=True, eq=False)
class SearchesOfOthers:
    """Searches of a fixed gallery by people who are not enrolled; each person has equal weight."""

    other: np.ndarray  # float64 (searches,): the nearest distance of each search
    person: np.ndarray  # int64 (searches,): the person who searches
    genuine: np.ndarray  # float64: distances of mates, infinite for a mate that is not at rank 1

    def far_curve(self, confidence: float) -> FarCurve:
        """Return FAR along thresholds, a mean over people, with its one-sided limits."""
        # FAR of all people at each nearest distance, in increasing order. The weight of a search is
        # such that each person counts as 1.
        _, person = np.unique(self.person, return_inverse=True)
        searches = np.bincount(person.reshape(-1))
        people = len(searches)
        population = "people who are not enrolled"
        share = 1 / searches[person.reshape(-1)]
        order = np.argsort(self.other, kind="stable")
        nearest = self.other[order]
        genuine = np.sort(self.genuine, kind="stable")
        means = np.minimum(np.cumsum(share[order]) / max(people, 1), 1.0)

        # Limits by a jackknife over groups of people: the false accepts of each group (thresholds,
        # groups), and FAR of all people and without each group (thresholds, 1 + groups).
        thresholds = grid_of(nearest)
        group = groups_of(people)
        groups = int(group.max(initial=-1)) + 1
        accepted_of_group = by_subject(
            self.other, group[person.reshape(-1)], thresholds, groups, share
        )[:-1].cumsum(axis=0)
        number_of_people = without_each(np.bincount(group, minlength=groups).astype(np.float64))
        columns = without_each(accepted_of_group) / np.where(
            number_of_people > 0, number_of_people, np.nan
        )
        limits = RateCurve.from_columns(
            np.clip(columns, 0.0, 1.0), people, people, confidence, 1, raised=True, one_sided=True
        )

        def frr_at(threshold: float) -> float:
            return float((~(genuine <= threshold)).mean()) if len(genuine) else math.nan

        def loosest(far: float) -> Operating:
            # How many of the nearest distances may be accepted: all equal ones, or none of them.
            is_last_of_equal = np.append(nearest[1:] != nearest[:-1], True)
            allowed = np.flatnonzero(is_last_of_equal & (means <= far + _ROUNDING))
            accepted = int(allowed[-1]) + 1 if len(allowed) else 0
            next_false_accept = nearest[accepted] if accepted < len(nearest) else np.inf
            # The threshold is the last score before the next false accept.
            mates = genuine[(genuine < next_false_accept) & np.isfinite(genuine)]
            threshold = float(max([*nearest[:accepted][-1:], *mates[-1:]], default=-np.inf))
            if not accepted and next_false_accept == -np.inf:
                threshold = math.nan
            mean, far_of_attempts = 0.0, 0.0
            if accepted:
                mean, far_of_attempts = float(means[accepted - 1]), accepted / len(nearest)
            following = float(np.minimum(*next_among(threshold, genuine, nearest)))
            return Operating(threshold, following, mean, far_of_attempts, frr_at(threshold))

        return FarCurve(
            Judged(limits, confidence, people),
            thresholds,
            columns[:, 0],
            np.array([frr_at(x) for x in thresholds]),
            loosest,
            len(nearest),
            population,
            "of the searches by people who are not enrolled raise a false alarm",
            fixed_gallery=True,
            refusal=too_few(people, population) if people < FEWEST else None,
        )


# Shares are added up in different orders: a mean that equals a rate may be above it by this much.
_ROUNDING = 1e-12
