"""Measures of inequality of groups, and the limits that follow from those of the rates.

A percentile interval of a measure such as the largest rate over the smallest never contains
equality, since noise alone moves the measure away from it. So the rates have limits that hold for
all groups together, and a measure has the smallest and the largest value that it takes anywhere
within these limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bioeval.stats.limits import Limits

#: The scalars that compare groups, in the order of tables.
INEQUITY = (
    "fdr",
    "garbe",
    "far_max_over_min",
    "far_max_over_geomean",
    "frr_max_over_min",
    "frr_max_over_geomean",
)


def inequity(far: np.ndarray, frr: np.ndarray, alpha: float) -> dict[str, np.ndarray]:
    """Return the measures of `INEQUITY`.

    - `far`, `frr` (float (groups, ...)): FAR within each group, and FRR of each
    - `alpha`: weight of FAR in FDR and GARBE
    """
    measures = {
        "fdr": 1 - (alpha * _range(far) + (1 - alpha) * _range(frr)),
        "garbe": alpha * gini_of_rates(far) + (1 - alpha) * gini_of_rates(frr),
    }
    if len(far) < 2:
        measures = {name: np.full(far.shape[1:], np.nan) for name in measures}
    for name, rates in (("far", far), ("frr", frr)):
        positive = np.where((rates > 0).all(axis=0), rates, np.nan)
        largest = positive.max(axis=0)
        measures[f"{name}_max_over_min"] = largest / positive.min(axis=0)
        # Exactly 1 where all are equal.
        below = np.log(positive / largest).mean(axis=0)
        measures[f"{name}_max_over_geomean"] = np.exp(-below)
    return measures


def _range(rates: np.ndarray) -> np.ndarray:
    return rates.max(axis=0) - rates.min(axis=0)


def gini_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return the Gini coefficient, corrected for the number of groups; 0 if all rates are 0.

    ``n / (n - 1)`` times ``sum_ij |x_i - x_j| / (2 n^2 mean)``; of GARBE (Howard and others 2022).
    """
    groups = len(rates)
    place = (2 * np.arange(groups) - groups + 1).reshape((groups, *[1] * (rates.ndim - 1)))
    differences = 2 * (place * np.sort(rates, axis=0)).sum(axis=0)
    mean = rates.mean(axis=0)
    defined = np.where(mean > 0, mean, 1.0)
    return np.where(mean == 0, 0.0, differences / (2 * max(groups - 1, 1) * groups * defined))


def measure_limits(
    both: Sequence[Limits], alone: Sequence[Limits], alpha: float
) -> dict[str, Limits]:
    """Return the limits of the measures of groups by name.

    - `both`: limits of FAR, and of FRR, that hold for both rates of all groups together
    - `alone`: limits that hold for the one rate of all groups together

    A limit that is NaN says nothing: the rate may be anything.
    """
    far, frr = map(_known, both)
    (far_least, far_most), (frr_least, frr_most) = range_limits(*far), range_limits(*frr)
    limits = {
        "fdr": (
            1 - (alpha * far_most + (1 - alpha) * frr_most),
            1 - (alpha * far_least + (1 - alpha) * frr_least),
        )
    }
    (far_least, far_most), (frr_least, frr_most) = gini_limits(*far), gini_limits(*frr)
    limits["garbe"] = (
        alpha * far_least + (1 - alpha) * frr_least,
        alpha * far_most + (1 - alpha) * frr_most,
    )
    for name, rates in zip(("far", "frr"), map(_known, alone), strict=True):
        limits[f"{name}_max_over_min"] = quotient_limits(*rates)
        limits[f"{name}_max_over_geomean"] = geomean_limits(*rates)
    return {name: (np.array(low), np.array(high)) for name, (low, high) in limits.items()}


def _known(limits: Limits) -> Limits:
    low, high = limits
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)


def range_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest range of rates within limits."""
    least = max(0.0, float(low.max() - high.min()))
    return least, _largest_of_pairs(high, low, np.subtract)


def quotient_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest quotient of the largest rate and the smallest."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = max(1.0, float(low.max() / high.min()))
        return least, _largest_of_pairs(high, low, np.divide)


def _largest_of_pairs(
    high: np.ndarray, low: np.ndarray, function: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> float:
    """Return the largest ``function(upper limit of a group, lower limit of another group)``."""
    values = np.where(np.eye(len(high), dtype=bool), -np.inf, function(high[:, None], low))
    return float(values.max())


def geomean_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest quotient of the largest rate and the geometric mean.

    The quotient falls with each rate but the largest. So the quotient is largest if one rate is at
    its upper limit and all other rates are at their lower limits, and smallest if the largest rate
    is as small as possible and the other rates are as near to this rate as possible.
    """
    groups = len(low)
    largest = low.max()
    with np.errstate(divide="ignore", invalid="ignore"):
        smallest = 1.0
        if largest > 0:
            smallest = float(np.exp(-np.log(np.minimum(high, largest) / largest).mean()))
        log_low = np.log(low)
        without_each = np.array([np.delete(log_low, i).sum() for i in range(groups)])
        quotients = np.exp((1 - 1 / groups) * np.log(high) - without_each / groups)
    return smallest, float(quotients.max())


def gini_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return bounds of the Gini coefficient of rates within limits.

    The coefficient is Schur-convex. Of all rates with one sum, rates as near as possible to one
    value have the least coefficient; along this value the coefficient is a quotient of linear
    functions between limits, so that the least is at a limit. The upper bound is over increasing
    rates whose ``k``-th is between the ``k``-th of the sorted lower limits and the ``k``-th of the
    sorted upper limits: the first rates are at lower limits, and all further rates at upper limits.
    The bound is attained if a group with a larger lower limit has a larger upper limit too.
    """
    groups = len(low)
    values = np.concatenate([low, high])
    smallest = float(gini_of_rates(np.clip(values, low[:, None], high[:, None])).min())
    at_low = np.arange(groups)[:, None] < np.arange(groups + 1)
    bound = gini_of_rates(np.where(at_low, np.sort(low)[:, None], np.sort(high)[:, None])).max()
    return smallest, float(bound)
