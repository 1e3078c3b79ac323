"""Naive implementation of the zoo: loops over attempts, written from the definitions alone."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import naive


class Attempt(NamedTuple):
    """One attempt: the subject of the probe, the subject that it claims, and the distance."""

    probe: Any
    claimed: Any
    distance: Any


def attempts(**case: Any) -> list[Attempt]:
    """Every attempt of verification, with its two subjects."""
    data = naive.read(**case)
    listed = []
    for i, row in enumerate(data.rows):
        subject = data.probe_labels[i]
        listed += [Attempt(subject, cell.subject, cell.distance) for cell in row]
    return listed


def subjects(**case: Any) -> list[Any]:
    """Every subject of either side, in order."""
    return sorted({*case["probe_labels"], *(case.get("gallery_labels") or ())})


def mean(distances: Sequence[Any]) -> float:
    """Mean of the finite values; NaN without any."""
    finite = [Fraction(x) for x in distances if math.isfinite(x)]
    return float(sum(finite) / len(finite)) if finite else math.nan


def fewest_with_half(counts: Sequence[int]) -> int:
    """The fewest counts that add up to at least half of all; 0 without errors."""
    largest_first = sorted(counts, reverse=True)
    return next(k for k in range(len(counts) + 1) if 2 * sum(largest_first[:k]) >= sum(counts))


def ratio(a: int, b: int) -> float:
    """A rate; NaN without attempts."""
    return a / b if b else math.nan


def statistics(found: Sequence[Attempt], people: Sequence[Any], threshold: Any) -> dict[Any, Any]:
    """Every variable, of errors with their name; `threshold` and means are distances."""
    genuine = [a for a in found if a.probe == a.claimed]
    impostor = [a for a in found if a.probe != a.claimed]
    accepted = [a for a in impostor if a.distance <= threshold]
    rejected = [a for a in genuine if not a.distance <= threshold]
    out: dict[str, Any] = {"non_finite": sum(not math.isfinite(a.distance) for a in found)}
    by_subject: dict[Any, list[Any]] = {}

    def put(name: Any, value: Any) -> None:
        by_subject.setdefault(name, []).append(value)

    for subject in people:
        own = [a for a in genuine if a.probe == subject]
        wolf = [a for a in impostor if a.probe == subject]
        lamb = [a for a in impostor if a.claimed == subject]
        either = [a for a in impostor if subject in (a.probe, a.claimed)]
        for name, part in (
            ("genuine_mean", own), ("impostor_mean_as_probe", wolf),
            ("impostor_mean_as_claimed", lamb), ("impostor_mean", either),
        ):  # fmt: skip
            put(name, mean([a.distance for a in part]))
        for error, side, part, wrong in (
            ("fr", "probe", own, rejected),
            ("fa_as_probe", "probe", wolf, accepted),
            ("fa_as_claimed", "claimed", lamb, accepted),
        ):
            number = sum(getattr(a, side) == subject for a in wrong)
            put(("errors", error), number)
            put(("attempts", error), len(part))
            put(("rate", error), ratio(number, len(part)))
            put(("share", error), ratio(number, len(wrong)))
    for error in ("fr", "fa_as_probe", "fa_as_claimed"):
        numbers = by_subject["errors", error], by_subject["attempts", error]
        out["half_of_errors", error] = fewest_with_half(numbers[0])
        out["all_errors", error], out["all_attempts", error] = map(sum, numbers)
    return out | by_subject


def animals(genuine: Sequence[float], impostor: Sequence[float], quantile: str) -> list[str] | None:
    """The animal of each subject by two mean distances; None where there are too few subjects."""
    complete = [
        i for i in range(len(genuine)) if genuine[i] == genuine[i] and impostor[i] == impostor[i]
    ]
    quarter = math.ceil(Fraction(quantile) * len(complete))
    if 2 * quarter > len(complete):
        return None
    names = []
    for i in range(len(genuine)):
        place = []
        for means in (genuine, [-x for x in impostor]):  # the nearest, the farthest is best
            nearly = 1e-10 * max((abs(means[j]) for j in complete), default=0)
            as_good = sum(means[j] <= means[i] + nearly for j in complete)
            as_bad = sum(means[j] >= means[i] - nearly for j in complete)
            is_best, is_worst = i in complete and as_good <= quarter, as_bad <= quarter
            place.append("best" if is_best else "worst" if i in complete and is_worst else "")
        names.append(
            {
                ("best", "best"): "dove",
                ("worst", "worst"): "worm",
                ("best", "worst"): "chameleon",
                ("worst", "best"): "phantom",
            }.get(tuple(place), "none")
        )
    return names


def half_means(
    people: Sequence[Any],
    probe_half: Sequence[int],
    gallery_half: Sequence[int],
    group: Sequence[int],
    groups: int,
    **case: Any,
) -> dict[str, list[Any]]:
    """Mean distances of each subject over its two halves; wolves and lambs by group of opponents.

    ``goat[subject][half]``, ``wolf[subject][half][group]`` and the same of ``lamb``.
    """
    data = naive.read(**case)
    group_of = dict(zip(people, group, strict=True))
    out: dict[str, list[Any]] = {"goat": [], "wolf": [], "lamb": []}
    for subject in people:
        for halves in out.values():
            halves.append([])
        for half in (0, 1):
            goat = []
            wolf, lamb = ([[] for _ in range(groups)] for _ in range(2))
            for i, row in enumerate(data.rows):
                for cell in row:
                    probe, claimed, distance = data.probe_labels[i], cell.subject, cell.distance
                    if (
                        probe == claimed == subject
                        and probe_half[i] == gallery_half[cell.column] == half
                    ):
                        goat.append(distance)
                    if probe == subject != claimed and probe_half[i] == half:
                        wolf[group_of[claimed]].append(distance)
                    if claimed == subject != probe and gallery_half[cell.column] == half:
                        lamb[group_of[probe]].append(distance)
            out["goat"][-1].append(mean(goat))
            out["wolf"][-1].append([mean(x) for x in wolf])
            out["lamb"][-1].append([mean(x) for x in lamb])
    return out


def products_of_opponents(first: Sequence[Any], second: Sequence[Any], signs: Sequence[int]) -> Any:
    """Sum, over subjects and ordered pairs of different groups, of products of both means.

    Means are whole numbers, less those of all subjects already, and groups have signs.
    """
    return sum(
        int(a[g]) * int(b[h]) * signs[g] * signs[h]
        for a, b in zip(first, second, strict=True)
        for g in range(len(signs))
        for h in range(len(signs))
        if g != h
    )
