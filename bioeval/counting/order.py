"""Numbers in increasing order: sorting, distinct values, and the next value above a threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

# The fewest scores worth the cells; the number of cells; the share of scores in a cell, as one in
# FILLED, that is too large; and ranges in which no product is too large.
MANY = 1 << 13
CELLS = (1 << 16) - 1
FILLED = 64
NARROW = 1e-30
WIDE = 1e30


def next_among(thresholds: Any, *ordered: np.ndarray) -> list[np.ndarray]:
    """Return the first score above each threshold in every array of increasing scores.

    Infinity where there is none, NaN of NaN.
    """
    limits = np.asarray(thresholds, dtype=np.float64)
    after = [np.append(x, np.inf)[x.searchsorted(limits, side="right")] for x in ordered]
    return [np.where(np.isnan(limits), np.nan, x) for x in after]


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN.

    NumPy sorts numbers of 16 bits many times as fast as floats, and nearly ordered numbers, too.
    """
    scores = scores[~np.isnan(scores)]
    if len(scores) < MANY or scores.dtype not in (np.float32, np.float64):
        return np.sort(scores)
    low = scores.min()
    width = float(scores.max()) - float(low)
    if not NARROW < width < WIDE:
        return np.sort(scores)
    cell = ((scores - low) * (CELLS / width)).astype(np.uint16)
    if np.bincount(cell[:: len(cell) // MANY]).max() > MANY // FILLED:  # most are in few cells
        return np.sort(scores)
    nearly = scores[np.argsort(cell, kind="stable")]
    nearly.sort(kind="stable")
    return nearly


def distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return ordered[run_bounds(ordered)[:-1]]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, and their first places and the end."""
    bounds = run_bounds(ordered)
    return ordered[bounds[:-1]], bounds


def run_bounds(ordered: np.ndarray) -> np.ndarray:
    """Return the first place of each distinct value of an increasing array, and the end."""
    first = np.ones(len(ordered) + 1, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    return np.flatnonzero(first)
