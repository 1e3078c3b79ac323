"""Mates: all genuine attempts, which are read before anything else.

They are few beside the impostor attempts, and what is known of them decides how the others are
counted: which scores matter, and against which distance a probe's candidates are ranked.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.counting.blocks import fused
from bioeval.scores.arrays import Mask, scored, with_failures

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader

# Genuine scores of a mapped file that are read together.
TOGETHER = 1 << 11


class Mates:
    """Genuine attempts in the order of their probes, then of the gallery.

    - `probe`, `gallery` (int64 (g,)): rows and columns of the scores; of pairs, places in the list
    - `distance` (float (g,)): without NaN; as of a block, +inf where an attempt failed and is
      `rejected`
    - `probes` (int): how many probes there are, with and without mates
    """

    def __init__(
        self,
        probe: np.ndarray,
        gallery: np.ndarray,
        distance: np.ndarray,
        probes: int,
        *,
        rejected: bool = False,
    ):
        self.probe, self.gallery, self.distance = probe, gallery, distance
        self.probes, self.rejected = probes, rejected

    @cached_property
    def first(self) -> np.ndarray:
        """Where the mates of each probe begin, and the end: int64 (probes + 1,)."""
        return self.probe.searchsorted(np.arange(self.probes + 1))

    @property
    def number(self) -> np.ndarray:
        """The number of mates of each probe, int64 (probes,)."""
        return np.diff(self.first)

    def fused(self, fusion: str = "min") -> np.ndarray:
        """Return the claim of each probe of its own person (probes,); NaN where there is none."""
        if fusion == "min":
            return self._nearest
        return fused(self.distance[None], self.first, fusion, rejected=self.rejected)[0]

    def scores(self, fusion: str | None = None) -> tuple[np.ndarray, int]:
        """Return the scores of genuine attempts, and how many failed; claims of people if fused."""
        attempts = self.distance if fusion is None else self.fused(fusion)
        attempts = attempts[~np.isnan(attempts)]
        if not self.rejected:
            return attempts, 0
        scores = scored(attempts)
        there = ~np.isnan(scores)
        return scores[there], len(scores) - int(np.count_nonzero(there))

    @cached_property
    def _nearest(self) -> np.ndarray:
        nearest = np.full(self.probes, np.nan, dtype=self.distance.dtype)
        some = np.flatnonzero(self.number)
        if len(some):
            nearest[some] = np.minimum.reduceat(self.distance, self.first[some])
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
    parts = []
    step = TOGETHER if is_mapped(scores) else max(len(row), 1)
    for low in range(0, max(len(row), 1), step):
        some = slice(low, low + step)
        parts.append(reader.cells(row[some], column[some]))
        give_back(scores)
    distance = np.concatenate(parts)
    failed, rejected = np.isnan(distance), scores.nan == "reject"
    if failed.any() and scores.nan == "raise":
        reader._raise_nan()
    if rejected:
        distance = with_failures(distance, failed)
    elif failed.any():
        row, column, distance = row[~failed], column[~failed], distance[~failed]
    return Mates(row, column, distance, scores.shape[0], rejected=rejected)


def joined(
    parts: list[tuple[np.ndarray, ...]], dtype: Any, probes: int, *, rejected: bool
) -> Mates:
    """Return the mates that were found in parts, in order."""
    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, dtype)
    probe, gallery, distance = map(np.concatenate, zip(none, *parts, strict=True))
    return Mates(probe, gallery, distance, probes, rejected=rejected)
