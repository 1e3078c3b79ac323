"""Limits of the differences of rates of groups which hold for all pairs of groups together.

Rates of few errors are skewed, and so are their differences: a difference gets its limits from
those of its rates, which are not symmetric. With ``e_i`` and ``e_j`` how far the limits of two
rates are away on the sides that move their difference ``d`` down, the lower limit is ``d -
sqrt(e_i^2 + e_j^2)``, and the upper one likewise: groups have no person in common, so that the
errors of their rates are independent (Zou and Donner 2008, Construction of confidence limits about
effect measures, Statistics in Medicine 27, 1693-1702; for two independent proportions Newcombe
1998, Statistics in Medicine 17, 873-890). The limits of the rates are at the level at which the
largest of the standardised differences keeps within them (as Agresti, Bini, Bertaccini and Ryu
2008, Simultaneous confidence intervals for comparing binomial parameters, Biometrics 64,
1270-1275).
"""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.base.random import Stream
from bioeval.stats.limits import Limits
from bioeval.stats.simultaneous import DRAWS

# Numbers of a temporary array.
_MOST_VALUES = 1 << 22

# Variances that are below this part of the largest one are rounding.
_ROUNDING = 1e-12


def level_together(variance: np.ndarray, confidence: float, stream: Stream) -> float:
    """Return the level of each difference of two rates at which all of them hold together.

    `variance` is that of the errors of each rate. Differences without variance do not enter.
    """
    one, other = np.triu_indices(len(variance), 1)
    spread = np.sqrt(variance[one] + variance[other])
    varies = spread > _ROUNDING * max(float(spread.max(initial=0.0)), _ROUNDING)
    one, other, spread = one[varies], other[varies], spread[varies]
    if len(one) < 2:
        return confidence
    # A rate without variance gets one that is small beside the smallest of the others.
    least = variance[variance > 0].min()
    error = np.sqrt(variance + _ROUNDING * np.where(variance > 0, variance, least))
    drawn = error[:, None] * stream.normals(len(variance), DRAWS)
    largest = np.zeros(DRAWS)
    step = max(1, _MOST_VALUES // DRAWS)
    for low in range(0, len(one), step):
        part = slice(low, low + step)
        away = np.abs(drawn[one[part]] - drawn[other[part]]) / spread[part, None]
        largest = np.maximum(largest, away.max(axis=0))
    return float(2 * scipy.special.ndtr(np.quantile(largest, confidence)) - 1)


def limits_of_differences(rates: np.ndarray, limits: Limits) -> Limits:
    """Return the limits of the difference of each two rates from the limits of the rates."""
    one, other = np.triu_indices(len(rates), 1)
    below, above = rates - limits[0], limits[1] - rates
    difference = rates[one] - rates[other]
    low = difference - np.sqrt(below[one] ** 2 + above[other] ** 2)
    return low, difference + np.sqrt(above[one] ** 2 + below[other] ** 2)
