"""Attempts that count along a curve: of whom, where, and with what weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.stats.few_errors import Placed


@dataclass(frozen=True)
class Hits:
    """Hits, or attempts, with their person, distance, rank and weight."""

    person: np.ndarray
    distance: np.ndarray
    rank: np.ndarray
    weight: np.ndarray

    @classmethod
    def joined(cls, *parts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> Hits:
        """Concatenate hits."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def by(self, index: np.ndarray) -> Hits:
        """Return some hits, or all hits in another order."""
        return Hits(self.person[index], self.distance[index], self.rank[index], self.weight[index])

    def along(self, place: np.ndarray) -> Placed:
        """Return the hits with their places along a curve."""
        return Placed.of(self.person, place, self.weight)

    def up_to(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, by person and distance."""
        hits = self.within(rank)
        return hits.by(np.lexsort((hits.distance, hits.person)))

    def within(self, rank: int) -> Hits:
        """Return the hits at `rank` or better, in their order."""
        return self.by(np.flatnonzero(self.rank <= rank))
