"""The variables of a zoo, and what is said of it: whose errors they are, and the animals."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.document.blocks import Column, Fact, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Labels
from bioeval.document.results import (
    answers,
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
from bioeval.results.dataset import threshold_with_next
from bioeval.results.variables import Variable

#: The errors that a subject may have a part in: false rejects, and false accepts by its probes (of
#: a wolf) and by claims of its identity (of a lamb).
ERRORS = ("fr", "fa_as_probe", "fa_as_claimed")

#: The animals whose existence is tested.
TESTED = ("goat", "wolf", "lamb")

_SUBJECT, _EACH = ("subject",), ("error", "subject")
_BY_CHANCE = "if the two means were independent"

ZOO = {
    "animal": Variable("animal of the zoo of Yager and Dunstone (2010)", label="animal"),
    "error": Variable(
        "kind of error: fr, false rejects of a subject; fa_as_probe, false accepts of its probes "
        "(a wolf has many); fa_as_claimed, false accepts that claim it (a lamb has many)",
        label="error",
    ),
    "test": Variable("animal whose existence is tested", label="animal"),
    "threshold": Variable(
        "threshold at which errors are counted",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
    ),
    "genuine_mean": Variable(
        "mean finite score of the genuine attempts of the subject",
        "score",
        detail="data",
        label="genuine mean",
    ),
    "impostor_mean": Variable(
        "mean finite score of all impostor attempts of the subject",
        "score",
        detail="data",
        label="impostor mean",
    ),
    "impostor_mean_as_probe": Variable(
        "mean finite score of impostor attempts with probes of the subject",
        "score",
        detail="data",
        label="impostor mean as probe",
    ),
    "impostor_mean_as_claimed": Variable(
        "mean finite score of impostor attempts that claim the subject",
        "score",
        detail="data",
        label="impostor mean as claimed",
    ),
    "errors": Variable(
        "errors of the subject", "attempts", dims=_EACH, threshold="threshold", label="errors"
    ),
    "attempts": Variable(
        "attempts of the subject that may be such an error",
        "attempts",
        detail="verbose",
        label="attempts",
    ),
    "rate": Variable(
        "error rate of the subject",
        "proportion",
        "FNMR, FMR",
        _EACH,
        out_of="attempts",
        threshold="threshold",
        label="rate",
        direction="smaller",
    ),
    "share": Variable(
        "proportion of all such errors that are the subject's",
        "proportion",
        label="of all",
        out_of="all_errors",
    ),
    "rate_without": Variable(
        "error rate of all attempts without the subject, on either side",
        "proportion",
        "FNMR, FMR",
        _EACH,
        threshold="threshold",
        label="rate without",
        direction="smaller",
    ),
    "gini": Variable("Gini coefficient of the errors over subjects", "1", label="Gini"),
    "all_errors": Variable(
        "errors of all subjects", "attempts", threshold="threshold", label="errors"
    ),
    "all_attempts": Variable("attempts of all subjects", "attempts", label="attempts"),
    "all_rate": Variable(
        "error rate of all subjects together",
        "proportion",
        "FNMR, FMR",
        out_of="all_attempts",
        threshold="threshold",
        label="rate",
        direction="smaller",
    ),
    "non_finite": Variable(
        "attempts with an infinite score, left out of means",
        "attempts",
        label="attempts with an infinite score, left out of means",
        detail="verbose",
    ),
    "animal_of_subject": Variable(
        "animal of the subject, or none", label="animal", detail="verbose"
    ),
    "animal_count": Variable("subjects that are of the kind", "subjects", label="subjects"),
    "animal_expected": Variable(f"subjects expected {_BY_CHANCE}", "subjects", label="expected"),
    "animal_p_more": Variable(
        f"probability of as many or more, {_BY_CHANCE}", "p", label="p of at least as many"
    ),
    "animal_p_fewer": Variable(
        f"probability of as many or fewer, {_BY_CHANCE}", "p", label="p of at most as many"
    ),
    "correlation": Variable(
        "correlation over subjects of their mean scores in two halves without a template (of "
        "wolves and lambs, nor an opponent) in common; of goats that of ranks",
        "1",
        label="correlation",
    ),
    "p": Variable(
        "one-sided p-value by permutation: subjects differ, the animals exist", "p", label="p"
    ),
    "kruskal_p": Variable(
        "p-value of Kruskal and Wallis for genuine scores by subject; assumes independent "
        "scores, and rejects far too often where scores share templates",
        "p",
        label="p of Kruskal and Wallis (assumes independent scores)",
    ),
}

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


def answers_of_zoo(ds: xr.Dataset) -> list[Message]:
    """Return whose FRR is the highest; nothing without a false reject."""
    rejects, rates = ds["errors"].values[0], ds["rate"].values[0]
    ranked = highest_rates(rejects, rates, len(rates))
    if not ranked:
        return []
    most = [i for i in ranked if rates[i] == rates[ranked[0]]]
    return [
        Message(
            "most-errors",
            subjects=ds["subject"].values[most].tolist(),
            number=len(most),
            rate=float(rates[most[0]]),
            errors=int(rejects[most].sum()),
            attempts=int(ds["attempts"].values[0, most].sum()),
            share=float(rejects[most].sum() / rejects.sum()),
            **threshold_with_next(ds),
        )
    ]


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


_ERRORS = {
    "fr": "{false rejects}",
    "fa_as_probe": "{false accepts}, by probe",
    "fa_as_claimed": "{false accepts}, by claim",
}

_TESTS = (
    "goats: subjects differ in genuine scores",
    "wolves: subjects differ in scores against others",
    "lambs: subjects differ in others' scores against them",
)


def zoo_section(results: ResultsBySystem) -> Section:
    """Return what is said of a zoo."""
    ds = results[""]
    genuine, impostor, _ = map(int, ds["all_attempts"].values)
    attempts = people_and_attempts(ds.sizes["subject"], genuine, impostor)
    return Section(
        "zoo",
        "",
        (
            data_facts(results, Fact("Over", attempts)),
            *answers(results),
            _errors(ds),
            _most_errors(ds),
            _animals(ds),
            _tests(ds),
            table_of_variables(ds, "subject", id="subjects"),
            table_of_variables(ds, "error", "subject", id="errors_of_subjects"),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _errors(ds: xr.Dataset) -> Table:
    """Return how many errors there are, and how few subjects make half of them."""
    rows: list[tuple[Text | None, ...]] = []
    for i, label in enumerate(_ERRORS.values()):
        cells = [cell_of(ds, name, {"error": i}) for name in ("all_errors", "all_rate", "gini")]
        numbers = np.sort(ds["errors"].values[i])[::-1]
        most = np.searchsorted(2 * numbers.cumsum(), numbers.sum())
        rows.append(
            (say(label), *cells, Count(int(most) + 1, noun="subjects") if numbers.any() else None)
        )
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
    for error, label in enumerate(_ERRORS.values()):
        rates = ds["rate"].values[error]
        listed = highest_rates(ds["errors"].values[error], rates, NAMED)
        for i in listed:
            at = {"error": error, "subject": i}
            cells = [cell_of(ds, x, at) for x in ("errors", "share", "rate", "rate_without")]
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
    for i, label in enumerate(_TESTS):
        rows.append((label, *(cell_of(ds, name, {"test": i}) for name in ("correlation", "p"))))
    kruskal = "Kruskal and Wallis (assumes independent scores)"
    rows.append((kruskal, None, cell_of(ds, "kruskal_p")))
    return Table(
        "tests",
        (Column("test"), Column("correlation", "correlation"), Column("p", "p")),
        rows,
        title="Do goats, wolves and lambs exist?",
    )
