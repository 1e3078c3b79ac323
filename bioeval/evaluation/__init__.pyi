"""What studies use of this package."""

from bioeval.evaluation.all_tasks import check_systems as check_systems, evaluate as evaluate
from bioeval.evaluation.blocks.calls import distributable as distributable
from bioeval.evaluation.blocks.checkpoint import digest_of_data as digest_of_data
from bioeval.evaluation.identification import closed_set as closed_set, open_set as open_set
from bioeval.evaluation.plan import (
    EvaluationOptions as EvaluationOptions,
    Plan as Plan,
    compared as compared,
    resolve_card as resolve_card,
)
from bioeval.evaluation.task_counts import TaskCounts as TaskCounts
from bioeval.evaluation.task_plan import TaskPlan as TaskPlan
from bioeval.evaluation.threshold_choice import (
    attempts_within as attempts_within,
    chosen_threshold as chosen_threshold,
)
from bioeval.evaluation.verification_task import verification as verification
