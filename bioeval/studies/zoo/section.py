"""What is said of a zoo: whose errors they are, the animals, and whether they exist."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.document.blocks import (
    Column,
    Fact,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
)
from bioeval.document.cells import (
    Count,
    Label,
    Labels,
    Rate,
    Score,
    threshold_to_install,
)
from bioeval.document.results import (
    cell_of,
    data_facts,
    people_and_attempts,
    result_messages,
    table_of,
    table_of_variables,
    threshold_choice,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.studies.zoo.results import NAMED, most_errors


class _Errors(NamedTuple):
    """A kind of errors: its label, and the variables of it."""

    label: str
    errors: str
    rate: str
    attempts: str
    share: str
    gini: str
    without: str


_ERRORS = (
    _Errors(
        "{false rejects}", "fr", "frr", "genuine_attempts", "fr_share", "fr_gini", "frr_without"
    ),
    *(
        _Errors(
            f"{{false accepts}}, by {side}",
            f"fa_{role}",
            f"far_{role}",
            f"impostor_attempts_{role}",
            f"fa_share_{role}",
            f"fa_gini_{role}",
            "far_without",
        )
        for role, side in (("as_probe", "probe"), ("as_claimed", "claim"))
    ),
)

#: Subjects that the answer names, where several have the most errors.
_NAMED_AT_MOST = 6

_TESTS = {
    "goat": "goats: subjects differ in genuine scores",
    "wolf": "wolves: subjects differ in scores against others",
    "lamb": "lambs: subjects differ in others' scores against them",
}


def section(results: ResultsBySystem) -> Section:
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


def _threshold(ds: xr.Dataset) -> Score:
    """Return the threshold at which errors are counted, as people may copy it."""
    return threshold_to_install(float(ds["threshold"]), str(ds.attrs["kind"]))


def _answer(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield whose false rejects are most; nothing without a false reject."""
    rejects = ds["fr"].values
    if not rejects.any():
        return
    most = np.flatnonzero(rejects == rejects.max())
    made_by = "subject {subjects} makes {share} of all {false rejects}"
    if len(most) > 1:
        made_by = "{number:count subjects} ({subjects}) make {share} of all {false rejects} each"
    names = list(map(str, ds["subject"].values[most]))
    yield Paragraph(
        say(
            f"At the threshold {{threshold}}, {made_by}, the most of all subjects.",
            threshold=_threshold(ds),
            number=len(most),
            subjects=Labels(names[:_NAMED_AT_MOST], more=len(names) > _NAMED_AT_MOST),
            share=Rate(float(ds["fr_share"][most[0]])),
        ),
        "answer",
    )


def _errors(ds: xr.Dataset) -> Table:
    """Return how many errors there are, and how few subjects make half of them."""
    rows = []
    for kind in _ERRORS:
        numbers = ds[kind.errors].values
        total, made = int(numbers.sum()), int(ds[kind.attempts].sum())
        most = np.searchsorted(2 * np.sort(numbers)[::-1].cumsum(), total)
        rows.append(
            (
                say(kind.label),
                Count(total, variable=kind.errors),
                Rate(
                    total / made if made else math.nan,
                    variable=kind.rate,
                    attempts=made,
                    errors=total,
                ),
                cell_of(ds, kind.gini),
                Count(int(most) + 1, noun="subjects") if total else None,
            )
        )
    given = str(ds.attrs["chosen_on"]) == "given"
    return Table(
        "errors",
        (
            Column("errors_of"),
            Column("errors", "errors"),
            Column("rate", "rate"),
            Column("gini", "Gini"),
            Column("half_made_by", "half are by", priority=1),
        ),
        rows,
        title=say(
            "Errors at the threshold {threshold} (accepted if {sign})",
            threshold=_threshold(ds),
            sign=">=" if larger_is_closer(str(ds.attrs["kind"])) else "<=",
        ),
        details=("The threshold was given." if given else threshold_choice(ds.attrs),),
    )


def _most_errors(ds: xr.Dataset) -> Table:
    """Return the subjects with most errors of each kind."""
    rows, notes = [], []
    for kind in _ERRORS:
        numbers = ds[kind.errors].values
        listed = most_errors(numbers, NAMED)
        for i in listed:
            names = (kind.errors, kind.share, kind.rate, kind.without)
            cells = [cell_of(ds, name, {"subject": i}) for name in names]
            rows.append((say(kind.label), Label(ds["subject"].values[i].item()), *cells))
        # Others may have as many errors as the last that is listed.
        last = numbers[listed[-1]] if listed else -1
        more = int((numbers == last).sum() - (numbers[listed] == last).sum())
        if more:
            notes.append(
                say(
                    "{errors}: {more:count more subjects} with as many as {last}.",
                    errors=say(kind.label),
                    more=more,
                    last=Label(ds["subject"].values[listed[-1]].item()),
                )
            )
    return Table(
        "most_errors",
        (
            Column("errors_of", grouped=True),
            Column("subject", "subject"),
            Column("errors", "errors"),
            Column("share", "of all", priority=2),
            Column("rate", "rate"),
            Column("without", "without", priority=1),
        ),
        rows,
        title="Subjects with most errors (without: the rate over all other subjects)",
        notes=notes,
    )


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
