"""The table of GOM: a line for each system, with the columns of its paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import Naming, counted, renamed
from bioeval.base.scalars import CMC, GOM_POINTS, QUERY_MEANS, Scalar
from bioeval.results.words import excluded_by_system
from bioeval.views.tables.layout import indented, plain_table, warned
from bioeval.views.tables.remarks import intervals, warnings
from bioeval.views.tables.sections import section
from bioeval.views.tables.tasks import value_of

_COLUMNS = ("mean_ap", "max_mvp", "max_mrep", "tau_max", "mrep_area", "mfr_area")

_SCALARS = {scalar.name: scalar for scalar in (*GOM_POINTS, *QUERY_MEANS)}

_HEADS = ("", CMC.label.format(rank=1), *(_SCALARS[name].label for name in _COLUMNS))

_GAP = 2


class GomTable:
    """Results of :func:`bioeval.gom` by the name of the system, for rich to print.

    Parameters
    ----------
    found : mapping of str to Dataset
    naming : callable
        Writes an argument that a warning names as the reader gives it.
    """

    def __init__(self, found: Mapping[str, xr.Dataset], naming: Naming):
        self.found, self._naming = dict(found), naming

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("GOM", style="bold")
        for line in dict.fromkeys(self._details()):
            yield indented(Text(line, style="dim"))
        if text := excluded_by_system({name: ds.attrs for name, ds in self.found.items()}):
            yield indented(Text(f"Excluded: {text}", style="dim"))
        yield Text("")
        rows = [row for name, dataset in self.found.items() for row in _rows(name, dataset)]
        widths = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]
        if sum(widths) + _GAP * len(widths) <= options.max_width:
            table = plain_table(_HEADS, _GAP)
            for row in rows:
                table.add_row(*map(Text, row))
            yield table
        else:
            for first, *cells in rows:
                yield Text(first)
                pairs = zip(_HEADS[1:], cells, strict=True)
                said = ", ".join(f"{head} {cell}" for head, cell in pairs if cell)
                yield indented(Text(said))
        yield Text("")
        yield Text("Per cent, but tau_max; MREP, MFR: areas under mReP and mFR.", style="dim")
        for line in intervals(self.found):
            text = line.replace("In brackets", "From, to")
            yield Text(f"{text[:-1]}, of each by itself.", style="dim")
        yield from warned(
            renamed(
                line if len(who) == len(self.found) else f"{', '.join(who)}: {line}", self._naming
            )
            for line, who in warnings(self.found).items()
        )

    def _details(self) -> Iterator[str]:
        """Return the options, and the numbers of queries, of systems that have the same once."""
        for name, dataset in self.found.items():
            part = section(dataset)
            yield part.details
            ranked, absent, skipped = counts = _queries(dataset)
            said = (
                f"mReP over {counted(ranked, 'queries')}, mFR over {absent:,}; {skipped:,} skipped"
            )
            alike = all(_queries(other) == counts for other in self.found.values())
            yield said if alike else f"{name}: {said}"


def _queries(dataset: xr.Dataset) -> tuple[int, ...]:
    return tuple(int(dataset[name]) for name in ("queries", "open_queries", "skipped"))


def _rows(name: str, dataset: xr.Dataset) -> Iterator[tuple[str, ...]]:
    """Return the line of a system, and those of its confidence limits."""
    ends = [("", name)]
    if "interval_method" in dataset.attrs:
        ends += [("_low", "  from"), ("_high", "  to")]
    for end, head in ends:
        cmc = dataset.get(f"cmc{end}")
        first = float("nan") if cmc is None else float(cmc.sel(rank=1))
        cells = [_written(first, CMC, bool(end))]
        for column in _COLUMNS:
            value: Any = value_of(dataset, column + end)
            value = float("nan") if value is None else value
            cells.append(_written(value, _SCALARS[column], bool(end)))
        yield head, *cells


def _written(value: float, scalar: Scalar, limit: bool) -> str:
    """Return a value as text; nothing for a limit that there is not."""
    return "" if limit and value != value else scalar.written(value, 0.0)
