"""What is said of every result: commands print it, and ``be.show`` shows it.

A result is a document of its numbers (:mod:`bioeval.showing.document`); of records, such as the
worst pairs, it is a document of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.showing.blocks import Paragraph, Section
from bioeval.showing.cells import Label
from bioeval.showing.document import Detail, section_of, table_of_measures
from bioeval.showing.nodes import Node, nodes_of
from bioeval.showing.printing import Shown
from bioeval.showing.record_documents import (
    conventions_section,
    ranks_section,
    worst_pairs_section,
)
from bioeval.showing.text import Text, say
from bioeval.showing.vocabulary import words_of
from bioeval.showing.writers.terminal import TerminalDocument

#: The documents of records, by the type of their result.
_OF_RECORDS: Mapping[str, Callable[[xr.Dataset, Detail], Section]] = {
    "ranks": ranks_section,
    "conventions": conventions_section,
    "worst-pairs": worst_pairs_section,
}


def document_of(
    results: Any,
    vocabulary: str = "",
    words: Callable[[str], str] = str,
    lines: Sequence[Text] = (),
    *,
    detail: Detail = "all",
) -> TerminalDocument:
    """Return what is said of any result, or of several by name, as a document that rich can print.

    The terms are those of the results unless a `vocabulary` is given; `words` returns a text with
    arguments as a surface has them; `lines` stand below. Raise :class:`DataError` for anything
    else.
    """
    sections = sections_of(results, detail)
    section = sections[0]
    if len(sections) + len(lines) > 1:
        section = Section("results", "", [*sections, *map(Paragraph, lines)])
    return TerminalDocument(section, vocabulary or _vocabulary_of(results), words)


def sections_of(results: Any, detail: Detail = "all") -> list[Section]:
    """Return what is said of results."""
    if isinstance(results, Section):
        return [results]
    if isinstance(results, Shown):
        return [results._section()]
    return sections_of_nodes(nodes_of(results), detail)


def sections_of_nodes(nodes: Sequence[Node], detail: Detail) -> list[Section]:
    """Return a document of all numbers, and one of each result that is records."""
    records = [x for x in nodes if x.result_type in _OF_RECORDS]
    numbers = [x for x in nodes if x.result_type not in _OF_RECORDS]
    sections = [section_of(numbers, detail)] if numbers else []
    for node in records:
        section = _OF_RECORDS[node.result_type](node.dataset, detail)
        if len(records) > 1 and node.name_of_system():
            name = Label(node.name_of_system())
            title = say("{name}: {title}", name=name, title=section.title)
            section = replace(section, title=title if section.title else name)
        sections.append(section)
    return sections


def paper_table(results: Any, measures: Sequence[str] = ()) -> TerminalDocument:
    """Return the supported numbers of any result; of `measures` with one row for each system.

    Raise :class:`DataError` if `results` are something else, or have no such measures.
    """
    if not measures:
        return document_of(results, detail="supported")
    if isinstance(results, Shown | Section):
        raise DataError("`measures` chooses numbers; this result has none: leave it out")
    section = table_of_measures(nodes_of(results), measures)
    return TerminalDocument(section, _vocabulary_of(results))


def _vocabulary_of(results: Any) -> str:
    """Return the vocabulary of results: that of the first dataset among them."""
    if isinstance(results, Shown | Section):
        return "lecture"
    return words_of(nodes_of(results)[0].dataset)
