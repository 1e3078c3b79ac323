"""Thresholds to install, as text: rounded to the stricter side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from bioeval.base import larger_is_closer
from bioeval.document import Message
from bioeval.results import RuleOf, threshold_text


def threshold_to_install(value: float, kind: str) -> str:
    """Return a threshold with six digits that accepts no score that the threshold rejects."""
    if math.isfinite(value):
        value = float(stricter(value, kind))
    return threshold_text(value)


def may_be_absent(people: int) -> str:
    """Return which kinds of people an estimate over so many people cannot know."""
    if people <= RuleOf(3):
        return "Kinds of people may be absent from the data."
    return (
        f"Kinds of people rarer than {100 * RuleOf(3) / people:.2g} % (3 in {people:,}) may be "
        "absent from the data."
    )


def new_people(divided: str) -> str:
    """Return whose rates are expected, of data in which subjects, or pairs, are divided."""
    return "new people" if divided == "subjects" else f"new {divided}"


def stricter(value: float, kind: str) -> Decimal:
    """Return a finite threshold of six digits that accepts no score that the threshold rejects."""
    rounding = ROUND_CEILING if larger_is_closer(kind) else ROUND_FLOOR
    return Context(prec=6, rounding=rounding).create_decimal(repr(float(value)))


#: What is said instead of a threshold to install, where the kind or the labels are doubtful.
NO_INSTALL = (
    "No threshold to install: impostor scores are nearer than genuine scores. Mend the kind or the "
    "labels as the warning says, and repeat."
)


def refuses_threshold(doubt: Message | None) -> bool:
    """Whether a doubt of the kind or the labels is so strong that no threshold is of use."""
    return doubt is not None and doubt.code != "near-chance"
