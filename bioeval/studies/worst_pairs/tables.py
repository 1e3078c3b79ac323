"""The worst pairs, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base import printable
from bioeval.results import threshold_text
from bioeval.views.tables import indented

_TITLES = {"impostor": "Nearest impostor pairs", "genuine": "Farthest genuine pairs"}


class WorstPairsTable:
    """The result of :func:`bioeval.worst_pairs` that rich can print."""

    def __init__(self, pairs: xr.Dataset):
        self.pairs = pairs

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the tables of both kinds of pairs, then the suspect templates, and remarks."""
        for comparison, title in _TITLES.items():
            of_kind = self.pairs.isel(pair=self.pairs["comparison"].values == comparison)
            yield Text("")
            yield Text(title, style="bold")
            yield indented(_table(of_kind) if of_kind.sizes["pair"] else Text("none", "dim"))
        if self.pairs.sizes.get("suspect"):
            yield Text("")
            yield Text("Templates nearer to another subject than to their own", style="bold")
            yield indented(_suspects(self.pairs))
        yield from self._remarks()

    def _remarks(self) -> Iterator[Any]:
        yield Text("")
        yield Text(
            f"Row and column are positions in the matrix, from 0; {self.pairs.attrs['pairs']}.",
            "dim",
        )
        errors = int(self.pairs["label_error"].sum())
        if errors:
            yield Text(f"Labels?: {self.pairs.attrs['label_error_rule']}.", "yellow")


def _listing(numbers: Iterable[str], texts: Iterable[str]) -> Table:
    """Return a table with columns of numbers, then columns of texts that wrap."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in numbers:
        table.add_column(head, justify="right", no_wrap=True)
    for head in texts:
        table.add_column(head, overflow="fold")
    return table


def _rows(pairs: xr.Dataset, dim: str) -> Iterator[dict[str, Any]]:
    columns = {str(k): x.values for k, x in pairs.data_vars.items() if x.dims == (dim,)}
    for i in range(pairs.sizes[dim]):
        yield {name: values[i] for name, values in columns.items()}


def _table(pairs: xr.Dataset) -> Table:
    """Return the pairs, the worst first."""
    table = _listing(("score", "row", "column"), ("probe", "gallery"))
    table.add_column("")
    for pair in _rows(pairs, "pair"):
        table.add_row(
            threshold_text(float(pair["score"])),
            str(pair["row"]),
            str(pair["column"]),
            Text(_template(pair, "probe")),
            Text(_template(pair, "gallery")),
            Text("labels?" if pair["label_error"] else "", "bold yellow"),
        )
    return table


def _suspects(pairs: xr.Dataset) -> Table:
    table = _listing(("row",), ("label", "nearest label"))
    for suspect in _rows(pairs, "suspect"):
        label = str(suspect["suspect_labels"])
        nearest = str(suspect["nearest_labels"])
        template = _template({**suspect, "suspect_label": label}, "suspect")
        table.add_row(str(suspect["suspect_templates"]), Text(template), Text(printable(nearest)))
    return table


def _template(pair: dict[str, Any], side: str) -> str:
    """Return the label of a template, with its metadata behind."""
    start = f"{side}_meta_"
    meta = [f"{k.removeprefix(start)} {v}" for k, v in pair.items() if k.startswith(start)]
    label = str(pair[f"{side}_label"])
    if meta:
        label += f" ({', '.join(meta)})"
    return printable(label)
