"""Documents of records: worst pairs, ranks of the best mates, and conventions.

Records are results with a row of several values for each pair, probe or card, and no numbers of a
task. :data:`OF_RECORDS` has the function that makes the document of each type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import xarray as xr

from bioeval.base.errors import messages_of
from bioeval.results.dataset import meta_columns
from bioeval.showing.header import data_fact, header_of, scores_in_words, sides_in_words
from bioeval.showing.nodes import Node
from bioeval.showing.rows import rows_of
from bioeval.showing.tables import tables_of
from bioeval.showing.text import (
    Block,
    Column,
    Count,
    Detail,
    Enumeration,
    Facts,
    Label,
    Messages,
    Paragraph,
    Picture,
    Section,
    Table,
    Text,
    cell_of,
    cell_of_number,
    say,
)

#: Titles of the tables of worst pairs, by the kind of comparison.
_PAIRS = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}

#: Headings of the tables of worst pairs.
_HEADINGS = ("score", "row", "column", "try", "probe image", "probe", "gallery image", "gallery")


def worst_pairs_section(ds: xr.Dataset, _: Detail) -> Section:
    pairs_in_words = {
        "each pair once": "each pair of templates is listed once, in its worse direction",
        "each comparison": "each comparison is listed",
    }
    text = "Row and column are positions in the matrix, from 0; {listed}."
    if "try" in ds:
        text += (
            " Try: the nearest of the attempt, which decided, as a row of the matrix that claims "
            "were made of."
        )
    note = say(text, listed=pairs_in_words[str(ds.attrs["pairs"])])
    blocks = (
        Paragraph(note, "note"),
        *(_pairs(ds, comparison) for comparison in _PAIRS),
        Messages(messages_of(ds.attrs)),
    )
    return Section("worst_pairs", "", blocks, task="verification")


def _pairs(ds: xr.Dataset, comparison: str) -> Block:
    """Return the table of the genuine or of the impostor pairs, in the order of the result."""
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        cells: dict[str, Text | None] = {"score": cell_of(ds, "score", {"pair": i})}
        for place in ("row", "column", "try"):
            cells[place] = Count(ds[place].item(i)) if place in ds else None
        for side in ("probe", "gallery"):
            metadata = {name: ds[x].values[i] for name, x in meta_columns(ds, side).items()}
            metadata = {name: value for name, value in metadata.items() if value != ""}
            # Any column of the metadata may hold the name of an image.
            names_of_images = {name: str(value) for name, value in metadata.items()}
            cells[f"{side} image"] = Picture(names_of_images)
            label = Label(ds[f"{side}_label"].values[i])
            cells[side] = label
            if metadata:
                texts = [
                    say("{name:name} {value:name}", name=name, value=value)
                    for name, value in metadata.items()
                ]
                cells[side] = say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))
        rows.append([cells[heading] for heading in _HEADINGS])
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    columns = [Column(name, name) for name in _HEADINGS]
    return Table(f"{comparison}_pairs", columns, rows, title=_PAIRS[comparison])


#: Probes that are listed, those with the worst ranks.
_LISTED = 20


def ranks_section(ds: xr.Dataset, _: Detail) -> Section:
    """Return the rank of the best mate of each probe, the worst first, and the scores beside it."""
    order = np.argsort(-ds["identification_rank"].values, kind="stable")  # NaN, no rank, is last
    columns: list[Column] = []
    cells_of_columns: list[list[Text]] = []
    # What names a probe comes before its numbers, which have units: False sorts before True.
    for name in ("probe", *sorted(ds.data_vars, key=lambda x: "units" in ds[x].attrs)):
        about = ds[name].attrs
        if not about.get("label"):
            continue
        columns.append(Column(str(name), about["label"]))
        values = ds[name].values[order[:_LISTED]].tolist()
        if name == "probe" or "units" not in about:
            cells_of_columns.append([Label(value) for value in values])
        else:
            cells_of_columns.append([cell_of_number(value, about) for value in values])
    rows = list(zip(*cells_of_columns, strict=True))
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
    scores = "Scores", scores_in_words(str(ds.attrs.get("kind", "")))
    blocks: list[Block] = [Facts([data, scores])]
    rows = [*rows_of(Node("", "", "", ds), data=True)]
    for task, measures in MEASURES_OF_CARDS.items():
        of_task = [row for row in rows if row.measure in measures]
        shown = [row for row in of_task if detail == "all" or row.supported is not False]
        tables = [replace(x, title=_TASKS[task]) for x in tables_of(shown, task)]
        task_of_words = "verification" if task == "verification" else "identification"
        blocks.append(Section(task, "", tables, task=task_of_words))
    reasons = ds["why_not"].values  # "" for cards that were evaluated
    for why in dict.fromkeys(reason for reason in reasons.tolist() if reason):
        cards = ", ".join(ds["card"].values[reasons == why])
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
