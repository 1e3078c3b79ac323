"""What may be asked for of an interval: its method, its confidence, and how often to resample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.random import RandomState, seed_sequence
from bioeval.base.variables import INTERVALS

METHODS = INTERVALS

#: Methods that resample subjects.
BOOTSTRAPS = METHODS[:3]

CONFIDENCE = 0.95
REPLICATES = 2000


def check_confidence(confidence: Any) -> float:
    """Return a confidence as a float, or raise :class:`DataError` unless it is in (0, 1)."""
    try:
        value = np.nan if isinstance(confidence, (bool, str)) else float(confidence)
    except (TypeError, ValueError):
        value = np.nan
    if not 0.0 < value < 1.0:
        raise DataError(
            f"{Argument('confidence')} is {confidence!r}; expected a number between 0 and 1, "
            "such as 0.95"
        )
    return value


@dataclass(frozen=True)
class Asked:
    """An interval that was asked for.

    Attributes
    ----------
    method : str
        One of :data:`METHODS`.
    confidence : float
    replicates : int
        How often subjects are resampled; without meaning for the other methods.
    seed : numpy.random.SeedSequence
        One for all tasks of an evaluation, so that its intervals rest on the same draws.
    """

    method: str
    confidence: float
    replicates: int
    seed: np.random.SeedSequence

    @classmethod
    def of(
        cls,
        interval: str | None,
        confidence: float = CONFIDENCE,
        replicates: int = REPLICATES,
        random_state: RandomState = 0,
    ) -> Asked | None:
        """Check what was asked for; None where it is no interval."""
        confidence = check_confidence(confidence)
        replicates = require_integer("replicates", replicates, low=100)
        seed = seed_sequence(random_state)
        if interval is None:
            return None
        require_choice("interval", interval, METHODS)
        return cls(interval, confidence, replicates, seed)

    @property
    def resamples(self) -> bool:
        """Whether subjects are resampled."""
        return self.method in BOOTSTRAPS

    @property
    def by_subject(self) -> bool:
        """Whether the subjects of the attempts must be known."""
        return self.resamples or self.method == "analytic"

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of a result with intervals."""
        found: dict[str, str | int | float] = {
            "interval_method": self.method,
            "confidence": self.confidence,
        }
        if self.resamples:
            found["replicates"] = self.replicates
        return found
