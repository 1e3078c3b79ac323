"""Results that are records, as documents: worst pairs, ranks of the best mates, conventions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import messages_of
from bioeval.results.dataset import meta_columns
from bioeval.showing.blocks import (
    Block,
    Column,
    Detail,
    Fact,
    Facts,
    Messages,
    Paragraph,
    Section,
    Table,
)
from bioeval.showing.cells import Count, Label, Number, Picture, Score, cell_of
from bioeval.showing.header import data_fact, header_of, scores_in_words
from bioeval.showing.nodes import Node
from bioeval.showing.rows import rows_of
from bioeval.showing.sizes import sides_in_words
from bioeval.showing.tables import tables_of
from bioeval.showing.text import Enumeration, Text, say

#: Titles of the tables of worst pairs, by the kind of comparison.
_PAIRS = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}

#: Headings of the tables of worst pairs.
_HEADINGS = ("score", "row", "column", "try", "probe image", "probe", "gallery image", "gallery")


def worst_pairs_section(ds: xr.Dataset, _: Detail) -> Section:
    listed = {
        "each pair once": "each pair of templates is listed once, in its worse direction",
        "each comparison": "each comparison is listed",
    }[str(ds.attrs["pairs"])]
    text = "Row and column are positions in the matrix, from 0; {listed}."
    if "try" in ds:
        text += (
            " Try: the nearest of the attempt, which decided, as a row of the matrix that claims "
            "were made of."
        )
    places = say(text, listed=listed)
    blocks = (
        Paragraph(places, "note"),
        *(_pairs(ds, comparison) for comparison in _PAIRS),
        Messages(messages_of(ds.attrs)),
    )
    return Section("worst_pairs", "", blocks, task="verification")


def _pairs(ds: xr.Dataset, comparison: str) -> Block:
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        cells: dict[str, Text | None] = {"score": cell_of(ds, "score", {"pair": i})}
        for place in ("row", "column", "try"):
            cells[place] = Count(ds[place].item(i)) if place in ds else None
        for side in ("probe", "gallery"):
            cells[f"{side} image"], cells[side] = _template_cells(ds, side, i)
        rows.append([cells[heading] for heading in _HEADINGS])
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    columns = [Column(name, name) for name in _HEADINGS]
    return Table(f"{comparison}_pairs", columns, rows, title=_PAIRS[comparison])


def _template_cells(ds: xr.Dataset, side: str, pair: int) -> tuple[Picture, Text]:
    values = {name: ds[x].values[pair] for name, x in meta_columns(ds, side).items()}
    meta = {name: value for name, value in values.items() if value != ""}
    # Any column of the metadata may hold the name of an image.
    picture = Picture({name: str(value) for name, value in meta.items()}, "")
    label = Label(ds[f"{side}_label"].values[pair])
    if not meta:
        return picture, label
    texts = [say("{name:name} {value:name}", name=x, value=value) for x, value in meta.items()]
    return picture, say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))


#: Probes that are listed, those with the worst ranks.
_LISTED = 20

#: Columns of ranks: the heading, and what a value is.
_RANKS: Mapping[str, tuple[str, Callable[[Any], Text]]] = {
    "probe": ("probe", Label),
    "subject": ("subject", Label),
    "identification_rank": ("rank", partial(Number, digits=6)),
    "mate_distance": ("best mate", Score),
    "nearest_other": ("nearest other", Score),
}


def ranks_section(ds: xr.Dataset, _: Detail) -> Section:
    """Return the rank of the best mate of each probe, the worst first, and the scores beside it."""
    order = np.argsort(-ds["identification_rank"].values, kind="stable")  # NaN, no rank, is last
    columns, cells = [], []
    for name, (heading, kind) in _RANKS.items():
        if name in ds:
            columns.append(Column(name, heading))
            cells.append(map(kind, ds[name].values[order[:_LISTED]].tolist()))
    rows = [*zip(*cells, strict=True)]
    more = [f"... and {order.size - _LISTED:,} more"] if order.size > _LISTED else []
    table = Table("ranks", columns, rows, title="Probes, the worst rank first", notes=more)
    header = header_of([Node("", "", "", ds)])
    blocks = (header, table, Messages(messages_of(ds.attrs)))
    return Section("ranks", "Ranks of the best mates", blocks, task="identification")


#: The measures of each task that a card may have, and the dimension that they are over.
MEASURES_OF_CARDS = {
    "verification": {"eer": "", "frr_at_far": "far_target", "auc": ""},
    "open_set": {"dir_at_far": "far_target"},
    "closed_set": {"cms": "rank"},
    "reid": {"mean_ap": "", "mean_inp": "", "cmc": "rank", "queries": ""},
}

#: Titles of the tables of conventions.
_TASKS = {
    "verification": "Verification",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


def conventions_section(ds: xr.Dataset, detail: Detail) -> Section:
    """Return a table for each task, and the cards that could not be evaluated."""
    data = data_fact([str(ds.attrs.get("system", ""))], sides_in_words(ds.attrs))
    scores = Fact("Scores", scores_in_words(str(ds.attrs.get("kind", ""))))
    blocks: list[Block] = [Facts([data, scores])]
    rows = [*rows_of(Node("", "", "", ds), data=True)]
    for task, measures in MEASURES_OF_CARDS.items():
        of_task = [row for row in rows if row.measure in measures]
        shown = [row for row in of_task if detail == "all" or row.supported is not False]
        tables = [replace(x, title=_TASKS[task]) for x in tables_of(shown, task)]
        task_of_words = "verification" if task == "verification" else "identification"
        blocks.append(Section(task, "", tables, task=task_of_words))
    for why in dict.fromkeys(filter(None, ds["why_not"].values.tolist())):
        cards = ", ".join(ds["card"].values[ds["why_not"].values == why])
        text = say("Not evaluated: {cards:name} ({why:name}).", cards=cards, why=why)
        blocks.append(Paragraph(text, "note"))
    blocks.append(Messages(messages_of(ds.attrs)))
    return Section("conventions", "Conventions", blocks, task="verification")


#: The documents by the type of their result.
OF_RECORDS: Mapping[str, Callable[[xr.Dataset, Detail], Section]] = {
    "ranks": ranks_section,
    "conventions": conventions_section,
    "worst-pairs": worst_pairs_section,
}
