"""Sizes of galleries, and thresholds of attempts with the score of any comparison of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import Argument, DataError
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


def check_sizes(sizes: Any, what: str) -> np.ndarray:
    """Return given sizes of galleries, numbers of `what`, as increasing int64."""
    array = np.atleast_1d(require_array("sizes", sizes))
    whole = array.dtype.kind in "iu" and array.ndim == 1 and len(array) > 0
    if not whole or (array < 1).any() or (array[1:] <= array[:-1]).any():
        raise DataError(
            f"{Argument('sizes')} is {sizes!r}; expected increasing whole numbers of {what} from "
            "1 up"
        )
    return array.astype(np.int64)


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
