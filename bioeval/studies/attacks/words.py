"""Rates and thresholds in tables, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bioeval.results.words import in_one_precision, percent


def rate_with_limits(found: Mapping[Any, Any], name: str, i: int | None = None) -> str:
    """Return a rate of a result in per cent, with its interval where there is one."""
    names = [x for x in (name, f"{name}_low", f"{name}_high") if x in found]
    value, *limits = (float(found[x] if i is None else found[x][i]) for x in names)
    text = percent(value)
    return f"{text} [{', '.join(percent(x, unit='') for x in limits)}]" if limits else text


def thresholds_in_one_precision(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """Return rows of a table with the thresholds of a column as text of equal decimals."""
    texts = in_one_precision([float(row[column]) for row in rows], 6)
    pairs = zip(rows, texts, strict=True)
    return [[*row[:column], text, *row[column + 1 :]] for row, text in pairs]
