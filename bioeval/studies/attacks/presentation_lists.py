"""Lists of presentations with a detection score on each line, for presentation attack detection."""

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
from bioeval.scores.formats.layouts import COLUMNS, KINDS, TRUTH, folded, is_number
from bioeval.scores.formats.tables import cells_by_column, head_of

#: Class words of attacks.
_ATTACKS = ("spoof", "attack", "fake", "presentation attack")

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


def class_of(word: str) -> bool | None:
    """Return whether a class word says bona fide; None for another word."""
    if word.strip().casefold().replace("_", " ").replace("-", " ") in _ATTACKS:
        return False
    return True if is_bona_fide_word(word) else None


@dataclass(frozen=True)
class _Cells:
    """The cells of a list by column, and the number of each line."""

    path: Path
    names: list[str]  # of the header, in lower case; none of a list without one
    lines: list[int]
    columns: list[list[str]]

    def called(self, names: Iterable[str]) -> int | None:
        """Return the column that has the first of these names; None without any."""
        return next((self.names.index(name) for name in names if name in self.names), None)


def _read(path: str | Path) -> _Cells:
    place = existing_file(path)
    head = head_of(place)
    named = not any(map(is_number, head.cells[0]))
    names = [*map(folded, head.cells[0])] if named else []
    return _Cells(place, names, *cells_by_column(head, named))


def read_presentations(path: str | Path) -> PresentationList:
    """Read a list of presentations.

    With the names of its columns: a score, and `attack`, the species, or a class such as
    ``bonafide`` and ``spoof``; perhaps `subject` and `instrument`. Without names: the last column
    of numbers, a column of class words, and the column that has ``-`` where these say bona fide,
    as ASVspoof writes them.
    """
    cells = _read(path)
    score = _score(cells)
    values = np.full(len(cells.lines), np.nan)
    for i, (line, cell) in enumerate(zip(cells.lines, cells.columns[score], strict=True)):
        if cell and (not is_number(cell) or overflows(cell)):
            raise DataError(
                f"{cells.path}: line {line}: the score is {cell!r}; expected a number, or nothing "
                "where detection gave no response"
            )
        values[i] = float(cell or "nan")
    kind = KINDS.get(cells.names[score]) if cells.names else None
    owners = []
    for names in (_SUBJECT_NAMES, _INSTRUMENT_NAMES):
        place = cells.called(names)
        owners.append(None if place is None else [*cells.columns[place]])
    return PresentationList(values, _species(cells, score), kind or "", *owners)


def _score(cells: _Cells) -> int:
    """Return the column of scores."""
    if cells.names:
        columns = [i for i, name in enumerate(cells.names) if name in COLUMNS["score"]]
        if len(columns) != 1:
            raise DataError(
                f"{cells.path}: {len(columns)} columns of scores among {', '.join(cells.names)}; "
                f"expected one of {', '.join(COLUMNS['score'])}"
            )
        return columns[0]
    numbers = [i for i, column in enumerate(cells.columns) if all(map(is_number, column))]
    if not numbers:
        raise DataError(f"{cells.path}: no column of numbers; expected a score on each line")
    return numbers[-1]


def _species(cells: _Cells, score: int) -> list[str]:
    """Return the species of each presentation, empty for bona fide."""
    path, columns, attack = cells.path, cells.columns, cells.called(COLUMNS["species"])
    truth = [i for i, name in enumerate(cells.names) if name in COLUMNS["genuine"]]
    if not truth:  # the columns of class words alone
        truth = [
            i for i, x in enumerate(columns) if i != score and None not in map(class_of, set(x))
        ]
    if not truth:
        if attack is None:
            raise DataError(
                f"{path}: does not mark attack presentations; expected a column 'attack' with the "
                "species of each attack, or one of class words such as bonafide and spoof"
            )
        return ["" if is_bona_fide(x) else x for x in columns[attack]]
    flags = []
    for number, word in zip(cells.lines, columns[truth[0]], strict=True):
        flag = class_of(word)
        if flag is None and attack is None:
            numeric = " (1 and 0 are read in both ways)" if word.casefold() in TRUTH else ""
            raise DataError(
                f"{path}: line {number}: the class is {word!r}; expected bonafide, target or "
                f"nontarget, and spoof or attack{numeric}"
            )
        flags.append(flag is not False)
    names = (
        _species_column(columns, flags, {score, truth[0]}) if attack is None else columns[attack]
    )
    species = []
    for flag, name in zip(flags, names, strict=True):
        if flag and (attack is None or is_bona_fide(name)):
            species.append("")
        elif is_bona_fide(name):
            species.append("spoof")
        else:
            species.append(name)
    return species


def _species_column(columns: list[list[str]], flags: list[bool], known: set[int]) -> Sequence[str]:
    """Return the column that has a species where the class is an attack, and else none."""
    for i, column in enumerate(columns):
        if i in known:
            continue
        here = set(map(str.casefold, compress(column, flags)))
        if here and all(map(is_bona_fide, here)):
            return column
    return [""] * len(flags)
