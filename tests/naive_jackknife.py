"""Slow twin of limits from the rates without each person, by plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import scipy
from naive_few_errors import clopper_pearson


def limits(
    rate: float,
    without: Sequence[float],
    trials: int,
    confidence: float = 0.95,
    fewest: float = math.inf,
) -> tuple[float, float]:
    """The limits of a rate, from those `without` each person."""
    widest = clopper_pearson(rate, trials, confidence)
    n = len(without)
    if min(n, fewest) < 2 or not all(0 < x < 1 for x in (rate, *without)):
        return widest
    logits = [math.log(x / (1 - x)) for x in without]
    mean = sum(logits) / n
    away = [(x - mean) ** 2 for x in logits]
    if not sum(away) > 1e-20:
        return widest
    # The variance of a variance that is estimated from these deviations.
    fourth = sum(x**2 for x in away) - sum(away) ** 2 / n
    freedom = min(n, fewest) - 1
    if fourth > 0:
        freedom = min(2 * sum(away) ** 2 / fourth, freedom)
    t = scipy.stats.t.ppf(0.5 + confidence / 2, freedom)
    half = t * math.sqrt((n - 1) / n * sum(away))
    middle = math.log(rate / (1 - rate))
    low, high = (1 / (1 + math.exp(-x)) for x in (middle - half, middle + half))
    return max(low, widest[0]), min(high, widest[1])
