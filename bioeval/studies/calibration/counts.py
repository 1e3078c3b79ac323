"""Counts for calibration: genuine scores, impostor scores between them, and sums of losses.

Impostor scores are counted at each genuine score and at each threshold asked for. They are read
again for their range between the edges of isotonic blocks, and for their losses.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

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
    """Blocks of scores of equal posterior, from strict to loose."""

    #: float64 (b - 1,): the last genuine distance before each block but the first. There the
    #: block before ends.
    edges: np.ndarray
    #: int64 (b,): attempts in each block.
    genuine: np.ndarray
    impostor: np.ndarray

    @classmethod
    def from_points(
        cls, distances: np.ndarray, fa: np.ndarray, fr: np.ndarray, attempts: tuple[int, int]
    ) -> Pooled:
        """Pool the points at distinct genuine distances; `attempts`: numbers of both classes."""
        genuine, impostor = attempts
        accepts = np.concatenate([[0], fa, [impostor]]).astype(np.float64)
        rejects = np.concatenate([[genuine], fr, [0]]).astype(np.float64)
        threshold = np.concatenate([[-np.inf], distances, [np.inf]]).astype(np.float64)
        corners = ErrorCurve(threshold, accepts, rejects, genuine, impostor).corners()
        # The hull leaves out the ends of the ROC where they are on an edge along an axis.
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
        """The log-likelihood ratio of each block, decreasing; inf or -inf for one class alone."""
        with np.errstate(divide="ignore"):
            genuine, impostor = map(np.log, self.rates)
        return genuine - impostor

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """FAR and FRR where each block begins, and of accept-all."""
        genuine, impostor = (np.append(0, np.cumsum(x)) for x in self.rates)
        return impostor, 1 - genuine

    def cross_entropy(self, log_odds: np.ndarray) -> np.ndarray:
        """Return the smallest empirical cross-entropy, in bits, at prior log odds."""
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


@dataclass(frozen=True)
class CalibrationCounts:
    """Counts of attempts for calibration; all scores are distances."""

    about: Provenance
    genuine: np.ndarray  # float64 (g,): genuine scores, increasing
    #: float64 (t,): increasing: the distinct genuine scores and the thresholds asked for.
    thresholds: np.ndarray
    fa: np.ndarray  # int64 (t,): impostor scores at or below each threshold
    impostor_attempts: int
    #: float64 (k,), or None: mean of ``log(1 + e^-(l + shift))`` and of ``log(1 + e^(l + shift))``,
    #: ``l`` the negative distance, for each shift; NaN without attempts.
    genuine_loss: np.ndarray | None
    impostor_loss: np.ndarray | None
    infinite: tuple[int, int]  # genuine attempts at +inf, impostor attempts at -inf
    pooled: Pooled | None  # without attempts of both classes there is none
    #: float64 (blocks,): the smallest and the largest distance in each isotonic block.
    low: np.ndarray
    high: np.ndarray
    #: FAR and FRR of thresholds, which include the thresholds of least cost.
    points: tuple[np.ndarray, np.ndarray]

    def least_cost(self, weight_frr: np.ndarray, weight_far: np.ndarray) -> np.ndarray:
        """Return the least of ``weight_frr FRR + weight_far FAR`` over all thresholds."""
        far, frr = self.points
        cost = np.multiply.outer(weight_frr, frr) + np.multiply.outer(weight_far, far)
        return cost.min(axis=1)

    def false_accepts(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds that were counted."""
        return self.fa[np.searchsorted(self.thresholds, thresholds)]

    def false_rejects(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the number of genuine attempts above thresholds."""
        return len(self.genuine) - np.searchsorted(self.genuine, thresholds, side="right")


def count_for_calibration(
    scores: Scores,
    *,
    wanted: np.ndarray | None = None,
    shifts: np.ndarray | None = None,
    laplace: bool = False,
) -> CalibrationCounts:
    """Count the attempts of verification at wanted distances, with losses at increasing shifts.

    With `laplace` a genuine and an impostor attempt are added at either infinity before pooling.
    """
    require_all_scores(scores)
    given_thresholds = np.array([-np.inf, np.inf])
    if wanted is not None:
        given_thresholds = np.union1d(given_thresholds, wanted)
    counting: list[Reducer] = [CollectAttempts(thresholds=given_thresholds)]
    if shifts is not None:
        counting.append(OfEachBlock(lambda part: _losses(part, -1.0, shifts)))
    attempts, *of_blocks = reduce(scores, *counting)
    with threads_for(scores):
        # A failed comparison has the ratio minus infinity.
        genuine = np.append(attempts.genuine, np.full(attempts.missed, np.inf))
        thresholds = np.union1d(given_thresholds, genuine)
        fa = attempts.false_accepts(thresholds).astype(np.int64)
        impostors = attempts.impostor_attempts
        infinite = int(np.isposinf(genuine).sum()), int(fa[0])
        genuine_loss = impostor_loss = None
        if shifts is not None:
            losses = np.sum(of_blocks[0], axis=0)
            sums = _losses(genuine[np.isfinite(genuine)], 1.0, -shifts[::-1])[::-1]
            # Genuine attempts at the distance -inf have the loss 0.
            genuine_loss = _mean_loss(sums, len(genuine), infinite[0])
            impostor_loss = _mean_loss(losses, impostors, infinite[1])
        pooled = None
        low = np.empty(0)
        high = np.empty(0)
        points = np.empty(0), np.empty(0)
        if len(genuine) and impostors:
            pooled = _pooled(genuine, thresholds, fa, impostors, laplace=laplace)
            low, high = _ranges(scores, attempts, pooled.edges)
            points = pooled.points
            if attempts.missed or attempts.missed_impostors:  # no threshold accepts them
                curve = attempts.points.corners
                corners = curve.corners()
                points = curve.fars[corners], curve.frrs[corners]
    return CalibrationCounts(
        about=Provenance.from_scores(scores),
        genuine=genuine,
        thresholds=thresholds,
        fa=fa,
        impostor_attempts=impostors,
        genuine_loss=genuine_loss,
        impostor_loss=impostor_loss,
        infinite=infinite,
        pooled=pooled,
        low=low,
        high=high,
        points=points,
    )


def _pooled(
    genuine: np.ndarray, thresholds: np.ndarray, fa: np.ndarray, impostors: int, *, laplace: bool
) -> Pooled:
    """Pool attempts; `fa` impostor attempts are accepted at `thresholds`, and all at inf."""
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


def _ranges(scores: Scores, attempts: Attempts, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest distance between edges; inf and -inf of none."""
    low, high = np.full(len(edges) + 1, np.inf), np.full(len(edges) + 1, -np.inf)
    parts, of_blocks = [attempts.impostor.keys], []
    if not attempts.listed:  # only some distances were kept
        counting = OfEachBlock(lambda x: _ends_between(increasing(x.ravel()), edges))
        of_blocks, parts = reduce(scores, counting)[0], []
    failed = np.full(min(attempts.missed + attempts.missed_impostors, 1), np.inf)
    of_lists = (_ends_between(part, edges) for part in (*parts, attempts.genuine, failed))
    for smallest, largest in chain(of_blocks, of_lists):
        low, high = np.minimum(low, smallest), np.maximum(high, largest)
    return low, high


def _ends_between(part: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of increasing distances between edges; inf and -inf if there are none."""
    low, high = np.full(len(edges) + 1, np.inf), np.full(len(edges) + 1, -np.inf)
    ends = np.append(part.searchsorted(edges, side="right"), len(part))
    starts = np.append(0, ends[:-1])
    has_scores = starts < ends
    low[has_scores], high[has_scores] = part[starts[has_scores]], part[ends[has_scores] - 1]
    return low, high


def _losses(values: np.ndarray, sign: float, shifts: np.ndarray) -> np.ndarray:
    """Return the sums of ``log(1 + e^(sign * x + shift))`` over rows of values, or over a list."""
    rows = np.ascontiguousarray(np.atleast_2d(values))
    sums = np.empty((len(rows), len(shifts)))
    log_odds.softplus_sums(rows, sign, shifts, sums)
    return sums.sum(axis=0)


def _mean_loss(sums: np.ndarray, attempts: int, infinite: int) -> np.ndarray:
    """Return mean losses; an infinite score on the wrong side has an infinite loss."""
    if not attempts:
        return np.full(len(sums), np.nan)
    if infinite:
        return np.full(len(sums), np.inf)
    return sums / attempts
