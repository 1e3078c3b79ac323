"""One row of scores as displayed: its ordered lists, and the counters of each entry.

Tasks with the same list share one. A long list is shortened: what decides a task stays, the rest
is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from operator import attrgetter
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval import DataError
from bioeval.base import QUERY_MEANS, counted, larger_is_closer, noun_of, printable, scalar_registry
from bioeval.results import threshold_text
from bioeval.studies.explain.results import (
    GENUINE,
    IMPOSTOR,
    LEFT_OUT,
    TITLES,
    Count,
    Entry,
    RowExplanation,
    StepByStep,
    TaskExplanation,
    amount_text,
    counter_text,
    counts_text,
    quotients,
    total,
)
from bioeval.views.tables import grid, indented, plain_table

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
        text = self.word or self.role
        return f"{text}, tie" if self.tied else text


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
    for line in _lines(listed, kept, alone=len(tasks) == 1):
        if first.task == "reid":
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


def _lines(rows: Sequence[Sequence[Entry]], kept: Sequence[bool], *, alone: bool) -> Iterator[Line]:
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
    if len(run) < 3:
        for row in run:
            yield _line(row, alone)
        return
    first = run[0][0]
    cells = []
    for of_task in zip(*run, strict=True):
        counts = []
        for entry in of_task:
            counts += entry.counts
        if of_task[0].conditional:
            cells.append(_cell(of_task[0]))
        else:
            cells.append(sums_text(total(counts)) or "-")
    yield Line(
        place="...",
        template=f"{len(run):,} more",
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
        yes = counts_text(entry.if_accepted) or "-"
        no = counts_text(entry.if_rejected) or "-"
        if yes == no:
            return yes
        return f"{yes} | {no}"
    return counts_text(entry.counts) or "-"


def sums_text(counts: Mapping[Count, float]) -> str:
    """Return sums of counters in words: ``GA 3, FR 1``."""
    texts = []
    for count, amount in counts.items():
        decimal = count.name in ("average_precision", "inp", "rank_k_average_precision")
        text = f"{amount:.4g}" if decimal else amount_text(amount)
        texts.append(f"{counter_text(count, amount=False)} {text}")
    return ", ".join(texts)


def _left_out(task: TaskExplanation) -> Iterator[str]:
    """Yield the reasons for leaving entries out, one sentence each, with the entries."""
    reasons: dict[str, list[str]] = {}
    for entry in task.entries:
        if entry.place is None:
            reasons.setdefault(entry.reason, []).append(_name(task, entry))
    for reason, names in reasons.items():
        shown = ", ".join(names[:NAMED])
        if len(names) > NAMED:
            shown += f" and {len(names) - NAMED:,} more"
        number = counted(len(names), f"{task.unit}s")
        yield printable(f"{number} left out ({shown}): {reason}")


def _name(task: TaskExplanation, entry: Entry) -> str:
    return entry.template if task.unit == "template" else entry.subject


#: Counters of a task that are shown even where they are 0.
_ALWAYS = {"verification": ("ga", "fr", "fa", "gr")}

_STYLES = {GENUINE: "bold"}

_LEGEND = {
    "verification": "GA, FR: genuine accepted, rejected. FA, GR: impostor accepted, rejected.",
    "open_set": "DI(t, k): detected and identified at rank k. FR: no mate within t at rank 1. "
    "FA, GR: an impostor probe with or without an entry within t.",
    "closed_set": "CMS(k): found at rank k or better.",
    "reid": "CMC(k): found at rank k or better. AP: each match adds its precision / matches. "
    "INP: matches / rank of the last one.",
}


def legend(walks: Iterable[RowExplanation]) -> Iterator[str]:
    """Yield the meanings of the counters of the tasks."""
    there = set()
    for explained in walks:
        for task in explained.tasks:
            there.add(task.task.partition("/")[0])
    for name, text in _LEGEND.items():
        if name in there:
            yield text


def _legend(walks: Iterable[RowExplanation]) -> Iterator[Any]:
    yield Text("")
    for text in legend(walks):
        yield Text(text, style="dim")


class ExplanationTable:
    """A :class:`RowExplanation` that rich can print."""

    def __init__(self, explained: RowExplanation):
        self.explained = explained

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        explained = self.explained
        yield Text(printable(explained.title), style="bold")
        yield grid(about(explained))
        yield from body(explained, options.max_width)
        yield Text("")
        yield Text("What this row adds", style="bold")
        yield indented(_sums(explained))
        yield from _notes(explained)


def about(explained: RowExplanation) -> Iterator[tuple[str, str]]:
    """Yield the description of the row, and the source of its threshold."""
    system = f"{explained.system}, " if explained.system else ""
    yield "data", f"{system}{explained.layout}, {counted(explained.probes, 'probes')}"
    yield "protocol", explained.protocol
    if explained.threshold is not None:
        yield "threshold", f"{_threshold(explained.threshold)}: {explained.threshold_is}"
        yield "accepted", f"iff {acceptance(explained.kind)}"
    elif explained.threshold_is:
        yield "threshold", explained.threshold_is


def templates_of(explained: RowExplanation) -> list[str]:
    """Return the names of the probe, and of the templates of its displayed lists."""
    names = [explained.name]
    for shown in lists_of(explained):
        names += map(attrgetter("template"), shown.single)
    return names


def strip_of(explained: RowExplanation) -> str:
    """Return pictures of the probe and its first list as HTML, empty for templates without any."""
    from bioeval.views import Images, pictures_of_templates

    names, captions = [explained.name], ["probe"]
    for shown in lists_of(explained)[:1]:
        for line in shown.single:
            names.append(line.template)
            captions.append(f"{line.place}. {line.subject}")
    pictures = pictures_of_templates(Images(folder=None), names)
    strip = ""
    for name, caption in zip(names, captions, strict=True):
        if name in pictures:
            text = escape(printable(caption)).replace("\n", "<br>")
            strip += (
                '<figure style="display:inline-block;margin:0 0.6em 0.6em 0;text-align:center">'
                f'<img alt="{escape(printable(name))}" src="{pictures[name].source}" '
                f'style="width:64px;height:64px"><figcaption>{text}</figcaption></figure>'
            )
    return strip


def score_text(value: float) -> str:
    """Return a score with six digits."""
    return "NaN" if math.isnan(value) else threshold_text(float(value))


def acceptance(kind: str) -> str:
    """Return the rule by which a score is accepted."""
    return f"{noun(kind)} {'>=' if larger_is_closer(kind) else '<='} threshold"


def noun(kind: str) -> str:
    """Return the noun for a score."""
    return "order" if kind == "order" else noun_of(kind)


def _threshold(value: float) -> str:
    if math.isnan(value):
        return "none accepts any (reject all)"
    return threshold_text(value)


def body(explained: RowExplanation, width: int) -> Iterator[Any]:
    """Yield the lists of a row, with the tasks one below another in a narrow terminal."""
    tasks = 1
    for number, least in _TASKS_IN.items():
        if width >= least:
            tasks = max(tasks, number)
    for shown in lists_of(explained):
        yield Text("")
        yield Text(title_of(shown), style="bold")
        for first in range(0, len(shown.tasks), tasks):
            yield indented(_list(shown, explained, range(len(shown.tasks))[first : first + tasks]))
        for text in shown.left_out:
            yield indented(Text(f"- {text}", style="dim"))
        if shown.conditional:
            yield indented(Text("a | b: a if accepted, b if rejected", style="dim"))


#: The most tasks beside a list, by the least width.
_TASKS_IN = {9: 140, 4: 96, 2: 72}


def title_of(shown: ShownList) -> str:
    """Return the title of a list."""
    if shown.tasks[0].task == "reid":
        return shown.tasks[0].title
    return {"template": "List of templates", "subject": "List of subjects"}[shown.unit]


def _list(shown: ShownList, explained: RowExplanation, tasks: Sequence[int]) -> Table:
    """Return a list under some tasks, with the threshold between the accepted and the rejected."""
    alone = len(shown.tasks) == 1
    table = plain_table(gap=2 if len(tasks) < 4 else 1)
    table.add_column("place", justify="right", no_wrap=True)
    template_head = "template" if shown.unit == "template" else "by template"
    width = 10 if len(shown.single) < len(shown.lines) else 1
    table.add_column(template_head, overflow="fold", min_width=width)
    table.add_column("subject", overflow="fold")
    table.add_column(noun(explained.kind), justify="right", no_wrap=True)
    table.add_column("role", no_wrap=True)
    for k in tasks:
        least = max(map(len, shown.heads[k].split()))
        table.add_column(shown.heads[k], overflow="fold", min_width=least)
    if alone:
        table.add_column("", overflow="fold", style="dim")
    accepted = shown.accepted

    def cut(k: int) -> None:
        if k == accepted and explained.threshold is not None:
            threshold = _threshold(explained.threshold)
            if math.isnan(explained.threshold):
                threshold = "reject all"
            table.add_row("", "", "", threshold, "threshold", style="bold cyan")

    for k, line in enumerate(shown.lines):
        cut(k)
        score = score_text(line.score) if line.score is not None else ""
        row: list[Any] = [line.place, line.template, line.subject, score, line.role_text]
        for i in tasks:
            cell = Text(line.cells[i])
            if cell.plain in ("-", "left out"):
                cell.style = "dim"
            row.append(cell)
        if alone:
            row.append(line.reason)
        table.add_row(*row, style=_STYLES.get(line.role))
    cut(len(shown.lines))
    if not shown.lines:
        table.add_row("", "no entry is left")
    return table


def _sums(explained: RowExplanation) -> Table:
    """Return the contributions of the row to the counters of each task, with reasons."""
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", style="bold")
    table.add_column(overflow="fold", style="dim")
    for task in explained.tasks:
        table.add_row(task.title, adds(task), why(task))
    return table


def adds(task: TaskExplanation) -> str:
    """Return the contributions of a row to the counters of a task."""
    if task.conditional:
        return "depends on the threshold"
    hidden = ("genuine_attempts", "impostor_attempts", "attempts", "queries")
    counts = {k: v for k, v in task.counts.items() if k.name not in hidden}
    return sums_text(_complete(task.task, counts)) or "nothing"


def _complete(task: str, counts: Mapping[Count, float]) -> dict[Count, float]:
    """Return counts in their order; for verification including those that are 0."""
    complete = {}
    for name in _ALWAYS.get(task.partition("/")[0], ()):
        complete[Count(name, None, 0)] = 0
    return complete | dict(counts)


def why(task: TaskExplanation) -> str:
    """Return the reason for the outcome of a row."""
    if task.task in ("open_set", "closed_set"):
        for entry in task.entries:
            if entry.if_accepted or entry.if_rejected:
                return printable(f"{_name(task, entry)}: {entry.reason.partition(';')[0]}")
    return task.rule


def notes(explained: RowExplanation) -> list[str]:
    """Return the notes on a row, with the tasks that they are about, and entries left out."""
    titles: dict[str, list[str]] = {}
    for task in explained.tasks:
        for note in task.notes:
            titles.setdefault(note, []).append(task.title)
    texts = []
    for note, of_note in titles.items():
        texts.append(f"{'; '.join(of_note)}: {note}")
    return list(map(printable, [*texts, *explained.notes]))


def _notes(explained: RowExplanation) -> Iterator[Any]:
    if texts := notes(explained):
        yield Text("")
    for text in texts:
        yield Text(text, style="dim")
    yield from _legend([explained])


class StepsTable:
    """A :class:`StepByStep` that rich can print."""

    def __init__(self, steps: StepByStep):
        self.steps = steps

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print every row with the sums so far, and the rates at the end."""
        walks, totals = self.steps.walks, self.steps.totals
        yield Text("Every probe, step by step", style="bold")
        yield grid(about(walks[0]))
        for k, (explained, sums) in enumerate(zip(walks, totals, strict=True), start=1):
            yield Text("")
            yield Text(
                printable(f"Step {k} of {len(walks)}: {explained.title}"), style="bold underline"
            )
            yield from body(explained, options.max_width)
            yield Text("")
            yield indented(_so_far(explained, sums))
        yield Text("")
        yield Text("Each rate is over the attempts of its own class", style="bold underline")
        yield indented(_rates(totals[-1]))
        yield from _legend(walks)


def _so_far(explained: RowExplanation, sums: Mapping[str, Mapping[Count, float]]) -> Table:
    """Return the contributions of a step to each task, and the sums after it."""
    table = plain_table()
    for head in ("", "this probe adds", "so far"):
        table.add_column(head, overflow="fold")
    last = {task.task: task for task in explained.tasks}
    for task in explained.tasks:
        shown = ""
        if last[task.task] is task and task.task in sums:
            shown = sums_text(_complete(task.task, sums[task.task]))
        table.add_row(task.title, adds(task), Text(shown, style="bold"))
    return table


def _rates(sums: Mapping[str, Mapping[Count, float]]) -> Table:
    """Return the rates with the sums that they are computed from."""
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(overflow="fold")
    for task, counts in sums.items():
        title, before = TITLES.get(task, task), -1.0
        for rate in quotients(task, counts):
            if rate.rank not in (None, 1) and rate.part == before:
                continue  # no probe is found at this rank
            before = rate.part
            name = _RATES.get(rate.name, rate.name.upper()).format(rank=rate.rank)
            value, fraction = "n/a: no attempt", ""
            if rate.over:
                fraction = f"{amount_text(rate.part)} / {amount_text(rate.over)}"
                value = f"{100 * rate.value:.2f} %"
            table.add_row(
                Text(title, "bold"), f"{name} = {rate.formula}", fraction, Text(value, "bold")
            )
            title = ""
    return table


#: Rates as the lecture writes them, where that is not their name.
_RATES = {name: scalar_registry()[name].label for name in ("cmc", *QUERY_MEANS)}
_RATES |= {"dir": "DIR(t, {rank})", "cms": "CMS({rank})"}
