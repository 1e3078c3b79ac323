"""Cross-evaluation: thresholds are chosen on one part of the data and judged on another."""

from __future__ import annotations

from bioeval.cross.evaluation import cross_evaluate
from bioeval.cross.repeating import repeat
from bioeval.cross.scorers import eer_scorer, make_scorer
from bioeval.cross.study import study_threshold

__all__ = ["cross_evaluate", "eer_scorer", "make_scorer", "repeat", "study_threshold"]
