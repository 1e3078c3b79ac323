"""Findings of a check of data, one line for each aspect that was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.messages import Message
from bioeval.document.cells import Count, Label
from bioeval.document.text import Enumeration, Text, say
from bioeval.scores.labels import NAME_COLUMNS
from bioeval.studies.check.confusions import Confusions, Side
from bioeval.views.show import Shown
from bioeval.views.writers.lines import written

#: What the rates of findings are of.
TASK = "verification"

#: From harmless to serious; with an error, a result of the data would mislead.
SEVERITIES = ("ok", "note", "warning", "error")

if TYPE_CHECKING:
    from bioeval.document.blocks import Section


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
    severity: str
    found: Text
    count: int = 0
    places: Text = ""

    @property
    def code(self) -> str:
        """The code of what was found; empty where nothing is wrong."""
        return self.found.code if isinstance(self.found, Message) else ""

    @property
    def message(self) -> str:
        """What was found, as plain text."""
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
    certain : bool
        Whether this is beyond what chance, and two people who look alike, explain.
    nearest : Side
        The nearest of the templates of that label.
    """

    side: str
    template: Side
    nearest_label: Any
    own_score: float
    nearest_score: float
    certain: bool
    nearest: Side


@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """The findings of a check of data; see :func:`bioeval.check_data`.

    Attributes
    ----------
    data, kind : str
        What was checked, in words, and the kind of its scores.
    protocol : str
        The protocol card under which it was.
    findings : tuple of Finding
        One for each check, those without a fault included.
    system, fingerprint : str
        The name and the fingerprint of the scores; empty of other data.
    confusions : Confusions or None
        Who is confused with whom, at the threshold of the check; None where nobody can be named.
    label_errors : tuple of LabelError
        The templates whose label is likely wrong, the certain ones first.
    messages : list of Message
        What was found, but for what is without a fault; ``be.messages(check)`` has the sentences.
    """

    data: str
    kind: str
    protocol: str
    findings: tuple[Finding, ...]
    system: str
    fingerprint: str
    confusions: Confusions | None
    label_errors: tuple[LabelError, ...]

    def _section(self) -> Section:
        from bioeval.studies.check.section import section

        return section(self)

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

    @property
    def messages(self) -> list[Message]:
        """What was found, the most serious first, but for what is without a fault."""
        ordered = sorted(self.findings, key=lambda x: -SEVERITIES.index(x.severity))
        return [finding.found for finding in ordered if isinstance(finding.found, Message)]

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


def listed_pairs(places: Iterable[Any]) -> Text:
    """Return the first pairs of a list in words."""
    return listed(say("pair {place:name}", place=int(i)) for i in places)


def place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> Text:
    """Return the place of a template, with its name where a column of the metadata has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return say("{place:name} ({name:name})", place=place, name=meta[column][place])
    return Label(place)
