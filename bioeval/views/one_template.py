"""Single- and multi-template verification of subjects with one template: one result, not two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr


def once(found: Mapping[str, xr.Dataset]) -> dict[str, xr.Dataset]:
    """Return the datasets of tasks, single- and multi-template verification that agree as one.

    They do where every subject has one template.
    """
    shown = dict(found)
    for path, single in found.items():
        multi = shown.get(f"{path.removesuffix('single')}multi")
        if not path.endswith("single") or multi is None or not single.equals(multi):
            continue
        del shown[f"{path.removesuffix('single')}multi"]
        parts = str(single.attrs.get("task", "")).replace("single", "single- and multi", 1)
        shown[path] = single.assign_attrs(task=f"{parts} (one template a subject)")
    return shown
