"""Thresholds for attempts that may have the score of any comparison of the matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.cells import cell_exponent
from bioeval.tallies.counters import ImpostorBlock, extent_of
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
    low, high, negative, positive = extent_of(reader, _others)
    if given is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count)
    else:
        grid = linear_grid(low, high, given)
    return with_infinities(grid, negative, positive)


def _others(block: Block) -> list[ImpostorBlock]:
    """Return all comparisons of a block except those of a probe with itself."""
    position = block.self_position
    return [(block.values, np.maximum(position, 0), position + 1)]
