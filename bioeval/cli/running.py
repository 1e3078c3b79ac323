"""One run of a command: what it reads, how far it is, what it prints and writes."""

from __future__ import annotations

import contextlib
import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import click
from click.core import ParameterSource

from bioeval.base.errors import BioevalWarning
from bioeval.base.version import __version__
from bioeval.cli.command import in_options
from bioeval.cli.console import note, put, show_json
from bioeval.cli.outputs import (
    check_folder,
    command_words,
    take_out,
    write_csv,
    write_folder,
    write_results,
)
from bioeval.cli.progress import Stages
from bioeval.showing.printing import print_table

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores
    from bioeval.showing.conditions import Condition
    from bioeval.showing.text import Text
    from bioeval.showing.vocabulary import Results

#: The arguments of `load` that are options.
_READ = (
    *("labels", "gallery", "trials", "columns", "lists", "header", "kind", "nan", "failed"),
    *("metric", "average", "exclude", "subject_from", "names_of", "distractor_ids"),
)
_USE = ("attempts", "enrol", "templates", "fusion")
_INTERVAL = ("confidence", "replicates", "random_state")


class System(NamedTuple):
    """The scores of a file: as they were read, and in use; and the file of their labels, if any."""

    as_read: Scores
    in_use: Scores
    labels: str | None


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What a command adds to its result.

    Attributes
    ----------
    records : dict
        Further lists of rows of the JSON by key; each is a file of CSV, too.
    lines : sequence of Text
        Lines below the table.
    table : TerminalDocument, optional
        In place of the table of the result.
    draw : callable, optional
        Draws into a folder in place of the plots of the result.
    overlaid : bool
        Whether several results are drawn in one plot of each kind.
    name : str
        What the result is called on a page; by default its system, or the first file.
    page, page_options
        What a page shows in place of the result, and further options of the page.
    """

    records: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    lines: Sequence[Text] = ()
    table: Any = None
    draw: Callable[[Path], None] | None = None
    overlaid: bool = False
    name: str = ""
    page: Any = None
    page_options: Mapping[str, Any] = field(default_factory=dict)


NO_EXTRAS = Extras()


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
        self._remarks: list[str] = []  # on what was written, for standard error
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
        if self.as_json:
            show_json(self._document)
        elif self._table is not None:
            table = self._table
            if not self.verbose:
                table = table.supported()
            print_table(table, self.markup)
        else:
            put(self._text)
        lines = [*self._remarks]
        if self.folder is not None:
            lines.append(f"wrote {len(self._written)} files to {self.folder}")
        if self.page is not None:
            lines.append(f"wrote {self.page}")
        if lines:
            note("\n".join(lines))

    # -------------------------------------------------------------------------- reading

    def read(self, file: str, second: str | None = None, name: str | None = None) -> Scores:
        """Return the scores of a file, with the name of their system, in use.

        A `second` file is the labels, impostor scores or trials of the first, as it shows itself.
        """
        return self.read_system(file, second, name).in_use

    def read_system(
        self, file: str, second: str | None = None, name: str | None = None, **changed: Any
    ) -> System:
        """Return the scores of a file as they were read, too; options of reading may be changed."""
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
        self.add_files(file, second)
        impostor = reading.pop("impostor", None)
        scores = read_with(file if impostor is None else (file, impostor), **reading)
        if self._named or name is not None:
            scores = scores.replace(name=self.system_name(file, name or self.given_name))
        self.stages("counting")
        return System(scores, self._in_use(scores), reading["labels"])

    def add_files(self, *files: str | None) -> None:
        """Add files that the command reads by itself."""
        self.files += filter(None, files)

    def read_set(self, files: Sequence[str], name: str | None = None) -> Scores:
        """Return the scores of a set: a file, and perhaps the list of its trials."""
        file, *trials = files
        if len(trials) > 1:
            raise click.UsageError(f"{trials[1]} is a third file; expected scores and their trials")
        if trials:
            return self.read_system(file, trials[0], name, trials=None).in_use
        return self.read(file, name=name)

    def take_use(self) -> dict[str, Any]:
        """Return and forget the use of a system, unless it makes claims, which have one score."""
        if {"attempts", "enrol"} & self.use.keys():
            return {}
        use, self.use = self.use, {}
        return use

    def take_fusion(self) -> str:
        """Return the rule of fusion, and remove it from the use of a system."""
        rule: str = self.use.pop("fusion", "best")
        return rule

    def claim_all_templates(self) -> None:
        """Compare a claim with all enrolled templates of the subject."""
        self.use["templates"] = "multi"

    def drop_seed(self) -> None:
        """Remove the seed from the settings of intervals."""
        del self.settings["random_state"]

    def _in_use(self, scores: Scores) -> Scores:
        """Return the scores of the claims of a system; `scores` where a claim is one comparison."""
        use = self.use
        if not {"attempts", "enrol"} & use.keys() and use.get("templates") != "multi":
            if "fusion" in use:
                raise click.UsageError("--fusion has no effect; it needs --templates multi")
            return scores
        from bioeval.scores.claim_scores import claim_scores

        return claim_scores(scores, **{"templates": "single", **use})

    def system_name(self, file: str, name: str | None = None) -> str:
        """Return the name of a system: `name`, or else the names of file and chosen array."""
        columns = self.reading.get("columns", {})
        array = columns.get("scores") or columns.get("embeddings")
        path = Path(file)
        if path.name == "data":  # of a tracker, whose name is that of the folder above
            path = path.absolute().parent
        return name or ":".join(filter(None, (path.stem, array)))

    def names(self, files: Sequence[str]) -> list[str]:
        """Return the names of several systems: the names given, or else the names of their files.

        Files with the same name have their paths instead.
        """
        given_names = self.given_name or (None,) * len(files)
        if len(given_names) != len(files):
            raise click.UsageError(
                f"--name is given {len(given_names)} times for {len(files)} systems"
            )
        stems = [self.system_name(file) for file in files]
        distinct = stems if len(set(stems)) == len(stems) else files
        names = [x or y for x, y in zip(given_names, distinct, strict=True)]
        for name in names:
            if names.count(name) > 1:
                raise click.UsageError(f"{name!r} is given twice; name each system with --name")
        return names

    # -------------------------------------------------------------------------- intervals

    def interval(self, method: str | None) -> Any:
        """Return the method of intervals with the settings of the command; None for no method."""
        if method is None:
            source = click.get_current_context().get_parameter_source
            for name in ("confidence", "replicates"):
                if source(name) is ParameterSource.COMMANDLINE:
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

    # -------------------------------------------------------------------------- output

    def remark(self, *lines: str) -> None:
        """Print lines on standard error after everything is shown and written."""
        self._remarks += lines

    def fail(self, reason: str) -> None:
        """End with exit code 1 after everything is shown and written, and say why."""
        self._failures.append(reason)

    def _require_within_scores(self, results: Any) -> None:
        """Fail by the one threshold of a result that is outside all scores of both classes."""
        import xarray as xr

        from bioeval.results.support import outside_scores
        from bioeval.showing.messages import sentence_about

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
        """Write scores to the file `out`; nothing if `out` is None."""
        if out is None:
            return
        from bioeval.scores.formats import save

        self.stages(f"writing {out}")
        save(scores, out)
        self.remark(f"wrote {out}: {scores!r}")

    def in_terms(self, results: Results) -> Results:
        """Return results whose tables and plots use the terms of ``--terms``."""
        from bioeval.showing.vocabulary import in_terms

        return in_terms(results, self.terms)

    def table(self, results: Any, lines: Sequence[Text] = (), *, whole: bool = False) -> Any:
        """Return the table of results, and lines below it, in the terms of ``--terms``.

        Options stand for arguments. Without ``--verbose`` it is a short one, unless it is to be the
        `whole` one of a file.
        """
        from bioeval.showing.sections import document_of

        verbose = whole or self.verbose or self.markup is not None
        return document_of(results, self.terms, in_options, lines, verbose=verbose)

    def keep(self, table: Any = None, document: Any = None, *, text: str = "") -> None:
        """Keep a table or a text, and the JSON document, for printing at the end."""
        self._table, self._text, self._document = table, text, document

    def finish(self, results: Any, extras: Extras = NO_EXTRAS) -> None:
        """Write a result, or several by name, ask the conditions, and keep the table for printing.

        JSON and CSV are those of the data frame, in the terms of the lecture, whatever ``--terms``
        says, for programs that read them.
        """
        import xarray as xr

        from bioeval.results.dataset import without_slashes
        from bioeval.showing.tasks import datasets

        saved: Any = None
        displayed = results
        system = ""
        if isinstance(results, dict):
            nodes = without_slashes(results, "-")
            saved = xr.DataTree.from_dict({nodes[name]: x for name, x in results.items()})
            displayed = {name: self.in_terms(x) for name, x in results.items()}
        elif isinstance(results, xr.Dataset | xr.DataTree):
            saved = results
            displayed = self.in_terms(saved)
            system = next((str(x.attrs.get("system", "")) for _, x in datasets(saved)), "")
        document: dict[str, Any] = {}
        if self.folder is not None or self.as_json or self.conditions:
            from bioeval.showing.data import data_of

            data = data_of(results)
            for condition in self.conditions:
                self._failures += condition.reasons(data.frame)
            document = {"bioeval": __version__, "file": next(iter(self.files), "")}
            if len(self.files) > 1:
                document["inputs"] = self.files
            document |= {**data.document(), **extras.records}
        self._require_within_scores(results)

        def fill(folder: Path) -> None:
            write_results(folder, saved, self.table(displayed, extras.lines, whole=True))
            write_csv(folder, data.tables(), extras.records)
            if extras.draw is not None and self.formats:
                extras.draw(folder)
            elif self.formats and saved is not None:
                self.draw(displayed, folder, overlaid=extras.overlaid)

        if self.folder is not None:
            self.stages(f"writing to {self.folder}")
            self._written = write_folder(self.folder, document, fill, self.force)
        self.keep(extras.table or self.table(displayed, extras.lines), document)
        name = extras.name or system or Path(next(iter(self.files), "")).stem
        page = extras.page
        if page is None:
            page = {name: displayed} if saved is results else displayed
        title = name if saved is None else ""
        self.remark(*self.write_page(page, **{"title": title, **extras.page_options}))

    def draw(self, results: Any, folder: Path, scores: Any = (), **options: Any) -> None:
        """Draw results in the formats of ``--plot-format``; remarks name the plots left out."""
        from bioeval.plot.files import save_plots

        save_plots(results, scores, folder, self.formats, tell=self.remark, **options)

    def write_page(self, results: Any, **options: Any) -> list[str]:
        """Write the page of the results of the files that were read, if wanted.

        It has the command that it was made from. Return what it could not show.
        """
        if self.page is None:
            return []
        from bioeval.page.page import report

        self.stages(f"writing {self.page}")
        # Names of files, without the folders of this machine.
        words = [Path(x).name if os.path.isabs(x) else x for x in command_words()]
        command = shlex.join(["bioeval", *words]) if words else ""
        options = {"files": self.files, "command": command, "terms": self.terms, **options}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BioevalWarning)
            report(results, self.page, **options)
        return [str(warning.message) for warning in caught]


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
