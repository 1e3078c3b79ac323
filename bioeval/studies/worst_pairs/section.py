"""What is said of the worst pairs."""

from __future__ import annotations

import xarray as xr

from bioeval.document.blocks import Block, Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Picture
from bioeval.document.results import cell_of, result_messages, table_of_variables
from bioeval.document.text import Enumeration, Text, say
from bioeval.results.dataset import meta_columns

_TITLES = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}

#: Columns for readers: data have all variables in a table of their own.
_COLUMNS = (
    Column("score", "score", only="readers"),
    Column("row", "row", 1, only="readers"),
    Column("column", "column", 1, only="readers"),
    Column("try", "try", only="readers"),
    Column("probe_image", "probe image", only="page"),
    Column("probe", "probe", only="readers"),
    Column("gallery_image", "gallery image", only="page"),
    Column("gallery", "gallery", only="readers"),
)


def section(results: ResultsBySystem) -> Section:
    """Return what is said of the worst pairs."""
    ds = results[""]
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
    rows: list[list[Text | None]] = []
    for i in (ds["comparison"].values == comparison).nonzero()[0].tolist():
        row = [
            cell_of(ds, name, {"pair": i}, shown="6") for name in ("score", "row", "column", "try")
        ]
        for side in ("probe", "gallery"):
            meta = {k: ds[name].values[i] for k, name in meta_columns(ds, side).items()}
            label: Text = Label(ds[f"{side}_label"].values[i])
            texts = [say("{name:name} {value:name}", name=k, value=x) for k, x in meta.items()]
            if texts:
                label = say("{label} ({meta})", label=label, meta=Enumeration(texts, ""))
            # An image may be named in each column of the metadata.
            row += [Picture({name: str(x) for name, x in meta.items()}, ""), label]
        rows.append(row)
    if not rows:
        return Paragraph(f"There is no {comparison} pair.")
    return Table(f"{comparison}_pairs", _COLUMNS, rows, title=_TITLES[comparison])
