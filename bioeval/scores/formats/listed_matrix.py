"""A list of pairs as a matrix: rows are the probes, columns the gallery templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import require_memory
from bioeval.scores.arrays import GENUINE, IGNORE, IMPOSTOR
from bioeval.scores.matrix import Scores


@dataclass(frozen=True)
class Side:
    """The templates of one side of a list: the number of that of each pair, names and subjects."""

    codes: np.ndarray
    names: list[str]
    subjects: np.ndarray | None


def as_matrix(
    path: Path, values: np.ndarray, genuine: np.ndarray | None, sides: Sequence[Side], **how: Any
) -> Scores:
    """Return the scores of listed pairs as a matrix, whose other cells are excluded comparisons.

    `sides` are the probes and the gallery; where they share a name, both are one set of templates.
    The truth is that of the subjects, else `genuine`.
    """
    probe, gallery = sides
    square = not set(probe.names).isdisjoint(gallery.names)
    if square:
        probe, gallery = _one_set(path, probe, gallery)
    shape = (len(probe.names), len(gallery.names))
    require_memory(
        9 * shape[0] * shape[1], f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
        "evaluate it as a list of pairs",
    )  # fmt: skip
    matrix = np.zeros(shape)
    mask = np.full(shape, IGNORE, dtype=np.uint8)
    cells = (probe.codes, gallery.codes)
    truth = (
        probe.subjects[probe.codes] == gallery.subjects[gallery.codes]
        if probe.subjects is not None and gallery.subjects is not None
        else genuine
    )
    if truth is None:
        raise DataError(f"{path}: does not say which pairs are genuine")
    matrix[cells] = values
    mask[cells] = np.where(truth, GENUINE, IMPOSTOR)
    written = int((mask != IGNORE).sum())
    different = ~np.isclose(matrix[cells], values, rtol=0, atol=0, equal_nan=True)
    if different.any():
        row = int(np.argmax(different))
        raise DataError(
            f"{path}: {len(values) - written:,} pairs are listed more than once, "
            f"{int(different.sum()):,} of them with another score; the first: "
            f"{probe.names[probe.codes[row]]!r} against {gallery.names[gallery.codes[row]]!r}; "
            "templates with one name each are needed for a matrix"
        )
    notes = []
    if written < len(values):
        notes.append(f"{len(values) - written:,} pairs are listed more than once, with one score")
    holes = matrix.size - written - (shape[0] if square else 0)
    if holes:
        notes.append(f"{holes:,} of {matrix.size:,} comparisons are not listed, and excluded")
    labels: dict[str, Any] = {}
    meta = [{"template": np.array(side.names, dtype=object)} for side in (probe, gallery)]
    if probe.subjects is not None and gallery.subjects is not None:
        labels["probe_labels"] = probe.subjects
        if not square:
            labels["gallery_labels"] = gallery.subjects
    scores = Scores(
        matrix,
        **labels,
        mask=mask if holes or not labels else None,
        probe_meta=meta[0],
        gallery_meta=None if square and labels else meta[1],
        **how,
    )
    scores.remarks = tuple(notes)
    return scores


def _one_set(path: Path, probe: Side, gallery: Side) -> tuple[Side, Side]:
    """Return both sides as the same templates."""
    number = {name: i for i, name in enumerate(probe.names)}
    other = np.array([number.setdefault(name, len(number)) for name in gallery.names])
    subjects = None
    if probe.subjects is not None and gallery.subjects is not None:
        subjects = np.empty(len(number), dtype=object)
        subjects[other] = gallery.subjects
        two = subjects[: len(probe.names)] != probe.subjects
        shared = np.isin(np.arange(len(probe.names)), other)
        for i in np.flatnonzero(two & shared)[:1]:
            raise DataError(
                f"{path}: the template {probe.names[i]!r} is of {probe.subjects[i]!r} on one side "
                f"and of {subjects[i]!r} on the other"
            )
        subjects[: len(probe.names)] = probe.subjects
    names = list(number)
    return Side(probe.codes, names, subjects), Side(other[gallery.codes], names, subjects)
