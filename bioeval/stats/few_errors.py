"""Limits along a curve where few people err, and limits that never contradict each other.

The bootstrap and the jackknife know those who erred. Where fewer than five people do (for FAR, ten
disjoint pairs of people, which one person who is near to everyone does not make), the limits are
those of Clopper and Pearson on an effective number of attempts, which follows from how errors
correlate within people where so many of them err.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from bioeval.counting.by_subject import PairCounts
from bioeval.stats.independent import clopper_pearson, zero_error_bound
from bioeval.stats.limits import Limits

#: Disjoint pairs of people who err, from which on errors show how uncertain a FAR is.
LEAST_PAIRS = 10

#: People, or disjoint pairs of them, who err, from which on errors show how uncertain a rate is.
LEAST = 5

# Expected ties make errors fractions, whose sums are rounded.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Together:
    """Numbers of attempts, and of ordered pairs of them with people in common."""

    number: float  # attempts, or errors
    #: Ordered pairs of them by one person, or pair of people, each attempt with itself included.
    same: float
    sharing: float = 0.0  # ordered pairs of them that have one of two people in common

    @classmethod
    def of(cls, numbers: np.ndarray, people: np.ndarray | None = None) -> Together:
        """Return the sums of the numbers of each person, or pair of `people`, shape (k, 2)."""
        same, sharing = float((numbers**2).sum()), 0.0
        if people is not None:
            of_each = np.bincount(people.T.ravel(), np.tile(numbers, 2))
            sharing = float((of_each**2).sum()) - 2 * same
        return cls(float(numbers.sum()), same, sharing)

    def effective(self, errors: Together) -> float:
        """Return the effective number of attempts; NaN where the errors do not show it.

        It is ``n / (1 + (b - 1) rho + c sigma)``: ``b`` is the mean number of attempts by the
        person (pair of people) of an attempt, ``rho`` the correlation of two of them, ``c`` and
        ``sigma`` the same for other attempts that share one person. Correlations are 0 at least.
        """
        rate, apart = errors.number / self.number, self._apart
        chance = errors._apart / apart if apart > 0 else np.nan
        varies = self.number * (rate - chance)
        if not varies > 0:
            return np.nan
        inflation = 1.0
        for more_than_alone, pairs in (
            (errors.same - errors.number, self.same - self.number),
            (errors.sharing, self.sharing),
        ):
            more = max(more_than_alone - chance * pairs, 0.0) / varies
            inflation += min(more, pairs / self.number)
        return self.number / inflation

    @property
    def _apart(self) -> float:
        """Ordered pairs of attempts without a person in common."""
        return self.number**2 - self.same - self.sharing


@dataclass(frozen=True)
class FewErrors:
    """Limits of a rate along its curve while few people err: fewer than five, or ten pairs."""

    #: Effective number of attempts; of independent trials where nothing shows the correlation.
    number: float
    below: float  # the smallest rate at which enough people err
    most: float  # the largest rate at which fewer do
    place: float  # where on the curve enough err first; NaN where that shows no correlation

    @classmethod
    def of(
        cls,
        unit: np.ndarray,
        place: np.ndarray,
        weight: np.ndarray,
        attempts: Together,
        trials: int,
        people: int = 0,
    ) -> FewErrors:
        """Find them from the person, the first place and the weight of each error.

        Errors at a place are all up to it. With `people`, units ``a * people + b`` are pairs of
        persons `a` and `b`. Only the errors up to the place where enough err are needed.
        """
        there = weight > _ROUNDING
        who, unit = np.unique(unit[there], return_inverse=True)
        place, weight, unit = place[there], weight[there], unit.reshape(-1)
        total = float(weight.sum()) / attempts.number if attempts.number else 0.0
        if people:
            enough = place_of_pairs(who, people, unit, place, enough_pairs(trials))
        elif len(who) < LEAST:
            enough = None
        else:
            first = np.full(len(who), np.max(place), dtype=place.dtype)
            np.minimum.at(first, unit, place)
            enough = np.partition(first, LEAST - 1)[LEAST - 1]
        if enough is None:
            return cls(trials, np.inf, total, np.nan)
        inside = place <= enough
        number = np.bincount(unit[inside], weight[inside], minlength=len(who))
        pairs = np.stack([who // people, who % people], axis=1) if people else None
        errors = Together.of(number, pairs)
        below = errors.number / attempts.number
        most = float(weight[place < enough].sum()) / attempts.number
        effective = attempts.effective(errors)
        if np.isnan(effective):
            return cls(trials, below, most, np.nan)
        return cls(effective, below, most, float(enough))

    def at(self, rate: np.ndarray) -> np.ndarray:
        """Return where few people err."""
        with np.errstate(invalid="ignore"):
            return rate < self.below * (1 - _ROUNDING)

    def limits(self, rate: np.ndarray, confidence: float) -> Limits:
        """Return the limits of rates at which few people err."""
        rate = np.where(rate > _ROUNDING / max(self.number, 1), np.clip(rate, 0, 1), 0.0)
        low, high = clopper_pearson(rate * self.number, self.number, confidence)
        if np.isnan(self.place):
            bound = zero_error_bound(self.number, confidence) if self.number else np.nan
            high = np.where(rate > 0, high, bound)
            low = np.where(rate < 1 - _ROUNDING, low, 1 - bound)
        return low, high

    def fewer(self, proportion: float) -> FewErrors:
        """Return the same, with a proportion of the effective number of attempts."""
        if np.isnan(self.place):
            return self
        return replace(self, number=self.number * proportion)


def enough_pairs(trials: int) -> int:
    """Return how many disjoint pairs of people must err: as many as there are, but at most ten.

    0 where there are fewer than five: so few never tell how uncertain a rate is.
    """
    return 0 if trials < LEAST else min(trials, LEAST_PAIRS)


def place_of_pairs(
    who: np.ndarray, people: int, unit: np.ndarray, place: np.ndarray, enough: int
) -> Any:
    """Return the first place at which enough disjoint pairs of people err; None if nowhere.

    `who` are the pairs ``a * people + b``, of which each error has one. Three people who are all
    taken for each other count one and a half. (So counted, the pairs are half of a matching of
    everyone with another person, which is easily found, and more errors never make them fewer.)
    """
    if not enough or len(who) < enough:
        return None
    places = np.unique(place)

    def disjoint(number: int) -> float:
        err = who[np.unique(unit[place <= places[number]])]
        one, other = err // people, err % people
        ends = np.append(one, other), np.append(other, one)
        size = (people, people)
        among = scipy.sparse.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), size)
        partner = scipy.sparse.csgraph.maximum_bipartite_matching(among)
        return float((partner >= 0).sum()) / 2

    first, last = 0, 0
    while disjoint(last) < enough:  # most errors are at the last places: search from the first
        if last == len(places) - 1:
            return None
        first, last = last + 1, min(2 * last + 1, len(places) - 1)
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if disjoint(middle) >= enough else (middle + 1, last)
    return places[first]


@dataclass(frozen=True)
class Placed:
    """Hits with their person, the first place along a curve where each is one, and its weight."""

    person: np.ndarray
    place: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, person: np.ndarray, place: np.ndarray, weight: np.ndarray | None = None) -> Placed:
        """Return hits, of weight 1 unless given; what has the place NaN is a hit nowhere."""
        if weight is None:
            weight = np.ones(len(place))
        place = np.asarray(place, dtype=np.float64)
        there = ~np.isnan(place)
        return cls(person[there], place[there], weight[there])


def few_along(
    hits: Placed, attempts: np.ndarray, trials: int, copies: int = 1
) -> tuple[FewErrors, FewErrors]:
    """Return where few people have hits, and where few have anything else, along a curve.

    Given are the attempts of each person; each was counted as often as it has `copies`.
    """
    people = np.arange(len(attempts))
    never = attempts - np.bincount(hits.person, hits.weight, minlength=len(people))
    misses = Placed(
        np.append(hits.person, people),
        np.append(-hits.place, np.full(len(people), -np.inf)),
        np.append(hits.weight, never),
    )
    made = Together.of(attempts / copies)
    first = FewErrors.of(hits.person, hits.place, hits.weight / copies, made, trials)
    other = FewErrors.of(misses.person, misses.place, misses.weight / copies, made, trials)
    return first, other


def without_contradiction(
    rate: np.ndarray, limits: Limits, few: tuple[FewErrors, FewErrors], confidence: float
) -> Limits:
    """Return limits along a curve that are monotone in its rates.

    Given are the `limits` where many people err; `few` has errors of the rate, and of one minus it.
    """
    inside, low, high = np.zeros(len(rate), dtype=bool), *np.full((2, len(rate)), np.nan)
    for errors, part in zip(few, (rate, 1 - rate), strict=True):
        there = errors.at(part)
        ends = errors.limits(part[there], confidence)
        lower, upper = ends if errors is few[0] else (1 - ends[1], 1 - ends[0])
        low[there], high[there] = np.fmin(low[there], lower), np.fmax(high[there], upper)
        inside |= there
    low, high = np.where(inside, low, limits[0]), np.where(inside, high, limits[1])
    defined = ~np.isnan(rate)
    # Equal rates have equal limits, whatever else is known at their places.
    known, place = np.unique(np.round(rate[defined], 12), return_inverse=True)
    lowest, highest = np.full(len(known), np.nan), np.full(len(known), np.nan)
    np.fmin.at(lowest, place, low[defined])
    np.fmax.at(highest, place, high[defined])
    low, high = np.full(len(rate), np.nan), np.full(len(rate), np.nan)
    low[defined] = np.fmin.accumulate(lowest[::-1])[::-1][place]
    high[defined] = np.fmax.accumulate(highest)[place]
    return low, high


def around_few(
    rate: np.ndarray, limits: Limits, few: tuple[FewErrors, FewErrors], confidence: float
) -> Limits:
    """Return the limits of an operating point, widened to those of its curve where few err."""
    ends = np.array([few[0].most, 1 - few[1].most])
    rates = np.append(np.ravel(rate), ends)
    unknown = np.full(len(rates), np.nan)
    low, high = without_contradiction(rates, (unknown, unknown), few, confidence)
    low = low[: -len(ends)].reshape(np.shape(rate))
    high = high[: -len(ends)].reshape(np.shape(rate))
    undefined = np.isnan(limits[0]) | np.isnan(limits[1])
    return (
        np.where(undefined, np.nan, np.fmin(limits[0], low)),
        np.where(undefined, np.nan, np.fmax(limits[1], high)),
    )


class ErringPairs:
    """A consumer of impostor counts: the first pairs of people in error, from either end.

    `sides` are the subjects of the two sides, and `trials` the disjoint pairs that they can form. A
    pair of people who are both on both sides was compared in both orders, as often in the one as in
    the other. Pairs with what is of no person, such as a distractor, are left out.
    """

    def __init__(self, sides: tuple[np.ndarray, ...], no_person: np.ndarray, trials: int):
        """Begin without attempts; `sides` are the people of probes and gallery."""
        self._trials = trials
        self._no_person, self._people = no_person, len(no_person)
        people = self._people
        probing, enrolled = sides
        everyone = np.arange(people)
        self._both = np.isin(everyone, probing) & np.isin(everyone, enrolled)
        self._begin()

    def _begin(self) -> None:
        """Begin without attempts: accepted, and rejected, pairs."""
        enough = enough_pairs(self._trials)
        self._ends = _FirstPairs(self._people, enough), _FirstPairs(self._people, enough)

    def fresh(self) -> ErringPairs:
        """Return an empty copy, for a thread."""
        other = copy(self)
        other._begin()
        return other

    def merge(self, other: ErringPairs) -> None:
        """Add what a copy has."""
        for end, more in zip(self._ends, other._ends, strict=True):
            end.add(*more.entries.T)

    def add(self, pairs: PairCounts) -> None:
        """Add attempts."""
        accepted, rejected = self._ends
        some = np.flatnonzero((pairs.layer <= accepted.bound) | (pairs.layer >= -rejected.bound))
        probe, claimed = pairs.probe_person[some], pairs.claimed_person[some].astype(np.int64)
        of_people = ~(self._no_person[probe] | self._no_person[claimed])
        probe, claimed, some = probe[of_people], claimed[of_people], some[of_people]
        key = np.minimum(probe, claimed) * self._people + np.maximum(probe, claimed)
        layer, count = pairs.layer[some].astype(np.int64), pairs.count[some]
        accepted.add(key, layer, count)
        rejected.add(key, -layer, count)

    def few(
        self, made: Iterable[tuple[np.ndarray, np.ndarray]], copies: int = 1
    ) -> tuple[FewErrors, FewErrors]:
        """Return where few pairs are accepted, and where few are rejected, each in `copies`.

        `made` are pairs of people, ``probe * people + claimed``, and their attempts, accepted or
        not: each pair once.
        """
        number, same, of_each = 0, 0.0, np.zeros(self._people)
        for key, attempts in made:
            probe, claimed = np.divmod(key, max(self._people, 1))
            of_people = ~(self._no_person[probe] | self._no_person[claimed])
            one, other, attempts = probe[of_people], claimed[of_people], attempts[of_people]
            number += int(attempts.sum())
            twice = 1 + (self._both[one] & self._both[other])
            same += int((twice * attempts**2).sum())
            for person in (one, other):
                of_each += np.bincount(person, attempts, self._people)
        same, of_each = same / copies**2, of_each / copies
        sharing = max(float((of_each**2).sum()) - 2 * same, 0.0)
        together = Together(number / copies, same, sharing)

        def few_of(end: _FirstPairs) -> FewErrors:
            unit, place, weight = end.entries.T
            return FewErrors.of(unit, place, weight / copies, together, self._trials, self._people)

        accepted, rejected = self._ends
        return few_of(accepted), few_of(rejected)


class _FirstPairs:
    """The entries of pairs up to the place at which enough disjoint ones have one.

    - `bound` (int): they are not beyond it
    """

    def __init__(self, people: int, enough: int) -> None:
        self._entries = np.empty((0, 3), dtype=np.int64)  # unit, place, number
        self._people, self._enough = people, enough
        self.bound = np.iinfo(np.int64).max
        self._most = 0  # entries that are kept before the bound is found anew, which takes long
        self._closer = False  # whether an entry that is nearer than the bound has come since

    @property
    def entries(self) -> np.ndarray:
        """Unit, place and number of each entry up to the place."""
        self._bind()
        return self._entries

    def add(self, unit: np.ndarray, place: np.ndarray, number: np.ndarray) -> None:
        """Add entries of units at places; those beyond the bound are dropped."""
        inside = place <= self.bound
        if not inside.any():
            return
        self._closer |= bool((place[inside] < self.bound).any())
        more = np.stack([x[inside] for x in (unit, place, number)], axis=1)
        self._entries = np.concatenate([self._entries, more])
        if len(self._entries) > self._most:
            self._bind()
            self._most = 2 * len(self._entries) + _FEW_ENTRIES

    def _bind(self) -> None:
        """Find the bound of all entries, which more entries only move nearer, and keep to it."""
        if not self._closer:
            return
        self._closer = False
        who, index = np.unique(self._entries[:, 0], return_inverse=True)
        place = self._entries[:, 1]
        bound = place_of_pairs(who, self._people, index.reshape(-1), place, self._enough)
        if bound is not None:
            self.bound = int(bound)
            self._entries = self._entries[place <= self.bound]


# So many entries take no time worth saving.
_FEW_ENTRIES = 1 << 12
