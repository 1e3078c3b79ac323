"""Views of results: tables and plots."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.views.images": ("Images",),
    "bioeval.views.messages": ("sentence_about", "sentences", "warn_of_kind"),
    "bioeval.views.sections.evaluation": ("is_identification",),
    "bioeval.views.sections.summary": ("figures", "task_of_rates"),
    "bioeval.views.show": ("Shown",),
    "bioeval.views.tasks": (
        "TASKS",
        "Averaged",
        "averaged",
        "datasets",
        "report_ranks",
        "system_of",
        "systems",
        "unit_of",
        "value_of",
    ),
    "bioeval.views.terms": ("term_translator",),
    "bioeval.views.thumbnails": ("Thumbnail", "pictures_of_templates"),
    "bioeval.views.writers.data": ("columns_of_table", "rows_of_table"),
    "bioeval.views.writers.lines": ("Lines", "written"),
    "bioeval.views.writers.numbers": ("in_six_digits",),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
