"""Several systems in one table: a row for each system, a column for each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import DataError, bad_choice
from bioeval.views.tables import layout as numbers
from bioeval.views.tables.result_table import CHOSEN, alarms, has_chosen, intervals
from bioeval.views.tables.sections import section
from bioeval.views.tasks import averaged, system_of, unit_of

#: The label and the text of each measure of a result.
Cells = Mapping[str, str]


class SystemsTable:
    """Results of systems by path, for rich to print; of folds, means and standard deviations.

    `measures` chooses columns by their labels, in this order; none: all of them. Results over
    partitions are read by `summarised`.
    """

    def __init__(
        self,
        found: Mapping[str, xr.Dataset],
        measures: Sequence[str],
        summarised: Callable[[xr.Dataset], Cells],
    ):
        self.found, self._over = found, dict[str, None]()
        self.tasks: dict[str, dict[str, Cells]] = {}
        for path, dataset in found.items():
            over = next((dim for dim in ("partition", "fold") if dim in dataset.dims), "")
            if over == "partition":
                cells = summarised(dataset)
            else:
                cells = dict(_cells(dataset))
            if over:
                self._over[f"{unit_of(dataset.attrs)}s"] = None
            name = system_of(path) or str(dataset.attrs.get("system", ""))
            self.tasks.setdefault(str(dataset.attrs["task"]), {})[name] = cells
        each = [cells for task in self.tasks.values() for cells in task.values()]
        known = {_plain(label): label for cells in each for label in cells}
        for name in measures:
            if _plain(name) not in known:
                shown = [label.replace(", %", "") for label in known.values()]
                raise DataError(bad_choice("measures", name, shown))
        self.measures = [_plain(name) for name in measures]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, paths in alarms(self.found).items():
            yield Text(f"Warning ({', '.join(map(system_of, paths))}): {text}", style="bold red")
        for task, systems in self.tasks.items():
            labels = list(dict.fromkeys(label for cells in systems.values() for label in cells))
            if self.measures:
                there = {_plain(label): label for label in labels}
                labels = [there[name] for name in self.measures if name in there]
            if not labels:
                continue
            yield Text(f"{task[0].upper()}{task[1:]}", style="bold")
            table = numbers.plain_table(["", *labels])
            for name, cells in systems.items():
                texts = (cells.get(label, numbers.NOT_KNOWN) for label in labels)
                table.add_row(Text(name), *texts)
            yield numbers.indented(table)
        if self._over:
            yield Text(f"Mean ± standard deviation over {' and '.join(self._over)}.", style="dim")
        if any(map(has_chosen, self.found.values())):
            yield Text(f"{CHOSEN[0].upper()}{CHOSEN[1:]}.", style="dim")
        for line in intervals(self.found) if not self._over else []:
            yield Text(line, style="dim")


def _plain(label: str) -> str:
    """Return a label without its unit, to compare it with."""
    return label.replace(", %", "").casefold()


def _cells(dataset: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each measure."""
    if "fold" in dataset.dims:
        for mean in averaged(dataset):
            percent = mean.scalar.percent
            texts = (numbers.mean_text(mean.summary(x), percent, "") for x in ("mean", "sd"))
            yield mean.label, with_sd(*texts)
        return
    for row in section(dataset).rows:
        head, at_far, tail = row.measure.partition(" at ")
        label = f"{head}{', %' * (row.unit == '%')}{at_far}{tail}"
        text = numbers.value(row, 0).replace(" %", "").strip()
        yield label, f"{text} {numbers.ends(row)}".strip()


def with_sd(mean: str, sd: str) -> str:
    """Return a mean with its standard deviation."""
    if mean and sd:
        return f"{mean} ± {sd}"
    return mean or numbers.NOT_DEFINED
