"""Attempts that are listed one by one, each by its possible scores with the chances of these.

Where any of a subject's templates may be the enrolled ones, the score of an attempt is one of
several: rates are means over all choices of templates.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from bioeval.tallies.points import EqualError, ErrorCurve, cheapest, costs_of_attempts, total_cost
from bioeval.tallies.threshold_rules import ChosenThreshold, Rule

#: Chances are multiples of a unit that add up to one.
UNIT = 2.0**52

# Bits of the lower part of a chance in units.
_BITS = 26

# A rate that is a target but for the rounding of its sums is at most that target.
_SLACK = 1 + 1e-12


def steps_of(within: np.ndarray) -> np.ndarray:
    """Return the steps of chances that rise to one, in units."""
    return np.diff(np.rint(within * UNIT)) / UNIT


def chances_of_nearest(usable: int, drawn: int) -> np.ndarray:
    """Return the chance of each of some templates, from near to far, to be the nearest drawn one.

    The `j`-th nearest of `N` is the nearest of `n` drawn with chance ``C(N - j, n - 1) / C(N, n)``.
    """
    drawn = min(drawn, usable)
    total = math.comb(usable, drawn)
    within = [(total - math.comb(usable - j, drawn)) / total for j in range(usable + 1)]
    return steps_of(np.array(within))


class ListedAttempts:
    """Scores of attempts with their chances, in increasing order of the scores, as distances.

    - `value`, `chance` (float64): each score, and the chance that it is the one of its attempt; a
      score that no threshold accepts is NaN
    - `genuine`, `impostor`: those of either class
    """

    value: np.ndarray
    chance: np.ndarray

    @cached_property
    def genuine(self) -> Self:
        """The genuine attempts."""
        raise NotImplementedError

    @cached_property
    def impostor(self) -> Self:
        """The impostor attempts."""
        raise NotImplementedError

    @cached_property
    def number(self) -> int:
        """The number of attempts: their chances add up to one each."""
        return round(float(self.chance.sum()))

    @property
    def genuine_attempts(self) -> int:
        """The number of genuine attempts."""
        return self.genuine.number

    @property
    def impostor_attempts(self) -> int:
        """The number of impostor attempts."""
        return self.impostor.number

    @property
    def defined(self) -> bool:
        """Whether there are attempts of both classes."""
        return bool(self.genuine_attempts and self.impostor_attempts)

    @cached_property
    def _whole(self) -> bool:
        """Whether each attempt has one score, so that counts are whole numbers."""
        return bool((self.chance == 1).all())

    @cached_property
    def _counts(self) -> np.ndarray:
        """Return the expected number of scores before each of them, and of all.

        The units of chances are summed as whole numbers in two parts, so that the chances of
        an attempt add up to one and no rejection is left over by rounding.
        """
        if self._whole:
            return np.arange(len(self.value) + 1)
        units = np.append(0, np.rint(self.chance * UNIT)).astype(np.int64)
        upper, lower = np.cumsum(units >> _BITS), np.cumsum(units & ((1 << _BITS) - 1))
        return upper * (2.0**_BITS / UNIT) + lower / UNIT

    def accepted_at(self, thresholds: Any) -> np.ndarray:
        """Return the expected number of scores up to each threshold; of NaN, none."""
        counts = self._counts
        thresholds = np.asarray(thresholds)
        places = np.searchsorted(self.value, thresholds, side="right")
        return counts[np.where(np.isnan(thresholds), 0, places)]

    def errors_at(self, threshold: float) -> tuple[Any, Any]:
        """Return expected false accepts and false rejects at a threshold."""
        accepted = self.impostor.accepted_at(threshold)
        return accepted, self.genuine.number - self.genuine.accepted_at(threshold)

    def curve(self) -> ErrorCurve:
        """Return the points of the ROC: reject-all, and one for each distinct score."""
        points = np.union1d(self.genuine.value, self.impostor.value)
        points = points[~np.isnan(points)]
        reject_all = np.nan if len(points) and points[0] == -np.inf else -np.inf
        fa, accepted = self.impostor.accepted_at(points), self.genuine.accepted_at(points)
        genuine = self.genuine.number
        return ErrorCurve(
            np.append(reject_all, points),
            np.append(fa[:0].sum(), fa),
            np.append(accepted[:0].sum() + genuine, genuine - accepted),
            genuine,
            self.impostor.number,
        )

    def equal_error(self) -> EqualError:
        """Return the EER; NaN where a class has no attempt."""
        return self.curve().equal_error() if self.defined else EqualError()

    def about_equal_error(self) -> float:
        """Return the EER."""
        return self.equal_error().eer

    def chosen_by(self, rule: Rule) -> ChosenThreshold:
        """Return the threshold of a rule, whose given threshold is a distance."""
        if rule.name == "fixed":
            return ChosenThreshold(rule.values[0], True)
        if not self.defined or rule.name == "none":
            return ChosenThreshold()
        curve = self.curve()
        if rule.name == "eer":
            return ChosenThreshold(curve.equal_error().eer_threshold, True)
        if rule.name == "far":
            at = int(np.flatnonzero(curve.fars <= rule.values[0] * _SLACK)[-1])
        elif rule.name == "frr":
            within = np.flatnonzero(curve.frrs <= rule.values[0] * _SLACK)
            if not len(within):
                return ChosenThreshold()
            at = int(within[0])
        else:
            at = self._cheapest(rule, curve)
        return ChosenThreshold(float(curve.threshold[at]), True)

    def at_far(self, target: float) -> tuple[float, float]:
        """Return the smallest FRR with FAR at most a target, and the loosest threshold."""
        threshold = self.chosen_by(Rule("far", (target,))).threshold
        return float(self.errors_at(threshold)[1] / self.genuine_attempts), threshold

    def _cheapest(self, rule: Rule, curve: ErrorCurve) -> int:
        """Return the point of least cost, the strictest of several."""
        from fractions import Fraction

        weights = Fraction(1), Fraction(1)
        if rule.name == "cost":
            weights = costs_of_attempts(rule.values, curve.genuine, curve.impostor)
        if self._whole:
            return cheapest(curve.fa, curve.fr, *weights)
        cost = total_cost(curve.fa, curve.fr, *weights)
        return int(np.argmax(cost <= cost.min() * _SLACK))
