"""Cells of a small list as text, with the meaning of its columns by their names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.scores.formats.files import existing_file, guarded
from bioeval.scores.formats.spellings import (
    SCORE_NAMES,
    SPECIES_NAMES,
    TRUTH,
    TRUTH_NAMES,
    folded,
    is_number,
    no_species,
)
from bioeval.scores.formats.text_table import rows_of, shape_of


@dataclass(frozen=True)
class Cells:
    """The cells of a list by column, and the number of each line; `names` are of the header."""

    path: Path
    header: list[str]
    names: list[str]
    lines: list[int]
    columns: list[list[str]]

    @classmethod
    def read(cls, path: str | Path, scores_key: str | None = None) -> Cells:
        """Read a list. Its columns have names if it must have a column `scores_key`."""
        place = existing_file(path)
        shape = shape_of(place, (scores_key, *SPECIES_NAMES))
        header = shape.cells[0]
        named = scores_key is not None or not any(map(is_number, header))
        with guarded(place, expected="text"):
            lines = [*rows_of(shape, shape.skipped + named + 1)]
        for number, row in lines:
            if len(row) != shape.columns:
                raise DataError(
                    f"{place}: line {number}: {len(row)} cells; expected {shape.columns}"
                )
        if not lines:
            raise DataError(f"{place}: has a header but no rows")
        numbers, rows = zip(*lines, strict=True)
        columns = [*map(list, zip(*rows, strict=True))]
        names = [*map(folded, header)] if named else []
        return cls(place, header, names, [*numbers], columns)

    @property
    def scores(self) -> list[int]:
        """The columns with a name of scores."""
        return self._called(SCORE_NAMES)

    @property
    def truth(self) -> list[int]:
        """The columns with a name of classes."""
        return self._called(TRUTH_NAMES)

    def _called(self, names: Collection[str]) -> list[int]:
        return [i for i, name in enumerate(self.names) if name in names]

    @property
    def species(self) -> int | None:
        """The column of attack instrument species."""
        for name in SPECIES_NAMES:
            if name in self.names:
                return self.names.index(name)
        return None

    @property
    def numbers(self) -> list[int]:
        """The columns of numbers alone."""
        return [i for i, column in enumerate(self.columns) if all(map(is_number, column))]

    @staticmethod
    def is_class(cell: str) -> bool:
        """Whether a cell is a word, or a number, for genuine or impostor."""
        return cell.casefold() in TRUTH

    @staticmethod
    def is_bona_fide(cell: str) -> bool:
        """Whether a cell of the column of species names none."""
        return no_species(cell)

    def values(self, column: int, where_blank: str) -> np.ndarray:
        """Return the scores of a column, NaN in blank cells; `where_blank` gives their meaning."""
        numbers = np.full(len(self.lines), np.nan)
        for i, (line, cell) in enumerate(zip(self.lines, self.columns[column], strict=True)):
            if cell and (not is_number(cell) or overflows(cell)):
                raise DataError(
                    f"{self.path}: line {line}: the score is {cell!r}; expected a number, or "
                    f"nothing where {where_blank}"
                )
            numbers[i] = float(cell or "nan")
        return numbers

    def kind(self, column: int) -> Kind | None:
        """Return the kind of scores that the name of a column declares."""
        return SCORE_NAMES.get(self.names[column]) if self.names else None
