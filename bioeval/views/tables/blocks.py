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
        for block in self.blocks:
            match block:
                case Title():
                    yield Text(self._translate(block.text), style="bold")
                case Sentence():
                    yield Text(self._text(block.text))
                case Note():
                    if block.exact:
                        said = block.text
                    else:
                        said = self._translate(block.text)
                    note = Text(said, style="dim")
                    yield indented(note) if block.indented else note
                case FactList():
                    rows = [(name, self._text(text, False)) for name, text in block.rows]
                    table = grid((name, text) for name, text in rows if text)
                    yield indented(table) if block.indented else table
                case DataHeader():
                    yield indented(grid(about(block.found)))
                case Intervals():
                    for line in intervals(block.found):
                        text = line.replace("In brackets", block.where)
                        yield Text(f"{text[:-1]}{block.more}.", style="dim")
                case Table():
                    yield from self._table(block, options.max_width)
                case Warnings():
                    yield from warned(self._warnings(block))

    def __str__(self) -> str:
        lines: list[str] = []
        for block in self.blocks:
            match block:
                case Sentence():
                    lines += wrapped(self._text(block.text))
                case Table():
                    lines += _lines(*self._said(block), block.widths)
                case Intervals():
                    each = [ds.attrs for ds in block.found.values()]
                    lines += [
                        f"intervals: {interval_method(x)}" for x in each if "interval_method" in x
                    ]
                case Warnings():
                    listed: list[str] = []
                    for warning in self._warnings(block):
                        listed += wrapped(f"  - {warning}", hang=4)
                    if listed:
                        lines += ["", "Warnings", *listed]
                case _:
                    raise TypeError(f"{type(block).__name__} has no plain lines")
        return "\n".join(lines) + "\n"

    def _text(self, text: str | Terms, said: bool = True) -> str:
        if isinstance(text, str):
            if said:
                return self._translate(text)
            return text
        if text.rates is None:
            return dictionary(text.found.values())
        return term_translator(next(iter(text.found.values()))).others(text.rates)

    def _warnings(self, block: Warnings) -> Iterator[str]:
        datasets, reword = block.found, self._reword if block.reworded else str
        for line, who in warnings(datasets).items():
            if len(who) == len(datasets):
                text = line
            else:
                text = f"{', '.join(who)}: {line}"
            yield self._translate(reword(text))

    def _said(self, table: Table) -> tuple[list[str], list[list[str | None]]]:
        """Return headings and rows in the terms of the view."""
        heads, rows = list(table.heads), [list(row) for row in table.rows]
        if table.said == "heads":
            heads = [self._translate(head) for head in heads]
        elif table.said == "labels":
            rows = [[self._translate(str(first)), *cells] for first, *cells in rows]
        return heads, rows

    def _table(self, block: Table, width: int) -> Iterator[Any]:
        """Yield a table, or lines of names and cells where it is too wide."""
        heads, rows = self._said(block)
        columns = zip(heads, *rows, strict=True)
        widths = [max(len(x or "") for x in column) for column in columns]
        if not block.folds or sum(widths) + _GAP * len(widths) <= width:
            table = plain_table(heads, _GAP)
            for i, row in enumerate(rows, 1):
                dim = ""
                if block.dim_last and i == len(rows):
                    dim = "dim"
                table.add_row(*(Text(cell or "", dim) for cell in row))
            yield indented(table) if block.indented else table
            return
        for first, *cells in rows:
            yield Text(first or "")
            pairs = zip(heads[1:], cells, strict=True)
            yield indented(Text(", ".join(f"{x} {y}" for x, y in pairs if y is not None)))


def _lines(
    heads: Sequence[str], rows: Iterable[Iterable[str | None]], widths: Sequence[int]
) -> list[str]:
    """Return a table as lines, or as names and cells where its columns are too wide.

    Without `widths`, columns are as wide as their cells; with them, no cell touches its neighbour.
    """
    texts = [[cell or "" for cell in row] for row in (heads, *rows)]
    widest = [max(map(len, column)) for column in zip(*texts, strict=True)]
    first = widest[0]
    fitting = [-first, *(_GAP + width for width in widest[1:])]
    left, *right = widths or fitting
    widened = [
        left if abs(left) >= first else fitting[0],
        *(max(given, least) for given, least in zip(right, fitting[1:], strict=True)),
    ]
    if sum(map(abs, widened)) <= _WIDTH:
        widths = widened
    else:
        widths = fitting
    if sum(map(abs, widths)) > _WIDTH:
        folded = []
        for name, *cells in texts[1:]:
            pairs = zip(heads[1:], cells, strict=True)
            said = ", ".join(f"{head.strip()} {cell}" for head, cell in pairs if cell)
            folded += [f"{heads[0].strip()} {name.strip()}".strip(), *wrapped(f"    {said}")]
        return folded
    return [
        "".join(x.rjust(w) if w >= 0 else x.ljust(-w) for x, w in zip(row, widths, strict=True))
        for row in texts[not any(heads) :]
    ]
