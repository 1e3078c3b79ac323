"""The jackknife: limits of a rate, on the logit scale, from its values without each person.

A person leaves all sides: an attempt of two people is missing without either of them. The standard
error is that of the logits themselves, so that one person who makes most of the errors makes the
limits wide. It is estimated from as many people as there are, and less surely where few of them
account for most of it: hence Student's distribution, with degrees of freedom after Satterthwaite.
"""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.attempts.by_subject import PairCounts
from bioeval.stats.binomial import clopper_pearson
from bioeval.stats.limits import Limits, by_subject
from bioeval.stats.replicates import groups_of, open_limits


def jackknife_limits(
    rate: np.ndarray,
    without: np.ndarray,
    confidence: float,
    trials: int,
    fewest: float = np.inf,
    *,
    chosen_anew: bool = False,
) -> Limits:
    """Return the limits of rates from those `without` each person, of shape (..., people).

    They are no wider than those of Clopper and Pearson for as many independent `trials` as there
    are people, or disjoint pairs of people, and are these where the rates without some person are
    0 or 1, or all the same. `fewest` is the number of people on the smaller of two sides.

    Of rates at thresholds that are `chosen_anew` without each person, every person moves the
    threshold: the degrees of freedom are one less than the people. As the threshold is uncertain,
    too, limits may be wider than those of independent trials.
    """
    rate, people = np.asarray(rate, dtype=np.float64), without.shape[-1]
    known = np.where(np.isnan(rate), 0.0, np.clip(rate, 0.0, 1.0))
    low, high = clopper_pearson(known * trials, trials, confidence)
    inside = (rate > 0) & (rate < 1) & ((without > 0) & (without < 1)).all(axis=-1)
    inside &= min(people, fewest) > 1
    squares = np.zeros((*inside.shape, people))
    logits = scipy.special.logit(without[inside])
    mean = logits.sum(axis=-1, keepdims=True) / max(people, 1)
    squares[inside] = (logits - mean) ** 2
    total, fourth = squares.sum(axis=-1), (squares**2).sum(axis=-1)
    inside &= total > _ROUNDING
    total, fourth = total[inside], fourth[inside]
    varies = np.maximum(fourth - total**2 / max(people, 1), _ROUNDING * fourth)
    freedom = np.full(len(total), min(people, fewest) - 1.0)
    if not chosen_anew:
        freedom = np.minimum(2 * total**2 / varies, freedom)
    half = scipy.special.stdtrit(freedom, 0.5 + confidence / 2)
    half = half * np.sqrt((people - 1) / max(people, 1) * total)
    middle = scipy.special.logit(rate[inside])
    below, above = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    if not chosen_anew:
        below, above = np.fmax(low[inside], below), np.fmin(high[inside], above)
    low[inside], high[inside] = below, above
    undefined = np.isnan(rate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


# Squares of logits that differ by rounding alone.
_ROUNDING = 1e-20


def student_limits(
    value: float, without: np.ndarray, confidence: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return Student's limits of a value, from its values without each of some units.

    Limits are within the bounds of the measure. A proportion of exactly 0 or 1, in every unit, has
    the bound of as many trials as there are units. Where a value is not defined without some unit,
    or all of the values are the same, there are no limits.
    """
    units = len(without)
    if np.isnan(value) or np.isnan(without).any() or units < 2:
        return np.nan, np.nan
    if np.ptp(without) <= _ALIKE * np.abs(without).max():
        if bounds == (0.0, 1.0) and value in bounds:
            nothing = np.array(np.nan)
            low, high = open_limits(np.array(value), nothing, nothing, units, confidence)
            return float(low), float(high)
        return np.nan, np.nan
    error = np.sqrt((units - 1) / units * ((without - without.mean()) ** 2).sum())
    half = float(scipy.special.stdtrit(units - 1, 0.5 + confidence / 2) * error)
    return max(value - half, bounds[0]), min(value + half, bounds[1])


# Values without each unit that differ by rounding alone, as a share of the largest.
_ALIKE = 1e-12


class AttemptsOfEach:
    """A consumer of impostor counts: the attempts of each person, on whichever side, by layer.

    `group` is the number of each subject, or of the group of people that it is left out with; what
    is of no person, such as a distractor, is never left out, and has the number `groups`.
    """

    def __init__(self, group: np.ndarray, groups: int, layers: int):
        """Begin without attempts."""
        self.group, self.groups, self.layers = group, groups, layers
        self._all = np.zeros(layers, dtype=np.int64)
        self._each = np.zeros((layers, groups + 1), dtype=np.int64)

    @classmethod
    def of_people(cls, no_person: np.ndarray, layers: int) -> AttemptsOfEach:
        """Leave out each person, or of more than a thousand people each of a thousand groups."""
        group, groups = groups_of_people(no_person)
        return cls(group, groups, layers)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""
        layer, wide = pairs.layer.astype(np.int64), self.groups + 1
        probe, claimed = self.group[pairs.probe_person], self.group[pairs.claimed_person]
        self._all += np.bincount(layer, pairs.count, self.layers).astype(np.int64)
        apart = probe != claimed
        for group, count in ((probe, pairs.count), (claimed, pairs.count * apart)):
            counted = np.bincount(layer * wide + group, count, self._each.size)
            self._each += counted.reshape(self._each.shape).astype(np.int64)

    def accepted(self) -> np.ndarray:
        """Return the attempts up to each layer: all of them, and those without each group.

        The shape is (layers, 1 + groups).
        """
        return _without_each(self._all, self._each)

    def accepted_genuine(
        self, genuine: tuple[np.ndarray, np.ndarray], thresholds: np.ndarray
    ) -> np.ndarray:
        """Return the same of `genuine` attempts: distances and subjects."""
        values, people = genuine
        layers = by_subject(values, self.group[people], thresholds, self.groups + 1)
        return _without_each(layers.sum(axis=1), layers)


def _without_each(all_of: np.ndarray, each: np.ndarray) -> np.ndarray:
    """Return sums over layers of all, and of all without each group; the last is of no person."""
    return np.cumsum(np.column_stack([all_of, all_of[:, None] - each[:, :-1]]), axis=0)


def groups_of_people(no_person: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the group with which each subject is left out, and the number of groups.

    Up to a thousand people each is one; the number of what is no person is that of the groups.
    """
    group = groups_of(int((~no_person).sum()))
    groups = int(group.max(initial=-1)) + 1
    of_each = np.full(len(no_person), groups)
    of_each[~no_person] = group
    return of_each, groups
