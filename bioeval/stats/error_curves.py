"""FAR and FRR along thresholds at weights of people, and measures of these curves.

Intervals and comparisons use the definition of a measure here: a new measure is an entry of
:data:`MEASURES`, with its limits among the variables (:mod:`bioeval.results.variables`). The best
value of a function of FAR and FRR needs no entry: :func:`bioeval.scalar` adds such functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bioeval.counting.operating_points import (
    Points,
    equal_error_between,
    hull_equal_errors,
    mean_cost,
    normalised_cost,
    pairs_won,
)
from bioeval.counting.people import GenuineAttempts
from bioeval.counting.threshold_rules import VerificationPoints
from bioeval.results.variables import VERIFICATION, Variable, best_values
from bioeval.stats.impostor_sums import QuadraticForms
from bioeval.stats.weighted_sums import by_subject, linear_forms, ratio

# Rows of this many columns are summed one by one: cumsum goes down each column by itself.
_WIDE = 512

#: The classes of attempts.
AttemptClass = Literal["genuine", "impostor"]


@dataclass(frozen=True, eq=False)
class ErrorColumns:
    """FAR and FRR at increasing distances, (thresholds, columns).

    The first column has the rates of the data; the others have the rates without each person
    (jackknife), or the rates of replicates (bootstrap).
    """

    far: np.ndarray  # (thresholds, columns)
    frr: np.ndarray  # (thresholds, columns)
    failed: bool = False  # whether some attempts failed, which no threshold accepts
    untied: np.ndarray | None = None  # (thresholds,): genuine scores that no impostor score equals

    @property
    def points(self) -> int:
        """The number of thresholds."""
        return len(self.far)

    @classmethod
    def of_counts(
        cls,
        accepted: np.ndarray,
        genuine_accepted: np.ndarray,
        failed: bool,
        untied: np.ndarray | None = None,
    ) -> ErrorColumns:
        """Return the rates from accepted impostor and genuine attempts; the last row has all."""
        frr = ratio(genuine_accepted[-1] - genuine_accepted[:-1], genuine_accepted[-1])
        return cls(ratio(accepted[:-1], accepted[-1]), frr, failed, untied)

    @classmethod
    def weighted(
        cls,
        forms: QuadraticForms,
        genuine: GenuineAttempts,
        thresholds: np.ndarray,
        failed: bool,
        untied: np.ndarray | None = None,
    ) -> ErrorColumns:
        """Return the rates at weights of people; `forms` are sums of weighted impostor attempts."""
        counts = by_subject(*genuine, thresholds, len(forms.weights))
        accepted, genuine_accepted = forms.totals, linear_forms(counts, forms.weights)
        for sums in (accepted, genuine_accepted):
            if sums.shape[1] < _WIDE:
                np.cumsum(sums, axis=0, out=sums)
                continue
            for row in range(1, len(sums)):
                sums[row] += sums[row - 1]
        return cls.of_counts(accepted, genuine_accepted, failed, untied)

    def drawn(self, weights: np.ndarray) -> ErrorColumns:
        """Return the rates with people drawn again, from the rates without each person.

        The rates of a draw are those of the data, changed for each person as often as the person is
        drawn (the infinitesimal jackknife: Efron 1982, The jackknife, the bootstrap and other
        resampling plans, chapter 6), so that their variance is the jackknife's. The `weights`
        (people, draws) say how often.
        """
        people = len(weights)

        def of_draws(columns: np.ndarray) -> np.ndarray:
            others = columns[:, 1:]
            change = others.mean(axis=1, keepdims=True) - others
            drawn = np.empty((len(columns), 1 + weights.shape[1]))  # many, and so changed in place
            drawn[:, 0] = columns[:, 0]
            drawn[:, 1:] = change @ (weights - 1.0)
            drawn[:, 1:] *= np.sqrt(1 - 1 / people)
            drawn[:, 1:] += columns[:, :1]
            np.clip(drawn[:, 1:], 0.0, 1.0, out=drawn[:, 1:])
            return drawn

        far, frr = of_draws(self.far), of_draws(self.frr)
        np.maximum.accumulate(far, out=far)
        np.minimum.accumulate(frr, out=frr)
        return ErrorColumns(far, frr, self.failed, self.untied)

    def at_rows(self, rows: np.ndarray) -> ErrorColumns:
        """Return the rates at the thresholds of `rows`."""
        if len(rows) == len(self.far):
            return self
        untied = None if self.untied is None else self.untied[rows]
        return ErrorColumns(self.far[rows], self.frr[rows], self.failed, untied)

    @cached_property
    def defined(self) -> np.ndarray:
        """Whether both classes have attempts, bool (columns,)."""
        return ~(np.isnan(self.far[:1]) | np.isnan(self.frr[:1])).any(axis=0)

    @cached_property
    def with_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """FAR and FRR from strict to loose, with reject-all and accept-all.

        If attempts failed, nothing accepts all: the last point is repeated instead.
        """
        return self._with_end_rows(self.failed)

    def _with_end_rows(self, failed: bool) -> tuple[np.ndarray, np.ndarray]:
        zero = np.zeros((1, self.far.shape[1]))
        one = np.ones((1, self.far.shape[1]))
        last_far, last_frr = one, zero
        if failed and len(self.far):
            last_far, last_frr = self.far[-1:], self.frr[-1:]
        return (
            np.concatenate([zero, self.far, last_far]),
            np.concatenate([one, self.frr, last_frr]),
        )

    def at_row(self, row: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR at a row, or at a row for each column, (columns,).

        Row -1 is reject-all, and the row after the last is accept-all, or the last row again if
        attempts failed: then nothing accepts all.
        """
        far, frr = self.with_ends  # a further row at each end
        return _rates_of_columns(far, row + 1), _rates_of_columns(frr, row + 1)

    def _last_row(self, inside: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the last row of each column at which `inside` is true of FAR and FRR.

        It is true at row -1 and up to the row sought, and false behind. All columns are bisected at
        once.
        """
        columns = self.far.shape[1]
        low = np.full(columns, -1)
        high = np.full(columns, self.points)
        for _ in range(self.points.bit_length()):
            middle = (low + high) // 2
            is_inside = inside(*self.at_row(middle))
            low = np.where(is_inside, middle, low)
            high = np.where(is_inside, high, middle)
        return low

    def equal_error(self) -> np.ndarray:
        """Return the EER of each column, (columns,); curves are linear between two rows."""
        row = self._last_row(lambda far, frr: far < frr)
        before, after = (Points(x, *self.at_row(x)) for x in (row, row + 1))
        is_crossed = (after.fa >= after.fr) & self.defined
        return equal_error_between(before, after, 1, 1, is_crossed).eer

    def frr_at_far(self, target: float | np.ndarray, exact: bool) -> np.ndarray:
        """Return the smallest FRR with FAR at most the target, which may differ between columns.

        If the thresholds are not all the distinct scores (not `exact`), FRR is interpolated.
        """
        last = self._last_row(lambda far, frr: far <= target)
        far, frr = self.at_row(last)
        if not exact:
            next_far, next_frr = self.at_row(last + 1)
            width = next_far - far
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(width > 0, (target - far) / width, 0.0)
            frr = frr + np.clip(share, 0.0, 1.0) * (next_frr - frr)
        return np.where(self.defined, frr, np.nan)

    def far_at_frr(self, target: float | np.ndarray, exact: bool) -> np.ndarray:
        """Return the smallest FAR with FRR at most the target, which may differ between columns.

        It is :meth:`frr_at_far` with the two errors exchanged, and points from loose to strict.
        """
        far = ErrorColumns(self.frr[::-1], self.far[::-1]).frr_at_far(target, exact)
        if self.failed and len(self.far):
            far = np.where(self.frr[-1] <= target, far, np.nan)
        # Target 1 is met by reject-all, the last point.
        return np.where(np.asarray(target) < 1, far, 0 * far)

    def least_cost(self, cost: np.ndarray) -> np.ndarray:
        """Return the least normalised cost in each column; `cost` is (p, c_miss, c_fa).

        It is divided by the cost of the better trivial decision (Martin 2000, *Digital Signal
        Processing* 10).
        """
        least = mean_cost(cost, *self.with_ends).min(axis=0)
        return normalised_cost(least[:, None], cost[None])[:, 0]

    def area(self) -> np.ndarray:
        """Return the area under the ROC of each column, by the trapezoidal rule.

        At an untied genuine score the ROC is vertical, whatever the row before.
        """
        # Accept-all is a point even if attempts failed: failures are beyond all scores.
        far, frr = self._with_end_rows(False) if self.failed else self.with_ends
        # (thresholds + 1, columns): FAR before and at the genuine attempts of each step.
        accepted = far[1:] + far[:-1]
        if self.untied is not None:
            accepted[:-1][self.untied] = 2 * far[1:-1][self.untied]
        return pairs_won(frr[:-1] - frr[1:], accepted, 2.0).sum(axis=0) / 2


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorColumnsByRow(ErrorColumns):
    """FAR and FRR of which equal rows are stored once.

    Such curves have the EER and the FRR at a FAR, but no measure of all thresholds.
    """

    far_row: np.ndarray  # (points + 2,): row of `far` at reject-all, each threshold, accept-all
    frr_row: np.ndarray  # (points + 2,): row of `frr` at these

    @property
    def points(self) -> int:
        return len(self.far_row) - 2

    def at_row(self, row: int | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        far = _rates_of_columns(self.far, self.far_row[row + 1])
        return far, _rates_of_columns(self.frr, self.frr_row[row + 1])


def _rates_of_columns(rates: np.ndarray, row: int | np.ndarray) -> np.ndarray:
    """Return the rate of each column at its row, or at the same row."""
    columns = rates.shape[1]
    return rates.take(row * columns + np.arange(columns))  # indices in the flattened array


def corrected_to(
    value: np.ndarray | float, columns: np.ndarray, bounds: tuple[float, float] = (0.0, 1.0)
) -> np.ndarray:
    """Return columns less the error of interpolation, by which the first differs from `value`."""
    value = np.asarray(value)
    columns = np.clip(columns + (value[..., None] - columns[..., :1]), *bounds)
    columns[..., 0] = value
    return columns


@dataclass(frozen=True, kw_only=True)
class CurveMeasure:
    """A measure of verification, with its value in each column of a curve."""

    scalar: Variable
    #: Returns the value in each column of a curve, at a target or None; the last argument says
    #: whether the thresholds are all scores.
    in_columns: Callable[[ErrorColumns, Any, bool], np.ndarray]
    #: The variable with the threshold of each value, by default the threshold of `scalar`; empty
    #: for a measure over all thresholds.
    threshold: str = ""
    #: The classes whose error rate the value is; none for a cost or an area.
    rate_of: tuple[AttemptClass, ...] = ()
    #: The rate, or the prior of the cost, at whose targets the values are.
    of_target: Literal["", "far", "frr", "prior"] = ""
    #: Whether the measure needs the counts of every impostor score, as areas and least costs do.
    every_score: bool = False
    #: Whether systems are compared by the measure by default.
    usual: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", self.threshold or self.scalar.threshold)

    @property
    def name(self) -> str:
        return self.scalar.name

    def own_thresholds(self, points: VerificationPoints) -> np.ndarray:
        """Return the threshold of each value; none for a measure over all thresholds."""
        if not self.threshold:
            return np.empty(0)
        return np.atleast_1d(points.values.get(self.threshold, np.nan))

    def targets(self, points: VerificationPoints) -> Any:
        """Return FAR or FRR targets, or rows of costs; [None] for a measure without targets."""
        wanted = points.wanted
        targets_by_kind = {
            "far": wanted.targets,
            "frr": wanted.frr_targets,
            "prior": wanted.costs,
        }
        return targets_by_kind.get(self.of_target, [None])

    def numbers(self, points: VerificationPoints) -> list[float]:
        """Return the target of each value, or the prior of its cost; NaN without a target."""
        targets = np.array(self.targets(points), dtype=np.float64)
        return (targets if targets.ndim == 1 else targets[:, 0]).tolist()

    def is_defined(self, points: VerificationPoints) -> bool:
        """Whether the operating points include the measure."""
        if self.every_score and not points.wanted.every_score:
            return False
        # FRR at no FAR target is an empty variable; other measures without a target are left out.
        return self.of_target == "far" or len(self.targets(points)) > 0


EER = CurveMeasure(
    scalar=VERIFICATION["eer"],
    in_columns=lambda curve, target, exact: curve.equal_error(),
    rate_of=("genuine", "impostor"),
)

#: The measures in the order of tables, without best values of functions of FAR and FRR.
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
        in_columns=lambda curve, target, exact: hull_equal_errors(*curve.with_ends, curve.defined),
        usual=False,
        threshold="eer_threshold",
        rate_of=("genuine", "impostor"),
        every_score=True,
    ),
    CurveMeasure(
        scalar=VERIFICATION["min_dcf"],
        in_columns=lambda curve, cost, exact: curve.least_cost(cost),
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
        in_columns=lambda curve, target, exact: scalar.best(*curve.with_ends),
        every_score=True,
    )
