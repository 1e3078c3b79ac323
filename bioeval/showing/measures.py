"""The measures that a table for a paper has, as ``frr_at_far=0.01`` or ``cms=5``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.rows import Row

_FORM = re.compile(
    r"(?:(?P<task>[\w/-]+)/)?(?P<name>[\w-]+)\s*(?:=\s*(?P<point>[^@=]+?)\s*)?"
    r"(?:@\s*(?P<places>.+))?"
)


@dataclass(frozen=True)
class Measure:
    """A variable, at a point or a rank, perhaps of a task and at labels of dimensions.

    Attributes
    ----------
    name : str
    task : str
        The only task that is meant; empty for any.
    point : str
        What is held, or the rank; empty without one.
    places : dict
        Values by dimension.
    """

    name: str
    task: str = ""
    point: str = ""
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure that a text names; raise ValueError if it names none."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        places = {}
        for place in filter(None, (match["places"] or "").split(",")):
            dim, _, label = place.partition("=")
            places[dim.strip()] = label.strip()
        name = match["name"].replace("-", "_")
        return cls(name, match["task"] or "", match["point"] or "", places)

    @property
    def text(self) -> str:
        """The name with the point."""
        return "=".join(filter(None, (self.name, self.point)))

    @property
    def number(self) -> float:
        """The point as a number; NaN without one, or where it is another text."""
        try:
            return rate_in(self.point)
        except ValueError:
            return math.nan

    def is_of(self, row: Row) -> bool:
        """Whether a number is one of the measure; of parts the test part unless one is named."""
        if row.measure != self.name or (self.task and row.node.task != self.task):
            return False
        if any(str(row.places.get(dim)) != label for dim, label in self.places.items()):
            return False
        if row.places.get("part") == "train" and "part" not in self.places:
            return False
        point = row.point if row.at else row.places.get("rank", math.nan)
        return not self.point or math.isclose(point, self.number, rel_tol=1e-12)


def chosen_rows(rows: Sequence[Row], measures: Sequence[str]) -> list[Row]:
    """Return the rows of measures, in their order.

    Raise :class:`DataError` for one that no row has.
    """
    known = list(dict.fromkeys(row.measure for row in rows))
    chosen = []
    for text in measures:
        try:
            measure = Measure.parse(text)
        except ValueError:
            raise DataError(bad_choice("measures", text, known)) from None
        of_measure = [row for row in rows if measure.is_of(row)]
        if not of_measure:
            raise DataError(bad_choice("measures", text, known))
        chosen += of_measure
    return chosen
