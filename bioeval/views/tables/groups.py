"""Verification by group as a table: rates of groups, of pairs of groups, and what compares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import cut, escaped
from bioeval.results.groups import INEQUITY
from bioeval.tallies.points import per_cent
from bioeval.views.tables.layout import grid, indented, plain_table, threshold, warned
from bioeval.views.tables.remarks import about, intervals
from bioeval.views.terms import speaker

_LABELS = {
    "fdr": "FDR (1: all groups alike)",
    "garbe": "GARBE (0: all groups alike)",
    "far_max_over_min": "FAR within groups, largest / smallest",
    "far_max_over_geomean": "FAR within groups, largest / geometric mean",
    "frr_max_over_min": "FRR, largest / smallest",
    "frr_max_over_geomean": "FRR, largest / geometric mean",
}

# Most groups whose pairs are shown, and the length of a name.
_PAIRED, _LONGEST = 12, 20


class GroupsTable:
    """The result of :func:`bioeval.by_group` that rich can print.

    `reword` is as for :class:`ResultTable`. A rate that is flagged has an asterisk; groups are in
    the order of their names.
    """

    def __init__(self, dataset: xr.Dataset, reword: Callable[[str], str] = str):
        self.ds, self._reword, self._say = dataset, reword, speaker(dataset)
        self.names = [cut(escaped(str(x)), _LONGEST) for x in dataset["group"].values.tolist()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        ds, say = self.ds, self._say
        yield Text(f"Verification by group, {ds.attrs['templates']}-template", style="bold")
        yield indented(grid(about({"": ds})))
        given = ds.attrs["chosen_on"] == "given"
        at = "" if given else f", {say(str(ds.attrs['threshold_rule_in_words']))} of all groups"
        text = f"At the threshold {threshold(float(ds['threshold']))}{at}"
        yield indented(Text(text, style="dim"))
        yield Text("")
        yield from self._fitted(self._groups(), options.max_width)
        yield Text("")
        yield from self._pairs(options.max_width)
        if ds.sizes["far_target"]:
            yield Text(say("FRR, %, of each group at its own threshold"))
            yield from self._fitted(self._own(), options.max_width)
        yield from self._fitted(self._measures(), options.max_width)
        if not given:
            yield Text("The threshold was chosen on these same data: optimistic.", style="dim")
        for line in intervals({"": ds}):
            yield Text(line, style="dim")
        flags = [name for name in ds.data_vars if str(name).endswith("_flagged")]
        if any(ds[name].values.any() for name in flags):
            yield Text(
                "*: fewer than 30 subjects or expected errors; not to be ranked.", style="dim"
            )
        yield from warned(
            self._reword(say(line)) for line in str(ds.attrs["warnings"]).splitlines()
        )

    def _fitted(self, rows: list[list[str]], width: int) -> Any:
        """Yield a table, or lines of names and cells where it is too wide."""
        heads, *cells = rows
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if sum(widths) + 2 * len(widths) <= width:
            table: Table = plain_table(heads)
            for row in cells:
                table.add_row(*map(Text, row))
            yield indented(table)
            return
        for first, *rest in cells:
            yield Text(first)
            pairs = zip(heads[1:], rest, strict=True)
            yield indented(Text(", ".join(f"{head} {cell}" for head, cell in pairs)))

    def _groups(self) -> list[list[str]]:
        """Return a line for each group, and one for all."""
        ds, say = self.ds, self._say
        rows = [["", "subjects", "genuine", say("FRR, %"), say("FAR within, %")]]
        for i, name in enumerate(self.names):
            few = "*" if ds["few_subjects"][i] else ""
            counts = f"{int(ds['subjects'][i]):,}{few}", f"{int(ds['genuine_attempts'][i]):,}"
            rows.append([name, *counts, self._rate("frr", i), self._rate("far", i, i)])
        total = f"{int(ds['subjects'].sum()):,}", f"{int(ds['genuine_attempts'].sum()):,}"
        return [*rows, ["all", *total, _percent(float(ds["frr_overall"])), ""]]

    def _own(self) -> list[list[str]]:
        """Return FRR of each group at the threshold of its own for each FAR target."""
        targets = self.ds["far_target"].values.tolist()
        rows = [["", *(self._say(f"at FAR {per_cent(x)}") for x in targets)]]
        for i, name in enumerate(self.names):
            rows.append([name, *(self._rate("frr_at_far", i, k) for k in range(len(targets)))])
        return rows

    def _pairs(self, width: int) -> Any:
        """Yield FAR by pair of groups, unless there are too many."""
        number = len(self.names)
        if number < 2:
            return
        if number > _PAIRED:
            yield Text(f"FAR of {number**2:,} pairs of groups: see pairs.csv (--out)", style="dim")
        else:
            say = self._say
            yield Text(
                say("FAR, %, by group of the probe (line) and of the claimed subject (column)")
            )
            rows = [["", *self.names]]
            for i, name in enumerate(self.names):
                rows.append([name, *(self._rate("far", i, j, ends=False) for j in range(number))])
            yield from self._fitted(rows, width)
        yield Text("")

    def _measures(self) -> list[list[str]]:
        ds = self.ds
        alpha = f"weight of FAR {float(ds.attrs['alpha']):g}"
        rows = [["", "", ""]]
        for name in INEQUITY:
            label = _LABELS[name].replace("groups alike)", f"groups alike; {alpha})")
            value = float(ds[name])
            ends = ""
            if f"{name}_low" in ds and not np.isnan(ds[f"{name}_low"]):
                ends = "[{:.4g}, {:.4g}]".format(
                    *(float(ds[f"{name}_{e}"]) for e in ("low", "high"))
                )
            rows.append([self._say(label), "n/a" if value != value else f"{value:.4g}", ends])
        return rows

    def _rate(self, name: str, *place: int, ends: bool = True) -> str:
        """Return a rate in per cent, with its interval and its flag."""
        ds = self.ds
        value = float(ds[name].values[place])
        flag = "*" if ds[f"{name}_flagged"].values[place] and value == value else ""
        text = _percent(value) + flag
        if ends and f"{name}_low" in ds:
            low, high = (float(ds[f"{name}_{end}"].values[place]) for end in ("low", "high"))
            if low == low:
                text += f" [{_percent(low)}, {_percent(high)}]"
        return text


def _percent(rate: float) -> str:
    """Return a rate in per cent: two decimals, or two digits below 0.1 %."""
    if rate != rate:
        return "n/a"
    return f"{100 * rate:.2g}" if 0 < rate < 0.001 else f"{100 * rate:.2f}"
