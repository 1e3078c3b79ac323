"""Base classes of the sections of a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from bioeval.protocol.fields import EVERY_LAYOUT, Sentences, fields_of


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of a card, with the defaults filled in.

    Its values are attributes, and also items: ``section["ties"]``, ``dict(section)``.

    Attributes
    ----------
    doc
        What the section is about, in one line.
    layouts
        Layouts in which the section has a meaning.
    required
        Whether every card must have the section.
    only_one_of
        Fields of which a card may give at most one. The defaults of the others are dropped.
    """

    doc: ClassVar[str]
    layouts: ClassVar[tuple[str, ...]] = EVERY_LAYOUT
    required: ClassVar[bool] = False
    only_one_of: ClassVar[tuple[str, ...]] = ()

    def keys(self) -> list[str]:
        """Return the names of the fields."""
        return list(fields_of(type(self)))

    def __getitem__(self, name: str) -> Any:
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)


@dataclass(frozen=True, kw_only=True)
class Task(Section):
    """A section that is a task: it is evaluated if, and only if, the card contains it.

    Attributes
    ----------
    says
        Text of the explanation, by layout and label.
    rates
        Numerator and denominator of each rate.
    """

    says: ClassVar[Mapping[str, Sentences]] = {}
    rates: ClassVar[Sentences] = {}
