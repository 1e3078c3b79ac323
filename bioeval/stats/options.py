"""Options of confidence intervals, and the class of an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.random import RandomState, seed_sequence
from bioeval.base.variables import INTERVALS, Bootstrap


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


METHODS = INTERVALS

#: Methods that resample subjects.
BOOTSTRAPS: tuple[Bootstrap, ...] = get_args(Bootstrap)

#: Method of the intervals of all-against-all identification, whichever by subject is chosen.
JACKKNIFE = "subject-jackknife"

#: Whether a band of a curve holds at each point by itself, or at all points together.
Band = Literal["pointwise", "simultaneous"]
BANDS: tuple[Band, ...] = get_args(Band)

# With fewer subjects, intervals by subject are clearly too narrow.
_FEW = 20


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


@dataclass(frozen=True)
class IntervalOptions:
    """Method, confidence level and resampling of the intervals of a result.

    The number of replicates and the seed concern bootstrap methods alone. All tasks of an
    evaluation share the seed, and with it their replicates. `about` says which data the intervals
    of identification are about: other people, or other probes in the same gallery.
    """

    CONFIDENCE: ClassVar[float] = 0.95  # by default
    REPLICATES: ClassVar[int] = 2000

    method: str
    confidence: float
    replicates: int
    seed: np.random.SeedSequence
    about: str = ""
    band: str = BANDS[0]

    @classmethod
    def parse(
        cls,
        interval: str | None,
        confidence: float = CONFIDENCE,
        replicates: int = REPLICATES,
        random_state: RandomState = 0,
        band: str = BANDS[0],
    ) -> IntervalOptions | None:
        """Check the arguments of a public function; None for a result without intervals."""
        confidence = check_confidence(confidence)
        replicates = require_integer("replicates", replicates, low=100, of_draws=True)
        seed = seed_sequence(random_state)
        require_choice("band", band, BANDS)
        if interval is not None:
            require_choice("interval", interval, METHODS)
        if band != BANDS[0] and interval not in BOOTSTRAPS:
            raise DataError(
                f"{Argument('band', band)} needs the replicates of a subject bootstrap; give "
                f"{Argument('interval', BOOTSTRAPS[0])}"
            )
        if interval is None:
            return None
        return cls(interval, confidence, replicates, seed, band=band)

    @property
    def resamples(self) -> bool:
        """Whether the method resamples subjects."""
        return self.method in BOOTSTRAPS

    @property
    def simultaneous(self) -> bool:
        """Whether bands of curves hold at all points together."""
        return self.band == BANDS[1]

    @property
    def by_subject(self) -> bool:
        """Whether the method needs the subjects of the attempts."""
        return self.resamples or self.needs_all_pairs

    @property
    def needs_all_pairs(self) -> bool:
        """Whether verification needs the counts of all pairs of subjects at once."""
        return self.method == "analytic"

    @property
    def for_new_people(self) -> IntervalOptions:
        """The same confidence level, for new people that are not in the data."""
        return replace(self, method=JACKKNIFE, about="new people")

    @property
    def for_this_gallery(self) -> IntervalOptions:
        """The same intervals, for a fixed gallery."""
        return replace(self, about="this gallery")

    def few_people(self, people: int) -> list[str]:
        """Return a warning where too few subjects make intervals by subject unreliable."""
        if people < 2:
            return [f"cannot resample a single subject; {self.method} intervals are undefined"]
        if people < _FEW:
            return [f"only {people} subjects: intervals by subject ({self.method}) are too narrow"]
        return []

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of a result that has these intervals."""
        attrs: dict[str, str | int | float] = {
            "interval_method": self.method,
            "confidence": self.confidence,
        }
        if self.about:
            attrs["interval_for"] = self.about
        if self.resamples:
            attrs["replicates"] = self.replicates
        return attrs
