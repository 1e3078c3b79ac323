"""What is said of the same scores by every card that fits: a row for each card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Quantity
from bioeval.document.results import cell_of, data_facts, result_messages
from bioeval.document.scalars import label_of
from bioeval.document.text import Text, say
from bioeval.results.support import withheld_targets
from bioeval.results.variables import VARIABLES
from bioeval.studies.conventions.conventions import FAR_TARGETS, MEASURES, CardMeasure

_TITLES = {
    "verification": "Verification",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


def section(results: ResultsBySystem) -> Section:
    """Return a table for each task, and the cards that could not be evaluated."""
    ds = results[""]
    blocks: list[Block] = [data_facts(results), *_tables(ds)]
    for why in dict.fromkeys(filter(None, ds["why_not"].values.tolist())):
        cards = ", ".join(ds["card"].values[ds["why_not"].values == why])
        text = say("Not evaluated: {cards:name} ({why:name}).", cards=cards, why=why)
        blocks.append(Paragraph(text, "note"))
    blocks.append(result_messages(results))
    return Section("conventions", "Conventions", blocks, task="verification")


def _tables(ds: xr.Dataset) -> Iterator[Table]:
    """Yield a table of the cards with each task."""
    for task, measures in MEASURES.items():
        measures = tuple(x for x in measures if x.name in ds)
        if not measures:
            continue
        columns = [Column("card", "card")]
        unsupported = set[tuple[str, float | None]]()
        for measure in measures:
            for place in _places(ds, measure):
                columns.append(_column(measure, place, task))
            withheld = withheld_targets(ds, FAR_TARGETS, measure.name.partition("_")[0])
            unsupported |= {(measure.name, target) for target in withheld}
        rows: list[list[Text | None]] = []
        for i, card in enumerate(ds["card"].values):
            has_task = any(np.isfinite(ds[x.name].values[i]).any() for x in measures)
            if not has_task:
                continue
            row: list[Text | None] = [Label(str(card))]
            for measure in measures:
                for k, place in enumerate(_places(ds, measure)):
                    cell = cell_of(ds, measure.name, {"card": i, measure.over: k}, shown="count")
                    if isinstance(cell, Quantity):
                        cell = replace(cell, supported=(measure.name, place) not in unsupported)
                    row.append(cell)
            rows.append(row)
        yield Table(f"{task}_by_card", columns, rows, title=_TITLES[task])


def _places(ds: xr.Dataset, measure: CardMeasure) -> list[float | None]:
    """Return the targets or ranks of a measure; None of one that has none."""
    return ds[measure.over].values.tolist() if measure.over else [None]


def _column(measure: CardMeasure, place: float | None, task: str) -> Column:
    """Return the column of a measure at a place."""
    if measure.name == "queries":
        return Column("queries", "queries")
    scalar = VARIABLES[measure.name]
    of_task = "verification" if task == "verification" else "identification"
    if place is None:
        return Column(measure.name, label_of(scalar, task=of_task))
    if measure.name == "cms":
        return Column(f"cms={place}", say("{cms} at rank {rank}", task=of_task, rank=place))
    where = {"target" if measure.over == "far_target" else "rank": place}
    return Column(f"{measure.name}={place:g}", label_of(scalar, task=of_task, **where))
