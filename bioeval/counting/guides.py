"""Guides by which scores are found among many thresholds, without a long search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# The smallest and the largest number of cells of a guide, which has about four for each threshold.
LEAST_GUIDE = 1 << 12
LARGEST_GUIDE = 1 << 20


def indices_among(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return ``thresholds.searchsorted(values)``, faster for many values in no order.

    No value may be NaN.
    """
    values = values.astype(np.float64, copy=False)
    base, scale, first = guide_to(thresholds)
    with np.errstate(all="ignore"):  # all values are in cell 0 if the scale is 0
        cell = np.fmin(np.fmax((values - base) * scale, 0), len(first) - 2)
    index = first[cell.astype(np.int64)]
    ends = np.append(thresholds, np.inf)
    too_early = np.flatnonzero(ends[index] < values)
    for _ in range(3):
        index[too_early] += 1
        too_early = too_early[ends[index[too_early]] < values[too_early]]
    index[too_early] = thresholds.searchsorted(values[too_early])
    return index


class Guide(NamedTuple):
    """The arguments by which the kernel `threshold_of` finds a score among thresholds."""

    base: float
    scale: float
    first: np.ndarray  # int64: the index of the first threshold in each cell, and the end


def guide_to(thresholds: np.ndarray) -> Guide:
    cells = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(cells - 1) / (finite[-1] - base))
        cell = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale = 0.0
        cell = np.zeros(len(thresholds))
    cell = np.where(cell > 0, np.minimum(cell, cells - 1), 0).astype(np.int64)
    return Guide(base, scale, np.searchsorted(cell, np.arange(cells + 1)))
