"""Guarantees of thresholds: promises about a threshold, and thresholds with an assured FAR.

Both rest on one-sided limits of a rate by people. A promise is about a threshold that was fixed
beforehand, and :func:`check_promise` says whether data show or refute it::

    low, high = limits(rate of the data at the threshold)
    if high <= target and people_or_pairs >= 3 / target:  # the rule of 3
        verdict = "shown"
    elif low > target:
        verdict = "refuted"
    else:
        verdict = "open"

If FAR is 0.4 %, with the limits 0.2 % and 0.7 %, then ``far=1%`` is shown, ``far=0.1%`` is refuted
and ``far=0.5%`` is open. An assured threshold is the loosest one at which a target is shown;
:func:`study_threshold` finds it by :func:`assured_threshold`.

The file has promises, then the limits of a rate (:class:`Judged`), the FAR of verification and of
searches with its limits, and assured thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.special
import xarray as xr

from bioeval.base.arguments import check_confidence, require_list, require_number
from bioeval.base.errors import DataError, Message, NoResultError, ProtocolError, received
from bioeval.base.progress import stage, steps_reported
from bioeval.counting.operating_points import Attempts
from bioeval.counting.threshold_rules import TARGETS, PointsWanted, Rule
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.counting.verification import verify
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import beyond_scores
from bioeval.results.dataset import Variables, dataset
from bioeval.results.support import RuleOf, people_with
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import require_people
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.stats.curve_thresholds import grid_of
from bioeval.stats.error_curves import EER
from bioeval.stats.options import PEOPLE, IntervalMethod
from bioeval.stats.rate_limits import RateCurve, Sample
from bioeval.stats.verification import VerificationColumns, VerificationLimits
from bioeval.stats.weighted_sums import by_subject, groups_of, rates_without_each

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
    rules = _promised_rules(promise)
    confidence = check_confidence(confidence)
    require_scores(scores)
    require_values(scores, "a promise")
    require_people(scores, "a promise")
    threshold = require_number("threshold", threshold)

    # Both rates at the threshold, with the limits of each rate.
    distance = float(to_internal(np.array([threshold]), scores.kind)[0])
    with steps_reported():
        judged = JudgedAttempts(scores, confidence, np.array([threshold]), unit)
        far, frr = rates_of(judged.attempts, distance)
    following = float(judged.attempts.next_scores(distance))
    beyond = beyond_scores(threshold, far, frr, following)
    for message in beyond:
        if message.arguments["outside"]:
            raise NoResultError(f"nothing can be guaranteed: {sentence_about(message)}")

    # The verdict on each promise.
    variables: Variables = {"threshold": threshold, "promised": [x.values[0] for x in rules]}
    verdicts: list[str] = []
    people: list[int] = []
    people_to_settle: list[float] = []
    messages: list[Message] = []
    for rule in rules:
        if rule.name == "far":
            value, limits = far, judged.far
            if judged.refusal is not None:
                raise ProtocolError(f"FAR cannot be assured: {sentence_about(judged.refusal)}")
        else:
            value, limits = frr, judged.frr
            if limits.people < FEWEST:
                raise ProtocolError(
                    f"there are only {limits.people} {judged.who} with genuine attempts; at "
                    f"least {FEWEST} are needed"
                )
        low, high = limits.limits_at(value)
        variables |= {rule.name: value, f"{rule.name}_low": low, f"{rule.name}_high": high}
        needed = limits.people_to_settle(value, rule.values[0])
        verdict, message = _verdict(rule, threshold, value, limits, needed)
        verdicts.append(verdict)
        people.append(limits.people)
        people_to_settle.append(needed)
        messages.append(message)
    variables |= {"verdict": verdicts, "people": people, "people_to_settle": people_to_settle}
    variables["interval_for"] = ["new people"] * len(rules)

    messages += beyond
    if "shown" in verdicts:
        messages.append(kinds_of_people_absent(max(people)))
    attrs = about_attrs(Provenance.from_scores(scores), "promise", "promise", messages)
    attrs |= {"confidence": confidence, "interval_method": "people", "limits": "one-sided"}
    attrs["interval_unit"] = unit or "people"
    attrs["chosen_on"] = "given"
    coordinates = {"promise": np.array([str(rule) for rule in rules])}
    return dataset(variables, PROMISE, coordinates, attrs)


def _promised_rules(promise: str | Sequence[str]) -> list[Rule]:
    """Return the promises as rules, without repetition; raise :class:`DataError` at another one."""
    is_list = isinstance(promise, list | tuple) or np.ndim(promise) > 0
    promises = require_list("promise", promise) if is_list else [promise]
    if not len(promises):
        raise DataError('`promise` is empty; expected a promise such as "far=0.01"')
    rules: list[Rule] = []
    for text in promises:
        name, _, number = str(text).partition("=")
        if name.strip().lower() not in TARGETS or not number or "," in number:
            raise DataError(f"`promise` is {received(text)}; expected far=X or frr=X")
        rule = Rule.parse(text, "promise")
        if not 0 < rule.values[0] < 1:
            raise DataError(
                f"`promise` is {received(text)}; expected a rate above 0, which data can show, "
                "and below 1, which no threshold exceeds"
            )
        rules.append(rule)
    return list(dict.fromkeys(rules))


def _verdict(
    rule: Rule, threshold: float, value: float, limits: Judged, people_to_settle: float
) -> tuple[str, Message]:
    """Return the verdict on one promise, and the message about it; `value` is the observed rate."""
    target = rule.values[0]
    low, _ = limits.limits_at(value)
    high = limits.high_in_words(value, target)
    about: dict[str, Any] = {"rate": rule.name, "promise": target, "threshold": threshold}
    about["confidence"] = limits.confidence
    if limits.is_shown(value, target):
        return "shown", Message("promise-kept", **about, high=high)
    if low > target:
        return "refuted", Message("promise-not-kept", **about, low=low)
    if people_to_settle <= _MOST_TO_SETTLE:
        about["people_to_settle"] = int(people_to_settle)
    return "open", Message("promise-open", **about, low=low, high=high)


def kinds_of_people_absent(people: int) -> Message:
    """Return the message on kinds of people who may be absent among this number of people."""
    if people <= RuleOf(3):
        return Message("kinds-of-people-absent")
    return Message("kinds-of-people-absent", share=RuleOf(3) / people, people=people)


def rates_of(attempts: Attempts, threshold: float) -> tuple[float, float]:
    """Return FAR and FRR at a threshold, as a distance; NaN without an attempt of the class."""
    accepted, rejected = attempts.errors_at(threshold)
    impostors, genuine = attempts.impostor_attempts, attempts.genuine_attempts
    far = accepted / impostors if impostors else math.nan
    return far, rejected / genuine if genuine else math.nan


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
        return (self.pairs or self.people) >= self._trials_for(target)

    def _trials_for(self, target: float) -> int:
        return math.ceil(self._errors_of_rule / target * (1 - 1e-12))

    @property
    def _errors_of_rule(self) -> float:
        """The 3 of the rule of 3, which is of 95 %, at this confidence.

        It grows as the exact limit does. The exact limit needs up to one in twenty trials fewer;
        the rule is asked, since tables and messages on too few people go by it.
        """
        return math.log1p(-self.confidence) / math.log(0.05) * RuleOf(3)

    def high_in_words(self, rate: float, target: float) -> float:
        """Return the upper limit of a rate for a message.

        It is that of the rule of 3 if people are too few by this alone: of 12 people, 66 pairs
        without an error have the exact limit 4.44 % and 3 / 66 = 4.55 %.
        """
        high = self.limits_at(rate)[1]
        if high > target or self.enough_for(target):
            return high
        return min(self._errors_of_rule / (self.pairs or self.people), 1.0)

    def people_to_settle(self, rate: float, target: float) -> float:
        """Return about how many people are needed to show or to refute that a rate keeps a target.

        A rate below the target is shown by its upper limit, another rate is refuted by its lower
        limit. NaN if no number of people is enough.
        """
        factor = self._factor_to_settle(rate, target)
        if math.isnan(factor):
            return math.nan
        needed = math.ceil(self.people * factor)
        if rate < target:
            # The fewest people who show the target without an error.
            trials = self._trials_for(target)
            needed = max(needed, people_with(trials) if self.pairs else trials)
            is_settled = self.is_shown(rate, target)
        else:
            is_settled = self.limits_at(rate)[0] > target
        # The number is approximate, but whether the people tested are enough is known.
        return min(needed, self.people) if is_settled else max(needed, self.people + 1)

    def _factor_to_settle(self, rate: float, target: float) -> float:
        """Return how many times the people tested are needed for a limit to reach the target.

        The factor is 1 if just the people tested are enough, and NaN if no number is.
        """
        if not self.people:
            return math.nan
        effective = float(np.interp(rate, self.limits.rate, self.limits.trials))
        if not effective > 0:
            return math.nan

        # The effective attempts of 1 to 10^9 people, in steps of 0.3 %. They grow as the pairs of
        # people if they are as many as the pairs. If they are fewer, the attempts of a person
        # depend on each other, and they grow as the people.
        factors = np.geomspace(1 / self.people, 1e9 / self.people, 8001)
        trials = effective * factors
        if 0 < self.pairs <= effective:
            trials = effective * factors**2

        # A limit is beyond the target if a beta distribution has enough of its mass before the
        # target. The mass is cheap to compute for any number of trials; a quantile is not.
        if rate < target:
            # The upper limit is of the rate in which two people count twice. Among `a` times as
            # many people, they raise the rate by one `a`-th as much.
            raised = float(np.interp(rate, self.limits.rate, self.limits.raised))
            raised_rates = np.minimum(rate + (raised - rate) / factors, 1.0)
            mass = _beta_mass(trials * raised_rates + 1, trials * (1 - raised_rates), target)
            is_enough = mass >= self.confidence
        else:
            mass = _beta_mass(trials * rate, trials * (1 - rate) + 1, target)
            is_enough = mass < 1 - self.confidence
        if not is_enough[-1]:
            return math.nan

        # The first factor from which on all are enough.
        not_enough = np.flatnonzero(~is_enough)
        first_enough = not_enough[-1] + 1 if len(not_enough) else 0
        return float(factors[first_enough])


def _beta_mass(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
    """Return the probability of a value up to a rate, of beta distributions.

    All mass is at 0 if `a` is 0, and at 1 if `b` is 0.
    """
    mass = scipy.special.betainc(np.maximum(a, 1e-300), np.maximum(b, 1e-300), rate)
    mass[b <= 0] = float(rate >= 1)
    mass[a <= 0] = 1.0
    return mass


# FAR with its one-sided limits, of verification and of searches. Both classes have:
#
# - `far`: the limits; `thresholds` and `rates` (k,): increasing distances, and FAR at each
# - `attempts`; `refusal`: why nothing can be guaranteed, or None
# - `over`: what the mean is over, and `event`: what the rate counts, in words
# - `fixed_gallery`: whether people of the gallery are never left out
# - `loosest`: the loosest distance whose FAR is at most a rate, FAR at this distance, and attempts
#   by which the rates at this distance can be counted


#: Limits need at least this number of people who are left out in turn.
FEWEST = 3


class JudgedAttempts:
    """Verification of single templates, with one-sided limits of FAR and FRR.

    Each person is left out in turn, or each value of a metadata column `unit`; these values are
    then counted as people. The `thresholds` of the user are counted besides those of a grid.
    """

    over = "impostor attempts"
    event = "of the impostor attempts are accepted"
    fixed_gallery: ClassVar = False

    def __init__(
        self,
        scores: Scores,
        confidence: float,
        thresholds: np.ndarray | None = None,
        unit: str | None = None,
    ):
        # Rates along a grid of thresholds: column 0 of all people, then without each person.
        wanted = PointsWanted(np.empty(0), np.empty((0, 3)), False)
        verified = verify(scores, wanted=wanted, thresholds=thresholds)
        points = verified.find_points(symmetric=None, with_thresholds=False)
        columns = VerificationColumns(verified, points, IntervalMethod(PEOPLE, unit=unit), [EER])
        limits = VerificationLimits(columns).one_sided(confidence)
        self._scores = verified.scores
        self.attempts = verified.attempts
        self.thresholds = columns.grid.usual
        self.rates = limits.curve.far[:, 0]

        # People with impostor attempts, as probe or as claimed subject, and with genuine attempts.
        is_person = ~columns.people.no_person
        attempts_as_probe, attempts_as_claimed = columns.impostors.attempts[:, is_person]
        is_probe = columns.by_unit(attempts_as_probe) > 0
        is_claimed = columns.by_unit(attempts_as_claimed) > 0
        people = int(np.count_nonzero(is_probe | is_claimed))
        pairs = 0 if verified.compared is None else verified.compared.pairs
        self.far = Judged(limits.far, confidence, people, pairs)
        genuine = np.bincount(columns.genuine.person, minlength=len(is_person))[is_person]
        genuine_people = int(np.count_nonzero(columns.by_unit(genuine)))
        self.frr = Judged(limits.frr, confidence, genuine_people)

        # Too few people for limits of FAR, perhaps on one side.
        #: What is left out in turn, in words.
        self.who = "people" if unit is None else f"values of {unit!r}"
        people_on_smaller_side = int(min(is_probe.sum(), is_claimed.sum()))
        self.refusal: Message | None = None
        if people < FEWEST:
            self.refusal = too_few(people, f"{self.who} with impostor attempts")
        elif scores.layout != "pairs" and people_on_smaller_side < FEWEST:
            of_side = f"{self.who} on one side of the comparisons"
            self.refusal = too_few(people_on_smaller_side, of_side)

    def loosest(self, far: float) -> tuple[float, float, Attempts]:
        # Among all scores, not only on the grid.
        wanted = PointsWanted(np.array([far]), np.empty((0, 3)), False)
        attempts = verify(self._scores, wanted=wanted).attempts
        if attempts.genuine_attempts:
            _, thresholds = attempts.points.at_far(np.array([far]))  # (1, 1)
            threshold = thresholds[0, 0]
        else:
            # `at_far` is not defined: the largest impostor score before the first one to reject.
            first_rejected = attempts.points.far_limits(np.array([far]))[0, 0]
            _, last_accepted = attempts.impostor.largest_below(first_rejected)
            threshold = np.fmax(last_accepted, -np.inf).item()  # NaN if none is accepted
        return threshold, rates_of(attempts, threshold)[0], attempts


def too_few(people: int, who: str) -> Message:
    """Return the message that refuses data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=FEWEST)


# Shares are added up in different orders: a mean that equals a rate may be above it by this much.
_ROUNDING = 1e-12


class JudgedSearches:
    """Searches of a fixed gallery by people who are not enrolled; each person has equal weight.

    Parameters
    ----------
    attempts : Attempts
        Mates at rank 1, and the searches of people who are not enrolled.
    other, person : ndarray (searches,)
        The nearest distance of each of these searches, and the person who searches.
    """

    over = "people who are not enrolled"
    event = "of the searches by people who are not enrolled raise a false alarm"
    fixed_gallery: ClassVar = True

    def __init__(
        self, attempts: Attempts, other: np.ndarray, person: np.ndarray, confidence: float
    ):
        self.attempts = attempts

        # The weight of a search is such that each person counts as 1.
        _, person = np.unique(person, return_inverse=True)
        person = person.reshape(-1)
        searches_of_person = np.bincount(person)
        people = len(searches_of_person)
        weight = 1 / searches_of_person[person]
        order = np.argsort(other, kind="stable")
        self._nearest = other[order]
        # (searches,): FAR if the search and all before it are accepted
        self._far = np.minimum(np.cumsum(weight[order]) / max(people, 1), 1.0)
        self.thresholds = grid_of(self._nearest)

        # FAR of all people and without each group, (thresholds, 1 + groups).
        group = groups_of(people)
        groups = int(group.max(initial=-1)) + 1
        accepted = by_subject(other, group[person], self.thresholds, groups, weight)
        in_group = np.bincount(group, minlength=groups).astype(np.float64)
        columns = rates_without_each(accepted[:-1].cumsum(axis=0), in_group)
        self.rates = columns[:, 0]
        shares = np.full(groups, 1 / max(groups, 1))
        limits = RateCurve.from_columns(
            np.clip(columns, 0.0, 1.0),
            Sample(people, people, 1, shares, least=people, most=people),
            miss=1 - confidence,
            miss_at_ends=1 - confidence,
            raised=True,
        )
        self.far = Judged(limits, confidence, people)
        self.refusal = too_few(people, self.over) if people < FEWEST else None

    def loosest(self, far: float) -> tuple[float, float, Attempts]:
        # How many of the nearest distances may be accepted: all equal ones, or none of them.
        nearest = self._nearest
        is_last_of_equal = np.append(nearest[1:] != nearest[:-1], True)
        allowed = np.flatnonzero(is_last_of_equal & (self._far <= far + _ROUNDING))
        accepted = int(allowed[-1]) + 1 if len(allowed) else 0
        next_false_accept = nearest[accepted] if accepted < len(nearest) else np.inf

        # The threshold is the last score before the next false accept, of a mate or of another
        # search; -inf, which rejects all, if there is none.
        mates = self.attempts.genuine  # increasing
        mates_before = mates[(mates < next_false_accept) & np.isfinite(mates)]
        threshold = -math.inf
        if len(mates_before):
            threshold = float(mates_before[-1])
        if accepted:
            threshold = max(threshold, float(nearest[accepted - 1]))
        elif next_false_accept == -np.inf:  # no threshold rejects it
            threshold = math.nan
        far_at_threshold = float(self._far[accepted - 1]) if accepted else 0.0
        return threshold, far_at_threshold, self.attempts


# Assured thresholds.


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


@stage("assured threshold")
def assured_threshold(
    curve: JudgedAttempts | JudgedSearches, target: float
) -> tuple[dict[str, float], Message | None]:
    """Return the loosest threshold whose upper limit is at most the target.

    The numbers are by the names of `ASSURED`, but for ``frr_price``; thresholds are distances. With
    a message, which says why no threshold is guaranteed, they are NaN.
    """
    judged = curve.far
    names = ("assured_threshold", "assured_threshold_next", *ASSURED)
    values = dict.fromkeys(names, math.nan) | {"assured_people": judged.people}
    if not curve.attempts.impostor_attempts:
        return values, Message("no-impostor-attempts")
    if curve.refusal is not None:
        return values, curve.refusal

    # About how many people guarantee the target by a strict threshold; NaN if no number is enough.
    strict = _strict_far(curve, target)
    if strict < target:
        people_needed = float(judged.people_to_settle(strict, target))
        values |= {"people_estimated": people_needed, "people_far": strict}

    # The loosest threshold, if its FAR can be guaranteed.
    largest_far = judged.limits.largest_rate(target) if judged.enough_for(target) else math.nan
    if not math.isnan(largest_far):
        threshold, far, attempts = curve.loosest(largest_far)
        if math.isfinite(threshold):
            far_of_attempts, frr = rates_of(attempts, threshold)
            values |= {
                "assured_threshold": threshold,
                "assured_threshold_next": float(attempts.next_scores(threshold)),
                "assured_far": far,
                "assured_far_high": judged.limits_at(far)[1],
                "assured_far_attempts": far_of_attempts,
                "assured_frr": frr,
            }
            return values, None

    # Why no threshold is guaranteed.
    about: dict[str, Any] = {"far": strict, "event": curve.event, "target": target}
    if strict >= target:
        return values, Message("strictest-threshold-above-target", **about)
    about["high"] = judged.high_in_words(strict, target)
    about |= {"confidence": judged.confidence, "people": judged.people}
    about["over"] = curve.over if curve.fixed_gallery else "people"
    return values, Message("too-few-people-to-promise", **about)


def _strict_far(curve: JudgedAttempts | JudgedSearches, target: float) -> float:
    """Return the FAR of a strict threshold: the largest up to a tenth of the target.

    If there is none above 0, it is the smallest above 0, or 0 if no threshold accepts an impostor.
    """
    rates = curve.rates[(curve.rates > 0) & np.isfinite(curve.thresholds)]
    if not len(rates):
        return 0.0
    up_to_strictest = int(np.searchsorted(rates, STRICTEST * target, side="right"))
    return float(rates[max(up_to_strictest - 1, 0)])


def remarks_on(
    curve: JudgedAttempts | JudgedSearches, assured: dict[str, float], scores: Scores
) -> list[Message]:
    """Return remarks on the guarantee of an assured threshold."""
    remarks = [kinds_of_people_absent(curve.far.people)]
    far, far_of_attempts = assured["assured_far"], assured["assured_far_attempts"]
    if abs(far - far_of_attempts) > _APART * max(far, far_of_attempts):
        rates = {"far_of_means": far, "far_of_attempts": far_of_attempts}
        remarks.append(Message("unequal-numbers-of-templates", **rates, over=curve.over))
    if scores.is_derived:
        remarks.append(Message("assurance-of-derived-scores", origin=scores.origin))
    return remarks
