"""Slow twin of limits along a curve where few people err, by plain loops over people and places."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence

import scipy

TINY = 1e-9


def clopper_pearson(rate: float, n: float, confidence: float) -> tuple[float, float]:
    """The limits of a rate of `n` independent attempts; `n` need not be whole."""
    if not n:
        return math.nan, math.nan
    x, tail = min(rate * n, n), (1 - confidence) / 2
    low = float(scipy.special.betaincinv(x, n - x + 1, tail)) if x > TINY else 0.0
    high = float(scipy.special.betaincinv(x + 1, n - x, 1 - tail)) if n - x > TINY else 1.0
    return low, high


def effective(
    errors: Mapping[Hashable, float], attempts: Mapping[Hashable, float], pairs: bool = False
) -> float | None:
    """The effective number of attempts, from the errors and attempts of each person.

    With `pairs` those of each pair of people, a tuple. None where the correlation is not seen.
    """
    n, found = sum(attempts.values()), sum(errors.values())
    both = {"same": [0.0, 0.0], "sharing": [0.0, 0.0], "apart": [0.0, 0.0]}
    for a in attempts:
        for b in attempts:
            if a == b:  # two different attempts of the same
                key, e, m = "same", errors[a] ** 2 - errors[a], attempts[a] ** 2 - attempts[a]
            else:
                shared = pairs and bool(set(a) & set(b))
                key = "sharing" if shared else "apart"
                e, m = errors[a] * errors[b], attempts[a] * attempts[b]
            both[key][0] += e
            both[key][1] += m
    if both["apart"][1] <= 0:
        return None
    rate, chance = found / n, both["apart"][0] / both["apart"][1]
    if rate - chance <= 0:
        return None
    inflation = 1.0
    for key in ("same", "sharing"):
        e, m = both[key]
        if m > 0:
            correlation = min(max((e / m - chance) / (rate - chance), 0.0), 1.0)
            inflation += m / n * correlation
    return n / inflation


def disjoint(pairs: Collection[tuple[int, int]]) -> float:
    """How many disjoint pairs of people err; three who are all taken for each other: 1.5.

    Half of the most people that can each be given another with whom they err, no two the same.
    """
    people = {x for pair in pairs for x in pair}
    given: dict[int, int] = {}

    def give(a: int, tried: set[int]) -> bool:
        for b in people - tried:
            if (a, b) in pairs or (b, a) in pairs:
                tried.add(b)
                if b not in given or give(given[b], tried):
                    given[b] = a
                    return True
        return False

    return sum(give(a, set()) for a in people) / 2


def limits_along(
    hits: Mapping[Hashable, Sequence[tuple[float, float]]],
    attempts: Mapping[Hashable, float],
    trials: int,
    points: Sequence[tuple[float, float, float]],
    confidence: float = 0.95,
    copies: int = 1,
    pairs: bool = False,
    proportion: float = 1.0,
) -> list[tuple[float, float]]:
    """The limits at points (place, low, high) of a curve, the latter those where many people err.

    Given are the place and the weight of each hit of each person (pair of people). The rate at a
    place is the proportion of attempts that are hits up to it.
    """
    attempts = {a: n / copies for a, n in attempts.items() if n}
    total = sum(attempts.values())
    if not total:
        return [(math.nan, math.nan)] * len(points)
    every = {place for some in hits.values() for place, _ in some}
    places = sorted({-math.inf, *every, *(p for p, _, _ in points)})
    taken = {
        t: {a: sum(w for p, w in hits.get(a, ()) if p <= t) / copies for a in attempts}
        for t in places
    }
    taken["none"] = dict.fromkeys(attempts, 0.0)
    places.insert(0, "none")
    missed = {t: {a: attempts[a] - x[a] for a in attempts} for t, x in taken.items()}
    rate = {t: sum(x.values()) / total for t, x in taken.items()}

    def enough(errors):
        erring = [a for a, x in errors.items() if x > TINY]
        if pairs:
            return trials >= 5 and disjoint(erring) >= min(trials, 10)
        return len(erring) >= 5

    # The nearest place, of each kind of error, at which enough err.
    number = {}
    for kind, errors, order in (("hit", taken, places), ("miss", missed, places[::-1])):
        found = [t for t in order if enough(errors[t])]
        n = effective(errors[found[0]], attempts, pairs) if found else None
        number[kind] = (trials, True) if n is None else (n * proportion, False)
    limits = {t: [] for t in places}
    for t in places:
        for kind, errors, r in (("hit", taken[t], rate[t]), ("miss", missed[t], 1 - rate[t])):
            if enough(errors):
                continue
            n, by_people = number[kind]
            low, high = clopper_pearson(max(r, 0.0), n, confidence)
            bound = 1 - (1 - confidence) ** (1 / n) if n else math.nan
            if by_people and r < TINY:
                high = bound
            if by_people and r > 1 - TINY:
                low = 1 - bound
            limits[t].append((low, high) if kind == "hit" else (1 - high, 1 - low))
    known = []
    for t in places:
        if limits[t]:
            known.append((rate[t], min(x[0] for x in limits[t]), max(x[1] for x in limits[t])))
    known += [(rate[p], low, high) for p, low, high in points if not limits[p]]
    known = [x for x in known if not math.isnan(x[1])]
    out = []
    for place, low, high in points:
        r = rate[place]
        if limits[place]:
            low, high = min(x[0] for x in limits[place]), max(x[1] for x in limits[place])
        if not math.isnan(low):
            low = min([low, *(x[1] for x in known if x[0] >= r - TINY)])
            high = max([high, *(x[2] for x in known if x[0] <= r + TINY)])
        out.append((low, high))
    return out
