"""Documents in a terminal, in colour and as wide as it is; as plain text elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from bioeval.base.errors import without_controls, wrapped
from bioeval.base.messages import Message
from bioeval.document.blocks import (
    Block,
    Facts,
    Messages,
    Paragraph,
    Section,
    Table,
    in_brief,
    notes_of,
    supported,
    walk,
    with_notes,
)
from bioeval.document.text import Text
from bioeval.views.writers.columns import PrintedColumn, printed_columns, sharing_widths
from bioeval.views.writers.lines import Lines

#: Lines of a short view.
SCREEN = 40

#: Columns between those of a table.
_GAP = 2

#: Columns by which rows are set in.
_INDENT = 2

#: A column of text is not made narrower than this.
_LEAST_TEXT = 16

#: Narrower terminals have the names of facts above their texts.
_LEAST_FACTS = 32

_STYLES = {"": "", "note": "dim", "answer": "bold", "warning": "bold red"}


class _TerminalLines(Lines):
    """Lines of plain text; what stands out is between control characters that rich takes out."""

    def __init__(self, vocabulary: str, task: str, words: Callable[[str], str]):
        super().__init__(vocabulary, task)
        self._words = words

    def write(self, text: Text | None, rates: Sequence[float] = ()) -> str:
        """Return a text in the words of the surface."""
        return self._words(super().write(text, rates))

    def strong(self, text: str) -> str:
        """Return text between marks of bold letters."""
        return f"{_BOLD}{text}{_PLAIN}"


# The separators of ASCII: text of a user has them escaped.
_BOLD, _PLAIN = "\x1e", "\x1f"


#: Forms of a printed document other than text.
Form = Literal["latex", "latex document", "markdown"]


class TerminalDocument:
    """A section that rich can print, with the terms of a vocabulary.

    `words` returns a text with arguments as a surface has them, such as the options of a command.
    """

    def __init__(
        self,
        section: Section,
        vocabulary: str = "lecture",
        words: Callable[[str], str] = str,
        *,
        brief: bool = False,
    ):
        self.section, self._vocabulary, self._words = section, vocabulary, words
        self._brief = brief  # whether notes are left out that do not fit on a screen
        self._columns: dict[int, list[PrintedColumn]] = {}
        self._headed: dict[int, bool] = {}  # a short view does not repeat the headings
        self._lines: Lines = _TerminalLines(vocabulary, section.task, words)

    def in_brief(self) -> TerminalDocument:
        """Return the document for one screen."""
        short = in_brief(self.section)
        return TerminalDocument(short, self._vocabulary, self._words, brief=True)

    def supported(self) -> TerminalDocument:
        """Return the document without the numbers that the data do not support."""
        return TerminalDocument(supported(self.section), self._vocabulary, self._words)

    def html(self) -> str:
        """Return the document as HTML."""
        from bioeval.views.writers.html import as_html

        return as_html(self.section, self._vocabulary)

    def marked_up(self, form: Form) -> str:
        """Return the document as LaTeX or as Markdown."""
        if form == "latex":
            from bioeval.views.writers.latex import as_latex

            return as_latex(self.section, self._vocabulary)
        if form == "latex document":
            from bioeval.views.writers.latex import as_latex_document

            return as_latex_document(self.section, self._vocabulary)
        from bioeval.views.writers.markdown import as_markdown

        return as_markdown(self.section, self._vocabulary)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what rich prints of each block, with blank lines between those that need one."""
        places = [(place, block) for place, block in walk(self.section) if isinstance(block, Table)]
        printed = [printed_columns(x, self._lines.within(place)) for place, x in places]
        above: list[str] = []
        for (_, table), columns in zip(places, sharing_widths(printed), strict=True):
            self._columns[id(table)] = columns
            headings = [x.heading for x in columns]
            if columns:
                self._headed[id(table)] = not self._brief or headings != above
                above = headings
        section = self.section
        if self._brief:
            section = self._on_a_screen(console, options)
        yield from self._section(section, self._lines, options.max_width)

    def _on_a_screen(self, console: Console, options: ConsoleOptions) -> Section:
        """Return the section with as many of its notes as fit on a screen, and one at least."""

        def height(notes: Sequence[Message]) -> int:
            shown = self._section(with_notes(self.section, notes), self._lines, options.max_width)
            return len(console.render_lines(Group(*shown), options, pad=False))

        listed = notes_of(self.section)
        kept = listed[:1]
        for note in listed[1:]:
            if height([*kept, note]) <= SCREEN:
                kept.append(note)
        return with_notes(self.section, kept)

    def _section(self, section: Section, lines: Lines, width: int) -> Iterator[RenderableType]:
        lines = lines.within(section)
        title = lines.write(section.title)
        if title:
            yield _text(title, "bold")
        first, after_table, after_answer = not title, False, False
        for block in section.blocks:
            written = list(self._block(block, lines, width))
            if not written:
                continue
            is_answer = isinstance(block, Paragraph) and block.role == "answer"
            is_next = is_answer and after_answer
            if not first and (_stands_apart(block) or after_table) and not is_next:
                yield RichText("")
            yield from written
            first, after_table, after_answer = False, isinstance(block, Table), is_answer

    def _block(self, block: Block, lines: Lines, width: int) -> Iterator[RenderableType]:
        match block:
            case Paragraph():
                for line in wrapped(lines.write(block.text), width):  # a path stays whole
                    if line:
                        yield _text(line, _STYLES[block.role], whole=True)
            case Facts():
                yield from self._facts(block, lines, width)
            case Table():
                headed = self._headed.get(id(block), True)
                yield from _table(block, self._columns[id(block)], headed, lines, width)
            case Messages():
                yield from _messages(block, lines)
            case Section():
                yield from self._section(block, lines, width)

    def _facts(self, block: Facts, lines: Lines, width: int) -> Iterator[RenderableType]:
        rows = [(fact.name, text) for fact, text in lines.facts(block, self.section)]
        if not rows:
            return
        if width < _LEAST_FACTS:
            for name, text in rows:
                yield _text(name, "dim")
                yield _indented(_text(text))
            return
        grid = RichTable.grid(padding=(0, _GAP))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, text in rows:
            grid.add_row(_text(name), _text(text))
        yield grid


def as_text(section: Section, width: int, vocabulary: str = "lecture") -> str:
    """Return a document as plain text of a width."""
    return plain_text(TerminalDocument(section, vocabulary), width)


def plain_text(renderable: Any, width: int) -> str:
    """Return what rich prints as plain text."""
    stream = io.StringIO()
    options: dict[str, Any] = {"highlight": False, "emoji": False, "markup": False}
    Console(file=stream, width=width, color_system=None, **options).print(renderable, crop=False)
    text = without_controls(stream.getvalue())
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _stands_apart(block: Block) -> bool:
    """Whether there is a blank line before a block."""
    match block:
        case Table():
            return bool(block.title) or not block.details
        case Paragraph():
            return block.role in ("answer", "warning")
    return isinstance(block, Section | Messages | Facts)


def _text(text: str, style: str = "", whole: bool = False) -> RichText:
    """Return text for rich, bold between its marks; a `whole` line is not broken."""
    written = RichText("", style, no_wrap=whole, overflow="ignore" if whole else None)
    for i, part in enumerate(text.replace(_PLAIN, _BOLD).split(_BOLD)):
        written.append(part, "bold" if i % 2 else None)
    return written


def _plain_length(text: str) -> int:
    return cell_len(text.replace(_BOLD, "").replace(_PLAIN, ""))


def _indented(renderable: RenderableType) -> Padding:
    return Padding(renderable, (0, 0, 0, _INDENT))


def _messages(block: Messages, lines: Lines) -> Iterator[RenderableType]:
    groups = lines.sentences_about(block.messages)
    if block.alarm:
        for about, sentences in groups.items():
            whose = f" ({about})" if about else ""
            yield from (_text(f"Warning{whose}: {x}", "bold red") for x in sentences)
        return
    if groups:
        yield RichText("Warnings", style="bold yellow")
    for about, sentences in groups.items():
        if about:
            yield _indented(_text(about, "dim"))
        grid = RichTable.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for sentence in sentences:
            grid.add_row("-", _text(sentence))
        yield _indented(grid)


# ------------------------------------------------------------------------ tables


def _table(
    table: Table, all_columns: list[PrintedColumn], headed: bool, lines: Lines, width: int
) -> Iterator[RenderableType]:
    """Yield a table, without some of its columns where they do not fit, or in lines."""
    if not all_columns:
        return
    columns = _fitting(all_columns, width - _INDENT)
    if title := lines.write(table.title):
        yield _text(title, "bold")
    for line in filter(None, map(lines.write, table.details)):
        yield _indented(_text(line, "dim"))
    if columns is not None:
        yield _indented(_laid_out(columns, headed, width - _INDENT))
        shown = [column.column.name for column in columns]
        left_out = [x.heading or x.column.name for x in all_columns if x.column.name not in shown]
        if left_out:
            line = f"Not shown in this width: {', '.join(left_out)}"
            yield _indented(_text(line, "dim"))
    else:
        yield from _in_lines(all_columns, width)
    for line in filter(None, map(lines.write, table.remarks)):
        yield _indented(_text(line, "dim"))


def _fitting(columns: list[PrintedColumn], width: int) -> list[PrintedColumn] | None:
    """Return the columns that fit, those with the highest priority left out; None if none do."""
    while True:
        if sum(map(_least_width, columns)) + _GAP * (len(columns) - 1) <= width:
            return columns
        last = max((column.column.priority for column in columns), default=0)
        if last == 0:
            return None
        columns = [column for column in columns if column.column.priority < last]


def _least_width(column: PrintedColumn) -> int:
    """Return the width without which a number, or a word, would be cut."""
    texts = column.aligned()
    heading = max(map(cell_len, column.heading.split()), default=0)
    if column.numeric:
        return max([heading, *map(_plain_length, texts)])
    words = [word for text in texts for word in text.split()]
    longest = max(map(_plain_length, texts), default=0)
    return max([heading, min(_LEAST_TEXT, longest), *map(_plain_length, words)])


def _full_width(column: PrintedColumn) -> int:
    """Return the width of a column whose lines are not broken."""
    lines = [line for text in column.aligned() for line in text.split("\n")]
    return max([column.longest, *map(_plain_length, (column.heading, *lines))])


def _widths(columns: list[PrintedColumn], width: int) -> list[int]:
    """Return the widths of columns in a table that is no wider than `width`.

    Where texts and headings must be broken, the widest column is narrowed first.
    """
    least = list(map(_least_width, columns))
    widths = list(map(_full_width, columns))
    room = width - _GAP * (len(columns) - 1)
    while sum(widths) > room and widths != least:
        narrowed = [full if full > few else 0 for full, few in zip(widths, least, strict=True)]
        widths[narrowed.index(max(narrowed))] -= 1
    return widths


def _laid_out(columns: list[PrintedColumn], headed: bool, width: int) -> RichTable:
    """Return columns as a table without lines, numbers at the right and never broken.

    Headings above numbers are broken between words where there is no room for them in one line.
    """
    table = RichTable(
        box=None,
        pad_edge=False,
        padding=(0, _GAP, 0, 0),
        header_style="dim",
        show_header=headed and any(column.heading for column in columns),
    )
    cells = []
    for column, needed in zip(columns, _widths(columns, width), strict=True):
        heading, texts = column.heading, column.aligned()
        if column.numeric:  # filled up here: rich drops the blanks behind a text
            heading = "\n".join(line.rjust(needed) for line in wrapped(heading, needed))
            texts = [text.rjust(needed) for text in texts]
        table.add_column(heading, no_wrap=column.numeric, width=needed, overflow="fold")
        cells.append(texts)
    for row in zip(*cells, strict=True):
        table.add_row(*map(_text, row))
    return table


def _in_lines(columns: list[PrintedColumn], width: int) -> Iterator[RenderableType]:
    """Yield each row as its name, and below it each cell after its heading.

    Lines are not broken within a number, its unit or its interval.
    """
    first, *others = columns
    for i, name in enumerate(first.texts):
        if name:
            yield _indented(_text(name))
        cells = []
        for column in others:
            text = column.texts[i]
            if column.numbers[i] is not None:
                text = text.replace(" ", "\xa0")
            if text:
                cells.append(f"{column.heading} {text}".strip())
        for line in wrapped(", ".join(cells), max(width - 2 * _INDENT, 1)):
            yield _indented(_indented(_text(line.replace("\xa0", " "))))
