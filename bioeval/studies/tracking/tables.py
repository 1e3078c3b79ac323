"""Tables of tracking results: rates and counts of each sequence, with the total in the last row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base import counted
from bioeval.results import number, percent
from bioeval.views.tables import grid, indented, plain_table, warned

#: Heads of the columns, and the variables below them.
_RATES = {
    "MOTA": "mota",
    "MOTP": "motp",
    "IDF1": "idf1",
    "IDP": "idp",
    "IDR": "idr",
    "recall": "recall",
    "precision": "precision",
    "FAR": "far",
    "FP/frame": "fp_per_frame",
}
_HOTA = {
    "HOTA": "hota",
    "DetA": "deta",
    "AssA": "assa",
    "DetRe": "detre",
    "DetPr": "detpr",
    "AssRe": "assre",
    "AssPr": "asspr",
    "LocA": "loca",
}
_COUNTS = {
    "frames": "frames",
    "targets": "targets",
    "MT": "mt",
    "PT": "pt",
    "ML": "ml",
    "boxes": "truth_boxes",
    "FN": "fn",
    "FP": "fp",
    "IDSW": "idsw",
    "frag.": "fragmentations",
    "IDTP": "idtp",
}
_TARGETS = {
    "frames": "frames_present",
    "covered": "frames_covered",
    "coverage": "coverage",
    "IDSW": "target_switches",
    "frag.": "target_fragmentations",
    "state": "state",
}
#: Rates that are no proportions.
_PER_FRAME = ("far", "fp_per_frame")

_LEGEND = (
    "MOTP: mean overlap of the matches. FAR: FN + FP + IDSW per frame. HOTA and its parts: means "
    "over IoU thresholds of 0.05 to 0.95. MT, PT, ML: targets mostly tracked, partially tracked, "
    "mostly lost."
)

# A width that no table reaches: to measure the table itself.
_UNBOUNDED = 10_000


class TrackingTable:
    """A result of :func:`bioeval.tracking` that rich can print, with each target if `targets`."""

    def __init__(self, dataset: xr.Dataset, targets: bool = False):
        self.dataset = dataset
        self._targets = targets

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the header, rates and counts by sequence, the targets, and remarks."""

        def fits(table: Table) -> bool:
            unbounded = options.update(width=_UNBOUNDED)
            return console.measure(table, options=unbounded).maximum <= options.max_width

        yield grid(self._about())
        for columns in (_RATES, _HOTA, _COUNTS):
            yield Text("")
            rows = self._rows("sequence", columns, "sequence_")
            whole = [_cell(x, self.dataset[x].item()) for x in columns.values()]
            rows.append(("all" if rows else "", whole))
            yield from _table(columns, rows, fits, last_bold=len(rows) > 1)
        if self._targets:
            yield Text("")
            yield Text("Targets", style="bold")
            yield from _table(_TARGETS, self._rows("target", _TARGETS), fits)
        yield Text("")
        yield Text(_LEGEND, style="dim")
        yield from warned(str(self.dataset.attrs["warnings"]).splitlines())

    def _rows(
        self, dim: str, columns: dict[str, str], prefix: str = ""
    ) -> list[tuple[str, list[str]]]:
        """Return the name and the cells of each sequence or target; none without such names."""
        rows: list[tuple[str, list[str]]] = []
        if dim not in self.dataset:
            return rows
        for i, name in enumerate(self.dataset[dim].values.tolist()):
            cells = [_cell(x, self.dataset[prefix + x].values[i]) for x in columns.values()]
            rows.append((str(name), cells))
        return rows

    def _about(self) -> Iterator[tuple[str, str]]:
        """Yield the lines of the header: name and text."""
        ds, attrs = self.dataset, self.dataset.attrs
        targets = counted(int(ds["targets"]), "targets")
        yield "Truth", f"{targets}, boxes: {int(ds['truth_boxes']):,}"
        count = int(ds["identities"])
        identities = f"{count:,} identities" if count != 1 else "1 identity"
        yield "Result", f"{identities}, boxes: {int(ds['result_boxes']):,}"
        if int(attrs["cameras"]) > 1:
            yield "Cameras", f"{attrs['cameras']} with common identities"
        kept = {
            "last-known": "each target's last pairing is kept (last-known)",
            "previous-frame": "pairings of the previous frame are kept (previous-frame)",
        }[str(attrs["pairing"])]
        yield "Match", f"overlap (IoU) of {attrs['iou']:g} or more; {kept}"
        if attrs["mostly_tracked"] != "at-least":
            yield "MT", "covered for more than 80 % of the frames"


def _table(
    columns: dict[str, str],
    rows: list[tuple[str, list[str]]],
    fits: Callable[[Table], bool],
    last_bold: bool = False,
) -> Iterator[Any]:
    """Lay out a row for each name; if that does not fit, one number below another."""
    named = any(name for name, _ in rows)
    table = plain_table(["", *columns] if named else columns)
    if "state" in columns:
        table.columns[-1].justify = "left"
    for i, (name, cells) in enumerate(rows):
        style = "bold" if last_bold and i == len(rows) - 1 else ""
        table.add_row(*map(Text, [name, *cells] if named else cells), style=style)
    if fits(table):
        yield table
        return
    wide = max(map(len, columns))
    for _, cells in rows:
        wide = max(wide, *map(len, cells))
    for name, cells in rows:
        if name:
            yield Text(name, style="bold")
        yield indented(grid(zip(columns, (cell.rjust(wide) for cell in cells), strict=True)))


def _cell(name: str, value: Any) -> str:
    """Format a number: rates in per cent, counts with thousands separators."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if name in _PER_FRAME:
        return number(value, ".3f")
    return percent(float(value), ".1f")
