"""The measures that a table for a paper has, as ``frr_at_far=0.01`` or ``cms=5``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.rows import Row

# [task/]name[=point][@dimension=label,...], as in "verification/single/frr_at_far=0.01@part=test".
_FORM = re.compile(
    r"(?:(?P<task>[\w/-]+)/)?(?P<name>[\w-]+)\s*(?:=\s*(?P<point>[^@=]+?)\s*)?"
    r"(?:@\s*(?P<places>.+))?"
)


@dataclass(frozen=True)
class Measure:
    """A variable that a table shows, such as ``frr_at_far=0.01``.

    Attributes
    ----------
    name : str
        Name of the variable.
    task : str
        The task whose results have the variable; empty for any task.
    point : str
        The target, threshold or rank at which the variable is shown; empty for all.
    places : dict
        Labels by dimension.
    """

    name: str
    task: str = ""
    point: str = ""
    places: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure that a text names.

        Raise ValueError for another form, or a point that is no number.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        places = {}
        for place in filter(None, (match["places"] or "").split(",")):
            dim, _, label = place.partition("=")
            places[dim.strip()] = label.strip()
        name = match["name"].replace("-", "_")
        point = match["point"] or ""
        if point:
            rate_in(point)  # raises ValueError
        return cls(name, match["task"] or "", point, places)

    @property
    def text(self) -> str:
        """The name of the variable with its point."""
        return "=".join(filter(None, (self.name, self.point)))

    @property
    def number(self) -> float:
        """The point as a number; NaN without a point."""
        return rate_in(self.point) if self.point else math.nan

    def matches(self, row: Row) -> bool:
        """Return whether a row holds a number of this measure.

        Where there are training and test parts, only the test part matches unless `places` names
        one.
        """
        if row.measure != self.name or (self.task and row.node.task != self.task):
            return False
        if any(str(row.places.get(dim)) != label for dim, label in self.places.items()):
            return False
        if row.places.get("part") == "train" and "part" not in self.places:
            return False
        if not self.point:
            return True
        # A row without a target or threshold may be at a rank.
        point = row.point if row.at else row.places.get("rank", math.nan)
        return math.isclose(point, self.number, rel_tol=1e-12)


def chosen_rows(rows: Sequence[Row], measures: Sequence[str]) -> list[Row]:
    """Return the rows of measures, in the order of the measures.

    Raise :class:`DataError` for a measure that no row has.
    """
    known = list(dict.fromkeys(row.measure for row in rows))
    chosen = []
    for text in measures:
        try:
            measure = Measure.parse(text)
        except ValueError:
            raise DataError(bad_choice("measures", text, known)) from None
        of_measure = [row for row in rows if measure.matches(row)]
        if not of_measure:
            raise DataError(bad_choice("measures", text, known))
        chosen += of_measure
    return chosen
