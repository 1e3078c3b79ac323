"""Whether groups differ: limits of the rates of all groups together, and a permutation test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base import Stream
from bioeval.stats import Limits, jackknife_limits, ratio
from bioeval.tallies import PairCounts

#: Permutations of the test whether groups differ.
PERMUTATIONS = 2000

#: With more people FAR is not tested: the counts of all their pairs are needed in each permutation.
MOST_TESTED = 3000

# Numbers of a table that are permuted at once.
_ROOM = 1 << 22

# Rates that differ by less are equal: sums of the same counts, rounded.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PeopleOfGroup:
    """The attempts that leave a rate of one group with each of its people.

    - `errors`, `attempts`: all of the group
    - `errors_of`, `attempts_of` (int64 (n,)): those without which the group is when a person leaves
    - `trials`: number of independent trials: people, or disjoint pairs of people
    """

    errors: int
    attempts: int
    errors_of: np.ndarray
    attempts_of: np.ndarray
    trials: int

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the rate by leaving out each person."""
        if not self.attempts:
            return np.nan, np.nan
        without = ratio(self.errors - self.errors_of, self.attempts - self.attempts_of)
        rate = np.array(self.errors / self.attempts)
        low, high = jackknife_limits(rate, without, level, self.trials)
        return float(low), float(high)


def limits_of_all(groups: Iterable[PeopleOfGroup | None], rates: int, confidence: float) -> Limits:
    """Return limits of the rates of groups which hold for some number of rates together.

    Groups are disjoint people, so that their rates are independent, and limits of each at the
    level ``confidence ** (1 / rates)`` hold together at `confidence` (Sidak); for two rates of the
    same people, at least. None: a group of too few people, whose limits are NaN.
    """
    level = confidence ** (1 / max(rates, 1))
    ends = [(np.nan, np.nan) if group is None else group.limits(level) for group in groups]
    low, high = np.array(ends).reshape(-1, 2).T
    return low, high


# ------------------------------------------------------------------------- counts


class PairsWithinGroups:
    """A sink of impostor attempts within groups, and of all pairs of people where they are few.

    - `accepted` (int): the layers before this one are accepted
    - `leaving` (int64 (2, people)): accepted attempts, and all, within the group of each person
      that leave with it
    - `counts_of` (int64 (2, groups)): accepted attempts, and all, within each group
    - `tables` (int64 (2, people, people)): accepted attempts, and all, of each two people, in both
      directions; None with too many people
    """

    def __init__(self, group: np.ndarray, number: int, accepted: int):
        self.group, self.number, self.accepted = group, number, accepted
        people = len(group)
        self.leaving: np.ndarray = np.zeros((2, people), dtype=np.int64)
        self.counts_of: np.ndarray = np.zeros((2, number), dtype=np.int64)
        self.tables: np.ndarray | None = None
        if people <= MOST_TESTED:
            self.tables = np.zeros((2, people, people), dtype=np.int64)

    def fresh(self) -> PairsWithinGroups:
        """Return the same sink before it has counted anything."""
        return PairsWithinGroups(self.group, self.number, self.accepted)

    def counts(self) -> dict[str, Any]:
        """Return all counts."""
        counts = {"leaving": self.leaving, "counts_of": self.counts_of}
        if self.tables is not None:
            counts["tables"] = self.tables
        return counts

    def include_counts(self, found: dict[str, Any]) -> None:
        """Add counts of other attempts."""
        self.leaving += found["leaving"]
        self.counts_of += found["counts_of"]
        if self.tables is not None:
            self.tables += found["tables"]

    def add(self, pairs: PairCounts) -> None:
        """Add attempts of pairs of subjects."""
        probe, claimed = pairs.probe_person, pairs.claimed_person.astype(np.int64)
        accepted = np.where(pairs.layer < self.accepted, pairs.count, 0)
        within = self.group[probe] == self.group[claimed]
        people = len(self.group)
        for i, counted in enumerate((accepted, pairs.count)):
            inside = counted[within]
            for side in (probe[within], claimed[within]):
                self.leaving[i] += _summed(side, inside, people)
            self.counts_of[i] += _summed(self.group[probe[within]], inside, self.number)
            if self.tables is not None:
                np.add.at(self.tables[i], (probe, claimed), counted)
                np.add.at(self.tables[i], (claimed, probe), counted)

    def people_of(self, g: int, trials: int) -> PeopleOfGroup:
        """Return the people of a group who have an attempt within it."""
        there = (self.group == g) & (self.leaving[1] > 0)
        errors, attempts = self.counts_of[:, g].tolist()
        errors_of, attempts_of = self.leaving[:, there]
        return PeopleOfGroup(errors, attempts, errors_of, attempts_of, trials)


def _summed(place: np.ndarray, counts: np.ndarray, number: int) -> np.ndarray:
    return np.bincount(place, counts, number).astype(np.int64)


# ------------------------------------------------------------------------- the test


#: Errors and attempts of each person in each of some permutations, the columns of an array.
Counts = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def frr_differs(
    errors: np.ndarray, attempts: np.ndarray, group: np.ndarray, stream: Stream
) -> float:
    """Return the p-value that FRR differs between groups; arguments are by person."""

    def counts(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return errors[:, None], attempts[:, None]

    return _p_value(group, stream, counts, 1, 1)


def far_differs(tables: np.ndarray, group: np.ndarray, stream: Stream) -> float:
    """Return the p-value that FAR within groups differs; `tables` as of `PairsWithinGroups`."""
    people, number = len(group), int(group.max()) + 1
    accepted, made = tables.astype(np.float64)

    def counts(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        belongs = groups[:, :, None] == np.arange(number)
        flat = belongs.reshape(people, -1).astype(np.float64)

        def within(table: np.ndarray) -> np.ndarray:
            """Return what each person has with people of its group, in each permutation."""
            of_groups = (table @ flat).reshape(people, -1, number)
            return np.take_along_axis(of_groups, groups[:, :, None], axis=2)[:, :, 0]

        return within(accepted), within(made)

    return _p_value(group, stream, counts, 2, number)


def _p_value(group: np.ndarray, stream: Stream, counts: Counts, people: int, width: int) -> float:
    """Return the p-value of `largest_deviation`, with the groups permuted among people.

    An attempt is counted with so many `people`, and a permutation needs `width` columns.
    """
    number, members = int(group.max()) + 1, len(group)
    step = max(1, _ROOM // (members * width))
    observed = largest_deviation(group[:, None], number, *counts(group[:, None]), people)[0]
    reached, left = 0, PERMUTATIONS
    while left:
        columns = min(step, left)
        groups = np.stack([group[stream.permutation(members)] for _ in range(columns)], axis=1)
        values = largest_deviation(groups, number, *counts(groups), people)
        # The same counts may be added in another order.
        reached += int((values >= observed * (1 - 1e-9)).sum())
        left -= columns
    return (1 + reached) / (1 + PERMUTATIONS)


def largest_deviation(
    groups: np.ndarray, number: int, errors: np.ndarray, attempts: np.ndarray, people: int
) -> np.ndarray:
    """Return ``max_g |rate_g - rate| / se_g`` in each column of `groups`, int64 (people, columns).

    ``se_g^2`` is the sum of the squares of ``errors_a - rate_g attempts_a`` over the people of the
    group, over the square of its attempts; where it is 0 and the rate is another one, the deviation
    is infinite. An attempt is counted with so many `people`; ``rate`` is that of all groups.
    """
    inside = [groups == g for g in range(number)]
    errors_of = np.stack([(here * errors).sum(axis=0) for here in inside]) / people
    attempts_of = np.stack([(here * attempts).sum(axis=0) for here in inside]) / people
    rates = ratio(errors_of, attempts_of)
    overall = ratio(errors_of.sum(axis=0), attempts_of.sum(axis=0))
    largest = np.zeros(groups.shape[1])
    for here, rate, total in zip(inside, rates, attempts_of, strict=True):
        squares = (here * (errors - rate * attempts) ** 2).sum(axis=0)
        away = np.abs(rate - overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(away > _EQUAL, away * total / np.sqrt(squares), 0.0)
        largest = np.fmax(largest, deviation)
    return largest
