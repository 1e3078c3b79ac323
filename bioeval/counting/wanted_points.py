"""The operating points of a result: which are wanted, and their values by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.points import COSTS, EqualError, normalised_cost
from bioeval.counting.sorted_attempts import Attempts

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


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
