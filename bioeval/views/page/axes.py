"""Axes of the curves of a page: from values to places in a picture, and their ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from matplotlib.ticker import MaxNLocator

from bioeval.tallies.points import per_cent

# Ticks of an axis of normal deviates, as proportions.
_DEVIATES = (1e-6, 1e-5, 1e-4, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98)
_NEAR_ONE = (0.995, 0.999)


# A longer axis lies: its labels stand side by side.
_TALL = 400


@dataclass(frozen=True)
class Axis:
    """One axis: ``linear``, ``log``, or ``probit`` (normal deviates)."""

    scale: str
    low: float
    high: float
    start: float  # place of `low` in the picture
    end: float  # place of `high`
    name: str
    percent: bool = False  # whether ticks are in per cent
    first: bool = False  # whether the beginning has a tick

    def place(self, values: np.ndarray) -> np.ndarray:
        """Return the places of values; those below the axis are at its beginning.

        Those above are at its end; beyond normal deviates they have none.
        """
        values = np.asarray(values, dtype=float)
        clipped = np.clip(values, self.low, self.high)
        if self.scale == "probit":
            clipped = np.where(values > self.high, np.nan, clipped)
        low, high, at = (self._scaled(v) for v in (self.low, self.high, clipped))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    def _scaled(self, values: np.ndarray | float) -> np.ndarray:
        if self.scale == "log":
            return np.log10(values)
        return scipy.special.ndtri(values) if self.scale == "probit" else np.asarray(values)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The places of the ticks and their labels."""
        at = [x for x in self._ticks() if self.low <= x <= self.high]
        found: list[tuple[float, str]] = []
        for place, value in zip(self.place(np.array(at)).tolist(), at, strict=True):
            label, before = self._label(value), found[-1][1] if found else ""
            both = len(label) + len(before)
            room = 3.4 * both + 7 if abs(self.end - self.start) > _TALL else 14
            if not found or abs(place - found[-1][0]) >= room:
                found.append((round(place, 1), label))
        return found

    def _ticks(self) -> list[float]:
        if self.scale == "log":
            first, last = (math.log10(x) for x in (self.low, self.high))
            return [10.0**power for power in range(math.ceil(first - 1e-9), math.floor(last) + 1)]
        if self.scale == "probit":
            return [*_DEVIATES, *_NEAR_ONE]
        ticks = list(
            map(float, MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(self.low, self.high))
        )
        return [self.low, *(x for x in ticks if x > self.low)] if self.first else ticks

    def _label(self, value: float) -> str:
        if self.percent:
            return per_cent(value)
        return f"{value:g}" if abs(value) > 1e-12 else "0"


def unit_axis(scale: str, floor: float, places: tuple[float, float], name: str) -> Axis:
    """Return an axis of proportions; a logarithmic or a normal one begins at `floor`."""
    low, high = {"linear": (0.0, 1.0), "log": (floor, 1.0), "probit": (floor, 0.9)}[scale]
    return Axis(scale, low, high, *places, name, percent=True)
