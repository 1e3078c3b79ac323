"""The columns of a table with their cells printed: numbers rounded together, text as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bioeval.document.blocks import Column, Table
from bioeval.document.cells import Label, Picture, Quantity
from bioeval.document.text import Text
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.numbers import NOT_DEFINED, Printed, printed_column

#: Of a column of numbers: characters before the point, from it on, and of the limits.
Widths = tuple[int, ...]


@dataclass(frozen=True)
class PrintedColumn:
    """A column with its heading and, for each row that is shown, its text and its number."""

    column: Column
    heading: str
    texts: list[str]
    numbers: list[Printed | None]
    numeric: bool  # whether it has numbers and no other text
    shared: Widths | None = None  # with the same column of other tables
    longest: int = 0  # text of the same column of other tables

    @property
    def widths(self) -> Widths:
        """The longest parts of its numbers: before the point, from it on, and of the limits."""
        numbers = [x for x in self.numbers if x is not None and x.number != NOT_DEFINED]
        return tuple(
            max((len(of(x)) for x in numbers), default=0) for of in (_head, _tail, _limits)
        )

    def aligned(self) -> list[str]:
        """Return plain texts of one width with their decimal points below each other."""
        if not self.numeric:
            return self.texts
        head, tail, limit = self.shared or self.widths
        texts = []
        for number, text in zip(self.numbers, self.texts, strict=True):
            if number is None:
                texts.append(text.rjust(head + tail) + " " * limit)
                continue
            if number.number == NOT_DEFINED:
                texts.append(NOT_DEFINED.rjust(head + tail) + " " * limit)
                continue
            aligned = _head(number).rjust(head) + _tail(number).ljust(tail)
            texts.append(aligned + _limits(number).ljust(limit))
        return texts


def sharing_widths(tables: Sequence[list[PrintedColumn]]) -> list[list[PrintedColumn]]:
    """Return the columns of tables with those of the same names as wide as each other."""
    by_names: dict[tuple[str, ...], list[int]] = {}
    for i, columns in enumerate(tables):
        by_names.setdefault(tuple(x.column.name for x in columns), []).append(i)
    shared = list(tables)
    for places in by_names.values():
        if len(places) < 2:
            continue
        same = list(zip(*(tables[i] for i in places), strict=True))
        widths = [tuple(map(max, zip(*(x.widths for x in each), strict=True))) for each in same]
        longest = [max(map(len, (t for x in each for t in x.texts)), default=0) for each in same]
        for i in places:
            shared[i] = [
                replace(column, shared=width, longest=most)
                for column, width, most in zip(tables[i], widths, longest, strict=True)
            ]
    return shared


def _head(number: Printed) -> str:
    before = f"{number.before} " if number.before else ""
    return before + number.number[: number.places[0]]


def _tail(number: Printed) -> str:
    unit = f" {number.unit}" if number.unit else ""
    deviation = f" ± {number.deviation}" if number.deviation else ""
    return number.number[number.places[0] :] + deviation + unit + number.mark


def _limits(number: Printed) -> str:
    return "" if number.limits is None else " [{}, {}]".format(*number.limits)


def printed_columns(table: Table, lines: Lines, surface: str = "") -> list[PrintedColumn]:
    """Return the columns that a reader of a surface sees, without those that are empty."""
    columns = []
    for i, column in enumerate(table.columns):
        if column.only not in ("", "readers", surface):
            continue
        cells = [row[i] for row in table.shown_rows]
        if all(_is_empty(cell, lines) for cell in cells):
            continue
        if column.grouped:
            cells = list(_once(cells))
        columns.append(_printed(column, cells, lines))
    return columns


def _is_empty(cell: Text | None, lines: Lines) -> bool:
    if isinstance(cell, Picture):
        return not lines.write(cell)  # there is no such image
    if isinstance(cell, Label):
        return cell.value == ""
    return cell is None or cell == ""


def _printed(column: Column, cells: Sequence[Text | None], lines: Lines) -> PrintedColumn:
    rounded = iter(printed_column([x for x in cells if isinstance(x, Quantity)]))
    texts, numbers = [], list[Printed | None]()
    numeric = True
    for cell in cells:
        number = None
        if isinstance(cell, Quantity):
            number = next(rounded)
            texts.append(lines.quantity(cell, number))
        else:
            texts.append(lines.write(cell))
        numbers.append(number)
        numeric = numeric and (number is not None or cell in (None, ""))
    return PrintedColumn(column, lines.write(column.heading), texts, numbers, numeric)


def _once(cells: Sequence[Text | None]) -> Iterator[Text | None]:
    """Yield cells, an empty one in place of each that repeats the one above."""
    above: Text | None = None
    for cell in cells:
        yield None if cell == above else cell
        above = cell
