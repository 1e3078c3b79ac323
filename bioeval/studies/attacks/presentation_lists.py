"""Reading lists of presentations: their scores, species, people and instruments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError
from bioeval.scores.bona_fide import is_bona_fide, is_bona_fide_word
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.spellings import (
    COLUMNS,
    KINDS,
    TRUTH,
    counts_columns,
    folded,
    is_number,
)
from bioeval.scores.formats.tables import cells_by_column, head_of
from bioeval.scores.names import as_names, first_twice, places

# Class words of attacks.
_ATTACKS = ("spoof", "attack", "fake", "presentation attack")

# Names of columns; "cm_score" is the score of a countermeasure in ASVspoof.
_SCORE_NAMES = (*COLUMNS["score"], "cm_score")
_SUBJECT_NAMES = ("subject", "subject_id", "person", "client_id")
_INSTRUMENT_NAMES = ("instrument", "instrument_id", "pai_id")


@dataclass(frozen=True)
class PresentationList:
    """The presentations of a list."""

    values: np.ndarray  # float64 (n,)
    attack: list[str]  # the species of each; empty for bona fide
    kind: str  # empty where the list does not say it
    subjects: list[str] | None
    instruments: list[str] | None


def says_bona_fide(word: str) -> bool | None:
    """Return True for a word for bona fide, False for one for attacks, None for another word."""
    if word.strip().casefold().replace("_", " ").replace("-", " ") in _ATTACKS:
        return False
    return True if is_bona_fide_word(word) else None


@dataclass(frozen=True)
class _Cells:
    """The cells of a list, column by column."""

    path: Path
    names: list[str]  # names of the columns in lower case; empty without a header
    lines: list[int]  # the number of each line in the file
    columns: list[list[str]]

    def column_named(self, names: Iterable[str]) -> int | None:
        return next((self.names.index(name) for name in names if name in self.names), None)


def read_presentations(path: str | Path, key: str | Path | None = None) -> PresentationList:
    """Read a list of presentations.

    - with a header: a column of scores, and a column `attack` with the species or a column of
      classes such as ``bonafide`` and ``spoof``; it may have columns `subject` and `instrument`
    - without a header: the last column of numbers has the scores, a column has class words, and the
      species are in the column with ``-`` wherever the class is bona fide, as ASVspoof writes them
    - with a `key`: the classes are in another list, by the names of the presentations
    """
    cells = _read_cells(path)
    score_column = _score_column(cells)
    if key is not None:
        cells = _joined_with_key(cells, score_column, _read_cells(key, is_key=True))
    values = np.full(len(cells.lines), np.nan)
    for i, (line, cell) in enumerate(zip(cells.lines, cells.columns[score_column], strict=True)):
        if cell and (not is_number(cell) or overflows(cell)):
            raise DataError(
                f"{cells.path}: line {line}: the score is {cell!r}; expected a number, or nothing "
                "where detection gave no response"
            )
        values[i] = float(cell or "nan")
    kind = KINDS.get(cells.names[score_column]) if cells.names else None
    units = []
    for names in (_SUBJECT_NAMES, _INSTRUMENT_NAMES):
        column = cells.column_named(names)
        units.append(None if column is None else [*cells.columns[column]])
    species = _species_by_presentation(cells, score_column)
    return PresentationList(values, species, kind or "", *units)


def _read_cells(path: str | Path, is_key: bool = False) -> _Cells:
    """Read the cells of a list; a list that is a key has class words, and perhaps no numbers."""
    file = existing_file(path)
    head = head_of(file)
    first = head.cells[0]
    # The first line is a header unless it has a score, or in a key a class word.
    is_data = any(map(is_number, first))
    if is_key:
        is_data = is_data or any(says_bona_fide(cell) is not None for cell in first)
    names = [] if is_data else [*map(folded, first)]
    # A first line that numbers the columns, as pandas writes it, is skipped like a header.
    is_skipped = not is_data or counts_columns(first) or not first[0] and counts_columns(first[1:])
    return _Cells(file, names, *cells_by_column(head, is_skipped))


def _joined_with_key(scores: _Cells, score_column: int, key: _Cells) -> _Cells:
    """Return the columns of the scores and of the key, joined by the names of presentations.

    The names are in the two columns that have most cells in common.
    """
    shared = {
        (column, key_column): len({*cells}.intersection(key_cells))
        for column, cells in enumerate(scores.columns)
        for key_column, key_cells in enumerate(key.columns)
        if column != score_column
    }
    name_column, key_name_column = max(shared, key=shared.__getitem__, default=(0, 0))
    if not shared or not shared[name_column, key_name_column]:
        raise DataError(
            f"{key.path}: no column has the names of the presentations of {scores.path.name}, such "
            f"as {scores.columns[0][0]!r}; expected the same names in both"
        )
    in_scores = as_names(scores.columns[name_column])
    in_key = as_names(key.columns[key_name_column])
    for cells, listed in ((scores, in_scores), (key, in_key)):
        if (twice := first_twice(listed)) is not None:
            name, (_, row) = twice
            raise DataError(
                f"{cells.path}: line {cells.lines[row]}: {name!r} is listed before; expected each "
                "presentation once"
            )
    key_row = places(in_scores, in_key)
    if len(missing := np.flatnonzero(key_row < 0)):
        raise DataError(
            f"{key.path}: lacks {scores.columns[name_column][missing[0]]!r}, and "
            f"{len(missing):,} of the {len(key_row):,} presentations of {scores.path.name}; "
            "expected a line for each"
        )
    further = [x for x in range(len(key.columns)) if x != key_name_column]
    columns = [*scores.columns, *([key.columns[x][row] for row in key_row] for x in further)]
    names = list[str]()
    if scores.names or key.names:
        key_names = key.names or [""] * len(key.columns)
        names = scores.names or [""] * len(scores.columns)
        names = [*names, *(key_names[x] for x in further)]
    return _Cells(scores.path, names, scores.lines, columns)


def _score_column(cells: _Cells) -> int:
    if cells.names:
        columns = [i for i, name in enumerate(cells.names) if name in _SCORE_NAMES]
        if len(columns) != 1:
            raise DataError(
                f"{cells.path}: {len(columns)} columns of scores among {', '.join(cells.names)}; "
                f"expected one of {', '.join(_SCORE_NAMES)}"
            )
        return columns[0]
    numbers = [i for i, column in enumerate(cells.columns) if all(map(is_number, column))]
    if not numbers:
        raise DataError(f"{cells.path}: no column of numbers; expected a score on each line")
    return numbers[-1]


def _species_by_presentation(cells: _Cells, score_column: int) -> list[str]:
    """Return the species of each presentation, empty for bona fide."""
    path = cells.path
    columns = cells.columns
    species_column = cells.column_named(COLUMNS["species"])
    class_columns = [i for i, name in enumerate(cells.names) if name in COLUMNS["genuine"]]
    if not class_columns:
        class_columns = [
            i
            for i, column in enumerate(columns)
            if i != score_column and None not in map(says_bona_fide, set(column))
        ]
    if not class_columns:
        if species_column is None:
            raise DataError(
                f"{path}: does not mark attack presentations; expected a column 'attack' with the "
                "species of each attack, or one of class words such as bonafide and spoof (in "
                "another list: `key`)"
            )
        return ["" if is_bona_fide(x) else x for x in columns[species_column]]
    may_be_bona_fide = []
    for line, word in zip(cells.lines, columns[class_columns[0]], strict=True):
        is_word_of_bona_fide = says_bona_fide(word)
        if is_word_of_bona_fide is None and species_column is None:
            numeric = " (1 and 0 are read in both ways)" if word.casefold() in TRUTH else ""
            raise DataError(
                f"{path}: line {line}: the class is {word!r}; expected bonafide, target or "
                f"nontarget, and spoof or attack{numeric}"
            )
        may_be_bona_fide.append(is_word_of_bona_fide is not False)
    if species_column is None:
        names = _species_column(columns, may_be_bona_fide, {score_column, class_columns[0]})
    else:
        names = columns[species_column]
    species = []
    for may_be, name in zip(may_be_bona_fide, names, strict=True):
        if may_be and (species_column is None or is_bona_fide(name)):
            species.append("")
        elif is_bona_fide(name):
            species.append("spoof")
        else:
            species.append(name)
    return species


def _species_column(
    columns: list[list[str]], is_bona_fide_class: list[bool], used: set[int]
) -> Sequence[str]:
    """Return the first column with a mark of bona fide wherever the class is bona fide.

    Without such a column, all species are empty.
    """
    for i, column in enumerate(columns):
        if i in used:
            continue
        words = set(map(str.casefold, compress(column, is_bona_fide_class)))
        if words and all(map(is_bona_fide, words)):
            return column
    return [""] * len(is_bona_fide_class)
