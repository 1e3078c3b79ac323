"""A document as pieces in a row: lines, lists, and tables of texts.

:func:`pieces_of` walks through the tree of sections, and writes each text by :class:`Lines` of a
form. Writers of a form put the pieces together: a terminal (:mod:`bioeval.showing.terminal`), or
LaTeX, Markdown and HTML (:mod:`bioeval.showing.markup`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from bioeval.showing.numbers import Lines, Printed, printed_column
from bioeval.showing.text import (
    Facts,
    Legend,
    Messages,
    Paragraph,
    Quantity,
    Section,
    Table,
    Text,
    Vocabulary,
    names_in_full,
)


class Line(NamedTuple):
    """A text and its role in the document; a `remark` belongs to the grid above or below it."""

    text: str
    role: Literal["title", "heading", "next heading", "", "note", "remark", "answer", "warning"]


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
    cells.rates, cells.names = words.rates, words.names = {}, {}  # both note the same terms
    for piece in [*_pieces(section, cells, words)]:  # the terms are known when all is written
        if not isinstance(piece, Facts):
            yield piece
            continue
        pairs: list[tuple[str, str]] = []
        for name, fact in piece.facts:
            text = _terms_in_words(words, fact) if isinstance(fact, Vocabulary) else fact
            if name and text:
                pairs.append((name, str(text)))
        if pairs:
            yield Pairs(pairs)


def _terms_in_words(words: Lines, vocabulary: Vocabulary) -> str:
    """Return the abbreviations that were written: in full with ISO's terms, or these alone."""
    rates = names_in_full(words.rates)
    if vocabulary.is_short:
        by_term: dict[str, list[str]] = {}  # abbreviations by ISO's term
        for short, (_, term) in rates.items():
            if term:
                by_term.setdefault(term, []).append(short)
        terms: list[str] = []
        for term, shorts in by_term.items():
            head = "" if terms else "ISO: "
            terms.append(f"{' and '.join(shorts)} ({head}{term})")
        return words.write(", ".join(terms))
    names = {x: f"{name} (ISO: {term})" if term else name for x, (name, term) in rates.items()}
    names = {**names, **words.names, **names}  # rates come first, with ISO's terms
    return words.write("; ".join(f"{x}: {name}" for x, name in names.items()))


def _pieces(section: Section, cells: Lines, words: Lines) -> Iterator[Piece | Facts]:
    """Yield the pieces of a section; facts stay until its terms are known."""
    cells, words = cells.of_task(section.task), words.of_task(section.task)
    if title := words.write(section.title):
        yield Line(title, "title")
    for block in section.blocks:
        match block:
            case Paragraph():
                yield from _lines([block.text], block.role, words)
            case Facts():
                texts = [x if isinstance(x, Vocabulary) else words.write(x) for _, x in block.facts]
                names = [words.literal(name) for name, _ in block.facts]
                yield Facts([*zip(names, texts, strict=True)])
            case Legend() if words.has_legends and block.explanations:
                write = words.unnoted().write
                yield Pairs([(write(x), write(y)) for x, y in block.explanations])
            case Messages():
                groups = words.sentences_about(block.messages)
                if groups and not block.alarm:
                    yield Line("Warnings", "heading")
                for about, sentences in groups.items():
                    if block.alarm:
                        whose = f" ({about})" if about else ""
                        yield from (Line(f"Warning{whose}: {x}", "warning") for x in sentences)
                        continue
                    if about:
                        yield Line(about, "remark")
                    yield Points(sentences)
            case Section():
                yield from _pieces(block, cells, words)
            case Table():
                grid = grid_of(block, cells)
                if grid.columns:
                    role = "next heading" if block.is_continued else "heading"
                    yield from _lines([block.title], role, words)
                    yield from _lines(block.details, "remark", words)
                    yield grid
                    yield from _lines(block.notes, "remark", words)


def _lines(texts: Sequence[Text], role: str, words: Lines) -> Iterator[Line]:
    for text in filter(None, map(words.write, texts)):
        yield Line(text, role)  # type: ignore[arg-type]


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
            texts = [lines.number("".join(number)) if number else text for number, text in pairs]
        name_columns += i < table.names
        heading = lines.write(column.heading)
        columns.append(GridColumn(heading, texts, is_numeric, column.is_attached))
    return Grid(columns, name_columns if len(table.rows) > 1 else 0)


def aligned(numbers: Sequence[Printed | None]) -> list[str]:
    """Return numbers as texts of one width with their decimal points at the same place."""
    parts = [number or ("", "", "") for number in numbers]
    head, tail, limits = (max(map(len, each)) for each in zip(*parts, strict=True))
    return [a.rjust(head) + b.ljust(tail) + c.ljust(limits) for a, b, c in parts]
