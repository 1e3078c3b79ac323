"""Rows of numbers as tables take them: each number with its place and its description."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.counting.wanted_points import PointsWanted
from bioeval.showing.cells import Label, Quantity, cell_of_number
from bioeval.showing.nodes import Node
from bioeval.showing.numbers import COLUMNS, UNEXPORTED, Block, NumbersOfDataset
from bioeval.showing.text import Text

#: Attributes of variables, where a dataset says what is to be shown of them.
Description = Mapping[str, Any]


@dataclass(slots=True)
class Row:
    """A number with where it is.

    `places` are labels by dimension, without those of systems and without the point it is at.
    """

    node: Node
    name: str
    about: Description
    about_threshold: Description
    system: str
    other_system: str  # that is subtracted
    places: dict[str, Any]
    measure: str
    statistic: str
    at: str
    point: float
    value: float
    low: float
    high: float
    threshold: float
    next: float
    attempts: float
    supported: bool | None
    flagged: bool
    text: Any

    @property
    def is_defined(self) -> bool:
        """Whether there is a number, or a text."""
        return self.text is not None or not math.isnan(self.value)

    @property
    def is_brief(self) -> bool:
        """Whether a short view has it.

        Of numbers at a target it has the first rank, and costs if others than the usual one were
        asked for.
        """
        of_costs = self.node.dataset.sizes.get("cost", 0)
        if of_costs == 1 and self.at == "prior" and self.point == PointsWanted.COSTS[0][0]:
            return False
        is_of_first_rank = True
        if self.at and "rank" in self.places:
            is_of_first_rank = self.places["rank"] == self.node.dataset["rank"].values[0]
        return "detail" not in self.about and self.is_defined and is_of_first_rank

    @property
    def cell(self) -> Text:
        """The number as a cell of its kind."""
        if self.text is not None:
            return Label(self.text)
        is_of_training = bool(self.statistic) and self.places.get("part") == "train"
        is_limited = not (math.isnan(self.low) or math.isnan(self.high))
        return cell_of_number(
            self.value,
            self.about,
            self.statistic,
            self.attempts,
            interval=(self.low, self.high) if is_limited and not is_of_training else None,
            flagged=self.flagged,
            supported=self.supported is not False,
            next=self.next,
        )

    @property
    def threshold_cell(self) -> Quantity | None:
        """The threshold that the number is at; None without one, or where it is the point."""
        if math.isnan(self.threshold) or self.at == "threshold" or not self.is_defined:
            return None
        supported = self.supported is not False
        return cell_of_number(
            self.threshold, self.about_threshold, supported=supported, next=self.next
        )


def rows_of(node: Node, *, data: bool = False) -> Iterator[Row]:
    """Yield the numbers of a dataset that tables have, variable by variable; or all in `data`."""
    numbers, variables = NumbersOfDataset(node.dataset, curves=False), node.dataset.variables
    for name in numbers.names():
        about = variables[name].attrs
        if (measure := about.get("measure")) in variables:  # a statistic has its digits
            digits = {k: x for k, x in variables[measure].attrs.items() if k == "decimals"}
            about = digits | about
        if data or about.get("detail") != "data":
            threshold = numbers.threshold_of(name)
            about_threshold = variables[threshold].attrs if threshold else {}
            yield from _rows(node, name, numbers.block(name), about, about_threshold)


def _rows(
    node: Node, name: str, block: Block, about: Description, about_threshold: Description
) -> Iterator[Row]:
    size = len(block["value"])
    columns: dict[str, Any] = {}
    for column, values in block.items():
        if values is None:
            continue
        is_array = isinstance(values, np.ndarray)
        columns[column] = values.tolist() if is_array else itertools.repeat(values, size)
    dims = [x for x in columns if x not in COLUMNS and x not in UNEXPORTED]
    missing = {"statistic": "", "at": "", "supported": None, "flagged": False, "text": None}
    names = ("measure", "statistic", "at", "point", "value", "low", "high", "threshold", "next")
    every: list[Any] = []
    for column in (*names, "attempts", "supported", "flagged", "text"):
        values = columns.get(column)
        if values is None:
            values = itertools.repeat(missing.get(column, math.nan), size)
        every.append(values)
    labels = zip(*(columns[x] for x in dims), strict=True) if dims else itertools.repeat((), size)
    for place, fields in zip(labels, zip(*every, strict=True), strict=True):
        places: dict[str, Any] = dict(zip(dims, place, strict=True))
        of_system = node.name_of_system(places.pop("system", ""))
        other = str(places.pop("other_system", ""))
        other = node.name_of_system(other) if other else ""
        yield Row(node, name, about, about_threshold, of_system, other, places, *fields)
