"""Several systems in one table: a row for each system, a column for each measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import DataError, bad_choice
from bioeval.views.tables import layout as numbers
from bioeval.views.tables.result_table import CHOSEN, alarms, has_chosen, intervals, sentence
from bioeval.views.tables.sections import section
from bioeval.views.tasks import averaged, system_of, unit_of, with_unit

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
        """Collect the cells of each system by task; raise for an unknown measure."""
        self.found, self._over = found, dict[str, None]()
        self.tasks: dict[str, dict[str, Cells]] = {}
        known: dict[str, str] = {}
        for path, dataset in found.items():
            if "partition" in dataset.dims:
                cells = summarised(dataset)
            else:
                cells = dict(_cells(dataset))
            if not {"partition", "fold"}.isdisjoint(dataset.dims):
                self._over[f"{unit_of(dataset.attrs)}s"] = None
            name = system_of(path) or str(dataset.attrs.get("system", ""))
            self.tasks.setdefault(str(dataset.attrs["task"]), {})[name] = cells
            known |= _by_plain(cells)
        self.measures = list(map(_plain, measures))
        for name, plain in zip(measures, self.measures, strict=True):
            if plain not in known:
                shown = [label.replace(", %", "") for label in known.values()]
                raise DataError(bad_choice("measures", name, shown))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a table for each task, and remarks."""
        for text, paths in alarms(self.found).items():
            yield Text(f"Warning ({', '.join(map(system_of, paths))}): {text}", style="bold red")
        for task, systems in self.tasks.items():
            labels: dict[str, str] = {}
            for cells in systems.values():
                labels |= _by_plain(cells)
            if self.measures:
                labels = {name: labels[name] for name in self.measures if name in labels}
            if not labels:
                continue
            yield Text(f"{task[0].upper()}{task[1:]}", style="bold")
            table = numbers.plain_table(["", *labels.values()])
            for name, cells in systems.items():
                texts = [cells.get(label, numbers.NOT_KNOWN) for label in labels.values()]
                table.add_row(Text(name), *texts)
            yield numbers.indented(table)
        if self._over:
            yield Text(f"Mean ± standard deviation over {' and '.join(self._over)}.", style="dim")
        if any(map(has_chosen, self.found.values())):
            yield Text(sentence(CHOSEN), style="dim")
        if not self._over:
            for line in intervals(self.found):
                yield Text(line, style="dim")


def _plain(label: str) -> str:
    """Return a label without its unit, to compare it with."""
    return label.replace(", %", "").casefold()


def _by_plain(labels: Iterable[str]) -> dict[str, str]:
    return {_plain(label): label for label in labels}


def _cells(dataset: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each measure."""
    if "fold" in dataset.dims:
        for row in averaged(dataset):
            percent = row.scalar.percent
            mean = numbers.mean_text(row.summary("mean"), percent, numbers.NOT_DEFINED)
            sd = numbers.mean_text(row.summary("sd"), percent, numbers.NOT_DEFINED)
            yield row.label, with_sd(mean, sd)
        return
    for row_of_task in section(dataset).rows:
        label = with_unit(row_of_task.measure, row_of_task.unit == "%")
        text = f"{numbers.number(row_of_task)} {numbers.ends(row_of_task)}"
        yield label, text.strip()


def with_sd(mean: str, sd: str) -> str:
    """Return a mean with its standard deviation, if both are defined."""
    return mean if numbers.NOT_DEFINED in (mean, sd) else f"{mean} ± {sd}"
