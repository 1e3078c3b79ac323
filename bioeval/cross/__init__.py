"""Cross-evaluation: thresholds are chosen on one part of the data and judged on another."""

from __future__ import annotations

from bioeval.cross.evaluation import cross_evaluate

__all__ = ["cross_evaluate"]
