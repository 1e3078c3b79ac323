"""Documents as data: exact values under the names of variables, for JSON, CSV and data frames."""

from __future__ import annotations

import json
from typing import Any

from bioeval.base.messages import Message, as_json
from bioeval.document.blocks import (
    Facts,
    Messages,
    Paragraph,
    Section,
    Table,
    Vocabulary,
    tables,
    walk,
)
from bioeval.document.cells import Label, Labels, Picture, Quantity
from bioeval.document.text import Phrase, Strong, Text, parts
from bioeval.views.writers.lines import Lines

#: A row of a table: a value for each key.
Row = dict[str, Any]

#: Who sees the columns that are not in data.
_NOT_IN_DATA = ("page", "readers")


def exact_value(cell: Text | None, lines: Lines | None = None) -> Any:
    """Return the exact value of a cell; text in the words of `lines`."""
    match cell:
        case None:
            return None
        case Quantity():
            return cell.value
        case Label():
            return cell.value
        case Labels():
            return list(cell.values)
        case Picture():
            return cell.description
        case Strong():
            return exact_value(cell.text, lines)
    return (lines or Lines()).write(cell)


def rows_of_table(table: Table, lines: Lines | None = None) -> list[Row]:
    """Return the rows of a table, with the limits of intervals in columns of their own.

    Where the data do not support some numbers, ``supported`` says so of each row.
    """
    with_limits = set()
    unsupported = [any(isinstance(x, Quantity) and not x.supported for x in r) for r in table.rows]
    for row in table.rows:
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Quantity) and cell.interval is not None:
                with_limits.add(column.name)
    rows = []
    for row, lacks_support in zip(table.rows, unsupported, strict=True):
        values: Row = {}
        for column, cell in zip(table.columns, row, strict=True):
            if column.only in _NOT_IN_DATA:
                continue
            values[column.name] = exact_value(cell, lines)
            if column.name in with_limits:
                limits = cell.interval if isinstance(cell, Quantity) else None
                values[f"{column.name}_low"], values[f"{column.name}_high"] = limits or (None, None)
        if any(unsupported):
            values["supported"] = not lacks_support
        rows.append(values)
    return rows


def columns_of_table(table: Table) -> dict[str, list[Any]]:
    """Return the values of each column of a table, also of one without rows."""
    rows = rows_of_table(table)
    names = list(rows[0]) if rows else [column.name for column in table.columns]
    return {name: [row[name] for row in rows] for name in names}


def as_data(section: Section, vocabulary: str = "lecture") -> dict[str, list[Row]]:
    """Return the rows of the tables of a document, by the names of these.

    Tables of one name are one; a table without a column for data, such as one with a column for
    each system, is left out.
    """
    lines = Lines(vocabulary, section.task)
    in_data: dict[str, list[Row]] = {}
    for table in tables(section):
        if has_data(table):
            in_data.setdefault(table.id, []).extend(rows_of_table(table, lines))
    return in_data


def has_data(table: Table) -> bool:
    """Whether a table has a column for data: one with a column for each system has none."""
    return any(column.only not in _NOT_IN_DATA for column in table.columns)


def facts_data(section: Section) -> Row:
    """Return the values of the facts that have a key in data."""
    values = Row()
    for place, block in walk(section):
        if isinstance(block, Facts):
            lines = Lines(task=place.task or section.task)
            for fact in block.facts:
                if fact.variable and not isinstance(fact.text, Vocabulary):
                    values[fact.variable] = exact_value(fact.text, lines)
    return values


def message_data(message: Message, lines: Lines | None = None) -> dict[str, Any]:
    """Return a message as data: its code, its arguments, and its sentence."""
    (plain,) = json.loads(as_json([message]))
    return plain | {"sentence": (lines or Lines()).message(message)}


def messages_data(section: Section, vocabulary: str = "lecture") -> list[Row]:
    """Return the messages of a document as data."""
    lines = Lines(vocabulary, section.task)
    listed = list[Message]()
    for _, block in walk(section):
        if isinstance(block, Messages):
            listed += block.messages
        elif isinstance(block, Paragraph):
            listed += _messages_in(block.text)
        elif isinstance(block, Table):
            listed += [x for note in block.notes for x in _messages_in(note)]
    return [message_data(message, lines) for message in dict.fromkeys(listed)]


def _messages_in(text: Text) -> list[Message]:
    """Return the messages whose sentences are parts of a text."""
    match text:
        case Message():
            return [text]
        case Phrase():
            return [message for part in parts(text) for message in _messages_in(part)]
    return []


def answer_of(section: Section, vocabulary: str = "lecture") -> str:
    """Return the answer of a document as text; empty where it has none."""
    lines = Lines(vocabulary, section.task)
    sentences = []
    for place, block in walk(section):
        if isinstance(block, Paragraph) and block.role == "answer":
            sentences.append(lines.within(place).write(block.text))
    return " ".join(sentences)
