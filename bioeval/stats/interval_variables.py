"""Confidence limits as variables of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import scipy

from bioeval.base.scalars import Name
from bioeval.stats.binomial import clopper_pearson, wilson
from bioeval.stats.options import IntervalOptions

if TYPE_CHECKING:
    import xarray as xr

#: Lower and upper confidence limits.
Limits = tuple[np.ndarray, np.ndarray]


def of_one(limits: Limits) -> Limits:
    """Return the limits of the first of several values."""
    low, high = limits
    return low[0], high[0]


#: Variables whose own name with ``_low`` means something else: the bracket of the EER (FVC).
STEMS = {"eer": "eer_interval"}

# With fewer subjects, intervals by subject are clearly too narrow.
_FEW = 20


def with_intervals(
    dataset: xr.Dataset,
    found: Mapping[str, Limits],
    names: Mapping[str, Name],
    options: IntervalOptions,
    remarks: list[str],
    inside: Mapping[str, np.ndarray] | None = None,
) -> xr.Dataset:
    """Return a dataset with confidence limits of its variables, their method, and warnings.

    `inside` says at which points of a curve its limits are those of a simultaneous band.
    """
    over = {name: tuple(map(str, dataset[name].dims)) for name in {**found, **(inside or {})}}
    variables = {
        f"{name}_in_band": (over[name], there.astype(np.int64), names[f"{name}_in_band"].attrs())
        for name, there in (inside or {}).items()
    }
    for name, both in found.items():
        for side, values in zip(("low", "high"), both, strict=True):
            key = f"{STEMS.get(name, name)}_{side}"
            variables[key] = (over[name], np.asarray(values, dtype=np.float64), names[key].attrs())
    out = dataset.assign(variables)
    warnings = [*str(dataset.attrs.get("warnings", "")).splitlines(), *remarks]
    out.attrs = {
        **dataset.attrs,
        **options.attrs(),
        "band": options.band,
        "warnings": "\n".join(warnings),
    }
    return out


def few_people(people: int, options: IntervalOptions) -> list[str]:
    """Return a warning where too few subjects make intervals by subject unreliable."""
    if people < 2:
        return [f"cannot resample a single subject; {options.method} intervals are undefined"]
    if people < _FEW:
        return [f"only {people} subjects: intervals by subject ({options.method}) are too narrow"]
    return []


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


def independent(errors: np.ndarray, attempts: int, options: IntervalOptions) -> Limits:
    """Return limits of rates of independent attempts; NaN where `errors` is NaN."""
    method = wilson if options.method == "wilson" else clopper_pearson
    undefined = np.isnan(errors)
    low, high = method(np.where(undefined, 0, errors), attempts, options.confidence)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def assumed_independent(options: IntervalOptions, attempts: str, those: str) -> str:
    """Return the warning that intervals of :func:`independent` are too narrow."""
    return (
        f"{options.method} intervals assume independent {attempts}; those {those} subject are "
        "dependent, and the intervals are then too narrow: use subject-bootstrap"
    )
