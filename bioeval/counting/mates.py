"""Mates: all genuine attempts, which are read before anything else.

They are few beside the impostor attempts, and what is known of them decides how the others are
counted: which scores matter, and against which distance a probe's candidates are ranked.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.scores.arrays import Mask, parse_fusion

if TYPE_CHECKING:
    from bioeval.scores.blocks import Block as RowBlock, BlockReader

# Genuine scores of a mapped file that are read together.
_TOGETHER = 1 << 11


class Mates:
    """Genuine attempts in the order of their probes, then of the gallery.

    - `probe`, `gallery` (int64 (g,)): rows and columns of the scores; of pairs, places in the list
    - `distance` (float (g,)): NaN where the attempt failed and counts nevertheless
    - `probes` (int): how many probes there are, with and without mates
    """

    def __init__(self, probe: np.ndarray, gallery: np.ndarray, distance: np.ndarray, probes: int):
        self.probe, self.gallery, self.distance, self.probes = probe, gallery, distance, probes

    @cached_property
    def first(self) -> np.ndarray:
        """Where the mates of each probe begin, and the end: int64 (probes + 1,)."""
        return self.probe.searchsorted(np.arange(self.probes + 1))

    @property
    def number(self) -> np.ndarray:
        """The number of mates of each probe, int64 (probes,)."""
        return np.diff(self.first)

    def fused(self, fusion: str = "min") -> np.ndarray:
        """Return the claim of each probe of its own person (probes,).

        NaN where all its comparisons failed, or where there is no claim: see :meth:`claims`.
        """
        method, order = parse_fusion(fusion)
        if method == "min":
            return self._nearest
        from bioeval.kernels import fuse

        rule = {"max": fuse.MAX, "mean": fuse.MEAN, "median": fuse.MEDIAN}.get(method, order)
        dtype = self.distance.dtype if method == "max" else np.dtype(np.float64)
        fused, place = np.empty((1, self.probes), dtype), np.empty((1, self.probes), np.int64)
        number = len(self.probe)
        fuse.fuse_groups.kernel.on_one_thread(
            self.distance[None], np.arange(number)[None], self.first, np.full(1, -1), rule, fused,
            place,
        )  # fmt: skip
        return fused[0]

    def claims(self, fusion: str = "min") -> np.ndarray:
        """Return which probes make a genuine claim, failed ones too: bool (probes,)."""
        fused = ~np.isnan(self.fused(fusion))
        if not np.isnan(self.distance).any():
            return fused
        scores = np.bincount(self.probe[~np.isnan(self.distance)], minlength=self.probes)
        return fused | ((scores == 0) & (self.number > 0))

    @cached_property
    def _nearest(self) -> np.ndarray:
        nearest = np.full(self.probes, np.nan, dtype=self.distance.dtype)
        some = np.flatnonzero(self.number)
        if len(some):
            nearest[some] = np.fmin.reduceat(self.distance, self.first[some])
        return nearest

    @cached_property
    def tied(self) -> np.ndarray:
        """How many mates of each probe are as close as its nearest, itself among them."""
        nearest = self.distance == self._nearest[self.probe]
        return np.bincount(self.probe[nearest], minlength=self.probes)

    @cached_property
    def place(self) -> np.ndarray:
        """The first of these in the gallery's own order; beyond all for a probe without mates."""
        place = np.full(self.probes, np.iinfo(np.int64).max)
        nearest = self.distance == self._nearest[self.probe]
        np.minimum.at(place, self.probe[nearest], self.gallery[nearest])
        return place


def at_hand(reader: BlockReader) -> Mates | None:
    """Return the mates of scores whose cells can be read one by one; None of others."""
    from bioeval.scores.blocks import give_back, is_mapped

    scores, gallery = reader.scores, reader.gallery
    plain = isinstance(scores._base, np.ndarray) and scores._labelled
    if not plain or not isinstance(scores._mask, np.ndarray | None):
        return None
    row, position = reader.same_subject_cells(0, scores.shape[0])
    some = position != gallery.probe_position[row]
    row, column = row[some], gallery.columns[0][position[some]]
    kept = ~scores._excluded(row, column)
    if scores._mask is not None:
        mask = scores._mask[scores._base_rows(row), scores._base_columns(column)]
        kept &= mask != Mask.IGNORE
    row, column = row[kept], column[kept]
    if not is_mapped(scores):
        return Mates(row, column, reader.cells(row, column), scores.shape[0])
    parts = []
    for low in range(0, len(row), _TOGETHER):
        some = slice(low, low + _TOGETHER)
        parts.append(reader.cells(row[some], column[some]))
        give_back(scores)
    distance = np.concatenate(parts or [reader.cells(row, column)])
    return Mates(row, column, distance, scores.shape[0])


def genuine_cells(block: RowBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return row and position of the genuine attempts of rows that were read."""
    if block.mask is not None and block.is_masked_alone:
        return np.nonzero(block.mask == Mask.GENUINE)
    return block.own()


def joined(parts: list[tuple[np.ndarray, ...]], dtype: Any, probes: int) -> Mates:
    """Return the mates that were found in parts, in order."""
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, dtype)
    return Mates(*map(np.concatenate, zip(none, *parts, strict=True)), probes)
