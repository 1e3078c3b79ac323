"""Thresholds in words: the rules that chose them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bioeval.counting.threshold_rules import Rule
from bioeval.showing.cells import Number, Threshold
from bioeval.showing.text import Text, say

#: The points that rules choose, in words.
_POINTS = {
    "eer": "the equal error rate",
    "far": "the smallest {frr} with {far} at most {value:rate}",
    "frr": "the smallest {far} with {frr} at most {value:rate}",
    "cost": "the least cost, prior {prior}, c_miss {miss}, c_fa {false_accept}",
    "accuracy": "the largest accuracy",
    "apcer": "the smallest BPCER with APCER at most {value:rate}",
    "bpcer": "the smallest APCER with BPCER at most {value:rate}",
    "d_eer": "the detection equal error rate",
    "fixed": "the threshold {value}",
    "none": "no threshold",
}


def rule_in_words(rule: Rule) -> Text:
    """Return the point that a rule chooses."""
    template, values = _POINTS[rule.name], rule.values
    if rule.name == "cost":
        prior, miss, false_accept = (Number(x, digits=6) for x in values)
        return say(template, prior=prior, miss=miss, false_accept=false_accept)
    if rule.name == "fixed":
        return say(template, value=Threshold(values[0]))
    return say(template, value=values[0]) if values else say(template)


def threshold_rule(attrs: Mapping[Any, Any]) -> Rule:
    """Return the rule that chose the threshold of a result."""
    return Rule.written(str(attrs.get("threshold_rule", "none")))


def rule_of(attrs: Mapping[Any, Any]) -> Text:
    """Return the point that the rule of a result chooses."""
    return rule_in_words(threshold_rule(attrs))


def threshold_choice(attrs: Mapping[Any, Any]) -> Text:
    """Return how the threshold of a result was chosen, and on which data."""
    chosen_on = str(attrs["chosen_on"])
    if chosen_on == "given":
        return chosen_on
    if threshold_rule(attrs).name == "none":
        return f"chosen on {chosen_on}"
    return say("{rule}, chosen on {data}", rule=rule_of(attrs), data=chosen_on)
