"""Any result as a document: header, answers, a table for each task, notes and messages.

:func:`section_of` makes the document that :func:`bioeval.show` prints ::

    Data    simulated: 40 templates of 20 subjects, all against all         facts of the header
    Scores  distances, accepted if <= threshold

    Verification, single-template: 40 genuine and 1,520 impostor attempts   title of a table
    an attempt compares two templates                                       details: its rules
             value  threshold
      EER   5.00 %       4.51                                               rows
      FRR at FAR <= 10 % is uncertain with fewer than 25 people             notes of the table

    Choose a threshold to install by be.study_threshold                     notes on all tables

It first chooses the numbers of each task that the view has (:mod:`bioeval.showing.views`), then
collects the messages of the results, makes the tables, and ends with the notes on them
(:mod:`bioeval.showing.notes`). These steps follow it here in this order. Records, such as the worst
pairs, have documents of their own (:mod:`bioeval.showing.records`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from bioeval.base.errors import Message, messages_of
from bioeval.results.attributes import THRESHOLD_STUDY
from bioeval.scores.sampled import KIND_DOUBTS
from bioeval.showing.header import WITH_ITSELF, header_of, joined_texts
from bioeval.showing.nodes import Node, distinct_nodes
from bioeval.showing.notes import SUPPORT, notes_of, short_support_notes, support_notes
from bioeval.showing.rows import CURVES, Row, label_of, label_of_measure
from bioeval.showing.rules import rules_of, unusual_rules_of, use_of_threshold
from bioeval.showing.sentences import ANSWERS, SENTENCES, Doubt, finding_of
from bioeval.showing.sizes import lacking, sample_size
from bioeval.showing.tables import tables_of
from bioeval.showing.text import (
    Block,
    Count,
    Detail,
    Enumeration,
    Label,
    Legend,
    Messages,
    Paragraph,
    Phrase,
    Section,
    Table,
    Text,
    say,
    template_of,
)
from bioeval.showing.views import TaskResults, capitalised, results_in_view

#: A message that stands above the table of its task, whose numbers mislead without it.
_CAUTION = "galleries-of-different-sizes"

#: Answers that name a threshold; a sentence says for which attempts it is.
_WITH_THRESHOLD = {"threshold-accepts", "install-threshold"}

#: Messages that are not repeated below the tables, which have notes or marks for them.
_SHOWN_BY_TABLES = (*SUPPORT, _CAUTION, "limit-not-supported")

#: Messages on numbers that a short view does not have, or on what its header says.
_HIDDEN_IN_SHORT = ("not-all-ranks", *WITH_ITSELF)

#: Evaluations, comparisons and threshold studies, whose short view has one line for each note.
_EVALUATED = {
    "verification",
    "open-set",
    "closed-set",
    "reid",
    "gom",
    "comparison",
    THRESHOLD_STUDY,
}


def section_of(
    nodes: Sequence[Node],
    detail: Detail = "all",
    lines: Sequence[Text] = (),
    *,
    on_screen: bool = False,
) -> Section:
    """Return the document of results: header, answers, the tables of tasks, notes and messages.

    Further `lines` stand below. A short view of an evaluation `on_screen` has a line for each note.
    """
    nodes = distinct_nodes(nodes)
    whole_of = {node.name: _whole_of(node, nodes) for node in nodes}
    wholes = [node for node in nodes if whole_of[node.name] is node]
    has_several_systems = len({(x.system, x.condition) for x in nodes}) > 1
    types = {x.result_type for x in wholes}
    is_short = on_screen and detail == "brief" and types <= _EVALUATED

    # The numbers of each task. With several tasks, a short view has fewer numbers of each.
    nodes_by_task: dict[str, list[Node]] = {}
    for node in nodes:
        is_part = whole_of[node.name] is not node
        if detail != "brief" or not is_part or node.dataset.attrs.get("detail") != "verbose":
            nodes_by_task.setdefault(node.task, []).append(node)
    is_dense = is_short and len(nodes_by_task) > 1
    tasks = [results_in_view(x, detail, is_dense) for x in nodes_by_task.values()]

    # What the results say of themselves.
    messages = _messages_with_systems(nodes, whole_of, tasks, has_several_systems)
    alarms = [x for x in messages if x.code in KIND_DOUBTS]
    answers = [x for x in messages if x.code in ANSWERS]
    remarks = _remarks_among(messages, answers)

    # The tables with their rules and notes.
    tables, notes_left_out = _tables_of_tasks(tasks, has_several_systems, is_short)
    if is_short and not has_several_systems:
        if types == {THRESHOLD_STUDY}:
            tables = _with_title_of_study(tables)
        tables = _below_each_other(tables)

    # The notes below all tables; in short, most remarks are notes of one line.
    changes = chain.from_iterable(node.changes for node in nodes)
    notes: list[Text] = list(dict.fromkeys(changes))
    notes += _advice_on_thresholds(nodes, tasks, is_short)
    rows = list(chain.from_iterable(task.rows for task in tasks))
    notes += notes_of(rows, tables, is_short)
    if is_short:
        facts = [x for x in remarks if not isinstance(SENTENCES[x.code], Doubt)]
        facts_shown = [x for x in facts if x.code not in _HIDDEN_IN_SHORT]
        remarks = [x for x in remarks if x not in facts]
        if not has_several_systems:  # the tasks of a fact do not matter in short
            facts_shown = [Message(x.code, **x.arguments) for x in facts_shown]
        notes += map(finding_of, facts_shown)
        notes_left_out += len(facts) - len(facts_shown)

    # All blocks, from top to bottom.
    blocks: list[Block] = [Messages([alarm], alarm=True) for alarm in alarms]
    blocks.append(header_of(nodes, is_short))
    for answer in answers:
        of_some = say("{about:names}: {answer}", about=answer.about, answer=answer)
        blocks.append(Paragraph(of_some if answer.about else answer, "answer"))
    blocks += (Paragraph(text, "answer") for text in _uses_of_thresholds(nodes, is_short))
    blocks += tables
    if detail != "brief":
        blocks.append(_legend_of(tasks))
    blocks.append(Section("remarks", "", [Paragraph(x, "note") for x in notes]))
    blocks.append(Messages(remarks))
    blocks += map(Paragraph, lines)
    if is_short:
        rows_left_out = sum(task.rows_left_out for task in tasks)
        blocks.append(_way_to_full_view(rows_left_out, notes_left_out))
    rates_of = {x.rates_of for x in tasks if whole_of[x.nodes[0].name] is x.nodes[0]}
    return Section("results", "", blocks, task=rates_of.pop() if len(rates_of) == 1 else "")


def _whole_of(node: Node, nodes: Sequence[Node]) -> Node:
    """Return the study that a result is a part of, or the result itself."""
    studies = (x for x in nodes if node.name.startswith(f"{x.name}/"))
    return next(studies, node)


def _messages_with_systems(
    nodes: Sequence[Node],
    whole_of: Mapping[str, Node],
    tasks: Iterable[TaskResults],
    has_several_systems: bool,
) -> list[Message]:
    """Return the messages of results, each once, with the systems or tasks that it is about.

    A message of tasks without a defined number is left out: their section says why.
    """
    undefined: set[str] = set()
    for task in tasks:
        if not task.is_defined:
            undefined.update(node.name for node in task.nodes)
    names_of: dict[Message, set[str]] = {}
    for node in nodes:
        for message in messages_of(node.dataset.attrs):
            names_of.setdefault(message, set()).add(whole_of[node.name].name)
    wholes = [node for node in nodes if whole_of[node.name] is node]
    messages: list[Message] = []
    for message, names in names_of.items():
        is_of_all = len(names) >= len(wholes)
        if is_of_all or not names <= undefined:
            messages.append(_with_systems(message, names, wholes, has_several_systems))
    return messages


def _with_systems(
    message: Message, names: set[str], nodes: Sequence[Node], has_several_systems: bool
) -> Message:
    """Return a message of the results with some `names` with its systems, or else its tasks.

    A message of all results has none, except an answer where there are several systems.
    """
    nodes_of_message = [x for x in nodes if x.name in names]
    is_answer_of_systems = has_several_systems and message.code in ANSWERS
    if len(nodes_of_message) == len(nodes) and not is_answer_of_systems:
        return message
    if not has_several_systems:
        return message.concerning(*(capitalised(node.title) for node in nodes_of_message))
    about: list[str] = []
    for system in dict.fromkeys(x.name_of_system() for x in nodes_of_message):
        titles = [x.title for x in nodes_of_message if x.name_of_system() == system]
        number_of_tasks = sum(x.name_of_system() == system for x in nodes)
        if len(titles) == number_of_tasks:
            about.append(system)
        else:
            about += (f"{system}: {title}" for title in titles)
    return message.concerning(*about)


def _remarks_among(messages: Iterable[Message], answers: Sequence[Message]) -> list[Message]:
    """Return the messages that stand below the tables: first those that are about all results.

    Alarms, answers, what an answer cites, and what tables show by themselves have other places.
    """
    elsewhere = {*KIND_DOUBTS, *ANSWERS, *_SHOWN_BY_TABLES}
    cited: list[Any] = []
    for answer in answers:
        cited += answer.arguments.values()
    remarks = [x for x in messages if x.code not in elsewhere and x not in cited]
    return sorted(remarks, key=lambda message: bool(message.about))


def _uses_of_thresholds(nodes: Iterable[Node], is_short: bool) -> list[Text]:
    """Return for which attempts the thresholds are that answers name."""
    uses: dict[str, list[Text]] = {}
    for node in nodes:
        attrs = node.dataset.attrs
        codes = {message.code for message in messages_of(attrs)}
        if not _WITH_THRESHOLD.isdisjoint(codes):
            uses[node.name_of_system()] = [use_of_threshold(attrs, is_short)]
    return joined_texts(uses)


def _advice_on_thresholds(
    nodes: Sequence[Node], tasks: Iterable[TaskResults], is_short: bool
) -> list[Text]:
    """Return where to get a threshold to install; nothing where the first task has none."""
    with_thresholds = {"verification", "open-set"}
    types = [task.nodes[0].result_type for task in tasks if task.is_defined]
    number = sum(result_type in with_thresholds for result_type in types)
    if not number or nodes[0].result_type not in with_thresholds:
        return []
    if is_short:
        return ["Choose a threshold to install by be.study_threshold (bioeval threshold)."]
    for_task = " for the task in use" if number > 1 else ""
    return [
        "Do not install a threshold of this evaluation: be.study_threshold (bioeval threshold) "
        f"chooses one{for_task}."
    ]


def _legend_of(tasks: Iterable[TaskResults]) -> Legend:
    """Return the labels of measures with their long names, each long name once."""
    labels: dict[str, Phrase] = {}
    for task in tasks:
        for row in task.rows:
            long_name = str(row.about.get("long_name", ""))
            label = label_of_measure(row)
            is_explained = long_name not in ("", label.template)
            if is_explained and row.statistic in ("", "mean"):
                labels.setdefault(long_name, replace(label, task=label.task or task.rates_of))
    explanations = [
        (label, say(template_of(long_name), task=label.task)) for long_name, label in labels.items()
    ]
    return Legend(explanations)


def _way_to_full_view(rows_left_out: int, notes_left_out: int) -> Paragraph:
    amounts = {"rows": rows_left_out, "notes": notes_left_out}
    more = Enumeration([Count(n, noun=nouns) for nouns, n in amounts.items() if n])
    with_more = ", with {more} more" if more.texts else ""
    return Paragraph(say(f"In full{with_more}: `verbose=True`", more=more), "note")


class _TaskTexts(NamedTuple):
    """The texts around the tables of a task, without those that stand with a task above it."""

    rules: list[Text]  # all of them, in words
    rules_shown: list[Text]
    cautions: list[Text]  # on numbers that mislead without them
    notes: list[Text]  # below the tables
    left_out: list[Text]  # the rules and the notes that a short view leaves out


def _tables_of_tasks(
    tasks: Iterable[TaskResults], has_several_systems: bool, is_short: bool
) -> tuple[list[Section], int]:
    """Return the tables of all tasks, and the number of texts that a short view leaves out.

    A rule or a note that several tasks have stands with the first of them.
    """
    sections: list[Section] = []
    texts_above: list[Text] = []
    texts_left_out: list[Text] = []
    for task in tasks:
        title = _title_in_document(task, has_several_systems)
        if not task.is_defined:
            sections.append(_section_without_numbers(task, title))
            continue
        texts = _texts_of_task(task, is_short, texts_above)
        sections.append(_tables_of_task(task, title, texts, is_short))
        texts_above += [*texts.rules, *texts.notes]
        texts_left_out += [text for text in texts.left_out if text not in texts_left_out]
    return sections, len(texts_left_out)


def _texts_of_task(task: TaskResults, is_short: bool, texts_above: Sequence[Text]) -> _TaskTexts:
    rules = [x for x in task.texts(rules_of) if x not in texts_above]
    notes_on_support = task.texts(support_notes)
    cautions = task.texts(lambda ds: [x for x in messages_of(ds.attrs) if x.code == _CAUTION])
    rules_shown = rules
    left_out: list[Text] = []
    if is_short:  # the rules that are unusual, and a line for each note
        unusual = task.texts(unusual_rules_of)
        rules_shown = [x for x in rules if x in unusual]
        left_out = [x for x in (*rules, *notes_on_support) if x not in unusual]
        notes_on_support = task.texts(partial(short_support_notes, rows=task.rows))
        cautions = [finding_of(x) for x in cautions if isinstance(x, Message)]

    texts_before_notes = [*texts_above, *rules]
    all_notes = [*_reasons_of_undefined(task.rows), *notes_on_support]
    notes = [x for x in all_notes if x not in texts_before_notes]
    if not is_short and any(x in texts_before_notes for x in notes_on_support):
        notes.append("the notes above on people and targets hold for this table, too")
    return _TaskTexts(rules, rules_shown, cautions, notes, left_out)


def _tables_of_task(task: TaskResults, title: Text, texts: _TaskTexts, is_short: bool) -> Section:
    """Return the tables of a task: the first has the title and the details, the last the notes."""
    # One sample size is part of the title; those of several systems stand below it.
    details = task.texts(lambda dataset: [sample_size(dataset, is_short=is_short)])
    if len(details) == 1:
        title = say("{title}: {size}", title=title, size=details[0])
        details = []
    plain_rules = [x for x in texts.rules_shown if isinstance(x, str)]
    if plain_rules:
        details.append("; ".join(plain_rules))
    details += (x for x in texts.rules_shown if not isinstance(x, str))
    details += texts.cautions

    id = task.nodes[0].task.replace("/", "_")
    tables = list(tables_of(task.rows, id))
    if not tables:
        blocks = [Paragraph(note, "note") for note in texts.notes]
        return Section(id, title, blocks, task=task.rates_of)
    if tables[0].title:
        title = say("{whole}: {table}", whole=title, table=tables[0].title)
    tables[0] = replace(tables[0], title=title, details=details)
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *texts.notes])
    return Section(id, "", tables, task=task.rates_of)


def _title_in_document(task: TaskResults, has_several_systems: bool) -> Text:
    """Return the title of a task; of one among several systems, with the name of the system."""
    if not has_several_systems or len(task.nodes) > 1:
        return task.title
    node = task.nodes[0]
    names = [name for name in (node.system, node.condition) if name]
    return say("{system}: {title}", system=Label(", ".join(names)), title=node.title)


def _section_without_numbers(task: TaskResults, title: Text) -> Section:
    """Return a section that says why a task has no defined number, if this is known."""
    node = task.nodes[0]
    why = " and ".join(lacking(node.dataset))
    variables = node.dataset.data_vars.values()
    if not why and variables and all(not {*CURVES}.isdisjoint(x.dims) for x in variables):
        why = "no single numbers; be.to_frame(..., curves=True) has the points of curves"
    text = "{title}: no results ({why})" if why else "{title}: no results"
    id = node.task.replace("/", "_")
    return Section(id, say(text, title=title, why=why), (), task=task.rates_of)


def _reasons_of_undefined(rows: Iterable[Row]) -> list[Text]:
    """Return the reasons why numbers are not defined; of several, each with its measures.

    Classes without attempts are the reason of all undefined numbers of their result.
    """
    labels_of: dict[str, list[Text]] = {}
    for row in rows:
        if row.is_defined or row.statistic:
            continue
        classes = " and ".join(lacking(row.node.dataset))
        why = classes or str(row.about.get("undefined", ""))
        if why:
            labels_of.setdefault(why, []).append(label_of(row))
    text = "n/a: {why}" if len(labels_of) == 1 else "n/a, {labels}: {why}"
    return [
        say(text, labels=Enumeration(labels), why=say(why)) for why, labels in labels_of.items()
    ]


def _with_title_of_study(sections: list[Section]) -> list[Section]:
    """Return the sections of a threshold study, whose first one may have a title alone.

    The answers have the numbers of the study then: its title stands above the table of its part.
    """
    if len(sections) < 2 or sections[0].blocks:
        return sections
    study, part, *further = sections
    tables = [replace(x, title=study.title) for x in part.blocks if isinstance(x, Table)]
    return [replace(part, blocks=tables), *further] if tables else sections


def _below_each_other(sections: Iterable[Section]) -> list[Section]:
    """Return sections whose tables stand below the first one without a blank line between.

    A table whose column headings stand above already has none.
    """
    headings: set[str] = set()
    closer: list[Section] = []
    for section in sections:
        blocks = [*section.blocks]
        for i, table in enumerate(blocks):
            if isinstance(table, Table):
                own = {str(column.heading) for column in table.columns}
                columns = table.columns
                if own <= headings:
                    columns = [replace(column, heading="") for column in columns]
                blocks[i] = replace(table, columns=columns, is_continued=bool(headings))
                headings |= own
        closer.append(replace(section, blocks=blocks))
    return closer
