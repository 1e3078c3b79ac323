"""Confidence limits: as variables of a result, and of whole curves, the sup-t band."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from bioeval.stats.options import IntervalOptions, Limits

if TYPE_CHECKING:
    pass


def normal_limits(rate: np.ndarray, spread: np.ndarray, options: IntervalOptions) -> Limits:
    """Return the limits of a normal interval, clipped to [0, 1]."""
    half = float(scipy.special.ndtri(0.5 + options.confidence / 2)) * spread
    return np.clip(rate - half, 0.0, 1.0), np.clip(rate + half, 0.0, 1.0)


def by_subject(
    values: np.ndarray,
    subjects: np.ndarray,
    thresholds: np.ndarray,
    number: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the number of values of each subject between consecutive increasing thresholds.

    Row ``i`` of the result, of shape (t + 1, number), is above ``thresholds[i - 1]`` and not above
    ``thresholds[i]``; `number` is that of the subjects.
    """
    layer = np.searchsorted(thresholds, values)
    size = (len(thresholds) + 1) * number
    counts = np.bincount(layer * number + subjects, weights, minlength=size)
    return counts.reshape(len(thresholds) + 1, number)


#: Errors, and as many attempts without one, from which a point of a curve is in the band.
LEAST = 5

# Expected ties make hits fractions, whose sums are rounded.
_ROUNDING = 1e-9


def with_enough(rate: np.ndarray, attempts: int) -> np.ndarray:
    """Return where a rate has at least five errors and five other attempts."""
    errors = rate * attempts
    return (errors >= LEAST - _ROUNDING) & (attempts - errors >= LEAST - _ROUNDING)


class SimultaneousBand:
    """The sup-t band of one curve; points are added in any number of parts.

    With ``z = probit(rate)`` and ``s`` its standard error at each point, the band is ``z -+ c s``.
    Its ``c`` is the quantile, over the replicates, of the largest distance from ``z`` in units of
    ``s`` of all points with enough errors (Montiel Olea and Plagborg-Moller 2019, Journal of
    Applied Econometrics 34, 1-17).
    """

    def __init__(self, attempts: int, options: IntervalOptions, factor: float = 1.0):
        self.attempts, self.options, self.factor = attempts, options, factor
        self._farthest = np.zeros(0)
        self._parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, values: np.ndarray) -> None:
        """Add points by their rates in each column of weights, shape (points, columns).

        A rate of 0 or 1 in a replicate is half an attempt away from it.
        """
        rate, drawn = values[:, 0], values[:, 1 : 1 + self.options.replicates]
        drawn = drawn[:, ~np.isnan(drawn).any(axis=0)]
        inside = with_enough(rate, self.attempts) & bool(drawn.shape[1])
        edge = 0.5 / max(self.attempts, 1)
        deviate = scipy.special.ndtri(np.clip(drawn[inside], edge, 1 - edge))
        away = deviate - scipy.special.ndtri(rate[inside])[:, None]
        spread = np.zeros(len(rate))
        if deviate.size:
            spread[inside] = deviate.std(axis=1)
        else:
            spread[inside] = 0.0
        self.add_deviations(rate, spread, away)

    def add_deviations(self, rate: np.ndarray, spread: np.ndarray, away: np.ndarray) -> None:
        """Add points by their standard errors, and the deviations of those with enough errors.

        The deviations have the shape (points with enough errors, replicates).
        """
        inside = with_enough(rate, self.attempts)
        inside[inside] = kept = spread[inside] > 0
        self._parts.append((rate, spread, inside))
        if kept.any():
            far = np.abs(away[kept] / spread[inside][:, None]).max(axis=0)
            if len(self._farthest):
                self._farthest = np.maximum(self._farthest, far)
            else:
                self._farthest = far

    @property
    def inside(self) -> np.ndarray:
        """Which points are in the band."""
        return self._joined()[2]

    def _joined(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rates of all points, their standard errors, and which are in the band."""
        rates, spreads, insides = zip(*self._parts, strict=True)
        return np.concatenate(rates), np.concatenate(spreads), np.concatenate(insides)

    @property
    def multiple(self) -> float:
        """Half the width of the band in standard errors; NaN where no point is in it."""
        if not len(self._farthest):
            return np.nan
        return self.factor * float(np.quantile(self._farthest, self.options.confidence))

    def limits(self, pointwise: Limits) -> Limits:
        """Return the limits of all points: of the band, and pointwise outside it.

        The band is nowhere narrower than the pointwise interval.
        """
        rate, spread, inside = self._joined()
        return widened(pointwise, rate, self.multiple * spread, inside)

    def limits_at(self, rate: np.ndarray, pointwise: Limits) -> tuple[Limits, np.ndarray]:
        """Return the limits at other points of the same curve, and which are in the band.

        Their standard error is interpolated linearly over the probit of the rate.
        """
        known, spread, inside = self._joined()
        there = with_enough(rate, self.attempts) & bool(inside.any())
        half = np.zeros(len(rate))
        if there.any():
            known, first = np.unique(known[inside], return_index=True)
            at, deviate = scipy.special.ndtri(rate[there]), scipy.special.ndtri(known)
            half[there] = self.multiple * np.interp(at, deviate, spread[inside][first])
        return widened(pointwise, rate, half, there), there


def widened(pointwise: Limits, rate: np.ndarray, half: np.ndarray, inside: np.ndarray) -> Limits:
    """Return pointwise limits, widened inside a band of some half width on the probit scale."""
    low = np.array(pointwise[0], dtype=np.float64)
    high = np.array(pointwise[1], dtype=np.float64)
    middle = scipy.special.ndtri(rate[inside])
    low[inside] = np.fmin(low[inside], scipy.special.ndtr(middle - half[inside]))
    high[inside] = np.fmax(high[inside], scipy.special.ndtr(middle + half[inside]))
    return low, high
