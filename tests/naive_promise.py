"""Slow twins of assured thresholds, from their definitions, by plain loops."""

import math
from collections.abc import Sequence

import numpy as np
from naive_limits import effective, exact
from scipy.stats import norm, t

INF = math.inf


def shares(
    values: np.ndarray, probes: Sequence, gallery: Sequence, threshold: float
) -> dict[frozenset, float]:
    """Proportion accepted of the attempts of each pair of people; NaN is not an attempt."""
    accepted: dict[frozenset, int] = {}
    attempts: dict[frozenset, int] = {}
    for i, a in enumerate(probes):
        for b in sorted(set(gallery), key=str):
            if a == b:
                continue
            own = [values[i][j] for j in range(len(gallery)) if gallery[j] == b]
            own = [x for x in own if not math.isnan(x)]
            pair = frozenset([a, b])
            for x in own:
                attempts[pair] = attempts.get(pair, 0) + 1
                accepted[pair] = accepted.get(pair, 0) + (x <= threshold)
    return {pair: accepted[pair] / attempts[pair] for pair in attempts}


def mean(found: dict[frozenset, float]) -> float:
    return sum(found.values()) / len(found)


def people_of(found: dict[frozenset, float]) -> list:
    return sorted({x for pair in found for x in pair}, key=str)


def without(found: dict[frozenset, float], person: object) -> float:
    return mean({pair: h for pair, h in found.items() if person not in pair})


def doubled(found: dict[frozenset, float], people: Sequence | None = None) -> float:
    """Mean with the two of the people counted twice without whom it is the smallest."""
    left = {name: without(found, name) for name in people or people_of(found)}
    twice = sorted(left, key=lambda name: (left[name], str(name)))[:2]
    part, whole = sum(found.values()), float(len(found))
    for name in twice:
        own = [h for pair, h in found.items() if name in pair]
        part, whole = part + sum(own), whole + len(own)
    return part / whole


def estimated(
    u: float, q: float, left_out: Sequence[float], number: int, m: int, delta: float, sides: int
) -> float:
    """Upper limit of a mean `u`, that is `q` with two people counted twice."""
    if u == 0:
        return 1 - delta ** (1 / m)
    known, trials = effective([u, *left_out], delta, sides), float(m)
    if known is not None:
        ratio = norm.ppf(1 - delta) / t.ppf(1 - delta, len(left_out) - 1)
        trials = known.least if known.known else known.alone * ratio**2
    return exact(q, min(max(trials, min(m, number)), number), delta)[1]


def attainable(values: np.ndarray, probes: Sequence, gallery: Sequence) -> list[float]:
    """Reject-all, then each distinct score of either class; NaN where there is no attempt."""
    return [-INF, *sorted({x for x in np.ravel(values).tolist() if math.isfinite(x)})]
