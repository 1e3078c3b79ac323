"""Embeddings as .npy files, one row a template, with labels in CSV files or lists of names."""

from __future__ import annotations

from pathlib import Path

from bioeval.base.errors import DataError, require_choice
from bioeval.scores.embeddings import METRICS, as_embeddings
from bioeval.scores.formats.csv import Labels
from bioeval.scores.formats.files import content, existing_file
from bioeval.scores.formats.image_lists import read_side
from bioeval.scores.formats.npy import open_matrix, sibling
from bioeval.scores.formats.options import Options, say, side_meta
from bioeval.scores.matrix import Scores


def is_features(options: Options) -> bool:
    """Say whether a .npy file is meant as embeddings: a metric or the gallery's are given."""
    return options.metric is not None or options.gallery_embeddings is not None


def read_npy_features(path: Path, options: Options) -> Scores:
    """Read embeddings; see :func:`bioeval.load` for the options."""
    sides = (
        ("labels",) if options.gallery_embeddings is None else ("probe_labels", "gallery_labels")
    )
    options.allow(
        "embeddings in .npy files",
        *sides,
        "gallery_embeddings",
        "names_of",
        "meta",
        "metric",
        "nan",
    )
    metric = options.metric or "cosine"
    if isinstance(metric, str):
        require_choice("metric", metric, METRICS)
    left = as_embeddings(open_matrix(path), str(path))
    other = options.gallery_embeddings
    if other is None:
        probe = _labels(path, "labels", options, len(left))
        return Scores.from_embeddings(
            left,
            probe.label,
            metric=metric,
            nan=options.nan or "raise",
            probe_meta=probe.meta,
            name=path.stem,
        )
    other = existing_file(other, "a .npy file of embeddings")
    if content(other) != "npy":
        raise DataError(f"{other}: is {content(other)}; expected a .npy file of embeddings")
    right = as_embeddings(open_matrix(other), str(other))
    if left.shape[1] != right.shape[1]:
        raise DataError(
            f"{path}: has {left.shape[1]} features a row and {other} {right.shape[1]}; expected "
            "the same number"
        )
    probe = _labels(path, "probe_labels", options, len(left))
    gallery = _labels(other, "gallery_labels", options, len(right))
    return Scores.from_embeddings(
        left,
        probe.label,
        right,
        gallery.label,
        metric=metric,
        nan=options.nan or "raise",
        probe_meta=probe.meta,
        gallery_meta=gallery.meta,
        name=path.stem,
    )


def _labels(path: Path, side: str, options: Options, count: int) -> Labels:
    """Read the labels of one file: as given, or in ``x.labels.csv`` beside ``x.npy``."""
    place = getattr(options, side)
    if place is None:
        place = sibling(path, "labels.csv")
        if not place.exists():
            raise DataError(
                f"{path}: the labels of its {count} rows are missing; expected {place.name} beside "
                f"it, or {say(side)}"
            )
    prefix = {"probe_labels": "probe_", "gallery_labels": "gallery_"}.get(side)
    labels = read_side(place, options, side_meta(options, prefix) if prefix else options.meta)
    labels.expect(count, "rows")
    return labels
