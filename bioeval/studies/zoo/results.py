"""The variables of a zoo, and what is said of it: whose errors they are, and the animals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.document.blocks import Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Labels, Rate
from bioeval.document.results import (
    cell_of,
    data_facts,
    people_and_attempts,
    result_messages,
    table_of,
    table_of_variables,
    threshold_choice,
    threshold_of,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.results.variables import Variable


def _zoo() -> dict[str, Variable]:
    """Describe the variables of a zoo; probes and claimed subjects differ in one word."""
    of_subject = "genuine attempts of the subject"
    roles = {
        "as_probe": "impostor attempts with probes of the subject (a wolf has many errors)",
        "as_claimed": "impostor attempts that claim the subject (a lamb has many errors)",
    }
    names = {
        "threshold": Variable(
            "threshold at which errors are counted", "score", "threshold T", shown="threshold"
        ),
        "genuine_mean": Variable(f"mean finite score of the {of_subject}", "score"),
        "impostor_mean": Variable(
            "mean finite score of all impostor attempts of the subject", "score"
        ),
        "genuine_attempts": Variable(of_subject, "attempts"),
        "fr": Variable(f"{of_subject} that are rejected", "attempts"),
        "frr": Variable(
            f"false reject rate of the {of_subject}",
            "proportion",
            "FNMR",
            out_of="genuine_attempts",
        ),
        "fr_share": Variable(
            "proportion of all false rejects that are the subject's", "proportion"
        ),
        "frr_without": Variable("false reject rate of all other subjects", "proportion", "FNMR"),
        "far_without": Variable(
            "false accept rate of the attempts without the subject on either side",
            "proportion",
            "FMR",
        ),
        "fr_gini": Variable("Gini coefficient of the false rejects over subjects", "1"),
        "non_finite": Variable("attempts with an infinite score, left out of means", "attempts"),
    }
    for role, attempts in roles.items():
        names |= {
            f"impostor_mean_{role}": Variable(f"mean finite score of {attempts}", "score"),
            f"impostor_attempts_{role}": Variable(attempts, "attempts"),
            f"fa_{role}": Variable(f"accepted {attempts}", "attempts"),
            f"far_{role}": Variable(
                f"false accept rate of {attempts}",
                "proportion",
                "FMR",
                out_of=f"impostor_attempts_{role}",
            ),
            f"fa_share_{role}": Variable(
                f"proportion of all false accepts that are of {attempts}", "proportion"
            ),
            f"fa_gini_{role}": Variable(
                f"Gini coefficient over subjects of false accepts, of {attempts}", "1"
            ),
        }
    names |= {
        "animal_of_subject": Variable("animal of the subject, or none"),
        "animal_count": Variable("subjects that are of the kind", "subjects", heading="subjects"),
        "animal_expected": Variable(
            "subjects expected if the two means were independent", "subjects", heading="expected"
        ),
        "animal_p_more": Variable(
            "probability of as many or more, if the means were independent",
            "p",
            heading="p of at least as many",
        ),
        "animal_p_fewer": Variable(
            "probability of as many or fewer, if the means were independent",
            "p",
            heading="p of at most as many",
        ),
        "kruskal_p": Variable(
            "p-value of Kruskal and Wallis for genuine scores by subject; assumes independent "
            "scores, and rejects far too often where scores share templates",
            "p",
        ),
    }
    for animal, scores in {
        "goat": "genuine scores",
        "wolf": "scores of their probes against others",
        "lamb": "scores of others' probes against them",
    }.items():
        kind, apart = "correlation", "template or an opponent"
        if animal == "goat":
            kind, apart = "rank correlation", "template"
        names[f"{animal}_correlation"] = Variable(
            f"{kind} over subjects of mean {scores} in two halves without a {apart} in common", "1"
        )
        names[f"{animal}_p"] = Variable(
            f"one-sided p-value by permutation: subjects differ in {scores} ({animal}s exist)",
            "p",
        )
    return names


ZOO = {"animal": Variable("animal of the zoo of Yager and Dunstone (2010)"), **_zoo()}

#: Each animal, and whether it is best or worst by its genuine and by its impostor mean.
ANIMALS = {
    "dove": ("best", "best"),
    "worm": ("worst", "worst"),
    "chameleon": ("best", "worst"),
    "phantom": ("worst", "best"),
}

NO_ANIMAL = "none"

#: Subjects that are named for each kind of error, and for each animal.
NAMED = 3


def highest_rates(errors: np.ndarray, rates: np.ndarray, number: int) -> list[int]:
    """Return the subjects with the highest error rates, the most errors first of equal ones.

    Subjects have unequal numbers of attempts, so that the most errors are those of who was
    compared most. A subject without an error is none.
    """
    order = np.lexsort((-errors, -np.where(errors > 0, rates, 0.0)))[:number]
    return order[errors[order] > 0].tolist()


def number_of_best(quantile: float, subjects: int) -> int:
    """Return how many of the subjects are best, and how many are worst."""
    number = math.ceil(Fraction(str(quantile)) * subjects)  # 0.1 of 30 is 3, and not more
    if 2 * number > subjects:
        raise DataError(
            f"`quantile` {quantile:g} of {counted(subjects, 'subjects')} with both "
            f"genuine and impostor scores are {number} best and {number} worst, more than there "
            f"are; expected at least {2 * number} subjects, or a smaller quantile"
        )
    return number


#: The kinds of errors: for each label, the ends of the names of its counts, rates and others.
_ERRORS = {
    "{false rejects}": ("fr", "", "genuine_attempts"),
    "{false accepts}, by probe": ("fa", "_as_probe", "impostor_attempts_as_probe"),
    "{false accepts}, by claim": ("fa", "_as_claimed", "impostor_attempts_as_claimed"),
}

#: Subjects that the answer names, where several have the highest rate.
_NAMED_AT_MOST = 6

_TESTS = {
    "goat": "goats: subjects differ in genuine scores",
    "wolf": "wolves: subjects differ in scores against others",
    "lamb": "lambs: subjects differ in others' scores against them",
}


def zoo_section(results: ResultsBySystem) -> Section:
    """Return what is said of a zoo."""
    ds = results[""]
    attempts = people_and_attempts(
        ds.sizes["subject"],
        int(ds["genuine_attempts"].sum()),
        int(ds["impostor_attempts_as_probe"].sum()),
    )
    return Section(
        "zoo",
        "",
        (
            data_facts(results, Fact("Over", attempts)),
            *_answer(ds),
            _errors(ds),
            _most_errors(ds),
            _animals(ds),
            _tests(ds),
            table_of_variables(ds, "subject", id="subjects"),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _answer(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield whose FRR is the highest; nothing without a false reject."""
    rejects, rates = ds["fr"].values, ds["frr"].values
    ranked = highest_rates(rejects, rates, len(rates))
    if not ranked:
        return
    most = [i for i in ranked if rates[i] == rates[ranked[0]]]
    who = "subject {subjects} has the highest {frr}, {rate}"
    if len(most) > 1:
        who = "{number:count subjects} ({subjects}) have the highest {frr}, {rate}"
    names = list(map(str, ds["subject"].values[most]))
    yield Paragraph(
        say(
            f"At the threshold {{threshold}}, {who} ({{errors:count}} of "
            "{attempts:count genuine attempts}): {share} of all {false rejects}.",
            threshold=threshold_of(ds),
            number=len(most),
            subjects=Labels(names[:_NAMED_AT_MOST], more=len(names) > _NAMED_AT_MOST),
            rate=Rate(float(rates[most[0]])),
            errors=int(rejects[most].sum()),
            attempts=int(ds["genuine_attempts"].values[most].sum()),
            share=Rate(float(rejects[most].sum() / rejects.sum())),
        ),
        "answer",
    )


def _errors(ds: xr.Dataset) -> Table:
    """Return how many errors there are, and how few subjects make half of them."""
    rows: list[tuple[Text | None, ...]] = []
    for label, (kind, role, attempts) in _ERRORS.items():
        numbers = ds[f"{kind}{role}"].values
        total, made = int(numbers.sum()), int(ds[attempts].sum())
        rate = Rate(total / made if made else math.nan, attempts=made)
        most = np.searchsorted(2 * np.sort(numbers)[::-1].cumsum(), total)
        half = Count(int(most) + 1, noun="subjects") if total else None
        rows.append((say(label), Count(total), rate, cell_of(ds, f"{kind}_gini{role}"), half))
    given = str(ds.attrs["chosen_on"]) == "given"
    columns = (
        Column("errors_of"),
        Column("errors", "errors"),
        Column("rate", "rate"),
        Column("gini", "Gini"),
        Column("half_made_by", "half are by", priority=1),
    )
    title = say(
        "Errors at the threshold {threshold} (accepted if {sign})",
        threshold=threshold_of(ds),
        sign=">=" if str(ds.attrs["kind"]) in LARGER_IS_CLOSER else "<=",
    )
    details = ("The threshold was given." if given else threshold_choice(ds.attrs),)
    return Table("errors", columns, rows, title=title, details=details)


def _most_errors(ds: xr.Dataset) -> Table:
    """Return the subjects with the highest rates of each kind of error."""
    rows: list[tuple[Text | None, ...]] = []
    notes = []
    for label, (kind, role, _) in _ERRORS.items():
        rate, numbers = "frr" if kind == "fr" else "far", ds[f"{kind}{role}"].values
        names = (f"{kind}{role}", f"{kind}_share{role}", f"{rate}{role}", f"{rate}_without")
        rates = ds[f"{rate}{role}"].values
        listed = highest_rates(numbers, rates, NAMED)
        for i in listed:
            cells = [cell_of(ds, name, {"subject": i}) for name in names]
            rows.append((say(label), Label(ds["subject"].values[i].item()), *cells))
        # Others may have the rate of the last that is listed.
        last = rates[listed[-1]] if listed else -1.0
        if more := int((rates == last).sum() - (rates[listed] == last).sum()):
            text = "{errors}: {more:count more subjects} with the rate of {last}."
            subject = Label(ds["subject"].values[listed[-1]].item())
            notes.append(say(text, errors=say(label), more=more, last=subject))
    columns = (
        Column("errors_of", grouped=True),
        Column("subject", "subject"),
        Column("errors", "errors"),
        Column("share", "of all", priority=2),
        Column("rate", "rate"),
        Column("without", "without", priority=1),
    )
    title = "Subjects with the highest error rates (without: the rate over all other subjects)"
    return Table("most_errors", columns, rows, title=title, notes=notes)


def _animals(ds: xr.Dataset) -> Table:
    """Return the animals, how many there are, and how many would be there by chance."""
    title = say(
        "Animals: best and worst {share:rate} by genuine and by impostor mean",
        share=float(ds.attrs["quantile"]),
    )
    note = "p: probability by chance, if the two means were independent"
    names = ("animal", "animal_count", "animal_expected", "animal_p_more", "animal_p_fewer")
    table = table_of(ds, "animals", names, "animal", title=title, notes=(note,))
    columns = [replace(x, name=x.name.removeprefix("animal_")) for x in table.columns]
    rows = []
    for row, animal in zip(table.rows, ds["animal"].values, strict=True):
        of_animal = list(map(str, ds["subject"].values[ds["animal_of_subject"].values == animal]))
        rows.append([*row, Labels(of_animal[:NAMED], more=len(of_animal) > NAMED)])
    columns.append(Column("such_as", "such as", priority=1))
    return replace(table, columns=columns, rows=rows)


def _tests(ds: xr.Dataset) -> Table:
    """Return the tests of the existence of goats, wolves and lambs."""
    rows: list[tuple[Text | None, ...]] = []
    for animal, label in _TESTS.items():
        rows.append((label, *(cell_of(ds, f"{animal}_{x}") for x in ("correlation", "p"))))
    kruskal = "Kruskal and Wallis (assumes independent scores)"
    rows.append((kruskal, None, cell_of(ds, "kruskal_p")))
    return Table(
        "tests",
        (Column("test"), Column("correlation", "correlation"), Column("p", "p")),
        rows,
        title="Do goats, wolves and lambs exist?",
    )
