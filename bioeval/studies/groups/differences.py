"""Whether groups differ: limits of rates and differences of all groups together, and a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.base.random import Stream
from bioeval.stats.limits import Limits, limits_of_rate, limits_of_sum
from bioeval.stats.people import PeopleCounts, ratio
from bioeval.stats.simultaneous import letters_of
from bioeval.stats.weights import without_each

#: Permutations of the test whether groups differ.
PERMUTATIONS = 2000

#: With more people FAR is not tested: the counts of all their pairs are needed in each permutation.
MOST_TESTED = 3000

# Numbers of a table that are permuted at once.
_MOST_VALUES = 1 << 22

# Rates that differ by less are equal: sums of the same counts, rounded.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PeopleOfRate:
    """The attempts that leave a rate of one group, or between two, with each of their people.

    - `errors`, `attempts`: all of them
    - `errors_of`, `attempts_of` (int64 (n,)): those that leave with each person
    - `trials`: number of independent trials: people, or disjoint pairs of people
    - `person` (int64 (n,)): the place of each person in the table of people
    """

    errors: int
    attempts: int
    errors_of: np.ndarray
    attempts_of: np.ndarray
    trials: int
    person: np.ndarray

    @property
    def rate(self) -> float:
        """The rate; NaN without attempts."""
        return self.errors / self.attempts if self.attempts else np.nan

    @property
    def columns(self) -> np.ndarray:
        """The rate, and the rate without each person, float64 (1 + n,)."""
        errors = np.array(self.errors)
        attempts = np.array(self.attempts)
        return ratio(without_each(self.errors_of, errors), without_each(self.attempts_of, attempts))

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the rate; NaN without a trial."""
        if not self.attempts:
            return np.nan, np.nan
        # People with whom an attempt leaves.
        sides = max(round(float(self.attempts_of.sum() / self.attempts)), 1)
        low, high = limits_of_rate(self.columns, self.attempts, self.trials, level, sides)
        return float(low), float(high)


def differences_of_groups(
    groups: Sequence[PeopleOfRate | None], confidence: float
) -> dict[str, np.ndarray]:
    """Return differences of one rate of each two groups, with limits for all pairs together.

    Groups, of which None are too small to be compared, have no person in common, so that their
    errors are independent. By the ends of names: ``difference`` (row minus column) with ``_low``
    and ``_high``, NaN where a group is not compared; ``separated``, 1 where the rate of the row's
    group is shown to be larger, -1 smaller, else 0; and ``letters``: two groups that share one
    do not differ significantly, the smallest rate has an ``a``, one that is not compared has none.

    The limits hold together (Bonferroni). Pairs are compared in steps (Holm 1979): by limits that
    hold together for the pairs without a significant difference yet, until no further pair has one.
    """
    rates = np.array([np.nan if x is None else x.rate for x in groups])
    difference = rates[:, None] - rates
    low, high = np.full((2, len(groups), len(groups)), np.nan)
    separated = np.zeros((len(groups), len(groups)), dtype=np.int64)
    place = np.flatnonzero(~np.isnan(rates))
    compared = [x for x in groups if x is not None and not np.isnan(x.rate)]
    if len(compared) > 1:
        first, second = place[np.array(np.triu_indices(len(compared), 1))]

        def limits(pairs: int) -> Limits:
            """Return the limits of all differences, which hold for `pairs` of them together."""
            level = 1 - (1 - confidence) / pairs
            alone = np.array([x.limits(level) for x in compared]).T
            return limits_of_differences(rates[place], (alone[0], alone[1]))

        ends = limits(len(first))
        low[first, second], high[first, second] = ends
        low[second, first], high[second, first] = -ends[1], -ends[0]
        # (pairs,): 1 or -1 where 0 is outside of the limits; repeated for the pairs that are left.
        larger = (ends[0] > 0).astype(np.int64) - (ends[1] < 0)
        separated_pairs = 0
        while separated_pairs < (distinct := int(np.count_nonzero(larger))) < len(first):
            separated_pairs = distinct
            ends = limits(len(first) - distinct)
            larger = np.where(larger, larger, (ends[0] > 0).astype(np.int64) - (ends[1] < 0))
        separated[first, second], separated[second, first] = larger, -larger
    ranked = (difference > 0).sum(axis=1)
    order = sorted(place.tolist(), key=lambda g: (ranked[g], g))
    return {
        "difference": difference,
        "difference_low": low,
        "difference_high": high,
        "separated": separated,
        "letters": np.array(letters_of(separated != 0, order), dtype=object),
    }


def limits_of_differences(rates: np.ndarray, limits: Limits) -> Limits:
    """Return the limits of the difference of each two rates from the limits of the rates.

    Rates of few errors are skewed, and so are their differences: these have their limits from those
    of the rates, which are not symmetric. Groups have no person in common, so that the errors of
    their rates are independent.
    """
    (first, second), (low, high) = np.triu_indices(len(rates), 1), limits
    return limits_of_sum(
        (rates[first], low[first], high[first]), (-rates[second], -high[second], -low[second])
    )


# ------------------------------------------------------------------------- counts


class PairsOfGroups:
    """Impostor attempts by person and group.

    - `probing`, `claimed` (int64 (2, people, groups)): accepted attempts, and all, of each person
      as probe with the people of each group, and as the claimed person
    """

    def __init__(self, counts: PeopleCounts, group: np.ndarray):
        self.group = group
        self.no_person = counts.no_person
        self._counts = counts
        people = np.arange(len(group))
        (probing,), probed = counts.of_groups(people, group)
        (claimed,), claims = counts.of_groups(group, people)
        self.probing, self.claimed = np.stack([probing, probed]), np.stack([claimed.T, claims.T])

    @property
    def tables(self) -> np.ndarray | None:
        """Accepted attempts, and all, of each two people in both directions, (2, people, people).

        None with too many people.
        """
        people = np.arange(len(self.group))
        if len(people) > MOST_TESTED:
            return None
        (accepted,), attempts = self._counts.of_groups(people, people)
        squares = np.stack([accepted, attempts])
        return squares + squares.transpose(0, 2, 1)

    def people_of(self, g: int, h: int, trials: int) -> PeopleOfRate:
        """Return the people with an attempt of a probe of group `g` against the group `h`."""
        probes, enrolled = (np.flatnonzero(self.group == x) for x in (g, h))
        person = ~self.no_person
        probing, claimed = self.probing[:, probes, h], self.claimed[:, enrolled, g]
        if g == h:  # a person leaves both sides
            leaving, persons = probing + claimed, probes
        else:
            leaving = np.concatenate([probing, claimed], axis=1)
            persons = np.append(probes, enrolled)
        has_attempt = (leaving[1] > 0) & person[persons]
        errors, attempts = probing.sum(axis=1).tolist()
        errors_of, attempts_of = leaving[:, has_attempt]
        return PeopleOfRate(errors, attempts, errors_of, attempts_of, trials, persons[has_attempt])


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
    """Return the p-value that FAR within groups differs; `tables` as of :class:`PairsOfGroups`."""
    people, number = len(group), int(group.max()) + 1
    accepted, attempts = tables.astype(np.float64)

    def counts(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # (people, permutations, groups), flat, so that one product serves all permutations.
        is_member = groups[:, :, None] == np.arange(number)
        flat = is_member.reshape(people, -1).astype(np.float64)

        def in_own_group(table: np.ndarray) -> np.ndarray:
            """Return, for each permutation, the sums of each person with the people of its group.

            `table` is (people, people); the sums are (people, permutations).
            """
            of_groups = (table @ flat).reshape(people, -1, number)
            return np.take_along_axis(of_groups, groups[:, :, None], axis=2)[:, :, 0]

        return in_own_group(accepted), in_own_group(attempts)

    return _p_value(group, stream, counts, 2, number)


def _p_value(group: np.ndarray, stream: Stream, counts: Counts, people: int, width: int) -> float:
    """Return the p-value of `largest_deviation`, with the groups permuted among people.

    ``(1 + permutations as large) / (1 + PERMUTATIONS)``. An attempt is counted with `people`
    persons (1 or 2), and a permutation needs `width` columns.
    """
    number, members = int(group.max()) + 1, len(group)
    step = max(1, _MOST_VALUES // (members * width))
    observed = largest_deviation(group[:, None], number, *counts(group[:, None]), people)[0]
    as_large, left = 0, PERMUTATIONS
    while left:
        columns = min(step, left)
        groups = np.stack([group[stream.permutation(members)] for _ in range(columns)], axis=1)
        values = largest_deviation(groups, number, *counts(groups), people)
        # The same counts may be added in another order.
        as_large += int((values >= observed * (1 - 1e-9)).sum())
        left -= columns
    return (1 + as_large) / (1 + PERMUTATIONS)


def largest_deviation(
    groups: np.ndarray, number: int, errors: np.ndarray, attempts: np.ndarray, people: int
) -> np.ndarray:
    """Return ``max_g |rate_g - rate| / se_g`` in each column of `groups`, int64 (people, columns).

    ``se_g^2`` is the sum of the squares of ``errors_a - rate_g attempts_a`` over the people of the
    group, over the square of its attempts; where it is 0 and the rate is another one, the deviation
    is infinite. An attempt is counted with so many `people`; ``rate`` is that of all groups.
    """
    is_member = [groups == g for g in range(number)]
    errors_of = np.stack([(is_in_group * errors).sum(axis=0) for is_in_group in is_member]) / people
    attempts_of = (
        np.stack([(is_in_group * attempts).sum(axis=0) for is_in_group in is_member]) / people
    )
    rates = ratio(errors_of, attempts_of)
    overall = ratio(errors_of.sum(axis=0), attempts_of.sum(axis=0))
    largest = np.zeros(groups.shape[1])
    for is_in_group, rate, total in zip(is_member, rates, attempts_of, strict=True):
        squares = (is_in_group * (errors - rate * attempts) ** 2).sum(axis=0)
        away = np.abs(rate - overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(away > _EQUAL, away * total / np.sqrt(squares), 0.0)
        largest = np.fmax(largest, deviation)
    return largest
