"""The table of every result: commands print it, and :func:`bioeval.show` shows it.

Studies are recognised by their attribute ``task`` or by a dimension of their own, and their blocks
and tables are loaded when they are shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr
from rich.console import Group

from bioeval.base.errors import DataError, printable
from bioeval.results.blocks import Table as BlockTable
from bioeval.results.explanation import RowExplanation, StepByStep
from bioeval.results.findings import DataCheck
from bioeval.views.tables import ResultTable
from bioeval.views.tables.blocks import StudyReport
from bioeval.views.tables.explanation import ExplanationTable, StepsTable
from bioeval.views.tables.findings import FindingsTable
from bioeval.views.tables.folds import FoldTable, has_folds
from bioeval.views.tables.layout import NOT_DEFINED
from bioeval.views.tables.paper import SystemsTable, with_sd
from bioeval.views.tasks import datasets, systems
from bioeval.views.terms import TermTranslator, words_of

#: Writes a warning for its reader, for example with options of the command line.
Reword = Callable[[str], str]

_STUDIES = "bioeval.evaluation"
_TABLES = "bioeval.views.tables"


@dataclass(frozen=True)
class StudyView:
    """How a study is shown: by blocks, or by a class of its own."""

    tasks: tuple[str, ...]  # with one of which the attribute `task` begins
    home: str
    name: str = "blocks"  # of the function that yields blocks, or of the class
    dim: str = ""  # or a dimension that only these results have
    needs: str = ""  # a variable without which the result is shown as a task
    is_class: bool = False
    reworded: bool = True  # whether the class takes `reword`
    several: bool = False  # whether several results share one table
    named_by: str = ""  # attribute with the name of the only result; empty: it needs no name
    lines: bool = False  # whether its text is plain lines, of one width in each terminal
    rates: str = "verification"  # what its rates are of

    def fits(self, dataset: xr.Dataset) -> bool:
        """Whether a dataset is a result of this study."""
        begins = self.tasks and str(dataset.attrs.get("task", "")).startswith(self.tasks)
        return (bool(begins) or self.dim in dataset.dims) and {self.needs} <= {"", *dataset}

    def tables(self, found: Mapping[str, xr.Dataset], reword: Reword) -> list[Any]:
        """Return the tables of results by name."""
        shown = getattr(importlib.import_module(self.home), self.name)
        if self.is_class:
            more = (reword,) if self.reworded else ()
            return [shown(dataset, *more) for dataset in found.values()]
        if len(found) == 1:
            only = next(iter(found.values()))
            name = next(iter(found)) or str(only.attrs.get(self.named_by, ""))
            parts = [{name if self.several else "": only}]
        else:
            parts = [dict(found)] if self.several else [{"": x} for x in found.values()]
        words = words_of(next(iter(found.values())))
        translate = TermTranslator(words, self.rates)
        return [StudyReport(shown(part), translate, reword, self.lines) for part in parts]


_SUMMARIES = StudyView((), f"{_STUDIES}.summaries", dim="partition", several=True)

# fmt: off
_VIEWS = (
    _SUMMARIES,
    StudyView((), f"{_STUDIES}.error_discard", dim="fraction", several=True, named_by="quality"),
    StudyView((), f"{_STUDIES}.workload", dim="event", lines=True),
    StudyView(("zoo",), f"{_STUDIES}.zoo"),
    StudyView(("verification by group",), f"{_STUDIES}.groups"),
    StudyView(("open-set identification by group",), f"{_STUDIES}.groups", rates="identification"),
    StudyView(("calibration",), f"{_STUDIES}.calibration", several=True, named_by="system"),
    StudyView(("identification against gallery size",), f"{_STUDIES}.gallery_size", lines=True,
              rates="identification"),
    StudyView(("rates against templates",), f"{_STUDIES}.gallery_templates"),
    StudyView(("rates over time", "ageing"), f"{_STUDIES}.over_time", several=True, lines=True),
    StudyView(("expected performance and",), f"{_STUDIES}.expected_performance", "epsc_blocks",
              several=True),
    StudyView(("expected performance",), f"{_STUDIES}.expected_performance", "epc_blocks",
              several=True),
    StudyView(("GOM",), f"{_STUDIES}.reid", "gom_blocks", several=True, named_by="system",
              needs="queries"),
    StudyView(("claim",), f"{_STUDIES}.assured", "claim_blocks"),
    StudyView(("conventions",), f"{_STUDIES}.conventions"),
    StudyView(("sample size",), f"{_STUDIES}.sample_size", lines=True),
    StudyView(("planned run",), f"{_STUDIES}.planned_run", lines=True),
    StudyView(("extrapolated FAR",), f"{_STUDIES}.extrapolated_far"),
    StudyView(("ranks of the best mates",), f"{_STUDIES}.identification", "rank_blocks",
              rates="identification"),
    StudyView(("presentation attack",), f"{_STUDIES}.pad"),
    StudyView(("vulnerability",), f"{_STUDIES}.vulnerability"),
    StudyView(("morphing",), f"{_STUDIES}.morphing"),
    StudyView(("comparison of two systems",), f"{_TABLES}.comparison", "ComparisonTable",
              is_class=True),
    StudyView(("threshold study",), f"{_TABLES}.folds", "StudyTable", is_class=True),
    StudyView(("worst pairs",), f"{_TABLES}.findings", "WorstPairsTable", is_class=True,
              reworded=False),
    StudyView(("tracking",), "bioeval.mot.table", "TrackingTable", is_class=True, reworded=False),
)
# fmt: on


def table_of(results: Any, reword: Reword = printable) -> Any:
    """Return the table of any result, or of several by name, for rich to print.

    Raises
    ------
    DataError
        If `results` are something else.
    """
    if isinstance(results, DataCheck):
        return FindingsTable(results, reword)
    if isinstance(results, RowExplanation):
        return ExplanationTable(results)
    if isinstance(results, StepByStep):
        return StepsTable(results)
    if _is_summary(results):
        return _of_summary(results, reword)
    tables: list[Any] = []
    for view, found in _grouped(results).items():
        if view is not None:
            tables += view.tables(found, reword)
        elif found:
            tree: Any = found[""] if list(found) == [""] else xr.DataTree.from_dict(found)
            tables.append((FoldTable if has_folds(tree) else ResultTable)(tree, reword))
    return tables[0] if len(tables) == 1 else Group(*tables)


def paper_table(results: Any, measures: Sequence[str] = ()) -> Any:
    """Return the table of any result; of several systems, or `measures`, one row for each system.

    Raises
    ------
    DataError
        If `results` are something else, or have no such measures.
    """
    special = isinstance(results, DataCheck | RowExplanation | StepByStep) or _is_summary(results)
    groups = {} if special else {view: x for view, x in _grouped(results).items() if x}
    if groups.keys() <= {None, _SUMMARIES}:
        found = {path: ds for group in groups.values() for path, ds in group.items()}
        if found and (measures or len(systems(found)) > 1):
            return SystemsTable(found, measures, _summarised)
    if measures:
        raise DataError(
            "`measures` chooses the columns of evaluations, one row for each system; this result "
            "has tables of its own: leave it out"
        )
    return table_of(results)


def _summarised(dataset: xr.Dataset) -> dict[str, str]:
    """Return the mean and the standard deviation of each figure over partitions."""
    blocks = importlib.import_module(_SUMMARIES.home).blocks({"": dataset})
    rows = next(block.rows for block in blocks if isinstance(block, BlockTable))
    cells = ([str(cell).replace(NOT_DEFINED, "") for cell in row] for row in rows)
    return {label: with_sd(mean, sd) for label, mean, sd, *_ in cells}


def _is_summary(results: Any) -> bool:
    """Whether these are numbers of :func:`bioeval.summary`."""
    if not isinstance(results, Mapping) or isinstance(results, xr.Dataset | xr.DataTree):
        return False
    return bool(results) and all(isinstance(x, Mapping | float | int) for x in _leaves(results))


def _grouped(results: Any) -> dict[StudyView | None, dict[str, xr.Dataset]]:
    """Return the datasets of results by their view, those of an evaluation first."""
    if hasattr(results, "tree") and not isinstance(results, xr.Dataset | xr.DataTree):
        results = results.tree()  # of a tally
    if isinstance(results, Mapping) and not isinstance(results, xr.Dataset | xr.DataTree):
        parts = {str(name): one for name, one in results.items()}
    else:
        parts = {"": results}
    groups: dict[StudyView | None, dict[str, xr.Dataset]] = {None: {}}
    for name, one in parts.items():
        for path, dataset, view in _viewed(one):
            groups.setdefault(view, {})["/".join(filter(None, (name, path)))] = dataset
    if not any(groups.values()):
        raise DataError("the results are empty: there is nothing to show")
    return groups


def _viewed(results: Any) -> Iterator[tuple[str, xr.Dataset, StudyView | None]]:
    """Yield the path of each dataset, the dataset, and its view if it is of a study."""
    if not isinstance(results, xr.Dataset | xr.DataTree):
        raise _no_result(results)
    for path, dataset in datasets(results):
        if "task" not in dataset.attrs:
            raise DataError(
                "the dataset has no attribute `task`; expected what a function of bioeval "
                "returned, with its attributes"
            )
        view = next((view for view in _VIEWS if view.fits(dataset)), None)
        # The GOM of an evaluation is one of its tasks.
        yield path, dataset, None if path.endswith("gom") else view


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


def _leaves(results: Mapping[str, Any]) -> list[Any]:
    """Return what the mappings of a mapping hold; a value that is none stands for itself."""
    inner = [x for x in results.values() if isinstance(x, Mapping)]
    if len(inner) < len(results) or any(isinstance(x, xr.Dataset | xr.DataTree) for x in inner):
        return [None]
    return [value for x in inner for value in x.values()]


def _of_summary(results: Mapping[str, Any], reword: Reword) -> StudyReport:
    """Return the table of :func:`bioeval.summary`."""
    blocks = importlib.import_module(f"{_STUDIES}.summaries").summary_blocks
    return StudyReport(blocks(results), TermTranslator("lecture"), reword)
