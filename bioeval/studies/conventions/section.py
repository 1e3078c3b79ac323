"""What is said of the readings of a measure, those that agree with a published number first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from bioeval.base.registry import scalar_registry
from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Number, Quantity, Rate
from bioeval.document.results import data_facts, result_messages
from bioeval.document.scalars import label_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.studies.conventions.readings import RETRIEVAL
from bioeval.tasks.reid.convention import FIELDS

#: The name of each task in the title.
_TASKS = {
    "verification": "verification",
    "open_set": "open-set identification",
    "closed_set": "closed-set identification",
    "reid": "re-identification",
}

#: What differs from the base, by its code.
_DEPARTURES = {
    "card": "the card {card:name}",
    "kind": "scores taken as {scores}",
    "same-kept": "pairs of one subject and one {column} kept",
    "same-removed": "pairs of one subject and one {column} removed",
    "self-comparisons": "templates compared with themselves",
    "failed-left-out": "failed comparisons left out",
    "failed-rejected": "failed comparisons rejected",
    "single-template": "one attempt per template",
    "multi-template": "one attempt per subject, by the {chosen} of its templates",
    "pairs-once": "each pair of templates once, the {probe} one as the probe",
    "eer-hull": "EER on the convex hull of the ROC",
    "eer-middle": "EER as the middle of FVC's interval",
    "eer-mean-at-nearest": "EER as the mean of {far} and {frr} where they are nearest",
    "eer-frr-at-nearest": "EER as {frr} where {far} and {frr} are nearest",
    "eer-mean-at-strictest": "EER as the mean of {far} and {frr} at the strictest point where they "
    "are nearest",
    "eer-far-of-thinned": "EER as {far} where {far} and {frr} are nearest, at the strictest point "
    "that roc_curve keeps",
    "eer-frr-of-thinned": "EER as {frr} where {far} and {frr} are nearest, at the strictest point "
    "that roc_curve keeps",
    "eer-lines": "EER where lines between the points of the ROC cross {far} = {frr}",
    "frr-at-nearest-far": "{frr} at the point whose {far} is nearest to {target:rate}",
    "frr-interpolated": "{frr} interpolated between the points around {far} {target:rate}",
    "ties": "{ties} ties",
    "rank-unit": "ranks of {units}",
    "rank-fusion": "ranks of subjects by the {chosen} of their templates",
    "single-gallery": "one template of each subject enrolled",
    "rank-k": "lists cut at rank {rank}, AP over {over}",
}

#: Readings that the data do not support, by the column that they lack, or "pairs".
_LEFT_OUT = "Not tried: pairs of one {column}; no metadata column {column:name} on both sides."
_PAIRS = "Not tried: pairs of one session, templates, subjects; a list of pairs has none of these."


#: Rows that readers are shown, those that agree first.
MOST_SHOWN = 50

#: Variables of text.
_TEXTS = ("reading", "option", "call", "also", "departures")


def departure_in_words(departure: Mapping[str, Any]) -> Text:
    """Return what differs from the base, of a code with its arguments."""
    arguments = dict(departure)
    code = arguments.pop("code")
    if code == "retrieval":
        field, choice = arguments["field"], arguments["choice"]
        described = FIELDS[field].choices[choice]
        return f"{RETRIEVAL[field]}: {getattr(described, 'doc', described)}"
    return say(_DEPARTURES[code], **arguments)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of the readings of a measure, or of all measures of a task."""
    ds = results[""]
    measure, task = str(ds.attrs["measure"]), str(ds.attrs["evaluated"])
    title = say("Readings of {what}", what=_TASKS[task])
    blocks: list[Block] = [data_facts(results)]
    if measure:
        title = say("Readings of {measure}", measure=_label(measure))
    if ds.attrs["published"]:
        blocks.append(Paragraph(verdict(ds), "answer"))
    blocks.append(_readings(ds, measure))
    blocks += [Paragraph(text, "note") for text in _left_out(ds)]
    blocks.append(result_messages(results))
    of_searches = task in ("open_set", "closed_set")
    return Section(
        "conventions", title, blocks, task="identification" if of_searches else "verification"
    )


def verdict(ds: xr.Dataset) -> Text:
    """Return how many readings agree with the published number."""
    count = 0
    for agrees, departures in zip(ds["agrees"].values, ds["departures"].values, strict=True):
        if agrees:
            count += len(json.loads(str(departures)))
    template = (
        "{count:count readings} of {tried} agree with the published {published:name}; these data "
        "do not distinguish them."
    )
    if count == 0:
        template = (
            "No reading agrees with the published {published:name}. It may take two departures."
        )
    elif count == 1:
        template = "One of {tried} readings agrees with the published {published:name}."
    tried = Count(int(ds.attrs["readings_tried"]))
    return say(template, count=count, tried=tried, published=ds.attrs["published"])


def _left_out(ds: xr.Dataset) -> Iterator[Text]:
    """Yield the readings that the data do not support, and what is missing."""
    for what in str(ds.attrs["left_out"]).splitlines():
        yield _PAIRS if what == "pairs" else say(_LEFT_OUT, column=what)


def _readings(ds: xr.Dataset, measure: str) -> Table:
    """Return a row for each reading, with the value of the measure or of all measures."""
    columns = [
        Column("reading", only="data"),
        Column("departs", "what differs", only="readers"),
        Column("option", "option", only="data" if measure else ""),
    ]
    names = [measure]
    if measure:
        columns += [Column(measure, "value"), Column("difference", "difference")]
    else:
        names = [name for name in map(str, ds.data_vars) if f"{name}_difference" in ds]
        for name in names:
            columns.append(Column(name, _label(name)))
            columns.append(Column(f"{name}_difference", only="data"))
    if "agrees" in ds:
        columns += [Column("distance", only="data"), Column("agrees", "agrees")]
    columns += [Column(name, only="data") for name in ("call", "also", "departures")]
    rows = []
    for i in range(ds.sizes["reading"]):
        texts = {x: str(ds[x].values[i]) for x in _TEXTS}
        cells: dict[str, Text | None] = {name: Label(text) for name, text in texts.items()}
        departures = json.loads(texts["departures"])
        cells["departs"] = _departs(departures, texts["option"] if measure else "")
        if "agrees" in ds:
            cells["agrees"] = str(ds["agrees"].values[i])
            cells["distance"] = Number(float(ds["distance"].values[i]), digits=6)
        at = {"reading": texts["reading"]}
        for name in names:
            of_difference = "difference" if measure else f"{name}_difference"
            cells[name] = _cell(name, float(ds[name].values[i]), at)
            cells[of_difference] = _cell(name, float(ds[of_difference].values[i]), at, True)
        rows.append([cells[column.name] for column in columns])
    notes: list[Text] = []
    if len(rows) > MOST_SHOWN:
        shown, number = Count(MOST_SHOWN), Count(len(rows))
        template = "{shown} of {number} rows are shown; CSV and JSON have all of them."
        notes.append(say(template, shown=shown, number=number))
    return Table("readings", columns, rows, shown=MOST_SHOWN, notes=notes)


def _departs(departures: list[dict[str, Any]], option: str) -> Text:
    """Return what differs in readings with the same values, one per line."""
    first, *others = map(departure_in_words, departures)
    if option:
        first = say("{reading} ({option:name})", reading=first, option=option)
    return Enumeration([first, *(say("= {reading}", reading=x) for x in others)], "\n")


def _label(name: str) -> Text:
    """Return the label of a measure that is named as ``eer`` or ``cmc=1``."""
    stem, _, number = name.partition("=")
    scalar = scalar_registry()[stem]
    if stem == "cms":
        return say("{cms} at rank {rank}", task="identification", rank=int(number))
    if stem == "cmc":
        return label_of(scalar, rank=int(number))
    if stem == "rank_k_mean_ap":
        return label_of(scalar, rank="K")
    task = "identification" if stem == "dir_at_far" else "verification"
    if number:
        return label_of(scalar, task=task, target=float(number))
    return label_of(scalar, task=task)


def _cell(name: str, value: float, at: Mapping[str, Any], difference: bool = False) -> Quantity:
    """Return a value of a measure, or its difference from the base."""
    scalar = scalar_registry()[name.partition("=")[0]]
    if scalar.kind == "rate":
        return Rate(value, variable=name, at=at, difference=difference, decimals=3)
    decimals = scalar.decimals if isinstance(scalar.decimals, int) else 3
    return Number(value, variable=name, at=at, difference=difference, decimals=decimals)
