"""The operating points that are wanted, found in a list of attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bioeval.base.arguments import require_flag
from bioeval.counting.points import (
    ErrorCurve,
    VerificationPoints,
    attained_hull_error,
    check_costs,
    check_targets,
    d_prime,
    hull_equal_error,
    min_costs,
    moments_of,
)
from bioeval.counting.sorted_attempts import Attempts

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


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
        """Return the point that a rule chooses a threshold at."""
        targets = np.array(rule.values if rule.name == "far" else ())
        return cls(targets, np.empty((0, 3)), False)

    @classmethod
    def checked(
        cls, far_targets: Any, costs: Any, auc: Any, optima: Sequence[Variable]
    ) -> PointsWanted:
        """Return the points that the arguments of a call want."""
        targets, every_score = check_targets(far_targets), require_flag("auc", auc)
        return cls(targets, check_costs(costs), every_score, optima=optima)


def points_of(
    attempts: Attempts, wanted: PointsWanted, *, symmetric: bool | None, with_rows: bool
) -> VerificationPoints:
    """Return the points of attempts; `with_rows`, also false accepts at their thresholds.

    `symmetric` says whether each pair was counted in both directions, None if unknown.
    """
    points = undefined_points(wanted, symmetric)
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
    if with_rows:
        rows = np.append(points.thresholds, np.empty(0) if wanted.rows is None else wanted.rows)
        rows = rows[np.isfinite(rows)]
        points.add_rows(rows, attempts.false_accepts(rows))
    if wanted.every_score:
        genuine = attempts.genuine
        points.d_prime = d_prime(moments_of(genuine[np.isfinite(genuine)]), attempts.moments)
        points.auc = attempts.auc()
        corners = attempts.corners()
        add_optima(points, corners, wanted.optima, with_rows=with_rows)
        if attempts.missed or attempts.missed_impostors:
            most = attempts.impostors / attempts.impostor_attempts
            points.eer_hull = attained_hull_error(corners.fars, corners.frrs, most)
    return points


def undefined_points(wanted: PointsWanted, symmetric: bool | None) -> VerificationPoints:
    """Return points that are not yet defined."""
    return VerificationPoints(
        far_target=wanted.targets,
        frr_at_far=np.full(len(wanted.targets), np.nan),
        threshold_at_far=np.full(len(wanted.targets), np.nan),
        frr_target=wanted.frr_targets,
        far_at_frr=np.full(len(wanted.frr_targets), np.nan),
        threshold_at_frr=np.full(len(wanted.frr_targets), np.nan),
        costs=wanted.costs,
        min_cost=np.full(len(wanted.costs), np.nan),
        min_cost_threshold=np.full(len(wanted.costs), np.nan),
        symmetric=symmetric,
        every_score=wanted.every_score,
    )


def add_optima(
    points: VerificationPoints, corners: ErrorCurve, optima: Sequence[Variable], *, with_rows: bool
) -> None:
    """Add hull, optima and least costs, with rows at their thresholds if wanted."""
    fars, frrs = corners.fars, corners.frrs
    for x in optima:
        points.optima[x.name] = float(x.best(fars, frrs))
        points.optima[x.threshold] = float(corners.threshold[x.place_of_best(fars, frrs)])
    points.eer_hull = hull_equal_error(fars, frrs)
    points.min_cost, places = min_costs(corners, points.costs)
    points.min_cost_threshold = corners.threshold[places]
    if with_rows:
        points.add_rows(points.min_cost_threshold, corners.fa[places])
