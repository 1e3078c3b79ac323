"""Cells of CSV files that a spreadsheet would run as formulas get an apostrophe in front."""

from __future__ import annotations

import re

# The beginning of a cell that a spreadsheet runs, unless the cell is a number. Apostrophes before
# it count, so that reading takes away one apostrophe for each that writing has added.
_RUNS = re.compile(r"'*[=+\-@\t\r].", re.DOTALL)
_NUMBER = re.compile(
    r"'*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*%?|inf(inity)?|nan)", re.IGNORECASE | re.ASCII
)


def as_cell(text: str) -> str:
    """Return a text as a cell that no spreadsheet runs.

    Examples
    --------
    >>> as_cell("=1+1"), as_cell("-0.5"), as_cell("ann")
    ("'=1+1", '-0.5', 'ann')
    """
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def from_cell(text: str) -> str:
    """Return the text of a cell that :func:`as_cell` wrote.

    Examples
    --------
    >>> from_cell("'=1+1"), from_cell("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text[:1] == "'" and as_cell(text) != text else text
