"""The order of the gallery in blocks of rows: subject by subject."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.scores.codes import Codes, places_of_ids


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

    Templates have numbers in three spaces:

    - column: of the scores
    - grouped: the templates of a subject are side by side, subjects in the order of their first
      columns; a group is a subject's number in this order
    - position: of blocks, either grouped (the default) or the columns

    The attributes are

    - `subjects` (int64 (groups,)): the subject code of each group
    - `starts` (int64 (groups + 1,)): group ``g`` has the templates ``starts[g]:starts[g + 1]`` of
      the grouped order
    - `columns` (int64 (1, n)): the column at each position
    - `order` (int64 (n,) or None): the same; None if positions are columns
    - `by_subject` (int64 (n,) or None): the position of each template of the grouped order; None if
      both are the same
    - `probe_group`, `probe_position` (int64 (probes,)): the group of each probe's subject, and the
      position of the probe's own template; -1 if the gallery lacks it
    - `mate_start`, `mate_stop` (int64 (probes,)): the templates of the probe's subject in the
      grouped order
    """

    def __init__(
        self, codes: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray, *, grouped: bool = True
    ):
        # In the order of the first columns, names of subjects do not change even the last digit of
        # a sum.
        _, first_columns = np.unique(codes.gallery, return_index=True)
        self.subjects = codes.gallery[np.sort(first_columns)]
        self._group = np.full(len(codes.values), -1, dtype=np.int64)  # of each subject code
        self._group[self.subjects] = np.arange(len(self.subjects))
        group_of_column = self._group[codes.gallery]
        grouped_columns = np.argsort(group_of_column, kind="stable")
        is_in_order = bool((group_of_column[1:] >= group_of_column[:-1]).all())
        self.order = None if is_in_order or not grouped else grouped_columns
        self.by_subject = None if is_in_order or grouped else grouped_columns
        self.columns = (grouped_columns if grouped else np.arange(len(grouped_columns)))[None]
        self.starts = np.append(0, np.cumsum(np.bincount(group_of_column))).astype(np.int64)
        self.probe_group = self._group[codes.probe]
        self.mate_start = np.where(self.probe_group >= 0, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(self.probe_group >= 0, self.starts[self.probe_group + 1], 0)
        ids = gallery_ids if self.order is None else gallery_ids[self.order]
        self.probe_position = places_of_ids(probe_ids, ids)

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
        row, grouped = cells_between(self.mate_start[rows], self.mate_stop[rows])
        return row, grouped if self.by_subject is None else self.by_subject[grouped]


def cells_between(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the columns of the cells ``start[i]:stop[i]`` of each row ``i``."""
    size = stop - start
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(start - (np.cumsum(size) - size), size)
