"""The document and the files of ``bioeval run``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.version import __version__
from bioeval.cli.command import in_options
from bioeval.cli.outputs import attributes_but, rows_of, rows_over, write_csv, write_results
from bioeval.document.blocks import Paragraph, Section, Table
from bioeval.document.results import is_doubt, messages_of_result
from bioeval.document.text import Text, say
from bioeval.results.support import is_supported
from bioeval.results.variables import TARGETS
from bioeval.stats.aggregate import aggregate
from bioeval.tables.sections import sections_of
from bioeval.views.tasks import asked_thresholds, datasets, has_folds, report_ranks
from bioeval.views.terms import in_terms, words_of
from bioeval.views.writers.data import columns_of_table, message_data, rows_of_table
from bioeval.views.writers.lines import written
from bioeval.views.writers.terminal import TerminalDocument

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores

#: Attributes that all tasks of an evaluation share.
_SHARED = (
    *("system", "layout", "kind", "nan_policy", "probes", "probe_subjects", "enrolled_subjects"),
    *("gallery_templates", "gallery_subjects", "failed_genuine", "failed_impostor", "origin"),
    *("reading", "fingerprint", "protocol"),
)

#: Attributes that are in another place of the document, or in another form.
_ELSEWHERE = (*_SHARED, "messages", "bioeval_version", "report_ranks", "report_thresholds")

#: Dimensions of curves, which are in the CSV files.
_CURVES = ("threshold", "rank", "probe")

#: Up to this number of thresholds the document has the rates at each; more make a curve.
_MOST_THRESHOLDS = 100


class Evaluation:
    """The results of one system, as a table, as a document and as files."""

    def __init__(
        self,
        tree: xr.DataTree,
        scores: Scores,
        card: str | Protocol,
        file: str,  # what was read
        run: Run,
        per_query: bool,
    ):
        self.tree, self.scores, self.card, self.file = tree, scores, card, file
        self.name = str(scores.name)
        #: What is shown, in the terms of the command; the worst pairs stand beside the tasks.
        self.shown = in_terms(tree, run.terms)
        self.datasets = dict(datasets(tree))
        self.in_folds = has_folds(tree)
        self.queries: list[dict[str, Any]] = []
        if per_query:
            self.queries = worst_first(self.datasets["reid"], scores)
        self._findings: list[Any] = []
        self._pairs: xr.Dataset | None = None
        self._tries: list[xr.Dataset] = []

    def check_data(self, scores: Scores, protocol: str) -> None:
        """Check labels and metadata, under the card without its options."""
        from bioeval.studies.check.check_data import check_data
        from bioeval.studies.check.failure_codes import sampled_codes

        if scores.layout != "top-k":
            check = check_data(scores, protocol, read_scores=False)
            self._findings = check.of("error", "warning", "note")
            codes = sampled_codes(scores)
            if codes.severity != "ok":
                self._findings.append(codes)

    def list_pairs(self, scores: Scores, number: int) -> None:
        """List the worst pairs that the card compares."""
        from bioeval.studies.worst_pairs.worst_pairs import worst_pairs
        from bioeval.tasks.plan import compared

        self._pairs = worst_pairs(compared(scores, self.card), number)
        self.shown = self.shown.assign({"worst_pairs": type(self.shown)(self._pairs)})

    def add_tries(self, thresholds: Sequence[float], number: int, confidence: float) -> None:
        """Add the rates of claims with up to a number of tries, at each threshold."""
        from bioeval.studies.tries.tries import tries

        numbers = range(1, number + 1)
        self._tries = [tries(self.scores, at, numbers, confidence=confidence) for at in thresholds]
        nodes = {f"at_threshold_{i}": ds for i, ds in enumerate(self._tries)}
        self.shown = self.shown.assign({"tries": type(self.shown).from_dict(nodes)})

    def lines(self) -> list[str]:
        """Return one line on the findings of the check, and doubtful labels themselves."""
        from bioeval.studies.check.findings import TASK

        lines = []
        for x in self._findings:
            if x.check == "sentinels":
                lines.append(f"Scores: {written(x.found, TASK)}")
            if x.check == "labels" and x.severity == "warning":
                problem, where = (written(text, TASK) for text in (x.found, x.places))
                lines.append(f"Labels: {problem} ({where})")
        # The tables show what the people do not support.
        if named := [x.check for x in self._findings if x.check not in ("people", "sentinels")]:
            lines.append(f"Findings in labels and metadata ({', '.join(named)}): run bioeval check")
        return lines

    def document(self) -> dict[str, Any]:
        """Return all results but the curves, and what studies add.

        Rates are fractions. NaN means not defined: a rate whose class had no attempt; JSON has
        null for it, and the words "inf" and "-inf" for infinite thresholds.
        """
        results = self.datasets
        document: dict[str, Any] = {"bioeval": __version__, "file": self.file}
        first = next((x.attrs for x in results.values()), {})
        document |= {name: first[name] for name in _SHARED if name in first}
        pairs = {name: rows_of_table(table) for name, table in self._tables()}
        if self.in_folds:
            tasks = {path: _fold_task(ds) for path, ds in results.items()}
            return {**document, "tasks": tasks, **pairs}
        document["tasks"] = {path: task_document(ds) for path, ds in results.items()}
        document["messages"] = messages_by_task(results)
        from bioeval.studies.check.findings import TASK

        document["check"] = []
        for x in self._findings:
            about = {"check": x.check, "severity": x.severity, "code": x.code}
            document["check"].append({**about, "message": written(x.found, TASK)})
        return document | pairs

    def _tables(self) -> Iterator[tuple[str, Table]]:
        """Yield the tables of the worst pairs and of several tries, if they are wanted."""
        if self._pairs is not None:
            from bioeval.studies.worst_pairs.worst_pairs import table_of_data

            table = table_of_data(self._pairs)
            yield table.id, table
        if self._tries:
            from bioeval.studies.tries.tries import table_of_thresholds

            table = table_of_thresholds(self._tries)
            yield table.id, table

    def write(self, folder: Path, formats: Sequence[str], tell: Callable[[str], object]) -> None:
        """Write results, table, curves and plots in each format; `tell` why a plot is left out."""
        write_results(folder, self.tree, document_of_systems([self], verbose=True))
        for path, dataset in self.datasets.items():
            file = path.replace("/", "_")
            if self.in_folds:
                write_csv(folder / f"{file}.csv", fold_columns(dataset))
                continue
            over, *more_names = _axes(dataset)
            write_csv(folder / f"{file}.csv", curve_rows(dataset, over))
            for other in more_names:
                write_csv(folder / f"{file}_{other}.csv", curve_rows(dataset, other))
        if self.queries:
            write_csv(folder / "queries.csv", self.queries)
        for name, table in self._tables():
            write_csv(folder / f"{name}.csv", columns_of_table(table))
        if not formats:
            return
        from bioeval.plot.files import save_plots
        from bioeval.tasks.plan import kept_by_studies, resolve_card
        from bioeval.tasks.plotted_scores import plotted

        compared = self.scores
        if compared.layout != "top-k":  # those that the results are over
            compared = kept_by_studies(compared, resolve_card(compared, self.card))
        save_plots(self.shown, plotted(compared), folder, formats, tell=tell)


def finish(run: Run, systems: Sequence[Evaluation]) -> None:
    """Write what is wanted of the systems, and keep the table for printing."""
    shown = {one.name: one.shown for one in systems}
    document: dict[str, Any] = {}
    if run.folder is not None or run.as_json or run.conditions:
        document = systems[0].document()
        if len(systems) > 1:
            of_each = {one.name: one.document() for one in systems}
            document = {"bioeval": __version__, "systems": of_each}
    run.judge(document)
    tell = run.remarks.append

    def write(folder: Path) -> None:
        if len(systems) == 1:
            systems[0].write(folder, run.formats, tell)
        else:
            _write_all(systems, folder, run.formats, tell)

    written_files = run.write(document, write)
    run.write_page(shown)
    for one in systems:  # the queries of re-identification, which the files have as CSV
        if document and one.queries:
            of_system = document if len(systems) == 1 else document["systems"][one.name]
            of_system["tasks"]["reid"]["worst_first"] = one.queries
    verbose = run.verbose or run.markup is not None
    shown_now = document_of_systems(systems, verbose=verbose)
    run.keep(shown_now, document, written=written_files)


def document_of_systems(systems: Sequence[Evaluation], *, verbose: bool) -> TerminalDocument:
    """Return the tables of one system, or of several side by side."""
    first = systems[0]
    several = len(systems) > 1
    shown: Any = {one.name: one.shown for one in systems} if several else first.shown
    words = next((words_of(x) for _, x in datasets(first.shown)), "lecture")
    lines: list[Text] = []
    for one in systems:
        for x in one.lines():
            lines.append(say("{name:name}: {line}", name=one.name, line=x) if several else x)
    whole = Section("results", "", [*sections_of(shown, verbose=verbose), *map(Paragraph, lines)])
    return TerminalDocument(whole, words, in_options)


def _write_all(
    systems: Sequence[Evaluation],
    folder: Path,
    formats: Sequence[str],
    tell: Callable[[str], object],
) -> None:
    """Write the files of each system under names that begin with the system's.

    The plots of several systems together have no such name.
    """
    write_results(folder, None, document_of_systems(systems, verbose=True))
    stems: list[str] = []
    for number, one in enumerate(systems, 1):
        part = folder / f"system-{number}"
        part.mkdir()
        one.write(part, formats, tell)
        stem = re.sub(r"[^\w.-]+", "-", one.name).strip("-.")
        if not stem or stem in stems:
            stem = f"{stem}-{number}".strip("-")
        stems.append(stem)
        for file in sorted(part.iterdir()):
            file.rename(folder / f"{stem}-{file.name}")
        part.rmdir()
    if formats:  # all systems in one plot of each kind
        from bioeval.plot.files import save_plots

        shown = {one.name: one.shown for one in systems}
        save_plots(shown, (), folder, formats, overlaid=True, tell=tell)


# ------------------------------------------------------------------------- the document


def task_document(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the scalars of a task, and its values at FAR targets and at some ranks."""
    document = attributes_but(dataset, *_ELSEWHERE)
    for row in rows_over(dataset):  # the scalars
        document |= row
    ranks = report_ranks(dataset)
    document |= _at_targets(dataset, ranks)
    for dim in dataset.dims:
        if dim not in (*_CURVES, *TARGETS):
            document[f"{dim}s"] = rows_over(dataset, str(dim))
    if {"cms", "cmc"} & set(dataset):
        at_ranks = {"rank": ranks}
        for name, values in dataset.data_vars.items():
            if values.dims == ("rank",):
                at_ranks[str(name)] = values.sel(rank=ranks).values.tolist()
        document["ranks"] = rows_of(at_ranks)
    if "recall_level" in dataset.dims and "threshold" in dataset.dims:
        document["retrieved"] = rows_over(dataset, "threshold")
    if dataset.sizes.get("threshold", 0):
        thresholds = dataset["threshold"].values
        document["thresholds"] = {
            "count": len(thresholds),
            "first": thresholds[0],
            "last": thresholds[-1],
        }
        if asked := asked_thresholds(dataset):
            dataset = dataset.sel(threshold=asked)
        if dataset.sizes["threshold"] <= _MOST_THRESHOLDS and "retrieved" not in document:
            document["at_thresholds"] = _at_places(dataset, "threshold", ranks)
    return document


def _at_targets(dataset: xr.Dataset, ranks: list[int]) -> dict[str, list[dict[str, Any]]]:
    """Return the values at FAR and at FRR targets, and whether the data support each target."""
    by_dim = {}
    for dim in [x for x in TARGETS if x in dataset.dims]:
        rows = _at_places(dataset, dim, ranks)
        by_dim[f"{dim}s"] = [
            row | {"supported": _all_supported(dataset, dim, row[dim])} for row in rows
        ]
    return by_dim


def _all_supported(dataset: xr.Dataset, dim: str, target: float) -> bool:
    rates = [x for x in ("frr_at_far", "far_at_frr", "dir_at_far") if x in dataset]
    at_target = [x for x in rates if dim in dataset[x].dims]
    return all(is_supported(dataset, rate, {dim: target}) for rate in at_target)


def _at_places(dataset: xr.Dataset, dim: str, ranks: list[int]) -> list[dict[str, Any]]:
    """Return the values at each FAR target or threshold; values at ranks are keyed by rank."""
    rows = []
    for i, place in enumerate(dataset[dim].values.tolist()):
        row: dict[str, Any] = {dim: place}
        for name, values in dataset.data_vars.items():
            if values.dims == (dim,):
                row[str(name)] = values.values[i].item()
            elif set(values.dims) == {dim, "rank"}:
                at_ranks = values.isel({dim: i}).sel(rank=ranks).values.tolist()
                row[str(name)] = dict(zip(map(str, ranks), at_ranks, strict=True))
        rows.append(row)
    return rows


def messages_by_task(results: Mapping[str, xr.Dataset]) -> list[dict[str, Any]]:
    """Return the messages of results, reasons to doubt all of them first, each with its tasks."""
    paths_of: dict[Message, list[str]] = {}
    for path, dataset in results.items():
        for message in messages_of_result(dataset):
            paths_of.setdefault(message, []).append(path)
    doubts_first = sorted(paths_of.items(), key=lambda item: not is_doubt(item[0]))
    return [{**message_data(message), "tasks": paths} for message, paths in doubts_first]


def _fold_task(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the statistics of a task over all folds, and the values in each."""
    document = attributes_but(dataset, *_ELSEWHERE)
    document["messages"] = [message_data(x) for x in messages_of_result(dataset)]
    statistics = aggregate(dataset, ("repeat", "fold"))
    rows: list[dict[str, Any]] = []
    for dims in dict.fromkeys(values.dims for values in statistics.data_vars.values()):
        for row in rows_over(statistics, *map(str, dims)):
            if not dims:
                document |= row
                continue
            if not all(_all_supported(dataset, x, row[x]) for x in TARGETS if x in row):
                row["supported"] = False
            rows.append(row)
    return document | {"statistics": rows, "folds": rows_of(fold_columns(dataset))}


def worst_first(dataset: xr.Dataset, scores: Scores) -> list[dict[str, Any]]:
    """Return the values of each query, by rising average precision; undefined ones last."""
    of_lists = "rank_k_average_precision"
    precision = dataset[of_lists if of_lists in dataset else "average_precision"]
    order = np.argsort(precision.values, kind="stable")
    columns = {"query": np.arange(len(order)), "label": scores.probe_labels, **scores.probe_meta}
    for name, values in dataset.data_vars.items():
        if values.dims == ("probe",):
            columns[str(name)] = values.values
    return rows_of({k: map(_plain, values[order].tolist()) for k, values in columns.items()})


def _plain(value: Any) -> Any:
    """Return a label or a number as JSON and CSV hold it."""
    return value if isinstance(value, (int, float, str)) else str(value)


# ------------------------------------------------------------------------- the files


def _axes(dataset: xr.Dataset) -> list[str]:
    """Return the dimensions of the curves of a task, one file for each."""
    if "recall_level" in dataset.dims:
        return [dim for dim in ("rank", "recall_level", "threshold") if dim in dataset.dims]
    if "threshold" in dataset.dims:
        return ["threshold"]
    return ["rank"]


def curve_rows(dataset: xr.Dataset, over: str) -> list[dict[str, Any]]:
    """Return the curves of a task: a row for each threshold, rank or recall level."""
    columns = {over: dataset[over].values.tolist()}
    for name, values in dataset.data_vars.items():
        if values.dims == (over,):
            columns[str(name)] = values.values.tolist()
        elif name in ("dir", "dir_low", "dir_high"):
            for rank in report_ranks(dataset):
                columns[f"{name}_rank_{rank}"] = values.sel(rank=rank).values.tolist()
    return rows_of(columns)


def fold_columns(dataset: xr.Dataset) -> dict[str, list]:
    """Return the numbers of a task: a row for each part of each fold of each repeat.

    Points of the test part are NaN in the rows of the training part.
    """
    over = ("repeat", "fold", "part")
    places = zip(*itertools.product(*(dataset[dim].values.tolist() for dim in over)), strict=True)
    columns = dict(zip(over, map(list, places), strict=True))
    ranked: dict[str, list] = {}
    for name, values in dataset.data_vars.items():
        if values.dims[:2] != over[:2]:
            continue
        if "part" not in values.dims:
            both = values.expand_dims(part=dataset["part"].values, axis=2)
            is_of_both = str(name).startswith(("threshold", "crossing"))
            values = both if is_of_both else both.where(both["part"] == "test")
        inner = values.dims[3:]
        for place in np.ndindex(values.shape[3:]):
            words = [str(name)]
            for dim, i in zip(inner, place, strict=True):
                prefix = "rank_" if dim == "rank" else ""
                words.append(f"{prefix}{dataset[dim].values[i].item():g}")
            column = values.values[..., *place].ravel().tolist()
            (ranked if inner else columns)["_".join(words)] = column
    return columns | ranked
