"""Arrays under the names that re-identification programs give them.

``query_f``, ``query_label``, ``query_cam`` and the same of the gallery are what most programs
save in a .mat file; ``distmat``, ``q_pids``, ``g_pids``, ``q_camids`` and ``g_camids`` are what
rankers in Python take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import Arrays
from bioeval.scores.formats.options import ReadOptions, say

#: Names of a matrix of distances, queries x gallery.
DISTANCES = ("distmat", "dist_mat", "dist_matrix", "distance_matrix", "dist")


def _pairs(*queries: str) -> tuple[tuple[str, str], ...]:
    """Return names of arrays of queries, each with that of the gallery."""
    return tuple(
        (x, x.replace("query", "gallery") if x.startswith("query") else f"g{x[1:]}")
        for x in queries
    )


#: Names of (query, gallery) arrays, the first pair that is there is meant.
FEATURES = _pairs("query_f", "query_feature", "query_features", "qf")
LABELS = _pairs(
    *("query_label", "query_labels", "q_pids", "query_id", "query_ids", "q_pid", "q_ids"),
    *("query_pid", "query_pids"),
)
CAMERAS = _pairs(
    *("query_cam", "query_cams", "q_camids", "query_camera", "query_cameras", "q_camid", "q_cams"),
    *("query_camid", "query_camids"),
)
_OWN = ("scores", "embeddings", "indices")
_SIDES = {"probe_labels_key", "gallery_labels_key"}
_OWN_LABELS = ("labels", "probe_labels", "gallery_labels")


def reid_layout(file: Arrays, options: ReadOptions) -> ReadOptions:
    """Return the options that name the arrays of a re-identification file, if it is one.

    What the caller names stays; a file in bioeval's own layout is left as it is.
    """
    given = options.given()
    chosen = [k for k in ("scores_key", "embeddings_key", "indices_key", "pairs_key") if k in given]
    found: dict[str, Any] = {}
    if not chosen:
        named = {name for name in given if name.endswith("_key")}
        if named - _SIDES or any(name in file for name in _OWN):
            return options
        features = _pair(file, FEATURES)
        there = (x for x in DISTANCES if x in file and len(file.headers[x].shape) == 2)
        distances = next(there, None)
        if features and distances:
            raise DataError(
                f"{file.path}: holds both {distances} and {features[0]}; choose by "
                f"{say('scores_key', distances)}, or by {say('embeddings_key', features[0])} with "
                f"{say('gallery_embeddings_key', features[1])}"
            )
        if features:
            found = dict(zip(("embeddings_key", "gallery_embeddings_key"), features, strict=True))
        elif distances:
            found = {"scores_key": distances}
        else:
            return options
    elif any(name in file for name in _OWN_LABELS) or not _fits(file, chosen, options):
        return options
    return _with_sides(file, options, given, found)


def _with_sides(
    file: Arrays, options: ReadOptions, given: dict[str, object], found: dict[str, Any]
) -> ReadOptions:
    """Add the arrays of labels and cameras of both sides."""
    if "labels" in given or "labels_key" in given:
        return replace(options, **found)
    labels = _pair(file, LABELS)
    for i, side in enumerate(("probe_labels", "gallery_labels")):
        if side in given or f"{side}_key" in given:
            continue
        if labels is None and found:
            raise DataError(
                f"{file.path}: has {' and '.join(found.values())} and no labels; expected "
                f"{' and '.join(LABELS[0])}, or CSV files as {say('probe_labels')} and "
                f"{say('gallery_labels')}. It holds: {file.listing()}"
            )
        if labels is not None:
            found[f"{side}_key"] = labels[i]
    meta = dict(options.meta)
    if "camera" not in meta:
        for i, side in enumerate(("probe", "gallery")):
            key = next((names[i] for names in CAMERAS if names[i] in file), None)
            if key is not None:
                meta.setdefault(f"{side}_camera", key)
    return replace(options, meta=meta, **found)


def _fits(file: Arrays, chosen: Sequence[str], options: ReadOptions) -> bool:
    """Whether the arrays named have as many rows, or columns, as there are labels."""
    labels = _pair(file, LABELS)
    matrix = options.scores_key
    one, other = options.embeddings_key, options.gallery_embeddings_key
    if labels is None or len(chosen) > 1:
        return False
    counts = tuple(prod(file.headers[name].shape) for name in labels)
    if matrix is not None and matrix in file:
        return file.headers[matrix].shape == counts
    if one is None or other is None or one not in file or other not in file:
        return False
    # In a .mat file either dimension may be that of the templates.
    return counts[0] in file.headers[one].shape and counts[1] in file.headers[other].shape


def _pair(file: Arrays, names: tuple[tuple[str, str], ...]) -> tuple[str, str] | None:
    return next((pair for pair in names if pair[0] in file and pair[1] in file), None)
