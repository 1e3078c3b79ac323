"""Files beside a .npy file: labels in CSV files, a mask, and settings.

Beside ``x.npy`` lies ``x.labels.csv`` (all-against-all), or ``x.probe.csv`` and ``x.gallery.csv``;
``x.mask.npy`` where there is a mask. :func:`bioeval.save` adds ``x.json``, which holds the kind of
the scores and which of these files belong to them. A file of embeddings has its labels in
``x.labels.csv``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bioeval.base.errors import DataError
from bioeval.scores.formats.csv import Labels
from bioeval.scores.formats.files import MOST_SETTINGS, read_bounded
from bioeval.scores.formats.image_lists import read_side
from bioeval.scores.formats.options import ReadOptions, say

#: The version of the layout of ``x.json``, and under which key it is there.
SCHEMA = 1
SCHEMA_KEY = "bioeval_schema"

#: How the files beside ``x.npy`` end.
BESIDE = ("labels.csv", "probe.csv", "gallery.csv", "mask.npy", "json")


def sibling(path: Path, ending: str) -> Path:
    """Return ``x.<ending>`` for ``x.npy``."""
    return path.with_name(f"{path.stem}.{ending}")


def matrix_labels(
    path: Path, options: ReadOptions, said: dict[str, Any], m: int, n: int
) -> tuple[Labels | None, Labels | None]:
    """Find the labels of both sides, as given or beside the matrix."""
    square, probe, gallery = options.labels, options.probe_labels, options.gallery_labels
    if square and (probe or gallery):
        raise DataError(
            f"{say('labels')} labels both sides, so it goes without "
            f"{say('probe_labels' if probe else 'gallery_labels')}"
        )
    if bool(probe) != bool(gallery):
        missing = "gallery_labels" if probe else "probe_labels"
        raise DataError(f"{path}: {say(missing)} is missing; expected both, or {say('labels')}")
    if not (square or probe):
        both, one, other = (sibling(path, f"{x}.csv") for x in ("labels", "probe", "gallery"))
        found = [x for x in (both, one, other) if x.exists()]
        if said:
            found = [sibling(path, f"{x}.csv") for x in said["files"] if x != "mask"]
        if both in found and len(found) > 1:
            raise DataError(
                f"{path}: there are {' and '.join(x.name for x in found)}; choose by "
                f"{say('labels')}, or by {say('probe_labels')} and {say('gallery_labels')}"
            )
        if found == [both]:
            square = both
        elif found == [one, other]:
            probe, gallery = one, other
        elif said and not found:
            return None, None
        else:
            raise DataError(
                f"{path}: the labels of its {m} rows and {n} columns are missing; expected "
                f"{both.name} beside it, or {one.name} and {other.name}"
                f"{f' (only {found[0].name} is there)' if found else ''}, or CSV files given by "
                f"{say('labels')} or {say('probe_labels')} and {say('gallery_labels')}"
            )
    if square:
        if m != n:
            raise DataError(
                f"{path}: is {m} x {n}, not square, so one list of labels ({square}) does not "
                f"do; give {say('probe_labels')} and {say('gallery_labels')}, or {say('metric')} "
                "if the rows are embeddings"
            )
        labels = read_side(square, options, options.meta, m)
        labels.expect(m, "rows")
        return labels, None
    rows = read_side(probe or "", options, options.side_meta("probe"), m)
    columns = read_side(gallery or "", options, options.side_meta("gallery"), n)
    rows.expect(m, "rows")
    columns.expect(n, "columns")
    return rows, columns


def read_settings(path: Path) -> dict[str, Any]:
    """Read ``x.json``, if it is bioeval's."""
    place = sibling(path, "json")
    if not place.is_file():
        return {}
    try:
        said = json.loads(read_bounded(place, MOST_SETTINGS))
    except (UnicodeDecodeError, json.JSONDecodeError):
        return {}  # written by another program
    if not isinstance(said, dict) or SCHEMA_KEY not in said:
        return {}
    schema = said[SCHEMA_KEY]
    if not isinstance(schema, int) or not 1 <= schema <= SCHEMA:
        raise DataError(
            f"{place}: has version {schema!r} of the layout; this bioeval reads versions 1 to "
            f"{SCHEMA}. Use a newer bioeval"
        )
    files = said.get("files")
    if not isinstance(files, list) or not set(files) <= {"labels", "probe", "gallery", "mask"}:
        raise DataError(f"{place}: files is {files!r}; expected labels, or probe and gallery")
    return said


def embedding_labels(path: Path, option: str, options: ReadOptions, count: int) -> Labels:
    """Read the labels of one file, as given or in ``x.labels.csv`` beside ``x.npy``."""
    place = getattr(options, option)
    if place is None:
        place = sibling(path, "labels.csv")
        if not place.exists():
            raise DataError(
                f"{path}: the labels of its {count} rows are missing; expected {place.name} beside "
                f"it, or {say(option)}"
            )
    meta = options.meta if option == "labels" else options.side_meta(option.partition("_")[0])
    labels = read_side(place, options, meta)
    labels.expect(count, "rows")
    return labels
