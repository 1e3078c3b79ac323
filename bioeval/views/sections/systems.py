"""Several systems in one table: a row for each system, a column for each measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from bioeval.base.errors import DataError, bad_choice
from bioeval.base.messages import Message
from bioeval.document.blocks import Block, Column, Messages, Paragraph, Section, Table
from bioeval.document.cells import Label, Quantity
from bioeval.document.results import interval_note, result_messages
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.results.dataset import task_code
from bioeval.results.support import is_supported
from bioeval.views.sections.header import alarms, optimistic
from bioeval.views.sections.rows import SUPPORT, is_identification, rows_of_task
from bioeval.views.tasks import averaged, system_of, systems, unit_of
from bioeval.views.writers.lines import Lines


@dataclass(frozen=True)
class SystemNumber:
    """A number of a system with its label, which names the threshold if one was given."""

    label: Text
    value: Quantity

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


#: The code of a task, its templates, and of a result in parts its title with their unit.
_Task = tuple[str, str, str]


def in_parts(dataset: xr.Dataset) -> bool:
    """Whether a result is over folds, repeats or partitions."""
    return not {"partition", "fold"}.isdisjoint(dataset.dims)


def _task_of(dataset: xr.Dataset) -> _Task:
    """Return what results have in common that are in one table."""
    title = f"{dataset.attrs['task']} {unit_of(dataset.attrs)}" if in_parts(dataset) else ""
    return (*task_code(dataset.attrs), title)


def measures_of(dataset: xr.Dataset) -> Iterator[SystemNumber]:
    """Yield the measures of a result; of folds and partitions, means."""
    if in_parts(dataset):
        for row in averaged(dataset):
            supported = is_supported(dataset, row.scalar.name, row.at)
            cell = cell_of_scalar(row.scalar, row.summary("mean"), at=row.at, supported=supported)
            yield SystemNumber(row.name_in_text, cell)
        return
    for row_of_task in rows_of_task(dataset):
        yield SystemNumber(row_of_task.heading, row_of_task.value)


def systems_section(results: Mapping[str, xr.Dataset], measures: Sequence[str] = ()) -> Section:
    """Return the tables of results by path for a paper: see :func:`tables_of_systems`."""
    blocks: list[Block] = []
    for message, paths in alarms(results).items():
        about = Message(message.code, systems(paths), **message.arguments)
        blocks.append(Messages([about], alarm=True))
    blocks += tables_of_systems(results, measures)
    blocks += [Paragraph(x, "note") for x in remarks(results)]
    return Section("systems", "", blocks)


def tables_of_systems(
    results: Mapping[str, xr.Dataset], measures: Sequence[str] = ()
) -> list[Section]:
    """Return a table for each task of results by path, with a row for each system.

    `measures` chooses some by labels or names of variables, in this order; none: all of them.
    Raise :class:`DataError` for an unknown one.
    """
    words: dict[str, str] = {}
    by_task: dict[_Task, dict[str, xr.Dataset]] = {}
    measured: dict[_Task, dict[str, dict[str, SystemNumber]]] = {}
    for path, dataset in results.items():
        name = system_of(path) or str(dataset.attrs.get("system", ""))
        by_task.setdefault(_task_of(dataset), {})[name] = dataset
        # Users name measures in the words of the table.
        lines = Lines(str(dataset.attrs.get("terms", "lecture")), _rates_of(dataset))
        by_label = measured.setdefault(_task_of(dataset), {}).setdefault(name, {})
        for measure in measures_of(dataset):
            label = lines.write(measure.label)
            words[label.casefold()] = label
            by_label[label.casefold()] = measure
    chosen = []
    for name in measures:
        folded = name.casefold().replace("\N{LESS-THAN OR EQUAL TO}", "<=").strip()
        every = [x for of_task in measured.values() for x in of_task.values()]
        keys = [k for x in every for k, each in x.items() if each.is_called(folded, k)]
        if not keys:
            raise DataError(bad_choice("measures", name, list(words.values())))
        chosen += keys
    made = []
    for code, datasets in by_task.items():
        table = _table(datasets, measured[code], chosen)
        if len(table.columns) > 1:
            first = next(iter(datasets.values()))
            made.append(Section(table.id, "", (table,), task=_rates_of(first)))
    return made


def _rates_of(dataset: xr.Dataset) -> str:
    return rates_are_of(dataset.attrs, searches=is_identification(dataset))


def _table(
    datasets: Mapping[str, xr.Dataset],
    of_systems: Mapping[str, dict[str, SystemNumber]],
    chosen: Sequence[str],
) -> Table:
    """Return the measures of the systems of a task, and which targets the data do not support."""
    labels: dict[str, Text] = {}
    for of_system in of_systems.values():
        labels |= {key: measure.label for key, measure in of_system.items()}
    if chosen:
        labels = {key: labels[key] for key in chosen if key in labels}
    columns = [Column("system")]
    columns += [Column(name.replace(" ", "_"), label) for name, label in labels.items()]
    rows = []
    for system, of_system in of_systems.items():
        cells = [of_system[key].value if key in of_system else None for key in labels]
        rows.append((Label(system), *cells))
    title = str(next(iter(datasets.values())).attrs["task"])
    every = [
        of_system[key] for of_system in of_systems.values() for key in labels if key in of_system
    ]
    shown = {measure.value.variable for measure in every}
    support = []
    for message in result_messages(datasets).messages:
        about = message.arguments
        if message.code == "candidates-missing" or (
            message.code in SUPPORT and f"{about['rate']}_at_{about['chosen']}" in shown
        ):
            support.append(message)
    notes = [
        say("{about:names}: {message}", about=x.about, message=x) if x.about else x for x in support
    ]
    name = title.replace(" ", "_")
    return Table(name, columns, rows, title=f"{title[0].upper()}{title[1:]}", notes=notes)


def remarks(results: Mapping[str, xr.Dataset]) -> Iterator[Text]:
    """Yield what there is to say below the tables of systems."""
    units = [f"{unit_of(x.attrs)}s" for x in results.values() if in_parts(x)]
    if units:
        over = Enumeration(list(dict.fromkeys(units)))
        yield say("Mean over {units}.", units=over)
    if caveat := optimistic(results.values()):
        yield caveat
    if not units:
        yield from (note.text for note in interval_note(results))
