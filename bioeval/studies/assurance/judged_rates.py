"""FAR and FRR with the limits by which guarantees are judged: those of intervals by people."""

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
from bioeval.stats.people import by_subject
from bioeval.stats.verification import VerificationColumns
from bioeval.stats.weights import groups_of, without_each
from bioeval.studies.assurance.limits import Judged

#: People without whom a rate is looked at, at least.
FEWEST = 3


class Operating(NamedTuple):
    """A threshold, as a distance, and the rates there."""

    threshold: float
    next: float  # the nearest score that it rejects
    far: float
    far_of_attempts: float
    frr: float


@dataclass(frozen=True)
class FarCurve:
    """FAR along increasing thresholds, and its one-sided limits.

    - `thresholds`, `far`, `frr` (float64 (k,)): distances, and the rates there
    - `loosest`: returns the loosest operating point with at most a FAR
    - `impostors` (int): number of impostor attempts
    - `over`, `event`: what the mean is over, and what the rate is of, in words
    - `fixed_gallery` (bool): whether the people of the gallery are not left out
    - `refusal` (Message or None): why nothing can be guaranteed; None where something can
    """

    judged: Judged
    thresholds: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    loosest: Callable[[float], Operating]
    impostors: int
    over: str
    event: str
    fixed_gallery: bool = False
    refusal: Message | None = None


class JudgedAttempts:
    """Verification of single templates, with one-sided limits of FAR and FRR."""

    def __init__(self, scores: Scores, confidence: float, thresholds: np.ndarray | None = None):
        """Count the attempts without each person, also at the user's `thresholds`."""
        self.confidence = confidence
        self.verified = verify(scores, wanted=_no_points(), thresholds=thresholds)
        self.verified.find_points(symmetric=None, with_thresholds=False)
        method = IntervalMethod(PEOPLE)
        columns = VerificationColumns.count(self.verified, method, [EER])
        self.curve = columns.one_sided(confidence)
        people = ~columns.people.no_person
        probing, claimed = columns.persons.made[:, people] > 0
        self._thresholds = columns.usual
        self.genuine_people = len(np.unique(columns.genuine[1]))
        self._trying = int((probing | claimed).sum())
        self._sides = (probing, claimed)

    @property
    def refusal(self) -> Message | None:
        """The reason why FAR has no limits: too few people, perhaps on one side; else None."""
        smaller = int(min(x.sum() for x in self._sides))
        if self._trying < FEWEST:
            return too_few(self._trying, "people with impostor attempts")
        if self.verified.scores.layout != "pairs" and smaller < FEWEST:
            return too_few(smaller, "people on one side of the comparisons")
        return None

    @property
    def far(self) -> Judged:
        """FAR, a rate of pairs of people."""
        compared = self.verified.compared
        pairs = 0 if compared is None else compared.pairs
        return Judged(self.curve.far, self.confidence, self._trying, pairs)

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
        """Return FAR along the curve, by which a threshold is assured."""
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
    """Return the refusal of data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=FEWEST)


@dataclass(frozen=True, eq=False)
class SearchesOfOthers:
    """Searches of a fixed gallery by people who are not enrolled: each person counts alike.

    - `other` (float64), `person` (int64): of each search the nearest distance, and the person
    - `genuine` (float64): distances of mates, infinite where they are not at rank 1
    """

    other: np.ndarray
    person: np.ndarray
    genuine: np.ndarray

    def far_curve(self, confidence: float) -> FarCurve:
        """Return FAR along the curve, the mean over people, with its one-sided limits."""
        _, person = np.unique(self.person, return_inverse=True)
        searches = np.bincount(person.reshape(-1))
        people = len(searches)
        population = "people who are not enrolled"
        # (searches,): each person counts as 1, whatever the number of searches.
        share = 1 / searches[person.reshape(-1)]
        order = np.argsort(self.other, kind="stable")
        nearest = self.other[order]
        genuine = np.sort(self.genuine, kind="stable")
        # (searches,): FAR, a mean over people, at each nearest distance in increasing order.
        means = np.minimum(np.cumsum(share[order]) / max(people, 1), 1.0)
        thresholds = grid_of(nearest)
        group = groups_of(people)
        groups = int(group.max(initial=-1)) + 1
        # (thresholds, groups): false accepts of each group of people, and then (thresholds, 1 +
        # groups) FAR of all and without each group: the jackknife.
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

        def rejected(threshold: float) -> float:
            return float((~(genuine <= threshold)).mean()) if len(genuine) else math.nan

        def loosest(far: float) -> Operating:
            # The last of equal distances, where FAR is still at most the target.
            is_allowed = np.append(nearest[1:] != nearest[:-1], True) & (means <= far + _ROUNDING)
            number = int(np.flatnonzero(is_allowed)[-1]) + 1 if is_allowed.any() else 0
            end = nearest[number] if number < len(nearest) else np.inf  # first false accept beyond
            before = genuine[(genuine < end) & np.isfinite(genuine)]
            threshold = float(max([*nearest[:number][-1:], *before[-1:]], default=-np.inf))
            if not number and end == -np.inf:
                threshold = math.nan
            mean, attempts = (means[number - 1], number / len(nearest)) if number else (0.0, 0.0)
            following = float(np.minimum(*next_among(threshold, genuine, nearest)))
            return Operating(threshold, following, float(mean), attempts, rejected(threshold))

        return FarCurve(
            Judged(limits, confidence, people),
            thresholds,
            columns[:, 0],
            np.array([rejected(x) for x in thresholds]),
            loosest,
            len(nearest),
            population,
            "of the searches by people who are not enrolled raise a false alarm",
            fixed_gallery=True,
            refusal=too_few(people, population) if people < FEWEST else None,
        )


# Sums of shares in another order: a mean may reach the rate, and be as much above it.
_ROUNDING = 1e-12
