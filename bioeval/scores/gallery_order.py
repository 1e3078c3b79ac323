"""The order of a gallery that has the templates of each subject side by side."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bioeval.scores.blocks import BlockLines

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


class GalleryOrder:
    """The gallery in the order of the kernels: the templates of a subject side by side.

    Where it is not `grouped` the templates are in their own order.
    """

    def __init__(self, scores: Scores, *, grouped: bool = True):
        """Order the gallery by subject, and find the place of each probe in it."""
        codes = scores.codes.gallery
        # Subjects in the order of their first column, so that their names change nothing, not even
        # the last digit of a sum.
        _, first, back = np.unique(codes, return_index=True, return_inverse=True)
        group = np.argsort(np.argsort(first))[back.reshape(-1)]
        order = np.argsort(group, kind="stable")
        # The column of each position; None where the columns already are in order.
        self.order = self.by_subject = None if (group[1:] >= group[:-1]).all() else order
        if grouped:
            self.by_subject = None
        else:
            self.order, order = None, np.arange(len(order))
        self.columns = order[None]  # the same, of shape (1, n), for stable ties
        self.subjects = codes[np.sort(first)]  # the subject code of each group
        # Group g is at positions starts[g]:starts[g + 1].
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
        self._group = np.full(len(scores.codes.values), -1, dtype=np.int64)
        self._group[self.subjects] = np.arange(len(self.subjects))
        # The group of each probe's own subject, and the position of the probe itself.
        self.probe_group = self._group[scores.codes.probe]
        self.mate_start = np.where(self.probe_group >= 0, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(self.probe_group >= 0, self.starts[self.probe_group + 1], 0)
        if self.order is None:
            ids = scores.gallery_ids
        else:
            ids = scores.gallery_ids[self.order]
        position = np.full(max(ids.max(), scores.probe_ids.max()) + 1, -1, dtype=np.int64)
        position[ids] = np.arange(len(ids))
        self.probe_position = position[scores.probe_ids]

    def group_of(self, subject: np.ndarray) -> np.ndarray:
        """Return the group of each subject code, -1 where it is not enrolled."""
        return np.where(subject >= 0, self._group[subject], -1)

    @cached_property
    def lines(self) -> BlockLines:
        """Whose the gallery templates are."""
        person = np.repeat(np.arange(len(self.subjects)), np.diff(self.starts))
        return BlockLines(self.subjects, person, starts=self.starts)

    def itself(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return place among rows, and position, of the cells of a probe against itself."""
        position = self.probe_position[rows]
        row = np.flatnonzero(position >= 0)
        return row, position[row]

    def same_subject_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return place among rows, and position, of the cells of each probe's own subject."""
        row, place = cells_between(self.mate_start[rows], self.mate_stop[rows])
        return row, place if self.by_subject is None else self.by_subject[place]


def cells_between(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return row and position of the cells from a start to a stop of each row, in order."""
    size = stop - start
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(start - (np.cumsum(size) - size), size)
