"""Documents in a terminal, in colour and as wide as it is; as plain text elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from bioeval.base.errors import without_controls
from bioeval.showing.markup import as_html, as_latex, as_markdown
from bioeval.showing.numbers import Lines
from bioeval.showing.pieces import Grid, GridColumn, Line, Pairs, Piece, Points, pieces_of
from bioeval.showing.text import Section, Text

#: Blanks between two columns of a table.
_GAP = 2

#: Blanks before a table, a list, or a remark.
_INDENT = 2

#: A column of texts is never broken to fewer letters than a quarter of the width of the terminal,
#: or, if the quarter is outside of these limits, than the nearer limit. Numbers are never broken.
_NARROWEST_TEXTS = (12, 24)

#: Options of a console of rich that prints text as it is, without a search for marks.
AS_IT_IS: dict[str, Any] = {"highlight": False, "emoji": False, "markup": False}

_STYLES = {
    "title": "bold",
    "heading": "bold",
    "next heading": "bold",
    "answer": "bold",
    "warning": "bold red",
    "": "",
    "note": "dim",
    "remark": "dim",
}


class _TerminalLines(Lines):
    """Lines of plain text in the words of a surface."""

    has_legends = True

    def __init__(self, task: str, words: Callable[[str], str]):
        super().__init__(task)
        self._words = words

    def literal(self, text: str) -> str:
        """Return text that controls no terminal: styles are rich's own, the rest is escaped."""
        return without_controls(text)

    def write(self, text: Text | None, rates: Sequence[float] = ()) -> str:
        written = super().write(text, rates)
        return self._words(written) if "`" in written else written


#: Forms of a printed document other than text.
Form = Literal["latex", "markdown"]


class TerminalDocument:
    """A section that rich can print.

    `words` returns a text with arguments as a surface has them, such as the options of a command.
    """

    def __init__(self, section: Section, words: Callable[[str], str] = str):
        self.section, self._words = section, words

    def text(self, width: int) -> str:
        stream = io.StringIO()
        console = Console(
            file=stream, width=width, color_system=None, force_jupyter=False, **AS_IT_IS
        )
        console.print(self, crop=False)
        return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())

    def html(self) -> str:
        return as_html(self.section)

    def marked_up(self, form: Form) -> str:
        return as_latex(self.section) if form == "latex" else as_markdown(self.section)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the renderables of all pieces, with blank lines between pieces that stand apart."""
        lines = _TerminalLines(self.section.task, self._words)
        above: Piece | None = None
        for piece in pieces_of(self.section, lines, lines):
            if above is not None and _stands_apart(piece, above):
                yield RichText("")
            for renderable, width in _printed(piece, options.max_width):
                yield from console.render(renderable, options.update(width=width))
            above = piece


def _stands_apart(piece: Piece, above: Piece) -> bool:
    match piece:
        case Line(role="remark" | "next heading") | Points():
            return False
        case Line(role="" | "note"):
            return not isinstance(above, Line) or above.role == "remark"
        case Line(role="answer" | "warning"):
            return not isinstance(above, Line) or piece.role != above.role
        case Grid():
            return not isinstance(above, Line)
    return True


def _printed(piece: Piece, width: int) -> Iterator[tuple[RenderableType, int]]:
    """Yield renderables of a piece with their widths: `width`, or more for a wide table."""
    match piece:
        case Line(role="remark"):
            yield _indented(RichText(piece.text, "dim")), width
        case Line():
            yield RichText(piece.text, _STYLES[piece.role]), width
        case Pairs():
            yield _pairs(piece.pairs, _GAP), width
        case Points():
            yield _indented(_pairs([("-", x) for x in piece.sentences], 1)), width
        case Grid():
            for columns in _parts(piece, width - _INDENT):
                widths = _widths(columns, width - _INDENT)
                table = _rich_table(columns, widths, piece.has_headings)
                # Rich would cut numbers that do not fit; a terminal breaks such lines.
                yield _indented(table), max(width, _INDENT + _width_of_table(widths))


def _rich_table(
    columns: Sequence[GridColumn], widths: Sequence[int], has_headings: bool
) -> RichTable:
    """Return columns as a table without lines."""
    table = RichTable(
        box=None,
        pad_edge=False,
        padding=(0, _GAP, 0, 0),
        header_style="dim",
        show_header=has_headings,
    )
    texts_of_columns: list[list[str]] = []
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["right", "left"] = "right" if column.is_numeric else "left"
        table.add_column(
            RichText(column.heading, justify=justify, no_wrap=False),
            no_wrap=column.is_numeric,
            width=width,
            overflow="fold",
        )
        texts = list(column.texts)
        if column.is_numeric:
            # Numbers are filled up here: rich drops the blanks behind a text at the right.
            texts = [text.rjust(width) for text in texts]
        texts_of_columns.append(texts)
    for row in zip(*texts_of_columns, strict=True):
        table.add_row(*map(RichText, row))
    return table


def _indented(renderable: RenderableType) -> Padding:
    return Padding(renderable, (0, 0, 0, _INDENT))


def _pairs(pairs: Sequence[tuple[str, str]], gap: int) -> RichTable:
    grid = RichTable.grid(padding=(0, gap))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for name, text in pairs:
        grid.add_row(RichText(name), RichText(text))
    return grid


def _parts(grid: Grid, width: int) -> list[list[GridColumn]]:
    """Return the columns in parts that fit a width, each part behind the names of the rows."""
    names = grid.columns[: grid.name_columns]
    columns = grid.columns[grid.name_columns :]

    def narrowest(columns: Sequence[GridColumn]) -> int:
        return _width_of_table([_narrowest_width_of(column, width) for column in columns])

    parts: list[list[GridColumn]] = [[]]
    for i, column in enumerate(columns):
        attached = list(takewhile(lambda x: x.is_attached, columns[i + 1 :]))
        if narrowest([*names, column, *attached]) > width:
            attached = []  # too wide for one line: the threshold goes below its number
        if narrowest([*names, *parts[-1], column, *attached]) > width and parts[-1]:
            parts.append([])
        parts[-1].append(column)
    if len(names) != 1:  # a row with several names may stand for the rows below it
        return [[*names, *part] for part in parts]
    with_values = []
    for part in parts:
        cells = zip(*(column.texts for column in part), strict=True)
        rows = [i for i, row in enumerate(cells) if any(x.strip() for x in row)]
        with_names = [*names, *part]
        with_values.append([x._replace(texts=[x.texts[i] for i in rows]) for x in with_names])
    return with_values


def _width_of_table(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _narrowest_width_of(column: GridColumn, width: int) -> int:
    width_of_texts = max(map(cell_len, column.texts), default=0)
    if not column.is_numeric:
        least, most = _NARROWEST_TEXTS
        width_of_texts = min(width_of_texts, max(least, min(most, width // 4)))
    return max([width_of_texts, *map(cell_len, column.heading.split())])


def _widths(columns: Sequence[GridColumn], width: int) -> list[int]:
    """Return the widths of columns; headings, then texts, are broken until a table fits.

    Letters are taken from the widest column. The table is wider than `width` if its numbers do not
    fit.
    """
    widths = [max(map(cell_len, (column.heading, *column.texts))) for column in columns]
    with_broken_headings = [
        max(map(cell_len, (*column.heading.split(), *column.texts))) for column in columns
    ]
    for least in (with_broken_headings, [_narrowest_width_of(x, width) for x in columns]):
        while _width_of_table(widths) > width:
            breakable = [i for i, limit in enumerate(least) if widths[i] > limit]
            if not breakable:
                break
            widths[max(breakable, key=widths.__getitem__)] -= 1
    return widths
