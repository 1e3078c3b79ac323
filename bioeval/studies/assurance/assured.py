"""Assured thresholds: a FAR that is kept, with a stated confidence, in people like these."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import xarray as xr

from bioeval import BioevalWarning, DataError, ProtocolError, Scores
from bioeval.base import (
    Argument,
    Name,
    counted,
    reported_to,
    require_choice,
    require_integer,
    require_number,
    stage,
)
from bioeval.results import (
    Block,
    ComparedPeople,
    DataHeader,
    Note,
    ResultsBySystem,
    Sentence,
    Title,
    about_attrs,
    build,
    rate_beside,
    threshold_text,
)
from bioeval.scores import (
    FusionRule,
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
from bioeval.studies.assurance.words import may_be_absent, threshold_to_install
from bioeval.tallies import Templates, is_symmetric, require_values, to_internal, to_user

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
        "fewest people with which the guaranteed rule could promise the target: they suffice "
        "where no impostor attempt of theirs is accepted",
        "subjects",
    ),
    "people_estimated": Name(
        "about how many people the estimated rule needs to promise the target, at the FAR of the "
        "strictest threshold tried",
        "subjects",
    ),
    "people_guaranteed": Name(
        "how many people the guaranteed rule needs to promise the target, at the same FAR as "
        "people_estimated",
        "subjects",
    ),
    "point_threshold": Name("threshold at which the limit was computed", "score"),
    "point_far": Name("FAR there, the same mean as of assured_far", iso="FMR"),
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
    "look": Name("which look at the claim this is, of the number planned", "looks"),
    "person_digest": Name("digest of the name of each person of the data", ""),
}

for _rate, _iso in (("far", "FMR"), ("frr", "FNMR")):
    CLAIM[_rate] = Name(f"{_rate.upper()} there", iso=_iso)
    for _end, _words in (("low", "lower"), ("high", "upper")):
        _long = f"one-sided {_words} limit of the {_rate.upper()} there"
        CLAIM[f"{_rate}_{_end}"] = Name(_long, iso=_iso)


#: Numbers of people beyond this settle no claim in practice.
_MOST_TO_SETTLE = 100_000


@dataclass(frozen=True)
class EnoughPeople:
    """How many people each rule needs at one FAR, that of the strictest threshold tried.

    NaN where that is not known. The rules are compared at the same FAR, so that the weaker promise
    never needs more people than the stronger one.
    """

    far: float = math.nan
    estimated: float = math.nan
    guaranteed: float = math.nan

    def __str__(self) -> str:
        """Return in words what each rule needs, after the name of the guaranteed rule."""
        if math.isnan(self.guaranteed):
            return ""
        text = f"needs about {self.guaranteed:,.0f} at a FAR of {100 * self.far:.3g} %"
        if not math.isnan(self.estimated):
            text += f", where the estimated rule needs about {self.estimated:,.0f}"
        return text


@dataclass
class Assured:
    """An assured threshold, as a distance; NaN where none can be promised, with the reason."""

    threshold: float = math.nan
    far: float = math.nan
    high: float = math.nan
    attempts: float = math.nan
    frr: float = math.nan
    needed: int = 0
    people: int = 0
    enough: EnoughPeople = EnoughPeople()
    reason: str = ""
    rule: str = ""
    valid_for: str = "people like these"
    over: str = PairShares.over
    event: str = PairShares.event
    remarks: list[str] = field(default_factory=list)
    points: np.ndarray = field(default_factory=lambda: np.empty((4, 0)))

    def described(
        self, kind: str, target: float, confidence: float, frr: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
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
        }
        points = to_user(self.points[0], kind), *self.points[1:]
        names = ("threshold", "far", "far_high", "frr")
        curves = {f"point_{name}": (("point",), x) for name, x in zip(names, points, strict=True)}
        threshold, price = float(values["assured_threshold"]), float(values["frr_price"])
        attrs = {
            "assured_sentence": self._sentence(threshold, kind, target, confidence, price),
            "assured_reason": self.reason,
            "assured_rule": self.rule,
            "assured_for": self.valid_for,
            "assured_over": self.over,
        }
        return values | curves, attrs

    def _sentence(
        self, threshold: float, kind: str, target: float, confidence: float, price: float
    ) -> str:
        """Return what can be promised, ready to copy."""
        if self.reason:
            return f"No threshold can be promised: {self.reason}."
        paid = ""
        if not math.isnan(price):
            paid = (
                f"; this raises FRR by {100 * price:.1f} percentage points over the threshold "
                "without assurance"
            )
        install = f"Install {threshold_to_install(threshold, kind)}."
        rare = f" {may_be_absent(self.people)}" if self.rule == "estimated" else ""
        if not math.isfinite(threshold):
            install = f"Accept nothing (threshold {threshold})."
        return (
            f"{install} With {100 * confidence:g} % confidence at most {100 * target:g} % "
            f"{self.event} in {self.valid_for}{paid}.{rare}"
        )


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
    reason: str
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
    assured = _loosest_kept(shares, target, confidence, assurance)
    if not assured.reason:
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
        assured.reason = "there are no impostor attempts"
    assured.reason = assured.reason or shares.reason
    if assured.reason:
        return assured
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    if shares.exact:
        assured.rule = "exact: every person is in one comparison"
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
    if not kept or assurance == "estimated":
        assured.enough = people_to_promise(shares, target, confidence)
    if not kept:
        assured.reason = _refusal(shares, layers[0], high[0], target, confidence, assured)
        return assured
    layer = int(layers[kept - 1])
    assured.threshold = shares.loosest(layer)
    assured.high = float(high[kept - 1])
    assured.far = float(shares.mean[layer]) if layer >= 0 else 0.0
    assured.attempts = float(shares.accepted[layer]) if layer >= 0 else 0.0
    assured.frr = shares.frr(assured.threshold)
    return assured


def people_to_promise(shares: Shares, target: float, confidence: float) -> EnoughPeople:
    """Return how many people each rule needs at the strictest threshold that is tried.

    Those of the estimated rule are no fewer than form the pairs that show the target without a
    false accept.
    """
    if shares.exact or shares.reason or not shares.impostors:
        return EnoughPeople()
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    first = _layers_near(shares.mean, target, last)[:1]
    means = shares.means(first)
    if means.mean[0] >= target:
        return EnoughPeople()
    least = ComparedPeople.least_with(shares_for_guarantee(target, confidence))
    estimated = float(max(means.people_to_settle(target, confidence), least))
    guaranteed = means.people_for_guarantee(target, confidence)
    if estimated > guaranteed:  # then the guaranteed rule is the one to ask
        estimated = math.nan
    return EnoughPeople(float(means.mean[0]), estimated, guaranteed)


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


def _refusal(
    shares: Shares, layer: int, high: float, target: float, confidence: float, assured: Assured
) -> str:
    """Return why no threshold can be promised, and what would help."""
    there = assured.people
    people = shares.over if not isinstance(shares, PairShares) else "people"
    at = float(shares.mean[layer]) if layer >= 0 else 0.0
    rate = rate_beside(at, target)
    statement = f"at the strictest threshold tried {rate} {shares.event} in these data"
    if at >= target:
        return f"{statement}, and the target is {100 * target:g} %; more people do not help"
    needs = []
    if assured.needed > there:
        needs.append(f"needs {assured.needed:,} or more, even without a false accept")
    if at_its_far := str(assured.enough):
        needs.append(at_its_far)
    guaranteed = f" The guaranteed rule {', and it '.join(needs)}." if needs else ""
    return (
        f"{statement}, and the upper limit at {100 * confidence:g} % is "
        f"{rate_beside(high, target)}, "
        f"above the target of {100 * target:g} %; {there} {people} are too few.{guaranteed} "
        "More people help; more templates of the same people hardly do"
    )


def _remarks(scores: Scores, assured: Assured) -> list[str]:
    """Return warnings of an assured threshold."""
    remarks = []
    if abs(assured.far - assured.attempts) > _APART * max(assured.far, assured.attempts):
        remarks.append(
            f"the assured FAR, {100 * assured.far:.3g} %, gives all {assured.over} equal weight; "
            f"over all attempts FAR is {100 * assured.attempts:.3g} %, because people have unequal "
            "numbers of templates"
        )
    if scores._is_derived:
        remarks.append(
            f"the scores were derived from others ({scores._origin}); the assurance holds only if "
            "nothing was fitted to these same people"
        )
    return remarks


def check_assurance(assure: Any, assurance: str, rule: Any) -> float:
    """Return the confidence of an assured threshold, or raise :class:`DataError`."""
    require_choice("assurance", assurance, ASSURANCES)
    confidence = IntervalOptions.check_confidence(assure, "assure")
    if rule.name != "far" or not 0 < rule.values[0] < 1:
        raise DataError(
            f"{Argument('target')} is {rule}; what can be assured is a FAR above 0 and below 1, "
            "such as far=0.01"
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
    threshold: Any,
    *,
    far: float | None = None,
    frr: float | None = None,
    confidence: float = 0.95,
    assurance: AssuranceRule = "estimated",
    templates: Templates = "single",
    fusion: FusionRule = "min",
    new_gallery: bool = False,
    same_data: bool = False,
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
    threshold : float or xarray object
        A number counts as fixed beforehand. The dataset of :func:`study_threshold`, or its
        ``assured_threshold``, is refused on the data it was chosen on.
    far, frr : float
        The claim: one of the two, above 0 and below 1.
    confidence : float
        Of each one-sided limit.
    assurance : {"estimated", "guaranteed"}
        Whether the limits are those of :func:`study_threshold` that were measured in simulations,
        or those that hold for any population.
    templates, fusion
        As for :func:`bioeval.verification`.
    new_gallery : bool
        As for :func:`study_threshold`.
    same_data : bool
        Whether the data may be those that the threshold was chosen on, with a warning.
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
        about how many the estimated limits need. ``person_digest`` over ``person`` tells later
        looks whose data these were, without names.

    Raises
    ------
    DataError
        If the claim is none, both or not between 0 and 1, the threshold was chosen on these
        data, an earlier result is about another claim, or more looks are made than planned.
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
            f"give one claim, {Argument('far')} or {Argument('frr')}: {len(claims)} given"
        )
    ((name, claim),) = claims.items()
    claim = _proportion(name, claim)
    confidence = IntervalOptions.check_confidence(confidence)
    require_choice("assurance", assurance, ASSURANCES)
    require_scores(scores)
    require_values(scores, "a claim")
    require_named_people(scores, "a claim")
    at = _fixed_threshold(scores, threshold, same_data)
    distance = float(to_internal(np.array([at]), scores.kind)[0])
    looks = require_integer("looks", looks, low=1)
    digests = digests_of_people(scores)
    same = {"rate": name, "claim": claim, "threshold": at, "confidence": confidence}
    look = current_look(same, digests, looks, previous)
    look_confidence = look.confidence(confidence)
    with reported_to(progress):
        shares = PairShares(
            scores, at=distance, templates=templates, fusion=fusion, new_gallery=new_gallery
        )
    if name == "frr":
        means = _means_of_frr(shares, distance, is_symmetric(scores))
    elif shares.reason:
        raise ProtocolError(f"FAR cannot be assured: {shares.reason}")
    else:
        means = shares.means(np.array([0]))
    if name == "far" and shares.exact:
        errors = means.mean * means.number
        low = clopper_pearson(errors, means.number, look_confidence, "lower")[0]
        high = clopper_pearson(errors, means.number, look_confidence, "upper")[1]
    else:
        low, high = means.lower(look_confidence, assurance), means.upper(look_confidence, assurance)
    rate = float(means.mean[0])
    if high[0] <= claim:
        verdict = "shown"
    elif low[0] > claim:
        verdict = "refuted"
    else:
        verdict = "open"
    people = sum(means.sides)
    variables = {
        "verdict": verdict,
        name: rate,
        f"{name}_low": low[0],
        f"{name}_high": high[0],
        "threshold": at,
        "claim": claim,
        "people": people,
        "people_to_settle": means.people_for_guarantee(claim, look_confidence),
        "people_to_settle_estimated": float(means.people_to_settle(claim, look_confidence)),
        "look": look.number,
        "person_digest": (("person",), digests),
    }
    attrs = about_attrs(shares.about, f"claim, {templates}-template", [])
    attrs |= {"confidence": confidence, "assurance": assurance, "rate": name}
    attrs |= {"looks": look.most, "confidence_of_a_look": look_confidence}
    attrs["looks_at_other_people"] = look.elsewhere
    return build(variables, CLAIM, {}, attrs)


def _proportion(name: str, value: Any) -> float:
    rate = require_number(name, value, above=0.0, high=1.0)
    if rate == 1:
        raise DataError(
            f"{Argument(name)} is 1, a rate that no threshold exceeds; expected less than 1"
        )
    return rate


def _fixed_threshold(scores: Scores, threshold: Any, same_data: bool) -> float:
    """Return a threshold that was fixed before these data were seen."""
    if isinstance(threshold, xr.Dataset):
        if "unenrolled_people" in threshold:
            raise DataError(
                f"{Argument('threshold')} is an open-set study, and its FAR is per search; a "
                "claim is about the FAR per comparison"
            )
        name = "assured_threshold" if "assured_threshold" in threshold else "threshold"
        if name not in threshold:
            raise DataError(f"{Argument('threshold')} is a dataset without a threshold")
        chosen_on, value = threshold.attrs.get("data_digest"), threshold[name].item()
    elif isinstance(threshold, xr.DataArray):
        chosen_on, value = threshold.attrs.get("data_digest"), threshold.values
    else:
        chosen_on, value = None, threshold
    if chosen_on is not None and chosen_on == _digest(scores):
        message = (
            f"{Argument('threshold')} was chosen on these same data, so the claim would be "
            "optimistic; give data of other people"
        )
        if not same_data:
            raise DataError(
                f"{message}, or {Argument('same_data', True)} to evaluate it nevertheless"
            )
        warnings.warn(message, BioevalWarning, stacklevel=3)
    return require_number("threshold", value)


def _digest(scores: Scores) -> str:
    from bioeval.evaluation import digest_of_data

    return digest_of_data(scores)


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


def claim_blocks(results: ResultsBySystem) -> Iterator[Block]:
    """Yield the verdict on a claim, then the rate with its limits, and how many would settle it."""
    ds = results[""]
    v, attrs = {str(k): ds[k].item() for k in ds.data_vars if not ds[k].ndim}, ds.attrs
    name, rate = attrs["rate"], attrs["rate"].upper()
    confidence = f"{100 * attrs['confidence_of_a_look']:.4g} %"
    people = int(v["people"])
    threshold = threshold_text(v["threshold"])
    verdict = {
        "shown": f"the {rate} at {threshold} is at most {100 * v['claim']:g} %",
        "refuted": f"the {rate} at {threshold} is above {100 * v['claim']:g} %",
        "open": f"whether the {rate} at {threshold} is at most {100 * v['claim']:g} %",
    }[v["verdict"]]
    yield Title(f"{v['verdict'].capitalize()}: {verdict}")
    yield DataHeader(results)
    yield Sentence()
    over = "pairs of people" if name == "far" else "people"
    mean, low, high = (rate_beside(v[f"{name}{end}"], v["claim"]) for end in ("", "_low", "_high"))
    yield Sentence(
        f"{rate} on these data: {mean}, the mean over {over}. In the population it "
        f"is at least {low} and at most {high}, each with {confidence} confidence "
        f"({attrs['assurance']})."
    )
    if attrs["looks"] > 1:
        yield Sentence(
            f"Look {int(v['look'])} of at most {attrs['looks']}: all looks together are wrong with "
            f"a probability of at most {100 * (1 - attrs['confidence']):.3g} %."
        )
    settle = v["people_to_settle"]
    if attrs["assurance"] == "estimated":
        settle = v["people_to_settle_estimated"]
    there = f"{counted(people, 'people')} in these data"
    if v["verdict"] != "open":
        yield Sentence(there)
    elif settle <= _MOST_TO_SETTLE:
        yield Sentence(f"{there}; at this rate about {settle:,.0f} people would settle it")
    else:
        yield Sentence(f"{there}; the rate is too near the claim to be settled by more people")
    statement = "Valid only if the threshold and the claim were fixed before these data were seen."
    if v["verdict"] == "shown" and attrs["assurance"] == "estimated":
        statement += f" {may_be_absent(people)}"
    if attrs["looks"] == 1:
        statement += (
            " For another look at the claim with more data, the number of looks must be planned "
            "before the first one."
        )
    if other := attrs["looks_at_other_people"]:
        statement += (
            f" {counted(other, 'earlier results')} about other people are tests of their own: "
            "report all of them."
        )
    yield Note(statement, indented=False)
