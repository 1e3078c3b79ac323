"""Writing results into a folder: all the files, or none."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from bioeval.base.errors import DataError
from bioeval.cli.console import as_json
from bioeval.scores.formats.files import no_folder, part_of

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


def write_csv(target: Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """Write columns of the same length as CSV."""
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
