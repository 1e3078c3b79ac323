"""Lists of presentations with a detection score on each line, for presentation attack detection."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np

from bioeval.base.errors import Argument, DataError, nearest_name
from bioeval.scores.formats.cells import Cells

#: Class words of bona fide presentations, zero-effort impostors among them, and of attacks.
_BONA_FIDE = ("bonafide", "bona fide", "target", "nontarget", "genuine", "impostor", "live", "real")
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
    plain = word.strip().casefold().replace("_", " ").replace("-", " ")
    if plain in _ATTACKS:
        return False
    if plain in _BONA_FIDE:
        return True
    return None


def read_presentations(path: str | Path, scores_key: str | None) -> PresentationList:
    """Read a list of presentations.

    With the names of its columns: a score, and `attack`, the species, or a class such as
    ``bonafide`` and ``spoof``; perhaps `subject` and `instrument`. Without names: the last column
    of numbers, a column of class words, and the column that has ``-`` where these say bona fide,
    as ASVspoof writes them.
    """
    cells = Cells.read(path, scores_key)
    score = _score(cells, scores_key)
    values = cells.values(score, "detection gave no response")
    attack = _species(cells, score)
    subjects = _named_column(cells, _SUBJECT_NAMES)
    instruments = _named_column(cells, _INSTRUMENT_NAMES)
    return PresentationList(values, attack, cells.kind(score) or "", subjects, instruments)


def _named_column(cells: Cells, names: tuple[str, ...]) -> list[str] | None:
    """Return the column that has the first of these names; None without any."""
    for name in names:
        if name in cells.names:
            return cells.columns[cells.names.index(name)]
    return None


def _score(cells: Cells, key: str | None) -> int:
    """Return the column of scores."""
    listed = ", ".join(map(repr, cells.header))
    if key is not None:
        if key not in cells.header:
            raise DataError(
                f"{cells.path}: no column {key!r}; its columns are {listed}."
                f"{nearest_name(key, cells.header)}"
            )
        return cells.header.index(key)
    if cells.names:
        columns = cells.scores
        if len(columns) != 1:
            raise DataError(
                f"{cells.path}: {len(columns)} columns of scores among {listed}; name one with ",
                Argument("scores_key"),
            )
        return columns[0]
    if not cells.numbers:
        raise DataError(f"{cells.path}: no column of numbers; expected a score on each line")
    return cells.numbers[-1]


def _species(cells: Cells, score: int) -> list[str]:
    """Return the species of each presentation, empty for bona fide."""
    path, columns, attack = cells.path, cells.columns, cells.species
    truth = cells.truth
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
        return ["" if not x.strip() or class_of(x) else x for x in columns[attack]]
    flags = []
    for number, word in zip(cells.lines, columns[truth[0]], strict=True):
        flag = class_of(word)
        if flag is None and attack is None:
            numeric = " (1 and 0 are read in both ways)" if Cells.is_class(word) else ""
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
        if flag and (attack is None or Cells.is_bona_fide(name)):
            species.append("")
        elif Cells.is_bona_fide(name):
            species.append("spoof")
        else:
            species.append(name)
    return species


def _species_column(columns: list[list[str]], flags: list[bool], known: set[int]) -> list[str]:
    """Return the column that has a species where the class is an attack, and else none."""
    for i, column in enumerate(columns):
        if i in known:
            continue
        here = set(map(str.casefold, compress(column, flags)))
        if here and all(Cells.is_bona_fide(x) or class_of(x) for x in here):
            return column
    return [""] * len(flags)
