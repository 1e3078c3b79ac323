"""Errors and warnings of the package, and messages about results: a code with its arguments.

Every error derives from :class:`BioevalError`, so that a program (and the command line) can
distinguish a problem of the input from a defect of the library. Messages say what was found,
where, and what was expected.

A message names arguments in backquotes, with a value as Python writes it::

    raise DataError(f"`max_rank` is {received(value)}; expected an integer >= 1")
    raise DataError('NaN at row 3; give `nan="reject"` or `columns={"scores": "D"}`')

The command line writes its options in their place (:meth:`bioeval.cli.command.Command.in_options`).
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

#: An argument in a message: its name, and its value if any.
NAMED = re.compile(r"`([A-Za-z_]\w*)(?:=([^`]+))?`")

# A word that is longer than any name of a file.
_LONG_WORD = re.compile(r"[^\s/\\]{261,}")

# Letters of the longest line of a message, and of the longest value that it shows as it is.
_LONGEST_LINE = 2000
_LONGEST_VALUE = 200

# Names of other programs, and words that have another meaning here, with the names here.
_SYNONYMS = {
    "dissimilarity": "distance",
    "euclidean": "l2",
    "manhattan": "l1",
    "cityblock": "l1",
    "chebyshev": "linf",
    "eucl": "l2",
    "fnmr": "frr",
    "fmr": "far",
    "market": "market1501",
    "lfw": "lfw-view2",
    "threshold": "decision",
    "thresholds": "curve",
}


def printable(text: str) -> str:
    """Return text that is safe to show: control characters escaped, long values cut."""
    shorter = _LONG_WORD.sub(lambda word: cut(word[0], 200), text)
    return "\n".join(cut(escaped(line), _LONGEST_LINE) for line in shorter.split("\n"))


def escaped(text: str) -> str:
    r"""Return text with control characters and invisible characters as escapes (``\x1b``)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def without_controls(text: str) -> str:
    r"""Return text of several lines with control characters as escapes; nothing is cut.

    Examples
    --------
    >>> without_controls("a\x1b[2J\n\tb")
    'a\\x1b[2J\n\tb'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c if c in "\n\t\xa0" else escaped(c) for c in text)


def cut(text: str, longest: int) -> str:
    """Return text with its middle left out where it is longer than `longest` characters."""
    half = longest // 2
    if len(text) <= longest:
        return text
    return f"{text[:half]} ... {text[-half:]}"


def received(value: object) -> str:
    """Return a value as a message shows it, in one line; a large array is its type and shape."""
    text = repr(value)
    if len(text) <= _LONGEST_VALUE and "\n" not in text:
        return text
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple):
        return cut(" ".join(text.split()), _LONGEST_VALUE)
    dtype = getattr(value, "dtype", None)
    sizes = f"shape {tuple(shape)}"
    if dtype is not None:
        sizes = f"{sizes} and dtype {dtype}"
    kind = type(value).__name__
    return f"of type {kind}, {sizes}" if dtype is not None else f"of type {kind} and {sizes}"


def without_address(text: str) -> str:
    """Return the `repr` of an object without its address in memory."""
    return re.sub(r" at 0[xX][0-9a-fA-F]+", "", text)


def short_name(name: str, longest: int = 80) -> str:
    """Return the name of a system, perhaps a file name, short and printable."""
    return cut(escaped(name), longest)


def counted(number: float, nouns: str) -> str:
    """Return a whole number with its noun, given as a plural: ``1 subject``, ``2,000 subjects``."""
    return f"{number:,.0f} {singular(nouns) if number == 1 else nouns}"


def singular(nouns: str) -> str:
    """Return the singular of a plural, such as person, subject, identity, box, search."""
    if nouns == "pairs of people":
        return "pair of people"
    if nouns.endswith("people"):
        return f"{nouns.removesuffix('people')}person"
    if nouns.endswith("ies"):
        return f"{nouns[:-3]}y"
    if nouns.endswith(("xes", "ches", "shes", "sses")):
        return nouns[:-2]
    return nouns.removesuffix("s")


def backquoted(argument: str, value: object = None) -> str:
    """Return an argument in the form of messages; a name with a point is an entry of a mapping.

    Examples
    --------
    >>> print(backquoted("max_rank"), backquoted("columns.scores", "D"))
    `max_rank` `columns={"scores": "D"}`
    """
    return _written(argument, f'"{value}"' if isinstance(value, str) else value)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a text with other names of arguments."""
    return NAMED.sub(lambda x: _written(names.get(x[1], x[1]), x[2]), text)


def _written(argument: str, value: object) -> str:
    name, point, key = argument.partition(".")
    if point:
        value = f'{{"{key}": {"..." if value is None else value}}}'
    return f"`{name}`" if value is None else f"`{name}={value}`"


def enumerated(words: Iterable[str], last: str = "and") -> str:
    """Return words as an enumeration: ``a, b and c``."""
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


class BioevalError(Exception):
    """Base class of every error that bioeval raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())

    def preceded_by(self, where: str) -> Self:
        """Return the error with `where` before its message."""
        return type(self)(f"{where}{self}")

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the error with the names of arguments in the function that was called."""
        return type(self)(renamed(str(self), names))


class DataError(BioevalError, ValueError):
    """Scores, labels, metadata, thresholds or a file that cannot be used as they are."""


class ProtocolError(BioevalError, ValueError):
    """A task or option that these scores, by their layout or kind, cannot support."""


class CardError(BioevalError, ValueError):
    """A protocol card that is missing or not valid."""


class NoResultError(BioevalError, ValueError):
    """An evaluation in which no rate is defined, or none is meaningful."""


class MissingDependencyError(BioevalError, ImportError):
    """An optional dependency that is not installed."""


class BioevalWarning(UserWarning):
    """A correct result with a caveat that its user should know."""

    def __str__(self) -> str:
        return printable(super().__str__())


def nearest_name(name: object, choices: Iterable[object]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest of `choices`, or an empty string."""
    by_folded = {str(choice).casefold(): str(choice) for choice in choices}
    synonym = _SYNONYMS.get(str(name).casefold())
    if synonym in by_folded:
        return f" Did you mean {by_folded[synonym]!r}?"
    import difflib

    matches = difflib.get_close_matches(str(name).casefold(), list(by_folded), n=1, cutoff=0.6)
    if matches:
        return f" Did you mean {by_folded[matches[0]]!r}?"
    return ""


def named(input_name: str) -> str:
    """Return the name of an argument in the form of messages; a phrase is not changed."""
    return backquoted(input_name) if input_name.isidentifier() else input_name


def bad_choice(
    input_name: str, got: object, choices: Iterable[object], most: int | None = None
) -> str:
    """Return the message that `got` is not among `choices`, with the nearest choice.

    At most `most` choices are listed, and the others are counted.
    """
    choices = list(choices)
    listed = ", ".join(map(repr, choices[:most]))
    if most is not None and len(choices) > most:
        listed += f" and {len(choices) - most} more"
    if not listed:
        return f"{named(input_name)} is {received(got)}, but there is none."
    return (
        f"{named(input_name)} is {received(got)}; expected "
        f"{'one of ' if len(choices) > 1 else ''}{listed}.{nearest_name(got, choices)}"
    )


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
        option = renamed(self.arguments["option"], names)
        option = option.replace("{", "{{").replace("}", "}}")  # the option is a template of text
        return Message(self.code, self.about, **{**self.arguments, "option": option})

    def entry(self) -> dict[str, Any]:
        """Return the message as a dictionary of ``code``, ``about`` and the arguments."""
        about = {"about": list(self.about)} if self.about else {}
        return {"code": self.code, **about, **self.arguments}


class MessageWarning(BioevalWarning):
    """A Python warning whose text is also a message of the result, in its table and on its page."""


def warn_user(text: str) -> None:
    """Issue a warning at the user's line."""
    level = 1
    frame = sys._getframe()
    ours = ("bioeval", "contextlib")  # contextlib calls functions that report their stages
    while (
        frame.f_back is not None
        and str(frame.f_globals.get("__name__", "")).partition(".")[0] in ours
    ):
        level += 1
        frame = frame.f_back
    warnings.warn(text, MessageWarning, stacklevel=level)


def as_json(messages: Iterable[Message]) -> str:
    """Return messages as the JSON text of an attribute; equal messages occur once."""
    to_json = partial(json.dumps, default=Message.entry, ensure_ascii=False)
    # Compared as texts, a tuple is equal to the list as which a result keeps it.
    distinct: dict[str, Message] = {}
    for message in messages:
        distinct.setdefault(to_json(message, sort_keys=True), message)
    return to_json([*distinct.values()])


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

    def read(entry: dict[str, Any]) -> Any:  # an argument may be a message, or a dictionary
        return Message(entry.pop("code"), **entry) if isinstance(entry.get("code"), str) else entry

    listed: list[Message] = json.loads(str(attrs.get(ATTRIBUTE) or "[]"), object_hook=read)
    return listed
