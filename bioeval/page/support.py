"""Which FAR targets the data of a result support: the rules of 30 and of 3, and their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bioeval.document.text import Text, say
from bioeval.results.support import ComparedPeople, RuleOf

#: The rules, the more demanding one first.
RULES = (RuleOf(30), RuleOf(3))


def people_of(dataset: xr.Dataset) -> ComparedPeople | None:
    """Return the people of verification attempts; None where unknown, and of open set."""
    if "subjects" not in dataset or "impostor_pairs" not in dataset:
        return None
    both, attrs = int(dataset["subjects"]), dataset.attrs
    if "pairs_of_people" in attrs:  # of listed pairs and of drawn claims
        return ComparedPeople(both, int(attrs["pairs_of_people"]))
    sides = int(attrs.get("probe_subjects", 0)), int(attrs.get("gallery_subjects", 0))
    # The sides are not known of every result: any two people may then be compared.
    known = max(sides) <= both <= sum(sides)
    if known:
        return ComparedPeople.of_sides((*sides, both))
    return ComparedPeople.among(both)


def rule_kept(target: float, expected: float, people: ComparedPeople | None) -> RuleOf | None:
    """Return the more demanding rule that supports a FAR target; None if neither does.

    Of `expected` false accepts at the target, with one attempt of each pair of `people`.
    """
    if np.isnan(expected) or not target > 0:
        return None
    for rule in RULES:
        if rule.supports(target, _attempts(target, expected), people):
            return rule
    return None


def support(target: float, expected: float, people: ComparedPeople | None) -> Text:
    """Return what a FAR target lacks, by the rules of 30 and 3; empty if nothing."""
    if np.isnan(expected) or not target > 0:
        return ""
    kept = rule_kept(target, expected, people)
    if kept == RULES[0]:
        return ""
    missed = RULES[1] if kept is None else RULES[0]
    needed = missed.needed(target, _attempts(target, expected), people)
    if kept is not None:
        return say("weak: {needed:amounts} are needed (rule of 30)", needed=needed)
    if expected >= 1:
        return say(
            "not supported at 95 %, even without an error: {needed:amounts} are needed (rule of 3)",
            needed=needed,
        )
    return say("not supported: the same as at {far} = 0")


def reason_for_target(target: float, rule: RuleOf, people: ComparedPeople | None) -> Text:
    """Return a sentence on why a page opens at the smallest FAR target that `rule` supports."""
    return say(
        "{far} {target:rate} is the smallest {far} target at which at least {rule} {false accepts} "
        "are expected{once}{weak}.",
        target=target,
        rule=int(rule),
        once=_counted_once(people),
        weak="" if rule == RULES[0] else f"; at none are {RULES[0]} expected",
    )


def doubt_of_target(target: float, kept: RuleOf | None, people: ComparedPeople | None) -> Text:
    """Return a sentence on a FAR target that the data do not support, or not well; else empty."""
    if kept == RULES[0]:
        return ""
    missed, verdict = RULES[0], "is weakly supported"
    if kept is None:
        missed, verdict = RULES[1], "is not supported"
    return say(
        "{far} {target:rate} {verdict} by these data: fewer than {missed} {false accepts} are "
        "expected{once} (rule of {missed}).",
        target=target,
        verdict=verdict,
        missed=int(missed),
        once=_counted_once(people),
    )


def none_supported(targets: Sequence[float], people: ComparedPeople | None) -> Text:
    """Return a sentence that no FAR target of a result is supported."""
    return say(
        "No {far} target of these results is supported: even at {far} {target:rate}, fewer than "
        "{rule} {false accepts} are expected{once} (rule of {rule}).",
        target=max(targets),
        rule=int(RULES[1]),
        once=_counted_once(people),
    )


def _attempts(target: float, expected: float) -> float:
    return expected / target * (1 + 1e-12)


def _counted_once(people: ComparedPeople | None) -> str:
    """Return how the expected false accepts are counted where people are known."""
    return "" if people is None else " with one attempt of each pair of people"
