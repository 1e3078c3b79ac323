"""A document as a row of pieces, for the forms of a paper: LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from bioeval.document.blocks import Facts, Messages, Paragraph, Section, Table
from bioeval.views.writers.columns import printed_columns
from bioeval.views.writers.lines import Lines

#: What a piece is: text, as a title and a strong one, or names with texts, lines below what they
#: are about, and the columns of a table.
Kind = Literal["title", "strong", "text", "facts", "messages", "table"]


def pieces_of(
    section: Section, cells: Lines, words: Lines, whole: Section | None = None, level: int = 0
) -> Iterator[tuple[Kind, Any, int]]:
    """Yield the pieces of a section that are not empty, each with the level of its title.

    `cells` writes the cells of tables, `words` all sentences.
    """
    whole, cells, words = whole or section, cells.within(section), words.within(section)
    if title := words.write(section.title):
        yield "title", title, level
        level += 1
    for block in section.blocks:
        match block:
            case Paragraph():
                strong = block.role in ("answer", "warning")
                if text := words.write(block.text):
                    yield "strong" if strong else "text", text, level
            case Facts():
                if facts := [
                    (words.literal(x.name), text) for x, text in words.facts(block, whole)
                ]:
                    yield "facts", facts, level
            case Messages():
                if groups := words.sentences_about(block.messages):
                    yield "messages", groups, level
            case Section():
                yield from pieces_of(block, cells, words, whole, level)
            case Table():
                if not (columns := printed_columns(block, cells)):
                    continue
                if title := words.write(block.title):
                    yield "strong", title, level
                for text in filter(None, map(words.write, block.details)):
                    yield "text", text, level
                yield "table", columns, level
                for text in filter(None, map(words.write, block.remarks)):
                    yield "text", text, level
