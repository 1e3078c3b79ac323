"""Assured thresholds: a FAR that is kept, with a stated confidence, in people like these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import xarray as xr

from bioeval.attempts.symmetry import is_symmetric
from bioeval.attempts.thresholds import require_values, to_internal, to_user
from bioeval.base.arguments import require_number
from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message
from bioeval.base.progress import stage, steps_reported
from bioeval.base.scalars import Name
from bioeval.results.dataset import about_attrs, build
from bioeval.results.support import ComparedPeople
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs, knows_people, require_scores
from bioeval.stats.binomial import clopper_pearson
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.pairs_of_people import PairShares
from bioeval.studies.assurance.promise import PeopleMeans, guaranteed_limit, shares_without_error
from bioeval.views.messages import sentence_about

# Points at which the limit is computed, at most; the strictest has a tenth of the target.
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
    "people_estimated": Name(
        "about how many people are needed to promise the target by a strict threshold, that of "
        "people_far; a looser one needs more",
        "subjects",
    ),
    "people_far": Name(
        "FAR of the strict threshold for which people_estimated is given", iso="FMR"
    ),
    "people_frr": Name("FRR of that threshold on these data", iso="FNMR"),
    "assured_people": Name("people on whom the assured threshold rests", "subjects"),
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
        "about how many people would decide the claim at this rate", "subjects"
    ),
}

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    CLAIM[_rate] = Name(f"{_rate.upper()} there", iso=_iso)
    for _end, _words in (("low", "lower"), ("high", "upper")):
        _long = f"one-sided {_words} limit of the {_rate.upper()} there"
        CLAIM[f"{_rate}_{_end}"] = Name(_long, iso=_iso)


@dataclass(frozen=True)
class EnoughPeople:
    """About how many people are needed to promise the target by a strict threshold, and its rates.

    NaN where that is not known.
    """

    far: float = math.nan
    frr: float = math.nan
    people: float = math.nan


@dataclass
class Assured:
    """An assured threshold, as a distance; NaN where none can be promised, with the refusal."""

    threshold: float = math.nan
    far: float = math.nan
    high: float = math.nan
    attempts: float = math.nan
    frr: float = math.nan
    people: int = 0
    enough: EnoughPeople = EnoughPeople()
    refusal: Message | None = None
    rule: str = ""
    valid_for: str = "people like these"
    over: str = PairShares.over
    event: str = PairShares.event
    remarks: list[Message] = field(default_factory=list)
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
            "people_estimated": self.enough.people,
            "people_far": self.enough.far,
            "people_frr": self.enough.frr,
            "assured_people": self.people,
        }
        points = to_user(self.points[0], kind), *self.points[1:]
        names = ("threshold", "far", "far_high", "frr")
        curves = {f"point_{name}": (("point",), x) for name, x in zip(names, points, strict=True)}
        attrs = {
            "assured_rule": self.rule,
            "assured_for": self.valid_for,
            "assured_over": self.over,
        }
        return values | curves, attrs


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
    *,
    shares: Shares | None = None,
    **attempts: Any,
) -> Assured:
    """Return the loosest threshold that keeps a FAR target with a confidence.

    Of verification, whose `attempts` are options of :class:`PairShares`, or of other `shares`.
    Where the estimated limits promise nothing, those that hold for any population may.
    """
    if shares is None:
        shares = PairShares(scores, target, **attempts)
    assured = _loosest_kept(shares, target, confidence, "exact" if shares.exact else "estimated")
    if assured.refusal is not None and not shares.exact:
        of_any = _loosest_kept(shares, target, confidence, "guaranteed")
        if of_any.refusal is None and of_any.frr < 1:  # and it accepts something
            assured = of_any
    by_errors = assured.rule != "guaranteed"
    assured.enough = people_to_promise(shares, target, confidence, accepted=by_errors)
    if assured.refusal is None:
        assured.remarks = _remarks(scores, assured)
    return assured


def _loosest_kept(shares: Shares, target: float, confidence: float, rule: str) -> Assured:
    """Return the last threshold before the first whose upper limit is above the target.

    The `rule` of the limit is exact (every person is in one comparison), estimated or guaranteed.
    """
    assured = Assured(over=shares.over, event=shares.event, rule=rule)
    assured.people = sum(map(len, shares.sides))
    if shares.fixed_gallery:
        assured.valid_for = "people like these against this gallery"
    if not shares.impostors:
        assured.refusal = Message("no-impostor-attempts")
    assured.refusal = assured.refusal or shares.refusal
    if assured.refusal is not None:
        return assured
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    if rule == "estimated":
        layers = _layers_near(shares.mean, target, last)
        high = shares.means(layers).upper(confidence)
    else:
        layers = np.arange(-1, last + 1)
        means = np.append(0.0, shares.mean)[layers + 1]
        if rule == "exact":
            errors = np.round(means * shares.pairs)
            high = clopper_pearson(errors, shares.pairs, confidence, "upper")[1]
        else:
            high = guaranteed_limit(means, shares.independent, confidence)
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
    """Return how many people are needed at the strictest threshold that is tried.

    Or at one without a false accept, unless some are to be `accepted`. They are no fewer than form
    the pairs that show the target without a false accept.
    """
    if shares.exact or shares.refusal is not None or not shares.impostors:
        return EnoughPeople()
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    first = _layers_near(shares.mean, target, last)[:1] if accepted else np.array([-1])
    means = shares.means(first)
    if means.mean[0] >= target:
        return EnoughPeople()
    least = ComparedPeople.least_with(shares_without_error(target, confidence))
    people = float(max(means.people_to_settle(target, confidence), least))
    return EnoughPeople(float(means.mean[0]), shares.frr(shares.loosest(int(first[0]))), people)


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


def check_assurance(assure: Any, rule: Any) -> float:
    """Return the confidence of an assured threshold, or raise :class:`DataError`."""
    confidence = IntervalMethod.check_confidence(assure, "assure")
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

    Returns
    -------
    xarray.Dataset
        ``verdict``: ``"shown"`` (the upper limit is at most the claim), ``"refuted"`` (the lower
        limit is above it) or ``"open"``; ``far far_low far_high`` or ``frr frr_low frr_high``,
        means over pairs of people or over people; ``threshold claim people``, and
        ``people_to_settle``: about how many people would settle the claim at the observed rate,
        NaN where no number does.

    Raises
    ------
    DataError
        If the claim is none, both or not between 0 and 1.
    ProtocolError
        If the people of the scores are not known.

    Notes
    -----
    The limits are those of :func:`study_threshold` with `assure`: one-sided, of a mean over people
    or pairs of people (``docs/uncertainty.md``). Intervals of :func:`verification` differ: they are
    two-sided, and of all attempts. A second look at the claim with more data of the same people is
    not allowed for.

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
    confidence = IntervalMethod.check_confidence(confidence)
    require_scores(scores)
    require_values(scores, "a claim")
    require_named_people(scores, "a claim")
    at = require_number("threshold", threshold)
    distance = float(to_internal(np.array([at]), scores.kind)[0])
    with steps_reported():
        shares = PairShares(scores, at=distance, templates="single", fusion="min")
    if name == "frr":
        means = _means_of_frr(shares, distance, is_symmetric(scores))
    elif shares.refusal is not None:
        raise ProtocolError(f"FAR cannot be assured: {sentence_about(shares.refusal)}")
    else:
        means = shares.means(np.array([0]))
    exact = name == "far" and shares.exact
    low, high = _claim_limits(means, confidence, exact)
    variables = {
        "verdict": _verdict(claim, low, high),
        name: float(means.mean[0]),
        f"{name}_low": low,
        f"{name}_high": high,
        "threshold": at,
        "claim": claim,
        "people": sum(means.sides),
        "people_to_settle": float(means.people_to_settle(claim, confidence)),
    }
    attrs = about_attrs(shares.about, "claim", "claim", [])
    attrs |= {"confidence": confidence, "rate": name}
    attrs["interval_method"] = "clopper-pearson" if exact else "korn-graubard"
    attrs["interval_for"] = "new people"
    if name == "far" and shares.fixed_gallery:
        attrs["interval_for"] = "this gallery"
    return build(variables, CLAIM, {}, attrs)


def _claim_limits(means: PeopleMeans, confidence: float, exact: bool) -> tuple[float, float]:
    """Return the one-sided limits of a rate."""
    if exact:
        errors = means.mean * means.number
        low = clopper_pearson(errors, means.number, confidence, "lower")[0]
        high = clopper_pearson(errors, means.number, confidence, "upper")[1]
    else:
        low, high = means.lower(confidence), means.upper(confidence)
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
