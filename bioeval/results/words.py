"""Numbers as text, and the comparisons that a result leaves out, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bioeval.base.errors import printable
from bioeval.scores.provenance import exclusions_of

NOT_DEFINED = "n/a"


def percent(rate: float, digits: str = ".2f", unit: str = " %") -> str:
    """Return a rate in per cent; with digits ``"fine"`` two decimals, or two digits below 0.1 %."""
    if digits == "fine":
        digits = ".2g" if 0 < rate < 0.001 else ".2f"
    text = number(100 * rate, digits)
    return text + unit if rate == rate else text


def decimals_beside(rate: float, *rates: float, least: int = 2) -> int:
    """Return the decimals in per cent of a rate that a sentence compares with other rates.

    As few from `least` on as leave the rate above, or below, each rate that it is above, or below.
    """
    for decimals in range(least, _MOST_DECIMALS):
        rounded = round(100 * rate, decimals)
        if all(_order(rate, x) == _order(rounded, round(100 * x, decimals)) for x in rates):
            return decimals
    return _MOST_DECIMALS


#: Decimals of a rate in per cent at which float64 has no more digits.
_MOST_DECIMALS = 15


def _order(a: float, b: float) -> int:
    """Return 1 where a number is above another one, -1 below, 0 where they are equal or nearly."""
    return 0 if math.isclose(a, b, rel_tol=1e-12) else int(a > b) - int(a < b)


def number(value: float, digits: str = ".4g") -> str:
    """Return a number; with digits ``"p"`` two of them, and small ones as ``< 0.0001``."""
    if math.isnan(value):
        return NOT_DEFINED
    if digits == "p":
        if value < 1e-4:
            return "< 0.0001"
        digits = ".2g"
    return f"{value:{digits}}"


def in_one_precision(values: Sequence[float], digits: int = 4) -> list[str]:
    """Return numbers with equal decimals: as many as a number of these `digits` has at most."""
    texts = [_whole_or(value, f".{digits}g") for value in values]
    decimals = 0
    for text in texts:
        if "e" in text:
            return texts
        decimals = max(decimals, len(text.partition(".")[2]))
    return [number(value, f".{decimals}f") for value in values]


def enumerated(words: Sequence[str], last: str = "and") -> str:
    """Return words as an enumeration: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def threshold_text(value: float | None) -> str:
    """Return a threshold with six digits; whole numbers whole."""
    return "" if value is None else _whole_or(value, ".6g")


def _whole_or(value: float, digits: str) -> str:
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    if whole:
        return str(int(value))
    return number(value, digits)


def excluded(each: Mapping[str, Mapping[Any, Any]]) -> str:
    """Return in words the comparisons left out by metadata; empty without any.

    `each` has the attributes of results by system, whose names are given where these differ.
    """
    texts = list(map(_excluded, each.values()))
    if len(set(texts)) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text or 'none'}" for name, text in zip(each, texts, strict=True))


def _excluded(attrs: Mapping[Any, Any]) -> str:
    """Return what one result leaves out."""
    names = " or ".join(f"the same {printable(name)}" for name in exclusions_of(attrs))
    return f"genuine pairs of {names}" if names else ""
