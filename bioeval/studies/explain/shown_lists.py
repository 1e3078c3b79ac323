"""The lists of an explained row as they are shown, and what the row adds to each counter.

Tasks with the same list share one. A long list is shortened: what decides a task stays, the rest
is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.document.cells import Count as Counted, Label, Number
from bioeval.document.text import Enumeration, Text, say
from bioeval.studies.explain.results import (
    GENUINE,
    IMPOSTOR,
    LEFT_OUT,
    Count,
    Entry,
    Explanation,
    TaskExplanation,
    added,
    counter,
    in_fractions,
    total,
)

#: Longer lists are shortened: their first places, and the genuine ones, as many as that, stay.
LONGEST, FIRST, MOST_GENUINE = 24, 8, 30

#: Fewest neighbours that are joined in one line.
_JOINED = 3

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

    place: int | None  # None of several entries
    template: str
    subject: str
    score: float | None
    role: str
    accepted: bool | None
    tied: bool
    cells: tuple[Text, ...]
    reasons: tuple[Text, ...] = ()
    number: int = 1
    word: str = ""

    @property
    def reason(self) -> Text:
        """Why it adds what it adds; empty without a reason."""
        return Enumeration(self.reasons, ";") if self.reasons else ""

    @property
    def role_text(self) -> str:
        """The role in words, with a note on ties."""
        text = self.word or self.role
        return f"{text}, tie" if self.tied else text


@dataclass(frozen=True)
class ShownList:
    """One list of a row, and the tasks that use it."""

    tasks: tuple[TaskExplanation, ...]
    lines: tuple[Line, ...]
    left_out: tuple[Text, ...]

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
        if not known or known[0] is None:
            return None
        return known.count(True)

    @property
    def single(self) -> list[Line]:
        """The lines of one entry each."""
        return [line for line in self.lines if line.number == 1]

    @property
    def conditional(self) -> bool:
        """Whether the counters of entries depend on a threshold that is not given."""
        return any(task.conditional for task in self.tasks)


def lists_of(explained: Explanation, shorten: bool = True) -> list[ShownList]:
    """Return the lists of a row, those in the same order joined."""
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
    columns = set(_columns(first.entries))
    if columns != set(_columns(other.entries)):
        return False
    theirs = _columns(_placed(other))
    left_out = columns.difference(theirs)
    return theirs == [column for column in _columns(_placed(first)) if column not in left_out]


def _columns(entries: Iterable[Entry]) -> list[int]:
    return [entry.column for entry in entries]


def _placed(task: TaskExplanation) -> list[Entry]:
    return [entry for entry in task.entries if entry.place is not None]


def _shown(tasks: Sequence[TaskExplanation], shorten: bool) -> ShownList:
    """Return the list that some tasks share."""
    first = tasks[0]
    rows: dict[int, list[Entry]] = {column: [] for column in _columns(_placed(first))}
    for task in tasks:
        for entry in task.entries:
            if entry.column in rows:
                rows[entry.column].append(entry)
    listed = list(rows.values())
    kept = [True] * len(listed)
    if shorten and len(listed) > LONGEST:
        kept = _kept(listed, tasks)
    lines = []
    for line in _lines(listed, kept, len(tasks) == 1):
        if first.task == "reid" and not line.word:
            line = replace(line, word=_WORDS[line.role])
        lines.append(line)
    return ShownList(tuple(tasks), tuple(lines), tuple(_left_out(first)))


def _kept(rows: Sequence[Sequence[Entry]], tasks: Sequence[TaskExplanation]) -> list[bool]:
    """Return which rows of a long list are shown individually."""
    accepted = [row[0].accepted for row in rows]
    edge = accepted.count(True)
    kept, genuine = [], 0
    for k, row in enumerate(rows):
        shown = k < FIRST
        if accepted[0] is not None:
            shown |= edge - 2 <= k < edge + 2
        if row[0].role == GENUINE:
            genuine += 1
            shown |= genuine <= MOST_GENUINE
        for entry, task in zip(row, tasks, strict=True):
            if not task.task.startswith("verification"):
                shown |= bool(entry.if_accepted or entry.if_rejected)
        kept.append(shown)
    return kept


def _lines(rows: Sequence[Sequence[Entry]], kept: Sequence[bool], alone: bool) -> Iterator[Line]:
    """Yield the lines of a list; neighbours of one kind that are not shown are joined."""
    run: list[Sequence[Entry]] = []
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


def _joined(run: list[Sequence[Entry]], alone: bool) -> Iterator[Line]:
    """Yield the line of entries that are not shown individually."""
    if len(run) < _JOINED:
        for row in run:
            yield _line(row, alone)
        return
    first = run[0][0]
    cells = list[Text]()
    for of_task in zip(*run, strict=True):
        counts = []
        for entry in of_task:
            counts += entry.counts
        if of_task[0].conditional:
            cells.append(_cell(of_task[0]))
        else:
            cells.append(sums(total(counts)) or "-")
    yield Line(
        place=None,
        template="",
        subject="",
        score=None,
        role=first.role,
        accepted=first.accepted,
        tied=False,
        cells=tuple(cells),
        number=len(run),
    )


def _line(row: Sequence[Entry], alone: bool) -> Line:
    """Return the line of an entry, with its reason where the list is of one task `alone`."""
    first = row[0]
    return Line(
        place=first.place,
        template=first.template,
        subject=first.subject,
        score=first.score,
        role=first.role,
        accepted=first.accepted,
        tied=any(entry.tied for entry in row),
        cells=tuple(map(_cell, row)),
        reasons=first.reasons if alone else (),
    )


def _cell(entry: Entry) -> Text:
    """Return the counters that an entry adds to under one task."""
    if entry.role == LEFT_OUT:
        return "left out"
    if entry.conditional:
        yes = added(entry.if_accepted) or "-"
        no = added(entry.if_rejected) or "-"
        if yes == no:
            return yes
        return say("{yes} | {no}", yes=yes, no=no)
    return added(entry.counts) or "-"


def sums(counts: Mapping[Count, float]) -> Text:
    """Return sums of counters: ``GA 3, FR 1``; empty without any."""
    texts = []
    for count, amount in counts.items():
        number = in_fractions(amount)
        if count.name in ("average_precision", "inp", "rank_k_average_precision"):
            number = Number(amount, digits=4)
        name = counter(count, amount=False)
        texts.append(say("{counter} {amount}", counter=name, amount=number))
    return Enumeration(texts, "") if texts else ""


def _left_out(task: TaskExplanation) -> Iterator[Text]:
    """Yield the reasons for leaving entries out, one sentence each, with the entries."""
    by_reason: dict[str, list[Entry]] = {}
    for entry in task.entries:
        if entry.place is None:
            by_reason.setdefault(entry.reason, []).append(entry)
    for entries in by_reason.values():
        names: list[Text] = [_name(task, entry) for entry in entries[:NAMED]]
        shown: Text = Enumeration(names, "")
        if len(entries) > NAMED:
            shown = say("{names} and {others:count} more", names=shown, others=len(entries) - NAMED)
        yield say(
            "{number} left out ({names}): {reasons}",
            number=Counted(len(entries), noun=f"{task.unit}s"),
            names=shown,
            reasons=Enumeration(entries[0].reasons, ";"),
        )


def _name(task: TaskExplanation, entry: Entry) -> Label:
    return Label(entry.template if task.unit == "template" else entry.subject)


#: Counters of a task that are shown even where they are 0.
_ALWAYS = {"verification": ("ga", "fr", "fa", "gr")}

_LEGEND = {
    "verification": "GA and FR count genuine attempts that are accepted and rejected, FA and GR "
    "impostor attempts that are accepted and rejected.",
    "open_set": "DI(t, k) counts genuine probes that are detected and identified at rank k, and "
    "FR those without a mate within t at rank 1. FA counts impostor probes with an entry within "
    "t, and GR those without one.",
    "closed_set": "{cms}(k) counts probes with a mate at rank k or better.",
    "reid": "CMC(k) counts queries with a match at rank k or better. To AP, each match adds the "
    "precision at its rank, divided by the number of matches. INP is the number of matches, "
    "divided by the rank of the last match.",
}


def legend(walks: Iterable[Explanation]) -> Iterator[Text]:
    """Yield the meanings of the counters of the tasks."""
    there = set()
    for explained in walks:
        for task in explained.tasks:
            there.add(task.task.partition("/")[0])
    for name, text in _LEGEND.items():
        if name in there:
            yield say(text, task="identification")


def about(explained: Explanation) -> Iterator[tuple[str, Text]]:
    """Yield the description of the row, and the source of its threshold: names and texts."""
    probes = say(
        "{layout}, {probes:count probes}", layout=explained.layout, probes=explained.probes
    )
    if explained.system:
        probes = say("{system:name}, {probes}", system=explained.system, probes=probes)
    yield "Data", probes
    yield "Protocol", Label(explained.protocol)
    source = explained.threshold_source
    if explained.threshold is not None:
        value: Text = "none accepts any (reject all)"
        if not math.isnan(explained.threshold):
            value = say("{threshold:score}", threshold=float(explained.threshold))
        yield "Threshold", say("{value}: {source}", value=value, source=source)
        yield "Accepted", f"iff {acceptance(explained.kind)}"
    else:
        yield "Threshold", source


def acceptance(kind: str) -> str:
    """Return the rule by which a score is accepted."""
    return f"{noun(kind)} {'>=' if larger_is_closer(kind) else '<='} threshold"


def noun(kind: str) -> str:
    """Return the noun for a score."""
    return "order" if kind == "order" else noun_of(kind)


def title_of(shown: ShownList) -> str:
    """Return the title of a list."""
    if shown.tasks[0].task == "reid":
        return shown.tasks[0].title
    return {"template": "List of templates", "subject": "List of subjects"}[shown.unit]


def adds(task: TaskExplanation) -> Text:
    """Return the contributions of a row to the counters of a task."""
    if task.conditional:
        return "depends on the threshold"
    hidden = ("genuine_attempts", "impostor_attempts", "attempts", "queries", "cmc_queries")
    counts = {k: v for k, v in task.counts.items() if k.name not in hidden}
    return sums(complete(task.task, counts)) or "nothing"


def complete(task: str, counts: Mapping[Count, float]) -> dict[Count, float]:
    """Return counts in their order; for verification including those that are 0."""
    every = {}
    for name in _ALWAYS.get(task.partition("/")[0], ()):
        every[Count(name, None, 0)] = 0
    return every | dict(counts)


def why(task: TaskExplanation) -> Text:
    """Return the reason for the outcome of a row."""
    if task.task in ("open_set", "closed_set"):
        for entry in task.entries:
            if entry.if_accepted or entry.if_rejected:
                return say("{name}: {reason}", name=_name(task, entry), reason=entry.reasons[0])
    return task.rule


def notes(explained: Explanation) -> list[Text]:
    """Return the notes on a row, with the tasks that they are about."""
    by_sentence: dict[str, tuple[Text, list[str]]] = {}
    for task in explained.tasks:
        for sentence, remark in zip(task.notes, task.remarks, strict=True):
            by_sentence.setdefault(sentence, (remark, []))[1].append(task.title)
    texts: list[Text] = []
    for remark, titles in by_sentence.values():
        texts.append(say("{titles}: {remark}", titles=Enumeration(titles, ";"), remark=remark))
    return [*texts, *explained.remarks]
