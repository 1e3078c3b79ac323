"""One run of a command: what it reads, how far it is, what it prints and writes."""

from __future__ import annotations

import contextlib
import os
import shlex
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
from click.core import ParameterSource

from bioeval.base.errors import BioevalWarning
from bioeval.base.messages import messages_of
from bioeval.base.version import __version__
from bioeval.cli.command import in_options
from bioeval.cli.console import note, put, show_json
from bioeval.cli.outputs import (
    attributes_but,
    check_folder,
    command_words,
    rows_over,
    take_out,
    write_csv,
    write_folder,
    write_results,
)
from bioeval.cli.progress import Stages
from bioeval.views.show import print_table

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.conditions import Condition
    from bioeval.cli.outputs import Table
    from bioeval.scores.matrix import Scores
    from bioeval.views.terms import Results

#: The arguments of `load` that are options.
_READ = (
    *(
        "labels",
        "gallery",
        "trials",
        "columns",
        "lists",
        "header",
        "kind",
        "nan",
        "failed",
        "metric",
    ),
    *("average", "exclude", "subject_from", "names_of", "distractor_ids"),
)
_USE = ("attempts", "enrol", "templates", "fusion")
_INTERVAL = ("confidence", "replicates", "random_state")


class Run:
    """One run of a command, with the values of the options that it shares with others.

    They are taken from `options`, and checked before anything is read. In its context progress is
    shown; what :meth:`finish` made is printed at the end.
    """

    def __init__(self, options: dict[str, Any]):
        take = options.pop
        self.reading = {x: take(x) for x in _READ} if "labels" in options else {}
        if labels := self.reading.get("distractor_ids"):
            self.reading["distractor_ids"] = tuple(filter(None, labels))
        elif self.reading:
            self.reading["distractor_ids"] = None
        for name in ("columns", "lists"):
            if name in self.reading:
                self.reading[name] = _by_key(name, self.reading[name])
        #: How the settings of ``--interval`` are, and of the use of a system those given.
        self.settings = {x: take(x) for x in _INTERVAL} if "replicates" in options else {}
        used = {x: take(x, None) for x in _USE} if "attempts" in options else {}
        self.use = {name: value for name, value in used.items() if value is not None}
        self._named = "name" in options
        self.given_name, self.terms = take("name", None), take("terms", "lecture")
        self.conditions: tuple[Condition, ...] = take("fail_if", ())
        self._take_output(options)

        self.files: list[str] = []  # that were read
        # Of the scores that were read last: their system, the file of their labels, and they
        # themselves, before they were in use.
        self.name, self.labels = "", None
        self.as_read: Scores
        self.remarks: list[str] = []  # on what was written, for standard error
        self._failures: list[str] = []  # why the command ends with exit code 1
        self._table: Any = None
        self._text = ""
        self._document: Any = None
        self._written: list[str] = []
        self._inside = contextlib.ExitStack()

    def _take_output(self, options: dict[str, Any]) -> None:
        """Take the options of output, and check the places before any computation."""
        take = options.pop
        out, page, self.force = take("out", None), take("report", None), take("force", False)
        plots, self.formats = take("plots", False), tuple(take("plot_formats", ()))
        if (plots or self.formats) and out is None:
            raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
        if plots and not self.formats:
            self.formats = ("png",)
        self.folder = None if out is None else check_folder(out, self.force)
        self.page = None if page is None else take_out(page, self.force)
        self.as_json, self.verbose = take("as_json", False), take("verbose", False)
        forms: list[Any] = [form for form in ("latex", "markdown") if take(form, False)]
        if self.as_json + len(forms) > 1:
            raise click.UsageError("give one of --json, --latex and --markdown")
        self.markup = forms[0] if forms else None

    def __enter__(self) -> Self:
        self.stages = self._inside.enter_context(Stages())
        return self

    def __exit__(self, *exception: Any) -> None:
        self._inside.__exit__(*exception)
        if exception[0] is None:
            self._show()
            for reason in self._failures:
                note(f"bioeval: failed: {reason}")
            if self._failures:
                click.get_current_context().exit(1)

    def _show(self) -> None:
        """Print the document, or the table or text, then what was written."""
        if self.as_json:
            show_json(self._document)
        elif self._table is not None:
            table = self._table
            if not self.verbose:
                table = table.in_brief() if self.markup is None else table.supported()
            print_table(table, self.markup)
        else:
            put(self._text)
        lines = [*self.remarks]
        if self.folder is not None:
            lines.append(f"wrote {len(self._written)} files to {self.folder}")
        if self.page is not None:
            lines.append(f"wrote {self.page}")
        if lines:
            note("\n".join(lines))

    # -------------------------------------------------------------------------- reading

    def read(
        self, file: str, second: str | None = None, name: str | None = None, **changed: Any
    ) -> Scores:
        """Return the scores of a file, with the name of their system, in use.

        A `second` file is the labels, impostor scores or trials of the first, as it shows itself.
        Options of reading may be `changed`.
        """
        from bioeval.scores.formats import read_with

        self.stages(f"reading {file}")
        reading = {**self.reading, **changed}
        reading["lists"] = {key: _value_of(key, x) for key, x in reading["lists"].items()}
        if reading["average"] is not None:
            reading["average"] = tuple(reading["average"].split(","))
        if second is not None:
            role = _role_of(file, second)
            if reading.get(role) is not None:
                raise click.UsageError(
                    f"{second!r} is a second file, beside --{role} {reading[role]!r}"
                )
            reading[role] = second
        self.files += filter(None, (file, second))
        impostor = reading.pop("impostor", None)
        scores = read_with(file if impostor is None else (file, impostor), **reading)
        if self._named or name is not None:
            scores = scores.replace(name=self.system_name(file, name or self.given_name))
        self.name, self.labels, self.as_read = str(scores.name), reading["labels"], scores
        self.stages("counting")
        return self._in_use(scores)

    def read_set(self, files: Sequence[str], name: str | None = None) -> Scores:
        """Return the scores of a set: a file, and perhaps the list of its trials."""
        file, *trials = files
        if len(trials) > 1:
            raise click.UsageError(f"{trials[1]} is a third file; expected scores and their trials")
        if trials:
            return self.read(file, trials[0], name, trials=None)
        return self.read(file, name=name)

    def _in_use(self, scores: Scores) -> Scores:
        """Return the scores of the claims of a system, or `scores` where each is one comparison."""
        use = self.use
        if not {"attempts", "enrol"} & use.keys() and use.get("templates") != "multi":
            if "fusion" in use:
                raise click.UsageError("--fusion has no effect; it needs --templates multi")
            return scores
        from bioeval.scores.claim_scores import claim_scores

        return claim_scores(scores, **{"templates": "single", **use})

    def system_name(self, file: str, name: str | None = None) -> str:
        """Return the name of a system: as given, else that of the file and the chosen array."""
        columns = self.reading.get("columns", {})
        array = columns.get("scores") or columns.get("embeddings")
        path = Path(file)
        if path.name == "data":  # of a tracker, whose name is that of the folder above
            path = path.absolute().parent
        return name or ":".join(filter(None, (path.stem, array)))

    def names(self, files: Sequence[str]) -> list[str]:
        """Return the names of several systems: those given, or those of their files.

        Files of one name have their paths.
        """
        given = self.given_name or (None,) * len(files)
        if len(given) != len(files):
            raise click.UsageError(f"--name is given {len(given)} times for {len(files)} systems")
        stems = [self.system_name(file) for file in files]
        distinct = stems if len(set(stems)) == len(stems) else files
        names = [x or y for x, y in zip(given, distinct, strict=True)]
        for name in names:
            if names.count(name) > 1:
                raise click.UsageError(f"{name!r} is given twice; name each system with --name")
        return names

    # -------------------------------------------------------------------------- intervals

    def interval(self, method: str | None) -> Any:
        """Return the method of intervals with the settings of the command; None without one."""
        if method is None:
            source = click.get_current_context().get_parameter_source
            for name in ("confidence", "replicates"):
                if source(name) is ParameterSource.COMMANDLINE:
                    raise click.UsageError(f"--{name} needs --interval METHOD")
            return None
        from bioeval.stats.options import IntervalMethod

        return IntervalMethod(method, **self.settings)

    def interval_for(self, scores: Scores, method: str | None) -> Any:
        """Return intervals by this method, or by the one that the scores allow, with a note."""
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

    # -------------------------------------------------------------------------- output

    def fail(self, reason: str) -> None:
        """End with exit code 1 after everything is shown and written, and say why."""
        self._failures.append(reason)

    def judge(self, document: dict[str, Any]) -> None:
        """Fail by the conditions of ``--fail-if`` on the numbers of the JSON."""
        for condition in self.conditions:
            self._failures += condition.reasons(document)

    def _require_within_scores(self, results: Any) -> None:
        """Fail by the one threshold of a result that is outside all scores of both classes."""
        import xarray as xr

        from bioeval.results.support import outside_scores
        from bioeval.views.messages import sentence_about

        for result in results.values() if isinstance(results, dict) else [results]:
            is_result = isinstance(result, xr.Dataset | xr.DataTree)
            message = outside_scores(result) if is_result else None
            if message is not None:
                self.fail(in_options(sentence_about(message)))

    def file_to_write(self, out: str | None) -> None:
        """Check the path of a file to write, if any, before anything is computed."""
        if out is not None:
            take_out(out, self.force)

    def save_scores(self, scores: Scores, out: str | None) -> None:
        """Write scores to a file, if one is named."""
        if out is None:
            return
        from bioeval.scores.formats import save

        self.stages(f"writing {out}")
        save(scores, out)
        self.remarks.append(f"wrote {out}: {scores!r}")

    def in_terms(self, results: Results) -> Results:
        """Return results whose tables and plots use the terms of ``--terms``."""
        from bioeval.views.terms import in_terms

        return in_terms(results, self.terms)

    def table(self, results: Any, *, whole: bool = False) -> Any:
        """Return the table of results in the terms of ``--terms``; options stand for arguments.

        Without ``--verbose`` it is a short one, unless it is to be the `whole` one of a file.
        """
        from bioeval.tables.sections import document_of

        verbose = whole or self.verbose or self.markup is not None
        return document_of(results, self.terms, in_options, verbose=verbose)

    def keep(
        self,
        table: Any = None,
        document: Any = None,
        *,
        text: str = "",
        written: Sequence[str] = (),
    ) -> None:
        """Keep what is printed at the end, and the names of the files that were written."""
        self._table, self._text = table, text
        self._document, self._written = document, [*written]

    def finish(
        self,
        results: Any,
        csv: Mapping[str, Table] | None = None,
        *,
        of: dict[str, xr.Dataset] | None = None,
        more: Mapping[str, Any] | None = None,
        overlaid: bool = False,
        drawn: Any = None,
        shown: Any = None,
        page: Any = None,
        **of_page: Any,
    ) -> None:
        """Write one result, or several datasets by name, and keep the table for printing.

        The document is what the study says of its results, in data, with `more` entries; each of
        its tables is a file of CSV, beside those of `csv`. The table is that of
        :func:`bioeval.show`, or of what is `shown`. Several results are drawn `overlaid`, or what
        is `drawn` instead. `of` are the datasets of a result that is none. A page is of the
        results, or of a `page` of others; `of_page` are its options, such as images.
        """
        import xarray as xr

        from bioeval.results.dataset import without_slashes

        document, tables = self._data_of(results)
        document |= more or {}
        self.judge(document)
        self._require_within_scores(results)
        if "files" in document:  # of several systems
            del document["file"]
        in_terms: Any = results
        saved: Any = None
        datasets = results if isinstance(results, dict) else of
        if datasets is not None:
            nodes = without_slashes(datasets, "-")
            saved = xr.DataTree.from_dict({nodes[name]: ds for name, ds in datasets.items()})
            in_terms = {name: self.in_terms(ds) for name, ds in datasets.items()}
        elif isinstance(results, xr.Dataset | xr.DataTree):
            saved = results
            in_terms = self.in_terms(saved)
        table = self.table(in_terms if of is None else results)

        def fill(folder: Path) -> None:
            """Write results, table, CSV files and plots into a folder."""
            whole = self.table(in_terms if of is None else results, whole=True)
            write_results(folder, saved, whole)
            for file, rows in (tables | dict(csv or {})).items():
                write_csv(folder / file, rows)
            if callable(drawn) and self.formats:
                drawn(folder)
            elif self.formats and (saved is not None or drawn is not None):
                from bioeval.plot.files import save_plots

                tell = self.remarks.append
                what = in_terms if drawn is None else drawn
                save_plots(what, (), folder, self.formats, overlaid=overlaid, tell=tell)

        self.keep(shown or table, document, written=self.write(document, fill))
        name = self.name or Path(self.files[0] if self.files else "").stem
        title = name if page is None and saved is None else ""
        if page is None and of is None and saved is not None:
            in_terms = {name: in_terms}
        self.write_page(in_terms if page is None else page, **{"title": title, **of_page})

    def _data_of(self, results: Any) -> tuple[dict[str, Any], dict[str, Table]]:
        """Return what a study says of its results as a document, and its tables as CSV.

        Both have the lecture's terms, whatever ``--terms`` says, for programs that read them.
        """
        from bioeval.tables.sections import sections_of
        from bioeval.views.writers.data import answer_of, as_data, facts_data, messages_data

        document: dict[str, Any] = {"bioeval": __version__, "file": next(iter(self.files), "")}
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

    def write(self, document: dict[str, Any], fill: Any) -> list[str]:
        """Write the files that `fill` makes in a folder, if wanted, and return their names."""
        if self.folder is None:
            return []
        self.stages(f"writing to {self.folder}")
        return write_folder(self.folder, document, fill, self.force)

    def write_page(self, results: Any, **options: Any) -> None:
        """Write the page of the results of the files that were read, if wanted.

        It has the command that it was made from; what it could not show becomes a remark.
        """
        if self.page is None:
            return
        from bioeval.page.page import report

        self.stages(f"writing {self.page}")
        # Names of files, without the folders of this machine.
        words = [Path(x).name if os.path.isabs(x) else x for x in command_words()]
        command = shlex.join(["bioeval", *words]) if words else ""
        options = {"files": self.files, "command": command, "terms": self.terms, **options}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BioevalWarning)
            report(results, self.page, **options)
        self.remarks.extend(str(warning.message) for warning in caught)


def _by_key(option: str, entries: Iterable[tuple[tuple[str, str], ...]]) -> dict[str, Any]:
    """Return the entries of a mapping, which may be given in several options."""
    values: dict[str, Any] = {}
    for key, value in (entry for several in entries for entry in several):
        if key in values:
            raise click.BadParameter(f"{key!r} is given twice", param_hint=f"'--{option}'")
        values[key] = value
    return values


def _value_of(key: str, value: str) -> Any:
    """Return the value of a key of ``--lists``; a key alone says yes."""
    if key == "first_index" and value.isdigit():
        return int(value)
    if key == "keep":
        return value.split(",")
    return {"yes": True, "no": False, key: True}.get(value, value)


def _role_of(file: str, second: str) -> str:
    """Return the option that a second file stands for; refuse a second system."""
    from bioeval.scores.formats.reading import holds_labels, role_of_second_file

    if holds_labels(file) and holds_labels(second):
        command = click.get_current_context().command_path
        raise click.UsageError(
            f"{second} is a second system, and {command} takes one; give both to bioeval compare, "
            "or to bioeval report for a page"
        )
    return role_of_second_file(Path(file), Path(second))


def _about(ds: xr.Dataset) -> dict[str, Any]:
    """Return the attributes and the scalars of a result, without its messages."""
    scalars: dict[str, Any] = next(iter(rows_over(ds)), {})
    if any(x.code == "target-not-shown" and not x.about for x in messages_of(ds.attrs)):
        scalars["supported"] = False
    return {**attributes_but(ds, "bioeval_version", "messages"), **scalars}
