"""The scalar of each measure of a comparison, as its dataset describes it.

A measure of a script is known to its dataset alone: what tables need of it
is there, so that a file that is loaded elsewhere reads the same.
"""

from __future__ import annotations

from typing import Any

import xarray as xr

from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import Name, Scalar
from bioeval.studies.compare.wanted import AT_THRESHOLD, CMS_AT_RANK

DESCRIBED: dict[str, Name] = {
    "value_kind": Name("what a value of the measure is: rate, number or cost"),
    "value_decimals": Name("decimals of the measure in tables; NaN of a rate in per cent"),
    "larger_is_better": Name("1 where the system with the larger value is better, else 0"),
}

_KNOWN = {**AT_THRESHOLD, CMS_AT_RANK.name: CMS_AT_RANK}


def describe(scalar: Scalar) -> dict[str, Any]:
    """Return the value of each variable of :data:`DESCRIBED`."""
    decimals = scalar.decimals if isinstance(scalar.decimals, int) else float("nan")
    return {
        "value_kind": scalar.kind,
        "value_decimals": decimals,
        "larger_is_better": int(scalar.larger_is_better),
    }


def is_known(name: str) -> bool:
    """Whether a scalar is known by its name, without its description."""
    return name in _KNOWN or name in scalar_registry().compared


def scalar_at(ds: xr.Dataset, place: int) -> Scalar:
    """Return the scalar of a measure, by its place in a dataset."""
    name = str(ds["scalar"].values[place])
    scalar = _KNOWN.get(name) or scalar_registry().compared.get(name)
    if scalar is not None:
        return scalar
    kind, decimals = str(ds["value_kind"].values[place]), ds["value_decimals"].values[place]
    label = str(ds["measure"].values[place])
    return Scalar(
        label,
        name=name,
        label=label.replace("{", "{{").replace("}", "}}"),
        kind=kind,  # type: ignore[arg-type]
        decimals=int(decimals) if decimals == decimals else "genuine",
        larger_is_better=bool(ds["larger_is_better"].values[place]),
        results=("comparison",),
    )


def places_of(ds: xr.Dataset, place: int) -> dict[str, Any]:
    """Return what a label of the measure is filled with: its target, prior, threshold or rank."""
    places: dict[str, Any] = {}
    names = {"target": "target", "prior": "prior", "threshold": "at_threshold", "rank": "at_rank"}
    for name, variable in names.items():
        if variable in ds:
            value = float(ds[variable].values[place])
            if value == value:
                places[name] = int(value) if name == "rank" else value
    return places
