"""Blocks of a study as a table, by rich or as plain lines of a fixed width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from bioeval.base.errors import wrapped
from bioeval.results.blocks import (
    Block,
    DataHeader,
    FactList,
    Intervals,
    Note,
    Sentence,
    Table,
    Terms,
    Title,
    Warnings,
)
from bioeval.views.tables.layout import grid, indented, plain_table, warned
from bioeval.views.tables.result_table import about, intervals, warnings
from bioeval.views.terms import TermTranslator, dictionary, interval_method, term_translator

_GAP = 2  # columns between those of a table
_WIDTH = 80  # of plain lines, as of `wrapped`


class StudyReport:
    """Blocks that rich can print; rates in words of `translate`, arguments in those of `reword`.

    ``str(report)`` is plain lines; with `lines` they are its text in a terminal, too.
    """

    def __init__(
        self,
        blocks: Iterable[Block],
        translate: TermTranslator,
        reword: Callable[[str], str],
        lines: bool = False,
    ):
        self.blocks, self._translate, self._reword = list(blocks), translate, reword
        self.lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what rich prints of each block."""
        for block in self.blocks:
            match block:
                case Title():
                    yield Text(self._translate(block.text), style="bold")
                case Sentence():
                    yield Text(self._text(block.text))
                case Note():
                    text = block.text
                    if not block.exact:
                        text = self._translate(text)
                    yield _placed(Text(text, style="dim"), block)
                case FactList():
                    rows = []
                    for name, fact in block.rows:
                        if text := self._fact(fact):
                            rows.append((name, text))
                    yield _placed(grid(rows), block)
                case DataHeader():
                    yield indented(grid(about(block.results)))
                case Intervals():
                    for line in intervals(block.results, block.where, block.more):
                        yield Text(line, style="dim")
                case Table():
                    yield from self._table(block, options.max_width)
                case Warnings():
                    yield from warned(self._warnings(block))

    def __str__(self) -> str:
        """Return the blocks as plain lines."""
        lines = []
        for block in self.blocks:
            match block:
                case Sentence():
                    lines += wrapped(self._text(block.text))
                case Table():
                    heads, rows = self._said(block)
                    lines += _lines(heads, rows, block.widths)
                case Intervals():
                    for dataset in block.results.values():
                        if "interval_method" in dataset.attrs:
                            lines.append(f"intervals: {interval_method(dataset.attrs)}")
                case Warnings():
                    listed = []
                    for warning in self._warnings(block):
                        listed += wrapped(f"  - {warning}", hang=4)
                    if listed:
                        lines += ["", "Warnings", *listed]
                case _:
                    raise TypeError(f"{type(block).__name__} has no plain lines")
        return "\n".join(lines) + "\n"

    def _text(self, text: str | Terms) -> str:
        """Return a text in the terms of the view."""
        return self._translate(text) if isinstance(text, str) else self._fact(text)

    def _fact(self, text: str | Terms) -> str:
        """Return a text as it is, or the terms of rates."""
        if isinstance(text, str):
            return text
        if text.rates is None:
            return dictionary(text.results.values())
        return term_translator(next(iter(text.results.values()))).others(text.rates)

    def _warnings(self, block: Warnings) -> Iterator[str]:
        """Yield each warning, after the names of its systems unless it is of all."""
        for text, names in warnings(block.results).items():
            if len(names) < len(block.results):
                text = f"{', '.join(names)}: {text}"
            if block.reworded:
                text = self._reword(text)
            yield self._translate(text)

    def _said(self, table: Table) -> tuple[list[str], list[list[str]]]:
        """Return headings and rows in the terms of the view; cells that are None are empty."""
        heads, rows = list(table.heads), []
        if table.reworded == "heads":
            heads = list(map(self._translate, heads))
        for given in table.rows:
            row = [cell or "" for cell in given]
            if table.reworded == "labels":
                row[0] = self._translate(row[0])
            rows.append(row)
        return heads, rows

    def _table(self, block: Table, width: int) -> Iterator[Any]:
        """Yield a table, or lines of names and cells where it is too wide."""
        heads, rows = self._said(block)
        widths = _widths(heads, rows)
        if not block.folds or sum(widths) + _GAP * len(widths) <= width:
            table = plain_table(heads, _GAP)
            for i, row in enumerate(rows, 1):
                style = "dim" if block.dim_last and i == len(rows) else ""
                table.add_row(*(Text(cell, style) for cell in row))
            yield _placed(table, block)
            return
        for given, (first, *_) in zip(block.rows, rows, strict=True):
            yield Text(first)
            cells = zip(heads[1:], given[1:], strict=True)
            yield indented(Text(", ".join(f"{x} {y}" for x, y in cells if y is not None)))


def _placed(item: Any, block: Note | FactList | Table) -> Any:
    """Return what is shown of a block at its place."""
    return indented(item) if block.indented else item


def _widths(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    """Return the number of letters of the longest cell of each column."""
    return [max(map(len, column)) for column in zip(heads, *rows, strict=True)]


def _lines(heads: list[str], rows: list[list[str]], given: Sequence[int]) -> list[str]:
    """Return a table as lines, or as names and cells where its columns are too wide.

    Without widths `given`, columns are as wide as their cells; with them, no cell touches its
    neighbour.
    """
    first, *others = _widths(heads, rows)
    fitting = [-first]
    fitting += [_GAP + width for width in others]
    widths = list(map(max, given or fitting, fitting))
    if given and abs(given[0]) >= first:
        widths[0] = given[0]
    else:
        widths[0] = -first
    if sum(map(abs, widths)) > _WIDTH:
        widths = fitting
    lines = []
    if sum(map(abs, widths)) > _WIDTH:
        for name, *cells in rows:
            pairs = zip(heads[1:], cells, strict=True)
            text = ", ".join(f"{head.strip()} {cell}" for head, cell in pairs if cell)
            lines.append(f"{heads[0].strip()} {name.strip()}".strip())
            lines += wrapped(f"    {text}")
        return lines
    if any(heads):
        rows = [heads, *rows]
    sides = ["<" if width < 0 else ">" for width in widths]
    for row in rows:
        padded = zip(row, sides, widths, strict=True)
        lines.append("".join(f"{cell:{side}{abs(width)}}" for cell, side, width in padded))
    return lines
