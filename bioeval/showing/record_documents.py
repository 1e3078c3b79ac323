"""Results that are records, as documents: worst pairs, ranks of the best mates, conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import xarray as xr

from bioeval.base.messages import messages_of
from bioeval.results.dataset import meta_columns
from bioeval.results.support import is_supported
from bioeval.results.variables import VARIABLES
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
from bioeval.showing.sizes import sides_in_words
from bioeval.showing.text import Enumeration, Text, labelled, say

#: The measures of each task that a card may have, and the dimension that they are over.
MEASURES_OF_CARDS = {
    "verification": {"eer": "", "frr_at_far": "far_target", "auc": ""},
    "open_set": {"dir_at_far": "far_target"},
    "closed_set": {"cms": "rank"},
    "reid": {"mean_ap": "", "mean_inp": "", "cmc": "rank", "queries": ""},
}

_PAIRS = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}

_HEADINGS = ("score", "row", "column", "try", "probe image", "probe", "gallery image", "gallery")


def worst_pairs_section(ds: xr.Dataset, _: Detail) -> Section:
    """Return what is said of the worst pairs."""
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
    """Return the pairs of a kind, the worst first."""
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        row: list[Text | None] = [cell_of(ds, "score", {"pair": i})]
        places = (ds[name].item(i) if name in ds else None for name in ("row", "column", "try"))
        row += [None if place is None else Count(place) for place in places]
        for side in ("probe", "gallery"):
            meta = {k: ds[name].values[i] for k, name in meta_columns(ds, side).items()}
            label: Text = Label(ds[f"{side}_label"].values[i])
            meta = {name: x for name, x in meta.items() if x != ""}  # what is known
            texts = [say("{name:name} {value:name}", name=k, value=x) for k, x in meta.items()]
            if texts:
                label = say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))
            # An image may be named in each column of the metadata.
            row += [Picture({name: str(x) for name, x in meta.items()}, ""), label]
        rows.append(row)
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    columns = [Column(name, name) for name in _HEADINGS]
    return Table(f"{comparison}_pairs", columns, rows, title=_PAIRS[comparison])


#: Probes that are listed, those with the worst ranks.
_LISTED = 20


def ranks_section(ds: xr.Dataset, _: Detail) -> Section:
    """Return the rank of the best mate of each probe, the worst first, and the scores beside it."""
    rows: list[tuple[Text | None, ...]] = []
    probes, ranks = ds["probe"].values.tolist(), ds["identification_rank"].values
    named = "subject" in ds
    for i in np.argsort(-ranks, kind="stable").tolist():  # probes without a rank (NaN) are last
        subject = [Label(ds["subject"].values[i].item())] if named else []
        rows.append(
            (
                Label(probes[i]),
                *subject,
                Number(float(ranks[i]), digits=6),
                Score(float(ds["mate_distance"][i])),
                Score(float(ds["nearest_other"][i])),
            )
        )
    left = len(rows) - _LISTED
    table = Table(
        "ranks",
        (
            Column("probe", "probe"),
            *([Column("subject", "subject")] if named else []),
            Column("identification_rank", "rank"),
            Column("mate_distance", "best mate"),
            Column("nearest_other", "nearest other"),
        ),
        rows[:_LISTED],
        title="Probes, the worst rank first",
        notes=(f"... and {left:,} more",) if left > 0 else (),
    )
    blocks = (
        header_of([Node("", "", "", ds)], verbose=False),
        table,
        Messages(messages_of(ds.attrs)),
    )
    return Section("ranks", "Ranks of the best mates", blocks, task="identification")


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
    blocks: list[Block] = [Facts([data, scores]), *_tables(ds, detail)]
    for why in dict.fromkeys(filter(None, ds["why_not"].values.tolist())):
        cards = ", ".join(ds["card"].values[ds["why_not"].values == why])
        text = say("Not evaluated: {cards:name} ({why:name}).", cards=cards, why=why)
        blocks.append(Paragraph(text, "note"))
    blocks.append(Messages(messages_of(ds.attrs)))
    return Section("conventions", "Conventions", blocks, task="verification")


def _tables(ds: xr.Dataset, detail: Detail) -> Iterator[Table]:
    """Yield a table of the cards with each task."""
    for task, measures in MEASURES_OF_CARDS.items():
        shown = [
            (name, over, k, place)  # a target or a rank; None where there is none
            for name, over in measures.items()
            if name in ds
            for k, place in enumerate(ds[over].values.tolist() if over else [None])
        ]
        if not shown:
            continue
        names = list(dict.fromkeys(name for name, *_ in shown))
        rows: list[list[Text | None]] = []
        for i, card in enumerate(ds["card"].values):
            if not any(np.isfinite(ds[name].values[i]).any() for name in names):
                continue  # the card has no such task
            row: list[Text | None] = [Label(str(card))]
            for name, over, k, place in shown:
                at = {"card": card, over: place}
                is_shown = detail == "all" or is_supported(ds, name, at)
                row.append(cell_of(ds, name, {"card": i, over: k}) if is_shown else None)
            if any(row[1:]):
                rows.append(row)
        columns = [_column(name, over, place, task) for name, over, _, place in shown]
        columns = [Column("card", "card"), *columns]
        yield Table(f"{task}_by_card", columns, rows, title=_TASKS[task])


def _column(name: str, over: str, place: float | None, task: str) -> Column:
    """Return the column of a measure at a place."""
    if name == "queries":
        return Column("queries", "queries")
    scalar = VARIABLES[name]
    of_task = "verification" if task == "verification" else "identification"
    if place is None:
        return Column(name, labelled(scalar.label, {}, of_task))
    if name == "cms":
        return Column(f"cms={place}", say("{cms} at rank {rank}", task=of_task, rank=place))
    where = {"target" if over == "far_target" else "rank": place}
    return Column(f"{name}={place:g}", labelled(scalar.label, where, of_task))


#: The documents by the type of their result.
OF_RECORDS: Mapping[str, Callable[[xr.Dataset, Detail], Section]] = {
    "ranks": ranks_section,
    "conventions": conventions_section,
    "worst-pairs": worst_pairs_section,
}
