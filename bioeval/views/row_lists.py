"""The lists of one explained row as displayed; tasks with the same list share one.

A long list is shortened: what decides a task stays, the rest is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bioeval.base.errors import DataError, counted, printable
from bioeval.results.explanation import (
    GENUINE,
    IMPOSTOR,
    LEFT_OUT,
    Count,
    Entry,
    RowExplanation,
    TaskExplanation,
    amount_text,
    counter_text,
    counts_text,
    total,
)

#: Longer lists are shortened: their first places, and the genuine ones, as many as that, stay.
LONGEST, FIRST, MOST_GENUINE = 24, 8, 30

#: Names of left-out entries that are listed.
NAMED = 6

_HEADS = {
    "verification/single": "verification",
    "verification/multi": "verification",
    "closed_set": "closed set",
    "reid": "adds",
}
_WORDS = {GENUINE: "match", IMPOSTOR: "other"}
_ROLES = {GENUINE: "open set, genuine", IMPOSTOR: "open set, impostor"}


@dataclass(frozen=True)
class Line:
    """One line of a displayed list: an entry, or several entries that are summarised.

    `cells` say what it adds under each task of the list; `word` is the role in other words.
    """

    place: str
    template: str
    subject: str
    score: float | None
    role: str
    accepted: bool | None
    tied: bool
    cells: tuple[str, ...]
    reason: str = ""
    number: int = 1
    word: str = ""

    @property
    def role_text(self) -> str:
        """The role in words, with a note on ties."""
        return (self.word or self.role) + ", tie" * self.tied


@dataclass(frozen=True)
class ShownList:
    """One list of a row, and the tasks that use it."""

    tasks: tuple[TaskExplanation, ...]
    lines: tuple[Line, ...]
    left_out: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The unit of an entry."""
        return self.tasks[0].unit

    @property
    def heads(self) -> tuple[str, ...]:
        """The headings of the tasks' columns."""
        return tuple(_ROLES.get(task.role) or _HEADS[task.task] for task in self.tasks)

    @property
    def accepted(self) -> int | None:
        """The number of accepted lines; None without a threshold."""
        known = [line.accepted for line in self.lines]
        return None if not known or known[0] is None else sum(bool(x) for x in known)

    @property
    def conditional(self) -> bool:
        """Whether the counters of entries depend on a threshold that is not given."""
        return any(task.conditional for task in self.tasks)


def lists_of(explained: RowExplanation, shorten: bool = True) -> list[ShownList]:
    """Return the lists of a row, those in the same order joined."""
    if not isinstance(explained, RowExplanation):
        raise DataError(
            f"data is {type(explained).__name__}; expected an explained row, of be.explain"
        )
    groups: list[list[TaskExplanation]] = []
    for task in explained.tasks:
        for group in groups:
            if _same_list(group[0], task):
                group.append(task)
                break
        else:
            groups.append([task])
    return [_shown(group, shorten) for group in groups]


def _same_list(first: TaskExplanation, other: TaskExplanation) -> bool:
    """Whether a task uses the list of another, perhaps with more entries."""
    if first.unit != other.unit or "reid" in (first.task, other.task):
        return False
    if {e.column for e in first.entries} != {e.column for e in other.entries}:
        return False
    places = {e.column for e in other.entries if e.place is not None}
    mine = [e.column for e in first.entries if e.place is not None and e.column in places]
    return mine == [e.column for e in other.entries if e.place is not None]


def _shown(tasks: Sequence[TaskExplanation], shorten: bool) -> ShownList:
    first = tasks[0]
    by_column = [{entry.column: entry for entry in task.entries} for task in tasks]
    listed = [entry for entry in first.entries if entry.place is not None]
    rows = [tuple(entries[entry.column] for entries in by_column) for entry in listed]
    kept = _kept(rows, tasks) if shorten else [True] * len(rows)
    lines = tuple(_lines(rows, kept, alone=len(tasks) == 1))
    if first.task == "reid":
        lines = tuple(replace(line, word=_WORDS[line.role]) for line in lines)
    return ShownList(tuple(tasks), lines, tuple(_left_out(first)))


def _kept(rows: Sequence[tuple[Entry, ...]], tasks: Sequence[TaskExplanation]) -> list[bool]:
    """Return which rows of a list are shown individually."""
    if len(rows) <= LONGEST:
        return [True] * len(rows)
    accepted = [row[0].accepted for row in rows]
    edge = accepted.count(True) if accepted[0] is not None else -1
    kept, genuine = [], 0
    for k, row in enumerate(rows):
        genuine += row[0].role == GENUINE
        decides = any(
            entry.if_accepted or entry.if_rejected
            for entry, task in zip(row, tasks, strict=True)
            if not task.task.startswith("verification")
        )
        mine = row[0].role == GENUINE and genuine <= MOST_GENUINE
        kept.append(k < FIRST or decides or mine or (edge >= 0 and edge - 2 <= k < edge + 2))
    return kept


def _lines(
    rows: Sequence[tuple[Entry, ...]], kept: Sequence[bool], *, alone: bool
) -> Iterator[Line]:
    run: list[tuple[Entry, ...]] = []
    for row, shown in zip(rows, kept, strict=True):
        if run and (shown or _kind(row[0]) != _kind(run[-1][0])):
            yield from _joined(run, alone)
            run = []
        if shown:
            yield _line(row, alone)
        else:
            run.append(row)
    yield from _joined(run, alone)


def _kind(entry: Entry) -> tuple[str, bool | None]:
    return entry.role, entry.accepted


def _joined(run: list[tuple[Entry, ...]], alone: bool) -> Iterator[Line]:
    """Yield the line of entries that are not shown individually."""
    if len(run) < 3:
        yield from (_line(row, alone) for row in run)
        return
    first = run[0][0]
    cells = []
    for k in range(len(run[0])):
        counts = total(count for row in run for count in row[k].counts)
        some = run[0][k].conditional
        cells.append(_cell(run[0][k]) if some else sums_text(counts) or "-")
    yield Line(
        "...", f"{len(run):,} more", "", None, first.role, first.accepted, False, tuple(cells),
        number=len(run),
    )  # fmt: skip


def _line(row: tuple[Entry, ...], alone: bool) -> Line:
    first = row[0]
    return Line(
        place=str(first.place),
        template=printable(first.template),
        subject=printable(first.subject),
        score=first.score,
        role=first.role,
        accepted=first.accepted,
        tied=any(entry.tied for entry in row),
        cells=tuple(map(_cell, row)),
        reason=printable(first.reason) if alone else "",
    )


def _cell(entry: Entry) -> str:
    """Return the counters that an entry adds to under one task."""
    if entry.role == LEFT_OUT:
        return "left out"
    if entry.conditional:
        yes, no = (counts_text(x) or "-" for x in (entry.if_accepted, entry.if_rejected))
        return yes if yes == no else f"{yes} | {no}"
    return counts_text(entry.counts) or "-"


def sums_text(counts: Mapping[Count, float]) -> str:
    """Return sums of counters in words: ``GA 3, FR 1``."""
    found = []
    for count, amount in counts.items():
        decimal = count.name in ("average_precision", "inp", "rank_k_average_precision")
        text = f"{amount:.4g}" if decimal else amount_text(amount)
        found.append(f"{counter_text(count, amount=False)} {text}")
    return ", ".join(found)


def _left_out(task: TaskExplanation) -> Iterator[str]:
    """Yield the reasons for leaving entries out, one sentence each, with the entries."""
    reasons: dict[str, list[str]] = {}
    for entry in task.entries:
        if entry.place is None:
            name = entry.template if task.unit == "template" else entry.subject
            reasons.setdefault(entry.reason, []).append(name)
    for reason, names in reasons.items():
        shown = ", ".join(names[:NAMED])
        if len(names) > NAMED:
            shown += f" and {len(names) - NAMED:,} more"
        what = counted(len(names), f"{task.unit}s")
        yield printable(f"{what} left out ({shown}): {reason}")
