"""Functions of FAR and FRR that scripts give: tried before they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError

RateFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Rates with which a function is tried: many small ones, at which systems are operated.
_TRIED = np.union1d(np.linspace(0, 1, 51), np.geomspace(1e-6, 0.1, 26))

#: Of the largest value; smaller steps back are of rounding.
_ROUNDING = 1e-12


def tried_function(of_rates: Callable[..., Any], bounds: tuple[float, float]) -> RateFunction:
    """Return a function of FAR and FRR that cannot change them and returns an array of its own.

    Raise :class:`DataError` unless it is monotone in each rate and within its bounds.
    """

    def function(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        try:
            values = of_rates(_read_only(far), _read_only(frr))
            values = np.array(values).astype(np.float64, casting="same_kind")
        except Exception as error:
            raise DataError(
                f"{Argument('of_rates')} fails on arrays of FAR and FRR, which it cannot change: "
                f"{type(error).__name__}: {error}"
            ) from error
        if values.shape != np.shape(far):
            raise DataError(
                f"{Argument('of_rates')} returns shape {values.shape} for rates of shape "
                f"{np.shape(far)}; expected the same shape"
            )
        return values

    far, frr = np.meshgrid(_TRIED, _TRIED, indexing="ij")
    with np.errstate(all="ignore"):
        values = function(far, frr)
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise DataError(
            f"{Argument('of_rates')} is infinite or NaN at all rates; expected numbers within "
            f"{Argument('bounds', bounds)}"
        )
    least, most = float(finite.min()), float(finite.max())
    rounding = _ROUNDING * max(1.0, abs(least), abs(most))
    for axis, rate in enumerate(("FAR", "FRR")):
        with np.errstate(invalid="ignore"):
            steps = np.diff(values, axis=axis)
        steps = steps[np.isfinite(steps)]
        if (steps > rounding).any() and (steps < -rounding).any():
            raise DataError(
                f"{Argument('of_rates')} is not monotone in {rate}: it rises and falls; a measure "
                "of the scores themselves is one for make_scorer"
            )
    low, high = bounds
    if least < low - 1e-9 or most > high + 1e-9:
        raise DataError(
            f"{Argument('of_rates')} is {least:g} to {most:g}; expected values within "
            f"{Argument('bounds', bounds)}"
        )
    return function


def _read_only(rates: np.ndarray) -> np.ndarray:
    """Return a view through which nothing can be written."""
    view = np.asarray(rates).view()
    view.flags.writeable = False
    return view
