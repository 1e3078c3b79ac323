"""Cross-evaluation: thresholds are chosen on one part of the data and judged on another."""

from __future__ import annotations

from bioeval.evaluation.cross.evaluation import cross_evaluate
from bioeval.evaluation.cross.repeat import repeat
from bioeval.evaluation.cross.scorers import eer_scorer, make_scorer
from bioeval.evaluation.cross.threshold_study import study_threshold

__all__ = ["cross_evaluate", "eer_scorer", "make_scorer", "repeat", "study_threshold"]
