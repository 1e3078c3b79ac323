"""Limits of a rate by leaving out each person, on the logit scale."""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.stats.binomial import clopper_pearson, zero_error_bound

# Rates are quotients of counts, perhaps of interpolated ones.
_ROUNDING = 1e-12


def left_out_limits(
    rate: float, without: np.ndarray, trials: int, confidence: float
) -> tuple[float, float]:
    """Return limits ``logit(rate) -+ t s`` of a rate, with `s` of the logits of those `without`.

    - `without` (float64 (people,)): the rate without each person; NaN where nothing is left
    - `trials`: independent trials, people or disjoint pairs of people. Where there is no error, or
      one person makes all of them, the spread of people shows nothing, and there is only the bound
      of so many trials of which none, or one, erred
    """
    people = len(without)
    if people < 2 or not trials or np.isnan(rate):
        return np.nan, np.nan
    known = without[~np.isnan(without)]
    low, high = 0.0, 1.0
    none, all_ = (known <= _ROUNDING).any(), (known >= 1 - _ROUNDING).any()
    if none:
        high = _bound(rate, trials, confidence)
    if all_:
        low = 1 - _bound(1 - rate, trials, confidence)
    if none or all_ or len(known) < people:
        return low, high
    moved = scipy.special.logit(known)
    spread = np.sqrt((people - 1) / people * ((moved - moved.mean()) ** 2).sum())
    half = scipy.special.stdtrit(people - 1, 0.5 + confidence / 2) * spread
    middle = scipy.special.logit(rate)
    return float(scipy.special.expit(middle - half)), float(scipy.special.expit(middle + half))


def _bound(rate: float, trials: int, confidence: float) -> float:
    """Return the upper bound of a rate where none, or one, of the independent trials erred."""
    if rate <= _ROUNDING:
        return float(zero_error_bound(trials, confidence))
    return max(float(clopper_pearson(1, trials, confidence)[1]), rate)
