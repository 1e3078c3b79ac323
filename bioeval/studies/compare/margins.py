"""Margins of a comparison: whether a system is not worse than another, or equivalent to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval import DataError
from bioeval.base import (
    Argument,
    Name,
    Words,
    received,
    require_choice,
    require_number,
    scalar_registry,
)
from bioeval.stats import IntervalOptions
from bioeval.studies.compare.limits import difference_limits
from bioeval.studies.compare.measures import PairedMeasure

MARGINS = {
    "margin": Name("largest difference that does not matter, set beforehand; NaN without one"),
    "not_worse": Name(
        "1 where the first system is shown to be worse by less than the margin, or better, else 0"
    ),
    "equivalent": Name("1 where the systems are shown to differ by less than the margin, else 0"),
}


def check_margin(margin: Any, confidence: float) -> float | dict[str, float] | None:
    """Return a margin above 0 and below 1, or those of measures by name, as numbers."""
    if margin is None:
        return None
    if confidence <= 0.5:
        raise DataError(
            Argument("confidence"),
            f" is {confidence:g}; expected more than 0.5 with ",
            Argument("margin"),
            ": its interval has the level 2 * confidence - 1",
        )
    if not isinstance(margin, Mapping):
        return _proportion(margin)
    if not margin:
        raise DataError(Argument("margin"), " is empty; expected a number or measures with one")
    for name in margin:
        require_choice(Words("a measure of ", Argument("margin")), name, scalar_registry().compared)
    return {name: _proportion(value) for name, value in margin.items()}


def _proportion(value: Any) -> float:
    proportion = require_number("margin", value, above=0.0)
    if proportion >= 1:
        raise DataError(
            Argument("margin"),
            f" is {received(value)}; expected a proportion below 1, such as 0.01 for 1 percentage "
            "point",
        )
    return proportion


@dataclass(frozen=True)
class MarginConclusion:
    """What is shown about one measure with its margin (NaN without one)."""

    margin: float
    not_worse: bool
    equivalent: bool

    def variables(self) -> dict[str, float]:
        """Return the value of each variable of :data:`MARGINS`."""
        return {
            "margin": self.margin,
            "not_worse": int(self.not_worse),
            "equivalent": int(self.equivalent),
        }


def within_margins(
    measures: list[PairedMeasure], margin: float | dict[str, float], interval: IntervalOptions
) -> list[MarginConclusion]:
    """Decide for each measure by the interval of twice the error probability of `interval`.

    Each of its limits is then one-sided at the confidence of `interval`: two one-sided tests
    (Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680). Percentiles
    are widened. Where every decision is the same, the limits are the bound by subjects.
    """
    if isinstance(margin, dict):
        measured = dict.fromkeys(x.scalar.name for x in measures)
        for name in margin:
            require_choice(Words("a measure of ", Argument("margin")), name, measured)
    both_sides = replace(interval, confidence=2 * interval.confidence - 1)
    conclusions = []
    for measure in measures:
        one = margin.get(measure.scalar.name, np.nan) if isinstance(margin, dict) else margin
        low, high, _ = difference_limits(measure, both_sides, widened=True)
        if low == high == 0:  # that none of a few is decided differently does not show that of all
            high = measure.bound(interval.confidence)
            low = -high
        worst = -low if measure.scalar.larger_is_better else high
        conclusions.append(
            MarginConclusion(
                margin=one,
                not_worse=bool(measure.supported and worst < one),  # NaN: not shown
                equivalent=bool(measure.supported and -one < low and high < one),
            )
        )
    return conclusions
