"""Results as plain values: documents and the columns of tables."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from bioeval.cli.options import warnings_of

if TYPE_CHECKING:
    import xarray as xr


def attributes(ds: xr.Dataset, file: str) -> dict[str, Any]:
    """Return the file, the attributes and the scalars of a result, warnings as a list."""
    from bioeval.base.version import __version__

    attrs = {str(k): v for k, v in ds.attrs.items() if k != "bioeval_version"}
    attrs["warnings"] = warnings_of(ds)
    return {"bioeval": __version__, "file": file, **attrs, **scalars(ds)}


def described(ds: xr.Dataset, **parts: Any) -> dict[str, Any]:
    """Return the attributes of a result, then its parts, and warnings as a list at the end."""
    attrs = {str(k): v for k, v in ds.attrs.items() if k != "warnings"}
    return {**attrs, **parts, "warnings": warnings_of(ds)}


def scalars(ds: xr.Dataset) -> dict[str, Any]:
    """Return the variables without dimensions as plain values."""
    return {str(k): v.item() for k, v in ds.data_vars.items() if not v.ndim}


def rows_over(ds: xr.Dataset, *dims: str) -> list[dict[str, Any]]:
    """Return the variables over exactly these dimensions as rows of plain values."""
    names = [str(k) for k, v in ds.data_vars.items() if v.dims == dims]
    labels = [ds[dim].values.tolist() for dim in dims]
    values = {name: ds[name].values.reshape(-1).tolist() for name in names}
    return [
        {**dict(zip(dims, place, strict=True)), **{name: values[name][i] for name in names}}
        for i, place in enumerate(itertools.product(*labels))
    ]


def as_columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return rows that have the same keys as columns."""
    return {key: [row[key] for row in rows] for key in rows[0]} if rows else {}


def rows_of(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
