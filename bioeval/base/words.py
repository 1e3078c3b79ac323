"""Numbers in sentences."""

from __future__ import annotations


def counted(number: float, nouns: str) -> str:
    """Return a whole number with its noun, given as a plural: ``1 subject``, ``2,000 subjects``."""
    return f"{number:,.0f} {nouns.removesuffix('s') if number == 1 else nouns}"
