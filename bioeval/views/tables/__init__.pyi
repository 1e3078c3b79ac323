"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.views.tables.layout import (
    decimals_for as decimals_for,
    grid as grid,
    indented as indented,
    mean_text as mean_text,
    plain_table as plain_table,
    warned as warned,
)
from bioeval.views.tables.registry import answer_to as answer_to
from bioeval.views.tables.result_table import (
    about as about,
    alarms as alarms,
    intervals as intervals,
    optimistic as optimistic,
    warnings as warnings,
)
from bioeval.views.tables.sections import fusion_in_words as fusion_in_words, section as section
