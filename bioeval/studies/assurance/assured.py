"""Assured thresholds: a FAR that is kept, with a stated confidence, in people like these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, Scores
from bioeval.base import (
    Argument,
    Name,
    reported_to,
    require_choice,
    require_integer,
    require_number,
    stage,
)
from bioeval.document import Message
from bioeval.results import ComparedPeople, about_attrs, build
from bioeval.scores import (
    Progress,
    are_pairs,
    knows_people,
    leaves_out_attacks,
    require_scores,
)
from bioeval.stats import IntervalOptions, clopper_pearson
from bioeval.studies.assurance.looks import Previous, current_look, digests_of_people
from bioeval.studies.assurance.pairs_of_people import PairShares
from bioeval.studies.assurance.promise import (
    ASSURANCES,
    AssuranceRule,
    PeopleMeans,
    guaranteed_limits,
    shares_for_guarantee,
)
from bioeval.tallies import (
    is_symmetric,
    require_values,
    to_internal,
    to_user,
)
from bioeval.views import sentence_about

# Points at which the estimated limit is computed, at most; the strictest has a tenth of the target.
POINTS, STRICTEST = 64, 0.1

# Difference between the mean over pairs of people and the proportion of attempts that is remarked.
_APART = 0.1


ASSURED: dict[str, Name] = {
    "assured_threshold": Name("threshold whose FAR is assured to be at most the target", "score"),
    "assured_far": Name(
        "FAR there, the mean over pairs of people; of open set over people not enrolled", iso="FMR"
    ),
    "assured_far_high": Name("one-sided upper limit of it, at most the target", iso="FMR"),
    "assured_far_attempts": Name("FAR there, of all attempts", iso="FMR"),
    "assured_frr": Name("FRR there", iso="FNMR"),
    "frr_price": Name("FRR there less that of the threshold these data alone would allow"),
    "people_needed": Name(
        "smallest number of people with which the guaranteed rule can promise the target; it "
        "suffices if none of their impostor attempts is accepted",
        "subjects",
    ),
    "people_estimated": Name(
        "about how many people the estimated rule needs to promise the target by a strict "
        "threshold, that of people_far; a looser one needs more",
        "subjects",
    ),
    "people_guaranteed": Name(
        "how many people the guaranteed rule needs to promise the target by the same strict "
        "threshold",
        "subjects",
    ),
    "people_far": Name(
        "FAR of the strict threshold for which people_estimated and people_guaranteed are given",
        iso="FMR",
    ),
    "people_frr": Name("FRR of that threshold on these data", iso="FNMR"),
    "assured_people": Name("people on whom the assured threshold rests", "subjects"),
    "assurance": Name("rule of a promise: estimated or guaranteed", ""),
    "promised_threshold": Name(
        "threshold of each rule of a promise whose FAR is assured to be at most the target", "score"
    ),
    "promised_far": Name("FAR at this threshold, the same kind of mean as assured_far", iso="FMR"),
    "promised_far_high": Name("one-sided upper limit of it, at most the target", iso="FMR"),
    "promised_frr": Name("FRR there", iso="FNMR"),
    "promised_people": Name(
        "about how many people each rule needs: people_estimated, and people_guaranteed or, where "
        "that is unknown, people_needed",
        "subjects",
    ),
    "point_threshold": Name("threshold at which the limit was computed", "score"),
    "point_far": Name("FAR at this threshold, the same kind of mean as assured_far", iso="FMR"),
    "point_far_high": Name("one-sided upper limit of it", iso="FMR"),
    "point_frr": Name("FRR there", iso="FNMR"),
}

CLAIM = {
    "threshold": Name("threshold that the claim is about", "score"),
    "claim": Name("largest rate that is claimed"),
    "verdict": Name("shown, refuted or open", ""),
    "people": Name("number of people", "subjects"),
    "people_to_settle": Name(
        "number of people for which the guaranteed limits would decide the claim at this rate",
        "subjects",
    ),
    "people_to_settle_estimated": Name("about the same of the estimated limits", "subjects"),
    "assurance": ASSURED["assurance"],
    "limit_low": Name("one-sided lower limit of the rate by each rule"),
    "limit_high": Name("one-sided upper limit of the rate by each rule"),
    "verdict_of_rule": Name("shown, refuted or open by each rule", ""),
    "people_of_rule": Name(
        "about how many people each rule needs to decide the claim at this rate", "subjects"
    ),
    "look": Name("which look at the claim this is, of the number planned", "looks"),
    "person_digest": Name("digest of the name of each person of the data", ""),
}

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    CLAIM[_rate] = Name(f"{_rate.upper()} there", iso=_iso)
    for _end, _words in (("low", "lower"), ("high", "upper")):
        _long = f"one-sided {_words} limit of the {_rate.upper()} there"
        CLAIM[f"{_rate}_{_end}"] = Name(_long, iso=_iso)


@dataclass(frozen=True)
class EnoughPeople:
    """How many people each rule needs to promise the target by one strict threshold.

    NaN where that is not known. The rules are compared at the same threshold, so that the weaker
    promise never needs more people than the stronger one.
    """

    far: float = math.nan
    frr: float = math.nan
    estimated: float = math.nan
    guaranteed: float = math.nan


@dataclass
class Assured:
    """An assured threshold, as a distance; NaN where none can be promised, with the refusal."""

    threshold: float = math.nan
    far: float = math.nan
    high: float = math.nan
    attempts: float = math.nan
    frr: float = math.nan
    needed: int = 0
    people: int = 0
    enough: EnoughPeople = EnoughPeople()
    refusal: Message | None = None
    rule: str = ""
    assurance: AssuranceRule = "estimated"
    valid_for: str = "people like these"
    over: str = PairShares.over
    event: str = PairShares.event
    remarks: list[Message] = field(default_factory=list)
    resamples_gallery: bool = False  # whose people are others than those of the probes
    other: Assured | None = None  # by the other rule
    points: np.ndarray = field(default_factory=lambda: np.empty((4, 0)))

    @property
    def reason(self) -> str:
        """Why no threshold can be promised; empty where one is."""
        return "" if self.refusal is None else sentence_about(self.refusal)

    @property
    def messages(self) -> list[Message]:
        """The refusal, or what is remarked on the promise."""
        return self.remarks if self.refusal is None else [self.refusal]

    def described(self, kind: str, frr: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return variables and attributes; `frr` is that of the threshold of the data alone."""
        values = {
            "assured_threshold": to_user(self.threshold, kind),
            "assured_far": self.far,
            "assured_far_high": self.high,
            "assured_far_attempts": self.attempts,
            "assured_frr": self.frr,
            "frr_price": self.frr - frr,
            "people_needed": self.needed,
            "people_estimated": self.enough.estimated,
            "people_guaranteed": self.enough.guaranteed,
            "people_far": self.enough.far,
            "people_frr": self.enough.frr,
            "assured_people": self.people,
        }
        values |= self._of_each_rule(kind)
        points = to_user(self.points[0], kind), *self.points[1:]
        names = ("threshold", "far", "far_high", "frr")
        curves = {f"point_{name}": (("point",), x) for name, x in zip(names, points, strict=True)}
        attrs = {
            "assured_rule": self.rule,
            "assured_for": self.valid_for,
            "assured_over": self.over,
        }
        return values | curves, attrs

    def _of_each_rule(self, kind: str) -> dict[str, Any]:
        """Return the threshold, its rates and the people of each rule of a promise."""
        assert self.other is not None
        by_rule = {self.assurance: self, self.other.assurance: self.other}
        promises = [by_rule[rule] for rule in ASSURANCES]
        guaranteed = self.enough.guaranteed
        if math.isnan(guaranteed):
            guaranteed = self.needed or math.nan
        columns = {
            "threshold": to_user(np.array([x.threshold for x in promises]), kind),
            "far": np.array([x.far for x in promises]),
            "far_high": np.array([x.high for x in promises]),
            "frr": np.array([x.frr for x in promises]),
            "people": np.array([self.enough.estimated, guaranteed]),
        }
        return {f"promised_{name}": (("assurance",), x) for name, x in columns.items()}


class Shares(Protocol):
    """Proportions accepted at increasing thresholds, of units whose mean is to be kept."""

    thresholds: np.ndarray
    mean: np.ndarray
    accepted: np.ndarray
    sides: list[np.ndarray]
    pairs: int
    independent: int
    impostors: int
    fixed_gallery: bool
    exact: bool
    refusal: Message | None
    over: str
    event: str

    def loosest(self, layer: int) -> float:
        """Return the loosest score that accepts what a layer accepts."""

    def frr(self, threshold: float) -> float:
        """Return the proportion of genuine attempts that a threshold rejects."""

    def means(self, layers: np.ndarray) -> PeopleMeans:
        """Return the means at increasing layers, and how each depends on single people."""


@stage("assured threshold")
def assured_threshold(
    scores: Scores,
    target: float,
    confidence: float,
    assurance: str,
    *,
    shares: Shares | None = None,
    **attempts: Any,
) -> Assured:
    """Return the loosest threshold that keeps a FAR target with a confidence.

    Of verification, whose `attempts` are options of :class:`PairShares`, or of other `shares`.
    """
    if shares is None:
        shares = PairShares(scores, target, **attempts)
    enough = people_to_promise(shares, target, confidence)
    kept = {rule: _loosest_kept(shares, target, confidence, rule) for rule in ASSURANCES}
    guaranteed = kept["guaranteed"]
    is_given = guaranteed.refusal is None and guaranteed.frr < 1  # and accepts something
    if is_given and kept["estimated"].refusal is not None:
        kept["estimated"] = guaranteed  # which holds for any population, so for these people too
    if is_given and not enough.guaranteed <= guaranteed.people:
        # It is promised by a stricter threshold, one without a false accept, for which the people
        # there are enough.
        enough = people_to_promise(shares, target, confidence, accepted=False)
    assured, assured.other = (
        replace(kept[rule], enough=enough, assurance=rule)
        for rule in sorted(ASSURANCES, key=lambda rule: rule != assurance)
    )
    assured.resamples_gallery = len(shares.sides) > 1
    if assured.refusal is None:
        assured.remarks = _remarks(scores, assured)
    return assured


def _loosest_kept(shares: Shares, target: float, confidence: float, assurance: str) -> Assured:
    """Return the last threshold before the first whose upper limit is above the target."""
    independent = shares_for_guarantee(target, confidence)
    assured = Assured(needed=independent if shares.fixed_gallery else 2 * independent)
    assured.over, assured.event = shares.over, shares.event
    assured.people = sum(map(len, shares.sides))
    assured.rule = "guaranteed" if assurance == "guaranteed" else "estimated"
    if shares.fixed_gallery:
        assured.valid_for = "people like these against this gallery"
    if not shares.impostors:
        assured.refusal = Message("no-impostor-attempts")
    assured.refusal = assured.refusal or shares.refusal
    if assured.refusal is not None:
        return assured
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    if shares.exact:
        assured.rule = "exact"  # every person is in one comparison
        layers = np.arange(-1, last + 1)
        errors = np.append(0, np.round(shares.mean * shares.pairs))[layers + 1]
        high = clopper_pearson(errors, shares.pairs, confidence, "upper")[1]
    elif assurance == "guaranteed":
        layers = np.arange(-1, last + 1)
        rates = np.append(0.0, shares.mean)[layers + 1]
        high = guaranteed_limits(rates, shares.independent, confidence)[1]
    else:
        layers = _layers_near(shares.mean, target, last)
        high = shares.means(layers).upper(confidence, assurance)
    # The limit at a threshold is at least that of all stricter ones, whose FAR is not larger. Few
    # errors there may give a wider limit, and a promise ends at the first limit above the target.
    high = np.maximum.accumulate(high)
    assured.points = _points(shares, layers, high)
    kept = int(np.argmax(np.append(high > target, True)))
    if not kept:
        assured.refusal = _refusal(shares, layers[0], float(high[0]), target, confidence)
        return assured
    layer = int(layers[kept - 1])
    assured.threshold = shares.loosest(layer)
    assured.high = float(high[kept - 1])
    assured.far = float(shares.mean[layer]) if layer >= 0 else 0.0
    assured.attempts = float(shares.accepted[layer]) if layer >= 0 else 0.0
    assured.frr = shares.frr(assured.threshold)
    return assured


def people_to_promise(
    shares: Shares, target: float, confidence: float, *, accepted: bool = True
) -> EnoughPeople:
    """Return how many people each rule needs at the strictest threshold of the estimated rule.

    Or at one without a false accept, unless some are to be `accepted`. Those of the estimated rule
    are no fewer than form the pairs that show the target without a false accept.
    """
    if shares.exact or shares.refusal is not None or not shares.impostors:
        return EnoughPeople()
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    first = _layers_near(shares.mean, target, last)[:1] if accepted else np.array([-1])
    means = shares.means(first)
    if means.mean[0] >= target:
        return EnoughPeople()
    least = ComparedPeople.least_with(shares_for_guarantee(target, confidence))
    estimated = float(max(means.people_to_settle(target, confidence), least))
    guaranteed = means.people_for_guarantee(target, confidence)
    if estimated > guaranteed:  # then the guaranteed rule is the one to ask
        estimated = math.nan
    frr = shares.frr(shares.loosest(int(first[0])))
    return EnoughPeople(float(means.mean[0]), frr, estimated, guaranteed)


def _points(shares: Shares, layers: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds, FAR, its limit and FRR at some of the layers, to be drawn."""
    known = np.flatnonzero(layers >= 0)
    if len(known) > POINTS:
        known = known[np.unique(np.geomspace(1, len(known), POINTS).astype(np.int64)) - 1]
    at = np.array([shares.loosest(int(layer)) for layer in layers[known]])
    frr = [shares.frr(threshold) for threshold in at]
    return np.array([at, shares.mean[layers[known]], high[known], frr])


def _layers_near(mean: np.ndarray, target: float, last: int) -> np.ndarray:
    """Return the layers whose limits are computed, evenly in the logarithm of the mean."""
    if not len(mean):  # no threshold accepts an impostor
        return np.array([-1])
    first = max(int(np.searchsorted(mean, STRICTEST * target, side="right")) - 1, 0)
    if last - first < POINTS:
        return np.arange(first, max(first, last) + 1)
    log = np.log(mean[: last + 1])
    places = np.linspace(log[first], math.log(target), POINTS)
    return np.unique(np.searchsorted(log, places, side="right") - 1)


def _refusal(shares: Shares, layer: int, high: float, target: float, confidence: float) -> Message:
    """Return why no threshold can be promised."""
    far = float(shares.mean[layer]) if layer >= 0 else 0.0
    at: dict[str, Any] = {"far": far, "event": shares.event, "target": target}
    if far >= target:
        return Message("strictest-threshold-above-target", **at)
    return Message(
        "too-few-people-to-promise",
        **at,
        high=high,
        confidence=confidence,
        people=sum(map(len, shares.sides)),
        over="people" if isinstance(shares, PairShares) else shares.over,
    )


def _remarks(scores: Scores, assured: Assured) -> list[Message]:
    """Return remarks on an assured threshold."""
    remarks = []
    if abs(assured.far - assured.attempts) > _APART * max(assured.far, assured.attempts):
        remarks.append(
            Message(
                "unequal-numbers-of-templates",
                far_of_means=assured.far,
                far_of_attempts=assured.attempts,
                over=assured.over,
            )
        )
    if scores._is_derived:
        remarks.append(Message("assurance-of-derived-scores", origin=scores._origin))
    return remarks


def check_assurance(assure: Any, assurance: str, rule: Any) -> float:
    """Return the confidence of an assured threshold, or raise :class:`DataError`."""
    require_choice("assurance", assurance, ASSURANCES)
    confidence = IntervalOptions.check_confidence(assure, "assure")
    if rule.name != "far" or not 0 < rule.values[0] < 1:
        raise DataError(
            Argument("target"),
            f" is {rule}; what can be assured is a FAR above 0 and below 1, such as far=0.01",
        )
    return confidence


def require_named_people(scores: Scores, purpose: str) -> None:
    """Raise :class:`DataError` unless the people of all attempts are known."""
    if knows_people(scores):
        return
    how = "give labels of probes and gallery"
    if are_pairs(scores):
        how = (
            "name them: columns subject_a and subject_b in a file, --subject-from "
            f"'{scores._subject_pattern}', or subjects= to Scores.from_pairs"
        )
    raise DataError(
        f"{purpose} rests on the number of people, and the people of these scores are not known; "
        f"{how}"
    )


@leaves_out_attacks
def check_claim(
    scores: Scores,
    threshold: float,
    *,
    far: float | None = None,
    frr: float | None = None,
    confidence: float = 0.95,
    assurance: AssuranceRule = "estimated",
    new_gallery: bool = False,
    looks: int = 1,
    previous: Previous | Sequence[Previous] | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Say whether data show, refute or leave open that a rate is at most a number.

    The threshold and the claim are fixed before these data were seen.

    Parameters
    ----------
    scores : Scores
        Of people who had no part in choosing the threshold: a matrix with labels, or a list whose
        lines name people.
    threshold : float
        Fixed beforehand, on other data than these.
    far, frr : float
        The claim: one of the two, above 0 and below 1.
    confidence : float
        Of each one-sided limit.
    assurance : {"estimated", "guaranteed"}
        Whether the limits are those of :func:`study_threshold` that were measured in simulations,
        or those that hold for any population.
    new_gallery
        As for :func:`study_threshold`.
    looks : int
        How often the claim will be looked at, at most, as data grow: planned before the first
        look. Each limit then has the confidence ``1 - (1 - confidence) / looks``, so that all
        looks together are wrong with at most the error of one.
    previous : xarray.Dataset, path, or sequence of these, optional
        Earlier results of this call about the same claim, or the files or folders they were
        written to. Those about people of these data count as looks.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``verdict``: ``"shown"`` (the upper limit is at most the claim), ``"refuted"`` (the lower
        limit is above it) or ``"open"``; ``far far_low far_high`` or ``frr frr_low frr_high``,
        means over pairs of people or over people; ``threshold claim people``, and
        ``people_to_settle``: with how many people the guaranteed limits would settle the claim at
        the observed rate, NaN where the rate equals the claim; ``people_to_settle_estimated``:
        about how many the estimated limits need. Over ``assurance``, the same of both rules:
        ``limit_low limit_high verdict_of_rule people_of_rule``. ``person_digest`` over ``person``
        tells later looks whose data these were, without names.

    Raises
    ------
    DataError
        If the claim is none, both or not between 0 and 1, an earlier result is about another
        claim, or more looks are made than planned.
    ProtocolError
        If the people of the scores are not known.

    Notes
    -----
    Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. *Journal
    of the American Statistical Association* 58, 13-30. The error is shared by the looks equally
    (Bonferroni); an earlier look at other people is a test of its own. See ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.check_claim(be.simulate(200, 4, random_state=2), 2.5, far=0.05)
    >>> found.verdict.item(), bool(found.far_high <= 0.05)
    ('shown', True)
    """
    claims = {name: rate for name, rate in (("far", far), ("frr", frr)) if rate is not None}
    if len(claims) != 1:
        raise DataError(
            "give one claim, ", Argument("far"), " or ", Argument("frr"), f": {len(claims)} given"
        )
    ((name, claim),) = claims.items()
    claim = _proportion(name, claim)
    confidence = IntervalOptions.check_confidence(confidence)
    require_choice("assurance", assurance, ASSURANCES)
    require_scores(scores)
    require_values(scores, "a claim")
    require_named_people(scores, "a claim")
    at = require_number("threshold", threshold)
    distance = float(to_internal(np.array([at]), scores.kind)[0])
    looks = require_integer("looks", looks, low=1)
    digests = digests_of_people(scores)
    same = {"rate": name, "claim": claim, "threshold": at, "confidence": confidence}
    look = current_look(same, digests, looks, previous)
    look_confidence = look.confidence(confidence)
    with reported_to(progress):
        shares = PairShares(
            scores, at=distance, templates="single", fusion="min", new_gallery=new_gallery
        )
    if name == "frr":
        means = _means_of_frr(shares, distance, is_symmetric(scores))
    elif shares.refusal is not None:
        raise ProtocolError(f"FAR cannot be assured: {sentence_about(shares.refusal)}")
    else:
        means = shares.means(np.array([0]))
    rate, exact = float(means.mean[0]), name == "far" and shares.exact
    limits = [_claim_limits(means, look_confidence, rule, exact) for rule in ASSURANCES]
    verdicts = [_verdict(claim, *ends) for ends in limits]
    settle = {
        "estimated": float(means.people_to_settle(claim, look_confidence)),
        "guaranteed": float(means.people_for_guarantee(claim, look_confidence)),
    }
    asked = ASSURANCES.index(assurance)
    people = sum(means.sides)
    variables = {
        "verdict": verdicts[asked],
        name: rate,
        f"{name}_low": limits[asked][0],
        f"{name}_high": limits[asked][1],
        "threshold": at,
        "claim": claim,
        "people": people,
        "people_to_settle": settle["guaranteed"],
        "people_to_settle_estimated": settle["estimated"],
        "limit_low": (("assurance",), np.array([low for low, _ in limits])),
        "limit_high": (("assurance",), np.array([high for _, high in limits])),
        "verdict_of_rule": (("assurance",), np.array(verdicts, dtype=object)),
        "people_of_rule": (("assurance",), np.array([settle[rule] for rule in ASSURANCES])),
        "look": look.number,
        "person_digest": (("person",), digests),
    }
    attrs = about_attrs(shares.about, "claim", "claim", [])
    attrs |= {"confidence": confidence, "assurance": assurance, "rate": name}
    attrs |= {"looks": look.most, "confidence_of_a_look": look_confidence}
    attrs["looks_at_other_people"] = look.elsewhere
    rules = {"assurance": np.array(ASSURANCES, dtype=object)}
    return build(variables, CLAIM, rules, attrs)


def _claim_limits(
    means: PeopleMeans, confidence: float, rule: AssuranceRule, exact: bool
) -> tuple[float, float]:
    """Return the one-sided limits of a rate by a rule of a promise."""
    if exact:
        errors = means.mean * means.number
        low = clopper_pearson(errors, means.number, confidence, "lower")[0]
        high = clopper_pearson(errors, means.number, confidence, "upper")[1]
    else:
        low, high = means.lower(confidence, rule), means.upper(confidence, rule)
    return float(low[0]), float(high[0])


def _verdict(claim: float, low: float, high: float) -> str:
    """Return whether limits show or refute a claim, or leave it open."""
    if high <= claim:
        return "shown"
    if low > claim:
        return "refuted"
    return "open"


def _proportion(name: str, value: Any) -> float:
    rate = require_number(name, value, above=0.0, high=1.0)
    if rate == 1:
        raise DataError(
            Argument(name), " is 1, a rate that no threshold exceeds; expected less than 1"
        )
    return rate


def _means_of_frr(shares: PairShares, distance: float, both_ways: bool) -> PeopleMeans:
    """Return the mean over people of each one's own FRR.

    There are no more independent trials than genuine attempts; `both_ways`, each is there twice.
    """
    attempts = np.bincount(shares.of_person, minlength=shares.people)
    errors = np.bincount(shares.of_person, shares.genuine > distance, shares.people)
    rates = errors[attempts > 0] / attempts[attempts > 0]
    n = len(rates)
    if n < 3:
        raise ProtocolError(
            f"there are only {n} people with genuine attempts; at least 3 are needed"
        )
    number = int(attempts.sum()) // (2 if both_ways else 1)
    return PeopleMeans.of(
        rates.sum(keepdims=True),
        n,
        rates[None],
        np.ones(n),
        number=number,
        independent=n,
        sides=(n,),
    )
