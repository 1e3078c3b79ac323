"""The catalogue of messages: the sentence, the meaning and the remedy of each code."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from bioeval.base.lazy import offered_value
from bioeval.base.messages import Message, MessageType
from bioeval.base.studies import manifests
from bioeval.document.core_messages import CORE
from bioeval.document.terms import RATES
from bioeval.document.text import Phrase, Text


@functools.cache
def catalogue() -> Mapping[str, MessageType]:
    """Return every message by its code: those of the core, then those of the studies."""
    types = list(CORE)
    for study in manifests().values():
        if study.messages:
            types += offered_value(study.messages)
    by_code: dict[str, MessageType] = {}
    for entry in types:
        if entry.code in by_code:
            raise TypeError(f"there are two messages {entry.code}")
        by_code[entry.code] = entry
    return by_code


class MessagePage(NamedTuple):
    """What there is to say of a message of the catalogue."""

    example: Text
    meaning: Text
    remedy: Text


def page_of(entry: MessageType) -> MessagePage:
    """Return the page of a message of the catalogue, for its example."""
    arguments = dict(entry.example or {})
    task = _task_of(arguments)
    meaning = Phrase(entry.meaning, {}, task)
    remedy: Text = "Nothing."
    if entry.remedy:
        remedy = Phrase(entry.remedy, arguments, task)
    return MessagePage(Phrase(entry.sentence, arguments, task), meaning, remedy)


def sentence_of(message: Message) -> Text:
    """Return the sentence of a message; an argument `task` says what its rates are of."""
    arguments = message.arguments
    return Phrase(catalogue()[message.code].sentence, arguments, _task_of(arguments))


def remedy_of(message: Message) -> Text:
    """Return what is to be done about a message; empty where that is nothing."""
    remedy, arguments = catalogue()[message.code].remedy, message.arguments
    return Phrase(remedy, arguments, _task_of(arguments)) if remedy else ""


def _task_of(arguments: Mapping[str, Any]) -> str:
    """Return what the rates of a message are of, if its arguments say it."""
    task = str(arguments.get("task", ""))
    return task if task in RATES else ""
