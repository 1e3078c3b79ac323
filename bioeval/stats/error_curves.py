"""FAR and FRR along thresholds for weights of people, and the measures that follow.

A :class:`CurveMeasure` defines a number of verification on the data, its value for other weights of
people, and whose errors count. Intervals and comparisons read the definition here: a new measure is
an entry of :data:`MEASURES`, with its limits among the variables
(:mod:`bioeval.results.variables`). The best value of a function of FAR and FRR needs no entry:
:func:`bioeval.scalar` adds such functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bioeval.counting.points import hull_equal_errors, normalised_cost
from bioeval.counting.wanted_points import VerificationPoints
from bioeval.results.variables import VERIFICATION, Variable, best_values
from bioeval.stats.people import QuadraticForms, by_subject, linear_forms, ratio

#: The classes of attempts.
AttemptClass = Literal["genuine", "impostor"]


@dataclass(frozen=True, eq=False)
class ErrorColumns:
    """FAR and FRR at increasing distances, (thresholds, columns): the first column is the data.

    Further columns are without each person (jackknife), or of replicates (bootstrap).
    """

    far: np.ndarray  # (thresholds, columns)
    frr: np.ndarray  # (thresholds, columns)
    failed: bool = False  # whether some attempts failed, which no threshold accepts
    untied: np.ndarray | None = None  # (thresholds,): genuine scores that no impostor score equals

    @classmethod
    def of_counts(
        cls,
        accepted: np.ndarray,
        genuine_accepted: np.ndarray,
        failed: bool,
        untied: np.ndarray | None = None,
    ) -> ErrorColumns:
        """Return the rates of accepted impostor and genuine attempts; the last row is of all."""
        frr = ratio(genuine_accepted[-1] - genuine_accepted[:-1], genuine_accepted[-1])
        return cls(ratio(accepted[:-1], accepted[-1]), frr, failed, untied)

    @classmethod
    def weighted(
        cls,
        forms: QuadraticForms,
        genuine: tuple[np.ndarray, np.ndarray],
        thresholds: np.ndarray,
        failed: bool,
        untied: np.ndarray | None = None,
    ) -> ErrorColumns:
        """Return the rates at weights of people, from sums of impostor attempts at the weights."""
        counts = by_subject(*genuine, thresholds, len(forms.weights))
        genuine_accepted = np.cumsum(linear_forms(counts, forms.weights), axis=0)
        return cls.of_counts(np.cumsum(forms.totals, axis=0), genuine_accepted, failed, untied)

    def of_rows(self, rows: np.ndarray) -> ErrorColumns:
        """Return the rates at the thresholds of `rows`."""
        if len(rows) == len(self.far):
            return self
        untied = None if self.untied is None else self.untied[rows]
        return ErrorColumns(self.far[rows], self.frr[rows], self.failed, untied)

    def at_row(self, row: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR at a row, or at a row for each column, (columns,).

        Row -1 is reject-all, and the row after the last one accept-all; where some attempts
        failed nothing accepts all, and it is the last one again.
        """
        far, frr = self._points  # a row more at each end
        place = (row + 1) * far.shape[1] + np.arange(far.shape[1])  # index in the flattened tables
        return far.take(place), frr.take(place)

    @cached_property
    def _points(self) -> tuple[np.ndarray, np.ndarray]:
        return self._ended(self.failed)

    @property
    def _number(self) -> int:
        return len(self.far)

    def _last(self, inside: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the last row of each column with FAR and FRR `inside`, as in all rows before.

        Bisection of all columns at once; row -1 is inside, the row after the last is not.
        """
        number = self._number
        columns = self.far.shape[1]
        low = np.full(columns, -1)
        high = np.full(columns, number)
        for _ in range(number.bit_length()):
            middle = (low + high) // 2
            is_inside = inside(*self.at_row(middle))
            low = np.where(is_inside, middle, low)
            high = np.where(is_inside, high, middle)
        return low

    def with_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR from strict to loose, with reject-all and accept-all.

        Where some attempts failed nothing accepts all: the last point is there twice.
        """
        return self._points

    def _ended(self, failed: bool) -> tuple[np.ndarray, np.ndarray]:
        far, frr = self.far, self.frr
        nothing = np.zeros((1, far.shape[1]))
        units = np.ones((1, far.shape[1]))
        ends = (far[-1:], frr[-1:]) if failed and len(far) else (units, nothing)
        return np.concatenate([nothing, far, ends[0]]), np.concatenate([units, frr, ends[1]])

    def _known(self, rates: np.ndarray) -> np.ndarray:
        """Return the rates of columns, (columns,); NaN without attempts of both classes."""
        unknown = np.isnan(self.far[:1]) | np.isnan(self.frr[:1])
        return np.where(unknown.any(axis=0), np.nan, rates)

    def equal_error(self) -> np.ndarray:
        """Return the EER of each column, interpolated as on the data.

        See :func:`bioeval.counting.points.equal_error_between`.
        """
        # The curves cross between the last row with FAR < FRR and the next one, both linear there.
        before = self._last(lambda far, frr: far < frr)
        far, frr = self.at_row(before)
        next_far, next_frr = self.at_row(before + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (frr - far) / ((next_far - far) - (next_frr - frr))
            crossing = far + share * (next_far - far)
        return self._known(np.where(next_far >= next_frr, crossing, np.nan))

    def frr_at_far(self, target: float | np.ndarray, exact: bool) -> np.ndarray:
        """Return the smallest FRR with FAR at most the target, which may differ between columns.

        Unless the thresholds are all the distinct scores (`exact`), FRR is interpolated
        there.
        """
        # The point beyond all scores is not attained.
        last = self._last(lambda far, frr: far <= target)
        far, frr = self.at_row(last)
        if not exact:
            next_far, next_frr = self.at_row(last + 1)
            width = next_far - far
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(width > 0, (target - far) / width, 0.0)
            frr = frr + np.clip(share, 0.0, 1.0) * (next_frr - frr)
        return self._known(frr)

    def far_at_frr(self, target: float | np.ndarray, exact: bool) -> np.ndarray:
        """Return the smallest FAR with FRR at most the target, which may differ between columns.

        The two errors change places where the points are taken from loose to strict.
        """
        far = ErrorColumns(self.frr[::-1], self.far[::-1]).frr_at_far(target, exact)
        if self.failed and len(self.far):
            far = np.where(self.frr[-1] <= target, far, np.nan)
        # Target 1 is met by reject-all, the last point.
        return np.where(np.asarray(target) < 1, far, 0 * far)

    def area(self) -> np.ndarray:
        """Return the area under the ROC of each column, by the trapezoidal rule.

        At an untied genuine score the ROC is vertical, however far below it the row before is.
        """
        # Accept-all is a point even if attempts failed: failures are beyond all scores.
        far, frr = self._ended(False) if self.failed else self._points
        # (thresholds + 1, columns), in place: a strip between two points has the height 1 less
        # their mean FAR, and as its width the genuine attempts between the points.
        area = far[1:] + far[:-1]
        if self.untied is not None:
            area[:-1][self.untied] = 2 * far[1:-1][self.untied]
        area *= -0.5
        area += 1
        area *= frr[:-1] - frr[1:]
        return area.sum(axis=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorsByRow(ErrorColumns):
    """Error rates whose equal rows along the thresholds are stored once.

    `far_row` and `frr_row`, (thresholds,), are the rows at each threshold.
    """

    far_row: np.ndarray
    frr_row: np.ndarray

    @property
    def _number(self) -> int:
        return len(self.far_row)

    def at_row(self, row: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        number = len(self.far_row)
        columns = self.far.shape[1]
        row = np.broadcast_to(row, columns)
        place = np.clip(row, 0, max(number - 1, 0))
        is_strict = row < 0
        is_loose = (row == number) & (not self.failed or not number)
        rates = []
        for rate, rows, strict in ((self.far, self.far_row, 0.0), (self.frr, self.frr_row, 1.0)):
            at_place = rate.take(rows[place] * columns + np.arange(columns)) if number else strict
            rates.append(np.where(is_strict, strict, np.where(is_loose, 1 - strict, at_place)))
        return rates[0], rates[1]


def moved_to(
    value: np.ndarray | float, columns: np.ndarray, bounds: tuple[float, float] = (0.0, 1.0)
) -> np.ndarray:
    """Return columns (..., columns) less the error of interpolation: the first becomes `value`."""
    value = np.asarray(value)
    columns = np.clip(columns + (value[..., None] - columns[..., :1]), *bounds)
    columns[..., 0] = value
    return columns


@dataclass(frozen=True, kw_only=True)
class CurveMeasure:
    """A measure of verification: its value in columns, and the errors and targets behind it."""

    scalar: Variable
    #: The value in each column of a curve, at a target or None; the last argument says whether the
    #: thresholds are all scores.
    in_columns: Callable[[ErrorColumns, Any, bool], np.ndarray]
    #: The name of the threshold of each value; by default the variable's, empty where a measure is
    #: over all thresholds.
    threshold: str = ""
    #: The classes whose rate of errors the value is; none of a cost or an area.
    rate_of: tuple[AttemptClass, ...] = ()
    #: The targets that the values are at: FAR, FRR or a cost, with its prior.
    of_target: Literal["", "far", "frr", "prior"] = ""
    #: Whether the measure needs the counts of every impostor score, as areas and least costs do.
    every_score: bool = False
    #: Whether systems are compared by the measure by default.
    usual: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", self.threshold or self.scalar.threshold)

    @property
    def name(self) -> str:
        """The name of its variable."""
        return self.scalar.name

    def own_thresholds(self, points: VerificationPoints) -> np.ndarray:
        """Return the threshold of each value; none of a measure over all thresholds."""
        if not self.threshold:
            return np.empty(0)
        return np.atleast_1d(points.values.get(self.threshold, np.nan))

    def targets(self, points: VerificationPoints) -> Any:
        """Return FAR or FRR targets, or rows of costs; a single None for a single number."""
        asked_for = points.wanted
        of_rates = {
            "far": asked_for.targets,
            "frr": asked_for.frr_targets,
            "prior": asked_for.costs,
        }
        return of_rates.get(self.of_target, [None])

    def numbers(self, points: VerificationPoints) -> list[float]:
        """Return the target of each value, or the prior of its cost; NaN without a target."""
        targets = np.array(self.targets(points), dtype=np.float64)
        return (targets if targets.ndim == 1 else targets[:, 0]).tolist()

    def is_defined(self, points: VerificationPoints) -> bool:
        """Whether operating points have it."""
        if self.every_score and not points.wanted.every_score:
            return False
        # FRR at no FAR target is an empty variable; other measures without a target are left out.
        return self.of_target == "far" or len(self.targets(points)) > 0


def _least_cost(curve: ErrorColumns, cost: np.ndarray, exact: bool) -> np.ndarray:
    """Return the least normalised cost in each column; `cost` is (p, c_miss, c_fa).

    The cost is ``p c_miss FRR + (1 - p) c_fa FAR``, over the cost of the better trivial decision
    (Martin 2000, *Digital Signal Processing* 10).
    """
    prior, miss, accept = cost
    far, frr = curve.with_ends()
    cost_at_points = prior * miss * frr
    cost_at_points += (1 - prior) * accept * far
    least = cost_at_points.min(axis=0)
    return normalised_cost(least[:, None], cost[None])[:, 0]


def _hull_errors(curve: ErrorColumns, target: None, exact: bool) -> np.ndarray:
    far, frr = curve.with_ends()
    defined = ~np.isnan(far).any(axis=0) & ~np.isnan(frr).any(axis=0)
    rates = np.full(far.shape[1], np.nan)
    if not defined.all():
        far, frr = far[:, defined], frr[:, defined]
    rates[defined] = hull_equal_errors(*(np.ascontiguousarray(x.T) for x in (far, frr)))
    return rates


EER = CurveMeasure(
    scalar=VERIFICATION["eer"],
    in_columns=lambda curve, target, exact: curve.equal_error(),
    rate_of=("genuine", "impostor"),
)

#: All but the best values of functions of FAR and FRR, in the order of tables.
MEASURES = (
    EER,
    CurveMeasure(
        scalar=VERIFICATION["frr_at_far"],
        in_columns=ErrorColumns.frr_at_far,
        rate_of=("genuine",),
        of_target="far",
    ),
    CurveMeasure(
        scalar=VERIFICATION["far_at_frr"],
        in_columns=ErrorColumns.far_at_frr,
        rate_of=("impostor",),
        of_target="frr",
    ),
    CurveMeasure(
        scalar=VERIFICATION["auc"],
        in_columns=lambda curve, target, exact: curve.area(),
        every_score=True,
    ),
    CurveMeasure(
        scalar=VERIFICATION["eer_hull"],
        in_columns=_hull_errors,
        usual=False,
        threshold="eer_threshold",
        rate_of=("genuine", "impostor"),
        every_score=True,
    ),
    CurveMeasure(
        scalar=VERIFICATION["min_dcf"],
        in_columns=_least_cost,
        usual=False,
        of_target="prior",
        every_score=True,
    ),
)


def curve_measures() -> Sequence[CurveMeasure]:
    """Return all measures, with the best values that studies and scripts declare."""
    return (*MEASURES, *map(_best_value, best_values()))


def _best_value(scalar: Variable) -> CurveMeasure:
    return CurveMeasure(
        scalar=scalar,
        in_columns=lambda curve, target, exact: scalar.best(*curve.with_ends()),
        every_score=True,
    )
