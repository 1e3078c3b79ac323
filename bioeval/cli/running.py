"""One run of a command: the options that it shares with others, what it reads, writes and prints.

The function of a command is called with a :class:`Run`, which has the values of these options. It
returns an :class:`Output`, which is printed when all files are written::

    def roc_command(run, data):
        scores = run.read(data)
        return run.write(be.verification(scores))  # the files of --out and --report

The run itself does not change meanwhile, but for `files`, the names of all files that were read.
"""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import BioevalWarning, counted
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


@dataclass(frozen=True)
class Output:
    """What a command prints at its end, and its exit code."""

    shown: Any = ""  # a text, or a table
    document: Any = None  # of --json, in place of the table
    remarks: Sequence[str] = ()  # lines on standard error, as on what was written
    errors: Sequence[str] = ()  # in the input, although there is a result: exit code 2
    failures: Sequence[str] = ()  # verdicts of the command: exit code 1

    def show(self, as_json: bool, markup: Any) -> None:
        """Print everything; exit with 2 for an error, 1 for a verdict."""
        if as_json:
            show_json(self.document)
        elif isinstance(self.shown, str):
            put(self.shown)
        else:
            print_table(self.shown, markup)
        if self.remarks:
            note("\n".join(self.remarks))
        for reason in self.errors:
            note(f"bioeval: error: {reason}")
        for reason in self.failures:
            note(f"bioeval: failed: {reason}")
        if self.errors or self.failures:
            click.get_current_context().exit(2 if self.errors else 1)


class Run:
    """One run of a command, with the values of the options that it shares with others."""

    def __init__(self, options: dict[str, Any]):
        """Take the shared options out of `options`, and check them before anything is read.

        The options of the command alone are left. A command has all options of a group or none.
        """
        take = options.pop
        self.stages = Stages()
        self.files: list[str] = []  # that were read

        # What to read, and how the system is used: the options that were given.
        self.reading = {name: take(name) for name in _READ if name in options}
        self.use: dict[str, Any] = {}
        if "attempts" in options:
            values = {name: take(name, None) for name in _USE}
            self.use = {name: value for name, value in values.items() if value is not None}
        self.names_systems = "name" in options  # else scores keep the names that they have
        self.name_option = take("name", None)
        #: The settings of ``--interval``.
        self.settings = {}
        if "replicates" in options:
            self.settings = {name: take(name) for name in _INTERVAL}

        # What to write.
        self.conditions: tuple[Condition, ...] = take("fail_if", ())
        out, page = take("out", None), take("report", None)
        self.force = take("force", False)
        draws = take("plots", False)
        self.formats = tuple(take("plot_formats", ()))  # of plots; none are drawn without
        if (draws or self.formats) and out is None:
            raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
        if draws and not self.formats:
            self.formats = ("png",)
        self.folder = None
        if out is not None:
            self.folder = check_folder(out, self.force)
            click.get_current_context().with_resource(writing_to(self.folder))
        self.page = None if page is None else take_out(page, self.force)

        # What to print.
        self.as_json = take("as_json", False)
        self.verbose = take("verbose", False)
        markups: list[Any] = [name for name in ("latex", "markdown") if take(name, False)]
        if self.as_json + len(markups) > 1:
            raise click.UsageError("give one of --json, --latex and --markdown")
        self.markup = markups[0] if markups else None

    # -------------------------------------------------------------------------- reading

    def read(
        self,
        file: str,
        second: str | None = None,
        name: str | None = None,
        use: Mapping[str, Any] | None = None,
    ) -> Scores:
        """Return the scores of a file, with the name of their system, in use.

        A `second` file is the labels, impostor scores or trials of the first, as it shows itself.
        """
        return self.read_system(file, second, name, use)[1]

    def read_system(
        self,
        file: str,
        second: str | None = None,
        name: str | None = None,
        use: Mapping[str, Any] | None = None,
        **changed: Any,
    ) -> tuple[Scores, Scores]:
        """Return the scores of a file as they were read, and in use: of the claims of a system.

        Options of reading may be `changed`, and `use` takes the place of those of the use.
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
        if self.names_systems or name is not None:
            scores = scores.replace(name=self.system_name(file, name or self.name_option))
        self.stages("counting")
        if use is None:
            use = self.use
        if "attempts" in use or "enrol" in use or use.get("templates") == "multi":
            from bioeval.scores.claim_scores import claim_scores

            return scores, claim_scores(scores, **{"templates": "single", **use})
        if "fusion" in use:
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

    # -------------------------------------------------------------------------- writing

    def write(
        self,
        results: Any,
        *,
        records: Mapping[str, list[dict[str, Any]]] = MappingProxyType({}),
        lines: Sequence[Text] = (),
        drawn: Sequence[tuple[Any, Any]] = (),
        name: str = "",
        page: Any = None,
        remarks: Sequence[str] = (),
        failures: Sequence[str] = (),
    ) -> Output:
        """Write a result, or several by name, where options ask for it; return what is printed.

        JSON and CSV are those of the data frame, and of further `records`; `lines` stand below the
        table, which is a short one without ``--verbose``. In place of the plots of the results,
        those of the results in `drawn` are drawn, each with scores whose plots are drawn, too. On a
        page, the result has a `name`, by default that of its system or of the first file, and the
        results `page` are shown in its place. `remarks` and `failures` are printed as well, those
        before what is written, and these after conditions that hold.
        """
        import xarray as xr

        from bioeval.results.attributes import without_slashes
        from bioeval.showing.data import data_of
        from bioeval.showing.show import document_of

        table = partial(document_of, results, in_options, lines)
        # What is written as netCDF, and what thresholds may be outside of: one tree of several
        # results; of a `Shown`, which is a text or a table, nothing.
        systems: Sequence[Any] = ()
        tree = None
        if isinstance(results, dict):
            nodes = without_slashes(results, "-")
            tree = xr.DataTree.from_dict({nodes[name]: x for name, x in results.items()})
            systems = [*results.values()]
        elif not isinstance(results, Shown):
            tree, systems = results, [results]

        # The conditions of --fail-if, and the document of --json and --out.
        document: dict[str, Any] = {}
        failed_conditions: list[str] = []
        if self.folder is not None or self.as_json or self.conditions:
            data = data_of(results)
            for condition in self.conditions:
                failed_conditions += condition.reasons(data.frame)
            document = {"bioeval": __version__, "file": next(iter(self.files), "")}
            if len(self.files) > 1:
                document["inputs"] = self.files
            document = {**document, **data.document(), **records}
        errors = outside_all_scores(systems)

        all_remarks = [*remarks]
        if self.folder is not None:

            def fill(folder: Path) -> None:
                write_files(folder, tree, table(detail="all"), data.tables(), records)
                if self.formats and tree is not None:
                    for result, scores in drawn or [(results, ())]:
                        all_remarks.extend(self._draw(result, scores, folder))

            self.stages(f"writing to {self.folder}")
            names = write_folder(self.folder, document, fill, self.force)
            all_remarks.append(f"wrote {len(names)} files to {self.folder}")

        # LaTeX and Markdown are for documents: they have all rows that the data support.
        detail: Detail = "brief" if self.markup is None else "supported"
        if self.verbose:
            detail = "all"
        shown = table(detail=detail)
        if self.page is not None:
            all_remarks += self._write_page_of_results(results, name, page)
        return Output(shown, document, all_remarks, errors, [*failed_conditions, *failures])

    def _draw(self, results: Any, scores: Any, folder: Path) -> list[str]:
        """Draw results in the formats of ``--plot-format``; return remarks on plots left out."""
        from bioeval.plot.files import save_plots

        remarks: list[str] = []
        overlaid = isinstance(results, dict)
        save_plots(results, scores, folder, self.formats, overlaid, tell=remarks.append)
        return remarks

    def _write_page_of_results(self, results: Any, name: str, page: Any) -> list[str]:
        """Write the page of a command's results, or of those in `page`; return remarks."""
        from bioeval.showing.nodes import nodes_of

        is_single = not isinstance(results, dict | Shown)
        if not name:
            name = Path(next(iter(self.files), "")).stem
            if is_single:
                name = str(nodes_of(results)[0].dataset.attrs.get("system", "")) or name
        title = name if isinstance(results, Shown) else ""
        if not page:
            page = {name: results} if is_single else results
        return self.write_page(page, title=title)

    def write_page(self, results: Any, **options: Any) -> list[str]:
        """Write the page of the results of the files that were read, with the command behind it.

        Return remarks that name it, and results that it could not show.
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
        return [*(f"bioeval: warning: {x.message}" for x in caught), f"wrote {self.page}"]


def outside_all_scores(systems: Iterable[Any]) -> list[str]:
    """Return an error for each result whose given thresholds are outside all of its scores."""
    from bioeval.results.beyond_scores import outside_scores
    from bioeval.showing.messages import sentence_about

    messages = [outside_scores(system) for system in systems]
    return [in_options(sentence_about(message)) for message in messages if message is not None]
