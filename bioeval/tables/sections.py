"""What is said of every result: commands print it, and ``be.show`` shows it.

Results are recognised by their attribute ``result_type`` or by a dimension of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.document.blocks import Section
from bioeval.studies.assurance import section as claim
from bioeval.studies.attacks import pad_section, vulnerability_section
from bioeval.studies.calibration import section as calibration
from bioeval.studies.compare import section as comparison
from bioeval.studies.conventions import section as conventions
from bioeval.studies.epc import section as epc
from bioeval.studies.folds import section as folds
from bioeval.studies.galleries import size_section
from bioeval.studies.groups import section as groups
from bioeval.studies.partitions import section as partitions
from bioeval.studies.planning import size_section as sample_size_section, work_section
from bioeval.studies.quality import section as error_discard
from bioeval.studies.thresholds import judged_section, section as threshold_study
from bioeval.studies.tracking import section as tracking
from bioeval.studies.worst_pairs import section as worst_pairs
from bioeval.studies.zoo import section as zoo
from bioeval.tasks.reid import section as gom
from bioeval.views.sections import ranks, systems as side_by_side
from bioeval.views.sections.evaluation import section as evaluation
from bioeval.views.show import Shown
from bioeval.views.tasks import datasets, systems
from bioeval.views.terms import words_of
from bioeval.views.writers.lines import Naming, python_naming
from bioeval.views.writers.terminal import TerminalDocument


@dataclass(frozen=True, eq=False)
class View:
    """What is said of one kind of results, by a function that makes a section of them by name."""

    section: Callable[[Any], Section]
    result_types: tuple[str, ...] = ()  # of its results: their attribute `result_type`
    dim: str = ""  # or a dimension that only these results have
    needs: str = ""  # a variable without which the result is shown as a task
    several: bool = False  # whether several results share one section
    named_by: str = ""  # attribute with the name of the only result; empty: it needs no name
    in_rows: bool = False  # whether a row for each system may stand for it in a paper

    def fits(self, dataset: xr.Dataset) -> bool:
        """Whether a dataset is such a result."""
        of_type = dataset.attrs.get("result_type") in self.result_types
        return (of_type or self.dim in dataset.dims) and {self.needs} <= {"", *dataset}


_VIEWS = (
    View(ranks.section, ("ranks",)),
    View(claim.section, ("claim",)),
    View(pad_section.section, ("presentation-attacks",)),
    View(vulnerability_section.section, ("vulnerability",)),
    View(calibration.section, ("calibration",), several=True, named_by="system"),
    View(comparison.section, ("comparison",)),
    View(conventions.section, ("conventions",)),
    View(epc.section, ("epc",), several=True),
    View(size_section.section, ("gallery-size",)),
    View(groups.section, ("groups",)),
    View(work_section.section, ("workload",)),
    View(sample_size_section.section, ("sample-size",)),
    View(error_discard.section, ("error-discard",), several=True, named_by="quality"),
    View(gom.section, ("gom",), needs="queries", several=True, named_by="system"),
    View(partitions.section, dim="partition", several=True, in_rows=True),
    View(judged_section.section, ("judged-threshold",)),
    View(threshold_study.section, ("threshold-study",)),
    View(tracking.section, ("tracking",)),
    View(worst_pairs.section, ("worst-pairs",)),
    View(zoo.section, ("zoo",)),
)

#: Takes all tasks of an evaluation by path, if no other view fits.
_FOLDS = View(folds.section, dim="fold")


def view_of(dataset: xr.Dataset) -> View | None:
    """Return the view of a dataset; None if it has the usual table."""
    return next((view for view in _VIEWS if view.fits(dataset)), None)


def _sections(view: View, results: Mapping[str, xr.Dataset]) -> list[Section]:
    """Return what a study says of its results, by name."""
    return [view.section(part) for part in _parts(view, results)]


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
    if isinstance(results, Shown):
        return [results._section()]
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
        if _FOLDS.fits(dataset):
            return _FOLDS.section(dict(datasets(tree, once=True)))
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
    of_folds = dict[str, dict[str, xr.Dataset]]()
    groups = dict[View, dict[str, xr.Dataset]]()
    for system, by_path in results.items():
        for path, dataset in by_path.items():
            if (view := view_of(dataset)) is not None:
                groups.setdefault(view, {})[system] = dataset
            elif _FOLDS.fits(dataset):
                of_folds.setdefault(system, {})[path] = dataset
    made += [(system, _FOLDS.section(by_path)) for system, by_path in of_folds.items()]
    for view, parts in groups.items():
        if view.several:
            system = next(iter(parts)) if len(parts) == 1 else ""
            named = _parts(view, {"": parts[system]} if system else parts)
            made += [(system, view.section(part)) for part in named]
        else:
            made += [(system, view.section({"": part})) for system, part in parts.items()]
    return made


def paper_table(results: Any, measures: Sequence[str] = ()) -> TerminalDocument:
    """Return the table of any result; of several systems, or `measures`, one row for each system.

    Raise :class:`DataError` if `results` are something else, or have no such measures.
    """
    by_path: dict[str, xr.Dataset] = {}
    in_rows = not isinstance(results, Shown | Section)
    if in_rows:
        for view, of_view in _grouped(results).items():
            in_rows = in_rows and (view is None or view.in_rows)
            by_path |= of_view
    if in_rows and (measures or len(systems(by_path)) > 1):
        section = side_by_side.section(by_path, measures)
        return TerminalDocument(section, words_of(next(iter(by_path.values()))))
    if measures:
        raise DataError(
            "`measures` chooses the columns of evaluations, one row for each system; this result "
            "has tables of its own: leave it out"
        )
    return table_of(results)


def _grouped(results: Any) -> dict[View | None, dict[str, xr.Dataset]]:
    """Return the datasets of results by their view, those of an evaluation first."""
    if not isinstance(results, Mapping) or isinstance(results, xr.Dataset | xr.DataTree):
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
            view = view_of(dataset)
        yield path, dataset, view


def _no_result(results: Any) -> DataError:
    """Return the error of something else than a result."""
    hint = ""
    if hasattr(results, "probe_labels") or hasattr(results, "pair_subjects"):
        hint = "; evaluate scores first, as be.evaluate(scores)"
    return DataError(
        f"results is {type(results).__name__}; expected what a function of bioeval returned: a "
        f"dataset, a tree, a check of data, an explained row, or several datasets by name{hint}"
    )
