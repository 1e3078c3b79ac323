"""Scores or embeddings, with labels and metadata, in one .npz file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import Archive, ArchiveWriter
from bioeval.scores.formats.array_reader import read_arrays
from bioeval.scores.formats.files import replacing
from bioeval.scores.formats.format import Format, keeps_everything
from bioeval.scores.formats.npz_layout import RESERVED, SCHEMA, is_square
from bioeval.scores.formats.options import ARRAYS, ReadOptions
from bioeval.scores.formats.reid_arrays import reid_layout
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.top_k import TopKScores


def _read(path: Path, options: ReadOptions) -> Scores:
    archive = Archive(path)
    return read_arrays(archive, reid_layout(archive, options))


def _write(scores: Scores, path: Path) -> None:
    with replacing(path) as part, ArchiveWriter(part) as out:
        write_arrays(scores, out, path)


def write_arrays(scores: Scores, out: Any, path: Path) -> None:
    """Write the arrays of scores, under the names of bioeval's own layout."""
    named = are_pairs(scores) and scores.templates is not None
    out.add("schema", np.int64(SCHEMA if named else 1))  # older versions of bioeval read 1
    out.add("kind", np.array(scores.kind))
    if scores.nan != "raise":
        out.add("nan", np.array(scores.nan))
    if scores.exclude:
        out.add("exclude", np.array(scores.exclude))
    if are_pairs(scores):
        out.add("genuine", scores.genuine)
        if scores.pair_subjects is not None:
            out.add("subjects", _storable(scores.pair_subjects, "subjects", path))
        if scores.templates is not None:
            known = np.empty(len(scores.templates.values), dtype=object)
            known[:] = scores.templates.values
            out.add("template_names", _storable(known, "names of templates", path))
            out.add("templates", np.column_stack([scores.templates.a, scores.templates.b]))
        if scores.pair_folds is not None:
            out.add("fold", _storable(scores.pair_folds, "fold", path))
        out.add("scores", scores.values)
        return
    sides = _sides(scores)
    if scores.keeps_embeddings:
        _write_embeddings(scores, sides, out, path)
        return
    for key, array in sides.items():
        out.add(key, _storable(array, key, path))
    if isinstance(scores, TopKScores):
        if scores.distances is not None:
            out.add("distances", scores.distances)
        out.add("indices", scores.indices)
        return
    m, n = scores.shape
    if scores.mask is not None:
        out.add_rows("mask", (m, n), np.dtype(np.uint8), scores.read_mask)
    out.add_rows("scores", (m, n), scores.dtype, scores.read_rows)


def _write_embeddings(scores: Scores, sides: dict[str, np.ndarray], out: Any, path: Path) -> None:
    """Write the embeddings that scores are computed from, in place of the scores."""
    if "probe_ids" in sides:
        raise DataError(
            f"{path}: some templates of this selection are on both sides; a file of embeddings "
            "cannot express that; save the distances"
        )
    for key, array in sides.items():
        out.add(key, _storable(array, key, path))
    source = scores.base
    probe, gallery = source.given
    m, n = scores.shape
    out.add("metric", np.array(source.metric))
    out.add("embeddings", probe[scores.base_rows(np.arange(m))])
    if "gallery_labels" in sides:
        out.add("gallery_embeddings", gallery[scores.base_columns(np.arange(n))])
    if scores.mask is not None:
        out.add_rows("mask", (m, n), np.dtype(np.uint8), scores.read_mask)


def _sides(scores: Scores) -> dict[str, np.ndarray]:
    """Return labels, metadata and, if needed, template identities."""
    arrays: dict[str, np.ndarray] = {}
    square = is_square(scores)
    if scores.labelled:
        arrays["probe_labels"] = scores.probe_labels
        if not square:
            arrays["gallery_labels"] = scores.gallery_labels
    sides = {"probe": scores.probe_meta} | ({} if square else {"gallery": scores.gallery_meta})
    for side, meta in sides.items():
        for name, column in meta.items():
            if f"{side}_{name}" in RESERVED:
                raise DataError(
                    f"the metadata {name!r} cannot be saved as {side}_{name}: the layout "
                    "reserves this name; rename it"
                )
            arrays[f"{side}_{name}"] = column
    # Without labels, a mask of equal sides is taken for a square one.
    m, n = scores.shape
    shared = np.isin(scores.probe_ids, scores.gallery_ids).any()
    if not square and (shared or not scores.labelled and m == n):
        arrays["probe_ids"] = scores.probe_ids
        arrays["gallery_ids"] = scores.gallery_ids
    return arrays


def _storable(array: Any, what: str, path: Path) -> np.ndarray:
    """Return an array that needs no pickle; raise where that would change a value."""
    array = np.asarray(array)
    if not array.dtype.hasobject:
        return array
    kinds = {type(value) for value in array.reshape(-1).tolist()}
    if len(kinds) == 1:
        plain = np.array(array.tolist())
        fits = not plain.dtype.hasobject and plain.shape == array.shape
        if fits and plain.tolist() == array.tolist():
            return plain
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(
        f"{path}: {what} holds Python objects ({names}) that only a pickle would keep; use text "
        "alone or numbers alone"
    )


FORMAT = Format(
    name="`.npz`",
    suffixes=(".npz",),
    holds="scores, pairs, embeddings or top-K lists, with labels and metadata",
    looks="a zip file",
    expected="a .npz file",
    recognised_by="the first bytes of a zip file",
    recognise=lambda found: found.content == "zip",
    read=_read,
    options=ARRAYS,
    written="everything in one file",
    write=_write,
    losses=keeps_everything,
)
