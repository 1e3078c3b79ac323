"""Remarks on results: alarms, warnings, and how intervals and thresholds were found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bioeval.views.tables.tasks import value_of

if TYPE_CHECKING:
    import xarray as xr

#: Caveat shown when operating points were selected on the evaluated data.
CHOSEN = (
    "the thresholds of EER and FAR targets were chosen on these same data: rates there are "
    "optimistic"
)

#: Why thresholds of DIR at a FAR differ between ranks; shown where they do.
OF_RANK_ONE = (
    "thresholds of DIR at a FAR are those of rank 1; at a worse rank one may be looser at the same "
    "FAR, up to one more mate of that rank, for best mates of a worse rank do not count"
)

_UPSIDE_DOWN = (
    "AUC is below 0.5: impostors look more alike than mates; are these scores really of kind {}? "
    'If not, say `kind="{}"`'
)


def has_chosen(dataset: xr.Dataset) -> bool:
    """Return whether there are rates at thresholds selected on the evaluated data."""
    return "chosen_on" not in dataset.attrs and any(
        name in dataset for name in ("eer", "frr_at_far", "dir_at_far")
    )


def differs_by_rank(dataset: xr.Dataset) -> bool:
    """Return whether a FAR target has other thresholds at other ranks."""
    limits = dataset.get("threshold_at_far")
    if limits is None or "rank" not in limits.dims:
        return False
    return not limits.equals(
        limits.isel(rank=[0] * limits.sizes["rank"]).assign_coords(limits.coords)
    )


def intervals(found: Mapping[str, xr.Dataset]) -> list[str]:
    """Return the methods of the intervals in words."""
    said = []
    for dataset in found.values():
        attrs = dataset.attrs
        if "interval_method" not in attrs:
            continue
        text = f"{100 * float(attrs['confidence']):g} % interval, {attrs['interval_method']}"
        if "replicates" in attrs:
            text += f" ({int(attrs['replicates']):,} replicates)"
        said.append(f"In brackets: {text}.")
    return list(dict.fromkeys(said))


def alarms(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        auc = value_of(dataset, "auc")
        if auc is not None and auc < 0.5:
            kind = dataset.attrs.get("kind", "distance")
            other = "distance" if kind == "similarity" else "similarity"
            line = _UPSIDE_DOWN.format(kind, other)
            said.setdefault(line, []).append(path)
    return said


def warnings(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return each warning with the paths of its tasks."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        for line in str(dataset.attrs.get("warnings", "")).splitlines():
            said.setdefault(line, []).append(path)
    return said
