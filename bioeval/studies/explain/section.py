"""How explained rows are shown: their lists, what they add, and the running sums of steps."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.scores.matrix import Scores
from bioeval.scores.names import in_words
from bioeval.scores.people import knows_people
from bioeval.showing.blocks import Block, Column, Fact, Facts, Paragraph, Section, Table
from bioeval.showing.cells import Label, Number, Picture, Rate, Score, Threshold
from bioeval.showing.header import data_fact, scores_in_words
from bioeval.showing.printing import Shown
from bioeval.showing.text import Enumeration, Term, Text, say
from bioeval.showing.writers.lines import written
from bioeval.studies.explain.row import GENUINE, IMPOSTOR, LEFT_OUT, Entry, RankedList
from bioeval.studies.explain.tasks import (
    SYMBOLS,
    TITLES,
    Contribution,
    Counts,
    Quotient,
    TaskCount,
    quotients,
)

#: Lists of more entries than `LONGEST` are shortened for readers. They keep the `FIRST` places, the
#: places around the threshold, and `MOST_GENUINE` genuine entries.
LONGEST, FIRST, MOST_GENUINE = 16, 6, 10

#: The most names that are listed of entries that are left out for one reason.
MOST_NAMED = 6

#: Matrices with more rows or columns are not shown before the steps.
MOST_SHOWN = 12

_LEGEND = {
    "verification": "GA and FR count genuine attempts that are accepted and rejected, FA and GR "
    "impostor attempts that are accepted and rejected.",
    "open_set": "DI(t, k) counts genuine probes that are detected and identified at rank k, and "
    "FR those without a mate within t at rank 1. FA counts impostor probes with an entry within "
    "t, and GR those without one; an impostor's own subject leaves the gallery.",
    "closed_set": "{cms}(k) counts probes with a mate at rank k or better.",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Shown):
    """One row of scores: its sorted lists, and what it adds to the rates of each task.

    Attributes
    ----------
    probe : int
        The row, from 0.
    name, subject : str
        Name and subject of the probe; empty where there is none.
    data, kind, protocol, system : str
        What is compared, in words; the kind of scores; the card; the name of the scores.
    threshold : float or None
        The threshold in the units of the scores; None if none is given and none can be chosen. NaN
        rejects everything.
    threshold_source : Text
        Where the threshold comes from.
    threshold_next : float
        The nearest score that the threshold does not accept; NaN if the threshold was given.
    lists : tuple of RankedList
        Lists of templates, and of subjects by their fused scores, as far as the tasks need them.
    tasks : tuple of Contribution
        What the row adds to each task.
    remarks : tuple of Text
        What is not explained, and why; also with how much of the gallery the probe was compared.
    """

    probe: int
    name: str
    subject: str
    data: str
    kind: Kind
    protocol: str
    system: str
    threshold: float | None
    threshold_source: Text
    threshold_next: float
    lists: tuple[RankedList, ...]
    tasks: tuple[Contribution, ...]
    remarks: tuple[Text, ...]

    def _section(self) -> Section:
        return explanation_section(self)

    def _records(self) -> list[dict[str, Any]]:
        raise DataError(
            "an explained row is lists and sentences, not numbers; expected a result, or "
            "be.step_by_step(scores), whose frame has the counts after each row"
        )

    def _document(self) -> dict[str, Any]:
        named = ("system", "data", "kind", "protocol", "probe", "name", "subject", "threshold")
        return {
            **{name: getattr(self, name) for name in named},
            "rows": list(_entries(self)),
            "adds": list(_records_of_additions(self)),
        }

    def __repr__(self) -> str:
        return f"<Explanation of probe {self.probe}, protocol {self.protocol}; print shows it>"

    @property
    def heading(self) -> Text:
        """The probe in words."""
        names: list[Text] = []
        if self.name:
            names.append(Label(self.name))
        if self.subject:
            names.append(say("subject {subject:name}", subject=self.subject))
        if not names:
            return f"Probe {self.probe}"
        return say("Probe {probe:name} ({names})", probe=self.probe, names=Enumeration(names, ""))


@dataclass(frozen=True, kw_only=True, repr=False)
class Steps(Shown):
    """Every row of a small matrix, one after the other, with the running totals of each counter.

    Attributes
    ----------
    walks : tuple of Explanation
        The explained rows, in order.
    totals : tuple of dict
        For each row, the sums of the counters of each task up to that row.
    scores : Scores
        The scores that are explained; a small matrix is shown before the steps.
    """

    walks: tuple[Explanation, ...]
    totals: tuple[Mapping[str, Counts], ...]
    scores: Scores

    def _section(self) -> Section:
        return steps_section(self)

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for walk, by_task in zip(self.walks, self.totals, strict=True):
            for task, counts in by_task.items():
                for count, total in counts.items():
                    counter = {"probe": walk.probe, "task": task, "measure": count.name}
                    records.append({**counter, "rank": count.rank, "value": float(total)})
        return records

    def _document(self) -> dict[str, Any]:
        named = ("system", "data", "kind", "protocol", "threshold")
        rates = [
            {"task": task, "measure": rate.name, "rank": rate.rank, "value": rate.value}
            for task, counts in self.totals[-1].items()
            for rate in quotients(task, counts)
        ]
        return {
            **{name: getattr(self.walks[0], name) for name in named},
            "rows": [row for walk in self.walks for row in _entries(walk)],
            "adds": [row for walk in self.walks for row in _records_of_additions(walk)],
            "so_far": self._records(),
            "rates": rates,
        }

    def __repr__(self) -> str:
        return f"<Steps of {len(self.walks)} probes; print shows them>"

    @property
    def rates(self) -> dict[str, dict[str, Any]]:
        """The rates of each task after the last row, by their names in :func:`bioeval.evaluate`.

        A rate over ranks is a mapping by rank, up to the largest rank of a mate. Rates are NaN
        without attempts.
        """
        by_task: dict[str, dict[str, Any]] = {}
        for task, counts in self.totals[-1].items():
            rates = by_task.setdefault(task, {})
            for rate in quotients(task, counts):
                if rate.rank is None:
                    rates[rate.name] = rate.value
                else:
                    rates.setdefault(rate.name, {})[rate.rank] = rate.value
        return by_task


def _entries(explained: Explanation) -> Iterator[dict[str, Any]]:
    columns = ("place", "template", "subject", "score", "role", "accepted", "failed", "outcome")
    for ranked in explained.lists:
        for entry in ranked.entries:
            values = {name: getattr(entry, name) for name in columns}
            reason = written(entry.reason)
            yield {"probe": explained.probe, "list": ranked.unit, **values, "reason": reason}


def _records_of_additions(explained: Explanation) -> Iterator[dict[str, Any]]:
    for task in explained.tasks:
        of_task = {"probe": explained.probe, "task": task.task, "role": task.role}
        for count, added in (task.counts or {}).items():
            yield {**of_task, "measure": count.name, "rank": count.rank, "value": float(added)}


def explanation_section(explained: Explanation) -> Section:
    image = Column("image", "image of the probe")
    picture = Table("probe", [image], [[Picture(explained.name, explained.name)]])
    rows = [(task.title, _additions_in_words(task), task.why) for task in explained.tasks]
    adds = Table(
        "adds",
        (Column("task", "task"), Column("adds", "adds"), Column("why", "why")),
        rows,
        title="What this row adds",
        notes=(*explained.remarks, *_legend([explained])),
    )
    blocks = (Facts(list(_about(explained))), picture, *_blocks_of_lists(explained), adds)
    return Section("row", explained.heading, blocks, task="verification")


def steps_section(steps: Steps) -> Section:
    walks, totals = steps.walks, steps.totals
    blocks: list[Block] = [Facts(list(_about(walks[0])))]
    if max(steps.scores.shape) <= MOST_SHOWN:
        blocks.append(_matrix(steps.scores))
    for k, (walk, so_far) in enumerate(zip(walks, totals, strict=True), start=1):
        title = say(
            "Step {step:name} of {steps:name}: {row}", step=k, steps=len(walks), row=walk.heading
        )
        of_row = (*_blocks_of_lists(walk), _additions_and_sums(walk, so_far))
        blocks.append(Section(f"step_{k}", title, of_row, task="verification"))
    blocks.append(_rates(totals[-1], _legend(walks)))
    return Section("steps", "Every probe, step by step", blocks, task="verification")


def _about(explained: Explanation) -> Iterator[Fact]:
    yield data_fact([explained.system], explained.data)
    yield Fact("Scores", scores_in_words(explained.kind, explained.protocol))
    threshold, source = explained.threshold, explained.threshold_source
    if threshold is None:
        yield Fact("Threshold", source)
        return
    value: Text = "none accepts any (reject all)"
    if not math.isnan(threshold):
        value = _threshold(explained)
    yield Fact("Threshold", say("{value}: {source}", value=value, source=source))


def _threshold(explained: Explanation) -> Score:
    assert explained.threshold is not None
    return Threshold(explained.threshold, next=explained.threshold_next)


def _blocks_of_lists(explained: Explanation) -> Iterator[Block]:
    for ranked in explained.lists:
        title = f"List of {ranked.unit}s"
        notes = list(_sentences_on_left_out(ranked))
        placed = ranked.with_role(GENUINE, IMPOSTOR)
        if not placed:
            yield Paragraph(f"{title}: no entry is left", "answer")
            yield from (Paragraph(text, "note") for text in notes)
            continue
        shown = _shown(placed)
        if len(shown) < len(placed):
            hidden = len(placed) - len(shown)
            text = "{hidden:count} more {unit}, at the places that are not shown"
            notes.insert(0, say(text, hidden=hidden, unit=f"{ranked.unit}s"))
        verified = any(
            task.task.startswith("verification")
            and (task.task == "verification/multi") == (ranked.unit == "subject")
            for task in explained.tasks
        )
        rows = [_row(placed[k], verified) for k in shown]
        if explained.threshold is not None and placed[0].accepted is not None:
            accepted = sum(bool(placed[k].accepted) for k in shown)
            rows.insert(accepted, _row_of_threshold(explained))
        columns = [
            Column("place", "place"),
            Column("image", "image"),
            Column("template", "template" if ranked.unit == "template" else "by template"),
            Column("subject", "subject"),
            Column("score", explained.kind),
            Column("role", "role"),
            Column("verification", "verification"),
            Column("reason"),
        ]
        yield Table(f"{ranked.unit}s", columns, rows, title=title, notes=notes)


def _shown(placed: Sequence[Entry]) -> list[int]:
    if len(placed) <= LONGEST:
        return list(range(len(placed)))
    accepted = sum(bool(entry.accepted) for entry in placed)
    genuine = [k for k, entry in enumerate(placed) if entry.role == GENUINE]
    around_threshold = (
        range(max(0, accepted - 2), min(accepted + 2, len(placed)))
        if placed[0].accepted is not None
        else ()
    )
    return sorted({*range(FIRST), *around_threshold, *genuine[:MOST_GENUINE]})


def _row(entry: Entry, verified: bool) -> list[Text | None]:
    """Return the cells of an entry; `verified` says whether verification counts the entry."""
    return [
        Number(entry.place, decimals=0) if entry.place is not None else None,
        Picture(entry.template, entry.template),
        Label(entry.template),
        Label(entry.subject),
        None if entry.score is None else Score(float(entry.score)),
        entry.role,
        entry.outcome if verified else None,
        entry.reason,
    ]


def _row_of_threshold(explained: Explanation) -> list[Text | None]:
    assert explained.threshold is not None
    rejects_all = math.isnan(explained.threshold)
    score = None if rejects_all else _threshold(explained)
    role = "threshold: reject all" if rejects_all else "threshold"
    return [None, None, "", "", score, role, None, ""]


def _sentences_on_left_out(ranked: RankedList) -> Iterator[Text]:
    by_reason: dict[str, list[Entry]] = {}
    for entry in ranked.with_role(LEFT_OUT):
        by_reason.setdefault(written(entry.reason), []).append(entry)
    for entries in by_reason.values():
        named = entries[:MOST_NAMED]
        names = [
            Label(entry.template if ranked.unit == "template" else entry.subject) for entry in named
        ]
        listed: Text = Enumeration(names, "")
        if len(entries) > MOST_NAMED:
            listed = say(
                "{names} and {others:count} more", names=listed, others=len(entries) - MOST_NAMED
            )
        yield say("left out ({names}): {reason}", names=listed, reason=entries[0].reason)


def _additions_in_words(task: Contribution) -> Text:
    if task.counts is None:
        return "depends on the threshold"
    attempts = ("genuine_attempts", "impostor_attempts", "attempts")
    counts = {count: x for count, x in task.counts.items() if count.name not in attempts}
    return _sums(counts) or "nothing"


def _sums(counts: Mapping[TaskCount, float]) -> Text:
    """Return counters with their amounts, such as ``GA 3, FR 1``; empty without any."""
    texts = []
    for count, amount in counts.items():
        number = Number(amount, digits=3)
        symbol: Text = SYMBOLS[count.name]
        if "{" in SYMBOLS[count.name]:
            symbol = say(SYMBOLS[count.name], task="identification", rank=Label(count.rank))
        texts.append(say("{symbol} {amount}", symbol=symbol, amount=number))
    return Enumeration(texts, "") if texts else ""


def _legend(walks: Iterable[Explanation]) -> Iterator[Text]:
    tasks = {task.task.partition("/")[0] for walk in walks for task in walk.tasks}
    for name, text in _LEGEND.items():
        if name in tasks:
            yield say(text, task="identification")


def _matrix(scores: Scores) -> Table:
    """Return a matrix as a table: a row for each probe, a column for each gallery template.

    All against all, the diagonal is empty: a template is not compared with itself.
    """
    rows_of_matrix, columns_of_matrix = scores.shape
    square = scores.layout == "all-against-all"
    values, people = scores.values, knows_people(scores)
    columns = [Column("template", "template" if square else "probe")]
    columns += [Column("subject", "subject")] if people else []
    for j, name in enumerate(in_words(scores.gallery_names, columns_of_matrix)):
        heading: Text = Label(name)
        if people and not square:
            heading = say("{name:name} ({who:name})", name=name, who=scores.gallery_labels[j])
        columns.append(Column(f"score_{j}", heading))
    rows = []
    for i, name in enumerate(in_words(scores.probe_names, rows_of_matrix)):
        row: list[Text | None] = [Label(name)]
        row += [Label(scores.probe_labels[i])] if people else []
        row += [
            None if square and i == j else Score(float(values[i, j]))
            for j in range(columns_of_matrix)
        ]
        rows.append(row)
    return Table("scores", columns, rows, title="The scores")


def _additions_and_sums(
    explained: Explanation, totals: Mapping[str, Mapping[TaskCount, float]]
) -> Table:
    rows: list[tuple[Text, ...]] = []
    last = {task.task: task for task in explained.tasks}
    for task in explained.tasks:
        so_far: Text = ""
        if last[task.task] is task and task.task in totals:
            so_far = _sums(totals[task.task])
        rows.append((task.title, _additions_in_words(task), so_far))
    columns = (
        Column("task"),
        Column("adds", "this probe adds"),
        Column("so_far", "so far"),
    )
    return Table("so_far", columns, rows)


def _rates(totals: Mapping[str, Mapping[TaskCount, float]], notes: Iterable[Text]) -> Table:
    """Return the rates with the sums that they are computed from.

    The rates of a single task stand without its name.
    """
    rows = list[list[Text]]()
    for task, counts in totals.items():
        before = -1.0
        for rate in quotients(task, counts):
            # Ranks at which no probe is found are left out.
            is_shown = rate.rank in (None, 1) or rate.part != before
            before = rate.part
            if is_shown:
                rows.append(_rate(task, rate))
    columns = [Column("task"), Column("rate"), Column("fraction"), Column("value")]
    if len(totals) == 1:
        columns = columns[1:]
        rows = [row[1:] for row in rows]
    of_class = "The denominator of each rate is the number of attempts of its own class"
    return Table("rates", columns, rows, title=of_class, notes=tuple(notes), names=len(columns) - 2)


def _rate(task: str, rate: Quotient) -> list[Text]:
    of_task = "verification" if task.startswith("verification") else "identification"
    name: Text = Term(rate.name, of_task)
    if rate.rank is not None:
        form = "{name}(t, {rank})" if rate.name == "dir" else "{name}({rank})"
        name = say(form, name=name, rank=Label(rate.rank))
    fraction: Text = "no attempt"
    if rate.over:
        part, attempts_of_rate = (Number(x, digits=3) for x in (rate.part, rate.over))
        fraction = say("{part} / {over}", part=part, over=attempts_of_rate)
    attempts = int(rate.over) if rate.over else None
    return [
        TITLES[task],
        say("{rate} = {formula}", rate=name, formula=rate.formula, task=of_task),
        fraction,
        Rate(rate.value, attempts=attempts),
    ]
