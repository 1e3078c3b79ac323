"""Numbers in increasing order: sorting, and distinct values."""

from __future__ import annotations

import numpy as np

MANY = 1 << 13  # the fewest scores that are sorted by cells first
CELLS = (1 << 16) - 1
LARGEST_SHARE = 1 / 64  # the largest share of the scores in one cell, for which cells pay
NARROW, WIDE = 1e-30, 1e30  # ranges of scores in which no product overflows


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN.

    Scores are sorted by cells of 16 bits first: NumPy sorts such numbers many times as fast as
    floats, and then nearly sorted floats, too.
    """
    is_missing = np.isnan(scores)
    if is_missing.any():
        scores = scores[~is_missing]
    if len(scores) < MANY or scores.dtype not in (np.float32, np.float64):
        return np.sort(scores)
    low = scores.min()
    width = float(scores.max()) - float(low)
    if not NARROW < width < WIDE:
        return np.sort(scores)
    cells = ((scores - low) * (CELLS / width)).astype(np.uint16)
    if np.bincount(cells[:: len(cells) // MANY]).max() > MANY * LARGEST_SHARE:
        return np.sort(scores)
    nearly_sorted = scores[np.argsort(cells, kind="stable")]
    nearly_sorted.sort(kind="stable")
    return nearly_sorted


def distinct(ordered: np.ndarray) -> np.ndarray:
    return ordered[run_bounds(ordered)[:-1]]


def runs(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values of an increasing array, their first indices, and the end."""
    bounds = run_bounds(ordered)
    return ordered[bounds[:-1]], bounds


def run_bounds(ordered: np.ndarray) -> np.ndarray:
    """Return the first index of each distinct value of an increasing array, and the end."""
    is_first = np.ones(len(ordered) + 1, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:-1])
    return np.flatnonzero(is_first)
