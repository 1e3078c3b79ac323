"""The targets of tracking as a document: a row for each."""

from __future__ import annotations

import xarray as xr

from bioeval.document.blocks import Column, Section, Table
from bioeval.document.cells import Label
from bioeval.document.results import cell_of

#: Headings of the columns, and the variables below them.
_COLUMNS = {
    "frames": "frames_present",
    "covered": "frames_covered",
    "coverage": "coverage",
    "IDSW": "target_switches",
    "frag.": "target_fragmentations",
    "state": "state",
}


def targets_section(dataset: xr.Dataset) -> Section:
    """Return how well each target is tracked."""
    rows = [
        [Label(name), *(cell_of(dataset, x, {"target": i}) for x in _COLUMNS.values())]
        for i, name in enumerate(dataset["target"].values.tolist())
    ]
    columns = [Column("target", "target"), *(Column(x, x) for x in _COLUMNS)]
    return Section("targets", "Targets", [Table("targets", columns, rows)])
