"""Values of a result as a reader is shown them: what each is, exact, and not yet text.

A cell holds its value as it was computed, its interval and its sample size; the writers of
:mod:`bioeval.views.writers` round it. ``variable`` and ``at`` name the variable of the dataset that
it shows, with the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Limits of a confidence interval.
Interval = tuple[float, float]


@dataclass(frozen=True)
class Quantity:
    """A number with its interval, NaN where it is not defined.

    One that is `flagged` has an asterisk, which a note of its table explains. A mean of several
    values may have their standard `deviation`. One that is not `supported` is at a target for which
    there are too few people or attempts: data have it, and readers are told so in its place.
    """

    value: float
    interval: Interval | None = None
    variable: str = ""
    at: Mapping[str, Any] = field(default_factory=dict)
    flagged: bool = False
    deviation: float | None = None
    supported: bool = True

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


@dataclass(frozen=True)
class Rate(Quantity):
    """A proportion in [0, 1], in per cent; with its attempts, of which one is to be visible.

    A `difference` of two rates is in percentage points.
    """

    attempts: int | None = None
    difference: bool = False


@dataclass(frozen=True)
class Count(Quantity):
    """A number of things, perhaps with their noun in the plural: 5 ``subjects``."""

    noun: str = ""


@dataclass(frozen=True)
class Score(Quantity):
    """A score, in the units of the scores."""


@dataclass(frozen=True)
class Threshold(Score):
    """A threshold, which is printed so that it decides every attempt as the exact one does.

    The nearest score that it rejects is `next`, infinite where there is none, and NaN where it is
    not known: then all digits are printed.
    """

    next: float = math.nan


@dataclass(frozen=True)
class Number(Quantity):
    """A number without a unit: an AUC, a coefficient, a mean rank, or a `difference` of two.

    It has these `decimals`, or these `digits` in all if they are not None; as a `fraction` it is
    written as 1/3 where its terms are small.
    """

    decimals: int = 2
    difference: bool = False
    digits: int | None = None
    fraction: bool = False
    proportion: bool = False  # in [0, 1], and written as 0 or 1 only if it is that


@dataclass(frozen=True)
class Cost(Number):
    """A cost of decisions, normalised or not."""


@dataclass(frozen=True)
class Probability(Quantity):
    """A probability of a test: two digits, and small ones as a bound."""


@dataclass(frozen=True)
class Label:
    """A name that a user chose: of a system, a subject, a file. It is never translated."""

    value: Any  # text, or a number that serves as a name

    @property
    def text(self) -> str:
        """The name as text."""
        return str(self.value)


@dataclass(frozen=True)
class Labels:
    """Names of users, the first ones of all."""

    values: Sequence[Any]
    more: bool = False  # whether there are others


@dataclass(frozen=True)
class Picture:
    """An image of a template: a file or the bytes of one, and what it shows."""

    source: Any
    description: str
