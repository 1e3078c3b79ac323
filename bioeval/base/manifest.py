"""The manifest of a study: what it offers to the rest, as plain data.

A study is a folder of :mod:`bioeval.studies` with a ``STUDY`` in its ``__init__.py``, which imports
nothing but this module. The commands, their headings and examples, the public names, the plots and
the tables of all studies are listed from these manifests: the core names no study.

Modules are named relative to the folder of the study: ``"plots"`` is ``bioeval.studies.zoo.plots``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bioeval.base.lazy import offered_value

if TYPE_CHECKING:
    import xarray as xr


Needs = Mapping[str, tuple[str, ...]]


@dataclass(eq=False)
class Subcommand:
    """A command, ``bioeval NAME``."""

    name: str
    does: str  # one line of the help
    heading: str = ""  # of the help, under which it stands
    place: int = 50  # there: smaller numbers come first
    home: str = "command"  # the module in which it is defined


@dataclass(eq=False)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str  # of the public function
    display: str  # the name of its display class
    home: str  # the module in which both are defined
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...] = ()  # variables drawn; the first of several that the data have
    #: The stem of each file that ``save_all`` writes, with the options of the plot.
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    one_system: bool = False  # whether each file shows one system
    images: bool = False  # whether it takes `images` and `image_folder`
    #: Variable of the results it is meant for: of a tree, others are drawn only if none has it,
    #: and ``save_all`` draws no others.
    prefer: str = ""

    def load(self) -> Any:
        """Return the display class."""
        return offered_value(f"{self.home}.{self.display}")


def along(dim: str, *names: str) -> Needs:
    """Return the needs of a plot of variables along one dimension."""
    return dict.fromkeys(names, (dim,))


@dataclass(eq=False)
class View:
    """What is said of the results of a study: by the function ``section`` of a module."""

    result_types: tuple[str, ...]  # of its results: their attribute `result_type`
    home: str  # the module with ``section``, which returns a `bioeval.document.Section` of results
    dim: str = ""  # or a dimension that only these results have
    of: str = ""  # or the class of results that are no datasets
    needs: str = ""  # a variable without which the result is shown as a task
    several: bool = False  # whether several results share one section
    named_by: str = ""  # attribute with the name of the only result; empty: it needs no name
    whole: bool = (
        False  # whether it takes all tasks of an evaluation by path, if no other view fits
    )
    in_rows: bool = False  # whether a row for each system may stand for it in a paper

    def fits(self, dataset: xr.Dataset) -> bool:
        """Whether a dataset is a result of this study."""
        of_type = dataset.attrs.get("result_type") in self.result_types
        return (of_type or self.dim in dataset.dims) and {self.needs} <= {"", *dataset}


T = TypeVar("T", Subcommand, Plot, View)

#: What the core asks of studies, by name, and how it calls a study's function or class.
HOOKS = {
    "why_undefined": "(scores, protocol): why nothing can be evaluated of scores; empty if unknown",
    "with_doubts": "(tree, scores, protocol): results with findings as their warnings",
    "systems": "(systems): several systems by name, if they scored the same templates, or an error",
    "run_outputs": "a class derived from bioeval.cli.outputs.MoreOutputs, of `bioeval run`",
    "report_results": "a class derived from bioeval.cli.outputs.MoreResults, of `bioeval report`",
    "restored": "(dataset): the result, no dataset itself, that a command has saved as this one; "
    "None of others",
    "page": "(results, path, files=, command=, **options): write results as a page",
}


#: The modules of a study that :func:`bioeval.base.studies.offered` finds by a name.
BY_NAME = ("counts", "tasks", "runners", "columns")


@dataclass(eq=False)
class StudyManifest:
    """What a study offers."""

    #: The public names, ``be.NAME``, of each module.
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    commands: tuple[Subcommand, ...] = ()
    #: Purposes and command lines, one above the other; a blank line before the next command's.
    examples: str = ""
    #: Options that only other commands have, by command.
    not_options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    plots: tuple[Plot, ...] = ()
    views: tuple[View, ...] = ()
    #: The place of results in a tree, by a variable that only they have.
    nodes: Mapping[str, str] = field(default_factory=dict)
    scalars: str = ""  # ``"module.NAME"`` of its :class:`bioeval.base.Scalar` in results of others
    #: ``"module.NAME"`` of its :class:`bioeval.Measure`: numbers of scores that systems are
    #: compared by when they are asked for by name.
    measures: str = ""
    #: Modules that make results of counts, by the `form` of a tally: each has ``dataset``,
    #: ``scalars`` and ``with_intervals`` (:mod:`bioeval.evaluation.task_counts`).
    counts: Mapping[str, str] = field(default_factory=dict)
    #: Modules that plan a task of a card, by its section: each has ``plan``, ``compared`` and
    #: ``CALLS`` (:class:`bioeval.evaluation.plan.Plan`).
    tasks: Mapping[str, str] = field(default_factory=dict)
    #: Modules whose ``evaluate`` runs all tasks of a card, by the section that asks for it, or by
    #: the layout of the scores; a module of a layout also has ``open_set``.
    runners: Mapping[str, str] = field(default_factory=dict)
    #: Modules whose ``column_warnings`` states doubts about scores whose card was chosen by their
    #: layout, by a column of their metadata.
    columns: Mapping[str, str] = field(default_factory=dict)
    stats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # ``be.stats.NAME``
    #: ``"module.NAME"`` of its :class:`bioeval.base.messages.MessageType`.
    messages: str = ""
    hooks: Mapping[str, str] = field(default_factory=dict)  # of HOOKS: ``"module.function"``
    needs: tuple[str, ...] = ()  # the other studies that it uses
    heading: str = ""  # of the reference, unless that of its first command

    def resolved(self, package: str) -> StudyManifest:
        """Return it with the full names of its modules.

        The manifest itself stays as it is: several threads may read it at once.
        """
        before = f"{package}."

        def at_home(offer: T) -> T:
            return replace(offer, home=f"{before}{offer.home}")

        def with_homes(homes: Mapping[str, str]) -> dict[str, str]:
            return {name: f"{before}{home}" for name, home in homes.items()}

        modules: dict[str, Any] = {name: with_homes(getattr(self, name)) for name in BY_NAME}
        return replace(
            self,
            commands=tuple(map(at_home, self.commands)),
            plots=tuple(map(at_home, self.plots)),
            views=tuple(map(at_home, self.views)),
            calls={f"{before}{home}": names for home, names in self.calls.items()},
            stats={f"{before}{home}": names for home, names in self.stats.items()},
            scalars=self.scalars and f"{before}{self.scalars}",
            measures=self.measures and f"{before}{self.measures}",
            messages=self.messages and f"{before}{self.messages}",
            hooks=with_homes(self.hooks),
            **modules,
        )
