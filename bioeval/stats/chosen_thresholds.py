"""Limits of rates whose threshold is chosen on the data: the EER, and rates at a target.

The threshold is chosen anew without each person. Where few people err that says little: then a rate
has its limits at the threshold, and what it is where the rate that chose the threshold is at its
own limits, which add up.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bioeval.counting.by_subject import SubjectAttempts
from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.limits import Limits, RateCurve, chosen_anew, moved_by_many, of_sum, student


def marks_of(distances: np.ndarray) -> np.ndarray:
    """Return increasing distances along a curve: all finite ones, or of many some.

    Some are the outermost at either end, then by a constant factor of how many are beyond.
    """
    every = np.sort(distances[np.isfinite(distances)])
    if len(np.unique(every)) > SubjectAttempts.EXACT:
        level = np.ceil(SubjectAttempts.levels(len(every))).astype(np.int64)
        level = level[level <= len(every)]
        every = every[np.append(level - 1, len(every) - level)]
    return np.unique(every)


def at_equal_error(
    columns: np.ndarray, curve: ErrorColumns, far: RateCurve, frr: RateCurve, confidence: float
) -> Limits:
    """Return the limits of the EER, or of that on the hull, `columns` (1 + people,).

    Where few people err they are where the limits of FAR cross those of FRR.
    """
    at = curve.far[:, 0], curve.frr[:, 0]
    if np.isnan(columns[0]) or not len(at[0]):
        return np.array(np.nan), np.array(np.nan)
    ends = (np.column_stack(x.at(rate)) for x, rate in zip((far, frr), at, strict=True))
    few = ErrorColumns(next(ends), next(ends)).equal_error()
    if moved_by_many(curve.frr[np.argmax(at[0] >= at[1])]):
        return chosen_anew(columns, (few[0], few[1]), confidence)
    return np.minimum(few[0], columns[0]), np.maximum(few[1], columns[0])


def at_target(
    columns: np.ndarray,
    errors: np.ndarray,
    wanted: RateCurve,
    other: Limits,
    rate_at: Callable[[float], float],
    confidence: float,
) -> tuple[float, float]:
    """Return the limits of a rate where another one has a target, `columns` (1 + people,).

    - `errors` (1 + people,): the rate at the threshold that has the target on the data
    - `other`: limits of the other rate at this threshold
    - `rate_at`: the rate on the data, where the other one has any value
    """
    value = float(columns[0])
    fixed = wanted.at(np.array(value))
    if np.isnan(fixed[0]):
        return np.nan, np.nan
    low, high = (float(x) for x in student(columns, confidence))
    if moved_by_many(errors) and np.isfinite(low) and np.isfinite(high):
        return min(low, value), max(high, value)
    strict, loose = (rate_at(float(x)) for x in other)
    moved = 0.0, min(loose - value, 0.0), max(strict - value, 0.0)
    below, above = of_sum((value, fixed[0], fixed[1]), moved, least=0.0)
    return float(below), min(float(above), 1.0)
