"""Columns of a long text or table: distinct words and their numbers, and numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.formats.text_shape import open_text
from bioeval.scores.growing_column import PIECE, GrowingColumn


@dataclass
class TextColumn:
    """A column of text: the distinct values, and the number of that of each line."""

    values: list[str] = field(default_factory=list)
    _codes: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int32))
    _number: dict[str, int] = field(default_factory=dict)

    def append(self, cells: Any) -> None:
        """Append cells."""
        import pandas as pd

        if not isinstance(cells, pd.Series):
            cells = pd.Series(cells, dtype=object)
        codes, distinct = cells.factorize()
        self.append_codes(codes, distinct.tolist())

    def append_codes(self, codes: np.ndarray, distinct: Iterable[object]) -> None:
        """Append cells as the distinct ones and their numbers."""
        known = len(self.values)
        numbers = []
        for value in distinct:
            value = str(value).strip()
            number = self._number.setdefault(value, known)
            if number == known:
                self.values.append(value)
                known += 1
            numbers.append(number)
        self._codes.append(np.array(numbers, dtype=np.int32)[codes])

    def renamed(self, values: Iterable[str]) -> TextColumn:
        """Return a column that has other words in the place of the distinct ones."""
        found = TextColumn()
        found.append_codes(np.arange(len(self.values)), values)
        new = found.codes
        found._codes = GrowingColumn(np.int32)
        for low in range(0, len(self.codes), PIECE):
            found._codes.append(new[self.codes[low : low + PIECE]])
        return found

    @property
    def codes(self) -> np.ndarray:
        """The number of each line's value, int32."""
        return self._codes.array()

    def objects(self) -> np.ndarray:
        """Return the value of each line; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True)
class Columns:
    """Columns of a text by their number: text, and numbers as float64."""

    path: Path
    text: dict[int, TextColumn]
    numbers: dict[int, np.ndarray]
    first_line: int

    def at(self, row: int) -> str:
        """Return the file and the line of a row, for messages."""
        return f"{self.path}: line {self.line(row)}"

    def line(self, row: int) -> int:
        """Return the line of a row; the file is read again, since blank lines are no rows."""
        with open_text(self.path) as file:
            rows = -1
            for number, line in enumerate(file, 1):
                rows += number >= self.first_line and bool(line.strip())
                if rows == row:
                    return number
        return self.first_line + row
