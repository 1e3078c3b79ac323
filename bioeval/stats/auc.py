"""Confidence interval of the AUC by DeLong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.base.arguments import CONFIDENCE, check_confidence, require_numbers
from bioeval.base.errors import DataError, require_choice
from bioeval.base.kinds import VALUED, Kind, larger_is_closer
from bioeval.stats.replicates import Interval


def delong(
    genuine: Any,
    impostor: Any,
    confidence: float = CONFIDENCE,
    kind: Kind = "distance",
) -> Interval:
    """Return the AUC with the interval of DeLong, DeLong and Clarke-Pearson.

    **It assumes independent attempts.** Attempts that share a subject are dependent, and the
    interval is then far too narrow: use the subject bootstrap.

    Parameters
    ----------
    genuine, impostor : array_like of float, shape (g,) and (i,)
        The scores of each class; infinite ones are legal, NaN is not.
    confidence : float
        Two-sided confidence level.
    kind : {"distance", "similarity", "llr"}

    Returns
    -------
    Interval
        NaN where a class has no attempt; the limits are NaN where a class has only one.

    Notes
    -----
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44. Ties count one half. By sorting, as
    in Sun and Xu (2014), IEEE Signal Processing Letters 21.

    Examples
    --------
    >>> from bioeval import stats
    >>> found = stats.delong([0.1, 0.2, 0.5, 0.4], [0.3, 0.6, 0.9, 0.8, 0.7])
    >>> print(f"{found.estimate:.2f} [{found.low:.3f}, {found.high:.3f}]")
    0.90 [0.674, 1.000]
    """
    require_choice("kind", kind, VALUED)
    confidence = check_confidence(confidence)
    sign = -1.0 if larger_is_closer(kind) else 1.0
    g = _scores(genuine, "genuine") * sign
    i = _scores(impostor, "impostor") * sign
    label = "delong (independent attempts)"
    if not len(g) or not len(i):
        return Interval(np.nan, np.nan, np.nan, confidence, label)
    right, left = _right(g, np.sort(i)) / len(i), _below(i, np.sort(g)) / len(g)
    area = float(right.mean())
    if min(len(g), len(i)) < 2:
        return Interval(area, np.nan, np.nan, confidence, label)
    spread = np.sqrt(right.var(ddof=1) / len(g) + left.var(ddof=1) / len(i))
    half = float(scipy.special.ndtri(0.5 + confidence / 2) * spread)
    return Interval(area, max(0.0, area - half), min(1.0, area + half), confidence, label)


def _right(genuine: np.ndarray, impostor: np.ndarray) -> np.ndarray:
    """Return the number of sorted impostor scores above each genuine one, ties as one half."""
    below = np.searchsorted(impostor, genuine) + np.searchsorted(impostor, genuine, "right")
    return len(impostor) - below / 2


def _below(impostor: np.ndarray, genuine: np.ndarray) -> np.ndarray:
    """Return the number of sorted genuine scores below each impostor one, ties as one half."""
    return (np.searchsorted(genuine, impostor) + np.searchsorted(genuine, impostor, "right")) / 2


def _scores(values: Any, name: str) -> np.ndarray:
    array = require_numbers(name, values)
    if array.ndim != 1 or np.isnan(array).any():
        raise DataError(f"{name} has shape {array.shape}; expected one dimension without NaN")
    return array
