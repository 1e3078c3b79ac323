"""A claim that is measured: what one data set says of it, and the cells in which it is tried."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

#: Modules with a tuple `CLAIMS`, in the order in which their tables are printed.
TOPICS = (
    *("rates", "searches", "folds", "groups", "comparison", "ranking"),
    *("promises", "zoo", "others", "tracking"),
)


@dataclass(frozen=True)
class Cell:
    """One population, and the size and the layout of the data drawn from it."""

    population: str
    people: int
    templates: int = 4
    layout: str = "square"

    def __str__(self) -> str:
        return f"{self.population}, {self.people} people, {self.templates} templates, {self.layout}"


@dataclass(frozen=True)
class Interval:
    """Limits that were given, and the truth; NaN where none were given."""

    low: float
    high: float
    truth: float

    def outcome(self) -> str:
        """Say where the truth is."""
        if np.isnan(self.low) and np.isnan(self.high):
            return "none"
        if self.truth < self.low:
            return "below"
        return "above" if self.truth > self.high else "held"


@dataclass(frozen=True)
class Verdict:
    """Whether a test or a promise was right; `given` is False where it gave none."""

    right: bool
    given: bool = True

    def outcome(self) -> str:
        """Say whether it was right."""
        if not self.given:
            return "none"
        return "held" if self.right else "broken"


Outcomes = Mapping[str, Interval | Verdict]


def cells(
    populations: Iterable[str] = "ENGRH",
    people: Iterable[int] = (20, 50, 200),
    templates: Iterable[int] = (2, 5, 10),
    layouts: Iterable[str] = ("square",),
    most_templates: int = 1000,
) -> tuple[Cell, ...]:
    """Return all combinations whose matrix has at most so many templates on a side."""
    return tuple(
        Cell(*x)
        for x in product(populations, people, templates, layouts)
        if x[1] * x[2] <= most_templates
    )


@dataclass(frozen=True)
class Claim:
    """What is claimed, of which public call, and how one data set tries it.

    `least` is the proportion of data sets in which the claim must hold, by population: where a
    population is missing, the claim is not made there, and the table shows how often it holds.
    """

    name: str
    claimed: str  # in words, as the docs have it
    call: str  # the public name
    once: Callable[[Cell, np.random.Generator], Outcomes]
    cells: tuple[Cell, ...]
    least: Mapping[str, float] = field(default_factory=dict)
    #: From this number of people on.
    from_people: int = 0

    def is_made(self, cell: Cell) -> float | None:
        """Return the proportion that is claimed in a cell; None where no claim is made."""
        if cell.people < self.from_people:
            return None
        return self.least.get(cell.population)


def all_claims() -> Iterator[Claim]:
    """Yield the claims of all topics."""
    for topic in TOPICS:
        module: Any = importlib.import_module(f"simulations.{topic}")
        yield from module.CLAIMS


def limits(result: Any, name: str, truth: float, **place: Any) -> Interval:
    """Return the limits of a variable of a result, at a place along its dimensions."""
    low, high = (result[f"{name}_{end}"].sel(place).item() for end in ("low", "high"))
    return Interval(low, high, truth)
