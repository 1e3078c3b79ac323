"""Impostor scores that a tally keeps around its operating points, and their merging.

Each window has the exact number of impostor scores below it. What all parts have kept is in the
windows that they have in common; the number below a narrower window follows from the scores kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bioeval.base.errors import MergeError
from bioeval.tallies.cells import rounded_down

# Most scores that a tally of some scores keeps of each task, and that a merged one does.
KEPT, KEPT_MERGED = 1 << 20, 1 << 24


@dataclass(frozen=True, eq=False)
class KeptScores:
    """All finite impostor scores in some windows, and the points that they are kept for.

    Attributes
    ----------
    lows, highs : float64 arrays, shape (w,)
        The windows, increasing: scores above the one and at most the other.
    below : int64 array, shape (w,)
        How many impostor scores are at most the lower end of each window.
    scores : float32 or float64 array
        Increasing.
    targets : float64 array
        FAR targets.
    costs : float64 array, shape (c, 3)
    rare : bool
        Whether rarer targets are reported where the attempts support them.
    """

    lows: np.ndarray
    highs: np.ndarray
    below: np.ndarray
    scores: np.ndarray
    targets: np.ndarray
    costs: np.ndarray
    rare: bool

    @property
    def inside(self) -> np.ndarray:
        """Number of scores in each window."""
        return self._places(self.highs) - self._places(self.lows)

    @property
    def is_all(self) -> bool:
        """Whether all finite scores are kept."""
        return bool(len(self.lows)) and self.lows[0] == -np.inf and self.highs[0] == np.inf

    def within(self, lows: np.ndarray, highs: np.ndarray) -> KeptScores:
        """Return the kept scores in windows that lie inside the present ones."""
        own = np.searchsorted(self.lows, lows, side="right") - 1
        first, last = self._places(lows), self._places(highs)
        below = self.below[own] + first - self._places(self.lows)[own]
        runs = zip(first.tolist(), last.tolist(), strict=True)
        scores = np.concatenate([self.scores[:0], *(self.scores[a:b] for a, b in runs)])
        return replace(self, lows=lows, highs=highs, below=below, scores=scores)

    def common(self, lows: np.ndarray, highs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the windows that lie inside both these and other windows."""
        ends = np.unique(np.concatenate([self.lows, self.highs, lows, highs]))
        inside = np.ones(max(len(ends) - 1, 0), dtype=bool)
        for low, high in ((self.lows, self.highs), (lows, highs)):
            inside &= np.searchsorted(low, ends[:-1], "right") > np.searchsorted(
                high, ends[:-1], "right"
            )
        first, last = np.flatnonzero(np.diff(inside, prepend=False, append=False)).reshape(-1, 2).T
        return ends[first], ends[last]

    def merge(self, other: KeptScores) -> KeptScores:
        """Return the scores that both have kept, over both sets of scores."""
        for name in ("targets", "costs"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
                raise MergeError(f"scores were kept for different {name}; count both with the same")
        windows = self.common(other.lows, other.highs)
        mine, theirs = self.within(*windows), other.within(*windows)
        scores = np.sort(np.concatenate([mine.scores, theirs.scores]), kind="stable")
        below, rare = mine.below + theirs.below, self.rare and other.rare
        return replace(mine, below=below, scores=scores, rare=rare)

    def divide(self, edges: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return upper edges and counts of bins that also end at the windows."""
        ends = np.concatenate([edges, self.lows, self.highs])
        counts = np.concatenate([np.cumsum(counts), self.below, self.below + self.inside])
        ends, first = np.unique(ends, return_index=True)  # at the infinities, those of the bins
        return ends, np.diff(counts[first], prepend=0)

    def holds(self, edges: np.ndarray) -> np.ndarray:
        """Return which bins made by :meth:`divide` have all their scores kept."""
        held = np.searchsorted(self.lows, edges) > np.searchsorted(self.highs, edges)
        return held & np.isfinite(edges)

    def agrees(self, edges: np.ndarray, counts: np.ndarray) -> bool:
        """Whether windows, scores and options are valid and agree with the counts of bins.

        The first bin holds -inf, and the last one inf.
        """
        lows, highs, scores, targets, costs = (
            self.lows, self.highs, self.scores, self.targets, self.costs
        )  # fmt: skip
        right = bool(((targets >= 0) & (targets <= 1)).all()) and costs.shape[1:] == (3,)
        if not right or not ((costs >= 0).all() and (costs[:, 0] <= 1).all()):
            return False
        if not len(lows) == len(highs) == len(self.below) or not (lows < highs).all():
            return False
        if not ((lows[1:] >= highs[:-1]).all() and (scores[1:] >= scores[:-1]).all()):
            return False
        if not np.isfinite(scores).all() or int(self.inside.sum()) != len(scores):
            return False
        # Windows without an end leave out what is infinite.
        above = counts.sum() - counts[-1]
        right = bool((self.below[lows == -np.inf] == counts[0]).all())
        right = right and bool(((self.below + self.inside)[highs == np.inf] == above).all())
        return right and bool((self.divide(edges, counts)[1] >= 0).all())

    def _places(self, ends: np.ndarray) -> np.ndarray:
        """Return the number of kept scores at or below each of the ends."""
        return np.searchsorted(self.scores, rounded_down(ends, self.scores.dtype), side="right")
