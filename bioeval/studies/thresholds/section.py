"""What is said of a threshold: which one to install, its rates on new people, and who is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.document.blocks import (
    Column,
    Messages,
    ResultsBySystem,
    Section,
    Table,
)
from bioeval.document.cells import Rate
from bioeval.document.results import (
    answers,
    cell_of,
    data_facts,
    is_doubt,
    messages_of_result,
    one_sided,
    rate_of,
    result_messages,
    span_of_thresholds,
    table_of_variables,
    threshold_rule,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Strong, Text, say
from bioeval.stats.aggregate import aggregate
from bioeval.studies.assurance.assured import REFUSED
from bioeval.studies.assurance.section import promise_by_strict_threshold
from bioeval.studies.thresholds.answers import new_people

#: The rates of a study, with their label and the variable with their attempts.
_RATES = (
    ("far", "{far}", "impostor_attempts"),
    ("frr", "{frr}", "genuine_attempts"),
    ("hter", "HTER", ""),
)


def threshold_study_section(results: ResultsBySystem) -> Section:
    """Return what is said of a threshold study."""
    study = results[""]
    if "far" not in study:
        raise DataError(
            "the threshold study lacks its rates and its folds; expected the whole tree, as "
            "xarray.open_datatree reads it from a file"
        )
    messages = result_messages(results).messages
    doubts = [x for x in messages if is_doubt(x)]
    searched = "unenrolled_people" in study
    compared: Text = ""
    if not searched and "gallery_templates" in study.attrs and "use" not in study.attrs:
        templates = "all templates" if study.attrs.get("templates") == "multi" else "one template"
        compared = f"attempts with {templates}"
    return Section(
        "threshold_study",
        "",
        (
            data_facts(results, attempts=compared),
            *([Messages(doubts, alarm=True)] if doubts else []),
            *answers(results),
            *_rates(study),
            *people_needed(study),
            table_of_variables(folds_of(study), "repeat", "fold", id="folds"),
            Messages([x for x in messages if x not in doubts]),
        ),
        task=rates_are_of(study.attrs, searches=searched),
    )


def refusal_of(study: xr.Dataset) -> Message | None:
    """Return why no threshold can be promised; None where one is."""
    messages = messages_of_result(study)
    return next((x for x in messages if x.code in REFUSED and not x.about), None)


def folds_of(study: xr.Dataset) -> xr.Dataset:
    """Return what the test part of each fold has."""
    of_folds = {str(name): x for name, x in study.data_vars.items() if "folds/" in str(name)}
    return xr.Dataset({name.removeprefix("folds/"): x for name, x in of_folds.items()})


def _rates(study: xr.Dataset) -> Iterator[Table]:
    """Yield the rates where the threshold was chosen and those on new people, also as data."""
    folds = folds_of(study)
    statistics = aggregate(folds, ("repeat", "fold"))
    labels = statistics["statistic"].values.tolist()
    rows: list[tuple[Text, Rate, Rate, Rate, Rate]] = []
    for name, label, attempts in _RATES:
        made = int(study[attempts]) if attempts in study else None
        on_all, on_test = (rate_of(study, name, {"part": i}, attempts=made) for i in range(2))
        pooled, sd = (
            rate_of(statistics[[name]], name, {"statistic": labels.index(key)}, attempts=made)
            for key in ("pooled", "sd")
        )
        rows.append((say(label), on_all, on_test, pooled, sd))
    fixed, new = threshold_rule(study.attrs).name == "fixed", new_people(study)
    columns = (
        Column("rate", "", only="readers"),
        Column("all", "these data" if fixed else "where chosen", only="readers"),
        Column("test", new, only="readers"),
        Column("pooled", "pooled", priority=2, only="readers"),
        Column("sd", "sd", priority=1, only="readers"),
    )
    resampled: Text = ""
    if any(row[1].interval for row in rows):
        resampled = say(
            ", with the {confidence:rate} interval at this threshold (by people, for new people)",
            confidence=float(study.attrs["confidence"]),
        )
    over = say(
        "{new}: the mean over the test {divided} of {repeats:count divisions} into "
        "{folds:count folds}{chosen}, with its interval over folds (Nadeau and Bengio, a "
        "heuristic).",
        new=new.capitalize(),
        chosen="" if fixed else ", each at a threshold chosen on the others",
        divided=str(study.attrs["divided"]),
        repeats=study.sizes["repeat"],
        folds=study.sizes["fold"],
    )
    here = "These data" if fixed else "Where chosen: on the same data (optimistic)"
    ends = one_sided(study)
    notes = [say("{here}{resampled}.{ends}", here=here, resampled=resampled, ends=ends), over]
    thresholds = folds["threshold"].values
    thresholds = thresholds[np.isfinite(thresholds)]
    if len(thresholds) > 1 and not fixed:
        text = "Thresholds of the folds: {span}, sd {sd:digits 3}."
        spread = float(thresholds.std(ddof=1))
        notes.append(say(text, span=span_of_thresholds(folds), sd=spread))
    yield Table("rates", columns, rows, notes=notes)
    yield table_of_variables(study, "part", id="parts")
    yield table_of_variables(statistics, "statistic", id="statistics")


def people_needed(study: xr.Dataset) -> Iterator[Table]:
    """Yield the people that the target needs, by the rules of 3 and 30 and for a promise."""
    people, far = "subjects_needed" in study, "impostors_needed" in study
    if not people and not far:
        return
    searched = "unenrolled_people" in study
    headings = {"purpose": ""}
    if people:
        headings["people"] = "people not enrolled" if searched else "people"
    if far and not searched:
        headings["pairs"] = "pairs of people" if people else "impostor pairs"
    if far:
        headings["missing"] = "missing"
    columns = [Column(name, heading, only="readers") for name, heading in headings.items()]

    def row(purpose: Text, rule: int = 0, **names: str) -> list[Text | None]:
        cells = {x: cell_of(study, name, {"rule": rule}) for x, name in names.items()}
        return [purpose, *(cells.get(column.name) for column in columns[1:])]

    pairs = "impostor_pairs"
    if "pairs_of_people" in study and study["pairs_of_people"] < study[pairs]:
        pairs = "pairs_of_people"
    there = "unenrolled_people" if searched else "subjects"
    rows = [row("these data", people=there, pairs=pairs)]
    purposes = "to show the target, rule of 3", "to expect 30 errors, rule of 30"
    needed = {"people": "subjects_needed", "pairs": "impostors_needed"}
    needed["missing"] = "impostors_missing"
    rows += [row(purpose, i, **needed) for i, purpose in enumerate(purposes)]
    notes: list[Text] = [
        "Lower bounds: attempts that share a person are not independent, and further templates of "
        "the same people do not count."
    ]
    if np.isfinite(study.get("people_estimated", math.nan)):
        assure = float(study.attrs["assure"])
        promise = promise_by_strict_threshold(assure)
        rows.append(row(Strong(promise), people="people_estimated"))
        at = "The strict threshold has a {far} of {rate:rate} on these data; a looser one needs "
        notes.append(say(f"{at}more people.", rate=float(study["people_far"])))
    title = say(
        "{who} needed for the {rate:term}",
        who="People" if people else "Impostor pairs",
        rate="far" if far else "frr",
    )
    yield Table("people", columns, rows, title=title, notes=notes)
    yield table_of_variables(study, "rule", id="rules")
