"""Tables of results: for the terminal, a paper and a notebook.

``sections`` selects the values of the datasets, ``layout`` formats them, and ``result_table`` lays
them out, under a header and above the remarks; ``blocks`` shows the results of studies.
"""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.views.tables.layout": (
        "decimals_for",
        "grid",
        "indented",
        "mean_text",
        "plain_table",
        "warned",
    ),
    "bioeval.views.tables.registry": ("answer_to",),
    "bioeval.views.tables.result_table": (
        "about",
        "alarms",
        "intervals",
        "optimistic",
        "warnings",
    ),
    "bioeval.views.tables.sections": ("fusion_in_words", "section"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
