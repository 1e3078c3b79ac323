"""Thresholds for attempts whose scores are any comparison of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.scores.blocks import BlockReader
from bioeval.tallies.cells import cell_exponent
from bioeval.tallies.counters import finite_range
from bioeval.tallies.thresholds import (
    DEFAULT_COUNT,
    check_thresholds,
    default_grid,
    linear_grid,
    to_internal,
    with_infinities,
)


def grid_over(reader: BlockReader, thresholds: Any, count: int = DEFAULT_COUNT) -> np.ndarray:
    """Return thresholds as increasing distances.

    Given ones, or about `count` (or a given number) from the smallest to the largest finite
    score, which requires a pass over all scores.
    """
    given = check_thresholds(thresholds)
    if isinstance(given, np.ndarray):
        return to_internal(given, reader.scores.kind)
    low, high, negative, positive = score_range(reader)
    if given is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count)
    else:
        grid = linear_grid(low, high, given)
    return with_infinities(grid, negative, positive)


def score_range(reader: BlockReader) -> tuple[float, float, bool, bool]:
    """Return the smallest and largest finite distance, and whether -inf and +inf occur."""
    low, high, infinite = np.inf, -np.inf, [False, False]
    for block in reader:
        values, position = block.values, block.self_position
        start, stop = np.maximum(position, 0), position + 1  # the probe itself is never read
        least, most = finite_range(values, start, stop)
        low, high = min(low, least), max(high, most)
        rows = np.nonzero(position >= 0)[0]
        for i, end in enumerate((-np.inf, np.inf)):
            if not infinite[i]:
                itself = values[rows, position[rows]] == end
                infinite[i] = bool((values == end).sum() > itself.sum())
    return low, high, infinite[0], infinite[1]
