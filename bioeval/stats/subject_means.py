"""Means over attempts, with the subjects who made them resampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bioeval.stats.bootstrap import (
    open_limits,
    rate_limits,
    ratio_variances,
    sample_of,
)
from bioeval.stats.interval_variables import Limits, by_subject, normal_limits
from bioeval.stats.options import IntervalOptions
from bioeval.stats.resampling import linear_forms, ratio, weight_columns

if TYPE_CHECKING:
    from bioeval.stats.bands import SimultaneousBand

# Values of a temporary array.
ROOM = 1 << 22


class SubjectMeans:
    """The attempts of each subject; their sums give the means in each replicate."""

    def __init__(self, attempts: np.ndarray, weights: np.ndarray, options: IntervalOptions):
        self.attempts = attempts  # of each subject
        self.weights, self.options = weights, options  # weights of subject_columns
        self.total = linear_forms(attempts[None], weights)[0]  # weighted, of each column
        self.trials = sample_of(int((attempts > 0).sum()))  # subjects with an attempt

    def values(self, sums: np.ndarray) -> np.ndarray:
        """Return the means in each column, shape (k, columns), from sums by subject."""
        return _within_one(ratio(linear_forms(sums, self.weights), self.total))

    def limits(
        self,
        layers: np.ndarray,
        *,
        cumulative: bool = True,
        over: np.ndarray | None = None,
        seen: Callable[[np.ndarray], object] | None = None,
    ) -> Limits:
        """Return the confidence limits of means of values between 0 and 1.

        `layers`, of shape (k, subjects), are sums over the attempts of each subject; each mean is
        of all layers up to its own, unless not `cumulative`, and is divided by its entry of `over`.
        `seen` is called with the means in each column, in parts of some rows.
        """
        over = np.ones(len(layers)) if over is None else over
        if not self.options.resamples:
            sums = (np.cumsum(layers, axis=0) if cumulative else layers) / over[:, None]
            total = self.attempts.sum()
            mean = sums.sum(axis=1) / total if total else np.full(len(layers), np.nan)
            both = normal_limits(mean, np.sqrt(ratio_variances(sums, self.attempts)), self.options)
            return open_limits(mean, *both, self.trials, self.options.confidence)
        step = max(1, ROOM // self.weights.shape[1])
        before, found = np.zeros(self.weights.shape[1]), []
        for low in range(0, len(layers), step):
            sums = linear_forms(layers[low : low + step], self.weights)
            if cumulative:
                sums = before + np.cumsum(sums, 0)
                before = sums[-1]
            sums = sums / over[low : low + step, None]
            values = _within_one(ratio(sums, self.total))
            if seen is not None:
                seen(values)
            found.append(self.drawn_limits(values))
        low_, high = (np.concatenate(x) for x in zip(*found, strict=True))
        return low_, high

    def drawn_limits(self, values: np.ndarray) -> Limits:
        """Return the confidence limits of values between 0 and 1 in each column."""
        return rate_limits(values, self.trials, self.options)

    def limits_at_ranks(
        self,
        person: np.ndarray,
        rank: np.ndarray,
        weight: np.ndarray,
        count: int,
        *,
        per_rank: bool = False,
        band: SimultaneousBand | None = None,
    ) -> Limits:
        """Return the limits of the proportion of attempts at ranks up to 1 ... `count`.

        The arrays are of each match: its subject, its rank, and its weight or probability. With
        `per_rank` each proportion is divided by its rank. The proportions are added to a `band`.
        """
        step = max(
            1, ROOM // max(len(self.attempts), 1)
        )  # bounds memory; ranks before are one layer
        lows, highs = [], []
        for first in range(0, count, step):
            last = min(first + step, count)
            layers = by_subject(
                np.maximum(rank - first, 0).astype(np.float64), person,
                np.arange(0.0, last - first + 1), len(self.attempts), weight,
            )[:-1]  # fmt: skip
            over = np.maximum(np.arange(first, last + 1.0), 1.0) if per_rank else None
            parts: list[np.ndarray] = []
            seen = None if band is None else parts.append
            low, high = self.limits(layers, over=over, seen=seen)
            if band is not None:
                band.add(np.concatenate(parts)[1:])
            lows.append(low[1:])
            highs.append(high[1:])
        return np.concatenate(lows), np.concatenate(highs)


def subject_columns(people: int, options: IntervalOptions) -> np.ndarray:
    """Return the columns of weights of a method: the data alone unless it resamples."""
    if options.resamples:
        return weight_columns(people, options)
    return np.ones((people, 1), dtype=np.float32)


def _within_one(values: np.ndarray) -> np.ndarray:
    """Return means clipped at 1: fractional weights of expected ties may exceed it by rounding."""
    values = np.minimum(values, 1.0)
    return np.where(np.abs(values - 1) < 1e-12, 1.0, values)
