"""Rates of groups of people: their limits, the differences of each two, and a test of equal groups.

A rate of a group is a :class:`PeopleOfRate`, with the errors and attempts of each person. Groups of
people have no person in common, and their differences are of independent rates
(:func:`differences_of_groups`). Groups of attempts, such as dark and bright images, share people,
over whom differences are paired (:func:`paired_differences`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import Message
from bioeval.base.random import Stream
from bioeval.scores.people import mates_among
from bioeval.stats.jackknife import limits_of_sum
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import PeopleCounts
from bioeval.stats.rate_limits import Sample, limits_of_rate
from bioeval.stats.simultaneous import Differences, discordant, least_discordant, letters_of
from bioeval.stats.weighted_sums import rates_without_each, ratio

#: Number of permutations of the test.
PERMUTATIONS = 2000

#: With more people FAR is not tested: a permutation needs the counts of all their pairs.
MOST_TESTED = 3000

# Number of values in memory that are permuted at once.
_MOST_VALUES = 1 << 22

# Rates that differ by less are equal but for rounding errors.
_EQUAL = 1e-12

# Deviations that differ by at most this share are equal: a permutation may add the same counts in
# another order, and differ in the last digit.
_REORDERED = 1e-9


class PeopleOfRate(NamedTuple):
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

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the rate; NaN without a trial."""
        if not self.attempts:
            return np.nan, np.nan
        totals = np.array(self.errors), np.array(self.attempts)
        rates = rates_without_each(self.errors_of, self.attempts_of, *totals)
        # The number of people with whom an attempt is left out: 1 or 2.
        sides = max(round(float(self.attempts_of.sum() / self.attempts)), 1)
        shares = self.attempts_of / self.attempts
        sample = Sample(
            self.attempts, self.trials, sides, shares, least=self.trials, most=self.trials
        )
        low, high = limits_of_rate(rates, sample, level)
        return float(low), float(high)


def genuine_of_groups(counts: PeopleCounts, group: np.ndarray, groups: int) -> list[PeopleOfRate]:
    """Return the genuine attempts of each group; a trial is a subject with a genuine attempt."""
    of_groups = []
    for g in range(groups):
        person = np.flatnonzero((group == g) & (counts.genuine_attempts > 0))
        attempts = counts.genuine_attempts[person]
        errors = attempts - counts.genuine_accepted[0, person]
        totals = int(errors.sum()), int(attempts.sum())
        of_groups.append(PeopleOfRate(*totals, errors, attempts, trials_of(len(person)), person))
    return of_groups


def impostors_of_groups(
    counts: PeopleCounts, group: np.ndarray, groups: int
) -> Iterator[PeopleOfRate]:
    """Yield the impostor attempts of each two groups, by the group of the probe, then the other's.

    A trial is one of as many pairs of people as have no person in common.
    """
    # (2, people, groups): attempts of each person as probe against the people of each group, the
    # accepted ones and all; then the same of attempts that claim each person.
    everyone = np.arange(len(group))
    (accepted,), attempts = counts.of_groups(everyone, group)
    as_probe = np.stack([accepted, attempts])
    (accepted,), attempts = counts.of_groups(group, everyone)
    as_claimed = np.stack([accepted.T, attempts.T])
    pairs = _disjoint_pairs(counts, group, groups)
    for g, h in np.ndindex(groups, groups):
        # What is left out with each person as probe, and as claimed subject, (2, people).
        probes = np.flatnonzero(group == g)
        enrolled = np.flatnonzero(group == h)
        probing = as_probe[:, probes, h]
        claimed = as_claimed[:, enrolled, g]
        if g == h:  # a person is left out on both sides
            left_out = probing + claimed
            person = probes
        else:
            left_out = np.concatenate([probing, claimed], axis=1)
            person = np.append(probes, enrolled)
        has_attempt = (left_out[1] > 0) & ~counts.no_person[person]
        errors_left_out, attempts_left_out = left_out[:, has_attempt]
        errors_of_pair, attempts_of_pair = probing.sum(axis=1).tolist()
        yield PeopleOfRate(
            errors=errors_of_pair,
            attempts=attempts_of_pair,
            errors_of=errors_left_out,
            attempts_of=attempts_left_out,
            trials=int(pairs[g, h]),
            person=person[has_attempt],
        )


def _disjoint_pairs(counts: PeopleCounts, group: np.ndarray, groups: int) -> np.ndarray:
    """Return the number of disjoint pairs of people of each two groups, int64 (groups, groups)."""
    if counts.listed:
        pairs = np.zeros((groups, groups), dtype=np.int64)
        # Not everyone is compared: disjoint pairs are looked for among the pairs compared.
        are_people = ~(counts.no_person[counts.probe] | counts.no_person[counts.claimed])
        probe, claimed = counts.probe[are_people], counts.claimed[are_people]
        code = group[probe] * groups + group[claimed]
        for k in np.unique(code):
            partner = mates_among(probe[code == k], claimed[code == k], len(counts.people))
            pairs.flat[k] = (partner >= 0).sum() // 2
        return pairs
    # If everyone is compared, the numbers of people on both sides decide.
    probes, enrolled = (np.flatnonzero(size * ~counts.no_person) for size in counts.sizes)
    probes_of = np.bincount(group[probes], minlength=groups)
    enrolled_of = np.bincount(group[enrolled], minlength=groups)
    everyone_of = np.bincount(group[np.union1d(probes, enrolled)], minlength=groups)
    pairs = np.minimum.outer(probes_of, enrolled_of)
    np.fill_diagonal(pairs, np.minimum(pairs.diagonal(), everyone_of // 2))
    return pairs


def differences_of_groups(
    groups: Sequence[PeopleOfRate | None], confidence: float
) -> dict[str, np.ndarray]:
    """Return the comparison of each two groups by one rate, by the ends of the names of variables.

    A group that is too small to be compared is None. Groups have no person in common, so that their
    errors are independent. The limits hold for all pairs together (Bonferroni). Pairs are compared
    in steps (Holm 1979): by limits that hold together for the pairs without a significant
    difference yet, until no further pair has one.
    """
    rates = np.array([np.nan if people is None else people.rate for people in groups])
    difference = rates[:, None] - rates
    low = np.full(difference.shape, np.nan)
    high = np.full(difference.shape, np.nan)
    separated = np.zeros(difference.shape, dtype=np.int64)

    # Each pair of groups with a rate, (2, pairs), then in the other order.
    compared = np.flatnonzero(~np.isnan(rates))
    pairs = compared[np.stack(np.triu_indices(len(compared), 1))]
    if pairs.size:
        lower, upper, larger = _compared_in_steps(groups, pairs, confidence)
        first, second = pairs
        low[first, second] = lower
        high[first, second] = upper
        separated[first, second] = larger
        low[second, first] = -upper
        high[second, first] = -lower
        separated[second, first] = -larger

    # Letters go from the smallest rate to the largest one.
    smaller_groups = (difference > 0).sum(axis=1)
    order = sorted(compared.tolist(), key=lambda group: (smaller_groups[group], group))
    return {
        "difference": difference,
        "difference_low": low,
        "difference_high": high,
        "separated": separated,
        "letters": np.array(letters_of(separated != 0, order), dtype=object),
    }


def _compared_in_steps(
    groups: Sequence[PeopleOfRate | None], pairs: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return limits of the first group minus the second one, and Holm's decision, each (pairs,).

    The limits hold for all pairs together. The decision is 1 where the first group is shown to have
    the larger rate, -1 where the second one is, else 0.
    """
    lower, upper = _limits_of_differences(groups, pairs, confidence, together=len(pairs[0]))
    larger = (lower > 0).astype(np.int64) - (upper < 0)

    # A step is for the pairs that are open yet, and none follows a step that decided no pair.
    open_before = len(larger)
    open_pairs = int(np.count_nonzero(larger == 0))
    while 0 < open_pairs < open_before:
        narrower = _limits_of_differences(groups, pairs, confidence, together=open_pairs)
        larger_in_step = (narrower[0] > 0).astype(np.int64) - (narrower[1] < 0)
        larger = np.where(larger == 0, larger_in_step, larger)
        open_before = open_pairs
        open_pairs = int(np.count_nonzero(larger == 0))
    return lower, upper, larger


def _limits_of_differences(
    groups: Sequence[PeopleOfRate | None], pairs: np.ndarray, confidence: float, *, together: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of the first group minus the second one, (pairs,), of two independent rates.

    They hold for as many pairs `together`. They are not symmetric, since limits of rates of few
    errors are not.
    """
    level = 1 - (1 - confidence) / together
    rate, low, high = np.full((3, len(groups)), np.nan)
    for g, people in enumerate(groups):
        if people is not None:
            rate[g] = people.rate
            low[g], high[g] = people.limits(level)
    first, second = pairs
    negated = -rate[second], -high[second], -low[second]
    return limits_of_sum((rate[first], low[first], high[first]), negated)


def paired_differences(
    groups: Sequence[PeopleOfRate],
    people: int,
    people_per_attempt: int,
    is_compared: np.ndarray,
    confidence: float,
) -> dict[str, np.ndarray]:
    """Return the comparison of each two groups by one rate, by the ends of the names of variables.

    The groups share people, whom the differences are paired over: each person is left out of all
    groups at once. `people` is the number of all people.
    """
    # (groups, people): a person without attempts in a group has 0 there.
    errors = np.zeros((len(groups), people))
    attempts = np.zeros((len(groups), people))
    for g, of_group in enumerate(groups):
        errors[g, of_group.person] = of_group.errors_of
        attempts[g, of_group.person] = of_group.attempts_of
    has_attempt = attempts.any(axis=0)
    errors = errors[:, has_attempt]
    attempts = attempts[:, has_attempt]

    # Pairs that too few people tell apart are not tested.
    person_rates = list(np.nan_to_num(ratio(errors, attempts)))  # without attempts, no error
    no_rates = [np.empty(0)] * len(groups)
    if people_per_attempt == 1:
        discordant_people = discordant(own=person_rates, shared=no_rates)
    else:
        discordant_people = discordant(own=no_rates, shared=person_rates)
    is_tested = discordant_people >= least_discordant(confidence)
    is_tested &= is_compared[:, None] & is_compared

    # Column 0 is the rate with everybody.
    all_errors = np.array([of_group.errors for of_group in groups], dtype=np.float64)
    all_attempts = np.array([of_group.attempts for of_group in groups], dtype=np.float64)
    columns = rates_without_each(errors, attempts, all_errors, all_attempts)
    between = Differences.from_columns(columns, is_tested, confidence, widest=1.0)

    # Letters go from the smallest rate to the largest one.
    rates = columns[:, 0]
    with_rate = np.flatnonzero(is_compared & ~np.isnan(rates))
    order = with_rate[np.argsort(rates[with_rate], kind="stable")]
    letters = between.letters(order.tolist())
    return {
        "difference": between.difference,
        "difference_low": between.low,
        "difference_high": between.high,
        "discordant": discordant_people,
        "p_value": between.p,
        "separated": between.larger,
        "letters": np.array(letters, dtype=object),
    }


# The permutation test of groups of people.


def p_values_of_groups(
    counts: PeopleCounts, group: np.ndarray, is_compared: np.ndarray, options: IntervalMethod
) -> tuple[dict[str, float], list[Message]]:
    """Return the p-value of a permutation test of each rate; NaN if it is not tested."""
    is_tested = is_compared[group] & ~counts.no_person
    rejected = counts.genuine_attempts - counts.genuine_accepted[0]
    stream_of_frr = Stream(options.seed, 1)
    frr_p = _p_value(rejected, counts.genuine_attempts, group, is_tested, stream_of_frr)
    if len(group) > MOST_TESTED:
        why = f"this is tested only with up to {MOST_TESTED:,} subjects"
        note = Message("groups-not-compared", what="{far} within groups differs", why=why)
        return {"frr": frr_p, "far": math.nan}, [note]

    # Attempts of each two people, (people, people), summed over both directions.
    everyone = np.arange(len(group))
    (accepted,), claims = counts.of_groups(everyone, everyone)
    stream_of_far = Stream(options.seed, 2)
    far_p = _p_value(accepted + accepted.T, claims + claims.T, group, is_tested, stream_of_far)
    return {"frr": frr_p, "far": far_p}, []


def _p_value(
    errors: np.ndarray,
    attempts: np.ndarray,
    group: np.ndarray,
    is_tested: np.ndarray,
    stream: Stream,
) -> float:
    """Return the p-value of one rate among the people tested; NaN if they are of one group or none.

    `errors` and `attempts` are counts of all people, (people,) or (people, people). A person
    without attempts has no rate, and is not permuted.
    """
    has_attempt = attempts != 0 if attempts.ndim == 1 else attempts.any(axis=0)
    person = np.flatnonzero(is_tested & has_attempt)
    group_of_tested = np.unique(group[person], return_inverse=True)[1].reshape(-1)  # from 0
    if not group_of_tested.any():
        return math.nan
    tested: Any = person if attempts.ndim == 1 else np.ix_(person, person)
    tested_errors = errors[tested].astype(np.float64)
    tested_attempts = attempts[tested].astype(np.float64)
    return permutation_p_value(tested_errors, tested_attempts, group_of_tested, stream)


def permutation_p_value(
    errors: np.ndarray, attempts: np.ndarray, group: np.ndarray, stream: Stream
) -> float:
    """Return the p-value that a rate differs between groups, permuted among people.

    It is ``(1 + permutations with as large a deviation) / (1 + PERMUTATIONS)``; `errors` and
    `attempts` are those of :func:`largest_deviation`, and `group` (people,) is from 0.
    """
    people = len(group)
    group_count = int(group.max()) + 1
    values_of_permutation = people * group_count if errors.ndim == 2 else people
    most_columns = max(1, _MOST_VALUES // values_of_permutation)
    observed = largest_deviation(errors, attempts, group[:, None])[0]
    as_large = 0
    remaining = PERMUTATIONS
    while remaining:
        columns = min(most_columns, remaining)
        groups = np.stack([group[stream.permutation(people)] for _ in range(columns)], axis=1)
        deviation = largest_deviation(errors, attempts, groups)
        as_large += int((deviation >= observed * (1 - _REORDERED)).sum())
        remaining -= columns
    return (1 + as_large) / (1 + PERMUTATIONS)


def largest_deviation(errors: np.ndarray, attempts: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return ``max_g |rate_g - rate| / se_g`` for each column of `groups`, int64 (people, columns).

    ``rate`` is the rate of all groups, and ``se_g^2`` is the sum of the squares of ``errors_a -
    rate_g attempts_a`` over the people of the group, divided by the square of its attempts. If it
    is 0 and ``rate_g`` is not ``rate``, the deviation is infinite.

    `errors` and `attempts`, float64, are the own attempts of each person (FRR), (people,), or the
    attempts of each two people, (people, people), of which those within a group count (FAR).
    """
    # The counts of each person, (people, columns), or (people, 1) if they are alike in all columns.
    group_count = int(groups.max()) + 1
    if errors.ndim == 1:
        people_per_attempt = 1
        person_errors = errors[:, None]
        person_attempts = attempts[:, None]
    else:
        people_per_attempt = 2  # an attempt is counted with both of its people
        # One product serves all columns: membership is (people, columns * groups).
        is_member_of = groups[:, :, None] == np.arange(group_count)
        membership = is_member_of.reshape(len(groups), -1).astype(np.float64)
        person_errors = _with_own_group(errors, membership, groups)
        person_attempts = _with_own_group(attempts, membership, groups)

    # The rates of each group, (groups, columns), and of all groups together, (columns,).
    is_member = [groups == g for g in range(group_count)]
    summed_errors = np.stack([(is_in * person_errors).sum(axis=0) for is_in in is_member])
    summed_attempts = np.stack([(is_in * person_attempts).sum(axis=0) for is_in in is_member])
    group_errors = summed_errors / people_per_attempt
    group_attempts = summed_attempts / people_per_attempt
    rates = ratio(group_errors, group_attempts)
    overall = ratio(group_errors.sum(axis=0), group_attempts.sum(axis=0))

    largest = np.zeros(groups.shape[1])
    for is_in, rate, total in zip(is_member, rates, group_attempts, strict=True):
        squares = (is_in * (person_errors - rate * person_attempts) ** 2).sum(axis=0)
        distance = np.abs(rate - overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(distance > _EQUAL, distance * total / np.sqrt(squares), 0.0)
        largest = np.fmax(largest, deviation)  # a group without attempts, NaN, does not count
    return largest


def _with_own_group(counts: np.ndarray, membership: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the sum of each person's `counts` with the people of the same group, as `groups`.

    `membership` (people, columns * groups) is 1 where a person is in a group of a column.
    """
    with_each_group = (counts @ membership).reshape(*groups.shape, -1)
    return np.take_along_axis(with_each_group, groups[:, :, None], axis=2)[:, :, 0]
