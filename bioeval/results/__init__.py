"""Tallies into labelled rates, one file for each task; no result reads a score matrix."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.results.dataset": (
        "Scalars",
        "Variables",
        "about_attrs",
        "attrs_of_data",
        "along",
        "build",
        "decisions",
        "rate",
        "task_code",
        "tree_of",
    ),
    "bioeval.results.histogram": ("ScoreHistograms",),
    "bioeval.results.identification": (
        "ClosedSetCounts",
        "OpenSetAttempts",
        "OpenSetCounts",
        "OpenSetPoints",
    ),
    "bioeval.results.layouts": ("Layout", "expanded"),
    "bioeval.results.query_means": ("MatchCurve", "QueryMean", "QueryMeasures"),
    "bioeval.results.saved": ("read_results",),
    "bioeval.results.actual_costs": ("actual_costs_above_1",),
    "bioeval.results.support": (
        "ComparedPeople",
        "KindVerdict",
        "RuleOf",
        "support_messages",
    ),
    "bioeval.results.threshold_lookup": ("ResultThresholds",),
    "bioeval.results.verification": (
        "doubt_of_kind",
        "verification_dataset",
        "verification_scalars",
    ),
    "bioeval.results.words": (
        "excluded",
        "in_one_precision",
        "percent",
        "threshold_text",
    ),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
