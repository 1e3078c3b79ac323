"""Documents as Markdown: tables with pipes, text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from bioeval.document.blocks import Block, Facts, Messages, Paragraph, Section, Table
from bioeval.views.writers.columns import PrintedColumn, printed_columns
from bioeval.views.writers.lines import Lines, Naming, python_naming

# What Markdown would read as its marks, within a line and at its start.
_MARKS = re.compile(r"[\\`*_|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(")
_LINE_START = re.compile(r"^(?=[#>+=-])|^(\d+)(?=[.)] )")


class MarkdownLines(Lines):
    """Lines of Markdown."""

    line_break = "; "

    def literal(self, text: str) -> str:
        r"""Return text with the characters of Markdown escaped.

        Examples
        --------
        >>> print(MarkdownLines().literal("a_1 | <b> 5 %"))
        a\_1 \| \<b> 5 %
        """
        text = " ".join(text.split("\n"))
        return _MARKS.sub(lambda mark: "&amp;" if mark[0] == "&" else f"\\{mark[0]}", text)

    def strong(self, text: str) -> str:
        """Return bold text."""
        return f"**{text}**"


def as_markdown(
    section: Section, vocabulary: str = "lecture", naming: Naming = python_naming
) -> str:
    """Return a document as Markdown."""
    lines = MarkdownLines(vocabulary, section.task, naming)
    return "\n\n".join(_section(section, lines, section)) + "\n"


def _section(section: Section, lines: Lines, whole: Section) -> Iterator[str]:
    lines = lines.within(section)
    if title := lines.write(section.title):
        yield f"**{title}**"
    for block in section.blocks:
        yield from _block(block, lines, whole)


def _block(block: Block, lines: Lines, whole: Section) -> Iterator[str]:
    match block:
        case Paragraph():
            if text := lines.write(block.text):
                strong = block.role in ("answer", "warning")
                yield f"**{text}**" if strong else _LINE_START.sub(r"\1\\", text)
        case Facts():
            facts = lines.facts(block, whole)
            if facts:
                yield "\n".join(f"- {lines.literal(fact.name)}: {x}" for fact, x in facts)
        case Table():
            yield from _table(block, lines)
        case Messages():
            groups = lines.sentences_about(block.messages)
            if groups:
                yield "**Warnings**"
            for about, sentences in groups.items():
                if about:
                    yield about
                yield "\n".join(f"- {text}" for text in sentences)
        case Section():
            yield from _section(block, lines, whole)


def _table(table: Table, lines: Lines) -> Iterator[str]:
    columns = printed_columns(table, lines)
    if not columns:
        return
    if title := lines.write(table.title):
        yield f"**{title}**"
    yield from filter(None, map(lines.write, table.details))
    yield "\n".join(_pipes(columns))
    yield from filter(None, map(lines.write, table.notes))


def _pipes(columns: list[PrintedColumn]) -> Iterator[str]:
    """Yield the lines of a table; the first row is the heading."""
    padded = []
    for column in columns:
        texts = [column.heading, *column.texts]
        width = max(2, *map(cell_len, texts))
        blanks = [" " * (width - cell_len(text)) for text in texts]
        if column.numeric:
            cells = [blank + text for blank, text in zip(blanks, texts, strict=True)]
            rule = f"{'-' * (width - 1)}:"
        else:
            cells = [text + blank for blank, text in zip(blanks, texts, strict=True)]
            rule = f":{'-' * (width - 1)}"
        padded.append([cells[0], rule, *cells[1:]])
    for row in zip(*padded, strict=True):
        yield f"| {' | '.join(row)} |"
