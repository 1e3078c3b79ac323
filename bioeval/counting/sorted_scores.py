"""The scores of one class in order, in one part or in many: how many are below thresholds.

Every array of thresholds or counts has the parts first, (parts, ...). All scores are distances.
Moments, mean, standard deviation and d', are here as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from bioeval.counting.order import next_number, run_bounds


class Moments(NamedTuple):
    """Mean and standard deviation of the finite scores of a class; NaN without scores.

    The mean is ``origin + offset``. The two are kept apart, since their sum loses digits if scores
    are far from 0 and close together.
    """

    scale: float = 1.0  # a power of two by which the scores, and the other fields, are multiplied
    origin: float = np.nan  # one of the scores
    offset: float = np.nan  # the mean of the scores, less the origin
    deviation: float = np.nan  # the standard deviation of the scores (``ddof = 0``)


def moment_scale(low: float, high: float) -> float:
    """Return a power of two by which differences in a range become about 1 at most."""
    spread = math.frexp(high / 2 - low / 2)[1] + 1
    # As if the range were wider than the rounding of its ends: no scaled score overflows.
    largest = math.frexp(max(abs(low), abs(high)))[1]
    return 2.0 ** -max(spread, largest - 60, -1000)


def moments_of(scores: np.ndarray) -> Moments:
    """Return the moments of some finite scores, in increasing order."""
    if not len(scores):
        return Moments()
    scale = moment_scale(float(scores[0]), float(scores[-1]))
    origin = float(scores[0] * scale)
    mean = float(_sum(scores, lambda x: x * scale - origin) / len(scores))
    spread = _sum(scores, lambda x: np.square(x * scale - origin - mean)) / len(scores)
    return Moments(scale, origin, mean, math.sqrt(spread))


def _sum(scores: np.ndarray, function: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Return the sum of a function of scores, in pieces that fit into the caches.

    They are halves of halves, as of NumPy's pairwise sum, so that the sum is that of one piece.
    """
    if len(scores) <= 1 << 16:
        return function(scores).sum()
    half = len(scores) // 16 * 8
    return _sum(scores[:half], function) + _sum(scores[half:], function)


def d_prime(genuine: Moments, impostor: Moments) -> float:
    """Return ``|mean_i - mean_g| / sqrt((var_g + var_i) / 2)``; NaN where both variances are 0.

    The variances are over the number of scores (``ddof = 0``): Green and Swets (1966), Signal
    detection theory and psychophysics; Daugman (2000), Technical Report 482, Cambridge.

    The difference of the means is the difference of the origins plus the difference of the offsets,
    which are exact, or nearly so, if scores are close together.
    """
    # In the scale of the wider class no score overflows; scores of the other may underflow.
    scale = min(genuine.scale, impostor.scale)
    genuine_scale = scale / genuine.scale
    impostor_scale = scale / impostor.scale
    spread = math.hypot(genuine.deviation * genuine_scale, impostor.deviation * impostor_scale)
    if not spread > 0:
        return float("nan")
    origins = impostor.origin * impostor_scale - genuine.origin * genuine_scale
    offsets = impostor.offset * impostor_scale - genuine.offset * genuine_scale
    return abs(origins + offsets) / spread * math.sqrt(2)


#: Where the finite scores begin and end among increasing scores.
FINITE = np.array([np.finfo(np.float64).min, np.inf])


class SortedScores:
    """Scores in increasing order, without NaN, part after part.

    The keys of one part are the scores themselves. The keys of several parts are int64, ``part *
    codes + code``, where `code` is the index of the score in a table of distinct distances, and
    `codes` their number: thus one search finds thresholds in all parts.

    - `keys` (k,): in increasing order
    - `starts` (int64 (parts + 1,)): where each part begins, and the end
    - `distances` (float64 (codes,)): the table, increasing, which both classes of attempts share;
      None if the keys are the scores of one part
    - `weights` (k,): how many attempts each score stands for; one by default. Counts are of
      attempts
    - `times`: how often each score was compared, for moments; other numbers count it once
    """

    def __init__(
        self,
        keys: np.ndarray,
        starts: np.ndarray,
        distances: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        times: int = 1,
    ):
        self._times = times
        self.keys, self.starts, self.distances, self.weights = keys, starts, distances, weights
        self.sizes = starts[1:] - starts[:-1]  # int64 (parts,): number of scores
        #: (k + 1,): the number of attempts before each score; None if each score is one attempt.
        self.summed = None if weights is None else np.append(0, np.cumsum(weights))
        #: (parts,): the number of attempts.
        self.attempts = self.sizes if self.summed is None else np.diff(self.summed[starts])

    @classmethod
    def of_scores(cls, scores: np.ndarray, weights: np.ndarray | None = None) -> Self:
        """Return increasing scores of one part."""
        scores = scores.astype(np.float64, copy=False)
        return cls(scores, np.array([0, len(scores)]), None, weights)

    @classmethod
    def of_keys(cls, keys: np.ndarray, distances: np.ndarray, parts: int) -> Self:
        """Return scores from increasing keys ``part * len(distances) + code`` (int64)."""
        # (parts + 1,): each part begins at the smallest key that it may have.
        starts = keys.searchsorted(np.arange(parts + 1) * len(distances))
        return cls(keys, starts, distances)

    @classmethod
    def of_parts(cls, scores: Sequence[np.ndarray], distances: np.ndarray) -> Self:
        """Return the increasing scores of several parts, with a table of all distances."""
        part = np.repeat(np.arange(len(scores)), [len(x) for x in scores])
        codes = distances.searchsorted(np.concatenate([np.empty(0), *scores]))
        return cls.of_keys(part * len(distances) + codes, distances, len(scores))

    # -- counts at thresholds

    def below(self, thresholds: Any) -> np.ndarray:
        """Return the number below each threshold (parts, ...); every score counts as below NaN."""
        return self._attempts_before(self._indices_of(thresholds, "left"))

    def upto(self, thresholds: Any) -> np.ndarray:
        """Return the number up to each threshold (parts, ...); every score counts as below NaN."""
        return self._attempts_before(self._indices_of(thresholds, "right"))

    def largest_below(self, thresholds: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of scores below each threshold, and the largest; NaN without any."""
        indices = self._indices_of(thresholds, "left")
        has_score = indices > along_points(self.starts[:-1], indices)
        return self._attempts_before(indices), self._scores_at(indices - 1, has_score)

    def following(self, thresholds: Any, nearest: Any = np.inf) -> np.ndarray:
        """Return the smallest score above each threshold, unless `nearest` is smaller."""
        indices = self._indices_of(thresholds, "right")
        has_score = indices < along_points(self.starts[1:], indices)
        return np.fmin(self._scores_at(indices, has_score), nearest)

    def nth(self, numbers: np.ndarray) -> np.ndarray:
        """Return the scores of the n-th attempts, from 1; NaN for 0 and beyond the attempts."""
        has_score = (numbers > 0) & (numbers <= along_points(self.attempts, numbers))
        starts = self.starts if self.summed is None else self.summed[self.starts]
        indices = along_points(starts[:-1], numbers) + numbers - 1
        if self.summed is not None:
            indices = self.summed.searchsorted(indices, "right") - 1
        return self._scores_at(indices, has_score)

    def _attempts_before(self, indices: np.ndarray) -> np.ndarray:
        """Return how many attempts each part has before `indices` (parts, ...) of `keys`."""
        if self.summed is not None:
            return self.summed[indices] - along_points(self.summed[self.starts[:-1]], indices)
        return (
            indices if self.distances is None else indices - along_points(self.starts[:-1], indices)
        )

    def _indices_of(self, thresholds: Any, side: Any) -> np.ndarray:
        """Return the index in `keys` of each threshold (parts, ...)."""
        if self.distances is None:
            return self.keys.searchsorted(thresholds, side)
        # The key of a threshold is its code plus the first key of the part.
        codes = self.distances.searchsorted(thresholds, side)
        return self.keys.searchsorted(codes + along_points(self._first_keys, codes))

    @cached_property
    def _first_keys(self) -> np.ndarray:
        """The smallest key that each part may have, int64 (parts,); 0 for a single part."""
        return np.arange(len(self.sizes)) * (0 if self.distances is None else len(self.distances))

    def _scores_at(self, indices: np.ndarray, has_score: np.ndarray) -> np.ndarray:
        """Return the scores at `indices` (parts, ...) of `keys`; NaN where not `has_score`."""
        if not len(self.keys):
            return np.full(has_score.shape, np.nan)
        keys = self.keys[np.where(has_score, indices, 0)]
        if self.distances is not None:
            keys = self.distances[
                np.where(has_score, keys - along_points(self._first_keys, keys), 0)
            ]
        return np.where(has_score, keys, np.nan)

    def first_below(self, limits: np.ndarray) -> np.ndarray:
        """Return, for each score, the index of the first limit above it, (k,).

        The limits of each part, (parts, limits), are increasing. The index is the number of limits
        if none is above the score.
        """
        bounds = self.starts[:-1, None], self._indices_of(limits, "left"), self.starts[1:, None]
        # (parts, limits + 1): numbers of scores before, between and after the limits. Scores are in
        # order: repeating the index of each limit so often gives the index of each score.
        sizes = np.diff(np.concatenate(bounds, axis=1), axis=1)
        limit_number = np.arange(sizes.shape[1])
        return np.repeat(np.broadcast_to(limit_number, sizes.shape).ravel(), sizes.ravel())

    # -- all scores

    def select(self, flags: np.ndarray) -> SortedScores:
        """Return the scores that are flagged, (k,)."""
        # (parts + 1,): the number of flagged scores before each part.
        starts = np.append(0, np.cumsum(flags))[self.starts]
        weights = None if self.weights is None else self.weights[flags]
        return SortedScores(self.keys[flags], starts, self.distances, weights)

    def scores(self) -> np.ndarray:
        """Return all scores, float64 (k,)."""
        if self.distances is None:
            return self.keys
        return self.distances[self.keys - np.repeat(self._first_keys, self.sizes)]

    def in_part(self, part: int) -> np.ndarray:
        keys = self.keys[self.starts[part] : self.starts[part + 1]]
        if self.distances is None:
            return keys
        return self.distances.take(keys - self._first_keys[part])

    @cached_property
    def runs(self) -> np.ndarray:
        """The index where each run of equal scores of a part begins, and the end."""
        return run_bounds(self.keys)

    @property
    def run_starts(self) -> np.ndarray:
        """The number of distinct scores in all parts before each part, int64 (parts + 1,)."""
        if self.distances is None:
            return np.array([0, len(self.runs) - 1])
        return self.runs.searchsorted(self.starts)

    def has_minus_infinity(self) -> np.ndarray:
        """Return whether -inf is a score, (parts,)."""
        starts = self.starts[:-1]
        return self._indices_of(np.full(len(starts), -np.inf), "right") > starts

    def distinct(self) -> np.ndarray:
        """Return the distinct scores of all parts, part by part."""
        keys = self.keys[self.runs[:-1]]
        if self.distances is None:
            return keys
        return self.distances[keys - np.repeat(self._first_keys, np.diff(self.run_starts))]

    def upto_distinct(self) -> np.ndarray:
        """Return how many attempts of its part are up to each distinct score, part by part."""
        upto = self.runs[1:]
        before = self.starts[:-1]
        if self.summed is not None:
            upto, before = self.summed[upto], self.summed[before]
        return upto - np.repeat(before, np.diff(self.run_starts))

    def counts_at(self, other: SortedScores) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers below, and up to, the distinct scores of another class.

        Both are (distinct scores,), as :meth:`distinct` of the other class.
        """
        keys = other.keys[other.runs[:-1]]
        below = self.keys.searchsorted(keys)
        upto = below.copy()
        if len(self.keys):
            # The two numbers differ only at scores of both classes, which are few.
            tied = np.flatnonzero(self.keys[np.minimum(below, len(self.keys) - 1)] == keys)
            upto[tied] = self.keys.searchsorted(keys[tied], "right")
        starts = self.starts
        if self.summed is not None:
            below, upto, starts = (self.summed[x] for x in (below, upto, starts))
        if self.distances is None:
            return below, upto
        # Indices count from the first part, numbers from the part of each distinct score.
        starts = np.repeat(starts[:-1], np.diff(other.run_starts))
        return below - starts, upto - starts

    def moments(self) -> Iterator[Moments]:
        """Yield the moments of the finite scores of each part."""
        for part in range(len(self.sizes)):
            scores = self.in_part(part)
            low, high = scores.searchsorted(FINITE).tolist()
            # As of a list of all attempts, to the last bit: sums are rounded.
            scores = scores[low:high]
            yield moments_of(scores if self._times == 1 else np.repeat(scores, self._times))


class PartlyListed(SortedScores):
    """Scores of which some are listed; any other entry stands for the unlisted scores of a cell.

    The entry of unlisted scores is below all of them: numbers are exact at thresholds in cells
    whose scores are listed, or that have none.

    - `is_listed` (bool (k,)): which entries are scores
    - `dtype`: the type of the scores
    """

    def __init__(
        self,
        keys: np.ndarray,
        starts: np.ndarray,
        distances: np.ndarray,
        weights: np.ndarray,
        is_listed: np.ndarray,
        dtype: np.dtype,
    ):
        super().__init__(keys, starts, distances, weights)
        self._is_listed, self._dtype = is_listed, dtype

    def following(self, thresholds: Any, nearest: Any = np.inf) -> np.ndarray:
        """Return the smallest score above each threshold, unless `nearest` is smaller.

        If an unlisted score may be smaller, return the next number of the dtype: no score is below.
        """
        following = super().following(thresholds, nearest)
        indices = self._indices_of(thresholds, "right")
        has_unlisted = indices < along_points(self.starts[1:], indices)
        has_unlisted[has_unlisted] = ~self._is_listed[indices[has_unlisted]]
        may_be_smaller = following == self._scores_at(indices, has_unlisted)
        return np.where(may_be_smaller, next_number(thresholds, self._dtype), following)


def along_points(numbers: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return numbers (parts,) in a shape that broadcasts with `points` (parts, ...)."""
    return numbers.reshape(-1, *(1,) * (points.ndim - 1))
