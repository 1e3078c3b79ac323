"""The numbers of a comparison of systems, whose measures are labels of a dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

#: The unit of a value, by the kind of its measure.
_UNITS = {"rate": "proportion", "cost": "cost"}

#: What a measure is at, by the variable that says so; the rate of a target is in its name.
_PLACES = {"target": "", "prior": "prior", "at_threshold": "threshold"}


def blocks_of_comparison(dataset: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the columns of the values, ranks and differences of each measure."""
    facts = {x: dataset[x].values for x in dataset.data_vars if dataset[x].dims == ("measure",)}
    systems = dataset["system"].values.astype(object)
    first, other = (x.ravel() for x in np.indices((len(systems),) * 2))
    pair = first != other  # a system is not compared with itself
    labels = {
        ("system",): ({"system": systems}, slice(None)),
        ("system", "other_system"): (
            {"system": systems[first[pair]], "other_system": systems[other[pair]]},
            pair,
        ),
    }
    for i, measure in enumerate(facts["scalar"].tolist()):
        place: dict[str, Any] = {}
        for name, at in _PLACES.items():
            if not np.isnan(facts[name][i]):
                at = at or f"{measure.rpartition('_at_')[2]}_target"
                place = {"at": at, "point": float(facts[name][i])}
        unit = _UNITS.get(str(facts["value_kind"][i]), "1")
        for name in map(str, dataset.data_vars):
            if name in facts or name.endswith(("_low", "_high")):
                continue
            variable = dataset[name].isel(measure=i)
            columns, kept = labels[tuple(map(str, variable.dims))]
            block: dict[str, Any] = {**columns, **place, "measure": measure}
            size = len(columns["system"])
            if "point" in place:
                block["point"] = np.full(size, place["point"])
            if not np.isnan(facts["at_rank"][i]):
                block["rank"] = np.full(size, int(facts["at_rank"][i]))
            block["statistic"] = "" if name == "value" else name
            is_value = name in ("value", "difference")
            block["unit"] = unit if is_value else str(variable.attrs.get("units", ""))
            values = variable.values.ravel()[kept]
            if values.dtype.kind in "OUS":
                block |= {"value": np.full(size, np.nan), "text": values.astype(object)}
            else:
                block["value"] = values.astype(np.float64)
            for end in ("low", "high"):
                if f"{name}_{end}" in dataset:
                    limits = dataset[f"{name}_{end}"].isel(measure=i).values.ravel()
                    block[end] = limits[kept].astype(np.float64)
            block["supported"] = np.full(size, facts["supported"][i] == 1)
            yield block
