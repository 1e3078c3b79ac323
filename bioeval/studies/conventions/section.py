"""What is said of the same scores by every card that fits: a row for each card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label
from bioeval.document.results import cell_of, data_facts, messages_of_result, result_messages
from bioeval.document.scalars import label_of
from bioeval.document.text import Text, say
from bioeval.results.variables import VARIABLES
from bioeval.studies.conventions.conventions import MEASURES, Measure

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
    """Yield a table of the cards with each task.

    Readers are not shown the rates at FAR targets that the people do not support.
    """
    missed = {
        f"{x.arguments['rate']}_at_far={target:g}"
        for x in messages_of_result(ds)
        if x.code == "target-not-supported"
        for target in x.arguments["targets"]
    }
    for task, measures in MEASURES.items():
        measures = tuple(x for x in measures if x.name in ds)
        if not measures:
            continue
        columns = [Column("card", "card")]
        for measure in measures:
            for place in _places(ds, measure):
                column = _column(measure, place, task)
                columns.append(replace(column, only="data" if column.name in missed else ""))
        rows: list[list[Text | None]] = []
        for i, card in enumerate(ds["card"].values):
            has_task = any(np.isfinite(ds[x.name].values[i]).any() for x in measures)
            if not has_task:
                continue
            row: list[Text | None] = [Label(str(card))]
            for measure in measures:
                for place in range(len(_places(ds, measure))):
                    row.append(
                        cell_of(ds, measure.name, {"card": i, measure.over: place}, shown="count")
                    )
            rows.append(row)
        shown = None if any(not x.only for x in columns[1:]) else 0
        yield Table(f"{task}_by_card", columns, rows, title=_TITLES[task], shown=shown)


def _places(ds: xr.Dataset, measure: Measure) -> list[float | None]:
    """Return the targets or ranks of a measure; None of one that has none."""
    return ds[measure.over].values.tolist() if measure.over else [None]


def _column(measure: Measure, place: float | None, task: str) -> Column:
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
