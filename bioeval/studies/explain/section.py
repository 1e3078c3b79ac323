"""What is said of an explained row: its lists, what each entry adds, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from bioeval.document.blocks import Block, Column, Fact, Facts, Paragraph, Section, Table
from bioeval.document.cells import Label, Number, Picture, Score
from bioeval.document.text import Strong, Text, say
from bioeval.studies.explain.results import GENUINE, Explanation
from bioeval.studies.explain.shown_lists import (
    Line,
    ShownList,
    about,
    adds,
    legend,
    lists_of,
    notes,
    noun,
    title_of,
    why,
)

#: The first columns of a list, which a narrow terminal repeats.
_KEYS = 6

#: Entries of a list that a page has as a whole, at most.
MOST_ENTRIES = 400


def section(explained: Explanation) -> Section:
    """Return what is said of an explained row."""
    blocks = (
        Facts([Fact(*fact) for fact in about(explained)]),
        _picture(explained),
        *lists(explained),
        _adds(explained),
        *_whole_lists(explained),
    )
    return Section("row", explained.heading, blocks, task="verification")


def lists(explained: Explanation, start: str = "") -> Iterator[Block]:
    """Yield the lists of a row, each a table with a name that begins with `start`."""
    for k, shown in enumerate(lists_of(explained), start=1):
        remarks = list(shown.left_out)
        if shown.conditional:
            remarks.append("a | b: a if accepted, b if rejected")
        if shown.lines:
            yield _list(shown, explained, f"{start}list_{k}", remarks)
        else:
            title = title_of(shown)
            yield Paragraph(say("{title}: no entry is left", title=title), "answer")
            yield from (Paragraph(text, "note") for text in remarks)


def _picture(explained: Explanation) -> Table:
    """Return the image of the probe, where it has one."""
    column = Column("image", "image of the probe", only="page")
    return Table("probe", [column], [[Picture(explained.name, explained.name)]])


def _whole_lists(explained: Explanation) -> Iterator[Block]:
    """Yield the lists that were shortened, every entry of each, for a page."""
    pairs = zip(lists_of(explained), lists_of(explained, shorten=False), strict=True)
    for k, (shown, whole) in enumerate(pairs, start=1):
        if len(shown.single) < len(shown.lines) and len(whole.lines) <= MOST_ENTRIES:
            table = _list(whole, explained, f"list_{k}_whole", [])
            columns = [replace(column, only="page") for column in table.columns]
            title = say("{title}, every entry", title=table.title)
            yield replace(table, title=title, columns=columns)


def _list(shown: ShownList, explained: Explanation, id: str, remarks: list[Text]) -> Table:
    """Return a list under its tasks, with the threshold between accepted and rejected entries."""
    threshold, empty = explained.threshold, [""] * len(shown.heads)
    cut: list[Text | None] = ["", "", "", "", "", Strong("threshold"), *empty, "", ""]
    if threshold is not None:
        if math.isnan(threshold):
            cut[5] = Strong("threshold: reject all")
        else:
            cut[4] = Score(float(threshold))
    rows = [_row(line) for line in shown.lines]
    if shown.accepted is not None and threshold is not None:
        rows.insert(shown.accepted, cut)
    columns = (
        Column("place", "place"),
        Column("image", "image", only="page"),
        Column("template", "template" if shown.unit == "template" else "by template"),
        Column("subject", "subject"),
        Column("score", noun(explained.kind)),
        Column("role", "role"),
        *(Column(head, head) for head in shown.heads),
        Column("accepted", "accepted", only="page"),
        Column("reason"),
    )
    title = title_of(shown)
    return Table(id, columns, rows, title=title, notes=remarks, keys=_KEYS)


def _row(line: Line) -> list[Text | None]:
    """Return the cells of a line; one of several entries has their number."""
    template: Text = Label(line.template)
    if line.number > 1:
        template = say("{number:count} more", number=line.number)
    role: Text = line.role_text
    if line.role == GENUINE:
        role = Strong(role)
    return [
        None if line.place is None else Number(line.place, decimals=0),
        Picture(line.template, line.template) if line.number == 1 else None,
        template,
        Label(line.subject),
        None if line.score is None else Score(float(line.score)),
        role,
        *line.cells,
        {None: None, True: "yes", False: "no"}[line.accepted],
        line.reason,
    ]


def _adds(explained: Explanation) -> Table:
    """Return what the row adds to the counters of each task, and why."""
    rows = [(task.title, Strong(adds(task)), why(task)) for task in explained.tasks]
    columns = (Column("task"), Column("adds"), Column("why"))
    remarks = (*notes(explained), *legend([explained]))
    return Table("adds", columns, rows, title="What this row adds", notes=remarks)
