"""Scalars in a document: their labels as text, and their values as cells."""

from __future__ import annotations

from typing import Any

from bioeval.base.scalars import Scalar
from bioeval.document.cells import Count, Number, Quantity, Rate, Score
from bioeval.document.text import Phrase, Text

#: What the places of a label are, by their names in it.
_PLACES = {"target": Rate, "rank": Count, "threshold": Score}


def label_of(scalar: Scalar, *, task: str = "", **places: Any) -> Phrase:
    """Return the label of a scalar with its places: a ``target``, ``prior``, ``rank``, ``level``.

    Its rates are of the `task`, or of that of the section.
    """
    typed: dict[str, Text] = {}
    for name, value in places.items():
        if isinstance(value, str):  # of lists that are cut at K
            typed[name] = value
        elif name in _PLACES:
            typed[name] = _PLACES[name](value)
        else:
            typed[name] = Number(value, digits=6)
    return Phrase(scalar.template or scalar.label, typed, task)


def cell_of_scalar(
    scalar: Scalar, value: float, *, attempts: int | None = None, **more: Any
) -> Quantity:
    """Return a value of a scalar as a cell: a rate, or a number with its decimals.

    `more` are other fields of the cell, such as ``interval`` and ``at``.
    """
    more.setdefault("variable", scalar.name)
    if scalar.percent:
        return Rate(value, attempts=attempts, **more)
    decimals = scalar.decimals if isinstance(scalar.decimals, int) else 2
    return Number(value, decimals=decimals, proportion=scalar.bounds == (0.0, 1.0), **more)
