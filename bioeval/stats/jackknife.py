"""The jackknife on the logit scale: limits of a rate from its values without each person.

A person leaves all sides: an attempt of two people is missing without either of them. The standard
error is that of the logits themselves, so that one person who makes most of the errors makes the
limits wide. It is estimated from as many people as there are, and less surely where few of them
account for most of it: hence Student's distribution, with degrees of freedom after Satterthwaite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.stats.binomial import clopper_pearson
from bioeval.stats.limits import Limits
from bioeval.stats.replicates import groups_of
from bioeval.tallies.by_subject import PairCounts


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


class AttemptsOfEach:
    """A consumer of impostor counts: the attempts of each person, on whichever side, by layer.

    Where there are more than a thousand people, those of each of a thousand groups of them. What
    is of no person, such as a distractor, is never left out.
    """

    def __init__(self, no_person: np.ndarray, layers: int):
        """Begin without attempts."""
        self._no_person, self.layers = no_person, layers
        group = groups_of(int((~no_person).sum()))
        self.groups = int(group.max(initial=-1)) + 1
        self.group = np.full(len(no_person), self.groups)  # the last is of no person
        self.group[~no_person] = group
        self._all = np.zeros(layers, dtype=np.int64)
        self._each = np.zeros((layers, self.groups + 1), dtype=np.int64)

    def fresh(self) -> AttemptsOfEach:
        """Return the same before anything is counted."""
        return type(self)(self._no_person, self.layers)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""
        layer, wide = pairs.layer.astype(np.int64), self.groups + 1
        probe, claimed = self.group[pairs.probe_person], self.group[pairs.claimed_person]
        self._all += np.bincount(layer, pairs.count, self.layers).astype(np.int64)
        apart = probe != claimed
        for group, count in ((probe, pairs.count), (claimed, pairs.count * apart)):
            counted = np.bincount(layer * wide + group, count, self._each.size)
            self._each += counted.reshape(self._each.shape).astype(np.int64)

    def counts(self) -> dict[str, np.ndarray]:
        """Return what was counted, whole numbers."""
        return {"all": self._all, "each": self._each}

    def include_counts(self, found: dict[str, Any]) -> None:
        """Include the counts of other attempts."""
        self._all += found["all"]
        self._each += found["each"]

    def accepted(self) -> np.ndarray:
        """Return the attempts up to each layer: all of them, and those without each group.

        The shape is (layers, 1 + groups).
        """
        each = self._each[:, :-1]
        return np.cumsum(np.column_stack([self._all, self._all[:, None] - each]), axis=0)
