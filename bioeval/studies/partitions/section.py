"""What is said of the scalars of many partitions."""

from __future__ import annotations

import math
from typing import Any

import xarray as xr

from bioeval.document.blocks import Column, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import result_messages
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.text import Text, say
from bioeval.results.support import withheld_targets
from bioeval.views.sections.rows import is_identification
from bioeval.views.tasks import averaged


def section(results: ResultsBySystem) -> Section:
    """Return the mean and the range over partitions of each scalar of each task."""
    tasks = [_task(path, ds) for path, ds in results.items()]
    return Section("partitions", "", (*tasks, result_messages(results)))


def _task(path: str, ds: xr.Dataset) -> Section:
    """Return the scalars of a task."""
    rows: list[tuple[Text | None, ...]] = []
    withheld = withheld_targets(ds)
    for row in averaged(ds):
        each = row.each()
        ends = (each.min(), each.max()) if len(each) else (math.nan, math.nan)
        numbers = (row.summary("mean"), row.summary("sd"), *map(float, ends))
        is_supported = row.at.get("far_target") not in withheld
        about: dict[str, Any] = {"at": row.at, "supported": is_supported}
        cells = [cell_of_scalar(row.scalar, x, **about) for x in numbers]
        rows.append((row.name_in_text, *cells, Count(len(each), supported=is_supported)))
    title: Text = str(ds.attrs["task"])
    if path:
        title = say("{path}: {title}", path=Label(path), title=title)
    partitions = say(
        "protocol {protocol}, {number:count partitions}",
        protocol=Label(ds.attrs["protocol"]),
        number=ds.sizes["partition"],
    )
    columns = (
        Column("measure"),
        Column("mean", "mean"),
        Column("sd", "sd"),
        Column("smallest", "smallest", 1),
        Column("largest", "largest", 1),
        Column("partitions", "partitions", 2),
    )
    name = path.replace("/", "_") or "figures"
    table = Table(name, columns, rows, title=title, details=(partitions,))
    task = "identification" if is_identification(ds) else "verification"
    return Section(name, "", (table,), task=task)
