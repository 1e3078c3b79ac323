"""Common parts of the commands of studies: reading, checks, documents, and what is written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import click

from bioeval.base.errors import NoResultError
from bioeval.base.version import __version__
from bioeval.cli.command import Command, naming, option_group, progress_shown
from bioeval.cli.console import note
from bioeval.cli.options import (
    read_scores,
    require_method,
    shared_options,
    system_name,
    take_interval,
    take_reading,
)
from bioeval.cli.outputs import Output, attributes_but, rows_over, take_out
from bioeval.cli.use import scores_in_use, take_use

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.outputs import Table
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores
    from bioeval.views.terms import Results


T = TypeVar("T")

#: Attributes that a document has in other words.
_NOT_IN_DATA = ("bioeval_version", "messages")


def _scalars(ds: xr.Dataset) -> dict[str, Any]:
    return next(iter(rows_over(ds)), {})


def _about(ds: xr.Dataset) -> dict[str, Any]:
    """Return the attributes and the scalars of a result, without its messages."""
    return {**attributes_but(ds, *_NOT_IN_DATA), **_scalars(ds)}


# The rates by which a gallery among several has a result.
_OF_EACH_GALLERY = ("eer", "recognition_rate")


def checked(
    tree: xr.DataTree,
    scores: Scores,
    protocol: str | Protocol,
    at_given_thresholds: bool = False,
) -> xr.DataTree:
    """Return the results of an evaluation of which some rate is defined.

    At given thresholds a rate of one class of attempts is a result, too. Raise
    :class:`NoResultError` if no task has a result.
    """
    from bioeval.views.sections.evaluation import rows_of_task
    from bioeval.views.tasks import datasets, has_folds

    results = dict(datasets(tree))
    of_galleries = any("partition" in dataset.dims for dataset in results.values())
    if has_folds(tree) or of_galleries:
        rates = []
        for dataset in results.values():
            for name, values in dataset.items():
                if str(name).endswith("_mean") or (of_galleries and name in _OF_EACH_GALLERY):
                    rates.append(values)
        StudyCommand.require_defined(rates, [scores], protocol, results.values())
    else:
        defined = set()
        for dataset in results.values():
            for row in rows_of_task(dataset):
                if row.value.is_defined:
                    defined.add(row.value.variable)
        if not at_given_thresholds:
            defined.discard("far")
        if not defined:
            refuse([scores], protocol, results.values())
    return tree


# The messages of results that say why all rates of a task are not defined.
_UNDEFINED = ("no-query-with-match", "no-attempt")


def refuse(
    systems: Iterable[Scores], protocol: str | Protocol, results: Iterable[xr.Dataset] = ()
) -> NoReturn:
    """Raise :class:`NoResultError` with the reason that the check or the results give, if any."""
    from bioeval.base.messages import messages_of
    from bioeval.studies.check.check_data import why_undefined
    from bioeval.views.messages import sentence_about

    for scores in systems:
        if why := why_undefined(scores, protocol):
            raise NoResultError(f"nothing could be evaluated of {scores.name}: {why}")
    found = [x for dataset in results for x in messages_of(dataset.attrs) if x.code in _UNDEFINED]
    why = "; ".join(dict.fromkeys(map(sentence_about, found)))
    raise NoResultError(f"nothing could be evaluated: {why or 'no rate is defined for these data'}")


def study(
    called: str, /, *own: Callable[[Any], Any], second: str = "second", **shared: bool
) -> Callable[[Callable[[StudyCommand], None]], click.Command]:
    """Return a decorator: a function of a run becomes the command of a study of one file.

    `own` are the options that the command has besides the `shared_options` that it takes.
    """

    def decorate(function: Callable[[StudyCommand], None]) -> click.Command:
        def call(data: str, **options: Any) -> None:
            with StudyCommand(data, options) as run:
                function(run)

        word = "[FILE]" if second == "second" else f"[{second.upper()}]"
        more = click.argument(second, required=False, metavar=word)
        declared = (click.argument("data"), more, *own, shared_options(**shared))
        command = click.command(called, cls=Command, help=function.__doc__)
        return command(option_group(*declared)(call))

    return decorate


class StudyCommand:
    """One run of the command of a study, with the options that click gives.

    In its context progress is shown; what :meth:`finish` or :meth:`save` made is printed at the
    end. `options` are those that are left for the library, without those that were not given. A
    command that `reads` no scores sets the `name` of the system itself.
    """

    def __init__(self, data: str, options: dict[str, Any], *, reads: bool = True):
        """Take the options of output and reading, checked."""
        self.data, self._second, self._named = data, options.get("second"), "name" in options
        if "interval" in options and "confidence" in options:  # not taken by the command
            require_method(options["interval"])
            take_interval(options, options["interval"])
        self.output = Output.take(options)
        self.use = take_use(options)
        #: The scores as they were read, by the names of their systems.
        self.as_read: dict[str, Scores] = {}
        self._all_options = dict(options)
        self.reading: dict[str, Any] = {}
        if reads:
            self.reading = take_reading(data, options)
        self._name, self._terms = options.pop("name", None), options.pop("terms", "lecture")
        self.name = Path(data).stem  # until scores are read
        self.options = {name: value for name, value in options.items() if value is not None}
        self._inside = contextlib.ExitStack()
        # What is printed at the end, and the files that were written.
        self._table: Any = None
        self._document: dict[str, Any] = {}
        self._files: list[str] = []

    def __enter__(self) -> Self:
        self.stages = self._inside.enter_context(progress_shown())
        return self

    def __exit__(self, *exception: Any) -> None:
        self._inside.__exit__(*exception)
        if exception[0] is None:
            self.output.show(self._table, self._document, self._files)

    def reading_of(self, file: str, **changed: Any) -> dict[str, Any]:
        """Return how another file is read, by the options of the command but those `changed`."""
        return take_reading(file, {**self._all_options, **changed})

    def read_set(self, files: Sequence[str], name: str | None = None) -> Scores:
        """Return the scores of a set: a file, and perhaps the list of its trials.

        The options of reading apply to it, but those of a second file where it has one of its own.
        """
        file, *second = files
        changed: dict[str, Any] = {"second": None}
        if second:
            changed = {"second": second[0], "trials": None}
        return self.read(file, name, reading=self.reading_of(file, **changed))

    def names(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of several systems: those given, one for each, or their own."""
        return tuple(
            name or system_name(file, None, self.reading)
            for file, name in zip(files, self.given_names(files), strict=True)
        )

    def given_names(self, files: Sequence[str]) -> tuple[str | None, ...]:
        """Return the names that are given to several systems, None where they have their own."""
        value = self._name
        if value and len(value) != len(files):
            raise click.UsageError(f"--name is given {len(value)} times for {len(files)} systems")
        return value or (None,) * len(files)

    def read(
        self,
        file: str = "",
        name: str | None = None,
        *,
        mates: bool = True,
        reading: dict[str, Any] | None = None,
    ) -> Scores:
        """Return the scores of a file, or of `data`, with the name of their system, in use.

        With `mates`, some subject must have two templates. The file is read as `data` is, unless
        its own `reading` is given.
        """
        if reading is None:
            reading = self.reading
        scores = read_scores(file or self.data, reading, self.stages, mates)
        if self._named or name is not None:
            system = system_name(file or self.data, name or self._name, reading)
            scores = scores.replace(name=system)
        self.name = str(scores.name)
        self.as_read[self.name] = scores
        return scores_in_use(scores, self.use)

    def count(self, function: Callable[..., T], *value: Any, **options: Any) -> T:
        """Return the result of a function of the library, with progress."""
        self.stages("counting")
        return function(*value, **options)

    def file_to_write(self, out: str) -> Path:
        """Return the path of a file to write, checked before anything is computed."""
        return take_out(out, self.output.force)

    def interval_for(self, scores: Scores, interval: str | None) -> str:
        """Return the given interval, or the one that the scores allow, with a note."""
        if interval is not None:
            return interval
        if scores._knows_subjects:
            return "subject-bootstrap"
        note(
            "the subjects of the pairs are not known, so intervals are Wilson's and assume "
            "independent attempts; if names contain the subjects, give --subject-from "
            f"'{scores._subject_pattern}'"
        )
        return "wilson"

    @staticmethod
    def require_defined(
        values: Iterable[xr.DataArray],
        systems: Iterable[Scores],
        protocol: str | Protocol = "auto",
        results: Iterable[xr.Dataset] = (),
    ) -> None:
        """Raise :class:`NoResultError` unless one of the values is defined."""
        import numpy as np

        if all(np.isnan(x.values).all() for x in values):  # isnull would import dask
            refuse(systems, protocol, results)

    def checked(
        self, tree: xr.DataTree, scores: Scores, protocol: str | Protocol, at_given_thresholds: bool
    ) -> xr.DataTree:
        """Return results of which some rate is defined.

        Where thresholds are given, a rate of one class of attempts at them is a result, too.
        """
        return checked(tree, scores, protocol, at_given_thresholds)

    def in_terms(self, results: Results) -> Results:
        """Return results whose tables and plots use the terms of ``--terms``."""
        from bioeval.views.terms import in_terms

        return in_terms(results, self._terms)

    def table(self, results: Any) -> Any:
        """Return the table of results in the terms of ``--terms``; options stand for arguments."""
        from bioeval.tables.sections import table_of

        return table_of(results, naming(), self._terms)

    def messages_of(self, results: Any) -> list[dict[str, Any]]:
        """Return the messages of results as data; options stand for arguments."""
        from bioeval.tables.sections import sections_of
        from bioeval.views.writers.data import messages_data

        found = []
        for section in sections_of(results):
            found += messages_data(section, naming=naming())
        return found

    def data_of(self, results: Any) -> tuple[dict[str, Any], dict[str, Table]]:
        """Return what a study says of its results as a document, and its tables as CSV.

        Both have the lecture's terms, whatever ``--terms`` says, for programs that read them.
        """
        from bioeval.tables.sections import sections_of
        from bioeval.views.writers.data import answer_of, as_data, facts_data

        document: dict[str, Any] = {"bioeval": __version__, "file": self.data}
        sections = sections_of(results)
        if isinstance(results, dict):
            document["results"] = {name: _about(ds) for name, ds in results.items()}
        elif hasattr(results, "attrs"):
            document |= _about(results)
        else:
            for section in sections:
                document |= facts_data(section)
        csv: dict[str, Table] = {}
        for section in sections:
            if answer := answer_of(section, naming=naming()):
                document["answer"] = answer
            tables = as_data(section, naming=naming())
            document |= tables
            csv |= {f"{name}.csv": rows for name, rows in tables.items() if rows}
        return {**document, "messages": self.messages_of(results)}, csv

    def task(self, ds: xr.Dataset) -> dict[str, Any]:
        """Return the scalars of a task, and its values at FAR targets and at some ranks."""
        from bioeval.cli.commands.run_outputs import task_document

        return task_document(ds)

    def messages_by_task(self, results: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
        """Return the messages of several tasks as data, each with its tasks."""
        from bioeval.cli.commands.run_outputs import messages_by_task

        return messages_by_task(results, naming())

    def curves(self, ds: xr.Dataset, over: str) -> list[dict[str, Any]]:
        """Return the curves of a task: a row for each threshold, rank or recall level."""
        from bioeval.cli.commands.run_outputs import curve_rows

        return curve_rows(ds, over)

    def save(
        self, document: dict[str, Any], results: Any, table: Any, shown: Any = None, **how: Any
    ) -> None:
        """Write results where files are wanted; keep for printing the table or what is `shown`."""
        self._files = self.output.save(document, results, table, self.stages, **how)
        self._document = document
        self._table = table
        if shown is not None:
            self._table = shown

    def finish(
        self,
        results: Any,
        document: dict[str, Any] | None = None,
        csv: Mapping[str, Table] | None = None,
        *,
        more: Mapping[str, Any] | None = None,
        nodes: Callable[[str], str] = str,
        overlaid: bool = False,
        files: Iterable[str] = (),
        page: Any = None,
        as_dataset: xr.Dataset | None = None,
        **of_page: Any,
    ) -> None:
        """Write one result, or several datasets by name, and keep the table for printing.

        The table is that of :func:`bioeval.show`, and `nodes` makes the node of the written tree of
        a name. Several results are `overlaid` in one plot. Without a `document` it is what the
        study says of its results, in data, with `more` entries, and each of its tables is a file of
        CSV, beside those of `csv`. A result that is no dataset is not drawn, and written
        `as_dataset`. A page is of the results, unless it shows others, and names the `files`,
        unless it is the data that were read; `of_page` are its other options, such as images.
        """
        import xarray as xr

        drawn: Any
        saved: Any
        if isinstance(results, dict):
            drawn = {name: self.in_terms(ds) for name, ds in results.items()}
            saved = xr.DataTree.from_dict({nodes(name): ds for name, ds in results.items()})
        elif isinstance(results, xr.Dataset):
            drawn, saved = self.in_terms(results), results
        else:
            drawn, saved = results, None
        if document is None:
            document, tables = self.data_of(results)
            csv = tables | dict(csv or {})
            document |= more or {}
        table = self.table(drawn)
        if saved is None:
            self.save(document, as_dataset, table, csv=csv)
        else:
            self.save(document, saved, table, csv=csv, drawn=drawn, overlaid=overlaid)
        if page is None and saved is None:
            self.write_page(drawn, *files, title=self.name, **of_page)
        else:
            self.write_page(page or {self.name: drawn}, *files, **of_page)

    def write_page(self, results: Any, *files: str, title: str = "", **of_page: Any) -> None:
        """Write the page of results, in the terms of ``--terms``, if ``--report`` names it.

        `files` were read for them: the data of the command and its second file unless given. Its
        title is the names of the systems unless given.
        """
        read = files or (self.data, self._second)
        more = {"terms": self._terms, "title": title, **of_page}
        self.output.write_page(results, read, self.stages, **more)
