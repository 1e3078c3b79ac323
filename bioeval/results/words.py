"""Numbers, and methods of intervals, as text."""

from __future__ import annotations

import math

NOT_DEFINED = "n/a"

#: Methods of intervals whose name alone does not say what is done.
_METHODS = {
    "people": "jackknife over people",
    "subject-bootstrap": "bootstrap over people",
    "sequence-jackknife": "jackknife over sequences",
    "nadeau-bengio": "Nadeau and Bengio (approximate)",
    "quantile": "the middle of the values (no confidence interval)",
}


def percent(rate: float, digits: str = ".2f", unit: str = " %") -> str:
    """Return a rate in per cent; with digits ``"fine"`` two decimals, or two digits below 0.1 %."""
    if digits == "fine":
        digits = ".2g" if 0 < rate < 0.001 else ".2f"
    text = number(100 * rate, digits)
    return text + unit if rate == rate else text


def number(value: float, digits: str = ".4g") -> str:
    """Return a number as text; digits ``"p"``: two digits, and ``< 0.0001`` below 0.0001."""
    if math.isnan(value):
        return NOT_DEFINED
    if digits == "p":
        if value < 1e-4:
            return "< 0.0001"
        digits = ".2g"
    return f"{value:{digits}}"


def method_in_words(name: str) -> str:
    return _METHODS.get(name, name)
