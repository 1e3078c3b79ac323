"""Fields and sections of a card: type, accepted values, default and description of each field."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

SQUARE, RECTANGULAR, PAIRS = "all-against-all", "probe-against-gallery", "pairs"
EVERY_LAYOUT = (SQUARE, RECTANGULAR, PAIRS)
SEARCHABLE = (SQUARE, RECTANGULAR)

Sentences = Mapping[str, str]
"""Text of the explanation by label, such as "Genuine"."""

Size = float | int | str
"""Kind of a field that is a proportion or a number of things, or a text of the field's pattern."""

KINDS = {"str": "text", "int": "integer", "float": "number", "Size": "size"}


@dataclass(frozen=True)
class NumberRange:
    """Interval of the accepted numbers of a field."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    def __contains__(self, number: float) -> bool:
        above = self.low is None or (number > self.low if self.low_open else number >= self.low)
        below = self.high is None or (number < self.high if self.high_open else number <= self.high)
        return above and below

    def __str__(self) -> str:
        if self.low is not None and self.low == self.high:
            return f"equal to {self.low}"
        parts = []
        if self.low is not None:
            parts.append(f"{'>' if self.low_open else '>='} {self.low}")
        if self.high is not None:
            parts.append(f"{'<' if self.high_open else '<='} {self.high}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Choice:
    """Accepted word of a field: its meaning in one line, and the layouts in which it is accepted.

    `says` is text of the explanation, by layout and label.
    """

    doc: str
    layouts: tuple[str, ...] = EVERY_LAYOUT
    says: Mapping[str, Sentences] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Description of one field of a card."""

    kind: str  # text, integer, number or size
    doc: str  # what the field decides, in one line
    many: bool = False  # whether the value is a list
    choices: Mapping[str, Choice] = field(default_factory=dict)  # kth:K is kth:1, kth:2, ...
    interval: NumberRange | None = None
    pattern: str | None = None  # the accepted form of a text, a regular expression
    pattern_words: str = ""  # the same in words
    table: Mapping[str, str] = field(default_factory=dict)  # kinds of the keys of an inline table
    default: object = None  # where a card leaves the field out; None: nothing is fixed
    required: bool = False
    distinct: bool = False  # values of a list: whether they must differ,
    increasing: bool = False  # must increase,
    may_be_empty: bool = False  # may be none
    layouts: tuple[str, ...] = EVERY_LAYOUT
    only_if: tuple[str, str] | None = None  # (field of the section, word that it must have)

    def words(self, layout: str | None = None) -> list[str]:
        """Return the accepted words, those of one layout if it is given."""
        return [
            word
            for word, choice in self.choices.items()
            if layout is None or layout in choice.layouts
        ]

    def choice(self, word: object) -> Choice | None:
        """Return the choice of the accepted word that `word` matches, or None."""
        for accepted, choice in self.choices.items():
            if matches_choice(word, accepted):
                return choice
        return None

    def default_for(self, layout: str | None) -> object:
        """Return the default for a layout, without the words that it does not accept."""
        if self.choices and isinstance(self.default, tuple):
            return tuple(word for word in self.default if word in self.words(layout))
        return self.default

    def expected(self, layout: str | None = None) -> str:
        """Return the accepted values in words."""
        if self.choices:
            listed = ", ".join(f'"{word}"' for word in self.words(layout))
            return f"a list of words among {listed}" if self.many else f"one of {listed}"
        one = {
            "text": "a text",
            "integer": "an integer",
            "number": "a number",
            "size": "a proportion between 0 and 1, or an integer >= 1",
        }[self.kind]
        text = f"a list of {self.kind}s" if self.many else one
        if self.interval is not None:
            text += f" {self.interval}"
        if self.pattern_words:
            text += f" {self.pattern_words}"
        if self.increasing:
            text += ", in increasing order"
        elif self.distinct:
            text += ", none of them twice"
        return text


def matches_choice(word: object, accepted: str) -> bool:
    """Whether `word` is the accepted word; a final ``:K`` stands for any integer >= 1."""
    if isinstance(word, str) and accepted.endswith(":K"):
        return re.fullmatch(re.escape(accepted[:-1]) + "[1-9][0-9]{0,8}", word) is not None
    return word == accepted


def card_field(doc: str, **options: Any) -> Any:
    """Return the dataclass field of a card's field; `options` are others of :class:`Field`.

    Its annotation says the kind, whether the value is a list, and whether it may be left out.
    """
    return field(
        default=options.get("default", dataclasses.MISSING),
        metadata={"card": {"doc": doc, **options}},
    )


def fields_of(owner: type) -> dict[str, Field]:
    """Return the descriptions of the card fields of a dataclass, by name."""
    return {
        item.name: _described(str(item.type), **item.metadata["card"])
        for item in dataclasses.fields(owner)
        if "card" in item.metadata
    }


def _described(annotation: str, **options: Any) -> Field:
    """Return a field of a type such as ``tuple[int, ...] | None``."""
    many = annotation.startswith("tuple[")
    kind = KINDS[annotation.removeprefix("tuple[").split(",")[0].split(" ")[0]]
    required = "default" not in options
    choices = {
        word: choice if isinstance(choice, Choice) else Choice(choice)
        for word, choice in options.pop("choices", {}).items()
    }
    return Field(kind, many=many, required=required, choices=choices, **options)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of a card, with the defaults filled in.

    Its values are attributes, and also items: ``section["ties"]``, ``dict(section)``. Of the fields
    in `only_one_of` a card may give at most one, and the defaults of the others are dropped.
    """

    doc: ClassVar[str]
    layouts: ClassVar[tuple[str, ...]] = EVERY_LAYOUT
    required: ClassVar[bool] = False
    only_one_of: ClassVar[tuple[str, ...]] = ()

    def keys(self) -> list[str]:
        """Return the names of the fields."""
        return [item.name for item in dataclasses.fields(self) if "card" in item.metadata]

    @property
    def unused(self) -> tuple[str, ...]:
        """The fields without effect, beside the values of the others."""
        return ()

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True, kw_only=True)
class Task(Section):
    """A section that is a task: it is evaluated if, and only if, the card contains it.

    `says` is text of the explanation, by layout and label, `rates` the quotient of each rate in
    words.
    """

    says: ClassVar[Mapping[str, Sentences]] = {}
    rates: ClassVar[Sentences] = {}
