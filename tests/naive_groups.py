"""Groups, from their definitions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import naive
import naive_limits

NAN = math.nan


ALL = "all"


def without_totals(ds: Any) -> Any:
    """Return rates by group without all groups together."""
    return ds.drop_sel({dim: [ALL] for dim in ("group", "claimed_group") if dim in ds.dims})


@dataclass
class Attempt:
    """One attempt: who probes, who is claimed, and the score in the user's units."""

    probe: Any
    claimed: Any
    score: Any
    genuine: bool


def attempts(data: naive.Data, templates: str = "single", fusion: str = "best") -> list[Attempt]:
    """Return all attempts of section "verification"."""
    assert data.probe_labels is not None
    unit = "template" if templates == "single" else "subject"
    return [
        Attempt(data.probe_labels[i], c.subject, data.user(c.distance), c.mate)
        for i in range(len(data.rows))
        for c in naive.candidates(data, i, unit, fusion)
    ]


def by_group(
    made: Sequence[Attempt], group: Mapping[Any, Any], threshold: Any, kind: str
) -> dict[str, dict[Any, Any]]:
    """Return counts and rates at a threshold (NaN rejects all), of all groups together, too."""
    names = [*sorted(set(group.values())), ALL]
    result: dict[str, dict[Any, Any]] = {
        x: {} for x in ("frr", "fr", "genuine_attempts", "far", "fa", "impostor_attempts")
    }

    def rejected(a: Attempt) -> bool:
        return threshold != threshold or not naive.accepted(a.score, threshold, kind)

    for probe_group in names:
        own = [a for a in made if a.genuine and probe_group in (group[a.probe], ALL)]
        result["genuine_attempts"][probe_group] = len(own)
        result["fr"][probe_group] = sum(map(rejected, own))
        result["frr"][probe_group] = naive.rate(result["fr"][probe_group], len(own))
        for claimed_group in names:
            impostor_attempts = [
                a
                for a in made
                if not a.genuine
                and probe_group in (group[a.probe], ALL)
                and claimed_group in (group[a.claimed], ALL)
            ]
            result["impostor_attempts"][probe_group, claimed_group] = len(impostor_attempts)
            result["fa"][probe_group, claimed_group] = sum(
                not rejected(a) for a in impostor_attempts
            )
            result["far"][probe_group, claimed_group] = naive.rate(
                result["fa"][probe_group, claimed_group], len(impostor_attempts)
            )
    return result


def limits_of_difference(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the limits of the difference of two independent rates; a rate is (rate, low, high)."""
    (first, first_low, first_high), (second, second_low, second_high) = one, other
    difference = first - second
    return (
        difference - math.hypot(first - first_low, second_high - second),
        difference + math.hypot(first_high - first, second - second_low),
    )


def left_out_limits(
    attempts: Sequence[tuple[bool, tuple[Any, ...]]], trials: int, level: float = 0.95
) -> tuple[float, float]:
    """Return limits of a rate by leaving out each person on all sides.

    `attempts` are those of the rate alone: whether each is an error, with its people.
    """
    everyone = sorted({x for _, people in attempts for x in people})
    rates_without, shares = [], []
    for person in everyone:
        of_others = [wrong for wrong, people in attempts if person not in people]
        rates_without.append(sum(of_others) / len(of_others) if of_others else NAN)
        shares.append(1 - len(of_others) / len(attempts))
    rate = sum(wrong for wrong, _ in attempts) / len(attempts)
    sides = max(len(set(people)) for _, people in attempts)
    return naive_limits.rate([rate, *rates_without], len(attempts), trials, sides, level, shares)


def largest_deviation(
    made: Sequence[tuple[bool, tuple[Any, ...]]], group: Mapping[Any, Any]
) -> float:
    """Return the largest deviation of the rate of a group from the rate of all, in standard errors.

    `made` are attempts: whether each is an error, and its people. Those across groups do not count.
    """
    within = [a for a in made if len({group[x] for x in a[1]}) == 1]
    overall = sum(wrong for wrong, _ in within) / len(within)
    largest = 0.0
    for group_name in sorted(set(group.values())):
        own = [a for a in within if group[a[1][0]] == group_name]
        rate = sum(wrong for wrong, _ in own) / len(own)
        squares = 0.0
        for person in (x for x in group if group[x] == group_name):
            squares += sum(wrong - rate for wrong, people in own if person in people) ** 2
        if abs(rate - overall) > 1e-12:
            error = math.sqrt(squares) / len(own)
            largest = max(largest, abs(rate - overall) / error if error else math.inf)
    return largest
