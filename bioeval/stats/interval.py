"""An estimate with its confidence interval, and the confidence level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError

#: Confidence level by default.
CONFIDENCE = 0.95


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
        from bioeval.base.panels import panel

        return panel(limits, [(f"{100 * self.confidence:g} %", self.method)])


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return a confidence as a float, or raise :class:`DataError` unless it is in (0, 1)."""
    try:
        if isinstance(confidence, (bool, str)):
            value = np.nan
        else:
            value = float(confidence)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 < value < 1.0:
        raise DataError(
            f"{Argument(name)} is {confidence!r}; expected a number between 0 and 1, such as 0.95"
        )
    return value


def trials_of(subjects: int) -> int:
    """Return the sample size in subjects: 0 for one subject, since one cannot be resampled."""
    if subjects > 1:
        return subjects
    return 0
