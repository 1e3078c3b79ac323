"""Measures by their names, such as ``frr_at_far=0.01``, and their table for a paper."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from bioeval.base.arguments import rate_in
from bioeval.base.errors import DataError, bad_choice
from bioeval.showing.nodes import Node, distinct_nodes
from bioeval.showing.notes import notes_of, support_notes
from bioeval.showing.rows import Row
from bioeval.showing.tables import STATISTICS_IN_ROWS, systems_in_rows
from bioeval.showing.text import Block, Paragraph, Section
from bioeval.showing.views import TaskResults, has_support, rows_of_task

#: [task/]name[=point][@dimension=label,...], as in "verification/single/frr_at_far=0.01@part=test".
_FORM = re.compile(
    r"(?:(?P<task>[\w/-]+)/)?(?P<name>[\w-]+)\s*(?:=\s*(?P<point>[^@=]+?)\s*)?"
    r"(?:@\s*(?P<places>.+))?"
)


@dataclass(frozen=True)
class Measure:
    """A variable that a table shows, such as ``frr_at_far=0.01``."""

    name: str
    task: str = ""  # empty for any task
    point: str = ""  # the target, threshold or rank; empty for all
    places: Mapping[str, str] = field(default_factory=dict)  # labels by dimension

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure that a text names.

        Raise ValueError for another form, or a point that is no number.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        places = {}
        for place in (match["places"] or "").split(","):
            dim, _, label = place.partition("=")
            if place:
                places[dim.strip()] = label.strip()
        name = match["name"].replace("-", "_")
        point = match["point"] or ""
        if point:
            rate_in(point)  # raises ValueError
        return cls(name, match["task"] or "", point, places)

    @property
    def text(self) -> str:
        return f"{self.name}={self.point}" if self.point else self.name

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


def table_of_measures(nodes: Sequence[Node], measures: Sequence[str]) -> Section:
    """Return a table of each task with a row for each system, and a column for each measure.

    Raise :class:`DataError` for measures that the results lack.
    """
    nodes = distinct_nodes(nodes)
    all_rows = chain.from_iterable(rows_of_task(node, data=True) for node in nodes)
    known = [row for row in all_rows if row.statistic in STATISTICS_IN_ROWS]
    wanted: list[Row] = []  # in the order of the measures
    at_named_points = set[int]()  # the identity of their rows
    for measure in measures:
        rows_of_measure = _rows_of_measure(known, measure)
        wanted += rows_of_measure
        if "=" in measure:
            at_named_points.update(map(id, rows_of_measure))

    sections: list[Section] = []
    for path in dict.fromkeys(node.task for node in nodes):
        wanted_of_task = [row for row in wanted if row.node.task == path]
        if not wanted_of_task:
            continue
        # A number that was named with its point is shown even if the data do not support it.
        rows = [x for x in wanted_of_task if has_support(x) or id(x) in at_named_points]
        task = TaskResults([x for x in nodes if x.task == path], rows, True)
        is_supported = all(row.supported is not False for row in wanted_of_task)
        notes = [] if is_supported else task.texts(support_notes)
        id_of_table = path.replace("/", "_")
        blocks: list[Block] = [Paragraph(note, "note") for note in notes]
        if rows:
            table = systems_in_rows(rows, id_of_table)
            blocks = [replace(table, title=task.title, notes=notes)]
        sections.append(Section(id_of_table, "", blocks, task=task.rates_of))
    notes_below = [Paragraph(note, "note") for note in notes_of(wanted, sections)]
    return Section("systems", "", [*sections, *notes_below])


def _rows_of_measure(rows: Sequence[Row], text: str) -> list[Row]:
    """Return the rows of the measure that a text names; raise DataError if there is none."""
    found: list[Row] = []
    with contextlib.suppress(ValueError):  # a text of another form names no measure
        measure = Measure.parse(text)
        found = [row for row in rows if measure.matches(row)]
    if not found:
        known = dict.fromkeys(row.measure for row in rows)
        raise DataError(bad_choice("measures", text, known))
    return found
