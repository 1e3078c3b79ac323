"""Results as the plain text of their table."""

from typing import Any

from bioeval.views.sections.evaluation import evaluation_section
from bioeval.views.tasks import datasets
from bioeval.views.terms import words_of
from bioeval.views.writers.terminal import as_text as text_of_section


def as_text(results: Any, width: int = 100) -> str:
    vocabulary = next((words_of(dataset) for _, dataset in datasets(results)), "lecture")
    return text_of_section(evaluation_section(dict(datasets(results))), width, vocabulary)
