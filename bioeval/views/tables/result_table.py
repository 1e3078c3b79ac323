"""Results as a table for the terminal, from the values of the datasets.

``sections`` selects them, ``layout`` formats them, and :class:`ResultTable` lays them out, under a
header and above the remarks. Each row has its sample size: the attempts of each class and the
subjects that made them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted, printable
from bioeval.base.kinds import larger_is_closer
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.results.support import KIND_DOUBT
from bioeval.results.words import excluded, threshold_text
from bioeval.views.tables import layout as numbers
from bioeval.views.tables.layout import Row, TableSection, grid, indented, listed, plain_table
from bioeval.views.tables.sections import section, title
from bioeval.views.tasks import datasets, system_of, systems, value_of
from bioeval.views.terms import dictionary, interval_method, term_translator

#: Caveat shown when operating points were selected on the evaluated data.
CHOSEN = (
    "the thresholds of EER and FAR targets were chosen on these data, so their rates are optimistic"
)

#: Why thresholds of DIR at a FAR differ between ranks; shown where they do.
OF_RANK_ONE = (
    "the thresholds of DIR at a FAR are for rank 1; at higher ranks, the same FAR may allow looser "
    "thresholds"
)

_UPSIDE_DOWN = (
    "AUC is below 0.5: impostor scores are nearer than genuine scores. Check whether they are "
    'of kind {}; if not, give `kind="{}"`'
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
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if layout == "pairs":
        return counted(probes, "pairs")
    unknown = "; subjects unknown"
    if subjects or gallery:
        unknown = ""
    if layout == "all-against-all" and probes == templates:
        return f"{_of(probes, 'templates', subjects)}, all against all{unknown}"
    compared = _of(probes, "probes", subjects), _of(templates, "gallery templates", gallery)
    return f"{' against '.join(compared)}{unknown}"


def _of(count: int, what: str, subjects: int) -> str:
    people = ""
    if subjects:
        people = f" of {counted(subjects, 'subjects')}"
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
    listed = " and ".join(filter(None, [", ".join(tasks[:-1]), tasks[-1]]))
    if attrs.get("kind") == "order":
        return f"{listed}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{listed}; a mask does not give the subjects of the templates"
    return ""


def has_chosen(dataset: xr.Dataset) -> bool:
    """Whether there are rates at thresholds selected on the evaluated data."""
    return "chosen_on" not in dataset.attrs and any(
        name in dataset for name in ("eer", "frr_at_far", "dir_at_far")
    )


def optimistic(found: Iterable[xr.Dataset]) -> list[str]:
    """Return the caveat about such rates, if results have any, in the terms of their views."""
    return [sentence(term_translator(x)(CHOSEN)) for x in filter(has_chosen, found)][:1]


def differs_by_rank(dataset: xr.Dataset) -> bool:
    """Whether a FAR target has different thresholds at different ranks."""
    limits = dataset.get("threshold_at_far")
    if limits is None or "rank" not in limits.dims:
        return False
    by_rank = limits.transpose("rank", ...).values
    return not all(np.array_equal(by_rank[0], other, equal_nan=True) for other in by_rank[1:])


def intervals(found: Mapping[str, xr.Dataset]) -> list[str]:
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
    if len(said) < 2:
        return [f"In brackets: {text}." for text in said]
    tasks = (" and ".join(dict.fromkeys(filter(None, of))) for of in said.values())
    each = [f"{text} ({of})" for text, of in zip(said, tasks, strict=True)]
    return [f"In brackets: {'; '.join(each)}."]


def alarms(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        line = str(dataset.attrs.get(KIND_DOUBT, ""))
        auc = value_of(dataset, "auc")
        if not line and auc is not None and auc < 0.5:
            kind = dataset.attrs.get("kind", "distance")
            other = "similarity"
            if larger_is_closer(kind):
                other = "distance"
            line = _UPSIDE_DOWN.format(kind, other)
        if line:
            said.setdefault(line, []).append(path)
    return said


def warnings(found: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """Return each warning with the paths of its tasks, without the alarms."""
    said: dict[str, list[str]] = {}
    for path, dataset in found.items():
        for line in str(dataset.attrs.get("warnings", "")).splitlines():
            if line != dataset.attrs.get(KIND_DOUBT):
                said.setdefault(line, []).append(path)
    return said


_SAME_REASON = re.compile(r"FAR ([^()]+) \(([^()]+)\); FAR ([^()]+) \(\2\)")


def with_joined_targets(text: str) -> str:
    """Join successive FAR targets for the same reason."""
    before = ""
    while text != before:
        before, text = text, _SAME_REASON.sub(r"FAR \1, \3 (\2)", text)
    return text


def sentence(text: str) -> str:
    """Return a text with a capital first letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


_HEADS = ("", "value", "threshold", "genuine", "impostor", "subjects")
_LEGEND = "Columns: numbers of attempts, and of the subjects whose probes made them."
_LEGEND_OF_PAIRS = "Columns: numbers of genuine and impostor attempts."

# Ranked lists have neither thresholds nor impostors.
_RANKED = {0: "", 1: "value", 3: "queries", 5: "subjects"}
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
        self.datasets = dict(datasets(tree, once=True))
        self._reword = reword or str
        self._several = len(systems(self.datasets)) > 1
        self.sections = [
            section(dataset, path, self._several) for path, dataset in self.datasets.items()
        ]
        self._with_rows = {
            path: dataset
            for (path, dataset), part in zip(self.datasets.items(), self.sections, strict=True)
            if part.rows
        }
        shown = self.datasets.values()
        ranked = bool(shown) and all("mean_ap" in x or "mrep" in x or "queries" in x for x in shown)
        if ranked:
            self._heads, self._legend, kept = tuple(_RANKED.values()), _RANKED_LEGEND, [*_RANKED]
        else:
            self._heads, self._legend, kept = _HEADS, _LEGEND, [*range(len(_HEADS))]
        rows = [row for part in self.sections for row in part.rows]
        if not (ranked or any(row.over.subjects for row in rows)):  # pairs, or a mask alone
            self._heads, self._legend, kept = _HEADS[:-1], _LEGEND_OF_PAIRS, kept[:-1]
        fraction = max((numbers.fraction_digits(row) for row in rows), default=0)
        bracket = max((len(numbers.ends(row)) for row in rows), default=0)
        shown_at = iter(numbers.thresholds([row.threshold for row in rows]))
        self._cells = []
        for part in self.sections:
            made = [_cells(row, next(shown_at), fraction, bracket) for row in part.rows]
            self._cells.append([tuple(cells[i] for i in kept) for cells in made])
        columns = zip(*(cells for part in self._cells for cells in part), strict=True)
        widths = [max(map(len, column)) for column in columns] or [0] * len(self._heads)
        self._widths = [max(len(h), w) for h, w in zip(self._heads, widths, strict=True)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        count, gap = self._layout(width)
        yield from self._alarms()
        yield from _named(about(self.datasets), width)
        for part, cells in zip(self.sections, self._cells, strict=True):
            yield Text("")
            yield Text(part.title, style="bold")
            wide = count == len(self._heads)
            for line in (part.details, "" if wide else _in_words(part.rows)):
                if line:
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
        fits = _INDENT + sum(few) + gap * (_NARROW - 1) <= width
        return (_NARROW if fits else 0), gap

    def _rows(
        self, part: TableSection, cells: list[tuple[str, ...]], count: int, gap: int
    ) -> Table:
        """Lay out the rows of a section, with the same columns in all sections."""
        table = plain_table(gap=gap)
        for i in range(count):
            if i == 0:
                least = None
                if count == len(self._heads):
                    least = self._widths[0]
                table.add_column("", overflow="fold", min_width=least)
            else:
                # Filled up here: rich would drop the blanks behind a value.
                table.add_column(self._heads[i].rjust(self._widths[i]), no_wrap=True)
        for row, (measure, value, *others) in zip(part.rows, cells, strict=True):
            rest = [cell.rjust(w) for cell, w in zip(others, self._widths[2:], strict=True)]
            table.add_row(
                measure, Text(value.rjust(self._widths[1]), style=_style(row)), *rest[: count - 2]
            )
        return table

    def _alarms(self) -> Iterator[Any]:
        """Warn of doubtful results, above the tables."""
        for text, paths in alarms(self.datasets).items():
            whose = ""
            if self._several:
                whose = f" ({', '.join(systems(paths))})"
            yield Text(f"Warning{whose}: {self._reword(text)}", style="bold red")
            yield Text("")

    def _remarks(self, legend: bool) -> Iterator[Any]:
        """Explain thresholds, intervals and columns, the most important first, below the tables."""
        shown = list(self._with_rows.values())
        lines = optimistic(shown)
        lines += intervals(self.datasets)
        if legend and shown:
            lines += [self._legend]
        by_rank = [term_translator(d)(OF_RANK_ONE) for d in shown if differs_by_rank(d)]
        lines += [sentence(text) for text in by_rank[:1]]
        if lines:
            yield Text("")
        for line in lines[:_MOST_NOTES]:
            yield Text(line, style="dim")

    def _warnings(self) -> Iterator[Any]:
        """List the warnings by task."""
        groups: dict[str, list[str]] = {}
        for text, paths in warnings(self.datasets).items():
            if not (len(paths) == len(self.datasets) or set(paths) & set(self._with_rows)):
                continue  # the line of the task says why it has no results
            translate = term_translator(self.datasets[paths[0]])
            text = translate(with_joined_targets(self._reword(text)))
            everywhere = len(paths) == len(self.datasets)
            titles = [title(self.datasets[path], path, self._several) for path in paths]
            groups.setdefault("" if everywhere else "; ".join(titles), []).append(text)
        if groups:
            yield Text("")
            yield Text("Warnings", style="bold yellow")
        for tasks in sorted(groups, key=bool):  # those of all tasks first
            if tasks:
                yield indented(Text(tasks, style="dim"))
            yield listed(groups[tasks])


def _style(row: Row) -> str:
    if row.is_defined:
        return "bold"
    return "dim"


def _named(lines: Iterable[tuple[str, str]], width: int) -> Iterator[Any]:
    """Lay out lines with their names beside them, or above them in a narrow terminal."""
    if width >= _LEAST_LINE:
        yield grid(lines)
        return
    for name, text in lines:
        yield Text(name, style="dim")
        yield indented(Text(text))


def _stacked(part: TableSection, cells: list[tuple[str, ...]]) -> Iterator[Any]:
    """Lay out each row on two lines: its name, then its value and threshold."""
    for row, (measure, value, *_) in zip(part.rows, cells, strict=True):
        yield indented(Text(measure))
        text = Text(value.strip(), style=_style(row))
        if threshold := threshold_text(row.threshold):
            text.append(f" at {threshold}", style="not bold")
        yield indented(indented(text))


def _cells(row: Row, threshold: str, fraction: int, bracket: int) -> tuple[str, ...]:
    """Return a row as text, its value aligned at the decimal point, its interval `bracket` wide."""
    interval = ""
    if bracket:
        interval = f" {numbers.ends(row).ljust(bracket)}"
    return (
        row.measure,
        numbers.value(row, fraction) + interval,
        threshold,
        numbers.count(row.over.genuine),
        numbers.count(row.over.impostor),
        numbers.known(row.over.subjects),
    )


def _in_words(rows: list[Row]) -> str:
    """Return the sample size of a section in words."""

    def largest(counts: Iterable[int | None]) -> int | None:
        return max((count for count in counts if count is not None), default=None)

    classes = {
        "genuine": largest(row.over.genuine for row in rows),
        "impostor": largest(row.over.impostor for row in rows),
    }
    made = [(name, n) for name, n in classes.items() if n is not None]
    parts = [f"{n:,} {name}" for name, n in made[:-1]]
    parts += [counted(n, f"{name} attempts") for name, n in made[-1:]]
    subjects = largest(row.over.subjects for row in rows)
    who = ""
    if subjects:
        who = f", {counted(subjects, 'subjects')}"
    if parts:
        return f"over {' and '.join(parts)}{who}"
    return ""
