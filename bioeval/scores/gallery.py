"""The gallery's columns, grouped by subject for the kernels."""

from __future__ import annotations

import numpy as np

from bioeval.scores.matrix import Scores


class Gallery:
    """The gallery in the order of the kernels: the templates of a subject side by side.

    Attributes
    ----------
    order : int64 array, shape (n,), or None
        Column of each position; None where the columns already are in order.
    columns : int64 array, shape (1, n)
        The same, for stable ties.
    starts : int64 array, shape (g + 1,)
        Group ``g`` is at positions ``starts[g]:starts[g + 1]``.
    subjects : int64 array, shape (g,)
        The subject code of each group.
    """

    def __init__(self, scores: Scores):
        codes = scores.codes.gallery
        n = len(codes)
        changes = np.nonzero(codes[1:] != codes[:-1])[0] + 1
        subjects = codes[np.concatenate([[0], changes])]
        if len(np.unique(subjects)) == len(subjects):
            self.order = None
            self.columns = np.arange(n, dtype=np.int64)[None]
        else:
            # Subjects in the order of their first column, so that their names change nothing,
            # not even the last digit of a sum.
            _, first, back = np.unique(codes, return_index=True, return_inverse=True)
            place = np.argsort(np.argsort(first))[back.reshape(-1)]
            self.order = np.argsort(place, kind="stable")
            self.columns = np.ascontiguousarray(self.order[None])
            codes = codes[self.order]
            changes = np.nonzero(codes[1:] != codes[:-1])[0] + 1
            subjects = codes[np.concatenate([[0], changes])]
        self.subjects = subjects
        self.starts = np.concatenate([[0], changes, [n]]).astype(np.int64)
        self._group = np.full(len(scores.codes.values), -1, dtype=np.int64)
        self._group[subjects] = np.arange(len(subjects))
        # The group of each probe's own subject, and the position of the probe itself.
        self.own = self._group[scores.codes.probe]
        self.own_start = np.where(self.own >= 0, self.starts[self.own], 0)
        self.own_stop = np.where(self.own >= 0, self.starts[self.own + 1], 0)
        self.self_position = self._positions(scores)

    def _positions(self, scores: Scores) -> np.ndarray:
        ids = scores.gallery_ids if self.order is None else scores.gallery_ids[self.order]
        largest = max(int(ids.max()), int(scores.probe_ids.max()))
        position = np.full(largest + 1, -1, dtype=np.int64)
        position[ids] = np.arange(len(ids))
        return position[scores.probe_ids]

    def group_of(self, subject: np.ndarray) -> np.ndarray:
        """Return the group of each subject code, -1 where it is not enrolled."""
        return np.where(subject >= 0, self._group[subject], -1)
