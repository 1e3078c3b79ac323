"""Messages about results: a code with its arguments, which a writer makes a sentence of.

A message is made where something is found, as ``Message("too-few-people", far=0.001, people=180)``,
and kept in the attribute ``messages`` of a result, as JSON. Its sentence is written once, at its
:class:`MessageType` in the catalogue (:mod:`bioeval.document.catalogue`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

#: The attribute of a result that keeps its messages.
ATTRIBUTE = "messages"

Severity = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class MessageType:
    """A message of the catalogue: its sentence as a template, and its page in the documentation.

    Arguments of the sentence have their format, as those of :func:`bioeval.document.say`.
    """

    code: str
    sentence: str
    meaning: str  # what was found, and why it matters
    remedy: str  # what to do
    severity: Severity = "warning"
    example: Mapping[str, Any] | None = None  # arguments of an example


@dataclass(frozen=True)
class Message:
    """A code with the arguments of its sentence, and the systems or tasks that it is about."""

    code: str
    arguments: Mapping[str, Any]
    about: tuple[str, ...] = ()

    def __init__(self, code: str, /, about: Iterable[str] = (), **arguments: Any):
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "about", tuple(about))

    def __hash__(self) -> int:
        return hash((self.code, as_json([self])))


def as_json(messages: Iterable[Message]) -> str:
    """Return messages as the text of an attribute, each once."""
    listed = [{"code": message.code, **message.arguments} for message in messages]
    return json.dumps(list({json.dumps(x): x for x in listed}.values()), ensure_ascii=False)


def message_attrs(
    found: Iterable[str | Message], attrs: Mapping[Any, Any] | None = None
) -> dict[str, str]:
    """Return the attributes of a result with further messages, each once.

    Sentences that have no code yet stay in the attribute ``warnings``.
    """
    attrs = attrs or {}
    listed: list[str | Message] = [*str(attrs.get("warnings") or "").splitlines()]
    listed += [*messages_of(attrs), *found]
    texts = dict.fromkeys(line for line in listed if isinstance(line, str) and line)
    coded = as_json(line for line in listed if isinstance(line, Message))
    return {"warnings": "\n".join(texts), ATTRIBUTE: coded}


def messages_of(attrs: Mapping[Any, Any]) -> list[Message]:
    """Return the messages of the attributes of a result."""
    listed = []
    for entry in json.loads(str(attrs.get(ATTRIBUTE) or "[]")):
        listed.append(Message(entry.pop("code"), **entry))
    return listed
