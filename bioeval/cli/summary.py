"""What an evaluation found, as one document: scalars, attempts, operating points, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.base.version import __version__
from bioeval.cli.reword_errors import rewording
from bioeval.views.tables import (
    CHOSEN,
    alarms,
    datasets,
    has_chosen,
    left_out,
    report_ranks,
    warnings,
)

if TYPE_CHECKING:
    import xarray as xr

#: Attributes that all tasks of an evaluation share.
_SHARED = (
    "system",
    "layout",
    "kind",
    "nan_policy",
    "probes",
    "probe_subjects",
    "enrolled_subjects",
    "gallery_templates",
    "gallery_subjects",
    "failed_comparisons",
    "origin",
    "fingerprint",
    "protocol",
)

#: Attributes that are said in another place or in another way.
_ELSEWHERE = (*_SHARED, "warnings", "bioeval_version", "report_ranks")

#: Dimensions of curves, which are in the CSV files.
_CURVES = ("threshold", "rank", "probe")


def summary(tree: xr.DataTree, file: str) -> dict[str, Any]:
    """Return the document; `file` is what was read.

    Rates are fractions. NaN means not defined: a rate whose class had no attempt; JSON has null
    for it, and the words "inf" and "-inf" for infinite thresholds.
    """
    found = dict(datasets(tree))
    first = next(iter(found.values())).attrs if found else {}
    reworded = rewording("run")
    return {
        "bioeval": __version__,
        "file": file,
        **{name: first[name] for name in _SHARED if name in first},
        **({"chosen_on": CHOSEN} if any(has_chosen(d) for d in found.values()) else {}),
        "tasks": {path: _task(dataset) for path, dataset in found.items()},
        **({"left_out": why} if (why := left_out(found)) else {}),
        "warnings": [
            {"message": reworded(message), "tasks": paths}
            for message, paths in {**alarms(found), **warnings(found)}.items()
        ],
    }


def _task(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the scalars of a task, and its values at FAR targets and at some ranks."""
    about = {str(name): value for name, value in dataset.attrs.items() if name not in _ELSEWHERE}
    scalars = {str(k): v.item() for k, v in dataset.data_vars.items() if not v.ndim}
    document: dict[str, Any] = {**about, **scalars}
    ranks = report_ranks(dataset)
    if "far_target" in dataset.dims:
        document["far_targets"] = _far_targets(dataset, ranks)
    for dim in dataset.dims:
        if dim not in (*_CURVES, "far_target"):
            document[f"{dim}s"] = _along(dataset, str(dim))
    if "cms" in dataset:
        document["ranks"] = [
            {
                "rank": rank,
                "cms": dataset["cms"].sel(rank=rank).item(),
                "cms_count": dataset["cms_count"].sel(rank=rank).item(),
                **{
                    name: dataset[name].sel(rank=rank).item()
                    for name in ("cms_low", "cms_high")
                    if name in dataset
                },
            }
            for rank in ranks
        ]
    if "cmc" in dataset:
        document["ranks"] = [
            {
                "rank": rank,
                "cmc": dataset["cmc"].sel(rank=rank).item(),
                "cmc_count": dataset["cmc_count"].sel(rank=rank).item(),
            }
            for rank in ranks
        ]
    if dataset.sizes.get("threshold", 0):
        thresholds = dataset["threshold"].values
        document["thresholds"] = {
            "count": len(thresholds),
            "first": thresholds[0],
            "last": thresholds[-1],
        }
    return document


def _along(dataset: xr.Dataset, dim: str) -> list[dict[str, Any]]:
    """Return the values along a short dimension, such as the costs of decisions."""
    names = [name for name, values in dataset.data_vars.items() if values.dims == (dim,)]
    return [
        {str(name): dataset[name].values[i].item() for name in names}
        for i in range(dataset.sizes[dim])
    ]


def _far_targets(dataset: xr.Dataset, ranks: list[int]) -> list[dict[str, Any]]:
    """Return what is known at each FAR target; values at ranks by rank."""
    rows = []
    for i, target in enumerate(dataset["far_target"].values):
        row: dict[str, Any] = {"far_target": target}
        for name, values in dataset.data_vars.items():
            if values.dims == ("far_target",):
                row[str(name)] = values[i].item()
            elif set(values.dims) == {"far_target", "rank"}:
                at = values.isel(far_target=i)
                row[str(name)] = {str(rank): at.sel(rank=rank).item() for rank in ranks}
        rows.append(row)
    return rows
