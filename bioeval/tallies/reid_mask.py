"""A re-identification convention as a mask, for evaluating every other task under it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.protocol.reid import Convention
from bioeval.scores.arrays import GENUINE, IGNORE, IMPOSTOR
from bioeval.scores.matrix import Scores
from bioeval.tallies.reid_lists import Lists


def kept_scores(scores: Scores, convention: Convention) -> Scores:
    """Return a view of scores without the cells that a convention removes."""
    return scores.with_mask(LazyMask(Lists(scores, convention), scores.mask))


class LazyMask:
    """Mask of a matrix under a convention, computed row by row as it is read."""

    ndim = 2

    def __init__(self, lists: Lists, mask: np.ndarray | None):
        self.lists, self.given = lists, mask
        self.shape = lists.scores.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the mask of some rows: 0 ignore, 1 impostor, 2 genuine."""
        lists = self.lists
        candidates = lists.rules[lists.convention.removed]
        index = np.arange(self.shape[0])[rows]
        genuine = lists.own[index, None] == lists.identity[None]
        mask = np.where(genuine, np.uint8(GENUINE), np.uint8(IMPOSTOR))
        mask[~candidates.kept[candidates.which[index]]] = IGNORE
        if candidates.same_camera:
            here = lists.query_camera[index, None] == lists.camera[None]
            mask[genuine & here] = IGNORE
        if self.given is not None:
            mask[self.given[index] == IGNORE] = IGNORE
        return mask
