"""Intervals as variables of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from bioeval.base.variables import Name
from bioeval.stats.options import Asked

if TYPE_CHECKING:
    import xarray as xr

Ends = tuple[np.ndarray, np.ndarray]

#: Variables whose own name with ``_low`` means something else: the bracket of the EER (FVC).
STEMS = {"eer": "eer_interval"}

# With fewer subjects, resampling them gives intervals that are clearly too narrow.
_FEW = 20


def with_intervals(
    dataset: xr.Dataset,
    found: Mapping[str, Ends],
    over: Mapping[str, tuple[str, ...]],
    names: Mapping[str, Name],
    asked: Asked,
    remarks: list[str],
) -> xr.Dataset:
    """Return a dataset with the ends of intervals, how they were found, and what to mind."""
    variables = {}
    for name, both in found.items():
        for side, values in zip(("low", "high"), both, strict=True):
            key = f"{STEMS.get(name, name)}_{side}"
            variables[key] = (over[name], np.asarray(values, dtype=np.float64), names[key].attrs())
    out = dataset.assign(variables)
    warnings = [*str(dataset.attrs.get("warnings", "")).splitlines(), *remarks]
    out.attrs = {**dataset.attrs, **asked.attrs(), "warnings": "\n".join(warnings)}
    return out


def few_people(people: int, asked: Asked) -> list[str]:
    """Say where there are so few subjects that intervals cannot be trusted."""
    if people < 2:
        return [f"one subject is no sample of people: {asked.method} intervals are not defined"]
    if people < _FEW:
        return [
            f"{people} subjects are few for intervals by subject ({asked.method}), which are then "
            "too narrow"
        ]
    return []


def normal_ends(rate: np.ndarray, spread: np.ndarray, asked: Asked) -> Ends:
    """Return a normal interval, cut to rates."""
    half = float(ndtri(0.5 + asked.confidence / 2)) * spread
    return np.clip(rate - half, 0.0, 1.0), np.clip(rate + half, 0.0, 1.0)


def by_subject(
    values: np.ndarray,
    subjects: np.ndarray,
    thresholds: np.ndarray,
    number: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return how many values each subject has between each two thresholds.

    Parameters
    ----------
    values, subjects : arrays, shape (k,)
    thresholds : float64 array, shape (t,)
        Increasing.
    number : int
        Of subjects.
    weights : array, shape (k,), optional

    Returns
    -------
    array, shape (t + 1, number)
        Row ``i``: above ``thresholds[i - 1]`` and not above ``thresholds[i]``.
    """
    layer = np.searchsorted(thresholds, values)
    size = (len(thresholds) + 1) * number
    counts = np.bincount(layer * number + subjects, weights, minlength=size)
    return counts.reshape(len(thresholds) + 1, number)
