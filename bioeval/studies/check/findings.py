"""The findings of a check of data, and the places where they were made, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval.base.messages import Message
from bioeval.scores.labels import plain
from bioeval.scores.metadata import NAME_COLUMNS
from bioeval.showing.cells import Label
from bioeval.showing.text import Enumeration, Text, say
from bioeval.showing.writers.lines import written

#: The task whose rates findings mention.
TASK = "verification"

#: From harmless to serious: if a finding is an error, a result of the data would mislead.
Severity = Literal["ok", "note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


@dataclass(frozen=True)
class Side:
    """One template of a pair: its row or column, its subject, and its metadata by column."""

    place: int
    subject: Any
    names: Mapping[str, str]

    @classmethod
    def from_columns(cls, labels: np.ndarray, meta: Mapping[str, np.ndarray], place: int) -> Self:
        names = {name: str(values[place]) for name, values in meta.items()}
        return cls(place, plain(labels[place]), names)


@dataclass(frozen=True)
class Finding:
    """One aspect of the data that was checked, and what was found.

    Attributes
    ----------
    check : str
        What was looked at, such as ``"duplicates"``.
    severity : {"ok", "note", "warning", "error"}
    found : Message or Text
        What was found, a message unless the severity is ``"ok"``: its ``code`` and ``arguments``.
    count : int
        In how many places; 0 where nothing was found.
    places : Text
        The first places: rows, columns, labels or names.
    code, message, where : str
        The code of what was found; what was found, and the first places, as plain text.
    """

    check: str
    severity: Severity
    found: Text
    count: int = 0
    places: Text = ""

    @property
    def code(self) -> str:
        """The code of the message; empty where nothing is wrong."""
        return self.found.code if isinstance(self.found, Message) else ""

    @property
    def message(self) -> str:
        """The message as plain text."""
        return written(self.found, TASK)

    @property
    def where(self) -> str:
        """The first places, as plain text."""
        return written(self.places, TASK)


def passed(check: str) -> Finding:
    """Return the finding of a check that found nothing."""
    return Finding(check, "ok", "nothing found")


@dataclass(frozen=True)
class LabelError:
    """A template whose label is likely wrong.

    Attributes
    ----------
    side : {"both", "probe", "gallery"}
        Where the template is; ``"both"`` of an all-against-all matrix, whose rows are judged.
    template : Side
        Its row, or the column of a gallery template, the label that it has, and its names.
    nearest_label : label
        The label that it is nearest to.
    own_score, nearest_score : float
        The lower median distance (of similarities, the upper median) to the templates of its own
        label and of the nearest one, in the units of the scores.
    nearest : Side
        The nearest of the templates of that label.
    """

    side: str
    template: Side
    nearest_label: Any
    own_score: float
    nearest_score: float
    nearest: Side


def listed(places: Iterable[Text | int], most: int = 3) -> Text:
    """Return the first places in words, up to `most`."""
    texts = [Label(place) if isinstance(place, int) else place for place in places]
    if not texts:
        return ""
    if len(texts) > most:
        texts[most:] = ["..."]
    return Enumeration(texts, "")


def listed_pairs(places: Iterable[Any]) -> Text:
    """Return the first pairs of a list in words, by their index."""
    return listed(say("pair {place:name}", place=int(i)) for i in places)


def place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> Text:
    """Return the row or column of a template, with its name if a metadata column has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return say("{place:name} ({name:name})", place=place, name=meta[column][place])
    return Label(place)
