"""Cells that scores are counted in: runs of float bits, and cells of one width.

Scores are counted in :class:`BitCells`: no range need be known, and the counts of parts of the data
add up. The default thresholds lie on the edges of :class:`EvenCells`, to which counts by runs of
bits are added up at the end. All scores are distances. A cell has its upper edge, and not its lower
one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval.counting.floats import float_of, ordinals_of, rounded_down
from bioeval.kernels import verification as kernel
from bioeval.kernels.cells import LEAST, SPAN

# ------------------------------------------------------------------------------------ runs of bits

# The number of cells over all keys: their ends are the thresholds of the curve, whatever the cells
# of the scores.
EVERY_KEY = 1 << 21

# The key of the largest float32.
LARGEST_KEY = 0x7F7FFFFF


@dataclass(frozen=True, eq=False)
class BitCells:
    """Runs of the bits of float32 differences from a centre; see :mod:`bioeval.kernels.cells`.

    Cell `number` has all scores above the cells, and cell ``number + 1`` all NaN.

    - `low`: the key from which cells begin
    - `shift`: the bits of keys that cells leave out
    """

    dtype: np.dtype  # of the scores
    centre: Any  # of the dtype
    low: np.int32
    shift: np.uint32
    number: np.uint32

    @classmethod
    def spanning(
        cls,
        dtype: np.dtype,
        centre: Any,
        low: int = LEAST,
        span: int = SPAN,
        number: int = EVERY_KEY,
    ) -> Self:
        """Return about `number` cells over a span of keys; over all keys by default."""
        shift = max(0, (span // number).bit_length())
        span += low - (low >> shift << shift)
        low = low >> shift << shift  # so that the ends of cells are short numbers
        return cls(dtype, centre, np.int32(low), np.uint32(shift), np.uint32((span >> shift) + 1))

    @property
    def window(self) -> tuple[np.int32, np.uint32, np.uint32]:
        """The cells as the loops take them."""
        return self.low, self.shift, self.number

    def places_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the number of each score's cell (int64)."""
        cell = np.empty(len(scores), dtype=np.uint32)
        same_dtype = np.ascontiguousarray(scores, dtype=self.dtype)
        kernel.cells_of(same_dtype, self.centre, self.window, cell)
        return cell.astype(np.int64)

    def approximate_edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the largest score (float64) of each cell, but for rounding by the centre."""
        key = np.minimum(int(self.low) + ((cells + 1) << int(self.shift)), LARGEST_KEY)
        bits = np.where(key >= 0, key, -key | (1 << 31)).astype(np.uint32)
        return bits.view(np.float32).astype(np.float64) + float(self.centre)

    def edges(self, cells: np.ndarray) -> np.ndarray:
        """Return the largest score (float64) of each cell: the threshold that accepts it whole.

        The cell of a score never falls as the score grows, so that bisection finds the ends.
        """
        # Of all float64: near a centre that is not 0, steps of scores are far below steps of keys.
        low, high = (np.full(len(cells), x) for x in ordinals_of(np.array([-np.inf, np.inf])))
        while (low < high).any():
            # The mean, rounded up; the sum of both would overflow.
            between = (low >> 1) + (high >> 1) + ((low | high) & 1)
            is_inside = self.places_of(rounded_down(float_of(between), self.dtype)) <= cells
            low, high = np.where(is_inside, between, low), np.where(is_inside, high, between - 1)
        return float_of(low)


# ------------------------------------------------------------------------------ cells of one width

# Finest cells of a count: at most this many between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


@dataclass(frozen=True)
class EvenCells:
    """Consecutive cells of one width: cell ``k`` is ``((k - 1) w, k w]``, ``w = 2 ** exponent``.

    Edges are exact floats, the cell of a score is found without rounding, and two neighbours make
    one cell of the next exponent: counts over parts of the data add up to the counts of the whole.
    """

    exponent: int = 0
    first: int = 0
    count: int = 0

    @classmethod
    def covering(cls, low: float, high: float) -> EvenCells:
        """Return the narrowest cells, at most `CELLS` of them, that cover ``low..high``."""
        exponent = cell_exponent(low, high)
        first = cell_of(low, exponent)
        return cls(exponent, first, cell_of(high, exponent) - first + 1)

    @property
    def edges(self) -> np.ndarray:
        """The upper edge of each cell; infinite past the largest float."""
        numbers = self.first + np.arange(self.count, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.ldexp(numbers, self.exponent)

    def places_of(self, values: np.ndarray) -> np.ndarray:
        """Return the place of each value's cell, 0 for the first cell, as a float.

        Places outside the cells are returned as they are; infinite values have infinite places.
        """
        with np.errstate(over="ignore"):
            k = np.ceil(np.ldexp(values, -self.exponent))
            return k + (np.ldexp(k, self.exponent) < values) - self.first


@dataclass
class EvenCounts:
    """Scores counted in the narrowest :class:`EvenCells` that cover them, and infinite scores.

    The cells follow from the scores alone, so that counts of parts have the cells of the whole.
    The first and the last cell are not empty.
    """

    cells: EvenCells
    counts: np.ndarray
    negative_infinite: int
    positive_infinite: int

    @classmethod
    def from_upper(
        cls, upper: np.ndarray, counts: np.ndarray, least: np.ndarray, *infinite: int
    ) -> EvenCounts:
        """Return counts by cell of scores up to increasing numbers `upper`, to about a cell.

        The cells begin at the `least` score, if there is one.
        """
        if not len(upper):
            return cls(EvenCells(), np.zeros(0, np.int64), *infinite)
        cells = EvenCells.covering(float(min([*least, upper[0]])), float(upper[-1]))
        places = np.clip(cells.places_of(upper), 0, cells.count - 1).astype(np.int64)
        by_cell = np.bincount(places, counts, minlength=cells.count).astype(np.int64)
        return cls(cells, by_cell, *infinite)

    @property
    def range(self) -> tuple[float, float]:
        """Upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.cells.edges[[0, -1]].tolist()
        # Past the largest float there is no finite edge, nor a finite score.
        return low, min(high, sys.float_info.max)

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers below and above all finite scores, which are counted to about a cell."""
        low, high = self.range
        exponent = self.cells.exponent
        return low - math.ldexp(3.0, exponent), high + math.ldexp(2.0, exponent)


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
        exponent = least + math.frexp(span / cells)[1] - 1
    while cell_of(high, exponent) - cell_of(low, exponent) >= cells:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < cells:
        exponent -= 1
    return exponent


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]]) -> int:
    """Return the least exponent, not below `exponent`, whose cells cover all the ranges.

    However the data are divided, the exponent of the joined parts is the exponent of the whole.
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
    k = math.ceil(math.ldexp(value, -exponent))  # exact, unless it is 0 for want of digits
    return 1 if k == 0 and value > 0 else k
