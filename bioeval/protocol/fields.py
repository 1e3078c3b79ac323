"""Fields and sections of a card: type, words, default and description; their text as TOML."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from bioeval.base.errors import CardError

SQUARE = "all-against-all"
RECTANGULAR = "probe-against-gallery"
PAIRS = "pairs"
EVERY_LAYOUT = (SQUARE, RECTANGULAR, PAIRS)
SEARCHABLE = (SQUARE, RECTANGULAR)

Sentences = Mapping[str, str]
"""Text of the explanation by label, such as "Genuine"."""

Size = float | int | str
"""Kind of a field that is a proportion or a number of things, or a text of the field's pattern."""

Label = int | str
"""Kind of a field that is an identity, as of a label."""

#: The kind of a field by its annotation.
KINDS = {"str": "text", "int": "integer", "float": "number", "Size": "size", "Label": "label"}


def in_lecture_words(template: str, **places: str) -> str:
    """Return a text with its places, and with terms in the lecture's words: ``{far}`` is FAR."""

    def words(found: re.Match[str]) -> str:
        return found[1] if " " in found[1] else places.get(found[1], found[1].upper())

    return re.sub(r"\{([^{}]*)\}", words, template)


@dataclass(frozen=True)
class Choice:
    """An accepted word of a field: its meaning, the layouts that accept it, and its explanation.

    Its texts are templates with terms of the field, such as ``{far}``.
    """

    doc: str
    layouts: tuple[str, ...] = EVERY_LAYOUT
    says: Mapping[str, Sentences] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Description of one field of a card."""

    doc: str  # what the field decides, in one line; a template with terms
    kind: str = "text"  # one of the values of `KINDS`
    many: bool = False  # whether the value is a list
    #: The accepted words; ``kth:K`` stands for kth:1, kth:2 and so on.
    choices: Mapping[str, Choice] = field(default_factory=dict)
    ge: float | None = None  # accepted numbers are at least this one
    gt: float | None = None  # or greater
    le: float | None = None  # at most
    lt: float | None = None  # or less
    pattern: str | None = None  # a regular expression for accepted texts
    pattern_words: str = ""  # the pattern in words, for messages
    table: Mapping[str, str] = field(default_factory=dict)  # kinds of the keys of an inline table
    default: object = None  # the value if a card leaves the field out; None: nothing is fixed
    required: bool = False
    distinct: bool = False  # whether the values of a list must differ
    increasing: bool = False  # whether the values of a list must increase
    may_be_empty: bool = False  # whether a list may have no values
    layouts: tuple[str, ...] = EVERY_LAYOUT
    only_if: tuple[str, str] | None = None  # (field of the section, word that it must have)

    def words(self, layout: str | None = None) -> list[str]:
        """Return the accepted words, of all layouts or of a single layout."""
        if layout is None:
            return list(self.choices)
        return [word for word, choice in self.choices.items() if layout in choice.layouts]

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
        text = {
            "text": "a text",
            "integer": "an integer",
            "number": "a number",
            "label": "an integer or a text",
            "size": "a proportion between 0 and 1, or an integer >= 1",
        }[self.kind]
        if self.many:
            text = f"a list of {self.kind}s"
        bounds = ((">=", self.ge), (">", self.gt), ("<=", self.le), ("<", self.lt))
        limits = [f"{sign} {bound}" for sign, bound in bounds if bound is not None]
        if limits:
            text += f" {' and '.join(limits)}"
        if self.pattern_words:
            text += f" {self.pattern_words}"
        if self.increasing:
            text += ", in increasing order"
        elif self.distinct:
            text += ", none of them twice"
        return text

    def is_in_bounds(self, number: float) -> bool:
        return (
            (self.ge is None or number >= self.ge)
            and (self.gt is None or number > self.gt)
            and (self.le is None or number <= self.le)
            and (self.lt is None or number < self.lt)
        )


def matches_choice(word: object, accepted: str) -> bool:
    """Whether `word` is the accepted word; a final ``:K`` stands for any integer >= 1."""
    if isinstance(word, str) and accepted.endswith(":K"):
        return re.fullmatch(re.escape(accepted[:-1]) + "[1-9][0-9]{0,8}", word) is not None
    return word == accepted


def card_field(
    doc: str,
    *,
    default: object = MISSING,
    choices: Mapping[str, str | Choice] | None = None,
    **options: Any,
) -> Any:
    """Return the dataclass field for a field of a card; `options` are fields of :class:`Field`.

    The annotation of the dataclass field states the kind, and whether the value is a list.
    """
    described = Field(
        doc,
        choices={
            word: Choice(choice) if isinstance(choice, str) else choice
            for word, choice in (choices or {}).items()
        },
        required=default is MISSING,
        default=None if default is MISSING else default,
        **options,
    )
    return field(default=default, metadata={"card": described})


_FIELDS: dict[type, dict[str, Field]] = {}


def fields_of(owner: type) -> dict[str, Field]:
    """Return the descriptions of the card fields of a dataclass, by name."""
    if owner not in _FIELDS:
        described = {}
        for item in dataclasses.fields(owner):
            if "card" in item.metadata:
                # The text of the type, such as ``tuple[int, ...] | None``: evaluating all of them
                # would take longer than reading a card.
                word = str(item.type).removeprefix("tuple[").split(",")[0].split(" ")[0]
                card = item.metadata["card"]
                kind = "text" if card.choices else KINDS[word]
                is_list = str(item.type).startswith("tuple[")
                described[item.name] = replace(card, kind=kind, many=is_list)
        _FIELDS[owner] = described
    return _FIELDS[owner]


@dataclass(frozen=True, kw_only=True)
class CardSection:
    """One section of a card, with the defaults filled in.

    Its values are attributes, and also items: ``section["ties"]``, ``dict(section)``. A card may
    give at most one of the fields in `only_one_of`, and the defaults of the others are dropped.
    """

    doc: ClassVar[str]
    layouts: ClassVar[tuple[str, ...]] = EVERY_LAYOUT
    required: ClassVar[bool] = False
    only_one_of: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def fields(cls) -> dict[str, Field]:
        """Return the descriptions of the fields, by name."""
        return fields_of(cls)

    def keys(self) -> list[str]:
        """Return the names of the fields."""
        return list(self.fields())

    @property
    def unused(self) -> tuple[str, ...]:
        """The fields without effect, given the values of the other fields."""
        return ()

    def has_effect(self, name: str) -> bool:
        """Whether the other fields have the word without which a field has no effect."""
        only_if = self.fields()[name].only_if
        if only_if is None:
            return True
        other_name, word = only_if
        value = self[other_name]
        return word in value if isinstance(value, tuple) else word == value

    def __getitem__(self, name: str) -> Any:
        if name not in self.fields():
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True, kw_only=True)
class Task(CardSection):
    """A section that is a task: it is evaluated if, and only if, the card contains it.

    `says` is text of the explanation, by layout and label, `rates` the quotient of each rate in
    words: templates with terms of the field, such as ``{far}``.
    """

    says: ClassVar[Mapping[str, Sentences]] = {}
    rates: ClassVar[Sentences] = {}


MAX_BYTES = 1 << 14
"""A card has some dozens of lines; a file beyond this size is something else."""


def read_file(path: str) -> str:
    """Return the text of a card, or raise :class:`CardError` with the reason."""
    file = Path(path)
    try:
        if not file.is_file():
            problem = "is a folder or a device" if file.exists() else "there is no such file"
            raise CardError(f"{path}: {problem}; expected a protocol card (a .toml file)")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise CardError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(raw) > MAX_BYTES:
        raise CardError(f"{path} is not a protocol card: it is larger than {MAX_BYTES // 1024} KiB")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise CardError(f"{path} is not a text in UTF-8 ({error.reason})") from error


def write_toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(write_toml, value))}]"
    if isinstance(value, Mapping):
        items = []
        for key, item in value.items():
            plain = re.fullmatch("[A-Za-z0-9_-]+", key)
            items.append(f"{key if plain else write_toml(key)} = {write_toml(item)}")
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, int) and value.bit_length() > 10_000:
        return hex(value)  # Python refuses to write it in decimals
    return str(value)


def shorten(value: object) -> str:
    """Write a value as TOML, cut to a length that a message can hold."""
    text = write_toml(value)
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."
