"""The table of every result: commands print it, and :func:`bioeval.show` shows it.

Studies are recognised by their attribute ``task`` or by a dimension of their own, and their blocks
and tables are loaded when they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import xarray as xr
from rich.console import Group

from bioeval.base.elsewhere import offered_value
from bioeval.base.errors import DataError, printable
from bioeval.base.offers import doors
from bioeval.base.study import View
from bioeval.results.blocks import Table as BlockTable
from bioeval.views.tables.blocks import StudyReport
from bioeval.views.tables.paper import SystemsTable, with_sd
from bioeval.views.tables.result_table import ResultTable
from bioeval.views.tables.summary import summary_blocks
from bioeval.views.tasks import datasets, systems
from bioeval.views.terms import TermTranslator, term_translator

#: Writes a warning for its reader, for example with options of the command line.
Reword = Callable[[str], str]

#: The views of the ranks of the best mates, and of the results of studies.
_VIEWS = [
    View(
        ("ranks of the best mates",),
        "bioeval.evaluation.identification",
        "rank_blocks",
        rates="identification",
    )
]
_WHOLE: list[View] = []
for _study in doors().values():
    for _view in _study.views:
        (_WHOLE if _view.whole else _VIEWS).append(_view)


def _of_class(results: Any) -> View | None:
    """Return the view of results that are no datasets, by their class; None without one."""
    names = {kind.__name__ for kind in type(results).__mro__}
    for view in _VIEWS:
        if view.of in names:
            return view
    return None


def _shown(view: View, results: Any, reword: Reword) -> Any:
    """Return results in the class of a view."""
    table = offered_value(f"{view.home}.{view.name}")
    if view.reworded:
        return table(results, reword)
    return table(results)


def _tables(view: View, found: Mapping[str, xr.Dataset], reword: Reword) -> list[Any]:
    """Return the tables of the results of a study, by name."""
    if view.is_class:
        return [_shown(view, dataset, reword) for dataset in found.values()]
    blocks = offered_value(f"{view.home}.{view.name}")
    first = next(iter(found.values()))
    if not view.several:
        parts: list[Mapping[str, xr.Dataset]] = [{"": dataset} for dataset in found.values()]
    elif list(found) == [""]:
        parts = [{str(first.attrs.get(view.named_by, "")): first}]
    else:
        parts = [found]
    translate = term_translator(first, view.rates)
    return [StudyReport(blocks(part), translate, reword, view.lines) for part in parts]


def table_of(results: Any, reword: Reword = printable) -> Any:
    """Return the table of any result, or of several by name, for rich to print.

    Raise :class:`DataError` if `results` are something else.
    """
    if (view := _of_class(results)) is not None:
        return _shown(view, results, reword)
    if _is_summary(results):
        return _of_summary(results, reword)
    tables = []
    for view, parts in _grouped(results).items():
        if view is not None:
            tables += _tables(view, parts, reword)
        elif parts:
            tree = parts[""] if list(parts) == [""] else xr.DataTree.from_dict(parts)
            tables += _of_evaluation(tree, reword)
    if len(tables) == 1:
        return tables[0]
    return Group(*tables)


def _of_evaluation(tree: Any, reword: Reword) -> list[Any]:
    """Return the tables of a view of whole evaluations if one fits, else the usual table."""
    for view in _WHOLE:
        if any(view.fits(dataset) for _, dataset in datasets(tree)):
            return _tables(view, {"": tree}, reword)
    return [ResultTable(tree, reword)]


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
        return SystemsTable(by_path, measures, _summarised)
    if measures:
        raise DataError(
            "`measures` chooses the columns of evaluations, one row for each system; this result "
            "has tables of its own: leave it out"
        )
    return table_of(results)


def _summarised(dataset: xr.Dataset) -> dict[str, str]:
    """Return the mean and the standard deviation of each figure over partitions."""
    view = next(view for view in _VIEWS if view.in_rows and view.fits(dataset))
    blocks = offered_value(f"{view.home}.{view.name}")({"": dataset})
    table = next(block for block in blocks if isinstance(block, BlockTable))
    cells = {}
    for label, mean, sd, *_ in table.rows:
        cells[str(label)] = with_sd(str(mean), str(sd))
    return cells


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
            view = next((view for view in _VIEWS if view.fits(dataset)), None)
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


def _of_summary(results: Mapping[str, Any], reword: Reword) -> StudyReport:
    """Return the table of :func:`bioeval.summary`."""
    return StudyReport(summary_blocks(results), TermTranslator("lecture"), reword)
