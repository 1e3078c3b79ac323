"""What is found of rows, in their order, and the extent of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.kernels import count as kernel


@dataclass(frozen=True, eq=False)
class ConcatenatedRows:
    """Arrays of blocks of rows, in the order of the rows."""

    arrays: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, *arrays: np.ndarray) -> ConcatenatedRows:
        """Return concatenated arrays."""
        return cls(arrays)

    def merge(self, other: ConcatenatedRows) -> ConcatenatedRows:
        """Return these arrays followed by those of later rows."""
        return ConcatenatedRows((*self.arrays, *other.arrays))

    def array(self) -> np.ndarray:
        """Return the arrays as one."""
        return self.arrays[0] if len(self.arrays) == 1 else np.concatenate(self.arrays)


@dataclass(frozen=True)
class Extent:
    """The smallest and the largest finite score; (inf, -inf) without any."""

    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: np.ndarray, mate_start: np.ndarray, mate_stop: np.ndarray) -> Extent:
        """Return the extent of a block of rows, without those of each row's own subject."""
        if not values.size:
            return cls()
        lows, highs = np.empty(len(values)), np.empty(len(values))
        kernel.finite_range(values, mate_start, mate_stop, lows, highs)
        return cls(float(lows.min()), float(highs.max()))

    def merge(self, other: Extent) -> Extent:
        """Return the extent of both."""
        return Extent(min(self.low, other.low), max(self.high, other.high))
