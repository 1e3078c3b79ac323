"""One row of scores, comparison by comparison: the counter that each adds to, and the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bioeval.results.counters import Count, counts_text, quotients, total

#: Roles of an entry of a list.
GENUINE, IMPOSTOR, LEFT_OUT = "genuine", "impostor", "left out"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of the ordered list of a probe: a gallery template, or a subject.

    Attributes
    ----------
    place : int or None
        Place in the list, from 1; None if it is not in it.
    column : int
        The gallery template, from 0; of a subject the template that decides its score, or else its
        nearest.
    template, subject : str
        Name of the template, and of its subject (empty if a mask decides what is genuine).
    score : float or None
        In the units of the scores; None where it is never read.
    role : str
        ``"genuine"``, ``"impostor"`` or ``"left out"``, which is not an attempt.
    reason : str
        Why it is left out, why it adds nothing, or what it adds.
    accepted : bool or None
        Whether the score is accepted at the threshold; None without a threshold.
    if_accepted, if_rejected : tuple of Count
        What it adds to the counters.
    tied : bool
        Whether an entry of another role has the same score.
    """

    place: int | None
    column: int
    template: str
    subject: str
    score: float | None
    role: str
    reason: str = ""
    accepted: bool | None = None
    if_accepted: tuple[Count, ...] = ()
    if_rejected: tuple[Count, ...] = ()
    tied: bool = False

    @property
    def counts(self) -> tuple[Count, ...]:
        """Counters it adds to at the threshold; none where they depend on one not given."""
        if self.if_accepted == self.if_rejected:
            return self.if_accepted
        if self.accepted is None:
            return ()
        return self.if_accepted if self.accepted else self.if_rejected

    @property
    def conditional(self) -> bool:
        """Whether its counters depend on a threshold, and none is given."""
        return self.accepted is None and self.if_accepted != self.if_rejected

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        given = ("place", "column", "template", "subject", "score", "role", "reason", "accepted")
        found = {name: getattr(self, name) for name in given}
        found["tied"] = self.tied
        if self.conditional:
            found["if_accepted"] = _documents(self.if_accepted)
            found["if_rejected"] = _documents(self.if_rejected)
        else:
            found["counts"] = _documents(self.counts)
        return found


def _documents(counts: Iterable[Count]) -> list[dict[str, Any]]:
    return [{k: v for k, v in count._asdict().items() if v is not None} for count in counts]


@dataclass(frozen=True, kw_only=True)
class TaskExplanation:
    """The list of one probe under one task, in one role.

    Attributes
    ----------
    task : str
        As the nodes of :func:`bioeval.evaluate`: ``"verification/single"``, ``"open_set"`` ...
    role : str
        Of the open set: ``"genuine"`` or ``"impostor"``; of re-identification which list it is,
        where it has two; else empty.
    unit : str
        What an entry is: ``"template"`` or ``"subject"``.
    rule : str
        What counts, in one sentence.
    entries : tuple of Entry
        In order of the list, then those that are left out.
    also : tuple of Count
        What the row adds beside its entries.
    notes : tuple of str
        What happens in this row, in sentences.
    """

    task: str
    unit: str
    rule: str
    entries: tuple[Entry, ...]
    role: str = ""
    also: tuple[Count, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[Count, float]:
        """The sum of the row's contributions, by counter (of amount 0)."""
        return total([*(c for entry in self.entries for c in entry.counts), *self.also])

    @property
    def conditional(self) -> bool:
        """Whether the counters of an entry depend on a threshold that is not given."""
        return any(entry.conditional for entry in self.entries)

    @property
    def title(self) -> str:
        """The task in words."""
        name = TITLES.get(self.task, self.task)
        if not self.role:
            return name
        roles = {GENUINE: "as a genuine probe", IMPOSTOR: "as an impostor probe"}
        return f"{name}, {roles.get(self.role, self.role)}"

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "task": self.task,
            **({"role": self.role} if self.role else {}),
            "unit": self.unit,
            "rule": self.rule,
            "counts": _documents(k._replace(amount=v) for k, v in self.counts.items()),
            "notes": list(self.notes),
            "list": [entry.document() for entry in self.entries],
        }


TITLES = {
    "verification/single": "Verification, single-template",
    "verification/multi": "Verification, multi-template",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


def in_words(entry: Entry) -> str:
    """Return the counters that an entry adds to, and on which condition."""
    if not entry.conditional:
        return counts_text(entry.counts, ", ")
    yes, no = (counts_text(x, ", ") for x in (entry.if_accepted, entry.if_rejected))
    return f"{yes} if accepted, else {no}"


@dataclass(frozen=True, kw_only=True)
class RowExplanation:
    """One row of scores under every task of a protocol.

    Attributes
    ----------
    probe : int
        The row, from 0.
    name, subject : str
        Of the probe; empty where there is none.
    probes : int
        Number of rows.
    layout, kind, protocol, system : str
    threshold : float or None
        In the units of the scores; None if none is given and none can be chosen. NaN rejects all.
    threshold_is : str
        Where it comes from, in words.
    tasks : tuple of TaskWalk
    notes : tuple of str
        What is not explained, and why.
    """

    probe: int
    name: str
    subject: str
    probes: int
    layout: str
    kind: str
    protocol: str
    system: str
    threshold: float | None
    threshold_is: str
    tasks: tuple[TaskExplanation, ...]
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The probe in words."""
        names = [self.name] if self.name else []
        names += [f"subject {self.subject}"] if self.subject else []
        return f"Probe {self.probe}" + f" ({', '.join(names)})" * bool(names)

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        given = ("probe", "name", "subject", "probes", "layout", "kind", "protocol", "system",
                 "threshold", "threshold_is")  # fmt: skip
        found = {name: getattr(self, name) for name in given}
        return found | {
            "notes": list(self.notes),
            "tasks": [task.document() for task in self.tasks],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return all entries of all tasks as columns, for a table."""
        return columns_of([self])


def columns_of(walks: Iterable[RowExplanation]) -> dict[str, list[Any]]:
    """Return all entries of some rows as columns, for a table."""
    of_entry = ("place", "column", "template", "subject", "score", "role", "accepted")
    rows = [
        {
            "probe": explained.probe,
            "task": task.task,
            "as": task.role,
            **{name: getattr(entry, name) for name in of_entry},
            "counts": in_words(entry),
            "reason": entry.reason,
        }
        for explained in walks
        for task in explained.tasks
        for entry in task.entries
    ]
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


@dataclass(frozen=True, kw_only=True)
class StepByStep:
    """Every row of a small matrix, one after the other, with the running totals of each counter.

    Attributes
    ----------
    walks : tuple of RowWalk
    totals : tuple of dict
        After each row: by task, the sum by counter so far.
    """

    walks: tuple[RowExplanation, ...]
    totals: tuple[Mapping[str, Mapping[Count, float]], ...] = field(default=())

    @property
    def rates(self) -> dict[str, dict[str, float | dict[int, float]]]:
        """The rates of each task at the end, by their names in :func:`bioeval.evaluate`.

        Rates over ranks are mappings by rank, as far as a rank was reached. NaN without attempts.
        """
        found: dict[str, dict[str, float | dict[int, float]]] = {}
        for task, counts in self.totals[-1].items():
            rates: dict[str, Any] = found.setdefault(task, {})
            for rate in quotients(task, counts):
                if rate.rank is None:
                    rates[rate.name] = rate.value
                else:
                    rates.setdefault(rate.name, {})[rate.rank] = rate.value
        return found

    def columns(self) -> dict[str, list[Any]]:
        """Return all entries of all rows as columns, for a table."""
        return columns_of(self.walks)

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "steps": [
                explained.document()
                | {
                    "totals": {
                        task: _documents(k._replace(amount=v) for k, v in counts.items())
                        for task, counts in sums.items()
                    }
                }
                for explained, sums in zip(self.walks, self.totals, strict=True)
            ],
            "rates": self.rates,
        }
