"""The public calls: one task, a card, rates at a threshold."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.evaluation.all_tasks": ("check_systems",),
    "bioeval.evaluation.plan": ("EvaluationOptions", "Plan", "compared", "resolve_card"),
    "bioeval.evaluation.task_counts": ("TaskCounts",),
    "bioeval.evaluation.threshold_choice": ("chosen_threshold",),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
