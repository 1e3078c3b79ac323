"""The layout of results over partitions: a column a target; :func:`expanded` for views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.results.dataset import SCHEMA, in_order
from bioeval.results.variables import COORDINATES, VERIFICATION

# What describes a dimension of results over partitions.
_PLACES = {**COORDINATES, "cost": VERIFICATION["cost_prior"]}

Results = TypeVar("Results", xr.Dataset, xr.DataTree)


def expanded(results: Results) -> Results:
    """Return results over partitions as views read them; others are returned as they are.

    Parameters
    ----------
    results : xarray.Dataset or xarray.DataTree
        Results of :func:`bioeval.repeat`.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        Variables over ``far_target``, ``rank`` and ``cost``: ``frr_at_far`` at 0.01 is
        ``frr_at_far_0.01``.

    Raises
    ------
    DataError
        If a newer version of bioeval saved them.
    """
    if isinstance(results, xr.DataTree):
        known = [node for node in results.subtree if "schema" in node.attrs]
        for node in known:
            _require_schema(node.attrs)
        if any(_is_compact(node.dataset) for node in known):
            return results.map_over_datasets(expanded)
        return results  # to map over a tree takes much longer than to look at it
    _require_schema(results.attrs)
    if not _is_compact(results):
        return results
    coords = {str(name): x.variable for name, x in results.coords.items()}
    data, places = _over_places(results)
    return xr.Dataset(in_order(data), coords | places, dict(results.attrs))


def _require_schema(attrs: Mapping[Any, Any]) -> None:
    schema = int(attrs.get("schema", SCHEMA))
    if schema != SCHEMA:
        raise DataError(
            f"the results are of schema {schema}; this version of bioeval reads schema {SCHEMA}. "
            "Use a newer bioeval"
        )


def _is_compact(dataset: xr.Dataset) -> bool:
    """Whether places of partitions are in names."""
    return any("over" in x.attrs for x in dataset.variables.values())


_Variables = dict[str, xr.Variable]


def _over_places(dataset: xr.Dataset) -> tuple[_Variables, _Variables]:
    """Return the variables of results over partitions, and their FAR targets, ranks and costs."""
    columns: dict[str, dict[tuple, xr.Variable]] = {}
    for name, x in dataset.data_vars.items():
        of, over = str(x.attrs.get("of", name)), str(x.attrs.get("over", "")).split()
        if of != name and of in dataset:
            continue  # at ranks of a curve
        columns.setdefault(of, {})[tuple(x.attrs[dim] for dim in over)] = x.variable
    variables = {}
    coords = {}
    for name, column in columns.items():
        first = next(iter(column.values()))
        dims = str(first.attrs.get("over", "")).split()
        if not dims:
            variables[name] = first
            continue
        labels = [list(dict.fromkeys(places)) for places in zip(*column, strict=True)]
        for dim, places in zip(dims, labels, strict=True):
            described = xr.Variable(dim, places, _PLACES[dim].attrs)
            if dim == "cost":
                variables["cost_prior"] = described
            else:
                coords[dim] = described
        attrs = dict(first.attrs)
        for name_of_place in ("of", "over", *dims):
            attrs.pop(name_of_place, None)
        attrs["long_name"] = str(attrs["long_name"]).rsplit("; ", len(dims))[0]
        values = np.stack([x.values for x in column.values()], axis=-1)
        shape = (len(first), *map(len, labels))
        variables[name] = xr.Variable(("partition", *dims), values.reshape(shape), attrs)
    return variables, coords
