"""The words in which the table of cards is written: section, field, choice, interval."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

SQUARE, RECTANGULAR, PAIRS = "all-against-all", "probe-against-gallery", "pairs"
EVERY_LAYOUT = (SQUARE, RECTANGULAR, PAIRS)
SEARCHABLE = (SQUARE, RECTANGULAR)

Sentences = Mapping[str, str]
"""What is said about each label, such as "Genuine"."""


@dataclass(frozen=True)
class Interval:
    """The legal numbers of a field."""

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
    """One accepted word of a field.

    Parameters
    ----------
    doc
        What it means, in one line.
    layouts
        The layouts that accept it.
    says
        For each layout, what the explanation says about it.
    """

    doc: str
    layouts: tuple[str, ...] = EVERY_LAYOUT
    says: Mapping[str, Sentences] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """One field of a card.

    Parameters
    ----------
    kind
        ``text``, ``integer`` or ``number``.
    doc
        What it decides, in one line.
    many
        Whether it holds a list of such values.
    choices
        The accepted words, for a text. ``kth:K`` stands for ``kth:1``, ``kth:2`` and so on.
    interval
        The accepted numbers.
    pattern, pattern_words
        The accepted form of a text, as a regular expression and in words.
    default
        The value when a card leaves the field out (None: nothing is fixed).
    required
        Whether a card must have it.
    distinct, increasing, may_be_empty
        Whether the values of a list must differ, must increase, and may be none at all.
    layouts
        The layouts where the field has a meaning.
    only_if
        (field of the same section, word): the field matters only if that field has that word.
    """

    kind: str
    doc: str
    many: bool = False
    choices: Mapping[str, Choice] = field(default_factory=dict)
    interval: Interval | None = None
    pattern: str | None = None
    pattern_words: str = ""
    default: object = None
    required: bool = False
    distinct: bool = False
    increasing: bool = False
    may_be_empty: bool = False
    layouts: tuple[str, ...] = EVERY_LAYOUT
    only_if: tuple[str, str] | None = None

    def words(self, layout: str | None = None) -> list[str]:
        """Return the accepted words, those of one layout if it is given."""
        return [
            word
            for word, choice in self.choices.items()
            if layout is None or layout in choice.layouts
        ]

    def choice(self, word: object) -> Choice | None:
        """Return the choice that `word` is, or None."""
        for accepted, choice in self.choices.items():
            if matches_choice(word, accepted):
                return choice
        return None

    def default_for(self, layout: str | None) -> object:
        """Return the default, without the words that the layout does not accept."""
        if self.choices and isinstance(self.default, tuple):
            return tuple(word for word in self.default if word in self.words(layout))
        return self.default

    def expected(self, layout: str | None = None) -> str:
        """Say in words which values are accepted."""
        if self.choices:
            listed = ", ".join(f'"{word}"' for word in self.words(layout))
            return f"a list of words among {listed}" if self.many else f"one of {listed}"
        one = {"text": "a text", "integer": "an integer", "number": "a number"}[self.kind]
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


@dataclass(frozen=True)
class Section:
    """One section of a card.

    Parameters
    ----------
    doc
        What the section is about, in one line.
    fields
        Its fields, by name.
    task
        Whether it is a task to evaluate. A task is done if and only if its section is there; the
        other sections have their defaults when they are left out.
    required
        Whether a card must have it.
    optional
        Whether leaving it out means that there is none of it, rather than its defaults.
    layouts
        The layouts on which it can be evaluated.
    only_one_of
        Fields of which a card may give at most one. The defaults of the others are dropped.
    says
        For each layout, what the explanation says about the section.
    rates
        What is divided by what, for each rate.
    """

    doc: str
    fields: Mapping[str, Field]
    task: bool = False
    required: bool = False
    optional: bool = False
    layouts: tuple[str, ...] = EVERY_LAYOUT
    only_one_of: tuple[str, ...] = ()
    says: Mapping[str, Sentences] = field(default_factory=dict)
    rates: Sentences = field(default_factory=dict)


def matches_choice(word: object, accepted: str) -> bool:
    """Tell whether `word` is the choice `accepted`, where a final ``:K`` is any integer >= 1."""
    if isinstance(word, str) and accepted.endswith(":K"):
        return re.fullmatch(re.escape(accepted[:-1]) + "[1-9][0-9]{0,8}", word) is not None
    return word == accepted
