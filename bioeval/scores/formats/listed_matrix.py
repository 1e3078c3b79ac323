"""The matrix of listed pairs: a row for each probe, a column for each enrolled template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

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

    - `values` and `genuine` are (pairs,).
    - If probes and gallery share a name, all templates are one set.
    - Subjects decide the classes, or without subjects `genuine`.
    - With `unordered`, a comparison that is not listed has the score of the other order.
    """
    shared_names = len({*probe.names}.intersection(gallery.names))
    if shared_names:
        gallery, probe = _one_set(path, gallery, probe)
    gallery = gallery.in_order()
    probe = probe.in_order()
    labels: dict[str, Any] = {}
    if probe.subjects is not None and gallery.subjects is not None:
        claimed = gallery.subjects[gallery.template_of_pair]
        genuine = probe.subjects[probe.template_of_pair] == claimed
        labels["labels"] = probe.subjects
        if not shared_names:
            labels["gallery_labels"] = gallery.subjects
    cells = _cells_of_pairs(path, values, genuine, probe, gallery)
    notes = []
    if cells.repeated:
        notes.append(Message("repeated-pairs", pairs=cells.repeated, how="", option=""))
    if shared_names and unordered:
        cells.copy_to_other_order()
    elif 2 * shared_names >= len(probe.names):
        notes += _note_on_orders(cells)
    unlisted = int((cells.mask == Mask.IGNORE).sum()) - (len(probe.names) if shared_names else 0)
    if unlisted:
        notes.append(Message("not-listed", missing=unlisted, comparisons=cells.values.size))
    scores = Scores(
        cells.values,
        **labels,
        mask=cells.mask if unlisted or not labels else None,
        probe_meta=probe.meta_with_names(),
        gallery_meta=None if shared_names else gallery.meta_with_names(),
        **options,
    )
    return scores._with(remarks=tuple(notes))


@dataclass(frozen=True)
class ListedSide:
    """The templates of one side of a list."""

    template_of_pair: np.ndarray  # int64 (pairs,)
    names: list[str]  # names of the templates
    subjects: np.ndarray | None  # (templates,)
    meta: Mapping[str, np.ndarray] = field(default_factory=dict)  # each (templates,)

    def in_order(self) -> ListedSide:
        """Return the templates in the natural order of their names."""
        order = np.argsort(natural_places(as_objects(self.names)), kind="stable")
        new_number = np.argsort(order)
        return ListedSide(
            new_number[self.template_of_pair],
            [self.names[i] for i in order.tolist()],
            None if self.subjects is None else self.subjects[order],
            {name: values[order] for name, values in self.meta.items()},
        )

    def meta_with_names(self) -> dict[str, np.ndarray]:
        return {"template": np.array(self.names, dtype=object), **self.meta}


class _Cells(NamedTuple):
    """The listed pairs as a matrix of m probes and n enrolled templates."""

    values: np.ndarray  # float64 (m, n)
    mask: np.ndarray  # uint8 (m, n), codes of `Mask`; a pair that is not listed is ignored
    row: np.ndarray  # int64 (pairs,)
    column: np.ndarray  # int64 (pairs,)
    repeated: int  # number of pairs that are listed before

    def lack_other_order(self) -> np.ndarray:
        """Return which pairs are not listed in the other order, bool (pairs,), of a square."""
        return self.mask[self.column, self.row] == Mask.IGNORE

    def copy_to_other_order(self) -> None:
        lacks_other = self.lack_other_order()
        row = self.row[lacks_other]
        column = self.column[lacks_other]
        self.values[column, row] = self.values[row, column]
        self.mask[column, row] = self.mask[row, column]


def _cells_of_pairs(
    path: Path, values: np.ndarray, genuine: np.ndarray, probe: ListedSide, gallery: ListedSide
) -> _Cells:
    """Write each pair into its cell; raise where a pair has several scores."""
    shape = (len(probe.names), len(gallery.names))
    require_memory(
        9 * shape[0] * shape[1],
        f"{path}: a matrix of {shape[0]:,} x {shape[1]:,}",
        "evaluate it as a list of pairs",
    )
    matrix = np.zeros(shape)
    mask = np.full(shape, Mask.IGNORE, dtype=np.uint8)
    row = probe.template_of_pair
    column = gallery.template_of_pair
    matrix[row, column] = values
    mask[row, column] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    repeated = len(values) - int((mask != Mask.IGNORE).sum())
    differs = ~np.isclose(matrix[row, column], values, rtol=0, atol=0, equal_nan=True)
    if differs.any():
        first = int(np.argmax(differs))
        raise DataError(
            f"{path}: {repeated:,} pairs are listed more than once, {int(differs.sum()):,} of them "
            f"with another score; the first: {probe.names[row[first]]!r} against "
            f"{gallery.names[column[first]]!r}; templates with one name each are needed for a "
            "matrix"
        )
    return _Cells(matrix, mask, row, column, repeated)


def _note_on_orders(cells: _Cells) -> list[Message]:
    pairs = len(cells.row)
    in_one_order = int(cells.lack_other_order().sum())
    if in_one_order < MOSTLY * pairs:
        return []
    return [
        Message(
            "pairs-in-one-order",
            one_order=in_one_order,
            pairs=pairs,
            consequence=", so that searches and multi-template attempts lack the other one",
            option="`unordered=True`",
        )
    ]


def _one_set(path: Path, first: ListedSide, second: ListedSide) -> tuple[ListedSide, ListedSide]:
    """Return the two sides with the templates of both sides; equal names are one template."""
    names, number_of_second = template_names.united(first.names, second.names)
    subjects = None
    if first.subjects is not None and second.subjects is not None:
        subjects = np.empty(len(names), dtype=object)
        subjects[number_of_second] = second.subjects
        for i in np.intersect1d(np.arange(len(first.names)), number_of_second).tolist():
            require_one_owner(path, first.names[i], first.subjects[i], subjects[i])
        subjects[: len(first.names)] = first.subjects
    meta = {}
    for name, values in first.meta.items():
        meta[name] = np.empty(len(names), dtype=object)
        meta[name][number_of_second] = second.meta[name]
        meta[name][: len(first.names)] = values
    return (
        ListedSide(first.template_of_pair, names, subjects, meta),
        ListedSide(number_of_second[second.template_of_pair], names, subjects, meta),
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
