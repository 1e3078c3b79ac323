"""The reducer of verification's attempts: few are kept and sorted, many are counted."""

from __future__ import annotations

from typing import Self

import numpy as np

from bioeval.counting.counted import CountedAttempts, ThreadCounts
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer
from bioeval.counting.sorted_attempts import Attempts, PointsWanted, increasing
from bioeval.scores.blocks import Block


class CollectAttempts(Reducer):
    """The attempts of verification: comparisons of templates, or claims of people.

    Parameters
    ----------
    fusion : str, optional
        The rule by which the templates of a person are fused; None: each comparison is an attempt.
    wanted : PointsWanted, optional
        The operating points that will be asked for; few attempts answer all.
    thresholds : ndarray of float64
        Distances, increasing, at which false accepts will be asked for.
    more : ndarray
        Further impostor scores, such as those of attacks; NaN is one that failed.
    """

    def __init__(
        self,
        fusion: str | None = None,
        wanted: PointsWanted | None = None,
        thresholds: np.ndarray | None = None,
        more: np.ndarray | None = None,
    ):
        self.fusion, self.wanted = fusion, wanted
        self.thresholds = np.empty(0) if thresholds is None else thresholds
        self.more = np.empty(0) if more is None else more[~np.isnan(more)]
        self.kept: list[np.ndarray] = []
        self.failed = 0 if more is None else len(more) - len(self.more)

    def prepare(self, parts: Parts) -> None:
        """Take the genuine scores, and expect by a sample where the points are."""
        genuine, self.missed = parts.mates.scores(self.fusion)
        self.genuine = increasing(genuine)
        self.counting: CountedAttempts | None = None
        if parts.few:
            return
        exact = self.fusion in (None, "min", "max") and not len(self.more)
        dtype = parts.dtype if exact else np.dtype(np.float64)
        self.genuine = self.genuine.astype(np.float64)
        self.counting = CountedAttempts(
            dtype, self.wanted, self.thresholds, self.genuine, self.missed
        )
        sample = [x.ravel() for block in parts.sample() for x, _, _ in self._scores(block)]
        self.counting.place(sample, parts.size)
        self.counting.prepare()
        self.counts = self._before_blocks()

    def _before_blocks(self) -> list[ThreadCounts]:
        """Return what is counted before any block: further impostor scores."""
        if self.counting is None or not len(self.more):
            return []
        counts = self.counting.start()
        self.counting.count(counts, self.more[None], -1)
        return [counts]

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = super().fresh()
        other.kept, other.failed = [], 0
        if self.counting is not None:
            other.counts = [self.counting.start()]
        return other

    def add(self, block: Block) -> None:
        """Keep the scores of a block, or count them."""
        for side, (values, weight, failed) in enumerate(self._scores(block)):
            self.failed += weight * failed
            if self.counting is None:
                self.kept.append(values.ravel())
            else:
                number = 2 * block.number + side
                self.counting.count(self.counts[0], np.atleast_2d(values), number, weight)

    def _scores(self, block: Block) -> list[tuple[np.ndarray, int, int]]:
        """Return scores of a block, how many attempts each stands for, and how many failed."""
        if self.fusion is None:
            scores, failed = block.scores()
            return [(scores, block.weight, failed)]
        claims = (side.by_person(self.fusion).scores() for side in block.sides())
        return [(scores, 1, failed) for scores, failed in claims]

    def merge(self, other: Self) -> None:
        """Add what a copy has kept, or counted."""
        self.kept += other.kept
        self.failed += other.failed
        if self.counting is not None:
            self.counts += other.counts

    def finish_pass(self) -> bool:
        """Find the points; return whether some are where no scores were kept."""
        if self.counting is None:
            return False
        another = self.counting.finish(self.counts, self.failed)
        self.counts = self._before_blocks()
        return another

    def result(self) -> Attempts:
        """Return the attempts in order."""
        if self.counting is not None:
            return self.counting.attempts()
        dtype = np.empty(0, np.float16)
        impostor = increasing(np.concatenate([dtype, *self.kept, self.more]))
        return Attempts.ordered(self.genuine, impostor, self.missed, self.failed)
