"""What is said of every result: commands print it, and :func:`bioeval.show` shows it.

Studies are recognised by their attribute ``result_type`` or by a dimension of their own, and their
``section`` is loaded when it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.lazy import offered_value
from bioeval.base.manifest import View
from bioeval.base.studies import manifests
from bioeval.document import Quantity, Section, tables
from bioeval.views.sections import summary, systems as side_by_side
from bioeval.views.sections.evaluation import section as evaluation
from bioeval.views.tasks import datasets, systems
from bioeval.views.terms import words_of
from bioeval.views.writers.data import answer_of
from bioeval.views.writers.lines import Naming, python_naming
from bioeval.views.writers.terminal import TerminalDocument

#: The views of the ranks of the best mates, and of the results of studies.
_VIEWS = [View(("ranks",), "bioeval.views.sections.ranks")]
_WHOLE: list[View] = []
for _study in manifests().values():
    for _view in _study.views:
        (_WHOLE if _view.whole else _VIEWS).append(_view)


def _view_of(dataset: xr.Dataset, views: Sequence[View]) -> View | None:
    """Return the view of a dataset; None if it has the usual table."""
    return next((view for view in views if view.fits(dataset)), None)


def _of_class(results: Any) -> View | None:
    """Return the view of results that are no datasets, by their class; None without one."""
    if isinstance(results, xr.Dataset | xr.DataTree | Mapping):
        return None
    names = [kind.__name__ for kind in type(results).__mro__]
    return next((view for view in _VIEWS if view.of in names), None)


def _sections(view: View, results: Mapping[str, xr.Dataset]) -> list[Section]:
    """Return what a study says of its results, by name."""
    return [_section(view, part) for part in _parts(view, results)]


def _section(view: View, results: Any) -> Section:
    """Return what a study says of results, or of an object."""
    section: Section = offered_value(f"{view.home}.section")(results)
    return section


def _parts(view: View, results: Mapping[str, xr.Dataset]) -> Sequence[Mapping[str, xr.Dataset]]:
    """Return the results that are shown together, by name."""
    first = next(iter(results.values()))
    if not view.several:
        return [{"": dataset} for dataset in results.values()]
    if list(results) == [""]:
        return [{str(first.attrs.get(view.named_by, "")): first}]
    return [results]


def table_of(
    results: Any, naming: Naming = python_naming, vocabulary: str = ""
) -> TerminalDocument:
    """Return what is said of any result, or of several by name, as a document that rich can print.

    `naming` writes the names of arguments, and the terms are those of the results unless a
    `vocabulary` is given. Raise :class:`DataError` for anything else.
    """
    sections = sections_of(results)
    section = sections[0] if len(sections) == 1 else Section("results", "", sections)
    return TerminalDocument(section, vocabulary or _vocabulary_of(results), naming)


def sections_of(results: Any) -> list[Section]:
    """Return what is said of results, of each study and of the evaluations among them."""
    if isinstance(results, Section):
        return [results]
    if (view := _of_class(results)) is not None:
        return [_section(view, results)]
    if _is_summary(results):
        return [summary.section(results)]
    made = []
    for view, parts in _grouped(results).items():
        if view is not None:
            made += _sections(view, parts)
        elif parts:
            tree = parts[""] if list(parts) == [""] else xr.DataTree.from_dict(parts)
            made.append(_of_evaluation(tree))
    return made


def _of_evaluation(tree: Any) -> Section:
    """Return what a study says of whole evaluations if one fits, else the usual tables."""
    for _, dataset in datasets(tree):
        if (view := _view_of(dataset, _WHOLE)) is not None:
            return _section(view, dict(datasets(tree, once=True)))
    return evaluation(tree)


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
    whole = dict[View, dict[str, dict[str, xr.Dataset]]]()
    groups = dict[View, dict[str, xr.Dataset]]()
    for system, by_path in results.items():
        for path, dataset in by_path.items():
            if (view := _view_of(dataset, _VIEWS)) is not None:
                groups.setdefault(view, {})[system] = dataset
            elif (view := _view_of(dataset, _WHOLE)) is not None:
                whole.setdefault(view, {}).setdefault(system, {})[path] = dataset
    for view, by_system in whole.items():
        made += [(system, _section(view, found)) for system, found in by_system.items()]
    for view, parts in groups.items():
        if view.several:
            system = next(iter(parts)) if len(parts) == 1 else ""
            named = _parts(view, {"": parts[system]} if system else parts)
            made += [(system, _section(view, part)) for part in named]
        else:
            made += [(system, _section(view, {"": part})) for system, part in parts.items()]
    return made


def answer_to(dataset: xr.Dataset) -> str:
    """Return what a study answers to the question of its result; empty without a document."""
    return " ".join(filter(None, map(answer_of, sections_of(dataset))))


def paper_table(results: Any, measures: Sequence[str] = ()) -> TerminalDocument:
    """Return the table of any result; of several systems, or `measures`, one row for each system.

    Raise :class:`DataError` if `results` are something else, or have no such measures.
    """
    by_path: dict[str, xr.Dataset] = {}
    in_rows = _of_class(results) is None and not _is_summary(results)
    if in_rows:
        for view, of_view in _grouped(results).items():
            in_rows = in_rows and (view is None or view.in_rows)
            by_path |= of_view
    if in_rows and (measures or len(systems(by_path)) > 1):
        section = side_by_side.section(by_path, measures, _summarised)
        return TerminalDocument(section, words_of(next(iter(by_path.values()))))
    if measures:
        raise DataError(
            "`measures` chooses the columns of evaluations, one row for each system; this result "
            "has tables of its own: leave it out"
        )
    return table_of(results)


def _summarised(dataset: xr.Dataset) -> Iterator[side_by_side.Measure]:
    """Yield the mean of each figure over partitions, with its standard deviation."""
    view = _view_of(dataset, _VIEWS)
    assert view is not None  # since it may stand in rows
    for table in tables(_section(view, {"": dataset})):
        for label, mean, deviation, *_ in table.rows:
            if isinstance(mean, Quantity) and isinstance(deviation, Quantity):
                cell = replace(mean, deviation=deviation.value)
                yield side_by_side.Measure(label or "", cell)


def _is_summary(results: Any) -> bool:
    """Whether these are numbers of :func:`bioeval.summary`."""
    return _is_mapping(results) and bool(results) and all(map(_has_numbers, results.values()))


def _has_numbers(part: Any) -> bool:
    """Whether these are numbers by name, or mappings that may have some."""
    return _is_mapping(part) and all(isinstance(x, Mapping | float | int) for x in part.values())


def _is_mapping(results: Any) -> bool:
    """Whether these are a plain mapping; datasets and trees are mappings, too."""
    return isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree)


def _grouped(results: Any) -> dict[View | None, dict[str, xr.Dataset]]:
    """Return the datasets of results by their view, those of an evaluation first."""
    if hasattr(results, "tree") and not isinstance(results, xr.Dataset | xr.DataTree):
        results = results.tree()  # of a tally
    if not _is_mapping(results):
        results = {"": results}
    groups: dict[View | None, dict[str, xr.Dataset]] = {None: {}}
    for name, part in results.items():
        for path, dataset, view in _viewed(part):
            groups.setdefault(view, {})["/".join(filter(None, (str(name), path)))] = dataset
    if not any(groups.values()):
        raise DataError("the results are empty: there is nothing to show")
    return groups


def _viewed(results: Any) -> Iterator[tuple[str, xr.Dataset, View | None]]:
    """Yield the path of each dataset, the dataset, and its view if it is of a study."""
    if not isinstance(results, xr.Dataset | xr.DataTree):
        raise _no_result(results)
    for path, dataset in datasets(results):
        if "task" not in dataset.attrs:
            raise DataError(
                "the dataset has no attribute `task`; expected what a function of bioeval "
                "returned, with its attributes"
            )
        view = None
        if not path.endswith("gom"):  # that of an evaluation is one of its tasks
            view = _view_of(dataset, _VIEWS)
        yield path, dataset, view


def _no_result(results: Any) -> DataError:
    """Return the error of something else than a result."""
    hint = ""
    if hasattr(results, "probe_labels") or hasattr(results, "pair_subjects"):
        hint = "; evaluate scores first, as be.evaluate(scores)"
    return DataError(
        f"results is {type(results).__name__}; expected what a function of bioeval returned: a "
        "dataset, a tree, a tally, a check of data, an explained row, a summary, or several "
        f"datasets by name{hint}"
    )
