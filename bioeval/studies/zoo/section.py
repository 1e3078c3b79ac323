"""What is said of a zoo: whose errors they are, the animals, and whether they exist."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.document.blocks import (
    Column,
    Fact,
    Facts,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import (
    Count,
    Label,
    Labels,
    Number,
    Probability,
    Rate,
    Score,
    threshold_to_install,
)
from bioeval.document.results import (
    people_and_attempts,
    result_messages,
    table_of_variables,
    threshold_choice,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.results.words import excluded
from bioeval.studies.zoo.results import NAMED, most_errors

#: The kinds of errors: the name of the errors, of their rate and of the attempts, and a label.
_ERRORS = (
    ("fr", "frr", "genuine_attempts", "{false rejects}"),
    ("fa_as_probe", "far_as_probe", "impostor_attempts_as_probe", "{false accepts}, by probe"),
    (
        "fa_as_claimed",
        "far_as_claimed",
        "impostor_attempts_as_claimed",
        "{false accepts}, by claim",
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
    attrs = ds.attrs
    attempts = people_and_attempts(
        ds.sizes["subject"],
        int(ds["genuine_attempts"].sum()),
        int(ds["impostor_attempts_as_probe"].sum()),
    )
    about = Facts(
        (
            Fact("System", Label(str(attrs["system"])), "system"),
            Fact("Over", attempts),
            Fact("Attempts", str(attrs.get("use", ""))),
            Fact("Excluded", excluded({"": attrs})),
            Fact("Terms", Vocabulary()),
        )
    )
    return Section(
        "zoo",
        "",
        (
            about,
            *_answer(ds),
            _errors(ds),
            _most_errors(ds),
            _pairs(ds),
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
    if not ds["fr"].any():
        return
    rejects = ds["fr"].values
    most = np.flatnonzero(rejects == rejects.max())
    told = (
        "At the threshold {threshold}, subject {subjects} makes {share} of all {false rejects}, "
        "the most of all subjects."
    )
    if len(most) > 1:
        told = (
            "At the threshold {threshold}, {number:count subjects} ({subjects}) make {share} of "
            "all {false rejects} each, the most of all subjects."
        )
    names = list(map(str, ds["subject"].values[most]))
    yield Paragraph(
        say(
            told,
            threshold=_threshold(ds),
            number=len(most),
            subjects=Labels(names[:_NAMED_AT_MOST], more=len(names) > _NAMED_AT_MOST),
            share=Rate(float(ds["fr_share"][most[0]])),
        ),
        "answer",
    )


def _choice(ds: xr.Dataset) -> Text:
    """Return how the threshold was chosen."""
    if str(ds.attrs["chosen_on"]) == "given":
        return "The threshold was given."
    return threshold_choice(ds.attrs)


def _errors(ds: xr.Dataset) -> Table:
    """Return how many errors there are, and how few subjects make half of them."""
    sign = ">=" if larger_is_closer(str(ds.attrs["kind"])) else "<="
    rows = []
    for errors, rate, attempts, label in _ERRORS:
        numbers = ds[errors].values
        total, made = int(numbers.sum()), int(ds[attempts].sum())
        over_all = total / made if made else math.nan
        gini = errors.replace("_", "_gini_", 1) if "_" in errors else f"{errors}_gini"
        half: Text | None = None
        if total:
            most = np.searchsorted(2 * np.sort(numbers)[::-1].cumsum(), total)
            half = Count(int(most) + 1, noun="subjects")
        rows.append(
            (
                say(label),
                Count(total, variable=errors),
                Rate(over_all, variable=rate, attempts=made, errors=total),
                Number(float(ds[gini]), variable=gini),
                half,
            )
        )
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
            sign=sign,
        ),
        details=(_choice(ds),),
    )


def _most_errors(ds: xr.Dataset) -> Table:
    """Return the subjects with most errors of each kind."""
    rows, notes = [], []
    for errors, rate, attempts, label in _ERRORS:
        numbers = ds[errors].values
        listed = most_errors(numbers, NAMED)
        if listed:
            tied = int((numbers == numbers[listed[-1]]).sum())
            shown = int((numbers[listed] == numbers[listed[-1]]).sum())
            if tied > shown:
                notes.append(
                    say(
                        "{errors}: {more:count more subjects} with as many as {last}.",
                        errors=say(label),
                        more=tied - shown,
                        last=Label(ds["subject"].values[listed[-1]].item()),
                    )
                )
        without = f"{rate[:3]}_without"
        share = errors.replace("_", "_share_", 1) if "_" in errors else f"{errors}_share"
        for i in listed:
            at = {"subject": ds["subject"].values[i]}
            rows.append(
                (
                    say(label),
                    Label(at["subject"].item()),
                    Count(int(numbers[i]), variable=errors, at=at),
                    Rate(float(ds[share][i]), variable=share, at=at),
                    Rate(float(ds[rate][i]), variable=rate, at=at, attempts=int(ds[attempts][i])),
                    Rate(float(ds[without][i]), variable=without, at=at),
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


def _pairs(ds: xr.Dataset) -> Table:
    """Return the pairs of people with most false accepts."""
    rows = []
    for i in range(ds.sizes["pair"]):
        at = {"pair": i}
        rows.append(
            (
                Label(ds["probe_of_pair"].values[i].item()),
                Label(ds["claimed_of_pair"].values[i].item()),
                Count(int(ds["fa_of_pair"][i]), variable="fa_of_pair", at=at),
                Rate(float(ds["fa_share_of_pair"][i]), variable="fa_share_of_pair", at=at),
            )
        )
    return Table(
        "pairs_of_people",
        (
            Column("probe", "person of the probe"),
            Column("claimed", "person claimed"),
            Column("errors", say("{false accepts}")),
            Column("share", "of all"),
        ),
        rows,
        title=say("Pairs of people with most {false accepts}"),
    )


def _animals(ds: xr.Dataset) -> Table:
    """Return the animals, how many there are, and how many would be there by chance."""
    rows = []
    for i, animal in enumerate(ds["animal"].values.tolist()):
        names = list(map(str, ds["subject"].values[ds["animal_of_subject"].values == animal]))
        rows.append(
            (
                str(animal),
                Count(int(ds["animal_count"][i]), variable="animal_count"),
                Number(float(ds["animal_expected"][i]), variable="animal_expected"),
                Probability(float(ds["animal_p_more"][i]), variable="animal_p_more"),
                Probability(float(ds["animal_p_fewer"][i]), variable="animal_p_fewer"),
                Labels(names[:NAMED], more=len(names) > NAMED),
            )
        )
    return Table(
        "animals",
        (
            Column("animal"),
            Column("count", "subjects"),
            Column("expected", "expected"),
            Column("p_more", "p of at least as many"),
            Column("p_fewer", "p of at most as many"),
            Column("such_as", "such as", priority=1),
        ),
        rows,
        title=say(
            "Animals: best and worst {share:rate} by genuine and by impostor mean",
            share=float(ds.attrs["quantile"]),
        ),
        notes=("p: probability by chance, if the two means were independent",),
    )


def _tests(ds: xr.Dataset) -> Table:
    """Return the tests of the existence of goats, wolves and lambs."""
    rows: list[tuple[Text | None, ...]] = []
    for animal, label in _TESTS.items():
        correlation, p_value = f"{animal}_correlation", f"{animal}_p"
        rows.append(
            (
                label,
                Number(float(ds[correlation]), variable=correlation),
                Probability(float(ds[p_value]), variable=p_value),
            )
        )
    kruskal = "Kruskal and Wallis (assumes independent scores)"
    rows.append((kruskal, None, Probability(float(ds["kruskal_p"]), variable="kruskal_p")))
    return Table(
        "tests",
        (Column("test"), Column("correlation", "correlation"), Column("p", "p")),
        rows,
        title="Do goats, wolves and lambs exist?",
    )
