"""Cells of one width with exact edges, for curves and histograms (tiles are counted in others).

A cell is ``((k - 1) w, k w]`` with ``w = 2 ** exponent``: its edges are exact floats, a score's
cell is found without rounding, and two neighbours make one cell of the next exponent. That is why
counts over parts of the data can be joined into those of the whole.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

# Finest cells of a count: at most this many between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


@dataclass(frozen=True)
class CellGrid:
    """Consecutive cells of one width: cell ``k`` is ``((k - 1) w, k w]``, ``w = 2 ** exponent``."""

    exponent: int
    first: int
    count: int

    @classmethod
    def covering(cls, low: float, high: float) -> CellGrid:
        """Return the narrowest cells, at most `CELLS` of them, that cover ``low..high``."""
        exponent = cell_exponent(low, high)
        first = cell_of(low, exponent)
        return cls(exponent, first, cell_of(high, exponent) - first + 1)

    @property
    def edges(self) -> np.ndarray:
        """The upper edge of each cell; infinite past the largest float."""
        return self.boundaries[1:]

    @property
    def boundaries(self) -> np.ndarray:
        """All edges of the cells, including the lower edge of the first."""
        numbers = self.first - 1 + np.arange(self.count + 1, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.ldexp(numbers, self.exponent)

    def places_of(self, values: np.ndarray) -> np.ndarray:
        """Return the place of each value's cell, 0 for the first cell, as a float.

        Places outside the grid are returned as they are; infinite values have infinite ones.
        """
        with np.errstate(over="ignore"):
            k = np.ceil(np.ldexp(values, -self.exponent))
            return k + (np.ldexp(k, self.exponent) < values) - self.first


@dataclass
class CellCounts:
    """Scores counted into the cells of a :class:`CellGrid`, and infinite ones.

    The exponent is the least whose cells cover the scores (:func:`cell_exponent`); it follows
    from the scores alone, so merged counts have the very cells that counting everything at once
    would have had. The first and the last cell are not empty.
    """

    exponent: int = 0
    first: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    negative_infinite: int = 0
    positive_infinite: int = 0

    @classmethod
    def of(
        cls, upper: np.ndarray, counts: np.ndarray, least: np.ndarray, *infinite: int
    ) -> CellCounts:
        """Return about how many scores are in cells: those up to each of increasing numbers.

        The cells begin at the `least` score, if one is given.
        """
        if not len(upper):
            return cls(0, 0, np.zeros(0, np.int64), *infinite)
        grid = CellGrid.covering(float(min([*least, upper[0]])), float(upper[-1]))
        places = np.clip(grid.places_of(upper), 0, grid.count - 1).astype(np.int64)
        in_cells = np.bincount(places, counts, minlength=grid.count).astype(np.int64)
        return cls(grid.exponent, grid.first, in_cells, *infinite)

    @property
    def grid(self) -> CellGrid:
        """The cells."""
        return CellGrid(self.exponent, self.first, len(self.counts))

    @property
    def total(self) -> int:
        """The number of scores counted."""
        return int(self.counts.sum()) + self.negative_infinite + self.positive_infinite

    @property
    def range(self) -> tuple[float, float]:
        """Upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.grid.edges[[0, -1]].tolist()
        # Past the largest float there is no finite edge, nor a finite score.
        return low, min(high, sys.float_info.max)

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers below and above all finite scores, which are counted to about a cell."""
        low, high = self.range
        return low - math.ldexp(3.0, self.exponent), high + math.ldexp(2.0, self.exponent)


def cell_exponent(low: float, high: float, cells: int = CELLS) -> int:
    """Return the exponent of the narrowest cells that cover ``low..high`` in `cells` cells.

    It depends on the range alone and grows with it.
    """
    largest = max(abs(low), abs(high))
    least = LEAST_EXPONENT
    if largest > 0:
        # Edges must be exact: no finer than the spacing of floats at the largest score.
        least = max(least, math.frexp(largest)[1] - 53)
    exponent = least
    span = math.ldexp(high / 2.0 - low / 2.0, 1 - least) if high > low else 0.0
    if span >= cells:
        exponent = max(least, least + math.frexp(span / cells)[1] - 1)
    while cell_of(high, exponent) - cell_of(low, exponent) >= cells:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < cells:
        exponent -= 1
    return exponent


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]]) -> int:
    """Return the least exponent, at least the one given, such that cells cover all the ranges.

    That of two parts joined is that of the whole, however the whole was divided.
    """
    ranges = [(low, high) for low, high in ranges if low <= high]
    if not ranges:
        return exponent
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    return exponent


def cell_of(value: float, exponent: int) -> int:
    """Return the number ``k`` of the cell ``((k - 1) 2**e, k 2**e]`` of a finite value."""
    k = math.ceil(math.ldexp(value, -exponent))
    if edge_of(k, exponent) < value:
        return k + 1
    return k


def edge_of(k: int, exponent: int) -> float:
    """Return the upper edge of cell `k`; infinite past the largest float."""
    try:
        return math.ldexp(float(k), exponent)
    except OverflowError:
        return math.copysign(math.inf, k)


def is_accepted(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return which distances a threshold accepts, compared without rounding; NaN accepts none.

    A plain ``distances <= threshold`` rounds a threshold that is no array to the dtype of the
    distances: 5e-324 becomes 0 beside float32.
    """
    return distances <= rounded_down(np.array([threshold]), distances.dtype)


def rounded_down(ends: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the largest numbers of a dtype that are not above the ends.

    A score of the dtype is above the one exactly when it is above the other, so that intervals
    keep their meaning.
    """
    with np.errstate(over="ignore"):
        near = ends.astype(dtype)
        return np.where(near > ends, np.nextafter(near, dtype.type(-np.inf)), near)
