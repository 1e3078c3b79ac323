"""The mean over folds, with the interval of Nadeau and Bengio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy

from bioeval.base.arguments import check_confidence, require_number, require_numbers
from bioeval.stats.options import IntervalMethod

#: Intervals over folds, or over other parts of the same data.
RepeatedInterval = Literal["nadeau-bengio", "quantile"]
REPEATED_INTERVALS: tuple[RepeatedInterval, ...] = get_args(RepeatedInterval)

_SPREAD = (
    "central quantiles of the repeats themselves: how a rate depends on the draw of parts and "
    "claims, among these same subjects; no confidence interval for other subjects"
)

_CORRECTED = (
    "of the mean, corrected for overlapping training parts (Nadeau and Bengio 2003); a heuristic"
)


@dataclass(frozen=True)
class RepeatedMean:
    """The mean of a rate over folds, with its interval.

    Attributes
    ----------
    mean : float
        Over the folds that are not NaN.
    sd : float
        Standard deviation between these folds (``ddof = 1``).
    low, high : float
        The interval; NaN with fewer than two folds.
    folds : int
        Number of folds that are not NaN.
    """

    mean: float
    sd: float
    low: float
    high: float
    folds: int


def nadeau_bengio(
    values: Any, *, test_size: float, train_size: float, confidence: float = 0.95
) -> RepeatedMean:
    """Return the mean over folds with the interval of Nadeau and Bengio.

    The training parts of folds overlap, so their rates are not independent, and the usual
    standard error of a mean is too small. Nadeau and Bengio replace ``1 / J`` by
    ``1 / J + test_size / train_size``: with the variance ``s^2`` between the ``J`` folds,
    the interval is ``mean +- t(J - 1) sqrt((1 / J + test_size / train_size) s^2)``.

    Parameters
    ----------
    values : array_like
        The rate in each fold, of all repeats. NaN marks a fold whose class had no attempt; it is
        left out.
    test_size, train_size : float
        Sizes of the two parts of a fold, in subjects (in pairs where the folds are of pairs).
    confidence : float
        Confidence in (0, 1).

    Returns
    -------
    RepeatedMean

    Raises
    ------
    DataError
        If a size is not positive, or the confidence not inside (0, 1).

    Notes
    -----
    A heuristic without a proven coverage; the dependence of pairs that share subjects enters
    only through the spread between folds. The limits are not clipped to [0, 1]. Nadeau, C.,
    Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281,
    equation 10; for repeated folds: Bouckaert, R. R., Frank, E. (2004), PAKDD.

    Examples
    --------
    >>> from bioeval.stats import nadeau_bengio
    >>> found = nadeau_bengio([0.02, 0.04, 0.03, 0.03], test_size=10, train_size=30)
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.03, 0.0102, 0.0498)
    """
    test = require_number("test_size", test_size, above=0)
    train = require_number("train_size", train_size, above=0)
    confidence = check_confidence(confidence)
    array = require_numbers("values", values).ravel()
    array = array[~np.isnan(array)]
    folds = len(array)
    mean = float(array.mean()) if folds else float("nan")
    if folds < 2:
        return RepeatedMean(mean, float("nan"), float("nan"), float("nan"), folds)
    sd = float(array.std(ddof=1))
    half = float(half_width(folds, sd, test / train, confidence))
    return RepeatedMean(mean, sd, mean - half, mean + half, folds)


def half_width(folds: Any, sd: Any, ratio: Any, confidence: float) -> Any:
    """Return half of the intervals of Nadeau and Bengio; `ratio` is test over training size."""
    quantile = scipy.special.stdtrit(folds - 1, 0.5 + confidence / 2)
    return quantile * sd * (1 / folds + ratio) ** 0.5


def attrs_of_interval(interval: IntervalMethod) -> dict[str, str | float]:
    """Return the attributes of results over folds with this interval."""
    attrs: dict[str, str | float] = {
        "interval_method": interval.method,
        "confidence": interval.confidence,
        "interval_unit": "folds",
    }
    if interval.method == "quantile":
        return attrs | {"interval": _SPREAD, "interval_for": "these people"}
    return attrs | {"interval": _CORRECTED, "interval_for": "folds like these"}
