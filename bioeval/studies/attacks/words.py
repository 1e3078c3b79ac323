"""Thresholds in tables, as text, and their order in results."""

from __future__ import annotations

from typing import Any

from bioeval.base import larger_is_closer
from bioeval.results import in_one_precision


def in_order_of_scores(kind: str) -> slice:
    """Return what puts values at increasing distances in the order of increasing scores."""
    if larger_is_closer(kind):
        return slice(None, None, -1)
    return slice(None)


def thresholds_in_one_precision(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """Return rows of a table with the thresholds of a column as text of equal decimals."""
    texts = in_one_precision([float(row[column]) for row in rows], 6)
    pairs = zip(rows, texts, strict=True)
    return [[*row[:column], text, *row[column + 1 :]] for row, text in pairs]
