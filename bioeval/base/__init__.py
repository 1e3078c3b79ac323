"""Common to all layers: errors, result variables, argument checks, random numbers."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.base.arguments": (
        "require_array",
        "require_callable",
        "require_flag",
        "require_increasing_proportions",
        "require_integer",
        "require_list",
        "require_number",
        "require_numbers",
        "require_path",
        "require_text",
    ),
    "bioeval.base.environment": ("source_date",),
    "bioeval.base.errors": (
        "Argument",
        "Part",
        "Words",
        "chosen_task",
        "counted",
        "enumerated",
        "nearest_name",
        "printable",
        "received",
        "require_choice",
        "short_name",
    ),
    "bioeval.base.kinds": (
        "Kind",
        "larger_is_closer",
        "noun_of",
    ),
    "bioeval.base.memory": (
        "at_most",
        "in_words",
        "physical_memory",
        "require_memory",
    ),
    "bioeval.base.panels": ("panel",),
    "bioeval.base.progress": (
        "report",
        "reporter",
        "rows_reported",
        "rows_reported_to",
        "stage",
        "steps_reported",
    ),
    "bioeval.base.random": (
        "RandomState",
        "Stream",
        "seed_sequence",
    ),
    "bioeval.base.registry": (
        "names_of",
        "scalar_registry",
    ),
    "bioeval.base.scalars": (
        "MATCH_SUMS",
        "Name",
        "POINTS_OF_PARTS",
        "QUERY_MEANS",
        "Scalar",
        "rates_of",
    ),
    "bioeval.base.variables": (
        "Bootstrap",
        "IntervalMethod",
    ),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
