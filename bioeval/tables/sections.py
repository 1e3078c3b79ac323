"""What is said of every result: commands print it, and ``be.show`` shows it.

Results are recognised by their attribute ``result_type`` or by a dimension of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.document.blocks import Section
from bioeval.results.dataset import THRESHOLD_STUDY
from bioeval.showing.nodes import no_result
from bioeval.studies.assurance.section import promise_section
from bioeval.studies.attacks.pad import pad_section
from bioeval.studies.attacks.vulnerability import vulnerability_section
from bioeval.studies.calibration.calibration import calibration_section
from bioeval.studies.compare.section import comparison_section
from bioeval.studies.conventions.conventions import conventions_section
from bioeval.studies.folds.section import folds_section
from bioeval.studies.galleries.gallery_size import gallery_size_section
from bioeval.studies.groups.section import groups_section
from bioeval.studies.partitions.results import partitions_section
from bioeval.studies.planning.sample_size import sample_size_section
from bioeval.studies.planning.workload import workload_section
from bioeval.studies.thresholds.judged_threshold import judged_threshold_section
from bioeval.studies.thresholds.section import threshold_study_section
from bioeval.studies.tracking.section import tracking_section
from bioeval.studies.tries.tries import tries_section
from bioeval.studies.worst_pairs.worst_pairs import worst_pairs_section
from bioeval.studies.zoo.results import zoo_section
from bioeval.tasks.reid.section import gom_section
from bioeval.views.sections.evaluation import evaluation_section
from bioeval.views.sections.ranks import ranks_section
from bioeval.views.sections.statistics import statistics_section
from bioeval.views.sections.systems import in_parts, systems_section
from bioeval.views.show import Shown
from bioeval.views.tasks import datasets, each_once, systems
from bioeval.views.terms import words_of
from bioeval.views.writers.terminal import TerminalDocument

#: What is said of the results of each study, by their type.
_SECTIONS: Mapping[str, Callable[[Any], Section]] = {
    "ranks": ranks_section,
    "promise": promise_section,
    "presentation-attacks": pad_section,
    "vulnerability": vulnerability_section,
    "calibration": calibration_section,
    "comparison": comparison_section,
    "conventions": conventions_section,
    "gallery-size": gallery_size_section,
    "groups": groups_section,
    "workload": workload_section,
    "sample-size": sample_size_section,
    "gom": gom_section,
    "partitions": partitions_section,
    "statistics": statistics_section,
    "judged-threshold": judged_threshold_section,
    THRESHOLD_STUDY: threshold_study_section,
    "tracking": tracking_section,
    "tries": tries_section,
    "worst-pairs": worst_pairs_section,
    "zoo": zoo_section,
}

#: Types of which several results share one section, with the attribute that names a single one.
_TOGETHER = {
    "calibration": "system",
    "gom": "system",
    "partitions": "",
    "statistics": "",
    "tries": "",
}


def study_of(dataset: xr.Dataset) -> str:
    """Return the type of a study's result; empty of a task of an evaluation, also in folds."""
    if "statistic" in dataset.dims:
        return "statistics"
    if "partitions" in dataset.attrs:
        return "partitions"
    name = str(dataset.attrs.get("result_type", ""))
    if name not in _SECTIONS or (name == "gom" and "queries" not in dataset):
        return ""
    return name


def _of_study(study: str, results: Mapping[str, xr.Dataset]) -> list[Section]:
    """Return what a study says of its results, by name."""
    section = _SECTIONS[study]
    if study not in _TOGETHER:
        return [section({"": dataset}) for dataset in results.values()]
    if list(results) == [""]:
        results = {str(results[""].attrs.get(_TOGETHER[study], "")): results[""]}
    return [section(results)]


def document_of(
    results: Any, vocabulary: str = "", words: Callable[[str], str] = str
) -> TerminalDocument:
    """Return what is said of any result, or of several by name, as a document that rich can print.

    The terms are those of the results unless a `vocabulary` is given; `words` returns a text with
    arguments as a surface has them. Raise :class:`DataError` for anything else.
    """
    sections = sections_of(results)
    section = sections[0] if len(sections) == 1 else Section("results", "", sections)
    return TerminalDocument(section, vocabulary or _vocabulary_of(results), words)


def sections_of(results: Any) -> list[Section]:
    """Return what is said of results, of each study and of the evaluations among them."""
    if isinstance(results, Section):
        return [results]
    if isinstance(results, Shown):
        return [results._section()]
    made = []
    for study, parts in _grouped(results).items():
        if study:
            made += _of_study(study, parts)
        elif parts:
            in_folds = any("fold" in dataset.dims for dataset in parts.values())
            made.append(folds_section(each_once(parts)) if in_folds else evaluation_section(parts))
    return made


def _vocabulary_of(results: Any) -> str:
    """Return the vocabulary of results: that of the first dataset among them."""
    if isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree):
        for part in results.values():
            return _vocabulary_of(part)
    if isinstance(results, xr.Dataset | xr.DataTree):
        return next((words_of(dataset) for _, dataset in datasets(results)), "lecture")
    return "lecture"


def study_sections(results: Mapping[str, Mapping[str, xr.Dataset]]) -> list[tuple[str, Section]]:
    """Return what studies say of the results of systems by path, each with its system.

    A section of several systems has none. Evaluations are passed over: they are of no study.
    """
    made: list[tuple[str, Section]] = []
    of_studies: dict[str, dict[str, dict[str, xr.Dataset]]] = {}
    for system, by_path in results.items():
        of_folds = {}
        for path, dataset in by_path.items():
            if study := study_of(dataset):
                of_studies.setdefault(study, {}).setdefault(system, {})[path] = dataset
            elif "fold" in dataset.dims:
                of_folds[path] = dataset
        if of_folds:
            made.append((system, folds_section(of_folds)))
    for study, by_system in of_studies.items():
        for system, found in by_system.items():
            if len(found) == 1:  # it needs no name beside that of the system
                by_system[system] = {"": next(iter(found.values()))}
        if study in _TOGETHER and len(by_system) > 1:
            named = {
                "/".join(filter(None, (system, path))): dataset
                for system, found in by_system.items()
                for path, dataset in found.items()
            }
            made += [("", section) for section in _of_study(study, named)]
            continue
        for system, found in by_system.items():
            made += [(system, section) for section in _of_study(study, found)]
    return made


def paper_table(results: Any, measures: Sequence[str] = ()) -> TerminalDocument:
    """Return the table of any result; with `measures` one row for each system.

    So it is of several systems over folds, repeats or partitions.

    Raise :class:`DataError` if `results` are something else, or have no such measures.
    """
    by_path: dict[str, xr.Dataset] = {}
    in_rows = not isinstance(results, Shown | Section)
    if in_rows:
        for study, of_study in _grouped(results).items():
            in_rows = in_rows and study in ("", "partitions")
            by_path |= of_study
    parts = len(systems(by_path)) > 1 and any(map(in_parts, by_path.values()))
    if in_rows and (measures or parts):
        section = systems_section(by_path, measures)
        return TerminalDocument(section, words_of(next(iter(by_path.values()))))
    if measures:
        raise DataError(
            "`measures` chooses the columns of evaluations, one row for each system; this result "
            "has tables of its own: leave it out"
        )
    return document_of(results)


def _grouped(results: Any) -> dict[str, dict[str, xr.Dataset]]:
    """Return the datasets of results by their study, those of an evaluation first."""
    if not isinstance(results, Mapping) or isinstance(results, xr.Dataset | xr.DataTree):
        results = {"": results}
    groups: dict[str, dict[str, xr.Dataset]] = {"": {}}
    for name, part in results.items():
        if not isinstance(part, xr.Dataset | xr.DataTree):
            raise no_result(part)
        for path, dataset in datasets(part):
            if "task" not in dataset.attrs:
                raise DataError(
                    "the dataset has no attribute `task`; expected what a function of bioeval "
                    "returned, with its attributes"
                )
            study = study_of(dataset)
            if study == "gom" and path.endswith("gom"):  # that of an evaluation is one of its tasks
                study = ""
            groups.setdefault(study, {})["/".join(filter(None, (str(name), path)))] = dataset
    if not any(groups.values()):
        raise DataError("the results are empty: there is nothing to show")
    return groups
