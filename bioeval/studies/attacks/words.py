"""Thresholds in tables, as text."""

from __future__ import annotations

from typing import Any

from bioeval.results import in_one_precision


def thresholds_in_one_precision(rows: list[list[Any]], column: int) -> list[list[Any]]:
    """Return rows of a table with the thresholds of a column as text of equal decimals."""
    texts = in_one_precision([float(row[column]) for row in rows], 6)
    pairs = zip(rows, texts, strict=True)
    return [[*row[:column], text, *row[column + 1 :]] for row, text in pairs]
