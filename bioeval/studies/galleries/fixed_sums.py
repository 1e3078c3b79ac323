"""Sums of chances that add up exactly, in any order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.studies.galleries import kernel

# A chance is a multiple of 2^-60. The last 30 bits are summed separately, so that neither sum
# overflows before 2^33 chances.
BITS, SHIFT = 60, 30


@dataclass
class FixedSums:
    """A table of sums of numbers from 0 to 1 as whole numbers: ``(high 2**30 + low) 2**-60``.

    Floats added in another order give another last digit; integers do not. So the sums of two sets
    of probes add up to the sum over both, exactly.
    """

    high: np.ndarray
    low: np.ndarray

    @classmethod
    def zeros(cls, rows: int, columns: int) -> FixedSums:
        """Return a table of zeros."""
        shape = (rows, columns)
        return cls(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    def add(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Add each row of `values` to the row of the table that `rows` names; -1 for none."""
        kernel.add_fixed(values, rows, float(2**BITS), SHIFT, self.high, self.low)
        self._carry()

    def merge(self, other: FixedSums) -> FixedSums:
        """Return the sums of both."""
        return FixedSums(self.high + other.high, self.low + other.low)._carry()

    def taken_from(self, whole: int) -> FixedSums:
        """Return a whole number less the sums."""
        return FixedSums((whole << SHIFT) - self.high, -self.low)._carry()

    def accumulated(self, axis: int) -> FixedSums:
        """Return the running sums along an axis."""
        return FixedSums(np.cumsum(self.high, axis), np.cumsum(self.low, axis))._carry()

    def __getitem__(self, item: int | slice) -> FixedSums:
        return FixedSums(self.high[item], self.low[item])

    def _carry(self) -> FixedSums:
        """Carry the overflow of the lower sum to the upper one."""
        self.high = self.high + (self.low >> SHIFT)
        self.low = self.low & ((1 << SHIFT) - 1)
        return self

    def values(self) -> np.ndarray:
        """Return the sums in float64, rounded once."""
        return self.high * 2.0 ** (SHIFT - BITS) + self.low * 2.0**-BITS
