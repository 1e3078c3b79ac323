"""Text as templates with typed parts; a writer makes words of them.

A template has names in braces. One that is not an argument is a term of the field: ``{far}`` is
FAR, or FMR or FPIR in a view of ISO/IEC 19795-1, ``{false accepts}`` the errors that it counts. A
format says what a plain value is::

    say("{frr} at {far} at most {target:rate} over {people:count subjects}", target=0.01, people=60)

``{rate:term}`` is the term that an argument names, ``{needed:amounts}`` writes numbers by their
nouns: ``78 people with 3,000 pairs``. ``{arg.nan}`` is the argument ``nan`` of a public function,
``{arg.nan=reject}`` one with a value; a command line writes its option. Nothing is translated
afterwards, so that a system that is called FAR-net keeps its name.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bioeval.base.errors import Argument
from bioeval.base.messages import Message
from bioeval.document.cells import (
    Cell,
    Cost,
    Count,
    Duration,
    Label,
    Labels,
    Missing,
    Moment,
    Number,
    Picture,
    Probability,
    Quantity,
    Rate,
    Score,
    Strong,
)
from bioeval.document.terms import is_term

#: Before the name of an argument of a public function, in a template.
_ARGUMENT = "arg."


@dataclass(frozen=True)
class Term:
    """A rate, or what it counts, by the lecture's name: a writer puts it into its vocabulary.

    `task` is ``"verification"`` or ``"identification"``, or empty for that of the section.
    """

    name: str
    task: str = ""


@dataclass(frozen=True)
class Phrase:
    """A template with its arguments; `task` says what its rates are of, else the section does."""

    template: str
    arguments: Mapping[str, Any]
    task: str = ""

    def __post_init__(self) -> None:
        for _, name, _, _ in string.Formatter().parse(self.template):
            if name is None or name in self.arguments or name.startswith(_ARGUMENT):
                continue
            if not is_term(name):
                raise TypeError(f"{self.template!r} has {name!r}, which is no argument and no term")


@dataclass(frozen=True)
class Enumeration:
    """Texts one after the other: ``a, b and c``."""

    texts: Sequence[Text]
    last: str = "and"  # before the last one; empty for a comma, ``";"`` for semicolons throughout


#: What can be written in a line. Plain text is written as it is.
#: A message stands for its sentence.
Text = str | Phrase | Enumeration | Term | Argument | Cell | Message


def say(template: str, /, *, task: str = "", **arguments: Any) -> Phrase:
    """Return a template with its arguments."""
    return Phrase(template, arguments, task)


#: The cells of plain values, by the format in a template.
_FORMATS = {
    "rate": Rate,
    "count": Count,
    "score": Score,
    "number": Number,
    "cost": Cost,
    "probability": Probability,
    "duration": Duration,
    "moment": Moment,
    "name": Label,
}


def _typed(value: Any, form: str) -> Text:
    """Return an argument of a template as what its format says."""
    if isinstance(value, str | Phrase | Enumeration | Term | Quantity) and not form:
        return value
    if isinstance(value, Argument | Moment | Label | Labels | Picture | Missing | Strong | Message):
        return value
    kind, _, noun = form.partition(" ")
    if kind == "names":
        return Enumeration([Label(str(x)) for x in value])
    if kind == "amounts":
        return Enumeration([Count(n, noun=noun) for noun, n in value.items()], "with")
    if kind.endswith("s") and kind[:-1] in _FORMATS:
        return Enumeration([_typed(x, kind[:-1]) for x in value])
    if kind in _FORMATS:
        if noun:
            return Count(value, noun=noun)
        return _FORMATS[kind](value)
    if isinstance(value, int) and not isinstance(value, bool):
        return Count(value)
    raise TypeError(f"{value!r} is no text; give its format, such as {{name:rate}}")


def parts(phrase: Phrase) -> Iterator[Text]:
    """Yield the literal and the typed parts of a phrase in order."""
    for literal, name, form, _ in string.Formatter().parse(phrase.template):
        if literal:
            yield literal
        if name is None:
            continue
        if name.startswith(_ARGUMENT):
            argument, _, value = name.removeprefix(_ARGUMENT).partition("=")
            yield Argument(argument, value or None)
        elif name in phrase.arguments and form == "term":
            yield Term(phrase.arguments[name], phrase.task)
        elif name in phrase.arguments:
            yield _typed(phrase.arguments[name], form or "")
        else:
            yield Term(name, phrase.task)
