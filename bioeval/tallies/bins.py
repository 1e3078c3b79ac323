"""Impostor counts between edges: cells, and cells divided further."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.tallies.counts import CellCounts
from bioeval.tallies.thresholds import edge_of, edges_of

_LARGEST = np.finfo(np.float64).max


@dataclass
class Bins:
    """Impostor counts between increasing edges; bin ``b`` is ``(edge[b - 1], edge[b]]``.

    The first bin is -inf alone and the last +inf alone.
    """

    edges: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, cells: CellCounts) -> Bins:
        """Return the cells of a count as bins."""
        if len(cells.counts):
            inner = edges_of(cells.first - 1, len(cells.counts) + 1, cells.exponent)
        else:
            inner = np.zeros(1)
        edges = np.concatenate([[-np.inf], np.minimum(inner, _LARGEST), [_LARGEST, np.inf]])
        before, after = [cells.negative_infinite, 0], [0, cells.positive_infinite]
        return cls(edges, np.concatenate([before, cells.counts, after]).astype(np.int64))

    def cumulative(self) -> np.ndarray:
        """Return how many scores are at most each edge."""
        return np.cumsum(self.counts)

    def low(self, b: int) -> float:
        """Return the lower end of a bin, not included."""
        return float(self.edges[b - 1]) if b else -np.inf

    def last_filled_before(self, b: int) -> int | None:
        """Return the last bin before `b` that has scores, or None."""
        filled = np.nonzero(self.counts[:b])[0]
        return int(filled[-1]) if len(filled) else None

    def split(self, b: int, sub: CellCounts) -> Bins:
        """Return bins in which bin `b` is divided into the cells of `sub`."""
        low, high = self.low(b), float(self.edges[b])
        inner = edges_of(sub.first, len(sub.counts), sub.exponent)
        first = max(low, edge_of(sub.first - 1, sub.exponent))
        edges = np.concatenate([[first], np.minimum(inner, high), [high]])
        counts = np.concatenate([[0], sub.counts, [0]])
        return Bins(
            np.concatenate([self.edges[:b], edges, self.edges[b + 1 :]]),
            np.concatenate([self.counts[:b], counts, self.counts[b + 1 :]]),
        )
