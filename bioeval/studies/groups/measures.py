"""Measures of inequality of groups, and their limits.

A percentile interval of a measure such as the largest rate over the smallest never contains
equality, since noise alone moves the measure away from it. So limits of the rates are computed that
hold for all groups together; the limits of a measure are its smallest and its largest value while
all rates are within their limits.
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

    - `far`, `frr` (float (groups, ...)): FAR within each group, and FRR of each group
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
        # Computed from quotients, so that it is exactly 1 if all rates are equal.
        log_quotients = np.log(positive / largest).mean(axis=0)
        measures[f"{name}_max_over_geomean"] = np.exp(-log_quotients)
    return measures


def _range(rates: np.ndarray) -> np.ndarray:
    return rates.max(axis=0) - rates.min(axis=0)


def gini_of_rates(rates: np.ndarray) -> np.ndarray:
    """Return the Gini coefficient, corrected for the number of groups; 0 if all rates are 0.

    It is ``n / (n - 1)`` times ``sum_ij |x_i - x_j| / (2 n^2 mean)``, as in GARBE (Howard and
    others 2022).
    """
    groups = len(rates)
    # In increasing order, a rate enters the sum of differences with the weight 2 * index - n + 1.
    weights = (2 * np.arange(groups) - groups + 1).reshape((groups, *[1] * (rates.ndim - 1)))
    differences = 2 * (weights * np.sort(rates, axis=0)).sum(axis=0)
    mean = rates.mean(axis=0)
    divisor = np.where(mean > 0, mean, 1.0)
    return np.where(mean == 0, 0.0, differences / (2 * max(groups - 1, 1) * groups * divisor))


def measure_limits(
    for_both_rates: Sequence[Limits], for_one_rate: Sequence[Limits], alpha: float
) -> dict[str, Limits]:
    """Return the limits of the measures of groups by name.

    - `for_both_rates`: limits of FAR and of FRR that hold for both rates of all groups together
    - `for_one_rate`: limits of FAR and of FRR; each hold for this one rate of all groups together

    If a limit is NaN, the rate may be anything from 0 to 1.
    """
    far, frr = map(_known, for_both_rates)
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
    for name, rates in zip(("far", "frr"), map(_known, for_one_rate), strict=True):
        limits[f"{name}_max_over_min"] = quotient_limits(*rates)
        limits[f"{name}_max_over_geomean"] = geomean_limits(*rates)
    return {name: (np.array(low), np.array(high)) for name, (low, high) in limits.items()}


def _known(limits: Limits) -> Limits:
    low, high = limits
    return np.where(np.isnan(low), 0.0, low), np.where(np.isnan(high), 1.0, high)


def range_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest range that rates within limits can have."""
    least = max(0.0, float(low.max() - high.min()))
    return least, _largest_of_pairs(high, low, np.subtract)


def quotient_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the limits of the quotient of the largest and the smallest of rates within limits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = max(1.0, float(low.max() / high.min()))
        return least, _largest_of_pairs(high, low, np.divide)


def _largest_of_pairs(
    high: np.ndarray, low: np.ndarray, function: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> float:
    values = np.where(np.eye(len(high), dtype=bool), -np.inf, function(high[:, None], low))
    return float(values.max())


def geomean_limits(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Return the limits of the quotient of the largest rate and the geometric mean of the rates.

    The quotient falls if a rate other than the largest rises. So it is largest if one rate is at
    its upper limit and all other rates are at their lower limits; it is smallest if the largest
    rate is as small as possible, and the other rates are as near to it as possible.
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
    """Return a lower and an upper bound of the Gini coefficient of rates within limits.

    The coefficient is Schur-convex. So among rates with the same sum, it is smallest if all rates
    are as near as possible to one value. Between two limits, the coefficient is a quotient of
    linear functions of this value, so that it is smallest if the value is one of the limits.

    For the upper bound, the lower limits and the upper limits are sorted, and the ``k``-th smallest
    rate is between the ``k``-th of both. The coefficient is largest if the first rates are at their
    lower limits and all further rates at their upper limits. The bound is attained if a group with
    a larger lower limit always has a larger upper limit.
    """
    groups = len(low)
    values = np.concatenate([low, high])
    smallest = float(gini_of_rates(np.clip(values, low[:, None], high[:, None])).min())
    at_low = np.arange(groups)[:, None] < np.arange(groups + 1)
    bound = gini_of_rates(np.where(at_low, np.sort(low)[:, None], np.sort(high)[:, None])).max()
    return smallest, float(bound)
