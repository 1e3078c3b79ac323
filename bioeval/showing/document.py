"""Any result as a document: header, answers, a table for each task, notes and messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import xarray as xr

from bioeval.base.messages import Message, messages_of
from bioeval.scores.kind_check import KIND_DOUBTS
from bioeval.showing.blocks import Block, Legend, Messages, Paragraph, Section, Table
from bioeval.showing.cells import Label
from bioeval.showing.header import header_of, rules_of
from bioeval.showing.labels import label_of, label_of_measure
from bioeval.showing.measures import chosen_rows
from bioeval.showing.nodes import Node
from bioeval.showing.notes import notes_of
from bioeval.showing.rows import Row, rows_of
from bioeval.showing.sentences import ANSWERS
from bioeval.showing.sizes import lacking, sample_size
from bioeval.showing.tables import STATISTICS_IN_ROWS, systems_in_rows, tables_of
from bioeval.showing.tasks import OVER, each_once
from bioeval.showing.terms import rates_are_of, template_of
from bioeval.showing.text import Enumeration, Phrase, Text, say
from bioeval.showing.vocabulary import task_of
from bioeval.stats.aggregate import aggregate

#: Messages that stand below the table of their task: targets that the data do not support.
SUPPORT = ("target-not-supported", "target-uncertain")

#: Messages that say no more than these.
_SAID = (*SUPPORT, "limit-not-supported")


@dataclass(frozen=True)
class _Task:
    """The results of a task, of one system or several, with the rows that are shown."""

    nodes: Sequence[Node]
    rows: Sequence[Row]

    @property
    def id(self) -> str:
        """Name of its tables."""
        return self.nodes[0].task.replace("/", "_")

    @property
    def is_defined(self) -> bool:
        """Whether one of its numbers is."""
        return any(row.is_defined for row in self.rows)


def section_of(nodes: Sequence[Node], *, verbose: bool = True) -> Section:
    """Return what a reader is shown of results: all, or what a short view has."""
    nodes = _each_once(nodes)
    shown = [x for x in nodes if verbose or not _is_detail(x, nodes)]
    tasks = [_task(of_task, verbose) for of_task in _by_task(shown)]
    several = len({(x.system, x.condition) for x in nodes}) > 1
    without = {node.name for task in tasks if not task.is_defined for node in task.nodes}
    wholes = [x for x in nodes if _whole(x, nodes) is x]
    messages = [
        _about(message, names, wholes, several)
        for message, names in _names_of_messages(nodes).items()
        if len(names) == len(wholes) or not {*names} <= without  # else the title says why
    ]
    in_answers = [x for m in messages if m.code in ANSWERS for x in (m, *m.arguments.values())]
    blocks: list[Block] = [Messages([x], alarm=True) for x in messages if x.code in KIND_DOUBTS]
    blocks.append(header_of(nodes, verbose=verbose))
    blocks += (Paragraph(_answer(x), "answer") for x in messages if x.code in ANSWERS)
    said: list[Text] = []
    sections = [_section(task, several, said) for task in tasks]
    tables = [x for section in sections for x in section.blocks if isinstance(x, Table)]
    notes = notes_of([row for task in tasks for row in task.rows], tables)
    blocks += sections
    if verbose:
        blocks.append(Legend(_explained(tasks)))
    blocks.append(Section("remarks", "", [Paragraph(x, "note") for x in notes]))
    others = [x for x in messages if x.code not in KIND_DOUBTS and x.code not in _SAID]
    others = [x for x in others if x not in in_answers]
    blocks.append(Messages(sorted(others, key=lambda x: bool(x.about))))
    return Section("results", "", blocks)


def table_of_measures(nodes: Sequence[Node], measures: Sequence[str]) -> Section:
    """Return a table of each task with a row for each system, and a column for each measure.

    Raise :class:`DataError` for measures that the results lack.
    """
    nodes = _each_once(nodes)
    rows = [row for node in nodes for row in _rows(node, data=True)]
    rows = [row for row in rows if row.statistic in STATISTICS_IN_ROWS]
    chosen = chosen_rows(rows, measures)
    tables: list[Table] = []
    sections: list[Block] = []
    for of_task in _by_task(nodes):
        of_measures = [row for row in chosen if row.node.task == of_task[0].task]
        if not of_measures:
            continue
        table = systems_in_rows(of_measures, of_task[0].task.replace("/", "_"))
        is_withheld = any(row.supported is False for row in of_measures)
        support = _of_each(of_task, _support) if is_withheld else []
        table = replace(table, title=_title(of_task[0], named=False), notes=support)
        sections.append(Section(table.id, "", [table], task=_rates_of(of_task[0])))
        tables.append(table)
    notes = [Paragraph(x, "note") for x in notes_of(chosen, tables)]
    return Section("systems", "", [*sections, *notes])


def _each_once(nodes: Sequence[Node]) -> list[Node]:
    """Return results, equal single- and multi-template verification once."""
    shown = each_once({node.name: node.dataset for node in nodes})
    return [x._replace(dataset=shown[x.name]) for x in nodes if x.name in shown]


def _by_task(nodes: Iterable[Node]) -> list[list[Node]]:
    """Return the results of each task together."""
    by_task: dict[str, list[Node]] = {}
    for node in nodes:
        by_task.setdefault(node.task, []).append(node)
    return list(by_task.values())


def _task(nodes: Sequence[Node], verbose: bool) -> _Task:
    """Return the results of a task with the rows that are shown."""
    rows = (row for node in nodes for row in _rows(node))
    return _Task(nodes, [x for x in rows if verbose or (x.is_brief and x.supported is not False)])


def _rows(node: Node, *, data: bool = False) -> Iterator[Row]:
    """Yield the numbers of a result; of folds and partitions, the statistics that are shown."""
    summed = _summed(node)
    shown = str(summed.dataset.attrs.get("statistics_shown", "")).split()
    for row in rows_of(summed, data=data):
        if not shown or row.statistic in ("", *shown):
            yield row


def _summed(node: Node) -> Node:
    """Return statistics in place of the numbers of each fold or partition."""
    over = [dim for dim in OVER if dim in node.dataset.dims]
    if not over:
        return node
    scalars = node.dataset.drop_dims("threshold", errors="ignore")
    statistics = aggregate(scalars, over, quantiles=(0, 1))
    shown = ["mean", "sd", "q0", "q1"]
    if "part" in node.dataset.dims:
        shown = ["mean", "sd", "repeats_sd", "pooled"]
        if node.dataset.attrs.get("splitter_class") == "PredefinedPairFolds":
            shown.append("se")  # of the lists of LFW and others
    # Rows are chosen, and no places of the dataset: xarray would load dask.
    statistics.attrs["statistics_shown"] = " ".join(shown)
    return node._replace(dataset=statistics)


def _section(task: _Task, several: bool, said: list[Text]) -> Section:
    """Return the tables of a task; rules that sections above have `said` are left out."""
    title = _title(task.nodes[0], several and len(task.nodes) == 1)
    rates_of = _rates_of(task.nodes[0])
    if not task.is_defined:
        why = " and ".join(lacking(task.nodes[0].dataset))
        text = "{title}: no results ({why})" if why else "{title}: no results"
        return Section(task.id, say(text, title=title, why=why), (), task=rates_of)
    sizes = _of_each(task.nodes, lambda x: [sample_size(x)])
    if len(sizes) == 1:
        title = say("{title}: {size}", title=title, size=sizes.pop())
    details = _new(_of_each(task.nodes, rules_of), said)
    tables = list(tables_of(task.rows, task.id))
    notes = _new([*_why_undefined(task), *_of_each(task.nodes, _support)], said)
    for i, table in enumerate(tables):
        is_first, is_last = i == 0, i == len(tables) - 1
        tables[i] = replace(
            table,
            title=_titles(title, table.title) if is_first else table.title,
            details=[*sizes, *_joined(details)] if is_first else (),
            notes=notes if is_last else (),
        )
    return Section(task.id, "", tables, task=rates_of)


def _why_undefined(task: _Task) -> list[Text]:
    """Return why numbers of a task are not defined, each reason once, with its measures if several.

    The classes without attempts are a reason of all numbers that lack a value.
    """
    labels: dict[str, list[Text]] = {}
    for row in task.rows:
        if row.is_defined or row.statistic:
            continue
        classes = " and ".join(lacking(row.node.dataset))
        if why := classes or str(row.about.get("undefined", "")):
            labels.setdefault(why, []).append(label_of(row))
    if len(labels) == 1:
        return [say("n/a: {why}", why=say(why)) for why in labels]
    return [
        say("n/a, {labels}: {why}", labels=Enumeration(measures), why=say(why))
        for why, measures in labels.items()
    ]


def _explained(tasks: Sequence[_Task]) -> list[tuple[Text, Text]]:
    """Return the labels of the measures of tables with their long names."""
    labels: dict[str, Phrase] = {}
    for task in tasks:
        rates_of = _rates_of(task.nodes[0])
        for row in task.rows:
            text = str(row.about.get("long_name", ""))
            label = label_of_measure(row)
            if text and text != label.template and row.statistic in ("", "mean"):
                labels.setdefault(text, replace(label, task=rates_of))
    return [(label, say(template_of(text), task=label.task)) for text, label in labels.items()]


def _titles(of_task: Text, of_table: Text) -> Text:
    return say("{whole}. {table}", whole=of_task, table=of_table) if of_table else of_task


def _rates_of(node: Node) -> str:
    """Return what the rates of a task are of."""
    searches = task_of(node.dataset) == "identification"
    return rates_are_of(node.dataset.attrs, searches=searches)


def _answer(message: Message) -> Text:
    """Return an answer, after the systems or tasks that it is about."""
    if not message.about:
        return message
    return say("{about:names}: {answer}", about=message.about, answer=message)


def _joined(rules: Sequence[Text]) -> list[Text]:
    """Return rules in one line, and those of some systems in lines of their own."""
    plain = [x for x in rules if isinstance(x, str)]
    return [*filter(None, ["; ".join(plain)]), *(x for x in rules if not isinstance(x, str))]


def _new(texts: Iterable[Text], said: list[Text]) -> list[Text]:
    """Return the texts that sections above have not said, which are said now."""
    new = [x for x in texts if x not in said]
    said += new
    return new


def _support(dataset: xr.Dataset) -> list[Text]:
    """Return which targets the data do not support, and of which parts of them."""
    by_parts: dict[tuple[str, ...], list[Message]] = {}
    for message in messages_of(dataset.attrs):
        about = message.arguments
        if message.code in SUPPORT and f"{about['rate']}_at_{about['chosen']}" in dataset:
            task = str(dataset.attrs.get("task", ""))
            parts = tuple(x for x in message.about if not task.startswith(x))
            by_parts.setdefault(parts, []).append(Message(message.code, **about))
    notes: list[Text] = list(by_parts.pop((), ()))
    for parts, messages in by_parts.items():
        notes.append(say("{parts:names}: {messages:messages}", parts=parts, messages=messages))
    return notes


def _title(node: Node, named: bool) -> Text:
    """Return the title of a task, with the name of its system if it is to be `named`."""
    task = str(node.dataset.attrs.get("task") or node.task or "results")
    if named:
        names = filter(None, (node.system, node.condition))
        return say("{system}: {title}", system=Label(", ".join(names)), title=task)
    return f"{task[0].upper()}{task[1:]}"


def _of_each(nodes: Sequence[Node], texts: Callable[[xr.Dataset], Iterable[Text]]) -> list[Text]:
    """Return what is said of the systems of a task, once, with the names if not of all."""
    by_text: dict[str, tuple[Text, list[str]]] = {}
    for node in nodes:
        for text in texts(node.dataset):
            if text != "":
                by_text.setdefault(repr(text), (text, []))[1].append(node.name_of_system())
    every = []
    for text, names in by_text.values():
        of_some = say("{names:names}: {text}", names=names, text=text)
        every.append(text if len(names) == len(nodes) else of_some)
    return every


def _names_of_messages(nodes: Sequence[Node]) -> dict[Message, list[str]]:
    """Return the messages of results, with the names of the results that have them."""
    names_of: dict[Message, dict[str, None]] = {}
    for node in nodes:
        for message in messages_of(node.dataset.attrs):
            names_of.setdefault(message, {})[_whole(node, nodes).name] = None
    return {message: list(names) for message, names in names_of.items()}


def _whole(node: Node, nodes: Sequence[Node]) -> Node:
    """Return the study that a dataset is a part of, or the dataset itself."""
    return next((x for x in nodes if node.name.startswith(f"{x.name}/")), node)


def _is_detail(node: Node, nodes: Sequence[Node]) -> bool:
    """Whether a dataset is a part of a study that verbose views alone have."""
    return _whole(node, nodes) is not node and node.dataset.attrs.get("detail") == "verbose"


def _about(message: Message, names: Sequence[str], nodes: Sequence[Node], several: bool) -> Message:
    """Return an answer of systems, and what not all results have, as one about these or tasks."""
    if len(names) == len(nodes) and not (several and message.code in ANSWERS):
        return message
    about: list[str] = []
    for system in dict.fromkeys(x.name_of_system() for x in nodes if x.name in names):
        of_system = [x for x in nodes if x.name_of_system() == system]
        having = [x for x in of_system if x.name in names]
        if several and len(having) == len(of_system):
            about.append(system)
            continue
        for node in having:
            task = str(node.dataset.attrs.get("task") or node.task)
            about.append(f"{system}: {task}" if several else f"{task[0].upper()}{task[1:]}")
    return message.concerning(*about)
