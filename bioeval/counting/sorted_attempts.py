"""The attempts of one evaluation, listed or counted, and the points of a result.

Everything here is a distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.counting.cells import EvenCells, EvenCounts, cell_exponent, joint_exponent
from bioeval.counting.floats import next_number
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.points import COSTS, EqualError, Moments, normalised_cost
from bioeval.counting.sorted_scores import FINITE, SortedScores, run_bounds
from bioeval.counting.thresholds import DEFAULT_COUNT, default_grid, grid_over, with_infinities

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


class Attempts:
    """Genuine and impostor scores in order, all of them or, of :class:`CountedAttempts`, some.

    The attempts are a single part; `points` finds their operating points.

    Parameters
    ----------
    genuine : ndarray of float64 (g,)
        In increasing order, without NaN.
    impostor : SortedScores
    missed, missed_impostors : int
        Attempts that no threshold accepts: failed attempts; in open set also genuine attempts whose
        mate is not first.
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
        of_genuine = SortedScores.of_scores(genuine)
        self.genuine, self.impostor = of_genuine.keys, impostor
        self.points = AttemptsOfParts(of_genuine, impostor, missed, missed_impostors)
        self.impostors = int(impostor.attempts[0])  # number of impostor scores
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
        """Return attempts of scores that are increasing and have no NaN."""
        return cls(genuine, SortedScores.of_scores(impostor), missed, missed_impostors)

    @classmethod
    def with_failures(cls, genuine: np.ndarray, impostor: np.ndarray) -> Attempts:
        """Return listed attempts; NaN is a failed attempt, which has no score."""
        scores = increasing(genuine), increasing(impostor)
        failed = len(genuine) - len(scores[0]), len(impostor) - len(scores[1])
        return cls.from_ordered(*scores, *failed)

    # -- counts

    def false_rejects(self, threshold: Any) -> Any:
        """Return the number of genuine attempts rejected at thresholds."""
        return self.genuine_attempts - self.genuine.searchsorted(threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the number of impostor attempts accepted at thresholds."""
        return self.impostor.upto(np.asarray(threshold)[None])[0]

    def errors_at(self, threshold: float) -> tuple[int, int]:
        """Return the numbers of false accepts and false rejects at a threshold; NaN rejects all."""
        accepted, rejected = self.points.errors_at(np.array([threshold]))
        return int(accepted[0]), int(rejected[0])

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score that each threshold rejects; infinity where there is none.

        NaN of NaN.
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
        thresholds = grid_over(*self.extent())
        return thresholds, self.false_accepts(thresholds)

    def extent(self) -> tuple[float, float, bool, bool]:
        """Return the least and the largest finite score, and whether -inf and +inf are scores."""
        low = np.inf
        high = -np.inf
        negative = False
        positive = False
        for scores in (self.genuine, self.impostor.keys):
            first, last = scores.searchsorted(FINITE).tolist()
            negative = negative or first > 0
            positive = positive or last < len(scores)
            if first < last:
                low, high = min(low, float(scores[first])), max(high, float(scores[last - 1]))
        return low, high, negative, positive


class CountedScores(SortedScores):
    """Counted impostor scores: only scores that points may need are known as such.

    Parameters
    ----------
    values : ndarray of float64 (v,)
        The distinct scores that are known, increasing.
    below, accepted : ndarray of int64 (v,)
        The numbers of scores below each known score, and up to it.
    number : int
        How many scores there are.
    at : ndarray of float64 (k,), increasing; counts : ndarray of int64 (2, k)
        Thresholds whose scores below, and up to them, were counted: all distinct genuine scores are
        among them.
    dtype : dtype
        The type of the scores.
    is_exact : ndarray of bool (k,), optional
        Where `counts` holds exact numbers; None is everywhere.
    count_upto : callable, optional
        Returns the scores up to thresholds in a part of which all scores are kept.
    """

    def __init__(
        self,
        values: np.ndarray,
        below: np.ndarray,
        accepted: np.ndarray,
        number: int,
        *,
        at: np.ndarray,
        counts: np.ndarray,
        dtype: np.dtype,
        is_exact: np.ndarray | None = None,
        count_upto: Callable[[np.ndarray], np.ndarray] | None = None,
        moments: Moments | None = None,
    ):
        super().__init__(values, np.array([0, number]))
        self._values = (values, below, accepted)
        self._at = (at, *counts)
        self._dtype, self._is_exact, self._count_upto = dtype, is_exact, count_upto
        self._moments = moments

    def _counted(self, thresholds: np.ndarray, row: int, *, exact: bool = False) -> np.ndarray:
        """Return the numbers below thresholds (row 1) or up to them (row 2); -1 if not counted."""
        numbers = np.where(thresholds < np.inf, -1, self.attempts[0])  # infinity and NaN
        counted = self._at
        if exact and self._is_exact is not None:
            counted = tuple(x[self._is_exact] for x in counted)
        for table in (self._values, counted):
            if len(table[0]):
                place = np.minimum(table[0].searchsorted(thresholds), len(table[0]) - 1)
                numbers = np.where(table[0][place] == thresholds, table[row][place], numbers)
        return numbers

    def below(self, thresholds: Any) -> np.ndarray:
        """As of the base class, at known scores and counted thresholds."""
        limits = np.asarray(thresholds)
        return np.where(limits == -np.inf, 0, self._counted(limits, 1))

    def upto(self, thresholds: Any) -> np.ndarray:
        """As of the base class, at counted thresholds, or in a part with all scores."""
        limits = np.asarray(thresholds, dtype=np.float64)
        numbers = self._counted(limits, 2)
        if (numbers >= 0).all():
            return numbers
        if self._count_upto is None:
            raise DataError("false accepts are known only at the thresholds that were counted")
        return self._count_upto(limits.ravel()).reshape(limits.shape)

    def nth(self, numbers: np.ndarray) -> np.ndarray:
        """Return the first known score with so many up to it; NaN where there is none."""
        values, _, accepted = self._values
        places = accepted.searchsorted(numbers)
        return self._scores_at(places, (numbers > 0) & (places < len(values)))

    def largest_below(self, thresholds: Any) -> tuple[np.ndarray, np.ndarray]:
        """As of the base class; raise where the largest score is not known."""
        values, _, accepted = self._values
        numbers = self.below(thresholds)
        places = values.searchsorted(thresholds)
        if (np.append(0, accepted)[places] != numbers).any():
            raise DataError("the scores around a threshold were not kept")
        return numbers, self._scores_at(places - 1, places > 0)

    def following(self, thresholds: Any, nearest: Any = np.inf) -> np.ndarray:
        """As of the base class.

        Where an unknown score may lie before it, the next number of the type of the scores,
        below which no score is.
        """
        values = self._values[0]
        limits = np.asarray(thresholds, dtype=np.float64)
        places = values.searchsorted(limits, side="right")
        following = np.fmin(self._scores_at(places, places < len(values)), nearest)
        accepted = self._counted(limits, 2, exact=True)
        before = self._counted(following, 1, exact=True)
        is_known = (accepted >= 0) & (accepted == before)
        return np.where(is_known, following, next_number(limits, self._dtype))

    def counts_at(self, other: SortedScores) -> tuple[np.ndarray, np.ndarray]:
        """As of the base class: at the genuine scores, which were all counted."""
        counted, below, upto = self._at
        places = counted.searchsorted(other.distinct())
        return below[places], upto[places]

    def moments(self) -> Iterator[Moments]:
        assert self._moments is not None
        yield self._moments


class CountedAttempts(Attempts):
    """Attempts whose impostor scores are counted, see :class:`CountedScores`.

    Parameters
    ----------
    count_cells : callable
        Returns the counts in cells of all impostor scores.
    near : callable, optional
        Returns thresholds next to given ones, and the false accepts there.
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
        count_cells: Callable[[], EvenCounts],
        near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
    ):
        super().__init__(genuine, impostor, missed, missed_impostors)
        self._count_cells, self._near = count_cells, near

    @cached_property
    def even_counts(self) -> EvenCounts:
        return self._count_cells()

    def default_curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Return about 1,000 thresholds, on the edges of cells, and the false accepts there."""
        assert self._near is not None
        genuine = self.genuine
        impostors = self.even_counts
        finite = genuine[np.isfinite(genuine)]
        ranges = [impostors.range]
        exponents = [impostors.cells.exponent] if len(impostors.counts) else []
        if len(finite):
            ranges.append((float(finite[0]), float(finite[-1])))
            exponents.append(cell_exponent(*ranges[-1]))
        exponent = joint_exponent(max(exponents, default=0), ranges)
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        thresholds = with_infinities(
            default_grid(low, high, exponent, DEFAULT_COUNT),
            impostors.negative_infinite > 0 or bool((genuine == -np.inf).any()),
            impostors.positive_infinite > 0 or bool((genuine == np.inf).any()),
        )
        ends, accepted = self._near(thresholds[np.isfinite(thresholds)])
        if (thresholds == -np.inf).any():
            ends = np.append(-np.inf, ends)
            accepted = np.append(impostors.negative_infinite, accepted)
        if (thresholds == np.inf).any():
            ends = np.append(ends, np.inf)
            accepted = np.append(accepted, self.impostors)
        return ends, accepted


def next_among(thresholds: Any, *ordered: np.ndarray) -> list[np.ndarray]:
    """Return the first score above each threshold in every array of increasing scores.

    Infinity where there is none, NaN of NaN.
    """
    limits = np.asarray(thresholds, dtype=np.float64)
    after = [np.append(x, np.inf)[x.searchsorted(limits, side="right")] for x in ordered]
    return [np.where(np.isnan(limits), np.nan, x) for x in after]


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN.

    NumPy sorts numbers of 16 bits many times as fast as floats, and nearly ordered numbers, too.
    """
    scores = scores[~np.isnan(scores)]
    if len(scores) < MANY or scores.dtype not in (np.float32, np.float64):
        return np.sort(scores)
    low = scores.min()
    width = float(scores.max()) - float(low)
    if not NARROW < width < WIDE:
        return np.sort(scores)
    cell = ((scores - low) * (CELLS / width)).astype(np.uint16)
    if np.bincount(cell[:: len(cell) // MANY]).max() > MANY // FILLED:  # most are in few cells
        return np.sort(scores)
    nearly = scores[np.argsort(cell, kind="stable")]
    nearly.sort(kind="stable")
    return nearly


# The fewest scores worth the cells; the number of cells; the share of scores in a cell, as one in
# FILLED, that is too large; and ranges in which no product is too large.
MANY = 1 << 13
CELLS = (1 << 16) - 1
FILLED = 64
NARROW = 1e-30
WIDE = 1e30


def distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return ordered[run_bounds(ordered)[:-1]]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, and their first places and the end."""
    bounds = run_bounds(ordered)
    return ordered[bounds[:-1]], bounds


# ------------------------------------------------------------------------------------ points wanted


@dataclass(frozen=True, eq=False)
class PointsWanted:
    """The operating points that are wanted: at FAR and FRR targets, and of every score.

    Points that need every score are AUC, d', the hull's EER, `optima`, and the least of each
    row of `costs`. The false accepts at the thresholds `rows`, if given, are wanted as well.
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
    #: NaN where not defined. Values that need every score are there if such points were wanted.
    values: dict[str, Any]
    symmetric: bool | None  # whether each pair was counted in both directions; None if unknown
    independent: float  # impostor attempts, each pair of a symmetric matrix once
    #: Finite thresholds that are rows of a result besides its grid, and the false accepts there.
    rows: np.ndarray = field(default_factory=lambda: np.empty(0))
    rows_fa: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def with_rows(self, rows: np.ndarray, attempts: Attempts) -> Self:
        """Return the points with other thresholds as rows, and the false accepts there."""
        return replace(self, rows=rows, rows_fa=attempts.false_accepts(rows))

    def thresholds(self, *names: str) -> np.ndarray:
        """Return the finite thresholds of some points, by their names; else of all but costs."""
        chosen = names or THRESHOLDS
        thresholds = np.concatenate([np.atleast_1d(self.values.get(x, np.nan)) for x in chosen])
        return thresholds[np.isfinite(thresholds)]


#: The names of thresholds of points, around which scores are kept, and of the least costs.
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
    error, of_parts = point_values(attempts.points, wanted, symmetric)
    values: dict[str, Any] = {name: x[0] for name, x in of_parts.items()}
    if wanted.every_score and len(wanted.costs):
        values |= dict(zip(COSTS, wanted.costs.T, strict=True))
    independent = attempts.impostor_attempts / (2 if symmetric else 1)
    points = VerificationPoints(wanted, error.of_part(0), values, symmetric, independent)
    if not (attempts.defined and with_rows):
        return points
    rows = points.thresholds(*THRESHOLDS, OF_COSTS)
    if wanted.rows is not None:
        rows = np.append(rows, wanted.rows[np.isfinite(wanted.rows)])
    return points.with_rows(rows, attempts)


def point_values(
    attempts: AttemptsOfParts, wanted: PointsWanted, symmetric: Any
) -> tuple[EqualError, dict[str, np.ndarray]]:
    """Return the EER, and the points of parts by name: (parts,), (parts, targets), (parts, costs).

    The names are the names of :class:`VerificationPoints`, but for the labels of costs.
    `symmetric`, perhaps (parts,), says whether each pair was counted in both directions, None if
    unknown.
    """
    error = attempts.equal_error()
    costs = {}
    values = error.values()
    if wanted.every_score:
        values |= {"eer_hull": attempts.hull_equal_error(), "auc": attempts.auc()}
        values["d_prime"] = attempts.d_prime()
        for variable in wanted.optima:
            best = attempts.optimum(variable)
            values[variable.name], values[variable.threshold] = best
        if len(wanted.costs):
            least, threshold = attempts.least_costs(wanted.costs)
            costs = {"min_dcf": normalised_cost(least, wanted.costs), "min_cost": least}
            costs[OF_COSTS] = threshold
    frr, threshold = attempts.at_far(np.append(0.0, wanted.targets))
    values["zero_far"], values["zero_far_threshold"] = frr[:, 0], threshold[:, 0]
    values["zero_frr"], values["zero_frr_threshold"] = attempts.zero_frr()
    values["frr_at_far"], values["threshold_at_far"] = frr[:, 1:], threshold[:, 1:]
    independent = attempts.impostor_attempts / np.where(symmetric, 2, 1)
    values["expected_false_accepts"] = independent[:, None] * wanted.targets
    if symmetric is not None:
        values["impostor_pairs"] = independent.astype(np.int64)
    values |= costs
    if len(wanted.frr_targets):
        at_frr = attempts.far_at_frr(wanted.frr_targets)
        values["far_at_frr"], values["threshold_at_frr"] = at_frr
    names = [*THRESHOLDS, OF_COSTS, *(x.threshold for x in wanted.optima)]
    names = [name for name in names if name in values]
    columns = [values[name].reshape(len(independent), -1) for name in names]
    after = attempts.next_scores(np.concatenate(columns, axis=1))
    end = 0
    for name, column in zip(names, columns, strict=True):
        begin, end = end, end + column.shape[1]
        values[f"{name}_next"] = after[:, begin:end].reshape(values[name].shape)
    return error, values
