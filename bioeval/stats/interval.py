"""A point estimate with its confidence interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bioeval.base.panels import panel


@dataclass(frozen=True)
class Interval:
    """A point estimate with its confidence interval.

    Attributes
    ----------
    estimate : float
    low, high : float
        Confidence limits; NaN where they are undefined.
    confidence : float
        Confidence level.
    method : str
        Method of the interval, and its assumption.
    replicates : ndarray of float64, shape (r,)
        The estimate in each bootstrap replicate; empty for the other methods.
    """

    estimate: float
    low: float
    high: float
    confidence: float
    method: str
    replicates: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __iter__(self) -> Iterator[float]:
        """Iterate over the limits: ``low, high = interval``."""
        return iter((self.low, self.high))

    def __repr__(self) -> str:
        return (
            f"<{self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}], "
            f"{100 * self.confidence:g} %, {self.method}>"
        )

    def _repr_html_(self) -> str:
        limits = f"{self.estimate:.6g} [{self.low:.6g}, {self.high:.6g}]"
        return panel(limits, [(f"{100 * self.confidence:g} %", self.method)])
