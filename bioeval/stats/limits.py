"""Confidence limits of rates, and counts by subject between thresholds."""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.stats.options import IntervalMethod, Limits


def normal_limits(rate: np.ndarray, spread: np.ndarray, options: IntervalMethod) -> Limits:
    """Return the limits of a normal interval, clipped to [0, 1]."""
    half = float(scipy.special.ndtri(0.5 + options.confidence / 2)) * spread
    return np.clip(rate - half, 0.0, 1.0), np.clip(rate + half, 0.0, 1.0)


def by_subject(
    values: np.ndarray,
    subjects: np.ndarray,
    thresholds: np.ndarray,
    number: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the number of values of each subject between consecutive increasing thresholds.

    Row ``i`` of the result, of shape (t + 1, number), is above ``thresholds[i - 1]`` and not above
    ``thresholds[i]``; `number` is that of the subjects.
    """
    layer = np.searchsorted(thresholds, values)
    size = (len(thresholds) + 1) * number
    counts = np.bincount(layer * number + subjects, weights, minlength=size)
    return counts.reshape(len(thresholds) + 1, number)
