"""Groups of attempts, such as by day and by night: limits, and differences paired over people.

A group has the attempts of some probes. Most people make attempts in several groups, so that their
rates are not independent: groups are compared as systems are, without each person in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from bioeval.base.progress import stage
from bioeval.scores.matrix import Scores
from bioeval.stats.limits import Limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import people_counts, ratio
from bioeval.stats.simultaneous import Differences, discordant, least_discordant
from bioeval.stats.weights import without_each
from bioeval.studies.groups.differences import PairsOfGroups, PeopleOfRate
from bioeval.studies.groups.group_rates import (
    independent_trials,
    not_compared,
    people_with_mates,
    with_limits,
)


@stage("leaving people out")
def condition_intervals(
    dataset: xr.Dataset, scores: Scores, group: np.ndarray, options: IntervalMethod
) -> xr.Dataset:
    """Return a result by group of attempts with limits and differences.

    `group` is that of each probe. Groups of fewer than 30 subjects are not compared.
    """
    at, enough = dataset["threshold"].values[None], dataset["few_subjects"].values == 0
    codes = scores.codes
    who = np.union1d(codes.probe, codes.gallery)
    place = {name: i for i, name in enumerate(codes.values[who].tolist())}
    rates: dict[str, list[PeopleOfRate]] = {"frr": [], "far": []}
    for g in range(len(enough)):
        counts = people_counts(scores.select(probes=np.flatnonzero(group == g)), at)
        places = np.array([place[name] for name in counts.people])
        alone = np.zeros(len(places), dtype=np.int64)
        subjects, pairs = independent_trials(counts, alone, 1)
        mates = people_with_mates(counts, alone == 0, int(subjects[0]))
        others = PairsOfGroups(counts, alone).people_of(0, 0, int(pairs[0, 0]))
        for made, x in zip(rates.values(), (mates, others), strict=True):
            made.append(replace(x, who=places[x.who]))
    limits: dict[str, Limits] = {}
    variables: dict[str, np.ndarray] = {}
    for rate, groups in rates.items():
        low, high = np.array([x.limits(options.confidence) for x in groups]).T
        limits[rate] = low, high
        between = _differences(groups, len(who), enough, options.confidence, rate == "far")
        variables |= {f"{rate}_{key}": x for key, x in between.items()}
    people = int((~codes.no_person[who]).sum())
    remarks = [*options.few_people(people), *not_compared(len(enough), enough)]
    return with_limits(dataset, options, limits, variables, remarks)


def _differences(
    groups: Sequence[PeopleOfRate],
    people: int,
    enough: np.ndarray,
    confidence: float,
    of_two: bool,
) -> dict[str, np.ndarray]:
    """Return differences of one rate of each two groups, by the ends of names.

    - `people`: those whose places the groups have
    - `enough`: whether a group has people enough to be compared
    - `of_two`: whether an attempt is of two people
    """
    errors, attempts = np.zeros((2, len(groups), people))
    for g, x in enumerate(groups):
        errors[g, x.who], attempts[g, x.who] = x.errors_of, x.attempts_of
    there = attempts.any(axis=0)
    errors, attempts = errors[:, there], attempts[:, there]
    all_errors, made = np.array([[x.errors, x.attempts] for x in groups]).T
    columns = ratio(without_each(errors, all_errors), without_each(attempts, made))
    of_each = np.nan_to_num(ratio(errors, attempts))  # a person without attempts has no error
    none = [of_each[0, :0]] * len(groups)
    apart = discordant(*((none, of_each) if of_two else (of_each, none)))
    comparable = (apart >= least_discordant(confidence)) & enough[:, None] & enough
    between = Differences.of(columns, comparable, confidence, widest=1.0)
    order = np.flatnonzero(enough & ~np.isnan(columns[:, 0]))
    letters = between.letters(order[np.argsort(columns[order, 0], kind="stable")].tolist())
    return {
        "difference": between.difference,
        "difference_low": between.low,
        "difference_high": between.high,
        "discordant": apart,
        "p_value": between.p,
        "separated": between.larger,
        "letters": np.array(letters, dtype=object),
    }
