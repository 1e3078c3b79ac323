"""The table of the rates at the threshold of a page, with their texts at each of its points."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from bioeval.base.errors import printable
from bioeval.page.sections import PageLines
from bioeval.page.threshold import RATES, Moving
from bioeval.showing.cells import Quantity
from bioeval.showing.text import Term, Text, say
from bioeval.showing.writers.numbers import printed

_THRESHOLD = "threshold"


def rates_table(control: Moving, is_of_several: bool, lines: PageLines) -> dict[str, Any]:
    """Return the table of the control: a row for each system, or each task of a single system."""
    curves = control.first_curves if is_of_several else [*control.rows]
    keys: dict[str, Any] = {"system": lambda curve: curve.system} if is_of_several else {}
    if len({x.node.task for x in curves}) > 1:
        keys["task"] = lambda curve: str(curve.dataset.attrs["task"])
    rows = []
    for number, curve in enumerate(curves):
        points = control.cells(curve)
        cells = []
        for name in (_THRESHOLD, *RATES):
            texts = [_text_of(x.get(name), lines) for x in points]
            cells.append((f"cell-{number}-{name}", texts))
        names = [escape(printable(key(curve))) for key in keys.values()]
        rows.append({"names": names, "cells": cells})
    heads = [*keys, _THRESHOLD, *(lines.write(Term(x)) for x in RATES)]
    note = " ".join(map(lines.write, _notes(control, is_of_several)))
    return {"heads": heads, "rows": rows, "start": control.start, "note": note}


def _text_of(cell: Quantity | None, lines: PageLines) -> str:
    """Return a number as text whose only line break is before its interval."""
    text = "" if cell is None else lines.number(printed(cell).text)
    return text.replace(" %", "\u00a0%").replace(", ", ",\u00a0")


def _notes(control: Moving, is_of_several: bool) -> Iterator[Text]:
    opening = control.opening
    if is_of_several and opening.of_study:
        yield "Each system is at the threshold of its own study."
        if opening.about_target:
            yield opening.about_target
    elif is_of_several and control.is_given:
        yield "All systems are at the threshold that was given."
    elif is_of_several and {x.system for x in control.rows} == {*control.stated}:
        yield "Each system is at the threshold of its own results."
    elif is_of_several:
        yield say(
            "Each system is at its own threshold: {leader:name} at {why}, the others at the "
            "loosest with this {far}.",
            leader=control.leader.system,
            why=opening.why,
        )
    dataset = control.leader.dataset
    if "far_low" in dataset:
        yield say(
            "In brackets: {level:rate} intervals at this very threshold; those of {frr} at a "
            "{far} allow for another choice of it.",
            level=float(dataset.attrs.get("confidence", 0.95)),
        )
