"""Attempts whose impostor scores are counted: only some of the scores are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.errors import DataError
from bioeval.counting.cells import EvenCounts, cell_exponent, joint_exponent
from bioeval.counting.floats import next_number
from bioeval.counting.grids import DEFAULT_COUNT, ScoreExtent, default_grid, with_infinities
from bioeval.counting.moments import Moments
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.sorted_scores import SortedScores


class CountTable(NamedTuple):
    """Increasing scores, and the numbers of scores below each of them, and up to it."""

    scores: np.ndarray  # float64 (k,)
    below: np.ndarray  # int64 (k,)
    upto: np.ndarray  # int64 (k,)


class CountedScores(SortedScores):
    """Impostor scores of which only some are listed, and the others counted.

    Parameters
    ----------
    listed : CountTable
        The distinct scores that are listed.
    number : int
        The number of all scores.
    at_thresholds : CountTable
        Thresholds, among them all distinct genuine scores.
    dtype : dtype
        The type of the scores.
    is_exact : ndarray of bool (thresholds,), optional
        Where `at_thresholds` has exact numbers; None: everywhere.
    count_upto : callable, optional
        Returns the numbers of scores up to any thresholds whose cells have all scores listed.
    """

    def __init__(
        self,
        listed: CountTable,
        number: int,
        at_thresholds: CountTable,
        *,
        dtype: np.dtype,
        is_exact: np.ndarray | None = None,
        count_upto: Callable[[np.ndarray], np.ndarray] | None = None,
        moments: Moments | None = None,
    ):
        super().__init__(listed.scores, np.array([0, number]))
        self._listed, self._at_thresholds = listed, at_thresholds
        self._dtype, self._is_exact, self._count_upto = dtype, is_exact, count_upto
        self._moments = moments

    def _counted(
        self, thresholds: np.ndarray, name: Literal["below", "upto"], *, exact: bool = False
    ) -> np.ndarray:
        """Return the numbers below thresholds, or up to them; -1 if not counted."""
        counts = np.where(thresholds < np.inf, -1, self.attempts[0])  # infinity and NaN
        at_thresholds = self._at_thresholds
        if exact and self._is_exact is not None:
            at_thresholds = CountTable(*(x[self._is_exact] for x in at_thresholds))
        for table in (self._listed, at_thresholds):
            if len(table.scores):
                index = np.minimum(table.scores.searchsorted(thresholds), len(table.scores) - 1)
                is_found = table.scores[index] == thresholds
                counts = np.where(is_found, getattr(table, name)[index], counts)
        return counts

    def below(self, thresholds: Any) -> np.ndarray:
        """Return the number below each threshold: a listed score, or a counted threshold."""
        limits = np.asarray(thresholds)
        return np.where(limits == -np.inf, 0, self._counted(limits, "below"))

    def upto(self, thresholds: Any) -> np.ndarray:
        """Return the number up to each threshold; uncounted thresholds need `count_upto`."""
        limits = np.asarray(thresholds, dtype=np.float64)
        counts = self._counted(limits, "upto")
        if (counts >= 0).all():
            return counts
        if self._count_upto is None:
            raise DataError("false accepts are known only at the thresholds that were counted")
        return self._count_upto(limits.ravel()).reshape(limits.shape)

    def nth(self, numbers: np.ndarray) -> np.ndarray:
        """Return the first listed score with at least n scores up to it; NaN if there is none."""
        index = self._listed.upto.searchsorted(numbers)
        return self._scores_at(index, (numbers > 0) & (index < len(self.keys)))

    def largest_below(self, thresholds: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of scores below thresholds, and the largest; raise if it is unknown."""
        counts = self.below(thresholds)
        index = self.keys.searchsorted(thresholds)
        if (np.append(0, self._listed.upto)[index] != counts).any():
            raise DataError("the scores around a threshold were not kept")
        return counts, self._scores_at(index - 1, index > 0)

    def following(self, thresholds: Any, nearest: Any = np.inf) -> np.ndarray:
        """Return the smallest score above each threshold, unless `nearest` is smaller.

        If an unlisted score may be smaller, return the next number of the dtype: no score is below.
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        index = self.keys.searchsorted(limits, side="right")
        following = np.fmin(self._scores_at(index, index < len(self.keys)), nearest)
        accepted = self._counted(limits, "upto", exact=True)
        before = self._counted(following, "below", exact=True)
        # No score is between the threshold and the known score where both numbers are equal.
        is_known = (accepted >= 0) & (accepted == before)
        return np.where(is_known, following, next_number(limits, self._dtype))

    def counts_at(self, other: SortedScores) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers below, and up to, the genuine scores, which were all counted."""
        counted = self._at_thresholds
        index = counted.scores.searchsorted(other.distinct())
        return counted.below[index], counted.upto[index]

    def moments(self) -> Iterator[Moments]:
        assert self._moments is not None
        yield self._moments


class CountedAttempts(Attempts):
    """Attempts whose impostor scores are counted: :class:`CountedScores`.

    Parameters
    ----------
    count_cells : callable, optional
        Returns the counts of all impostor scores in cells.
    near : callable, optional
        Returns thresholds next to its argument, and the false accepts there.
    """

    listed = False
    impostor: CountedScores

    def __init__(
        self,
        genuine: np.ndarray,
        impostor: CountedScores,
        missed: int,
        missed_impostors: int,
        *,
        count_cells: Callable[[], EvenCounts] | None = None,
        near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
    ):
        super().__init__(genuine, impostor, missed, missed_impostors)
        self._count_cells, self._near = count_cells, near

    @cached_property
    def even_counts(self) -> EvenCounts:
        assert self._count_cells is not None
        return self._count_cells()

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds, on the edges of cells, and the false accepts there."""
        assert self._near is not None
        thresholds = self._grid()
        ends, accepted = self._near(thresholds[np.isfinite(thresholds)])
        if (thresholds == -np.inf).any():
            ends = np.append(-np.inf, ends)
            accepted = np.append(self.even_counts.negative_infinite, accepted)
        if (thresholds == np.inf).any():
            ends = np.append(ends, np.inf)
            accepted = np.append(accepted, self.impostors)
        return ends, accepted

    def _grid(self) -> np.ndarray:
        impostors = self.even_counts
        genuine = ScoreExtent.from_ordered(self.genuine)
        ranges = [impostors.range, (genuine.low, genuine.high)]
        exponents = [impostors.cells.exponent] if len(impostors.counts) else []
        if genuine.low <= genuine.high:
            exponents.append(cell_exponent(genuine.low, genuine.high))
        exponent = joint_exponent(max(exponents, default=0), ranges)
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        return with_infinities(
            default_grid(low, high, exponent, DEFAULT_COUNT),
            impostors.negative_infinite > 0 or genuine.negative,
            impostors.positive_infinite > 0 or genuine.positive,
        )
