"""Numbers in increasing order: sorting, and distinct values."""

from __future__ import annotations

import numpy as np


def increasing(scores: np.ndarray) -> np.ndarray:
    """Return scores in increasing order, without NaN."""
    is_missing = np.isnan(scores)
    return np.sort(scores[~is_missing] if is_missing.any() else scores)


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
