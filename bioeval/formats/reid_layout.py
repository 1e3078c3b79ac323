"""Arrays under the names that re-identification programs give them.

``query_f``, ``query_label``, ``query_cam`` and the same of the gallery are what most programs
save in a .mat file.
"""

from __future__ import annotations

from dataclasses import replace

from bioeval.errors import DataError
from bioeval.formats.archive import Arrays
from bioeval.formats.options import Options, say

#: Names of (query, gallery) arrays, the first pair that is there is meant.
FEATURES = (
    ("query_f", "gallery_f"),
    ("query_feature", "gallery_feature"),
    ("query_features", "gallery_features"),
    ("qf", "gf"),
)
LABELS = (
    ("query_label", "gallery_label"),
    ("query_labels", "gallery_labels"),
    ("q_pids", "g_pids"),
    ("query_id", "gallery_id"),
    ("query_ids", "gallery_ids"),
)
CAMERAS = (
    ("query_cam", "gallery_cam"),
    ("query_cams", "gallery_cams"),
    ("q_camids", "g_camids"),
    ("query_camera", "gallery_camera"),
)
_OWN = ("scores", "embeddings", "indices")


def reid_layout(file: Arrays, options: Options) -> Options:
    """Return the options that name the arrays of a re-identification file, if it is one.

    Nothing is changed where the caller names arrays, or the file is in bioeval's own layout.

    Raises
    ------
    DataError
        If there are features of both sides and no labels.
    """
    if options.names_arrays or any(name in file for name in _OWN):
        return options
    features = _pair(file, FEATURES)
    labels = _pair(file, LABELS)
    if features is None:
        return options
    found = dict(zip(("embeddings_key", "gallery_embeddings_key"), features, strict=True))
    sides = (("probe_labels", options.probe_labels), ("gallery_labels", options.gallery_labels))
    for i, (side, given) in enumerate(sides):
        if given is not None:
            continue
        if labels is None:
            raise DataError(
                f"{file.path}: has {' and '.join(features)} and no labels; expected "
                f"{' and '.join(LABELS[0])}, or CSV files as {say('probe_labels')} and "
                f"{say('gallery_labels')}. It holds: {file.listing()}"
            )
        found[f"{side}_key"] = labels[i]
    meta = dict(options.meta)
    cameras = _pair(file, CAMERAS)
    if cameras is not None and "camera" not in meta:
        for side, key in zip(("probe", "gallery"), cameras, strict=True):
            meta.setdefault(f"{side}_camera", key)
    return replace(options, meta=meta, **found)  # type: ignore[arg-type]


def _pair(file: Arrays, names: tuple[tuple[str, str], ...]) -> tuple[str, str] | None:
    return next((pair for pair in names if pair[0] in file and pair[1] in file), None)
