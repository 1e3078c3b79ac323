"""Results of calibration as a table: Cllr of each system, and decision costs by prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import counted, printable
from bioeval.base.kinds import PLURALS
from bioeval.results.words import excluded_by_system
from bioeval.views.tables.layout import NOT_DEFINED, grid, indented, plain_table, warned
from bioeval.views.tables.remarks import warnings

_COSTS = {"Cllr": "cllr", "minimum Cllr": "min_cllr", "calibration loss": "calibration_loss"}
_BY_PRIOR = {
    "threshold": "bayes_threshold",
    "FAR, %": "far_at_bayes",
    "FRR, %": "frr_at_bayes",
    "actual": "act_dcf",
    "minimum": "min_dcf",
}


class CalibrationTable:
    """Results of :func:`bioeval.calibration` by the name of the system, for rich to print."""

    def __init__(self, found: Mapping[str, xr.Dataset]):
        self.found = dict(found)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("Calibration", style="bold")
        yield indented(grid(self._header()))
        yield Text("")
        ratios = any("cllr" in dataset for dataset in self.found.values())
        table = plain_table(["", *self.found])
        for label, name in _COSTS.items():
            if ratios or name == "min_cllr":
                values = [_value(dataset, name) for dataset in self.found.values()]
                table.add_row(f"{label}, bits", *values)
        yield indented(table)
        for name, dataset in self.found.items():
            yield Text("")
            costs = (f"{float(dataset.attrs[f'cost_{x}']):g}" for x in ("miss", "false_accept"))
            yield Text(
                f"{name}: normalised decision cost, a miss costs {next(costs)} and a false accept "
                f"{next(costs)}"
            )
            yield indented(self._by_prior(dataset))
        yield Text("")
        yield Text(
            "Minimum: of any monotone map, or any threshold, chosen on these data (optimistic). "
            + ("Actual: at the Bayes threshold. " if ratios else "")
            + "1 is the cost of deciding by the prior alone.",
            style="dim",
        )
        yield from warned(
            line if len(who) == len(self.found) else f"{', '.join(who)}: {line}"
            for line, who in warnings(self.found).items()
        )

    def _header(self) -> Iterator[tuple[str, str]]:
        for name, dataset in self.found.items():
            attrs = dataset.attrs
            made = f": {printable(str(attrs['origin']))}" if attrs["origin"] else ""
            attempts = (int(dataset[f"{x}_attempts"]) for x in ("genuine", "impostor"))
            yield name, f"{PLURALS[str(attrs['kind'])]}{made}"
            yield "", f"{next(attempts):,} genuine, {counted(next(attempts), 'impostor attempts')}"
        if text := excluded_by_system({name: ds.attrs for name, ds in self.found.items()}):
            yield "Excluded", text

    def _by_prior(self, dataset: xr.Dataset) -> object:
        shown = {head: name for head, name in _BY_PRIOR.items() if name in dataset}
        table = plain_table(["prior", *shown])
        for i, prior in enumerate(dataset["prior"].values.tolist()):
            cells = []
            for head, name in shown.items():
                value = float(dataset[name].values[i]) * (100 if head.endswith("%") else 1)
                cells.append(f"{value:.3f}" if head.endswith("%") else f"{value:.4f}")
            table.add_row(f"{prior:g}", *(NOT_DEFINED if x == "nan" else x for x in cells))
        return table


def _value(dataset: xr.Dataset, name: str) -> str:
    value = float(dataset[name]) if name in dataset else float("nan")
    return NOT_DEFINED if value != value else f"{value:.4f}"
