"""Views of results: tables and plots."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.views.images": ("Images",),
    "bioeval.views.messages": ("sentence_about", "warn_of_kind"),
    "bioeval.views.sections.evaluation": (
        "details_of_task",
        "fusion_in_words",
        "is_identification",
        "rows_of_task",
    ),
    "bioeval.views.sections.header": ("about", "alarms_of", "optimistic"),
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
    "bioeval.views.terms": ("words_of",),
    "bioeval.views.thumbnails": ("Thumbnail", "pictures_of_templates"),
    "bioeval.views.writers.data": ("as_data", "columns_of_table", "rows_of_table"),
    "bioeval.views.writers.columns": ("PrintedColumn", "printed_columns"),
    "bioeval.views.writers.html": ("HtmlLines",),
    "bioeval.views.writers.lines": ("Lines", "written"),
    "bioeval.views.writers.numbers": ("Printed", "printed"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
