"""The order of the gallery in blocks of rows: subject by subject."""

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
    person: np.ndarray  # int64 (w,): the place in `people` of each template's person
    starts: np.ndarray | None = None  # int64 (g + 1,): the first template of each, side by side
    layers: np.ndarray | None = None  # int64 (k,): the number of people in each layer


class GalleryOrder:
    """The order of the gallery templates in blocks of rows.

    If `grouped`, the templates of a subject are side by side; otherwise templates are in the order
    of the columns. A position is a place in this order, and a group is a subject: its number among
    the subjects in the order of their first columns.

    - `subjects` (int64 (groups,)): the subject code of each group
    - `starts` (int64 (groups + 1,)): group ``g`` has the templates ``starts[g]:starts[g + 1]`` of
      the grouped order
    - `columns` (int64 (1, n)): the column at each position
    - `order` (int64 (n,) or None): the same; None if the columns are in order already
    - `by_subject` (int64 (n,) or None): the columns in the grouped order; None if positions are
      grouped
    - `probe_group`, `probe_position` (int64 (probes,)): the group of each probe's subject, and the
      position of the probe's own template; -1 if the gallery lacks it
    - `mate_start`, `mate_stop` (int64 (probes,)): the templates of the probe's subject in the
      grouped order
    """

    def __init__(
        self, codes: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray, *, grouped: bool = True
    ):
        subjects = codes.gallery
        # In the order of the first columns, names of subjects do not change even the last digit of
        # a sum.
        first_column = np.full(len(codes.values), -1, dtype=np.int64)
        first_column[subjects[::-1]] = np.arange(len(subjects))[::-1]
        self.subjects = subjects[np.sort(first_column[first_column >= 0])]
        self._group = np.full(len(first_column), -1, dtype=np.int64)
        self._group[self.subjects] = np.arange(len(self.subjects))
        group = self._group[subjects]
        columns = np.argsort(group, kind="stable")
        is_in_order = bool((group[1:] >= group[:-1]).all())
        self.order = None if is_in_order or not grouped else columns
        self.by_subject = None if is_in_order or grouped else columns
        self.columns = columns[None] if grouped else np.arange(len(columns))[None]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64)
        self.probe_group = self._group[codes.probe]
        self.mate_start = np.where(self.probe_group >= 0, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(self.probe_group >= 0, self.starts[self.probe_group + 1], 0)
        ids = gallery_ids if self.order is None else gallery_ids[self.order]
        position = np.full(max(ids.max(), probe_ids.max()) + 1, -1, dtype=np.int64)
        position[ids] = np.arange(len(ids))
        self.probe_position = position[probe_ids]

    def group_of(self, subject: np.ndarray) -> np.ndarray:
        """Return the group of each subject code, -1 if the subject is not enrolled."""
        return np.where(subject >= 0, self._group[subject], -1)

    @cached_property
    def lines(self) -> BlockLines:
        """The people of the gallery templates."""
        person = np.repeat(np.arange(len(self.subjects)), np.diff(self.starts))
        return BlockLines(self.subjects, person, starts=self.starts)

    def same_subject_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells of each probe's own subject: places in `rows`, and positions."""
        row, place = cells_between(self.mate_start[rows], self.mate_stop[rows])
        return row, place if self.by_subject is None else self.by_subject[place]


def cells_between(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the columns of the cells ``start[i]:stop[i]`` of each row ``i``."""
    size = stop - start
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(start - (np.cumsum(size) - size), size)
