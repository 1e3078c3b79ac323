"""FAR and FRR along thresholds for weights of people, and the measures that follow.

One :class:`CurveMeasure` says what a number of verification is on the data, what it is for other
weights of people, and whose errors it counts. Intervals and comparisons read it here: a new one is
one entry of :data:`MEASURES`, with its limits among the variables
(:mod:`bioeval.results.variables`). The best value of a function of FAR and FRR needs no entry: it
is what :func:`bioeval.scalar` adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bioeval.counting.points import (
    VerificationPoints,
    attained_hull_error,
    hull_equal_errors,
    normalised_cost,
)
from bioeval.results.variables import VERIFICATION, Variable, best_values
from bioeval.stats.people import AttemptsOfEach, QuadraticForms, by_subject, linear_forms, ratio

#: The classes of attempts.
AttemptClass = Literal["genuine", "impostor"]


@dataclass
class ErrorColumns:
    """FAR and FRR at increasing distances, (thresholds, columns): the first column is the data."""

    far: np.ndarray
    frr: np.ndarray
    #: Whether some attempts failed, which no threshold accepts.
    failed: bool = False

    @classmethod
    def without_each(
        cls,
        persons: AttemptsOfEach,
        genuine: tuple[np.ndarray, np.ndarray],
        thresholds: np.ndarray,
        failed: bool,
    ) -> ErrorColumns:
        """Return the rates without each person, of their impostor and `genuine` attempts."""
        accepted, taken = persons.accepted(), persons.accepted_genuine(genuine, thresholds)
        frr = ratio(taken[-1] - taken[:-1], taken[-1])
        return cls(ratio(accepted[:-1], accepted[-1]), frr, failed)

    @classmethod
    def weighted(
        cls,
        forms: QuadraticForms,
        genuine: tuple[np.ndarray, np.ndarray],
        thresholds: np.ndarray,
        failed: bool,
    ) -> ErrorColumns:
        """Return the rates at weights of people, of the sums of impostor attempts at these."""
        accepted = np.cumsum(forms.totals, axis=0)
        counts = by_subject(*genuine, thresholds, len(forms.weights))
        taken = np.cumsum(linear_forms(counts, forms.weights), axis=0)
        frr = ratio(taken[-1] - taken[:-1], taken[-1])
        return cls(ratio(accepted[:-1], accepted[-1]), frr, failed)

    def of_columns(self, columns: slice) -> ErrorColumns:
        """Return the rates of some columns."""
        return ErrorColumns(self.far[:, columns], self.frr[:, columns], failed=self.failed)

    def of_rows(self, rows: np.ndarray) -> ErrorColumns:
        """Return the rates at some of the thresholds."""
        return ErrorColumns(self.far[rows], self.frr[rows], failed=self.failed)

    def at_row(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR at one of the thresholds, (columns,); -1 accepts nothing."""
        if row < 0:
            return np.zeros(self.far.shape[1]), np.ones(self.far.shape[1])
        return self.far[row], self.frr[row]

    @cached_property
    def with_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """FAR and FRR from strict to loose, with reject-all and accept-all.

        Where some attempts failed nothing accepts all: the last point is there twice.
        """
        far, frr = self.far, self.frr
        zero, one = np.zeros((1, far.shape[1])), np.ones((1, far.shape[1]))
        ends = (far[-1:], frr[-1:]) if self.failed and len(far) else (one, zero)
        return np.concatenate([zero, far, ends[0]]), np.concatenate([one, frr, ends[1]])

    def _defined(self) -> np.ndarray:
        return ~np.isnan(self.far[:1]).any(axis=0) & ~np.isnan(self.frr[:1]).any(axis=0)

    def equal_error(self) -> np.ndarray:
        """Return the interpolated EER of each column."""
        columns = np.arange(self.far.shape[1])
        f, r = self.with_ends
        at = np.argmax(f >= r, axis=0)
        f0, r0 = f[at - 1, columns], r[at - 1, columns]
        f1, r1 = f[at, columns], r[at, columns]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (r0 - f0) / ((f1 - f0) - (r1 - r0))
            crossing = f0 + share * (f1 - f0)
        return np.where(self._defined() & (at > 0), crossing, np.nan)  # 0 where they do not cross

    def frr_at_far(self, target: float, exact: bool) -> np.ndarray:
        """Return the smallest FRR with FAR at most the target, for each column.

        Unless the thresholds are all the distinct scores (`exact`), FRR is interpolated there.
        """
        columns = np.arange(self.far.shape[1])
        f, r = self.with_ends
        last = _last_up_to(f[:-1], target)  # the point beyond all scores is not attained
        frr = r[last, columns]
        if not exact:
            width = f[last + 1, columns] - f[last, columns]
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(width > 0, (target - f[last, columns]) / width, 0.0)
            frr = frr + np.clip(share, 0.0, 1.0) * (r[last + 1, columns] - frr)
        return np.where(self._defined(), frr, np.nan)

    def far_at_frr(self, target: float, exact: bool) -> np.ndarray:
        """Return the smallest FAR with FRR at most the target, for each column.

        The two errors change places where the points are taken from loose to strict.
        """
        far = ErrorColumns(self.frr[::-1], self.far[::-1]).frr_at_far(target, exact)
        if self.failed and len(self.frr):
            far = np.where(self.frr[-1] <= target, far, np.nan)
        return far if target < 1 else 0 * far  # reject-all, which is the last

    def at_each(
        self, rate: Callable[[float, bool], np.ndarray], targets: np.ndarray, exact: bool
    ) -> np.ndarray:
        """Return a rate at each target, of shape (targets, columns)."""
        rates = [rate(float(x), exact) for x in targets]
        return np.stack(rates) if rates else np.empty((0, self.far.shape[1]))

    def area(self) -> np.ndarray:
        """Return the area under the ROC of each column, by the trapezoidal rule."""
        f, r = replace(self, failed=False).with_ends  # failures are beyond all scores
        return (-np.diff(r, axis=0) * (1 - (f[1:] + f[:-1]) / 2)).sum(axis=0)


def _last_up_to(rates: np.ndarray, target: float) -> np.ndarray:
    """Return the last row of each column, in which rates increase, up to a target; -1 of none."""
    columns = np.arange(rates.shape[1])
    low, high = np.full_like(columns, -1), np.full_like(columns, len(rates))
    for _ in range(len(rates).bit_length()):
        middle = np.maximum((low + high) // 2, 0)
        within = rates[middle, columns] <= target
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return low


# The fields of operating points that have a value for each target.
_OF_TARGET = {
    "far": ("far_target", "threshold_at_far"),
    "frr": ("frr_target", "threshold_at_frr"),
    "prior": ("costs", "min_cost_threshold"),
}


@dataclass(frozen=True, kw_only=True)
class CurveMeasure:
    """A measure of verification: its value on the data and in columns, and what it rests on."""

    scalar: Variable
    #: The value in operating points, or one for each target.
    on_the_data: Callable[[VerificationPoints], Any]
    #: The same in each column of a curve; whether the thresholds are all scores comes last.
    in_columns: Callable[[ErrorColumns, VerificationPoints, bool], np.ndarray]
    #: The threshold of each value; None where a measure is over all thresholds.
    thresholds: Callable[[VerificationPoints], Any] | None = None
    #: The classes whose rate of errors the value is; none of a cost or an area.
    rate_of: tuple[AttemptClass, ...] = ()
    #: The targets that the values are at: FAR, FRR or the prior of a cost.
    targets: Callable[[VerificationPoints], np.ndarray] | None = None
    of_target: Literal["", "far", "frr", "prior"] = ""
    #: Whether it needs the counts of every impostor score, as areas and the least of costs do.
    every_score: bool = False
    #: Whether systems are compared by it unless others are asked for.
    usual: bool = True

    @property
    def name(self) -> str:
        """The name of its variable."""
        return self.scalar.name

    def own_thresholds(self, points: VerificationPoints) -> np.ndarray:
        """Return the threshold of each value; none of a measure over all thresholds."""
        if self.thresholds is None:
            return np.empty(0)
        return np.atleast_1d(self.thresholds(points)).astype(np.float64)

    def one_by_one(self, points: VerificationPoints) -> Iterator[VerificationPoints]:
        """Yield operating points with each of the targets alone, or the points as they are."""
        if self.targets is None:
            yield points
            return
        for i in range(len(self.targets(points))):
            one = {name: getattr(points, name)[i : i + 1] for name in _OF_TARGET[self.of_target]}
            yield replace(points, **one)

    def is_defined(self, points: VerificationPoints) -> bool:
        """Whether operating points have it."""
        if self.every_score and not points.every_score:
            return False
        # FRR at no FAR target is there, and empty: the others are left out.
        return self.targets is None or self.of_target == "far" or len(self.targets(points)) > 0


def least_costs(curve: ErrorColumns, costs: np.ndarray) -> np.ndarray:
    """Return the least normalised cost of each row (p, c_miss, c_fa), in each column."""
    far, frr = curve.with_ends
    least = np.empty((len(costs), far.shape[1]))
    for row, (prior, miss, accept) in zip(least, costs, strict=True):
        row[:] = (prior * miss * frr + (1 - prior) * accept * far).min(axis=0)
    return normalised_cost(least.T, costs).T


def _hull_errors(curve: ErrorColumns, points: VerificationPoints, exact: bool) -> np.ndarray:
    """Return the EER on the convex hull of the ROC of each column."""
    far, frr = curve.with_ends
    defined = ~np.isnan(far).any(axis=0) & ~np.isnan(frr).any(axis=0)
    rates = np.full(far.shape[1], np.nan)
    if curve.failed:
        columns = zip(far.T[defined], frr.T[defined], strict=True)
        rates[defined] = [attained_hull_error(x, y, x[-1]) for x, y in columns]
        return rates
    starts = np.arange(int(defined.sum()) + 1) * len(far)
    rates[defined] = hull_equal_errors(
        far[:, defined].T.reshape(-1), frr[:, defined].T.reshape(-1), starts
    )
    return rates


EER = CurveMeasure(
    scalar=VERIFICATION["eer"],
    on_the_data=lambda points: points.equal_error.eer,
    in_columns=lambda curve, points, exact: curve.equal_error(),
    thresholds=lambda points: points.equal_error.eer_threshold,
    rate_of=("genuine", "impostor"),
)

#: All but the best values of functions of FAR and FRR, in the order of tables.
MEASURES = (
    EER,
    CurveMeasure(
        scalar=VERIFICATION["frr_at_far"],
        on_the_data=lambda points: points.frr_at_far,
        in_columns=lambda curve, points, exact: curve.at_each(
            curve.frr_at_far, points.far_target, exact
        ),
        thresholds=lambda points: points.threshold_at_far,
        rate_of=("genuine",),
        targets=lambda points: points.far_target,
        of_target="far",
    ),
    CurveMeasure(
        scalar=VERIFICATION["far_at_frr"],
        on_the_data=lambda points: points.far_at_frr,
        in_columns=lambda curve, points, exact: curve.at_each(
            curve.far_at_frr, points.frr_target, exact
        ),
        thresholds=lambda points: points.threshold_at_frr,
        rate_of=("impostor",),
        targets=lambda points: points.frr_target,
        of_target="frr",
    ),
    CurveMeasure(
        scalar=VERIFICATION["auc"],
        on_the_data=lambda points: points.auc,
        in_columns=lambda curve, points, exact: curve.area(),
        every_score=True,
    ),
    CurveMeasure(
        scalar=VERIFICATION["eer_hull"],
        on_the_data=lambda points: points.eer_hull,
        in_columns=_hull_errors,
        usual=False,
        thresholds=lambda points: points.equal_error.eer_threshold,
        rate_of=("genuine", "impostor"),
        every_score=True,
    ),
    CurveMeasure(
        scalar=VERIFICATION["min_dcf"],
        on_the_data=lambda points: normalised_cost(points.min_cost, points.costs),
        in_columns=lambda curve, points, exact: least_costs(curve, points.costs),
        usual=False,
        thresholds=lambda points: points.min_cost_threshold,
        targets=lambda points: points.costs[:, 0],
        of_target="prior",
        every_score=True,
    ),
)


def curve_measures() -> Sequence[CurveMeasure]:
    """Return all measures, with the best values that studies and scripts declare."""
    return (*MEASURES, *map(_best_value, best_values()))


def _best_value(scalar: Variable) -> CurveMeasure:
    """Return the measure of the best value of a function of FAR and FRR."""
    return CurveMeasure(
        scalar=scalar,
        on_the_data=lambda points: points.optima.get(scalar.name, np.nan),
        in_columns=lambda curve, points, exact: scalar.best(*curve.with_ends),
        thresholds=lambda points: points.optima.get(scalar.threshold, np.nan),
        every_score=True,
    )
