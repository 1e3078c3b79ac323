"""Statistics over partitions, folds or galleries, of :func:`bioeval.aggregate`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from bioeval.document.blocks import Column, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label
from bioeval.document.results import result_messages
from bioeval.document.scalars import cell_of_scalar
from bioeval.document.text import Text, say
from bioeval.results.support import is_supported
from bioeval.results.variables import Variable
from bioeval.views.sections.rows import is_identification
from bioeval.views.tasks import figure_scalars, places_of, values_at

#: Which columns go first where there is no room for all of them.
_DROPPED = {"mean": 0, "sd": 0, "low": 0, "high": 0, "se": 3, "median": 2, "number": 2}


def statistics_section(results: ResultsBySystem) -> Section:
    """Return the statistics of each scalar of each task."""
    tasks = [_task(path, ds) for path, ds in results.items()]
    return Section("statistics", "", (*tasks, result_messages(results)))


def _task(path: str, ds: xr.Dataset) -> Section:
    labels = ds["statistic"].values.tolist()
    has_limits = any(f"{name}_low" in ds for name in figure_scalars())
    rows: list[tuple[Text | None, ...]] = []
    for scalar, text, places in _scalars(ds):
        at = {dim: label for dim, (_, label) in places.items()}
        about: dict[str, Any] = {"at": at, "supported": is_supported(ds, scalar.name, at)}
        index = {dim: place for dim, (place, _) in places.items()}
        values = [float(x) for x in values_at(ds[scalar.name].variable, index)]
        if has_limits:
            ends = (f"{scalar.name}_{end}" for end in ("low", "high"))
            values += [
                float(values_at(ds[end].variable, index)) if end in ds else np.nan for end in ends
            ]
        cells: list[Text] = []
        for label, value in zip([*labels, "low", "high"], values, strict=False):
            is_number = label == "number"
            cells.append(Count(value) if is_number else cell_of_scalar(scalar, value, **about))
        rows.append((text, *cells))
    title: Text = str(ds.attrs["task"])
    if path:
        title = say("{path}: {title}", path=Label(path), title=title)
    names = [*labels, *(("low", "high") if has_limits else ())]
    columns = (Column("measure"), *(Column(name, name, _DROPPED.get(name, 1)) for name in names))
    name = path.replace("/", "_") or "figures"
    table = Table(name, columns, rows, title=title)
    task = "identification" if is_identification(ds) else "verification"
    return Section(name, "", (table,), task=task)


def _scalars(ds: xr.Dataset) -> Iterator[tuple[Variable, Text, dict[str, tuple[int, Any]]]]:
    """Yield each scalar with its label at each place: target, rank, part of folds, and others."""
    for name, scalar in figure_scalars().items():
        if name not in ds or "statistic" not in ds[name].dims or "threshold" in ds[name].dims:
            continue
        if name == "recognition_rate" and "rank" in ds.coords and 1 in ds["rank"].values:
            continue  # a row of CMS
        for text, at in places_of(ds, scalar):
            others = [str(dim) for dim in ds[name].dims if dim != "statistic" and dim not in at]
            every = (enumerate(ds[dim].values.tolist()) for dim in others)
            for labels in itertools.product(*every):
                more: Text = text
                for _, label in labels:
                    more = say("{text}, {label}", text=more, label=Label(str(label)))
                yield scalar, more, at | dict(zip(others, labels, strict=True))
