"""Questions on verification: one template, all templates of a person, rates of each class."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import xarray as xr

from bioeval import Scores, verification
from bioeval.base import Kind, noun_of
from bioeval.document import (
    Column,
    Count,
    Enumeration,
    Label,
    Number,
    Paragraph,
    Rate,
    Score,
    Strong,
    Table,
    Text,
    say,
)
from bioeval.studies.exam.question import (
    KINDS,
    Draws,
    Question,
    accepted_if,
    arrays_of,
    compared_with_each_other,
)
from bioeval.studies.explain.explain import Steps, step_by_step
from bioeval.studies.explain.matrix_section import matrix_table
from bioeval.studies.explain.results import GENUINE, IMPOSTOR, Entry
from bioeval.studies.explain.steps_section import rates_table

_COUNTS = ("genuine_attempts", "impostor_attempts", "ga", "fr", "fa", "gr")
_RATES = ("gar", "frr", "far", "grr")


def single_template(draws: Draws) -> Question:
    """Return a question on verification in which each comparison is an attempt."""
    sizes = draws.layout([(2, 2, 2), (3, 2, 1), (3, 2), (3, 3), (2, 2, 1)])
    kind = draws.layout(KINDS)
    while True:
        scores, threshold = _scores(draws, sizes, kind)
        ds = verification(scores, thresholds=[threshold], auc=False).isel(threshold=0)
        if _is_good(ds) and ds.fa <= 10 and _has_edge(scores, threshold):
            break
    n = sum(sizes)
    products = " + ".join(f"{size} x {size - 1}" for size in sizes)
    genuine = int(ds.genuine_attempts)
    counted = (
        f"Each of the {n} templates is compared with the {n - 1} others: {n} x {n - 1} = "
        f"{n * (n - 1)} attempts. Genuine are those between two templates of one person: "
        f"{products} = {genuine}. The other {n * (n - 1)} - {genuine} = "
        f"{n * (n - 1) - genuine} are impostor attempts."
    )
    steps = step_by_step(scores, threshold=threshold)
    return Question(
        topic="verification",
        title="Verification with single templates",
        given={**arrays_of(scores), "threshold": threshold},
        setting=(
            Paragraph(
                f"{_people(sizes)} All templates are compared with each other, but none with "
                f"itself. The table has the {_plural(scores.kind)}. Each ordered pair of templates "
                f"is one attempt. {accepted_if(scores.kind, threshold)}"
            ),
            matrix_table(scores),
        ),
        asked=(
            "How many genuine attempts (TG) and how many impostor attempts (TI) are there?",
            "Count GA, FR, FA and GR.",
            _RATES_ASKED,
        ),
        answers=_answers(ds),
        solution=(
            Paragraph(f"(a) {counted}"),
            Paragraph("(b) The attempts of each probe:"),
            _attempts(steps, "verification/single"),
            Paragraph(
                "(c) The denominator of each rate is the number of attempts of its own class, and "
                "not the number of all attempts:"
            ),
            _rates(steps, "verification/single"),
        ),
    )


def all_templates(draws: Draws) -> Question:
    """Return a question on verification in which a probe claims a person once."""
    sizes = draws.layout([(2, 2, 2), (3, 2, 1), (2, 2, 1), (3, 3)])
    kind = draws.layout(KINDS)
    while True:
        scores, threshold = _scores(draws, sizes, kind)
        ds = verification(scores, templates="multi", thresholds=[threshold], auc=False)
        ds = ds.isel(threshold=0)
        far_single = _far_of_single(scores, threshold)
        if _is_good(ds) and _has_edge(scores, threshold) and ds.far > far_single:
            break
    n, genuine, impostor = sum(sizes), int(ds.genuine_attempts), int(ds.impostor_attempts)
    counted = f"Each of the {n} probes claims each of the {len(sizes)} people once. "
    if genuine == n:
        counted += f"Each has another template of its own person: {genuine} genuine attempts."
    else:
        alone = n - genuine
        counted += (
            f"The person with one template has no other that its probe can be compared with: "
            f"{n} - {alone} = {genuine} genuine attempts."
        )
    counted += f" {n} x {len(sizes) - 1} = {impostor} are impostor attempts."
    best = "smallest distance" if scores.kind == "distance" else "largest similarity"
    steps = step_by_step(scores, threshold=threshold)
    return Question(
        topic="multi-template",
        title="Verification with all templates of a person",
        given={**arrays_of(scores), "threshold": threshold},
        setting=(
            Paragraph(
                f"{_people(sizes)} The table has the {_plural(scores.kind)} between them. Each "
                "template is a probe that claims each person once. The score of a claim is the "
                f"{best} between the probe and the templates of the claimed person; a template is "
                f"never compared with itself. {accepted_if(scores.kind, threshold)}"
            ),
            matrix_table(scores),
        ),
        asked=(
            "How many genuine attempts (TG) and how many impostor attempts (TI) are there?",
            "Write down the score of each claim, and count GA, FR, FA and GR.",
            _RATES_ASKED,
            say(
                "With the same table and threshold, where each comparison is an attempt, {far} is "
                "{far_single:rate}. Why is it larger here?",
                far_single=far_single,
                task="verification",
            ),
        ),
        answers=_answers(ds),
        solution=(
            Paragraph(f"(a) {counted}"),
            Paragraph("(b) The score of each claim; an asterisk marks the accepted ones:"),
            _claims(steps, sizes),
            _attempts(steps, "verification/multi"),
            Paragraph(
                "(c) The denominator of each rate is the number of attempts of its own class, and "
                "not the number of all attempts:"
            ),
            _rates(steps, "verification/multi"),
            Paragraph(
                "(d) A claim is compared with all templates of the claimed person, and is "
                "accepted if one of them is near enough: an impostor has a chance with each of "
                "them."
            ),
        ),
    )


def rates_of_each_class(draws: Draws) -> Question:
    """Return a question on three systems with the same number of errors among all attempts."""
    everything = 100
    while True:
        errors = draws.choice([8, 10, 12, 15, 20])
        genuine = draws.sample([10, 20, 25, 40, 50, 60, 75, 80, 90], 3)
        rejects = [draws.integer(1, errors - 1) for _ in genuine]
        rows = []
        for tg, fr in zip(genuine, rejects, strict=True):
            rows.append((tg, everything - tg, fr, errors - fr))
        fits = all(fr <= tg and fa <= ti for tg, ti, fr, fa in rows)
        fars = {fa / ti for _, ti, _, fa in rows}
        frrs = {fr / tg for tg, _, fr, _ in rows}
        if fits and len(fars) == len(frrs) == 3:
            break
    names = ("A", "B", "C")
    answers: dict[str, float] = {"errors_of_all": errors / everything}
    lines: list[list[Text | None]] = []
    for name, row in zip(names, rows, strict=True):
        tg, ti, fr, fa = row
        ds = _of_counts(*row)
        frr, far = ds.frr.item(), ds.far.item()
        answers |= {f"frr_{name}": frr, f"far_{name}": far}
        lines.append(
            [
                Label(name),
                say("{fr:count} / {tg:count}", fr=fr, tg=tg),
                Rate(frr, attempts=tg),
                say("{fa:count} / {ti:count}", fa=fa, ti=ti),
                Rate(far, attempts=ti),
            ]
        )
    best_far = min(names, key=lambda name: answers[f"far_{name}"])
    best_frr = min(names, key=lambda name: answers[f"frr_{name}"])
    table = Table(
        "counts",
        (
            Column("system", "system"),
            Column("genuine_attempts", "genuine attempts"),
            Column("impostor_attempts", "impostor attempts"),
            Column("fr", say("{false rejects}", task="verification")),
            Column("fa", say("{false accepts}", task="verification")),
        ),
        [
            [Label(name), *(Number(x, decimals=0) for x in row)]
            for name, row in zip(names, rows, strict=True)
        ],
    )
    return Question(
        topic="rates",
        title="Rates of each class",
        given={"systems": list(names), "counts": np.array(rows)},
        setting=(
            Paragraph(
                f"Three systems were tested with {everything} attempts each, and each made "
                f"{errors} errors:"
            ),
            table,
        ),
        asked=(
            "What proportion of all its decisions is wrong, for each system?",
            say("Compute {frr} and {far} of each system.", task="verification"),
            say(
                "Which system has the smallest {far}, and which the smallest {frr}?",
                task="verification",
            ),
            "Why does the proportion in (a) not tell the systems apart?",
        ),
        answers=answers,
        solution=(
            Paragraph(
                say(
                    "(a) {errors:count} / {all:count} = {rate:rate}, for each of the three.",
                    errors=errors,
                    all=everything,
                    rate=errors / everything,
                )
            ),
            Paragraph(
                say(
                    "(b) {frr} is the number of {false rejects} over the genuine attempts, {far} "
                    "the number of {false accepts} over the impostor attempts:",
                    task="verification",
                )
            ),
            Table(
                "rates",
                (
                    Column("system", "system"),
                    Column("frr_fraction", say("{frr}", task="verification")),
                    Column("frr"),
                    Column("far_fraction", say("{far}", task="verification")),
                    Column("far"),
                ),
                lines,
            ),
            Paragraph(
                say(
                    "(c) System {best_far:name} has the smallest {far}, system {best_frr:name} the "
                    "smallest {frr}.",
                    best_far=best_far,
                    best_frr=best_frr,
                    task="verification",
                )
            ),
            Paragraph(
                "(d) It adds errors of two kinds and divides them by all attempts, so that it "
                "depends on how many attempts of each class the test happened to have. With other "
                "numbers of genuine and impostor attempts the same system has another proportion."
            ),
        ),
    )


_RATES_ASKED = say(
    "Compute {gar}, {frr}, {far} and {grr}, as fractions and in per cent.", task="verification"
)


def _of_counts(tg: int, ti: int, fr: int, fa: int) -> xr.Dataset:
    """Return the rates of a system with these attempts and errors, as its scores would have them.

    Accepted comparisons have the distance 0, rejected ones 1.
    """
    distances = np.repeat([1, 0, 0, 1], [fr, tg - fr, fa, ti - fa])
    genuine = np.repeat([1, 0], [tg, ti])
    scores = Scores.from_pairs(distances, genuine)
    return verification(scores, thresholds=[0.5], auc=False).isel(threshold=0)


def _scores(draws: Draws, sizes: tuple[int, ...], kind: Kind) -> tuple[Scores, int]:
    """Return a matrix of all templates, and a threshold."""
    scores = compared_with_each_other(draws, sizes, kind)
    threshold = draws.integer(4, 8)
    return scores, threshold if kind == "distance" else 16 - threshold


def _is_good(ds: xr.Dataset) -> bool:
    """Whether there are errors and right decisions of both classes."""
    return bool(0 < ds.fr < ds.genuine_attempts and 0 < ds.fa < ds.impostor_attempts)


def _has_edge(scores: Scores, threshold: int) -> bool:
    """Whether a score is equal to the threshold, which accepts it."""
    values = scores.values
    return bool((values[~np.eye(len(values), dtype=bool)] == threshold).any())


def _far_of_single(scores: Scores, threshold: int) -> float:
    return float(verification(scores, thresholds=[threshold], auc=False).far.item())


def _answers(ds: xr.Dataset) -> dict[str, float]:
    """Return the counts and the rates."""
    counts = {name: int(ds[name]) for name in _COUNTS}
    return counts | {name: float(ds[name]) for name in _RATES}


def _people(sizes: tuple[int, ...]) -> str:
    """Return how many templates each person has, as a sentence."""
    names = ("Ann", "Bob", "Cat")[: len(sizes)]
    gave = [f"{name} {size}" for name, size in zip(names, sizes, strict=True)]
    gave[0] = f"{names[0]} gave {sizes[0]} templates"
    return f"{', '.join(gave[:-1])} and {gave[-1]}."


def _plural(kind: str) -> str:
    return {"distance": "distances", "similarity": "similarities"}[kind]


def _attempts(steps: Steps, task: str) -> Table:
    """Return the attempts of each probe with their outcomes, and their numbers."""
    noun = noun_of(steps.walks[0].kind)
    rows: list[list[Text | None]] = []
    sums = np.zeros(4, dtype=int)
    for explained in steps.walks:
        (of_task,) = (x for x in explained.tasks if x.task == task)
        outcomes: list[list[Entry]] = []
        for role in (GENUINE, IMPOSTOR):
            for accepted in (True, False):
                outcomes.append(
                    [x for x in of_task.entries if x.role == role and x.accepted == accepted]
                )
        sums += [len(entries) for entries in outcomes]
        rows.append([Label(explained.name), *(_listed(x, of_task.unit) for x in outcomes)])
    total: list[Text | None] = [Strong(Count(int(number))) for number in sums]
    rows.append([Strong("number"), *total])
    return Table(
        "attempts",
        (
            Column("probe", "probe"),
            Column("ga", "genuine accepted (GA)"),
            Column("fr", "genuine rejected (FR)"),
            Column("fa", "impostor accepted (FA)"),
            Column("gr", "impostor rejected (GR)"),
        ),
        rows,
        notes=[f"The {noun} is in parentheses."],
    )


def _listed(entries: Iterable[Entry], unit: str) -> Text:
    """Return entries with their scores; a dash for none."""
    texts = []
    for entry in entries:
        name = entry.template if unit == "template" else entry.subject
        texts.append(say("{name:name} ({score:score})", name=name, score=entry.score))
    return Enumeration(texts, "") if texts else "-"


def _claims(steps: Steps, sizes: tuple[int, ...]) -> Table:
    """Return the score of each probe's claim of each person."""
    people = list(dict.fromkeys(explained.subject for explained in steps.walks))
    rows: list[list[Text | None]] = []
    for explained in steps.walks:
        (of_task,) = (x for x in explained.tasks if x.task == "verification/multi")
        scores: dict[str, Text] = {}
        for entry in of_task.entries:
            if entry.place is not None and entry.score is not None:
                scores[entry.subject] = Score(entry.score, flagged=bool(entry.accepted))
        rows.append([Label(explained.name), *(scores.get(name) for name in people)])
    columns = [Column("probe", "probe"), *(Column(name, Label(name)) for name in people)]
    return Table("claims", columns, rows)


def _rates(steps: Steps, task: str) -> Table:
    """Return the rates of a task with the fractions that they are."""
    return rates_table({task: steps.totals[-1][task]})
