"""Slow, readable twin of morphing attacks: loops over morphs, contributors and attempts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def attempts(
    values: Any, probes: Sequence[Any], morph: int, who: Any, kind: str, nan: str,
    sources: Sequence[int] = (),
) -> list[float]:  # fmt: skip
    """The distances of a contributor's attempts against a morph, in row order."""
    found = []
    for i, subject in enumerate(probes):
        score = float(values[i][morph])
        if subject != who or i in sources or (math.isnan(score) and nan == "exclude"):
            continue
        distance = -score if kind == "similarity" else score
        found.append(math.inf if math.isnan(score) else distance)
    return found


def mmpmr(every: Sequence[Sequence[Sequence[float]]], at: float | None) -> Fraction:
    """The proportion of morphs of which every contributor has an accepted attempt."""
    good = 0
    for morph in every:
        good += all(any(at is not None and d <= at for d in one) for one in morph)
    return Fraction(good, len(every))


def prod(every: Sequence[Sequence[Sequence[float]]], at: float | None) -> Fraction:
    """The mean over morphs of the product of the proportions of accepted attempts."""
    total = Fraction(0)
    for morph in every:
        product = Fraction(1)
        for one in morph:
            product *= Fraction(sum(at is not None and d <= at for d in one), len(one))
        total += product
    return total / len(every)


def potential(
    systems: Sequence[Sequence[Sequence[Sequence[float]]]], at: Sequence[float]
) -> list[list[Fraction]]:
    """The morphing attack potential, by attempts and systems."""
    most = min(len(one) for every in systems for morph in every for one in morph)
    table = []
    for least in range(1, most + 1):
        row = []
        for number in range(1, len(systems) + 1):
            good = 0
            for j in range(len(systems[0])):
                count = 0
                for every, t in zip(systems, at, strict=True):
                    count += all(sum(d <= t for d in one[:most]) >= least for one in every[j])
                good += count >= number
            row.append(Fraction(good, len(systems[0])))
        table.append(row)
    return table
