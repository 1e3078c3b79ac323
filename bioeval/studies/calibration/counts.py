"""Counts for calibration: genuine scores, impostor scores between them, and sums of losses.

Of impostor scores their number at each genuine score and at each wanted threshold is counted, and
they are read again for their range between edges of isotonic blocks, and for their losses.
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

    #: float64 (b - 1,): the last genuine distance before each block but the first: where that one
    #: ends.
    edges: np.ndarray
    #: int64 (b,): attempts in each block.
    genuine: np.ndarray
    impostor: np.ndarray

    @classmethod
    def of_points(
        cls, distances: np.ndarray, fa: np.ndarray, fr: np.ndarray, attempts: tuple[int, int]
    ) -> Pooled:
        """Pool the points at the distinct genuine distances; `attempts` are numbers by class."""
        genuine, impostor = attempts
        x = np.concatenate([[0], fa, [impostor]]).astype(np.float64)
        y = np.concatenate([[genuine], fr, [0]]).astype(np.float64)
        at = np.concatenate([[-np.inf], distances, [np.inf]]).astype(np.float64)
        corners = ErrorCurve(at, x, y, genuine, impostor).corners()
        # The hull leaves out the ends of the ROC where they are on an edge along an axis.
        corners = np.unique(np.concatenate([[0], corners, [len(x) - 1]]))
        x, y, at = x[corners], y[corners], at[corners]
        there = np.append(True, (np.diff(x) > 0) | (np.diff(y) < 0))
        x, y, at = x[there].astype(np.int64), y[there].astype(np.int64), at[there]
        return cls(at[1:-1], -np.diff(y), np.diff(x))

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
        g, i = prior * genuine, (1 - prior) * impostor
        # A block holds g of one class and i of the other: its cost is the entropy of that mixture.
        xlogy = scipy.special.xlogy
        return (xlogy(g + i, g + i) - xlogy(g, g) - xlogy(i, i)).sum(axis=1) / LOG2


@dataclass(frozen=True)
class CalibrationCounts:
    """Counts of attempts for calibration; all scores are distances."""

    about: Provenance
    genuine: np.ndarray  # float64 (g,): genuine scores, increasing
    #: float64 (t,): increasing: the distinct genuine scores and those that were wanted.
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
    #: FAR and FRR of thresholds among which are those of least cost.
    points: tuple[np.ndarray, np.ndarray]

    def least_cost(self, weight_frr: np.ndarray, weight_far: np.ndarray) -> np.ndarray:
        """Return the least of ``weight_frr FRR + weight_far FAR`` over all thresholds."""
        far, frr = self.points
        cost = np.multiply.outer(weight_frr, frr) + np.multiply.outer(weight_far, far)
        return cost.min(axis=1)

    def false_accepts(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the impostor attempts accepted at thresholds, all of them wanted ones."""
        return self.fa[np.searchsorted(self.thresholds, thresholds)]

    def false_rejects(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the genuine attempts above thresholds."""
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
    given = np.array([-np.inf, np.inf])
    if wanted is not None:
        given = np.union1d(given, wanted)
    counting: list[Reducer] = [CollectAttempts(thresholds=given)]
    if shifts is not None:
        counting.append(OfEachBlock(lambda part: _losses(part, -1.0, shifts)))
    attempts, *of_blocks = reduce(scores, *counting)
    with threads_for(scores):
        # What failed supports nobody: the ratio of minus infinity.
        genuine = np.append(attempts.genuine, np.full(attempts.missed, np.inf))
        distances = np.unique(genuine)
        thresholds = np.union1d(given, distances)
        fa = attempts.false_accepts(thresholds).astype(np.int64)
        impostors = attempts.impostor_attempts
        infinite = int(np.isposinf(genuine).sum()), int(fa[0])
        genuine_loss = impostor_loss = None
        if shifts is not None:
            losses = np.sum(of_blocks[0], axis=0)
            sums = _losses(genuine[np.isfinite(genuine)], 1.0, -shifts[::-1])[::-1]
            genuine_loss = _mean(sums, len(genuine), infinite[0])  # none of attempts at -inf
            impostor_loss = _mean(losses, impostors, infinite[1])
        pooled, low, high = None, np.empty(0), np.empty(0)
        points = np.empty(0), np.empty(0)
        if len(genuine) and impostors:
            if laplace:
                distances = np.union1d(distances, [-np.inf, np.inf])
            at = fa[np.searchsorted(thresholds, distances)]
            at[distances == np.inf] = impostors
            fr = len(genuine) - np.searchsorted(genuine, distances, side="right")
            added = 0
            if laplace:
                at, fr = at + 1 + (distances == np.inf), fr + (distances < np.inf)
                added = 2
            pooled = Pooled.of_points(distances, at, fr, (len(genuine) + added, impostors + added))
            low, high = _ranges(scores, attempts, pooled.edges)
            points = pooled.points
            if attempts.missed or attempts.missed_impostors:  # which no threshold accepts
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


def _ranges(scores: Scores, attempts: Attempts, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest distance between edges; inf and -inf of none."""
    low, high = np.full(len(edges) + 1, np.inf), np.full(len(edges) + 1, -np.inf)
    parts, of_blocks = [attempts.impostor.keys], []
    if not attempts.listed:  # not all are known
        counting = OfEachBlock(lambda x: _ends_between(increasing(x.ravel()), edges))
        of_blocks, parts = reduce(scores, counting)[0], []
    failed = np.full(min(attempts.missed + attempts.missed_impostors, 1), np.inf)
    of_lists = (_ends_between(part, edges) for part in (*parts, attempts.genuine, failed))
    for least, most in chain(of_blocks, of_lists):
        low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high


def _ends_between(part: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of increasing distances."""
    low, high = np.full(len(edges) + 1, np.inf), np.full(len(edges) + 1, -np.inf)
    ends = np.append(part.searchsorted(edges, side="right"), len(part))
    starts = np.append(0, ends[:-1])
    some = starts < ends
    low[some], high[some] = part[starts[some]], part[ends[some] - 1]
    return low, high


def _losses(values: np.ndarray, sign: float, shifts: np.ndarray) -> np.ndarray:
    """Return the sums of ``log(1 + e^(sign * x + shift))`` over rows of values, or over a list."""
    rows = np.ascontiguousarray(np.atleast_2d(values))
    sums = np.empty((len(rows), len(shifts)))
    log_odds.softplus_sums(rows, sign, shifts, sums)
    return sums.sum(axis=0)


def _mean(sums: np.ndarray, attempts: int, infinite: int) -> np.ndarray:
    """Return mean losses; an infinite score on the wrong side has an infinite loss."""
    if not attempts:
        return np.full(len(sums), np.nan)
    if infinite:
        return np.full(len(sums), np.inf)
    return sums / attempts
