"""Intervals; weights of subjects in replicates, and limits of what is estimated with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy
import xarray as xr

from bioeval.base.messages import Message, message_attrs
from bioeval.base.random import Stream
from bioeval.base.scalars import Name
from bioeval.stats.binomial import zero_error_bound

#: Largest number of groups of subjects that are left out in turn.
GROUPS = 1000

# Far below one error in any countable number of attempts.
ROUNDING = 1e-12


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


def weights_of(
    subjects: int,
    seed: np.random.SeedSequence,
    replicates: int,
    without_each: bool,
    no_person: np.ndarray | None,
) -> np.ndarray:
    """Return the weights of subjects, float32 of shape (subjects, columns).

    The first column is the data themselves. The replicates follow, and with `without_each` the data
    without each subject, or without each of a thousand groups of subjects where there are more.
    What is of no person, such as all distractors, is not resampled: its weight is 1.
    """
    if no_person is not None and no_person.any():
        people = int(np.count_nonzero(~no_person))
        drawn = weights_of(people, seed, replicates, without_each, None)
        weights = np.ones((subjects, drawn.shape[1]), dtype=np.float32)
        weights[~no_person] = drawn
        return weights
    parts = [np.ones((subjects, 1), dtype=np.float32)]
    if subjects > 1 and replicates:
        parts.append(Stream(seed, 0).resampled(subjects, replicates))
        if without_each:
            group = groups_of(subjects)
            left_out = group[:, None] == np.arange(group[-1] + 1)
            parts.append(1 - left_out.astype(np.float32))
    return np.concatenate(parts, axis=1)


def groups_of(subjects: int) -> np.ndarray:
    """Return the group in which each subject is left out: its own, up to a thousand subjects."""
    return np.arange(subjects) * min(subjects, GROUPS) // max(subjects, 1)


def limits_of(
    values: np.ndarray, method: str, confidence: float, replicates: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper confidence limits of bootstrapped values, shape (..., columns).

    The columns are those of :func:`weights_of`; a replicate without an attempt of a class is NaN
    and is left out. Limits are NaN without replicates, or where the estimate is undefined.
    """
    estimate = values[..., 0]
    drawn = values[..., 1 : 1 + replicates]
    if not drawn.shape[-1]:
        return np.full(estimate.shape, np.nan), np.full(estimate.shape, np.nan)
    tail = (1 - confidence) / 2
    if method.endswith("logit"):
        there = ~np.isnan(drawn)
        number = np.maximum(there.sum(axis=-1), 1)
        mean = np.where(there, drawn, 0.0).sum(axis=-1) / number
        spread = np.where(there, (drawn - mean[..., None]) ** 2, 0.0).sum(axis=-1) / number
        low, high = logit_limits(estimate, -scipy.special.ndtri(tail) * np.sqrt(spread))
    elif method.endswith("bca"):
        low, high = _bca(estimate, drawn, values[..., 1 + replicates :], tail)
    else:
        low = quantiles(drawn, np.full(estimate.shape, tail))
        high = quantiles(drawn, np.full(estimate.shape, 1 - tail))
    undefined = np.isnan(estimate)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def quantiles(drawn: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return a quantile over the last axis, at a level for each row, ignoring NaN.

    Linear between order statistics, as numpy does by default.
    """
    ordered = np.sort(drawn, axis=-1)  # NaN last
    number = (~np.isnan(ordered)).sum(axis=-1)
    place = np.clip(level, 0, 1) * np.maximum(number - 1, 0)
    place = np.where(np.isnan(place), 0.0, place)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(number - 1, 0))
    first = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    second = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    return np.where(np.isnan(level), np.nan, first + (place - below) * (second - first))


def logit_limits(estimate: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an interval on the logit scale; `half` is half its width on the scale of rates."""
    inside = (estimate > 0) & (estimate < 1)
    p = np.where(inside, estimate, 0.5)
    half = half / (p * (1 - p))
    middle = scipy.special.logit(p)
    low, high = scipy.special.expit(middle - half), scipy.special.expit(middle + half)
    return np.where(inside, low, estimate), np.where(inside, high, estimate)


def _bca(
    estimate: np.ndarray, drawn: np.ndarray, without: np.ndarray, tail: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bias-corrected and accelerated interval of Efron (1987)."""
    at = estimate[..., None]
    number = np.maximum((~np.isnan(drawn)).sum(axis=-1), 1)
    same = np.isclose(drawn, at, rtol=1e-12, atol=1e-15)  # but for the rounding of sums
    below = (((drawn < at) & ~same).sum(axis=-1) + 0.5 * same.sum(axis=-1)) / number
    bias = scipy.special.ndtri(np.clip(below, 1 / (number + 1), number / (number + 1)))
    there = ~np.isnan(without)
    mean = np.where(there, without, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    away = np.where(there, mean[..., None] - without, 0.0)
    squares = (away**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        speed = np.where(squares > 0, (away**3).sum(axis=-1) / (6 * squares**1.5), 0.0)

    def limit(z: float) -> np.ndarray:
        moved = bias + z
        level = scipy.special.ndtr(bias + moved / np.maximum(1 - speed * moved, 1e-3))
        return quantiles(drawn, level)

    z = scipy.special.ndtri(tail)
    return limit(z), limit(-z)


def open_limits(
    estimate: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    trials: int | np.ndarray,
    confidence: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace the limits of a rate of exactly 0 or 1 by a one-sided bound.

    Resampling data without errors yields no errors, and the interval [0, 0] would claim certainty.
    The data show only that none of `trials` independent trials (subjects, or disjoint pairs of
    subjects) was an error. Without a trial the limits are NaN.
    """
    bound = zero_error_bound(trials, confidence)
    # Under expected ties a rate is a sum of fractions, and may differ from 1 by rounding.
    none, all_ = estimate <= ROUNDING, estimate >= 1 - ROUNDING
    low = np.where(none, 0.0, np.where(all_, 1 - bound, low))
    high = np.where(none, bound, np.where(all_, 1.0, high))
    return np.where(trials, low, np.nan), np.where(trials, high, np.nan)


def with_limits(
    dataset: xr.Dataset,
    limits_by_name: Mapping[str, tuple[np.ndarray, np.ndarray]],
    names: Mapping[str, Name],
    attrs: Mapping[str, Any],
    remarks: Sequence[Message],
) -> xr.Dataset:
    """Return a dataset with confidence limits of its variables, more attributes, and warnings."""
    over = {name: tuple(map(str, dataset[name].dims)) for name in limits_by_name}
    variables: dict[str, Any] = {}
    for name, both in limits_by_name.items():
        for side, values in zip(("low", "high"), both, strict=True):
            key = f"{name}_{side}"
            limits = np.asarray(values, dtype=np.float64)
            variables[key] = (over[name], limits, names[key].attrs())
    out = dataset.assign(variables)
    out.attrs = {**dataset.attrs, **attrs, **message_attrs(remarks, dataset.attrs)}
    return out
