"""The table of every result: commands print it, and :func:`bioeval.show` shows it.

Studies are recognised by their attribute ``task`` or by a dimension of their own, and their blocks
and tables are loaded when they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import xarray as xr
from rich.console import Group

from bioeval.base.errors import DataError, PluginError, printable
from bioeval.base.manifest import View
from bioeval.base.plugins import call_plugin, offered_value, package_of_module, report
from bioeval.base.studies import manifests
from bioeval.document import Quantity, Section, tables
from bioeval.results.blocks import Block
from bioeval.views.sections import summary, systems as side_by_side
from bioeval.views.sections.evaluation import section as evaluation
from bioeval.views.tables.blocks import StudyReport
from bioeval.views.tasks import datasets, systems
from bioeval.views.terms import term_translator, words_of
from bioeval.views.writers.data import answer_of
from bioeval.views.writers.lines import Naming, python_naming
from bioeval.views.writers.terminal import TerminalDocument

#: Writes a warning for its reader, for example with options of the command line.
Reword = Callable[[str], str]

#: The views of the ranks of the best mates, and of the results of studies, each with its package;
#: those of bioeval have none, and come first.
_VIEWS = [
    (
        "",
        View(
            ("ranks of the best mates",),
            "bioeval.views.sections.ranks",
            "section",
        ),
    )
]
_WHOLE: list[tuple[str, View]] = []
for _study in manifests().values():
    for _view in _study.views:
        (_WHOLE if _view.whole else _VIEWS).append((_study.package, _view))
_OWN = [view for package, view in (*_VIEWS, *_WHOLE) if not package]

#: How the attribute `task` of bioeval's results begins that have the usual table, without a view.
_WITHOUT_VIEW = (
    *("verification, ", "open-set identification", "closed-set identification"),
    *("re-identification", "GOM", "top-K lists", "ranked lists", "agreement of measures"),
)


def _view_of(dataset: xr.Dataset, views: Sequence[tuple[str, View]]) -> View | None:
    """Return the view of a dataset; None if it has the usual table.

    Results of bioeval keep their tables: views of other packages that fit them are reported.
    """
    task = str(dataset.attrs.get("task", ""))
    is_own = task.startswith(_WITHOUT_VIEW) or any(view.fits(dataset) for view in _OWN)
    of_packages: dict[str, View] = {}
    for package, view in views:
        if not view.fits(dataset):
            continue
        if package and is_own:
            what = f"the table of results of the task {task!r} is bioeval's own"
            report(package, f"{what}; the view of the package is left out")
        else:
            of_packages.setdefault(package, view)
    if len(of_packages) > 1:
        listed = " and ".join(of_packages)
        raise PluginError(
            f"the table of results of the task {task!r} is offered by {listed}; uninstall one of "
            "them"
        )
    return next(iter(of_packages.values()), None)


def _of_class(results: Any) -> View | None:
    """Return the view of results that are no datasets, by their class; None without one."""
    if isinstance(results, xr.Dataset | xr.DataTree | Mapping):
        return None
    kinds = type(results).__mro__
    for package, view in _VIEWS:
        for kind in kinds:
            top = kind.__module__.partition(".")[0]
            # Classes of bioeval and of Python are not for others to show.
            if kind.__name__ == view.of and not (package and top in ("bioeval", "builtins")):
                return view
    return None


def _blocks(view: View, results: Mapping[str, xr.Dataset]) -> Iterable[Block]:
    """Return the blocks of results; those of another package are checked."""
    place = f"{view.home}.{view.name}"
    blocks = offered_value(place)
    package = package_of_module(view.home)
    if not package:
        return blocks(results)

    def listed() -> list[Any] | None:
        """Call the function, which may be a generator."""
        answer = blocks(results)
        if isinstance(answer, Iterable):
            return list(answer)
        return None

    of_package = call_plugin(package, place, listed)
    if of_package is None or not all(isinstance(block, Block) for block in of_package):
        raise PluginError(
            f"{package}: {place} returned no blocks; expected those of bioeval.results"
        )
    return of_package


def _shown(view: View, results: Any, reword: Reword) -> Any:
    """Return results in the class of a view."""
    place = f"{view.home}.{view.name}"
    table = offered_value(place)
    given = [results]
    if view.reworded:
        given.append(reword)
    if package := package_of_module(view.home):
        return call_plugin(package, place, table, *given)
    return table(*given)


def _sections(view: View, results: Mapping[str, xr.Dataset]) -> list[Section]:
    """Return what a study says of its results, by name."""
    return [_section(view, part) for part in _parts(view, results)]


def _section(view: View, results: Any) -> Section:
    """Return what a study says of results, or of an object; that of another package is checked."""
    place = f"{view.home}.{view.name}"
    section = offered_value(place)
    package = package_of_module(view.home)
    if not package:
        made: Section = section(results)
        return made
    of_package = call_plugin(package, place, section, results)
    if not isinstance(of_package, Section):
        raise PluginError(
            f"{package}: {place} returned no section; expected one of bioeval.document"
        )
    return of_package


def _parts(view: View, results: Mapping[str, xr.Dataset]) -> Sequence[Mapping[str, xr.Dataset]]:
    """Return the results that are shown together, by name."""
    first = next(iter(results.values()))
    if not view.several:
        return [{"": dataset} for dataset in results.values()]
    if list(results) == [""]:
        return [{str(first.attrs.get(view.named_by, "")): first}]
    return [results]


def _tables(
    view: View, results: Mapping[str, xr.Dataset], reword: Reword, naming: Naming = python_naming
) -> list[Any]:
    """Return the tables of the results of a study, by name."""
    if view.name == "section":
        vocabulary = words_of(next(iter(results.values())))
        return [TerminalDocument(x, vocabulary, naming) for x in _sections(view, results)]
    if view.is_class:
        return [_shown(view, dataset, reword) for dataset in results.values()]
    first = next(iter(results.values()))
    translate = term_translator(first, view.rates)
    return [
        StudyReport(_blocks(view, part), translate, reword, view.lines)
        for part in _parts(view, results)
    ]


def table_of(results: Any, reword: Reword = printable, naming: Naming = python_naming) -> Any:
    """Return the table of any result, or of several by name, for rich to print.

    Raise :class:`DataError` if `results` are something else.
    """
    if isinstance(results, Section):
        return TerminalDocument(results, naming=naming)
    if (view := _of_class(results)) is not None:
        if view.name == "section":
            return TerminalDocument(_section(view, results), naming=naming)
        return _shown(view, results, reword)
    if _is_summary(results):
        return TerminalDocument(summary.section(results), naming=naming)
    shown = []
    for view, parts in _grouped(results).items():
        if view is not None:
            shown += _tables(view, parts, reword, naming)
        elif parts:
            tree = parts[""] if list(parts) == [""] else xr.DataTree.from_dict(parts)
            shown += _of_evaluation(tree, reword, naming)
    if len(shown) == 1:
        return shown[0]
    if all(isinstance(table, TerminalDocument) for table in shown):
        return TerminalDocument.joined(shown)
    return Group(*shown)


def sections_of(results: Any) -> list[Section]:
    """Return what is said of results, of each study and of the evaluations among them."""
    if (view := _of_class(results)) is not None:
        return [_section(view, results)] if view.name == "section" else []
    if _is_summary(results):
        return [summary.section(results)]
    made = []
    for view, parts in _grouped(results).items():
        if view is not None:
            made += _sections(view, parts) if view.name == "section" else []
        elif parts:
            tree = parts[""] if list(parts) == [""] else xr.DataTree.from_dict(parts)
            whole = next((_view_of(dataset, _WHOLE) for _, dataset in datasets(tree)), None)
            if whole is None:
                made.append(evaluation(tree))
            elif whole.name == "section":
                whole_tree: Mapping[str, Any] = {"": tree}
                made += _sections(whole, whole_tree)
    return made


def answer_to(dataset: xr.Dataset) -> str:
    """Return what a study answers to the question of its result; empty without a document."""
    return " ".join(filter(None, map(answer_of, sections_of(dataset))))


def _of_evaluation(tree: Any, reword: Reword, naming: Naming) -> list[Any]:
    """Return the tables of a view of whole evaluations if one fits, else the usual table."""
    for _, dataset in datasets(tree):
        view = _view_of(dataset, _WHOLE)
        if view is not None:
            if view.name == "section":
                found = dict(datasets(tree, once=True))
                return [TerminalDocument(_section(view, found), _vocabulary_of(tree), naming)]
            return _tables(view, {"": tree}, reword, naming)
    return [TerminalDocument(evaluation(tree), _vocabulary_of(tree), naming)]


def _vocabulary_of(tree: Any) -> str:
    """Return the vocabulary of an evaluation."""
    return next((words_of(dataset) for _, dataset in datasets(tree)), "lecture")


def paper_table(results: Any, measures: Sequence[str] = ()) -> Any:
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
