"""Typed documents: what a study says of its results, before a writer makes text of it."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.base.messages": ("Message", "MessageType", "messages_of"),
    "bioeval.document.blocks": (
        "Block",
        "Column",
        "Fact",
        "Facts",
        "Figure",
        "Messages",
        "Paragraph",
        "ResultsBySystem",
        "Section",
        "Table",
        "Vocabulary",
        "tables",
        "walk",
    ),
    "bioeval.document.catalogue": ("catalogue", "sentence_of"),
    "bioeval.document.cells": (
        "Cell",
        "Cost",
        "Count",
        "Duration",
        "Flag",
        "Interval",
        "Label",
        "Labels",
        "Missing",
        "Moment",
        "Number",
        "Picture",
        "Probability",
        "Quantity",
        "Rate",
        "Score",
        "Size",
        "Strong",
        "threshold_to_install",
    ),
    "bioeval.document.results": (
        "data_facts",
        "interval_note",
        "messages_of_result",
        "people_and_attempts",
        "result_messages",
        "rule_in_words",
        "table_of_variables",
        "threshold_choice",
    ),
    "bioeval.document.scalars": ("cell_of_scalar", "label_of"),
    "bioeval.document.terms": (
        "RATES",
        "VOCABULARIES",
        "in_other_vocabulary",
        "rate_of_term",
        "word_for",
    ),
    "bioeval.document.text": ("Enumeration", "Phrase", "Term", "Text", "parts", "say"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
