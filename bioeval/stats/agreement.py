"""Agreement of measures with ratings of the same systems: a meta-evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import CONFIDENCE, check_confidence, require_numbers
from bioeval.base.errors import DataError, counted, received
from bioeval.base.scalars import Name
from bioeval.results.dataset import build

AGREEMENT = {
    "spearman": Name("Spearman's rank correlation of the measure with the ratings"),
    "kendall": Name("Kendall's tau-b of the measure with the ratings"),
    "pearson": Name("Pearson's correlation of the measure with the ratings"),
    "systems": Name("systems that have the measure and a rating", "systems"),
    "measure": Name("measure that is compared with the ratings"),
}

_COEFFICIENTS = ("spearman", "kendall", "pearson")

for _name in _COEFFICIENTS:
    AGREEMENT |= AGREEMENT[_name].ends_of(_name)


def rank_agreement(
    measures: Mapping[str, Any], ratings: Any, *, confidence: float = CONFIDENCE
) -> xr.Dataset:
    """Compare measures of several systems with ratings of them, such as those of people.

    Parameters
    ----------
    measures : mapping of str to array_like, shape (n,)
        Values of each measure, one per system. NaN leaves the system out of this measure.
    ratings : array_like, shape (n,)
        The rating of each system, in the same order; larger is better. NaN leaves it out.
    confidence : float
        Of the intervals, in (0, 1).

    Returns
    -------
    xarray.Dataset
        Over ``measure``: ``spearman``, ``kendall`` (tau-b) and ``pearson``, each with ``_low`` and
        ``_high``, and ``systems``, their number. NaN of a measure, or of ratings, that do not
        differ. Measures of which smaller is better have negative values.

    Raises
    ------
    DataError
        If there is no measure, a measure and the ratings differ in length, or fewer than 3 systems
        have both.

    Notes
    -----
    Intervals are those of Bonett and Wright (2000), Psychometrika 65(1): on Fisher's scale
    ``atanh`` with the standard errors ``sqrt(1 / (n - 3))`` of Pearson's,
    ``sqrt((1 + r^2 / 2) / (n - 3))`` of Spearman's and ``sqrt(0.437 / (n - 4))`` of Kendall's
    coefficient. They take the systems as a random sample, which published ones are not. They are
    NaN where a coefficient is 1 or -1, or there are too few systems. The comparison is that of
    Table 5 of arXiv:2011.11506; ``docs/reid.md``, "Measures and people".

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.stats.rank_agreement(
    ...     {"mAP": [0.72, 0.75, 0.74, 0.80, 0.85], "MREP": [0.45, 0.47, 0.46, 0.44, 0.55]},
    ...     [2.1, 2.6, 2.4, 2.2, 3.9])
    >>> found.spearman.values.round(2), found.kendall.values.round(2)
    (array([0.7, 0.9]), array([0.6, 0.8]))
    """
    if not isinstance(measures, Mapping) or not measures:
        raise DataError(
            f"measures is {received(measures)}; expected a mapping such as "
            "{'mAP': [0.7, 0.8, 0.9]}, with a value for each system"
        )
    z = float(scipy.special.ndtri(0.5 + check_confidence(confidence) / 2))
    rated = _values("ratings", ratings)
    columns: dict[str, list[float]] = {}
    for name, numbers in measures.items():
        values = _values(f"measures[{name!r}]", numbers)
        if len(values) != len(rated):
            raise DataError(
                f"measures[{name!r}] has {counted(len(values), 'values')}, and there are "
                f"{len(rated):,} ratings; expected one of each for each system"
            )
        both = ~(np.isnan(values) | np.isnan(rated))
        n = int(both.sum())
        if n < 3:
            raise DataError(
                f"measures[{name!r}]: {counted(n, 'systems')} with the measure and a rating; "
                "expected 3 or more"
            )
        row = {"systems": float(n), **_coefficients(values[both], rated[both], z)}
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    variables: dict[str, Any] = {name: (("measure",), x) for name, x in columns.items()}
    variables["systems"] = ("measure",), np.array(columns["systems"], dtype=np.int64)
    attrs: dict[str, str | int | float] = {
        "result_type": "agreement",
        "task": "agreement of measures with ratings",
        "confidence": float(confidence),
        "interval_method": "Bonett and Wright (2000)",
    }
    return build(variables, AGREEMENT, {"measure": np.array([*map(str, measures)])}, attrs)


def _values(name: str, numbers: Any) -> np.ndarray:
    values = require_numbers(name, numbers)
    if values.ndim != 1 or np.isinf(values).any():
        raise DataError(
            f"{name} has shape {values.shape}{' and infinite values' if values.ndim == 1 else ''}; "
            "expected a list of finite numbers, one per system, NaN if there is none"
        )
    return values


def _coefficients(values: np.ndarray, ratings: np.ndarray, z: float) -> dict[str, float]:
    """Return the coefficients of one measure, with their limits."""
    names = [f"{name}{end}" for name in _COEFFICIENTS for end in ("", "_low", "_high")]
    if np.ptp(values) == 0 or np.ptp(ratings) == 0:
        return dict.fromkeys(names, np.nan)
    n, stats = len(values), scipy.stats
    pearson = np.corrcoef(values, ratings)[0, 1]
    ranks = [stats.rankdata(x) for x in (values, ratings)]
    spearman = np.corrcoef(*ranks)[0, 1]
    kendall = stats.kendalltau(values, ratings, variant="b").statistic
    variances = {
        "spearman": (1 + spearman**2 / 2) / (n - 3) if n > 3 else np.nan,
        "kendall": 0.437 / (n - 4) if n > 4 else np.nan,
        "pearson": 1 / (n - 3) if n > 3 else np.nan,
    }
    limits: dict[str, float] = {}
    coefficients = zip(_COEFFICIENTS, (spearman, kendall, pearson), strict=True)
    for name, value in coefficients:
        r = float(np.clip(value, -1.0, 1.0))
        margin = z * np.sqrt(variances[name]) if abs(r) < 1 - 1e-12 else np.nan
        middle = np.arctanh(r) if abs(r) < 1 else np.nan
        limits |= {name: r, f"{name}_low": float(np.tanh(middle - margin))}
        limits[f"{name}_high"] = float(np.tanh(middle + margin))
    return limits
