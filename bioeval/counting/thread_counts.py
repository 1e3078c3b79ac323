"""Impostor scores as threads count them: by cell, in lists of kept scores, and in sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.counting.moments import Moments
from bioeval.counting.order import runs
from bioeval.kernels.verification import TOO_LARGE

# The number of kept scores from which on equal scores are joined.
JOIN = 1 << 24

# The largest count of an int32 cell, before the cell is added to 64 bits.
MOST_IN_CELL = (1 << 31) - 1

# The proportion of the squared mean below which a variance, a difference, has lost many digits.
LOST = 2.0**-12


@dataclass(eq=False)
class ThreadCounts:
    """Counts of the impostor attempts that one thread has read."""

    by_threshold: np.ndarray  # int64 (2, thresholds + 1): see `count_and_keep`
    recent: np.ndarray  # int32 (cells + 2,): counts by cell since they were last emptied
    room: np.ndarray  # buffer for the kept scores of a tile, in the dtype of the scores
    #: Kept scores, and for how many attempts each stands.
    kept: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    kept_number: int = 0
    join_from: int = JOIN  # the number of kept scores from which on equal scores are joined
    moments: dict[int, np.ndarray] = field(default_factory=dict)  # sums by tile
    left_out: float = 0.0  # half the largest difference from the origin that moments leave out
    recent_number: int = 0  # attempts counted in `recent`
    earlier: np.ndarray | int = 0  # int64 (cells + 2,): counts before `recent` was emptied

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "room": self.room[:0].copy()}  # needed only while counting

    def table_for(self, size: int) -> np.ndarray:
        """Return the counts by cell (int32) with room for `size` more scores."""
        self.recent_number += size
        if self.recent_number > MOST_IN_CELL:
            self.earlier = self.by_cell()
            self.recent_number = size
            self.recent[:] = 0
        return self.recent

    def room_for(self, size: int) -> np.ndarray:
        """Return room for `size` scores and one more."""
        if len(self.room) <= size:
            self.room = np.empty(size + 1, dtype=self.room.dtype)
        return self.room

    def add_moments(self, tile: int, sums: np.ndarray, left_out: float) -> None:
        """Add the sums of a tile, and the number that the kernel `add_moments` returned."""
        self.moments[tile] = self.moments.get(tile, 0.0) + sums
        self.left_out = max(self.left_out, left_out)

    def by_cell(self) -> np.ndarray:
        """Return the number of scores in each cell (int64)."""
        return self.recent.astype(np.int64) + self.earlier

    def keep(self, scores: np.ndarray, weight: int) -> None:
        """Keep scores; every score stands for `weight` attempts."""
        if len(scores):
            self.kept.append((scores.copy(), np.broadcast_to(weight, len(scores))))
            self.kept_number += len(scores)
        if self.kept_number > self.join_from:
            self.kept = [distinct_scores(self.kept)]
            self.kept_number = len(self.kept[0][0])
            self.join_from = max(JOIN, 2 * self.kept_number)


def distinct_scores(
    parts: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct scores of all parts, increasing, and their numbers of attempts."""
    if not parts:
        return np.empty(0), np.empty(0, dtype=np.int64)
    scores = np.concatenate([x for x, _ in parts])
    numbers = [int(x[0]) if len(x) else 1 for _, x in parts]
    if all(x.strides == (0,) for _, x in parts) and len(set(numbers)) == 1:
        scores.sort()  # each score stands for the same number of attempts
        values, bounds = runs(scores)
        return values, np.diff(bounds) * numbers[0]
    weights = np.concatenate([x for _, x in parts])
    order = np.argsort(scores, kind="stable")
    values, bounds = runs(scores[order])
    return values, np.add.reduceat(weights[order], bounds[:-1], dtype=np.int64)


class SummedMoments:
    """The moments of finite scores, which a pass sums as ``(score - origin) * scale``.

    A poor origin or scale loses digits, or leaves out large scores: another pass then sums the
    scores with a better one.
    """

    def __init__(self, origin: float = 0.0, scale: float = 1.0):
        self.origin, self.scale = origin, scale
        self.moments: Moments | None = None  # None as long as a pass is missing
        self.infinite = 0  # scores that are +inf
        self._passes = 0

    def finish_pass(self, threads: Sequence[ThreadCounts]) -> None:
        """Find the moments, or else a better origin or scale for another pass."""
        sums: dict[int, np.ndarray] = {}
        for counts in threads:
            sums |= counts.moments
        number, total, squares, infinite = sum((sums[k] for k in sorted(sums)), start=np.zeros(4))
        self.infinite = int(infinite)
        self._passes += 1
        left_out = max((x.left_out for x in threads), default=0.0)
        if left_out:
            self.scale = 2.0 ** -(math.frexp(left_out)[1] + 1)
        elif squares < number / TOO_LARGE**2 and self._passes == 1:
            self.scale *= TOO_LARGE**2
        elif number:
            mean = total / number
            variance = max(squares / number - mean**2, 0.0)
            if variance < LOST * mean**2 and self._passes < 3:
                self.origin += mean / self.scale
            else:
                self.moments = Moments(self.scale, self.origin * self.scale, mean, variance**0.5)
        else:
            self.moments = Moments()
