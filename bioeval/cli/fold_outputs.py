"""What the commands show and write of results over folds."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.base.version import __version__
from bioeval.cli.console import WIDTH, as_json
from bioeval.scores.formats.files import part_of
from bioeval.views.tables import datasets, plain
from bioeval.views.tables.folds import FoldTable

if TYPE_CHECKING:
    import xarray as xr

_SUMMARY = "summary.json"

#: Attributes told once, above all tasks.
_SHARED = ("system", "layout", "kind", "nan_policy", "fingerprint", "origin", "protocol")


def fold_summary(tree: xr.DataTree, file: str) -> dict[str, Any]:
    """Return all results over folds as one document; rates are fractions."""
    found = dict(datasets(tree))
    first = next(iter(found.values())).attrs
    return {
        "bioeval": __version__,
        "file": file,
        **{name: first[name] for name in _SHARED if name in first},
        "tasks": {path: _task(dataset) for path, dataset in found.items()},
    }


def _task(dataset: xr.Dataset) -> dict[str, Any]:
    kept = {k: v for k, v in dataset.attrs.items() if k not in (*_SHARED, "bioeval_version")}
    kept["warnings"] = [w for w in str(kept.pop("warnings", "")).split("\n") if w]
    over = {str(k): v for k, v in dataset.data_vars.items() if "fold" in v.dims}
    whole = {str(k): v.values.tolist() for k, v in dataset.data_vars.items() if k not in over}
    folds = [
        {
            "repeat": repeat,
            "fold": fold,
            **{k: v.values[repeat, fold].tolist() for k, v in over.items()},
        }
        for repeat in range(dataset.sizes["repeat"])
        for fold in range(dataset.sizes["fold"])
    ]
    ranks = {"ranks": dataset["rank"].values.tolist()} if "rank" in dataset.dims else {}
    return {**kept, **ranks, **whole, "folds": folds}


def study_summary(study: xr.Dataset, file: str) -> dict[str, Any]:
    """Return a threshold study as one document."""
    attrs = {k: v for k, v in study.attrs.items() if k != "bioeval_version"}
    attrs["warnings"] = [text for text in str(attrs["warnings"]).split("\n") if text]
    scalars = {str(k): v.item() for k, v in study.data_vars.items() if not v.ndim}
    over = [str(k) for k, v in study.data_vars.items() if v.ndim]
    folds = [
        {"repeat": r, "fold": k, **{name: study[name].values[r, k].item() for name in over}}
        for r in range(study.sizes["repeat"])
        for k in range(study.sizes["fold"])
    ]
    return {"bioeval": __version__, "file": file, **attrs, **scalars, "folds": folds}


def write_folds(tree: xr.DataTree, document: dict[str, Any], folder: Path) -> list[str]:
    """Write results.nc, summary.json, table.txt and a row for each fold of each task."""

    def write(part: Path) -> None:
        tree.to_netcdf(part / "results.nc", engine="h5netcdf")
        (part / "table.txt").write_text(plain(FoldTable(tree), WIDTH), encoding="utf-8")
        for path, dataset in datasets(tree):
            _write_rows(dataset, part / f"{path.replace('/', '_')}.csv")

    return gathered(folder, document, write)


def gathered(folder: Path, document: dict[str, Any], write: Callable[[Path], None]) -> list[str]:
    """Write everything beside `folder` and put it in place at the end; return the names."""
    new = not folder.exists()
    part = part_of(folder.absolute()) if new else part_of(folder / "results")
    try:
        part.mkdir()
        write(part)
        names = sorted([*(file.name for file in part.iterdir()), _SUMMARY])
        text = as_json({**document, "files": names})
        (part / _SUMMARY).write_text(text + "\n", encoding="utf-8")
        if new:
            part.rename(folder)
        else:
            for name in names:
                os.replace(part / name, folder / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return names


def _write_rows(dataset: xr.Dataset, target: Path) -> None:
    over = {str(k): v for k, v in dataset.data_vars.items() if v.dims == ("repeat", "fold")}
    ranked = {str(k): v for k, v in dataset.data_vars.items() if v.dims[-1:] == ("rank",)}
    ranked = {k: v for k, v in ranked.items() if "fold" in v.dims}
    ranks = dataset["rank"].values.tolist() if ranked else []
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        wide = [f"{name}_rank_{rank}" for name in ranked for rank in ranks]
        writer.writerow(["repeat", "fold", *over, *wide])
        for repeat in range(dataset.sizes["repeat"]):
            for fold in range(dataset.sizes["fold"]):
                cells = [v.values[repeat, fold].item() for v in over.values()]
                for values in ranked.values():
                    cells += values.values[repeat, fold].tolist()
                writer.writerow([repeat, fold, *cells])
