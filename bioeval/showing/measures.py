"""The measures that a table for a paper has, as ``frr_at_far=0.01`` or ``cms=5``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.rows import Row

_FORM = re.compile(
    r"(?:(?P<task>[\w/-]+)/)?(?P<measure>\w+)\s*(?:=\s*(?P<point>[^@]+))?(?:@\s*(?P<places>.+))?"
)


@dataclass(frozen=True)
class Measure:
    """A variable, at a point or a rank, perhaps of a task and at labels of dimensions."""

    name: str
    task: str
    point: float | None
    places: Mapping[str, str]

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
        point = rate_in(match["point"].strip()) if match["point"] else None
        return cls(match["measure"], match["task"] or "", point, places)

    def is_of(self, row: Row) -> bool:
        """Whether a number is one of the measure; of parts the test part unless one is named."""
        if row.measure != self.name or (self.task and row.node.task != self.task):
            return False
        if any(str(row.places.get(dim)) != label for dim, label in self.places.items()):
            return False
        if row.places.get("part") == "train" and "part" not in self.places:
            return False
        if self.point is None:
            return True
        point = row.point if row.at else row.places.get("rank", math.nan)
        return math.isclose(point, self.point, rel_tol=1e-12)


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
