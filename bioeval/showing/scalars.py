"""Scalars in a document: their labels as text, and their values as cells."""

from __future__ import annotations

from typing import Any

from bioeval.results.variables import Variable
from bioeval.showing.terms import RATES
from bioeval.showing.text import Phrase, labelled


def label_of(scalar: Variable, *, task: str = "", **places: Any) -> Phrase:
    """Return the label of a scalar with its places: a ``target``, ``prior``, ``rank``, ``level``.

    Its rates are of the `task`, or of that of the section.
    """
    return labelled(scalar.label, places, task)


def name_of_scalar(scalar: Variable, **places: Any) -> str:
    """Return the label of a scalar as plain text in the lecture's words: its name in data."""
    terms = {name: name.upper() for rates in RATES.values() for name in rates}
    return scalar.label.format(**terms, **places)
