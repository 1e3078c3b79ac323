"""The matrix of listed pairs: a row for each probe, a column for each enrolled template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.memory import require_memory
from bioeval.base.messages import Message
from bioeval.scores import names as template_names
from bioeval.scores.formats.faults import fault
from bioeval.scores.labels import as_objects
from bioeval.scores.listed_templates import MOSTLY
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.orders import natural_places


def matrix_of_pairs(
    path: Path,
    values: np.ndarray,
    genuine: np.ndarray,
    probe: ListedSide,
    gallery: ListedSide,
    unordered: bool,
    options: dict[str, Any],
) -> Scores:
    """Return the scores of listed pairs as a matrix, in which pairs that are not listed are masked.

    If probes and gallery share a name, all templates are one set. Subjects decide the classes, or
    without subjects `genuine`. With `unordered`, a comparison that is not listed has the score of
    the other order.
    """
    shared = len(set(probe.names).intersection(gallery.names))
    if shared:
        gallery, probe = _one_set(path, gallery, probe)
    gallery, probe = gallery.in_order(), probe.in_order()
    shape = (len(probe.names), len(gallery.names))
    require_memory(
        9 * shape[0] * shape[1],
        f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
        "evaluate it as a list of pairs",
    )
    labels: dict[str, Any] = {}
    if probe.subjects is not None and gallery.subjects is not None:
        genuine = probe.subjects[probe.codes] == gallery.subjects[gallery.codes]
        labels["labels"] = probe.subjects
        if not shared:
            labels["gallery_labels"] = gallery.subjects
    matrix = np.zeros(shape)
    mask = np.full(shape, Mask.IGNORE, dtype=np.uint8)
    cells = (probe.codes, gallery.codes)
    matrix[cells] = values
    mask[cells] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    repeated = len(values) - int((mask != Mask.IGNORE).sum())
    _refuse_other_scores(path, matrix[cells], values, probe, gallery, repeated)
    notes = []
    if repeated:
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=""))
    if shared:
        is_in_one_order = mask[cells[::-1]] == Mask.IGNORE
        in_one_order = int(is_in_one_order.sum())
        if unordered:
            row, column = cells[1][is_in_one_order], cells[0][is_in_one_order]
            matrix[row, column] = matrix[column, row]
            mask[row, column] = mask[column, row]
        elif in_one_order >= MOSTLY * len(values) and 2 * shared >= shape[0]:
            notes.append(_pairs_in_one_order(in_one_order, len(values)))
    unlisted = int((mask == Mask.IGNORE).sum()) - (shape[0] if shared else 0)
    if unlisted:
        notes.append(Message("not-listed", missing=unlisted, comparisons=matrix.size))
    probe_meta, gallery_meta = (
        {"template": np.array(side.names, dtype=object), **side.meta} for side in (probe, gallery)
    )
    scores = Scores(
        matrix,
        **labels,
        mask=mask if unlisted or not labels else None,
        probe_meta=probe_meta,
        gallery_meta=None if shared else gallery_meta,
        **options,
    )
    return scores._with(remarks=tuple(notes))


def _pairs_in_one_order(number: int, pairs: int) -> Message:
    return Message(
        "pairs-in-one-order",
        one_order=number,
        pairs=pairs,
        consequence=", so that searches and multi-template attempts lack the other one",
        option="`unordered=True`",
    )


def _refuse_other_scores(
    path: Path,
    written: np.ndarray,
    values: np.ndarray,
    probe: ListedSide,
    gallery: ListedSide,
    repeated: int,
) -> None:
    differs = ~np.isclose(written, values, rtol=0, atol=0, equal_nan=True)
    if differs.any():
        row = int(np.argmax(differs))
        raise DataError(
            f"{path}: {repeated:,} pairs are listed more than once, {int(differs.sum()):,} of them "
            f"with another score; the first: {probe.names[probe.codes[row]]!r} against "
            f"{gallery.names[gallery.codes[row]]!r}; templates with one name each are needed for a "
            "matrix"
        )


@dataclass(frozen=True)
class ListedSide:
    """The templates of one side of a list."""

    codes: np.ndarray  # int64 (pairs,): the template of each pair
    names: list[str]  # names of the templates
    subjects: np.ndarray | None  # (templates,)
    meta: Mapping[str, np.ndarray] = field(default_factory=dict)  # each (templates,)

    def in_order(self) -> ListedSide:
        """Return the templates in the natural order of their names."""
        order = np.argsort(natural_places(as_objects(self.names)), kind="stable")
        place = np.argsort(order)
        return ListedSide(
            place[self.codes],
            [self.names[i] for i in order.tolist()],
            None if self.subjects is None else self.subjects[order],
            {name: values[order] for name, values in self.meta.items()},
        )


def _one_set(path: Path, first: ListedSide, second: ListedSide) -> tuple[ListedSide, ListedSide]:
    """Return the two sides with the templates of both sides; equal names are one template."""
    names, place_of_second = template_names.united(first.names, second.names)
    subjects = None
    if first.subjects is not None and second.subjects is not None:
        subjects = np.empty(len(names), dtype=object)
        subjects[place_of_second] = second.subjects
        for i in np.intersect1d(np.arange(len(first.names)), place_of_second).tolist():
            require_one_owner(path, first.names[i], first.subjects[i], subjects[i])
        subjects[: len(first.names)] = first.subjects
    meta = {}
    for name, values in first.meta.items():
        meta[name] = np.empty(len(names), dtype=object)
        meta[name][place_of_second] = second.meta[name]
        meta[name][: len(first.names)] = values
    return (
        ListedSide(first.codes, names, subjects, meta),
        ListedSide(place_of_second[second.codes], names, subjects, meta),
    )


def require_one_owner(path: Path, name: str, subject: str, other_subject: str) -> None:
    """Raise where a template has different subjects on the two sides."""
    if subject != other_subject:
        raise fault(
            path,
            f"the template {name!r} is of {subject!r} on one side and of {other_subject!r} on the "
            "other",
            "give each template its own name, such as the subject with a number",
        )
