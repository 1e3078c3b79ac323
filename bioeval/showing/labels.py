"""The labels of rows and columns: a template of the description, with the place of the number."""

from __future__ import annotations

import string
from collections.abc import Hashable, Mapping
from typing import Any

from bioeval.showing.cells import Count, Label, Number, Rate, Threshold
from bioeval.showing.rows import Row
from bioeval.showing.terms import template_of
from bioeval.showing.text import Explained, Phrase, Text, fields_of, say


def label_of(row: Row, *, without: str = "", with_also: bool = True) -> Text:
    """Return the label of a number with its point and its rank, explained by its long name.

    `without` is the dimension of the point where rows of the table have it; another name in use
    is behind it `with_also`.
    """
    of_measure = row.node.dataset.variables.get(row.measure) if row.statistic else None
    about = row.about
    if of_measure is not None and "label" not in about:
        about = of_measure.attrs
    template = str(about.get("label") or row.measure.replace("_", " "))
    fields = fields_of(template)
    places: dict[str, Any] = {}
    if "rank" in row.places and without != "rank":
        places["rank"] = Count(row.places["rank"])
    if row.at and row.at != without:
        places[_place_of(row.at)] = cell_of_point(row.at, row.point)
    for name in places:
        if name not in fields:
            before = " at" if name == "threshold" else ","
            template += f"{before} {name.replace('_', ' ')} {{{name}}}"
    for name in fields:
        if name in ("target", "rank", "level", "prior", "threshold") and name not in places:
            cut = row.node.dataset.attrs.get(f"{name}_k")
            at_no_rank = "K" if name == "rank" else _EVERY_PLACE[name]
            places[name] = at_no_rank if cut is None else Count(int(cut))
    task = _task_of(template)
    label = Phrase(template, places, task)
    also = _also(row) if with_also else ""
    text = say("{label} ({also})", label=label, also=also) if also else label
    return Explained(text, say(template_of(str(about.get("long_name", ""))), task=task))


def _task_of(template: str) -> str:
    """Return the task of the rates of a label: a comparison has rates of several tasks."""
    return "" if {"dir", "cms"}.isdisjoint(fields_of(template)) else "identification"


#: The places of a label where it stands for all of them.
_EVERY_PLACE = {"target": "target", "prior": "p", "rank": "R", "level": "r", "threshold": "T"}


def label_of_measure(row: Row) -> Phrase:
    """Return the label of a measure at any target and rank."""
    template = str(row.about.get("label") or row.measure.replace("_", " "))
    places = {x: y for x, y in _EVERY_PLACE.items() if x in fields_of(template)}
    return Phrase(template, places, _task_of(template))


def _place_of(at: str) -> str:
    """Return the name that labels have for the dimension of a point."""
    if at.endswith("_target"):
        return "target"
    return "level" if at == "recall_level" else at


def label_of_place(coordinates: Mapping[Hashable, Any], dim: str, label: Any) -> Text:
    """Return a label of a dimension as tables have it."""
    about = coordinates[dim].attrs if dim in coordinates else {}
    text = about.get(f"label_{label}")
    if text is not None:
        return say(text)
    place = cell_of_point(dim, label)
    # A target is exact, and is not rounded as the numbers of a column are.
    return say("{place}", place=place) if isinstance(place, Rate) else place


def cell_of_point(at: str, point: Any) -> Text:
    """Return the label of a place along a dimension as a cell."""
    if isinstance(point, str):
        return Label(point)
    if at.endswith("_target"):
        return Rate(point, digits=6)
    if at == "threshold":
        return Threshold(point)
    if isinstance(point, float):
        return Number(point, digits=6)
    return Label(point)


def _also(row: Row) -> str:
    """Return another name in use, at rank 1 only; of several names, the name with 1 / target."""
    if row.places.get("rank", 1) != 1:
        return ""
    names = str(row.about.get("also", "")).split()
    if len(names) < 2 or not row.at:
        return " ".join(names)
    inverse = f"{1 / row.point:.12g}" if row.point > 0 else ""
    several_tries = int(row.node.dataset.attrs.get("most_tries", 1)) > 1
    named = (x for x in names if x.lstrip(string.ascii_letters) == inverse and not several_tries)
    return next(named, "")
