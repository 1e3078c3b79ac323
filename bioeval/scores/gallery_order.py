"""The gallery in the order in which blocks of rows have it: subject by subject."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.scores.codes import Codes


class BlockLines(NamedTuple):
    """The people of the templates along an axis of a block, side by side or in layers.

    In layers, the first templates of all people come first, then the second templates, and so on,
    the people with most templates first: the people of a layer begin the layer before.
    """

    people: np.ndarray  # int64 (g,): the code of each person
    person: np.ndarray  # int64 (w,): the place of each template's person among them
    starts: np.ndarray | None = None  # int64 (g + 1,): where the templates of each begin
    layers: np.ndarray | None = None  # int64 (k,): how many people each layer has


class GalleryOrder:
    """The gallery in the order of the kernels: the templates of a subject side by side.

    If not `grouped`, the templates are in the order of the columns.
    """

    def __init__(
        self, codes: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray, *, grouped: bool = True
    ):
        subjects = codes.gallery
        # Subjects in the order of their first column, so that names of subjects change nothing, not
        # even the last digit of a sum.
        first_column = np.full(len(codes.values), -1, dtype=np.int64)
        first_column[subjects[::-1]] = np.arange(len(subjects))[::-1]
        # The subject code of each group.
        self.subjects = subjects[np.sort(first_column[first_column >= 0])]
        self._group = np.full(len(first_column), -1, dtype=np.int64)
        self._group[self.subjects] = np.arange(len(self.subjects))
        group = self._group[subjects]
        columns = np.argsort(group, kind="stable")
        is_in_order = bool((group[1:] >= group[:-1]).all())
        # The column of each position; None where the columns already are in order.
        self.order = None if is_in_order or not grouped else columns
        self.by_subject = None if is_in_order or grouped else columns
        # The columns as a row, also where columns are in order, for stable ties.
        self.columns = columns[None] if grouped else np.arange(len(columns))[None]
        # Group g is at positions starts[g]:starts[g + 1].
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
        # The group of each probe's own subject, and the position of the probe itself.
        self.probe_group = self._group[codes.probe]
        self.mate_start = np.where(self.probe_group >= 0, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(self.probe_group >= 0, self.starts[self.probe_group + 1], 0)
        ids = gallery_ids if self.order is None else gallery_ids[self.order]
        position = np.full(max(ids.max(), probe_ids.max()) + 1, -1, dtype=np.int64)
        position[ids] = np.arange(len(ids))
        self.probe_position = position[probe_ids]

    def group_of(self, subject: np.ndarray) -> np.ndarray:
        """Return the group of each subject code, -1 where it is not enrolled."""
        return np.where(subject >= 0, self._group[subject], -1)

    @cached_property
    def lines(self) -> BlockLines:
        """Whose the gallery templates are."""
        person = np.repeat(np.arange(len(self.subjects)), np.diff(self.starts))
        return BlockLines(self.subjects, person, starts=self.starts)

    def same_subject_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return place among rows, and position, of the cells of each probe's own subject."""
        row, place = cells_between(self.mate_start[rows], self.mate_stop[rows])
        return row, place if self.by_subject is None else self.by_subject[place]


def cells_between(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return row and position of the cells from a start to a stop of each row, in order."""
    size = stop - start
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(start - (np.cumsum(size) - size), size)
