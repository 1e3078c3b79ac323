"""The scores of one class in order, in one part or in many: how many are below thresholds.

Every array of thresholds or counts has the parts first, (parts, ...). All scores are distances.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np


class SortedScores:
    """Scores in increasing order, without NaN, those of the parts one after the other.

    One search finds the places of thresholds in all parts: of several parts the keys are int64,
    ``part * codes + code``, with `code` the place of the score in a table of `codes` distinct
    distances. Of one part the keys are the scores themselves.

    Parameters
    ----------
    keys : ndarray (k,)
        In increasing order.
    starts : ndarray of int64 (parts + 1,)
        Where each part begins, and the end.
    distances : ndarray of float64 (codes,), optional
        The table, increasing; None where the keys are the scores of one part.
    weights : ndarray (k,), optional
        How many attempts each score stands for; one by default. Counts are of attempts.
    """

    def __init__(
        self,
        keys: np.ndarray,
        starts: np.ndarray,
        distances: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ):
        self.keys, self.starts, self.distances = keys, starts, distances
        self.sizes = starts[1:] - starts[:-1]  # int64 (parts,): number of scores
        #: (k + 1,): attempts of so many scores; None where each score is one attempt.
        self.summed = None if weights is None else np.append(0, np.cumsum(weights))

    @classmethod
    def of_scores(cls, scores: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return increasing scores of one part."""
        scores = scores.astype(np.float64, copy=False)
        return cls(scores, np.array([0, len(scores)]), None, weights)

    @classmethod
    def of_keys(
        cls,
        keys: np.ndarray,
        distances: np.ndarray,
        parts: int,
        weights: np.ndarray | None = None,
    ) -> Self:
        """Return scores by increasing keys ``part * len(distances) + code`` (int64)."""
        starts = keys.searchsorted(np.arange(parts + 1) * len(distances))
        return cls(keys, starts, distances, weights)

    @classmethod
    def of_parts(cls, scores: Sequence[np.ndarray]) -> Self:
        """Return the increasing scores of several parts, an array each."""
        every = np.concatenate([np.empty(0), *scores])
        distances, codes = np.unique(every, return_inverse=True)
        part = np.repeat(np.arange(len(scores)), [len(x) for x in scores])
        return cls.of_keys(part * len(distances) + codes, distances, len(scores))

    @property
    def parts(self) -> int:
        """The number of parts."""
        return len(self.sizes)

    @cached_property
    def scores(self) -> np.ndarray:
        """float64 (k,): the scores."""
        if self.distances is None:
            return self.keys
        return self.scores_at(np.arange(len(self.keys)))

    def part_of(self, places: np.ndarray) -> np.ndarray:
        """Return the part of each of some increasing places."""
        return np.repeat(np.arange(self.parts), np.diff(places.searchsorted(self.starts)))

    def scores_at(self, places: np.ndarray) -> np.ndarray:
        """Return the scores at increasing places (k,)."""
        if self.distances is None:
            return self.keys[places]
        return self.distances[self.keys[places] - self.part_of(places) * len(self.distances)]

    # -- counts at thresholds

    def below(self, thresholds: Any) -> np.ndarray:
        """Return the number below each threshold (parts, ...); all are below NaN."""
        return self._number(self._places(thresholds, "left"))

    def upto(self, thresholds: Any) -> np.ndarray:
        """Return the number up to each threshold (parts, ...); all are below NaN."""
        return self._number(self._places(thresholds, "right"))

    @property
    def attempts(self) -> np.ndarray:
        """The number of attempts in each part, (parts,)."""
        return self.sizes if self.summed is None else np.diff(self.summed[self.starts])

    def _number(self, places: np.ndarray) -> np.ndarray:
        """Return the number of attempts before places (parts, ...)."""
        starts = self.starts[:-1]
        if self.summed is not None:
            starts, places = self.summed[starts], self.summed[places]
        return places - along_points(starts, places)

    def _places(self, thresholds: Any, side: Any) -> np.ndarray:
        """Return the places of the first scores that are not before thresholds."""
        if self.distances is None:
            return self.keys.searchsorted(thresholds, side)
        codes = self.distances.searchsorted(thresholds, side)
        first = np.arange(self.parts) * len(self.distances)
        return self.keys.searchsorted(codes + along_points(first, codes))

    # -- scores

    def nth(self, numbers: np.ndarray) -> np.ndarray:
        """Return the n-th smallest score, from 1; NaN of 0 and of more scores than there are."""
        inside = (numbers > 0) & (numbers <= along_points(self.sizes, numbers))
        return self._scores_of(self.starts[:-1], numbers - 1, inside)

    def previous(self, thresholds: Any) -> np.ndarray:
        """Return the largest score below each threshold; NaN where there is none."""
        places = self._places(thresholds, "left")
        starts = self.starts[:-1]
        return self._scores_of(0 * starts, places - 1, places > along_points(starts, places))

    def following(self, thresholds: Any) -> np.ndarray:
        """Return the smallest score above each threshold; infinity where there is none."""
        places = self._places(thresholds, "right")
        inside = places < along_points(self.starts[1:], places)
        after = self._scores_of(0 * self.starts[1:], places, inside)
        return np.where(inside, after, np.inf)

    def _scores_of(self, starts: np.ndarray, numbers: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Return the scores so many places after starts (parts,); NaN where not inside."""
        if not len(self.keys):
            return np.full(inside.shape, np.nan)
        places = np.where(inside, along_points(starts, numbers) + numbers, 0)
        keys = self.keys[places]
        if self.distances is not None:
            first = np.arange(self.parts) * len(self.distances)
            keys = self.distances[np.where(inside, keys - along_points(first, keys), 0)]
        return np.where(inside, keys, np.nan)


def along_points(of_parts: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return an array (parts,) that broadcasts with one over (parts, ...)."""
    return of_parts.reshape(-1, *(1,) * (points.ndim - 1))
