"""Results as a table for the terminal, from the values of the datasets.

``sections`` selects them, ``layout`` formats them, and :class:`ResultTable` lays them out, under a
header and above the remarks. Each row has its sample size: the attempts of each class and the
subjects that made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted, printable
from bioeval.document import is_doubt, messages_of_result
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.results.words import enumerated, excluded, threshold_text
from bioeval.views.messages import sentence_about
from bioeval.views.sections.header import alarms_of
from bioeval.views.tables import layout as numbers
from bioeval.views.tables.layout import Row, TableSection, grid, indented, listed, plain_table
from bioeval.views.tables.sections import section, title
from bioeval.views.tasks import datasets, system_of, systems
from bioeval.views.terms import dictionary, interval_method, term_translator

#: What a result is known by: its path, or its system and task.
Path = TypeVar("Path", str, tuple[str, str])

#: Caveat shown when operating points were selected on the evaluated data.
CHOSEN = (
    "the thresholds of EER and FAR targets were chosen on these data, so their rates are optimistic"
)

#: Why thresholds of DIR at a FAR differ between ranks; shown where they do.
OF_RANK_ONE = (
    "the thresholds of DIR at a FAR are for rank 1; at higher ranks, the same FAR may allow looser "
    "thresholds"
)

# Tasks of the cards of the course, in words.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}


def about(found: Mapping[str, xr.Dataset]) -> Iterator[tuple[str, str]]:
    """Return the lines of the header, each with its name."""
    if not found:
        return
    attrs = next(iter(found.values())).attrs
    layout, kind = str(attrs.get("layout", "")), str(attrs.get("kind", ""))
    name = ", ".join(filter(None, systems(found))) or str(attrs.get("system", ""))
    if name:
        yield "System", printable(name)
    if layout:
        yield "Data", _data(attrs, layout)
    if attrs.get("origin"):
        yield "Made of", str(attrs["origin"])
    accepts = {
        "distance": "distances, accepted at or below the threshold",
        "similarity": "similarities, accepted at or above the threshold",
        "llr": "log-likelihood ratios, accepted at or above the threshold",
        "order": "order within each row; no thresholds",
    }
    if kind:
        yield "Scores", accepts.get(kind, kind)
    if attrs.get("reading"):
        yield "Read", str(attrs["reading"])
    means = {
        "reject": "failed comparisons are attempts that are always rejected",
        "exclude": "failed comparisons are not attempts",
    }
    if attrs.get("nan_policy") in means:
        text = means[attrs["nan_policy"]]
        if "failed_comparisons" in attrs:
            text += f"; {int(attrs['failed_comparisons']):,} failed"
        yield "NaN", text
    if text := excluded({"": attrs}):
        yield "Excluded", text
    if attrs.get("protocol"):
        yield "Protocol", str(attrs["protocol"])
    if words := dictionary(found.values()):
        yield "Terms", words
    if why := left_out(found):
        yield "Left out", why


def _data(attrs: Mapping[str, Any], layout: str) -> str:
    """Return the templates and the subjects of both sides in words."""
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if layout == "pairs":
        return counted(probes, "pairs")
    unknown = "" if subjects or gallery else "; subjects unknown"
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    compared = _of(probes, "probes", subjects), _of(templates, "gallery templates", gallery)
    return f"{' against '.join(compared)}{unknown}"


def _of(count: int, what: str, subjects: int) -> str:
    people = f" of {counted(subjects, 'subjects')}" if subjects else ""
    return counted(count, what) + people


def left_out(found: Mapping[str, xr.Dataset]) -> str:
    """Return the tasks that the card has and the scores do not support, with reasons."""
    if not found:
        return ""
    attrs = next(iter(found.values())).attrs
    layout = str(attrs.get("layout"))
    if (
        layout not in CARD_OF_LAYOUT
        or layout == "pairs"
        or (attrs.get("protocol") != CARD_OF_LAYOUT[layout])
    ):
        return ""
    done = {path.removeprefix(system_of(path)).strip("/") for path in found}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in done]
    if not tasks:
        return ""
    if attrs.get("kind") == "order":
        return f"{enumerated(tasks)}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{enumerated(tasks)}; a mask does not give the subjects of the templates"
    return ""


def has_chosen(dataset: xr.Dataset) -> bool:
    """Whether there are rates at thresholds selected on the evaluated data."""
    names = {"eer", "frr_at_far", "dir_at_far"}
    return "chosen_on" not in dataset.attrs and not names.isdisjoint(dataset)


def optimistic(found: Iterable[xr.Dataset]) -> list[str]:
    """Return the caveat about such rates, if results have any, in the terms of their views."""
    return _caveat(CHOSEN, filter(has_chosen, found))


def _caveat(text: str, about: Iterable[xr.Dataset]) -> list[str]:
    """Return a caveat in the terms of the first result that it is about; nothing without one."""
    for dataset in about:
        return [sentence(term_translator(dataset)(text))]
    return []


def differs_by_rank(dataset: xr.Dataset) -> bool:
    """Whether a FAR target has different thresholds at different ranks."""
    limits = dataset.get("threshold_at_far")
    if limits is None or "rank" not in limits.dims:
        return False
    by_rank = limits.transpose("rank", ...).values
    of_first = np.broadcast_to(by_rank[:1], by_rank.shape)
    return not np.array_equal(of_first, by_rank, equal_nan=True)


def intervals(
    found: Mapping[Path, xr.Dataset], where: str = "In brackets", more: str = ""
) -> list[str]:
    """Return the methods of the intervals in words, with their tasks where they differ."""
    said: dict[str, list[str]] = {}
    for dataset in found.values():
        attrs = dataset.attrs
        if "interval_method" not in attrs:
            continue
        text = f"{100 * float(attrs['confidence']):g} % interval, {interval_method(attrs)}"
        if "replicates" in attrs:
            text += f" ({int(attrs['replicates']):,} replicates)"
        if attrs.get("band") == "simultaneous":
            text += ", simultaneous along curves"
        said.setdefault(text, []).append(str(attrs.get("task", "")))
    texts = list(said)
    if len(said) > 1:
        for i, tasks in enumerate(said.values()):
            texts[i] += f" ({' and '.join(dict.fromkeys(filter(None, tasks)))})"
    if texts:
        return [f"{where}: {'; '.join(texts)}{more}."]
    return []


def alarms(found: Mapping[Path, xr.Dataset]) -> dict[str, list[Path]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    said: dict[str, list[Path]] = {}
    for path, dataset in found.items():
        for message in alarms_of(dataset):
            said.setdefault(sentence_about(message), []).append(path)
    return said


def warnings(found: Mapping[Path, xr.Dataset]) -> dict[str, list[Path]]:
    """Return each warning with the paths of its tasks, without the alarms.

    Arguments that messages name are in backticks.
    """
    said: dict[str, list[Path]] = {}
    for path, dataset in found.items():
        for message in messages_of_result(dataset):
            if not is_doubt(message):
                said.setdefault(sentence_about(message), []).append(path)
    return said


def sentence(text: str) -> str:
    """Return a text with a capital first letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


# Cells of a row, with the headings of their columns.
_HEADS_OF_PAIRS = {
    "measure": "",
    **{"value": "value", "threshold": "threshold", "genuine": "genuine", "impostor": "impostor"},
}
_HEADS = {**_HEADS_OF_PAIRS, "subjects": "subjects"}
_LEGEND = "Columns: numbers of attempts, and of the subjects whose probes made them."
_LEGEND_OF_PAIRS = "Columns: numbers of genuine and impostor attempts."

# Ranked lists have neither thresholds nor impostors.
_RANKED = {"measure": "", "value": "value", "genuine": "queries", "subjects": "subjects"}
_RANKED_LEGEND = "Columns: numbers of queries in the means, and of their subjects."
_NARROW = 3  # columns that stay where the rest does not fit
_LEAST_NAME = 16  # columns for the name of a row, folded; with less, a line of its own
_LEAST_LINE = 32  # columns for a line that begins with a name; with less, a line of its own
_GAPS = (2, 1)
_MOST_NOTES = 3
_INDENT = 2  # columns by which rows are set in


class ResultTable:
    """Results that rich can print.

    In a narrow terminal the sample size is above each section instead of in each row; in a very
    narrow one each value is below its name. `reword` rewords a warning for the reader, for example
    with options of the command line.
    """

    def __init__(self, tree: xr.DataTree | xr.Dataset, reword: Callable[[str], str] | None = None):
        """Find the rows of each task, their cells and the widths of the columns."""
        self.datasets = dict(datasets(tree, once=True))
        self._reword = reword or str
        self._several = len(systems(self.datasets)) > 1
        self.sections: list[TableSection] = []
        self._with_rows: dict[str, xr.Dataset] = {}
        rows = []
        for path, dataset in self.datasets.items():
            part = section(dataset, path, self._several)
            self.sections.append(part)
            rows += part.rows
            if part.rows:
                self._with_rows[path] = dataset
        if self.datasets and all(map(_is_ranked, self.datasets.values())):
            heads, self._legend = _RANKED, _RANKED_LEGEND
        elif any(row.over.subjects for row in rows):
            heads, self._legend = _HEADS, _LEGEND
        else:  # pairs, or a mask alone
            heads, self._legend = _HEADS_OF_PAIRS, _LEGEND_OF_PAIRS
        self._heads = list(heads.values())
        fraction = max(map(numbers.fraction_digits, rows), default=0)
        bracket = max(map(len, map(numbers.ends, rows)), default=0)
        thresholds = iter(numbers.thresholds([row.threshold for row in rows]))
        self._cells: list[list[list[str]]] = []
        self._widths = list(map(len, self._heads))
        for part in self.sections:
            lines = []
            for row in part.rows:
                cells = _cells(row, next(thresholds), fraction, bracket)
                lines.append([cells[name] for name in heads])
                self._widths = list(map(max, self._widths, map(len, lines[-1])))
            self._cells.append(lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield header, sections, remarks and warnings."""
        width = options.max_width
        count, gap = self._layout(width)
        yield from self._alarms()
        yield from _named(about(self.datasets), width)
        for part, cells in zip(self.sections, self._cells, strict=True):
            yield Text("")
            yield Text(part.title, style="bold")
            details = [part.details]
            if count < len(self._heads):
                details.append(_in_words(part.rows))
            for line in filter(None, details):
                yield indented(Text(line, style="dim"))
            if not part.rows:
                continue
            if count:
                yield indented(self._rows(part, cells, count, gap))
            else:
                yield from _stacked(part, cells)
            for note in part.notes:
                yield indented(Text(note, style="dim"))
        yield from self._remarks(count == len(self._heads) and len(self._legend) <= width)
        yield from self._warnings()

    def _layout(self, width: int) -> tuple[int, int]:
        """Return the number of columns that fit (0: stacked rows) and the gap between them."""
        for gap in _GAPS:
            if _INDENT + sum(self._widths) + gap * (len(self._heads) - 1) <= width:
                return len(self._heads), gap
        gap = _GAPS[0]
        few = [min(self._widths[0], _LEAST_NAME), *self._widths[1:_NARROW]]
        if _INDENT + sum(few) + gap * (_NARROW - 1) <= width:
            return _NARROW, gap
        return 0, gap

    def _rows(self, part: TableSection, lines: list[list[str]], count: int, gap: int) -> Table:
        """Lay out the rows of a section, with the same columns in all sections."""
        table = plain_table(gap=gap)
        least = self._widths[0] if count == len(self._heads) else None
        table.add_column("", overflow="fold", min_width=least)
        # Filled up here: rich would drop the blanks behind a value.
        widths = self._widths[1:count]
        for head, width in zip(self._heads[1:count], widths, strict=True):
            table.add_column(head.rjust(width), no_wrap=True)
        for row, (measure, *cells) in zip(part.rows, lines, strict=True):
            shown = zip(cells[: count - 1], widths, strict=True)
            value, *others = [cell.rjust(width) for cell, width in shown]
            table.add_row(measure, Text(value, style=_style(row)), *others)
        return table

    def _alarms(self) -> Iterator[Any]:
        """Warn of doubtful results, above the tables."""
        for text, paths in alarms(self.datasets).items():
            whose = f" ({', '.join(systems(paths))})" if self._several else ""
            yield Text(f"Warning{whose}: {self._reword(text)}", style="bold red")
            yield Text("")

    def _remarks(self, legend: bool) -> Iterator[Any]:
        """Explain thresholds, intervals and columns, the most important first, below the tables."""
        shown = list(self._with_rows.values())
        lines = optimistic(shown)
        lines += intervals(self.datasets)
        if legend and shown:
            lines += [self._legend]
        lines += _caveat(OF_RANK_ONE, filter(differs_by_rank, shown))
        if lines:
            yield Text("")
        for line in lines[:_MOST_NOTES]:
            yield Text(line, style="dim")

    def _warnings(self) -> Iterator[Any]:
        """List the warnings by task."""
        groups: dict[str, list[str]] = {}
        for text, paths in warnings(self.datasets).items():
            everywhere = len(paths) == len(self.datasets)
            if not everywhere and self._with_rows.keys().isdisjoint(paths):
                continue  # the line of the task says why it has no results
            translate = term_translator(self.datasets[paths[0]])
            titles = []
            if not everywhere:
                titles = [title(self.datasets[path], path, self._several) for path in paths]
            text = translate(self._reword(text))
            groups.setdefault("; ".join(titles), []).append(text)
        if groups:
            yield Text("")
            yield Text("Warnings", style="bold yellow")
        for tasks in sorted(groups, key=bool):  # those of all tasks first
            if tasks:
                yield indented(Text(tasks, style="dim"))
            yield listed(groups[tasks])


def _is_ranked(dataset: xr.Dataset) -> bool:
    """Whether these are results of ranked lists, with neither thresholds nor impostors."""
    return "mean_ap" in dataset or "mrep" in dataset or "queries" in dataset


def _style(row: Row) -> str:
    return "bold" if row.is_defined else "dim"


def _named(lines: Iterable[tuple[str, str]], width: int) -> Iterator[Any]:
    """Lay out lines with their names beside them, or above them in a narrow terminal."""
    if width >= _LEAST_LINE:
        yield grid(lines)
        return
    for name, text in lines:
        yield Text(name, style="dim")
        yield indented(Text(text))


def _stacked(part: TableSection, lines: list[list[str]]) -> Iterator[Any]:
    """Lay out each row on two lines: its name, then its value and threshold."""
    for row, (measure, value, *_) in zip(part.rows, lines, strict=True):
        yield indented(Text(measure))
        text = Text(value.strip(), style=_style(row))
        if threshold := threshold_text(row.threshold):
            text.append(f" at {threshold}", style="not bold")
        yield indented(indented(text))


def _cells(row: Row, threshold: str, fraction: int, bracket: int) -> dict[str, str]:
    """Return a row as text, its value aligned at the decimal point, its interval `bracket` wide."""
    value = numbers.value(row, fraction)
    if bracket:
        value += f" {numbers.ends(row).ljust(bracket)}"
    return {
        "measure": row.measure,
        "value": value,
        "threshold": threshold,
        "genuine": numbers.count(row.over.genuine),
        "impostor": numbers.count(row.over.impostor),
        "subjects": numbers.known(row.over.subjects),
    }


def _in_words(rows: list[Row]) -> str:
    """Return the sample size of a section in words."""
    genuine, impostor, subjects = [], [], 0
    for row in rows:
        subjects = max(subjects, row.over.subjects)
        if row.over.genuine is not None:
            genuine.append(row.over.genuine)
        if row.over.impostor is not None:
            impostor.append(row.over.impostor)
    if genuine and impostor:
        text = f"over {max(genuine):,} genuine and {counted(max(impostor), 'impostor attempts')}"
    elif genuine:
        text = f"over {counted(max(genuine), 'genuine attempts')}"
    elif impostor:
        text = f"over {counted(max(impostor), 'impostor attempts')}"
    else:
        return ""
    if subjects:
        text += f", {counted(subjects, 'subjects')}"
    return text
