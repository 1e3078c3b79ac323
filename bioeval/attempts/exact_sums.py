"""Sums of floats that are the same in any order, and in any parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.kernels.exact_sums import add_exactly, carry

#: Bits of a limb, so that none overflows before 2**29 numbers are added.
BITS = 30

#: Bits of numbers below this power of two are rounded: their units have no inverse in float64.
_LEAST = -990


@dataclass(eq=False)
class ExactSums:
    """A table of sums of float64, as whole numbers.

    Floats added in another order give another last digit; whole numbers do not. So the sums of
    parts add up to the sum over all, to the last bit. The sum is ``limbs[-1] * 2**exponent``, and
    each limb before is worth ``2**30`` times the next. All but the first are from 0 to ``2**30 -
    1``, so that equal sums with the same units are equal limbs.
    """

    limbs: np.ndarray  # int64 (l, rows, columns)
    exponent: int

    @classmethod
    def zeros(cls, rows: int, columns: int, exponent: int = 0, limbs: int = 0) -> ExactSums:
        """Return a table of zeros, with units for numbers that are known to be in some range."""
        return cls(np.zeros((limbs, rows, columns), dtype=np.int64), exponent)

    @classmethod
    def of_chances(cls, rows: int, columns: int) -> ExactSums:
        """Return a table for numbers from 0 to 1, each rounded to a multiple of ``2**-60``."""
        return cls.zeros(rows, columns, -2 * BITS, 2)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self.limbs.shape[1:]

    def add(self, values: np.ndarray, rows: np.ndarray) -> None:
        """Add each row of `values` to the row of the table that `rows` names; -1 for none.

        A number is rounded to a multiple of the smallest unit; see :meth:`reaching`.
        """
        if not len(self.limbs):
            return
        units = np.ldexp(1.0, self.exponent + BITS * np.arange(len(self.limbs))[::-1])
        add_exactly(values, rows, units, self.limbs)
        carry(self.limbs, BITS)

    def reaching(self, values: np.ndarray) -> ExactSums:
        """Return the same sums with units for all bits of finite numbers, down to ``2**-990``."""
        size = np.abs(values)
        largest = float(size.max(initial=0.0))
        if largest == 0:
            return self
        size[size == 0] = largest
        low = max(int(np.frexp(size.min())[1]) - 53, _LEAST) // BITS
        high = -(-int(np.frexp(largest)[1]) // BITS)
        # Of the largest float64, the first limb has a few bits more.
        number = max(min(high, -_LEAST // BITS + 1) - low, 1)
        below = low * BITS - self.exponent
        if below >= 0 and len(self.limbs) >= below // BITS + number:
            return self
        rows, columns = self.shape
        return self.merge(ExactSums.zeros(rows, columns, low * BITS, number))

    def merge(self, other: ExactSums) -> ExactSums:
        """Return the sums of both."""
        used = [x for x in (self, other) if len(x.limbs)]
        if len(used) < 2:
            return used[0] if used else self
        exponent = min(x.exponent for x in used)
        number = max(len(x.limbs) + (x.exponent - exponent) // BITS for x in used)
        limbs = np.zeros((number, *self.shape), dtype=np.int64)
        for x in used:
            last = number - (x.exponent - exponent) // BITS
            limbs[last - len(x.limbs) : last] += x.limbs
        return ExactSums(limbs, exponent)._carried()

    def accumulated(self, axis: int) -> ExactSums:
        """Return the running sums along an axis."""
        return ExactSums(np.cumsum(self.limbs, axis + 1), self.exponent)._carried()

    def __getitem__(self, item: int | slice | tuple[slice, ...]) -> ExactSums:
        places = item if isinstance(item, tuple) else (item,)
        return ExactSums(self.limbs[(slice(None), *places)], self.exponent)

    def _carried(self) -> ExactSums:
        """Return these sums, with what is beyond the lower limbs carried to the upper ones."""
        self.limbs = np.ascontiguousarray(self.limbs)
        carry(self.limbs.reshape(len(self.limbs), 1, -1), BITS)
        return self

    def values(self) -> np.ndarray:
        """Return the sums in float64: of one or two limbs rounded once, of more within one ulp."""
        if not len(self.limbs):
            return np.zeros(self.shape)
        # Limbs of one sign, the smallest first: none is lost beside its neighbour.
        sign = np.where(self.limbs[0] < 0, -1, 1)
        limbs = ExactSums(self.limbs * sign, self.exponent)._carried().limbs
        total = np.zeros(self.shape)
        with np.errstate(over="ignore"):  # who reads the sums looks for infinities
            for i, limb in enumerate(limbs[::-1]):
                total += np.ldexp(limb.astype(np.float64), self.exponent + BITS * i)
        return sign * total
