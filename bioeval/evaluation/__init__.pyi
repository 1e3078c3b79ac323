"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.evaluation.all_tasks import check_systems as check_systems
from bioeval.evaluation.blocks.calls import distributable as distributable
from bioeval.evaluation.plan import (
    EvaluationOptions as EvaluationOptions,
    Plan as Plan,
    compared as compared,
    resolve_card as resolve_card,
)
from bioeval.evaluation.task_counts import TaskCounts as TaskCounts
from bioeval.evaluation.threshold_choice import (
    attempts_within as attempts_within,
    chosen_threshold as chosen_threshold,
)
