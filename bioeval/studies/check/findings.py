"""Findings of a check of data, one line for each aspect that was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.document import Count, Enumeration, Label, Message, Text, say
from bioeval.scores import NAME_COLUMNS
from bioeval.views import Shown, written

#: What the rates of findings are of.
TASK = "verification"

#: From harmless to serious; with an error, a result of the data would mislead.
SEVERITIES = ("ok", "note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One aspect of the data that was checked, and what was found.

    Attributes
    ----------
    check : str
        What was looked at, such as ``"duplicates"``.
    severity : {"ok", "note", "warning", "error"}
    sentence, message : Text, str
        What was found.
    count : int
        In how many places; 0 where nothing was found.
    places, where : Text, str
        The first places: rows, columns, labels or names.
    advice, remedy : Text, str
        What to do; empty where nothing need be done.
    """

    check: str
    severity: str
    sentence: Text
    count: int = 0
    places: Text = ""
    advice: Text = ""
    verdict: Message | None = None  # of the kind: what results say of it

    @property
    def message(self) -> str:
        """What was found, as plain text."""
        return written(self.sentence, TASK)

    @property
    def where(self) -> str:
        """The first places, as plain text."""
        return written(self.places, TASK)

    @property
    def remedy(self) -> str:
        """What to do, as plain text."""
        return written(self.advice, TASK)

    def as_record(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        names = "check", "severity", "message", "count", "where", "remedy"
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """The findings of a check of data; see :func:`bioeval.check_data`.

    Attributes
    ----------
    data : str
        What was checked.
    protocol : str
        The protocol card under which it was.
    findings : tuple of Finding
        One for each check, those without a fault included.
    system, fingerprint : str
        The name and the fingerprint of the scores; empty of other data.
    """

    data: str
    protocol: str
    findings: tuple[Finding, ...]
    system: str = ""
    fingerprint: str = ""

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, check: str) -> Finding:
        return {finding.check: finding for finding in self.findings}[check]

    def of(self, *severities: str) -> list[Finding]:
        """Return the findings of some severities."""
        return [finding for finding in self.findings if finding.severity in severities]

    @property
    def misleads(self) -> bool:
        """Whether a result of these data would mislead: any finding is an error."""
        return bool(self.of("error"))

    def records(self) -> list[dict[str, Any]]:
        """Return the findings as plain values."""
        return [finding.as_record() for finding in self.findings]

    @property
    def numbers(self) -> Text:
        """The number of findings of each severity, the most serious first."""
        parts = []
        for severity in reversed(SEVERITIES[1:]):
            number = len(self.of(severity))
            if number:
                parts.append(Count(number, noun=f"{severity}s"))
        return Enumeration(parts, "") if parts else "nothing found"

    def in_words(self) -> str:
        """Return the number of findings of each severity as plain text."""
        return written(self.numbers)

    def __repr__(self) -> str:
        return f"<DataCheck: {self.in_words()}; print shows it>"


def listed(places: Iterable[Text | int], most: int = 3) -> Text:
    """Return the first places."""
    texts = [Label(place) if isinstance(place, int) else place for place in places]
    if not texts:
        return ""
    if len(texts) > most:
        texts[most:] = ["..."]
    return Enumeration(texts, "")


def place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> Text:
    """Return the place of a template, with its name where a column of the metadata has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return say("{place:name} ({name:name})", place=place, name=meta[column][place])
    return Label(place)


def is_or_are(number: int) -> str:
    """Return the verb for a number of things."""
    return "is" if number == 1 else "are"
