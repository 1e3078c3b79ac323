"""Whether data show, refute or leave open that a rate is at most a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import xarray as xr

from bioeval.base.arguments import check_confidence, require_list, require_number
from bioeval.base.errors import DataError, NoResultError, ProtocolError
from bioeval.base.messages import Message
from bioeval.base.progress import steps_reported
from bioeval.counting.threshold_rules import TARGETS, Rule
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset
from bioeval.results.support import beyond_scores
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.showing.messages import sentence_about, warns_of_doubts
from bioeval.studies.assurance.assured import kinds_of_people_absent, require_named_people
from bioeval.studies.assurance.judged_rates import FEWEST, JudgedAttempts
from bioeval.studies.assurance.limits import Judged

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

    Returns
    -------
    xarray.Dataset
        Over ``promise``, the rules:

        - ``verdict``: ``"shown"`` (the upper limit is at most the target), ``"refuted"`` (the lower
          limit is above the target) or ``"open"``
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
    rules = _rules_of(promise)
    confidence = check_confidence(confidence)
    require_scores(scores)
    require_values(scores, "a promise")
    require_named_people(scores, "a promise")
    threshold = require_number("threshold", threshold)
    distance = float(to_internal(np.array([threshold]), scores.kind)[0])
    with steps_reported():
        attempts = JudgedAttempts(scores, confidence, np.array([threshold]))
        far, frr = attempts.rates(distance)
    beyond = beyond_scores(threshold, far, frr)
    for message in beyond:
        if message.arguments["outside"]:
            raise NoResultError(f"nothing can be guaranteed: {sentence_about(message)}")
    judged: dict[str, tuple[float, Judged]] = {}  # the rate at the threshold, and its limits
    for name in dict.fromkeys(x.name for x in rules):
        if name == "frr" and attempts.genuine_people < FEWEST:
            raise ProtocolError(
                f"there are only {attempts.genuine_people} people with genuine attempts; at "
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
        if high <= target:
            verdict = "shown"
        elif low > target:
            verdict = "refuted"
        people_to_settle = limits.people_to_settle(rate, target)
        return cls(rule, verdict, low, high, limits.people, people_to_settle)

    def message(self, about: dict[str, Any]) -> Message:
        about = {"rate": self.rule.name, "promise": self.rule.values[0], **about}
        if self.verdict == "shown":
            return Message("promise-kept", **about, high=self.high)
        if self.verdict == "refuted":
            return Message("promise-not-kept", **about, low=self.low)
        if self.people_to_settle <= _MOST_TO_SETTLE:
            about["people_to_settle"] = int(self.people_to_settle)
        return Message("promise-open", **about, low=self.low, high=self.high)


def _rules_of(promise: str | Sequence[str]) -> list[Rule]:
    several = [promise] if isinstance(promise, str) else require_list("promise", promise)
    rules = [Rule.parse(x, "promise") for x in several]
    if not rules:
        raise DataError('`promise` is empty; expected a promise such as "far=0.01"')
    for text, rule in zip(several, rules, strict=True):
        if rule.name not in TARGETS:
            raise DataError(f"`promise` is {text}; expected far=X or frr=X")
        if not 0 < rule.values[0] < 1:
            raise DataError(
                f"`promise` is {text}; expected a rate above 0, which data can show, and below 1, "
                "which no threshold exceeds"
            )
    return list(dict.fromkeys(rules))
