"""Systems compared, and systems side by side, as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base import POINTS_OF_PARTS, Scalar, counted, scalar_registry
from bioeval.document import is_doubt, messages_of_result
from bioeval.results import Scalars, excluded, expanded, number
from bioeval.studies.compare.measures import THIS_GALLERY
from bioeval.tallies import per_cent
from bioeval.views import averaged, sentence_about, term_translator
from bioeval.views.tables import (
    fusion_in_words,
    grid,
    indented,
    mean_text,
    plain_table,
    warned,
    warnings,
)

# Columns of a verdict beside its row; with less, it has a line of its own.
_LEAST_VERDICT = 26

#: What a conclusion in a row rests on, by the adjustment.
_BETTER = {
    "none": "each measure alone, not adjusted for their number",
    "holm": "after Holm's adjustment",
}

_GAP = 2

# The text of a measure without a value.
_NONE = number(math.nan)


@dataclass(frozen=True)
class _MeasureRow:
    """A measure as a row of the table."""

    cells: tuple[str, ...]  # measure, both values, difference, interval
    verdict: str
    conclusive: bool

    def text(self, otherwise: str) -> Text:
        """Return the verdict, bold where it is conclusive."""
        return Text(self.verdict, "bold" if self.conclusive else otherwise)


class ComparisonTable:
    """The result of :func:`bioeval.compare` for rich; `reword` is as for :class:`ResultTable`."""

    def __init__(self, dataset: xr.Dataset, reword: Callable[[str], str] = str):
        self.dataset, self._reword = dataset, reword
        self._translate = term_translator(dataset, "")
        self._searched = "convention" in dataset.attrs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay out the measures as wide as there is room: verdicts beside, below, or alone."""
        attrs, width = self.dataset.attrs, options.max_width
        yield Text("Comparison of two systems", style="bold")
        yield indented(grid(self._header()))
        messages = messages_of_result(self.dataset)
        doubts = [sentence_about(message) for message in messages if is_doubt(message)]
        for doubt in doubts:
            yield Text(f"Warning: {self._reword(self._translate(doubt))}", "bold yellow")
        yield Text("")
        yield Text(self._translate.of_list(str(attrs["answer"])), style="bold")
        yield Text("")
        rows = list(self._rows())
        head = ("", str(attrs["system_a"]), str(attrs["system_b"]), "difference", "interval")
        widths = [0] * len(head)
        for cells in (head, *(row.cells for row in rows)):
            widths = list(map(max, widths, map(len, cells)))
        taken = sum(widths) + _GAP * len(widths)
        if taken - _GAP > width:
            for line in str(attrs["conclusions"]).splitlines():
                yield Text(self._translate(line))
        elif taken + _LEAST_VERDICT > width:
            yield from _below(head, rows, widths)
        else:
            table = plain_table(head, _GAP)
            table.columns[0].no_wrap = True
            table.add_column("conclusion")
            for row in rows:
                table.add_row(*row.cells, row.text(""))
            yield table
        yield Text("")
        yield Text(caption(self.dataset), style="dim")
        lines = []
        for message in messages:
            if not is_doubt(message):
                lines.append(self._translate(sentence_about(message)))
        yield from warned(lines)

    def _header(self) -> Iterator[tuple[str, str]]:
        """Yield what was compared, with the tasks and their terms."""
        attrs = self.dataset.attrs
        people = counted(int(attrs["subjects"]), "subjects")
        yield "Data", f"{attrs['layout']}, {people}"
        each = {
            str(attrs["system_a"]): {"exclude": attrs["exclude_a"]},
            str(attrs["system_b"]): {"exclude": attrs["exclude_b"]},
        }
        if text := excluded(each):
            yield "Excluded", text
        if self._searched:
            yield "Tasks", f"re-identification, {attrs['convention']}"
            return
        tasks = [f"{attrs['templates']}-template verification"]
        if attrs["templates"] == "multi":
            kind = str(attrs["kind_a"]) if attrs["kind_a"] == attrs["kind_b"] else ""
            tasks.append(fusion_in_words(str(attrs["fusion"]), kind))
        shown: dict[str, tuple[str, ...]] = {"verification": ("far", "frr"), "identification": ()}
        if "dir_at_far" in [compared_by(x).name for x in self.dataset["measure"].values.tolist()]:
            tasks.append(self._translate("DIR at rank 1"))
            shown["identification"] = ("far", "dir")
        yield "Tasks", "; ".join(tasks)
        yield "Terms", self._translate.others(shown)

    def _rows(self) -> Iterator[_MeasureRow]:
        """Yield the measures, with as many digits as the width of their interval allows."""
        ds = self.dataset
        verdicts = str(ds.attrs["verdicts"]).splitlines()
        for i, measure in enumerate(map(str, ds["measure"].values)):
            scalar, row = compared_by(measure), ds.isel(measure=i)
            low, high = float(row["difference_low"]), float(row["difference_high"])
            width = high - low
            translate = self._translate.like(measure)
            limits = ""
            if low == low:
                limits = f"[{scalar.written(low, width, '+')}, {scalar.written(high, width, '+')}]"
            yield _MeasureRow(
                (
                    translate(measure).removesuffix(", rank 1"),
                    scalar.written_with_unit(float(row["value_a"]), width),
                    scalar.written_with_unit(float(row["value_b"]), width),
                    scalar.written_with_unit(float(row["difference"]), width, "+"),
                    limits,
                ),
                translate(verdicts[i]),
                bool(row["better"] or row.get("not_worse", 0)),
            )


def compared_by(measure: str) -> Scalar:
    """Return the scalar of a measure of a comparison, by its label: the longest that fits."""
    heads = {
        scalar.label.partition("{")[0]: scalar for scalar in scalar_registry().compared.values()
    }
    return heads[max(filter(measure.startswith, heads), key=len)]


def page_tables(dataset: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the measures as a table of a page; proportions are in per cent."""
    attrs = dataset.attrs
    verdicts = str(attrs.get("verdicts", "")).splitlines()
    rows = []
    for i, measure in enumerate(map(str, dataset["measure"].values)):
        values, differences = "score", "score"
        if compared_by(measure).percent:
            values, differences = "percent", "points"
        row = [
            measure,
            _cell(dataset, "value_a", i, values),
            _cell(dataset, "value_b", i, values),
            [
                _cell(dataset, "difference", i, differences),
                _cell(dataset, "difference_low", i, differences),
                _cell(dataset, "difference_high", i, differences),
            ],
            {"text": number(float(dataset["p_value"][i]), "p"), "right": True},
            "",
        ]
        if i < len(verdicts):
            row[-1] = verdicts[i]
        rows.append(row)
    named = [str(attrs.get("system_a", "a")), str(attrs.get("system_b", "b"))]
    level = f"{100 * float(attrs.get('confidence', 0.95)):g} % interval"
    before = "p before Holm" if attrs.get("adjust") == "holm" else "p"
    yield {
        "name": f"comparison-{'-'.join(named)}",
        "caption": " and ".join(named),
        "heads": ["Measure", *named, f"Difference, {level}", before, "Verdict"],
        "rows": rows,
        "note": caption(dataset),
    }


def _cell(dataset: xr.Dataset, name: str, place: int, shape: str) -> dict[str, Any]:
    """Return a variable of a measure as a cell of a page."""
    more = {"measure": str(dataset["measure"].values[place])}
    value = float(dataset[name].values[place])
    return {"variable": name, "value": value, "shape": shape, "more": more}


def caption(dataset: xr.Dataset) -> str:
    """Return what the columns of a comparison are."""
    attrs, level = dataset.attrs, float(dataset.attrs["confidence"])
    jackknifed = ";" if "convention" in attrs else "; AUC, recognition rate and DIR"
    text = (
        f"Difference: {attrs['system_a']} - {attrs['system_b']}, in percentage points (pp) "
        f"for rates. Interval: {100 * level:g} % for each measure alone, both systems "
        f"resampled together by subject ({int(attrs['replicates']):,} replicates"
    )
    text += term_translator(dataset, "")(f"{jackknifed} by the jackknife).")
    text += f" {_populations(dataset)}"
    text += f" Better: {_BETTER[str(attrs['adjust'])]}."
    if "margin" in dataset:
        text += f" Not worse and equivalent: from {100 * (2 * level - 1):g} % intervals."
    return text


def _populations(dataset: xr.Dataset) -> str:
    """Return in a sentence for whom the intervals are."""
    fixed = [str(x) == THIS_GALLERY for x in dataset["interval_for"].values]
    if not any(fixed):
        return "Intervals are for new people."
    if all(fixed):
        return "Intervals are for this gallery."
    translate = term_translator(dataset, "")
    return translate("Intervals are for new people; of recognition rate and DIR for this gallery.")


def _below(head: tuple[str, ...], rows: list[_MeasureRow], widths: list[int]) -> Iterator[Any]:
    """Lay out each row with its verdict below."""

    def line(cells: tuple[str, ...], style: str = "") -> Text:
        rest = map(str.rjust, cells[1:], widths[1:])
        return Text((" " * _GAP).join([cells[0].ljust(widths[0]), *rest]), style)

    yield line(head, "dim")
    for row in rows:
        yield line(row.cells)
        yield indented(row.text("dim"))


class SideBySideTable:
    """Verification results of systems, or over the same folds, for rich to print."""

    def __init__(
        self, title: str, datasets: Mapping[str, xr.Dataset], reword: Callable[[str], str]
    ):
        self.title, self._reword = title, reword
        self.datasets = {name: expanded(dataset) for name, dataset in datasets.items()}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay out a column for each system; standard deviations where there is room."""
        yield Text(self.title, style="bold")
        yield indented(grid(self._header()))
        yield Text("")
        columns = {name: dict(_cells(dataset)) for name, dataset in self.datasets.items()}
        labels: dict[str, None] = {}  # in the order of their first appearance
        widest = 0
        for cells in columns.values():
            labels |= dict.fromkeys(cells)
            widest = max([widest, *(len(" ".join(parts)) for parts in cells.values())])
        wide = max(map(len, labels)) + len(columns) * (widest + 2) + 4 <= options.max_width
        table = plain_table(["", *columns])
        for label in labels:
            row = [label]
            for cells in columns.values():
                mean, *sd = cells.get(label, [""])
                row.append(" ".join([mean, *sd]) if wide else mean)
            table.add_row(*row)
        yield indented(table)
        if self._in_folds:
            means = "Means over the folds of the test parts"
            if wide:
                means += ", and standard deviations between them"
            yield Text("")
            yield Text(f"{means}.", style="dim")
        remarks = []
        for line, who in warnings(self.datasets).items():
            if len(who) < len(columns):
                line = f"{', '.join(who)}: {line}"
            remarks.append(self._reword(line))
        yield from warned(remarks)

    @property
    def _in_folds(self) -> bool:
        return any("fold" in dataset.dims for dataset in self.datasets.values())

    def _header(self) -> Iterator[tuple[str, str]]:
        """Yield what all systems have in common."""
        first = next(iter(self.datasets.values()))
        yield "Task", str(first.attrs["task"])
        if self._in_folds:
            yield "Partition", str(first.attrs["splitter"])
            translate, sizes = term_translator(first), first.sizes
            chosen = f"{first.attrs['threshold_rule_in_words']}, {first.attrs['chosen_on']}"
            yield "Threshold", translate(chosen)
            yield "Folds", counted(sizes["repeat"] * sizes["fold"], "folds")
        if text := excluded({name: ds.attrs for name, ds in self.datasets.items()}):
            yield "Excluded", text
        fused = list(self.datasets.values())[-1]
        yield "Fused", str(fused.attrs["origin"])


def _cells(dataset: xr.Dataset) -> Iterator[tuple[str, list[str]]]:
    """Yield the label of each measure, and the texts of its mean and standard deviation."""
    if "fold" in dataset.dims:
        for row in averaged(dataset):
            percent = row.scalar.percent
            mean = mean_text(row.summary("mean"), percent, _NONE)
            sd = mean_text(row.summary("sd"), percent, _NONE)
            yield row.label, [mean] if sd == _NONE else [mean, f"± {sd}"]
        return
    translate = term_translator(dataset)
    numbers = Scalars.of_dataset(dataset).plain([])
    for scalar in POINTS_OF_PARTS["verification"]:
        if scalar.name not in numbers:
            continue
        unit = ", %" if scalar.percent else ""
        result = numbers[scalar.name]
        if not isinstance(result, dict):
            result = {0.0: result}
        for goal, value in result.items():
            head, at, target = scalar.label.partition(" at ")
            label = f"{head}{unit}{at}{target}".format(target=per_cent(goal))
            yield translate(label), [mean_text(value, scalar.percent, _NONE)]
