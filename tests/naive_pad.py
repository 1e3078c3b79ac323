"""Naive implementation of presentation attack detection: loops and exact fractions."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import naive_limits


def classes(
    values: Sequence[float], attack: Sequence[str], kind: str
) -> dict[str, list[float | None]]:
    """Scores by species, ``""`` for bona fide: larger is bona fide, None is no response."""
    by_class: dict[str, list[float | None]] = {"": []}
    for value, species in zip(values, attack, strict=True):
        bona_fide = species.strip().lower() in ("", "bona fide", "bonafide", "bona-fide")
        name = "" if bona_fide else species.strip()
        score = -value if kind == "distance" else value
        by_class.setdefault(name, []).append(None if math.isnan(value) else score)
    return by_class


def accepted_of(
    scores: Sequence[float | None], at: float | None, non_response: str
) -> Fraction | None:
    """The proportion classified bona fide at a threshold; None rejects all."""
    number = accepted = 0
    for score in scores:
        if score is None and non_response == "exclude":
            continue
        number += 1
        accepted += score is not None and at is not None and score >= at
    return Fraction(accepted, number) if number else None


def rates(
    found: dict[str, list[float | None]], at: float | None, non_response: str
) -> dict[str, Any]:
    """APCER of each species, the pooled and the largest APCER, and BPCER."""
    species = sorted(x for x in found if x)
    by_species = {x: accepted_of(found[x], at, non_response) for x in species}
    heard = [x for x in species if any(y is not None for y in found[x])]
    answered = [by_species[x] for x in heard]
    pooled = accepted_of([y for x in species for y in found[x]], at, non_response)
    passed = accepted_of(found[""], at, non_response)
    return {
        "apcer": by_species | {"pooled": pooled, "largest": max(answered) if answered else None},
        "bpcer": None if passed is None else 1 - passed,
    }


def points(found: dict[str, list[float | None]]) -> list[float | None]:
    """Thresholds from strict to loose; None, which rejects all, first."""
    scores = {y for x in found.values() for y in x if y is not None}
    return [None, *sorted(scores, reverse=True)]


def at_apcer(
    found: dict[str, list[float | None]], target: float, non_response: str
) -> tuple[float | None, Fraction | None] | None:
    """The loosest point with APCER at most `target`, and its BPCER."""
    best = None
    for threshold in points(found):
        rates_there = rates(found, threshold, non_response)
        largest = rates_there["apcer"]["largest"]
        if largest is not None and float(largest) <= target:
            best = threshold, rates_there["bpcer"]
    return best


def at_bpcer(
    found: dict[str, list[float | None]], target: float, non_response: str
) -> tuple[float | None, Fraction | None] | None:
    """The strictest point with BPCER at most `target`, and its APCER."""
    for threshold in points(found):
        rates_there = rates(found, threshold, non_response)
        if rates_there["bpcer"] is not None and float(rates_there["bpcer"]) <= target:
            return threshold, rates_there["apcer"]["largest"]
    return None


def d_eer(
    found: dict[str, list[float | None]], non_response: str
) -> tuple[Fraction, float | None] | None:
    """The crossing of APCER and BPCER between two points, and the attainable neighbour."""
    before = None
    for threshold in points(found):
        rates_there = rates(found, threshold, non_response)
        apcer, bpcer = rates_there["apcer"]["largest"], rates_there["bpcer"]
        if apcer is None or bpcer is None:
            return None
        if apcer >= bpcer:
            if before is None:
                return None
            a0, b0, at0 = before
            weight = (b0 - a0) / ((apcer - a0) - (bpcer - b0))
            return a0 + weight * (apcer - a0), at0 if max(a0, b0) <= max(
                apcer, bpcer
            ) else threshold
        before = apcer, bpcer, threshold
    return None


def limits_of_accepted(
    scores: Sequence[float], units: Sequence[Sequence[Any]], confidence: float
) -> Callable[[float], tuple[float, float]]:
    """Limits of the rate of attempts that are accepted at a score and above, by the rate.

    `units` has, of each kind of units, the unit of each attempt: what the kinds add to the variance
    adds up, and limits rise with the rate.
    """
    of_kinds = []
    for kind in units:
        units_of_kind = sorted(set(kind))
        places = []
        for threshold in sorted(set(scores)):
            columns = []
            for left in (None, *units_of_kind):
                scores_without = [x for x, unit in zip(scores, kind, strict=True) if unit != left]
                columns.append(sum(x >= threshold for x in scores_without) / len(scores_without))
            places.append(columns)
        number = naive_limits.kish([kind.count(x) for x in units_of_kind])
        of_kinds.append(naive_limits.curve(places, len(scores), number, 1, confidence))
    rates = sorted(
        {0.0, 1.0, *(sum(x >= threshold for x in scores) / len(scores) for threshold in scores)}
    )
    ends = []
    for x in rates:
        ends_of_kinds = [limits(x) for limits in of_kinds]
        below = math.sqrt(sum((x - low) ** 2 for low, _ in ends_of_kinds))
        above = math.sqrt(sum((high - x) ** 2 for _, high in ends_of_kinds))
        ends.append((max(x - below, 0.0), min(x + above, 1.0)))
    low = [min(x for x, _ in ends[k:]) for k in range(len(ends))]
    high = [max(x for _, x in ends[: k + 1]) for k in range(len(ends))]
    return lambda x: (
        naive_limits.interpolated(x, rates, low),
        naive_limits.interpolated(x, rates, high),
    )
