"""Writing results into a folder: all the files, or none."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError
from bioeval.cli.console import WIDTH, as_json
from bioeval.cli.reword_errors import rewording
from bioeval.cli.worst_queries import write_queries
from bioeval.scores.formats.files import no_folder, part_of
from bioeval.views.tables import as_text, datasets, plain, report_ranks

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores

SUMMARY = "summary.json"

# Files that a later run into the same folder may remove.
ENDINGS = (".csv", ".png", ".pdf", ".svg")


def check_folder(out: str) -> Path:
    """Return `out` if results can be written there, before anything is computed."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; --out expects a folder for the results")
    place = folder if folder.exists() else folder.absolute().parent
    if not place.is_dir():
        raise DataError(f"{folder}: {no_folder(place)}")
    if not os.access(place, os.W_OK | os.X_OK):
        raise DataError(f"{folder}: {place} may not be written to")
    return folder


def write_results(
    tree: xr.DataTree,
    document: dict[str, Any],
    folder: Path,
    scores: Scores | None = None,
    plots: Sequence[str] = (),
    queries: list[dict[str, Any]] | None = None,
) -> list[str]:
    """Write the results of an evaluation into `folder`; return the names of the files.

    Plots are written in each of the formats named in `plots`; `queries` are those of a
    re-identification one by one, if they are wanted.
    """

    def write(part: Path) -> None:
        tree.to_netcdf(part / "results.nc", engine="h5netcdf")
        (part / "table.txt").write_text(as_text(tree, WIDTH, rewording("run")), encoding="utf-8")
        for path, dataset in datasets(tree):
            write_curves(dataset, part / f"{path.replace('/', '_')}.csv")
        if queries:
            write_queries(queries, part / "queries.csv")
        if plots:
            from bioeval.evaluation.plotted_scores import plotted
            from bioeval.views.plots.save_all import save_all

            save_all(tree, plotted(scores), part, plots)

    return write_folder(folder, document, write)


def write_comparison(dataset: xr.Dataset, document: dict[str, Any], folder: Path) -> list[str]:
    """Write a comparison of two systems into `folder`; return the names of the files."""
    from bioeval.views.tables.comparison import ComparisonTable

    def write(part: Path) -> None:
        dataset.to_netcdf(part / "comparison.nc", engine="h5netcdf")
        (part / "table.txt").write_text(plain(ComparisonTable(dataset), WIDTH), encoding="utf-8")

    return write_folder(folder, document, write)


def write_folder(
    folder: Path, document: dict[str, Any], write: Callable[[Path], None]
) -> list[str]:
    """Write everything beside or into `folder` first, then put it in place; return the names.

    `write` writes into the folder that it is given; the document, with the names of all files, is
    added. Files that an earlier run left there, and this one does not write, are removed: a folder
    holds the results of one run.
    """
    new = not folder.exists()
    part = part_of(folder.absolute()) if new else part_of(folder / "results")
    try:
        part.mkdir()
        write(part)
        names = sorted([*(file.name for file in part.iterdir()), SUMMARY])
        text = as_json({**document, "files": names})
        (part / SUMMARY).write_text(text + "\n", encoding="utf-8")
        if new:
            part.rename(folder)
        else:
            stale = _earlier(folder) - set(names)
            for name in names:
                os.replace(part / name, folder / name)
            for name in stale:
                (folder / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return names


def _earlier(folder: Path) -> set[str]:
    """Return the curves and plots that an earlier run says it wrote into the folder."""
    try:
        files = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    if not isinstance(files, list):
        return set()
    return {f for f in files if isinstance(f, str) and f == Path(f).name and f.endswith(ENDINGS)}


def write_curves(dataset: xr.Dataset, target: Path) -> None:
    """Write the curves of a task: a row for each threshold, or for each rank."""
    over = "threshold" if "threshold" in dataset.dims else "rank"
    columns: dict[str, list] = {over: dataset[over].values.tolist()}
    for name, values in dataset.data_vars.items():
        if values.dims == (over,):
            columns[str(name)] = values.values.tolist()
        elif name in ("dir", "dir_low", "dir_high"):
            for rank in report_ranks(dataset):
                columns[f"{name}_rank_{rank}"] = values.sel(rank=rank).values.tolist()
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
