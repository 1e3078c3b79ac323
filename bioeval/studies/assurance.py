"""Assured thresholds, whose FAR does not exceed a target with a stated confidence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.special
import xarray as xr

from bioeval.base.arguments import check_confidence, require_list, require_number
from bioeval.base.errors import DataError, Message, NoResultError, ProtocolError, received
from bioeval.base.kinds import Kind
from bioeval.base.progress import stage, steps_reported
from bioeval.counting.threshold_rules import TARGETS, PointsWanted, Rule
from bioeval.counting.thresholds import require_values, to_internal, to_user
from bioeval.counting.verification import verify
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset
from bioeval.results.support import RuleOf, beyond_scores, people_with
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import knows_people, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.error_curves import EER
from bioeval.stats.jackknife import RateCurve, Sample
from bioeval.stats.options import PEOPLE, IntervalMethod
from bioeval.stats.verification import VerificationColumns
from bioeval.stats.weighted_sums import by_subject, groups_of, rates_without_each

# One-sided limits of a rate, and the number of people that settles whether it keeps a target.


@dataclass(frozen=True)
class Judged:
    """A rate along thresholds, with one-sided limits."""

    limits: RateCurve
    confidence: float
    people: int  # number of people
    pairs: int = 0  # number of pairs of people compared; 0 if attempts are of single people

    def limits_at(self, rate: float) -> tuple[float, float]:
        """Return the lower and the upper limit of a rate."""
        low, high = self.limits.limits_at(np.array(rate))
        return float(low), float(high)

    def is_shown(self, rate: float, target: float) -> bool:
        """Whether the upper limit of a rate is at most a target, and the people support it."""
        return self.limits_at(rate)[1] <= target and self.enough_for(target)

    def enough_for(self, target: float) -> bool:
        """Whether there are the people, or pairs of people, that the rule of 3 asks for."""
        return (self.pairs or self.people) >= _least_trials(target, self.confidence)

    def least_people(self, target: float) -> int:
        """Return the fewest people who show a target without an error, by the rule of 3."""
        trials = _least_trials(target, self.confidence)
        return people_with(trials) if self.pairs else trials

    def people_to_settle(self, rate: float, target: float) -> float:
        """Return about how many people are needed for a limit of the rate to reach a target.

        NaN if no number is enough. With `a` times the people, there are `a` times as many effective
        attempts (`a * a` times if attempts are of pairs of people), and counting two people twice
        raises the rate by one `a`-th as much. The people tested are enough if, and only if, the
        limit of their rate reaches the target.
        """
        limits, people = self.limits, self.people
        if not len(limits.trials) or not people:
            return math.nan
        # From one person to 10^9 people, as multiples of the people tested.
        factors = np.geomspace(1 / people, 1e9 / people, 8001)
        effective = float(np.interp(rate, limits.rate, limits.trials))
        raised = float(np.interp(rate, limits.rate, limits.raised))
        trials = effective * factors
        if 0 < self.pairs <= effective:
            trials = effective * factors**2
        is_below = rate < target
        # A limit is beyond the target if a beta distribution has enough of its mass before the
        # target. The mass is cheap to compute for any number of trials; a quantile is not.
        if is_below:
            raised_rates = np.minimum(rate + (raised - rate) / factors, 1.0)
            mass = _beta_mass(trials * raised_rates + 1, trials * (1 - raised_rates), target)
            is_enough = mass >= self.confidence
        else:
            mass = _beta_mass(trials * rate, trials * (1 - rate) + 1, target)
            is_enough = mass < 1 - self.confidence
        not_enough = np.flatnonzero(~is_enough)
        if not (is_enough[-1] and effective > 0):
            return math.nan
        needed = math.ceil(people * factors[not_enough[-1] + 1 if len(not_enough) else 0])
        if is_below:
            needed = max(needed, self.least_people(target))
            is_settled = self.is_shown(rate, target)
        else:
            is_settled = self.limits_at(rate)[0] > target
        return min(needed, people) if is_settled else max(needed, people + 1)


def _least_trials(rate: float, confidence: float) -> int:
    """Return how many independent trials without an error show a rate, by the rule of 3.

    The rule is of 95 %: at another confidence, the trials grow as those of the exact limit do. The
    exact limit needs up to one in twenty fewer; the rule is asked, since tables and messages on too
    few people go by it.
    """
    share = math.log1p(-confidence) / math.log(0.05)
    return math.ceil(share * RuleOf(3) / rate * (1 - 1e-12))


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the probability of a value up to a rate, of beta distributions.

    All mass is at 0 if `a` is 0, and at 1 if `b` is 0.
    """
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    return np.where(a <= 0, 1.0, np.where(b <= 0, np.float64(rate >= 1), mass))


# FAR and FRR with the one-sided limits, by people, on which guarantees are based.


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
    loosest: Callable[[float], Operating]  # the loosest operating point with at most this FAR
    impostors: int  # number of impostor attempts
    over: str  # what the mean is over, in words
    event: str  # what the rate is of, in words
    fixed_gallery: bool = False  # whether people of the gallery are never left out
    refusal: Message | None = None  # why nothing can be guaranteed, if nothing can


class JudgedAttempts:
    """Verification of single templates, with one-sided limits of FAR and FRR."""

    def __init__(
        self,
        scores: Scores,
        confidence: float,
        thresholds: np.ndarray | None = None,
        unit: str | None = None,
    ):
        """Count the attempts without each person, or each unit of people.

        The `thresholds` of the user are counted as well.
        """
        self.confidence = confidence
        self._unit = unit
        self.verified = verify(
            scores, wanted=PointsWanted(np.empty(0), np.empty((0, 3)), False), thresholds=thresholds
        )
        self.verified.find_points(symmetric=None, with_thresholds=False)
        method = IntervalMethod(PEOPLE, unit=unit)
        columns = VerificationColumns.count(self.verified, method, [EER])
        self.curve = columns.one_sided(confidence)
        is_person = ~columns.people.no_person
        probing, claimed = (columns.by_unit(x) > 0 for x in columns.persons.made[:, is_person])
        self._thresholds = columns.grid.usual
        genuine = np.bincount(columns.genuine.person, minlength=len(is_person))[is_person]
        # People, or units of people, with genuine attempts.
        self.genuine_people = int(np.count_nonzero(columns.by_unit(genuine)))
        self._impostor_people = int((probing | claimed).sum())  # people with impostor attempts
        self._sides = (probing, claimed)

    @property
    def refusal(self) -> Message | None:
        """The message on too few people for limits of FAR, perhaps on one side; None if enough."""
        who = "people" if self._unit is None else f"values of {self._unit!r}"
        people_on_smaller_side = int(min(x.sum() for x in self._sides))
        if self._impostor_people < FEWEST:
            return too_few(self._impostor_people, f"{who} with impostor attempts")
        if self.verified.scores.layout != "pairs" and people_on_smaller_side < FEWEST:
            return too_few(people_on_smaller_side, f"{who} on one side of the comparisons")
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
            _, largest = attempts.impostor.largest_below(first_beyond)
            threshold = np.fmax(largest, -np.inf).item()
        far_reached = attempts.errors_at(threshold)[0] / attempts.impostor_attempts
        following = float(attempts.next_scores(threshold))
        return Operating(threshold, following, far_reached, far_reached, frr)


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
    # float64 (mated searches,): distances of mates, infinite where a search failed or the mate is
    # not at rank 1
    genuine: np.ndarray

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
            np.clip(columns, 0.0, 1.0),
            Sample(people, people, 1),
            confidence,
            raised=True,
            one_sided=True,
        )
        population = "people who are not enrolled"
        return FarCurve(
            judged=Judged(limits, confidence, people),
            thresholds=thresholds,
            far=columns[:, 0],
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
        people = np.bincount(group, minlength=groups).astype(np.float64)
        return rates_without_each(accepted_of_group[:-1].cumsum(axis=0), people)


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


# The FAR of the strictest threshold that is tried, as a fraction of the target.
STRICTEST = 0.1

# A message says that two kinds of FAR differ if they do by more than this fraction.
_APART = 0.1

#: The codes of messages that say why no threshold can be guaranteed.
REFUSED = (
    "no-impostor-attempts",
    "too-few-people-to-resample",
    "strictest-threshold-above-target",
    "too-few-people-to-promise",
)

ASSURED: dict[str, Variable] = {
    "assured_threshold": Variable(
        "threshold whose FAR is assured to be at most the target",
        "score",
        shown="threshold",
        label="assured threshold",
    ),
    "assured_far": Variable(
        "FAR at the assured threshold; in open-set identification, the mean over unenrolled people",
        "proportion",
        "FMR",
        label="{far} at the assured threshold",
        threshold="assured_threshold",
    ),
    "assured_far_high": Variable(
        "one-sided upper limit of assured_far, at most the target; the two people with the most "
        "errors are counted twice",
        "proportion",
        "FMR",
        label="upper limit of this {far}",
        detail="verbose",
    ),
    "assured_far_attempts": Variable(
        "FAR at the assured threshold, over all attempts",
        "proportion",
        "FMR",
        label="{far} at the assured threshold, of all attempts",
        detail="verbose",
        threshold="assured_threshold",
        out_of="impostor_attempts",
    ),
    "assured_frr": Variable(
        "FRR at the assured threshold",
        "proportion",
        "FNMR",
        label="{frr} at the assured threshold",
        threshold="assured_threshold",
        out_of="genuine_attempts",
    ),
    "frr_price": Variable(
        "FRR at the assured threshold minus FRR at the loosest threshold that keeps the target on "
        "these data",
        "proportion",
        label="{frr} that the assurance adds",
        detail="verbose",
    ),
    "people_estimated": Variable(
        "about how many people are needed to guarantee the target by a strict threshold, whose FAR "
        "here is people_far; a looser one needs more",
        "subjects",
        label="people who suffice, about, but only for a much stricter threshold",
        detail="verbose",
    ),
    "people_far": Variable(
        "FAR of the threshold for which people_estimated is given",
        "proportion",
        "FMR",
        label="{far} on these data at this much stricter threshold",
        detail="verbose",
    ),
    "assured_people": Variable(
        "people on whom the assured threshold rests",
        "subjects",
        label="people behind the assured threshold",
        detail="verbose",
    ),
}


@dataclass(frozen=True)
class Assured:
    """An assured threshold; all numbers are NaN if the data guarantee none."""

    curve: FarCurve
    threshold: float = math.nan  # a distance
    next: float = math.nan  # the nearest score that it rejects
    far: float = math.nan
    high: float = math.nan  # the upper limit of `far`
    far_of_attempts: float = math.nan  # FAR of all attempts, in place of a mean over people
    frr: float = math.nan
    people_needed: float = math.nan  # about how many people guarantee the target strictly
    far_of_strict: float = math.nan  # the FAR of the strict threshold that `people_needed` is for
    refusal: Message | None = None  # why no threshold is guaranteed

    def described(self, kind: Kind, frr: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return variables and attributes; `frr` is the FRR at the threshold by the rule."""
        values = {
            "assured_threshold": to_user(self.threshold, kind),
            "assured_threshold_next": to_user(self.next, kind),
            "assured_far": self.far,
            "assured_far_high": self.high,
            "assured_far_attempts": self.far_of_attempts,
            "assured_frr": self.frr,
            "frr_price": self.frr - frr,
            "people_estimated": self.people_needed,
            "people_far": self.far_of_strict,
            "assured_people": self.curve.judged.people,
        }
        against = " against this gallery" if self.curve.fixed_gallery else ""
        attrs = {
            "assured_for": f"people like these{against}",
            "assured_over": self.curve.over,
        }
        return values, attrs


@stage("assured threshold")
def assured_threshold(curve: FarCurve, target: float) -> Assured:
    """Return the loosest threshold whose upper limit is at most the target."""
    refusal = curve.refusal if curve.impostors else Message("no-impostor-attempts")
    if refusal is not None:
        return Assured(curve, refusal=refusal)
    # About how many people guarantee the target by a strict threshold, whose FAR is a tenth of it;
    # NaN if no number is enough.
    people_needed, far_of_strict = math.nan, math.nan
    strict = _strict_far(curve, target)
    if strict < target:
        people_needed = float(curve.judged.people_to_settle(strict, target))
        far_of_strict = strict
    assured = Assured(
        curve,
        people_needed=people_needed,
        far_of_strict=far_of_strict,
    )
    largest_far = math.nan
    if curve.judged.enough_for(target):
        largest_far = curve.judged.limits.largest_rate(target)
    loosest = None if math.isnan(largest_far) else curve.loosest(largest_far)
    if loosest is None or not math.isfinite(loosest.threshold):
        return replace(assured, refusal=_refusal(curve, target))
    _, high = curve.judged.limits_at(loosest.far)
    return replace(
        assured,
        threshold=loosest.threshold,
        next=loosest.next,
        far=loosest.far,
        high=high,
        far_of_attempts=loosest.far_of_attempts,
        frr=loosest.frr,
    )


def _strict_far(curve: FarCurve, target: float) -> float:
    """Return the largest FAR of the curve up to a tenth of the target, or the smallest above 0."""
    rates = curve.far[(curve.far > 0) & np.isfinite(curve.thresholds)]
    if not len(rates):
        return 0.0
    return float(rates[max(int(np.searchsorted(rates, STRICTEST * target, side="right")) - 1, 0)])


def _refusal(curve: FarCurve, target: float) -> Message:
    far = _strict_far(curve, target)
    arguments: dict[str, Any] = {"far": far, "event": curve.event, "target": target}
    if far >= target:
        return Message("strictest-threshold-above-target", **arguments)
    judged = curve.judged
    people = {"confidence": judged.confidence, "people": judged.people}
    population = curve.over if curve.fixed_gallery else "people"
    high = _high_said(judged, far, target)
    return Message("too-few-people-to-promise", **arguments, high=high, **people, over=population)


def _high_said(judged: Judged, rate: float, target: float) -> float:
    """Return the upper limit of a rate; that of the rule of 3 if people are too few by this alone.

    Of 12 people, 66 pairs without an error have the exact limit 4.44 % and 3 / 66 = 4.55 %.
    """
    high = judged.limits_at(rate)[1]
    if high > target or judged.enough_for(target):
        return high
    share = math.log1p(-judged.confidence) / math.log(0.05)
    return min(share * RuleOf(3) / (judged.pairs or judged.people), 1.0)


def kinds_of_people_absent(people: int) -> Message:
    """Return the message on kinds of people who may be absent among this number of people."""
    if people <= RuleOf(3):
        return Message("kinds-of-people-absent")
    return Message("kinds-of-people-absent", share=RuleOf(3) / people, people=people)


def remarks_on(assured: Assured, scores: Scores) -> list[Message]:
    """Return the refusal; or remarks on the guarantee, if a threshold is guaranteed."""
    if assured.refusal is not None:
        return [assured.refusal]
    remarks = [kinds_of_people_absent(assured.curve.judged.people)]
    far, far_of_attempts = assured.far, assured.far_of_attempts
    if abs(far - far_of_attempts) > _APART * max(far, far_of_attempts):
        rates = {"far_of_means": far, "far_of_attempts": far_of_attempts}
        population = assured.curve.over
        remarks.append(Message("unequal-numbers-of-templates", **rates, over=population))
    if scores.is_derived:
        remarks.append(Message("assurance-of-derived-scores", origin=scores.origin))
    return remarks


def check_assurance(assure: Any, rule: Any) -> float:
    """Return the confidence of an assured threshold, or raise :class:`DataError`."""
    confidence = check_confidence(assure, "assure")
    if rule.name != "far" or not 0 < rule.values[0] < 1:
        raise DataError(
            f"`target` is {rule}; what can be assured is a FAR above 0 and below 1, "
            "such as far=0.01"
        )
    return confidence


def require_named_people(scores: Scores, purpose: str) -> None:
    """Raise :class:`DataError` unless the people of all attempts are known."""
    if knows_people(scores):
        return
    remedy = "give labels of probes and gallery"
    if scores.layout == "pairs":
        remedy = (
            "name them: columns subject_a and subject_b in a file, --subject-from "
            f"'{subject_pattern_of(scores)}', or subjects= to Scores.from_pairs"
        )
    raise DataError(
        f"{purpose} rests on the number of people, and the people of these scores are not known; "
        f"{remedy}"
    )


# Whether data show, refute or leave open that a rate is at most a number.


#: If more people than this are needed, a message names no number.
_MOST_TO_SETTLE = 100_000


def _rate_and_limits(rate: str, iso_term: str) -> dict[str, Variable]:
    words = rate.upper()
    raised = ", with the two people who err most counted twice"
    return {
        rate: Variable(
            f"{words} there",
            "proportion",
            iso_term,
            threshold="threshold",
            label=f"{{{rate}}}",
            direction="smaller",
        ),
        f"{rate}_low": Variable(
            f"one-sided lower limit of the {words} there", "proportion", iso_term
        ),
        f"{rate}_high": Variable(
            f"one-sided upper limit of the {words} there{raised}", "proportion", iso_term
        ),
    }


PROMISE = {
    "threshold": Variable(
        "threshold that the promises are about", "score", shown="threshold", label="threshold"
    ),
    "promise": Variable("the promise, a rule", label="promise"),
    "promised": Variable(
        "largest rate that is promised",
        "proportion",
        dims=("promise",),
        label="promised at most",
    ),
    "verdict": Variable(
        "shown, refuted or open; valid only if the threshold and the promise were fixed before "
        "these data were seen, and for each promise by itself",
        dims=("promise",),
        label="verdict",
    ),
    "people": Variable("number of people", "subjects", dims=("promise",), label="people"),
    "people_to_settle": Variable(
        "about how many people would decide the promise at this rate",
        "subjects",
        dims=("promise",),
        label="people to settle it, about",
    ),
    "interval_for": Variable(
        "population that the limits are for", dims=("promise",), label="limits for"
    ),
    **_rate_and_limits("far", "FMR"),
    **_rate_and_limits("frr", "FNMR"),
}


@warns_of_doubts
def check_promise(
    scores: Scores,
    threshold: float,
    promise: str | Sequence[str] = "far=0.01",
    *,
    confidence: float = 0.95,
    unit: str | None = None,
) -> xr.Dataset:
    """Say whether data show, refute or leave open that a rate is at most a number.

    The threshold and the promise are fixed before these data were seen.

    Parameters
    ----------
    scores : Scores
        Scores of people who had no part in choosing the threshold: a matrix with labels, or a list
        whose lines name people.
    threshold : float
        The threshold, fixed beforehand on other data.
    promise : str or sequence of str
        Promise to be shown: far=X or frr=X. ``"far=0.01"``, ``"frr=5%"``, or several of them; each
        rate is above 0 and below 1.
    confidence : float
        Confidence of each one-sided limit.
    unit : str, optional
        Column of metadata whose values are left out in turn, in place of people. It is explained
        in :class:`bioeval.stats.IntervalMethod`.

    Returns
    -------
    xarray.Dataset
        Over ``promise``, the rules:

        - ``verdict``: ``"shown"`` (the upper limit is at most the target, and there are the people
          that the rule of 3 asks for), ``"refuted"`` (the lower limit is above the target) or
          ``"open"``
        - ``promised``: the rate
        - ``people``
        - ``people_to_settle``: about how many people would settle the promise at the observed rate,
          NaN where no number does

        The other variables are ``threshold``, and each rate that is promised with its limits,
        ``far``, ``far_low`` and ``far_high``, or ``frr``, ``frr_low`` and ``frr_high``, over all
        attempts.

    Raises
    ------
    DataError
        If a promise is no rate, or not between 0 and 1.
    NoResultError
        If the threshold is outside all scores of both classes, and tells no attempts apart.
    ProtocolError
        If the people of the scores are not known.

    Notes
    -----
    The limits are those of :func:`study_threshold` with `assure`, and the ends of the interval of
    :func:`verification` with ``IntervalMethod("people", confidence=0.9)``: five per cent are beyond
    either end (``docs/uncertainty.md``). A second test with more data of the same
    people is not allowed for. The confidence is that of each promise alone.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(200, 4, random_state=2)
    >>> found = be.check_promise(scores, 2.5, ["far=0.05", "frr=1%"])
    >>> found.verdict.values.tolist(), bool(found.far_high <= 0.05)
    (['shown', 'refuted'], True)
    """
    several = [promise] if np.ndim(promise) == 0 else require_list("promise", promise)
    rules: list[Rule] = []
    if not len(several):
        raise DataError('`promise` is empty; expected a promise such as "far=0.01"')
    for text in several:
        name, _, number = str(text).partition("=")
        if name.strip().lower() not in TARGETS or not number or "," in number:
            raise DataError(f"`promise` is {received(text)}; expected far=X or frr=X")
        rules.append(Rule.parse(text, "promise"))
        if not 0 < rules[-1].values[0] < 1:
            raise DataError(
                f"`promise` is {received(text)}; expected a rate above 0, which data can show, "
                "and below 1, which no threshold exceeds"
            )
    rules = list(dict.fromkeys(rules))
    confidence = check_confidence(confidence)
    require_scores(scores)
    require_values(scores, "a promise")
    require_named_people(scores, "a promise")
    threshold = require_number("threshold", threshold)
    distance = float(to_internal(np.array([threshold]), scores.kind)[0])
    with steps_reported():
        attempts = JudgedAttempts(scores, confidence, np.array([threshold]), unit)
        far, frr = attempts.rates(distance)
    following = float(attempts.verified.attempts.next_scores(distance))
    beyond = beyond_scores(threshold, far, frr, following)
    for message in beyond:
        if message.arguments["outside"]:
            raise NoResultError(f"nothing can be guaranteed: {sentence_about(message)}")
    judged: dict[str, tuple[float, Judged]] = {}  # the rate at the threshold, and its limits
    for name in dict.fromkeys(x.name for x in rules):
        if name == "frr" and attempts.genuine_people < FEWEST:
            who = "people" if unit is None else f"values of {unit!r}"
            raise ProtocolError(
                f"there are only {attempts.genuine_people} {who} with genuine attempts; at "
                f"least {FEWEST} are needed"
            )
        if name == "far" and attempts.refusal is not None:
            raise ProtocolError(f"FAR cannot be assured: {sentence_about(attempts.refusal)}")
        judged[name] = (far, attempts.far) if name == "far" else (frr, attempts.frr)
    verdicts = [_Verdict.of_rule(rule, *judged[rule.name]) for rule in rules]

    variables: Variables = {"threshold": threshold, "promised": [x.values[0] for x in rules]}
    for promised, (rate, limits) in judged.items():
        low, high = limits.limits_at(rate)
        variables |= {promised: rate, f"{promised}_low": low, f"{promised}_high": high}
    variables |= {
        "verdict": [x.verdict for x in verdicts],
        "people": [x.people for x in verdicts],
        "people_to_settle": [x.people_to_settle for x in verdicts],
        "interval_for": ["new people"] * len(verdicts),
    }
    about: dict[str, Any] = {"threshold": threshold, "confidence": confidence}
    messages = [*(x.message(about) for x in verdicts), *beyond]
    if any(x.verdict == "shown" for x in verdicts):
        messages.append(kinds_of_people_absent(max(x.people for x in verdicts)))
    attrs = about_attrs(Provenance.from_scores(scores), "promise", "promise", messages)
    attrs |= {"confidence": confidence, "interval_method": "people", "limits": "one-sided"}
    attrs["interval_unit"] = unit or "people"
    attrs["chosen_on"] = "given"
    coordinates = {"promise": np.array([str(rule) for rule in rules])}
    return dataset(variables, PROMISE, coordinates, attrs)


class _Verdict(NamedTuple):
    """Whether data show that a rate is at most a number."""

    rule: Rule  # the promise
    verdict: Literal["shown", "refuted", "open"]
    low: float  # the lower one-sided limit of the rate
    high: float  # the upper one-sided limit
    people: int  # number of people
    people_to_settle: float  # about how many people would settle the promise

    @classmethod
    def of_rule(cls, rule: Rule, rate: float, limits: Judged) -> Self:
        target = rule.values[0]
        low, high = limits.limits_at(rate)
        verdict: Literal["shown", "refuted", "open"] = "open"
        if limits.is_shown(rate, target):
            verdict = "shown"
        elif low > target:
            verdict = "refuted"
        people_to_settle = limits.people_to_settle(rate, target)
        said = _high_said(limits, rate, target)
        return cls(rule, verdict, low, said, limits.people, people_to_settle)

    def message(self, about: dict[str, Any]) -> Message:
        about = {"rate": self.rule.name, "promise": self.rule.values[0], **about}
        if self.verdict == "shown":
            return Message("promise-kept", **about, high=self.high)
        if self.verdict == "refuted":
            return Message("promise-not-kept", **about, low=self.low)
        if self.people_to_settle <= _MOST_TO_SETTLE:
            about["people_to_settle"] = int(self.people_to_settle)
        return Message("promise-open", **about, low=self.low, high=self.high)
