"""The catalogue of messages: the sentence of each code."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from bioeval.base.messages import Message, MessageType
from bioeval.document.messages import (
    assurance,
    attacks,
    calibration,
    check,
    compare,
    epc,
    folds,
    fusion,
    galleries,
    groups,
    lists,
    planning,
    quality,
    reid,
    thresholds,
    tracking,
    zoo,
)
from bioeval.document.messages.core import CORE
from bioeval.document.terms import RATES
from bioeval.document.text import Phrase, Text

_STUDIES = (
    assurance,
    attacks,
    calibration,
    check,
    compare,
    epc,
    folds,
    fusion,
    galleries,
    groups,
    lists,
    planning,
    quality,
    reid,
    thresholds,
    tracking,
    zoo,
)


@functools.cache
def catalogue() -> Mapping[str, MessageType]:
    """Return every message by its code: those of the core, then those of the studies."""
    types = list(CORE)
    for study in _STUDIES:
        types += study.MESSAGES
    by_code: dict[str, MessageType] = {}
    for entry in types:
        if entry.code in by_code:
            raise TypeError(f"there are two messages {entry.code}")
        by_code[entry.code] = entry
    return by_code


def sentence_of(message: Message) -> Text:
    """Return the sentence of a message; an argument `task` says what its rates are of."""
    arguments = message.arguments
    return Phrase(catalogue()[message.code].sentence, arguments, _task_of(arguments))


def _task_of(arguments: Mapping[str, Any]) -> str:
    """Return what the rates of a message are of, if its arguments say it."""
    task = str(arguments.get("task", ""))
    return task if task in RATES else ""
