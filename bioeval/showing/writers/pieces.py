"""A document as pieces in a row, which each writer sets in its own form: lines, lists, grids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from bioeval.showing.blocks import (
    Fact,
    Facts,
    Legend,
    Messages,
    Paragraph,
    Section,
    Table,
    Vocabulary,
    walk,
)
from bioeval.showing.cells import Quantity
from bioeval.showing.terms import names_in_full
from bioeval.showing.text import Text
from bioeval.showing.writers.lines import Lines
from bioeval.showing.writers.numbers import Printed, printed_column


class Line(NamedTuple):
    """A text and its role in the document; a `remark` belongs to the grid above or below it."""

    text: str
    role: Literal["title", "heading", "next heading", "", "note", "remark", "answer", "warning"]
    level: int = 0  # level of a title


class Pairs(NamedTuple):
    """Names with their texts."""

    pairs: list[tuple[str, str]]


class Points(NamedTuple):
    """Sentences of a list."""

    sentences: list[str]


class GridColumn(NamedTuple):
    """A heading and texts; those of numbers have their decimal points at the same place."""

    heading: str
    texts: list[str]
    is_numeric: bool
    is_attached: bool  # whether the column follows the column before it without a gap


class Grid(NamedTuple):
    """The columns of a table; the first ones name its rows."""

    columns: list[GridColumn]
    name_columns: int  # how many of them name the rows

    @property
    def has_headings(self) -> bool:
        return any(column.heading for column in self.columns)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        return zip(*(column.texts for column in self.columns), strict=True)


Piece = Line | Pairs | Points | Grid


def pieces_of(section: Section, cells: Lines, words: Lines) -> Iterator[Piece]:
    """Yield the pieces of a section that are not empty.

    `cells` writes the cells of tables, `words` all sentences.
    """
    facts = (x for _, block in walk(section) if isinstance(block, Facts) for x in block.facts)
    terms = ""
    for fact in facts:
        if isinstance(fact.text, Vocabulary):
            terms = _terms(section, words, fact.text.is_short)
    yield from _pieces(section, cells, words, terms, 0)


def _terms(section: Section, words: Lines, is_short: bool) -> str:
    # The lines know the terms of a section only after they have written it: it is written once
    # here, and the pieces are not used.
    lines = Lines(words.task)
    list(_pieces(section, lines, lines, "", 0))
    rates = names_in_full(lines.rates)
    if is_short:
        shorts: dict[str, list[str]] = {}  # by ISO's term
        for short, (_, term) in rates.items():
            shorts.setdefault(term, []).append(short)
        shorts.pop("", None)
        terms = zip(shorts, ["ISO: ", *[""] * len(shorts)], strict=False)
        return ", ".join(f"{' and '.join(shorts[x])} ({iso}{x})" for x, iso in terms)
    names = {x: f"{name} (ISO: {term})" if term else name for x, (name, term) in rates.items()}
    return "; ".join(f"{x}: {name}" for x, name in ({**names, **lines.names, **names}).items())


def _pieces(
    section: Section, cells: Lines, words: Lines, terms: str, level: int
) -> Iterator[Piece]:
    cells, words = cells.section_lines(section), words.section_lines(section)
    if title := words.write(section.title):
        yield Line(title, "title", level)
        level += 1
    for block in section.blocks:
        match block:
            case Paragraph():
                yield from _lines([block.text], block.role, words)
            case Facts():
                pairs = [
                    (words.literal(fact.name), words.write(_text_of(fact, terms)))
                    for fact in block.facts
                ]
                if pairs := [(name, text) for name, text in pairs if name and text]:
                    yield Pairs(pairs)
            case Legend() if words.has_legends and block.explanations:
                write = words.write
                yield Pairs([(write(x), write(y)) for x, y in block.explanations])
            case Messages():
                yield from _messages(block, words)
            case Section():
                yield from _pieces(block, cells, words, terms, level)
            case Table():
                grid = grid_of(block, cells)
                if grid.columns:
                    role = "next heading" if block.is_continued else "heading"
                    yield from _lines([block.title], role, words)
                    yield from _lines(block.details, "remark", words)
                    yield grid
                    yield from _lines(block.notes, "remark", words)


def _text_of(fact: Fact, terms: str) -> Text:
    return terms if isinstance(fact.text, Vocabulary) else fact.text


def _lines(texts: Sequence[Text], role: str, words: Lines) -> Iterator[Line]:
    for text in filter(None, map(words.write, texts)):
        yield Line(text, role)  # type: ignore[arg-type]


def _messages(block: Messages, words: Lines) -> Iterator[Piece]:
    groups = words.sentences_about(block.messages)
    if block.alarm:
        for about, sentences in groups.items():
            whose = f" ({about})" if about else ""
            yield from (Line(f"Warning{whose}: {x}", "warning") for x in sentences)
        return
    if groups:
        yield Line("Warnings", "heading")
    for about, sentences in groups.items():
        if about:
            yield Line(about, "remark")
        yield Points(sentences)


def grid_of(table: Table, lines: Lines) -> Grid:
    """Return the non-empty columns of a table; numbers of a column are rounded together."""
    columns: list[GridColumn] = []
    name_columns = 0
    for i, column in enumerate(table.columns):
        cells = [row[i] for row in table.rows]
        if i < table.names - 1:  # a name that several rows share stands in the first of them
            cells = [None if k and x == cells[k - 1] else x for k, x in enumerate(cells)]
        quantities = [x for x in cells if isinstance(x, Quantity)]
        texts = ["" if isinstance(x, Quantity) else lines.write(x) for x in cells]
        is_numeric = not any(texts)
        if is_numeric and not quantities:
            continue
        numbers = iter(printed_column(quantities))
        printed = [next(numbers) if isinstance(x, Quantity) else None for x in cells]
        if is_numeric:  # the decimal points are at one place
            texts = list(map(lines.number, aligned(printed)))
        else:
            pairs = zip(printed, texts, strict=True)
            texts = [
                text if number is None else lines.number(number.text) for number, text in pairs
            ]
        name_columns += i < table.names
        heading = lines.write(column.heading)
        columns.append(GridColumn(heading, texts, is_numeric, column.is_attached))
    return Grid(columns, name_columns if len(table.rows) > 1 else 0)


def aligned(numbers: Sequence[Printed | None]) -> list[str]:
    """Return numbers as texts of one width with their decimal points at the same place."""
    parts = [("", "", "") if number is None else number.parts for number in numbers]
    head, tail, limits = (max(map(len, each)) for each in zip(*parts, strict=True))
    return [a.rjust(head) + b.ljust(tail) + c.ljust(limits) for a, b, c in parts]
