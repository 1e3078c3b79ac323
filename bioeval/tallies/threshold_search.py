"""The threshold search: in which bins an operating point can lie, and the point itself, exactly.

Genuine scores are known one by one, impostor scores are counted in bins. These say in which few
bins a point can lie; with the impostor scores of those alone, the point is exact. Everything here
is a distance.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.tallies.counts import CellCounts
from bioeval.tallies.points import (
    Curve,
    EqualError,
    allowed_false_accepts,
    crossed,
    equal_error,
)

_LARGEST = np.finfo(np.float64).max


@dataclass
class Attempts:
    """Attempts by class: genuine scores one by one, impostor scores counted in bins.

    Attributes
    ----------
    genuine : float64 array, shape (g,)
        Increasing.
    edges : float64 array, shape (b,)
        Upper edges of the bins, increasing, the last one infinite: bin ``k`` is
        ``(edges[k - 1], edges[k]]``, and the first one has no lower end.
    counts : int64 array, shape (b,)
        Impostor scores in each bin.
    values, weights : float64 and int64 arrays
        The distinct impostor scores of the bins that were looked into, increasing, and how often
        each occurs.
    missed : int
        Genuine attempts that no threshold accepts: in open set those whose mate is not first.
    """

    genuine: np.ndarray
    edges: np.ndarray
    counts: np.ndarray
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    missed: int = 0

    @classmethod
    def listed(cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0) -> Attempts:
        """Take scores that are all known."""
        made = cls(
            np.sort(genuine).astype(np.float64),
            np.array([np.inf]),
            np.array([len(impostor)]),
            missed=missed,
        )
        impostor = np.sort(impostor.astype(np.float64))
        made.look_into(impostor, np.ones(len(impostor), dtype=np.int64))
        return made

    @classmethod
    def of_cells(cls, genuine: np.ndarray, cells: CellCounts) -> Attempts:
        """Take impostor counts in cells: the first bin is -inf alone and the last +inf alone."""
        inner = cells.grid.boundaries if len(cells.counts) else np.zeros(1)
        edges = np.concatenate([[-np.inf], np.minimum(inner, _LARGEST), [_LARGEST, np.inf]])
        before, after = [cells.negative_infinite, 0], [0, cells.positive_infinite]
        counts = np.concatenate([before, cells.counts, after]).astype(np.int64)
        return cls(genuine, edges, counts)

    def look_into(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take the impostor scores of the bins that were looked into, in increasing order."""
        if len(values):
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
            values, weights = values[starts], np.add.reduceat(weights, starts)
        self.values, self.weights = values, weights

    def split(self, b: int, edges: np.ndarray, counts: np.ndarray) -> None:
        """Replace a bin by several; the last of their upper edges is that of the bin."""
        self.edges = np.concatenate([self.edges[:b], edges, self.edges[b + 1 :]])
        self.counts = np.concatenate([self.counts[:b], counts, self.counts[b + 1 :]])

    # -- counts

    @property
    def genuine_attempts(self) -> int:
        """Number of genuine attempts."""
        return len(self.genuine) + self.missed

    @property
    def impostor_attempts(self) -> int:
        """Number of impostor attempts."""
        return int(self.counts.sum())

    @property
    def defined(self) -> bool:
        """Whether both classes have attempts."""
        return self.genuine_attempts > 0 and self.impostor_attempts > 0

    def false_rejects(self, threshold: Any) -> Any:
        """Return the genuine attempts that are rejected."""
        return self.genuine_attempts - np.searchsorted(self.genuine, threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the impostor attempts that are accepted, of thresholds in bins looked into."""
        threshold = np.asarray(threshold, dtype=np.float64)
        before = np.concatenate([[0], np.cumsum(self.counts)])
        accepted = np.concatenate([[0], np.cumsum(self.weights)]).astype(np.int64)
        b = self.bin_of(threshold)
        lows = np.concatenate([[-np.inf], self.edges[:-1]])[b]
        start = np.where(b == 0, 0, np.searchsorted(self.values, lows, side="right"))
        stop = np.searchsorted(self.values, threshold, side="right")
        return before[b] + accepted[stop] - accepted[start]

    # -- bins

    def bin_of(self, values: Any) -> Any:
        """Return the bin of each value."""
        return np.searchsorted(self.edges, values, side="left")

    def interval(self, b: int) -> tuple[float, float]:
        """Return the ends of a bin, of which the lower one is not included (but for -inf)."""
        return float(self.edges[b - 1]) if b else -np.inf, float(self.edges[b])

    def crossing_bin(self) -> int:
        """Return the first bin at whose upper edge FAR >= FRR."""
        accepted, rejected = np.cumsum(self.counts), self.false_rejects(self.edges)
        attempts = self.genuine_attempts, self.impostor_attempts
        bins = range(len(self.counts) - 1)
        return bisect_left(bins, True, key=lambda b: crossed(accepted[b], rejected[b], *attempts))

    def bin_past(self, target: float) -> int:
        """Return the bin of the first false accept above a FAR target; the last one if none is."""
        allowed = allowed_false_accepts(target, self.impostor_attempts)
        past = int(np.searchsorted(np.cumsum(self.counts), allowed, side="right"))
        return min(past, len(self.counts) - 1)

    def up_to(self, b: int) -> np.ndarray:
        """Return a bin and those down to the last one before it that has scores, as flags.

        That is where the points of the bin are, and the last point before them.
        """
        filled = np.flatnonzero(self.counts[:b])
        wanted = np.zeros(len(self.counts), dtype=bool)
        wanted[(filled[-1] if len(filled) else 0) : b + 1] = True
        return wanted

    # -- points

    def curve(self, wanted: np.ndarray) -> Curve:
        """Return the points in bins that were looked into, and reject-all where it is one.

        Its threshold is -inf; NaN where some score has that very value.
        """
        values = self.values[wanted[bins_of_increasing(self.values, self.edges)]]
        genuine = self.genuine[wanted[bins_of_increasing(self.genuine, self.edges)]]
        threshold = np.concatenate([values, genuine])
        threshold.sort(kind="stable")  # two sorted parts are merged
        threshold = distinct(threshold)
        fa, fr = self.false_accepts(threshold), self.false_rejects(threshold)
        if wanted[0]:
            lowest = len(threshold) and threshold[0] == -np.inf
            threshold = np.concatenate([[np.nan if lowest else -np.inf], threshold])
            fa, fr = np.append(0, fa), np.append(self.genuine_attempts, fr)
        return Curve(threshold, fa, fr, self.genuine_attempts, self.impostor_attempts)

    def equal_error(self) -> EqualError:
        """Return the equal error rate; its bins were looked into."""
        return equal_error(self.curve(self.up_to(self.crossing_bin())))

    def at_far(self, target: float) -> tuple[float, float]:
        """Return the smallest FRR with FAR at most `target`, and the loosest threshold."""
        curve = self.curve(self.up_to(self.bin_past(target)))
        allowed = allowed_false_accepts(target, self.impostor_attempts)
        last = int(np.searchsorted(curve.fa, allowed, side="right")) - 1
        return curve.frr(last), float(curve.threshold[last])


def bins_of_increasing(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return the bin of each value, of values that increase."""
    upto = np.searchsorted(values, edges, side="right")
    return np.repeat(np.arange(len(edges)), np.diff(upto, prepend=0))


def distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered
