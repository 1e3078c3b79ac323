"""Several systems in one table: a row for each system, a column for each measure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from bioeval.base.errors import DataError, bad_choice
from bioeval.base.messages import Message
from bioeval.document.blocks import Block, Column, Messages, Paragraph, Section, Table
from bioeval.document.cells import Label, Quantity
from bioeval.document.results import interval_note
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.results.dataset import task_code
from bioeval.views.sections.evaluation import is_identification, rows_of_task
from bioeval.views.sections.header import alarms, optimistic
from bioeval.views.tasks import averaged, system_of, systems, unit_of
from bioeval.views.writers.lines import Lines


@dataclass(frozen=True)
class Measure:
    """A number of a system with its label, and the threshold that it is at, if one was given."""

    label: Text
    value: Quantity

    @property
    def threshold(self) -> float | None:
        """The threshold: numbers at two of them never share a column."""
        return self.value.at.get("threshold")

    def is_called(self, name: str, label: str) -> bool:
        """Whether it has this name: its printed label or a part of that, or its variable's."""
        printed, _, also = label.rstrip(")").partition(" (")
        variable, equals, number = name.partition("=")
        if name in filter(None, (label, printed, also)):
            return True
        if variable != self.value.variable:
            return name == also.replace(" ", "_") != ""
        places = [*self.value.at.values()]
        if not equals or not places:
            return not equals
        percent = number.endswith("%")
        try:
            place = float(number.removesuffix("%")) / (100 if percent else 1)
        except ValueError:
            return False
        return math.isclose(place, places[0])


#: The label of a measure in the words of the table, in lower case, with its threshold.
_Key = tuple[str, float | None]


#: The code of a task, its templates, and what a result in parts is over.
_Task = tuple[str, str, str]


def _task_of(dataset: xr.Dataset) -> _Task:
    """Return what results have in common that are in one table."""
    divided = not {"partition", "fold"}.isdisjoint(dataset.dims)
    return (*task_code(dataset.attrs), unit_of(dataset.attrs) if divided else "")


#: The measures of a result over partitions.
Summarised = Callable[[xr.Dataset], Iterator[Measure]]


def measures_of(dataset: xr.Dataset, summarised: Summarised) -> Iterator[Measure]:
    """Yield the measures of a result; of folds and partitions, means and standard deviations."""
    if "partition" in dataset.dims:
        yield from summarised(dataset)
    elif "fold" in dataset.dims:
        for row in averaged(dataset):
            mean, deviation = row.summary("mean"), row.summary("sd")
            cell = cell_of_scalar(row.scalar, mean, deviation=deviation, at=row.at)
            yield Measure(row.name_in_text, cell)
    else:
        for row_of_task in rows_of_task(dataset):
            yield Measure(row_of_task.heading, row_of_task.value)


def section(
    results: Mapping[str, xr.Dataset], measures: Sequence[str], summarised: Summarised
) -> Section:
    """Return a table for each task of results by path.

    `measures` chooses columns by labels or names of variables, in this order; none: all of them.
    Raise :class:`DataError` for an unknown one.
    """
    words: dict[str, str] = {}
    by_task: dict[_Task, dict[str, dict[_Key, Measure]]] = {}
    titles: dict[_Task, str] = {}
    tasks: dict[_Task, str] = {}
    for path, dataset in results.items():
        task = rates_are_of(dataset.attrs, searches=is_identification(dataset))
        name = system_of(path) or str(dataset.attrs.get("system", ""))
        code = _task_of(dataset)
        titles.setdefault(code, str(dataset.attrs["task"]))
        tasks[code] = task
        # Users name measures in the words of the table.
        lines = Lines(str(dataset.attrs.get("terms", "lecture")), task)
        found = by_task.setdefault(code, {}).setdefault(name, {})
        for measure in measures_of(dataset, summarised):
            label = lines.write(measure.label)
            words[label.casefold()] = label
            found[label.casefold(), measure.threshold] = measure
    measured = [x for systems in by_task.values() for x in systems.values()]
    chosen = []
    for name in measures:
        folded = name.casefold().replace("\N{LESS-THAN OR EQUAL TO}", "<=").strip()
        keys = [k for x in measured for k, each in x.items() if each.is_called(folded, k[0])]
        if not keys:
            raise DataError(bad_choice("measures", name, list(words.values())))
        chosen += keys
    blocks: list[Block] = []
    for message, paths in alarms(results).items():
        about = Message(message.code, systems(paths), **message.arguments)
        blocks.append(Messages([about], alarm=True))
    for code, of_systems in by_task.items():
        table = _table(titles[code], of_systems, chosen)
        if len(table.columns) > 1:
            blocks.append(Section(table.id, "", (table,), task=tasks[code]))
    blocks += [Paragraph(x, "note") for x in _remarks(results) if x]
    return Section("systems", "", blocks)


def _table(
    title: str, of_systems: Mapping[str, dict[_Key, Measure]], chosen: Sequence[_Key]
) -> Table:
    """Return the measures of the systems of a task."""
    labels: dict[_Key, Text] = {}
    for of_system in of_systems.values():
        labels |= {key: measure.label for key, measure in of_system.items()}
    if chosen:
        labels = {key: labels[key] for key in chosen if key in labels}
    printed_alike = Counter(name for name, _ in labels)
    columns = [Column("system")]
    for (name, threshold), label in labels.items():
        column, heading = name.replace(" ", "_"), label
        if printed_alike[name] > 1:  # thresholds that differ in the seventh digit
            column = f"{column}_({threshold!r})"
            heading = say("{label} ({threshold:name})", label=label, threshold=threshold)
        columns.append(Column(column, heading))
    rows = []
    for system, of_system in of_systems.items():
        cells = [of_system[key].value if key in of_system else None for key in labels]
        rows.append((Label(system), *cells))
    capital = f"{title[0].upper()}{title[1:]}"
    return Table(title.replace(" ", "_"), columns, rows, title=capital)


def _remarks(results: Mapping[str, xr.Dataset]) -> Iterator[Text]:
    units = []
    for dataset in results.values():
        if not {"partition", "fold"}.isdisjoint(dataset.dims):
            units.append(f"{unit_of(dataset.attrs)}s")
    if units:
        over = Enumeration(list(dict.fromkeys(units)))
        yield say("Mean ± standard deviation over {units}.", units=over)
    yield optimistic(results.values())
    if not units:
        yield from (note.text for note in interval_note(results))
