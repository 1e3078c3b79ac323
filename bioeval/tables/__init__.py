"""Results as a table for the terminal: values are picked from the datasets, never computed.

``rows`` picks them, ``numbers`` writes them, and :class:`ResultTable` lays them out. Each row says
what it is over: the attempts of each class and the subjects that made them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bioeval.tables import numbers
from bioeval.tables.rows import (
    CHOSEN,
    RANKS,
    Over,
    Row,
    Section,
    about,
    datasets,
    has_chosen,
    section,
    systems,
    title,
    warnings,
)

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CHOSEN", "RANKS", "ResultTable", "as_text", "datasets", "has_chosen", "warnings"]

_HEADS = ("", "value", "threshold", "genuine", "impostor", "subjects")
_NARROW = 3  # columns that stay where the rest does not fit
_GAPS = (2, 1)
_INDENT = 2


class ResultTable:
    """Results that rich can print.

    Where the terminal is too narrow, what the rows are over stands once above each section.

    Parameters
    ----------
    tree : xarray.DataTree or xarray.Dataset
        What an evaluation returned.

    Examples
    --------
    >>> import bioeval as be
    >>> from rich.console import Console
    >>> table = ResultTable(be.evaluate(be.simulate(20, 4)))
    >>> Console().print(table)  # doctest: +SKIP
    """

    def __init__(self, tree: xr.DataTree | xr.Dataset):
        self.datasets = dict(datasets(tree))
        self._several = len(systems(self.datasets)) > 1
        self.sections = [
            section(dataset, path, self._several) for path, dataset in self.datasets.items()
        ]
        rows = [row for part in self.sections for row in part.rows]
        fraction = max((numbers.fraction_digits(row) for row in rows), default=0)
        self._cells = [[_cells(row, fraction) for row in part.rows] for part in self.sections]
        columns = zip(*(cells for part in self._cells for cells in part), strict=True)
        widths = [max(map(len, column)) for column in columns] or [0] * len(_HEADS)
        self._widths = [max(len(h), w) for h, w in zip(_HEADS, widths, strict=True)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide, gap = self._layout(options.max_width)
        yield _grid(
            ((Text(name, style="dim"), Text(text)) for name, text in about(self.datasets)), 2
        )
        for part, cells in zip(self.sections, self._cells, strict=True):
            yield Text("")
            yield Text(part.title, style="bold")
            for line in (part.details, "" if wide else _in_words(part.rows)):
                if line:
                    yield _indented(Text(line, style="dim"))
            yield _indented(self._rows(part, cells, wide, gap))
            for note in part.notes:
                yield _indented(Text(note, style="dim"))
        if any(has_chosen(dataset) for dataset in self.datasets.values()):
            yield Text("")
            yield Text(CHOSEN[0].upper() + CHOSEN[1:] + ".", style="dim")
        yield from self._warnings()

    def _layout(self, width: int) -> tuple[bool, int]:
        """Return whether all columns fit, and the gap between them."""
        for gap in _GAPS:
            if _INDENT + sum(self._widths) + gap * (len(_HEADS) - 1) <= width:
                return True, gap
        return False, _GAPS[0]

    def _rows(self, part: Section, cells: list[tuple[str, ...]], wide: bool, gap: int) -> Table:
        """Lay out the rows of a section, the columns of all sections alike."""
        count = len(_HEADS) if wide else _NARROW
        table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
        for i in range(count):
            if i == 0:
                table.add_column("", overflow="fold", min_width=self._widths[0] if wide else None)
            else:
                # Filled up here: rich would drop the blanks behind a value.
                table.add_column(_HEADS[i].rjust(self._widths[i]), no_wrap=True)
        for row, (measure, value, *others) in zip(part.rows, cells, strict=True):
            style = "bold" if row.is_defined else "dim"
            rest = [cell.rjust(w) for cell, w in zip(others, self._widths[2:], strict=True)]
            table.add_row(
                measure, Text(value.rjust(self._widths[1]), style=style), *rest[: count - 2]
            )
        return table

    def _warnings(self) -> Iterator[Any]:
        """List the warnings under the tasks that gave them."""
        groups: dict[str, list[str]] = {}
        for text, paths in warnings(self.datasets).items():
            everywhere = len(paths) == len(self.datasets)
            titles = [title(self.datasets[path], path, self._several) for path in paths]
            groups.setdefault("" if everywhere else "; ".join(titles), []).append(text)
        if groups:
            yield Text("")
            yield Text("Warnings", style="bold yellow")
        for tasks in sorted(groups, key=bool):  # those of all tasks first
            if tasks:
                yield _indented(Text(tasks, style="dim"))
            yield _indented(_grid(((Text("-"), Text(text)) for text in groups[tasks]), 1))


def as_text(tree: xr.DataTree | xr.Dataset, width: int = 100) -> str:
    """Return the table as plain text, without colours."""
    return plain(ResultTable(tree), width)


def plain(renderable: Any, width: int) -> str:
    """Return anything that rich can print as plain text."""
    stream = io.StringIO()
    options: dict[str, Any] = {"highlight": False, "emoji": False, "markup": False}
    Console(file=stream, width=width, color_system=None, **options).print(renderable)
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _indented(renderable: Any) -> Padding:
    return Padding(renderable, (0, 0, 0, _INDENT))


def _grid(rows: Iterable[tuple[Any, Any]], gap: int) -> Table:
    """Lay out names and the texts that belong to them."""
    grid = Table.grid(padding=(0, gap))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _cells(row: Row, fraction: int) -> tuple[str, ...]:
    """Return a row as text, its value aligned at the point."""
    return (
        row.measure,
        numbers.value(row, fraction),
        numbers.threshold(row.threshold),
        numbers.count(row.over.genuine),
        numbers.count(row.over.impostor),
        numbers.count(row.over.subjects),
    )


def _in_words(rows: list[Row]) -> str:
    """Say in words what the rows of a section are over."""

    def largest(counts: Iterable[int | None]) -> int | None:
        return max((count for count in counts if count is not None), default=None)

    over = Over(
        largest(row.over.genuine for row in rows),
        largest(row.over.impostor for row in rows),
        largest(row.over.subjects for row in rows),
    )
    classes = {"genuine": over.genuine, "impostor": over.impostor}
    parts = [f"{n:,} {name}" for name, n in classes.items() if n is not None]
    who = "" if over.subjects is None else f", {over.subjects:,} subjects"
    return f"over {' and '.join(parts)} attempts{who}" if parts else ""
