"""Intervals of rates by group, and differences between groups: of people, and of attempts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.base.random import Stream
from bioeval.scores.disjoint import mates_among
from bioeval.scores.matrix import Scores
from bioeval.stats.limits import Limits
from bioeval.stats.options import IntervalMethod, trials_of
from bioeval.stats.people import PeopleCounts, people_counts
from bioeval.stats.simultaneous import Differences, discordant, least_discordant
from bioeval.stats.weighted_sums import ratio
from bioeval.stats.weights import without_each
from bioeval.studies.groups.differences import (
    MOST_TESTED,
    PairsOfGroups,
    PeopleOfRate,
    differences_of_groups,
    far_differs,
    frr_differs,
)
from bioeval.studies.groups.group_rates import FEW_SUBJECTS, GROUPS, has_enough_subjects


@stage("leaving people out")
def group_intervals(
    dataset: xr.Dataset,
    scores: Scores,
    group: np.ndarray,
    options: IntervalMethod,
    *,
    defined: bool,
) -> xr.Dataset:
    """Return a result by group of people with confidence intervals, if rates are `defined`.

    `group` (int64 (people,)) has the group of each person, in the order of the people's codes.

    FRR and FAR at the threshold of all groups have limits by leaving out each person. Nothing is
    concluded about groups of fewer than 30 subjects: their rates may be anything, and tests and
    differences leave them out.
    """
    is_compared = has_enough_subjects(dataset)
    groups = range(len(is_compared))
    counts = people_counts(scores, dataset["threshold"].values[None])
    pairs = PairsOfGroups(counts, group)
    subjects, disjoint_pairs = independent_trials(counts, group, len(groups))
    genuine = [people_with_mates(counts, group == g, int(subjects[g])) for g in groups]
    impostor = [[pairs.people_of(g, h, int(disjoint_pairs[g, h])) for h in groups] for g in groups]

    # (1 + groups, groups, 2): lower and upper limits of FRR, then of FAR by group of the probe.
    ends = np.full((1 + len(groups), len(groups), 2), np.nan)
    if defined:
        rows = (genuine, *impostor)
        ends = np.array([[x.limits(options.confidence) for x in row] for row in rows])
    limits: dict[str, Limits] = {
        "frr": (ends[0, :, 0], ends[0, :, 1]),
        "far": (ends[1:, :, 0], ends[1:, :, 1]),
    }
    remarks: list[Message] = [*options.few_people(int((~counts.no_person).sum()))]
    remarks += not_compared(len(groups), is_compared)
    variables: dict[str, Any] = {}
    if defined:
        compared_rates = {
            "far": [impostor[g][g] if is_compared[g] else None for g in groups],
            "frr": [genuine[g] if is_compared[g] else None for g in groups],
        }
        p_values = {"far": math.nan, "frr": math.nan}
        if is_compared.sum() > 1:
            p_values, notes = _p_values(counts, pairs, is_compared, options)
            remarks += notes
        variables = _variables_of_comparison(compared_rates, p_values, options.confidence)
    return with_limits_of_groups(dataset, options, limits, variables, remarks)


def _variables_of_comparison(
    compared_rates: Mapping[str, Sequence[PeopleOfRate | None]],
    p_values: Mapping[str, float],
    confidence: float,
) -> dict[str, Any]:
    variables: dict[str, Any] = {}
    for rate, groups in compared_rates.items():
        # Groups have no person in common, so that their rates are independent, and limits of each
        # at this level hold together (Sidak). A group that is not compared has limits of NaN.
        number = sum(people is not None for people in groups)
        level = confidence ** (1 / max(number, 1))
        ends = [(np.nan, np.nan) if people is None else people.limits(level) for people in groups]
        low, high = np.array(ends).T
        rates = np.array([np.nan if people is None else people.rate for people in groups])
        variables[f"{rate}_simultaneous"] = rates
        variables |= {f"{rate}_simultaneous_low": low, f"{rate}_simultaneous_high": high}
        variables[f"{rate}_groups_p"] = np.array(p_values[rate])
        differences = differences_of_groups(groups, confidence)
        variables |= {f"{rate}_{statistic}": x for statistic, x in differences.items()}
    return variables


def with_limits_of_groups(
    dataset: xr.Dataset,
    options: IntervalMethod,
    limits: dict[str, Limits],
    variables: dict[str, np.ndarray],
    remarks: list[Message],
) -> xr.Dataset:
    """Return a result with limits of its rates, and with variables by group or by pair of groups.

    The label of all groups together has none of these values: they are NaN, empty or 0 there.
    """
    padded_limits = {}
    for name, ends in limits.items():
        low, high = (np.pad(x, (0, 1), constant_values=np.nan) for x in ends)
        padded_limits[name] = low, high
    result = options.added_to(dataset, padded_limits, GROUPS, remarks)
    for name in filter(variables.__contains__, GROUPS):
        values = variables[name]
        dims = ("group", "other_group")[: values.ndim]
        if dims:
            missing = {"f": np.nan, "O": ""}.get(values.dtype.kind, 0)
            last_row = np.full((1, *values.shape[1:]), missing, dtype=values.dtype)
            values = np.concatenate([values, last_row])
        result[name] = dims, values, GROUPS[name].attrs
    if variables:
        other_groups = "other_group", dataset["group"].values[:-1], GROUPS["other_group"].attrs
        result = result.assign_coords(other_group=other_groups).assign_attrs(
            interval_of_differences="limits that hold for all pairs of groups together"
        )
    return result


def not_compared(groups: int, is_compared: np.ndarray) -> list[Message]:
    """Return a message if there are several groups, and fewer than two of them are compared."""
    if groups < 2 or is_compared.sum() > 1:
        return []
    reason = (
        f"fewer than two groups have {FEW_SUBJECTS} subjects, so there are no limits and no "
        "p-values"
    )
    return [Message("groups-not-compared", what="groups differ", why=reason)]


def independent_trials(
    counts: PeopleCounts, group: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of independent trials of FRR and of FAR.

    FRR of a group has a trial for each subject with a genuine attempt, int64 (groups,); FAR of two
    groups has a trial for each disjoint pair of people, int64 (groups, groups). Disjoint pairs have
    no person in common.
    """
    subjects = np.bincount(group[counts.genuine_attempts > 0], minlength=groups)
    if counts.listed:
        pairs = np.zeros((groups, groups), dtype=np.int64)
        # Not everyone is compared: disjoint pairs are looked for among the pairs compared.
        are_people = ~(counts.no_person[counts.probe] | counts.no_person[counts.claimed])
        probe, claimed = counts.probe[are_people], counts.claimed[are_people]
        code = group[probe] * groups + group[claimed]
        for k in np.unique(code):
            partner = mates_among(probe[code == k], claimed[code == k], len(counts.people))
            pairs.flat[k] = (partner >= 0).sum() // 2
        return subjects, pairs
    # If everyone is compared, the numbers of people on both sides decide.
    probes, enrolled = (np.flatnonzero(size * ~counts.no_person) for size in counts.sizes)
    probes_of = np.bincount(group[probes], minlength=groups)
    enrolled_of = np.bincount(group[enrolled], minlength=groups)
    everyone_of = np.bincount(group[np.union1d(probes, enrolled)], minlength=groups)
    pairs = np.minimum.outer(probes_of, enrolled_of)
    np.fill_diagonal(pairs, np.minimum(pairs.diagonal(), everyone_of // 2))
    return subjects, pairs


def people_with_mates(counts: PeopleCounts, is_in_group: np.ndarray, trials: int) -> PeopleOfRate:
    """Return the genuine attempts of the people in a group."""
    attempts_of = counts.genuine_attempts
    accepted = counts.genuine_accepted[0]
    has_attempt = is_in_group & (attempts_of > 0)
    rejects = (attempts_of - accepted)[has_attempt]
    attempts = attempts_of[has_attempt]
    persons = np.flatnonzero(has_attempt)
    trials = trials_of(trials)
    return PeopleOfRate(int(rejects.sum()), int(attempts.sum()), rejects, attempts, trials, persons)


def _p_values(
    counts: PeopleCounts, pairs: PairsOfGroups, is_compared: np.ndarray, options: IntervalMethod
) -> tuple[dict[str, float], list[Message]]:
    """Return the p-value of a permutation test of each rate; NaN if it is not tested."""
    p_values = {"far": math.nan, "frr": math.nan}
    attempts = counts.genuine_attempts
    accepted = counts.genuine_accepted[0]
    is_candidate = is_compared[pairs.group] & ~pairs.no_person

    persons = np.flatnonzero(is_candidate & (attempts > 0))
    groups = _numbered_from_0(pairs.group[persons])
    if groups.any():
        errors = (attempts - accepted)[persons]
        p_values["frr"] = frr_differs(errors, attempts[persons], groups, Stream(options.seed, 1))
    tables = pairs.tables
    if tables is None:
        statement = "{far} within groups differs"
        reason = f"this is tested only with up to {MOST_TESTED:,} subjects"
        return p_values, [Message("groups-not-compared", what=statement, why=reason)]
    persons = np.flatnonzero(is_candidate & (tables[1].sum(axis=1) > 0))
    groups = _numbered_from_0(pairs.group[persons])
    if groups.any():
        squares = tables[:, persons[:, None], persons]
        p_values["far"] = far_differs(squares, groups, Stream(options.seed, 2))
    return p_values, []


def _numbered_from_0(groups: np.ndarray) -> np.ndarray:
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


@stage("leaving people out")
def condition_intervals(
    dataset: xr.Dataset, scores: Scores, group: np.ndarray, options: IntervalMethod
) -> xr.Dataset:
    """Return a result by group of attempts with limits and differences.

    `group` (probes,) has the group of each probe. Groups of fewer than 30 subjects are left out of
    comparisons.
    """
    # The genuine and the impostor attempts of each group, counted as if its probes were alone.
    threshold = dataset["threshold"].values[None]
    is_compared = has_enough_subjects(dataset)
    codes = scores.codes
    persons = np.union1d(codes.probe, codes.gallery)
    index_of_person = {name: i for i, name in enumerate(codes.values[persons].tolist())}
    rates: dict[str, list[PeopleOfRate]] = {"frr": [], "far": []}
    for g in range(len(is_compared)):
        counts = people_counts(scores.select(probes=np.flatnonzero(group == g)), threshold)
        index = np.array([index_of_person[name] for name in counts.people])
        one_group = np.zeros(len(index), dtype=np.int64)
        subjects, pairs = independent_trials(counts, one_group, 1)
        genuine = people_with_mates(counts, one_group == 0, int(subjects[0]))
        impostor = PairsOfGroups(counts, one_group).people_of(0, 0, int(pairs[0, 0]))
        for groups, people in zip(rates.values(), (genuine, impostor), strict=True):
            groups.append(replace(people, person=index[people.person]))

    # Their limits, and the differences of each two groups.
    limits: dict[str, Limits] = {}
    variables: dict[str, np.ndarray] = {}
    for rate, groups in rates.items():
        low, high = np.array([people.limits(options.confidence) for people in groups]).T
        limits[rate] = low, high
        differences = _differences(
            groups, len(persons), is_compared, options.confidence, of_two=rate == "far"
        )
        variables |= {f"{rate}_{statistic}": values for statistic, values in differences.items()}
    known_people = int((~codes.no_person[persons]).sum())
    remarks = [*options.few_people(known_people), *not_compared(len(is_compared), is_compared)]
    return with_limits_of_groups(dataset, options, limits, variables, remarks)


def _differences(
    groups: Sequence[PeopleOfRate],
    people: int,
    is_compared: np.ndarray,
    confidence: float,
    *,
    of_two: bool,
) -> dict[str, np.ndarray]:
    """Return differences of one rate between each two groups, by the ends of names of variables.

    - `people`: number of all people, which `person` of the groups indexes
    - `of_two`: whether an attempt is of two people
    """
    # Both (groups, people): the same people in all groups, for a jackknife of the differences.
    errors, attempts = np.zeros((2, len(groups), people))
    for g, people_of_group in enumerate(groups):
        errors[g, people_of_group.person] = people_of_group.errors_of
        attempts[g, people_of_group.person] = people_of_group.attempts_of
    has_attempt = attempts.any(axis=0)
    errors = errors[:, has_attempt]
    attempts = attempts[:, has_attempt]
    all_errors = np.array([people_of_group.errors for people_of_group in groups])
    all_attempts = np.array([people_of_group.attempts for people_of_group in groups])
    columns = ratio(without_each(errors, all_errors), without_each(attempts, all_attempts))
    person_rates = np.nan_to_num(ratio(errors, attempts))  # a person without attempts has no error
    none = [person_rates[0, :0]] * len(groups)
    discordant_people = discordant(*((none, person_rates) if of_two else (person_rates, none)))
    is_comparable = discordant_people >= least_discordant(confidence)
    is_comparable &= is_compared[:, None] & is_compared
    between = Differences.from_columns(columns, is_comparable, confidence, widest=1.0)
    order = np.flatnonzero(is_compared & ~np.isnan(columns[:, 0]))
    letters = between.letters(order[np.argsort(columns[order, 0], kind="stable")].tolist())
    return {
        "difference": between.difference,
        "difference_low": between.low,
        "difference_high": between.high,
        "discordant": discordant_people,
        "p_value": between.p,
        "separated": between.larger,
        "letters": np.array(letters, dtype=object),
    }
