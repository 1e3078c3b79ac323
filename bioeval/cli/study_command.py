"""One run of a command: reading, the system in use, progress, what is printed and written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import click

from bioeval.base.errors import NoResultError
from bioeval.base.version import __version__
from bioeval.cli.command import Command, in_options, option_group
from bioeval.cli.console import note
from bioeval.cli.options import (
    load_file,
    require_method,
    scores_in_use,
    shared_options,
    system_name,
    take_interval,
    take_reading,
    take_use,
)
from bioeval.cli.outputs import (
    Output,
    attributes_but,
    rows_over,
    take_out,
    write_csv,
    write_results,
)

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.conditions import Condition
    from bioeval.cli.outputs import Table
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores
    from bioeval.views.terms import Results


T = TypeVar("T")

#: Rates by which a gallery among several has a result.
_OF_EACH_GALLERY = ("eer", "recognition_rate")

#: Messages of results that say why all rates of a task are not defined.
_UNDEFINED = ("no-query-with-match", "no-attempt")


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
    """One run of a command, with the options that click gives.

    In its context progress is shown; what :meth:`finish` made is printed at the end. `options` are
    those that are left for the library, without those that were not given. A command that `reads`
    no scores sets the `name` of the system itself.
    """

    def __init__(self, data: str, options: dict[str, Any], *, reads: bool = True):
        """Take the options of output and reading, checked."""
        self.data, self._second, self._named = data, options.get("second"), "name" in options
        if "interval" in options and "confidence" in options:  # not taken by the command
            require_method(options["interval"])
            take_interval(options, options["interval"])
        self._conditions: tuple[Condition, ...] = options.pop("fail_if", ())
        self._failures: list[str] = []  # why the command ends with exit code 1
        self.output = Output.take(options)
        self.use = take_use(options)
        #: The scores as they were read, by the names of their systems.
        self.as_read: dict[str, Scores] = {}
        self._all_options = dict(options)
        self.reading: dict[str, Any] = take_reading(data, options) if reads else {}
        self._name, self.terms = options.pop("name", None), options.pop("terms", "lecture")
        self.name = Path(data).stem  # until scores are read
        self.options = {name: value for name, value in options.items() if value is not None}
        self._inside = contextlib.ExitStack()
        # What is printed at the end, and the files that were written.
        self._table: Any = None
        self._document: dict[str, Any] = {}
        self._files: list[str] = []

    def __enter__(self) -> Self:
        from bioeval.cli.progress import Stages  # rich takes a while to load

        self.stages = self._inside.enter_context(Stages())
        return self

    def __exit__(self, *exception: Any) -> None:
        self._inside.__exit__(*exception)
        if exception[0] is None:
            self.output.show(self._table, self._document, self._files)
            for reason in self._failures:
                note(f"bioeval: failed: {reason}")
            if self._failures:
                click.get_current_context().exit(1)

    # -------------------------------------------------------------------------- reading

    def reading_of(self, file: str, **changed: Any) -> dict[str, Any]:
        """Return how another file is read, by the options of the command but those `changed`."""
        return take_reading(file, {**self._all_options, **changed})

    def read_set(self, files: Sequence[str], name: str | None = None) -> Scores:
        """Return the scores of a set: a file, and perhaps the list of its trials.

        The options of reading apply to it, but those of a second file where it has one of its own.
        """
        if len(files) > 2:
            raise click.UsageError(f"{files[2]} is a third file; expected scores and their trials")
        changed: dict[str, Any] = {"second": None}
        if len(files) > 1:
            changed = {"second": files[1], "trials": None}
        return self.read(files[0], name, reading=self.reading_of(files[0], **changed))

    def names(self, files: Sequence[str]) -> list[str]:
        """Return the names of several systems: those given, or those of their files.

        Files of one name have their paths.
        """
        given = self._name or (None,) * len(files)
        if len(given) != len(files):
            raise click.UsageError(f"--name is given {len(given)} times for {len(files)} systems")
        stems = [system_name(file, None, self.reading) for file in files]
        distinct = stems if len(set(stems)) == len(stems) else files
        names = [x or y for x, y in zip(given, distinct, strict=True)]
        for name in names:
            if names.count(name) > 1:
                raise click.UsageError(f"{name!r} is given twice; name each system with --name")
        return names

    def read(
        self,
        file: str = "",
        name: str | None = None,
        reading: dict[str, Any] | None = None,
    ) -> Scores:
        """Return the scores of a file, or of `data`, with the name of their system, in use.

        The file is read as `data` is, unless its own `reading` is given.
        """
        reading = self.reading if reading is None else reading
        self.stages(f"reading {file or self.data}")
        scores = load_file(file or self.data, reading)
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

    def interval_for(self, scores: Scores, interval: str | None) -> str:
        """Return the given interval, or the one that the scores allow, with a note."""
        if interval is not None:
            return interval
        from bioeval.scores.people import knows_people, subject_pattern

        if knows_people(scores):
            return "people"
        note(
            "the subjects of the pairs are not known, so intervals are Wilson's and assume "
            "independent attempts; if names contain the subjects, give --subject-from "
            f"'{subject_pattern(scores)}'"
        )
        return "wilson"

    # -------------------------------------------------------------------------- no result

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
        """Return the results of an evaluation of which some rate is defined.

        At given thresholds a rate of one class of attempts is a result, too. Raise
        :class:`NoResultError` if no task has a result.
        """
        from bioeval.views.sections.rows import rows_of_task
        from bioeval.views.tasks import datasets, has_folds

        results = dict(datasets(tree))
        of_galleries = any("partition" in dataset.dims for dataset in results.values())
        if has_folds(tree) or of_galleries:
            rates = []
            for dataset in results.values():
                for name, values in dataset.items():
                    if str(name).endswith("_mean") or (of_galleries and name in _OF_EACH_GALLERY):
                        rates.append(values)
            self.require_defined(rates, [scores], protocol, results.values())
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

    # -------------------------------------------------------------------------- output

    def in_terms(self, results: Results) -> Results:
        """Return results whose tables and plots use the terms of ``--terms``."""
        from bioeval.views.terms import in_terms

        return in_terms(results, self.terms)

    def table(self, results: Any) -> Any:
        """Return the table of results in the terms of ``--terms``; options stand for arguments."""
        from bioeval.tables.sections import table_of

        return table_of(results, self.terms, in_options)

    def data_of(self, results: Any) -> tuple[dict[str, Any], dict[str, Table]]:
        """Return what a study says of its results as a document, and its tables as CSV.

        Both have the lecture's terms, whatever ``--terms`` says, for programs that read them.
        """
        from bioeval.tables.sections import sections_of
        from bioeval.views.writers.data import answer_of, as_data, facts_data, messages_data

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
        messages = []
        for section in sections:
            if answer := answer_of(section):
                document["answer"] = answer
            tables = as_data(section)
            document |= tables
            csv |= {f"{name}.csv": rows for name, rows in tables.items() if rows}
            messages += messages_data(section)
        return {**document, "messages": messages}, csv

    def keep(self, table: Any, document: dict[str, Any], files: list[str]) -> None:
        """Keep what is printed at the end, and the names of the files that were written."""
        self._table, self._document, self._files = table, document, files

    def fail(self, reason: str) -> None:
        """End with exit code 1 after everything is shown and written, and say why."""
        self._failures.append(reason)

    def judge(self, results: Any) -> None:
        """Fail by the conditions of ``--fail-if``."""
        for condition in self._conditions:
            self._failures += condition.reasons(results)

    def file_to_write(self, out: str | None) -> None:
        """Check the path of a file to write, if any, before anything is computed."""
        if out is not None:
            take_out(out, self.output.force)

    def save_scores(self, scores: Scores, out: str | None) -> None:
        """Write scores to a file, if one is named."""
        if out is None:
            return
        from bioeval.scores.formats import save

        self.stages(f"writing {out}")
        save(scores, out)
        self.output.remarks.append(f"wrote {out}: {scores!r}")

    def finish(
        self,
        results: Any,
        csv: Mapping[str, Table] | None = None,
        *,
        more: Mapping[str, Any] | None = None,
        slash: str = "_",
        overlaid: bool = False,
        drawn: Any = None,
        shown: Any = None,
        files: Iterable[str] = (),
        page: Any = None,
        as_dataset: xr.Dataset | xr.DataTree | None = None,
        **of_page: Any,
    ) -> None:
        """Write one result, or several datasets by name, and keep the table for printing.

        The document is what the study says of its results, in data, with `more` entries; each of
        its tables is a file of CSV, beside those of `csv`. The table is that
        of :func:`bioeval.show`, or of what is `shown`; what is `drawn` are the results, several
        `overlaid` in one plot. Nodes of the written tree have `slash` for each slash of a name; a
        result that is no dataset is written `as_dataset`. A page is of the results, unless it is of
        a `page` of others, and names the `files`, unless it is the data that were read; `of_page`
        are its other options, such as images.
        """
        import xarray as xr

        from bioeval.results.dataset import without_slashes

        self.judge(results)
        document, tables = self.data_of(results)
        document |= more or {}
        if "files" in document:  # of several systems
            del document["file"]
        in_terms: Any = results
        saved: Any = as_dataset
        if isinstance(results, dict):
            in_terms = {name: self.in_terms(ds) for name, ds in results.items()}
            nodes = without_slashes(results, slash)
            saved = xr.DataTree.from_dict({nodes[name]: ds for name, ds in results.items()})
        elif isinstance(results, xr.Dataset):
            in_terms, saved = self.in_terms(results), results
        if drawn is None and saved is not as_dataset:
            drawn = in_terms
        table = self.table(in_terms)
        formats, tell = self.output.formats, self.output.remarks.append

        def fill(folder: Path) -> None:
            """Write results, table, CSV files and plots into a folder."""
            write_results(folder, saved, table)
            for file, rows in (tables | dict(csv or {})).items():
                write_csv(folder / file, rows)
            if callable(drawn) and formats:
                drawn(folder)
            elif drawn is not None and formats:
                from bioeval.plot.files import save_plots

                save_plots(drawn, (), folder, formats, overlaid=overlaid, tell=tell)

        written = self.output.write(document, fill, self.stages)
        self.keep(table if shown is None else shown, document, written)
        title = ""
        if page is None and saved is as_dataset:
            page, title = in_terms, self.name
        how = {"terms": self.terms, "title": title, **of_page}
        read = tuple(files) or (self.data, self._second)
        self.output.write_page(page or {self.name: in_terms}, read, self.stages, **how)


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
    undefined = [
        x for dataset in results for x in messages_of(dataset.attrs) if x.code in _UNDEFINED
    ]
    why = "; ".join(dict.fromkeys(map(sentence_about, undefined)))
    raise NoResultError(f"nothing could be evaluated: {why or 'no rate is defined for these data'}")


def _about(ds: xr.Dataset) -> dict[str, Any]:
    """Return the attributes and the scalars of a result, without its messages."""
    scalars: dict[str, Any] = next(iter(rows_over(ds)), {})
    return {**attributes_but(ds, "bioeval_version", "messages"), **scalars}
