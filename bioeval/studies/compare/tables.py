"""Systems compared, and systems side by side, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base import COMPARED, POINTS_OF, Scalar, counted
from bioeval.results import KIND_DOUBT, NOT_DEFINED, Scalars, excluded, former_names, p_value
from bioeval.tallies import per_cent
from bioeval.views import averaged, term_translator
from bioeval.views.tables import (
    fusion_in_words,
    grid,
    indented,
    mean_text,
    plain_table,
    warned,
    warnings,
    with_joined_targets,
)

# Columns of a verdict beside its row; with less, it has a line of its own.
_LEAST_VERDICT = 26

#: What a conclusion in a row rests on, by the adjustment.
_BETTER = {
    "none": "each measure alone, not adjusted for their number",
    "holm": "after Holm's adjustment",
}

_GAP = 2


@dataclass(frozen=True)
class _MeasureRow:
    cells: tuple[str, ...]  # measure, both values, difference, interval
    verdict: str
    conclusive: bool


class ComparisonTable:
    """The result of :func:`bioeval.compare`, for rich to print.

    `reword` is as for :class:`ResultTable`.
    """

    def __init__(self, dataset: xr.Dataset, reword: Callable[[str], str] = str):
        self.dataset, self._reword = dataset, reword
        self._translate = term_translator(dataset, "")
        self._searched = "convention" in dataset.attrs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        attrs, width = self.dataset.attrs, options.max_width
        yield Text("Comparison of two systems", style="bold")
        yield indented(grid(self._header()))
        doubts = str(attrs.get(KIND_DOUBT, "")).splitlines()
        for doubt in doubts:
            yield Text(f"Warning: {self._reword(self._translate(doubt))}", "bold yellow")
        yield Text("")
        yield Text(self._translate.of_list(str(attrs["answer"])), style="bold")
        yield Text("")
        rows = list(self._rows())
        head = ("", str(attrs["system_a"]), str(attrs["system_b"]), "difference", "interval")
        columns = zip(head, *(row.cells for row in rows), strict=True)
        widths = [max(map(len, column)) for column in columns]
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
                table.add_row(*row.cells, Text(row.verdict, "bold" if row.conclusive else ""))
            yield table
        yield Text("")
        yield Text(caption(self.dataset), style="dim")
        said = (line for line in str(attrs["warnings"]).splitlines() if line not in doubts)
        warnings = map(with_joined_targets, said)
        yield from warned(map(self._translate, warnings))

    def _header(self) -> Iterator[tuple[str, str]]:
        attrs = self.dataset.attrs
        people = counted(int(attrs["subjects"]), "subjects")
        identifies = any(str(x).startswith("DIR") for x in self.dataset["measure"].values)
        yield "Data", f"{attrs['layout']}, {people}"
        each = {str(attrs[f"system_{x}"]): {"exclude": attrs[f"exclude_{x}"]} for x in "ab"}
        if text := excluded(each):
            yield "Excluded", text
        if self._searched:
            yield "Tasks", f"re-identification, {attrs['convention']}"
            return
        tasks = [f"{attrs['templates']}-template verification"]
        if attrs["templates"] == "multi":
            kind = ""
            if attrs["kind_a"] == attrs["kind_b"]:
                kind = str(attrs["kind_a"])
            tasks.append(fusion_in_words(str(attrs["fusion"]), kind))
        yield (
            "Tasks",
            "; ".join([*tasks, self._translate("DIR at rank 1")][: len(tasks) + identifies]),
        )
        shown = {"verification": ("far", "frr"), "identification": ("far", "dir") * identifies}
        yield "Terms", self._translate.others(shown)

    def _rows(self) -> Iterator[_MeasureRow]:
        ds = self.dataset
        verdicts = str(ds.attrs["verdicts"]).splitlines()
        for i, measure in enumerate(map(str, ds["measure"].values)):
            scalar = compared_by(measure)
            one = float(ds["value_a"].values[i])
            other = float(ds["value_b"].values[i])
            change = float(ds["difference"].values[i])
            low = float(ds["difference_low"].values[i])
            high = float(ds["difference_high"].values[i])
            width = high - low
            translate = self._translate.like(measure)
            limits = ", ".join(scalar.written(end, width, "+") for end in (low, high))
            yield _MeasureRow(
                (
                    translate(measure).removesuffix(", rank 1"),
                    *(scalar.written_with_unit(value, width) for value in (one, other)),
                    scalar.written_with_unit(change, width, "+"),
                    f"[{limits}]" if low == low else "",
                ),
                translate(verdicts[i]),
                any(ds[x].values[i] for x in ("better", "not_worse") if x in ds),
            )


def compared_by(measure: str) -> Scalar:
    """Return the scalar of a measure of a comparison, by its label: the longest that fits."""
    heads = {scalar.label.partition("{")[0]: scalar for scalar in COMPARED.values()}
    return heads[max(filter(measure.startswith, heads), key=len)]


def page_tables(dataset: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the measures as a table of a page; proportions are in per cent."""
    attrs = dataset.attrs
    verdicts = str(attrs.get("verdicts", "")).splitlines()
    rows = []
    for i, measure in enumerate(map(str, dataset["measure"].values)):
        percent = compared_by(measure).percent
        one, other, *difference = (
            {
                "variable": name,
                "value": float(dataset[name].values[i]),
                "shape": "score" if not percent else "percent" if "value" in name else "points",
                "more": {"measure": measure},
            }
            for name in ("value_a", "value_b", "difference", "difference_low", "difference_high")
        )
        p = {"text": p_value(float(dataset["p_value"][i])), "right": True}
        rows.append([measure, one, other, difference, p, verdicts[i] if i < len(verdicts) else ""])
    named = [str(attrs.get(f"system_{x}", x)) for x in "ab"]
    level = f"{100 * float(attrs.get('confidence', 0.95)):g} % interval"
    before = "p"
    if attrs.get("adjust") == "holm":
        before = "p before Holm"
    yield {
        "name": f"comparison-{'-'.join(named)}",
        "caption": " and ".join(named),
        "heads": ["Measure", *named, f"Difference, {level}", before, "Verdict"],
        "rows": rows,
        "note": caption(dataset),
    }


def caption(dataset: xr.Dataset) -> str:
    """Return what the columns of a comparison are."""
    attrs, level = dataset.attrs, float(dataset.attrs["confidence"])
    jackknifed = "; AUC, recognition rate and DIR"
    if "convention" in attrs:
        jackknifed = ";"
    said = (
        f"Difference: {attrs['system_a']} - {attrs['system_b']}, in percentage points (pp) "
        f"for rates. Interval: {100 * level:g} % for each measure alone, both systems "
        f"resampled together by subject ({int(attrs['replicates']):,} replicates"
    )
    said += term_translator(dataset, "")(f"{jackknifed} by the jackknife).")
    said += f" Better: {_BETTER[str(attrs['adjust'])]}."
    if "margin" in dataset:
        said += f" Not worse and equivalent: from {100 * (2 * level - 1):g} % intervals."
    return said


def _below(head: tuple[str, ...], rows: list[_MeasureRow], widths: list[int]) -> Iterator[Any]:
    """Lay out each row with its verdict below."""

    def line(cells: tuple[str, ...], style: str = "") -> Text:
        first, *others = cells
        rest = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        return Text((" " * _GAP).join([first.ljust(widths[0]), *rest]), style)

    yield line(head, "dim")
    for row in rows:
        yield line(row.cells)
        yield indented(Text(row.verdict, "bold" if row.conclusive else "dim"))


class SideBySideTable:
    """Verification results of systems, or over the same folds, for rich to print."""

    def __init__(self, title: str, found: Mapping[str, xr.Dataset], reword: Callable[[str], str]):
        self.title, self._reword = title, reword
        self.found = {name: former_names(dataset) for name, dataset in found.items()}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.title, style="bold")
        yield indented(grid(self._header()))
        yield Text("")
        columns = {name: dict(_cells(dataset)) for name, dataset in self.found.items()}
        labels = list(dict.fromkeys(label for cells in columns.values() for label in cells))
        widest = max(len(text) for cells in columns.values() for text in cells.values())
        wide = max(map(len, labels)) + len(columns) * (widest + 2) + 4 <= options.max_width
        table = plain_table(["", *columns])
        for label in labels:
            texts = (cells.get(label, "") for cells in columns.values())
            table.add_row(label, *(text if wide else text.partition(" ")[0] for text in texts))
        yield indented(table)
        if self._in_folds:
            said = "Means over the folds of the test parts"
            if wide:
                said += ", and standard deviations between them."
            else:
                said += "."
            yield Text("")
            yield Text(said, style="dim")
        yield from warned(
            self._reword(line if len(who) == len(columns) else f"{', '.join(who)}: {line}")
            for line, who in warnings(self.found).items()
        )

    @property
    def _in_folds(self) -> bool:
        return any("fold" in dataset.dims for dataset in self.found.values())

    def _header(self) -> Iterator[tuple[str, str]]:
        first = next(iter(self.found.values()))
        yield "Task", str(first.attrs["task"])
        if self._in_folds:
            yield "Partition", str(first.attrs["splitter"])
            translate, sizes = term_translator(first), first.sizes
            chosen = f"{first.attrs['threshold_rule_in_words']}, {first.attrs['chosen_on']}"
            yield "Threshold", translate(chosen)
            yield "Folds", counted(sizes["repeat"] * sizes["fold"], "folds")
        if text := excluded({name: ds.attrs for name, ds in self.found.items()}):
            yield "Excluded", text
        fused = list(self.found.values())[-1]
        yield "Fused", str(fused.attrs["origin"])


def _cells(dataset: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Return the label and the text of each measure."""
    if "fold" in dataset.dims:
        for row in averaged(dataset):
            percent = row.scalar.percent
            mean = mean_text(row.summary("mean"), percent, NOT_DEFINED)
            sd = mean_text(row.summary("sd"), percent, NOT_DEFINED)
            yield row.label, mean if sd == NOT_DEFINED else f"{mean} ± {sd}"
        return
    translate = term_translator(dataset)
    numbers = Scalars.of_dataset(dataset).plain([])
    for scalar in POINTS_OF["verification"]:
        if scalar.name not in numbers:
            continue
        unit = ""
        if scalar.percent:
            unit = ", %"
        result = numbers[scalar.name]
        values = result.items() if isinstance(result, dict) else [(0.0, result)]
        for goal, value in values:
            head, at, target = scalar.label.partition(" at ")
            label = f"{head}{unit}{at}{target}".format(target=per_cent(goal))
            yield translate(label), mean_text(value, scalar.percent, NOT_DEFINED)
