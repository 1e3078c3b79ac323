"""Thresholds and rates in tables, as text, and the order of thresholds in results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bioeval.base import larger_is_closer
from bioeval.results import in_one_precision, percent


def in_order_of_scores(kind: str) -> slice:
    """Return what puts values at increasing distances in the order of increasing scores."""
    return slice(None, None, -1) if larger_is_closer(kind) else slice(None)


def thresholds_in_one_precision(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """Return rows of a table with the thresholds of a column as text of equal decimals."""
    texts = in_one_precision([float(row[column]) for row in rows], 6)
    pairs = zip(rows, texts, strict=True)
    return [[*row[:column], text, *row[column + 1 :]] for row, text in pairs]


def rate_with_limits(
    rates: Mapping[Any, Any], name: str, i: int | None = None, unit: str = " %"
) -> str:
    """Return a rate of a result in per cent, with its interval where there is one."""
    limits = []
    for end in (f"{name}_low", f"{name}_high"):
        if end in rates:
            limits.append(percent(_value_at(rates[end], i), unit=""))
    text = percent(_value_at(rates[name], i), unit=unit)
    if limits:
        return f"{text} [{', '.join(limits)}]"
    return text


def _value_at(values: Any, i: int | None) -> float:
    return float(values if i is None else values[i])
