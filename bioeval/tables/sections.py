"""What is said of every result: commands print it, and ``be.show`` shows it.

A result is a document of its numbers (:mod:`bioeval.showing.document`), unless its type has a
section of its own here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.document.blocks import Paragraph, Section
from bioeval.document.text import Text
from bioeval.results.dataset import THRESHOLD_STUDY
from bioeval.showing.document import section_of, table_of_measures
from bioeval.showing.nodes import Node, nodes_of, nodes_of_study
from bioeval.studies.conventions.conventions import conventions_section
from bioeval.studies.worst_pairs.worst_pairs import worst_pairs_section
from bioeval.tables.ranks import ranks_section
from bioeval.views.show import Shown
from bioeval.views.tasks import OVER, datasets
from bioeval.views.terms import words_of
from bioeval.views.writers.terminal import TerminalDocument

#: Types of results with a section of their own.
_SECTIONS: Mapping[str, Callable[[Any], Section]] = {
    "ranks": ranks_section,
    "conventions": conventions_section,
    "worst-pairs": worst_pairs_section,
}


def section_of_its_own(dataset: xr.Dataset) -> str:
    """Return the type of a result that has a section of its own; empty of all others."""
    if {"statistic", *OVER} & {*dataset.dims}:
        return ""
    name = str(dataset.attrs.get("result_type", ""))
    return name if name in _SECTIONS else ""


def document_of(
    results: Any,
    vocabulary: str = "",
    words: Callable[[str], str] = str,
    lines: Sequence[Text] = (),
    *,
    verbose: bool = True,
) -> TerminalDocument:
    """Return what is said of any result, or of several by name, as a document that rich can print.

    The terms are those of the results unless a `vocabulary` is given; `words` returns a text with
    arguments as a surface has them; `lines` stand below. Raise :class:`DataError` for anything
    else.
    """
    sections = sections_of(results, verbose=verbose)
    section = sections[0]
    if len(sections) + len(lines) > 1:
        section = Section("results", "", [*sections, *map(Paragraph, lines)])
    return TerminalDocument(section, vocabulary or _vocabulary_of(results), words)


def sections_of(results: Any, *, verbose: bool = True) -> list[Section]:
    """Return what is said of results: all, or what a short view has of them."""
    if isinstance(results, Section):
        return [results]
    if isinstance(results, Shown):
        return [results._section()]
    others, by_study = _with_own_sections(results)
    made = [section_of(others, verbose=verbose)] if others else []
    for study, parts in by_study.items():
        made += [_SECTIONS[study]({"": dataset}) for dataset in parts.values()]
    return made


def _with_own_sections(results: Any) -> tuple[list[Node], dict[str, dict[str, xr.Dataset]]]:
    """Return the datasets without a section of their own, and the others by type and path."""
    nodes = nodes_of(results)
    others = [x for x in nodes if x.task.partition("/")[0].replace("_", "-") not in _SECTIONS]
    by_study = dict[str, dict[str, xr.Dataset]]()
    if len(others) == len(nodes):
        return others, by_study
    by_name = {"": results} if isinstance(results, xr.Dataset | xr.DataTree) else results
    for name, part in by_name.items():
        for path, dataset in datasets(part):
            if study := section_of_its_own(dataset):
                path = "/".join(filter(None, (str(name), path)))
                by_study.setdefault(study, {})[path] = dataset
    return others, by_study


def _vocabulary_of(results: Any) -> str:
    """Return the vocabulary of results: that of the first dataset among them."""
    if isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree):
        for part in results.values():
            return _vocabulary_of(part)
    if isinstance(results, xr.Dataset | xr.DataTree):
        return next((words_of(dataset) for _, dataset in datasets(results)), "lecture")
    return "lecture"


def study_sections(results: Mapping[str, Mapping[str, xr.Dataset]]) -> list[tuple[str, Section]]:
    """Return what is said of the results of systems by path, each section with its system.

    A section of several systems has none.
    """
    made: list[tuple[str, Section]] = []
    of_studies: dict[str, dict[str, dict[str, xr.Dataset]]] = {}
    others: dict[str, list[Node]] = {}
    for system, by_path in results.items():
        for path, dataset in by_path.items():
            if study := section_of_its_own(dataset):
                of_studies.setdefault(study, {}).setdefault(system, {})[path] = dataset
            else:
                name = system if len(results) > 1 else ""
                title = _title_on_page(dataset)
                node = Node(name, "", path, dataset)
                is_study = node.result_type == THRESHOLD_STUDY
                others.setdefault(title, []).extend(nodes_of_study(node) if is_study else [node])
    for title, nodes in others.items():
        systems = {node.system for node in nodes}
        system = next(iter(systems)) if len(systems) == 1 else ""
        section = section_of([x._replace(system="") for x in nodes] if system else nodes)
        id = str(nodes[0].dataset.attrs.get("result_type", "results")).replace("-", "_")
        made.append((system, replace(section, id=id, title=title)))
    for study, by_system in of_studies.items():
        for system, found in by_system.items():
            made += [(system, _SECTIONS[study]({"": dataset})) for dataset in found.values()]
    return made


#: Titles of sections of a page, by a dimension.
_SUMMARIES = {"statistic": "Statistics", "fold": "Folds", "partition": "Partitions"}


def _title_on_page(dataset: xr.Dataset) -> str:
    if dataset.attrs.get("result_type") == THRESHOLD_STUDY:
        return "Threshold study"
    for dim, title in _SUMMARIES.items():
        if dim in dataset.dims:
            return title
    return str(dataset.attrs.get("result_type", "results")).replace("-", " ").capitalize()


def paper_table(results: Any, measures: Sequence[str] = ()) -> TerminalDocument:
    """Return the table of any result; with `measures` one row for each system.

    Raise :class:`DataError` if `results` are something else, or have no such measures.
    """
    if not measures:
        return document_of(results)
    nodes = [] if isinstance(results, Shown | Section) else nodes_of(results)
    if not nodes:
        raise DataError("`measures` chooses numbers; this result has none: leave it out")
    return TerminalDocument(table_of_measures(nodes, measures), _vocabulary_of(results))
