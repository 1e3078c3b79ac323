"""Counts for calibration: genuine scores, impostor scores between them, and sums of losses.

The impostor scores are counted at each genuine score and at each threshold that is asked for. They
are read a second time for the range of the scores in each isotonic block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy

from bioeval.counting.order import increasing
from bioeval.counting.points import ErrorCurve
from bioeval.counting.reduce import OfEachBlock, Reducer, reduce
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.verification import CollectAttempts
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.rows import threads_for
from bioeval.studies.calibration import kernel as log_odds

LOG2 = float(np.log(2.0))


@dataclass(frozen=True)
class Pooled:
    """Blocks of scores with the same posterior probability, from the smallest distance on."""

    #: float64 (blocks - 1,): the largest distance of each block but the last.
    edges: np.ndarray
    #: int64 (blocks,): numbers of genuine and of impostor attempts in each block.
    genuine: np.ndarray
    impostor: np.ndarray

    @classmethod
    def from_points(
        cls, distances: np.ndarray, fa: np.ndarray, fr: np.ndarray, attempts: tuple[int, int]
    ) -> Pooled:
        """Pool the operating points at increasing distances.

        At each distance, `fa` counts the false accepts and `fr` the false rejects; `attempts` are
        the numbers of genuine and of impostor attempts.
        """
        genuine, impostor = attempts
        accepts = np.concatenate([[0], fa, [impostor]]).astype(np.float64)
        rejects = np.concatenate([[genuine], fr, [0]]).astype(np.float64)
        threshold = np.concatenate([[-np.inf], distances, [np.inf]]).astype(np.float64)
        corners = ErrorCurve(threshold, accepts, rejects, genuine, impostor).corners()
        # The convex hull leaves out an end of the ROC that is on one of its edges along an axis.
        corners = np.unique(np.concatenate([[0], corners, [len(accepts) - 1]]))
        accepts = accepts[corners]
        rejects = rejects[corners]
        threshold = threshold[corners]
        is_end = np.append(True, (np.diff(accepts) > 0) | (np.diff(rejects) < 0))
        genuine_in_block = -np.diff(rejects[is_end].astype(np.int64))
        impostor_in_block = np.diff(accepts[is_end].astype(np.int64))
        return cls(threshold[is_end][1:-1], genuine_in_block, impostor_in_block)

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """The proportions of both classes in each block."""
        return self.genuine / self.genuine.sum(), self.impostor / self.impostor.sum()

    @property
    def llr(self) -> np.ndarray:
        """The log-likelihood ratio of each block, decreasing; infinite in blocks of one class."""
        with np.errstate(divide="ignore"):
            genuine, impostor = map(np.log, self.rates)
        return genuine - impostor

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """FAR and FRR where each block begins, and finally where everything is accepted."""
        genuine, impostor = (np.append(0, np.cumsum(x)) for x in self.rates)
        return impostor, 1 - genuine

    def cross_entropy(self, log_odds: np.ndarray) -> np.ndarray:
        """Return the least empirical cross-entropy at each prior, given as log odds, in bits."""
        prior = scipy.special.expit(log_odds)[:, None]
        genuine, impostor = self.rates
        genuine_weight = prior * genuine
        impostor_weight = (1 - prior) * impostor
        # The cost of a block is the entropy of its mixture of the two classes.
        xlogy = scipy.special.xlogy
        total = genuine_weight + impostor_weight
        entropy = (
            xlogy(total, total)
            - xlogy(genuine_weight, genuine_weight)
            - xlogy(impostor_weight, impostor_weight)
        )
        return entropy.sum(axis=1) / LOG2


class Isotonic(NamedTuple):
    """The blocks of isotonic regression, and the thresholds of least cost; scores are distances."""

    pooled: Pooled
    low: np.ndarray  # float64 (blocks,): the smallest distance in each block
    high: np.ndarray  # float64 (blocks,): the largest distance in each block
    #: FAR and FRR at some thresholds, among which is one of least cost at any prior and costs.
    points: tuple[np.ndarray, np.ndarray]

    def least_cost(self, weight_frr: np.ndarray, weight_far: np.ndarray) -> np.ndarray:
        """Return the least of ``weight_frr FRR + weight_far FAR`` over all thresholds."""
        far, frr = self.points
        cost = np.multiply.outer(weight_frr, frr) + np.multiply.outer(weight_far, far)
        return cost.min(axis=1)


class MeanLosses(NamedTuple):
    """Mean losses at each shift, float64 (shifts,); NaN without attempts.

    With the negative distance ``l``, they are means of ``log(1 + e^-(l + shift))`` over genuine
    attempts and of ``log(1 + e^(l + shift))`` over impostor attempts.
    """

    genuine: np.ndarray
    impostor: np.ndarray


@dataclass(frozen=True)
class CalibrationCounts:
    """Counts of attempts for calibration; all scores are distances."""

    about: Provenance
    genuine: np.ndarray  # float64 (g,): genuine scores, increasing
    #: float64 (t,), increasing: the distinct genuine scores, and the thresholds that were given.
    thresholds: np.ndarray
    fa: np.ndarray  # int64 (t,): impostor scores at or below each threshold
    impostor_attempts: int
    infinite: tuple[int, int]  # genuine attempts at the distance inf, impostor attempts at -inf
    losses: MeanLosses | None  # None without shifts
    isotonic: Isotonic | None  # None unless both classes have attempts

    def false_accepts(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of impostor attempts accepted at each of some counted `thresholds`."""
        return self.fa[np.searchsorted(self.thresholds, thresholds)]

    def false_rejects(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of genuine attempts above each threshold; thresholds are distances."""
        return len(self.genuine) - np.searchsorted(self.genuine, thresholds, side="right")


def count_for_calibration(
    scores: Scores,
    *,
    wanted: np.ndarray | None = None,
    shifts: np.ndarray | None = None,
    laplace: bool = False,
) -> CalibrationCounts:
    """Count the attempts of verification, and sum their losses at the increasing `shifts`.

    False accepts and false rejects can be read at the distances `wanted`, apart from the genuine
    scores. With `laplace`, one attempt of each class is added at either infinity before pooling.
    """
    require_all_scores(scores)
    given_thresholds = np.array([-np.inf, np.inf])
    if wanted is not None:
        given_thresholds = np.union1d(given_thresholds, wanted)
    reducers: list[Reducer] = [CollectAttempts(thresholds=given_thresholds)]
    if shifts is not None:
        reducers.append(OfEachBlock(lambda values: _sums_of_losses(values, -1.0, shifts)))
    attempts, *losses_of_blocks = reduce(scores, *reducers)
    with threads_for(scores):
        # A failed genuine comparison has the log-likelihood ratio minus infinity.
        genuine = np.append(attempts.genuine, np.full(attempts.missed, np.inf))
        thresholds = np.union1d(given_thresholds, genuine)
        fa = attempts.false_accepts(thresholds).astype(np.int64)
        infinite = int(np.isposinf(genuine).sum()), int(fa[0])
        losses = None
        if shifts is not None:
            impostor_sums = np.sum(losses_of_blocks[0], axis=0)
            # Genuine attempts at the distance -inf have the loss 0.
            finite = genuine[np.isfinite(genuine)]
            genuine_sums = _sums_of_losses(finite, 1.0, -shifts[::-1])[::-1]
            losses = MeanLosses(
                _mean_loss(genuine_sums, len(genuine), infinite[0]),
                _mean_loss(impostor_sums, attempts.impostor_attempts, infinite[1]),
            )
        isotonic = None
        if len(genuine) and attempts.impostor_attempts:
            pooled = _pooled(genuine, thresholds, fa, attempts.impostor_attempts, laplace=laplace)
            low, high = _ranges_of_blocks(scores, attempts, pooled.edges)
            isotonic = Isotonic(pooled, low, high, _points_of_least_cost(pooled, attempts))
    return CalibrationCounts(
        Provenance.from_scores(scores),
        genuine=genuine,
        thresholds=thresholds,
        fa=fa,
        impostor_attempts=attempts.impostor_attempts,
        infinite=infinite,
        losses=losses,
        isotonic=isotonic,
    )


def _points_of_least_cost(pooled: Pooled, attempts: Attempts) -> tuple[np.ndarray, np.ndarray]:
    # Failed comparisons are in the last block, but no threshold accepts them.
    if attempts.missed or attempts.missed_impostors:
        curve = attempts.points.corners
        corners = curve.corners()
        return curve.fars[corners], curve.frrs[corners]
    return pooled.points


def _pooled(
    genuine: np.ndarray, thresholds: np.ndarray, fa: np.ndarray, impostors: int, *, laplace: bool
) -> Pooled:
    """Pool the attempts at increasing genuine scores.

    `fa` are the numbers of impostor attempts that are accepted at `thresholds`; the distance inf
    counts as accepting all `impostors`.
    """
    distances = np.unique(genuine)
    if laplace:
        distances = np.union1d(distances, [-np.inf, np.inf])
    accepts = fa[np.searchsorted(thresholds, distances)]
    accepts[distances == np.inf] = impostors
    rejects = len(genuine) - np.searchsorted(genuine, distances, side="right")
    added = 0
    if laplace:
        accepts = accepts + 1 + (distances == np.inf)
        rejects = rejects + (distances < np.inf)
        added = 2
    return Pooled.from_points(
        distances, accepts, rejects, (len(genuine) + added, impostors + added)
    )


def _ranges_of_blocks(
    scores: Scores, attempts: Attempts, edges: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest distance in each block between `edges`."""
    low = np.full(len(edges) + 1, np.inf)
    high = np.full(len(edges) + 1, -np.inf)
    if attempts.listed:
        impostor_ranges = [_ranges_between(attempts.impostor.keys, edges)]
    else:  # only some impostor distances were kept: read the scores again
        reducer = OfEachBlock(lambda x: _ranges_between(increasing(x.ravel()), edges))
        impostor_ranges = reduce(scores, reducer)[0]
    failed = np.full(min(attempts.missed + attempts.missed_impostors, 1), np.inf)
    further_ranges = (_ranges_between(x, edges) for x in (attempts.genuine, failed))
    for smallest, largest in chain(impostor_ranges, further_ranges):
        low = np.minimum(low, smallest)
        high = np.maximum(high, largest)
    return low, high


def _ranges_between(distances: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest of increasing `distances` in each block between `edges`.

    They are inf and -inf in a block that has none of the distances.
    """
    low = np.full(len(edges) + 1, np.inf)
    high = np.full(len(edges) + 1, -np.inf)
    ends = np.append(distances.searchsorted(edges, side="right"), len(distances))
    starts = np.append(0, ends[:-1])
    has_scores = starts < ends
    low[has_scores] = distances[starts[has_scores]]
    high[has_scores] = distances[ends[has_scores] - 1]
    return low, high


def _sums_of_losses(values: np.ndarray, sign: float, shifts: np.ndarray) -> np.ndarray:
    """Return, for each shift, the sum of ``log(1 + e^(sign * x + shift))`` over all values x."""
    rows = np.ascontiguousarray(np.atleast_2d(values))
    sums = np.empty((len(rows), len(shifts)))
    log_odds.softplus_sums(rows, sign, shifts, sums)
    return sums.sum(axis=0)


def _mean_loss(sums: np.ndarray, attempts: int, infinite: int) -> np.ndarray:
    """Return mean losses, NaN without attempts.

    They are infinite if `infinite` scores on the wrong side have infinite losses.
    """
    if not attempts:
        return np.full(len(sums), np.nan)
    if infinite:
        return np.full(len(sums), np.inf)
    return sums / attempts
