"""The list of attempts, and its operating points: each a function of sorted scores.

A point is a threshold at a score: reject all, then each distinct score from strict to loose. FAR
and FRR are whole numbers of errors over whole numbers of attempts, and are compared as such. The
definitions are in ``docs/definitions.md``, "Operating points". Everything here is a distance.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bioeval.base.errors import DataError
from bioeval.counting.points import (
    EqualError,
    ErrorCurve,
    Moments,
    allowed_errors,
    crossed,
    d_prime,
    equal_error_between,
    hull_equal_errors,
    min_costs,
    moments_of,
)
from bioeval.counting.thresholds import CellCounts, CellGrid

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


#: The least finite number, and what is beyond the largest.
FINITE = np.array([np.finfo(np.float64).min, np.inf])


@dataclass(eq=False)
class Attempts:
    """Genuine and impostor scores in order; impostor scores may be missing where no point is.

    Of impostor scores that are counted and not listed, those are known one by one that points may
    need; how many there are up to each genuine score is known as well.
    """

    genuine: np.ndarray  # float64 (g,): increasing, without NaN
    #: float64 (v,): the distinct impostor scores that are known, increasing; int64 (v,): impostor
    #: scores below each, and up to it.
    values: np.ndarray
    before: np.ndarray
    accepted: np.ndarray
    impostors: int  # number of impostor scores
    #: Attempts that no threshold accepts: failed ones; in open set also genuine ones whose mate is
    #: not first.
    missed: int = 0
    missed_impostors: int = 0
    #: float64 (k,), increasing, and int64 (2, k): thresholds whose impostor scores below, and up to
    #: them, were counted; None where all scores are known.
    counted_at: np.ndarray | None = None
    impostors_at: np.ndarray | None = None
    #: Returns the counts in cells of impostor scores that are not all known; and their moments.
    counted_cells: Callable[[], CellCounts] | None = None
    counted_moments: Moments | None = None
    #: Returns the impostor scores up to thresholds in a part that was looked into.
    count_upto: Callable[[np.ndarray], np.ndarray] | None = None
    #: Of counted attempts: returns thresholds next to given ones, and the false accepts there.
    near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None

    def __post_init__(self) -> None:
        """Count the attempts of each class, with those that failed."""
        self.genuine_attempts = len(self.genuine) + self.missed
        self.impostor_attempts = self.impostors + self.missed_impostors
        #: Whether both classes have attempts.
        self.defined = self.genuine_attempts > 0 and self.impostor_attempts > 0

    @classmethod
    def listed(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Return attempts whose scores are all known; NaN is no attempt."""
        return cls.ordered(increasing(genuine), increasing(impostor), missed, missed_impostors)

    @classmethod
    def ordered(
        cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0, missed_impostors: int = 0
    ) -> Attempts:
        """Return attempts of scores that are increasing and have no NaN."""
        values, upto = runs(impostor)
        return cls(
            genuine.astype(np.float64, copy=False),
            values.astype(np.float64, copy=False),
            upto[:-1],
            upto[1:],
            len(impostor),
            missed,
            missed_impostors,
        )

    @classmethod
    def with_failures(cls, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return listed attempts, NaN one that failed: it is an attempt and has no score."""
        both = increasing(genuine), increasing(impostor)
        return cls.ordered(*both, len(genuine) - len(both[0]), len(impostor) - len(both[1]))

    # -- counts

    @cached_property
    def _upto(self) -> np.ndarray:
        """The impostor scores up to so many of the known values: 0 up to none."""
        return np.append(0, self.accepted)

    def false_rejects(self, threshold: Any) -> Any:
        """Return the number of genuine attempts rejected at thresholds."""
        return self.genuine_attempts - self.genuine.searchsorted(threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds.

        Of attempts that are counted the thresholds are among `counted_at`, or are known scores.
        """
        place = self.values.searchsorted(threshold, side="right")
        accepted = self._upto[place]
        if self.counted_at is None:
            return accepted
        assert self.impostors_at is not None
        at = np.minimum(self.counted_at.searchsorted(threshold), max(len(self.counted_at) - 1, 0))
        counted = np.zeros(np.shape(at), bool)
        if len(self.counted_at):
            counted = self.counted_at[at] == threshold
        known = np.append(np.nan, self.values)[place] == threshold
        everything = np.asarray(threshold) == np.inf
        if len(self.counted_at):
            accepted = np.where(counted, self.impostors_at[1][at], accepted)
        accepted = np.where(everything, self.impostors, accepted)
        if not (counted | known | everything).all():
            if self.count_upto is None:
                raise DataError("false accepts are known only at the thresholds that were counted")
            every = np.atleast_1d(np.asarray(threshold, dtype=np.float64))
            return self.count_upto(every).reshape(np.shape(threshold))
        return accepted

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        if math.isnan(threshold):
            return 0, self.genuine_attempts
        return int(self.false_accepts(threshold)), int(self.false_rejects(threshold))

    @cached_property
    def at_genuine(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The distinct genuine scores, how many of all are below each, and how many there are.

        And the impostor scores below each, and up to it.
        """
        scores, within = runs(self.genuine)
        if self.counted_at is not None:
            assert self.impostors_at is not None
            if len(scores) < len(self.counted_at):
                return scores, within, *self.impostors_at[:, self.counted_at.searchsorted(scores)]
            return scores, within, *self.impostors_at
        left, right = self.values.searchsorted(scores), self.values.searchsorted(scores, "right")
        return scores, within, self._upto[left], self._upto[right]

    @cached_property
    def cells(self) -> CellCounts:
        """The impostor scores in cells of one width."""
        if self.counted_cells is not None:
            return self.counted_cells()
        low, high = self.values.searchsorted(FINITE).tolist()
        negative, finite = int(self._upto[low]), self.values[low:high]
        positive = self.impostors - int(self._upto[high])
        if not len(finite):
            return CellCounts(0, 0, np.zeros(0, dtype=np.int64), negative, positive)
        grid = CellGrid.covering(float(finite[0]), float(finite[-1]))
        upto = self._upto[self.values.searchsorted(grid.edges, side="right")]
        upto[-1] = self._upto[high]
        counts = np.diff(upto, prepend=negative)
        return CellCounts(grid.exponent, grid.first, counts, negative, positive)

    def extent(self) -> tuple[float, float, bool, bool]:
        """Return the least and the largest finite score, and whether -inf and +inf are scores."""
        low, high, negative, positive = np.inf, -np.inf, False, False
        for scores in (self.genuine, self.values):
            first, last = scores.searchsorted(FINITE).tolist()
            negative, positive = negative or first > 0, positive or last < len(scores)
            if first < last:
                low, high = min(low, float(scores[first])), max(high, float(scores[last - 1]))
        return low, high, negative, positive

    @property
    def moments(self) -> Moments:
        """Mean and deviation of the finite impostor scores."""
        if self.counted_moments is not None:
            return self.counted_moments
        finite = slice(*self.values.searchsorted(FINITE))
        return moments_of(self.values[finite], (self.accepted - self.before)[finite])

    def listed_impostors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct impostor scores, which are all known, and the number of each."""
        if self.counted_at is not None:
            raise DataError("the impostor scores are counted, and not listed")
        return self.values, self.accepted - self.before

    # -- points

    @property
    def reject_all(self) -> float:
        """The threshold that rejects everything: -inf; NaN where some score has that very value."""
        return math.nan if -np.inf in (*self.genuine[:1], *self.values[:1]) else -math.inf

    def equal_error(self) -> EqualError:
        """Return the equal error rate, its threshold and its bracket; NaN where undefined."""
        genuine, impostors = self.genuine_attempts, self.impostor_attempts
        scores, within, _, upto = self.at_genuine
        g = bisect_left(
            range(len(scores)),
            True,
            key=lambda k: int(upto[k]) * genuine >= (genuine - int(within[k + 1])) * impostors,
        )
        # Between two genuine scores FRR does not change.
        rejected = genuine - int(within[g])
        i = int(self.accepted.searchsorted(-(-rejected * impostors // max(genuine, 1))))
        crossing = self._nearby(slice(g, g + 1), slice(i, i + 1))
        if not crossing or not self.defined:
            return EqualError()
        at, accepted = min(crossing)
        i = int(self.values.searchsorted(at))
        nothing = math.nan if at == -np.inf else self.reject_all, 0
        last, before = max(
            self._nearby(slice(max(g - 1, 0), g), slice(max(i - 1, 0), i)), default=nothing
        )
        errors = accepted, int(self.false_rejects(at))
        if not crossed(*errors, genuine, impostors):  # failures keep FRR above FAR
            return EqualError()
        return equal_error_between((last, before, rejected), (at, *errors), genuine, impostors)

    def _nearby(self, genuine: slice, known: slice) -> list[tuple[float, int]]:
        """Return some distinct scores of both classes, and the false accepts at each."""
        scores, _, _, upto = self.at_genuine
        return [
            *zip(scores[genuine].tolist(), upto[genuine].tolist(), strict=True),
            *zip(self.values[known].tolist(), self.accepted[known].tolist(), strict=True),
        ]

    def at_far(self, target: float) -> tuple[float, float]:
        """Return the smallest FRR with FAR at most `target`, and the loosest threshold.

        So many false accepts are allowed as are at most `target` of the impostor attempts. The
        first distinct impostor score with which there are more must be rejected: with it each
        genuine score from there on. The threshold is the largest score of either class before it.
        """
        allowed = allowed_errors(target, self.impostor_attempts)
        i = int(self.accepted.searchsorted(allowed, side="right"))
        first_beyond, below = np.nan, self.impostors  # NaN is after all genuine scores
        if i < len(self.values):
            first_beyond, below = self.values[i], int(self.before[i])
        # Of counted attempts: no score that is not known lies between this one and the one before.
        if below != (self.accepted[i - 1] if i else 0):
            raise DataError(f"the scores around FAR {target:g} were not looked at")
        g = int(self.genuine.searchsorted(first_beyond))
        frr = (self.genuine_attempts - g) / self.genuine_attempts
        if not i and not g:  # reject-all, which is no point where a score is -inf
            return frr, float("nan" if first_beyond == -np.inf else "-inf")
        return frr, float(max([*self.values[i - 1 : i], *self.genuine[g - 1 : g]]))

    def at_frr(self, target: float) -> float | None:
        """Return the strictest threshold with FRR at most `target`; None if there is none.

        It is a genuine score, or rejects all: NaN where some score is -inf.
        """
        attempts = self.genuine_attempts
        needed = attempts - allowed_errors(target, attempts)
        if needed > len(self.genuine):
            return None
        if needed:
            return float(self.genuine[needed - 1])
        return self.reject_all

    def far_at_frr(self, target: float) -> tuple[float, float]:
        """Return the smallest FAR with FRR at most `target`, and the strictest threshold.

        Both are NaN where attempts that no threshold accepts keep FRR above the target.
        """
        threshold = self.at_frr(target)
        if threshold is None:
            return math.nan, math.nan
        # Reject-all is a point, with FAR 0, where a score of -inf leaves it without a threshold.
        strict = math.isnan(threshold) or threshold == -np.inf and self.reject_all == -np.inf
        accepted = 0 if strict else int(self.false_accepts(threshold))
        return accepted / self.impostor_attempts, threshold

    def corners(self) -> ErrorCurve:
        """Return reject-all and the points at genuine scores: only they can have the least cost."""
        scores, within, _, upto = self.at_genuine
        return ErrorCurve(
            np.append(self.reject_all, scores),
            np.append(0, upto),
            self.genuine_attempts - within,
            self.genuine_attempts,
            self.impostor_attempts,
        )

    def auc(self) -> float:
        """Return the proportion of pairs with the genuine score below, ties as one half.

        Failures are after all scores.
        """
        _, within, below, upto = self.at_genuine
        twice = int((np.diff(within) * (2 * self.impostors - below - upto)).sum())
        twice += (2 * len(self.genuine) + self.missed) * self.missed_impostors
        return twice / (2 * self.genuine_attempts * self.impostor_attempts)

    def about_equal_error(self) -> float:
        """Return about the EER; NaN without attempts of both classes."""
        if not self.defined or not len(self.genuine):
            return np.nan
        scores, _, _, upto = self.at_genuine
        at = np.unique(np.quantile(self.genuine, np.linspace(0, 1, 501), method="lower"))
        far = upto[scores.searchsorted(at)] / self.impostor_attempts
        frr = self.false_rejects(at) / self.genuine_attempts
        nearest = int(np.argmin(np.abs(far - frr)))
        return float(far[nearest] + frr[nearest]) / 2


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN."""
    ordered = np.sort(scores)
    return ordered[: ordered.searchsorted(np.nan)] if ordered.dtype.kind == "f" else ordered


def distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return runs(ordered)[0]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, the first place of each, and the end."""
    first = np.ones(len(ordered) + 1, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    bounds = np.flatnonzero(first)
    return ordered[bounds[:-1]], bounds


# ------------------------------------------------------------------------------------ points wanted


@dataclass(frozen=True, eq=False)
class PointsWanted:
    """The operating points wanted: at FAR and FRR targets, and those that need every score.

    The latter are AUC, d', the hull's EER, `optima`, and the least of each row of `costs`. The
    false accepts at the thresholds `rows`, if given, are wanted as well.
    """

    targets: np.ndarray
    costs: np.ndarray
    every_score: bool
    rows: np.ndarray | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    optima: Sequence[Variable] = ()

    #: Prior proportion of genuine attempts, cost of a false reject, cost of a false accept, for
    #: half the total error rate.
    COSTS: ClassVar = ((0.5, 1.0, 1.0),)

    @classmethod
    def of_rule(cls, rule: Any) -> PointsWanted:
        """Return the point that a rule chooses a threshold at, or is given."""
        targets = np.array(rule.values if rule.name == "far" else ())
        rows = np.array(rule.values) if rule.name == "fixed" else None
        return cls(targets, np.empty((0, 3)), False, rows)


@dataclass
class VerificationPoints:
    """Operating points of verification, in internal distances; NaN where not defined."""

    far_target: np.ndarray
    frr_at_far: np.ndarray
    threshold_at_far: np.ndarray
    frr_target: np.ndarray
    far_at_frr: np.ndarray
    threshold_at_frr: np.ndarray
    costs: np.ndarray
    min_cost: np.ndarray
    min_cost_threshold: np.ndarray
    #: The best values by name, and their thresholds.
    optima: dict[str, float]
    symmetric: bool | None
    every_score: bool
    #: Finite thresholds that are rows of a result besides its grid, and the false accepts there.
    rows: np.ndarray
    rows_fa: np.ndarray
    equal_error: EqualError = field(default_factory=EqualError)
    eer_hull: float = np.nan
    auc: float = np.nan
    d_prime: float = np.nan
    zero_far: float = np.nan
    zero_far_threshold: float = np.nan
    zero_frr: float = np.nan
    zero_frr_threshold: float = np.nan

    @property
    def thresholds(self) -> np.ndarray:
        """The thresholds of the points that scores are kept around, without NaN."""
        single = [self.equal_error.eer_threshold, self.zero_far_threshold, self.zero_frr_threshold]
        every = np.concatenate([single, self.threshold_at_far, self.threshold_at_frr])
        return every[~np.isnan(every)]


def points_of(
    attempts: Attempts, wanted: PointsWanted, *, symmetric: bool | None, with_rows: bool
) -> VerificationPoints:
    """Return the points of attempts; `with_rows`, also false accepts at their thresholds.

    `symmetric` says whether each pair was counted in both directions, None if unknown.
    """
    nowhere = np.full((2, len(wanted.targets)), np.nan)
    at_frr = np.full((2, len(wanted.frr_targets)), np.nan)
    least = np.full((2, len(wanted.costs)), np.nan)
    points = VerificationPoints(
        far_target=wanted.targets,
        frr_at_far=nowhere[0],
        threshold_at_far=nowhere[1],
        frr_target=wanted.frr_targets,
        far_at_frr=at_frr[0],
        threshold_at_frr=at_frr[1],
        optima={name: math.nan for x in wanted.optima for name in (x.name, x.threshold)},
        costs=wanted.costs,
        min_cost=least[0],
        min_cost_threshold=least[1],
        symmetric=symmetric,
        every_score=wanted.every_score,
        rows=np.empty(0),
        rows_fa=np.empty(0, dtype=np.int64),
    )
    if not attempts.defined:
        return points
    points.equal_error = attempts.equal_error()
    for i, target in enumerate(points.far_target.tolist()):
        points.frr_at_far[i], points.threshold_at_far[i] = attempts.at_far(target)
    for i, target in enumerate(points.frr_target.tolist()):
        points.far_at_frr[i], points.threshold_at_frr[i] = attempts.far_at_frr(target)
    points.zero_far, points.zero_far_threshold = attempts.at_far(0.0)
    if not attempts.missed and len(attempts.genuine):  # else no threshold accepts all
        points.zero_frr_threshold = float(attempts.genuine[-1])
        accepted = attempts.false_accepts(points.zero_frr_threshold)
        points.zero_frr = int(accepted) / attempts.impostor_attempts
    if wanted.every_score:
        _find_of_every_score(points, attempts, wanted)
    if with_rows:
        rows = np.concatenate([points.thresholds, points.min_cost_threshold])
        rows = rows if wanted.rows is None else np.append(rows, wanted.rows)
        points.rows = rows[np.isfinite(rows)]
        points.rows_fa = attempts.false_accepts(points.rows)
    return points


def _find_of_every_score(
    points: VerificationPoints, attempts: Attempts, wanted: PointsWanted
) -> None:
    """Find what needs every impostor score: d', AUC, the least costs and the hull."""
    finite = slice(*attempts.genuine.searchsorted(FINITE))
    points.d_prime = d_prime(moments_of(attempts.genuine[finite]), attempts.moments)
    points.auc = attempts.auc()
    corners = attempts.corners()
    fars, frrs = corners.fars, corners.frrs
    for x in wanted.optima:
        points.optima[x.name] = float(x.best(fars, frrs))
        points.optima[x.threshold] = float(corners.threshold[x.place_of_best(fars, frrs)])
    points.min_cost, places = min_costs(corners, points.costs)
    points.min_cost_threshold = corners.threshold[places]
    end = 1.0, 0.0
    if attempts.missed or attempts.missed_impostors:  # nothing accepts all
        end = attempts.impostors / attempts.impostor_attempts, frrs[-1]
    roc = (np.append(rates, last)[None] for rates, last in zip((fars, frrs), end, strict=True))
    points.eer_hull = float(hull_equal_errors(*roc)[0])
