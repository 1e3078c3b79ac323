"""Values of a result as a reader is shown them: what each is, exact, and not yet text.

A cell holds its value as it was computed, its interval and its sample size; the writers of
:mod:`bioeval.showing.writers` round it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.variables import NEXT

#: Limits of a confidence interval.
Interval = tuple[float, float]


@dataclass(frozen=True)
class Quantity:
    """A number of any kind, NaN where it is not defined; its class says its unit.

    One that is `flagged` has an asterisk, which a note of its table explains. A
    `difference` of two numbers has a sign.
    """

    value: float
    interval: Interval | None = None
    flagged: bool = False
    difference: bool = False
    attempts: float | None = None  # of a rate, of which one is to be visible
    decimals: int = 2  # of a plain number
    #: Of a plain number, in place of its decimals; of a score; of a rate in a label.
    digits: int | None = None
    noun: str = ""  # of a count, in the plural
    next: float = math.nan  # of a threshold

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


class Rate(Quantity):
    """A proportion in [0, 1], in per cent; a difference of two is in percentage points."""


class Count(Quantity):
    """A number of things."""


class Score(Quantity):
    """A score, in the units of the scores."""


class Threshold(Score):
    """A threshold, which is printed so that it decides every attempt as the exact one does.

    The nearest score that it rejects is `next`, infinite where there is none, and NaN where it is
    not known: then all digits are printed.
    """


class Number(Quantity):
    """A number without a unit, or of one that its label has: an AUC, a cost, a mean rank."""


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


#: Statistics that say how far values are apart, of which few digits are known.
SPREADS = ("sd", "repeats_sd", "se")

#: Units of numbers that need not be whole.
_NO_COUNTS = ("", "proportion", "p", "score", "cost", "bits", "1", "per day", "per frame")


def cell_of_number(
    value: float,
    about: Mapping[Any, Any],
    statistic: str = "",
    attempts: float | None = None,
    **fields: Any,
) -> Quantity:
    """Return a number as a cell of the kind that the attributes of its variable say.

    Of a `statistic` of the variable it may be another kind. `fields` are those of the cell.
    """
    unit, display = str(about.get("units", "")), str(about.get("shown", ""))
    if unit == "score" and statistic.endswith("sd"):
        return Number(value, digits=3, **fields)
    if unit == "score":
        if display == "threshold" and not statistic:
            return Threshold(value, **fields)
        return Score(value, digits=3 if statistic in SPREADS else None, **fields)
    is_difference = fields.setdefault("difference", statistic == "difference")
    if unit == "proportion" and statistic != "number":
        if attempts is not None:
            attempts = None if math.isnan(attempts) else int(attempts)
        return Rate(value, attempts=attempts, **fields)
    if unit == "p" and statistic != "number":
        return Probability(value, **fields)
    is_whole = math.isnan(value) or float(value).is_integer()
    is_count = (display == "count" or unit not in _NO_COUNTS) and not is_difference
    if statistic == "number" or (is_count and is_whole):
        return Count(value, **fields)
    if display.isdecimal():
        return Number(value, digits=int(display), **fields)
    decimals = about.get("decimals", 4 if unit in ("bits", "cost") else 2)
    return Number(value, decimals=int(decimals), **fields)


def cell_of(
    dataset: xr.Dataset,
    name: str,
    places: Mapping[str, int] | None = None,
    *,
    attempts: int | None = None,
) -> Quantity | Label | None:
    """Return a value of a variable as its description says, with its interval and its flag.

    `places` are positions along its dimensions, and those of its denominator, unless its `attempts`
    are given. None of a variable that the dataset lacks.
    """
    variables, places = dataset.variables, places or {}
    if name not in variables:
        return None

    def value_at(other: str, missing: Any = None) -> Any:
        if other not in variables:
            return missing
        variable = variables[other]
        value = variable.values[tuple(places[str(dim)] for dim in variable.dims)]
        return value.item() if isinstance(value, np.generic) else value

    value, about = value_at(name), variables[name].attrs
    if isinstance(value, str | bool) or not about.get("units"):
        return Label(value)
    if name in dataset.dims and about["units"] in ("1", "proportion") and "iso_term" not in about:
        return Number(value, digits=6)
    low, high = value_at(f"{name}_low", math.nan), value_at(f"{name}_high", math.nan)
    out_of = str(about.get("out_of", "")).split()
    is_known = [x in variables and {*variables[x].dims} <= {*places} for x in out_of]
    if attempts is None and is_known and all(is_known):
        attempts = int(sum(value_at(x) for x in out_of))
    return cell_of_number(
        value,
        about,
        attempts=attempts,
        interval=None if math.isnan(low + high) else (low, high),
        flagged=bool(value_at(f"{name}_flagged")),
        next=value_at(f"{name}{NEXT}", math.nan),
    )


def threshold_of(
    dataset: xr.Dataset, name: str = "threshold", places: Mapping[Any, Any] | None = None
) -> Threshold:
    """Return a threshold of a result as a cell."""
    threshold = cell_of(dataset, name, places)
    assert isinstance(threshold, Threshold)
    return threshold
