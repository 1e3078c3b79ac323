"""Questions on identification: watch lists, closed sets, and ties."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np

from bioeval import Scores, closed_set, open_set
from bioeval.document import (
    Column,
    Enumeration,
    Label,
    Number,
    Paragraph,
    Score,
    Table,
    Text,
    say,
)
from bioeval.studies.exam.question import (
    PEOPLE,
    Draws,
    Question,
    accepted_if,
    arrays_of,
    searched,
)
from bioeval.studies.explain.explain import Steps, step_by_step
from bioeval.studies.explain.matrix_section import matrix_table
from bioeval.studies.explain.results import GENUINE, IMPOSTOR, Entry, TaskExplanation
from bioeval.studies.explain.shown_lists import adds
from bioeval.studies.explain.steps_section import rates_table

_TIES: tuple[Literal["pessimistic", "optimistic", "expected"], ...] = (
    "pessimistic",
    "optimistic",
    "expected",
)


def question_of_open_set(draws: Draws) -> Question:
    """Return a question on a watch list, with probes of people who are not on it."""
    sizes = draws.layout([(2, 2, 1), (2, 1, 1), (1, 2, 2), (2, 2)])
    genuine = draws.layout([3, 4])
    enrolled = PEOPLE[: len(sizes)]
    while True:
        probes = [draws.choice(enrolled) for _ in range(genuine)]
        probes += PEOPLE[len(sizes) : len(sizes) + 2]
        scores = searched(draws, probes, sizes)
        threshold = draws.integer(3, 7)
        ds = open_set(scores, thresholds=[threshold], max_rank=2, impostors="unenrolled")
        ds = ds.isel(threshold=0)
        at_rank_1, at_rank_2 = ds.dir.values.tolist()
        late = at_rank_1 < at_rank_2  # someone is detected and not at rank 1
        if late and at_rank_1 > 0 and 0 < ds.far < 1 and not _has_tie(scores):
            break
    steps = step_by_step(scores, threshold=threshold)
    return Question(
        topic="open-set",
        title="Open-set identification",
        given={**arrays_of(scores), "threshold": threshold},
        setting=(
            Paragraph(
                f"{_are(enrolled)} enrolled on a watch list. {_are(probes[-2:])} not "
                "enrolled. The table has the distances between each probe and the templates of "
                f"the list. {accepted_if('distance', threshold)}"
            ),
            matrix_table(scores),
        ),
        asked=(
            "Which probes are genuine, and which are impostors? Give TG and TI.",
            "For each genuine probe: what is the distance to the nearest template of its own "
            "person, and at which rank of the list of templates does it stand?",
            say("Compute {dir}(t, 1), {dir}(t, 2) and {frr}.", task="identification"),
            say("Compute {far}.", task="identification"),
        ),
        answers={
            "genuine_attempts": int(ds.genuine_attempts),
            "impostor_attempts": int(ds.impostor_attempts),
            "dir_1": at_rank_1,
            "dir_2": at_rank_2,
            "frr": ds.frr.item(),
            "far": ds.far.item(),
        },
        solution=(
            Paragraph(
                say(
                    "(a) Genuine are the probes of enrolled people: TG = {tg:count}. Impostors are "
                    "the probes of {others}: TI = {ti:count}.",
                    tg=int(ds.genuine_attempts),
                    ti=int(ds.impostor_attempts),
                    others=Enumeration([Label(name) for name in probes[-2:]]),
                )
            ),
            Paragraph(
                "(b) The rank is 1 + the number of templates of other people that are nearer. "
                "DI(t, k) counts a probe at rank k whose own template is accepted; FR counts it "
                "unless it is accepted at rank 1. An impostor adds to FA if any template is "
                "accepted: the nearest one decides."
            ),
            _decisions(steps),
            Paragraph(
                "(c), (d) The denominator of each rate is the number of attempts of its own class:"
            ),
            rates_table({"open_set": steps.totals[-1]["open_set"]}),
        ),
    )


def question_of_closed_set(draws: Draws) -> Question:
    """Return a question on identification among enrolled people."""
    sizes = draws.layout([(2, 2, 2), (2, 2, 1), (1, 1, 1, 1), (2, 1, 1, 1)])
    number = draws.layout([4, 5])
    enrolled = PEOPLE[: len(sizes)]
    last = draws.choice([2, 3, 4])  # the rank from which on all probes are found
    while True:
        probes = [draws.choice(enrolled) for _ in range(number)]
        scores = searched(draws, probes, sizes)
        ranks = {1 + _places(row).nearer for row in _rows(scores)}
        varied = 1 in ranks and max(ranks) == last and len(ranks) >= min(last, 3)
        if varied and len(set(probes)) > 2 and not _has_tie(scores):
            break
    ds = closed_set(scores)
    cms = ds.cms.values.tolist()
    steps = step_by_step(scores)
    return Question(
        topic="closed-set",
        title="Closed-set identification",
        given=arrays_of(scores),
        setting=(
            Paragraph(
                f"{_are(enrolled)} enrolled, and every probe is of one of them. The table "
                "has the distances between each probe and the enrolled templates. There is no "
                "threshold: the gallery is ordered by distance, a list of templates."
            ),
            matrix_table(scores),
        ),
        asked=(
            "At which rank does each probe find the first template of its own person?",
            say("Compute {cms}(1), {cms}(2) and {cms}(3).", task="identification"),
            "What is the recognition rate?",
            say(
                "From which rank on is {cms} equal to 1, and why does it never fall?",
                task="identification",
            ),
        ),
        answers={
            **{f"cms_{k}": cms[k - 1] for k in (1, 2, 3)},
            "recognition_rate": ds.recognition_rate.item(),
            "rank_of_all": last,
        },
        solution=(
            Paragraph("(a) The list of each probe, up to the first template of its own person:"),
            _ordered(steps),
            Paragraph(
                say(
                    "(b) {cms}(k) is the number of probes at rank k or better over all probes "
                    "(TA); between the ranks that are listed it does not change:",
                    task="identification",
                )
            ),
            rates_table({"closed_set": steps.totals[-1]["closed_set"]}),
            Paragraph(
                say(
                    "(c) It is {cms}(1), {rate:rate}.",
                    rate=ds.recognition_rate.item(),
                    task="identification",
                )
            ),
            Paragraph(
                say(
                    "(d) From rank {rank:count} on. A probe that is found at rank k is also found "
                    "at rank k or better for any larger k.",
                    rank=last,
                )
            ),
        ),
    )


def ties(draws: Draws) -> Question:
    """Return a question on distances that are equal."""
    sizes = draws.layout([(2, 2, 1), (2, 1, 1), (1, 1, 1, 1), (2, 2)])
    enrolled = PEOPLE[: len(sizes)]
    while True:
        probes = [draws.choice(enrolled) for _ in range(4)]
        scores = _with_ties(searched(draws, probes, sizes), draws)
        rates = {}
        for policy in _TIES:
            rates[policy] = closed_set(scores, ties=policy).recognition_rate.item()
        differ = rates["pessimistic"] < rates["expected"] < rates["optimistic"]
        several = sum(row.equal > 0 for row in map(_places, _rows(scores))) >= 2
        if differ and several and rates["optimistic"] < 1:
            break
    rows: list[list[Text | None]] = []
    tied: list[Text] = []
    for name, row in zip(scores.probe_meta["name"], _rows(scores), strict=True):
        places = _places(row)
        if places.equal:
            tied.append(Label(name))
        rows.append(
            [
                Label(name),
                Score(places.nearest),
                Number(places.nearer, decimals=0),
                Number(places.equal, decimals=0),
                Number(places.mates, decimals=0),
                Number(places.nearer + places.equal + 1, decimals=0),
                Number(places.nearer + 1, decimals=0),
                Number(float(places.first), digits=3, fraction=True),
            ]
        )
    table = Table(
        "ranks",
        (
            Column("probe", "probe"),
            Column("nearest", "own"),
            Column("nearer", "others nearer"),
            Column("equal", "others equal"),
            Column("mates", "own equal"),
            Column("pessimistic", "rank, pessimistic"),
            Column("optimistic", "rank, optimistic"),
            Column("first", "probability of rank 1"),
        ),
        rows,
    )
    first = [_places(row).first for row in _rows(scores)]
    return Question(
        topic="ties",
        title="Ties",
        given=arrays_of(scores),
        setting=(
            Paragraph(
                f"{_are(enrolled)} enrolled, and every probe is of one of them. The table "
                "has the distances between each probe and the enrolled templates; some are equal. "
                "The recognition rate is the proportion of probes whose own person stands at "
                "rank 1 of the list of templates."
            ),
            matrix_table(scores),
        ),
        asked=(
            "Which probes have a template of another person exactly as near as the nearest "
            "template of their own?",
            "What is the recognition rate if ties are resolved pessimistically (the other person "
            "stands first), and optimistically (the own person stands first)?",
            "What is the mean recognition rate over all orders of tied templates, each order "
            "being equally likely?",
            "Another system gives the distance 0 to every comparison. What are its pessimistic "
            "and its optimistic recognition rate, and which of the two would you report?",
        ),
        answers={f"recognition_rate_{policy}": rates[policy] for policy in _TIES},
        solution=(
            Paragraph(
                say(
                    "(a) {tied}. The table has, for each probe, the distance of the nearest "
                    "template of its own person (own), and how many templates are nearer or "
                    "equal. If none is nearer, the own person stands first with the probability "
                    "own equal / (own equal + others equal).",
                    tied=Enumeration(tied),
                )
            ),
            table,
            Paragraph(
                say(
                    "(b) Pessimistic: {bad:rate}; optimistic: {good:rate} of the {n:count} probes "
                    "have rank 1.",
                    bad=rates["pessimistic"],
                    good=rates["optimistic"],
                    n=len(probes),
                )
            ),
            Paragraph(
                say(
                    "(c) The mean of the last column: ({sum}) / {n:count} = {mean:rate}.",
                    sum=Label(" + ".join(map(str, first))),
                    n=len(probes),
                    mean=rates["expected"],
                )
            ),
            Paragraph(
                "(d) All templates are tied: pessimistically 0 %, optimistically 100 %. The system "
                "cannot tell people apart, so that only the pessimistic rate (or the mean over all "
                "orders) is honest."
            ),
        ),
    )


class _Places:
    """What stands where in the list of a probe, as far as its nearest mate."""

    def __init__(self, own: np.ndarray, others: np.ndarray):
        self.nearest = float(own.min())
        self.mates = int((own == own.min()).sum())
        self.nearer = int((others < own.min()).sum())
        self.equal = int((others == own.min()).sum())

    @property
    def first(self) -> Fraction:
        """The probability that a mate stands first, over all orders of tied templates."""
        if self.nearer:
            return Fraction(0)
        return Fraction(self.mates, self.mates + self.equal)


def _places(row: tuple[np.ndarray, np.ndarray]) -> _Places:
    return _Places(*row)


def _rows(scores: Scores) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the distances of each probe to its own person, and to the others."""
    rows = []
    for who, values in zip(scores.probe_labels, scores.values, strict=True):
        own = np.array([label == who for label in scores.gallery_labels])
        rows.append((values[own], values[~own]))
    return rows


def _has_tie(scores: Scores) -> bool:
    """Whether another person is as near as the nearest mate of a probe."""
    enrolled = [row for row in _rows(scores) if len(row[0])]
    return any(_places(row).equal for row in enrolled)


def _with_ties(scores: Scores, draws: Draws) -> Scores:
    """Return scores in which some probes have another person as near as the nearest mate."""
    values = np.array(scores.values)
    for i, who in enumerate(scores.probe_labels):
        own = np.array([label == who for label in scores.gallery_labels])
        if draws.integer(1, 3) > 1:
            j = draws.choice(np.flatnonzero(~own).tolist())
            values[i, j] = values[i, own].min()
    return scores.with_values(values, scores.kind)


def _are(names: Sequence[str]) -> str:
    """Return the names of several people, with the verb."""
    return f"{', '.join(names[:-1])} and {names[-1]} are"


def _decisions(steps: Steps) -> Table:
    """Return what decides each probe of a watch list, and what it adds."""
    rows: list[list[Text | None]] = []
    for explained in steps.walks:
        for task in explained.tasks:
            if task.task != "open_set" or not _deciding(task):
                continue
            (entry,) = _deciding(task)
            nearer = [x for x in _nearer(task, entry) if x.role == IMPOSTOR]
            genuine = task.role == GENUINE
            rows.append(
                [
                    Label(explained.name),
                    task.role,
                    _scored(entry),
                    (_scored_all(nearer) or "-") if genuine else "",
                    Number(entry.place, decimals=0) if genuine and entry.place else None,
                    "yes" if entry.accepted else "no",
                    adds(task),
                ]
            )
    return Table(
        "decisions",
        (
            Column("probe", "probe"),
            Column("role", "role"),
            Column("decides", "decides"),
            Column("nearer", "others nearer"),
            Column("rank", "rank"),
            Column("accepted", "accepted"),
            Column("adds", "adds"),
        ),
        rows,
        notes=["The distance is in parentheses."],
    )


def _ordered(steps: Steps) -> Table:
    """Return the list of each probe up to its nearest mate."""
    rows: list[list[Text | None]] = []
    for explained in steps.walks:
        (task,) = (x for x in explained.tasks if x.task == "closed_set")
        (entry,) = _deciding(task)
        rows.append(
            [
                Label(explained.name),
                Label(explained.subject),
                _scored_all([*_nearer(task, entry), entry]),
                Number(entry.place or 0, decimals=0),
            ]
        )
    return Table(
        "lists",
        (
            Column("probe", "probe"),
            Column("subject", "subject"),
            Column("list", "list"),
            Column("rank", "rank"),
        ),
        rows,
        notes=["The distance is in parentheses."],
    )


def _deciding(task: TaskExplanation) -> list[Entry]:
    """Return the entry that decides what a probe adds."""
    return [x for x in task.entries if x.if_accepted or x.if_rejected]


def _nearer(task: TaskExplanation, entry: Entry) -> list[Entry]:
    """Return the entries above another one."""
    place = entry.place or 0
    return [x for x in task.entries if x.place is not None and x.place < place]


def _scored(entry: Entry) -> Text:
    return say("{name:name} ({score:score})", name=entry.template, score=entry.score)


def _scored_all(entries: Sequence[Entry]) -> Text:
    return Enumeration(list(map(_scored, entries)), "") if entries else ""
