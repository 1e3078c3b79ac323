"""Whether rates of groups differ: limits of rates and of differences, and a permutation test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.base.random import Stream
from bioeval.stats.limits import Limits, limits_of_rate, limits_of_sum
from bioeval.stats.people import PeopleCounts
from bioeval.stats.simultaneous import letters_of
from bioeval.stats.weighted_sums import ratio
from bioeval.stats.weights import without_each

#: Number of permutations of the test.
PERMUTATIONS = 2000

#: With more people FAR is not tested: a permutation needs the counts of all their pairs.
MOST_TESTED = 3000

# Number of values in memory that are permuted at once.
_MOST_VALUES = 1 << 22

# Rates that differ by less are equal but for rounding errors.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PeopleOfRate:
    """Errors and attempts of one group, or between two groups, in total and by person."""

    errors: int
    attempts: int
    errors_of: np.ndarray  # int64 (n,): errors that are left out with each person
    attempts_of: np.ndarray  # int64 (n,): attempts that are left out with each person
    trials: int  # number of independent trials: people, or disjoint pairs of people
    person: np.ndarray  # int64 (n,): index of each person among all people

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
        # The number of people with whom an attempt is left out: 1 or 2.
        sides = max(round(float(self.attempts_of.sum() / self.attempts)), 1)
        low, high = limits_of_rate(self.columns, self.attempts, self.trials, level, sides)
        return float(low), float(high)


def differences_of_groups(
    groups: Sequence[PeopleOfRate | None], confidence: float
) -> dict[str, np.ndarray]:
    """Return differences of one rate between each two groups, with limits for all pairs together.

    Groups have no person in common, so that their errors are independent; a group that is too small
    to be compared is None. The results, by the ends of the names of variables, are:

    - ``difference`` (row minus column) with ``_low`` and ``_high``: NaN if a group is not compared
    - ``separated``: 1 if the rate of the row's group is shown to be larger, -1 if smaller, else 0
    - ``letters``: two groups that share a letter do not differ significantly; the group with the
      smallest rate has an ``a``, and a group that is not compared has no letter

    The limits hold together (Bonferroni). Pairs are compared in steps: by limits that hold together
    for the pairs without a significant difference yet, until no further pair has one.
    """
    rates = np.array([np.nan if x is None else x.rate for x in groups])
    difference = rates[:, None] - rates
    low, high = np.full((2, len(groups), len(groups)), np.nan)
    separated = np.zeros((len(groups), len(groups)), dtype=np.int64)
    index = np.flatnonzero(~np.isnan(rates))
    compared = [x for x in groups if x is not None and not np.isnan(x.rate)]
    if len(compared) > 1:
        first, second = index[np.array(np.triu_indices(len(compared), 1))]
        lower, upper = _limits_together(compared, len(first), confidence)
        low[first, second], high[first, second] = lower, upper
        low[second, first], high[second, first] = -upper, -lower
        larger = _larger_in_steps(compared, len(first), confidence)
        separated[first, second], separated[second, first] = larger, -larger
    smaller_groups = (difference > 0).sum(axis=1)
    order = sorted(index.tolist(), key=lambda group: (smaller_groups[group], group))
    return {
        "difference": difference,
        "difference_low": low,
        "difference_high": high,
        "separated": separated,
        "letters": np.array(letters_of(separated != 0, order), dtype=object),
    }


def _limits_together(groups: Sequence[PeopleOfRate], pairs: int, confidence: float) -> Limits:
    """Return the limits of the differences of all pairs; they hold for `pairs` pairs together."""
    level = 1 - (1 - confidence) / pairs
    low, high = np.array([x.limits(level) for x in groups]).T
    return limits_of_differences(np.array([x.rate for x in groups]), (low, high))


def _larger_in_steps(groups: Sequence[PeopleOfRate], pairs: int, confidence: float) -> np.ndarray:
    """Return 1 or -1 for each of the pairs whose difference is significant, else 0 (Holm 1979)."""
    larger = np.zeros(pairs, dtype=np.int64)
    while pending := int(np.count_nonzero(larger == 0)):
        low, high = _limits_together(groups, pending, confidence)
        found = np.where(larger, larger, (low > 0).astype(np.int64) - (high < 0))
        if (found == larger).all():
            break
        larger = found
    return larger


def limits_of_differences(rates: np.ndarray, limits: Limits) -> Limits:
    """Return the limits of the difference of each two independent rates from the rates' limits.

    Rates of few errors are skewed: their limits are not symmetric, and neither are these.
    """
    low, high = limits
    first, second = np.triu_indices(len(rates), 1)
    return limits_of_sum(
        (rates[first], low[first], high[first]), (-rates[second], -high[second], -low[second])
    )


class PairsOfGroups:
    """Impostor attempts by person and group.

    - `probing` (int64 (2, people, groups)): attempts of each person as probe against the people of
      each group, the accepted ones and all
    - `claimed`: the same of attempts that claim each person
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
        """Accepted attempts and all attempts of each two people, summed over both directions.

        The shape is (2, people, people); None with too many people.
        """
        people = np.arange(len(self.group))
        if len(people) > MOST_TESTED:
            return None
        (accepted,), attempts = self._counts.of_groups(people, people)
        squares = np.stack([accepted, attempts])
        return squares + squares.transpose(0, 2, 1)

    def people_of(self, probe_group: int, claimed_group: int, trials: int) -> PeopleOfRate:
        """Return the attempts of probes of one group against another group or the same group."""
        probes, enrolled = (np.flatnonzero(self.group == x) for x in (probe_group, claimed_group))
        probing = self.probing[:, probes, claimed_group]
        claimed = self.claimed[:, enrolled, probe_group]
        if probe_group == claimed_group:  # a person is left out on both sides
            left_out, persons = probing + claimed, probes
        else:
            left_out = np.concatenate([probing, claimed], axis=1)
            persons = np.append(probes, enrolled)
        has_attempt = (left_out[1] > 0) & ~self.no_person[persons]
        errors, attempts = probing.sum(axis=1).tolist()
        errors_of, attempts_of = left_out[:, has_attempt]
        return PeopleOfRate(errors, attempts, errors_of, attempts_of, trials, persons[has_attempt])


#: A function that returns the errors and the attempts of each person, each (people, columns), if
#: people have the groups in each column of an array: its argument, (people, columns).
Counts = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def frr_differs(
    errors: np.ndarray, attempts: np.ndarray, group: np.ndarray, stream: Stream
) -> float:
    """Return the p-value that FRR differs between groups; arguments are by person."""

    def counts(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return errors[:, None], attempts[:, None]

    return _p_value(group, stream, counts, 1, 1)


def far_differs(tables: np.ndarray, group: np.ndarray, stream: Stream) -> float:
    """Return the p-value that FAR within groups differs.

    `tables` (2, people, people) are :attr:`PairsOfGroups.tables`, `group` (people,) the group of
    each person.
    """
    group_count = int(group.max()) + 1
    accepted, attempts = tables.astype(np.float64)

    def counts(groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (
            _sums_in_own_group(accepted, groups, group_count),
            _sums_in_own_group(attempts, groups, group_count),
        )

    return _p_value(group, stream, counts, 2, group_count)


def _sums_in_own_group(table: np.ndarray, groups: np.ndarray, group_count: int) -> np.ndarray:
    """Return the sum of each person with the people of the same group, (people, permutations).

    `table` is (people, people); `groups` (people, permutations) has the group of each person.
    """
    # (people, permutations * groups): one product serves all permutations.
    is_member = groups[:, :, None] == np.arange(group_count)
    membership = is_member.reshape(len(groups), -1).astype(np.float64)
    by_group = (table @ membership).reshape(*groups.shape, group_count)
    return np.take_along_axis(by_group, groups[:, :, None], axis=2)[:, :, 0]


def _p_value(
    group: np.ndarray, stream: Stream, counts: Counts, counted_with: int, width: int
) -> float:
    """Return the p-value of `largest_deviation`, with the groups permuted among people.

    It is ``(1 + permutations with as large a deviation) / (1 + PERMUTATIONS)``. An attempt is
    counted with one or two people (`counted_with`), and a permutation needs `width` columns.
    """
    group_count, people = int(group.max()) + 1, len(group)
    most_columns = max(1, _MOST_VALUES // (people * width))

    def deviations(groups: np.ndarray) -> np.ndarray:
        return largest_deviation(groups, group_count, *counts(groups), counted_with)

    observed = deviations(group[:, None])[0]
    as_large, remaining = 0, PERMUTATIONS
    while remaining:
        columns = min(most_columns, remaining)
        groups = np.stack([group[stream.permutation(people)] for _ in range(columns)], axis=1)
        # A permutation may add the same counts in another order, and differ in the last digit.
        as_large += int((deviations(groups) >= observed * (1 - 1e-9)).sum())
        remaining -= columns
    return (1 + as_large) / (1 + PERMUTATIONS)


def largest_deviation(
    groups: np.ndarray,
    group_count: int,
    errors: np.ndarray,
    attempts: np.ndarray,
    counted_with: int,
) -> np.ndarray:
    """Return ``max_g |rate_g - rate| / se_g`` for each column of `groups`, int64 (people, columns).

    ``rate`` is the rate of all groups, and ``se_g^2`` is the sum of the squares of ``errors_a -
    rate_g attempts_a`` over the people of the group, divided by the square of its attempts. If it
    is 0 and ``rate_g`` is not ``rate``, the deviation is infinite. An attempt is counted with one
    or two people (`counted_with`).
    """
    is_member = [groups == g for g in range(group_count)]
    errors_of, attempts_of = (
        np.stack([(is_in_group * counts).sum(axis=0) for is_in_group in is_member]) / counted_with
        for counts in (errors, attempts)
    )
    rates = ratio(errors_of, attempts_of)
    overall = ratio(errors_of.sum(axis=0), attempts_of.sum(axis=0))
    largest = np.zeros(groups.shape[1])
    for is_in_group, rate, total in zip(is_member, rates, attempts_of, strict=True):
        squares = (is_in_group * (errors - rate * attempts) ** 2).sum(axis=0)
        distance = np.abs(rate - overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(distance > _EQUAL, distance * total / np.sqrt(squares), 0.0)
        largest = np.fmax(largest, deviation)
    return largest
