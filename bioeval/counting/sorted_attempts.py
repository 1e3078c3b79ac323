"""The attempts of one evaluation, in order. All scores are distances."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from bioeval.counting.cells import EvenCells, EvenCounts
from bioeval.counting.grids import ScoreExtent, grid_over
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.order import increasing
from bioeval.counting.sorted_scores import FINITE, SortedScores


class Attempts:
    """Genuine and impostor scores in order; ``CountedAttempts`` lists only some impostors.

    The attempts are a single part; `points` finds their operating points.

    Parameters
    ----------
    genuine : ndarray of float64 (g,)
        In increasing order, without NaN.
    impostor : SortedScores
    missed, missed_impostors : int
        Attempts that no threshold accepts: failed attempts and, in the open set, genuine attempts
        whose mate is not first.
    """

    #: Whether every impostor score is known.
    listed: ClassVar[bool] = True

    def __init__(
        self,
        genuine: np.ndarray,
        impostor: SortedScores,
        missed: int = 0,
        missed_impostors: int = 0,
    ):
        genuine_scores = SortedScores.of_scores(genuine)
        self.genuine, self.impostor = genuine_scores.keys, impostor
        self.points = AttemptsOfParts(genuine_scores, impostor, missed, missed_impostors)
        self.impostors = int(impostor.attempts[0])  # the number of impostor scores
        self.missed, self.missed_impostors = missed, missed_impostors
        self.genuine_attempts = len(genuine) + missed
        self.impostor_attempts = self.impostors + missed_impostors
        #: Whether both classes have attempts.
        self.defined = self.genuine_attempts > 0 and self.impostor_attempts > 0

    @classmethod
    def from_scores(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Return attempts whose scores are all known; NaN is no attempt."""
        return cls.from_ordered(increasing(genuine), increasing(impostor), missed, missed_impostors)

    @classmethod
    def from_ordered(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Return attempts whose scores are all known, increasing, and not NaN."""
        return cls(genuine, SortedScores.of_scores(impostor), missed, missed_impostors)

    @classmethod
    def with_failures(cls, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return listed attempts; NaN is a failed attempt, which has no score."""
        scores = increasing(genuine), increasing(impostor)
        failed = len(genuine) - len(scores[0]), len(impostor) - len(scores[1])
        return cls.from_ordered(*scores, *failed)

    # -- counts

    def false_accepts(self, threshold: Any) -> np.ndarray:
        return self.impostor.upto(np.asarray(threshold)[None])[0]

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        accepted, rejected = self.points.errors_at(np.array([threshold]))
        return int(accepted[0]), int(rejected[0])

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score that each threshold rejects.

        It is infinity if there is none, and NaN for NaN.
        """
        return self.points.next_scores(np.asarray(thresholds, dtype=np.float64)[None])[0]

    @cached_property
    def even_counts(self) -> EvenCounts:
        """The impostor scores in cells of one width."""
        scores = self.impostor.keys
        negative, high = scores.searchsorted(FINITE).tolist()
        positive = len(scores) - high
        if negative == high:
            return EvenCounts(EvenCells(), np.zeros(0, np.int64), negative, positive)
        cells = EvenCells.covering(float(scores[negative]), float(scores[high - 1]))
        upto = scores.searchsorted(cells.edges, side="right")
        upto[-1] = high
        counts = np.diff(upto, prepend=negative)
        return EvenCounts(cells, counts, negative, positive)

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds over both classes, and the false accepts there."""
        thresholds = grid_over(self.extent())
        return thresholds, self.false_accepts(thresholds)

    def extent(self) -> ScoreExtent:
        """Return the range of the scores of both classes."""
        genuine, impostor = map(ScoreExtent.from_ordered, (self.genuine, self.impostor.keys))
        return genuine.joined(impostor)
