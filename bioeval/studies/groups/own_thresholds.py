"""EER and minDCF of each group, at the best threshold of the group alone, and their limits.

No system has a threshold for each group. These numbers say how well the scores of a group could
separate its people if it had one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval import DataError
from bioeval.base import Argument, received
from bioeval.stats import (
    AttemptsOfEach,
    ErrorColumns,
    groups_of_people,
    jackknife_limits,
    least_costs,
)
from bioeval.tallies import (
    Attempts,
    ListedClaims,
    PairCounts,
    Rule,
    SubjectAttempts,
    check_costs,
    choose,
    normalised_cost,
    wanted_bins,
)

#: Prior, c_miss and c_fa of the minDCF of each group, unless they are given.
COST = (0.01, 1.0, 1.0)

# A rate of 0 or 1 has no logit.
_EDGE = 1e-12

# Genuine scores that are thresholds.
_MOST_GENUINE = 256


def require_cost(cost: Any) -> tuple[float, float, float]:
    """Return a cost as three numbers, or raise :class:`DataError`."""
    try:
        ((prior, miss, accept),) = check_costs([tuple(cost)]).tolist()
    except (DataError, TypeError, ValueError):
        prior, miss, accept = 0.0, 0.0, 0.0
    if not min(prior * miss, (1 - prior) * accept) > 0:
        raise DataError(
            Argument("cost"),
            f" is {received(cost)}; expected (prior, c_miss, c_fa) with a prior between 0 and 1 "
            "and costs above 0",
        )
    return prior, miss, accept


def own_rules(cost: tuple[float, float, float]) -> tuple[Rule, Rule]:
    """Return the rules by which a group has its EER and its minDCF."""
    return Rule("eer"), Rule("cost", cost)


def own_points(
    within_groups: Sequence[Attempts | ListedClaims], cost: tuple[float, float, float]
) -> dict[str, np.ndarray]:
    """Return the EER and the minDCF of each group; NaN without attempts of both classes."""
    eer, least = np.full((2, len(within_groups)), np.nan)
    rule = own_rules(cost)[1]
    for g, attempts in enumerate(within_groups):
        if not attempts.defined:
            continue
        eer[g] = attempts.equal_error().eer
        if isinstance(attempts, ListedClaims):
            threshold = attempts.chosen_by(rule).threshold
        else:
            threshold = choose(rule, attempts, wanted_bins(rule, attempts)).threshold
        accepted, rejected = attempts.errors_at(threshold)
        far, frr = accepted / attempts.impostor_attempts, rejected / attempts.genuine_attempts
        expected = cost[0] * cost[1] * frr + (1 - cost[0]) * cost[2] * far
        least[g] = normalised_cost(np.array([expected]), np.array([cost]))[0]
    return {"eer": eer, "min_dcf": least}


@dataclass(frozen=True)
class PointOfGroup:
    """A number at the best threshold of a group, and the same without each of its people.

    - `trials`: number of independent trials
    - `fewest`: people on the smaller of the two sides of impostor attempts
    - `counts_errors`: whether it is a proportion of attempts, which may be 0 by chance
    """

    rate: float
    without: np.ndarray
    trials: int
    fewest: float
    counts_errors: bool

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits by leaving out each person; NaN where there are none."""
        inside = (self.without > _EDGE) & (self.without < 1 - _EDGE)
        if not (self.counts_errors or (_EDGE < self.rate < 1 - _EDGE and inside.all())):
            return np.nan, np.nan
        low, high = jackknife_limits(
            np.array(self.rate),
            self.without,
            level,
            self.trials,
            self.fewest,
            chosen_anew=not self.counts_errors,
        )
        return float(low), float(high)


class WithoutEachWithin:
    """A sink of impostor attempts within each group, by person, at thresholds of the group.

    - `nodes`: increasing thresholds of each group
    - `thresholds`: those of all layers of the counts, which have all `nodes` among them
    """

    def __init__(self, group: np.ndarray, nodes: Sequence[np.ndarray], thresholds: np.ndarray):
        self.group, self.nodes, self.thresholds = group, nodes, thresholds
        self._starts = [np.append(0, np.searchsorted(thresholds, x) + 1) for x in nodes]
        self._each = []
        for g, of_group in enumerate(nodes):
            who, number = groups_of_people(group != g)
            self._each.append(AttemptsOfEach(who, number, len(of_group) + 1))

    def fresh(self) -> Self:
        """Return the same sink before it has counted anything."""
        return type(self)(self.group, self.nodes, self.thresholds)

    def counts(self) -> dict[str, Any]:
        """Return all counts."""
        return {str(g): each.counts() for g, each in enumerate(self._each)}

    def include_counts(self, counts: dict[str, Any]) -> None:
        """Add counts of other attempts."""
        for g, each in enumerate(self._each):
            each.include_counts(counts[str(g)])

    def add(self, pairs: PairCounts) -> None:
        """Add attempts of pairs of subjects."""
        probe, claimed = self.group[pairs.probe_person], self.group[pairs.claimed_person]
        for g in np.intersect1d(probe, claimed):
            layer = np.searchsorted(self._starts[g], pairs.layer, side="right") - 1
            self._each[g].add(pairs.in_layers(layer, (probe == g) & (claimed == g)))

    def errors(self, g: int, genuine: tuple[np.ndarray, np.ndarray]) -> ErrorColumns:
        """Return the rates of a group, with a column for all people and one without each.

        `genuine` has the distances of all genuine attempts, and their subjects.
        """
        each, nodes = self._each[g], self.nodes[g]
        inside = self.group[genuine[1]] == g
        accepted = each.accepted()
        taken = each.accepted_genuine((genuine[0][inside], genuine[1][inside]), nodes)
        with np.errstate(invalid="ignore", divide="ignore"):
            far, frr = accepted[:-1] / accepted[-1], (taken[-1] - taken[:-1]) / taken[-1]
        return ErrorColumns(far, frr)


def nodes_around(attempts: Attempts) -> np.ndarray:
    """Return thresholds between which the EER and the least cost of a group can be found.

    All scores where there are few; else impostor scores, denser around the EER, and genuine scores
    each with the number before it: between these two FRR changes, and nothing else does.
    """
    if not attempts.defined:
        return np.empty(0)
    if len(attempts.edges) == 1:  # listed one by one
        every = np.union1d(attempts.values, attempts.genuine)
        if len(every) <= SubjectAttempts.EXACT:
            return every[np.isfinite(every)]
        places, reached = attempts.values, attempts.accepted[1:]
    else:
        places, reached = attempts.edges, attempts.below[1:]
    total, eer = attempts.impostor_attempts, attempts.equal_error()
    genuine = np.unique(attempts.genuine)
    if len(genuine) > _MOST_GENUINE:
        around = 1 - np.clip(eer.eer * np.geomspace(1 / 3, 3, _MOST_GENUINE // 2), 0, 1)
        share = np.append(around, np.linspace(0, 1, _MOST_GENUINE // 2))
        genuine = np.unique(np.quantile(genuine, share, method="lower"))
    wanted = np.concatenate([[eer.eer_threshold], genuine, np.nextafter(genuine, -np.inf)])
    return SubjectAttempts.thresholds_among(places, reached, total, [eer.eer * total], wanted)


def points_without_each(
    errors: ErrorColumns,
    points: dict[str, float],
    cost: tuple[float, float, float],
    trials: int,
    fewest: float,
) -> dict[str, PointOfGroup]:
    """Return the EER and the minDCF of a group with their values without each person.

    Between thresholds that are not all scores the values are corrected by the error that the whole
    group has there.
    """
    values = {"eer": errors.equal_error(), "min_dcf": least_costs(errors, np.array([cost]))[0]}
    made = {}
    for name, value in values.items():
        moved = np.clip(value[1:] + points[name] - value[0], 0.0, 1.0)
        made[name] = PointOfGroup(points[name], moved, trials, fewest, name == "eer")
    return made
