"""The cells of tables: exact values of a result with their kind, before they become text.

A cell has its value as it was computed, its interval and its sample size; the writers of
:mod:`bioeval.showing.writers` round the value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.variables import NEXT

#: Limits of a confidence interval.
Interval = tuple[float, float]


@dataclass(frozen=True)
class Quantity:
    """A number of any kind, NaN if it is not defined; its class says its unit.

    A `flagged` number has an asterisk, which a note of its table explains. A `difference` of two
    numbers has a sign.
    """

    value: float
    interval: Interval | None = None
    flagged: bool = False
    difference: bool = False
    #: Attempts behind a rate, whose decimals show a change of one attempt.
    attempts: float | None = None
    decimals: int = 2  # decimals of a number without a unit
    #: Significant digits: of a plain number in place of decimals, of a score, of a rate in a label.
    digits: int | None = None
    noun: str = ""  # the things that a count counts, in the plural
    next: float = math.nan  # the nearest score that a threshold rejects

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.value)


class Rate(Quantity):
    """A proportion in [0, 1], in per cent; a difference of two is in percentage points."""


class Count(Quantity):
    """A number of things."""


class Score(Quantity):
    """A score, in the units of the scores."""


class Threshold(Score):
    """A threshold, which is printed so that it decides every attempt as the exact threshold does.

    The nearest score that it rejects is `next`: infinite if it rejects no score, NaN if the score
    is not known. All digits are printed then.
    """


class Number(Quantity):
    """A number without a unit, or with a unit that its label names: an AUC, a cost, a mean rank."""


class Probability(Quantity):
    """A probability of a test: two digits, and small ones as a bound."""


@dataclass(frozen=True)
class Label:
    """A name that a user chose: of a system, a subject, a file. It is never translated."""

    value: Any  # text, or a number that serves as a name

    @property
    def text(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Picture:
    """An image of a template, as a file or as the bytes of a file, with a description."""

    source: Any
    description: str


#: Statistics of the spread of values, of which only few digits are certain.
SPREADS = ("sd", "repeats_sd", "se")

#: Significant digits of such a statistic, and of a coordinate without a unit.
_DIGITS_OF_SPREAD, _DIGITS_OF_COORDINATE = 3, 6

#: Decimals of costs, and of other numbers, unless their description says how many.
_DECIMALS_OF_COSTS, _DECIMALS = 4, 2

#: Units of numbers that are no counts: they need not be whole.
_UNITS_OF_NO_COUNT = ("", "proportion", "p", "score", "cost", "1", "per frame")


def cell_of_number(
    value: float,
    about: Mapping[Any, Any],
    statistic: str = "",
    attempts: float | None = None,
    **fields: Any,
) -> Quantity:
    """Return a number as a cell of the kind that the attributes of its variable say.

    A `statistic` of the variable may be of another kind. `fields` are further fields of the cell.
    """
    unit = str(about.get("units", ""))
    # "", "threshold", "count", or a number of significant digits
    display = str(about.get("shown", ""))
    is_difference = statistic == "difference"
    fields["difference"] = is_difference
    if unit == "score" and statistic.endswith("sd"):
        return Number(value, digits=_DIGITS_OF_SPREAD, **fields)
    if unit == "score":
        if display == "threshold" and not statistic:
            return Threshold(value, **fields)
        digits = _DIGITS_OF_SPREAD if statistic in SPREADS else None
        return Score(value, digits=digits, **fields)
    if unit == "proportion" and statistic != "number":
        if attempts is not None:
            attempts = None if math.isnan(attempts) else int(attempts)
        return Rate(value, attempts=attempts, **fields)
    if unit == "p" and statistic != "number":
        return Probability(value, **fields)
    is_whole = math.isnan(value) or float(value).is_integer()
    is_count = (display == "count" or unit not in _UNITS_OF_NO_COUNT) and not is_difference
    if statistic == "number" or (is_count and is_whole):
        return Count(value, **fields)
    if display.isdecimal():
        return Number(value, digits=int(display), **fields)
    default = _DECIMALS_OF_COSTS if unit == "cost" else _DECIMALS
    return Number(value, decimals=int(about.get("decimals", default)), **fields)


def cell_of(
    dataset: xr.Dataset,
    name: str,
    places: Mapping[str, int] | None = None,
    *,
    attempts: int | None = None,
) -> Quantity | Label | None:
    """Return a value of a variable as its description says, with its interval and its flag.

    `places` are positions along the dimensions of the variable, and of its denominator unless its
    `attempts` are given. None for a variable that the dataset lacks.
    """
    variables = dataset.variables
    places = places or {}
    if name not in variables:
        return None

    def value_at(other: str, missing: Any = None) -> Any:
        if other not in variables:
            return missing
        variable = variables[other]
        value = variable.values[tuple(places[str(dim)] for dim in variable.dims)]
        return value.item() if isinstance(value, np.generic) else value

    value = value_at(name)
    about = variables[name].attrs
    if isinstance(value, str | bool) or not about.get("units"):
        return Label(value)
    if name in dataset.dims and about["units"] in ("1", "proportion") and "iso_term" not in about:
        return Number(value, digits=_DIGITS_OF_COORDINATE)
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
