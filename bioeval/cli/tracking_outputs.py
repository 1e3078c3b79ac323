"""What ``bioeval tracking`` writes: one document, and the files of a folder."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.base.version import __version__
from bioeval.cli.console import WIDTH
from bioeval.mot.table import TrackingTable
from bioeval.views.tables import plain

if TYPE_CHECKING:
    import xarray as xr


def document_of(
    dataset: xr.Dataset, truth: str, result: str, reword: Callable[[str], str]
) -> dict[str, Any]:
    """Return everything that was found, as one document."""
    attrs = {str(name): value for name, value in dataset.attrs.items()}
    warnings = str(attrs.pop("warnings")).splitlines()
    attrs.pop("bioeval_version")
    document: dict[str, Any] = {"bioeval": __version__, "truth": truth, "result": result, **attrs}
    document |= {str(k): v.item() for k, v in dataset.data_vars.items() if not v.ndim}
    if "sequence" in dataset:
        document["sequences"] = _rows(dataset, "sequence")
    document["targets_table"] = _rows(dataset, "target")
    document["warnings"] = [reword(line) for line in warnings]
    return document


def _rows(dataset: xr.Dataset, dim: str) -> list[dict[str, Any]]:
    """Return what is known along a dimension, one row each."""
    columns = {dim: dataset[dim].values.tolist()} if dim in dataset.coords else {}
    for name, values in dataset.data_vars.items():
        if values.dims == (dim,):
            columns[str(name).removeprefix("sequence_")] = values.values.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_tracking(dataset: xr.Dataset, folder: Path, reword: Callable[[str], str]) -> None:
    """Write the dataset, the table with all targets, and each target's row, into `folder`."""
    dataset.to_netcdf(folder / "results.nc", engine="h5netcdf")
    text = plain(TrackingTable(dataset, True, reword), WIDTH)
    (folder / "table.txt").write_text(text, encoding="utf-8")
    files = {"target": "targets.csv", "sequence": "sequences.csv", "spell": "segments.csv"}
    for dim in (dim for dim in files if dim in dataset.dims):
        rows = _rows(dataset, dim)
        with open(folder / files[dim], "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if rows:
                writer.writerow(rows[0])
            writer.writerows(row.values() for row in rows)
    if "spell" in dataset.dims:
        _draw(dataset, folder)


def _draw(dataset: xr.Dataset, folder: Path) -> None:
    """Draw the timeline of each sequence and of each camera."""
    import matplotlib.pyplot as plt

    from bioeval.mot.timeline import cameras_of, timeline
    from bioeval.views.plots.save import save

    drawn: set[str] = set()
    sequences = dataset["sequence"].values.tolist() if "sequence" in dataset else [None]
    for sequence in sequences:
        cameras: list[str | None] = [*cameras_of(dataset, sequence)]
        for camera in cameras or [None]:
            parts = [part for part in (sequence, camera) if part is not None]
            stem = "_".join(["timeline", *(re.sub(r"[^\w.-]", "_", part) for part in parts)])
            name, number = stem, 1
            while name in drawn:  # a name may differ in what a file's cannot have
                number += 1
                name = f"{stem}_{number}"
            drawn.add(name)
            display = timeline(dataset, sequence=sequence, camera=camera)
            save(display, folder / f"{name}.png")
            plt.close(display.figure_)
