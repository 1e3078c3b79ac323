"""Limits of sums and differences of rates which hold for all of them together.

Rates of few errors are skewed, and so are their differences: a difference gets its limits from
those of its rates, which are not symmetric. With ``e_i`` how far the limit of rate ``i`` is away on
the side that moves the sum ``s = sum_i c_i x_i`` down, and ``r_ij`` the correlation of the errors
of two rates, the lower limit is ``s - sqrt(sum_ij c_i c_j e_i e_j r_ij)``, and the upper one
likewise (Zou and Donner 2008, Construction of confidence limits about effect measures, Statistics
in Medicine 27, 1693-1702; for two independent proportions Newcombe 1998, Statistics in Medicine 17,
873-890). The limits of the rates are at the level at which the largest of the standardised sums
keeps within them (as Agresti, Bini, Bertaccini and Ryu 2008, Simultaneous confidence intervals for
comparing binomial parameters, Biometrics 64, 1270-1275).
"""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.base.random import Stream
from bioeval.stats.options import Limits
from bioeval.stats.simultaneous import DRAWS

# Numbers of a temporary array.
_MOST_VALUES = 1 << 22

# Variances that are below this part of the largest one are rounding.
_ROUNDING = 1e-12


def all_pairs(number: int) -> np.ndarray:
    """Return the differences of each two of some rates: a row with 1 and -1 for each pair."""
    first, second = np.triu_indices(number, 1)
    rows = np.zeros((len(first), number))
    at = np.arange(len(first))
    rows[at, first], rows[at, second] = 1, -1
    return rows


def level_together(
    sums: np.ndarray, covariance: np.ndarray, confidence: float, stream: Stream
) -> float:
    """Return the level of each of some sums at which all of them hold together.

    Parameters
    ----------
    sums : float64 array, shape (sums, rates)
        The coefficients of each sum.
    covariance : float64 array, shape (rates, rates)
        Of the errors of the rates. Sums without variance do not enter.
    """
    spread = np.sqrt(np.maximum(np.einsum("si,ij,sj->s", sums, covariance, sums), 0.0))
    varies = spread > _ROUNDING * max(float(spread.max(initial=0.0)), _ROUNDING)
    sums, spread = sums[varies], spread[varies]
    if len(sums) < 2:
        return confidence
    variance = np.diag(covariance)
    # A rate without variance gets one that is small beside the smallest of the others.
    least = variance[variance > 0].min()
    rounded = np.diag(_ROUNDING * np.where(variance > 0, variance, least))
    drawn = np.linalg.cholesky(covariance + rounded) @ stream.normals(len(covariance), DRAWS)
    largest = np.zeros(DRAWS)
    step = max(1, _MOST_VALUES // DRAWS)
    for low in range(0, len(sums), step):
        part = slice(low, low + step)
        away = np.abs(sums[part] @ drawn) / spread[part, None]
        largest = np.maximum(largest, away.max(axis=0))
    return float(2 * scipy.special.ndtr(np.quantile(largest, confidence)) - 1)


def limits_of_sums(
    sums: np.ndarray, rates: np.ndarray, limits: Limits, correlation: np.ndarray
) -> Limits:
    """Return the limits of sums of rates from the limits of the rates.

    Parameters
    ----------
    sums : float64 array, shape (sums, rates)
        The coefficients of each sum.
    rates : float64 array, shape (rates,)
    limits : pair of float64 arrays, shape (rates,)
    correlation : float64 array, shape (rates, rates)
        Of the errors of the rates.
    """
    below, above = rates - limits[0], limits[1] - rates
    value = sums @ rates

    def half(falling: np.ndarray, rising: np.ndarray) -> np.ndarray:
        """Return how far the sums move where rates with positive coefficients fall."""
        moved = sums * np.where(sums > 0, falling, rising)
        return np.sqrt(np.maximum(np.einsum("si,ij,sj->s", moved, correlation, moved), 0.0))

    return value - half(below, above), value + half(above, below)
