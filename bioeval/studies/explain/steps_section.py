"""What is said of every row of a small matrix: the sums after each, and the rates at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import QUERY_MEANS
from bioeval.document.blocks import Block, Column, Fact, Facts, Section, Table
from bioeval.document.cells import Label, Rate, Score
from bioeval.document.text import Strong, Term, Text, say
from bioeval.scores.labels import template_names
from bioeval.scores.matrix import knows_people
from bioeval.studies.explain.results import (
    TITLES,
    Count,
    Explanation,
    Quotient,
    Steps,
    in_fractions,
    quotients,
)
from bioeval.studies.explain.section import lists
from bioeval.studies.explain.shown_lists import about, adds, complete, legend, sums

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

#: Rows and columns of the largest matrix that is printed.
MOST_SHOWN = 12


def section(steps: Steps) -> Section:
    """Return what is said of every row, one after the other."""
    walks, totals = steps.walks, steps.totals
    blocks: list[Block] = [Facts([Fact(*fact) for fact in about(walks[0])])]
    if max(steps.scores.shape) <= MOST_SHOWN:
        blocks.append(_matrix(steps.scores))
    for k, (explained, so_far) in enumerate(zip(walks, totals, strict=True), start=1):
        title = say(
            "Step {step:name} of {steps:name}: {row}",
            step=k,
            steps=len(walks),
            row=explained.heading,
        )
        of_row = (*lists(explained, f"step_{k}_"), _so_far(explained, so_far, k))
        blocks.append(Section(f"step_{k}", title, of_row, task="verification"))
    blocks.append(_rates(totals[-1], legend(walks)))
    return Section("steps", "Every probe, step by step", blocks, task="verification")


def _matrix(scores: Scores) -> Table:
    """Return a matrix as a table: a row for each probe, a column for each gallery template.

    All against all, the diagonal is empty: a template is not compared with itself.
    """
    m, n = scores.shape
    square = scores.layout == "all-against-all"
    values = scores.values
    people = knows_people(scores)
    columns = [Column("template", "template" if square else "probe")]
    if people:
        columns.append(Column("subject", "subject"))
    for j, name in enumerate(template_names(scores.gallery_meta, n)):
        heading: Text = Label(name)
        if people and not square:
            heading = say("{name:name} ({who:name})", name=name, who=scores.gallery_labels[j])
        columns.append(Column(f"score_{j}", heading))
    rows = []
    for i, name in enumerate(template_names(scores.probe_meta, m)):
        row: list[Text | None] = [Label(name)]
        if people:
            row.append(Label(scores.probe_labels[i]))
        for j in range(n):
            row.append(None if square and i == j else Score(float(values[i, j])))
        rows.append(row)
    return Table("scores", columns, rows, title="The scores")


def _so_far(
    explained: Explanation, totals: Mapping[str, Mapping[Count, float]], step: int
) -> Table:
    """Return the contributions of a step to each task, and the sums after it."""
    rows: list[tuple[Text, ...]] = []
    last = {task.task: task for task in explained.tasks}
    for task in explained.tasks:
        shown: Text = ""
        if last[task.task] is task and task.task in totals:
            shown = Strong(sums(complete(task.task, totals[task.task])))
        rows.append((task.title, adds(task), shown))
    columns = (Column("task"), Column("adds", "this probe adds"), Column("so_far", "so far"))
    return Table(f"step_{step}_so_far", columns, rows)


def _rates(totals: Mapping[str, Mapping[Count, float]], notes: Iterable[Text]) -> Table:
    """Return the rates with the sums that they are computed from.

    The rates of a single task stand without its name.
    """
    rows = list[list[Text]]()
    for task, counts in totals.items():
        for rate in _reached(quotients(task, counts)):
            of_task = "verification" if task.startswith("verification") else "identification"
            formula = say(
                "{rate} = {formula}", rate=_name(rate, of_task), formula=rate.formula, task=of_task
            )
            fraction: Text = "no attempt"
            if rate.over:
                part, over = in_fractions(rate.part), in_fractions(rate.over)
                fraction = say("{part} / {over}", part=part, over=over)
            attempts = int(rate.over) if rate.over else None
            value = Rate(rate.value, attempts=attempts, variable=rate.name)
            rows.append([TITLES.get(task, task), formula, fraction, value])
    columns = [Column("task", grouped=True), Column("rate"), Column("fraction"), Column("value")]
    if len(totals) == 1:
        columns[0] = replace(columns[0], only="data")
    of_class = "The denominator of each rate is the number of attempts of its own class"
    return Table("rates", columns, rows, title=of_class, notes=tuple(notes))


def _reached(rates: Iterator[Quotient]) -> Iterator[Quotient]:
    """Yield rates without those of ranks at which no probe is found."""
    before = -1.0
    for rate in rates:
        if rate.rank in (None, 1) or rate.part != before:
            yield rate
        before = rate.part


#: Rates that have no term in the standard.
_LABELS = {name: scalar_registry()[name].label for name in ("cmc", *QUERY_MEANS)}


def _name(rate: Quotient, task: str) -> Text:
    """Return the name of a rate, with its rank."""
    if rate.name in _LABELS:
        return _LABELS[rate.name].format(rank=rate.rank)
    name = Term(rate.name, task)
    if rate.name == "dir":
        return say("{name}(t, {rank})", name=name, rank=Label(rate.rank))
    if rate.name == "cms":
        return say("{name}({rank})", name=name, rank=Label(rate.rank))
    return name
