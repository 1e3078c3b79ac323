"""What is said of the worst pairs."""

from __future__ import annotations

from typing import Literal

import xarray as xr

from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number, Picture, Score
from bioeval.document.results import result_messages, table_of_variables
from bioeval.document.text import Enumeration, Text, say

_TITLES = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of the worst pairs."""
    ds = results[""]
    listed = {
        "each pair once": "each pair of templates is listed once, in its worse direction",
        "each comparison": "each comparison is listed",
    }[str(ds.attrs["pairs"])]
    places = say("Row and column are positions in the matrix, from 0; {listed}.", listed=listed)
    blocks = (
        Paragraph(places, "note"),
        *(_pairs(ds, comparison) for comparison in _TITLES),
        table_of_data(ds),
        result_messages(results),
    )
    return Section("worst_pairs", "", blocks, task="verification")


def table_of_data(ds: xr.Dataset) -> Table:
    """Return the pairs with all their variables."""
    return table_of_variables(ds, "pair", id="worst_pairs")


def _pairs(ds: xr.Dataset, comparison: str) -> Block:
    """Return the pairs of a kind, the worst first."""
    rows: list[tuple[Text | None, ...]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        score = Score(float(ds["score"][i]), variable="score", at={"pair": i})
        row, column = (_position(ds, side, i) for side in ("row", "column"))
        probe, gallery = _template(ds, "probe", i), _template(ds, "gallery", i)
        rows.append(
            (
                score,
                row,
                column,
                _image(ds, "probe", i),
                probe,
                _image(ds, "gallery", i),
                gallery,
            )
        )
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    return Table(
        f"{comparison}_pairs",
        _columns("score", "row", "column", "probe image", "probe", "gallery image", "gallery"),
        rows,
        title=_TITLES[comparison],
    )


def _columns(*headings: str) -> tuple[Column, ...]:
    """Return columns for readers: data have all variables in tables of their own."""
    columns = []
    for heading in headings:
        only: Literal["page", "readers"] = "page" if heading.endswith("image") else "readers"
        priority = int(heading in ("row", "column"))
        columns.append(Column(heading.replace(" ", "_"), heading, priority, only=only))
    return tuple(columns)


def _image(ds: xr.Dataset, side: str, i: int) -> Picture:
    """Return the image of a template: its name in each column of its metadata."""
    start = f"{side}_meta_"
    names = {
        name.removeprefix(start): str(ds[name].values[i])
        for name in map(str, ds.data_vars)
        if name.startswith(start)
    }
    return Picture(names, "")


def _position(ds: xr.Dataset, variable: str, i: int) -> Number:
    return Number(int(ds[variable][i]), decimals=0, variable=variable)


def _template(ds: xr.Dataset, side: str, i: int) -> Text:
    """Return the label of a template, with its metadata behind."""
    label = Label(ds[f"{side}_label"].values[i])
    start = f"{side}_meta_"
    meta = [name for name in map(str, ds.data_vars) if name.startswith(start)]
    texts = [
        say("{name:name} {value:name}", name=name.removeprefix(start), value=ds[name].values[i])
        for name in meta
    ]
    if not texts:
        return label
    return say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))
