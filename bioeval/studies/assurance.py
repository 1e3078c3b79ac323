"""Assured thresholds, whose FAR does not exceed a target with a stated confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import check_confidence, require_list, require_number
from bioeval.base.errors import DataError, Message, NoResultError, ProtocolError, received
from bioeval.base.progress import stage, steps_reported
from bioeval.counting.threshold_rules import TARGETS, PointsWanted, Rule
from bioeval.counting.thresholds import require_values, to_internal, to_user
from bioeval.counting.verification import verify
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset
from bioeval.results.support import RuleOf, beyond_scores
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import knows_people, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.stats.error_curves import EER
from bioeval.stats.limits import RateCurve
from bioeval.stats.options import PEOPLE, IntervalMethod
from bioeval.stats.verification import VerificationColumns

# One-sided limits of FAR and FRR, by people, on which guarantees are based.

#: Limits need at least this number of people who are left out in turn.
FEWEST = 3


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

    @property
    def _share(self) -> float:
        """How many trials of the rule of 3, which is of 95 %, are asked for at the confidence."""
        return math.log1p(-self.confidence) / math.log(0.05)

    def enough_for(self, target: float) -> bool:
        """Whether there are the people, or pairs of people, that the rule of 3 asks for.

        The exact limit needs up to one in twenty fewer; the rule is asked, since tables and
        messages on too few people go by it.
        """
        least = math.ceil(self._share * RuleOf(3) / target * (1 - 1e-12))
        return (self.pairs or self.people) >= least

    def high_said(self, rate: float, target: float) -> float:
        """Return the upper limit; that of the rule of 3 if people are too few by this alone.

        Of 12 people, 66 pairs without an error have the exact limit 4.44 % and 3 / 66 = 4.55 %.
        """
        high = self.limits_at(rate)[1]
        if high > target or self.enough_for(target):
            return high
        return min(self._share * RuleOf(3) / (self.pairs or self.people), 1.0)


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
        self._who = "people" if unit is None else f"values of {unit!r}"
        self.verified = verify(
            scores, wanted=PointsWanted(np.empty(0), np.empty((0, 3)), False), thresholds=thresholds
        )
        self.verified.find_points(symmetric=None, with_thresholds=False)
        columns = VerificationColumns.count(self.verified, IntervalMethod(PEOPLE, unit=unit), [EER])
        curve = columns.one_sided(confidence)
        self.thresholds = columns.grid.usual  # float64 (k,): increasing distances
        self.rates = curve.curve  # FAR and FRR at these thresholds
        is_person = ~columns.people.no_person
        self._sides = [columns.by_unit(x) > 0 for x in columns.persons.made[:, is_person]]
        genuine = np.bincount(columns.genuine.person, minlength=len(is_person))[is_person]
        # People, or units of people, with impostor attempts, and with genuine attempts.
        impostor_people = int(np.logical_or(*self._sides).sum())
        genuine_people = int(np.count_nonzero(columns.by_unit(genuine)))
        compared = self.verified.compared
        pairs = 0 if compared is None else compared.pairs
        self.far = Judged(curve.far, confidence, impostor_people, pairs)
        self.frr = Judged(curve.frr, confidence, genuine_people)

    @property
    def refusal(self) -> Message | None:
        """The message on too few people for limits of FAR, perhaps on one side; None if enough."""
        people_on_smaller_side = int(min(x.sum() for x in self._sides))
        if self.far.people < FEWEST:
            who, people = f"{self._who} with impostor attempts", self.far.people
        elif self.verified.scores.layout != "pairs" and people_on_smaller_side < FEWEST:
            who, people = f"{self._who} on one side of the comparisons", people_on_smaller_side
        else:
            return None
        return Message("too-few-people-to-resample", people=people, who=who, needed=FEWEST)

    def loosest(self, far: float) -> tuple[float, float, float, float]:
        """Return the loosest threshold, a distance, with at most this FAR.

        The nearest score that it rejects, and its FAR and FRR, are returned as well.
        """
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
        return threshold, float(attempts.next_scores(threshold)), far_reached, frr


# The FAR of the strictest threshold that is tried, as a fraction of the target.
STRICTEST = 0.1

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
        "FAR at the assured threshold",
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
    "assured_people": Variable(
        "people on whom the assured threshold rests",
        "subjects",
        label="people behind the assured threshold",
        detail="verbose",
    ),
}


@stage("assured threshold")
def assured_threshold(attempts: JudgedAttempts, target: float) -> tuple[Variables, Message | None]:
    """Return the loosest threshold whose upper limit of FAR is at most the target.

    All numbers are NaN if the data guarantee none; the message says why. Thresholds are in the
    units of the scores.
    """
    kind, judged = attempts.verified.scores.kind, attempts.far
    names = ("threshold", "threshold_next", "far", "far_high", "frr")
    variables: Variables = {f"assured_{name}": math.nan for name in names}
    variables["assured_people"] = judged.people
    impostors = attempts.verified.attempts.impostor_attempts
    refusal = attempts.refusal if impostors else Message("no-impostor-attempts")
    if refusal is None:
        # The largest FAR up to a tenth of the target, or the smallest above 0.
        far = attempts.rates.far[:, 0]
        strict, usable = 0.0, far[(far > 0) & np.isfinite(attempts.thresholds)]
        if len(usable):
            place = int(np.searchsorted(usable, STRICTEST * target, side="right"))
            strict = float(usable[max(place - 1, 0)])
        largest = judged.limits.largest_rate(target) if judged.enough_for(target) else math.nan
        threshold = math.nan
        if not math.isnan(largest):
            threshold, following, far_reached, frr_reached = attempts.loosest(largest)
        if math.isfinite(threshold):
            high = judged.limits_at(far_reached)[1]
            ends = to_user(threshold, kind), to_user(following, kind)
            found = (*ends, far_reached, high, frr_reached)
            variables |= {f"assured_{x}": y for x, y in zip(names, found, strict=True)}
        elif strict >= target:
            refusal = Message("strictest-threshold-above-target", far=strict, target=target)
        else:
            about = {"confidence": judged.confidence, "people": judged.people}
            about |= {"high": judged.high_said(strict, target)}
            refusal = Message("too-few-people-to-promise", far=strict, target=target, **about)
    return variables, refusal


def kinds_of_people_absent(people: int) -> Message:
    """Return the message on kinds of people who may be absent among this number of people."""
    if people <= RuleOf(3):
        return Message("kinds-of-people-absent")
    return Message("kinds-of-people-absent", share=RuleOf(3) / people, people=people)


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
        The threshold, fixed beforehand on other data than these.
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
        name, _, rate = str(text).partition("=")
        if name.strip().lower() not in TARGETS or not rate or "," in rate:
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
    counted = attempts.verified.attempts
    accepted, rejected = counted.errors_at(distance)
    far = accepted / counted.impostor_attempts if counted.impostor_attempts else math.nan
    frr = rejected / counted.genuine_attempts if counted.genuine_attempts else math.nan
    beyond = beyond_scores(threshold, far, frr, float(counted.next_scores(distance)))
    for message in beyond:
        if message.arguments["outside"]:
            raise NoResultError(f"nothing can be guaranteed: {sentence_about(message)}")
    judged: dict[str, tuple[float, Judged]] = {}  # the rate at the threshold, and its limits
    for name in dict.fromkeys(x.name for x in rules):
        if name == "frr" and attempts.frr.people < FEWEST:
            who = "people" if unit is None else f"values of {unit!r}"
            raise ProtocolError(
                f"there are only {attempts.frr.people} {who} with genuine attempts; at "
                f"least {FEWEST} are needed"
            )
        if name == "far" and attempts.refusal is not None:
            raise ProtocolError(f"FAR cannot be assured: {sentence_about(attempts.refusal)}")
        judged[name] = (far, attempts.far) if name == "far" else (frr, attempts.frr)

    variables: Variables = {"threshold": threshold, "promised": [x.values[0] for x in rules]}
    for promised, (rate, limits) in judged.items():
        low, high = limits.limits_at(rate)
        variables |= {promised: rate, f"{promised}_low": low, f"{promised}_high": high}

    # The verdict on each promise.
    verdicts, people, messages = [], [], list[Message]()
    for rule in rules:
        (rate, limits), target = judged[rule.name], rule.values[0]
        low, high = limits.limits_at(rate)
        said = limits.high_said(rate, target)
        about: dict[str, Any] = {"rate": rule.name, "promise": target}
        about |= {"threshold": threshold, "confidence": confidence}
        if high <= target and limits.enough_for(target):
            verdicts.append("shown")
            messages.append(Message("promise-kept", **about, high=said))
        elif low > target:
            verdicts.append("refuted")
            messages.append(Message("promise-not-kept", **about, low=low))
        else:
            verdicts.append("open")
            messages.append(Message("promise-open", **about, low=low, high=said))
        people.append(limits.people)
    variables |= {"verdict": verdicts, "people": people}
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
