"""Findings of a check of data, one line for each aspect that was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bioeval.base import counted, panel
from bioeval.document import Message
from bioeval.scores import NAME_COLUMNS

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
    message : str
        What was found.
    count : int
        In how many places; 0 where nothing was found.
    where : str
        The first places: rows, columns, labels or names.
    remedy : str
        What to do; empty where nothing need be done.
    """

    check: str
    severity: str
    message: str
    count: int = 0
    where: str = ""
    remedy: str = ""
    verdict: Message | None = None  # of the kind: what results say of it


@dataclass(frozen=True)
class DataCheck:
    """The findings of a check of data; see :func:`bioeval.check_data`.

    Attributes
    ----------
    data : str
        What was checked.
    protocol : str
        The protocol card under which it was.
    findings : tuple of Finding
        One for each check, those without a fault included.
    """

    data: str
    protocol: str
    findings: tuple[Finding, ...]

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
        return list(map(asdict, self.findings))

    def in_words(self) -> str:
        """Return the number of findings of each severity, the most serious first."""
        parts = []
        for severity in reversed(SEVERITIES[1:]):
            number = len(self.of(severity))
            if number:
                parts.append(counted(number, f"{severity}s"))
        return ", ".join(parts) or "nothing found"

    def _repr_html_(self) -> str:
        """Return the findings as a table for a notebook, the most serious first."""
        ordered = sorted(self.findings, key=lambda x: -SEVERITIES.index(x.severity))
        rows = []
        for x in ordered:
            texts = filter(None, (x.message, x.where, x.remedy))
            rows.append((x.severity, x.check, "\n".join(texts)))
        head = [("data", self.data), ("protocol", self.protocol), ("found", self.in_words())]
        return panel(
            "Check of data", head, table=(("severity", "check", "what, where, to do"), rows)
        )

    def __str__(self) -> str:
        lines = [f"{x.severity}: {x.check}: {x.message}" for x in self.findings]
        return "\n".join([f"{self.data}: {self.in_words()}", *lines])


def listed(places: Iterable[object], most: int = 3) -> str:
    """Return the first places as a text."""
    texts = list(map(str, places))
    if len(texts) > most:
        texts[most:] = ["..."]
    return ", ".join(texts)


def place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> str:
    """Return the place of a template, with its name where a column of the metadata has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return f"{place} ({meta[column][place]})"
    return str(place)


def is_or_are(number: int) -> str:
    """Return the verb for a number of things."""
    return "is" if number == 1 else "are"
