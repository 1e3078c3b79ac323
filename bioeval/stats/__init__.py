"""How sure a rate is."""

from __future__ import annotations

from bioeval.stats.repeated import RepeatedMean, nadeau_bengio

__all__ = ["RepeatedMean", "nadeau_bengio"]
