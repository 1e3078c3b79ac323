"""The columns of a table with their cells printed: numbers rounded together, text as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bioeval.document import Column, Flag, Missing, Quantity, Table, Text
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.numbers import NOT_DEFINED, Printed, printed_column


@dataclass(frozen=True)
class PrintedColumn:
    """A column with its heading and, for each row that is shown, its text and its number."""

    column: Column
    heading: str
    texts: list[str]
    numbers: list[Printed | None]
    numeric: bool  # whether it has numbers and no other text

    def aligned(self) -> list[str]:
        """Return plain texts of one width with their decimal points below each other."""
        numbers = [number for number in self.numbers if number is not None]
        if not self.numeric:
            return self.texts
        heads = [_head(number) for number in numbers]
        tails = [_tail(number) for number in numbers]
        limits = [_limits(number) for number in numbers]
        head, tail, limit = (max(map(len, x), default=0) for x in (heads, tails, limits))
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


def _head(number: Printed) -> str:
    before = f"{number.before} " if number.before else ""
    return before + number.number[: number.places[0]]


def _tail(number: Printed) -> str:
    unit = f" {number.unit}" if number.unit else ""
    return number.number[number.places[0] :] + unit + number.mark


def _limits(number: Printed) -> str:
    return "" if number.limits is None else " [{}, {}]".format(*number.limits)


def printed_columns(table: Table, lines: Lines, surface: str = "") -> list[PrintedColumn]:
    """Return the columns that a reader of a surface sees, without those that are empty."""
    columns = []
    for i, column in enumerate(table.columns):
        if column.only not in ("", "readers", surface):
            continue
        cells = [row[i] for row in table.shown_rows]
        if all(map(_is_empty, cells)):
            continue
        if column.grouped:
            cells = list(_once(cells))
        columns.append(_printed(column, cells, lines))
    return columns


def _is_empty(cell: Text | None) -> bool:
    return cell is None or cell == "" or (isinstance(cell, Flag) and not cell.value)


def _printed(column: Column, cells: Sequence[Text | None], lines: Lines) -> PrintedColumn:
    rounded = iter(printed_column([x for x in cells if isinstance(x, Quantity)]))
    texts, numbers = [], list[Printed | None]()
    numeric = True
    for cell in cells:
        number = next(rounded) if isinstance(cell, Quantity) else None
        numbers.append(number)
        texts.append(lines.write(cell) if number is None else lines.number(number))
        numeric = numeric and (
            number is not None or cell in (None, "") or isinstance(cell, Missing)
        )
    return PrintedColumn(column, lines.write(column.heading), texts, numbers, numeric)


def _once(cells: Sequence[Text | None]) -> Iterator[Text | None]:
    """Yield cells, an empty one in place of each that repeats the one above."""
    above: Text | None = None
    for cell in cells:
        yield None if cell == above else cell
        above = cell
