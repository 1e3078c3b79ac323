"""The messages of threshold studies and judged thresholds that say which threshold to install."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import xarray as xr

from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import to_user
from bioeval.results.dataset import threshold_with_next
from bioeval.scores.kind_check import KIND_DOUBTS
from bioeval.studies.assurance.assured import REFUSED

#: A FAR on new people misses its target clearly if it is more than this many times the target.
CLEARLY = 1.1


def answers_of_study(
    study: xr.Dataset, rates: xr.Dataset, rule: Rule, messages: Sequence[Message]
) -> list[Message]:
    """Return messages on which threshold to install, and on a target that new people miss.

    `rates` are the rates of all data and of the test parts; `messages` are all messages of a study.
    """
    task = "identification" if "unenrolled_people" in study else ""
    answers = _thresholds(study, rates, rule, [x for x in messages if not x.about])
    answers += _missed_target(study, rates.sel(part="test"), rule)
    return [Message(x.code, **x.arguments, task=task) if task else x for x in answers]


def _thresholds(
    study: xr.Dataset, rates: xr.Dataset, rule: Rule, messages: Sequence[Message]
) -> list[Message]:
    # No threshold is of use if the kind of the scores, or the labels, are likely wrong.
    if any(x.code in KIND_DOUBTS and x.code != "near-chance" for x in messages):
        reason = "impostor scores are nearer than genuine scores; correct the kind or the labels"
        return [Message("nothing-to-install", why=f"{reason} as the warning says, and run again")]

    # No threshold can be chosen.
    by_code = {x.code: x for x in messages}
    if math.isnan(study["threshold"]) and math.isnan(rates["hter"].sel(part="all")):
        reason = "there are no attempts of both classes to choose it on"
        if "no-threshold" in by_code:
            reason = str(by_code["no-threshold"].arguments["why"])
        return [Message("nothing-to-install", why=reason)]

    # An assured threshold was asked for.
    on_new = _expected(study, rates.sel(part="test"), rule, messages)
    if refusal := next((by_code[x] for x in REFUSED if x in by_code), None):
        people: dict[str, float] = {}
        if refusal.code == "too-few-people-to-promise" and study["people_estimated"].notnull():
            people = {
                "people": int(study["people_estimated"]),
                "people_far": float(study["people_far"]),
            }
        return [
            Message("no-threshold-promised", why=refusal, **people),
            threshold_accepts(study, "Without assurance", **on_new),
        ]
    if "assured_threshold" in study:
        return [_install(study, rule, float(rates["frr"].sel(part="all")))]

    # The threshold by the rule, which is provisional if the data are too few.
    if why_not_shown := by_code.get("target-not-shown"):
        return [threshold_accepts(study, "Provisional", why=why_not_shown, **on_new)]
    if "subjects" not in study and rule.name != "fixed":
        reason = "the people are unknown: many pairs may come from the same few people"
        return [threshold_accepts(study, "Provisional", why=reason, **on_new)]
    return [threshold_accepts(study, "Given" if rule.name == "fixed" else "Chosen", **on_new)]


def _expected(
    study: xr.Dataset, on_new: xr.Dataset, rule: Rule, messages: Sequence[Message]
) -> dict[str, Any]:
    """Return the rates to expect on new people; empty if neither rate has an interval.

    In place of a rate without an interval, the message that says why is returned. The FAR target is
    returned, too, if the FAR may be above it.
    """
    without_spread = [x for x in messages if x.code == "no-spread-between-parts"]
    expected: dict[str, Any] = {}
    for name in ("far", "frr"):
        new, low, high = (float(on_new[f"{name}{end}"]) for end in ("", "_low", "_high"))
        if not math.isnan(low):
            expected |= {f"{name}_new": new, f"{name}_low": low, f"{name}_high": high}
        for message in without_spread:
            if message.arguments["rate"] == name:
                expected[f"{name}_without"] = message
    if len(expected) < 4:  # neither rate has an interval, or one is not defined
        return {}
    expected["people"] = new_people(study)
    if rule.name == "far" and expected.get("far_high", 0) > rule.values[0]:
        expected["target"] = float(rule.values[0])
    return expected


def _install(study: xr.Dataset, rule: Rule, frr_without_assurance: float) -> Message:
    cost: dict[str, float] = {}
    if study["frr_price"] > 0:
        cost = {
            "frr_without": frr_without_assurance,
            "frr_here": float(study["assured_frr"]),
        }
    return Message(
        "install-threshold",
        **threshold_with_next(study, "assured_threshold"),
        confidence=float(study.attrs["assure"]),
        target=float(rule.values[0]),
        people=str(study.attrs["assured_for"]),
        far_here=float(study["assured_far"]),
        far_high=float(study["assured_far_high"]),
        **cost,
    )


def _missed_target(study: xr.Dataset, test_rates: xr.Dataset, rule: Rule) -> list[Message]:
    far = float(test_rates["far"])
    target = float(rule.values[0]) if rule.name == "far" else 0.0
    if not target or not far > CLEARLY * target:
        return []
    low = float(test_rates["far_low"])
    return [
        Message(
            "target-missed",
            people=new_people(study),
            rate=far,
            times=far / target,
            target=target,
            **({"low": low} if low <= target else {}),
        )
    ]


def threshold_accepts(result: xr.Dataset, status: str, **about: Any) -> Message:
    """Return the message that says which scores the threshold of a result accepts.

    `status` says what the threshold is: chosen, given, provisional or without assurance. It is
    followed by further arguments: why it is provisional, and the rates to expect.
    """
    kind: Kind = result.attrs["kind"]
    threshold = float(result["threshold"])
    if math.isnan(threshold) or threshold == to_user(-math.inf, kind):
        return Message("threshold-accepts-nothing", status=status)
    return Message(
        "threshold-accepts",
        status=status,
        scores=kind,
        sign=">=" if kind in LARGER_IS_CLOSER else "<=",
        **threshold_with_next(result),
        **about,
    )


def new_people(study: xr.Dataset) -> str:
    """Return for whom the rates of test parts are expected: new people, or new pairs."""
    divided = str(study.attrs.get("divided", "subjects"))
    return "new people" if divided == "subjects" else f"new {divided}"


def refusal_of(study: xr.Dataset) -> Message | None:
    """Return the reason why no threshold can be guaranteed; None if a threshold is."""
    messages = messages_of(study.attrs)
    return next((x for x in messages if x.code in REFUSED and not x.about), None)


def folds_of(study: xr.Dataset) -> xr.Dataset:
    """Return the variables of the test part of each fold, without ``folds/`` in their names."""
    variables = {str(name): x for name, x in study.data_vars.items() if "folds/" in str(name)}
    return xr.Dataset({name.removeprefix("folds/"): x for name, x in variables.items()})
