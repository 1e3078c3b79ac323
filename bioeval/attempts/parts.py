"""What is found of rows, in their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
