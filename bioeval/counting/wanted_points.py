"""The operating points of a result: which are wanted, and their values by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bioeval.counting.costs import COST_LABELS, normalised_cost
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.points import EqualError
from bioeval.counting.sorted_attempts import Attempts

if TYPE_CHECKING:
    from bioeval.counting.threshold_rules import Rule
    from bioeval.results.variables import Variable


@dataclass(frozen=True, eq=False)
class PointsWanted:
    """The operating points that are wanted of attempts."""

    targets: np.ndarray  # FAR targets
    costs: np.ndarray  # rows (prior, c_miss, c_fa), whose least costs are wanted
    #: Whether points that need every score are wanted: AUC, d', the EER on the hull, the least
    #: costs and `optima`.
    every_score: bool
    thresholds: np.ndarray | None = None  # thresholds whose false accepts are wanted
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    optima: Sequence[Variable] = ()  # functions of FAR and FRR, whose best values are wanted

    #: Prior proportion of genuine attempts, cost of a false reject, cost of a false accept, for
    #: half the total error rate.
    DEFAULT_COSTS: ClassVar = ((0.5, 1.0, 1.0),)

    @classmethod
    def of_rule(cls, rule: Rule) -> PointsWanted:
        """Return the points that a rule of thresholds needs: FAR targets, or fixed thresholds."""
        targets = np.array(rule.values if rule.name == "far" else ())
        thresholds = np.array(rule.values) if rule.name == "fixed" else None
        return cls(targets, np.empty((0, 3)), False, thresholds)


@dataclass
class VerificationPoints:
    """Operating points of verification."""

    wanted: PointsWanted
    equal_error: EqualError
    #: Numbers, and arrays over targets and costs, by the names of a result; thresholds are
    #: distances, and undefined values NaN.
    values: dict[str, Any]
    symmetric: bool | None  # whether each pair was counted in both directions; None if unknown
    independent: float  # impostor attempts, each pair of a symmetric matrix once
    #: Finite thresholds of the curve besides its grid, and the false accepts there.
    extra_thresholds: np.ndarray = field(default_factory=lambda: np.empty(0))
    extra_accepted: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def with_thresholds(self, thresholds: np.ndarray, attempts: Attempts) -> Self:
        """Return the points with other extra thresholds, and the false accepts there."""
        accepted = attempts.false_accepts(thresholds)
        return replace(self, extra_thresholds=thresholds, extra_accepted=accepted)

    def thresholds(self, *names: str) -> np.ndarray:
        """Return the finite thresholds by their names, by default of all points but least costs."""
        point_names = names or THRESHOLDS
        thresholds = np.concatenate(
            [np.atleast_1d(self.values.get(x, np.nan)) for x in point_names]
        )
        return thresholds[np.isfinite(thresholds)]


#: The names of the thresholds around which scores are kept.
THRESHOLDS = (
    *("eer_threshold", "zero_far_threshold", "zero_frr_threshold"),
    *("threshold_at_far", "threshold_at_frr"),
)
OF_COSTS = "min_cost_threshold"


def points_of(
    attempts: Attempts, wanted: PointsWanted, *, symmetric: bool | None, with_thresholds: bool
) -> VerificationPoints:
    """Return the points of attempts; `with_thresholds`, they are extra thresholds of the curve.

    `symmetric` says whether each pair was counted in both directions, None if unknown.
    """
    error, values_of_parts = point_values(attempts.points, wanted, symmetric)
    values: dict[str, Any] = {name: x[0] for name, x in values_of_parts.items()}
    if wanted.every_score and len(wanted.costs):
        values |= dict(zip(COST_LABELS, wanted.costs.T, strict=True))
    independent = attempts.impostor_attempts / (2 if symmetric else 1)
    points = VerificationPoints(wanted, error.of_part(0), values, symmetric, independent)
    if not (attempts.defined and with_thresholds):
        return points
    thresholds = points.thresholds(*THRESHOLDS, OF_COSTS)
    if wanted.thresholds is not None:
        thresholds = np.append(thresholds, wanted.thresholds[np.isfinite(wanted.thresholds)])
    return points.with_thresholds(thresholds, attempts)


def point_values(
    attempts: AttemptsOfParts, wanted: PointsWanted, symmetric: Any
) -> tuple[EqualError, dict[str, np.ndarray]]:
    """Return the EER, and the points of parts by name: (parts,), (parts, targets), (parts, costs).

    The names are the names of :class:`VerificationPoints`, except for the labels of costs.
    `symmetric`, perhaps (parts,), says whether each pair was counted in both directions; None if
    unknown.
    """
    error = attempts.equal_error()
    values = error.values()
    if wanted.every_score:
        values |= _of_every_score(attempts, wanted.optima)
    # The points at FAR targets, at a FAR of 0 and at an FRR of 0.
    frr, threshold = attempts.at_far(np.append(0.0, wanted.targets))
    zero_frr, zero_frr_threshold = attempts.zero_frr()
    values |= {
        "zero_far": frr[:, 0],
        "zero_far_threshold": threshold[:, 0],
        "zero_frr": zero_frr,
        "zero_frr_threshold": zero_frr_threshold,
        "frr_at_far": frr[:, 1:],
        "threshold_at_far": threshold[:, 1:],
    }
    independent = attempts.impostor_attempts / np.where(symmetric, 2, 1)
    values["expected_false_accepts"] = independent[:, None] * wanted.targets
    if symmetric is not None:
        values["impostor_pairs"] = independent.astype(np.int64)
    if wanted.every_score and len(wanted.costs):
        values |= _at_least_costs(attempts, wanted.costs)
    if len(wanted.frr_targets):
        at_frr = attempts.far_at_frr(wanted.frr_targets)
        values["far_at_frr"], values["threshold_at_frr"] = at_frr
    names = [*THRESHOLDS, OF_COSTS, *(x.threshold for x in wanted.optima)]
    thresholds = {name: values[name] for name in names if name in values}
    columns = [x.reshape(len(x), -1) for x in thresholds.values()]
    next_scores = attempts.next_scores(np.concatenate(columns, axis=1))
    ends = np.cumsum([x.shape[1] for x in columns])
    scores_by_name = zip(thresholds.items(), np.split(next_scores, ends[:-1], axis=1), strict=True)
    return error, values | (
        {f"{name}_next": scores.reshape(x.shape) for (name, x), scores in scores_by_name}
    )


def _of_every_score(attempts: AttemptsOfParts, optima: Sequence[Variable]) -> dict[str, np.ndarray]:
    values = {
        "eer_hull": attempts.hull_equal_error(),
        "auc": attempts.auc(),
        "d_prime": attempts.d_prime(),
    }
    for variable in optima:
        values[variable.name], values[variable.threshold] = attempts.optimum(variable)
    return values


def _at_least_costs(attempts: AttemptsOfParts, costs: np.ndarray) -> dict[str, np.ndarray]:
    least, threshold = attempts.least_costs(costs)
    return {"min_dcf": normalised_cost(least, costs), "min_cost": least, OF_COSTS: threshold}
