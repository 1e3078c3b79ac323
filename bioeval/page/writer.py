"""The blocks of documents as HTML of a page: numbers that move, tables to sort and to save."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape as safe
from typing import Any

from bioeval.base.errors import printable
from bioeval.document.blocks import (
    Block,
    Facts,
    Figure,
    Messages,
    Paragraph,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Label, Picture, Quantity, Rate, Score
from bioeval.views.images import Images
from bioeval.views.thumbnails import Thumbnail
from bioeval.views.writers.columns import PrintedColumn, printed_columns
from bioeval.views.writers.html import HtmlLines
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.numbers import Printed, printed

#: Rows of a table that a page shows at once.
LONG = 24

#: Coordinates of cells that move with the threshold or the rank: the number of their part.
PART = "part"


def digits(value: Any) -> str:
    """Return a number with all its digits, as in ``data-value``."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "nan"
        return "inf" if value > 0 else "-inf"
    return str(value) if isinstance(value, int | str) else repr(float(value))


def decimals_of(attempts: int | None) -> int:
    """Return the decimals of a per cent that moves: as many as make an attempt visible."""
    return 2 if attempts is None else min(4, max(2, len(str(attempts)) - 2))


def page_naming(name: str, value: str | None) -> str:
    """Return an argument as a page writes it, which has both kinds of readers."""
    return name if value is None else f"{name}={value}"


class PageLines(HtmlLines):
    """Lines of HTML in which each number has its exact value, its variable and where it is of.

    `common` are coordinates that all numbers have: their system, and their task.
    """

    def __init__(
        self, vocabulary: str, images: Images, hues: Mapping[str, int], common: Mapping[str, Any]
    ):
        super().__init__(vocabulary, "", page_naming)
        self.images, self.hues, self.common = images, hues, common

    def strong(self, text: str) -> str:
        """Return bold text."""
        return f"<strong>{text}</strong>"

    def quantity(self, quantity: Quantity, number: Printed) -> str:
        """Return a number with the data attributes that the script reads."""
        at: dict[str, Any] = {**self.common, **quantity.at}
        moves = at.pop(PART, None) is not None
        if moves:
            number = _moving(quantity, number)
        named = {"variable": quantity.variable, **at} if quantity.variable else {}
        given = {**named, "value": quantity.value}
        if moves:
            given |= {"live": "", "format": _format(quantity), "decimals": number.decimals}
        unit = f" {number.unit}" if number.unit else ""
        before = f"{number.before} " if number.before else ""
        deviation = f" ± {number.deviation}" if number.deviation else ""
        text = f"{before}{number.number}{deviation}{unit}"
        strength = " estimate" if moves and quantity.interval is not None else ""
        written = f'<span class="num{strength}"{_data(given)}>{safe(text)}</span>'
        if number.mark:
            written += f'<span class="missed">{safe(number.mark)}</span>'
        if number.limits is None or quantity.interval is None:
            return written
        ends = []
        for end, value, limit in zip(
            ("low", "high"), quantity.interval, number.limits, strict=True
        ):
            if quantity.variable:
                given["variable"] = f"{_stem(quantity.variable)}_{end}"
            bare = {"bare": ""} if moves else {}
            ends.append(
                f'<span class="num"{_data({**given, "value": value, **bare})}>{safe(limit)}</span>'
            )
        return f'{written} <span class="ends">[{", ".join(ends)}]</span>'

    def picture(self, picture: Picture) -> str:
        """Return a small picture of a template; nothing where its name stands for none."""
        source = picture.source
        if isinstance(source, Mapping):  # names by the column of metadata
            column = self.images.column_of(source)
            if not column:
                return ""
            source = source[column]
        elif not self.images.shows(str(source)):
            return ""
        shown = Thumbnail.of(self.images, str(source))
        if not shown.source:
            return safe(shown.text)
        return f'<img class="thumb" src="{safe(shown.source)}" alt="{safe(shown.text)}">'

    def system(self, name: str) -> str:
        """Return the name of a system after its colour, which it has where there are several."""
        if len(self.hues) > 1 and name in self.hues:
            return f'<span class="swatch c{self.hues[name] % 7}"></span>{safe(printable(name))}'
        return safe(printable(name))


def _stem(variable: str) -> str:
    """Return the name before the limits of an interval: those of a mean are of its scalar."""
    return variable.removesuffix("_mean")


def _moving(quantity: Quantity, number: Printed) -> Printed:
    """Return a number that moves: its decimals stay as they are."""
    if isinstance(quantity, Rate):
        return printed(quantity, decimals_of(quantity.attempts))
    return number


def _format(quantity: Quantity) -> str:
    """Return how the script writes a number."""
    match quantity:
        case Rate():
            return "percent"
        case Count():
            return "count"
        case Score():
            return "score"
    return "number"


def _data(given: Mapping[str, Any]) -> str:
    written = []
    for key, value in given.items():
        name = key.replace("_", "-")
        written.append(f' data-{name}="{safe(printable(digits(value)))}"')
    return "".join(written)


@dataclass
class PageWriter:
    """Writes the blocks of sections as HTML; facts that were written before are left out."""

    vocabulary: str
    images: Images
    hues: Mapping[str, int]
    pictures: Any  # draws a figure of a result: (Figure, result) -> HTML
    facts: set[tuple[str, str]] = field(default_factory=set)

    def lines(self, task: str = "", at: Mapping[str, Any] | None = None) -> PageLines:
        """Return a writer of lines, with the coordinates that all numbers have."""
        lines = PageLines(self.vocabulary, self.images, self.hues, at or {})
        lines.task = task
        return lines

    def section(
        self,
        section: Section,
        name: str,
        at: Mapping[str, Any] | None = None,
        *,
        skip: Sequence[str] = (),
        result: Any = None,
    ) -> str:
        """Return a section without its messages; its tables are saved under a `name`.

        Paragraphs whose role is one to `skip` are written elsewhere. All numbers are `at` these
        coordinates; figures are those of the `result`.
        """
        lines = self.lines(section.task, at)
        return "".join(self._body(section, lines, section, name, skip, result))

    def _body(
        self, section: Section, lines: Lines, whole: Section, name: str, skip: Any, result: Any
    ) -> Iterator[str]:
        lines = lines.within(section)
        if section is not whole and (title := lines.write(section.title)):
            yield f"<h3>{title}</h3>"
        for block in section.blocks:
            if isinstance(block, Section):
                yield from self._body(block, lines, whole, name, skip, result)
            else:
                yield from self._block(block, lines, whole, name, skip, result)

    def _block(
        self, block: Block, lines: Lines, whole: Section, name: str, skip: Any, result: Any
    ) -> Iterator[str]:
        match block:
            case Paragraph() if block.role not in skip or not block.role:
                yield paragraph(lines.write(block.text), block.role)
            case Facts():
                yield self._facts(block, lines, whole)
            case Table():
                yield self.table(block, lines, f"{name}-{block.id}")
            case Messages() if block.alarm:
                for about, sentences in lines.sentences_about(block.messages).items():
                    whose = f"{about}: " if about else ""
                    yield from (paragraph(f"{whose}{x}", "alarm") for x in sentences)
            case Figure():
                yield self.pictures(block, result, name)

    def _facts(self, block: Facts, lines: Lines, whole: Section) -> str:
        rows = []
        for fact, text in lines.facts(block, whole):
            if fact.variable == "system" or isinstance(fact.text, Vocabulary):
                continue
            if (fact.name, text) in self.facts:
                continue
            rows.append(f"<div><dt>{lines.literal(fact.name)}</dt><dd>{text}</dd></div>")
        return f"<dl>{''.join(rows)}</dl>" if rows else ""

    def table(self, table: Table, lines: Lines, name: str, folded: bool | None = None) -> str:
        """Return a table with buttons that save it; a long one is folded."""
        columns = [column for column in printed_columns(table, lines, "page") if any(column.texts)]
        rows = len(table.shown_rows)
        if not columns or not rows:
            return ""
        title = lines.write(table.title)
        plain = Lines(lines.vocabulary, lines.task, lines.naming).write(table.title)
        plain = plain or name.replace("/", ", ").replace("_", " ")
        caption = f"<caption>{title}</caption>" if title else ""
        heads = []
        for column in columns:
            right = ' class="right"' if column.numeric else ""
            heading = column.heading or safe(column.column.name.replace("_", " "))
            heads.append(
                f'<th scope="col"{right} aria-sort="none"><button type="button" class="sort">'
                f"{heading}</button></th>"
            )
        body = []
        for i in range(rows):
            cells = []
            for column in columns:
                right = ' class="right"' if column.numeric else ""
                cells.append(f"<td{right}>{self._cell(table, column, i, lines)}</td>")
            body.append(f"<tr>{''.join(cells)}</tr>")
        file = safe(printable(name.replace("/", "-")))
        notes = [f'<p class="note">{x}</p>' for x in map(lines.write, table.notes) if x]
        details = [f'<p class="note">{x}</p>' for x in map(lines.write, table.details) if x]
        written = (
            f'<div class="table" data-name="{file}">'
            f'<div class="scroll" role="region" aria-label="{safe(plain)}" tabindex="0">'
            f"<table>{caption}<thead><tr>{''.join(heads)}</tr></thead>\n"
            f"<tbody>\n{chr(10).join(body)}\n</tbody></table></div>{''.join(details + notes)}"
            '<p class="tools"><button type="button" data-table="csv">CSV</button> '
            '<button type="button" data-table="latex">Copy as LaTeX</button></p></div>'
        )
        if rows > LONG if folded is None else folded:
            summary = f"{title or safe(plain)} ({rows:,} rows)"
            return f'<details class="long"><summary>{summary}</summary>{written}</details>'
        return written

    def _cell(self, table: Table, column: PrintedColumn, i: int, lines: Lines) -> str:
        """Return a cell; a system has its colour."""
        if column.column.name == "system" and isinstance(lines, PageLines):
            place = next(k for k, x in enumerate(table.columns) if x is column.column)
            cell = table.shown_rows[i][place]
            if isinstance(cell, Label):
                return lines.system(cell.text)
        return column.texts[i]


def paragraph(text: str, role: str) -> str:
    """Return a sentence or several."""
    if not text:
        return ""
    if role == "note":
        return f'<p class="note">{text}</p>'
    if role == "alarm":
        return f'<p class="missed"><strong>{text}</strong></p>'
    return f"<p><strong>{text}</strong></p>" if role else f"<p>{text}</p>"
