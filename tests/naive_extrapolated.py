"""Slow twin of FAR below what the people support, from its definition, by plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

# Distance, both people: one for each unordered pair of templates of different people.
Pairs = list[tuple[float, object, object]]


def impostors(values: np.ndarray, labels: Sequence) -> Pairs:
    """The pairs of a symmetric matrix."""
    n = len(labels)
    return [
        (float(values[i][j]), labels[i], labels[j])
        for i in range(n)
        for j in range(i + 1, n)
        if labels[i] != labels[j]
    ]


def end_of_tail(pairs: Pairs, proportion: float) -> float:
    """The smallest distance with this proportion of the attempts."""
    every = sorted(d for d, _, _ in pairs)
    for number, d in enumerate(every, 1):
        if number >= proportion * len(every) * (1 - 1e-12):
            return d
    raise AssertionError


def log_far(pairs: Pairs, u: float, threshold: float) -> float:
    tail = [d for d, _, _ in pairs if d <= u]
    a = len(tail) / sum(math.log(u / d) for d in tail)
    return math.log(len(tail) / len(pairs)) + a * math.log(threshold / u)


def power_law(pairs: Pairs, threshold: float, confidence: float) -> tuple[float, float, float]:
    """FAR and its limits, for all-against-all."""
    people = sorted({x for _, a, b in pairs for x in (a, b)})
    n = len(people)
    found = []
    for proportion in (0.01, 0.03):
        u = end_of_tail(pairs, proportion)
        without = [
            log_far([p for p in pairs if person not in p[1:]], u, threshold) for person in people
        ]
        middle = sum(without) / n
        s = math.sqrt((n - 1) / n * sum((x - middle) ** 2 for x in without))
        if s > 1.5:
            return math.nan, math.nan, math.nan
        q = student.ppf((1 + confidence) / 2, n - 1)
        far = log_far(pairs, u, threshold)
        found.append((far, far - q * s, far + q * s))
    return (
        math.exp((found[0][0] + found[1][0]) / 2),
        math.exp(min(found[0][1], found[1][1])),
        math.exp(max(found[0][2], found[1][2])),
    )


def generalised_pareto(pairs: Pairs, threshold: float, confidence: float, weights: dict) -> float:
    """Upper limit; the weights of each person are a list with one number for each replicate."""
    u = end_of_tail(pairs, 0.03)
    drawn = []
    for b in range(len(next(iter(weights.values())))):
        whole, y = 0.0, []
        for d, one, other in pairs:
            copies = int(weights[one][b] * weights[other][b])
            whole += copies
            if d <= u:
                y += [u - d] * copies
        y.sort()
        k = len(y)
        a0 = sum(y) / k
        a1 = sum(x * (k - i) / (k - 1) for i, x in enumerate(y, 1)) / k
        shape, scale = a0 / (a0 - 2 * a1) - 2, 2 * a0 * a1 / (a0 - 2 * a1)
        inside = 1 - shape * (u - threshold) / scale
        drawn.append(k / whole * inside ** (1 / shape) if inside > 0 else 0.0)
    return float(np.quantile(drawn, (1 + confidence) / 2))
