"""The area under the ROC of independent attempts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from bioeval.errors import DataError, require_choice
from bioeval.stats.options import CONFIDENCE, check_confidence
from bioeval.stats.results import Interval

KINDS = ("distance", "similarity")


def delong(
    genuine: Any, impostor: Any, confidence: float = CONFIDENCE, kind: str = "distance"
) -> Interval:
    """Return the AUC with the interval of DeLong, DeLong and Clarke-Pearson.

    **It assumes that attempts are independent.** Attempts that share a person are not, and then
    it is far too narrow: use the subject bootstrap.

    Parameters
    ----------
    genuine, impostor : array_like of float, shape (g,) and (i,)
        The scores of each class; infinite ones are legal, NaN is not.
    confidence : float
        Of both sides together.
    kind : {"distance", "similarity"}

    Returns
    -------
    Interval
        NaN where a class has no attempt; ends are NaN where a class has fewer than two.

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
    require_choice("kind", kind, KINDS)
    confidence = check_confidence(confidence)
    sign = -1.0 if kind == "similarity" else 1.0
    g, i = (_scores(x, name) * sign for x, name in ((genuine, "genuine"), (impostor, "impostor")))
    label = "delong (independent attempts)"
    if not len(g) or not len(i):
        return Interval(np.nan, np.nan, np.nan, confidence, label)
    g, i = np.sort(g), np.sort(i)
    # The share of the other class on the right side of each score, ties one half.
    right = (len(i) - (np.searchsorted(i, g) + np.searchsorted(i, g, "right")) / 2) / len(i)
    left = (np.searchsorted(g, i) + np.searchsorted(g, i, "right")) / 2 / len(g)
    area = float(right.mean())
    if min(len(g), len(i)) < 2:
        return Interval(area, np.nan, np.nan, confidence, label)
    spread = np.sqrt(right.var(ddof=1) / len(g) + left.var(ddof=1) / len(i))
    half = float(ndtri(0.5 + confidence / 2) * spread)
    return Interval(area, max(0.0, area - half), min(1.0, area + half), confidence, label)


def _scores(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or np.isnan(array).any():
        raise DataError(f"{name} has shape {array.shape}; expected one dimension without NaN")
    return array
