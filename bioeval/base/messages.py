"""Messages about results: a code with its arguments, which a writer makes a sentence of.

A message is made where something is found, as ``Message("claims-not-enrolled", claims=3)``, and
kept in the attribute ``messages`` of a result, as JSON. Its sentence is written once, with its
code in the catalogue (:mod:`bioeval.showing.sentences`).
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bioeval.base.errors import BioevalWarning, renamed

#: The attribute of a result that keeps its messages.
ATTRIBUTE = "messages"


@dataclass(frozen=True)
class Message:
    """A code with the arguments of its sentence, and the systems or tasks that it is about.

    Arguments are plain values, and messages that the sentence repeats.
    """

    code: str
    arguments: Mapping[str, Any]
    about: tuple[str, ...] = ()

    def __init__(self, code: str, /, about: Any = (), **arguments: Any):
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "about", tuple(about))

    def __hash__(self) -> int:
        return hash((self.code, as_json([self])))

    def concerning(self, *names: str) -> Message:
        """Return the message about these systems, tasks or data, before any in its arguments."""
        return Message(self.code, (*names, *self.about), **self.arguments)

    def renamed(self, names: Mapping[str, str]) -> Message:
        """Return the message with the option that it advises called as in the function called."""
        if "option" not in self.arguments:
            return self
        option = renamed(self.arguments["option"], names).replace("{", "{{").replace("}", "}}")
        return Message(self.code, self.about, **{**self.arguments, "option": option})

    def entry(self) -> dict[str, Any]:
        """Return the message as a dictionary of code, subject and arguments."""
        about = {"about": list(self.about)} if self.about else {}
        return {"code": self.code, **about, **self.arguments}

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Message:
        values = {name: _messages_from_json(value) for name, value in entry.items()}
        return cls(values.pop("code"), **values)


def _messages_from_json(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("code"), str):
        return Message.of_entry(value)
    return list(map(_messages_from_json, value)) if isinstance(value, list) else value


class MessageWarning(BioevalWarning):
    """A Python warning of a message that a result has too, in its table and on its page."""


def warn_user(text: str) -> None:
    """Issue a warning at the user's line."""
    level = 1
    frame = sys._getframe()
    ours = ("bioeval.", "contextlib.")  # contextlib calls functions that report their stages
    while frame.f_back is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(ours):
        level = level + 1
        frame = frame.f_back
    warnings.warn(text, MessageWarning, stacklevel=level)


def as_json(messages: Iterable[Message]) -> str:
    """Return messages as the JSON text of an attribute; equal messages occur once."""
    texts: dict[str, None] = {}
    for message in messages:  # whose arguments may be messages
        texts[json.dumps(message, default=Message.entry, ensure_ascii=False)] = None
    return f"[{', '.join(texts)}]"


def from_json(text: str) -> list[Message]:
    """Return the messages of :func:`as_json`; none of an empty text."""
    return list(map(Message.of_entry, json.loads(text or "[]")))


def joined_messages(by_name: Mapping[str, Iterable[Message]]) -> list[Message]:
    """Return the messages of systems by name, with the systems where not all have a message."""
    about: dict[Message, list[str]] = {}
    for name, messages in by_name.items():
        for message in messages:
            about.setdefault(message, []).append(name)
    return [
        message if len(names) == len(by_name) else message.concerning(*names)
        for message, names in about.items()
    ]


def message_attrs(
    messages: Iterable[Message], attrs: Mapping[Any, Any] | None = None
) -> dict[str, str]:
    """Return the attribute of a result with its messages and further messages, none twice."""
    return {ATTRIBUTE: as_json([*(messages_of(attrs) if attrs else ()), *messages])}


def messages_of(attrs: Mapping[Any, Any]) -> list[Message]:
    return from_json(str(attrs.get(ATTRIBUTE) or ""))
