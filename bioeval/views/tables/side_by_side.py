"""Systems side by side: a row for each measure, a column for each system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import Naming, counted, renamed
from bioeval.base.scalars import POINTS_OF
from bioeval.results.dataset import Scalars
from bioeval.results.words import excluded_by_system
from bioeval.tallies.points import per_cent
from bioeval.views.averaged import averaged
from bioeval.views.tables.layout import (
    NOT_DEFINED,
    grid,
    indented,
    mean_text,
    plain_table,
    warned,
)
from bioeval.views.tables.remarks import warnings
from bioeval.views.terms import term_translator


class SideBySideTable:
    """Verification results of systems, or over the same folds, for rich to print."""

    def __init__(self, title: str, found: Mapping[str, xr.Dataset], naming: Naming):
        self.title, self.found, self._naming = title, dict(found), naming

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
            said += ", and standard deviations between them." if wide else "."
            yield Text("")
            yield Text(said, style="dim")
        yield from warned(
            renamed(line if len(who) == len(columns) else f"{', '.join(who)}: {line}", self._naming)
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
        if text := excluded_by_system({name: ds.attrs for name, ds in self.found.items()}):
            yield "Excluded", text
        fused = list(self.found.values())[-1]
        yield "Fused", str(fused.attrs["origin"])


def _cells(dataset: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Return the label and the text of each measure."""
    if "fold" in dataset.dims:
        for row in averaged(dataset):
            percent = row.scalar.percent
            mean, sd = (mean_text(row.summary(x), percent, NOT_DEFINED) for x in ("mean", "sd"))
            yield row.label, mean if sd == NOT_DEFINED else f"{mean} ± {sd}"
        return
    translate = term_translator(dataset)
    numbers = Scalars.of_dataset(dataset).plain([])
    for scalar in POINTS_OF["verification"]:
        unit = ", %" if scalar.percent else ""
        found = numbers[scalar.name]
        values = found.items() if isinstance(found, dict) else [(0.0, found)]
        for goal, value in values:
            head, at, target = scalar.label.partition(" at ")
            label = f"{head}{unit}{at}{target}".format(target=per_cent(goal))
            yield translate(label), mean_text(value, scalar.percent, NOT_DEFINED)
