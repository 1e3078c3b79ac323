"""The interval of a mean over folds, after Nadeau and Bengio."""

from __future__ import annotations

from typing import Any, Literal, get_args

import scipy

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


def half_width(folds: Any, sd: Any, ratio: Any, confidence: float) -> Any:
    """Return half of the intervals of Nadeau and Bengio; `ratio` is test over training size.

    The training parts of `folds` overlap, so that their rates are not independent, and the usual
    variance ``sd^2 / J`` of a mean is too small: ``1 / J + ratio`` replaces ``1 / J``. A heuristic
    without a proven coverage. Nadeau, C., Bengio, Y. (2003). Inference for the generalization
    error. *Machine Learning* 52, 239-281, equation 10; for repeated folds: Bouckaert, R. R., Frank,
    E. (2004), PAKDD.
    """
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
