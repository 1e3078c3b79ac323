"""What is said of the scalars of many partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bioeval.document.blocks import Column, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import result_messages
from bioeval.document.text import Text, say
from bioeval.views.sections.summary import figures, task_of_rates
from bioeval.views.tasks import report_ranks


def section(results: ResultsBySystem) -> Section:
    """Return the mean and the range over partitions of each figure of each task."""
    tasks = [_task(path, ds) for path, ds in results.items()]
    return Section("partitions", "", (*tasks, result_messages(results)))


def _task(path: str, ds: xr.Dataset) -> Section:
    """Return the figures of a task."""
    rows: list[tuple[Text | None, ...]] = []
    for figure in figures(_numbers(ds)):
        defined = figure.value[~np.isnan(figure.value)]
        mean = sd = smallest = largest = np.nan
        if len(defined):
            mean, smallest, largest = defined.mean(), defined.min(), defined.max()
        if len(defined) > 1:
            sd = defined.std(ddof=1)
        cells = (figure.cell(float(x)) for x in (mean, sd, smallest, largest))
        rows.append((figure.label, *cells, Count(len(defined))))
    title: Text = str(ds.attrs["task"])
    if path:
        title = say("{path}: {title}", path=Label(path), title=title)
    partitions = say(
        "protocol {protocol}, {number:count partitions}",
        protocol=Label(ds.attrs["protocol"]),
        number=ds.sizes["partition"],
    )
    table = Table(
        path.replace("/", "_") or "figures",
        (
            Column("measure"),
            Column("mean", "mean"),
            Column("sd", "sd"),
            Column("smallest", "smallest", 1),
            Column("largest", "largest", 1),
            Column("partitions", "partitions", 2),
        ),
        rows,
        title=title,
        details=(partitions,),
    )
    return Section(table.id, "", (table,), task=task_of_rates(path))


def _numbers(ds: xr.Dataset) -> dict[str, Any]:
    """Return the values over partitions by name, and those at targets, ranks and costs by these."""
    numbers: dict[str, Any] = {}
    for name, values in ds.data_vars.items():
        if values.dims[:1] != ("partition",) or "threshold" in values.dims:
            continue
        numbers[str(name)] = values.values
        for dim in values.dims[1:]:
            labels = ds["cost_prior" if dim == "cost" else dim].values.tolist()
            numbers[str(name)] = dict(zip(labels, values.values.T, strict=True))
            if dim == "rank" and len(labels) > 1:
                shown = report_ranks(ds)
                numbers[str(name)] = {k: x for k, x in numbers[str(name)].items() if k in shown}
    return numbers
