"""Scalars in a document: their labels as text, and their values as cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bioeval.document.cells import Cost, Count, Number, Quantity, Rate, Score, Threshold
from bioeval.document.terms import RATES
from bioeval.document.text import Enumeration, Phrase, Text
from bioeval.results.variables import Variable

#: What the places of a label are, by their names in it.
_PLACES: dict[str, Callable[[Any], Text]] = {
    "target": Rate,
    "rank": Count,
    "threshold": Threshold,
}


def label_of(scalar: Variable, *, task: str = "", **places: Any) -> Phrase:
    """Return the label of a scalar with its places: a ``target``, ``prior``, ``rank``, ``level``.

    Its rates are of the `task`, or of that of the section.
    """
    return _label(scalar.label, task, places)


def measures_in_words(measures: Sequence[Mapping[str, Any]]) -> Enumeration:
    """Return the labels of measures in a row, those of one measure at several targets as one.

    Each has its name, ``measure``, its ``label`` and its places, perhaps the ``task`` of its rates.
    """
    labels: list[Text] = []
    for _, group in itertools.groupby(measures, lambda x: (x["measure"], "target" in x)):
        each = list(group)
        if "target" in each[0]:
            targets = Enumeration([Rate(x["target"], variable="target") for x in each])
            each = [{**each[0], "target": targets}]
        for x in each:
            places = {k: v for k, v in x.items() if k not in ("measure", "label", "task")}
            labels.append(_label(x["label"], x.get("task", "verification"), places))
    return Enumeration(labels, ";")


def _label(label: str, task: str, places: Mapping[str, Any]) -> Phrase:
    typed: dict[str, Text] = {}
    for name, value in places.items():
        if isinstance(value, str | Enumeration):  # of lists that are cut at K; several targets
            typed[name] = value
        elif name in _PLACES:
            typed[name] = _PLACES[name](value)
        else:
            typed[name] = Number(value, digits=6)
    return Phrase(label, typed, task)


def name_of_scalar(scalar: Variable, **places: Any) -> str:
    """Return the label of a scalar as plain text in the lecture's words: its name in data."""
    terms = {name: name.upper() for rates in RATES.values() for name in rates}
    return scalar.label.format(**terms, **places)


def cell_of_scalar(
    scalar: Variable, value: float, *, attempts: int | None = None, **more: Any
) -> Quantity:
    """Return a value of a scalar as a cell of its kind; numbers and costs have its decimals.

    `more` are other fields of the cell, such as ``interval`` and ``at``.
    """
    more.setdefault("variable", scalar.name)
    match scalar.kind:
        case "rate":
            return Rate(value, attempts=attempts, **more)
        case "score":
            return Score(value, **more)
        case "count":
            return Count(value, **more)
    number = Cost if scalar.kind == "cost" else Number
    decimals = 2 if scalar.decimals is None else scalar.decimals
    return number(value, decimals=decimals, proportion=scalar.bounds == (0.0, 1.0), **more)
