"""The queries of a re-identification one by one, those that fail first."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.views.tables.rows import precision_of_queries

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


def worst_first(dataset: xr.Dataset, scores: Scores) -> list[dict[str, Any]]:
    """Return what is known of each query, by rising average precision; undefined ones last."""
    order = np.argsort(precision_of_queries(dataset).values, kind="stable")
    columns = {"query": order, "label": scores.probe_labels[order]}
    columns |= {name: column[order] for name, column in scores.probe_meta.items()}
    for name, values in dataset.data_vars.items():
        if values.dims == ("probe",):
            columns[str(name)] = values.values[order]
    plain = [[_plain(x) for x in column.tolist()] for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def _plain(value: Any) -> Any:
    """Return a label or a number as JSON and CSV hold it."""
    return value if isinstance(value, (int, float, str)) else str(value)


def write_queries(queries: list[dict[str, Any]], target: Path) -> None:
    """Write the queries as CSV."""
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, queries[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(queries)
