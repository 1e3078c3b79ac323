"""Columns of a long text or table: distinct words with their codes, and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.columns import PIECE, GrowingColumn
from bioeval.scores.formats.text_shape import open_text

#: Distinct names of a side that are held where nothing but the checks of a list needs them.
MOST_NAMES = 1 << 20


@dataclass
class TextColumn:
    """A column of text: the distinct values, and the code of each line's value.

    A column with more than `most` distinct values is given up: it holds nothing.
    """

    values: list[str] = field(default_factory=list)
    most: int | None = None
    given_up: bool = False
    _codes: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int32))
    _number: dict[str, int] = field(default_factory=dict)

    def append(self, cells: Any) -> None:
        """Append cells."""
        import pandas as pd

        if self.given_up:
            return
        if not isinstance(cells, pd.Series):
            cells = pd.Series(cells, dtype=object)
        codes, distinct = cells.factorize()
        self.append_codes(codes, distinct.tolist())

    def append_codes(self, codes: np.ndarray, distinct: Iterable[object]) -> None:
        """Append cells as distinct values and their codes."""
        if self.given_up:
            return
        known = self._number
        words: list[Any] = [*distinct]
        numbers = [*map(known.get, words)]
        if None in numbers:
            numbers = [known.setdefault(str(value).strip(), len(known)) for value in words]
            self.values = [*known]
        self._codes.append(np.array(numbers, dtype=np.int32)[codes])
        if self.most is not None and len(known) > self.most:
            self.values, self._number, self._codes = [], {}, GrowingColumn(np.int32)
            self.given_up = True

    def renamed(self, values: Iterable[str]) -> TextColumn:
        """Return a column with other words in place of the distinct values."""
        found = TextColumn()
        found.append_codes(np.arange(len(self.values)), values)
        new = found.codes
        found._codes = GrowingColumn(np.int32)
        for low in range(0, len(self.codes), PIECE):
            found._codes.append(new[self.codes[low : low + PIECE]])
        return found

    @property
    def codes(self) -> np.ndarray:
        """The code of each line's value, int32."""
        return self._codes.array()

    def objects(self) -> np.ndarray:
        """Return the value of each line; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True)
class Columns:
    """Columns of a text or a table by their number: text, and numbers as float64."""

    path: Path
    text: dict[int, TextColumn]
    numbers: dict[int, np.ndarray]
    first_line: int | None  # None: rows of a table, which have no lines

    @property
    def noun(self) -> str:
        """The name of a row in messages."""
        return "row" if self.first_line is None else "line"

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: {self.noun} {self.line(row)}"

    def line(self, row: int) -> int:
        """Return the line of a row, or the row of a table."""
        return self.lines([row])[0]

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Return the lines of rows; the file is read again, since blank lines are not rows."""
        if self.first_line is None:
            return [*rows]
        found: dict[int, int] = {}
        with open_text(self.path) as file:
            here = -1
            for number, line in enumerate(file, 1):
                here += number >= self.first_line and bool(line.strip())
                if here in rows:
                    found.setdefault(here, number)
                if here >= max(rows):
                    break
        return [found.get(row, self.first_line + row) for row in rows]
