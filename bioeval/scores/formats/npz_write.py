"""Writing the .npz layout that :mod:`bioeval.scores.formats.npz` describes and reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.archive import ArchiveWriter, row_blocks
from bioeval.scores.formats.npz import RESERVED, SCHEMA
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.top_k import TopKScores


def write_npz(scores: Scores, target: Path, named: Path) -> None:
    """Write scores in the .npz layout to `target`, called `named` in messages."""
    with ArchiveWriter(target) as out:
        out.add("schema", np.int64(SCHEMA))
        out.add("kind", np.array(scores.kind))
        if scores.nan != "raise":
            out.add("nan", np.array(scores.nan))
        if scores.exclude:
            out.add("exclude", np.array(scores.exclude))
        if isinstance(scores, PairScores):
            out.add("genuine", scores.genuine)
            if scores.pair_subjects is not None:
                out.add("subjects", storable(scores.pair_subjects, "subjects", named))
            if scores.pair_folds is not None:
                out.add("fold", storable(scores.pair_folds, "fold", named))
            out.add("scores", scores.values)
            return
        for key, array in _sides(scores).items():
            out.add(key, storable(array, key, named))
        if isinstance(scores, TopKScores):
            if scores.distances is not None:
                out.add("distances", scores.distances)
            out.add("indices", scores.indices)
            return
        m, n = scores.shape
        if scores.mask is not None:
            out.add_blocks("mask", (m, n), np.dtype(np.uint8), row_blocks(scores.read_mask, m, n))
        dtype = scores.dtype
        blocks = row_blocks(scores.read_rows, m, n * dtype.itemsize)
        out.add_blocks("scores", (m, n), dtype, blocks)


def _sides(scores: Scores) -> dict[str, np.ndarray]:
    """Return labels, metadata and, where they matter, template identities."""
    arrays: dict[str, np.ndarray] = {}
    square = is_square(scores)
    if scores.labelled:
        arrays["probe_labels"] = scores.probe_labels
        if not square:
            arrays["gallery_labels"] = scores.gallery_labels
    sides: list[tuple[str, Mapping[str, np.ndarray]]] = [("probe", scores.probe_meta)]
    if not square:
        sides.append(("gallery", scores.gallery_meta))
    for side, meta in sides:
        for name, column in meta.items():
            if f"{side}_{name}" in RESERVED:
                raise DataError(
                    f"the metadata {name!r} cannot be saved as {side}_{name}, which the layout "
                    "has for itself; rename it"
                )
            arrays[f"{side}_{name}"] = column
    # Without labels, a mask of equal sides is taken for a square one.
    m, n = scores.shape
    shared = np.isin(scores.probe_ids, scores.gallery_ids).any()
    if not square and (shared or not scores.labelled and m == n):
        arrays["probe_ids"] = scores.probe_ids
        arrays["gallery_ids"] = scores.gallery_ids
    return arrays


def is_square(scores: Scores) -> bool:
    """Whether the same templates stand on both sides, in the same order, described the same."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    same = all(np.array_equal(rows[name], columns[name]) for name in rows if name in columns)
    return same and set(rows) == set(columns)


def storable(array: Any, what: str, path: Path) -> np.ndarray:
    """Return an array that needs no pickle, or raise where values would have to change."""
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
