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
    COSTS,
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
    normalised_cost,
)
from bioeval.counting.thresholds import (
    DEFAULT_COUNT,
    CellCounts,
    CellGrid,
    cell_exponent,
    default_grid,
    grid_over,
    joint_exponent,
    with_infinities,
)

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


#: The least finite number, and what is beyond the largest.
FINITE = np.array([np.finfo(np.float64).min, np.inf])


@dataclass(eq=False)
class Attempts:
    """Genuine and impostor scores in order, all of them or, of :class:`CountedAttempts`, some."""

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
    #: Whether all impostor scores are known, one by one.
    listed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Count the attempts of each class, with those that failed."""
        self.genuine_attempts = len(self.genuine) + self.missed
        self.impostor_attempts = self.impostors + self.missed_impostors
        #: Whether both classes have attempts.
        self.defined = self.genuine_attempts > 0 and self.impostor_attempts > 0
        self._upto = np.append(0, self.accepted)  # of so many known values, 0 of none

    @classmethod
    def of(
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

    def false_rejects(self, threshold: Any) -> Any:
        """Return the number of genuine attempts rejected at thresholds."""
        return self.genuine_attempts - self.genuine.searchsorted(threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds."""
        return self._upto[self.values.searchsorted(threshold, side="right")]

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        if math.isnan(threshold):
            return 0, self.genuine_attempts
        return int(self.false_accepts(threshold)), int(self.false_rejects(threshold))

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score that each threshold rejects; infinity where there is none.

        NaN of NaN.
        """
        return np.minimum(*next_among(thresholds, self.genuine, self.values))

    @cached_property
    def at_genuine(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The distinct genuine scores, how many of all are below each, and how many there are.

        And the impostor scores below each, and up to it.
        """
        scores, within = runs(self.genuine)
        left, right = self.values.searchsorted(scores), self.values.searchsorted(scores, "right")
        return scores, within, self._upto[left], self._upto[right]

    @cached_property
    def cells(self) -> CellCounts:
        """The impostor scores in cells of one width."""
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

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds over both classes, and the false accepts there."""
        thresholds = grid_over(*self.extent())
        return thresholds, self.false_accepts(thresholds)

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
        finite = slice(*self.values.searchsorted(FINITE))
        return moments_of(self.values[finite], (self.accepted - self.before)[finite])

    def listed_impostors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct impostor scores, which are all known, and the number of each."""
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


@dataclass(eq=False, kw_only=True)
class CountedAttempts(Attempts):
    """Attempts whose impostor scores are counted: those are known one by one that points may need.

    How many there are up to each genuine score is known as well.
    """

    #: float64 (k,), increasing, and int64 (2, k): thresholds whose impostor scores below, and up to
    #: them, were counted.
    counted_at: np.ndarray
    impostors_at: np.ndarray
    #: Returns the counts in cells of all impostor scores.
    count_cells: Callable[[], CellCounts]
    #: Returns the impostor scores up to thresholds in a part that was looked into.
    count_upto: Callable[[np.ndarray], np.ndarray] | None = None
    #: Returns thresholds next to given ones, and the false accepts there.
    near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    counted_moments: Moments | None = None
    dtype: np.dtype = field(default_factory=lambda: np.dtype(np.float64))  # of the scores
    #: bool (k,): where `impostors_at` holds exact numbers; None is everywhere.
    exact: np.ndarray | None = None

    listed = False

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds.

        They are among `counted_at`, or are known scores.
        """
        place = self.values.searchsorted(threshold, side="right")
        everything = np.asarray(threshold) == np.inf
        counted, accepted = np.zeros(np.shape(place), bool), self._upto[place]
        if len(self.counted_at):
            at = np.minimum(self.counted_at.searchsorted(threshold), len(self.counted_at) - 1)
            counted = self.counted_at[at] == threshold
            accepted = np.where(counted, self.impostors_at[1][at], accepted)
        known = np.append(np.nan, self.values)[place] == threshold
        if (counted | known | everything).all():
            return np.where(everything, self.impostors, accepted)
        if self.count_upto is None:
            raise DataError("false accepts are known only at the thresholds that were counted")
        every = np.atleast_1d(np.asarray(threshold, dtype=np.float64))
        return self.count_upto(every).reshape(np.shape(threshold))

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score that each threshold rejects; infinity where there is none.

        Where an impostor score that is not known may lie before it, the next number of the type of
        the scores: none lies between.
        """
        at = np.asarray(thresholds, dtype=np.float64)
        known = super().next_scores(at)
        accepted = self._impostors(at, self.accepted, 1)
        before = self._impostors(known, self.before, 0)
        before = np.where(known == np.inf, self.impostors, before)
        return np.where((accepted >= 0) & (accepted == before), known, next_number(at, self.dtype))

    def _impostors(self, at: np.ndarray, at_values: np.ndarray, row: int) -> np.ndarray:
        """Return counts at numbers, from those at known scores or a row of `impostors_at`.

        It is -1 where nothing was counted.
        """
        counts, counted, numbers_at = np.full(at.shape, -1), self.counted_at, self.impostors_at[row]
        if self.exact is not None:
            counted, numbers_at = counted[self.exact], numbers_at[self.exact]
        for scores, numbers in ((self.values, at_values), (counted, numbers_at)):
            if len(scores):
                place = np.minimum(scores.searchsorted(at), len(scores) - 1)
                counts = np.where(scores[place] == at, numbers[place], counts)
        return counts

    @cached_property
    def at_genuine(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """As of :class:`Attempts`."""
        (scores, within), at = runs(self.genuine), self.impostors_at
        if len(scores) < len(self.counted_at):
            at = at[:, self.counted_at.searchsorted(scores)]
        return scores, within, *at

    @cached_property
    def cells(self) -> CellCounts:
        """The impostor scores in cells of one width."""
        return self.count_cells()

    @property
    def moments(self) -> Moments:
        """Mean and deviation of the finite impostor scores."""
        assert self.counted_moments is not None
        return self.counted_moments

    def listed_impostors(self) -> tuple[np.ndarray, np.ndarray]:
        """Raise: the impostor scores are not all known."""
        raise DataError("the impostor scores are counted, and not listed")

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds, on the edges of cells, and the false accepts there."""
        assert self.near is not None
        genuine, cells = self.genuine, self.cells
        finite = genuine[np.isfinite(genuine)]
        ranges, exponents = [cells.range], [cells.exponent] if len(cells.counts) else []
        if len(finite):
            ranges.append((float(finite[0]), float(finite[-1])))
            exponents.append(cell_exponent(*ranges[-1]))
        exponent = joint_exponent(max(exponents, default=0), ranges)
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        thresholds = with_infinities(
            default_grid(low, high, exponent, DEFAULT_COUNT),
            cells.negative_infinite > 0 or bool((genuine == -np.inf).any()),
            cells.positive_infinite > 0 or bool((genuine == np.inf).any()),
        )
        at, accepted = self.near(thresholds[np.isfinite(thresholds)])
        if (thresholds == -np.inf).any():
            at, accepted = np.append(-np.inf, at), np.append(cells.negative_infinite, accepted)
        if (thresholds == np.inf).any():
            at, accepted = np.append(at, np.inf), np.append(accepted, self.impostors)
        return at, accepted


def next_among(thresholds: Any, *ordered: np.ndarray) -> list[np.ndarray]:
    """Return, of each array of increasing scores, the first one above each threshold.

    Infinity where there is none, NaN of NaN.
    """
    at = np.asarray(thresholds, dtype=np.float64)
    after = [np.append(x, np.inf)[x.searchsorted(at, side="right")] for x in ordered]
    return [np.where(np.isnan(at), np.nan, x) for x in after]


def next_number(at: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the next larger numbers of a type; of float64 where they are no numbers of it."""
    with np.errstate(over="ignore"):  # the largest number has none but infinity
        of_type = at.astype(dtype)
        narrow = np.nextafter(of_type, of_type.dtype.type(np.inf)).astype(np.float64)
        return np.where(of_type == at, narrow, np.nextafter(at, np.inf))


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
    """Operating points of verification."""

    wanted: PointsWanted
    equal_error: EqualError
    #: Numbers, and arrays over targets and costs, by the names of a result: in internal distances,
    #: NaN where not defined. Those that need every score are there if these were wanted.
    values: dict[str, Any]
    symmetric: bool | None  # whether each pair was counted in both directions; None if unknown
    independent: float  # impostor attempts, each pair of a symmetric matrix once
    #: Finite thresholds that are rows of a result besides its grid, and the false accepts there.
    rows: np.ndarray = field(default_factory=lambda: np.empty(0))
    rows_fa: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def thresholds(self, *names: str) -> np.ndarray:
        """Return the finite thresholds of some points, by their names; else of all but costs."""
        chosen = names or THRESHOLDS
        every = np.concatenate([np.atleast_1d(self.values.get(x, np.nan)) for x in chosen])
        return every[np.isfinite(every)]


#: The thresholds of points, which scores are kept around, and those of the least costs.
THRESHOLDS = (
    *("eer_threshold", "zero_far_threshold", "zero_frr_threshold"),
    *("threshold_at_far", "threshold_at_frr"),
)
OF_COSTS = "min_cost_threshold"


def points_of(
    attempts: Attempts, wanted: PointsWanted, *, symmetric: bool | None, with_rows: bool
) -> VerificationPoints:
    """Return the points of attempts; `with_rows`, also false accepts at their thresholds.

    `symmetric` says whether each pair was counted in both directions, None if unknown.
    """
    defined, costs = attempts.defined, dict[str, Any]()
    error = attempts.equal_error() if defined else EqualError()
    values = error.values()
    if wanted.every_score:
        numbers, costs = _of_every_score(attempts, wanted)
        values |= numbers
    values |= dict.fromkeys(("zero_far", "zero_far_threshold"), math.nan)
    values |= dict.fromkeys(("zero_frr", "zero_frr_threshold"), math.nan)
    if defined:
        values["zero_far"], values["zero_far_threshold"] = attempts.at_far(0.0)
    if defined and not attempts.missed and len(attempts.genuine):  # else no threshold accepts all
        values["zero_frr_threshold"] = at = float(attempts.genuine[-1])
        values["zero_frr"] = int(attempts.false_accepts(at)) / attempts.impostor_attempts
    at_far = _at_each(wanted.targets, attempts.at_far, defined)
    values["frr_at_far"], values["threshold_at_far"] = at_far
    independent = attempts.impostor_attempts / (2 if symmetric else 1)
    values["expected_false_accepts"] = independent * wanted.targets
    if symmetric is not None:
        values["impostor_pairs"] = np.int64(independent)
    values |= costs
    if len(wanted.frr_targets):
        at_frr = _at_each(wanted.frr_targets, attempts.far_at_frr, defined)
        values["far_at_frr"], values["threshold_at_frr"] = at_frr
    for name in (*THRESHOLDS, OF_COSTS, *(x.threshold for x in wanted.optima)):
        if name in values:
            values[f"{name}_next"] = attempts.next_scores(values[name])
    points = VerificationPoints(wanted, error, values, symmetric, independent)
    if defined and with_rows:
        points.rows = points.thresholds(*THRESHOLDS, OF_COSTS)
        if wanted.rows is not None:
            points.rows = np.append(points.rows, wanted.rows[np.isfinite(wanted.rows)])
        points.rows_fa = attempts.false_accepts(points.rows)
    return points


def _at_each(
    targets: np.ndarray, find: Callable[[float], tuple[float, float]], defined: bool
) -> np.ndarray:
    """Return the other rate, and the threshold, at each target: (2, targets)."""
    points = [find(x) if defined else (math.nan, math.nan) for x in targets.tolist()]
    return np.array(points, dtype=np.float64).reshape(-1, 2).T


def _of_every_score(
    attempts: Attempts, wanted: PointsWanted
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what needs every impostor score: the hull, AUC, d' and optima; and the least costs."""
    optima = [name for x in wanted.optima for name in (x.name, x.threshold)]
    values: dict[str, Any] = dict.fromkeys(("eer_hull", "auc", "d_prime", *optima), math.nan)
    costs, least = wanted.costs, np.full((2, len(wanted.costs)), np.nan)
    if attempts.defined:
        finite = slice(*attempts.genuine.searchsorted(FINITE))
        values["d_prime"] = d_prime(moments_of(attempts.genuine[finite]), attempts.moments)
        values["auc"] = attempts.auc()
        corners = attempts.corners()
        fars, frrs = corners.fars, corners.frrs
        for x in wanted.optima:
            values[x.name] = float(x.best(fars, frrs))
            values[x.threshold] = float(corners.threshold[x.place_of_best(fars, frrs)])
        least[0], places = min_costs(corners, costs)
        least[1] = corners.threshold[places]
        end = 1.0, 0.0
        if attempts.missed or attempts.missed_impostors:  # nothing accepts all
            end = attempts.impostors / attempts.impostor_attempts, frrs[-1]
        roc = (np.append(rates, last)[None] for rates, last in zip((fars, frrs), end, strict=True))
        values["eer_hull"] = float(hull_equal_errors(*roc)[0])
    if not len(costs):
        return values, {}
    of_costs = {"min_dcf": normalised_cost(least[0], costs), "min_cost": least[0]}
    return values, of_costs | {OF_COSTS: least[1], **dict(zip(COSTS, costs.T, strict=True))}
