"""Messages about results: a code with its arguments, from which a sentence is written.

A message such as ``Message("claims-not-enrolled", claims=3)`` is created where something is found.
Results keep their messages as JSON in the attribute ``messages``. The catalogue of codes
(:mod:`bioeval.showing.sentences`) has the template of each sentence.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any

from bioeval.base import errors

#: The attribute of a result that keeps its messages.
ATTRIBUTE = "messages"


@dataclass(frozen=True)
class Message:
    """A code with the arguments of its sentence, and the systems or tasks that it is about.

    An argument is a plain value, another message, whose sentence is inserted, or a list of these.
    No argument is called ``code``, since :meth:`entry` keeps code and arguments in one dictionary.
    """

    code: str
    arguments: Mapping[str, Any]
    about: tuple[str, ...] = ()

    def __init__(self, code: str, /, about: Any = (), **arguments: Any):
        object.__setattr__(self, "code", code)
        object.__setattr__(self, "arguments", arguments)
        object.__setattr__(self, "about", tuple(about))

    def __hash__(self) -> int:
        # Values may be lists, which have no hash; their names are enough.
        return hash((self.code, self.about, frozenset(self.arguments)))

    def concerning(self, *names: str) -> Message:
        """Return the message about these systems, tasks or data, and then about its own."""
        return Message(self.code, (*names, *self.about), **self.arguments)

    def renamed(self, names: Mapping[str, str]) -> Message:
        """Return the message with the `option` under its public name in `names`."""
        if "option" not in self.arguments:
            return self
        option = errors.renamed(self.arguments["option"], names)
        option = option.replace("{", "{{").replace("}", "}}")  # the option is a template of text
        return Message(self.code, self.about, **{**self.arguments, "option": option})

    def entry(self) -> dict[str, Any]:
        """Return the message as a dictionary of ``code``, ``about`` and the arguments."""
        about = {"about": list(self.about)} if self.about else {}
        return {"code": self.code, **about, **self.arguments}

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Message:
        """Return the message from its dictionary, as :meth:`entry` returns it."""
        values = {name: _messages_from_json(value) for name, value in entry.items()}
        return cls(values.pop("code"), **values)


def _messages_from_json(value: Any) -> Any:
    if isinstance(value, Mapping) and isinstance(value.get("code"), str):
        return Message.of_entry(value)
    return list(map(_messages_from_json, value)) if isinstance(value, list) else value


class MessageWarning(errors.BioevalWarning):
    """A Python warning whose text is also a message of the result, in its table and on its page."""


def warn_user(text: str) -> None:
    """Issue a warning at the user's line."""
    level = 1
    frame = sys._getframe()
    ours = ("bioeval", "contextlib")  # contextlib calls functions that report their stages
    while frame.f_back is not None and _package_of(frame) in ours:
        level += 1
        frame = frame.f_back
    warnings.warn(text, MessageWarning, stacklevel=level)


def _package_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def as_json(messages: Iterable[Message]) -> str:
    """Return messages as the JSON text of an attribute; equal messages occur once."""
    to_json = partial(json.dumps, default=Message.entry, ensure_ascii=False)
    # Compared as texts, a tuple is equal to the list as which a result keeps it.
    distinct: dict[str, Message] = {}
    for message in messages:
        distinct.setdefault(to_json(message, sort_keys=True), message)
    return to_json([*distinct.values()])


def from_json(text: str) -> list[Message]:
    """Return the messages in a text of :func:`as_json`; an empty text has none."""
    return list(map(Message.of_entry, json.loads(text or "[]")))


def joined_messages(by_name: Mapping[str, Iterable[Message]]) -> list[Message]:
    """Return the messages of several systems, each once.

    A message that not all systems have is about the systems that have it.
    """
    systems_of: dict[Message, list[str]] = {}
    for system, messages in by_name.items():
        for message in messages:
            systems_of.setdefault(message, []).append(system)
    return [
        message if len(systems) == len(by_name) else message.concerning(*systems)
        for message, systems in systems_of.items()
    ]


def message_attrs(
    messages: Iterable[Message], attrs: Mapping[Any, Any] | None = None
) -> dict[str, str]:
    """Return the attribute of a result with the messages in `attrs`, then `messages`.

    Equal messages occur once.
    """
    earlier = messages_of(attrs) if attrs else []
    return {ATTRIBUTE: as_json([*earlier, *messages])}


def messages_of(attrs: Mapping[Any, Any]) -> list[Message]:
    """Return the messages in the attributes of a result; an empty list if there are none."""
    return from_json(str(attrs.get(ATTRIBUTE) or ""))
