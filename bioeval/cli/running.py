"""One run of a command: what it reads, how far it is, what it prints and writes.

The function of a command is called with a :class:`Run`, which has the values of all options that
commands share. In short::

    def roc_command(run, data):
        scores = run.read(data)
        run.finish(be.verification(scores))  # writes files, and keeps the table
    ...
    run.show()  # prints the table, the remarks, and reasons of exit codes
"""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import BioevalWarning, NoResultError, counted, messages_of
from bioeval.base.version import __version__
from bioeval.cli.command import in_options
from bioeval.cli.console import note, put, show_json
from bioeval.cli.outputs import (
    check_folder,
    command_words,
    take_out,
    write_files,
    write_folder,
    writing_to,
)
from bioeval.cli.progress import Stages
from bioeval.showing.printing import Shown, print_table

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores
    from bioeval.showing.conditions import Condition
    from bioeval.showing.text import Detail, Text

#: The arguments of `load` that are options.
_READ = (
    *("labels", "gallery", "trials", "columns", "lists", "format", "kind", "nan"),
    *("failed", "metric", "average", "exclude", "subject_from", "names_of", "distractor_ids"),
    "shared",
)
_USE = ("attempts", "enrol", "templates", "fusion")
_INTERVAL = ("confidence", "replicates", "random_state", "unit")

#: Messages of results that say why all rates of a task are not defined.
_UNDEFINED = ("no-query-with-match", "no-attempt", "no-threshold")


class Run:
    """One run of a command, with the values of the options that it shares with others.

    These values are taken from `options`, and checked before anything is read. The command reads
    files, shows its `stages`, and hands its result to :meth:`finish`. At the end, :meth:`show`
    prints the result.
    """

    def __init__(self, options: dict[str, Any]):
        """Take the shared options out of `options`, and leave those of the command alone.

        A command has all options of a group or none: one of them tells whether it has the group.
        """
        take = options.pop
        self.reading = {name: take(name) for name in _READ} if "labels" in options else {}
        #: The settings of ``--interval``.
        self.settings = {name: take(name) for name in _INTERVAL} if "replicates" in options else {}
        #: The options of the use of a system that were given.
        self.use = {}
        if "attempts" in options:
            values = {name: take(name, None) for name in _USE}
            self.use = {name: value for name, value in values.items() if value is not None}
        self._has_name = "name" in options
        self.name_option = take("name", None)
        self.conditions: tuple[Condition, ...] = take("fail_if", ())

        out = take("out", None)
        page = take("report", None)
        save_to = take("save_to", None)
        self.force = take("force", False)
        plots = take("plots", False)
        self.formats = tuple(take("plot_formats", ()))
        if (plots or self.formats) and out is None:
            raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
        if plots and not self.formats:
            self.formats = ("png",)
        self.folder = None
        if out is not None:
            self.folder = check_folder(out, self.force)
            click.get_current_context().with_resource(writing_to(self.folder))
        self.page = None if page is None else take_out(page, self.force)
        self.save_to = None if save_to is None else take_out(save_to, self.force)

        self.as_json = take("as_json", False)
        self.verbose = take("verbose", False)
        markups: list[Any] = [name for name in ("latex", "markdown") if take(name, False)]
        if self.as_json + len(markups) > 1:
            raise click.UsageError("give one of --json, --latex and --markdown")
        self.markup = markups[0] if markups else None

        self.stages = Stages()
        self.files: list[str] = []  # files that were read
        self._remarks: list[str] = []  # on what was written, for standard error
        self._failures: list[str] = []  # why the command ends with exit code 1
        self._wrong: list[str] = []  # why it ends with exit code 2, although it shows a result
        self._shown: Any = ""
        self._document: Any = None

    def keep(self, shown: Any, document: Any) -> None:
        """Keep a table or a text, and the JSON document, for printing at the end."""
        self._shown, self._document = shown, document

    def show(self) -> None:
        """Print the result and the remarks; exit with 2 for wrong input, 1 for a verdict."""
        if self.as_json:
            show_json(self._document)
        elif isinstance(self._shown, str):
            put(self._shown)
        else:
            print_table(self._shown, self.markup)
        if self._remarks:
            note("\n".join(self._remarks))
        for reason in self._wrong:
            note(f"bioeval: error: {reason}")
        for reason in self._failures:
            note(f"bioeval: failed: {reason}")
        if self._wrong or self._failures:
            click.get_current_context().exit(2 if self._wrong else 1)

    # -------------------------------------------------------------------------- reading

    def read(self, file: str, second: str | None = None, name: str | None = None) -> Scores:
        """Return the scores of a file, with the name of their system, in use.

        A `second` file is the labels, impostor scores or trials of the first, as it shows itself.
        """
        return self.read_system(file, second, name)[1]

    def read_system(
        self, file: str, second: str | None = None, name: str | None = None, **changed: Any
    ) -> tuple[Scores, Scores]:
        """Return the scores of a file as they were read, and in use: of the claims of a system.

        Options of reading may be `changed`.
        """
        from bioeval.scores.formats import holds_labels, read_with, role_of_second_file

        self.stages(f"reading {file}")
        reading = {**self.reading, **changed}
        if second is not None:
            if holds_labels(file) and holds_labels(second):
                command = click.get_current_context().command_path
                raise click.UsageError(
                    f"{second} is a second system, and {command} takes one; give both to bioeval "
                    "compare, or to bioeval report for a page"
                )
            role = role_of_second_file(Path(file), Path(second), reading.get("format"))
            if reading.get(role) is not None:
                raise click.UsageError(
                    f"{second!r} is a second file, beside --{role} {reading[role]!r}"
                )
            reading[role] = second
        self.files += filter(None, (file, second))
        impostor = reading.pop("impostor", None)
        scores = read_with(file if impostor is None else (file, impostor), **reading)
        if self._has_name or name is not None:
            scores = scores.replace(name=self.system_name(file, name or self.name_option))
        self.stages("counting")
        has_tries = "attempts" in self.use or "enrol" in self.use
        if has_tries or self.use.get("templates") == "multi":
            from bioeval.scores.claim_scores import claim_scores

            return scores, claim_scores(scores, **{"templates": "single", **self.use})
        if "fusion" in self.use:
            raise click.UsageError("--fusion has no effect; it needs --templates multi")
        return scores, scores  # a claim is one comparison

    def system_name(self, file: str, name: str | None = None) -> str:
        """Return the name of a system: `name`, or else the names of file and chosen array."""
        if name:
            return name
        columns = self.reading.get("columns", {})
        array = columns.get("scores") or columns.get("embeddings")
        path = Path(file)
        if path.name == "data":  # the folder above has the name of the tracker
            path = path.absolute().parent
        return ":".join(word for word in (path.stem, array) if word)

    def names(self, files: Sequence[str]) -> list[str]:
        """Return the names of several systems: of ``--name``, or else of their files.

        Files with the same name have their paths instead.
        """
        requested = self.name_option or (None,) * len(files)
        if len(requested) != len(files):
            raise click.UsageError(
                f"--name is given {counted(len(requested), 'times')} "
                f"for {counted(len(files), 'systems')}"
            )
        defaults = [self.system_name(file) for file in files]
        if len(set(defaults)) < len(defaults):
            defaults = list(files)
        names = [name or default for name, default in zip(requested, defaults, strict=True)]
        for name in names:
            if names.count(name) > 1:
                raise click.UsageError(f"{name!r} is given twice; name each system with --name")
        return names

    # -------------------------------------------------------------------------- intervals

    def interval(self, method: str | None) -> Any:
        """Return the method of intervals with the settings of the command; None for no method."""
        if method is None:
            # Their defaults are no request; --seed is that of other draws, too.
            context = click.get_current_context()
            for name in ("confidence", "replicates", "unit"):
                if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                    raise click.UsageError(f"--{name} needs --interval METHOD")
            return None
        from bioeval.stats.options import IntervalMethod

        return IntervalMethod(method, **self.settings)

    def interval_for(self, scores: Scores, method: str | None) -> Any:
        """Return intervals by `method`; by default, by the method that the scores allow."""
        from bioeval.scores.people import knows_people, subject_pattern_of

        if method is None and knows_people(scores):
            method = "people"
        elif method is None:
            note(
                "the subjects of the pairs are not known, so intervals are Wilson's and assume "
                "independent attempts; if names contain the subjects, give --subject-from "
                f"'{subject_pattern_of(scores)}'"
            )
            method = "wilson"
        return self.interval(method)

    # -------------------------------------------------------------------------- results

    def require_defined(
        self,
        values: Iterable[xr.DataArray],
        systems: Iterable[Scores],
        protocol: str | Protocol = "auto",
        results: Iterable[xr.Dataset] = (),
    ) -> None:
        """Raise :class:`NoResultError` if all `values` are NaN.

        The reason in the message is looked for in a check of the scores of the `systems` under the
        `protocol`, and then in the messages of the `results`.
        """
        import numpy as np

        for array in values:
            if not np.isnan(array.values).all():  # isnull would import dask
                return
        from bioeval.showing.messages import sentence_about
        from bioeval.studies.check import why_undefined

        for scores in systems:
            if reason := why_undefined(scores, protocol):
                raise NoResultError(f"nothing could be evaluated of {scores.name}: {reason}")
        reasons: list[str] = []
        for dataset in results:
            for message in messages_of(dataset.attrs):
                if message.code in _UNDEFINED:
                    reasons.append(sentence_about(message))
        reason = "; ".join(dict.fromkeys(reasons)) or "no rate is defined for these data"
        raise NoResultError(f"nothing could be evaluated: {reason}")

    def require_rates(
        self,
        tree: xr.DataTree,
        scores: Scores,
        protocol: str | Protocol,
        at_given_thresholds: bool,
    ) -> None:
        """Raise :class:`NoResultError` unless some rate of an evaluation is defined.

        FAR alone is a result only at given thresholds: elsewhere thresholds are chosen by FAR.
        """
        from bioeval.showing.nodes import nodes_of
        from bioeval.showing.rows import NumbersOfDataset

        results = [node.dataset for node in nodes_of(tree)]
        rates = []
        for dataset in results:
            for name in NumbersOfDataset(dataset, curves=False).names:
                about = dataset[name].attrs
                is_far = about.get("measure", name) == "far"
                # It says how good a system is, and can be better or worse, unlike counts.
                is_rate = "direction" in about and about.get("detail") != "data"
                if is_rate and (at_given_thresholds or not is_far):
                    rates.append(dataset[name])
        self.require_defined(rates, [scores], protocol, results)

    # -------------------------------------------------------------------------- output

    def remark(self, *lines: str) -> None:
        """Print lines on standard error after everything is shown and written."""
        self._remarks += lines

    def fail(self, reason: str) -> None:
        """End with exit code 1 after everything is shown and written, and say why."""
        self._failures.append(reason)

    def finish(
        self,
        results: Any,
        *,
        records: Mapping[str, list[dict[str, Any]]] = MappingProxyType({}),
        lines: Sequence[Text] = (),
        draw: Callable[[Path], None] | None = None,
        name: str = "",
        page: Any = None,
    ) -> None:
        """Write a result, or several by name, ask the conditions, and keep the table for printing.

        JSON and CSV are those of the data frame, and of further `records`; `lines` stand below the
        table, which is a short one without ``--verbose``. `draw` draws into a folder in place of
        the plots of the result. On a page, the result has a `name`, by default that of its system
        or of the first file, and the results `page` are shown in its place.
        """
        import xarray as xr

        from bioeval.results.attributes import without_slashes
        from bioeval.showing.data import data_of
        from bioeval.showing.nodes import nodes_of
        from bioeval.showing.show import document_of

        table = partial(document_of, results, in_options, lines)
        # What is written as netCDF, and what thresholds may be outside of: one tree of several
        # results; of a `Shown`, which is a text or a table, nothing.
        systems: Iterable[Any]
        if isinstance(results, dict):
            nodes = without_slashes(results, "-")
            tree = xr.DataTree.from_dict({nodes[name]: x for name, x in results.items()})
            systems = results.values()
        elif isinstance(results, Shown):
            tree, systems = None, ()
        else:
            tree, systems = results, (results,)

        # The conditions of --fail-if, and the document of --json and --out.
        document: dict[str, Any] = {}
        if self.folder is not None or self.as_json or self.conditions:
            data = data_of(results)
            for condition in self.conditions:
                self._failures += condition.reasons(data.frame)
            document = {"bioeval": __version__, "file": next(iter(self.files), "")}
            if len(self.files) > 1:
                document["inputs"] = self.files
            document = {**document, **data.document(), **records}
        self.refuse_outside(systems)

        if self.folder is not None:

            def fill(folder: Path) -> None:
                write_files(folder, tree, table(detail="all"), data.tables(), records)
                if draw is not None and self.formats:
                    draw(folder)
                elif self.formats and tree is not None:
                    self.draw(results, folder)

            self.stages(f"writing to {self.folder}")
            names = write_folder(self.folder, document, fill, self.force)
            self.remark(f"wrote {len(names)} files to {self.folder}")

        # LaTeX and Markdown are for documents: they have all rows that the data support.
        detail: Detail = "brief" if self.markup is None else "supported"
        if self.verbose:
            detail = "all"
        self.keep(table(detail=detail), document)

        if self.page is not None:
            if not name:
                name = Path(next(iter(self.files), "")).stem
                if tree is results:
                    name = str(nodes_of(results)[0].dataset.attrs.get("system", "")) or name
            title = name if isinstance(results, Shown) else ""
            if not page:
                page = {name: results} if tree is results else results
            self.write_page(page, title=title)

    def refuse_outside(self, systems: Iterable[Any]) -> None:
        """End with exit code 2 if the thresholds that were given are outside all scores."""
        from bioeval.results.beyond_scores import outside_scores
        from bioeval.showing.messages import sentence_about

        for system in systems:
            message = outside_scores(system)
            if message is not None:
                self._wrong.append(in_options(sentence_about(message)))

    def draw(self, results: Any, folder: Path, scores: Any = ()) -> None:
        """Draw results in the formats of ``--plot-format``; remarks name the plots left out."""
        from bioeval.plot.files import save_plots

        overlaid = isinstance(results, dict)
        save_plots(results, scores, folder, self.formats, overlaid, tell=self.remark)

    def write_page(self, results: Any, **options: Any) -> None:
        """Write the page of the results of the files that were read, with the command behind it.

        Remarks name results that the page could not show.
        """
        from bioeval.page.page import report

        assert self.page is not None
        self.stages(f"writing {self.page}")
        # Names of files, without the folders of this machine.
        words = [Path(x).name if os.path.isabs(x) else x for x in command_words()]
        command = shlex.join(["bioeval", *words]) if words else ""
        options = {"files": self.files, "command": command, **options}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BioevalWarning)
            report(results, self.page, **options)
        self.remark(*(f"bioeval: warning: {x.message}" for x in caught), f"wrote {self.page}")
