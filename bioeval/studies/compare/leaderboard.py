"""The ranking of a folder of submissions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from bioeval import DataError, Scores, load
from bioeval.base import Argument, received
from bioeval.scores import read_suffixes
from bioeval.studies.compare.compare import compare


def submissions(
    folder: str | os.PathLike[str], besides: tuple[str | os.PathLike[str], ...] = ()
) -> dict[str, Path]:
    """Return the files of a folder that hold scores or embeddings, by the names of their systems.

    Files whose names begin with a dot, and those `besides`, such as a list of labels, are none.
    """
    if not isinstance(folder, str | os.PathLike):
        raise DataError(Argument("folder"), f" is {received(folder)}; expected a path")
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"{path}: is no folder; expected one with a file for each system")
    others = {Path(x).resolve() for x in besides}
    files: dict[str, Path] = {}
    for file in sorted(path.iterdir()):
        if file.name.startswith(".") or file.resolve() in others:
            continue
        if file.suffix in read_suffixes() and not file.name.endswith(".labels.csv"):
            name = file.stem if file.stem not in files else file.name
            files[name] = file
    if not files:
        raise DataError(
            f"{path}: holds no file of scores; expected one for each system, such as team.npz"
        )
    return files


def leaderboard(
    folder: str | os.PathLike[str],
    *,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> xr.Dataset:
    """Rank the systems of a folder, a file for each.

    A file that cannot be read, or has other data than the first one, is left out, and a warning
    says why.

    Parameters
    ----------
    folder : str or path
        The name of a file is that of its system.
    reading : mapping, optional
        Arguments of :func:`bioeval.load` for each file, such as ``{"labels": "labels.csv"}``, one
        list of labels for all.
    **options
        As for :func:`bioeval.compare`, such as ``measures``.

    Returns
    -------
    xarray.Dataset
        As of :func:`bioeval.compare` of systems by name.

    Raises
    ------
    DataError
        If the folder has no files of scores, or fewer than two can be compared.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, bioeval as be
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for team in (0.4, 0.5, 0.6):
    ...     be.save(be.simulate(30, 3, within=team), folder / f"team{team}.npz")
    >>> _ = (folder / "late.npz").write_bytes(b"")
    >>> ranking = be.leaderboard(folder, measures=["eer"])
    >>> ranking["system"].values.tolist()
    ['team0.4', 'team0.5', 'team0.6']
    """
    if not isinstance(reading, Mapping | None):
        raise DataError(
            Argument("reading"), f" is {received(reading)}; expected arguments of load by name"
        )
    how = dict(reading or {})
    lists = tuple(how[x] for x in ("labels", "probe_labels", "gallery_labels") if how.get(x))
    systems = {
        name: partial(_read, file, name, how) for name, file in submissions(folder, lists).items()
    }
    return compare(systems, invalid="leave-out", **options)


def _read(file: Path, name: str, how: Mapping[str, Any]) -> Scores:
    return load(file, **how).replace(name=name)
