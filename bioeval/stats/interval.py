"""An interval as it is handed out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Interval:
    """A value and the interval around it.

    Attributes
    ----------
    estimate, low, high : float
    confidence : float
    method : str
        How it was found, and what that assumes.
    replicates : ndarray of float64, shape (r,)
        The value in each replicate; empty where nothing was resampled.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    method: str
    replicates: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __iter__(self) -> Iterator[float]:
        """Give low and high, as ``low, high = interval``."""
        return iter((self.low, self.high))

    def __repr__(self) -> str:
        return (
            f"<{self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}], "
            f"{100 * self.confidence:g} %, {self.method}>"
        )
